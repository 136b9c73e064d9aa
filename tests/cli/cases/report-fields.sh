# Columns: --fields, --field-separator, --column-widths. perf prints the same; what is refused below with status 129 it
# takes or reports with status 0, and it ends with 234 where the header has no times (doc/differences.md).
"$GEN" -n 2000 -o perf.data
show report --stdio -g none -F overhead,sample,comm
show report --stdio -g none -F comm,overhead,period --no-children
show report --stdio -g none -s comm -F overhead_children,overhead,sample
show report --stdio -g none --no-children -s comm -F overhead_children,overhead
show report --stdio -g none -F +overhead_sys,overhead_us -s comm
show report --stdio -g none -s sample,comm,overhead_us
show report --stdio -g none -F overhead,sample,period
show report --stdio -g none --no-children -n -t , -s dso
show report --stdio -g none --no-children -t ';' -s comm
show report --stdio -g none --no-children -t j -s comm
show report --stdio -g none --no-children -n -w 10,4,5 -s dso,comm --percent-limit 1.8
show report --stdio -q -g none --no-children -t , -F comm,overhead_children,overhead
show report --stdio -q -g none --no-children -t , -F overhead,comm,overhead_children
show report --stdio -q -n -g none --no-children -s comm_nodigit
show report --stdio -q -n -g none --hierarchy -s comm_nodigit,comm --percent-limit 16
show report --stdio -F nosuch
for key in simd typeoff typecln callchain_branch_cycles; do
	show report --stdio -s $key
done
show report --stdio -F ''
show report --stdio -s ,
show report --stdio -w 1,x
show report --stdio -t .
show report --stdio -g none -n --no-children -s symbol --time 0%-1%
show report --stdio -g none -n --no-children -s tid --percent-limit 5
show report --stdio -g none -n --no-children -s event
show report --stdio -s comm,dso_from -i perf.data
show report --stdio -b -i perf.data
show report --stdio -s mem -i perf.data
show report --stdio --mem-mode -i perf.data
show report --stdio -g none -n --no-children -s retire_lat,local_retire_lat -i perf.data
show report --stdio --total-cycles -i perf.data
# The beginning of a name is enough, in any case; similar names are suggested.
for keys in com,Sym over sybol,dso ti comm.prev_pid; do
	"$SONDE" report --stdio -q -g none --no-children -s $keys 2>&1 | head -1 | cut -c1-150
done
"$SONDE" report --stdio -F overhed 2>&1 | cut -c1-80
