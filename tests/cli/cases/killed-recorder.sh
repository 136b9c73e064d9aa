# Records.
# kill -9 of a real recorder: all that it wrote can be read.
"$SONDE" record -q -e cpu-clock -F 1000 -m 4 -o killed -- sh -c 'ulimit -t 100; while :; do :; done' 2>err.txt &
recorder=$!
for i in $(seq 100); do
	sleep 0.1
	[ "$(stat -c %s killed 2>/dev/null || echo 0)" -gt 20000 ] && break
done
workload=$(cat /proc/$recorder/task/$recorder/children)
kill -9 $recorder
kill -9 $workload
wait $recorder 2>/dev/null
sonde script -F comm,tid,time -i killed >out.txt 2>note.txt
echo "script: status $?"
grep -c Warning note.txt
[ "$(wc -l <out.txt)" -gt 100 ] && echo "samples are there"
sonde report --stats -i killed >stats.txt 2>/dev/null
echo "report: status $?"
[ "$(awk '/SAMPLE events/ { print $3; exit }' stats.txt)" = "$(wc -l <out.txt)" ] && echo "as many as in script"
