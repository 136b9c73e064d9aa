# Tables of several events: --group, --no-group, --group-sort-idx. perf prints the same, but no table if the first event of
# a group has no samples, and other percentages with --hierarchy --percentage relative (doc/differences.md).
recordings=$SONDE_TESTS/../../recordings
ln -s "$recordings/root" root
cp "$recordings/lost.data" "$recordings/counts.data" "$recordings/cpus.data" .
run() {
	show report --stdio --kallsyms=/dev/null --symfs root "$@"
}
run -i lost.data --group --time 80%-100% -g none -n -s comm
run -i lost.data --group --hierarchy --percentage relative -S watch,work -g none -q
run -i counts.data --group-sort-idx 1 --color always -s comm -q
run -i cpus.data --group-sort-idx 1
run -i counts.data --group-sort-idx 1 --no-group
run -i counts.data --group-sort-idx one
run -i counts.data --group-sort-idx 1x
run -i cpus.data --group --json
for file in lost counts cpus; do
	for jobs in 1 2 4; do
		sonde report --stdio -i $file.data --group -n --jobs $jobs >jobs-$jobs.txt
	done
	[ -s jobs-1.txt ] && cmp jobs-1.txt jobs-2.txt && cmp jobs-1.txt jobs-4.txt && echo "$file: all --jobs print the same"
done
