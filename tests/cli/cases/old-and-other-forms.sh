# Version 1, a stream that describes no event, a FIFO, and folders.
"$GEN" -n 20 -o whole
{ printf 'PERFFILE'; tail -c +9 whole; } >version1
show report --stats -i version1
{ printf 'PERFILE2\020\0\0\0\0\0\0\0'; tail -c +457 whole; } >piped
show report --stats -i piped
show report --stdio -i piped
show script -i piped
show evlist -i piped
show flamegraph -i piped -o flame.html
mkfifo fifo
cat whole >fifo &
show report --stats -i fifo
show report --stats -i - <whole
cat whole | show report --stdio -g none --sort comm -i -
show report --stats -i - </dev/null
