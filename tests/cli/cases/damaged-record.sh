# One record has a size of 4 in the middle of the data: what stands before it is shown.
"$GEN" -n 100 -p 1 -t 1 -o damaged
at=$(python3 - damaged <<'EOF'
import struct
import sys

data = open(sys.argv[1], "rb").read()
at = struct.unpack_from("<Q", data, 40)[0]
for i in range(40):
    at += struct.unpack_from("<H", data, at + 6)[0]
print(at)
EOF
)
printf '\004\000' | dd of=damaged bs=1 seek=$((at + 6)) conv=notrunc status=none
show report --stats -i damaged
show report --stdio -n --no-children -g none -s comm -i damaged
sonde script -F comm,tid,time -i damaged >out.txt 2>err.txt
echo "script: status $?, $(wc -l <out.txt) samples"
cat err.txt
show flamegraph -i damaged -o flame.html
