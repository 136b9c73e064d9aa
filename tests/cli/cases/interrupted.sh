# A recorder that was killed leaves a header whose data size is 0.
"$GEN" -n 50 -p 1 -t 1 -o whole
cp whole killed
printf '\0\0\0\0\0\0\0\0' | dd of=killed bs=1 seek=48 conv=notrunc status=none
show report --stats -i killed
