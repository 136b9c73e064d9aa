"$GEN" -n 2000 -e 3 -o perf.data
show report --stats --no-skip-empty
sonde report --stats --no-skip-empty --json | grep -o '"[A-Z_]*":0' | head -3
sonde report --json --no-skip-empty -i "$SONDE_TESTS/../../recordings/lost.data" --time 80%-100% | grep '"name"'
