# Samples with counts of a group: one sample for each member that counted something since the last one.
for order in little big; do
	python3 "$SONDE_TESTS/../counts.py" $order $order
done
show script -i little -F cpu,time,event,period,ip
show report --stdio -i little -n --no-children -s comm
show report --stats -i little
sonde script -i little >one.txt 2>/dev/null
sonde script -i big >two.txt 2>/dev/null
cmp one.txt two.txt && echo "the same in the other byte order"
for event in cpu-clock:HG page-faults:HG; do
	sonde flamegraph -i little -e $event -o page.html 2>/dev/null
	grep -E '^"(event|samples|total_samples)":' page.html
done
for what in 'script' 'report --stdio -n -s sym'; do
	sonde $what -i little --jobs 1 >one.txt 2>/dev/null
	sonde $what -i little --jobs 5 >five.txt 2>/dev/null
	cmp one.txt five.txt && echo "$what --jobs 5: the same"
done
