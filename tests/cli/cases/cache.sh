export SONDE_CACHE=$PWD/kept TZ=UTC
show cache
mkdir -m 700 kept
printf '0123456789' >kept/lines-00ff
printf '01234' >kept/kernel-symbols
printf 'mine' >kept/other
touch -d '2026-01-02 03:04:05 UTC' kept/lines-00ff
touch -d '2026-01-03 03:04:05 UTC' kept/kernel-symbols
show cache list
show cache size
show cache clear
ls kept
show cache size
show cache wash
show cache list more
SONDE_CACHE='' show cache
