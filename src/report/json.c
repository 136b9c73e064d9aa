/* SPDX-License-Identifier: MIT */
/* `report --json`: the rows of each event in the order of the text, without call graphs. */
#include "report/report.h"

static int put_event(struct report *r, uint32_t event, struct json *j)
{
	TRY(report_rows_select(r, event, 1));
	json_object(j, NULL);
	json_text(j, "name", sonde_session_event_name(r->session, event));
	json_u64(j, "samples", r->profile.shown_samples[event]);
	json_u64(j, "period", r->profile.shown_totals[event]);
	json_array(j, "rows");
	for (size_t i = 0; i < r->table->norder; i++) {
		const struct profile_row *row = &r->table->rows[r->table->order[i]];

		if (!report_row_shown(r, row)) {
			continue;
		}
		json_line(j);
		json_object(j, NULL);
		for (unsigned k = 0; k < r->columns.n; k++) {
			report_columns_json(r, row, r->columns.id[k], j);
		}
		json_close(j);
		TRY(report_flush(r, REPORT_FLUSH_ABOVE));
	}
	json_line(j);
	json_close(j);
	json_close(j);
	return 0;
}

int report_rows_json(struct report *r)
{
	struct json j = {.out = &r->text};

	json_begin(&j, "report", 1);
	json_u64(&j, "lost_samples", session_counts(r->session)->lost_samples);
	json_array(&j, "events");
	for (uint32_t e = 0; e < sonde_session_events(r->session); e++) {
		if (report_table_shown(r, e, 1)) {
			TRY(put_event(r, e, &j));
		}
	}
	json_end(&j);
	return 0;
}
