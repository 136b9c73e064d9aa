/* SPDX-License-Identifier: MIT */
/* Functions of one byte with mangled names of Rust (v0 and legacy), C++ and D. */
	.text
	.globl _start
	.type _start, @function
_start:
	nop
	.size _start, . - _start
	.macro function name
	.globl \name
	.type \name, @function
\name:
	nop
	.size \name, . - \name
	.endm
	function _RNvCs1234_7mycrate3foo
	function _RNvMsr_NtCs3ssYzQotkvD_3std4pathNtB5_7PathBuf3newCs15kBYyAo9fc_7mycrate
	function _RINvNtC3std3mem8align_ofjE
	function _RNCNvC4main4main0
	function _ZN4core3fmt9Formatter9write_fmt17h0123456789abcdefE
	function _ZN3foo3barEi
	function _D3foo3barFiZv
	function _Dmain
	function _D3std5stdio__T7writelnTAyaZQnFNfQjZv
	function _D4core8internal5array8equality__T8__equalsTaTaZQoFNaNbNiNeMxAaMxQeZb
