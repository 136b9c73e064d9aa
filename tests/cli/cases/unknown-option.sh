# Status 129, as perf's.
for command in record report script evlist flamegraph; do
	"$SONDE" $command --no-such-option >out.txt 2>&1
	status=$?
	echo "$command: status $status: $(head -1 out.txt)"
done
# What only perf has is refused by that name, with the same status; an abbreviation as in perf.
for words in "test --workload=noploop" "test --wor" "test -vF" "test --no-dont-fork" "--debugfs-dir=x report" \
	"lock" "top -a" "help kvm" "--no-such-option"; do
	"$SONDE" $words >out.txt 2>&1
	echo "$words: status $?"
	sed 's/^/	/' out.txt
done
# The option that was probably meant.
for word in --sot --no-childern --chidlren=3 --xyzzy; do
	"$SONDE" report $word 2>&1 | head -1
done
