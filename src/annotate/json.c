/* SPDX-License-Identifier: MIT */
/* A function as JSON: see doc/json.md. */
#include "annotate/inside.h"

static void put_counts(struct annotate *a, const struct annotate_count *counts)
{
	struct json *j = &a->json;

	json_array(j, "samples");
	for (size_t i = 0; i < a->nevents; i++) {
		json_u64(j, NULL, counts[i].samples);
	}
	json_close(j);
	json_array(j, "period");
	for (size_t i = 0; i < a->nevents; i++) {
		json_u64(j, NULL, counts[i].period);
	}
	json_close(j);
}

static int put_line(struct annotate *a, const struct annotate_insn *insn)
{
	const struct lines_frame *at = &insn->lines.frames[0];
	struct text name = {0};
	int rc = 0;

	if (insn->lines.n == 0) {
		return 0;
	}
	if (at->function != NULL) {
		rc = frame_function_text(session_frames(a->session), at->function, &name);
		json_string(&a->json, "function", name.p, name.n);
	}
	if (insn->lines.found == LINES_LINE && at->file != NULL) {
		json_text(&a->json, "file", at->file);
		json_u64(&a->json, "line", at->line);
	}
	text_fini(&name);
	return rc;
}

/* annotate_insn_fn */
static int put_insn(
        void *arg, const struct annotate_insn *insn, const struct annotate_count *counts)
{
	struct annotate *a = arg;
	struct json *j = &a->json;

	json_line(j);
	json_object(j, NULL);
	json_u64(j, "address", insn->shown);
	json_hex(j, "bytes", insn->bytes);
	json_text(j, "text", insn->text);
	if (insn->target != NULL) {
		json_text(j, "target", insn->target);
		json_u64(j, "target_offset", insn->target_offset);
	}
	put_counts(a, counts);
	json_array(j, "percent");
	for (size_t i = 0; i < a->nevents; i++) {
		json_printf(j, NULL, "%.2f", annotate_percent(a, i, &counts[i]));
	}
	json_close(j);
	if (insn->cycles > 0) {
		json_printf(j, "cycles", "%.1f", insn->cycles);
	}
	TRY(put_line(a, insn));
	json_close(j);
	return annotate_flush(a, 65536);
}

int annotate_json(struct annotate *a, const struct annotate_function *f)
{
	struct json *j = &a->json;
	const struct timeline *t = session_timeline(a->session);
	const char *name = annotate_name(a, f);
	int rc;

	if (name == NULL) {
		return SONDE_ENOMEM;
	}
	json_line(j);
	json_object(j, NULL);
	json_text(j, "symbol", name);
	json_text(j, "object", timeline_text(t, timeline_object(t, f->object)->name));
	json_array(j, "events");
	for (size_t i = 0; i < a->nevents; i++) {
		json_text(j, NULL, sonde_session_event_name(a->session, a->events[i]));
	}
	json_close(j);
	put_counts(a, a->sums);
	json_array(j, "instructions");
	rc = annotate_each(a, f, put_insn, a);
	json_close(j);
	json_close(j);
	a->any = a->any || rc > 0;
	return rc < 0 ? rc : annotate_flush(a, 65536);
}
