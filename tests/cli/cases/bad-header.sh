# Numbers of the header that make no sense.
"$GEN" -n 20 -p 1 -t 1 -o whole
with() { # with OFFSET BYTES
	cp whole bad
	printf "$2" | dd of=bad bs=1 seek="$1" conv=notrunc status=none
	echo "== byte $1"
	for what in 'report --stats' 'report --header-only' 'script' 'evlist' 'flamegraph -o flame.html'; do
		sonde $what -i bad >/dev/null 2>err.txt
		echo "$what: status $?"
		cat err.txt
	done
}
with 8 '\377'
with 16 '\010'
with 24 '\377\377\377\377\377\377\377\377'
with 32 '\0\0'
with 40 '\377\377\377\377\377\377\377\177'
with 48 '\377\377\377\377\377\377\377\377'
