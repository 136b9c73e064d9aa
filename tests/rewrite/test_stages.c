/* SPDX-License-Identifier: MIT */
/*
 * sonde/preview/rewrite.h with every recording of a folder: test_stages FOLDER. Without a stage,
 * and with one that passes everything on, all bytes are kept; stages drop, add and change records.
 */
#define _GNU_SOURCE
#include "tap.h"

#include <sonde/preview/rewrite.h>
#include <sonde/record.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TYPE_COMM = 3, TYPE_SAMPLE = 9, TYPE_ROUND = 68, TYPE_OURS = 200 };

struct bytes {
	char *p;
	size_t n;
};

static char scratch[] = "/tmp/sonde-stages-XXXXXX";

static const char *scratch_path(const char *name)
{
	static char paths[4][64];
	static unsigned next;
	char *path = paths[next++ % 4];

	(void)snprintf(path, sizeof(paths[0]), "%s/%s", scratch, name);
	return path;
}

static struct bytes bytes_of(const char *path)
{
	struct bytes b = {0};
	FILE *f = fopen(path, "rb");
	struct stat st;

	if (f == NULL || fstat(fileno(f), &st) != 0) {
		(void)fprintf(stderr, "cannot read %s\n", path);
		exit(1);
	}
	b.p = malloc((size_t)st.st_size + 1);
	b.n = b.p != NULL ? fread(b.p, 1, (size_t)st.st_size, f) : 0;
	(void)fclose(f);
	return b;
}

static bool same_bytes(const char *path, const char *other)
{
	struct bytes a = bytes_of(path), b = bytes_of(other);
	bool same = a.n == b.n && a.n != 0 && memcmp(a.p, b.p, a.n) == 0;

	free(a.p);
	free(b.p);
	return same;
}

/* Prints the reason on standard error, so that a failed test can be understood. */
static int rewrite(const char *in, const char *out, const struct sonde_rewriter_options *options,
        const struct sonde_rewriter_stage *stages, size_t n)
{
	struct sonde_rewriter *rw = sonde_rewriter_new(options);
	int rc = sonde_rewriter_open(rw, in);

	for (size_t i = 0; i < n && rc >= 0; i++) {
		rc = sonde_rewriter_add(rw, &stages[i]);
	}
	rc = rc < 0 ? rc : sonde_rewriter_write(rw, out);
	if (rc < 0) {
		(void)fprintf(stderr, "# %s: %s\n", in, sonde_rewriter_error(rw)->text);
	}
	sonde_rewriter_free(rw);
	return rc;
}

/* ---- contents of a recording ---- */

/* Records that no container writes itself; `events`, features included. */
struct content {
	uint64_t records, samples, comms, ours;
	uint64_t hash; /* of records in order, with their trace data */
	uint64_t head; /* of attrs, ids and features */
	bool good; /* it was opened without damage */
};

static uint64_t hash_bytes(uint64_t h, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;

	for (size_t i = 0; i < n; i++) {
		h = (h ^ p[i]) * 0x100000001b3u;
	}
	return (h ^ n) * 0x100000001b3u;
}

static uint64_t head_hash(const struct sonde_file *f)
{
	static const unsigned of_container[] = {18, 24, 27}; /* AUXTRACE, DIR_FORMAT, COMPRESSED */
	uint64_t h = 1;
	size_t n;

	for (size_t i = 0; i < sonde_file_events(f); i++) {
		const void *p = sonde_file_event_bytes(f, i, &n);

		h = hash_bytes(h, p, n);
		p = sonde_file_event_ids(f, i, &n);
		h = hash_bytes(h, p, n * 8);
		h = hash_bytes(h, sonde_file_event_name(f, i), strlen(sonde_file_event_name(f, i)));
	}
	for (unsigned bit = 1; bit < 256; bit++) {
		const unsigned char *p = sonde_file_feature(f, bit, &n);

		while (n != 0 && p[n - 1] == 0) { /* streams pad features with zeros */
			n--;
		}
		if (p != NULL && bit != of_container[0] && bit != of_container[1] &&
		        bit != of_container[2]) {
			h = hash_bytes(h ^ bit, p, n);
		}
	}
	return h;
}

static bool of_container(uint32_t type)
{
	return (type >= 64 && type <= 67) || type == 80 || type == 81 || type == 83;
}

static struct content content_of(const char *path)
{
	struct content c = {.hash = 1};
	struct sonde_file *f = sonde_file_new(NULL);
	const struct sonde_raw_record *r;

	if (sonde_file_open(f, path) < 0) {
		(void)fprintf(stderr, "# %s\n", sonde_file_error(f)->text);
		sonde_file_free(f);
		return c;
	}
	while (sonde_file_next(f, &r) > 0) {
		if (of_container(r->type)) {
			continue;
		}
		c.records++;
		c.samples += r->type == TYPE_SAMPLE;
		c.comms += r->type == TYPE_COMM;
		c.ours += r->type == TYPE_OURS;
		c.hash = hash_bytes(c.hash, r->bytes, r->size);
		c.hash = hash_bytes(c.hash, r->payload, (size_t)r->payload_size);
	}
	c.head = head_hash(f);
	c.good = sonde_file_diags(f, SONDE_DIAG_TRUNCATED) == 0 &&
	         sonde_file_diags(f, SONDE_DIAG_DAMAGED) == 0;
	sonde_file_free(f);
	return c;
}

/* ---- stages ---- */

static int pass(void *arg, struct sonde_rewriter *rw, const struct sonde_raw_record *r)
{
	(void)arg;
	return sonde_rewriter_put(rw, r);
}

static int drop(void *arg, struct sonde_rewriter *rw, const struct sonde_raw_record *r)
{
	(void)arg;
	(void)rw;
	(void)r;
	return 0;
}

static bool foreign(struct sonde_rewriter *rw)
{
	return sonde_file_get_info(sonde_rewriter_file(rw))->swapped != 0;
}

static void store(unsigned char *p, uint64_t v, size_t n, bool turned)
{
	for (size_t i = 0; i < n; i++) {
		size_t at = turned ? n - 1 - i : i;

		memcpy(p + at,
		        (const unsigned char *)&v +
		                (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 8 - n + i : i),
		        1);
	}
}

/* Adds a record of 16 bytes of an unknown type after each COMM. */
static int add_after_comm(void *arg, struct sonde_rewriter *rw, const struct sonde_raw_record *r)
{
	unsigned char bytes[16] = {0};
	const struct sonde_raw_record made = {
	        .bytes = bytes, .size = sizeof(bytes), .stream = r->stream};
	int rc = sonde_rewriter_put(rw, r);
	bool turned = foreign(rw);

	(void)arg;
	store(bytes, TYPE_OURS, 4, turned);
	store(bytes + 6, sizeof(bytes), 2, turned);
	return rc >= 0 && r->type == TYPE_COMM ? sonde_rewriter_put(rw, &made) : rc;
}

/* Drops and counts the records that the stage before added. */
static int drop_ours(void *arg, struct sonde_rewriter *rw, const struct sonde_raw_record *r)
{
	uint64_t *count = arg;

	*count += r->type == TYPE_OURS;
	return r->type == TYPE_OURS ? 0 : sonde_rewriter_put(rw, r);
}

/* Eight more bytes of padding after each name of a COMM: the trailer moves. */
static int grow_comm(void *arg, struct sonde_rewriter *rw, const struct sonde_raw_record *r)
{
	unsigned char bytes[512] = {0};
	struct sonde_raw_record grown = *r;
	const char *name = (const char *)r->bytes + 16;
	size_t at = 16 + (strnlen(name, r->size - 16) / 8 + 1) * 8;

	(void)arg;
	if (r->type != TYPE_COMM || r->size + 8 > sizeof(bytes)) {
		return sonde_rewriter_put(rw, r);
	}
	memcpy(bytes, r->bytes, at);
	memcpy(bytes + at + 8, (const unsigned char *)r->bytes + at, r->size - at);
	store(bytes + 6, r->size + 8, 2, foreign(rw));
	grown.bytes = bytes;
	grown.size = r->size + 8;
	return sonde_rewriter_put(rw, &grown);
}

/* ---- properties of every recording ---- */

static uint64_t names_hash(const char *path)
{
	struct sonde_file *f = sonde_file_new(NULL);
	const struct sonde_typed_record *t;
	const struct sonde_raw_record *r;
	uint64_t h = 1;

	(void)sonde_file_open(f, path);
	while (sonde_file_next(f, &r) > 0) {
		if (r->type == TYPE_COMM && sonde_file_decode(f, r, &t) > 0) {
			h = hash_bytes(h, &t->trailer.time, sizeof(t->trailer.time));
			h = hash_bytes(h, &t->trailer.tid, sizeof(t->trailer.tid));
			h = hash_bytes(h, t->comm.comm.p, t->comm.comm.n);
		}
	}
	sonde_file_free(f);
	return h;
}

static void check_forms(const char *name, const char *path, const struct content *want)
{
	struct sonde_rewriter_options to = {.size = sizeof(to), .compress = SONDE_REWRITE_PLAIN};
	struct sonde_rewriter_options back = to;
	struct sonde_rewriter_stage passing = {.size = sizeof(passing), .record = pass};
	char what[256];
	struct content c;
	bool good;

	to.container = back.container = SONDE_CONTAINER_FILE;
	good = rewrite(path, scratch_path("file"), &to, NULL, 0) == 0;
	c = content_of(scratch_path("file"));
	(void)snprintf(what, sizeof(what), "%s: to a file, records and header stay", name);
	ok(good && c.good && c.hash == want->hash && c.head == want->head, what);
	(void)snprintf(what, sizeof(what), "%s: a stage that passes all on changes no byte", name);
	ok(rewrite(path, scratch_path("passed"), &to, &passing, 1) == 0 &&
	                same_bytes(scratch_path("file"), scratch_path("passed")),
	        what);
	to.container = SONDE_CONTAINER_PIPE;
	(void)snprintf(what, sizeof(what), "%s: file to stream to file changes no record", name);
	good = rewrite(scratch_path("file"), scratch_path("pipe"), &to, NULL, 0) == 0 &&
	       rewrite(scratch_path("pipe"), scratch_path("again"), &back, NULL, 0) == 0;
	c = content_of(scratch_path("again"));
	ok(good && c.good && c.hash == want->hash, what);
	to.container = SONDE_CONTAINER_FILE;
	to.order = SONDE_ORDER_BIG;
	back.order = SONDE_ORDER_LITTLE;
	(void)snprintf(what, sizeof(what), "%s: a stage sees the same in both byte orders", name);
	good = rewrite(path, scratch_path("big"), &to, NULL, 0) == 0 &&
	       rewrite(path, scratch_path("little"), &back, NULL, 0) == 0 &&
	       rewrite(scratch_path("big"), scratch_path("turned"), &back, &passing, 1) == 0;
	ok(good && same_bytes(scratch_path("little"), scratch_path("turned")), what);
}

static void check_stages(const char *name, const char *path, const struct content *want)
{
	uint64_t dropped = 0;
	const struct sonde_rewriter_stage dropping = {.size = sizeof(dropping), .record = drop};
	const struct sonde_rewriter_stage growing = {.size = sizeof(growing), .record = grow_comm};
	const struct sonde_rewriter_stage adding[] = {
	        {.size = sizeof(adding[0]), .record = add_after_comm},
	        {.size = sizeof(adding[0]), .record = drop_ours, .arg = &dropped},
	};
	char what[256];
	struct content c;
	bool good;

	good = rewrite(path, scratch_path("none"), NULL, &dropping, 1) == 0;
	c = content_of(scratch_path("none"));
	(void)snprintf(what, sizeof(what), "%s: dropping every record leaves the header", name);
	ok(good && c.good && c.head == want->head && c.samples == 0 && c.records <= 2, what);
	good = rewrite(path, scratch_path("more"), NULL, adding, 1) == 0;
	c = content_of(scratch_path("more"));
	(void)snprintf(what, sizeof(what), "%s: a record is added after each COMM", name);
	ok(good && c.good && c.ours == want->comms && c.records == want->records + c.ours, what);
	good = rewrite(path, scratch_path("both"), NULL, adding, 2) == 0 &&
	       rewrite(path, scratch_path("plain"), NULL, NULL, 0) == 0;
	(void)snprintf(what, sizeof(what), "%s: a second stage sees and drops them again", name);
	ok(good && dropped == want->comms &&
	                same_bytes(scratch_path("both"), scratch_path("plain")),
	        what);
	good = rewrite(path, scratch_path("grown"), NULL, &growing, 1) == 0;
	c = content_of(scratch_path("grown"));
	(void)snprintf(what, sizeof(what), "%s: longer COMM records keep names and trailers", name);
	ok(good && c.good && c.records == want->records &&
	                (c.hash != want->hash || want->comms == 0) &&
	                names_hash(scratch_path("grown")) == names_hash(path),
	        what);
}

/*
 * Bytes of a seekable file up to the end of its records, without the header; 0: another container,
 * or compressed.
 */
static uint64_t end_of_records(const char *path)
{
	struct sonde_file *f = sonde_file_new(NULL);
	const struct sonde_file_info *info = sonde_file_get_info(f);
	uint64_t end = 0;
	size_t n;

	if (sonde_file_open(f, path) == 0 && info->container == SONDE_CONTAINER_FILE &&
	        sonde_file_feature(f, 27, &n) == NULL) {
		end = info->data_offset + info->data_size;
	}
	sonde_file_free(f);
	return end;
}

/* With a section of event types (perf 3.2), or with sections of no ids at offset 0. */
static bool of_other_layout(const char *name)
{
	static const char *const names[] = {"quipper-old.data", "registers.data", "modules.data",
	        "ksymbols.data", "changes.data", "branches.data", "branch-chains.data",
	        "branch-code.data", "bpf-output.data", "each-branch.data"};
	bool found = false;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		found |= strcmp(name, names[i]) == 0;
	}
	return found;
}

static void check_recording(const char *name, const char *path)
{
	struct content want = content_of(path), c;
	uint64_t end = end_of_records(path);
	struct bytes a = bytes_of(path), b;
	char what[256];
	bool good;

	good = rewrite(path, scratch_path("first"), NULL, NULL, 0) >= 0 &&
	       rewrite(scratch_path("first"), scratch_path("second"), NULL, NULL, 0) >= 0;
	c = content_of(scratch_path("first"));
	b = bytes_of(scratch_path("first"));
	(void)snprintf(what, sizeof(what), "%s: without a stage, records and header stay", name);
	ok(good && want.good && want.records != 0 && c.good && c.hash == want.hash &&
	                c.head == want.head,
	        what);
	if (end != 0 &&
	        !of_other_layout(
	                name)) { /* then perf leaves room for features that it did not write */
		(void)snprintf(what, sizeof(what), "%s: all bytes up to the features stay", name);
		ok(end > 104 && b.n >= end && memcmp(a.p, b.p, 72) == 0 &&
		                memcmp(a.p + 104, b.p + 104, (size_t)end - 104) == 0,
		        what);
	}
	(void)snprintf(what, sizeof(what), "%s: a second rewriting changes no byte", name);
	ok(good && same_bytes(scratch_path("first"), scratch_path("second")), what);
	check_forms(name, path, &want);
	check_stages(name, path, &want);
	free(a.p);
	free(b.p);
}

static void check_recordings(const char *folder)
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;
	unsigned n = 0;
	char path[512];

	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		size_t len = strlen(entry->d_name);
		struct stat st;

		(void)snprintf(path, sizeof(path), "%s/%.255s", folder, entry->d_name);
		if (len > 5 && strcmp(entry->d_name + len - 5, ".data") == 0 &&
		        stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
			check_recording(entry->d_name, path);
			n++;
		}
	}
	if (dir != NULL) {
		(void)closedir(dir);
	}
	ok(n > 30, "more than 30 recordings were rewritten");
}

/* ---- events ---- */

#define CHAIN_BIT ((uint64_t)1 << 5) /* of sample_type */

/* Removes call chains from events, and adds an event. */
static int begin_without_chains(void *arg, struct sonde_rewriter *rw)
{
	static const uint64_t id = 4242;
	struct sonde_file *f = sonde_rewriter_file(rw);
	size_t count = sonde_file_events(f);
	unsigned char attr[256] = {0};
	struct sonde_rewriter_event e = {.size = sizeof(e), .attr = attr, .attr_size = 64};
	int rc = 0;

	(void)arg;
	for (size_t i = 0; i < count && rc >= 0; i++) {
		memcpy(attr, sonde_file_event_bytes(f, i, &e.attr_size), e.attr_size);
		store(attr + 24, sonde_file_event_attr(f, i)->sample_type & ~CHAIN_BIT, 8,
		        foreign(rw));
		rc = sonde_rewriter_set_event(rw, i, &e);
	}
	e.ids = &id;
	e.nids = 1;
	e.name = "one-more";
	return rc < 0 ? rc : sonde_rewriter_set_event(rw, count, &e);
}

struct seen {
	uint64_t samples, chained, hash;
};

static void see_sample(struct seen *seen, const struct sonde_sample *s)
{
	seen->samples++;
	seen->chained += s->callchain_len != 0;
	seen->hash = hash_bytes(seen->hash, &s->ip, sizeof(s->ip));
	seen->hash = hash_bytes(seen->hash, &s->time, sizeof(s->time));
	seen->hash = hash_bytes(seen->hash, &s->tid, sizeof(s->tid));
	seen->hash = hash_bytes(seen->hash, &s->period, sizeof(s->period));
}

/* The chain is the last field of these samples. */
static int cut_chain(void *arg, struct sonde_rewriter *rw, const struct sonde_raw_record *r)
{
	unsigned char bytes[4096];
	struct sonde_raw_record cut = *r;
	const struct sonde_typed_record *t;

	if (r->type != TYPE_SAMPLE || r->size > sizeof(bytes)) {
		return sonde_rewriter_put(rw, r);
	}
	if (sonde_file_decode(sonde_rewriter_file(rw), r, &t) <= 0) {
		return sonde_rewriter_fail(rw, SONDE_EFORMAT, "a sample cannot be decoded");
	}
	see_sample(arg, &t->sample);
	cut.bytes = bytes;
	cut.size = r->size - 8 - (size_t)t->sample.callchain_len * 8;
	memcpy(bytes, r->bytes, cut.size);
	store(bytes + 6, cut.size, 2, foreign(rw));
	return sonde_rewriter_put(rw, &cut);
}

static int see_cut(void *arg, struct sonde_rewriter *rw, const struct sonde_raw_record *r)
{
	const struct sonde_typed_record *t;

	if (r->type == TYPE_SAMPLE && sonde_file_decode(sonde_rewriter_file(rw), r, &t) > 0) {
		see_sample(arg, &t->sample);
	}
	return sonde_rewriter_put(rw, r);
}

static void test_events(const char *path, enum sonde_byte_order order)
{
	struct sonde_rewriter_options o = {.size = sizeof(o), .order = order};
	struct seen before = {.hash = 1}, between = {.hash = 1}, after = {.hash = 1};
	const struct sonde_rewriter_stage stages[] = {
	        {.size = sizeof(stages[0]),
	                .arg = &before,
	                .begin = begin_without_chains,
	                .record = cut_chain},
	        {.size = sizeof(stages[0]), .arg = &between, .record = see_cut},
	};
	struct sonde_file *in = sonde_file_new(NULL), *f = sonde_file_new(NULL);
	const struct sonde_typed_record *t;
	const struct sonde_raw_record *r;
	size_t n;

	ok(rewrite(path, scratch_path("cut"), &o, stages, 2) == 0,
	        "a rewriting that removes call chains succeeds");
	ok(before.samples != 0 && before.chained != 0, "the first stage gets samples with chains");
	ok(between.samples == before.samples && between.chained == 0 && between.hash == before.hash,
	        "the second stage gets the same samples with the changed events");
	ok(sonde_file_open(in, path) == 0 && sonde_file_open(f, scratch_path("cut")) == 0,
	        "the output is opened");
	n = sonde_file_events(in);
	ok(sonde_file_events(f) == n + 1, "the output has one more event");
	eq_str(sonde_file_event_name(f, 0), sonde_file_event_name(in, 0),
	        "the first event has its name");
	eq_str(sonde_file_event_name(f, n), "one-more", "the new event has its name");
	ok(sonde_file_event_ids(f, n, &n) != NULL && n == 1, "the new event has its id");
	ok((sonde_file_event_attr(f, 0)->sample_type & CHAIN_BIT) == 0,
	        "attrs in the output have no call chains");
	while (sonde_file_next(f, &r) > 0) {
		if (r->type == TYPE_SAMPLE && sonde_file_decode(f, r, &t) > 0) {
			see_sample(&after, &t->sample);
		}
	}
	ok(after.samples == before.samples && after.chained == 0 && after.hash == before.hash,
	        "the output has the same samples without chains");
	sonde_file_free(f);
	sonde_file_free(in);
}

/* ---- the handle ---- */

struct looker {
	uint64_t looked, seen, ends;
	bool late; /* look was called for a record after another had passed */
};

static int look(void *arg, struct sonde_rewriter *rw, const struct sonde_raw_record *r)
{
	struct looker *l = arg;

	(void)r;
	l->looked++;
	l->late |= l->seen != 0;
	return sonde_rewriter_file(rw) != NULL ? 0 : -1;
}

static int see(void *arg, struct sonde_rewriter *rw, const struct sonde_raw_record *r)
{
	((struct looker *)arg)->seen++;
	return sonde_rewriter_put(rw, r);
}

static int begin_features(void *arg, struct sonde_rewriter *rw)
{
	(void)arg;
	return sonde_rewriter_set_feature(rw, 3, "12345678", 8) < 0
	               ? -1
	               : sonde_rewriter_set_feature(rw, 4, NULL, 0); /* HOSTNAME, OSRELEASE */
}

static int end_records(void *arg, struct sonde_rewriter *rw)
{
	unsigned char bytes[16] = {0};
	const struct sonde_raw_record made = {.bytes = bytes, .size = sizeof(bytes)};

	((struct looker *)arg)->ends++;
	store(bytes, TYPE_OURS, 4, foreign(rw));
	store(bytes + 6, sizeof(bytes), 2, foreign(rw));
	return sonde_rewriter_put(rw, &made);
}

static int append(void *arg, const char *bytes, size_t n)
{
	return fwrite(bytes, 1, n, arg) == n ? 0 : -1;
}

static int refuse(void *arg, const char *bytes, size_t n)
{
	(void)arg;
	(void)bytes;
	(void)n;
	return -1;
}

static void test_steps(const char *path)
{
	struct content want = content_of(path), c;
	struct looker l = {0};
	const struct sonde_rewriter_stage stage = {.size = sizeof(stage),
	        .arg = &l,
	        .look = look,
	        .begin = begin_features,
	        .record = see,
	        .end = end_records};
	struct sonde_file *f = sonde_file_new(NULL);
	const void *p;
	size_t n;

	ok(rewrite(path, scratch_path("steps"), NULL, &stage, 1) == 0,
	        "a rewriting with all callbacks succeeds");
	c = content_of(scratch_path("steps"));
	eq_u64(l.looked, want.records, "look is called for each record");
	ok(l.seen == want.records && !l.late,
	        "look is called for all records before the first one passes");
	ok(l.ends == 1 && c.ours == 1 && c.records == want.records + 1, "end adds a record");
	ok(sonde_file_open(f, scratch_path("steps")) == 0, "the output is opened");
	p = sonde_file_feature(f, 3, &n);
	ok(p != NULL && n == 8 && memcmp(p, "12345678", 8) == 0,
	        "a replaced feature has its new bytes");
	ok(sonde_file_feature(f, 4, &n) == NULL, "a removed feature is absent");
	p = sonde_file_feature(f, 6, &n);
	ok(p != NULL && n != 0, "other features are kept");
	sonde_file_free(f);
}

static int opened_write(
        const char *path, const struct sonde_rewriter_options *o, int fd, FILE *stream)
{
	struct sonde_rewriter *rw = sonde_rewriter_new(o);
	int rc = sonde_rewriter_open(rw, path);

	rc = rc < 0           ? rc
	     : stream != NULL ? sonde_rewriter_write_function(rw, append, stream)
	                      : sonde_rewriter_write_fd(rw, fd);
	sonde_rewriter_free(rw);
	return rc;
}

static void test_targets(const char *path)
{
	struct sonde_rewriter_options o = {.size = sizeof(o), .container = SONDE_CONTAINER_FILE};
	struct sonde_rewriter *rw = sonde_rewriter_new(NULL);
	FILE *stream = fopen(scratch_path("stream"), "wb");
	int fd = open(scratch_path("fd"), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	ok(rewrite(path, scratch_path("named"), &o, NULL, 0) == 0, "a file is written by name");
	ok(opened_write(path, &o, fd, NULL) == 0 &&
	                same_bytes(scratch_path("fd"), scratch_path("named")),
	        "a descriptor gets the same file");
	ok(opened_write(path, &o, fd, NULL) == SONDE_EARG,
	        "a file is not written to a descriptor after other bytes");
	ok(opened_write(path, &o, 0, stream) == SONDE_EARG, "a file is not written to a function");
	o.container = 0;
	ok(opened_write(path, &o, 0, stream) == 0 && fclose(stream) == 0,
	        "a stream is written to a function");
	o.container = SONDE_CONTAINER_PIPE;
	ok(rewrite(path, scratch_path("pipe"), &o, NULL, 0) == 0 &&
	                same_bytes(scratch_path("stream"), scratch_path("pipe")),
	        "the stream is the same as one written by name");
	ok(sonde_rewriter_open(rw, path) == 0 &&
	                sonde_rewriter_write_function(rw, refuse, NULL) == SONDE_EOUTPUT,
	        "a function that fails ends the rewriting");
	sonde_rewriter_free(rw);
	(void)close(fd);
}

static int put_bad_size(void *arg, struct sonde_rewriter *rw, const struct sonde_raw_record *r)
{
	struct sonde_raw_record bad = *r;

	(void)arg;
	bad.size -= 8;
	(void)sonde_rewriter_put(rw, &bad); /* the failure is kept */
	return 0;
}

static int fail_with_words(void *arg, struct sonde_rewriter *rw, const struct sonde_raw_record *r)
{
	(void)arg;
	(void)r;
	return sonde_rewriter_fail(rw, SONDE_ELIMIT, "enough of this");
}

static int fail_silently(void *arg, struct sonde_rewriter *rw, const struct sonde_raw_record *r)
{
	(void)arg;
	(void)rw;
	(void)r;
	return SONDE_EINTERRUPTED;
}

static int put_early(void *arg, struct sonde_rewriter *rw)
{
	static const unsigned char bytes[16] = {TYPE_OURS, 0, 0, 0, 0, 0, 16};
	const struct sonde_raw_record made = {.bytes = bytes, .size = sizeof(bytes)};

	(void)arg;
	return sonde_rewriter_put(rw, &made);
}

static int event_too_far(void *arg, struct sonde_rewriter *rw)
{
	static const unsigned char attr[64];
	const struct sonde_rewriter_event e = {
	        .size = sizeof(e), .attr = attr, .attr_size = sizeof(attr), .name = "far"};

	(void)arg;
	return sonde_rewriter_set_event(rw, sonde_file_events(sonde_rewriter_file(rw)) + 1, &e);
}

static int feature_of_container(void *arg, struct sonde_rewriter *rw)
{
	(void)arg;
	return sonde_rewriter_set_feature(rw, 27, "", 0);
}

static int feature_late(void *arg, struct sonde_rewriter *rw)
{
	(void)arg;
	return sonde_rewriter_set_feature(rw, 3, "12345678", 8);
}

static void check_failure(const char *path, const struct sonde_rewriter_stage *stage, int status,
        const char *words, const char *what)
{
	struct sonde_rewriter_options o = {.size = sizeof(o), .container = SONDE_CONTAINER_PIPE};
	struct sonde_rewriter *rw = sonde_rewriter_new(&o);

	ok(sonde_rewriter_add(rw, stage) == 0 && sonde_rewriter_open(rw, path) == 0 &&
	                sonde_rewriter_write(rw, scratch_path("failed")) == status &&
	                sonde_rewriter_error(rw)->status == status &&
	                strstr(sonde_rewriter_error(rw)->text, words) != NULL &&
	                sonde_rewriter_write(rw, scratch_path("failed")) == status,
	        what);
	printf("# %s\n", sonde_rewriter_error(rw)->text);
	sonde_rewriter_free(rw);
}

#define STAGE(step, function)                                                                      \
	(&(const struct sonde_rewriter_stage){                                                     \
	        .size = sizeof(struct sonde_rewriter_stage), .step = (function)})

static void test_failures(const char *path)
{
	struct sonde_rewriter *rw = sonde_rewriter_new(NULL);

	check_failure(path, STAGE(record, fail_with_words), SONDE_ELIMIT, "enough of this",
	        "a stage fails with its own words");
	check_failure(path, STAGE(record, fail_silently), SONDE_EINTERRUPTED,
	        sonde_status_text(SONDE_EINTERRUPTED), "a stage that says nothing has its status");
	check_failure(path, STAGE(record, put_bad_size), SONDE_EARG, "size",
	        "a record of another size than its header says is refused");
	check_failure(path, STAGE(begin, put_early), SONDE_EARG, "record and end",
	        "a record cannot be put before the first one");
	check_failure(path, STAGE(begin, event_too_far), SONDE_EARG, "event",
	        "an event that leaves a gap is refused");
	check_failure(path, STAGE(begin, feature_of_container), SONDE_EARG, "27",
	        "a feature of the container cannot be set");
	check_failure(path, STAGE(end, feature_late), SONDE_EARG, "stream",
	        "a stream gets no feature after its records");
	ok(sonde_rewriter_file(rw) == NULL &&
	                sonde_rewriter_write(rw, scratch_path("failed")) == SONDE_EARG,
	        "without an input nothing is written");
	sonde_rewriter_free(rw);
	rw = sonde_rewriter_new(NULL);
	ok(sonde_rewriter_open(rw, path) == 0 && sonde_rewriter_write(rw, path) == SONDE_EARG &&
	                content_of(path).good,
	        "the input cannot be the output");
	sonde_rewriter_free(rw);
	rw = sonde_rewriter_new(NULL);
	ok(sonde_rewriter_open(rw, scratch_path("missing")) == SONDE_ENOENT,
	        "a missing input is an error");
	sonde_rewriter_free(rw);
	sonde_rewriter_free(NULL);
}

static int remove_scratch(void)
{
	DIR *dir = opendir(scratch);
	const struct dirent *entry;

	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		(void)unlinkat(dirfd(dir), entry->d_name, 0);
	}
	return dir == NULL || closedir(dir) != 0 || rmdir(scratch) != 0;
}

int main(int argc, char **argv)
{
	char path[512];

	if (argc != 2 || mkdtemp(scratch) == NULL) {
		return 1;
	}
	check_recordings(argv[1]);
	(void)snprintf(path, sizeof(path), "%s/chains.data", argv[1]);
	test_events(path, SONDE_ORDER_LITTLE);
	test_events(path, SONDE_ORDER_BIG);
	(void)snprintf(path, sizeof(path), "%s/big-endian-chains.data", argv[1]);
	test_events(path, SONDE_ORDER_HOST);
	(void)snprintf(path, sizeof(path), "%s/basic.data", argv[1]);
	test_steps(path);
	test_targets(path);
	test_failures(path);
	ok(remove_scratch() == 0, "no other file was written");
	return tap_done();
}
