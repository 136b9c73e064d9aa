# One record has a size of 4 in the middle of the data: it costs what it must, and no more.
"$GEN" -n 100 -p 1 -t 1 -o damaged
printf '\004\000' | dd of=damaged bs=1 seek=$((632 + 4096 + 6)) conv=notrunc status=none
show report --stats -i damaged
