# What cannot be recorded is said before anything starts.
show record -F 0 true
show record -F many true
show record -e no-such-event true
show record -p 999999999
show record
