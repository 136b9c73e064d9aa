/* SPDX-License-Identifier: MIT */
/*
 * The kernel's form, which capture/plan/aux_filter.c makes of the user's:
 *
 *	(filter | start | stop) START ["/" SIZE] ["@" FILE] {"," ...}
 *
 * START is an offset in FILE. stop with a size is the user's tracestop.
 */
#include "softpt/filter.h"

#include "core/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned bit_of(const char *word, bool sized)
{
	if (strncmp(word, "filter ", 7) == 0) {
		return FILTER_INSIDE;
	}
	if (strncmp(word, "start ", 6) == 0) {
		return FILTER_START;
	}
	return sized ? FILTER_TRACESTOP : FILTER_STOP;
}

static int parse_one(struct filter *filter, char *text, struct error *err)
{
	struct filter_range *range = &filter->v[filter->n];
	char *number = strchr(text, ' '), *end, *file = strchr(text, '@');

	if (file == NULL) {
		return error_set(err, SONDE_EARG, NO_OFFSET,
		        "--filter '%s' is for the kernel, which --soft-pt does not trace; "
		        "name the program or library after an @",
		        text);
	}
	*file++ = '\0';
	range->from = number != NULL ? strtoull(number, &end, 0) : 0;
	range->size = number != NULL && *end == '/' ? strtoull(end + 1, NULL, 0) : 0;
	range->bit = bit_of(text, range->size != 0);
	range->size = range->bit & (FILTER_START | FILTER_STOP) ? 1 : range->size;
	range->file = file;
	filter->bits |= range->bit;
	filter->n++;
	return 0;
}

int filter_parse(struct filter *filter, const char *text, struct error *err)
{
	size_t most = 1;
	char *part, *rest;
	const char *p;

	for (p = text; *p != '\0'; p++) {
		most += *p == ',';
	}
	filter->text = strdup(text);
	filter->own = strdup(text);
	filter->v = calloc(most, sizeof(*filter->v));
	if (filter->text == NULL || filter->own == NULL || filter->v == NULL) {
		return error_nomem(err);
	}
	for (part = filter->own; part != NULL; part = rest) {
		rest = strchr(part, ',');
		if (rest != NULL) {
			*rest++ = '\0';
		}
		TRY(parse_one(filter, part, err));
	}
	return 0;
}

void filter_fini(struct filter *filter)
{
	free(filter->text);
	free(filter->own);
	free(filter->v);
	*filter = (struct filter){0};
}

int filter_place(const struct filter *filter, const char *file, uint64_t pgoff, uint64_t start,
        uint64_t end, struct filter_places *out)
{
	uint64_t from, to, last = pgoff + (end - start);
	size_t i;

	for (i = 0; i < filter->n; i++) {
		const struct filter_range *range = &filter->v[i];

		from = range->from > pgoff ? range->from : pgoff;
		to = range->from + range->size < last ? range->from + range->size : last;
		if (from >= to || strcmp(range->file, file) != 0) {
			continue;
		}
		if (!array_reserve(&out->v, &out->cap, out->n + 1, sizeof(*out->v))) {
			return SONDE_ENOMEM;
		}
		out->v[out->n++] = (struct filter_place){
		        range->bit, start + (from - pgoff), start + (to - pgoff)};
	}
	return 0;
}

void filter_places_clear(struct filter_places *places)
{
	places->n = 0;
}

unsigned filter_at(const struct filter_places *places, uint64_t at)
{
	unsigned bits = 0;
	size_t i;

	for (i = 0; i < places->n; i++) {
		if (at >= places->v[i].start && at < places->v[i].end) {
			bits |= places->v[i].bit;
		}
	}
	return bits;
}
