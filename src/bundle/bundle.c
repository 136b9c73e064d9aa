/* SPDX-License-Identifier: MIT */
#include "bundle/bundle.h"

#include "bundle/tar.h"
#include "core/arena.h"
#include "core/array.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define MEMBERS_MAX  ((size_t)1 << 20)
#define EXTENDED_MAX ((uint64_t)64 << 10) /* bytes of names and sizes in front of a member */

struct bundle {
	struct arena arena; /* names */
	struct bundle_member *members; /* sorted by name */
	size_t n, cap;
};

/* State of reading an archive. */
struct reading {
	struct bundle *bundle;
	struct span bytes;
	struct diag_sink *diags;
	struct error *err;
	uint64_t at; /* of the current header */
	const uint8_t *header;
	struct span name; /* for the next member, of a member in front of it; n 0: none */
	uint64_t size; /* the same */
	bool has_size;
};

static int bad(const struct reading *r, const char *what)
{
	return error_set(r->err, SONDE_EFORMAT, r->at,
	        "%s (at byte %" PRIu64 " of the tar archive)", what, r->at);
}

/* ---- headers ---- */

static struct span field(const uint8_t *p, size_t n)
{
	const uint8_t *end = memchr(p, 0, n);

	return (struct span){p, end != NULL ? (size_t)(end - p) : n};
}

/* Reads an octal number between blanks, or a binary one of at most 8 bytes. */
static bool number(const uint8_t *p, size_t n, uint64_t *out)
{
	uint64_t v = 0;
	size_t i = 0;

	if ((p[0] & 0x80) != 0) {
		for (i = 1; i < n; i++) {
			if (v >> 55 != 0) { /* it would not fit a file */
				return false;
			}
			v = v << 8 | p[i];
		}
		*out = v;
		return p[0] == 0x80;
	}
	while (i < n && p[i] == ' ') {
		i++;
	}
	for (; i < n && p[i] >= '0' && p[i] <= '7'; i++) {
		v = v << 3 | (uint64_t)(p[i] - '0');
	}
	*out = v;
	return i == n || p[i] == ' ' || p[i] == 0;
}

/* The sum of all bytes, with blanks in place of the checksum itself. */
static uint64_t sum_of(const uint8_t *header)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < TAR_BLOCK; i++) {
		sum += i >= TAR_SUM && i < TAR_SUM + TAR_SUM_SIZE ? ' ' : header[i];
	}
	return sum;
}

static bool is_header(const uint8_t *header)
{
	uint64_t sum;

	return memcmp(header + TAR_MAGIC, "ustar", 5) == 0 &&
	       number(header + TAR_SUM, TAR_SUM_SIZE, &sum) && sum == sum_of(header);
}

bool bundle_is_tar(struct span bytes)
{
	return bytes.n >= TAR_BLOCK && is_header(bytes.p);
}

static bool is_zero(const uint8_t *block)
{
	static const uint8_t zero[TAR_BLOCK];

	return memcmp(block, zero, TAR_BLOCK) == 0;
}

/* ---- names ---- */

bool bundle_is_name(const char *name)
{
	if (strlen(name) >= BUNDLE_NAME_MAX) {
		return false;
	}
	for (;;) {
		size_t n = strcspn(name, "/");

		if (n == 0 || bytes_are(name, n, ".") || bytes_are(name, n, "..")) {
			return false;
		}
		if (name[n] == '\0') {
			return true;
		}
		name += n + 1;
	}
}

/* Writes the name of the current member; SONDE_EFORMAT. */
static int name_read(struct reading *r, char out[BUNDLE_NAME_MAX])
{
	struct span name = field(r->header + TAR_NAME, TAR_NAME_SIZE);
	struct span prefix = field(r->header + TAR_PREFIX, TAR_PREFIX_SIZE);
	size_t n = 0;

	if (r->name.n != 0) {
		name = r->name;
		prefix.n = 0;
	}
	if (memcmp(r->header + TAR_MAGIC, "ustar", 6) != 0) { /* GNU tar: other fields are there */
		prefix.n = 0;
	}
	if (prefix.n + name.n + 2 > BUNDLE_NAME_MAX || memchr(name.p, 0, name.n) != NULL) {
		return bad(r, "the name of a member is longer than any path, or contains a NUL");
	}
	if (prefix.n != 0) {
		memcpy(out, prefix.p, prefix.n);
		out[prefix.n] = '/';
		n = prefix.n + 1;
	}
	memcpy(out + n, name.p, name.n);
	out[n + name.n] = '\0';
	while (strncmp(out, "./", 2) == 0) { /* tar cf X -C FOLDER . */
		memmove(out, out + 2, strlen(out + 2) + 1);
	}
	return 0;
}

/* ---- members ---- */

static bool decimal(struct span text, uint64_t *out)
{
	*out = 0;
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] < '0' || text.p[i] > '9' || *out >> 59 != 0) {
			return false;
		}
		*out = *out * 10 + (uint64_t)(text.p[i] - '0');
	}
	return text.n != 0;
}

/* Takes `path` and `size` from the records of a member of type 'x'. */
static int extended_read(struct reading *r, struct span records)
{
	while (records.n != 0) {
		const uint8_t *blank = memchr(records.p, ' ', records.n);
		const uint8_t *equals = memchr(records.p, '=', records.n);
		uint64_t n = 0;
		struct span key, value;

		if (blank == NULL || equals == NULL || equals < blank ||
		        !decimal((struct span){records.p, (size_t)(blank - records.p)}, &n) ||
		        n > records.n || n < (size_t)(equals - records.p) + 2 ||
		        records.p[n - 1] != '\n') {
			return bad(r, "a record of an extended header is damaged");
		}
		key = (struct span){blank + 1, (size_t)(equals - blank) - 1};
		value = (struct span){equals + 1, (size_t)(records.p + n - 1 - (equals + 1))};
		if (span_is(key, "path")) {
			r->name = value;
		} else if (span_is(key, "size")) {
			r->has_size = decimal(value, &r->size);
		}
		if (span_starts(key, SPAN_TEXT("GNU.sparse.")) ||
		        (span_is(key, "size") && !r->has_size)) {
			return bad(r, "a member is sparse, or its size is no number");
		}
		records = (struct span){records.p + n, records.n - (size_t)n};
	}
	return 0;
}

static int member_add(struct reading *r, struct span bytes)
{
	struct bundle *b = r->bundle;
	char name[BUNDLE_NAME_MAX];
	char *kept;

	TRY(name_read(r, name));
	if (!bundle_is_name(name)) {
		return error_set(r->err, SONDE_EFORMAT, r->at,
		        "the member \"%.200s\" has a name that leads out of the bundle, or to no "
		        "file (at byte %" PRIu64 ")",
		        name, r->at);
	}
	if (b->n == MEMBERS_MAX) {
		return error_set(r->err, SONDE_ELIMIT, r->at, "the bundle has over %zu members",
		        MEMBERS_MAX);
	}
	kept = arena_text(&b->arena, name, strlen(name));
	if (kept == NULL || !array_reserve(&b->members, &b->cap, b->n + 1, sizeof(*b->members))) {
		return error_nomem(r->err);
	}
	b->members[b->n++] = (struct bundle_member){.name = kept, .bytes = bytes};
	return 0;
}

static int other_type(const struct reading *r, char type)
{
	char name[BUNDLE_NAME_MAX];
	struct reading own = *r;

	TRY(name_read(&own, name));
	return error_set(r->err, SONDE_EFORMAT, r->at,
	        "the member \"%.200s\" is %s (at byte %" PRIu64
	        "): a bundle has only files and folders",
	        name,
	        type == '1' || type == '2'                  ? "a link"
	        : type == '3' || type == '4' || type == '6' ? "a device or pipe"
	                                                    : "of an unknown type",
	        r->at);
}

static int member_read(struct reading *r, struct span bytes)
{
	char type = (char)r->header[TAR_TYPE];
	int rc = 0;

	switch (type) {
	case 'g': /* for all members: comments of git-archive, times */ return 0;
	case 'x': return extended_read(r, bytes);
	case 'L': r->name = field(bytes.p != NULL ? bytes.p : r->header, bytes.n); return 0;
	case 'K': /* the target of the link after it, which is refused */ return 0;
	case '\0':
	case '0':
	case '7': rc = member_add(r, bytes); break;
	case '5': break;
	default: rc = other_type(r, type);
	}
	r->name.n = 0;
	r->has_size = false;
	return rc;
}

/* Whether a member is about the one after it. */
static bool is_extension(char type)
{
	return type == 'x' || type == 'g' || type == 'L' || type == 'K';
}

/* Reads the member at r->at: 1, 0 at the end of the archive. */
static int step(struct reading *r)
{
	uint64_t left = r->bytes.n - r->at, size;
	struct span bytes = {NULL, 0};
	char type;

	if (left < TAR_BLOCK || is_zero(r->bytes.p + r->at)) {
		if (left < TAR_BLOCK) {
			diag_report(r->diags, SONDE_DIAG_TRUNCATED, r->at,
			        "the bundle is cut off: its last members are missing");
		}
		return 0;
	}
	r->header = r->bytes.p + r->at;
	if (!is_header(r->header)) {
		return bad(r, "the header of a member is damaged");
	}
	type = (char)r->header[TAR_TYPE];
	if (!number(r->header + TAR_SIZE, TAR_SIZE_SIZE, &size)) {
		return bad(r, "the size of a member is no number");
	}
	size = r->has_size && !is_extension(type) ? r->size : size;
	if (is_extension(type) && size > EXTENDED_MAX) {
		return bad(r, "an extended header is over 64 KiB");
	}
	left -= TAR_BLOCK;
	if (size > left) {
		diag_report(r->diags, SONDE_DIAG_TRUNCATED, r->at,
		        "the bundle is cut off in a member of %" PRIu64 " bytes", size);
		if (is_extension(type)) {
			return 0;
		}
	}
	bytes.n = (size_t)(size < left ? size : left);
	bytes.p = bytes.n != 0 ? r->header + TAR_BLOCK : NULL;
	TRY(member_read(r, bytes));
	size = bytes.n + (TAR_BLOCK - bytes.n % TAR_BLOCK) % TAR_BLOCK;
	r->at += TAR_BLOCK + size;
	return size <= left;
}

static int by_name(const void *a, const void *b)
{
	const struct bundle_member *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static int check(struct bundle *b, struct error *err)
{
	const struct bundle_member *m = b->members;
	char version[32];
	struct span mark;

	if (b->n > 1) {
		qsort(b->members, b->n, sizeof(*b->members), by_name);
	}
	for (size_t i = 1; i < b->n; i++) {
		if (strcmp(m[i - 1].name, m[i].name) == 0) {
			return error_set(err, SONDE_EFORMAT, NO_OFFSET,
			        "the member \"%.200s\" is in the bundle twice", m[i].name);
		}
	}
	if (!bundle_find(b, BUNDLE_MARK, &mark)) {
		return error_set(err, SONDE_EFORMAT, NO_OFFSET,
		        "it is a tar archive without a member \"" BUNDLE_MARK
		        "\"; unpack it, or make a bundle with 'sonde bundle'");
	}
	(void)snprintf(version, sizeof(version), BUNDLE_MARK " %d\n", BUNDLE_VERSION);
	if (!span_starts(mark, (struct span){(const uint8_t *)version, strlen(version)})) {
		return error_set(err, SONDE_EUNSUPPORTED, NO_OFFSET,
		        "it is a bundle of another version; this Sonde reads version %d",
		        BUNDLE_VERSION);
	}
	return 0;
}

int bundle_open(struct bundle **out, struct span bytes, struct diag_sink *diags, struct error *err)
{
	struct reading r = {.bytes = bytes, .diags = diags, .err = err};
	int rc = 1;

	*out = NULL;
	r.bundle = calloc(1, sizeof(*r.bundle));
	if (r.bundle == NULL) {
		return error_nomem(err);
	}
	while (rc > 0) {
		rc = step(&r);
	}
	rc = rc == 0 ? check(r.bundle, err) : rc;
	if (rc < 0) {
		bundle_free(r.bundle);
		return rc;
	}
	*out = r.bundle;
	return 0;
}

void bundle_free(struct bundle *b)
{
	if (b != NULL) {
		arena_fini(&b->arena);
		free(b->members);
		free(b);
	}
}

/* ---- look-ups ---- */

size_t bundle_count(const struct bundle *b)
{
	return b->n;
}

const struct bundle_member *bundle_at(const struct bundle *b, size_t i)
{
	return &b->members[i];
}

/* The first member whose name is not before this one. */
static size_t first_from(const struct bundle *b, const char *name)
{
	size_t low = 0, high = b->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(b->members[middle].name, name) < 0) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

bool bundle_find(const struct bundle *b, const char *name, struct span *out)
{
	size_t i = b != NULL ? first_from(b, name) : 0;

	if (b == NULL || i >= b->n || strcmp(b->members[i].name, name) != 0 ||
	        b->members[i].bytes.n == 0) {
		return false;
	}
	*out = b->members[i].bytes;
	return true;
}

bool bundle_root_name(char out[BUNDLE_NAME_MAX], const char *path)
{
	const size_t root = strlen(BUNDLE_ROOT);
	size_t end = root; /* of the name, which has a slash after each part */

	memcpy(out, BUNDLE_ROOT, root);
	while (*path != '\0') {
		size_t n = strcspn(path, "/");

		if (bytes_are(path, n, "..")) {
			while (end > root && out[--end - 1] != '/') {
			}
		} else if (n != 0 && !bytes_are(path, n, ".")) {
			if (end + n + 1 >= BUNDLE_NAME_MAX) {
				return false;
			}
			memcpy(out + end, path, n);
			out[end + n] = '/';
			end += n + 1;
		}
		path += n + (path[n] == '/');
	}
	out[end - 1] = '\0';
	return end > root;
}

bool bundle_file(const struct bundle *b, const char *path, struct span *out)
{
	char name[BUNDLE_NAME_MAX];

	return b != NULL && bundle_root_name(name, path) && bundle_find(b, name, out);
}

static size_t hex_of(char *out, struct span id)
{
	static const char digits[] = "0123456789abcdef";
	size_t n = 0;

	for (size_t i = 0; i < id.n && i < BUNDLE_ID_MAX; i++) {
		out[n++] = digits[id.p[i] >> 4];
		out[n++] = digits[id.p[i] & 15];
		if (i == 0) {
			out[n++] = '/';
		}
	}
	out[n] = '\0';
	return n;
}

void bundle_object_name(char out[BUNDLE_NAME_MAX], struct span id, const char *part)
{
	char hex[2 * BUNDLE_ID_MAX + 2];

	(void)hex_of(hex, id);
	(void)snprintf(out, BUNDLE_NAME_MAX, BUNDLE_OBJECTS "%s/%s", hex, part);
}

bool bundle_object(const struct bundle *b, struct span id, const char *part, struct span *out)
{
	char hex[2 * BUNDLE_ID_MAX + 2], start[sizeof(BUNDLE_OBJECTS) + 3];
	size_t n, i;

	if (b == NULL || id.n < 2) {
		return false;
	}
	n = hex_of(hex, id);
	(void)snprintf(start, sizeof(start), BUNDLE_OBJECTS "%.3s", hex);
	for (i = first_from(b, start);
	        i < b->n && strncmp(b->members[i].name, start, strlen(start)) == 0; i++) {
		const char *own = b->members[i].name + strlen(BUNDLE_OBJECTS);
		const char *slash = strrchr(own, '/');
		size_t size = (size_t)(slash - own); /* `start` has a slash */

		if (size > 3 && strcmp(slash + 1, part) == 0 && b->members[i].bytes.n != 0 &&
		        strncmp(own, hex, size < n ? size : n) == 0) {
			*out = b->members[i].bytes;
			return true;
		}
	}
	return false;
}

bool bundle_kallsyms(const struct bundle *b, struct span id, struct span *out)
{
	if (bundle_find(b, BUNDLE_KCORE BUNDLE_KALLSYMS, out) ||
	        bundle_file(b, "/proc/kallsyms", out)) {
		return true;
	}
	if (b == NULL || id.n != 0) {
		return bundle_object(b, id, BUNDLE_KALLSYMS, out);
	}
	for (size_t i = first_from(b, BUNDLE_OBJECTS); i < b->n; i++) {
		const char *name = b->members[i].name;
		const char *slash;

		if (strncmp(name, BUNDLE_OBJECTS, strlen(BUNDLE_OBJECTS)) != 0) {
			return false;
		}
		slash = strrchr(name + strlen(BUNDLE_OBJECTS), '/');
		if (slash != NULL && strcmp(slash + 1, BUNDLE_KALLSYMS) == 0 &&
		        b->members[i].bytes.n != 0) {
			*out = b->members[i].bytes;
			return true;
		}
	}
	return false;
}
