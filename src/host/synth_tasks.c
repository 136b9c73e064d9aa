/* SPDX-License-Identifier: MIT */
/* Records of running tasks and control groups. */
#include "abi/abi.h"
#include "core/pool.h"
#include "host/synth.h"
#include "host/tasks.h"
#include "image/image.h"
#include "proc/proc.h"
#include "record/feature_write.h"

#include <stdio.h>
#include <stdlib.h>

#define PATH_ROOM   1024
#define THREADS_MAX 64 /* more threads only wait for each other in the kernel */

static void put_comm(
        const struct host_synth *s, const struct proc_status *status, pid_t tid, struct text *t)
{
	size_t at = host_record_begin(t, RECORD_COMM, 0);

	feature_put_u32(t, (uint32_t)status->pid);
	feature_put_u32(t, (uint32_t)tid);
	text_bytes(t, status->comm, strlen(status->comm) + 1);
	text_fill(t, '\0', (8 - (t->n - at) % 8) % 8);
	host_record_end(t, at, s->attr, 0);
}

static void put_fork(
        const struct host_synth *s, const struct proc_status *status, pid_t tid, struct text *t)
{
	size_t at = host_record_begin(t, RECORD_FORK, MISC_FORK_EXEC);
	bool main_thread = tid == status->pid;

	feature_put_u32(t, (uint32_t)status->pid);
	feature_put_u32(t, (uint32_t)(main_thread ? status->ppid : status->pid));
	feature_put_u32(t, (uint32_t)tid);
	feature_put_u32(t, (uint32_t)(main_thread ? status->ppid : status->pid));
	feature_put_u64(t, 0);
	host_record_end(t, at, s->attr, 0);
}

static void put_namespaces(const struct host_synth *s, pid_t pid, pid_t tid, struct text *t)
{
	static const char *const names[] = {"net", "uts", "ipc", "pid", "user", "mnt", "cgroup"};
	size_t i, at = host_record_begin(t, RECORD_NAMESPACES, 0);
	struct stat st;
	char path[64];

	feature_put_u32(t, (uint32_t)pid);
	feature_put_u32(t, (uint32_t)tid);
	feature_put_u64(t, 7);
	for (i = 0; i < 7; i++) {
		(void)snprintf(path, sizeof(path), "proc/%d/ns/%s", (int)pid, names[i]);
		if (!proc_stat(s->root, path, &st)) {
			st.st_dev = 0;
			st.st_ino = 0;
		}
		feature_put_u64(t, st.st_dev);
		feature_put_u64(t, st.st_ino);
	}
	host_record_end(t, at, s->attr, 0);
}

/* Writes the build id instead of device and inode. */
static bool put_build_id(const struct host_synth *s, const char *path, struct text *t)
{
	uint8_t id[IMAGE_BUILD_ID_MAX] = {0};
	int n = s->build_ids && path[0] == '/' ? image_build_id_of_file(path, id) : 0;

	if (n <= 0) {
		return false;
	}
	host_put_build_id(t, id, n);
	return true;
}

static void put_map(const struct host_synth *s, pid_t pid, const struct proc_map *m, struct text *t)
{
	uint16_t misc = m->exec ? MISC_USER : MISC_USER | MISC_MMAP_DATA;
	size_t at = host_record_begin(t, RECORD_MMAP2, misc);

	feature_put_u32(t, (uint32_t)pid);
	feature_put_u32(t, (uint32_t)pid);
	feature_put_u64(t, m->start);
	feature_put_u64(t, m->end - m->start);
	feature_put_u64(t, m->pgoff);
	if (put_build_id(s, m->name, t) && !t->failed) {
		misc |= MISC_MMAP_BUILD_ID;
		memcpy(t->p + at + 4, &misc, sizeof(misc));
	} else {
		feature_put_u32(t, m->maj);
		feature_put_u32(t, m->min);
		feature_put_u64(t, m->ino);
		feature_put_u64(t, 0);
	}
	feature_put_u32(t, (m->read ? 1u : 0) | (m->write ? 2u : 0) | (m->exec ? 4u : 0));
	feature_put_u32(t, m->shared ? 1 : 2);
	text_str(t, m->name[0] != '\0' ? m->name : "//anon");
	text_char(t, '\0');
	host_record_end(t, at, s->attr, 0);
}

/*
 * Writes mappings of code, and readable ones if data addresses are recorded. True if it took too
 * long: the last record is marked, as others are missing.
 */
static bool put_maps(const struct host_synth *s, pid_t pid, struct text *t)
{
	struct proc_maps maps;
	struct proc_map map;
	size_t last = SIZE_MAX;
	uint16_t misc;

	if (!proc_maps_open(&maps, s->root, pid, s->maps_limit_ms)) {
		return false; /* the process ended, or belongs to another user */
	}
	while (proc_maps_next(&maps, &map)) {
		if ((map.exec || (s->data_maps && map.read)) && strlen(map.name) < 4096) {
			last = t->n;
			put_map(s, pid, &map, t);
		}
	}
	proc_maps_close(&maps);
	if (maps.cut && last != SIZE_MAX && !t->failed) {
		memcpy(&misc, t->p + last + 4, sizeof(misc));
		misc |= MISC_MAPS_CUT;
		memcpy(t->p + last + 4, &misc, sizeof(misc));
	}
	return maps.cut;
}

/* True if reading the mappings took too long. */
static bool put_task(const struct host_synth *s, const struct proc_status *status, pid_t tid,
        bool forks, struct text *t)
{
	pid_t pid = status->pid;

	if (forks) {
		put_fork(s, status, tid, t);
	}
	if (s->namespaces) {
		put_namespaces(s, pid, tid, t);
	}
	put_comm(s, status, tid, t);
	return tid == pid && s->maps && put_maps(s, pid, t);
}

/* Most processes have one thread; not listing its task folder saves the kernel much work. */
int host_synth_task(const struct host_synth *s, pid_t pid, bool forks, struct text *t)
{
	struct proc_status status;
	char path[64];
	pid_t *tids;
	size_t i, n;
	bool cut = false;

	if (!s->tasks || !proc_status_read(s->root, pid, pid, &status)) {
		return 0;
	}
	if (status.threads == 1) {
		cut = put_task(s, &status, pid, forks, t);
		return t->failed ? SONDE_ENOMEM : cut;
	}
	(void)snprintf(path, sizeof(path), "proc/%d/task", (int)pid);
	if (proc_list_numbers(s->root, path, &tids, &n) < 0) {
		return 0;
	}
	for (i = 0; i < n; i++) {
		if (proc_status_read(s->root, pid, tids[i], &status)) {
			cut |= put_task(s, &status, tids[i], forks, t);
		}
	}
	free(tids);
	return t->failed ? SONDE_ENOMEM : cut;
}

/* ---- many processes, by several threads ---- */

/* One thread reads a consecutive part of the list of processes, so that the order is kept. */
struct part {
	const struct host_synth *synth;
	const pid_t *pids;
	size_t n;
	struct text text;
	size_t cut; /* processes whose mappings took too long */
};

static int read_part(void *arg, unsigned worker, size_t task)
{
	struct part *part = (struct part *)arg + task;
	size_t i;

	(void)worker;
	for (i = 0; i < part->n; i++) {
		part->cut += host_synth_task(part->synth, part->pids[i], true, &part->text) > 0;
	}
	return 0;
}

int host_synth_tasks(const struct host_synth *s, const pid_t *pids, size_t n, struct text *out,
        size_t *cut, struct error *err)
{
	size_t i, k = s->threads < THREADS_MAX ? s->threads : THREADS_MAX;
	struct part *parts;

	k = k < n ? k : n;
	parts = calloc(k + 1, sizeof(*parts));
	if (parts == NULL) {
		return error_nomem(err);
	}
	for (i = 0; i < k; i++) {
		parts[i].synth = s;
		parts[i].pids = pids + n * i / k;
		parts[i].n = n * (i + 1) / k - n * i / k;
	}
	(void)pool_run((unsigned)k, k, read_part, parts);
	for (i = 0; i < k; i++) {
		text_bytes(out, parts[i].text.p, parts[i].text.n);
		out->failed |= parts[i].text.failed;
		*cut += parts[i].cut;
		text_fini(&parts[i].text);
	}
	free(parts);
	return 0;
}

/* ---- control groups ---- */

#define CGROUPS_MAX 65536 /* limit of reported groups */

static void put_cgroup(const struct host_synth *s, uint64_t id, const char *path, struct text *t)
{
	size_t at = host_record_begin(t, RECORD_CGROUP, 0);

	feature_put_u64(t, id);
	text_bytes(t, path, strlen(path) + 1);
	host_record_end(t, at, s->attr, 0);
}

/* Appends the names of the subgroups of a group to the work list. */
static bool add_children(int root, const char *mount, const char *path, struct text *todo)
{
	char name[PATH_ROOM];
	const struct dirent *e;
	DIR *dir;

	(void)snprintf(name, sizeof(name), "%s%s", mount, path);
	dir = proc_open_dir(root, name);
	while ((e = proc_next_entry(dir)) != NULL) {
		if (e->d_type == DT_DIR && strlen(path) + strlen(e->d_name) + 2 < PATH_ROOM / 2) {
			text_printf(todo, "%s/%s", strcmp(path, "/") == 0 ? "" : path, e->d_name);
			text_char(todo, '\0');
		}
	}
	proc_close_dir(dir);
	return !todo->failed;
}

/* The id of a group is the inode of its folder. */
void host_synth_cgroups(const struct host_synth *s, struct text *t)
{
	const char *mount = "sys/fs/cgroup/unified";
	char name[PATH_ROOM], path[PATH_ROOM / 2];
	struct text todo = {0};
	struct stat st;
	size_t at = 0, n = 0;

	if (!s->cgroups) {
		return;
	}
	if (!proc_stat(s->root, mount, &st)) {
		mount = "sys/fs/cgroup";
	}
	text_bytes(&todo, "/", 2);
	while (!todo.failed && at < todo.n && n++ < CGROUPS_MAX) {
		(void)snprintf(path, sizeof(path), "%s", todo.p + at);
		at += strlen(path) + 1;
		(void)snprintf(name, sizeof(name), "%s%s", mount, path);
		if (proc_stat(s->root, name, &st)) {
			put_cgroup(s, st.st_ino, path, t);
			(void)add_children(s->root, mount, path, &todo);
		}
	}
	text_fini(&todo);
}

/* ---- the workload ---- */

void host_synth_waiting(const struct host_synth *s, pid_t pid, struct text *t)
{
	struct proc_status status;

	if (proc_status_read(s->root, pid, pid, &status)) {
		put_comm(s, &status, pid, t);
		if (s->namespaces) {
			put_namespaces(s, pid, pid, t);
		}
	}
}

/* Children usually have higher numbers. */
size_t host_synth_workload(const struct host_synth *s, pid_t pid, struct text *t)
{
	struct proc_status status;
	pid_t *pids = NULL, *family = NULL;
	size_t i, n = 0, k = 1, cut = 0;

	if (!proc_status_read(s->root, pid, pid, &status)) {
		return 0;
	}
	(void)proc_list_numbers(s->root, "proc", &pids, &n);
	family = malloc((n + 1) * sizeof(*family));
	if (family != NULL) {
		family[0] = pid;
	}
	for (i = 0; family != NULL && i < n; i++) {
		if (pids[i] != pid && proc_status_read(s->root, pids[i], pids[i], &status) &&
		        host_has_id(family, k, status.ppid)) {
			family[k++] = pids[i];
		}
	}
	for (i = 0; family != NULL && i < k; i++) {
		cut += host_synth_task(s, family[i], false, t) > 0;
	}
	free(family);
	free(pids);
	return cut;
}

/* ---- --synth ---- */

int host_synth_choose(struct host_synth *s, const char *list, struct error *err)
{
	const char *p = list != NULL ? list : "all";
	size_t n;

	for (;; p += n + 1) {
		n = strcspn(p, ",");
		if (n == 3 && strncmp(p, "all", n) == 0) {
			s->tasks = s->maps = s->cgroups = true;
		} else if (n == 4 && strncmp(p, "task", n) == 0) {
			s->tasks = true;
		} else if (n == 4 && strncmp(p, "mmap", n) == 0) {
			s->tasks = s->maps = true; /* mappings need their tasks */
		} else if (n == 6 && strncmp(p, "cgroup", n) == 0) {
			s->cgroups = true;
		} else if (n == 2 && strncmp(p, "no", n) == 0) {
			s->tasks = s->maps = s->cgroups = false;
		} else {
			return error_set(err, SONDE_EARG, NO_OFFSET,
			        "--synth wants task, mmap, cgroup, all or no, not '%.*s'", (int)n,
			        p);
		}
		if (p[n] == '\0') {
			return 0;
		}
	}
}
