# Call graphs in every form. perf prints the same, but for "(inlined)" behind the rest of a fractal graph.
"$GEN" -n 300 -o perf.data
for mode in graph,10 graph,10,callee fractal,10 fractal,10,1 flat,1.2 folded,1 folded,1,2,count graph,10,period 3,count none; do
	show report --stdio -q -s comm -c job0-1 -g "$mode"
done
show report --stdio -q -s comm -c job0 -g caller,10 --no-children --max-stack 2
show report --stdio -q -s comm -c job0 -g address,10 --children --max-stack 2
show report --stdio -g fractals
show report --stdio -g 1,2,3
show report --stdio -g 101
show report --stdio -g caller,branch
