# Frequencies, groups, and what is said when an event is a tracepoint. perf prints the same.
"$GEN" -n 4 -e 3 -o perf.data
show evlist -F
show evlist -g
show evlist -g -F
attrs=$(od -An -t u8 -j 24 -N 8 perf.data | tr -d ' ')
printf '\002' | dd of=perf.data bs=1 seek="$attrs" conv=notrunc 2>/dev/null
show evlist
