# Events that a machine has a name for: a saved one, whose PMUs are known.
machine() { # machine NAME: a folder of tests/fixtures/NAME.txt
	awk -v to="$1" '/^=== / { file = to "/" $2; dir = file; sub("/[^/]*$", "", dir); system("mkdir -p " dir); next }
		file { print > file }' "$SONDE_TESTS/../../fixtures/$1.txt"
}
machine amd
machine hybrid
show list --root amd hw sw
show list --root amd --details power amd_df
show list --root amd stalled 'mem_*'
show list --root amd --json energy-pkg
show list --root hybrid --raw-dump 'cpu_atom/mem*' cache
show list --root hybrid metric no-such-event tracepoint
show list --root nowhere
