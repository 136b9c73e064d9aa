# A -z recording: its header and events can be read, and that samples are missing is said.
"$GEN" -n 20 -e 2 -p 1 -t 1 -o packed
at=$(od -An -tu8 -j 40 -N 8 packed | tr -d ' ')
printf '\121' | dd of=packed bs=1 seek="$at" conv=notrunc status=none
show report --stats -i packed
show evlist -i packed
show flamegraph -i packed -o flame.html
