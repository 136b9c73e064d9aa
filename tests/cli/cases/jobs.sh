# The number of workers does not show.
"$GEN" -n 20000 -e 2 -p 12 -o perf.data
for what in 'report --stdio' 'report --stdio --no-children -n -g none' 'report --stdio -s sym -n' \
	'script' 'report --stats'; do
	sonde $what --jobs 1 >one.txt
	for jobs in 2 3 7; do
		sonde $what --jobs $jobs >many.txt
		[ -s one.txt ] && cmp one.txt many.txt && echo "$what --jobs $jobs: the same"
	done
done
