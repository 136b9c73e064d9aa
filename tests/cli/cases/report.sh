# Everything that does not depend on the machine.
"$GEN" -n 2000 -o perf.data
show report --stdio -n --no-children -g none -s comm
show report --stdio -n --no-children -g none -s comm,dso
show report --stdio -n --no-children -g none -s dso --percent-limit 10
show report --stdio --no-children -g none -s comm,dso,sym --percent-limit 0.2
show report --stdio --no-children -g none -F comm,sample -t ,
show report --stdio --no-children -g none -F comm,overhead,period -w 3,4,5
show report --stats
