/* SPDX-License-Identifier: MIT */
/* The state of the running system as records, in the order in which perf writes them. */
#include "abi/abi.h"
#include "capture/capture.h"
#include "proc/proc.h"
#include "record/feature_write.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

size_t capture_record_begin(struct text *t, uint32_t type, uint16_t misc)
{
	uint32_t head[2] = {type, misc};
	size_t at = t->n;

	text_bytes(t, (const char *)head, sizeof(head));
	return at;
}

static void record_end(struct text *t, size_t at)
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
	record_end(t, at);
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
		for (i = 0, k = 0; i < r->ncpus * r->nthreads; i++) {
			if (r->opened[e].fds[i] < 0) {
				continue;
			}
			feature_put_u64(t, r->opened[e].ids[k++]);
			feature_put_u64(t, capture_ring_of(r, i));
			feature_put_u64(t, (uint64_t)r->cpus[i / r->nthreads]);
			feature_put_u64(t, (uint64_t)r->threads[i % r->nthreads]);
		}
	}
	record_end(t, at);
}

static void put_kernel(const struct sonde_record *r, struct text *t)
{
	struct proc_kernel kernel;
	bool wanted = false;
	size_t i, at;

	for (i = 0; i < r->events.n; i++) {
		wanted |= !r->events.v[i].tracking &&
		          !sonde_attr_has(&r->events.v[i].attr, SONDE_FLAG_EXCLUDE_KERNEL);
	}
	if (!wanted || !proc_kernel_text(r->root_fd, &kernel)) {
		return;
	}
	at = capture_record_begin(t, RECORD_MMAP, MISC_KERNEL);
	feature_put_u32(t, UINT32_MAX);
	feature_put_u32(t, 0);
	feature_put_u64(t, kernel.start);
	feature_put_u64(t, kernel.end - kernel.start);
	feature_put_u64(t, kernel.start);
	text_str(t, "[kernel.kallsyms]");
	text_str(t, kernel.name);
	text_char(t, '\0');
	capture_record_end(r, t, at);
}

/* A line of /proc/modules: NAME SIZE USES DEPENDENTS STATE 0xADDRESS */
static void put_modules(const struct sonde_record *r, struct text *t)
{
	unsigned long long size, addr;
	char line[1024], name[128], path[512];
	FILE *f = proc_open_stream(r->root_fd, "proc/modules");
	size_t at;

	while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
		if (sscanf(line, "%127s %llu %*s %*s %*s %llx", name, &size, &addr) != 3 ||
		        addr == 0) {
			continue;
		}
		(void)snprintf(path, sizeof(path), "[%s]", name);
		at = capture_record_begin(t, RECORD_MMAP, MISC_KERNEL);
		feature_put_u32(t, UINT32_MAX);
		feature_put_u32(t, 0);
		feature_put_u64(t, addr);
		feature_put_u64(t, size);
		feature_put_u64(t, 0);
		text_bytes(t, path, strlen(path) + 1);
		capture_record_end(r, t, at);
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
	record_end(t, at);
}

static void put_updates(const struct sonde_record *r, struct text *t)
{
	const double scale = 1e-6; /* ns to msec */
	size_t i;

	for (i = 0; i < r->events.n; i++) {
		if (r->events.v[i].clock && r->opened[i].nids > 0) {
			put_update(t, 0, r->opened[i].ids[0], "msec", 5);
			put_update(t, 1, r->opened[i].ids[0], &scale, sizeof(scale));
		}
	}
}

static void put_threads(const struct sonde_record *r, struct text *t)
{
	size_t i, at = capture_record_begin(t, RECORD_THREAD_MAP, 0);

	if (r->nthreads * 24 + 16 > UINT16_MAX) {
		t->n = at;
		return;
	}
	feature_put_u64(t, r->nthreads);
	for (i = 0; i < r->nthreads; i++) {
		feature_put_u64(t, (uint64_t)r->threads[i]);
		text_fill(t, '\0', 16);
	}
	record_end(t, at);
}

static void put_cpus(const struct sonde_record *r, struct text *t)
{
	size_t i, at = capture_record_begin(t, RECORD_CPU_MAP, 0);
	bool range = (size_t)(r->cpus[r->ncpus - 1] - r->cpus[0]) + 1 == r->ncpus;
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
	record_end(t, at);
}

static void put_comm(
        const struct sonde_record *r, const struct proc_status *s, pid_t tid, struct text *t)
{
	size_t at = capture_record_begin(t, RECORD_COMM, 0);

	feature_put_u32(t, (uint32_t)s->pid);
	feature_put_u32(t, (uint32_t)tid);
	text_bytes(t, s->comm, strlen(s->comm) + 1);
	text_fill(t, '\0', (8 - (t->n - at) % 8) % 8);
	capture_record_end(r, t, at);
}

static void put_fork(
        const struct sonde_record *r, const struct proc_status *s, pid_t tid, struct text *t)
{
	size_t at = capture_record_begin(t, RECORD_FORK, MISC_FORK_EXEC);
	bool main_thread = tid == s->pid;

	feature_put_u32(t, (uint32_t)s->pid);
	feature_put_u32(t, (uint32_t)(main_thread ? s->ppid : s->pid));
	feature_put_u32(t, (uint32_t)tid);
	feature_put_u32(t, (uint32_t)(main_thread ? s->ppid : s->pid));
	feature_put_u64(t, 0);
	capture_record_end(r, t, at);
}

static void put_namespaces(const struct sonde_record *r, pid_t pid, pid_t tid, struct text *t)
{
	static const char *const names[] = {"net", "uts", "ipc", "pid", "user", "mnt", "cgroup"};
	size_t i, at = capture_record_begin(t, RECORD_NAMESPACES, 0);
	struct stat st;
	char path[64];

	feature_put_u32(t, (uint32_t)pid);
	feature_put_u32(t, (uint32_t)tid);
	feature_put_u64(t, 7);
	for (i = 0; i < 7; i++) {
		(void)snprintf(path, sizeof(path), "proc/%d/ns/%s", (int)pid, names[i]);
		if (!proc_stat(r->root_fd, path, &st)) {
			st.st_dev = 0;
			st.st_ino = 0;
		}
		feature_put_u64(t, st.st_dev);
		feature_put_u64(t, st.st_ino);
	}
	capture_record_end(r, t, at);
}

static void put_map(
        const struct sonde_record *r, pid_t pid, const struct proc_map *m, struct text *t)
{
	size_t at = capture_record_begin(t, RECORD_MMAP2, MISC_USER);

	feature_put_u32(t, (uint32_t)pid);
	feature_put_u32(t, (uint32_t)pid);
	feature_put_u64(t, m->start);
	feature_put_u64(t, m->end - m->start);
	feature_put_u64(t, m->pgoff);
	feature_put_u32(t, m->maj);
	feature_put_u32(t, m->min);
	feature_put_u64(t, m->ino);
	feature_put_u64(t, 0);
	feature_put_u32(t, (m->read ? 1u : 0) | (m->write ? 2u : 0) | (m->exec ? 4u : 0));
	feature_put_u32(t, m->shared ? 1 : 2);
	text_str(t, m->name[0] != '\0' ? m->name : "//anon");
	text_char(t, '\0');
	capture_record_end(r, t, at);
}

static void put_maps(const struct sonde_record *r, pid_t pid, struct text *t)
{
	struct proc_maps maps;
	struct proc_map map;

	if (!proc_maps_open(&maps, r->root_fd, pid)) {
		return; /* ended, or another user's */
	}
	while (proc_maps_next(&maps, &map)) {
		if (map.exec && strlen(map.name) < 4096) {
			put_map(r, pid, &map, t);
		}
	}
	proc_maps_close(&maps);
}

/* A process with all its threads. forks: as in system-wide recording, with who started whom. */
int capture_synth_task(struct sonde_record *r, pid_t pid, bool forks, struct text *t)
{
	struct proc_status status;
	char path[64];
	pid_t *tids;
	size_t i, n;

	(void)snprintf(path, sizeof(path), "proc/%d/task", (int)pid);
	if (proc_list_numbers(r->root_fd, path, &tids, &n) < 0) {
		return 0;
	}
	for (i = 0; i < n; i++) {
		if (!proc_status_read(r->root_fd, pid, tids[i], &status)) {
			continue;
		}
		if (forks) {
			put_fork(r, &status, tids[i], t);
		}
		if (r->options.namespaces) {
			put_namespaces(r, pid, tids[i], t);
		}
		put_comm(r, &status, tids[i], t);
		if (tids[i] == pid) {
			put_maps(r, pid, t);
		}
	}
	free(tids);
	return t->failed ? SONDE_ENOMEM : 0;
}

static void put_root_cgroup(const struct sonde_record *r, struct text *t)
{
	struct stat st;
	size_t at;

	if (!r->options.cgroups || (!proc_stat(r->root_fd, "sys/fs/cgroup/unified", &st) &&
	                                   !proc_stat(r->root_fd, "sys/fs/cgroup", &st))) {
		return;
	}
	at = capture_record_begin(t, RECORD_CGROUP, 0);
	feature_put_u64(t, st.st_ino);
	text_bytes(t, "/", 2);
	capture_record_end(r, t, at);
}

static int write_text(struct sonde_record *r, struct text *t)
{
	struct iovec iov = {.iov_base = t->p, .iov_len = t->n};
	int rc = t->failed ? error_nomem(&r->error) : capture_output_put(r, &iov, 1);

	text_fini(t);
	return rc;
}

int capture_synth(struct sonde_record *r)
{
	struct text t = {0};
	pid_t *pids = NULL;
	size_t i, n = 0;

	capture_aux_put_time(r, &t);
	put_id_index(r, &t);
	capture_aux_put_info(r, &t);
	put_kernel(r, &t);
	put_modules(r, &t);
	capture_bpf_synth(r, &t);
	put_updates(r, &t);
	put_threads(r, &t);
	put_cpus(r, &t);
	put_root_cgroup(r, &t);
	if (r->targets == CAPTURE_ALL) {
		(void)proc_list_numbers(r->root_fd, "proc", &pids, &n);
	}
	for (i = 0; i < n; i++) {
		(void)capture_synth_task(r, pids[i], true, &t);
	}
	free(pids);
	for (i = 0; i < r->npids; i++) {
		(void)capture_synth_task(r, r->pids[i], false, &t);
	}
	for (i = 0; i < r->nowners; i++) {
		(void)capture_synth_task(r, r->owners[i], false, &t);
	}
	if (r->child > 0) {
		struct proc_status status;

		if (proc_status_read(r->root_fd, r->child, r->child, &status)) {
			put_comm(r, &status, r->child, &t);
			if (r->options.namespaces) {
				put_namespaces(r, r->child, r->child, &t);
			}
		}
	}
	record_end(&t, capture_record_begin(&t, RECORD_FINISHED_INIT, 0));
	return write_text(r, &t);
}

/*
 * The samples that an event lost, from {value, id, lost} or, for a group, from
 * {n, {value, id, lost}[n]}.
 */
static uint64_t read_lost(
        const struct sonde_record *r, const struct event *event, int fd, uint64_t id)
{
	uint64_t v[1 + 3 * 64];
	ssize_t got;
	size_t i;

	got = r->kernel->read(fd, v, sizeof(v));
	if ((event->attr.read_format & SONDE_READ_GROUP) == 0) {
		return got == 24 ? v[2] : 0;
	}
	for (i = 0; got >= 8 && i < v[0] && (i + 1) * 24 + 8 <= (size_t)got; i++) {
		if (v[2 + i * 3] == id) {
			return v[3 + i * 3];
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
		for (i = 0, k = 0; i < r->ncpus * r->nthreads; i++) {
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
			record_end(&t, at);
		}
	}
	return t.n > 0 ? write_text(r, &t) : 0;
}
