/* SPDX-License-Identifier: MIT */
/* `report --stats`: number of records of each type, in total and by event. */
#include "report/report.h"

#include "abi/abi.h"
#include "core/escape.h"
#include "core/json.h"

static void put_count(struct text *t, const char *name, uint64_t n)
{
	text_padded(t, name, 16);
	text_str(t, " events: ");
	text_u64(t, n, 10, ' ');
}

int report_stats(struct report *r)
{
	const struct session_counts *c = session_counts(r->session);
	const struct session_event *events = session_events(r->session);
	struct text *t = &r->text;
	uint64_t total = c->unknown_records;

	for (uint32_t i = 0; i < RECORD_TYPE_MAX; i++) {
		total += c->records[i];
	}
	text_str(t, "\nAggregated stats:");
	if (session_has_feature(r->session, FEATURE_AUXTRACE)) { /* as in perf */
		text_str(t, " (excludes AUX area (e.g. instruction trace) decoded / synthesized "
		            "events)");
	}
	text_char(t, '\n');
	put_count(t, "TOTAL", total);
	text_char(t, '\n');
	for (uint32_t i = 0; i < RECORD_TYPE_MAX; i++) {
		const char *name = record_type_name(i);

		if (c->records[i] == 0 && (name == NULL || !r->options.show_empty)) {
			continue;
		}
		put_count(t, name != NULL ? name : "UNKNOWN", c->records[i]);
		text_printf(t, "  (%4.1f%%)\n", 100.0 * (double)c->records[i] / (double)total);
	}
	if (c->unknown_records != 0) {
		put_count(t, "UNKNOWN", c->unknown_records);
		text_printf(t, "  (%4.1f%%)\n", 100.0 * (double)c->unknown_records / (double)total);
	}
	for (size_t e = 0; e < sonde_session_events(r->session); e++) {
		if (events[e].count.samples == 0 && !r->options.show_empty) {
			continue;
		}
		text_plain(t, events[e].name);
		text_str(t, " stats:\n");
		if (events[e].count.samples != 0) { /* as in perf, never a count of 0 here */
			put_count(t, "SAMPLE", events[e].count.samples);
			text_char(t, '\n');
		}
		if (events[e].count.lost_samples !=
		        0) { /* as in perf: the number of lost samples, not of records */
			put_count(t, "LOST_SAMPLES", events[e].count.lost_samples);
			text_char(t, '\n');
		}
	}
	return 0;
}

int report_stats_json(struct report *r)
{
	const struct session_counts *c = session_counts(r->session);
	const struct session_event *events = session_events(r->session);
	struct json j = {.out = &r->text};

	json_begin(&j, "report-stats", 1);
	json_object(&j, "records");
	for (uint32_t i = 0; i < RECORD_TYPE_MAX; i++) {
		const char *name = record_type_name(i);

		if (c->records[i] != 0 || (name != NULL && r->options.show_empty)) {
			json_u64(&j, name != NULL ? name : "UNKNOWN", c->records[i]);
		}
	}
	json_close(&j);
	json_u64(&j, "unknown_records", c->unknown_records);
	json_u64(&j, "lost_events", c->lost_events);
	json_u64(&j, "lost_samples", c->lost_samples);
	json_u64(&j, "first_sample_ns", c->first_time);
	json_u64(&j, "last_sample_ns", c->last_time);
	json_array(&j, "events");
	for (size_t e = 0; e < sonde_session_events(r->session); e++) {
		json_object(&j, NULL);
		json_text(&j, "name", events[e].name);
		json_u64(&j, "samples", events[e].count.samples);
		json_u64(&j, "period", events[e].count.period);
		json_u64(&j, "lost", events[e].count.lost);
		json_close(&j);
	}
	json_end(&j);
	return 0;
}
