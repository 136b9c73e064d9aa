"$GEN" -n 12 -e 2 -o perf.data
show dump
show dump --type COMM,9 --raw
show dump --json --type mmap,sample perf.data
show dump --type nonsense
show script -D
sonde script -D >script.txt
sonde report -D -g caller --stdio >report.txt
cmp script.txt report.txt && echo "report -D and script -D are the same"
