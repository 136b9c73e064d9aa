/* SPDX-License-Identifier: MIT */
/* Prints the call graph of a row as a tree, in lines such as "|--1.23%--name", or as chains. */
#include "report/report.h"

#include "core/array.h"
#include "core/escape.h"

#include <stdlib.h>

#define MARGIN 12

/* One open level of the tree: nodes[first .. end), and the prefix of deeper lines. */
struct level {
	size_t first, end, next;
	size_t last; /* the last node, shown or not */
	uint64_t total; /* periods that are 100 % */
	size_t indent; /* length of the prefix of the level's own lines */
};

/* Appends the source line of a function, or its offset if branches are addresses. */
static void put_line(struct report *r, const struct profile_frame *f)
{
	const char *line = profile_frame_line(&r->profile, f);

	if (line != NULL) {
		text_char(&r->text, ' ');
		text_str(&r->text, line);
	} else if (r->options.graph_address) {
		text_str(&r->text, " +");
		text_u64(&r->text, f->address - f->symbol->start, 0, ' ');
	}
}

void report_graph_name(struct report *r, const struct profile_frame *f)
{
	const char *name = profile_symbol(&r->profile, f->object, f->symbol);
	size_t start = r->text.n;

	r->text.failed = r->text.failed || (name == NULL && f->symbol != NULL);
	if (name != NULL) {
		/* as in perf, the line is before " (inlined)" */
		size_t n = strlen(name), end = f->symbol->type == PROFILE_INLINED
		                                       ? n - strlen(PROFILE_INLINED_TEXT)
		                                       : n;

		text_bytes(&r->text, name, end);
		if (r->options.graph_address || r->options.graph_line) {
			put_line(r, f);
		}
		text_bytes(&r->text, name + end, n - end);
		escape_plain_from(&r->text, start);
	} else if (f->ip == 0) {
		text_char(&r->text, '0');
	} else {
		text_str(&r->text, "0x");
		text_hex(&r->text, f->ip, 0, ' ');
	}
}

void report_graph_value(struct report *r, uint64_t periods, uint64_t samples, uint64_t total)
{
	const char *color = report_color(r, periods, total);

	switch (r->options.graph_value) {
	case SONDE_REPORT_VALUE_PERIOD: text_u64(&r->text, periods, 0, ' '); break;
	case SONDE_REPORT_VALUE_COUNT: text_u64(&r->text, samples, 0, ' '); break;
	case SONDE_REPORT_VALUE_PERCENT:
		text_str(&r->text, color);
		text_percent(&r->text, periods, total, 0);
		text_char(&r->text, '%');
		text_str(&r->text, *color != 0 ? REPORT_COLOR_OFF : "");
		break;
	}
}

/* Prints a line for each of a node's frames [from, end); the first one continues the present line,
 * the others begin with the prefix. */
static void put_frames(struct report *r, const struct profile_node *node, uint32_t from,
        uint32_t end, const struct text *prefix)
{
	for (uint32_t i = from; i < end; i++) {
		if (i != from) {
			text_bytes(&r->text, prefix->p, prefix->n);
		}
		report_graph_name(r,
		        profile_graph_shown(&r->profile, node->refs, node->nrefs, node->depth + i));
		if (r->options.branch_history) {
			report_history(r, node, node->depth + i);
		}
		text_char(&r->text, '\n');
	}
	if (node->nrefs == 0) {
		text_str(&r->text, r->options.branch_history ? "[...] (calltrace)\n" : "[...]\n");
	}
}

static void put_node(struct report *r, uint64_t total, size_t at, bool last, struct text *prefix)
{
	const struct profile_node *node = &r->nodes.p[at];
	uint64_t samples = profile_graph_samples(&r->profile, node);

	if (samples == 0 && r->options.graph_value == SONDE_REPORT_VALUE_COUNT) {
		return; /* only chains that end above this node, which perf does not count */
	}
	if (node->nrefs != 0) {
		text_bytes(&r->text, prefix->p, prefix->n);
		text_str(&r->text, "|          \n");
	}
	text_bytes(&r->text, prefix->p, prefix->n);
	text_str(&r->text, last ? " --" : "|--");
	report_graph_value(r, node->sum, samples, total);
	text_str(&r->text, "--");
	text_str(prefix, last ? "           " : "|          ");
	put_frames(r, node, 0, node->n, prefix);
}

/* Keeps the first branches. With fractal shares, the others become one branch without frames. */
static void branches_cut(struct report *r, struct level *level)
{
	struct profile_node rest = {0};
	size_t end = level->first + r->options.graph_branches;

	if (end == level->first || end >= r->nodes.n) {
		return;
	}
	for (size_t i = end; i < r->nodes.n; i++) {
		rest.sum += r->nodes.p[i].sum;
		rest.hidden_samples += profile_graph_samples(&r->profile, &r->nodes.p[i]);
	}
	r->nodes.n = end;
	if (r->profile.options.fractal) {
		r->nodes.p[r->nodes.n++] = rest;
		level->last = end;
	}
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
		level.last = r->nodes.n - 1;
		branches_cut(r, &level);
		level.end = r->nodes.n;
		level.total = !r->profile.options.fractal ? r->profile.totals[event]
		              : parent.whole              ? parent.sum
		                                          : parent.below;
		level.indent = prefix->n;
		if (rc >= 0 && !array_reserve(&levels, &cap, n + 1, sizeof(level))) {
			rc = SONDE_ENOMEM;
		}
		if (rc < 0) {
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
		put_node(r, levels[n - 1].total, from, from == levels[n - 1].last, prefix);
	}
	free(levels);
	return rc;
}

/* Prints a single root, which has all of the row's weight, without a percentage. */
static int put_single(struct report *r, const struct profile_row *row, struct text *prefix)
{
	struct profile_node *node = &r->nodes.p[1];
	uint32_t skip = r->symbol_first ? 1 : 0; /* as in perf, without the row's own name */
	uint32_t end = node->n;

	/* as in perf, the limit of branches also limits the lines of this branch */
	if (r->options.graph_branches != 0 && end - skip > r->options.graph_branches) {
		end = skip + r->options.graph_branches;
	}
	node->whole = true;
	if (node->n > skip) {
		text_fill(&r->text, ' ', MARGIN);
		text_str(&r->text, "|\n");
		text_fill(&r->text, ' ', MARGIN);
		text_str(&r->text, "---");
		text_fill(prefix, ' ', 3);
		put_frames(r, node, skip, end, prefix);
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

	r->nodes.n = 0;
	if (!array_reserve(&r->nodes.p, &r->nodes.cap, 1, sizeof(*r->nodes.p))) {
		return SONDE_ENOMEM;
	}
	root.sum = weight;
	root.whole = true;
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
	rc = rc >= 0 && prefix.failed ? SONDE_ENOMEM : rc;
	text_fini(&prefix);
	return rc;
}
