/* SPDX-License-Identifier: MIT */
/*
 * The calls of a thread, as a stack:
 *
 *	branch                                      stack
 *	call                                        push
 *	return to an address after an open call     pop up to that call; those above it were unwound
 *	jump into a function of an outer call,      pop the calls above it: longjmp, an exception
 *	  not to its first instruction
 *	another jump to another function            the innermost call ends, and the other function
 *	                                              takes its return address: a tail call
 *	tracing stops, and starts elsewhere         at a function: push, a signal handler; where one
 *	                                              interrupted: pop it
 *
 * A function and its part for unlikely code ("f.cold") are one.
 */
#include "ptview/ptview.h"

#include "core/array.h"

#include <stdlib.h>
#include <string.h>

#define SEARCH 16384u /* calls of a stack that are searched for a return address */

static struct ptview_open *top(const struct ptview_thread *t)
{
	return &t->stack[t->depth - 1];
}

static uint32_t function_of(const struct ptview_thread *t, const struct ptview_open *o)
{
	return t->calls[o->call].function;
}

static void pop(struct ptview_thread *t, uint64_t time, enum ptview_end end)
{
	const struct ptview_open *o = &t->stack[--t->depth];
	struct ptview_call *c = &t->calls[o->call];

	c->exit = time > c->entry ? time : c->entry;
	c->end = (uint8_t)end;
	c->outer = --t->active[c->function] == 0;
	if (t->depth != 0) {
		t->calls[top(t)->call].inner += ptview_duration(c);
	}
}

/* Unwinds to `depth` calls. */
static void unwind(struct ptview_thread *t, size_t depth, uint64_t time)
{
	while (t->depth > depth) {
		pop(t, time, PTVIEW_UNWOUND);
	}
}

/* Ends and begins measurements at the entry of a function. */
static int measure(struct ptview *v, struct ptview_thread *t, uint32_t function, uint64_t time)
{
	if (function == v->to_function && t->measuring) {
		if (!array_reserve(&v->intervals, &v->intervals_cap, v->nintervals + 1,
		            sizeof(*v->intervals))) {
			return SONDE_ENOMEM;
		}
		v->intervals[v->nintervals++] = (struct ptview_interval){
		        .thread = (size_t)(t - v->threads), .start = t->measure_start, .end = time};
		t->measuring = false;
	}
	if (function == v->from_function) {
		t->measuring = true;
		t->measure_start = time;
	}
	return 0;
}

static int make_room(struct ptview *v, struct ptview_thread *t)
{
	size_t old = t->active_cap;

	if (!array_reserve(&t->calls, &t->calls_cap, t->ncalls + 1, sizeof(*t->calls)) ||
	        !array_reserve(&t->stack, &t->stack_cap, t->depth + 1, sizeof(*t->stack)) ||
	        !array_reserve(&t->active, &t->active_cap, v->names.n, sizeof(*t->active))) {
		return SONDE_ENOMEM;
	}
	if (t->active_cap != old) {
		memset(t->active + old, 0, (t->active_cap - old) * sizeof(*t->active));
	}
	return 0;
}

/* own: its return address, and where an interrupted function continues */
static int push(struct ptview *v, struct ptview_thread *t, uint32_t function,
        enum ptview_begin begin, struct ptview_open own)
{
	TRY(make_room(v, t));
	own.call = t->ncalls;
	t->calls[t->ncalls++] = (struct ptview_call){.entry = t->time,
	        .function = function,
	        .depth = (uint32_t)t->depth,
	        .begin = (uint8_t)begin,
	        .end = PTVIEW_OPEN};
	t->stack[t->depth++] = own;
	t->active[function]++;
	return begin != PTVIEW_BEFORE ? measure(v, t, function, t->time) : 0;
}

static int push_root(struct ptview *v, struct ptview_thread *t, const struct ptview_place *p)
{
	bool entered = p->start && v->names.list[p->function].named;

	return push(v, t, p->function, entered ? PTVIEW_CALLED : PTVIEW_BEFORE,
	        (struct ptview_open){0});
}

/* Replaces the innermost call; it keeps the return address. */
static int tail_call(struct ptview *v, struct ptview_thread *t, const struct ptview_place *p)
{
	struct ptview_open own = *top(t);

	pop(t, t->time, PTVIEW_TAIL_CALL);
	return push(v, t, p->function, PTVIEW_TAIL_CALLED, own);
}

static bool is_same(const struct ptview *v, uint32_t a, uint32_t b)
{
	const struct ptview_name *x = &v->names.list[a], *y = &v->names.list[b];

	return a == b || (!x->named && !y->named && x->object != NULL && y->object != NULL &&
	                         strcmp(x->object, y->object) == 0);
}

/* Returns 1 + the index of the innermost call of a function; 0: none. */
static size_t find_function(const struct ptview_thread *t, uint32_t function)
{
	for (size_t i = t->depth; i > 0 && t->depth - i < SEARCH; i--) {
		if (function_of(t, &t->stack[i - 1]) == function) {
			return i;
		}
	}
	return 0;
}

static int jump(struct ptview *v, struct ptview_thread *t, const struct ptview_place *p)
{
	size_t outer;

	if (is_same(v, p->function, function_of(t, top(t)))) {
		return 0;
	}
	outer = p->start ? 0 : find_function(t, p->function);
	if (outer == 0) {
		return tail_call(v, t, p);
	}
	unwind(t, outer, t->time);
	return 0;
}

/* Returns 1 + the index of the innermost call that returns to an address; 0: none. */
static size_t find_back(const struct ptview_thread *t, uint64_t to)
{
	for (size_t i = t->depth; i > 0 && t->depth - i < SEARCH; i--) {
		if (t->stack[i - 1].back == to) {
			return i;
		}
	}
	return 0;
}

/* The same for the innermost handler that interrupted the code at an address. */
static size_t find_resume(const struct ptview_thread *t, uint64_t to)
{
	for (size_t i = t->depth; i > 0 && t->depth - i < SEARCH; i--) {
		if (t->stack[i - 1].resume[0] == to || t->stack[i - 1].resume[1] == to) {
			return i;
		}
	}
	return 0;
}

static void return_from(struct ptview_thread *t, size_t call)
{
	unwind(t, call, t->time);
	pop(t, t->time, PTVIEW_RETURNED);
}

static int near_return(struct ptview *v, struct ptview_thread *t, const struct ptview_place *p)
{
	size_t at = find_back(t, p->ip);
	struct ptview_open own = *top(t);

	if (at != 0) {
		return_from(t, at);
		return 0;
	}
	if (own.resume[0] != 0) { /* a handler returns to the code that ends it */
		pop(t, t->time, PTVIEW_RETURNED);
		return push(v, t, p->function, PTVIEW_CALLED, own);
	}
	if (t->depth == 1 && own.back == 0) { /* its call was before the trace */
		pop(t, t->time, PTVIEW_RETURNED);
		return push(v, t, p->function, PTVIEW_BEFORE, (struct ptview_open){0});
	}
	return jump(v, t, p);
}

/* Returns of system calls and interrupts. */
static int far_return(struct ptview *v, struct ptview_thread *t, const struct ptview_place *p)
{
	size_t at = find_back(t, p->ip);

	at = at != 0 ? at : find_resume(t, p->ip);
	if (at != 0) {
		return_from(t, at);
		return 0;
	}
	return jump(v, t, p);
}

static int call(struct ptview *v, struct ptview_thread *t, const struct ptview_branch *b,
        const struct ptview_place *p)
{
	struct ptview_open own = {.back = b->from + b->size};

	if (b->to == own.back) { /* code that reads its own address */
		return 0;
	}
	if ((b->flags & (AUX_FLAG_INTERRUPT | AUX_FLAG_ASYNC)) != 0) {
		own.resume[0] = b->from;
		own.resume[1] = b->from + b->size;
		own.back = 0;
		return push(v, t, p->function, PTVIEW_INTERRUPTED, own);
	}
	return push(v, t, p->function, PTVIEW_CALLED, own);
}

static void stop(struct ptview_thread *t, const struct ptview_branch *b)
{
	t->stopped = true;
	t->last = *b;
	t->stop[0] = b->from;
	t->stop[1] = b->from + b->size;
}

/* Whether tracing stopped at a branch to code that is not traced, as with filters. */
static bool has_left(const struct ptview_thread *t)
{
	return (t->last.flags & (AUX_FLAG_SYSCALL | AUX_FLAG_INTERRUPT | AUX_FLAG_ASYNC)) == 0;
}

/* Ends the call that returned or jumped to code that is not traced. */
static void leave(struct ptview_thread *t)
{
	bool jumped = (t->last.flags & (AUX_FLAG_RETURN | AUX_FLAG_CALL)) == 0;

	if (t->depth != 0 && has_left(t) && (t->last.flags & AUX_FLAG_RETURN) != 0) {
		pop(t, t->last.time, PTVIEW_RETURNED);
	} else if (t->depth != 0 && has_left(t) && jumped && t->last.to != 0) {
		pop(t, t->last.time, PTVIEW_TAIL_CALL);
	}
}

static void end_all(struct ptview_thread *t, uint64_t time, enum ptview_end end)
{
	if (t->stopped) {
		leave(t);
	}
	while (t->depth != 0) {
		pop(t, time, end);
	}
	t->stopped = false;
	t->measuring = false;
}

/* Tracing continues where no stop explains it. */
static int continue_elsewhere(
        struct ptview *v, struct ptview_thread *t, const struct ptview_place *p)
{
	const struct ptview_open handler = {.resume = {t->stop[0], t->stop[1]}};
	size_t at = find_resume(t, p->ip);

	if (at != 0) {
		return_from(t, at);
		return 0;
	}
	if (!p->start && is_same(v, p->function, function_of(t, top(t)))) {
		return 0;
	}
	at = find_back(t, p->ip);
	if (at != 0) {
		return_from(t, at);
		return 0;
	}
	if (p->start && (p->ip >= PTVIEW_KERNEL_START) == (t->stop[0] >= PTVIEW_KERNEL_START)) {
		return push(v, t, p->function, has_left(t) ? PTVIEW_CALLED : PTVIEW_INTERRUPTED,
		        handler);
	}
	end_all(t, t->time, PTVIEW_LOST);
	return push_root(v, t, p);
}

static int follow(struct ptview *v, struct ptview_thread *t, const struct ptview_branch *b,
        const struct ptview_place *p)
{
	const uint32_t far = AUX_FLAG_SYSCALL | AUX_FLAG_INTERRUPT;

	if ((b->flags & AUX_FLAG_CALL) != 0) {
		return call(v, t, b, p);
	}
	if ((b->flags & AUX_FLAG_RETURN) != 0) {
		return (b->flags & far) != 0 ? far_return(v, t, p) : near_return(v, t, p);
	}
	return jump(v, t, p);
}

static int start(struct ptview *v, struct ptview_thread *t, const struct ptview_place *p)
{
	bool was_stopped = t->stopped;

	if (was_stopped && t->depth != 0 && has_left(t) && p->ip == t->last.to) {
		t->stopped = false;
		return follow(v, t, &t->last, p);
	}
	if (was_stopped) {
		leave(t);
	}
	t->stopped = false;
	if (t->depth != 0 && !was_stopped) {
		end_all(t, t->time, PTVIEW_LOST);
	}
	if (t->depth == 0) {
		return push_root(v, t, p);
	}
	return p->ip == t->stop[0] || p->ip == t->stop[1] ? 0 : continue_elsewhere(v, t, p);
}

/* Compares names of new functions with those to measure. */
static void compare_names(struct ptview *v)
{
	for (; v->compared < v->names.n; v->compared++) {
		const char *name = v->names.list[v->compared].name;

		if (v->from != NULL && v->from_function == UINT32_MAX &&
		        strcmp(name, v->from) == 0) {
			v->from_function = (uint32_t)v->compared;
		}
		if (v->to != NULL && v->to_function == UINT32_MAX && strcmp(name, v->to) == 0) {
			v->to_function = (uint32_t)v->compared;
		}
	}
}

static int locate(
        struct ptview *v, const struct timeline_view *view, uint64_t ip, struct ptview_place *out)
{
	TRY(ptview_locate(&v->names, view, ip, out));
	compare_names(v);
	return 0;
}

/* The trace has branches before it has an address where it starts. */
static int begin_inside(struct ptview *v, struct ptview_thread *t, const struct ptview_branch *b)
{
	struct ptview_place p;

	TRY(locate(v, b->view, b->from, &p));
	return push(v, t, p.function, PTVIEW_BEFORE, (struct ptview_open){0});
}

static int on_branch(struct ptview *v, struct ptview_thread *t, const struct ptview_branch *b)
{
	struct ptview_place p;

	t->time = b->time > t->time ? b->time : t->time;
	if (b->from == 0 && b->to == 0) {
		return 0;
	}
	if (b->from != 0 && t->depth == 0) {
		TRY(begin_inside(v, t, b));
	}
	if (b->to == 0 || (b->flags & AUX_FLAG_END) != 0) {
		stop(t, b);
		return 0;
	}
	TRY(locate(v, b->view, b->to, &p));
	if (b->from == 0) {
		return start(v, t, &p);
	}
	t->stopped = false;
	return follow(v, t, b, &p);
}

static int each_branch(void *arg, size_t thread, const struct ptview_branch *b)
{
	struct ptview *v = arg;
	struct ptview_thread *t;

	if (thread >= v->nthreads) {
		if (!array_reserve(&v->threads, &v->threads_cap, thread + 1, sizeof(*v->threads))) {
			return SONDE_ENOMEM;
		}
		v->threads[v->nthreads++] = (struct ptview_thread){
		        .pid = v->walk.ids[thread].pid, .tid = v->walk.ids[thread].tid};
	}
	t = &v->threads[thread];
	if (t->comm == NULL || t->depth == 0) {
		t->comm = timeline_text(v->names.frames.resolver->timeline, b->view->comm);
	}
	return on_branch(v, t, b);
}

static int each_loss(void *arg, size_t thread)
{
	struct ptview *v = arg;

	end_all(&v->threads[thread], v->threads[thread].time, PTVIEW_LOST);
	return 0;
}

static int each_end(void *arg, size_t thread, uint64_t time, bool exec)
{
	struct ptview *v = arg;

	end_all(&v->threads[thread], time, exec ? PTVIEW_EXEC : PTVIEW_EXIT);
	return 0;
}

int ptview_calls(struct ptview *v, struct sonde_session *s)
{
	int rc;

	v->walk = (struct ptview_walk){.session = s,
	        .arg = v,
	        .branch = each_branch,
	        .lost = each_loss,
	        .ended = each_end};
	TRY(ptview_names_init(&v->names, session_frames(s)));
	rc = ptview_walk(&v->walk);
	for (size_t i = 0; i < v->nthreads; i++) {
		end_all(&v->threads[i], v->threads[i].time, PTVIEW_OPEN);
	}
	return rc;
}

void ptview_calls_fini(struct ptview *v)
{
	for (size_t i = 0; i < v->nthreads; i++) {
		free(v->threads[i].calls);
		free(v->threads[i].stack);
		free(v->threads[i].active);
	}
	free(v->threads);
	free(v->functions);
	free(v->intervals);
	free(v->outliers);
	ptview_walk_fini(&v->walk);
	ptview_names_fini(&v->names);
}
