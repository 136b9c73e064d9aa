/* SPDX-License-Identifier: MIT */
/* The state of the running system as records, in the order in which perf writes them. */
#include "abi/abi.h"
#include "capture/capture.h"
#include "image/image.h"
#include "proc/proc.h"
#include "record/feature_write.h"
#include "record/record.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SYNTH_BYTES ((size_t)1 << 20) /* what is gathered before it is written */
#define SPARE_FILES 8u /* descriptors: more than reading of /proc has open at once */

size_t capture_record_begin(struct text *t, uint32_t type, uint16_t misc)
{
	const uint16_t rest[2] = {misc}; /* and the size, which the end tells */
	size_t at = t->n;

	feature_put_u32(t, type);
	text_bytes(t, (const char *)rest, sizeof(rest));
	return at;
}

void capture_record_end_plain(struct text *t, size_t at)
{
	uint16_t size;

	if (t->failed) {
		return;
	}
	text_fill(t, '\0', (8 - (t->n - at) % 8) % 8);
	size = (uint16_t)(t->n - at);
	if (!t->failed) {
		memcpy(t->p + at + 6, &size, sizeof(size));
	}
}

/* The bytes of sample_id behind a record; zeros but for the id. */
static void put_trailer(struct text *t, const struct sonde_attr *attr, uint64_t id)
{
	static const uint64_t order[] = {SONDE_SAMPLE_TID, SONDE_SAMPLE_TIME, SONDE_SAMPLE_ID,
	        SONDE_SAMPLE_STREAM_ID, SONDE_SAMPLE_CPU, SONDE_SAMPLE_IDENTIFIER};
	size_t i;

	for (i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		if ((attr->sample_type & order[i]) != 0) {
			feature_put_u64(t,
			        (order[i] & (SONDE_SAMPLE_ID | SONDE_SAMPLE_IDENTIFIER)) ? id : 0);
		}
	}
}

void capture_record_end(const struct sonde_record *r, struct text *t, size_t at)
{
	text_fill(t, '\0', (8 - (t->n - at) % 8) % 8);
	put_trailer(t, &r->events.v[0].attr, 0);
	capture_record_end_plain(t, at);
}

static void put_id_index(const struct sonde_record *r, struct text *t)
{
	size_t e, i, k = 0, at = capture_record_begin(t, RECORD_ID_INDEX, 0);
	uint64_t nr = 0;

	for (e = 0; e < r->events.n; e++) {
		nr += r->opened[e].nids;
	}
	if (nr * 32 + 16 > UINT16_MAX) { /* perf leaves it out too when it cannot be one record */
		t->n = at;
		return;
	}
	feature_put_u64(t, nr);
	for (e = 0; e < r->events.n; e++) {
		for (i = 0, k = 0; i < r->ncpus * r->tasks.nthreads; i++) {
			if (r->opened[e].fds[i] < 0) {
				continue;
			}
			feature_put_u64(t, r->opened[e].ids[k++]);
			feature_put_u64(t, capture_ring_of(r, i));
			feature_put_u64(t, (uint64_t)r->cpus[i / r->tasks.nthreads]);
			feature_put_u64(t, (uint64_t)r->tasks.threads[i % r->tasks.nthreads]);
		}
	}
	capture_record_end_plain(t, at);
}

void capture_build_id_put(struct text *t, const uint8_t *id, int n)
{
	text_char(t, (char)n);
	text_fill(t, '\0', 3);
	text_bytes(t, (const char *)id, (size_t)n);
	text_fill(t, '\0', 20 - (size_t)n);
}

struct kernel_map {
	uint64_t start, size, pgoff;
};

/* n: size of the build id; 0: none, and the short form of the record. */
static void put_kernel_map(const struct sonde_record *r, struct text *t, const char *name,
        struct kernel_map m, const uint8_t *id, int n)
{
	size_t at = capture_record_begin(t, n > 0 ? RECORD_MMAP2 : RECORD_MMAP,
	        n > 0 ? MISC_KERNEL | MISC_MMAP_BUILD_ID : MISC_KERNEL);

	feature_put_u32(t, UINT32_MAX);
	feature_put_u32(t, 0);
	feature_put_u64(t, m.start);
	feature_put_u64(t, m.size);
	feature_put_u64(t, m.pgoff);
	if (n > 0) {
		capture_build_id_put(t, id, n);
		feature_put_u64(t, 0); /* protection and flags */
	}
	text_bytes(t, name, strlen(name) + 1);
	capture_record_end(r, t, at);
}

static void put_kernel(const struct sonde_record *r, struct text *t)
{
	uint8_t id[IMAGE_BUILD_ID_MAX] = {0};
	struct proc_kernel kernel;
	bool wanted = false;
	char name[64];
	size_t i;
	int n;

	for (i = 0; i < r->events.n; i++) {
		wanted |= !r->events.v[i].tracking &&
		          !sonde_attr_has(&r->events.v[i].attr, SONDE_FLAG_EXCLUDE_KERNEL);
	}
	if (!wanted || !proc_kernel_text(r->root_fd, &kernel)) {
		return;
	}
	(void)snprintf(name, sizeof(name), "[kernel.kallsyms]%s", kernel.name);
	n = r->options.mapping_build_ids ? image_build_id_of_kernel(id) : 0;
	put_kernel_map(r, t, name,
	        (struct kernel_map){kernel.start, kernel.end - kernel.start, kernel.start}, id, n);
}

/* A line of /proc/modules: NAME SIZE USES DEPENDENTS STATE 0xADDRESS */
static void put_modules(const struct sonde_record *r, struct text *t)
{
	unsigned long long size, addr;
	char line[1024], name[128], path[512];
	uint8_t id[IMAGE_BUILD_ID_MAX] = {0};
	FILE *f = proc_open_stream(r->root_fd, "proc/modules");
	int n;

	while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
		if (sscanf(line, "%127s %llu %*s %*s %*s %llx", name, &size, &addr) != 3 ||
		        addr == 0) {
			continue;
		}
		(void)snprintf(path, sizeof(path), "[%s]", name);
		n = r->options.mapping_build_ids ? image_build_id_of_module(name, id) : 0;
		put_kernel_map(r, t, path, (struct kernel_map){addr, size, 0}, id, n);
	}
	if (f != NULL) {
		(void)fclose(f);
	}
}

static void put_update(struct text *t, uint64_t type, uint64_t id, const void *data, size_t n)
{
	size_t at = capture_record_begin(t, RECORD_EVENT_UPDATE, 0);

	feature_put_u64(t, type);
	feature_put_u64(t, id);
	text_bytes(t, data, n);
	text_fill(t, '\0', 24 - n); /* perf leaves this room */
	capture_record_end_plain(t, at);
}

static void put_updates(const struct sonde_record *r, struct text *t)
{
	const double scale = 1e-6; /* ns to msec */
	size_t i;

	for (i = 0; i < r->events.n; i++) {
		if (r->events.v[i].clock && r->opened[i].nids > 0) {
			put_update(t, 0, r->opened[i].ids[0], "msec", 5);
			put_update(t, 1, r->opened[i].ids[0], &scale, sizeof(scale));
		} else if (r->events.v[i].tool != EVENT_TOOL_NONE && r->opened[i].nids > 0) {
			put_update(t, 0, r->opened[i].ids[0], "ns", 3);
		}
	}
}

static void put_threads(const struct sonde_record *r, struct text *t)
{
	size_t i, at = capture_record_begin(t, RECORD_THREAD_MAP, 0);

	if (r->tasks.nthreads * 24 + 16 > UINT16_MAX) {
		t->n = at;
		return;
	}
	feature_put_u64(t, r->tasks.nthreads);
	for (i = 0; i < r->tasks.nthreads; i++) {
		feature_put_u64(t, (uint64_t)r->tasks.threads[i]);
		text_fill(t, '\0', 16);
	}
	capture_record_end_plain(t, at);
}

static void put_cpus(const struct sonde_record *r, struct text *t)
{
	size_t i, at = capture_record_begin(t, RECORD_CPU_MAP, 0);
	bool range =
	        r->cpus[0] >= 0 && (size_t)(r->cpus[r->ncpus - 1] - r->cpus[0]) + 1 == r->ncpus;
	uint16_t v[4] = {2, 0, (uint16_t)r->cpus[0], (uint16_t)r->cpus[r->ncpus - 1]};
	uint16_t cpu;

	if (!range) {
		v[0] = 0;
		v[1] = (uint16_t)r->ncpus;
	}
	text_bytes(t, (const char *)v, range ? 8 : 4);
	for (i = 0; !range && i < r->ncpus; i++) {
		cpu = (uint16_t)r->cpus[i];
		text_bytes(t, (const char *)&cpu, sizeof(cpu));
	}
	capture_record_end_plain(t, at);
}

static int write_text(struct sonde_record *r, struct text *t)
{
	struct iovec iov = {.iov_base = t->p, .iov_len = t->n};
	int rc = t->failed ? error_nomem(&r->error) : capture_output_put(r, &iov, 1);

	text_fini(t);
	return rc;
}

static int synth_all(struct sonde_record *r, struct text *t, size_t *cut)
{
	pid_t *pids = NULL;
	size_t i, n = 0;
	int rc = 0;

	(void)proc_list_numbers(r->root_fd, "proc", &pids, &n);
	if (r->options.synth_threads > 1) {
		rc = capture_synth_threads(r, pids, n, t, cut);
		n = 0;
	}
	for (i = 0; rc >= 0 && i < n; i++) {
		*cut += capture_synth_task(r, pids[i], true, t) > 0;
		rc = t->n > SYNTH_BYTES ? write_text(r, t) : 0;
	}
	free(pids);
	return rc;
}

/* What cannot be opened in /proc is taken for a task that has ended: there must be room for it. */
static int check_files(struct sonde_record *r)
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

int capture_synth(struct sonde_record *r)
{
	struct text t = {0};
	size_t i, cut = 0;

	TRY(check_files(r));
	capture_aux_put_time(r, &t);
	put_id_index(r, &t);
	capture_aux_put_info(r, &t);
	put_kernel(r, &t);
	put_modules(r, &t);
	capture_bpf_synth(r, &t);
	put_updates(r, &t);
	put_threads(r, &t);
	put_cpus(r, &t);
	capture_synth_cgroups(r, &t);
	if (r->targets == CAPTURE_ALL) {
		TRY(synth_all(r, &t, &cut));
	}
	for (i = 0; i < r->tasks.npids; i++) {
		cut += capture_synth_task(r, r->tasks.pids[i], false, &t) > 0;
	}
	for (i = 0; i < r->tasks.nowners; i++) {
		cut += capture_synth_task(r, r->tasks.owners[i], false, &t) > 0;
	}
	if (r->workload.pid > 0 && r->targets == CAPTURE_WORKLOAD) {
		cut += capture_synth_workload(r, &t);
	}
	if (cut > 0) {
		capture_say(r, SONDE_RECORD_WARNING,
		        "reading their mappings took longer than %llu ms for %zu of the processes: "
		        "the "
		        "last ones are missing; --proc-map-timeout gives more time",
		        (unsigned long long)capture_maps_limit(r), cut);
	}
	capture_record_end_plain(&t, capture_record_begin(&t, RECORD_FINISHED_INIT, 0));
	return write_text(r, &t);
}

/* The samples that an event lost, of the values of its group. */
static uint64_t read_lost(
        const struct sonde_record *r, const struct event *event, int fd, uint64_t id)
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

int capture_lost(struct sonde_record *r)
{
	struct text t = {0};
	uint64_t lost, id;
	size_t e, i, k, at;

	for (e = 0; e < r->events.n; e++) {
		if ((r->events.v[e].attr.read_format & SONDE_READ_LOST) == 0) {
			continue;
		}
		for (i = 0, k = 0; i < r->ncpus * r->tasks.nthreads; i++) {
			if (r->opened[e].fds[i] < 0) {
				continue;
			}
			id = r->opened[e].ids[k++];
			lost = read_lost(r, &r->events.v[e], r->opened[e].fds[i], id);
			if (lost == 0) {
				continue;
			}
			at = capture_record_begin(&t, RECORD_LOST_SAMPLES, 0);
			feature_put_u64(&t, lost);
			put_trailer(&t, &r->events.v[e].attr, id);
			capture_record_end_plain(&t, at);
		}
	}
	return t.n > 0 ? write_text(r, &t) : 0;
}
