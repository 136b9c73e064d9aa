"$GEN" -n 12 -p 2 -t 2 -o perf.data
show script
show script -F comm,tid,time,event
show script -F comm,pid,tid,cpu,time,period,ip,sym,dso
cp "$SONDE_TESTS/../../recordings/cgroups.data" "$SONDE_TESTS/../../recordings/bpf-output.data" .
show script -F comm,cgroup --time 2301.728,2301.7295 -i cgroups.data
show script -F comm,bpf-output --time 0,0.001 -i bpf-output.data
show script -F sw:comm,trace
show script -F hw:bpf-output
show script -F comm,trace --time 0,0.001 -i bpf-output.data
"$SONDE" script -F comm,symof 2>&1 | cut -c1-80
"$SONDE" script -F +bpfoutput 2>&1 | cut -c1-80
cp -r "$SONDE_TESTS/../../recordings/branch-code.data" "$SONDE_TESTS/../../recordings/root" .
show script --symfs root -F time,brstackinsn --time 0.002,0.003 -i branch-code.data
show script -F brstackinsnlen --json -i branch-code.data
show script -F +brstackinsn
show script --max-blocks 2
show script --graph-function main
show script -s x.py
show script -g python
show script -l
show script -a
show script -d --json
show script --xed -D
show script --itrace=i1ms,k
show script rw-by-pid
show script --no-merge-callchains
sonde script -D >dump.txt
sonde script --dump-unsorted-raw-trace | cmp - dump.txt && test -s dump.txt && echo same
sonde script >script.txt
sonde script --merge-callchains | cmp - script.txt && test -s script.txt && echo same
