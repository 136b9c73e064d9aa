/* SPDX-License-Identifier: MIT */
/* What --branch-history prints after a name in a call graph, such as " (COND_BWD predicted:75.0%)". */
#include "report/report.h"

#include <inttypes.h>

/* Begins the parentheses, or separates words in them. */
static void put_gap(struct text *t, bool *open)
{
	text_str(t, *open ? " " : " (");
	*open = true;
}

static void put_word(struct text *t, bool *open, const char *word)
{
	if (word != NULL) {
		put_gap(t, open);
		text_str(t, word);
	}
}

/* Kinds of branches to an entry. As in perf, conditional ones only by their direction. */
static void put_kinds(struct text *t, bool *open, uint64_t kinds)
{
	put_word(t, open, (kinds & PROFILE_HOP_FORWARD) != 0 ? "COND_FWD" : NULL);
	put_word(t, open, (kinds & PROFILE_HOP_BACKWARD) != 0 ? "COND_BWD" : NULL);
	for (unsigned i = 0; i < BRANCH_KINDS; i++) {
		bool shown = i != BRANCH_CONDITIONAL && (kinds >> i & 1) != 0;

		put_word(t, open, shown ? branch_kind_name(i) : NULL);
	}
	put_word(t, open, (kinds & PROFILE_HOP_CROSS_4K) != 0 ? "CROSS_4K" : NULL);
	put_word(t, open, (kinds & PROFILE_HOP_CROSS_2M) != 0 ? "CROSS_2M" : NULL);
}

static void put_share(
        struct text *t, bool *open, const char *what, const struct profile_hop *h, uint64_t part)
{
	put_gap(t, open);
	text_printf(t, "%s:%.1f%%", what, 100.0 * (double)part / (double)h->branches);
}

static void put_number(struct text *t, bool *open, const char *what, uint64_t n)
{
	put_gap(t, open);
	text_printf(t, "%s:%" PRIu64, what, n);
}

static void put_target(struct text *t, bool *open, const struct profile_hop *h)
{
	put_kinds(t, open, h->kinds);
	if (h->predicted < h->branches) {
		put_share(t, open, "predicted", h, h->predicted);
	}
	if (h->aborted != 0) {
		put_share(t, open, "abort", h, h->aborted);
	}
}

/* As in perf, the mean of repetitions leaves out the first sample. */
static void put_source(struct text *t, bool *open, const struct profile_hop *h)
{
	uint64_t cycles = h->cycles / h->branches;
	uint64_t loops = h->sources > 1 ? h->loops / (h->sources - 1) : 0;

	if (cycles != 0) {
		put_number(t, open, "cycles", cycles);
	}
	if (loops != 0) {
		put_number(t, open, "iter", loops);
		put_number(t, open, "avg_cycles", h->loop_cycles / h->loops);
	}
}

void report_history(struct report *r, const struct profile_node *node, uint32_t depth)
{
	const struct profile_hop h = profile_graph_hop(&r->profile, node, depth);
	bool open = false;

	if (h.branches == 0) {
		put_word(&r->text, &open, "calltrace");
	} else if (h.source) {
		put_source(&r->text, &open, &h);
	} else {
		put_target(&r->text, &open, &h);
	}
	text_str(&r->text, open ? ")" : "");
}
