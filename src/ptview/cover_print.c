/* SPDX-License-Identifier: MIT */
/* Code that ran, as text, JSON and tracefiles of lcov; text of a recording is always escaped. */
#define _GNU_SOURCE /* qsort_r */
#include <sonde/preview/ptview.h>

#include "core/escape.h"
#include "core/json.h"
#include "core/options.h"
#include "ptview/cover.h"

#include <stdlib.h>
#include <string.h>

#define PIECE ((size_t)64 * 1024) /* size of a piece of output, in bytes */

struct printer {
	struct cover *cover;
	struct sonde_ptview_cover_options o;
	struct text out;
	struct json json; /* writes to out */
	uint32_t *order; /* functions to list */
	size_t norder;
	sonde_write_fn write;
	void *arg;
};

static int flush(struct printer *p, size_t above)
{
	return text_flush(&p->out, above, p->write, p->arg);
}

static void put_name(struct text *out, const struct ptview_name *f)
{
	text_plain(out, f->name);
	if (f->object != NULL) {
		text_str(out, " (");
		text_plain(out, f->object);
		text_char(out, ')');
	}
}

static int put_functions(struct printer *p)
{
	const struct cover *c = p->cover;

	text_printf(&p->out,
	        "# functions, %llu instructions\n"
	        "#    calls  instructions    blocks  function\n",
	        (unsigned long long)c->insns);
	for (size_t i = 0; i < p->norder; i++) {
		const struct cover_function *f = &c->functions[p->order[i]];

		text_u64(&p->out, f->calls, 10, ' ');
		if (f->unknown && f->insns == 0) {
			text_padded(&p->out, "-", 14);
		} else {
			text_u64(&p->out, f->insns, 14, ' ');
		}
		text_u64(&p->out, f->blocks, 10, ' ');
		text_str(&p->out, "  ");
		put_name(&p->out, &c->names.list[p->order[i]]);
		text_char(&p->out, '\n');
		TRY(flush(p, PIECE));
	}
	return 0;
}

static int put_blocks(struct printer *p)
{
	const struct cover *c = p->cover;

	text_str(&p->out, "\n# blocks\n"
	                  "#    count   bytes   insns             address  function\n");
	for (size_t i = 0; i < c->nblocks; i++) {
		const struct cover_block *b = &c->blocks[i];

		text_u64(&p->out, b->count, 10, ' ');
		text_u64(&p->out, b->end - b->start, 8, ' ');
		if (b->unknown) {
			text_padded(&p->out, "-", 8);
		} else {
			text_u64(&p->out, b->insns, 8, ' ');
		}
		text_str(&p->out, "  ");
		text_hex(&p->out, b->start, 18, ' ');
		text_str(&p->out, "  ");
		put_name(&p->out, &c->names.list[b->function]);
		text_char(&p->out, '\n');
		TRY(flush(p, PIECE));
	}
	return 0;
}

static int put_lines(struct printer *p)
{
	const struct cover *c = p->cover;

	for (size_t i = 0; i < c->nfiles; i++) {
		const struct cover_file *f = &c->files[i];

		text_printf(&p->out, "\n# %zu of %zu lines ran of ", f->ran, f->n);
		text_plain(&p->out, f->path);
		text_str(&p->out, "\n#    count      line\n");
		for (size_t k = 0; k < f->n; k++) {
			text_u64(&p->out, c->lines[f->first + k].count, 10, ' ');
			text_u64(&p->out, c->lines[f->first + k].line, 10, ' ');
			text_char(&p->out, '\n');
			TRY(flush(p, PIECE));
		}
	}
	return 0;
}

static int put_text(struct printer *p)
{
	TRY(put_functions(p));
	if (p->o.blocks) {
		TRY(put_blocks(p));
	}
	return p->o.no_lines ? 0 : put_lines(p);
}

static int json_functions(struct printer *p)
{
	const struct cover *c = p->cover;
	struct json *j = &p->json;

	json_array(j, "functions");
	for (size_t i = 0; i < p->norder; i++) {
		const struct cover_function *f = &c->functions[p->order[i]];

		json_line(j);
		json_object(j, NULL);
		json_u64(j, "function", p->order[i]);
		json_text(j, "name", c->names.list[p->order[i]].name);
		json_text(j, "dso", c->names.list[p->order[i]].object);
		json_u64(j, "calls", f->calls);
		json_u64(j, "instructions", f->insns);
		json_bool(j, "complete", !f->unknown);
		json_u64(j, "blocks", f->blocks);
		json_close(j);
		TRY(flush(p, PIECE));
	}
	json_close(j);
	return 0;
}

static int json_blocks(struct printer *p)
{
	const struct cover *c = p->cover;
	struct json *j = &p->json;

	json_array(j, "blocks");
	for (size_t i = 0; i < c->nblocks; i++) {
		const struct cover_block *b = &c->blocks[i];

		json_line(j);
		json_object(j, NULL);
		json_u64(j, "function", b->function);
		json_u64(j, "address", b->start);
		json_u64(j, "bytes", b->end - b->start);
		if (!b->unknown) {
			json_u64(j, "instructions", b->insns);
		}
		json_u64(j, "count", b->count);
		json_close(j);
		TRY(flush(p, PIECE));
	}
	json_close(j);
	return 0;
}

static int json_files(struct printer *p)
{
	const struct cover *c = p->cover;
	struct json *j = &p->json;

	json_array(j, "files");
	for (size_t i = 0; i < c->nfiles; i++) {
		const struct cover_file *f = &c->files[i];

		json_line(j);
		json_object(j, NULL);
		json_text(j, "file", f->path);
		json_u64(j, "ran", f->ran);
		json_array(j, "lines");
		for (size_t k = 0; k < f->n; k++) {
			json_line(j);
			json_object(j, NULL);
			json_u64(j, "line", c->lines[f->first + k].line);
			json_u64(j, "count", c->lines[f->first + k].count);
			json_close(j);
			TRY(flush(p, PIECE));
		}
		json_close(j);
		json_close(j);
	}
	json_close(j);
	return 0;
}

static int put_json(struct printer *p)
{
	json_begin(&p->json, "pt-cover", 1);
	json_u64(&p->json, "branches", p->cover->walk.branches);
	json_u64(&p->json, "trace_errors", p->cover->walk.errors);
	json_u64(&p->json, "instructions", p->cover->insns);
	TRY(json_functions(p));
	if (p->o.blocks) {
		TRY(json_blocks(p));
	}
	if (!p->o.no_lines) {
		TRY(json_files(p));
	}
	json_end(&p->json);
	return 0;
}

/*
 * The functions of a file as FN and FNDA, both in the order of lines; *at: its first place.
 * Functions of one name, such as copies of an inline function, are one.
 */
static void lcov_functions(struct printer *p, uint32_t file, size_t *at)
{
	const struct cover *c = p->cover;
	size_t first = *at, n = 0, hit = 0;

	for (; *at < c->nplaces && c->places[*at].file == file; ++*at) {
	}
	for (unsigned counts = 0; counts < 2; counts++) {
		for (size_t i = first; i < *at; i++) {
			const struct cover_place *f = &c->places[i];
			uint64_t calls = c->functions[f->function].calls;

			if (i != first && f[-1].function == f->function && f[-1].line == f->line) {
				continue;
			}
			text_str(&p->out, counts != 0 ? "FNDA:" : "FN:");
			text_u64(&p->out, counts != 0 ? calls : f->line, 0, ' ');
			text_char(&p->out, ',');
			text_plain(&p->out, c->names.list[f->function].name);
			text_char(&p->out, '\n');
			n += counts;
			hit += counts != 0 && calls != 0;
		}
	}
	text_printf(&p->out, "FNF:%zu\nFNH:%zu\n", n, hit);
}

static int put_lcov(struct printer *p)
{
	const struct cover *c = p->cover;
	size_t place = 0;

	for (size_t i = 0; i < c->nfiles; i++) {
		const struct cover_file *f = &c->files[i];

		text_str(&p->out, "TN:\nSF:");
		text_plain(&p->out, f->path);
		text_char(&p->out, '\n');
		lcov_functions(p, (uint32_t)i, &place);
		for (size_t k = 0; k < f->n; k++) {
			text_str(&p->out, "DA:");
			text_u64(&p->out, c->lines[f->first + k].line, 0, ' ');
			text_char(&p->out, ',');
			text_u64(&p->out, c->lines[f->first + k].count, 0, ' ');
			text_char(&p->out, '\n');
			TRY(flush(p, PIECE));
		}
		text_printf(&p->out, "LF:%zu\nLH:%zu\nend_of_record\n", f->n, f->ran);
	}
	return 0;
}

static int function_order(const void *a, const void *b, void *arg)
{
	const struct cover *c = arg;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	const struct cover_function *x = &c->functions[i], *y = &c->functions[k];
	int order;

	if (x->insns != y->insns) {
		return x->insns < y->insns ? 1 : -1;
	}
	if (x->calls != y->calls) {
		return x->calls < y->calls ? 1 : -1;
	}
	order = strcmp(c->names.list[i].name, c->names.list[k].name);
	return order != 0 ? order : (i > k) - (i < k);
}

static int sort(struct printer *p)
{
	struct cover *c = p->cover;

	p->order = calloc(c->nfunctions + 1, sizeof(*p->order));
	if (p->order == NULL) {
		return SONDE_ENOMEM;
	}
	for (uint32_t i = 0; i < c->nfunctions; i++) {
		if (c->functions[i].blocks != 0 || (p->o.all && c->names.list[i].named)) {
			p->order[p->norder++] = i;
		}
	}
	qsort_r(p->order, p->norder, sizeof(*p->order), function_order, c);
	return 0;
}

static int print(struct printer *p)
{
	static int (*const formats[])(struct printer *) = {[SONDE_PTVIEW_COVER_TEXT] = put_text,
	        [SONDE_PTVIEW_COVER_JSON] = put_json,
	        [SONDE_PTVIEW_COVER_LCOV] = put_lcov};
	int rc = sort(p);

	p->json.out = &p->out;
	if (rc >= 0) {
		rc = formats[p->o.format](p);
	}
	rc = rc >= 0 ? flush(p, 0) : rc;
	free(p->order);
	text_fini(&p->out);
	return rc;
}

static int make(struct printer *p, struct sonde_session *s)
{
	struct cover *c = p->cover;

	TRY(cover_init(c, s));
	c->objects = p->o.objects;
	TRY(cover_read(c));
	TRY(cover_blocks(c));
	if (!p->o.no_lines || p->o.all) {
		TRY(cover_lines(c, p->o.all));
	}
	TRY(cover_sum(c));
	return print(p);
}

int sonde_ptview_cover_write(struct sonde_session *s,
        const struct sonde_ptview_cover_options *options, sonde_write_fn write, void *arg)
{
	struct printer p = {.write = write, .arg = arg};
	int rc;

	TRY(session_ready(s));
	TRY(options_copy(&p.o, sizeof(p.o), options, session_error(s)));
	if ((unsigned)p.o.format > SONDE_PTVIEW_COVER_LCOV) {
		return error_set(session_error(s), SONDE_EARG, NO_OFFSET, "unknown format");
	}
	p.o.no_lines = p.o.no_lines && p.o.format != SONDE_PTVIEW_COVER_LCOV;
	TRY(ptview_check(s));
	p.cover = calloc(1, sizeof(*p.cover));
	if (p.cover == NULL) {
		return error_nomem(session_error(s));
	}
	rc = make(&p, s);
	(void)error_plain(session_error(s), rc);
	rc = rc >= 0 ? p.cover->walk.branches != 0 : rc;
	cover_fini(p.cover);
	free(p.cover);
	return rc;
}
