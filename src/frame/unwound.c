/* SPDX-License-Identifier: MIT */
/*
 * User stacks that were copied into samples (record --call-graph dwarf) become the user part of
 * their call chains. As observed with perf 6.1, it follows the recorded part:
 *
 *	recorded chain      unwound                       chain
 *	KERNEL, k1, k2      pc, caller - 1, caller - 1    KERNEL, k1, k2, USER, pc, caller - 1, ...
 *
 * The table of an object is made once, by the worker that needs it first, and then only read.
 */
#include "core/array.h"
#include "frame/frame.h"

#include <stdatomic.h>
#include <stdlib.h>

#define FRAME_BYTES_MIN 8u /* of a stack: a return address */
#define FRAMES_EXTRA    16u /* frames without bytes in the copy: the first, those of signals */

struct frame_ends {
	_Atomic(uint64_t) n[UNWIND_ENDS];
};

struct frame_unwinder {
	struct unwind_cache cache;
	struct frame_reader *reader;
	const struct timeline_view *view;
};

void frame_unwinder_free(struct frame_unwinder *u)
{
	if (u != NULL) {
		unwind_cache_fini(&u->cache);
		free(u);
	}
}

struct frame_ends *frame_ends_new(void)
{
	return calloc(1, sizeof(struct frame_ends));
}

uint64_t frame_ends_count(const struct frame_resolver *f, enum unwind_end end)
{
	return atomic_load_explicit(&f->ends->n[end], memory_order_relaxed);
}

static void count_end(const struct frame_resolver *f, int end)
{
	atomic_fetch_add_explicit(&f->ends->n[end], 1, memory_order_relaxed);
}

static struct frame_unwinder *unwinder_new(struct frame_reader *r)
{
	struct frame_unwinder *u = calloc(1, sizeof(*u));

	if (u == NULL) {
		return NULL;
	}
	u->reader = r;
	if (unwind_cache_init(&u->cache) < 0) {
		free(u);
		return NULL;
	}
	return u;
}

/* unwind_find_fn */
static int find_code(void *arg, uint64_t pc, struct unwind_code *out)
{
	struct frame_unwinder *u = arg;
	struct frame at = frame_locate(u->reader, u->view, MISC_USER, pc);
	const struct timeline_object *o;

	*out = (struct unwind_code){.mapped = at.mapping != NULL};
	if (at.object == FRAME_NOWHERE) {
		return 0;
	}
	o = timeline_object(u->reader->resolver->timeline, at.object);
	out->vdso = o->kind == TIMELINE_VDSO;
	if (o->kind != TIMELINE_USER && o->kind != TIMELINE_JIT && !out->vdso) {
		return 0;
	}
	TRY(frame_unwind_table(u->reader->resolver, at.object, &out->table));
	if (out->table != NULL && !unwind_table_address(out->table, at.address, &out->address)) {
		out->table = NULL;
	}
	/* without a table, code of a runtime has frame pointers */
	out->missing = out->table == NULL && o->kind != TIMELINE_JIT;
	return 0;
}

static enum unwind_machine machine_of(const struct frame_resolver *f, uint64_t mask)
{
	if (f->options.machine == UNWIND_OTHER && !f->options.machine_known) {
		/* of the machines with enough registers, only aarch64 has this one */
		return (mask & unwind_regs_needed(UNWIND_AARCH64)) ==
		                       unwind_regs_needed(UNWIND_AARCH64)
		               ? UNWIND_AARCH64
		               : UNWIND_X86_64;
	}
	return f->options.machine;
}

bool frame_can_unwind(const struct frame_resolver *f, uint64_t mask)
{
	enum unwind_machine machine = machine_of(f, mask);
	uint64_t needed = unwind_regs_needed(machine);

	return machine != UNWIND_OTHER && (mask & needed) == needed;
}

int frame_chain_unwind(struct frame_reader *r, const struct sonde_sample *s,
        const struct timeline_view *v, uint64_t mask, struct frame_chain *chain)
{
	const struct frame_resolver *f = r->resolver;
	size_t max = (size_t)s->user_stack_len / FRAME_BYTES_MIN + FRAMES_EXTRA, n, own = chain->n;
	struct unwind_stack stack = {
	        .machine = machine_of(f, mask),
	        /* both machines store little-endian words, whatever the byte order of the file */
	        .memory = {.bytes = {s->user_stack, (size_t)s->user_stack_len},
	                .swap = HOST_BIG_ENDIAN},
	        .find = find_code,
	};
	int end;

	if (s->user_stack_len == 0 || s->user_regs == NULL) {
		return 0; /* of a kernel thread, or the stack could not be read */
	}
	if (s->user_regs_abi != FRAME_REGS_ABI_64 ||
	        !unwind_regs_take(stack.machine, mask, s->user_regs, &stack.regs)) {
		count_end(f, UNWIND_END_MACHINE);
		return 0;
	}
	if (r->unwinder == NULL) {
		r->unwinder = unwinder_new(r);
	}
	if (r->unwinder == NULL ||
	        !array_reserve(&r->joined, &r->joined_cap, own + 1 + max, sizeof(*r->joined))) {
		return SONDE_ENOMEM;
	}
	r->unwinder->view = v;
	stack.arg = r->unwinder;
	stack.memory.address = stack.regs.value[unwind_stack_pointer(stack.machine)];
	end = unwind_stack(&stack, &r->unwinder->cache, r->joined + own + 1, max, &n);
	TRY(end);
	count_end(f, end);
	if (own != 0) {
		memcpy(r->joined, chain->words, own * sizeof(*r->joined));
	}
	r->joined[own] = CALLCHAIN_USER;
	chain->words = r->joined;
	chain->n = own + 1 + n;
	chain->unwound = own + 1;
	return 0;
}
