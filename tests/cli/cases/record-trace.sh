# Records.
# Options for traces.
# What does not go with the events, or is no size, is said before anything starts.
show record -e cpu-clock -S true
show record -e cpu-clock --aux-sample true
show record -e cpu-clock -Sx true
show record -e cpu-clock -S0x1000q true
show record -e cpu-clock --aux-sample=8K true
show record -e cpu-clock -m, true
show record -e cpu-clock -m16,many true
show record --filter 'filter main @ /bin/true' true
show record -e cpu-clock --filter 'filter main @ /bin/true' true
sonde record -m,16 -q -o areas -e cpu-clock true 2>&1
echo "-m,16 without a trace: status $?"
sonde record -v -m1,3 -o lines -e cpu-clock true 2>&1 | grep -v '^\[ '
