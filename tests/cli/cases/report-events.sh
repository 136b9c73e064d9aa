"$GEN" -n 2000 -e 3 -o perf.data
show report --stdio -n --no-children -g none -s comm
show report --stats
