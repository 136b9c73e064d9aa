# What cannot be recorded is said before anything starts.
show record -F 0 true
show record -F many true
show record -e no-such-event true
show record -p 999999999
show record
show record -m 0 true
show record -m many true
show record -e cpu-clock:x true
show record -e cpu-clock,, true
show record -p 1,x
sonde record -m 3 -q -o rounded true 2>&1
echo "-m 3: status $?"
