/* SPDX-License-Identifier: MIT */
/*
 * The stage that replaces names by keyed hashes: of threads, files, control groups, the host and the
 * words of command lines. The first pass learns the names; the second one replaces them where the
 * format has a name, and looks for them in the bytes of tracepoints and copies of stacks, where they
 * keep their length. What this version does not know may hold any name: it is left out.
 */
#include "edit/inside.h"

#include "edit/names.h"
#include "edit/tracing.h"
#include "file/reader.h"

#include <stdlib.h>
#include <sys/random.h>

#define COMM_SIZE 16u /* of a name in THREAD_MAP */

struct edit_redact {
	struct sonde_editor *e;
	const struct file *f;
	struct names names;
	struct text room; /* a changed record or feature */
};

/* The name in a record: after `at` bytes of the body, up to a NUL and padding, before the trailer. */
struct place {
	size_t at;
	bool is_path;
};

static bool place_of(uint32_t type, struct place *out)
{
	switch (type) {
	case RECORD_COMM: *out = (struct place){8, false}; return true;
	case RECORD_MMAP: *out = (struct place){32, true}; return true;
	case RECORD_MMAP2: *out = (struct place){64, true}; return true;
	case RECORD_CGROUP: *out = (struct place){8, true}; return true;
	case RECORD_KSYMBOL: *out = (struct place){16, false}; return true;
	case RECORD_BUILD_ID: *out = (struct place){28, true}; return true;
	default: return false;
	}
}

/* Bytes after the name, which every record of an event has at its end. */
static size_t trailer_of(const struct edit_redact *x, const struct record *r)
{
	const struct file_event *e =
	        r->type < RECORD_USER_START ? file_record_event(x->f, r) : NULL;

	if (r->type >= RECORD_USER_START || x->f->nevents == 0) {
		return 0;
	}
	return e != NULL ? e->plan.trailer_size : x->f->events[0].plan.trailer_size;
}

/* Sets *name to the text of a record; false: it does not fit the record. */
static bool name_find(const struct edit_redact *x, const struct record *r, struct span *name)
{
	size_t trailer = trailer_of(x, r);
	struct place place;
	const uint8_t *end;

	if (!place_of(r->type, &place) || r->body.n < place.at + trailer) {
		return false;
	}
	*name = (struct span){r->body.p + place.at, r->body.n - place.at - trailer};
	end = name->n != 0 ? memchr(name->p, 0, name->n) : NULL;
	name->n = end != NULL ? (size_t)(end - name->p) : name->n;
	return true;
}

/* ---- learning ---- */

static int learn(struct edit_redact *x, const struct sonde_raw_record *raw)
{
	const struct record r = edit_view(raw);
	struct place place;
	struct span name;

	/* threads of the kernel have names such as "kworker/0:1": their parts are learned too */
	if (place_of(r.type, &place) && name_find(x, &r, &name)) {
		if (!place.is_path) {
			TRY(names_learn(&x->names, (const char *)name.p, name.n));
		}
		return names_learn_path(&x->names, (const char *)name.p, name.n);
	}
	for (size_t at = 16; r.type == RECORD_THREAD_MAP && at + COMM_SIZE <= r.body.n; at += 24) {
		const char *comm = (const char *)r.body.p + at;

		TRY(names_learn(&x->names, comm, strnlen(comm, COMM_SIZE)));
	}
	return 0;
}

static int look(void *arg, struct sonde_rewriter *rw, const struct sonde_raw_record *r)
{
	struct edit_redact *x = arg;

	x->f = reader_file(sonde_rewriter_file(rw));
	return learn(x, r) < 0 ? edit_failed(x->e, rw, error_nomem(&x->e->error)) : 0;
}

/* ---- the header ---- */

static void put_u32(struct text *out, uint32_t v, bool swap)
{
	uint8_t bytes[4];

	store_u32(bytes, v, swap);
	text_bytes(out, (const char *)bytes, sizeof(bytes));
}

/* Reads a text of a feature: u32 size, text padded with NULs. */
static struct span feature_text(struct cursor *c)
{
	struct span s = cursor_bytes(c, cursor_u32(c));

	s.n = s.n != 0 ? strnlen((const char *)s.p, s.n) : 0;
	return s;
}

/* Appends the hash of a text as a text of a feature. */
static int put_hashed(struct edit_redact *x, struct span s)
{
	TRY(names_learn_path(&x->names, (const char *)s.p, s.n));
	put_u32(&x->room, 64, x->f->swap);
	names_put(&x->names, &x->room, (const char *)s.p, s.n);
	text_fill(&x->room, '\0', 64 - NAMES_WIDTH);
	return 0;
}

static int host_hide(struct edit_redact *x)
{
	struct cursor c = cursor_make(file_feature(x->f, FEATURE_HOSTNAME), x->f->swap);

	return put_hashed(x, feature_text(&c));
}

static int cmdline_hide(struct edit_redact *x)
{
	struct cursor c = cursor_make(file_feature(x->f, FEATURE_CMDLINE), x->f->swap);
	uint32_t n = cursor_u32(&c);

	put_u32(&x->room, n, x->f->swap);
	for (uint32_t i = 0; i < n && !c.bad; i++) {
		TRY(put_hashed(x, feature_text(&c)));
	}
	return 0;
}

static void build_id_put(struct edit_redact *x, const uint8_t *head, const char *name, size_t n)
{
	struct text path = {0};
	uint8_t size[2];
	size_t room;

	names_put_path(&x->names, &path, name, n);
	room = (path.n / 64 + 1) * 64;
	text_bytes(&x->room, (const char *)head, 6);
	store_u16(size, (uint16_t)(36 + room), x->f->swap);
	text_bytes(&x->room, (const char *)size, sizeof(size));
	text_bytes(&x->room, (const char *)head + 8, 28);
	text_bytes(&x->room, path.p, path.n);
	text_fill(&x->room, '\0', room - path.n);
	x->room.failed |= path.failed;
	text_fini(&path);
}

/* Entries with a length in u16 at 6, and a name from 36 on. */
static int build_ids_hide(struct edit_redact *x)
{
	struct span s = file_feature(x->f, FEATURE_BUILD_ID);

	while (s.n > 36) {
		size_t size = load_u16(s.p + 6, x->f->swap);
		const char *name = (const char *)s.p + 36;

		if (size <= 36 || size > s.n) {
			break;
		}
		TRY(names_learn_path(&x->names, name, strnlen(name, size - 36)));
		if (!x->room.failed) {
			build_id_put(x, s.p, name, strnlen(name, size - 36));
		}
		s.p += size;
		s.n -= size;
	}
	return 0;
}

/* Lines "PID NAME": the letters of names become 'x'. */
static void tracing_hide(struct edit_redact *x)
{
	struct span all = file_feature(x->f, FEATURE_TRACING_DATA);
	struct span names = edit_tracing_split(all).names;
	bool in_name = false;

	text_bytes(&x->room, (const char *)all.p, all.n);
	for (size_t i = 0; i < names.n && !x->room.failed; i++) {
		char *c = x->room.p + (names.p - all.p) + i;

		if (*c == '\n' || *c == ' ') {
			in_name = *c == ' ';
		} else if (in_name) {
			*c = 'x';
		}
	}
}

/* Features with names that are not replaced one by one. */
static bool is_dropped(unsigned bit)
{
	return bit == FEATURE_BPF_PROG_INFO || bit == FEATURE_BPF_BTF || bit >= FEATURE_LAST;
}

static int feature_hide(struct edit_redact *x, struct sonde_rewriter *rw, unsigned bit)
{
	int rc = 0;

	x->room.n = 0;
	switch (bit) {
	case FEATURE_HOSTNAME: rc = host_hide(x); break;
	case FEATURE_CMDLINE: rc = cmdline_hide(x); break;
	case FEATURE_BUILD_ID: rc = build_ids_hide(x); break;
	case FEATURE_TRACING_DATA: tracing_hide(x); break;
	default: return is_dropped(bit) ? sonde_rewriter_set_feature(rw, bit, NULL, 0) : 0;
	}
	if (rc < 0 || x->room.failed) {
		return edit_failed(x->e, rw, error_nomem(&x->e->error));
	}
	return sonde_rewriter_set_feature(rw, bit, x->room.p, x->room.n);
}

/* The key is the hash of the user's text, or random. */
static int key_make(struct edit_redact *x)
{
	const char *text = x->e->o.redact;
	uint64_t half[2];

	if (text[0] == '\0') {
		return getrandom(x->names.key, NAMES_KEY, 0) == NAMES_KEY
		               ? 0
		               : error_set(&x->e->error, SONDE_EIO, NO_OFFSET,
		                         "the system has no random numbers; give a key");
	}
	half[0] = names_hash(&x->names, text, strlen(text));
	x->names.key[0] = 1;
	half[1] = names_hash(&x->names, text, strlen(text));
	for (unsigned i = 0; i < 2; i++) {
		store_u64(x->names.key + (size_t)8 * i, half[i], HOST_BIG_ENDIAN);
	}
	return 0;
}

static int begin(void *arg, struct sonde_rewriter *rw)
{
	struct edit_redact *x = arg;

	x->f = reader_file(sonde_rewriter_file(rw));
	for (unsigned bit = 1; bit < FEATURE_BITS; bit++) {
		if (file_has_feature(x->f, bit)) {
			TRY(feature_hide(x, rw, bit));
		}
	}
	return 0;
}

/* ---- records ---- */

/* Builds a record with another name: the bytes before it, the name padded to 8, the trailer. */
static int named_put(struct edit_redact *x, struct sonde_rewriter *rw,
        const struct sonde_raw_record *raw, const struct record *r, struct span name)
{
	struct sonde_raw_record made = *raw;
	struct place place = {0};
	size_t trailer = trailer_of(x, r);
	const char *bytes = raw->bytes;

	(void)place_of(r->type, &place);
	x->room.n = 0;
	text_bytes(&x->room, bytes, RECORD_HEADER_SIZE + place.at);
	if (place.is_path) {
		names_put_path(&x->names, &x->room, (const char *)name.p, name.n);
	} else if (name.n != 0) {
		names_put(&x->names, &x->room, (const char *)name.p, name.n);
	}
	text_fill(&x->room, '\0', 8 - x->room.n % 8);
	text_bytes(&x->room, bytes + raw->size - trailer, trailer);
	if (x->room.failed) {
		return edit_failed(x->e, rw, error_nomem(&x->e->error));
	}
	if (x->room.n > UINT16_MAX) {
		return 0; /* a path of thousands of short components */
	}
	store_u16((uint8_t *)x->room.p + 6, (uint16_t)x->room.n, x->f->swap);
	made.bytes = x->room.p;
	made.size = x->room.n;
	return sonde_rewriter_put(rw, &made);
}

/* Replaces names after `at` bytes of the body, without changing its size. */
static int blotted_put(struct edit_redact *x, struct sonde_rewriter *rw,
        const struct sonde_raw_record *raw, size_t at)
{
	struct sonde_raw_record made = *raw;
	uint8_t *p = x->e->room;

	memcpy(p, raw->bytes, raw->size);
	at += RECORD_HEADER_SIZE;
	if (at < raw->size) {
		names_blot(&x->names, p + at, raw->size - at);
	}
	made.bytes = p;
	return sonde_rewriter_put(rw, &made);
}

static int threads_put(
        struct edit_redact *x, struct sonde_rewriter *rw, const struct sonde_raw_record *raw)
{
	struct sonde_raw_record made = *raw;
	uint8_t *p = x->e->room;

	memcpy(p, raw->bytes, raw->size);
	for (size_t at = RECORD_HEADER_SIZE + 16; at + COMM_SIZE <= raw->size; at += 24) {
		const char *comm = (const char *)p + at;
		struct text hash = {0};

		names_put(&x->names, &hash, comm, strnlen(comm, COMM_SIZE));
		if (hash.failed) {
			return edit_failed(x->e, rw, error_nomem(&x->e->error));
		}
		memset(p + at, 0, COMM_SIZE);
		memcpy(p + at, hash.p, hash.n);
		text_fini(&hash);
	}
	made.bytes = p;
	return sonde_rewriter_put(rw, &made);
}

static int sample_put(struct edit_redact *x, struct sonde_rewriter *rw,
        const struct sonde_raw_record *raw, const struct record *r)
{
	const struct file_event *e = file_sample_event(x->f, r);
	const uint64_t texts = SONDE_SAMPLE_RAW | SONDE_SAMPLE_STACK_USER;

	if (e != NULL && (e->plan.sample_type & texts) == 0) {
		return sonde_rewriter_put(rw, raw);
	}
	return e != NULL ? blotted_put(x, rw, raw, e->plan.fixed_size) : 0;
}

/* Records that have no names. */
static bool is_nameless(uint32_t type)
{
	return type < RECORD_TYPE_MAX && (type < RECORD_KERNEL_MAX || type >= RECORD_USER_START) &&
	       type != RECORD_BPF_METADATA && type != 0;
}

static int record(void *arg, struct sonde_rewriter *rw, const struct sonde_raw_record *raw)
{
	struct edit_redact *x = arg;
	const struct record r = edit_view(raw);
	struct place place;
	struct span name;

	if (place_of(r.type, &place)) {
		return name_find(x, &r, &name) ? named_put(x, rw, raw, &r, name) : 0;
	}
	switch (r.type) {
	case RECORD_SAMPLE: return sample_put(x, rw, raw, &r);
	case RECORD_THREAD_MAP: return threads_put(x, rw, raw);
	case RECORD_AUXTRACE_INFO: return blotted_put(x, rw, raw, 0); /* filters name files */
	default: return is_nameless(r.type) ? sonde_rewriter_put(rw, raw) : 0;
	}
}

int edit_redact_stage(struct sonde_editor *e, struct sonde_rewriter *rw)
{
	struct sonde_rewriter_stage stage = {
	        .size = sizeof(stage), .look = look, .begin = begin, .record = record};

	e->redact = calloc(1, sizeof(*e->redact));
	if (e->redact == NULL) {
		return error_nomem(&e->error);
	}
	e->redact->e = e;
	stage.arg = e->redact;
	TRY(key_make(e->redact));
	return sonde_rewriter_add(rw, &stage);
}

void edit_redact_fini(struct sonde_editor *e)
{
	if (e->redact != NULL) {
		names_fini(&e->redact->names);
		text_fini(&e->redact->room);
	}
	free(e->redact);
}
