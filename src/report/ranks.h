/* SPDX-License-Identifier: MIT */
/*
 * Ranks of what rows are sorted by but is not a number: texts, and the sums of the members of a group
 * of events. Equal texts have equal ranks; a lower rank comes first.
 */
#ifndef SONDE_REPORT_RANKS_H
#define SONDE_REPORT_RANKS_H

#include "report/report.h"

/* Texts that are ranked. */
enum report_ranked {
	REPORT_RANKED_COMM,
	REPORT_RANKED_OBJECT,
	REPORT_RANKED_SOURCE,
	REPORT_RANKED_TRACE,
	REPORT_RANKED_SYMBOL,
	REPORT_RANKED
};

struct report_ranks {
	uint32_t *texts[REPORT_RANKED]; /* by number of the text; of symbols by row */
	uint32_t ntexts[REPORT_RANKED]; /* number of distinct ranks */
	const uint32_t *sums[FIELD_COUNT]; /* ranks of rows by the sums of a field; NULL */
	uint32_t *memory; /* of sums */
};

/*
 * Ranks what the rows of r->table are sorted by. symbols: those of rows too. spare: room for
 * r->table->norder numbers. r keeps the ranks of tracepoints' texts for the next table. 0 or
 * SONDE_ENOMEM; then report_ranks_fini is still needed.
 */
int report_ranks_init(struct report_ranks *ranks, struct report *r, bool symbols, uint32_t *spare);
void report_ranks_fini(struct report_ranks *ranks, const struct report *r);

#endif
