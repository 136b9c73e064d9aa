# Records.
# The workload's status is the recorder's.
sonde record -q -o a.data -- true
echo "true: $?"
sonde record -q -o a.data -- sh -c 'exit 7'
echo "exit 7: $?"
sonde record -q -o a.data -- sh -c 'kill -TERM $$'
echo "killed by TERM: $?"
sonde record -q -o a.data -- ./no-such-program >out.txt 2>&1
echo "no such program: $?"
head -1 out.txt
stat -c %a a.data
ls
