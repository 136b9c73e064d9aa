# A recorder that was killed leaves a data size of 0 or one that is behind, no features, and perhaps half a
# record. Nothing that was written is lost: a note, and status 0.
"$GEN" -n 50 -p 1 -t 1 -o whole
word() { od -An -tu8 -j "$1" -N 8 whole | tr -d ' '; }
end=$(($(word 40) + $(word 48)))
patch() { printf "$1" | dd of=killed bs=1 seek="$2" conv=notrunc status=none; }
killed() { # killed SIZE: as it is when so many bytes were written
	head -c "$1" whole >killed
	patch '\0\0\0\0\0\0\0\0' 72
}
sonde script -i whole >whole.txt
for cut in 0 8 13; do
	for size in '\0\0\0\0\0\0\0\0' '\0\002\0\0\0\0\0\0'; do
		killed $((end - cut))
		patch "$size" 48
		sonde script -i killed >killed.txt 2>err.txt
		echo "cut $cut: status $?, $(grep -c cpu-clock whole.txt) samples in the whole file, $(grep -c cpu-clock killed.txt) here"
		cat err.txt
	done
done
show report --stats -i killed
show report --header-only -i killed | grep -v '^#'
show evlist -i killed
show flamegraph -i killed -o flame.html
