# Lists of what is looked at. perf prints the same; with -d it hides every row that began with a sample of another
# object. What is refused below with status 129 it takes or reports with status 0 or 234, percentages of time without
# times in the header it refuses (doc/differences.md).
"$GEN" -n 2000 -o perf.data
printf 'job1\n\njob2\n' >names
show report --stdio -g none -n --no-children -s comm -c job1
show report --stdio -g none -n --no-children -s comm,dso -c job1
show report --stdio -g none -n --no-children -s comm -c file://names --percentage relative
show report --stdio -g none -n --no-children -s dso,comm -d libpart0.so,/nowhere/lib/libpart1.so
show report --stdio -g none -n --no-children -s comm -d libpart0.so --percentage relative
show report --stdio -g none -n -s comm --pid 1000
show report --stdio -g none -n -s comm --tid 1000,1001 --percentage relative
show report --stdio -g none -n --no-children -s cpu -C 0,2-3
show report --stdio -g none -n --no-children -s cpu --time 10%-20%
show report --stdio -g none -n --no-children -s cpu --time 10%/2,50%-60%
show report --stdio -g none -n --no-children -s cpu --time 1000.02,1000.03
show report --stdio -g none -n --no-children -s cpu --time ,1
show report --stdio -g none -n --no-children -s comm --percentage none
show report --stdio -c file://no-such-file
show report --stdio -S ,
show report --stdio --pid x
show report --stdio -C 3-1
show report --stdio --time 5%-1%
show report --stdio --time 1.0000000001,
"$GEN" -n 400 -x "$GEN" -o perf.data
sonde report --stdio -g none --no-children -s sym --symbol-filter=put_ >rows
grep -q "put_" rows && echo "rows with it"; grep "\[\.\]" rows | grep -v put_ || echo "no others"
"$GEN" -n 20 -o perf.data
show report --stdio -i perf.data --kallsyms no-such-file
mkdir -p elsewhere
"$GEN" -n 400 -x "$GEN" -o perf.data
sonde report --stdio -g none --no-children -s sym --symfs elsewhere | grep -q main || echo "no symbols"
cp "$SONDE_TESTS/../../recordings/cpus.data" .
for socket in 0 1; do
	show report --stdio -n -q -i cpus.data -s cpu,comm --socket-filter $socket
done
show report --socket-filter=x
for options in "--switch-off page-faults:u" "--switch-on page-faults:u --switch-off cpu-clock:u"; do
	for jobs in 1 2 4; do
		sonde report --stdio -i cpus.data -n -s comm $options --jobs $jobs >jobs-$jobs.txt 2>&1
	done
	cmp jobs-1.txt jobs-2.txt && cmp jobs-1.txt jobs-4.txt && echo "$options: all --jobs print the same"
done
show report --stdio -q -n -i cpus.data -s comm --switch-off cpu-clock:u --switch-on cpu-clock:u
show report --stdio -q -n -i cpus.data -s comm --switch-off page-faults:u
show report -i cpus.data --switch-on page-faults
