/* SPDX-License-Identifier: MIT */
/* Members of a session, for other parts and higher layers. */
#include "session/inside.h"

#include "core/near.h"
#include "file/feature.h"
#include "session/file.h"

#include <stdatomic.h>

int session_ready(struct sonde_session *s)
{
	if (s->ready) {
		return 0;
	}
	return error_set(&s->error, SONDE_EARG, NO_OFFSET,
	        "the session has no file: call sonde_session_open first");
}

uint64_t sonde_session_diags(const struct sonde_session *s, enum sonde_diag_kind kind)
{
	return kind < SONDE_DIAG_KINDS ? s->diags.counts[kind] : 0;
}

size_t sonde_session_events(const struct sonde_session *s)
{
	return s->nevents;
}

const char *sonde_session_event_name(const struct sonde_session *s, size_t event)
{
	return event < s->nevents ? s->events[event].name : NULL;
}

const struct sonde_attr *sonde_session_event_attr(const struct sonde_session *s, size_t event)
{
	return event < s->nevents ? &s->events[event].attr : NULL;
}

unsigned sonde_session_jobs(const struct sonde_session *s)
{
	return s->options.jobs;
}

const struct frame_resolver *session_frames(const struct sonde_session *s)
{
	return &s->frames;
}

const struct file *session_file(const struct sonde_session *s)
{
	return s->file;
}

void session_forget(const struct sonde_session *s)
{
	file_forget(s->file);
}

const struct timeline *session_timeline(const struct sonde_session *s)
{
	return s->timeline;
}

unsigned session_jobs(const struct sonde_session *s)
{
	return s->options.jobs;
}

struct error *session_error(struct sonde_session *s)
{
	return &s->error;
}

struct diag_sink *session_diags(struct sonde_session *s)
{
	return &s->diags;
}

void session_progress(struct sonde_session *s, uint64_t done, uint64_t total)
{
	if (s->options.on_progress != NULL && !atomic_exchange(&s->progress_busy, true)) {
		s->options.on_progress(s->options.progress_arg, done, total);
		atomic_store(&s->progress_busy, false);
	}
}

const struct session_counts *session_counts(const struct sonde_session *s)
{
	return &s->counts;
}

const struct session_event *session_events(const struct sonde_session *s)
{
	return s->events;
}

bool session_event_lacks_chains(const struct sonde_session *s, size_t event)
{
	const struct session_event *e = &s->events[event];

	return (e->attr.sample_type & SONDE_SAMPLE_CALLCHAIN) == 0 &&
	       strstr(e->name, "call-graph=no") != NULL;
}

int session_event_check(struct sonde_session *s, const char *option, const char *name)
{
	struct near near = {.word = name, .size = name != NULL ? strlen(name) : 0};
	struct text names = {0};

	for (size_t i = 0; name != NULL && i < s->nevents; i++) {
		if (strcmp(s->events[i].name, name) == 0) {
			return 0;
		}
		near_offer_text(&near, s->events[i].name);
	}
	if (name == NULL) {
		return 0;
	}
	near_question(&near, &names);
	(void)error_set(session_error(s), SONDE_EARG, NO_OFFSET,
	        "%s '%s': the recording has no event of this name%.*s; 'sonde evlist' lists them",
	        option, name, (int)names.n, names.p);
	text_fini(&names);
	return SONDE_EARG;
}

const struct session_event *session_event_by_id(const struct sonde_session *s, uint64_t id)
{
	const struct file_event *e = file_event_by_id(s->file, id);

	if (e != NULL) {
		return &s->events[e - s->file->events];
	}
	for (size_t i = s->file->nevents; i < s->nevents; i++) {
		for (size_t j = 0; j < s->events[i].nids; j++) {
			if (s->events[i].ids[j] == id) {
				return &s->events[i];
			}
		}
	}
	return NULL;
}

int session_feature(
        const struct sonde_session *s, unsigned bit, struct arena *a, void *out, size_t size)
{
	return feature_read(s->file, bit, a, out, size);
}

struct span session_tracing(const struct sonde_session *s)
{
	return file_feature(s->file, FEATURE_TRACING_DATA);
}

bool session_has_feature(const struct sonde_session *s, unsigned bit)
{
	return bit < FEATURE_BITS && file_has_feature(s->file, (enum abi_feature)bit);
}

bool session_swap(const struct sonde_session *s)
{
	return s->swap;
}

bool session_has_traces(const struct sonde_session *s)
{
	return file_has_feature(s->file, FEATURE_AUXTRACE) ||
	       s->counts.records[RECORD_AUXTRACE] != 0;
}

uint64_t session_trace_errors(const struct sonde_session *s)
{
	return s->aux != NULL ? aux_errors(s->aux) : 0;
}

uint64_t session_size(const struct sonde_session *s)
{
	return file_end(s->file);
}

int session_file_record_next(const struct sonde_session *s, uint64_t *position, struct record *r)
{
	if (*position == 0) {
		*position = file_begin(s->file);
	}
	return file_next(s->file, position, r, NULL);
}
