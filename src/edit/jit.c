/* SPDX-License-Identifier: MIT */
/*
 * The stage that writes the code in jitdump files to ELF files and adds a mapping for each, so that
 * tools which read no jitdump show its names:
 *
 *	records of a round, up to time M | mappings of code up to M | FINISHED_ROUND | ...
 *
 * The mapping of a jitdump is omitted, and so are those of anonymous memory that a process makes after
 * it: they would hide the code, which the runtime puts there afterwards.
 */
#include "edit/inside.h"

#include "core/array.h"
#include "core/replace.h"
#include "core/sort.h"
#include "edit/jit_elf.h"
#include "file/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define PROT_READ_EXECUTE 5u
#define MAP_PRIVATE_FLAG  2u
#define MMAP2_FIXED       72u /* bytes before the name */
#define BUILD_ID_FIXED    36u

/* The mapping of a process's jitdump. */
struct marker {
	uint32_t pid;
	const char *path;
	bool was_read; /* the jitdump */
	uint64_t time; /* ns; 0: unknown */
	bool was_seen; /* by the pass that writes */
	uint8_t *trailer; /* for the mappings of its code */
	size_t trailer_size; /* bytes */
	size_t time_at; /* offset in the trailer, SIZE_MAX: none */
};

struct edit_jit {
	struct sonde_editor *e;
	struct marker *markers; /* one for each process */
	size_t nmarkers, markers_cap;
	struct index by_pid;
	const struct frame_jit_change *changes;
	size_t nchanges;
	uint32_t *order; /* by time */
	size_t next; /* in `order` */
	struct stat *files; /* by number of code; st_nlink 0: not written yet */
	size_t nfiles;
	uint64_t newest; /* time of the records so far, ns */
};

static const struct frame_resolver *frames(const struct edit_jit *j)
{
	return session_frames(j->e->session);
}

static struct marker *marker_find(const struct edit_jit *j, uint32_t pid)
{
	size_t at;
	uint32_t i = index_find_u32(&j->by_pid, pid, &at);

	return i != INDEX_NONE ? &j->markers[i] : NULL;
}

/* Decodes the mapping of user code in a record. False: it is another record. */
static bool mapping_of(const struct sonde_raw_record *r, bool swap, struct record_mmap *m)
{
	const struct record view = edit_view(r);

	return (r->type == RECORD_MMAP || r->type == RECORD_MMAP2) &&
	       (r->misc & MISC_CPUMODE_MASK) == MISC_USER && record_mmap_decode(&view, swap, m);
}

/* Bytes of the trailer that records of an event have. */
static size_t trailer_size(uint64_t sample_type, size_t *time_at)
{
	static const uint64_t before[] = {SONDE_SAMPLE_TID};
	static const uint64_t after[] = {
	        SONDE_SAMPLE_ID, SONDE_SAMPLE_STREAM_ID, SONDE_SAMPLE_CPU, SONDE_SAMPLE_IDENTIFIER};
	size_t n = (sample_type & before[0]) != 0 ? 8 : 0;

	*time_at = (sample_type & SONDE_SAMPLE_TIME) != 0 ? n : SIZE_MAX;
	n += (sample_type & SONDE_SAMPLE_TIME) != 0 ? 8 : 0;
	for (size_t i = 0; i < sizeof(after) / sizeof(after[0]); i++) {
		n += (sample_type & after[i]) != 0 ? 8 : 0;
	}
	return n;
}

/* Remembers the mapping of a jitdump. */
static int marker_add(struct edit_jit *j, const struct file *f, const struct sonde_raw_record *r,
        const struct record_mmap *map)
{
	const struct record view = edit_view(r);
	const struct file_event *event = file_record_event(f, &view);
	struct marker m = {.pid = map->pid, .time = edit_newer(f, r, 0), .time_at = SIZE_MAX};
	size_t at;

	if (marker_find(j, map->pid) != NULL) {
		return 0;
	}
	if (event != NULL && sonde_attr_has(&event->attr, SONDE_FLAG_SAMPLE_ID_ALL)) {
		m.trailer_size = trailer_size(event->attr.sample_type, &m.time_at);
	}
	if (m.trailer_size > view.body.n) {
		return 0; /* damaged */
	}
	m.path = arena_text(&j->e->arena, (const char *)map->name.p, map->name.n);
	m.trailer = arena_alloc(&j->e->arena, m.trailer_size + 1);
	if (m.path == NULL || m.trailer == NULL || index_room(&j->by_pid) < 0 ||
	        !array_reserve(&j->markers, &j->markers_cap, j->nmarkers + 1, sizeof(m))) {
		return error_nomem(&j->e->error);
	}
	memcpy(m.trailer, view.body.p + view.body.n - m.trailer_size, m.trailer_size);
	(void)index_find_u32(&j->by_pid, map->pid, &at);
	index_put_u32(&j->by_pid, map->pid, at, (uint32_t)j->nmarkers);
	j->markers[j->nmarkers++] = m;
	return 0;
}

static int look(void *arg, struct sonde_rewriter *rw, const struct sonde_raw_record *r)
{
	struct edit_jit *j = arg;
	const struct file *f = reader_file(sonde_rewriter_file(rw));
	struct record_mmap m;

	if (!mapping_of(r, f->swap, &m) || !frame_jit_is_dump(m.name)) {
		return 0;
	}
	return edit_failed(j->e, rw, marker_add(j, f, r, &m));
}

/* Sorts the code by time. */
static int changes_sort(struct edit_jit *j)
{
	uint64_t *times, *spare;
	size_t n;

	j->changes = frame_jit_changes(frames(j), &n);
	j->nchanges = n;
	for (size_t i = 0; i < n; i++) {
		j->nfiles = j->changes[i].jit->code >= j->nfiles ? j->changes[i].jit->code + 1u
		                                                 : j->nfiles;
	}
	j->order = calloc(n + 1, sizeof(*j->order));
	j->files = calloc(j->nfiles + 1, sizeof(*j->files));
	times = calloc(n + 1, sizeof(*times));
	spare = calloc(2 * n + 1, sizeof(*spare));
	if (j->order != NULL && j->files != NULL && times != NULL && spare != NULL) {
		for (size_t i = 0; i < n; i++) {
			times[i] = j->changes[i].time;
			j->order[i] = (uint32_t)i;
		}
		sort_order(times, j->order, spare, n);
	}
	n = times != NULL && spare != NULL;
	free(times);
	free(spare);
	return n != 0 && j->order != NULL && j->files != NULL ? 0 : error_nomem(&j->e->error);
}

static int begin(void *arg, struct sonde_rewriter *rw)
{
	struct edit_jit *j = arg;
	struct diag_sink *diags = reader_file(sonde_rewriter_file(rw))->diags;
	const struct frame_jit_report *reports;
	size_t n;

	TRY(edit_failed(j->e, rw, edit_open(j->e, rw)));
	reports = frame_jit_reports(frames(j), &n);
	for (size_t i = 0; i < n; i++) {
		diag_report(diags, reports[i].kind, reports[i].offset, "%s", reports[i].text);
	}
	for (size_t i = 0; i < j->nmarkers; i++) {
		struct marker *m = &j->markers[i];
		const struct span path = {(const uint8_t *)m->path, strlen(m->path)};

		m->was_read = frame_jit_was_read(frames(j), m->pid, path);
	}
	return edit_failed(j->e, rw, changes_sort(j));
}

/* ---- files ---- */

static int cannot_write(struct edit_jit *j, const char *name, int why)
{
	return error_errno(&j->e->error, status_of_errno(why), why,
	        "cannot write JIT-compiled code to %s", name);
}

/* Writes the code to its file. */
static int file_fill(
        struct edit_jit *j, const struct timeline_jit *jit, int fd, uint8_t id[JIT_ELF_ID])
{
	const struct frame_jit_code code = frame_jit_code_at(frames(j), jit->code);
	struct jit_debug debug;
	int rc = jit_debug_make(&debug, frames(j), jit->code);

	rc = rc < 0 ? error_nomem(&j->e->error)
	            : jit_elf_write(fd, &code, &debug, id, &j->e->error);
	jit_debug_fini(&debug);
	if (rc >= 0 && fstat(fd, &j->files[jit->code]) < 0) {
		rc = cannot_write(j, jit->name, errno);
	}
	return rc == SONDE_EIO
	               ? error_wrap(&j->e->error, "cannot write JIT-compiled code to %s", jit->name)
	               : rc;
}

static int file_write(struct edit_jit *j, const struct timeline_jit *jit, uint8_t id[JIT_ELF_ID])
{
	struct replace replace;
	int fd = replace_open(&replace, jit->name, 0666);
	int rc;

	if (fd < 0) {
		return cannot_write(j, jit->name, errno);
	}
	rc = file_fill(j, jit, fd, id);
	if (close(fd) < 0 && rc >= 0) {
		rc = cannot_write(j, jit->name, errno);
	}
	if (rc >= 0 && !replace_commit(&replace)) {
		rc = cannot_write(j, jit->name, errno);
	}
	replace_abandon(&replace);
	return rc;
}

/* ---- records ---- */

static int record_put(
        struct edit_jit *j, struct sonde_rewriter *rw, uint32_t type, uint16_t misc, size_t size)
{
	const struct sonde_raw_record raw = {
	        .type = type, .misc = misc, .size = size, .bytes = j->e->room};
	bool swap = session_swap(j->e->session);

	store_u32(j->e->room, type, swap);
	store_u16(j->e->room + 4, misc, swap);
	store_u16(j->e->room + 6, (uint16_t)size, swap);
	return sonde_rewriter_put(rw, &raw);
}

static int build_id_put(struct edit_jit *j, struct sonde_rewriter *rw, const char *name,
        const uint8_t id[JIT_ELF_ID])
{
	size_t room = (strlen(name) / 64 + 1) * 64;
	uint8_t *p = j->e->room;

	memset(p, 0, BUILD_ID_FIXED + room);
	store_u32(p + 8, UINT32_MAX, false);
	memcpy(p + 12, id, JIT_ELF_ID);
	p[12 + BUILD_ID_MAX] = JIT_ELF_ID;
	memcpy(p + BUILD_ID_FIXED, name, strlen(name) + 1);
	return record_put(
	        j, rw, RECORD_BUILD_ID, MISC_USER | MISC_BUILD_ID_SIZE, BUILD_ID_FIXED + room);
}

static int mapping_put(struct edit_jit *j, struct sonde_rewriter *rw, const struct marker *m,
        const struct frame_jit_change *change)
{
	const struct timeline_jit *jit = change->jit;
	const struct stat *st = &j->files[jit->code];
	bool swap = session_swap(j->e->session);
	size_t name = (strlen(jit->name) / 8 + 1) * 8, at = MMAP2_FIXED + name;
	uint8_t *p = j->e->room;

	memset(p, 0, at);
	store_u32(p + 8, jit->pid, swap);
	store_u32(p + 12, jit->tid, swap);
	store_u64(p + 16, jit->start, swap);
	store_u64(p + 24, frame_jit_code_at(frames(j), jit->code).mapped, swap);
	store_u64(p + 32, jit->pgoff, swap);
	store_u32(p + 40, major(st->st_dev), swap);
	store_u32(p + 44, minor(st->st_dev), swap);
	store_u64(p + 48, st->st_ino, swap);
	store_u64(p + 56, 1, swap); /* generation of the inode, as perf writes it */
	store_u32(p + 64, PROT_READ_EXECUTE, swap);
	store_u32(p + 68, MAP_PRIVATE_FLAG, swap);
	memcpy(p + MMAP2_FIXED, jit->name, strlen(jit->name));
	memcpy(p + at, m->trailer, m->trailer_size);
	if (m->time_at != SIZE_MAX) {
		store_u64(p + at + m->time_at, change->time, swap);
	}
	return record_put(j, rw, RECORD_MMAP2, MISC_USER, at + m->trailer_size);
}

static int change_put(
        struct edit_jit *j, struct sonde_rewriter *rw, const struct frame_jit_change *change)
{
	const struct timeline_jit *jit = change->jit;
	const struct marker *m = marker_find(j, jit->pid);
	uint8_t id[JIT_ELF_ID];

	if (m == NULL || jit->length == 0) {
		return 0;
	}
	if (j->files[jit->code].st_nlink == 0) {
		TRY(edit_failed(j->e, rw, file_write(j, jit, id)));
		j->files[jit->code].st_nlink = 1;
		TRY(build_id_put(j, rw, jit->name, id));
	}
	return mapping_put(j, rw, m, change);
}

/* Writes the code up to a time. */
static int changes_put(struct edit_jit *j, struct sonde_rewriter *rw, uint64_t until)
{
	while (j->next < j->nchanges && j->changes[j->order[j->next]].time <= until) {
		TRY(change_put(j, rw, &j->changes[j->order[j->next++]]));
	}
	return 0;
}

static bool is_anonymous(struct span name)
{
	static const char *const starts[] = {"//anon", "/memfd:", "[anon:"};

	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		const struct span s = {(const uint8_t *)starts[i], strlen(starts[i])};

		if (span_starts(name, s)) {
			return true;
		}
	}
	return false;
}

/* Whether the record is omitted. Records of different processors are not in the order of time. */
static bool is_replaced(struct edit_jit *j, const struct file *f, const struct sonde_raw_record *r)
{
	struct record_mmap m;
	struct marker *marker;

	if (j->nmarkers == 0 || !mapping_of(r, f->swap, &m)) {
		return false;
	}
	marker = marker_find(j, m.pid);
	if (marker == NULL || !marker->was_read) {
		return false;
	}
	if (bytes_are(m.name.p, m.name.n, marker->path)) {
		marker->was_seen = true;
		return true;
	}
	if (!is_anonymous(m.name) || marker->time == 0) {
		return is_anonymous(m.name) && marker->was_seen;
	}
	return edit_newer(f, r, 0) > marker->time;
}

static int record(void *arg, struct sonde_rewriter *rw, const struct sonde_raw_record *r)
{
	struct edit_jit *j = arg;
	const struct file *f = reader_file(sonde_rewriter_file(rw));

	if (r->type == RECORD_FINISHED_ROUND) {
		TRY(changes_put(j, rw, j->newest));
	} else if (r->type < RECORD_USER_START) {
		j->newest = edit_newer(f, r, j->newest);
	}
	if (!is_replaced(j, f, r)) {
		return sonde_rewriter_put(rw, r);
	}
	/* without times, records are valid from their place on */
	return f->nevents != 0 && f->events[0].plan.time == RECORD_NOT_THERE
	               ? changes_put(j, rw, UINT64_MAX)
	               : 0;
}

static int end(void *arg, struct sonde_rewriter *rw)
{
	return changes_put(arg, rw, UINT64_MAX);
}

int edit_jit_stage(struct sonde_editor *e, struct sonde_rewriter *rw)
{
	struct sonde_rewriter_stage stage = {
	        .size = sizeof(stage), .look = look, .begin = begin, .record = record, .end = end};

	e->jit = calloc(1, sizeof(*e->jit));
	if (e->jit == NULL) {
		return error_nomem(&e->error);
	}
	e->jit->e = e;
	stage.arg = e->jit;
	return sonde_rewriter_add(rw, &stage);
}

void edit_jit_fini(struct sonde_editor *e)
{
	struct edit_jit *j = e->jit;

	if (j != NULL) {
		index_fini(&j->by_pid);
		free(j->markers);
		free(j->order);
		free(j->files);
	}
	free(j);
}
