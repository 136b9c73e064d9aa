/* SPDX-License-Identifier: MIT */
/*
 * The address filters of a recording. Where a direct branch leaves them, the trace has a TIP.PGD
 * without an address, so that only the filters show at which branch tracing ended.
 *
 *	filter 0x1000/0x200@/usr/bin/ls, filter 0xffffffff81000000/0x100
 *
 * An address in a file is that of each place at which the file is mapped.
 */
#include "aux/inside.h"

#include <ctype.h>
#include <stdlib.h>

#define FILTERS_MAX 4u

static void skip_blanks(const char **p, const char *end)
{
	while (*p < end && (isspace((unsigned char)**p) || **p == ',')) {
		(*p)++;
	}
}

/* Decimal, or hexadecimal with 0x. */
static bool take_number(const char **p, const char *end, uint64_t *out)
{
	bool hex = end - *p > 2 && (*p)[0] == '0' && ((*p)[1] | 32) == 'x';
	const char *from = hex ? *p + 2 : *p;
	const char *at = from;

	*out = 0;
	while (at < end && (hex ? isxdigit((unsigned char)*at) : isdigit((unsigned char)*at))) {
		unsigned c = (unsigned char)*at++;

		*out = *out * (hex ? 16 : 10) + (c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
	}
	*p = at;
	return at != from;
}

int aux_filter_next(const char **p, const char *end, struct aux_filter *out)
{
	static const char word[] = "filter";

	skip_blanks(p, end);
	if (*p == end || **p == '\0') {
		return 0;
	}
	if ((size_t)(end - *p) < sizeof(word) || memcmp(*p, word, sizeof(word) - 1) != 0) {
		return AUX_FILTER_OTHER;
	}
	*p += sizeof(word) - 1;
	skip_blanks(p, end);
	*out = (struct aux_filter){0};
	if (!take_number(p, end, &out->start)) {
		return AUX_FILTER_OTHER;
	}
	if (*p < end && **p == '/') {
		(*p)++;
		if (!take_number(p, end, &out->size)) {
			return AUX_FILTER_OTHER;
		}
	}
	if (*p < end && **p == '@') {
		out->path = ++*p;
		while (*p < end && **p != '\0' && **p != ',' && !isspace((unsigned char)**p)) {
			(*p)++;
		}
		out->path_size = (size_t)(*p - out->path);
	}
	return out->size != 0 ? 1 : AUX_FILTER_OTHER;
}

/* Adds a range, once. False: there are more than a processor has. */
static bool add_range(struct sonde_pt_flow_options *o, uint64_t start, uint64_t size)
{
	uint64_t last = start + size - 1;

	for (unsigned i = 0; i < o->filters; i++) {
		if (o->filter[i].first == start && o->filter[i].last == last) {
			return true;
		}
	}
	if (o->filters == FILTERS_MAX) {
		return false;
	}
	o->filter[o->filters].first = start;
	o->filter[o->filters++].last = last;
	return true;
}

/* Adds the range of a filter in each mapping of its file. 1; 0: too many; a negative status. */
static int add_mapped(const struct aux *a, struct timeline_cursor *cursor,
        const struct aux_filter *f, struct sonde_pt_flow_options *o)
{
	const struct timeline *t = a->setup.timeline;

	for (size_t i = 0; i < timeline_mappings(t); i++) {
		const struct timeline_mapping *m;
		const char *name;

		TRY(timeline_mapping(t, cursor, i, &m));
		name = timeline_text(t, timeline_object(t, m->object)->name);
		if (strlen(name) != f->path_size || memcmp(name, f->path, f->path_size) != 0 ||
		        f->start < m->pgoff || f->start - m->pgoff >= m->end - m->start) {
			continue;
		}
		if (!add_range(o, m->start + (f->start - m->pgoff), f->size)) {
			return 0;
		}
	}
	return 1;
}

int aux_filters_set(struct aux *a)
{
	const char *p = a->info.filter.p;
	struct sonde_pt_flow_options *o = &a->flow;
	struct timeline_cursor *cursor;
	struct aux_filter f;
	const char *end;
	int rc;

	if (p == NULL) {
		return 0;
	}
	end = p + a->info.filter.n;
	cursor = calloc(1, sizeof(*cursor));
	rc = cursor != NULL ? 1 : SONDE_ENOMEM;
	while (rc == 1 && (rc = aux_filter_next(&p, end, &f)) == 1) {
		rc = f.path_size != 0 ? add_mapped(a, cursor, &f, o)
		                      : add_range(o, f.start, f.size);
		if (rc == 0) {
			o->filters = 0;
		}
	}
	if (rc == AUX_FILTER_OTHER) {
		o->filters = 0;
	}
	if (cursor != NULL) {
		timeline_cursor_fini(a->setup.timeline, cursor);
	}
	free(cursor);
	return rc < 0 ? rc : 0;
}
