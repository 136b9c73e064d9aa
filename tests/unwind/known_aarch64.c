/* SPDX-License-Identifier: MIT */
/*
 * An aarch64 program without a C library that writes, from a leaf of known callers, its registers in
 * the order of perf.data (x0-x30, sp, pc) and up to 8192 bytes of its stack.
 */
#define OUT_OF_LINE __attribute__((noinline, noclone))
#define STACK_SIZE  8192

typedef unsigned long word;

static word registers[33];
static volatile word turns;

__attribute__((always_inline)) static inline word call(word number, word a, word b, word c)
{
	register word x8 __asm__("x8") = number;
	register word x0 __asm__("x0") = a;
	register word x1 __asm__("x1") = b;
	register word x2 __asm__("x2") = c;

	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
	return x0;
}

OUT_OF_LINE static void leaf(void)
{
	__asm__ volatile(
	        "stp x0, x1, [%0]\n\tstp x2, x3, [%0, 16]\n\tstp x4, x5, [%0, 32]\n\t"
	        "stp x6, x7, [%0, 48]\n\tstp x8, x9, [%0, 64]\n\tstp x10, x11, [%0, 80]\n\t"
	        "stp x12, x13, [%0, 96]\n\tstp x14, x15, [%0, 112]\n\t"
	        "stp x16, x17, [%0, 128]\n\tstp x18, x19, [%0, 144]\n\t"
	        "stp x20, x21, [%0, 160]\n\tstp x22, x23, [%0, 176]\n\t"
	        "stp x24, x25, [%0, 192]\n\tstp x26, x27, [%0, 208]\n\t"
	        "stp x28, x29, [%0, 224]\n\tstr x30, [%0, 240]\n\t"
	        "mov x9, sp\n\tadr x10, .\n\tstp x9, x10, [%0, 248]"
	        :
	        : "r"(registers)
	        : "x9", "x10", "memory");
	call(64, 1, (word)registers, sizeof(registers)); /* write */
	for (word at = 0; at < STACK_SIZE; at += 256) { /* up to the end of the stack */
		call(64, 1, registers[31] + at, 256);
	}
	call(93, 0, 0, 0); /* exit */
}

/* Many registers that a callee saves. */
OUT_OF_LINE static word saver(word a, word b, word c, word d)
{
	word e = turns, f = turns, g = turns, h = turns;

	leaf();
	return a * b + c * d + e * f + g * h;
}

OUT_OF_LINE static word variable_frame(word n)
{
	volatile char *bytes = (volatile char *)__builtin_alloca(n);

	bytes[n / 2] = 1;
	return saver(n, n + 1, n + 2, n + 3) + (word)bytes[n / 2];
}

OUT_OF_LINE static word large_frame(word n)
{
	volatile char bytes[1000];

	bytes[n % 1000] = 1;
	return variable_frame(n + 100) + (word)bytes[n % 1000];
}

OUT_OF_LINE static word recursion(word depth)
{
	volatile word kept = depth;
	word r = depth == 0 ? large_frame(turns) : recursion(depth - 1);

	return r + kept;
}

__attribute__((used)) void program(void)
{
	turns += recursion(5);
	turns += 1;
}

__asm__(".globl _start\n.type _start, %function\n_start:\n\t.cfi_startproc\n\t.cfi_undefined "
        "x30\n\t"
        "mov x29, #0\n\tbl program\n\t.cfi_endproc\n\t.size _start, . - _start");
