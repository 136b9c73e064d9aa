/* SPDX-License-Identifier: MIT */
/* The tree below a row, in lines of "|--1.23%--name". */
#include "output/report.h"

#include "core/array.h"

#include <stdlib.h>

#define MARGIN 12

/* One level on the way down: nodes[first .. end) and how the lines of deeper levels begin. */
struct level {
	size_t first, end, next;
	size_t indent; /* length of the level's own beginning in the prefix */
};

static void put_frame(struct report *r, const struct profile_frame *f)
{
	const char *name = profile_symbol(&r->profile, f->object, f->symbol);

	if (name != NULL) {
		text_str(&r->text, name);
	} else if (f->ip == 0) {
		text_char(&r->text, '0');
	} else {
		text_str(&r->text, "0x");
		text_hex(&r->text, f->ip, 0, ' ');
	}
	text_char(&r->text, '\n');
}

/* Lines of a node's frames from `from` on, behind the prefix; the first follows what is there
 * already. */
static void put_frames(
        struct report *r, const struct profile_node *node, uint32_t from, const struct text *prefix)
{
	for (uint32_t i = from; i < node->n; i++) {
		if (i != from) {
			text_bytes(&r->text, prefix->p, prefix->n);
		}
		put_frame(r, profile_graph_frame(&r->profile, node, node->depth + i));
	}
}

static void put_node(struct report *r, uint32_t event, size_t at, bool last, struct text *prefix)
{
	const struct profile_node *node = &r->nodes.p[at];

	text_bytes(&r->text, prefix->p, prefix->n);
	text_str(&r->text, "|          \n");
	text_bytes(&r->text, prefix->p, prefix->n);
	text_str(&r->text, last ? " --" : "|--");
	text_percent(&r->text, node->sum, r->profile.totals[event], 0);
	text_str(&r->text, "%--");
	text_str(prefix, last ? "           " : "|          ");
	put_frames(r, node, 0, prefix);
}

static int put_below(struct report *r, uint32_t event, size_t at, struct text *prefix)
{
	struct level *levels = NULL;
	size_t n = 0, cap = 0;
	size_t from = at;
	int rc = 0;

	/* A stack instead of recursion: depth comes from the input. */
	for (;;) {
		struct profile_node parent;
		struct level level = {.first = r->nodes.n, .next = r->nodes.n};

		parent = r->nodes.p[from];
		rc = profile_graph_expand(&r->profile, event, &parent, &r->nodes);
		level.end = r->nodes.n;
		level.indent = prefix->n;
		if (rc < 0 || !array_reserve(&levels, &cap, n + 1, sizeof(level))) {
			break;
		}
		levels[n++] = level;
		while (n > 0 && levels[n - 1].next == levels[n - 1].end) {
			r->nodes.n = levels[n - 1].first;
			n--;
		}
		if (n == 0) {
			break;
		}
		from = levels[n - 1].next++;
		prefix->n = levels[n - 1].indent;
		put_node(r, event, from, levels[n - 1].next == levels[n - 1].end, prefix);
	}
	free(levels);
	return rc;
}

/* One root that has all of the row's weight is printed without a percentage. */
static int put_single(struct report *r, const struct profile_row *row, struct text *prefix)
{
	const struct profile_node *node = &r->nodes.p[1];
	/* the row's own name says it already when rows are sorted by symbol alone or first */
	uint32_t skip = r->keys[0] == PROFILE_SYM ? 1 : 0;

	if (node->n > skip) {
		text_fill(&r->text, ' ', MARGIN);
		text_str(&r->text, "|\n");
		text_fill(&r->text, ' ', MARGIN);
		text_str(&r->text, "---");
		text_fill(prefix, ' ', 3);
		put_frames(r, node, skip, prefix);
	}
	return put_below(r, row->event, 1, prefix);
}

int report_graph(struct report *r, const struct profile_row *row)
{
	struct profile_node root = profile_graph_root(&r->profile, row);
	uint64_t weight = r->profile.options.children ? row->children : row->period;
	struct text prefix = {0};
	size_t before = r->text.n;
	int rc;

	if (row->refs == 0) {
		return 0;
	}
	r->nodes.n = 0;
	if (!array_reserve(&r->nodes.p, &r->nodes.cap, 1, sizeof(*r->nodes.p))) {
		return SONDE_ENOMEM;
	}
	r->nodes.p[r->nodes.n++] = root;
	text_fill(&prefix, ' ', MARGIN);
	rc = profile_graph_expand(&r->profile, row->event, &root, &r->nodes);
	if (rc >= 0 && r->nodes.n == 2 && r->nodes.p[1].sum == weight) {
		rc = put_single(r, row, &prefix);
	} else if (rc >= 0) {
		r->nodes.n = 1;
		rc = put_below(r, row->event, 0, &prefix);
	}
	if (r->text.n != before) {
		text_char(&r->text, '\n');
	}
	text_fini(&prefix);
	return rc;
}
