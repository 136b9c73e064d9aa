/* SPDX-License-Identifier: MIT */
/*
 * A seekable perf.data file ("PERFILE2"), offsets in bytes:
 *
 *	0   u64 magic "PERFILE2"       8   u64 header size (104)
 *	16  u64 size of one attr entry (attr + 16)
 *	24  section attrs              40  section data
 *	56  section event types (empty today)
 *	72  u64 x 4 feature bits       104 (end)
 *	section = u64 offset, u64 size
 *
 * attrs: { attr (entry size - 16 bytes), section ids }, ids: u64 each. Behind the data section: one
 * section for each feature bit that is set, in rising order, then the features. A recorder that did
 * not end leaves data size 0, or one that is behind and no features: data runs to the end of the
 * file, and its last record may be half written.
 *
 * EVENT_DESC feature: u32 nr, u32 attr size, { attr, u32 nr ids, str name, u64 ids } x nr
 * str = u32 length, bytes (with NULs at the end)
 *
 * Source: format document of perf.data, checked against files that perf 6.1 writes.
 */
#include "file/file.h"

#include "core/hash.h"
#include "file/event_name.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define ATTR_ENTRY_MAX 4096u
#define SECTION_SIZE   16u

static int bad_format(struct file *f, uint64_t offset, const char *what)
{
	return error_set(&f->error, SONDE_EFORMAT, offset, "%s: %s (at byte %" PRIu64 ")", f->path,
	        what, offset);
}

/* n bytes at an offset of the file; n is 0 and p NULL when they are not all there. */
static struct span file_span(const struct file *f, uint64_t offset, uint64_t size)
{
	if (offset > f->bytes.n || size > f->bytes.n - offset) {
		return (struct span){NULL, 0};
	}
	return (struct span){f->bytes.p + offset, (size_t)size};
}

static struct file_section take_section(struct cursor *c)
{
	struct file_section s;

	s.offset = cursor_u64(c);
	s.size = cursor_u64(c);
	return s;
}

static int check_magic(struct file *f)
{
	uint64_t magic;
	uint64_t size;

	if (f->bytes.n < PIPE_HEADER_SIZE) {
		return bad_format(f, 0,
		        f->bytes.n == 0
		                ? "the file is empty; was the recording stopped before it began?"
		                : "too short to be a perf.data file");
	}
	if (memcmp(f->bytes.p, "PERFFILE", 8) == 0 || memcmp(f->bytes.p, "ELIFFREP", 8) == 0) {
		return error_set(&f->error, SONDE_EUNSUPPORTED, 0,
		        "%s: the old perf.data format (version 1) is not read by "
		        "this version; record again with sonde or a newer perf",
		        f->path);
	}
	magic = load_u64(f->bytes.p, HOST_BIG_ENDIAN);
	if (magic != FILE_MAGIC2 && __builtin_bswap64(magic) != FILE_MAGIC2) {
		return bad_format(f, 0,
		        "not a perf.data file: it does not begin with PERFILE2; is -i FILE the "
		        "right one?");
	}
	f->swap = (magic != FILE_MAGIC2) != HOST_BIG_ENDIAN;
	size = load_u64(f->bytes.p + 8, f->swap);
	if (size == PIPE_HEADER_SIZE) {
		return error_set(&f->error, SONDE_EUNSUPPORTED, 8,
		        "%s: a perf.data pipe stream is not read by this version; record with -o "
		        "FILE instead of -o -",
		        f->path);
	}
	if (size < FILE_HEADER_SIZE || f->bytes.n < FILE_HEADER_SIZE) {
		return bad_format(f, 8, "the header is cut short");
	}
	f->header_size = size;
	return 0;
}

/* Sonde's recorder keeps the data size up to date now and then: a size that was behind when it was
 * killed shows by bytes behind the data that are neither features nor attrs. */
static bool recorder_was_killed(const struct file *f)
{
	uint64_t left = f->bytes.n - f->data.offset;

	for (size_t i = 0; i < FEATURE_BITS / 64; i++) {
		if (f->feature_bits[i] != 0) {
			return false;
		}
	}
	return f->data.size < left && load_u64(f->bytes.p + 24, f->swap) < f->data.offset;
}

static int read_header(struct file *f)
{
	struct cursor c;

	TRY(check_magic(f));
	c = cursor_make((struct span){f->bytes.p + 16, FILE_HEADER_SIZE - 16}, f->swap);
	f->attr_size = cursor_u64(&c);
	(void)cursor_u64(&c); /* attrs and */
	(void)cursor_u64(&c); /* data are read by their users */
	f->data = take_section(&c);
	(void)take_section(&c);
	for (size_t i = 0; i < FEATURE_BITS / 64; i++) {
		f->feature_bits[i] = cursor_u64(&c);
	}
	if (f->data.offset > f->bytes.n) {
		diag_report(f->diags, SONDE_DIAG_TRUNCATED, 40,
		        "the data section begins at %" PRIu64
		        ", behind the end of the file (%zu bytes)",
		        f->data.offset, f->bytes.n);
		f->truncated = true;
		f->data = (struct file_section){f->bytes.n, 0};
		return 0;
	}
	if (f->data.size == 0 || recorder_was_killed(f)) {
		f->data.size = f->bytes.n - f->data.offset;
		f->interrupted = f->data.size != 0;
		return 0;
	}
	if (f->data.size > f->bytes.n - f->data.offset) {
		diag_report(f->diags, SONDE_DIAG_TRUNCATED, f->bytes.n,
		        "the file ends %" PRIu64 " bytes before its data does",
		        f->data.size - (f->bytes.n - f->data.offset));
		f->truncated = true;
		f->data.size = f->bytes.n - f->data.offset;
	}
	return 0;
}

static bool id_add(struct file *f, uint64_t id, uint32_t event)
{
	size_t i = hash_u64(id) & (f->nslots - 1);

	while (f->ids[i].event != 0) {
		if (f->ids[i].id == id) {
			return true; /* the first one keeps it */
		}
		i = (i + 1) & (f->nslots - 1);
	}
	f->ids[i] = (struct file_id_slot){.id = id, .event = event + 1};
	return true;
}

static int index_ids(struct file *f)
{
	size_t total = 0;

	for (size_t i = 0; i < f->nevents; i++) {
		total += f->events[i].nids;
	}
	if (total == 0) {
		return 0;
	}
	f->nslots = 16;
	while (f->nslots < total * 2) {
		f->nslots *= 2;
	}
	f->ids = calloc(f->nslots, sizeof(*f->ids));
	if (f->ids == NULL) {
		return error_nomem(&f->error);
	}
	for (size_t i = 0; i < f->nevents; i++) {
		for (size_t j = 0; j < f->events[i].nids; j++) {
			(void)id_add(f, f->events[i].ids[j], (uint32_t)i);
		}
	}
	return 0;
}

static int read_event_ids(struct file *f, struct file_event *e, struct file_section s)
{
	struct span bytes = file_span(f, s.offset, s.size);
	uint64_t *ids;

	if (s.size == 0) {
		return 0;
	}
	if (bytes.p == NULL) {
		diag_report(f->diags, SONDE_DIAG_DAMAGED, s.offset,
		        "the ids of an event lie behind the end of the file");
		return 0;
	}
	ids = arena_alloc(&f->arena, bytes.n);
	if (ids == NULL) {
		return error_nomem(&f->error);
	}
	e->nids = bytes.n / 8;
	for (size_t i = 0; i < e->nids; i++) {
		ids[i] = load_u64(bytes.p + i * 8, f->swap);
	}
	e->ids = ids;
	return 0;
}

static int read_attrs(struct file *f)
{
	struct cursor c = cursor_make((struct span){f->bytes.p + 24, SECTION_SIZE}, f->swap);
	struct file_section s = take_section(&c);
	struct span bytes = file_span(f, s.offset, s.size);

	if (f->attr_size < ATTR_SIZE_VER0 + SECTION_SIZE || f->attr_size > ATTR_ENTRY_MAX) {
		return bad_format(f, 16, "the size of an event description makes no sense");
	}
	if (bytes.p == NULL) {
		return bad_format(f, 24, "the event descriptions lie behind the end of the file");
	}
	if (bytes.n < f->attr_size) {
		return bad_format(f, 24, "the file describes no event");
	}
	f->events = arena_zalloc(&f->arena, bytes.n / f->attr_size * sizeof(*f->events));
	if (f->events == NULL) {
		return error_nomem(&f->error);
	}
	c = cursor_make(bytes, f->swap);
	while (cursor_left(&c) >= f->attr_size) {
		struct file_event *e = &f->events[f->nevents];
		struct span attr = cursor_bytes(&c, (size_t)f->attr_size - SECTION_SIZE);

		e->bytes = attr;
		(void)record_attr_decode(attr, f->swap, &e->attr);
		record_plan_make(&e->plan, &e->attr);
		TRY(read_event_ids(f, e, take_section(&c)));
		f->nevents++;
	}
	return index_ids(f);
}

static void read_feature_table(struct file *f)
{
	uint64_t at = f->data.offset + f->data.size;

	if (f->interrupted || f->truncated) {
		memset(f->feature_bits, 0, sizeof(f->feature_bits));
		return;
	}
	for (unsigned bit = 0; bit < FEATURE_BITS; bit++) {
		struct span entry;
		struct cursor c;
		struct file_section s;

		if (!file_has_feature(f, (enum abi_feature)bit)) {
			continue;
		}
		entry = file_span(f, at, SECTION_SIZE);
		if (entry.p == NULL) {
			diag_report(f->diags, SONDE_DIAG_TRUNCATED, at,
			        "the table of header features is cut off");
			f->truncated = true;
			f->feature_bits[bit / 64] &= ((uint64_t)1 << (bit % 64)) - 1;
			for (size_t i = bit / 64 + 1; i < FEATURE_BITS / 64; i++) {
				f->feature_bits[i] = 0;
			}
			return;
		}
		at += SECTION_SIZE;
		c = cursor_make(entry, f->swap);
		s = take_section(&c);
		if (s.size != 0 && file_span(f, s.offset, s.size).p == NULL) {
			diag_report(f->diags, SONDE_DIAG_DAMAGED, at - SECTION_SIZE,
			        "header feature %u lies behind the end of the file", bit);
			f->feature_bits[bit / 64] &= ~((uint64_t)1 << (bit % 64));
			continue;
		}
		f->features[bit] = s;
	}
}

struct span file_feature(const struct file *f, enum abi_feature bit)
{
	if (!file_has_feature(f, bit)) {
		return (struct span){NULL, 0};
	}
	return file_span(f, f->features[bit].offset, f->features[bit].size);
}

static void name_from_desc(struct file *f, size_t index, struct cursor *c)
{
	uint32_t nids = cursor_u32(c);
	uint32_t len = cursor_u32(c);
	struct span name = cursor_text(c, len);
	struct span ids;
	uint32_t event = (uint32_t)index;
	const struct file_event *e = NULL;

	if (nids > cursor_left(c) / 8) {
		c->bad = true;
		return;
	}
	ids = cursor_bytes(c, (size_t)nids * 8);
	if (c->bad) {
		return;
	}
	if (ids.n >= 8) {
		e = file_event_by_id(f, load_u64(ids.p, f->swap));
	}
	if (e != NULL) {
		event = (uint32_t)(e - f->events);
	}
	if (event < f->nevents && f->events[event].name == NULL) {
		f->events[event].name = arena_text(&f->arena, (const char *)name.p, name.n);
	}
}

static void read_event_names(struct file *f)
{
	struct span bytes = file_feature(f, FEATURE_EVENT_DESC);
	struct cursor c = cursor_make(bytes, f->swap);
	uint32_t nr = cursor_u32(&c);
	uint32_t attr_size = cursor_u32(&c);

	for (uint32_t i = 0; i < nr && !c.bad && bytes.n != 0; i++) {
		(void)cursor_bytes(&c, attr_size);
		name_from_desc(f, i, &c);
	}
	if (c.bad && bytes.n != 0) {
		diag_report(f->diags, SONDE_DIAG_DAMAGED, f->features[FEATURE_EVENT_DESC].offset,
		        "the names of the events are cut off");
	}
}

static int name_events(struct file *f)
{
	read_event_names(f);
	for (size_t i = 0; i < f->nevents; i++) {
		if (f->events[i].name == NULL) {
			f->events[i].name = file_event_name(&f->arena, &f->events[i].attr);
		}
		if (f->events[i].name == NULL) {
			return error_nomem(&f->error);
		}
	}
	return 0;
}

int file_open_bytes(struct file *f, struct span bytes, const char *name)
{
	f->bytes = bytes;
	f->path = arena_text(&f->arena, name, strlen(name));
	if (f->path == NULL) {
		f->path = "perf.data";
		return error_nomem(&f->error);
	}
	TRY(read_header(f));
	TRY(read_attrs(f));
	read_feature_table(f);
	TRY(name_events(f));
	f->main = (struct file_stream){.name = f->path,
	        .bytes = f->bytes,
	        .start = f->data.offset,
	        .end = f->data.offset + f->data.size};
	f->streams = &f->main;
	f->nstreams = 1;
	if (f->interrupted) {
		diag_report(f->diags, SONDE_DIAG_NOTE, 48,
		        "the recorder did not end by itself: everything up to the end of the "
		        "file is read, the header features are missing");
	}
	return 0;
}

static int open_failed(struct file *f, const char *path, int err)
{
	int status = err == ENOENT                   ? SONDE_ENOENT
	             : err == EACCES || err == EPERM ? SONDE_EPERM
	                                             : SONDE_EIO;
	const char *hint =
	        err == ENOENT ? "; record one with: sonde record COMMAND, or name one with -i FILE"
	        : status == SONDE_EPERM ? "; recordings are readable by their owner only"
	                                : "";

	return error_set(
	        &f->error, status, NO_OFFSET, "cannot open %s: %s%s", path, strerror(err), hint);
}

int file_open(struct file *f, const char *path)
{
	struct stat st;
	void *map = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0) {
		return open_failed(f, path, errno);
	}
	if (fstat(fd, &st) != 0) {
		int err = errno;

		(void)close(fd);
		return open_failed(f, path, err);
	}
	if (!S_ISREG(st.st_mode)) {
		(void)close(fd);
		return error_set(&f->error, SONDE_EUNSUPPORTED, NO_OFFSET,
		        "%s is a %s: only perf.data files are read by this version; %s", path,
		        S_ISDIR(st.st_mode) ? "directory" : "pipe or device",
		        S_ISDIR(st.st_mode) ? "name a file, or record without --threads and --kcore"
		                            : "save it to a file and name that");
	}
	if (f->check_owner && st.st_uid != 0 && st.st_uid != geteuid()) {
		(void)close(fd);
		return error_set(&f->error, SONDE_EPERM, NO_OFFSET,
		        "%s belongs to another user: read it with -f if you trust it", path);
	}
	if (st.st_size > 0) {
		map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	}
	(void)close(fd);
	if (map == MAP_FAILED) {
		return open_failed(f, path, errno);
	}
	f->mapped = map != NULL;
	return file_open_bytes(f, (struct span){map, (size_t)st.st_size}, path);
}

void file_close(struct file *f)
{
	if (f->mapped) {
		union {
			const uint8_t *in;
			void *out;
		} p = {.in = f->bytes.p};

		(void)munmap(p.out, f->bytes.n);
		f->mapped = false;
	}
	free(f->ids);
	arena_fini(&f->arena);
	f->ids = NULL;
	f->events = NULL;
	f->nevents = 0;
}

const struct file_event *file_event_by_id(const struct file *f, uint64_t id)
{
	size_t i;

	if (f->nslots == 0) {
		return NULL;
	}
	for (i = hash_u64(id) & (f->nslots - 1); f->ids[i].event != 0;
	        i = (i + 1) & (f->nslots - 1)) {
		if (f->ids[i].id == id) {
			return &f->events[f->ids[i].event - 1];
		}
	}
	return NULL;
}

static const struct file_event *event_of_id(const struct file *f, uint64_t id)
{
	return id == 0 || f->nslots == 0 ? &f->events[0] : file_event_by_id(f, id);
}

const struct file_event *file_sample_event(const struct file *f, const struct record *r)
{
	uint8_t at = f->events[0].plan.sample_id;

	if (f->nevents == 1 || at == RECORD_NOT_THERE) {
		return &f->events[0];
	}
	if (r->body.n < (size_t)at + 8) {
		return NULL;
	}
	return event_of_id(f, load_u64(r->body.p + at, f->swap));
}

const struct file_event *file_record_event(const struct file *f, const struct record *r)
{
	uint8_t back = f->events[0].plan.trailer_id;

	if (f->nevents == 1 || back == RECORD_NOT_THERE) {
		return &f->events[0];
	}
	if (r->body.n < back) {
		return NULL;
	}
	return event_of_id(f, load_u64(r->body.p + r->body.n - back, f->swap));
}
