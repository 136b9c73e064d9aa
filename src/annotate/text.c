/* SPDX-License-Identifier: MIT */
/*
 * A function as text, as `perf annotate --stdio` prints it. The number before a source line is its
 * number in the file.
 *
 *	 Percent |	Source code & Disassembly of p for cpu-clock (63 samples, percent: local period)
 *	------------------------------------------------------------------------------------------
 *	         : 19    return x < y ? -1 : x > y;
 *	    7.94 :   11f0:   mov (%rsi), %eax // p.c:19
 */
#include "annotate/inside.h"

#include "core/array.h"

#include <stdio.h>
#include <stdlib.h>

#define CONTEXT_LINES 5u /* source lines before the first instruction */
#define SKIPPED_LINES 40u /* at most so many lines between two instructions are printed */
#define RAW_WIDTH     24 /* columns of the bytes of an instruction */

struct file_lines { /* a source file */
	const char *file;
	uint32_t max; /* the largest line printed so far */
};

struct line_sum { /* the share of a source line */
	const char *file;
	uint32_t line;
	double *percent; /* [nevents] */
};

struct printer {
	struct annotate *a;
	struct text body; /* printed after the summary by line */
	struct file_lines *files;
	size_t nfiles, files_cap;
	struct line_sum *sums;
	size_t nsums, sums_cap;
	const char *function, *file; /* of the last instruction */
	uint32_t line;
};

static const char *file_name(const struct annotate *a, const char *path)
{
	return a->options.full_paths ? path : lines_file_name(path);
}

static int width_of(const struct annotate *a)
{
	return a->options.show_period ? 11 : 8;
}

static void put_margin(const struct printer *p)
{
	for (size_t i = 0; i < p->a->nevents; i++) {
		text_printf(&p->a->out, "%*s", width_of(p->a), "");
	}
	text_str(&p->a->out, " :");
}

static void put_values(struct printer *p, const struct annotate_count *counts)
{
	const struct annotate *a = p->a;

	for (size_t i = 0; i < a->nevents; i++) {
		unsigned long long n =
		        a->options.show_period ? counts[i].period : counts[i].samples;

		if (a->options.show_period || a->options.show_samples) {
			text_printf(&p->a->out, "%*llu", width_of(a), n);
		} else {
			text_printf(&p->a->out, "%8.2f", annotate_percent(a, i, &counts[i]));
		}
	}
	text_str(&p->a->out, " :");
}

/* NULL: out of memory. */
static struct file_lines *lines_of(struct printer *p, const char *file)
{
	for (size_t i = 0; i < p->nfiles; i++) {
		if (strcmp(p->files[i].file, file) == 0) {
			return &p->files[i];
		}
	}
	if (!array_reserve(&p->files, &p->files_cap, p->nfiles + 1, sizeof(*p->files))) {
		return NULL;
	}
	p->files[p->nfiles] = (struct file_lines){.file = file};
	return &p->files[p->nfiles++];
}

/* Prints the source lines up to that of an instruction, from the last one that was printed on. */
static int put_lines(struct printer *p, const struct lines_frame *at)
{
	struct file_lines *file = lines_of(p, at->file);
	uint32_t from = at->line;
	struct span line;

	if (file == NULL) {
		return SONDE_ENOMEM;
	}
	if (p->file == NULL) {
		from = at->line > CONTEXT_LINES ? at->line - CONTEXT_LINES : 1;
	} else if (file->max != 0 && at->line > file->max &&
	           at->line - file->max <= SKIPPED_LINES) {
		from = file->max + 1;
	}
	for (uint32_t i = from; i <= at->line; i++) {
		int rc = frame_source_line(p->a->source, at->file, i, &line);

		TRY(rc);
		if (rc > 0) {
			put_margin(p);
			text_printf(&p->a->out, " %-5u ", i);
			text_bytes(&p->a->out, (const char *)line.p, line.n);
			text_char(&p->a->out, '\n');
		}
	}
	file->max = at->line > file->max ? at->line : file->max;
	return 0;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* Prints the function and the source lines before an instruction. Returns whether its line is new. */
static int put_source(struct printer *p, const struct annotate_insn *insn)
{
	const struct lines_frame *at = &insn->lines.frames[0];
	bool known = insn->lines.found == LINES_LINE && at->file != NULL;
	bool moved = known && (!same_text(at->file, p->file) || at->line != p->line);

	if (insn->lines.n != 0 && at->function != NULL && !same_text(at->function, p->function)) {
		p->function = at->function;
		if (!p->a->options.no_source) {
			put_margin(p);
			text_str(&p->a->out, "       ");
			TRY(frame_function_text(
			        session_frames(p->a->session), at->function, &p->a->out));
			text_str(&p->a->out, "():\n");
		}
	}
	if (moved && !p->a->options.no_source) {
		TRY(put_lines(p, at));
	}
	if (moved) {
		p->file = at->file;
		p->line = at->line;
	}
	return moved;
}

static int add_to_line(
        struct printer *p, const struct annotate_insn *insn, const struct annotate_count *counts)
{
	const struct lines_frame *at = &insn->lines.frames[0];
	struct line_sum sum = {.file = at->file, .line = at->line};
	size_t n = p->a->nevents;
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		any = any || counts[i].samples != 0;
	}
	if (!any || insn->lines.found != LINES_LINE || at->file == NULL) {
		return 0;
	}
	if (!array_reserve(&p->sums, &p->sums_cap, p->nsums + 1, sizeof(sum))) {
		return SONDE_ENOMEM;
	}
	sum.percent = calloc(n, sizeof(*sum.percent));
	if (sum.percent == NULL) {
		return SONDE_ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		sum.percent[i] = annotate_percent(p->a, i, &counts[i]);
	}
	p->sums[p->nsums++] = sum;
	return 0;
}

static void put_insn_text(struct printer *p, const struct annotate_insn *insn)
{
	struct text *out = &p->a->out;
	int width = 0;

	text_printf(out, "   %llx:   ", (unsigned long long)insn->shown);
	for (size_t i = 0; p->a->options.raw && i < insn->bytes.n; i++) {
		text_printf(out, "%02x ", insn->bytes.p[i]);
		width += 3;
	}
	if (p->a->options.raw) {
		text_printf(out, "%*s", width < RAW_WIDTH ? RAW_WIDTH - width : 1, "");
	}
	text_str(out, insn->text);
	if (insn->target != NULL) {
		text_printf(out, insn->target_offset != 0 ? " <%s+0x%llx>" : " <%s>", insn->target,
		        (unsigned long long)insn->target_offset);
	}
	if (insn->cycles > 0) {
		text_printf(out, " // %.1f cycles", insn->cycles);
	}
}

/* annotate_insn_fn */
static int put_insn(
        void *arg, const struct annotate_insn *insn, const struct annotate_count *counts)
{
	struct printer *p = arg;
	int moved = put_source(p, insn);

	TRY(moved);
	put_values(p, counts);
	put_insn_text(p, insn);
	if (p->a->options.print_line) {
		TRY(add_to_line(p, insn, counts));
	}
	if (p->a->options.print_line && moved > 0) {
		text_printf(&p->a->out, " // %s:%u", file_name(p->a, p->file), p->line);
	}
	text_char(&p->a->out, '\n');
	/* with a summary, which comes first, the text waits */
	return p->a->options.print_line ? 0 : annotate_flush(p->a, 65536);
}

static void put_dashes(struct annotate *a, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		text_char(&a->out, '-');
	}
	text_char(&a->out, '\n');
}

static void put_events(struct annotate *a, struct text *out)
{
	if (a->nevents == 1) {
		text_str(out, sonde_session_event_name(a->session, a->events[0]));
		return;
	}
	text_str(out, "anon group { ");
	for (size_t i = 0; i < a->nevents; i++) {
		text_printf(out, "%s%s", i != 0 ? ", " : "",
		        sonde_session_event_name(a->session, a->events[i]));
	}
	text_str(out, " }");
}

static void put_title(struct annotate *a, const struct annotate_function *f)
{
	static const char *const kinds[] = {
	        "local period", "local hits", "global period", "global hits"};
	const char *title = a->options.show_period    ? "Period"
	                    : a->options.show_samples ? "Samples"
	                                              : "Percent";
	size_t start = a->out.n;

	text_printf(&a->out, " %-*s|\tSource code & Disassembly of %s for ",
	        width_of(a) * (int)a->nevents, title, annotate_object(a, f));
	put_events(a, &a->out);
	text_printf(&a->out, " (%llu samples, percent: %s)\n",
	        (unsigned long long)a->sums[0].samples, kinds[a->options.percent]);
	put_dashes(a, a->out.n - start - 1);
}

static int sum_by_line(const void *a, const void *b)
{
	const struct line_sum *x = a, *y = b;
	int files = strcmp(x->file, y->file);

	return files != 0 ? files : x->line < y->line ? -1 : x->line > y->line;
}

static int sum_by_share(const void *a, const void *b)
{
	const struct line_sum *x = a, *y = b;

	if (x->percent[0] != y->percent[0]) {
		return x->percent[0] > y->percent[0] ? -1 : 1;
	}
	return sum_by_line(a, b);
}

/* Joins the sums of the same lines; those left over are freed. */
static void join_sums(struct printer *p)
{
	size_t n = 0;

	qsort(p->sums, p->nsums, sizeof(*p->sums), sum_by_line);
	for (size_t i = 0; i < p->nsums; i++) {
		if (n == 0 || sum_by_line(&p->sums[n - 1], &p->sums[i]) != 0) {
			p->sums[n++] = p->sums[i];
			continue;
		}
		for (size_t e = 0; e < p->a->nevents; e++) {
			p->sums[n - 1].percent[e] += p->sums[i].percent[e];
		}
		free(p->sums[i].percent);
	}
	p->nsums = n;
	qsort(p->sums, n, sizeof(*p->sums), sum_by_share);
}

/* Prints which share each source line has. */
static void put_summary(struct printer *p, const struct annotate_function *f)
{
	struct annotate *a = p->a;
	size_t start;

	if (p->nsums == 0) {
		return;
	}
	join_sums(p);
	start = a->out.n + 1;
	text_printf(&a->out, "\nSorted summary for file %s\n",
	        timeline_text(session_timeline(a->session),
	                timeline_object(session_timeline(a->session), f->object)->name));
	put_dashes(a, a->out.n - start);
	text_char(&a->out, '\n');
	for (size_t i = 0; i < p->nsums; i++) {
		for (size_t e = 0; e < a->nevents; e++) {
			text_printf(&a->out, "%8.2f", p->sums[i].percent[e]);
		}
		text_printf(&a->out, " %s:%u\n", file_name(a, p->sums[i].file), p->sums[i].line);
	}
}

static void put_head(struct printer *p, const struct annotate_function *f)
{
	put_title(p->a, f);
	put_margin(p);
	text_printf(&p->a->out, "     <%s>:\n", annotate_name(p->a, f));
}

int annotate_text(struct annotate *a, const struct annotate_function *f)
{
	struct printer p = {.a = a};
	struct text before = a->out;
	int rc;

	if (annotate_name(a, f) == NULL) {
		return SONDE_ENOMEM;
	}
	a->out = (struct text){0};
	put_head(&p, f);
	rc = annotate_each(a, f, put_insn, &p);
	p.body = a->out;
	a->out = before;
	if (rc > 0) {
		a->any = true;
		put_summary(&p, f);
		text_bytes(&a->out, p.body.p, p.body.n);
		rc = p.body.failed ? SONDE_ENOMEM : annotate_flush(a, 1);
	}
	for (size_t i = 0; i < p.nsums; i++) {
		free(p.sums[i].percent);
	}
	free(p.sums);
	free(p.files);
	text_fini(&p.body);
	return rc < 0 ? rc : 0;
}
