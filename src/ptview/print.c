/* SPDX-License-Identifier: MIT */
/* Calls as text and as JSON; text of a recording is always escaped. */
#include <sonde/preview/ptview.h>

#include "core/escape.h"
#include "core/json.h"
#include "core/options.h"
#include "ptview/ptview.h"

#include <stdlib.h>
#include <string.h>

#define PIECE ((size_t)64 * 1024) /* size of a piece of output, in bytes */
#define NS    1000000000u
#define DEPTH 64u /* levels that text indents */

struct printer {
	struct ptview *view;
	struct sonde_ptview_calls_options o;
	struct text out;
	struct json json; /* writes to out */
	const struct ptview_function **order; /* functions with calls */
	size_t norder;
	uint64_t *between; /* sorted durations of intervals */
	sonde_write_fn write;
	void *arg;
};

static const char *const begins[] = {[PTVIEW_CALLED] = "call",
        [PTVIEW_TAIL_CALLED] = "tail call",
        [PTVIEW_INTERRUPTED] = "interrupt",
        [PTVIEW_BEFORE] = "unknown"};

static const char *const ends[] = {[PTVIEW_RETURNED] = "return",
        [PTVIEW_TAIL_CALL] = "tail call",
        [PTVIEW_UNWOUND] = "unwound",
        [PTVIEW_EXEC] = "exec",
        [PTVIEW_EXIT] = "exit",
        [PTVIEW_LOST] = "trace lost",
        [PTVIEW_OPEN] = "end of trace"};

static int flush(struct printer *p, size_t above)
{
	return text_flush(&p->out, above, p->write, p->arg);
}

static void put_time(struct text *out, uint64_t ns)
{
	text_u64(out, ns / NS, 6, ' ');
	text_char(out, '.');
	text_u64(out, ns % NS, 9, '0');
}

static void put_function(struct text *out, const struct ptview_function *f)
{
	text_plain(out, f->name);
	if (f->object != NULL) {
		text_str(out, " (");
		text_plain(out, f->object);
		text_char(out, ')');
	}
}

/* How it began and ended, unless it was a call that returned. */
static void put_reasons(struct text *out, const struct ptview_call *c)
{
	if (c->begin != PTVIEW_CALLED) {
		text_printf(out, " [entry: %s]", begins[c->begin]);
	}
	if (c->end != PTVIEW_RETURNED) {
		text_printf(out, " [exit: %s]", ends[c->end]);
	}
}

static int put_thread(struct printer *p, const struct ptview_thread *t)
{
	text_printf(&p->out, "# thread %u/%u ", t->pid, t->tid);
	text_plain(&p->out, t->comm);
	text_str(&p->out, "\n#          entry             exit  duration/ns  function\n");
	for (size_t i = 0; i < t->ncalls; i++) {
		const struct ptview_call *c = &t->calls[i];

		put_time(&p->out, c->entry);
		text_char(&p->out, ' ');
		put_time(&p->out, c->exit);
		text_u64(&p->out, ptview_duration(c), 13, ' ');
		text_fill(&p->out, ' ', 2 + 2 * (size_t)(c->depth < DEPTH ? c->depth : DEPTH));
		put_function(&p->out, &p->view->functions[c->function]);
		put_reasons(&p->out, c);
		text_char(&p->out, '\n');
		TRY(flush(p, PIECE));
	}
	text_char(&p->out, '\n');
	return 0;
}

static int put_functions(struct printer *p)
{
	text_str(&p->out, "# functions, times in ns: min, median and max of calls whose entry and "
	                  "exit are known\n"
	                  "#   calls        total         self          min       median          "
	                  "max  function\n");
	for (size_t i = 0; i < p->norder; i++) {
		const struct ptview_function *f = p->order[i];
		const uint64_t of_complete[] = {f->min, f->median, f->max};

		text_u64(&p->out, f->count, 9, ' ');
		text_u64(&p->out, f->total, 13, ' ');
		text_u64(&p->out, f->self, 13, ' ');
		for (size_t j = 0; j < 3; j++) {
			if (f->complete != 0) {
				text_u64(&p->out, of_complete[j], 13, ' ');
			} else {
				text_padded(&p->out, "-", 13);
			}
		}
		text_str(&p->out, "  ");
		put_function(&p->out, f);
		text_char(&p->out, '\n');
		TRY(flush(p, PIECE));
	}
	return 0;
}

static size_t shown_outliers(const struct printer *p)
{
	return p->view->noutliers < p->o.outliers ? p->view->noutliers : p->o.outliers;
}

static int put_outliers(struct printer *p)
{
	const struct ptview *v = p->view;

	if (shown_outliers(p) != 0) {
		text_printf(&p->out,
		        "\n# outliers, %zu of %zu: much longer than other calls\n"
		        "#          entry  duration/ns    median/ns      tid  function\n",
		        shown_outliers(p), v->noutliers);
	}
	for (size_t i = 0; i < shown_outliers(p); i++) {
		const struct ptview_outlier *o = &v->outliers[i];
		const struct ptview_call *c = &v->threads[o->thread].calls[o->call];

		put_time(&p->out, c->entry);
		text_u64(&p->out, ptview_duration(c), 13, ' ');
		text_u64(&p->out, v->functions[c->function].median, 13, ' ');
		text_u64(&p->out, v->threads[o->thread].tid, 9, ' ');
		text_str(&p->out, "  ");
		put_function(&p->out, &v->functions[c->function]);
		text_char(&p->out, '\n');
		TRY(flush(p, PIECE));
	}
	return 0;
}

static int put_between(struct printer *p)
{
	const struct ptview *v = p->view;
	size_t n = v->nintervals;

	if (v->from == NULL) {
		return 0;
	}
	text_str(&p->out, "\n# from each entry of ");
	text_plain(&p->out, v->from);
	text_str(&p->out, " to the next entry of ");
	text_plain(&p->out, v->to);
	text_printf(&p->out, ": %zu times", n);
	if (n != 0) {
		text_printf(&p->out, ", min %llu, median %llu, max %llu ns",
		        (unsigned long long)p->between[0],
		        (unsigned long long)p->between[(n - 1) / 2],
		        (unsigned long long)p->between[n - 1]);
	}
	text_str(&p->out,
	        n != 0 ? "\n#          start              end  duration/ns      tid\n" : "\n");
	for (size_t i = 0; i < n; i++) {
		const struct ptview_interval *at = &v->intervals[i];

		put_time(&p->out, at->start);
		text_char(&p->out, ' ');
		put_time(&p->out, at->end);
		text_u64(&p->out, at->end - at->start, 13, ' ');
		text_u64(&p->out, v->threads[at->thread].tid, 9, ' ');
		text_char(&p->out, '\n');
		TRY(flush(p, PIECE));
	}
	return 0;
}

static int put_text(struct printer *p)
{
	for (size_t i = 0; i < p->view->nthreads && !p->o.no_tree; i++) {
		TRY(put_thread(p, &p->view->threads[i]));
	}
	TRY(put_functions(p));
	TRY(put_outliers(p));
	return put_between(p);
}

static int json_threads(struct printer *p)
{
	const struct ptview *v = p->view;
	struct json *j = &p->json;

	json_array(j, "threads");
	for (size_t i = 0; i < v->nthreads; i++) {
		const struct ptview_thread *t = &v->threads[i];

		json_line(j);
		json_object(j, NULL);
		json_u64(j, "pid", t->pid);
		json_u64(j, "tid", t->tid);
		json_text(j, "comm", t->comm);
		if (!p->o.no_tree) {
			json_array(j, "calls");
		}
		for (size_t k = 0; k < t->ncalls && !p->o.no_tree; k++) {
			const struct ptview_call *c = &t->calls[k];

			json_line(j);
			json_object(j, NULL);
			json_u64(j, "function", c->function);
			json_u64(j, "depth", c->depth);
			json_u64(j, "entry", c->entry);
			json_u64(j, "exit", c->exit);
			json_text(j, "began", begins[c->begin]);
			json_text(j, "ended", ends[c->end]);
			json_close(j);
			TRY(flush(p, PIECE));
		}
		if (!p->o.no_tree) {
			json_close(j);
		}
		json_close(j);
	}
	json_close(j);
	return 0;
}

static int json_functions(struct printer *p)
{
	struct json *j = &p->json;

	json_array(j, "functions");
	for (size_t i = 0; i < p->norder; i++) {
		const struct ptview_function *f = p->order[i];

		json_line(j);
		json_object(j, NULL);
		json_u64(j, "function", (uint64_t)(f - p->view->functions));
		json_text(j, "name", f->name);
		json_text(j, "dso", f->object);
		json_u64(j, "calls", f->count);
		json_u64(j, "complete", f->complete);
		json_u64(j, "total", f->total);
		json_u64(j, "self", f->self);
		if (f->complete != 0) {
			json_u64(j, "min", f->min);
			json_u64(j, "median", f->median);
			json_u64(j, "max", f->max);
		}
		json_close(j);
		TRY(flush(p, PIECE));
	}
	json_close(j);
	return 0;
}

static int json_outliers(struct printer *p)
{
	const struct ptview *v = p->view;
	struct json *j = &p->json;

	json_array(j, "outliers");
	for (size_t i = 0; i < shown_outliers(p); i++) {
		const struct ptview_outlier *o = &v->outliers[i];
		const struct ptview_call *c = &v->threads[o->thread].calls[o->call];

		json_line(j);
		json_object(j, NULL);
		json_u64(j, "tid", v->threads[o->thread].tid);
		json_u64(j, "function", c->function);
		json_u64(j, "entry", c->entry);
		json_u64(j, "exit", c->exit);
		json_close(j);
		TRY(flush(p, PIECE));
	}
	json_close(j);
	return 0;
}

static int json_between(struct printer *p)
{
	const struct ptview *v = p->view;
	struct json *j = &p->json;

	json_array(j, "between");
	for (size_t i = 0; i < v->nintervals; i++) {
		json_line(j);
		json_object(j, NULL);
		json_u64(j, "tid", v->threads[v->intervals[i].thread].tid);
		json_u64(j, "start", v->intervals[i].start);
		json_u64(j, "end", v->intervals[i].end);
		json_close(j);
		TRY(flush(p, PIECE));
	}
	json_close(j);
	return 0;
}

static int put_json(struct printer *p)
{
	json_begin(&p->json, "pt-calls", 1);
	json_u64(&p->json, "branches", p->view->walk.branches);
	json_u64(&p->json, "trace_errors", p->view->walk.errors);
	TRY(json_threads(p));
	TRY(json_functions(p));
	TRY(json_outliers(p));
	if (p->view->from != NULL) {
		TRY(json_between(p));
	}
	json_end(&p->json);
	return 0;
}

static int by_total(const void *a, const void *b)
{
	const struct ptview_function *x = *(const struct ptview_function *const *)a;
	const struct ptview_function *y = *(const struct ptview_function *const *)b;

	if (x->total != y->total) {
		return x->total < y->total ? 1 : -1;
	}
	return strcmp(x->name, y->name);
}

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int sort(struct printer *p)
{
	const struct ptview *v = p->view;

	p->order = calloc(v->nfunctions + 1, sizeof(struct ptview_function *));
	p->between = calloc(v->nintervals + 1, sizeof(*p->between));
	if (p->order == NULL || p->between == NULL) {
		return SONDE_ENOMEM;
	}
	for (size_t i = 0; i < v->nfunctions; i++) {
		if (v->functions[i].count != 0) {
			p->order[p->norder++] = &v->functions[i];
		}
	}
	qsort(p->order, p->norder, sizeof(struct ptview_function *), by_total);
	for (size_t i = 0; i < v->nintervals; i++) {
		p->between[i] = v->intervals[i].end - v->intervals[i].start;
	}
	qsort(p->between, v->nintervals, sizeof(*p->between), by_number);
	return 0;
}

static int print(struct printer *p)
{
	int rc = sort(p);

	p->json.out = &p->out;
	if (rc >= 0) {
		rc = p->o.json ? put_json(p) : put_text(p);
	}
	rc = rc >= 0 ? flush(p, 0) : rc;
	free(p->order);
	free(p->between);
	text_fini(&p->out);
	return rc;
}

static int check_measured(const struct ptview *v, const char *name, uint32_t function)
{
	if (name == NULL || function != UINT32_MAX) {
		return 0;
	}
	return error_set(session_error(v->walk.session), SONDE_EARG, NO_OFFSET,
	        "the traces have no function '%s': choose one that 'sonde pt calls --no-tree' "
	        "lists",
	        name);
}

static int view_make(struct ptview *v, struct sonde_session *s)
{
	TRY(ptview_calls(v, s));
	TRY(check_measured(v, v->from, v->from_function));
	TRY(check_measured(v, v->to, v->to_function));
	return ptview_sum(v);
}

int sonde_ptview_calls_write(struct sonde_session *s,
        const struct sonde_ptview_calls_options *options, sonde_write_fn write, void *arg)
{
	struct printer p = {.o = {.outliers = 10}, .write = write, .arg = arg};
	struct ptview *v;
	int rc;

	TRY(session_ready(s));
	TRY(options_copy(&p.o, sizeof(p.o), options, session_error(s)));
	if ((p.o.from == NULL) != (p.o.to == NULL)) {
		return error_set(session_error(s), SONDE_EARG, NO_OFFSET,
		        "`from` and `to` name two functions, or are both NULL");
	}
	TRY(ptview_check(s));
	v = calloc(1, sizeof(*v));
	if (v == NULL) {
		return error_nomem(session_error(s));
	}
	v->from = p.o.from;
	v->to = p.o.to;
	v->from_function = v->to_function = UINT32_MAX;
	p.view = v;
	rc = view_make(v, s);
	rc = rc >= 0 ? print(&p) : rc;
	(void)error_plain(session_error(s), rc);
	rc = rc >= 0 ? v->walk.branches != 0 : rc;
	ptview_calls_fini(v);
	free(v);
	return rc;
}
