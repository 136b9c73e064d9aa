# Rows in levels: --hierarchy. perf prints the same, but no rows with a filter whose key is no level or of a pipe stream,
# functions of several objects with the same address as one, and no message for what is refused below; with --mem-mode,
# and with symbols of branches, it crashes (doc/differences.md).
recordings=$SONDE_TESTS/../../recordings
"$GEN" -n 2000 -o perf.data
show report --stdio -g none -n --hierarchy -s comm,dso --percent-limit 2.9
show report --stdio -g none --hierarchy -s '{dso,comm},cpu' --percent-limit 3 -q
show report --stdio -g none --hierarchy -s cpu,comm -d libpart0.so --percentage relative --percent-limit 20 -q
ln -s "$recordings/root" root
cp "$recordings/ksymbols.data" .
show report --stdio -i ksymbols.data -g none -q -n --hierarchy -s sym,dso --kallsyms=/dev/null --symfs "$recordings/root" |
	grep bpf_prog
show report --stdio -i "$recordings/pipe.data" -g none -q -n --hierarchy -s comm --kallsyms=/dev/null --symfs "$recordings/root" |
	grep spin
for jobs in 1 2 4; do
	sonde report --stdio --hierarchy -n -s comm,dso,sym --jobs $jobs >jobs-$jobs.txt
done
[ -s jobs-1.txt ] && cmp jobs-1.txt jobs-2.txt && cmp jobs-1.txt jobs-4.txt && echo "all --jobs print the same"
cp "$recordings/pages.data" "$recordings/quipper-branches.data" .
show report --stdio -i pages.data --mem-mode --hierarchy -s mem,sym -q -n --symfs root
show report --stdio -i quipper-branches.data --hierarchy -s comm,symbol_from -q -n --percent-limit 3
show report --stdio --hierarchy -F overhead,comm
show report --stdio --hierarchy -w 10,10
show report --hierarchy --json
show report --stdio --hierarchy -s comm,period
show report --stdio --hierarchy -s '{comm,dso'
show report --stdio -s 'comm},dso'
show report --stdio -s '{comm,{dso},sym}'
