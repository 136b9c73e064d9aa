/* SPDX-License-Identifier: MIT */
/*
 * A timeline in epochs answers as one that is made at once: test_epochs FILE... Opens each recording
 * several times, with a different length of epochs, and compares thread, name and frames of all
 * samples, and the lists of processes, threads and mappings.
 *
 * An epoch has at least a megabyte of records (file_source.c joins smaller rounds).
 */
#include "session/inside.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>

/* What a session says, as a number to compare, and how much that was. */
struct said {
	uint64_t hash;
	uint64_t samples, frames, named;
	size_t processes, threads, mappings;
	bool failed;
};

static uint64_t with_text(uint64_t hash, const char *text)
{
	return text != NULL ? hash_step(hash, hash_bytes(text, strlen(text))) : hash_step(hash, 1);
}

/* Adds a sample; the order of samples does not matter. */
static int say_sample(struct sonde_session *s, const struct sonde_event *e, struct said *said)
{
	const struct sonde_frame *frame;
	uint64_t h = hash_step(e->offset, (uint64_t)e->thread.pid << 32 | e->thread.tid);

	h = with_text(h, e->thread.comm);
	TRY(sonde_session_frames(s, e, &frame));
	for (; frame != NULL; frame = frame->caller) {
		h = with_text(hash_step(h, frame->address), frame->dso);
		said->frames++;
		said->named += frame->dso != NULL;
	}
	said->hash += h;
	said->samples++;
	return 0;
}

static void say_lists(struct sonde_session *s, struct said *said)
{
	const struct sonde_process *process;
	const struct sonde_thread_life *thread;
	const struct sonde_mapping *mapping;
	size_t at = 0;

	for (; sonde_session_next_process(s, &at, &process) > 0; said->processes++) {
	}
	for (at = 0; sonde_session_next_thread(s, &at, &thread) > 0; said->threads++) {
	}
	for (at = 0; sonde_session_next_mapping(s, &at, &mapping) > 0; said->mappings++) {
	}
}

#define JOBS 4

struct job {
	struct sonde_session *session;
	struct said said[JOBS];
};

static int say_mapped(void *arg, unsigned worker, const struct sonde_event *e)
{
	struct job *job = arg;

	return say_sample(job->session, e, &job->said[worker]);
}

/* Reads the samples on several threads, in any order. */
static int say_in_parallel(struct sonde_session *s, struct said *out)
{
	struct job job = {.session = s};

	TRY(sonde_session_map(s, say_mapped, &job));
	for (unsigned i = 0; i < JOBS; i++) {
		out->hash += job.said[i].hash;
		out->samples += job.said[i].samples;
		out->frames += job.said[i].frames;
		out->named += job.said[i].named;
	}
	return 0;
}

static int say_in_order(struct sonde_session *s, struct said *out)
{
	const struct sonde_event *e;
	int rc;

	while ((rc = sonde_session_next(s, &e)) > 0) {
		TRY(say_sample(s, e, out));
	}
	return rc;
}

static struct said say(const char *path, size_t records, bool parallel)
{
	struct sonde_session_options options = {.size = sizeof(options), .jobs = JOBS};
	struct sonde_session *s = sonde_session_new(&options);
	struct said said = {0};

	s->epoch_records = records;
	said.failed = sonde_session_open(s, path) < 0 ||
	              (parallel ? say_in_parallel(s, &said) : say_in_order(s, &said)) < 0;
	if (said.failed) {
		printf("# %s\n", sonde_session_error(s)->text);
	} else {
		say_lists(s, &said);
	}
	sonde_session_free(s);
	return said;
}

static bool same(const struct said *a, const struct said *b)
{
	return a->hash == b->hash && a->samples == b->samples && a->frames == b->frames &&
	       a->named == b->named && a->failed == b->failed && a->processes == b->processes &&
	       a->threads == b->threads && a->mappings == b->mappings;
}

int main(int argc, char **argv)
{
	static const size_t lengths[] = {1, 100, 5000};

	for (int i = 1; i < argc; i++) {
		const char *name =
		        strrchr(argv[i], '/') != NULL ? strrchr(argv[i], '/') + 1 : argv[i];
		struct said whole = say(argv[i], SIZE_MAX, false);

		for (size_t k = 0; k < sizeof(lengths) / sizeof(lengths[0]); k++) {
			struct said parts = say(argv[i], lengths[k], k == 1);

			char what[256];

			(void)snprintf(what, sizeof(what),
			        "%s: epochs of %zu records answer as one", name, lengths[k]);
			ok(same(&whole, &parts) && whole.samples != 0 && !whole.failed, what);
			if (!same(&whole, &parts)) {
				printf("# whole %d %llu %llu %llu %zu %zu %zu\n# parts %d %llu "
				       "%llu "
				       "%llu %zu %zu %zu\n",
				        whole.failed, (unsigned long long)whole.samples,
				        (unsigned long long)whole.frames,
				        (unsigned long long)whole.named, whole.processes,
				        whole.threads, whole.mappings, parts.failed,
				        (unsigned long long)parts.samples,
				        (unsigned long long)parts.frames,
				        (unsigned long long)parts.named, parts.processes,
				        parts.threads, parts.mappings);
			}
		}
	}
	return tap_done();
}
