# The flow of a raw trace: a loop with a call, events, damage, code that is missing.
bytes() { # hexadecimal words to bytes
	printf '%b' "$(echo "$*" | tr -d ' ' | sed 's/../\\x&/g')"
}
psb="0282028202820282 0282028202820282"
# 1000 call 100a; 1005 dec ecx; 1007 jnz 1000; 1009 hlt; 100a ret
bytes e805000000 ffc9 75f7 f4 c3 >code.bin
bytes "$psb" 3d0010 9901 0223 3c 3d0910 01 >good.pt
bytes "$psb" 3d0010 9901 0223 06 02f3 3d0510 04 3d0910 01 >overflow.pt
bytes "$psb" 3d0010 9901 0223 2d0510 c9 "$psb" 3d0510 9901 0223 04 3d0910 01 >bad.pt
bytes "$psb" 0223 d90005 02130509 >events.pt
show pt flow --raw code.bin:0x1000 --pt good.pt
show pt flow --raw code.bin:0x1000 --branches --event:ip good.pt
show pt flow --raw code.bin:0x1000 --count good.pt
show pt flow --raw code.bin:0x1000 --event:ip overflow.pt
show pt flow --raw code.bin:0x1000 bad.pt
show pt flow events.pt
show pt flow --raw code.bin:0:0x1000 --raw code.bin:5-9:0x1005 --quiet --stat:insn good.pt
show pt flow good.pt
show pt flow --raw code.bin good.pt
show pt flow --raw missing.bin:0 good.pt
show pt flow --elf code.bin good.pt
show pt flow --raw code.bin:0x1000
