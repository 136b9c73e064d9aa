"$GEN" -z 4096 -o noise
show_readers noise
