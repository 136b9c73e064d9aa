/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "abi/abi.h"
#include "capture/recorder.h"
#include "host/cache.h"
#include "host/kcore.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* ---- begin ---- */

static int start_writer(struct sonde_recorder *r)
{
	struct file_writer_event *list = NULL;
	struct capture_events events;
	size_t i;
	int rc = capture_events_make(&events, r, true);

	list = rc >= 0 ? calloc(events.list.n, sizeof(*list)) : NULL;
	if (list == NULL) {
		capture_events_fini(&events);
		return error_nomem(&r->error);
	}
	for (i = 0; i < events.list.n; i++) {
		list[i] = (struct file_writer_event){.attr = &events.list.v[i].attr,
		        .ids = events.ids[i].v,
		        .nids = events.ids[i].n};
	}
	r->output.writer =
	        (struct file_writer){.fd = r->output.fd, .stream = r->output.pipe, .marks = true};
	rc = file_writer_start(&r->output.writer, list, events.list.n, &r->error);
	free(list);
	capture_events_fini(&events);
	return rc;
}

/* Removes the events of copied stacks from the attrs of a file without such a sample. */
static void forget_copies(struct sonde_recorder *r)
{
	struct file_writer *w = &r->output.writer;

	if (r->output.chains != NULL && !capture_output_copies(r)) {
		w->attrs_size = r->plan.events.n * w->entry_size;
	}
}

bool capture_output_copies(const struct sonde_recorder *r)
{
	return r->output.pipe ||
	       (r->output.chains != NULL &&
	               capture_chains_count(r->output.chains).copies != r->output.copies);
}

/*
 * The features of a stream come first. The times of samples are not known yet; BRANCH_STACK has no
 * bytes, as the end of the features.
 */
static int start_stream(struct sonde_recorder *r)
{
	struct file_writer_feature features[CAPTURE_FEATURES_MAX];
	struct capture_scan nothing = {0};
	size_t i, n, kept = 0;
	int rc;

	TRY(capture_features(r, &nothing, features, &n));
	for (i = 0; i < n; i++) {
		if (features[i].bit == FEATURE_BRANCH_STACK ||
		        features[i].bit == FEATURE_SAMPLE_TIME) {
			text_fini(&features[i].bytes);
		} else {
			features[kept++] = features[i];
		}
	}
	rc = file_writer_stream_features(&r->output.writer, features, kept, &r->error);
	capture_features_free(features, kept);
	return rc;
}

/* Number of blocks that may wait for a worker that compresses or only writes; 0: no worker. */
static unsigned worker_blocks(const struct sonde_recorder *r)
{
	const struct sonde_recorder_options *o = &r->options;

	if (r->streams.v != NULL || (o->output.compress == 0 && !o->output.async)) {
		return 0;
	}
	if (!o->output.async) {
		return LANE_BLOCKS_MAX;
	}
	return o->output.async_blocks == 0                ? 1
	       : o->output.async_blocks < LANE_BLOCKS_MAX ? o->output.async_blocks
	                                                  : LANE_BLOCKS_MAX;
}

static int begin(struct sonde_recorder *r)
{
	struct capture_output *o = &r->output;
	struct capture_lane *lane = &o->lane;

	if (!o->pipe) {
		TRY(capture_output_open(o, &r->error));
		if (r->options.output.kcore) {
			TRY(host_kcore_copy(r->root_fd, o->name, &r->error));
		}
	}
	o->began_ns = host_now_ns(CLOCK_MONOTONIC);
	r->rings.aux.index.n = 0;
	TRY(start_writer(r));
	if (o->pipe) {
		TRY(start_stream(r));
	}
	if (o->chains != NULL) {
		o->copies = capture_chains_count(o->chains).copies;
		o->lane = (struct capture_lane){.writer = &o->writer, .chains = o->chains};
		lane = capture_chains_lane(o->chains);
	}
	return capture_lane_open(lane, &r->output.writer,
	        r->streams.v == NULL ? r->options.output.compress : 0, worker_blocks(r), &r->error);
}

int capture_output_start(struct sonde_recorder *r)
{
	struct capture_output *o = &r->output;

	o->fd = -1;
	o->pipe = strcmp(r->output.name, "-") == 0;
	if (o->pipe) {
		o->fd = STDOUT_FILENO;
		r->options.output.timestamps = false;
	}
	TRY(capture_events_unwind(r));
	o->directory = r->options.output.threads != NULL || r->options.output.kcore;
	return begin(r);
}

/* ---- end ---- */

typedef int write_features_fn(struct file_writer *w, const struct file_writer_feature *features,
        size_t n, struct error *err);

static int write_features(
        struct sonde_recorder *r, const struct capture_scan *scan, write_features_fn *write)
{
	struct file_writer_feature features[CAPTURE_FEATURES_MAX];
	size_t n;
	int rc;

	TRY(capture_features(r, scan, features, &n));
	rc = write(&r->output.writer, features, n, &r->error);
	capture_features_free(features, n);
	return rc;
}

static int read_back(struct sonde_recorder *r, struct capture_scan *scan)
{
	const struct file_writer *w = &r->output.writer;
	const struct capture_scan_options options = {.name = r->output.name,
	        .whole = r->options.output.compress != 0 || r->streams.v != NULL,
	        .fd = r->output.fd,
	        .size = w->data_at + w->data_size,
	        .build_ids = !r->options.build_ids.none,
	        .all = r->plan.aux.pmu != NULL || r->options.build_ids.all,
	        .stop = &r->stop};

	return capture_scan(scan, &options) < 0 ? error_nomem(&r->error) : 0;
}

static bool stopped(void *stop)
{
	return host_stopped_twice(stop);
}

static void fill_cache(struct sonde_recorder *r, const struct text *build_ids)
{
	const char *path = r->options.build_ids.cache;
	const struct span entries = {(const uint8_t *)build_ids->p, build_ids->n};

	if (path != NULL && entries.n != 0 && !build_ids->failed &&
	        !host_cache_fill(path, r->root_fd, entries, stopped, &r->stop) && r->stop.n < 2) {
		capture_say(&r->log, SONDE_RECORDER_WARNING,
		        "the build-id cache %s was not filled: %s; -N records without it", path,
		        strerror(errno));
	}
}

int capture_output_finish(struct sonde_recorder *r, bool quick)
{
	struct capture_output *o = &r->output;
	struct capture_scan scan = {0};
	int rc;

	TRY(capture_lane_drain(&o->lane, &r->error));
	capture_lane_counts(&o->lane, &r->result.unpacked, &r->result.packed);
	r->result.bytes = r->output.writer.data_size;
	if (o->chains != NULL) {
		r->result.unwound = capture_chains_count(o->chains).unwound;
		r->result.copies = capture_chains_count(o->chains).copies;
	}
	if (o->pipe) {
		return file_writer_finish(&r->output.writer, NULL, 0, &r->error);
	}
	TRY(capture_streams_finish(&r->streams, &r->result));
	if (!quick && (r->options.output.compress != 0 || o->directory)) {
		TRY(write_features(r, &scan, file_writer_describe)); /* so that it can be opened */
	}
	if (!quick) {
		TRY(read_back(r, &scan));
	}
	forget_copies(r);
	rc = write_features(r, &scan, file_writer_finish);
	if (rc >= 0) {
		fill_cache(r, &scan.build_ids);
	}
	text_fini(&scan.build_ids);
	TRY(rc);
	r->result.samples += scan.samples;
	r->result.lost += scan.lost;
	r->result.trace_pieces += scan.aux_records;
	r->result.trace_lost += scan.aux_truncated;
	r->result.trace_gaps += scan.aux_gaps;
	o->done += r->output.writer.data_size;
	if (r->options.output.timestamps && !o->directory) {
		return capture_output_stamp(o, &r->log, &r->error);
	}
	return 0;
}

/* A directory can be read from the start: its features describe its files. */
int capture_output_describe(struct sonde_recorder *r)
{
	struct capture_scan nothing = {0};

	if (!r->output.directory) {
		return 0;
	}
	TRY(capture_lane_drain(&r->output.lane, &r->error));
	return write_features(r, &nothing, file_writer_describe);
}

void capture_output_salvage(struct sonde_recorder *r)
{
	struct capture_output *o = &r->output;
	struct capture_scan nothing = {0};
	struct error kept;
	int rc;

	if (o->fd < 0 || o->pipe || o->lane.writer == NULL) {
		return;
	}
	(void)error_take(&kept, error_show(&r->error));
	capture_lane_close(&o->lane); /* the worker's remaining data would not fit either */
	capture_streams_salvage(&r->streams, &r->result);
	rc = file_writer_trim(&r->output.writer, false, &r->error);
	forget_copies(r);
	if (rc >= 0 && write_features(r, &nothing, file_writer_finish) < 0) {
		/* what is compressed cannot be read without them */
		rc = file_writer_trim(
		        &r->output.writer, r->options.output.compress != 0, &r->error);
		if (rc < 0 || r->options.output.compress == 0 ||
		        write_features(r, &nothing, file_writer_finish) < 0) {
			(void)file_writer_trim(&r->output.writer, false, &r->error);
		}
	}
	r->result.bytes = r->output.writer.data_size;
	(void)error_take(&r->error, error_show(&kept));
}

/* ---- switching ---- */

int capture_output_switch(struct sonde_recorder *r)
{
	struct capture_output *o = &r->output;

	capture_say(&r->log, SONDE_RECORDER_NOTICE, "dump data: Woken up %llu times",
	        (unsigned long long)(r->result.wakeups - o->rounds));
	o->rounds = r->result.wakeups;
	if (r->tail_synthesis) {
		TRY(capture_synth(r));
	}
	TRY(capture_output_finish(r, r->options.build_ids.none));
	capture_lane_close(&o->lane);
	(void)close(o->fd);
	o->fd = -1;
	TRY(begin(r));
	return r->tail_synthesis ? 0 : capture_synth(r);
}

int capture_output_timeout(const struct sonde_recorder *r)
{
	uint64_t age;

	if (r->options.switching.ns == 0) {
		return -1;
	}
	age = host_now_ns(CLOCK_MONOTONIC) - r->output.began_ns;
	return age >= r->options.switching.ns ? 0 : host_timeout(r->options.switching.ns - age);
}

int capture_output_due(struct sonde_recorder *r)
{
	const struct sonde_recorder_options *o = &r->options;
	uint64_t written;

	if (o->output.max_bytes == 0 && o->switching.bytes == 0 && o->switching.ns == 0) {
		return 0;
	}
	written = capture_lane_written(&r->output.lane) + capture_streams_written(&r->streams);
	if (o->output.max_bytes != 0 && r->output.done + written >= o->output.max_bytes) {
		capture_say(&r->log, SONDE_RECORDER_NOTICE,
		        "perf size limit reached (%llu KB), stopping session",
		        (unsigned long long)(r->output.done + written) / 1024);
		return 2;
	}
	return (o->switching.bytes != 0 && written >= o->switching.bytes) ||
	       capture_output_timeout(r) == 0;
}
