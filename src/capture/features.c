/* SPDX-License-Identifier: MIT */
/* The header features of a recording: the machine's, and those that only the recorder knows. */
#include "abi/abi.h"
#include "capture/recorder.h"
#include "host/description.h"
#include "record/feature_write.h"

#include <stdlib.h>
#include <time.h>

static bool put_clock(const struct sonde_recorder *r, unsigned bit, struct text *t)
{
	struct timespec res = {0};

	if (!r->options.events.use_clock) {
		return false;
	}
	if (bit == FEATURE_CLOCKID) {
		(void)clock_getres(r->options.events.clockid, &res);
		feature_put_u64(t, (uint64_t)res.tv_nsec + (uint64_t)res.tv_sec * 1000000000u);
		return true;
	}
	feature_put_u32(t, 1);
	feature_put_u32(t, (uint32_t)r->options.events.clockid);
	feature_put_u64(t, r->clock_wall_ns);
	feature_put_u64(t, r->clock_ns);
	return true;
}

/* version, type (1: zstd), level, ratio, most bytes that a record inflates to */
static bool put_compressed(const struct sonde_recorder *r, struct text *t)
{
	const struct sonde_recorder_result *res = &r->result;

	feature_put_u32(t, 1);
	feature_put_u32(t, 1);
	feature_put_u32(t, (uint32_t)r->options.output.compress);
	feature_put_u32(t, res->packed > 0 ? (uint32_t)(res->unpacked / res->packed) : 0);
	feature_put_u32(t, PACKER_INFLATED_MAX);
	return r->options.output.compress != 0;
}

/* Features that only the recorder knows; *known is false for others. */
static bool put_own(const struct sonde_recorder *r, const struct capture_scan *scan, unsigned bit,
        struct text *t, bool *known)
{
	*known = true;
	switch (bit) {
	case FEATURE_BUILD_ID:
		text_bytes(t, scan->build_ids.p, scan->build_ids.n);
		t->failed |= scan->build_ids.failed;
		return scan->build_ids.n > 0;
	case FEATURE_AUXTRACE:
		return capture_aux_put_index(
		        &r->rings.aux, r->output.writer.data_at + r->output.writer.data_size, t);
	case FEATURE_CLOCKID:
	case FEATURE_CLOCK_DATA: return put_clock(r, bit, t);
	case FEATURE_DIR_FORMAT:
		feature_put_u64(t, r->streams.v != NULL ? 1 : 0);
		return r->output.directory;
	case FEATURE_COMPRESSED: return put_compressed(r, t);
	default: *known = false; return false;
	}
}

/*
 * Whether the times of samples are recorded: not if perf does not read the samples for build ids,
 * unless requested.
 */
static bool says_times(const struct sonde_recorder_options *o)
{
	return o->build_ids.sample_times ||
	       (!o->build_ids.none && !o->build_ids.all && !o->build_ids.in_mappings);
}

void capture_features_free(struct file_writer_feature *features, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		text_fini(&features[i].bytes);
	}
}

int capture_features(struct sonde_recorder *r, const struct capture_scan *scan,
        struct file_writer_feature out[CAPTURE_FEATURES_MAX], size_t *count)
{
	struct capture_events events;
	int rc = capture_events_make(&events, r, capture_output_copies(r));
	const struct host_description machine = {.root = r->root_fd,
	        .cpus = r->rings.cpus,
	        .ncpus = r->rings.ncpus,
	        .events = &events.list,
	        .ids = events.ids,
	        .command_line = r->options.output.command_line,
	        .bpf = &r->bpf.known,
	        .first = says_times(&r->options) ? scan->first : 0,
	        .last = says_times(&r->options) ? scan->last : 0};
	bool known, good, failed = rc < 0;
	struct text t;
	size_t n = 0;
	unsigned bit;

	for (bit = 1; rc >= 0 && bit < FEATURE_LAST && n < CAPTURE_FEATURES_MAX; bit++) {
		t = (struct text){0};
		good = put_own(r, scan, bit, &t, &known);
		good = known ? good : host_feature_put(&machine, bit, &t);
		failed |= t.failed;
		if (good && !t.failed) {
			out[n++] = (struct file_writer_feature){.bit = bit, .bytes = t};
		} else {
			text_fini(&t);
		}
	}
	capture_events_fini(&events);
	if (failed) {
		capture_features_free(out, n);
		return error_nomem(&r->error);
	}
	*count = n;
	return 0;
}
