/* SPDX-License-Identifier: MIT */
/*
 * Rows of recordings and of the hosts that they are from. They are not in perf's databases: --append
 * puts several recordings into one.
 */
#include "export/export.h"

#include "core/arena.h"
#include "record/feature.h"

static const char *feature_text(struct sonde_session *s, unsigned bit, struct arena *a, int *rc)
{
	struct layout_text text = {0};
	int found = SESSION_FEATURE(s, bit, a, &text);

	*rc = found == SONDE_ENOMEM ? found : *rc;
	return found > 0 && text.s != NULL ? text.s : "";
}

/* Sets *id to that of the recording's host, with a new row if there is none. */
static int host_row(struct export *x, struct arena *a, uint64_t *id)
{
	struct feature_cpus cpus = {0};
	struct sonde_session *s = x->session;
	int rc = SESSION_FEATURE(s, FEATURE_NRCPUS, a, &cpus);
	uint32_t ncpus = rc > 0 ? cpus.online : 0;
	struct sonde_export_value row[] = {{0},
	        export_text(x, 0, feature_text(s, FEATURE_HOSTNAME, a, &rc)),
	        export_text(x, 1, feature_text(s, FEATURE_OSRELEASE, a, &rc)),
	        export_text(x, 2, feature_text(s, FEATURE_ARCH, a, &rc)),
	        export_text(x, 3, feature_text(s, FEATURE_CPUDESC, a, &rc)),
	        EXPORT_NUMBER((int32_t)ncpus)};

	if (rc == SONDE_ENOMEM) {
		return rc;
	}
	*id = 0;
	if (x->start->find_host != NULL) {
		TRY(x->start->find_host(x->start->arg, row, id));
	}
	if (*id != 0) {
		return 0;
	}
	*id = export_id(x, EXPORT_HOSTS);
	row[0].number = (int64_t)*id;
	return export_row(x, EXPORT_HOSTS, row);
}

/* The command line that recorded, with blanks between its words, and a NUL. */
static int put_command(const struct export *x, struct arena *a, struct text *out)
{
	struct feature_list words = {0};
	int rc = SESSION_FEATURE(x->session, FEATURE_CMDLINE, a, &words);

	for (size_t i = 0; rc > 0 && i < words.n; i++) {
		text_str(out, i != 0 ? " " : "");
		text_str(out, words.items[i].s != NULL ? words.items[i].s : "");
	}
	text_char(out, '\0');
	return rc == SONDE_ENOMEM || out->failed ? SONDE_ENOMEM : 0;
}

static int recording_row(struct export *x, uint64_t host, const char *command)
{
	const char *path = x->options.recording != NULL ? x->options.recording : "";

	return export_row(x, EXPORT_RECORDINGS,
	        (struct sonde_export_value[]){EXPORT_NUMBER(export_id(x, EXPORT_RECORDINGS)),
	                EXPORT_NUMBER(host), export_text(x, 0, path), export_text(x, 1, command),
	                EXPORT_NUMBER(x->first_time), EXPORT_NUMBER(x->last_time),
	                EXPORT_NUMBER(x->bases[EXPORT_MACHINES] + 1),
	                EXPORT_NUMBER(x->ids[EXPORT_MACHINES]),
	                EXPORT_NUMBER(x->bases[EXPORT_SAMPLES] + 1),
	                EXPORT_NUMBER(x->ids[EXPORT_SAMPLES])});
}

int export_recording(struct export *x)
{
	struct arena arena = {0};
	struct text command = {0};
	uint64_t host = 0;
	int rc = put_command(x, &arena, &command);

	if (rc >= 0) {
		rc = host_row(x, &arena, &host);
	}
	if (rc >= 0) {
		rc = recording_row(x, host, command.p);
	}
	text_fini(&command);
	arena_fini(&arena);
	return rc;
}
