"$GEN" -n 4 -e 3 -o perf.data
show evlist
show evlist -v
