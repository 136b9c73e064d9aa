python3 "$SONDE_TESTS/../buildids.py" little perf.data
show buildid-list
show buildid-list --json
show buildid-list -H
python3 "$SONDE_TESTS/../buildids.py" big big
sonde buildid-list >little.txt
sonde buildid-list -i big | cmp little.txt - && echo "big-endian: the same"
python3 "$SONDE_TESTS/../buildids.py" little perf.data 150
show buildid-list
show buildid-list -i none
sonde buildid-list -i "$GEN" | grep -cE '^[0-9a-f]{16,40}$'
