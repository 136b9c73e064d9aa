// SPDX-License-Identifier: MIT
/*
 * A program with known stacks. Each leaf spins for a while and writes the interval and its own stack:
 *
 *	START END FUNCTION FUNCTION...     ns of CLOCK_MONOTONIC; the innermost function first
 *
 * The names are those that every function pushes itself, so that no unwinder is involved.
 */
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <unistd.h>
#include <vector>

static std::vector<const char *> names;
static FILE *out;
static unsigned long turns;

struct Name {
	explicit Name(const char *name)
	{
		names.push_back(name);
	}
	~Name()
	{
		names.pop_back();
	}
};

#define OUT_OF_LINE __attribute__((noinline, noclone))
#define NO_TAIL_CALL __asm__ volatile("" ::: "memory")

static inline __attribute__((always_inline)) uint64_t now()
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void write_stack(uint64_t start, uint64_t end)
{
	fprintf(out, "%llu %llu", (unsigned long long)start, (unsigned long long)end);
	for (size_t i = names.size(); i-- > 0;) {
		fprintf(out, " %s", names[i]);
	}
	fputc('\n', out);
}

/* Spins in its own code. */
extern "C" OUT_OF_LINE void spin(uint64_t ns)
{
	Name name("spin");
	uint64_t start = now(), end = start + ns;

	for (uint64_t t = start; t < end; t = now()) {
		for (volatile unsigned i = 0; i < 20000; i = i + 1) {
			turns++;
		}
	}
	write_stack(start, end);
}

/* A function of the C library that is called through the PLT, and the vdso. */
extern "C" OUT_OF_LINE void spin_in_clock(uint64_t ns)
{
	Name name("spin_in_clock");
	uint64_t start = now(), end = start + ns, t;

	do {
		t = now();
		turns++;
	} while (t < end);
	write_stack(start, end);
}

/* System calls: samples are in the kernel, or in the function of the C library. */
extern "C" OUT_OF_LINE void spin_in_kernel(uint64_t ns)
{
	Name name("spin_in_kernel");
	uint64_t start = now(), end = start + ns;

	while (now() < end) {
		turns += (unsigned long)getppid();
	}
	write_stack(start, end);
}

extern "C" OUT_OF_LINE void recursion(unsigned depth)
{
	Name name("recursion");
	volatile char bytes[24];

	bytes[depth % 24] = 1;
	if (depth == 0) {
		spin(4000000);
	} else {
		recursion(depth - 1);
	}
	NO_TAIL_CALL;
}

/* A frame whose size is known only when it runs: unwound by the frame pointer. */
extern "C" OUT_OF_LINE void variable_frame(size_t n)
{
	Name name("variable_frame");
	char *bytes = (char *)__builtin_alloca(n);

	bytes[n / 2] = 1;
	__asm__ volatile("" ::"r"(bytes) : "memory");
	spin(4000000);
	NO_TAIL_CALL;
}

extern "C" void on_signal(int)
{
	Name name("on_signal");

	spin(4000000);
	NO_TAIL_CALL;
}

extern "C" OUT_OF_LINE void interrupted()
{
	Name name("interrupted");

	raise(SIGUSR1); /* its own frames in the C library are not in `names` */
	NO_TAIL_CALL;
}

/* Interrupted at an instruction of its own: nothing but the kernel is between it and the handler. */
extern "C" OUT_OF_LINE void trapped()
{
	Name name("trapped");

	__asm__ volatile("ud2");
	NO_TAIL_CALL;
}

extern "C" void on_trap(int, siginfo_t *, void *context)
{
	Name name("on_trap");

	((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += 2;
	spin(4000000);
	NO_TAIL_CALL;
}

#ifndef WITHOUT_EXCEPTIONS
/* Destroyed while an exception is thrown through its function. */
struct Cleanup {
	OUT_OF_LINE ~Cleanup();
};

Cleanup::~Cleanup()
{
	Name name("Cleanup::~Cleanup");

	spin(4000000);
	NO_TAIL_CALL;
}

extern "C" OUT_OF_LINE void thrower(int depth)
{
	Name name("thrower");
	Cleanup cleanup;

	if (depth == 0) {
		spin(4000000);
		throw std::string("thrown");
	}
	thrower(depth - 1);
	NO_TAIL_CALL;
}

extern "C" OUT_OF_LINE void catcher()
{
	Name name("catcher");

	try {
		thrower(3);
	} catch (const std::string &text) {
		turns += text.size();
		spin(4000000);
	}
	NO_TAIL_CALL;
}

#endif

static inline __attribute__((always_inline)) void inlined(unsigned n)
{
	turns += n;
	spin(4000000);
	turns += n;
}

extern "C" OUT_OF_LINE void with_inlined(unsigned n)
{
	Name name("with_inlined");

	inlined(n);
	NO_TAIL_CALL;
}

extern "C" int compare(const void *a, const void *b)
{
	Name name("compare");

	spin(1000000);
	return *(const int *)a - *(const int *)b;
}

extern "C" OUT_OF_LINE void callback()
{
	Name name("callback");
	int numbers[] = {3, 1, 2};

	qsort(numbers, 3, sizeof(numbers[0]), compare);
	NO_TAIL_CALL;
}

int main(int, char **argv)
{
	Name name("main");
	struct sigaction trap = {};

	out = fopen(argv[1], "w");
	if (out == nullptr) {
		return 1;
	}
	trap.sa_sigaction = on_trap;
	trap.sa_flags = SA_SIGINFO;
	sigaction(SIGILL, &trap, nullptr);
	signal(SIGUSR1, on_signal);
	for (unsigned i = 0; i < 10; i++) {
		spin(4000000);
		spin_in_clock(4000000);
		spin_in_kernel(4000000);
		recursion(5 + i);
		variable_frame(100 + 777 * i);
		interrupted();
		trapped();
#ifndef WITHOUT_EXCEPTIONS
		catcher();
#endif
		with_inlined(i);
		callback();
	}
	fclose(out);
	printf("%lu\n", turns);
}
