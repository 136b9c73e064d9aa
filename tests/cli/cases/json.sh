"$GEN" -n 4 -e 3 -o perf.data
show evlist --json
show report --stats --json
show report --json
sonde report --header-only --json | sed 's/"captured_on":[0-9]*/"captured_on":N/'
