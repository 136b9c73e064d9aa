# Branches as entries of call chains; tests/recordings compares them with perf, which crashes or loses what is counted
# at branches in the reports below (doc/differences.md).
recordings=$SONDE_TESTS/../../recordings
ln -s "$recordings/root" root
cp "$recordings/branches.data" "$recordings/branch-chains.data" "$recordings/basic.data" .
run() {
	show report --stdio -q --branch-history --kallsyms=/dev/null --symfs root "$@"
}
run -i branches.data -g none -n --no-children
run -i branches.data --hierarchy -s comm -g callee,6
run -i branch-chains.data -s comm --percentage relative -d nosuch
show report --branch-history --json --no-children --kallsyms=/dev/null --symfs root -i branches.data
run -i basic.data
run -i branches.data --total-cycles
run -i branches.data --inline
"$SONDE" report --branch-history -i branch-chains.data -j 1 >jobs-1 2>&1
for jobs in 2 3 4; do
	"$SONDE" report --branch-history -i branch-chains.data -j $jobs >"jobs-$jobs" 2>&1
	cmp jobs-1 "jobs-$jobs" && echo "jobs=$jobs prints the same bytes as jobs=1"
done
