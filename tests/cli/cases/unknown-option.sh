# Status 129, as perf's.
for command in record report script evlist flamegraph; do
	"$SONDE" $command --no-such-option >out.txt 2>&1
	status=$?
	echo "$command: status $status: $(head -1 out.txt)"
done
