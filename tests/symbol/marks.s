/* SPDX-License-Identifier: MIT */
/* Marks of instructions and data, which the assembler makes too, and labels that only look like them. */
	.text
	.globl _start
	.type _start, %function
_start:
	nop
	.word 0x11223344
	nop
$x.one:
	nop
$d.1:
	nop
$xy:
	nop
$a:
	nop
plain:
	nop
$t:
	nop
$t.1:
	nop
$b:
	nop
$x1:
	nop
$xx.1:
	nop
$x.:
	nop
	.type last, %function
last:
	nop
	.size last, . - last
