# What script is asked to look at. perf prints the same, but for the width of ids.
"$GEN" -n 400 -o perf.data
show script -G -F comm,tid,cpu,time,ip --time 1000.003,1000.0032
show script -G -F comm,tid,time -c job1,job2
show script -G -F comm,tid,time --tid 1001 --time 0%-5%
show script -G -F tid,time --pid 1000 -C 3 --time 10%/3
sonde script -G -F ip,dso --dsos libpart0.so | grep -vc libpart0
sonde script -G -F ip,sym -S 0x7f00200cb0e9
show script -F foo
show script -F tid,time,callindent,ipc --time 1000.011,1000.012
show script -F +brcntr
show script -C x
show script --tid 1,
"$GEN" -n 4 -p 2 -t 2 -d 2 -o perf.data
show script -F comm,tid,cpu,time,ip -G --show-task-events --show-mmap-events
show script -F comm,tid -G --show-task-events -C 1
