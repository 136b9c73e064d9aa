/* SPDX-License-Identifier: MIT */
/*
 * System calls and an entry point without a C library: the programs of the recordings name the same
 * functions on every machine.
 */
#ifndef START_H
#define START_H

#include <asm/unistd.h>

static inline long call6(long nr, long a, long b, long c, long d, long e, long f)
{
	long result;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;

	__asm__ volatile("syscall"
	                 : "=a"(result)
	                 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
	                 : "rcx", "r11", "memory");
	return result;
}

#define CALL(nr, a, b, c) call6(nr, (long)(a), (long)(b), (long)(c), 0, 0, 0)

int program(long argc, char **argv);

__attribute__((used)) void start(long *stack)
{
	CALL(__NR_exit_group, program(*stack, (char **)(stack + 1)), 0, 0);
}

__asm__(".globl _start\n"
        ".type _start, @function\n"
        "_start:\n"
        "\t.cfi_startproc\n"
        "\t.cfi_undefined rip\n"
        "\txor %ebp, %ebp\n"
        "\tmov %rsp, %rdi\n"
        "\tand $-16, %rsp\n"
        "\tcall start\n"
        "\thlt\n"
        "\t.cfi_endproc\n"
        ".size _start, . - _start\n");

#endif
