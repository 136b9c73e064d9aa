/* SPDX-License-Identifier: MIT */
/* Unwinds its own stack, from registers and a copy as a profiler or a crash handler has them. */
#define _GNU_SOURCE /* REG_RSP */
#include <sonde/preview/unwind.h>

#include <fcntl.h>
#include <stdio.h>
#include <ucontext.h>
#include <unistd.h>

enum { STACK_SIZE = 32768, FRAMES = 64 };
static ucontext_t registers;
static unsigned char stack[STACK_SIZE];
static ssize_t stack_size; /* bytes */

/* Keeps the registers and the stack of this function and its callers. */
__attribute__((noinline)) static void sample(void)
{
	int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	(void)getcontext(&registers);
	stack_size = pread(memory, stack, STACK_SIZE, registers.uc_mcontext.gregs[REG_RSP]);
	(void)close(memory);
}

int main(void)
{
	static const int order[] = {REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI, REG_RBP,
	        REG_RSP, REG_RIP, REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14,
	        REG_R15};
	struct sonde_unwinder *u = sonde_unwinder_new(SONDE_UNWIND_X86_64);
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long long start, end, offset;
	uint64_t values[17], ips[FRAMES];
	enum sonde_unwind_end why;
	char line[4096], path[4096];
	int n;

	sample();
	while (u != NULL && maps != NULL && fgets(line, sizeof(line), maps) != NULL) {
		if (sscanf(line, "%llx-%llx r-x%*c %llx %*s %*s %4095s", &start, &end, &offset,
		            path) == 4) {
			(void)sonde_unwinder_map(u, start, end, offset, path);
		}
	}
	for (int i = 0; i < 17; i++) {
		values[i] = (uint64_t)registers.uc_mcontext.gregs[order[i]];
	}
	n = u == NULL || stack_size < 0
	            ? -1
	            : sonde_unwind(u,
	                      &(struct sonde_unwind_stack){sizeof(struct sonde_unwind_stack),
	                              0xff01ff, values, stack, (size_t)stack_size},
	                      ips, FRAMES, &why);
	for (int i = 0; i < n; i++) {
		(void)printf("%llx\n", (unsigned long long)ips[i]);
	}
	(void)printf("%s\n", n > 0 ? sonde_unwind_end_text(why) : "not unwound");
	sonde_unwinder_free(u);
	return maps == NULL || fclose(maps) != 0 || n <= 0;
}
