# SPDX-License-Identifier: MIT
# Functions with several names, without sizes, and inside of others.
	.text
	.globl f_global
	.weak f_weak
	.type f_global,@function
	.type f_weak,@function
	.type f_local,@function
	.type _under,@function
	.type __two,@function
	.globl _under
	.globl __two
f_weak:
f_local:
f_global:
	nop
	nop
	.size f_global,2
	.size f_weak,2
	.size f_local,2
__two:
_under:
	nop
	.size __two,1
	.size _under,1
	.globl zero
	.type zero,@function
zero:
	nop
	nop
	.globl sized
	.type sized,@function
sized:
	nop
	.size sized,4
	.globl inner
	.type inner,@function
inner:
	nop
	.size inner,1
	.globl aa
	.globl aaaa
	.type aa,@function
	.type aaaa,@function
aa:
aaaa:
	nop
	.size aa,1
	.size aaaa,1
	.globl ifn
	.type ifn,@gnu_indirect_function
ifn:	ret
	.size ifn,1
	.globl main
	.type main,@function
main:	xor %eax,%eax
	ret
	.size main,3
