"$GEN" -n 4 -e 2 -o perf.data
sonde report --header-only | sed 's/^# captured on.*/# captured on    : then/'
