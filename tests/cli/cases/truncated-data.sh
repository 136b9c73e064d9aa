# The first half is shown, a warning says what is missing, and the status is not 0.
"$GEN" -n 200 -p 1 -t 1 -o whole
head -c $(($(stat -c %s whole) / 2)) whole >cut
show report --stdio --no-children -g none -s comm,dso -i cut
show report --stats -i cut
show evlist -i cut
sonde script -F comm,tid,time -i cut >out.txt 2>err.txt
echo "script: status $?"
wc -l <out.txt
cat err.txt
