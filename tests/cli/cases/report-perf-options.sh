# Options of perf's interactive view are refused with what to do instead; the others are for the table of threads.
recordings=$SONDE_TESTS/../../recordings
cp "$recordings/reads.data" "$recordings/basic.data" .
for option in --tui --gtk --source --asm-raw "-M intel" "--objdump x" "--prefix x" "--prefix-strip 1" \
	"--percent-type local-hits" "--samples 3" --stitch-lbr; do
	show report $option -i basic.data
done
show report -T --pretty raw -q -s comm --percent-limit 30 -i reads.data
show report --pretty raw -i reads.data
show report --pretty plain -T -i reads.data
show report --show-on-off-events -i basic.data
"$SONDE" report -i basic.data >usual 2>&1
"$SONDE" report --disable-order -i basic.data >unsorted 2>&1
cmp usual unsorted && echo "--disable-order prints the same bytes"
