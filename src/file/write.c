/* SPDX-License-Identifier: MIT */
#include "file/write.h"

#include "core/array.h"
#include "core/options.h"
#include "record/layout.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int write_misuse(struct sonde_writer *w, const char *text)
{
	return error_set(&w->error, SONDE_EARG, NO_OFFSET, "%s", text);
}

struct sonde_writer *sonde_writer_new(const struct sonde_writer_options *options)
{
	struct sonde_writer *w = calloc(1, sizeof(*w));

	if (w == NULL) {
		return NULL;
	}
	(void)options_copy(&w->o, sizeof(w->o), options, &w->error);
	if (w->o.container == 0) {
		w->o.container = SONDE_CONTAINER_FILE;
	}
	w->swap = w->o.order != SONDE_ORDER_HOST &&
	          (w->o.order == SONDE_ORDER_BIG) != HOST_BIG_ENDIAN;
	return w;
}

void write_whole(struct sonde_writer *w)
{
	w->whole = true;
}

static void stream_free(struct write_stream *s)
{
	packer_free(s->packer);
	file_writer_fini(&s->file);
	if (s->owned) {
		(void)close(s->file.fd);
	}
	free(s->path);
}

void sonde_writer_free(struct sonde_writer *w)
{
	struct error ignored = {0};

	if (w == NULL) {
		return;
	}
	for (size_t i = 0; i < w->nevents; i++) {
		free(w->events[i].attr);
		free(w->events[i].ids);
		free(w->events[i].name);
	}
	for (size_t i = 0; i < w->nfeatures; i++) {
		text_fini(&w->features[i].bytes);
	}
	for (size_t i = 0; i < w->nstreams; i++) {
		(void)file_writer_flush(&w->streams[i].file, &ignored);
		stream_free(&w->streams[i]);
	}
	replace_abandon(&w->replace);
	if (w->whole && !w->closed && w->directory_made) {
		replace_remove_folder(w->directory);
	}
	free(w->events);
	free(w->features);
	free(w->streams);
	free(w->directory);
	text_fini(&w->places);
	text_fini(&w->scratch);
	free(w);
}

const struct sonde_error *sonde_writer_error(const struct sonde_writer *w)
{
	return error_show(&w->error);
}

/* ---- events and features ---- */

static int event_copy(struct write_event *e, const void *attr, size_t n, const uint64_t *ids,
        size_t nids, const char *name)
{
	e->attr = malloc(n);
	e->ids = malloc(nids * 8 + 1);
	e->name = name != NULL ? strdup(name) : NULL;
	if (e->attr == NULL || e->ids == NULL || (name != NULL && e->name == NULL)) {
		free(e->attr);
		free(e->ids);
		free(e->name);
		return SONDE_ENOMEM;
	}
	memcpy(e->attr, attr, n);
	if (nids != 0) {
		memcpy(e->ids, ids, nids * 8);
	}
	e->attr_size = n;
	e->nids = nids;
	return 0;
}

static int event_add(struct sonde_writer *w, const void *attr, size_t n, const uint64_t *ids,
        size_t nids, const char *name)
{
	struct write_event e = {0};
	struct sonde_attr decoded;

	if (w->opened) {
		return write_misuse(w, "events must be added before the output is opened");
	}
	if (n < ATTR_SIZE_VER0 || n > UINT16_MAX / 2) {
		return write_misuse(w, "an attr has 64 to 32,767 bytes");
	}
	if (!record_attr_decode((struct span){attr, n}, w->swap, &decoded) ||
	        !array_reserve(&w->events, &w->events_cap, w->nevents + 1, sizeof(e)) ||
	        event_copy(&e, attr, n, ids, nids, name) < 0) {
		return error_nomem(&w->error);
	}
	record_plan_make(&e.plan, &decoded);
	w->events[w->nevents] = e;
	return (int)w->nevents++;
}

int sonde_writer_event_bytes(struct sonde_writer *w, const void *attr, size_t n,
        const uint64_t *ids, size_t nids, const char *name)
{
	int rc = 0;

	WRITER_TRY(w, rc = event_add(w, attr, n, ids, nids, name));
	return rc;
}

/* Copies bytes of a layout, in the other byte order with swap. */
static void turn(const struct layout *layout, bool swap, const uint8_t *in, size_t n, uint8_t *out)
{
	struct layout_walk walk;
	struct layout_value v;
	enum layout_event event;

	memcpy(out, in, n);
	layout_walk_init(&walk, layout, (struct span){in, n}, false, NULL, 0);
	while (swap && (event = layout_next(&walk, &v)) != LAYOUT_END) {
		if (event == LAYOUT_VALUE) {
			layout_turn(&v, false, out + (v.bytes.p - in));
		}
	}
}

int sonde_writer_event(struct sonde_writer *w, const struct sonde_attr *attr, const uint64_t *ids,
        size_t nids, const char *name)
{
	struct sonde_attr a = *attr;
	uint8_t host[ATTR_SIZE_NOW], bytes[ATTR_SIZE_NOW];
	uint64_t id = w->nevents + 1;

	a.size = a.size < ATTR_SIZE_VER0 || a.size > ATTR_SIZE_NOW ? 128 : a.size;
	record_attr_encode(&a, host);
	turn(layout_of_attr(), w->swap, host, sizeof(host), bytes);
	return sonde_writer_event_bytes(
	        w, bytes, a.size, ids != NULL ? ids : &id, ids != NULL ? nids : 1, name);
}

/* Returns the index of the feature, or the one to insert it at. */
static size_t feature_index(const struct sonde_writer *w, unsigned bit)
{
	size_t i = 0;

	while (i < w->nfeatures && w->features[i].bit < bit) {
		i++;
	}
	return i;
}

/* Returns the feature's bytes; NULL: it is not set. */
static const struct text *feature_find(const struct sonde_writer *w, unsigned bit)
{
	size_t i = feature_index(w, bit);

	return i < w->nfeatures && w->features[i].bit == bit ? &w->features[i].bytes : NULL;
}

static int feature_set(struct sonde_writer *w, unsigned bit, const void *bytes, size_t n)
{
	size_t i = feature_index(w, bit);
	struct text copy = {0};

	if (bit == 0 || bit >= FEATURE_BITS) {
		return write_misuse(w, "features have the numbers 1 to 255");
	}
	if (w->closed || (w->opened && w->o.container == SONDE_CONTAINER_PIPE)) {
		return write_misuse(w, "features of a stream must be set before it is opened");
	}
	text_bytes(&copy, bytes, n);
	if (copy.failed || !array_reserve(&w->features, &w->features_cap, w->nfeatures + 1,
	                           sizeof(*w->features))) {
		text_fini(&copy);
		return error_nomem(&w->error);
	}
	if (i < w->nfeatures && w->features[i].bit == bit) {
		text_fini(&w->features[i].bytes);
	} else {
		memmove(w->features + i + 1, w->features + i,
		        (w->nfeatures++ - i) * sizeof(*w->features));
	}
	w->features[i] = (struct file_writer_feature){.bit = bit, .bytes = copy};
	return 0;
}

/* Sets the feature to the bytes in w->scratch. */
static int feature_made(struct sonde_writer *w, unsigned bit)
{
	return w->scratch.failed ? error_nomem(&w->error)
	                         : feature_set(w, bit, w->scratch.p, w->scratch.n);
}

int sonde_writer_feature(struct sonde_writer *w, unsigned bit, const void *bytes, size_t n)
{
	WRITER_TRY(w, feature_set(w, bit, bytes, n));
	return 0;
}

/* EVENT_DESC: `u32 n, attr size; {attr; u32 ids; str name; u64 ids[]}[n]`. */
static int names_set(struct sonde_writer *w)
{
	struct text *t = &w->scratch;
	size_t room = 0;
	bool named = false;

	for (size_t i = 0; i < w->nevents; i++) {
		named |= w->events[i].name != NULL;
		room = w->events[i].attr_size > room ? w->events[i].attr_size : room;
	}
	if (!named || feature_find(w, FEATURE_EVENT_DESC) != NULL) {
		return 0;
	}
	t->n = 0;
	file_put_u32(t, (uint32_t)w->nevents, w->swap);
	file_put_u32(t, (uint32_t)room, w->swap);
	for (size_t i = 0; i < w->nevents; i++) {
		const struct write_event *e = &w->events[i];
		const char *name = e->name != NULL ? e->name : "";
		size_t len = strlen(name), padded = (len + 1 + 63) / 64 * 64;

		text_bytes(t, (const char *)e->attr, e->attr_size);
		text_fill(t, '\0', room - e->attr_size);
		file_put_u32(t, (uint32_t)e->nids, w->swap);
		file_put_u32(t, (uint32_t)padded, w->swap);
		text_bytes(t, name, len);
		text_fill(t, '\0', padded - len);
		for (size_t j = 0; j < e->nids; j++) {
			file_put_u64(t, e->ids[j], w->swap);
		}
	}
	return feature_made(w, FEATURE_EVENT_DESC);
}

/* ---- opening and closing ---- */

static int cannot_create(struct sonde_writer *w, const char *path)
{
	bool full = errno == ENOSPC || errno == EDQUOT;

	(void)error_errno(&w->error, status_of_errno(errno), errno, "cannot create %s", path);
	return error_append(
	        &w->error, "%s", full ? "; make room or write to another file system" : "");
}

/* Adds a file for a descriptor, which the writer owns if `owned`, even after a failure. */
static int stream_add(struct sonde_writer *w, int fd, const char *path, bool owned)
{
	struct write_stream s = {.path = strdup(path), .owned = owned};

	s.file = (struct file_writer){.fd = fd,
	        .name = s.path,
	        .stream = w->o.container == SONDE_CONTAINER_PIPE,
	        .swap = w->swap,
	        .standard = fd == STDOUT_FILENO};
	if (s.path == NULL ||
	        !array_reserve(&w->streams, &w->streams_cap, w->nstreams + 1, sizeof(s))) {
		stream_free(&s);
		return error_nomem(&w->error);
	}
	w->streams[w->nstreams++] = s;
	return w->o.compress == 0 ? 0
	                          : packer_new(&w->streams[w->nstreams - 1].packer, w->o.compress,
	                                    w->swap, &w->error);
}

static int stream_open(struct sonde_writer *w, const char *path)
{
	bool replaces = w->whole && w->directory == NULL;
	int fd = replaces ? replace_open(&w->replace, path, 0600)
	                  : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	return fd < 0 ? cannot_create(w, path) : stream_add(w, fd, path, true);
}

static int to_file(void *arg, const void *bytes, size_t n, struct error *err)
{
	return file_writer_put(arg, bytes, n, err);
}

static int stream_flush(struct sonde_writer *w, struct write_stream *s)
{
	struct packer_out to = {.put = to_file, .arg = &s->file};

	return packer_flush(s->packer, &to, &w->error);
}

/* Opens data, data.0, data.1, ... up to the last one wanted. */
static int directory_streams(struct sonde_writer *w, uint32_t last)
{
	while (w->nstreams <= last) {
		size_t n = strlen(w->directory) + 32;
		char *path = malloc(n);
		int rc;

		if (path == NULL) {
			return error_nomem(&w->error);
		}
		if (w->nstreams == 0) {
			(void)snprintf(path, n, "%s/data", w->directory);
		} else {
			(void)snprintf(path, n, "%s/data.%zu", w->directory, w->nstreams - 1);
		}
		rc = stream_open(w, path);
		free(path);
		TRY(rc);
	}
	return 0;
}

static int directory_make(struct sonde_writer *w, const char *path)
{
	uint8_t version[8];

	w->directory = strdup(path);
	if (w->directory == NULL) {
		return error_nomem(&w->error);
	}
	if (mkdir(path, 0700) < 0) {
		return error_errno(&w->error, errno == EACCES ? SONDE_EPERM : SONDE_EIO, errno,
		        "cannot make the directory %s", path);
	}
	w->directory_made = true;
	store_u64(version, 1, w->swap);
	if (feature_find(w, FEATURE_DIR_FORMAT) == NULL) {
		TRY(feature_set(w, FEATURE_DIR_FORMAT, version, sizeof(version)));
	}
	return directory_streams(w, 0);
}

/* COMPRESSED: `u32 version, type (1 zstd), level, ratio, most bytes that a record inflates to`. */
static int compressed_set(struct sonde_writer *w)
{
	uint64_t in = 0, out = 0;
	uint8_t payload[20];

	if (w->o.compress == 0) {
		return 0;
	}
	for (size_t i = 0; i < w->nstreams; i++) {
		if (w->streams[i].packer != NULL) {
			packer_counts(w->streams[i].packer, &in, &out);
		}
	}
	store_u32(payload, 1, w->swap);
	store_u32(payload + 4, 1, w->swap);
	store_u32(payload + 8, (uint32_t)w->o.compress, w->swap);
	store_u32(payload + 12, (uint32_t)(out != 0 ? (in + out / 2) / out : 1), w->swap);
	store_u32(payload + 16, PACKER_INFLATED_MAX, w->swap);
	return feature_set(w, FEATURE_COMPRESSED, payload, sizeof(payload));
}

/*
 * Whether the header can be rewritten at its offset at the end: not in a pipe, nor after other
 * text.
 */
static bool holds_file(int fd)
{
	struct stat st;
	int flags = fcntl(fd, F_GETFL);

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && flags >= 0 &&
	       (flags & O_APPEND) == 0 && lseek(fd, 0, SEEK_CUR) == 0;
}

static int descriptor_open(struct sonde_writer *w, int fd)
{
	const char *name = fd == STDOUT_FILENO ? "standard output" : "the descriptor";

	if (w->o.container == SONDE_CONTAINER_DIRECTORY ||
	        (w->o.container == SONDE_CONTAINER_FILE && !holds_file(fd))) {
		return error_set(&w->error, SONDE_EARG, NO_OFFSET,
		        "%s cannot hold a %s; write a stream (--to pipe), or name a file", name,
		        w->o.container == SONDE_CONTAINER_FILE ? "seekable file" : "directory");
	}
	return stream_add(w, fd, name, false);
}

static int function_open(struct sonde_writer *w, sonde_write_fn write, void *arg)
{
	if (w->o.container != SONDE_CONTAINER_PIPE) {
		return write_misuse(w, "a function can only take a stream");
	}
	TRY(stream_add(w, -1, "the output", false));
	w->streams[0].file.put = write;
	w->streams[0].file.put_arg = arg;
	return 0;
}

static int path_open(struct sonde_writer *w, const char *path)
{
	if (strcmp(path, "-") == 0) {
		return descriptor_open(w, STDOUT_FILENO);
	}
	return w->o.container == SONDE_CONTAINER_DIRECTORY ? directory_make(w, path)
	                                                   : stream_open(w, path);
}

/* Writes everything that comes before the records to the main file. */
static int start(struct sonde_writer *w)
{
	struct file_writer *f = &w->streams[0].file;
	struct file_writer_event *events = calloc(w->nevents + 1, sizeof(*events));
	int rc;

	if (events == NULL) {
		return error_nomem(&w->error);
	}
	for (size_t i = 0; i < w->nevents; i++) {
		const struct write_event *e = &w->events[i];

		events[i] = (struct file_writer_event){
		        .bytes = {e->attr, e->attr_size}, .ids = e->ids, .nids = e->nids};
	}
	rc = file_writer_start(f, events, w->nevents, &w->error);
	free(events);
	return rc < 0 || !f->stream
	               ? rc
	               : file_writer_stream_features(f, w->features, w->nfeatures, &w->error);
}

static int begin(struct sonde_writer *w)
{
	TRY(names_set(w));
	TRY(compressed_set(w)); /* a stream needs it now, in a file the ratio is set at the end */
	w->opened = true;
	return start(w);
}

static int check_unopened(struct sonde_writer *w)
{
	return w->opened ? write_misuse(w, "this writer has an output already") : 0;
}

int sonde_writer_open(struct sonde_writer *w, const char *path)
{
	WRITER_TRY(w, check_unopened(w));
	WRITER_TRY(w, path_open(w, path));
	WRITER_TRY(w, begin(w));
	return 0;
}

int sonde_writer_open_fd(struct sonde_writer *w, int fd)
{
	WRITER_TRY(w, check_unopened(w));
	WRITER_TRY(w, descriptor_open(w, fd));
	WRITER_TRY(w, begin(w));
	return 0;
}

int sonde_writer_open_function(struct sonde_writer *w, sonde_write_fn write, void *arg)
{
	WRITER_TRY(w, check_unopened(w));
	WRITER_TRY(w, function_open(w, write, arg));
	WRITER_TRY(w, begin(w));
	return 0;
}

/* Sets the AUXTRACE feature: the offsets of the AUXTRACE records. */
static int places_set(struct sonde_writer *w)
{
	struct text *t = &w->scratch;

	if (w->places.n == 0 && !w->places.failed) {
		return 0;
	}
	t->n = 0;
	file_put_u64(t, w->places.n / 16, w->swap);
	text_bytes(t, w->places.p, w->places.n);
	t->failed |= w->places.failed;
	return feature_made(w, FEATURE_AUXTRACE);
}

/*
 * A data size of 0 would mean a killed recorder: if there are no records, writes the end of a
 * round.
 */
static int data_fill(struct sonde_writer *w)
{
	struct file_writer *f = &w->streams[0].file;
	uint8_t round[RECORD_HEADER_SIZE] = {0};

	if (file_writer_at(f) != f->data_at) {
		return 0;
	}
	store_u32(round, RECORD_FINISHED_ROUND, w->swap);
	store_u16(round + 6, RECORD_HEADER_SIZE, w->swap);
	return file_writer_put(f, round, sizeof(round), &w->error);
}

/* Whether the directory's format requires data.0, data.1, ... */
static bool directory_parted(const struct sonde_writer *w)
{
	const struct text *format = feature_find(w, FEATURE_DIR_FORMAT);

	return format == NULL || format->n < 8 ||
	       load_u64((const uint8_t *)format->p, w->swap) != 0;
}

static int writer_close(struct sonde_writer *w)
{
	if (!w->opened || w->closed) {
		return write_misuse(w, "the writer is not open");
	}
	if (w->directory != NULL && directory_parted(w)) {
		TRY(directory_streams(w, 1)); /* perf opens no directory without a data.0 */
	}
	for (size_t i = 0; i < w->nstreams; i++) {
		if (w->streams[i].packer != NULL) {
			TRY(stream_flush(w, &w->streams[i]));
		}
	}
	for (size_t i = 1; i < w->nstreams; i++) {
		TRY(file_writer_flush(&w->streams[i].file, &w->error));
	}
	if (w->o.container != SONDE_CONTAINER_PIPE) {
		TRY(data_fill(w));
		TRY(places_set(w));
		TRY(compressed_set(w));
	}
	TRY(file_writer_finish(&w->streams[0].file, w->features, w->nfeatures, &w->error));
	if (!replace_commit(&w->replace)) {
		return cannot_create(w, w->streams[0].path);
	}
	w->closed = true;
	if (!w->streams[0].owned && !w->streams[0].file.stream) {
		(void)lseek(w->streams[0].file.fd, 0, SEEK_END); /* other programs may write
		                                                    there afterwards */
	}
	return 0;
}

int sonde_writer_close(struct sonde_writer *w)
{
	WRITER_TRY(w, writer_close(w));
	return 0;
}

/* ---- records ---- */

int write_record_put(struct sonde_writer *w, uint32_t stream, struct span r, struct span payload)
{
	struct write_stream *s;
	uint32_t type;

	if (!w->opened || w->closed) {
		return write_misuse(w, "records are written between opening and closing");
	}
	if (r.n < RECORD_HEADER_SIZE || load_u16(r.p + 6, w->swap) != (uint16_t)r.n) {
		return write_misuse(w, "a record's size must be that of its bytes, 8 or more");
	}
	if (w->directory == NULL) {
		stream = 0;
	} else if (stream >= w->nstreams) {
		TRY(directory_streams(w, stream));
	}
	s = &w->streams[stream];
	type = load_u32(r.p, w->swap);
	if (s->packer != NULL && type < RECORD_USER_START) {
		struct packer_out to = {.put = to_file, .arg = &s->file};

		return packer_put(s->packer, r.p, r.n, &to, &w->error);
	}
	if (s->packer != NULL) {
		TRY(stream_flush(w, s));
	}
	if (type == RECORD_AUXTRACE && stream == 0) {
		file_put_u64(&w->places, file_writer_at(&s->file), w->swap);
		file_put_u64(&w->places, r.n, w->swap);
	}
	TRY(file_writer_put(&s->file, r.p, r.n, &w->error));
	return payload.n == 0 ? 0 : file_writer_put(&s->file, payload.p, payload.n, &w->error);
}

int sonde_writer_record(struct sonde_writer *w, uint32_t stream, const void *bytes, size_t n,
        const void *payload, size_t payload_n)
{
	WRITER_TRY(w, write_record_put(w, stream, (struct span){bytes, n},
	                      (struct span){payload, payload_n}));
	return 0;
}
