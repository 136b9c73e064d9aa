# Without -i: standard input when that is a pipe, else perf.data.
"$GEN" -n 20 -p 1 -t 1 -o perf.data
"$GEN" -n 30 -p 1 -t 1 -o other
show report --stats
cat other | show report --stats
cat other | show evlist
cat other | sonde script | wc -l
show report --stats <other
