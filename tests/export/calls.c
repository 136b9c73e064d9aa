/* SPDX-License-Identifier: MIT */
/* Calls, recursion, tail calls and a return to a caller further out, without a library: its PLT would have other names in
 * perf. */
#define NO_INLINE __attribute__((noinline, noclone))

static void *jump[5];
static volatile unsigned long sum;

static NO_INLINE void leaf(unsigned long n)
{
	sum += n;
}

static NO_INLINE void tail(unsigned long n)
{
	sum += 1;
	leaf(n); /* a jump, at -O2 */
}

static NO_INLINE unsigned long recurse(unsigned long n)
{
	return n == 0 ? sum : recurse(n - 1) + (sum += n);
}

static NO_INLINE void leave(unsigned long n)
{
	if (n % 3 == 0) {
		__builtin_longjmp(jump, 1);
	}
	leaf(n);
}

static NO_INLINE void step(unsigned long n)
{
	tail(n);
	sum += recurse(n % 5);
	if (__builtin_setjmp(jump) == 0) {
		leave(n);
		sum += 2;
	}
}

void _start(void);

__attribute__((noreturn)) void _start(void)
{
	for (unsigned long i = 0; i < 200; i++) {
		step(i);
	}
#ifdef __x86_64__
	__asm__ volatile("syscall" : : "a"(60), "D"(0));
#endif
	for (;;) {
	}
}
