# What is wrong is said as by the other commands.
"$GEN" -n 20 -e 2 -o perf.data
show flamegraph -i perf.data -o no-such-folder/page.html
show flamegraph -i perf.data -o page.html -e nothing
show flamegraph -i no-such-file
show flamegraph -i perf.data -o page.html -e task-clock
