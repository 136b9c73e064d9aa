# Records.
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
show record -F 100 -c 1000 true
sonde record --strict-freq -F 1000000000 true 2>&1 | sed 's/the [0-9]* Hz/the MAX Hz/'
echo "--strict-freq: status ${PIPESTATUS[0]}"
sonde record -e cpu-clock/freq=1000000000/ true 2>&1 | sed 's/allows [0-9]* Hz/allows MAX Hz/'
show record -e cpu-clock/aux-sample-size=64/ true
show record --switch-output-event=cpu-clock true
show record --switch-output-event=no-such-event true
show record -e cpu-clock --num-thread-synthesize=x true
sonde record -e cpu-clock -o accepted --vmlinux=none --clang-path=cc --clang-opt=-O --debuginfod --off-cpu true 2>&1 | grep -v '^\['
show record -e cpu-clock --aio=0 true
show record -e cpu-clock --aio=x true
show record --affinity=core true
show record --affinity=cpu --threads true
echo "--dry-run -vv:"
sonde record --dry-run -vv -c 1000 -e cpu-clock:u,page-faults:u true 2>&1
sonde record -m 1M -q -o whole true 2>&1
echo "-m 1M: status $?"
sonde record -v -q -o quiet true 2>&1
echo "-v -q: status $?"
sonde record -a -p $$ -o both -- true 2>&1 | grep -v '^\[ '
echo "-a -p: status ${PIPESTATUS[0]}"
