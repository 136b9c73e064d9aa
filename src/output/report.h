/* SPDX-License-Identifier: MIT */
/* Inside of the report text: columns, rows and graphs of one profile. */
#ifndef SONDE_OUTPUT_REPORT_H
#define SONDE_OUTPUT_REPORT_H

#include "core/text.h"
#include "profile/profile.h"

#include <sonde/preview/report.h>

#define REPORT_KEYS_MAX 8

struct report {
	struct sonde_session *session;
	struct sonde_report_options options;
	enum profile_key keys[REPORT_KEYS_MAX];
	unsigned nkeys;
	struct profile profile;
	struct text text;
	struct text cell; /* of one column */
	int (*write)(void *arg, const char *text, size_t n);
	void *arg;
	struct timeline_cursor *cursor;
	uint32_t *order; /* rows of one event, as printed */
	size_t norder;
	int width[REPORT_KEYS_MAX];
	struct profile_nodes nodes; /* graph nodes on the way down */
};

/* Passes text on when there is much of it. */
int report_flush(struct report *r, size_t above);
/* Puts r->order in the order in which rows are printed; negative: no memory. */
int report_order(struct report *r);
int report_stats(struct report *r);
int report_stats_json(struct report *r);
int report_graph(struct report *r, const struct profile_row *row);

#endif
