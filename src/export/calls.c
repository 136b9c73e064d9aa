/* SPDX-License-Identifier: MIT */
/*
 * Rows of calls: from the branches of each thread, a stack. What each branch does to it was observed in
 * databases of perf's scripts, which the test export-tables compares with.
 *
 *	first branch                        push the function where it begins (flags: no call)
 *	call                                push, with the address after it
 *	return                              pop up to the call with this address
 *	jump to the start of a function     push (flags: jump), popped with the call below it
 *
 * A row is written when a call ends. Calls get their ids then, too; one whose callee ended first gets it
 * with the row of the callee, which has it as parent.
 */
#include "export/export.h"

#include "core/array.h"

#include <stdlib.h>

enum { NO_CALL = 1, NO_RETURN = 2, JUMP = 4 };

struct open_call {
	uint64_t back; /* address after the call instruction; 0: none */
	uint64_t path; /* id */
	uint64_t id; /* of its row; 0: none yet */
	uint64_t sample; /* id of that of the call */
	uint64_t time, comm;
	uint64_t branches, insns, cycles; /* of the thread before it */
	uint32_t flags;
	bool trace_end; /* tracing stopped at the call */
};

struct call_stack { /* of a thread */
	uint64_t thread; /* id */
	struct open_call *calls; /* outermost first */
	size_t n, cap;
	uint64_t branches, insns, cycles; /* so far */
	uint64_t time; /* of its last branch, ns */
};

struct export_calls {
	struct call_stack *stacks;
	size_t n, cap;
	struct index threads; /* of stacks, by id */
};

struct export_calls *export_calls_new(void)
{
	return calloc(1, sizeof(struct export_calls));
}

void export_calls_free(struct export_calls *c)
{
	if (c == NULL) {
		return;
	}
	for (size_t i = 0; i < c->n; i++) {
		free(c->stacks[i].calls);
	}
	free(c->stacks);
	index_fini(&c->threads);
	free(c);
}

/* NULL: out of memory. */
static struct call_stack *find_stack(struct export_calls *c, uint64_t thread)
{
	size_t at;
	uint32_t i;

	if (index_room(&c->threads) < 0) {
		return NULL;
	}
	i = index_find_u32(&c->threads, (uint32_t)thread, &at);
	if (i != INDEX_NONE) {
		return &c->stacks[i];
	}
	if (!array_reserve(&c->stacks, &c->cap, c->n + 1, sizeof(*c->stacks))) {
		return NULL;
	}
	index_put_u32(&c->threads, (uint32_t)thread, at, (uint32_t)c->n);
	c->stacks[c->n] = (struct call_stack){.thread = thread};
	return &c->stacks[c->n++];
}

static int push(struct call_stack *s, const struct export_ids *ids, struct open_call call)
{
	if (!array_reserve(&s->calls, &s->cap, s->n + 1, sizeof(*s->calls))) {
		return SONDE_ENOMEM;
	}
	call.sample = ids->id;
	call.comm = ids->who.comm;
	call.time = s->time;
	call.branches = s->branches;
	call.insns = s->insns;
	call.cycles = s->cycles;
	s->calls[s->n++] = call;
	return 0;
}

static void number(struct export *x, struct open_call *call)
{
	call->id = call->id != 0 ? call->id : export_id(x, EXPORT_CALLS);
}

/* Ends the innermost call. sample: id of that of the return; 0: none */
static int pop(struct export *x, struct call_stack *s, uint64_t sample, uint32_t flags)
{
	struct open_call *call = &s->calls[--s->n];
	struct open_call *parent = s->n != 0 ? call - 1 : NULL;

	number(x, call);
	if (parent != NULL) {
		number(x, parent);
	}
	x->counts.calls++;
	return export_row(x, EXPORT_CALLS,
	        (struct sonde_export_value[]){EXPORT_NUMBER(call->id), EXPORT_NUMBER(s->thread),
	                EXPORT_NUMBER(call->comm), EXPORT_NUMBER(call->path),
	                EXPORT_NUMBER(call->time), EXPORT_NUMBER(s->time),
	                EXPORT_NUMBER(s->branches - call->branches), EXPORT_NUMBER(call->sample),
	                EXPORT_NUMBER(sample),
	                EXPORT_NUMBER(parent != NULL ? parent->path : EXPORT_ROOT),
	                EXPORT_NUMBER(call->flags | flags),
	                EXPORT_NUMBER(parent != NULL ? parent->id : 0),
	                EXPORT_NUMBER(s->insns - call->insns),
	                EXPORT_NUMBER(s->cycles - call->cycles)});
}

/* Pushes a function that the innermost call called or jumped to. */
static int enter(struct export *x, struct call_stack *s, const struct session_sample *sample,
        const struct export_ids *ids, struct open_call call)
{
	uint64_t parent = s->n != 0 ? s->calls[s->n - 1].path : 0;

	TRY(export_path(x, parent, ids->to.symbol, sample->s.addr, &call.path));
	return push(s, ids, call);
}

/* The function in which the thread was before its first branch. */
static int begin(struct export *x, struct call_stack *s, const struct session_sample *sample,
        const struct export_ids *ids)
{
	bool inside = sample->s.ip != 0;
	struct open_call call = {.flags = NO_CALL};

	TRY(export_path(x, 0, inside ? ids->from.symbol : ids->to.symbol,
	        inside ? sample->s.ip : sample->s.addr, &call.path));
	return push(s, ids, call);
}

/*
 * A return to a function that no open call returns to: it, and the function that returned, get calls
 * without a beginning; that of the latter ends here. If the latter is that of the innermost call, the
 * return is a jump.
 */
static int leave_unknown(struct export *x, struct call_stack *s,
        const struct session_sample *sample, const struct export_ids *ids)
{
	struct open_call call = {.flags = NO_CALL};

	if (export_path_symbol(x, s->calls[s->n - 1].path) == ids->from.symbol) {
		call.flags |= JUMP;
		return enter(x, s, sample, ids, call);
	}
	TRY(enter(x, s, sample, ids, call));
	TRY(export_path(x, s->calls[s->n - 1].path, ids->from.symbol, sample->s.ip, &call.path));
	TRY(push(s, ids, call));
	return pop(x, s, ids->id, 0);
}

static int leave(struct export *x, struct call_stack *s, const struct session_sample *sample,
        const struct export_ids *ids)
{
	size_t at = s->n;

	while (at > 0 && s->calls[at - 1].back != sample->s.addr) {
		at--;
	}
	if (at == 0) {
		return leave_unknown(x, s, sample, ids);
	}
	while (s->n > at) {
		TRY(pop(x, s, ids->id, NO_RETURN));
	}
	return pop(x, s, ids->id, 0);
}

/* Tracing stops: a call of an unknown function. */
static int stop(struct export *x, struct call_stack *s, const struct export_ids *ids, uint64_t back)
{
	struct open_call call = {.back = back, .trace_end = true};

	TRY(export_path(x, s->calls[s->n - 1].path, 0, 0, &call.path));
	return push(s, ids, call);
}

/* Tracing begins again. */
static int resume(struct export *x, struct call_stack *s, uint64_t to, const struct export_ids *ids)
{
	const struct open_call *top = &s->calls[s->n - 1];

	(void)to;
	return top->trace_end ? pop(x, s, ids->id, 0) : 0;
}

static int follow(struct export *x, struct call_stack *s, const struct session_sample *sample,
        const struct export_ids *ids)
{
	uint32_t flags = sample->extra->flags;
	uint64_t from = sample->s.ip, to = sample->s.addr;
	uint64_t back = from + sample->extra->insn_size;

	if ((flags & AUX_FLAG_CALL) != 0) {
		return from != 0 && to != 0 && back != to
		               ? enter(x, s, sample, ids,
		                         (struct open_call){.back = back,
		                                 .trace_end = (flags & AUX_FLAG_END) != 0})
		               : 0;
	}
	if ((flags & AUX_FLAG_RETURN) != 0) {
		return from != 0 && to != 0 ? leave(x, s, sample, ids) : 0;
	}
	if ((flags & AUX_FLAG_BEGIN) != 0) {
		return resume(x, s, to, ids);
	}
	if ((flags & AUX_FLAG_END) != 0) {
		return stop(x, s, ids, back);
	}
	if (from != 0 && to != 0 && ids->to.start && ids->from.symbol != ids->to.symbol) {
		return enter(x, s, sample, ids, (struct open_call){.flags = JUMP});
	}
	return 0;
}

int export_calls_add(
        struct export *x, const struct session_sample *sample, const struct export_ids *ids)
{
	struct call_stack *s = find_stack(x->calls, ids->who.thread);

	if (s == NULL) {
		return SONDE_ENOMEM;
	}
	s->time = sample->s.time;
	if (s->n == 0) {
		TRY(begin(x, s, sample, ids));
	}
	s->branches++;
	s->insns += sample->extra->insns;
	s->cycles += sample->extra->cycles;
	return follow(x, s, sample, ids);
}

int export_calls_end(struct export *x)
{
	for (size_t i = 0; i < x->calls->n; i++) {
		while (x->calls->stacks[i].n != 0) {
			TRY(pop(x, &x->calls->stacks[i], 0, NO_RETURN));
		}
	}
	return 0;
}
