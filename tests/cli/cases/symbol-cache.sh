# Records.
# The kernel's symbols are kept between runs where SONDE_CACHE says, and change nothing in the report.
sonde record -q -e cpu-clock:k -F 20000 -o k.data sh -c 'for i in 1 2 3 4 5 6 7 8; do cat /proc/self/maps; done' \
	>/dev/null 2>&1 || sonde record -q -o k.data true >/dev/null 2>&1
sonde report -i k.data >without.txt
SONDE_CACHE=$PWD/kept sonde report -i k.data >first.txt
SONDE_CACHE=$PWD/kept sonde report -i k.data >second.txt
cmp without.txt first.txt && cmp without.txt second.txt && echo "three times the same"
if [ -e kept/kernel-symbols ]; then
	printf x | dd of=kept/kernel-symbols bs=1 seek=4000 conv=notrunc 2>/dev/null
	SONDE_CACHE=$PWD/kept sonde report -i k.data >damaged.txt
	cmp without.txt damaged.txt
fi
ls -A kept 2>/dev/null | grep -v '^kernel-symbols$'
mkdir home
XDG_CACHE_HOME= HOME=$PWD/home SONDE_CACHE= sonde report -i k.data >/dev/null
ls -A home
echo "and nothing is left where it is switched off"
