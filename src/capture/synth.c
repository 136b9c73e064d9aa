/* SPDX-License-Identifier: MIT */
/* Records of the running system's state, in perf's order. */
#include "abi/abi.h"
#include "capture/recorder.h"
#include "proc/proc.h"
#include "record/feature_write.h"
#include "record/record.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MAPS_LIMIT_MS 500 /* as in perf-record(1) */
#define SYNTH_BYTES   ((size_t)1 << 20) /* bytes that are gathered before writing */
#define SPARE_FILES   8u /* descriptors: more than reading /proc has open at once */

static void put_id_index(const struct sonde_recorder *r, struct text *t)
{
	size_t e, i, k = 0, at = host_record_begin(t, RECORD_ID_INDEX, 0);
	uint64_t nr = 0;

	for (e = 0; e < r->plan.events.n; e++) {
		nr += r->rings.opened[e].nids;
	}
	if (nr * 32 + 16 > UINT16_MAX) { /* too large for one record: perf omits it too */
		t->n = at;
		return;
	}
	feature_put_u64(t, nr);
	for (e = 0; e < r->plan.events.n; e++) {
		for (i = 0, k = 0; i < capture_cells(&r->rings); i++) {
			if (r->rings.opened[e].fds[i] < 0) {
				continue;
			}
			feature_put_u64(t, r->rings.opened[e].ids[k++]);
			feature_put_u64(t, capture_ring_of(&r->rings, i));
			feature_put_u64(t, (uint64_t)r->rings.cpus[i / r->rings.tasks.nthreads]);
			feature_put_u64(
			        t, (uint64_t)r->rings.tasks.threads[i % r->rings.tasks.nthreads]);
		}
	}
	host_record_end(t, at, NULL, 0);
}

static bool records_kernel(const struct sonde_recorder *r)
{
	size_t i;

	for (i = 0; i < r->plan.events.n; i++) {
		if (!r->plan.events.v[i].tracking &&
		        !sonde_attr_has(&r->plan.events.v[i].attr, SONDE_FLAG_EXCLUDE_KERNEL)) {
			return true;
		}
	}
	return false;
}

static void put_update(struct text *t, uint64_t type, uint64_t id, const void *data, size_t n)
{
	size_t at = host_record_begin(t, RECORD_EVENT_UPDATE, 0);

	feature_put_u64(t, type);
	feature_put_u64(t, id);
	text_bytes(t, data, n);
	text_fill(t, '\0', 24 - n); /* perf leaves this space */
	host_record_end(t, at, NULL, 0);
}

static void put_updates(const struct sonde_recorder *r, struct text *t)
{
	const double scale = 1e-6; /* ns to msec */
	size_t i;

	for (i = 0; i < r->plan.events.n; i++) {
		if (r->plan.events.v[i].clock && r->rings.opened[i].nids > 0) {
			put_update(t, 0, r->rings.opened[i].ids[0], "msec", 5);
			put_update(t, 1, r->rings.opened[i].ids[0], &scale, sizeof(scale));
		} else if (r->plan.events.v[i].tool != EVENT_TOOL_NONE &&
		           r->rings.opened[i].nids > 0) {
			put_update(t, 0, r->rings.opened[i].ids[0], "ns", 3);
		}
	}
}

static void put_threads(const struct sonde_recorder *r, struct text *t)
{
	size_t i, at = host_record_begin(t, RECORD_THREAD_MAP, 0);

	if (r->rings.tasks.nthreads * 24 + 16 > UINT16_MAX) {
		t->n = at;
		return;
	}
	feature_put_u64(t, r->rings.tasks.nthreads);
	for (i = 0; i < r->rings.tasks.nthreads; i++) {
		feature_put_u64(t, (uint64_t)r->rings.tasks.threads[i]);
		text_fill(t, '\0', 16);
	}
	host_record_end(t, at, NULL, 0);
}

static void put_cpus(const struct sonde_recorder *r, struct text *t)
{
	size_t i, at = host_record_begin(t, RECORD_CPU_MAP, 0);
	bool range = r->rings.cpus[0] >= 0 &&
	             (size_t)(r->rings.cpus[r->rings.ncpus - 1] - r->rings.cpus[0]) + 1 ==
	                     r->rings.ncpus;
	uint16_t v[4] = {
	        2, 0, (uint16_t)r->rings.cpus[0], (uint16_t)r->rings.cpus[r->rings.ncpus - 1]};
	uint16_t cpu;

	if (!range) {
		v[0] = 0;
		v[1] = (uint16_t)r->rings.ncpus;
	}
	text_bytes(t, (const char *)v, range ? 8 : 4);
	for (i = 0; !range && i < r->rings.ncpus; i++) {
		cpu = (uint16_t)r->rings.cpus[i];
		text_bytes(t, (const char *)&cpu, sizeof(cpu));
	}
	host_record_end(t, at, NULL, 0);
}

static int write_text(struct sonde_recorder *r, struct text *t)
{
	struct iovec iov = {.iov_base = t->p, .iov_len = t->n};
	int rc = t->failed ? error_nomem(&r->error)
	                   : capture_lane_other(&r->output.lane, &iov, 1, &r->error);

	text_fini(t);
	return rc;
}

static int synth_all(
        struct sonde_recorder *r, const struct host_synth *synth, struct text *t, size_t *cut)
{
	pid_t *pids = NULL;
	size_t i, n = 0;
	int rc = 0;

	(void)proc_list_numbers(r->root_fd, "proc", &pids, &n);
	if (synth->threads > 1) {
		rc = host_synth_tasks(synth, pids, n, t, cut, &r->error);
		n = 0;
	}
	for (i = 0; rc >= 0 && i < n; i++) {
		*cut += host_synth_task(synth, pids[i], true, t) > 0;
		rc = t->n > SYNTH_BYTES ? write_text(r, t) : 0;
	}
	free(pids);
	return rc;
}

/*
 * A file in /proc that cannot be opened counts as an ended task: so there must be enough
 * descriptors.
 */
static int check_files(struct sonde_recorder *r)
{
	int fds[SPARE_FILES];
	size_t i, n = 0;

	while (n < SPARE_FILES && (fds[n] = fcntl(r->root_fd, F_DUPFD_CLOEXEC, 0)) >= 0) {
		n++;
	}
	for (i = 0; i < n; i++) {
		(void)close(fds[i]);
	}
	return n == SPARE_FILES ? 0
	                        : error_set(&r->error, SONDE_ELIMIT, NO_OFFSET,
	                                  "too many open files to read /proc: raise the limit with "
	                                  "'ulimit -n'");
}

int capture_synth_plan(struct sonde_recorder *r)
{
	const struct sonde_recorder_options *o = &r->options;

	TRY(host_synth_choose(&r->synth, o->side_band.synthesis, &r->error));
	r->synth.cgroups &= o->side_band.cgroups;
	r->synth.namespaces = o->side_band.namespaces;
	r->synth.data_maps = o->samples.addresses || r->plan.content.chain == CAPTURE_CHAIN_DWARF;
	r->synth.build_ids = o->build_ids.in_mappings;
	r->synth.threads = o->side_band.synth_threads;
	r->synth.maps_limit_ms =
	        o->side_band.maps_limit_ms != 0 ? o->side_band.maps_limit_ms : MAPS_LIMIT_MS;
	return 0;
}

int capture_synth(struct sonde_recorder *r)
{
	struct host_synth synth = r->synth;
	struct text t = {0};
	size_t i, cut = 0;

	TRY(check_files(r));
	synth.root = r->root_fd;
	synth.attr = &r->plan.events.v[0].attr;
	capture_aux_put_time(&r->rings, &t);
	put_id_index(r, &t);
	capture_aux_put_info(&r->rings, &t);
	if (records_kernel(r)) {
		host_synth_kernel(&synth, &t);
	}
	host_synth_modules(&synth, &t);
	if (r->watches_bpf) {
		host_bpf_synth(&r->bpf.known, synth.attr, &t);
	}
	put_updates(r, &t);
	put_threads(r, &t);
	put_cpus(r, &t);
	host_synth_cgroups(&synth, &t);
	if (r->plan.targets == CAPTURE_ALL) {
		TRY(synth_all(r, &synth, &t, &cut));
	}
	for (i = 0; i < r->rings.tasks.npids; i++) {
		cut += host_synth_task(&synth, r->rings.tasks.pids[i], false, &t) > 0;
	}
	for (i = 0; i < r->rings.tasks.nowners; i++) {
		cut += host_synth_task(&synth, r->rings.tasks.owners[i], false, &t) > 0;
	}
	if (r->workload.pid > 0 && r->plan.targets == CAPTURE_WORKLOAD) {
		if (r->workload.go_fd >= 0) {
			host_synth_waiting(&synth, r->workload.pid, &t);
		} else {
			cut += host_synth_workload(&synth, r->workload.pid, &t);
		}
	}
	if (cut > 0) {
		capture_say(&r->log, SONDE_RECORDER_WARNING,
		        "reading their mappings took longer than %llu ms for %zu of the processes: "
		        "the "
		        "last ones are missing; --proc-map-timeout gives more time",
		        (unsigned long long)synth.maps_limit_ms, cut);
	}
	host_record_end(&t, host_record_begin(&t, RECORD_FINISHED_INIT, 0), NULL, 0);
	return write_text(r, &t);
}

/* Reads the number of samples that an event lost, from the values of its group. */
static uint64_t read_lost(
        const struct sonde_recorder *r, const struct event *event, int fd, uint64_t id)
{
	uint64_t words[3 + 3 * 64];
	ssize_t got = r->kernel->read(fd, words, sizeof(words));
	struct sonde_record_read_value v;
	struct record_counts counts;

	if (got <= 0 || !record_counts_read(event->attr.read_format,
	                        (struct span){(const uint8_t *)words, (size_t)got}, &counts)) {
		return 0;
	}
	while (record_counts_next(&counts, &v)) {
		if (v.id == id) {
			return v.lost;
		}
	}
	return 0;
}

int capture_lost(struct sonde_recorder *r)
{
	struct text t = {0};
	uint64_t lost, id;
	size_t e, i, k, at;

	for (e = 0; e < r->plan.events.n; e++) {
		if ((r->plan.events.v[e].attr.read_format & SONDE_READ_LOST) == 0) {
			continue;
		}
		for (i = 0, k = 0; i < capture_cells(&r->rings); i++) {
			if (r->rings.opened[e].fds[i] < 0) {
				continue;
			}
			id = r->rings.opened[e].ids[k++];
			lost = read_lost(r, &r->plan.events.v[e], r->rings.opened[e].fds[i], id);
			if (lost == 0) {
				continue;
			}
			at = host_record_begin(&t, RECORD_LOST_SAMPLES, 0);
			feature_put_u64(&t, lost);
			host_record_end(&t, at, &r->plan.events.v[e].attr, id);
		}
	}
	return t.n > 0 ? write_text(r, &t) : 0;
}
