/* SPDX-License-Identifier: MIT */
#include "frame/jit.h"

#include "bundle/bundle.h"
#include "core/arena.h"
#include "core/array.h"
#include "core/index.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * V8 adds 0x40 to the addresses of lines (seen in node 20), and perf shows them so much late. No other
 * runtime begins the lines of every function there.
 */
#define V8_LINES 0x40u

#define REPORTS_MAX 16u /* reports that are kept */

#define EM_386 3u
#define EM_ARM 40u

struct code { /* of a LOAD record */
	const char *name;
	struct span bytes, lines, eh_frame, eh_frame_hdr;
	uint64_t nlines;
	uint64_t tables; /* bytes of the unwinding tables that are mapped */
	uint64_t lines_address; /* of the code, as its lines say */
	uint64_t index;
	uint32_t again; /* code with the same index that was loaded before */
	uint32_t dump;
};

struct dump {
	struct image_file file; /* closed: it could not be read */
	struct image_jitdump jit;
	const char *path;
	uint32_t pid;
	bool is_read; /* its header, and records up to the first damage that hides the rest */
	bool has_lines; /* of some code */
	bool plain_lines; /* those of some code begin elsewhere than V8_LINES */
};

struct frame_jit {
	struct dump *dumps;
	size_t ndumps, dumps_cap;
	struct index dump_index; /* by process and path */
	struct code *codes;
	size_t ncodes, codes_cap;
	struct index code_index; /* the newest code by file and index */
	struct frame_jit_change *changes;
	size_t nchanges, changes_cap;
	struct frame_jit_report reports[REPORTS_MAX];
	size_t nreports;
	struct arena arena; /* texts, and code for the timeline */
};

/* What reading one file needs. */
struct reading {
	struct frame_jit *jit;
	struct timeline *timeline;
	const struct frame_jit_mapping *mapping;
	struct diag_sink *diags;
	uint32_t dump;
	const char *folder; /* of the path in the recording, for names */
	int folder_size;
	uint64_t shift; /* added to times */
	bool shifted; /* `shift` was found */
	struct image_jit_record lines, unwinding; /* for the next code; offset 0: none */
};

static void report(struct reading *r, enum sonde_diag_kind kind, uint64_t offset, const char *fmt,
        ...) __attribute__((format(printf, 4, 5)));

static void report(
        struct reading *r, enum sonde_diag_kind kind, uint64_t offset, const char *fmt, ...)
{
	struct frame_jit *j = r->jit;
	char text[2 * IMAGE_PATH_MAX];
	const char *kept;
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	diag_report(r->diags, kind, offset, "%s", text);
	if (j->nreports < REPORTS_MAX &&
	        (kept = arena_text(&j->arena, text, strlen(text))) != NULL) {
		j->reports[j->nreports++] = (struct frame_jit_report){kind, offset, kept};
	}
}

bool frame_jit_is_dump(struct span name)
{
	static const struct span start = {(const uint8_t *)"jit-", 4};
	size_t at = name.n, digits = 0;
	struct span file;

	while (at > 0 && name.p[at - 1] != '/') {
		at--;
	}
	file = (struct span){name.p + at, name.n - at};
	if (!span_starts(file, start)) {
		return false;
	}
	file = (struct span){file.p + start.n, file.n - start.n};
	while (digits < file.n && file.p[digits] >= '0' && file.p[digits] <= '9') {
		digits++;
	}
	return digits != 0 && bytes_are(file.p + digits, file.n - digits, ".dump");
}

bool frame_jit_file(const struct frame_resolver *f, size_t i, const char **path, struct span *bytes)
{
	if (f->jit == NULL || i >= f->jit->ndumps) {
		return false;
	}
	*path = f->jit->dumps[i].path;
	*bytes = f->jit->dumps[i].file.bytes;
	return true;
}

void frame_jit_free(struct frame_jit *j)
{
	if (j == NULL) {
		return;
	}
	for (size_t i = 0; i < j->ndumps; i++) {
		image_file_close(&j->dumps[i].file);
	}
	free(j->dumps);
	free(j->codes);
	free(j->changes);
	index_fini(&j->dump_index);
	index_fini(&j->code_index);
	arena_fini(&j->arena);
	free(j);
}

/* Returns a file that was added before, or INDEX_NONE with *at for the new one. */
static uint32_t dump_find(
        const struct frame_jit *j, const char *path, uint32_t pid, uint32_t hash, size_t *at)
{
	uint32_t id;

	*at = hash;
	while ((id = index_next(&j->dump_index, hash, at)) != INDEX_NONE) {
		if (j->dumps[id].pid == pid && strcmp(j->dumps[id].path, path) == 0) {
			break;
		}
		++*at;
	}
	return id;
}

/* Returns the newest code of a number, or INDEX_NONE with *at for a new one. */
static uint32_t code_find(
        const struct frame_jit *j, uint32_t dump, uint64_t index, uint32_t *hash, size_t *at)
{
	uint32_t id;

	*hash = (uint32_t)hash_u64(index ^ (uint64_t)dump << 40);
	*at = *hash;
	while ((id = index_next(&j->code_index, *hash, at)) != INDEX_NONE) {
		if (j->codes[id].dump == dump && j->codes[id].index == index) {
			break;
		}
		++*at;
	}
	return id;
}

/* Opens the file where the process sees it, if it still runs in a mount namespace of its own. */
static int open_in_namespace(
        const struct frame_jit_mapping *m, struct image_file *file, struct error *err)
{
	char name[IMAGE_PATH_MAX];

	if (!m->own_machine || !image_live_path(m->pid, m->path, name, sizeof(name))) {
		return SONDE_ENOENT;
	}
	return image_file_open(file, name, err);
}

/* Opens the file of a mapping; negative if it cannot be used, with the reason. */
static int open_file(const struct frame_jit_mapping *m, struct image_file *file, struct error *err)
{
	char name[IMAGE_PATH_MAX];
	int rc;

	if (m->bundle != NULL) {
		return bundle_file(m->bundle, m->path, &file->bytes)
		               ? 0
		               : error_set(err, SONDE_ENOENT, NO_OFFSET,
		                         "the bundle does not have it");
	}
	rc = m->roots.n == 0 ? open_in_namespace(m, file, err) : SONDE_ENOENT;
	for (size_t i = 0;
	        rc == SONDE_ENOENT && image_root_name(&m->roots, i, m->path, name, sizeof(name));
	        i++) {
		rc = image_file_open(file, name, err);
	}
	/* Anyone can write to /tmp: names from another user's file are not shown. */
	if (rc >= 0 && file->uid != 0 && file->uid != geteuid()) {
		image_file_close(file);
		return error_set(err, SONDE_EIO, NO_OFFSET, "%s belongs to another user", m->path);
	}
	return rc < 0 ? error_ensure(err, rc) : rc;
}

/* ns of a counter's value, as perf_event_open(2) describes for time_zero. */
static uint64_t ns_of(const struct sonde_record_time_conv *c, uint64_t tsc)
{
	unsigned shift = c->time_shift & 63u;
	uint64_t low = tsc & ((UINT64_C(1) << shift) - 1);

	return c->time_zero + (tsc >> shift) * c->time_mult + (low * c->time_mult >> shift);
}

/*
 * The time of a record in the recording's clock. If that is unknown, the first record of the file
 * is taken to be as old as the mapping: a runtime maps its file just before it.
 */
static uint64_t time_of(struct reading *r, uint64_t time)
{
	const struct frame_jit_mapping *m = r->mapping;
	bool tsc = (r->jit->dumps[r->dump].jit.flags & IMAGE_JIT_TSC) != 0;

	if (tsc && m->tsc != NULL) {
		return ns_of(m->tsc, time);
	}
	if (!m->has_time || tsc) {
		return m->time;
	}
	if (m->monotonic || m->time == 0) {
		return time;
	}
	if (!r->shifted) {
		r->shift = m->time - time;
		r->shifted = true;
	}
	return time + r->shift;
}

static int add_change(struct reading *r, const struct image_jit_record *record, uint32_t code)
{
	struct frame_jit *j = r->jit;
	struct timeline_jit *jit = arena_alloc(&j->arena, sizeof(*jit));
	const struct code *c = &j->codes[code];
	uint64_t time = time_of(r, record->time);
	char name[IMAGE_PATH_MAX], again[16] = "";

	(void)snprintf(name, sizeof(name), "%.*sjitted-%u-%llu", r->folder_size, r->folder,
	        record->pid, (unsigned long long)c->index);
	if (c->again != 0) {
		(void)snprintf(again, sizeof(again), "-%u", c->again);
	}
	(void)strncat(name, again, sizeof(name) - strlen(name) - 1);
	(void)strncat(name, ".so", sizeof(name) - strlen(name) - 1);
	if (jit == NULL || !array_reserve(&j->changes, &j->changes_cap, j->nchanges + 1,
	                           sizeof(*j->changes))) {
		return SONDE_ENOMEM;
	}
	*jit = (struct timeline_jit){.pid = r->mapping->pid,
	        .tid = r->mapping->tid,
	        .start = record->address,
	        .length = record->size,
	        .pgoff = FRAME_JIT_START,
	        .name = arena_text(&j->arena, name, strlen(name)),
	        .code = code};
	if (jit->name == NULL) {
		return SONDE_ENOMEM;
	}
	j->changes[j->nchanges++] = (struct frame_jit_change){.time = time, .jit = jit};
	return timeline_add_jit(r->timeline, jit, time);
}

static int add_load(struct reading *r, const struct image_jit_record *load)
{
	struct frame_jit *j = r->jit;
	uint32_t hash, older, id = (uint32_t)j->ncodes;
	struct code code = {.name = load->name,
	        .bytes = load->code,
	        .index = load->index,
	        .dump = r->dump,
	        .eh_frame = r->unwinding.eh_frame,
	        .eh_frame_hdr = r->unwinding.eh_frame_hdr,
	        .tables = r->unwinding.mapped};
	size_t at;

	if (index_room(&j->code_index) < 0 ||
	        !array_reserve(&j->codes, &j->codes_cap, j->ncodes + 1, sizeof(code))) {
		return SONDE_ENOMEM;
	}
	if (r->lines.address == load->address) {
		code.lines = r->lines.lines;
		code.nlines = r->lines.count;
		code.lines_address = r->lines.address;
	}
	r->lines = r->unwinding = (struct image_jit_record){0};
	older = code_find(j, r->dump, load->index, &hash, &at);
	if (older != INDEX_NONE) {
		code.again = j->codes[older].again + 1;
		index_replace(&j->code_index, at, id);
	} else {
		index_put(&j->code_index, hash, at, id);
	}
	j->codes[j->ncodes++] = code;
	return add_change(r, load, id);
}

static int add_move(struct reading *r, const struct image_jit_record *move)
{
	const struct frame_jit *j = r->jit;
	uint32_t hash, code = INDEX_NONE;
	size_t at;

	if (j->code_index.n != 0) {
		code = code_find(j, r->dump, move->index, &hash, &at);
	}
	if (code == INDEX_NONE) {
		report(r, SONDE_DIAG_DAMAGED, move->offset,
		        "%s: code number %llu is moved, but was not loaded before",
		        j->dumps[r->dump].path, (unsigned long long)move->index);
		return 0;
	}
	return add_change(r, move, code);
}

static void take_lines(struct reading *r, const struct image_jit_record *lines)
{
	struct dump *d = &r->jit->dumps[r->dump];
	struct span rest = lines->lines;
	struct image_jit_line first;

	r->lines = *lines;
	if (lines->count != 0 && image_jit_line_next(&d->jit, &rest, NULL, &first)) {
		d->has_lines = true;
		d->plain_lines = d->plain_lines || first.address - lines->address != V8_LINES;
	}
}

static int add_record(struct reading *r, const struct image_jit_record *record)
{
	switch (record->type) {
	case IMAGE_JIT_LOAD: return add_load(r, record);
	case IMAGE_JIT_MOVE: return add_move(r, record);
	case IMAGE_JIT_LINES: take_lines(r, record); return 0;
	case IMAGE_JIT_UNWINDING: r->unwinding = *record; return 0;
	default: return 0;
	}
}

static int read_records(struct reading *r)
{
	const struct dump *d = &r->jit->dumps[r->dump];
	const struct image_jitdump jit = d->jit;
	const char *path = d->path;
	struct image_jit_record record;
	struct error err = {0};
	size_t at = jit.first;
	int rc;

	while ((rc = image_jitdump_next(&jit, &at, &record, &err)) != 0) {
		if (rc < 0) {
			report(r, SONDE_DIAG_DAMAGED, record.offset, "%s: %s", path,
			        error_show(&err)->text);
		} else {
			TRY(add_record(r, &record));
		}
	}
	return 0;
}

/* Reports that times are not those of the recording. */
static void report_clock(struct reading *r)
{
	const struct frame_jit_mapping *m = r->mapping;
	const struct dump *d = &r->jit->dumps[r->dump];
	bool tsc = (d->jit.flags & IMAGE_JIT_TSC) != 0;

	if (tsc ? m->tsc != NULL : m->monotonic || !m->has_time) {
		return;
	}
	report(r, SONDE_DIAG_NOTE, m->offset,
	        tsc ? "%s: its times are of the processor's counter, which the recording cannot "
	              "convert: code that replaced other code hides it from the beginning"
	            : "%s: its times are of CLOCK_MONOTONIC, but those of the recording are not: "
	              "they are taken from when the file was mapped (record with -k mono)",
	        d->path);
}

static int dump_new(struct reading *r)
{
	const struct frame_jit_mapping *m = r->mapping;
	struct frame_jit *j = r->jit;
	uint32_t hash = hash_u32(m->pid) ^ (uint32_t)hash_bytes(m->path, strlen(m->path));
	struct dump d = {.pid = m->pid};
	size_t at;

	TRY(index_room(&j->dump_index));
	if (dump_find(j, m->path, m->pid, hash, &at) != INDEX_NONE) {
		return 0;
	}
	d.path = arena_text(&j->arena, m->path, strlen(m->path));
	if (d.path == NULL || !array_reserve(&j->dumps, &j->dumps_cap, j->ndumps + 1, sizeof(d))) {
		return SONDE_ENOMEM;
	}
	r->dump = (uint32_t)j->ndumps;
	index_put(&j->dump_index, hash, at, r->dump);
	j->dumps[j->ndumps++] = d;
	return 1;
}

static int dump_open(struct reading *r)
{
	const struct frame_jit_mapping *m = r->mapping;
	struct dump *d = &r->jit->dumps[r->dump];
	struct error err = {0};
	int rc = open_file(m, &d->file, &err);

	rc = rc < 0 ? rc : image_jitdump_open(&d->jit, d->file.bytes, &err);
	if (rc == SONDE_ENOMEM) {
		return rc;
	}
	if (rc < 0) {
		report(r, SONDE_DIAG_NOTE, m->offset,
		        "names of code that process %u compiled are unknown: %s: %s", m->pid,
		        d->path, error_show(&err)->text);
		return 0;
	}
	d->is_read = true;
	report_clock(r);
	return read_records(r);
}

int frame_jit_add(struct frame_resolver *f, struct timeline *t,
        const struct frame_jit_mapping *mapping, struct diag_sink *diags)
{
	const char *slash = strrchr(mapping->path, '/');
	struct reading r = {.timeline = t,
	        .mapping = mapping,
	        .diags = diags,
	        .folder = mapping->path,
	        .folder_size = slash != NULL ? (int)(slash + 1 - mapping->path) : 0};
	int rc;

	if (f->jit == NULL) {
		f->jit = calloc(1, sizeof(*f->jit));
	}
	if (f->jit == NULL) {
		return SONDE_ENOMEM;
	}
	r.jit = f->jit;
	rc = dump_new(&r);
	return rc > 0 ? dump_open(&r) : rc;
}

int frame_jit_notes(const struct frame_resolver *f, uint64_t after, uint64_t limit,
        struct timeline_notes *notes)
{
	for (size_t i = 0; f->jit != NULL && i < f->jit->nchanges; i++) {
		const struct frame_jit_change *c = &f->jit->changes[i];

		if (c->time > after && c->time <= limit) {
			TRY(timeline_notes_add_jit(notes, c->jit, c->time));
		}
	}
	return 0;
}

/* ---- look-ups ---- */

struct frame_jit_code frame_jit_code(const struct frame_resolver *f, uint32_t object)
{
	return frame_jit_code_at(f, timeline_object(f->timeline, object)->code);
}

struct frame_jit_code frame_jit_code_at(const struct frame_resolver *f, uint32_t code)
{
	const struct code *c = &f->jit->codes[code];
	const struct image_jitdump *jit = &f->jit->dumps[c->dump].jit;
	uint32_t machine = jit->machine;

	return (struct frame_jit_code){.name = c->name,
	        .bytes = c->bytes,
	        .eh_frame = c->eh_frame,
	        .eh_frame_hdr = c->eh_frame_hdr,
	        .mapped =
	                c->tables == 0 ? c->bytes.n : ((c->bytes.n + 7) & ~UINT64_C(7)) + c->tables,
	        .swap = jit->swap,
	        .kind = {.machine = (uint16_t)machine,
	                .is64 = machine != EM_386 && machine != EM_ARM}};
}

bool frame_jit_next_line(
        const struct frame_resolver *f, uint32_t code, struct frame_jit_lines *lines)
{
	const struct code *c = &f->jit->codes[code];
	const struct dump *d = &f->jit->dumps[c->dump];
	uint64_t late = d->has_lines && !d->plain_lines ? V8_LINES : 0;
	struct image_jit_line before = lines->line;

	if (lines->read == 0) {
		lines->rest = c->lines;
	}
	if (lines->read == c->nlines || !image_jit_line_next(&d->jit, &lines->rest,
	                                        lines->read != 0 ? &before : NULL, &lines->line)) {
		return false;
	}
	lines->read++;
	lines->address = lines->line.address - c->lines_address - late + FRAME_JIT_START;
	return true;
}

const struct frame_jit_change *frame_jit_changes(const struct frame_resolver *f, size_t *n)
{
	*n = f->jit != NULL ? f->jit->nchanges : 0;
	return *n != 0 ? f->jit->changes : NULL;
}

const struct frame_jit_report *frame_jit_reports(const struct frame_resolver *f, size_t *n)
{
	*n = f->jit != NULL ? f->jit->nreports : 0;
	return *n != 0 ? f->jit->reports : NULL;
}

bool frame_jit_was_read(const struct frame_resolver *f, uint32_t pid, struct span path)
{
	for (size_t i = 0; f->jit != NULL && i < f->jit->ndumps; i++) {
		const struct dump *d = &f->jit->dumps[i];

		if (d->is_read && d->pid == pid && bytes_are(path.p, path.n, d->path)) {
			return true;
		}
	}
	return false;
}

void frame_jit_line(
        const struct frame_resolver *f, uint32_t object, uint64_t address, struct lines_place *out)
{
	uint32_t code = timeline_object(f->timeline, object)->code;
	struct frame_jit_lines lines = {0}, found = {0};

	while (frame_jit_next_line(f, code, &lines)) {
		if (lines.address <= address &&
		        (found.line.file == NULL || lines.address >= found.address)) {
			found = lines;
		}
	}
	out->found = found.line.file != NULL ? LINES_LINE : LINES_FUNCTION;
	out->address = address;
	out->n = 1;
	out->frames[0] = (struct lines_frame){.function = f->jit->codes[code].name,
	        .file = found.line.file,
	        .line = found.line.line};
}

int frame_jit_elf(
        const struct frame_resolver *f, uint32_t object, struct image_elf *elf, uint8_t **bytes)
{
	struct frame_jit_code c = frame_jit_code(f, object);
	size_t at = FRAME_JIT_START + ((c.bytes.n + 7) & ~(size_t)7), n = at + c.eh_frame.n;

	*elf = (struct image_elf){0};
	*bytes = NULL;
	if (c.eh_frame.n == 0) {
		return 0;
	}
	*bytes = calloc(n, 1);
	elf->sections = calloc(1, sizeof(*elf->sections));
	elf->segments = calloc(1, sizeof(*elf->segments));
	if (*bytes == NULL || elf->sections == NULL || elf->segments == NULL) {
		image_elf_close(elf);
		free(*bytes);
		*bytes = NULL;
		return SONDE_ENOMEM;
	}
	memcpy(*bytes + at, c.eh_frame.p, c.eh_frame.n);
	elf->bytes = (struct span){*bytes, n};
	elf->sections[0] = (struct image_section){
	        .name = ".eh_frame", .addr = at, .offset = at, .size = c.eh_frame.n};
	elf->nsections = 1;
	elf->segments[0] = (struct image_segment){.filesz = n, .memsz = n};
	elf->nsegments = 1;
	elf->machine = c.kind.machine;
	elf->is64 = c.kind.is64;
	elf->swap = c.swap;
	return 0;
}
