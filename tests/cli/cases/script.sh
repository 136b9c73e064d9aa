"$GEN" -n 12 -p 2 -t 2 -o perf.data
show script
show script -F comm,tid,time,event
show script -F comm,pid,tid,cpu,time,period,ip,sym,dso
