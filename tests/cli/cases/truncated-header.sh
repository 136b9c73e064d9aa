"$GEN" -n 20 -o whole
for size in 7 16 60 103 104 200; do
	head -c $size whole >cut
	echo "== $size bytes"
	show report --stdio -i cut
	show script -i cut
done
