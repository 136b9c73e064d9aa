"$GEN" -n 12 -e 2 -o perf.data
show dump
show dump --type COMM,9 --raw
show dump --json --type mmap,sample perf.data
show dump --type nonsense
show script -D
