"$GEN" -n 20 -o whole
for size in 7 16 60 103 104 120 200; do
	head -c $size whole >cut
	echo "== $size bytes"
	show_readers cut
done
