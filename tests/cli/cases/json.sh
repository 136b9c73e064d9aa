"$GEN" -n 4 -e 3 -o perf.data
show evlist --json
show report --stats --json
show report --json
show report --json --no-children -n --show-total-period -F +overhead_children,cpu -s comm
show report --json -s tid,time -c job0
show report --json -g caller
show report --json --no-children -T
sonde report --header-only --json | sed 's/"captured_on":[0-9]*/"captured_on":N/'
