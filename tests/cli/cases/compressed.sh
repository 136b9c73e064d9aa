# Recordings in compressed records, whole and with a damaged zstd frame; packed recordings that are cut.
"$GEN" -n 200 -e 2 -p 1 -t 1 -o plain
python3 "$SONDE_TESTS/../../containers/forms.py" 81 plain packed
show report --stats -i packed
at=$(grep -obUaP '\x28\xb5\x2f\xfd' packed | head -1 | cut -d: -f1)
printf '\377\377' | dd of=packed bs=1 seek=$((at + 6)) conv=notrunc status=none
show report --stats -i packed
show evlist -i packed
gzip -c plain | head -c 5000 >cut.gz
show report --stats -i cut.gz
printf '\037\213\010 no more than this' >broken.gz
show evlist -i broken.gz
