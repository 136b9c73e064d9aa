/* SPDX-License-Identifier: MIT */
/*
 * Generated programs that the processor executes one instruction at a time, as TAP: stepped [SEEDS
 * [FIRST]].
 *
 * The code is put at its addresses in a child that is single-stepped (ptrace). The addresses that
 * the processor executed must be those of the flow of the program's trace, one for one.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "tests/pt/program.h"
#include "tests/tap.h"

#include <signal.h>
#include <sonde/pt.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define TAPE_AT  0x500100000000
#define STACK_AT 0x500200000000
#define STACK    (1u << 20)

static bool put(uint64_t at, const void *data, size_t n, size_t room)
{
	/* NOLINTNEXTLINE(performance-no-int-to-ptr): the address is the program's */
	void *p = mmap((void *)(uintptr_t)at, room, PROT_READ | PROT_WRITE | PROT_EXEC,
	        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (p == MAP_FAILED) {
		return false;
	}
	memcpy(p, data, n);
	return true;
}

/* Never returns. */
static void be_stepped(const struct program *p)
{
	unsigned region = p->functions[0].region;
	bool good = true;

	good = good &&
	       put(p->regions[region].base, p->regions[region].code, PROGRAM_CODE, PROGRAM_CODE);
	good = good && put(TAPE_AT, p->tape, p->tape_size, PROGRAM_TAPE);
	good = good && put(STACK_AT, "", 1, STACK);
	if (!good || ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) {
		_exit(1);
	}
	(void)raise(SIGSTOP);
	_exit(2);
}

static bool is_stopped(pid_t child, int signal)
{
	int status;

	return waitpid(child, &status, 0) == child && WIFSTOPPED(status) &&
	       WSTOPSIG(status) == signal;
}

/* The addresses that the processor executed, up to `max`; returns how many. */
static size_t run(const struct program *p, uint64_t *ips, size_t max)
{
	pid_t child = fork();
	struct user_regs_struct regs;
	size_t n = 0;

	if (child == 0) {
		be_stepped(p);
	}
	if (child < 0 || !is_stopped(child, SIGSTOP) ||
	        ptrace(PTRACE_GETREGS, child, NULL, &regs) != 0) {
		return 0;
	}
	regs.rip = p->insns[0].ip;
	regs.rsi = TAPE_AT;
	regs.rsp = STACK_AT + STACK / 2;
	regs.eflags = 0x202;
	regs.orig_rax = UINT64_MAX; /* it is in no system call */
	if (ptrace(PTRACE_SETREGS, child, NULL, &regs) == 0) {
		while (n < max && ptrace(PTRACE_GETREGS, child, NULL, &regs) == 0) {
			ips[n++] = regs.rip;
			if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) != 0 ||
			        !is_stopped(child, SIGTRAP)) {
				break;
			}
		}
	}
	(void)kill(child, SIGKILL);
	(void)waitpid(child, NULL, 0);
	return n;
}

/* The instructions of the trace; UINT64_MAX in *n: an error. */
static uint64_t *follow(const struct program *p, size_t *n)
{
	unsigned region = p->functions[0].region;
	struct sonde_pt_image *image = sonde_pt_image_new();
	struct sonde_pt_graph *graph = sonde_pt_graph_new(image);
	struct sonde_pt_flow *flow = sonde_pt_flow_new(graph, p->trace, p->trace_size, NULL);
	uint64_t *ips = calloc(PROGRAM_WAY, sizeof(*ips));
	const struct sonde_pt_step *step;

	(void)sonde_pt_image_add(
	        image, 0, p->regions[region].base, p->regions[region].code, PROGRAM_CODE);
	*n = 0;
	while (ips != NULL && flow != NULL && sonde_pt_flow_next(flow, &step) > 0) {
		if (step->kind == SONDE_PT_STEP_ERROR || *n == PROGRAM_WAY) {
			*n = SIZE_MAX;
			break;
		}
		if (step->kind == SONDE_PT_STEP_INSN) {
			ips[(*n)++] = step->ip;
		}
	}
	sonde_pt_flow_free(flow);
	sonde_pt_graph_free(graph);
	sonde_pt_image_free(image);
	return ips;
}

struct tally {
	unsigned failed, differ;
	uint64_t steps;
};

static void compare(
        const struct program *p, uint64_t seed, const uint64_t *told, size_t n, struct tally *t)
{
	uint64_t *ran = calloc(n, sizeof(*ran));
	size_t have = ran != NULL ? run(p, ran, n) : 0;
	size_t at = 0;

	t->steps += have;
	while (at < have && ran[at] == told[at]) {
		at++;
	}
	if (at != n) {
		t->differ++;
		printf("# seed %" PRIu64 ": step %zu of %zu (%zu) differs: %" PRIx64
		       " behind %" PRIx64 ", the trace tells %" PRIx64 "\n",
		        seed, at, n, have, at < have ? ran[at] : 0, at > 0 ? told[at - 1] : 0,
		        told[at]);
	}
	free(ran);
}

static void try_seed(struct program *p, uint64_t seed, struct tally *t)
{
	uint64_t *told;
	size_t n;

	program_make(p, seed, true);
	told = follow(p, &n);
	if (told == NULL || n == 0 || n > PROGRAM_WAY) {
		t->failed++;
	} else {
		compare(p, seed, told, n, t);
	}
	free(told);
}

int main(int argc, char **argv)
{
	uint64_t seeds = argc > 1 ? strtoull(argv[1], NULL, 0) : 50;
	uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	struct program *p = malloc(sizeof(*p));
	struct tally t = {0};

	for (uint64_t i = 0; p != NULL && i < seeds; i++) {
		try_seed(p, first + i, &t);
	}
	printf("# %" PRIu64 " programs, %" PRIu64 " steps of the processor\n", seeds, t.steps);
	if (t.steps == 0) {
		printf("1..0 # SKIP no process can be stepped here\n");
		free(p);
		return 0;
	}
	eq_u64(t.failed, 0, "all traces are decoded without an error");
	eq_u64(t.differ, 0, "the flow has the instructions that the processor executed");
	ok(t.steps > seeds * 100, "enough instructions were executed");
	free(p);
	return tap_done();
}
