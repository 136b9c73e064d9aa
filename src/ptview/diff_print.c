/* SPDX-License-Identifier: MIT */
/* Differences of two recordings as text and as JSON; text of a recording is always escaped. */
#include <sonde/preview/ptview.h>

#include "core/array.h"
#include "core/escape.h"
#include "core/json.h"
#include "core/options.h"
#include "ptview/diff.h"

#include <stdlib.h>
#include <string.h>

#define PIECE ((size_t)64 * 1024) /* size of a piece of output, in bytes */
#define NS    1000000000u

/* A function of one recording or of both. */
struct row {
	const char *name, *object;
	uint64_t calls[2], insns[2];
};

struct printer {
	struct diff *diff;
	struct sonde_ptview_diff_options o;
	struct text out;
	struct json json; /* writes to out */
	struct intern keys; /* of rows: name and file of the object */
	struct row *rows;
	size_t nrows, rows_cap;
	sonde_write_fn write;
	void *arg;
};

static int flush(struct printer *p, size_t above)
{
	return text_flush(&p->out, above, p->write, p->arg);
}

static const struct ptview_name *name_of(const struct printer *p, unsigned side, uint32_t function)
{
	return &p->diff->side[side].cover.names.list[function];
}

static void put_name(struct text *out, const char *name, const char *object)
{
	text_plain(out, name);
	if (object != NULL) {
		text_str(out, " (");
		text_plain(out, object);
		text_char(out, ')');
	}
}

static void put_place(struct printer *p, unsigned side, const struct diff_place *at)
{
	const struct ptview_name *f;

	if (at->ip == 0) {
		text_str(&p->out, "(not traced)");
		return;
	}
	f = name_of(p, side, at->function);
	text_plain(&p->out, f->name);
	text_str(&p->out, "+");
	text_0x(&p->out, at->offset);
	if (f->object != NULL) {
		text_str(&p->out, " (");
		text_plain(&p->out, lines_file_name(f->object));
		text_char(&p->out, ')');
	}
}

static void put_step(struct printer *p, unsigned side, const char *mark, const struct diff_step *s)
{
	text_padded(&p->out, mark, -2);
	text_u64(&p->out, s->time / NS, 7, ' ');
	text_char(&p->out, '.');
	text_u64(&p->out, s->time % NS, 9, '0');
	text_str(&p->out, "  ");
	put_place(p, side, &s->from);
	text_str(&p->out, " -> ");
	put_place(p, side, &s->to);
	text_char(&p->out, '\n');
}

static const struct diff_thread *thread_of(
        const struct printer *p, const struct diff_pair *pair, unsigned side)
{
	return &p->diff->side[side].threads[pair->thread[side]];
}

static void put_thread_name(struct printer *p, const struct diff_pair *pair, unsigned side)
{
	const struct ptview_id *id = &p->diff->side[side].cover.walk.ids[pair->thread[side]];

	text_printf(&p->out, "%u/%u ", id->pid, id->tid);
	text_plain(&p->out, thread_of(p, pair, side)->comm);
}

static void put_end(struct printer *p, const struct diff_pair *pair, unsigned side)
{
	if (pair->total[side] == pair->low) {
		text_str(&p->out, side == 0 ? "A " : "B ");
		text_str(&p->out,
		        pair->lost[side] ? "an error in the trace\n" : "end of the trace\n");
	}
}

static void put_stack(struct printer *p, unsigned side, const struct diff_thread *t)
{
	for (unsigned i = 0; i < t->nstack; i++) {
		text_str(&p->out, i == 0 ? "  called by " : ", ");
		text_plain(&p->out, name_of(p, side, t->stack[i])->name);
	}
	text_str(&p->out, t->nstack != 0 ? "\n" : "");
}

static void put_difference(struct printer *p, const struct diff_pair *pair)
{
	const struct diff_thread *a = thread_of(p, pair, 0);

	for (unsigned i = 0; i < a->before; i++) {
		put_step(p, 0, "", &a->steps[i]);
	}
	for (unsigned side = 0; side < 2; side++) {
		const struct diff_thread *t = thread_of(p, pair, side);

		for (unsigned i = 0; i < t->after; i++) {
			put_step(p, side, side == 0 ? "A" : "B", &t->steps[DIFF_BEFORE + i]);
		}
		put_end(p, pair, side);
	}
	put_stack(p, a->nstack != 0 ? 0 : 1, a->nstack != 0 ? a : thread_of(p, pair, 1));
}

static int put_threads(struct printer *p)
{
	const struct diff *d = p->diff;

	for (size_t i = 0; i < d->npairs; i++) {
		const struct diff_pair *pair = &d->pairs[i];

		text_str(&p->out, "# thread ");
		put_thread_name(p, pair, 0);
		text_str(&p->out, " of A, ");
		put_thread_name(p, pair, 1);
		text_printf(&p->out, " of B: %s%llu branches are the same%s\n",
		        pair->same ? "all " : "the first ",
		        (unsigned long long)(pair->same ? pair->total[0] : pair->low),
		        pair->same && pair->lost[0] && pair->lost[1]
		                ? ", up to an error in the traces"
		                : "");
		if (!pair->same) {
			put_difference(p, pair);
		}
		TRY(flush(p, PIECE));
	}
	for (unsigned side = 0; side < 2; side++) {
		if (d->alone[side] != 0) {
			text_printf(&p->out, "# %zu more threads of %c\n", d->alone[side],
			        side == 0 ? 'A' : 'B');
		}
	}
	return 0;
}

static int put_rows(struct printer *p)
{
	text_printf(&p->out,
	        "\n# functions whose counts differ: %zu\n"
	        "#  calls A    calls B  instructions A  instructions B  function\n",
	        p->nrows);
	for (size_t i = 0; i < p->nrows; i++) {
		const struct row *r = &p->rows[i];

		text_u64(&p->out, r->calls[0], 10, ' ');
		text_u64(&p->out, r->calls[1], 11, ' ');
		text_u64(&p->out, r->insns[0], 16, ' ');
		text_u64(&p->out, r->insns[1], 16, ' ');
		text_str(&p->out, "  ");
		put_name(&p->out, r->name, r->object);
		text_char(&p->out, '\n');
		TRY(flush(p, PIECE));
	}
	return 0;
}

static int put_text(struct printer *p)
{
	TRY(put_threads(p));
	return p->o.no_functions ? 0 : put_rows(p);
}

static void json_place(
        struct printer *p, unsigned side, const char *key, const struct diff_place *at)
{
	struct json *j = &p->json;

	json_object(j, key);
	if (at->ip != 0) {
		json_text(j, "function", name_of(p, side, at->function)->name);
		json_u64(j, "offset", at->offset);
		json_text(j, "dso", name_of(p, side, at->function)->object);
		json_u64(j, "address", at->address);
		json_u64(j, "ip", at->ip);
	}
	json_close(j);
}

static void json_steps(struct printer *p, unsigned side, const char *key,
        const struct diff_step *steps, unsigned n)
{
	struct json *j = &p->json;

	json_array(j, key);
	for (unsigned i = 0; i < n; i++) {
		json_object(j, NULL);
		json_u64(j, "time", steps[i].time);
		json_place(p, side, "from", &steps[i].from);
		json_place(p, side, "to", &steps[i].to);
		json_close(j);
	}
	json_close(j);
}

static void json_side(struct printer *p, const struct diff_pair *pair, unsigned side)
{
	const struct ptview_id *id = &p->diff->side[side].cover.walk.ids[pair->thread[side]];
	const struct diff_thread *t = thread_of(p, pair, side);
	struct json *j = &p->json;

	json_object(j, side == 0 ? "a" : "b");
	json_u64(j, "pid", id->pid);
	json_u64(j, "tid", id->tid);
	json_text(j, "comm", t->comm);
	json_u64(j, "branches", pair->total[side]);
	json_bool(j, "lost", pair->lost[side]);
	if (!pair->same) {
		json_steps(p, side, "next", &t->steps[DIFF_BEFORE], t->after);
	}
	json_close(j);
}

static int json_threads(struct printer *p)
{
	const struct diff *d = p->diff;
	struct json *j = &p->json;

	json_array(j, "threads");
	for (size_t i = 0; i < d->npairs; i++) {
		const struct diff_pair *pair = &d->pairs[i];
		const struct diff_thread *t = thread_of(p, pair, 0);
		unsigned side = t->nstack != 0 ? 0 : 1;

		json_line(j);
		json_object(j, NULL);
		json_bool(j, "same", pair->same);
		json_u64(j, "equal", pair->same ? pair->total[0] : pair->low);
		json_side(p, pair, 0);
		json_side(p, pair, 1);
		if (!pair->same) {
			json_steps(p, 0, "before", t->steps, t->before);
			t = thread_of(p, pair, side);
			json_array(j, "callers");
			for (unsigned k = 0; k < t->nstack; k++) {
				json_text(j, NULL, name_of(p, side, t->stack[k])->name);
			}
			json_close(j);
		}
		json_close(j);
		TRY(flush(p, PIECE));
	}
	json_close(j);
	return 0;
}

static int json_rows(struct printer *p)
{
	struct json *j = &p->json;

	json_array(j, "functions");
	for (size_t i = 0; i < p->nrows; i++) {
		const struct row *r = &p->rows[i];

		json_line(j);
		json_object(j, NULL);
		json_text(j, "name", r->name);
		json_text(j, "dso", r->object);
		json_u64(j, "calls_a", r->calls[0]);
		json_u64(j, "calls_b", r->calls[1]);
		json_u64(j, "instructions_a", r->insns[0]);
		json_u64(j, "instructions_b", r->insns[1]);
		json_close(j);
		TRY(flush(p, PIECE));
	}
	json_close(j);
	return 0;
}

static bool are_same(const struct diff *d)
{
	bool same = d->alone[0] == 0 && d->alone[1] == 0;

	for (size_t i = 0; i < d->npairs; i++) {
		same = same && d->pairs[i].same;
	}
	return same;
}

static int put_json(struct printer *p)
{
	json_begin(&p->json, "pt-diff", 1);
	json_bool(&p->json, "same", are_same(p->diff));
	json_u64(&p->json, "only_a", p->diff->alone[0]);
	json_u64(&p->json, "only_b", p->diff->alone[1]);
	TRY(json_threads(p));
	if (!p->o.no_functions) {
		TRY(json_rows(p));
	}
	json_end(&p->json);
	return 0;
}

/* Adds the counts of a function to its row, which may be new. */
static int add_row(struct printer *p, unsigned side, uint32_t function)
{
	const struct cover *c = &p->diff->side[side].cover;
	const struct ptview_name *f = &c->names.list[function];
	struct text key = {0};
	struct row *r;
	uint32_t id;

	text_str(&key, f->name);
	text_char(&key, '\n');
	text_str(&key, f->object != NULL ? lines_file_name(f->object) : "");
	id = key.failed ? INTERN_NONE : intern_add(&p->keys, key.p, key.n);
	text_fini(&key);
	if (id == INTERN_NONE || !array_reserve(&p->rows, &p->rows_cap, id + 1, sizeof(*p->rows))) {
		return SONDE_ENOMEM;
	}
	r = &p->rows[id];
	if (id == p->nrows) {
		*r = (struct row){.name = f->name, .object = f->object};
		p->nrows++;
	}
	r->calls[side] += c->functions[function].calls;
	r->insns[side] += c->functions[function].insns;
	return 0;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* The greatest difference first. */
static int row_order(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	uint64_t i = distance(x->insns[0], x->insns[1]), k = distance(y->insns[0], y->insns[1]);
	int order;

	if (i != k) {
		return i < k ? 1 : -1;
	}
	order = strcmp(x->name, y->name);
	return order != 0 || x->object == NULL || y->object == NULL ? order
	                                                            : strcmp(x->object, y->object);
}

static int make_rows(struct printer *p)
{
	size_t kept = 0;

	for (unsigned side = 0; side < 2; side++) {
		const struct cover *c = &p->diff->side[side].cover;

		for (uint32_t i = 0; i < c->nfunctions; i++) {
			if (c->functions[i].blocks != 0) {
				TRY(add_row(p, side, i));
			}
		}
	}
	for (size_t i = 0; i < p->nrows; i++) {
		const struct row *r = &p->rows[i];

		if (r->calls[0] != r->calls[1] || r->insns[0] != r->insns[1]) {
			p->rows[kept++] = *r;
		}
	}
	p->nrows = kept;
	if (kept != 0) {
		qsort(p->rows, kept, sizeof(*p->rows), row_order);
	}
	return 0;
}

static int make(struct printer *p, struct sonde_session *a, struct sonde_session *b)
{
	struct sonde_session *s[] = {a, b};
	int rc;

	for (unsigned side = 0; side < 2; side++) {
		p->diff->side[side].kernel = p->o.kernel;
		p->diff->side[side].objects = p->o.objects;
		TRY(diff_side_init(&p->diff->side[side], s[side]));
	}
	TRY(diff_make(p->diff));
	TRY(make_rows(p));
	p->json.out = &p->out;
	rc = p->o.json ? put_json(p) : put_text(p);
	rc = rc >= 0 ? flush(p, 0) : rc;
	return rc >= 0 ? are_same(p->diff) : rc;
}

int sonde_ptview_diff_write(struct sonde_session *a, struct sonde_session *b,
        const struct sonde_ptview_diff_options *options, sonde_write_fn write, void *arg)
{
	struct printer p = {.write = write, .arg = arg};
	int rc;

	TRY(session_ready(a));
	TRY(session_ready(b));
	TRY(options_copy(&p.o, sizeof(p.o), options, session_error(a)));
	TRY(ptview_check(a));
	TRY(ptview_check(b));
	p.diff = calloc(1, sizeof(*p.diff));
	if (p.diff == NULL) {
		return error_nomem(session_error(a));
	}
	rc = make(&p, a, b);
	(void)error_plain(session_error(a), rc);
	diff_side_fini(&p.diff->side[0]);
	diff_side_fini(&p.diff->side[1]);
	free(p.diff->pairs);
	free(p.diff);
	free(p.rows);
	intern_fini(&p.keys);
	text_fini(&p.out);
	return rc;
}
