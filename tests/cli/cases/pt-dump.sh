# Packets of a raw trace: listing, times, damage, files that are not there.
bytes() { # hexadecimal words to bytes
	printf '%b' "$(echo "$*" | tr -d ' ' | sed 's/../\\x&/g')"
}
psb="0282028202820282 0282028202820282"
bytes "$psb" 0223 19000a0000000000 02731200000400 02030200 a2 2d0410 0263 840c01020304 02b3 >good.pt
bytes 0000 "$psb" 5900 c9 77 "$psb" 0223 fe 0282 >bad.pt
bytes "$psb" 9901 9902 9900 dd eeeeddddcccc000a 00 8d ffffeeeeffff 31dddd 59c9 01 0223 >state.pt
show pt dump good.pt
show pt dump --raw --no-offset --time --nom-freq 4 good.pt
show pt dump bad.pt
show pt dump --no-sync bad.pt
show pt dump --lastip --exec-mode state.pt
show pt dump --no-pad --no-timing --no-offset state.pt
show pt dump --quiet bad.pt
show pt dump good.pt:0-0x12
show pt dump --no-sync good.pt:0x10
show pt dump good.pt:0x1000
show pt dump --cpu 0/0 good.pt
show pt dump --quiet --cpu auto good.pt
show pt dump --cpu none --quiet good.pt
show pt dump --quiet --cpu 6/85/3 good.pt
show pt dump --cpu 6 good.pt
show pt dump missing.pt
show pt dump
show pt
show pt nonsense
