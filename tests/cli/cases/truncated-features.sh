# All samples are there, header features are not: each command says so and has status 1.
"$GEN" -n 20 -e 2 -p 1 -t 1 -o whole
word() { od -An -tu8 -j "$1" -N 8 whole | tr -d ' '; }
end=$(($(word 40) + $(word 48)))
for size in $end $((end + 24)) $(($(stat -c %s whole) - 1)); do
	head -c "$size" whole >cut
	show report --stats -i cut
	show report --header-only -i cut | grep -v '^# captured on'
	sonde script -F comm,tid,time -i cut >out.txt 2>err.txt
	echo "script: status $?, $(wc -l <out.txt) lines"
	cat err.txt
	show evlist -i cut
	show evlist -v -i cut
	show flamegraph -i cut -o flame.html
done
