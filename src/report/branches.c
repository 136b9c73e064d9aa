/* SPDX-License-Identifier: MIT */
/* Shares of branches by kind and distance, after the rows of branches. */
#include "report/report.h"

static void put_share(struct text *t, const char *name, uint64_t part, uint64_t total)
{
	if (part != 0 && name != NULL) {
		text_printf(t, "\n%8s: %5.1f%%", name, 100.0 * (double)part / (double)total);
	}
}

void report_branches(struct report *r)
{
	const struct profile_branches *b = &r->profile.branches;
	uint64_t total = 0;

	for (unsigned i = 0; i < BRANCH_KIND_IS_NEW;
	        i++) { /* as in perf, without the newer kinds */
		total += b->kinds[i];
	}
	if (total == 0) {
		return;
	}
	text_str(&r->text, "\n#\n# Branch Statistics:\n#");
	put_share(&r->text, "COND_FWD", b->forward, total);
	put_share(&r->text, "COND_BWD", b->backward, total);
	put_share(&r->text, "CROSS_4K", b->cross_4k, total);
	put_share(&r->text, "CROSS_2M", b->cross_2m, total);
	for (unsigned i = 0; i < BRANCH_KINDS; i++) {
		put_share(&r->text, branch_kind_name(i), b->kinds[i], total);
	}
	text_char(&r->text, '\n');
}
