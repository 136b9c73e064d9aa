/* SPDX-License-Identifier: MIT */
/*
 * The key comm_nodigit: names of threads with "<N>" for each number in them, so that the threads of a
 * pool share one row: "kworker/<N>:<N>". Names are numbered in the order of these texts.
 */
#include "field/field.h"

#include <stdlib.h>

struct plain { /* the text of an interned name */
	const char *text;
	uint32_t id;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static void text_plain(struct text *out, const char *name)
{
	out->n = 0;
	for (; *name != 0; name++) {
		if (!is_digit(*name)) {
			text_char(out, *name);
		} else if (!is_digit(name[1])) { /* the last digit of a number */
			text_str(out, "<N>");
		}
	}
}

static int plain_order(const void *a, const void *b)
{
	return strcmp(((const struct plain *)a)->text, ((const struct plain *)b)->text);
}

static int plain_read(struct field_source *f, struct plain *list, size_t n)
{
	const struct timeline *t = session_timeline(f->session);
	struct text text = {0};
	int rc = 0;

	for (size_t i = 0; i < n && rc >= 0; i++) {
		text_plain(&text, timeline_text(t, (uint32_t)i));
		list[i] = (struct plain){.id = (uint32_t)i,
		        .text = arena_text(&f->arena, text.n != 0 ? text.p : "", text.n)};
		rc = text.failed || list[i].text == NULL ? SONDE_ENOMEM : 0;
	}
	text_fini(&text);
	return rc;
}

int field_plain_names_make(struct field_source *f)
{
	size_t n = timeline_texts(session_timeline(f->session));
	struct plain *list = malloc((n + 1) * sizeof(*list));
	uint32_t rank = 0;
	int rc = SONDE_ENOMEM;

	f->plain_of = arena_alloc(&f->arena, (n + 1) * sizeof(*f->plain_of));
	f->plain = arena_alloc(&f->arena, (n + 1) * sizeof(*f->plain));
	if (list != NULL && f->plain_of != NULL && f->plain != NULL) {
		rc = plain_read(f, list, n);
	}
	if (rc >= 0) {
		qsort(list, n, sizeof(*list), plain_order);
	}
	for (size_t i = 0; i < n && rc >= 0; i++) {
		rank += i != 0 && strcmp(list[i].text, list[i - 1].text) != 0;
		f->plain_of[list[i].id] = rank;
		f->plain[rank] = list[i].text;
	}
	free(list);
	return rc;
}
