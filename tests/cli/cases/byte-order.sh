# A recording of a machine with the other byte order says the same.
python3 "$SONDE_TESTS/../swap.py" little little
python3 "$SONDE_TESTS/../swap.py" big big
for what in 'script' 'report --stdio --no-children -n' 'report --stats' 'evlist -v' 'report --header-only'; do
	sonde $what -i little 2>&1 | sed '/captured on/d' >little.txt
	sonde $what -i big 2>&1 | sed '/captured on/d' >big.txt
	cmp little.txt big.txt && echo "$what: the same"
done
show script -i big
show evlist -v -i big
sonde flamegraph -i big -o big.html 2>&1
echo "flamegraph: status $?"
