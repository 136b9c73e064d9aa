# Rows by callers: -p, -x, -s parent, --ignore-callees; tests/recordings compares their rows with perf,
# which prints no row for what is refused below (doc/differences.md).
recordings=$SONDE_TESTS/../../recordings
ln -s "$recordings/root" root
cp "$recordings/chains-tasks.data" "$recordings/basic.data" .
run() {
	show report --stdio --kallsyms=/dev/null --symfs root "$@"
}
run -i chains-tasks.data -g none -n -q -s symbol_size,sym --no-children
run -i chains-tasks.data -g none -n -q -s symbol_size --hierarchy
run -i chains-tasks.data -s parent -p work --json
run -i chains-tasks.data -p '['
run -i chains-tasks.data --ignore-callees='a{'
run -i basic.data -s parent
run -i basic.data -x
run -i basic.data --ignore-callees=main -s sym -q
for what in -U "-p work|inner -x" "--ignore-callees=start|program" "-s parent,symbol_size"; do
	for jobs in 1 2 4; do
		sonde report --stdio --symfs root --kallsyms=/dev/null -i chains-tasks.data -n $what --jobs $jobs >jobs-$jobs.txt
	done
	[ -s jobs-1.txt ] && cmp jobs-1.txt jobs-2.txt && cmp jobs-1.txt jobs-4.txt && echo "$what: all --jobs print the same"
done
run -i chains-tasks.data -n -g none -s symoff,dso
show report --no-children -s symoff --json --symfs root -i chains-tasks.data
# the same offsets as in the lines of script
"$SONDE" report --stdio -q --no-children -g none -F sample,symoff --symfs root -i chains-tasks.data |
	awk 'NF { print $1, $3 }' | sort >rows
"$SONDE" script -G -F ip,sym,symoff --symfs root -i chains-tasks.data | awk '{ print $2 }' | sort | uniq -c |
	awk '{ print $1, $2 }' | sort >lines
test -s rows && cmp rows lines && echo "symoff counts the lines of script"
