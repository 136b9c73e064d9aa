/* SPDX-License-Identifier: MIT */
#include "file/write.h"

#include "core/array.h"
#include "record/layout.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int write_failed(struct sonde_writer *w, int status)
{
	w->shown = (struct sonde_error){
	        .status = status, .offset = w->error.offset, .text = w->error.text};
	return status;
}

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
	if (options != NULL) {
		size_t n = options->size < sizeof(w->o) ? options->size : sizeof(w->o);

		memcpy(&w->o, options, n);
	}
	if (w->o.container == 0) {
		w->o.container = SONDE_CONTAINER_FILE;
	}
	w->swap = w->o.order != SONDE_ORDER_HOST &&
	          (w->o.order == SONDE_ORDER_BIG) != HOST_BIG_ENDIAN;
	w->shown.text = w->error.text;
	w->shown.offset = NO_OFFSET;
	return w;
}

void sonde_writer_free(struct sonde_writer *w)
{
	if (w == NULL) {
		return;
	}
	for (size_t i = 0; i < w->nevents; i++) {
		free(w->events[i].attr);
		free(w->events[i].ids);
		free(w->events[i].name);
	}
	for (size_t i = 0; i < FEATURE_BITS; i++) {
		free(w->features[i].bytes);
	}
	for (size_t i = 0; i < w->nstreams; i++) {
		struct error ignored = {0};

		(void)sink_flush(&w->streams[i].sink, &ignored);
		packer_free(w->streams[i].packer);
		sink_close(&w->streams[i].sink);
	}
	free(w->events);
	free(w->streams);
	free(w->places);
	free(w->directory);
	text_fini(&w->scratch);
	free(w);
}

const struct sonde_error *sonde_writer_error(const struct sonde_writer *w)
{
	return &w->shown;
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

	if (w->opened) {
		return write_misuse(w, "events must be added before the output is opened");
	}
	if (n < ATTR_SIZE_VER0 || n > UINT16_MAX / 2) {
		return write_misuse(w, "an attr has 64 to 32,767 bytes");
	}
	if (!record_attr_decode((struct span){attr, n}, w->swap, &e.decoded) ||
	        !array_reserve(&w->events, &w->events_cap, w->nevents + 1, sizeof(e)) ||
	        event_copy(&e, attr, n, ids, nids, name) < 0) {
		return error_nomem(&w->error);
	}
	record_plan_make(&e.plan, &e.decoded);
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

/* Copies bytes of a layout into the other byte order, or as they are. */
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

static int feature_set(struct sonde_writer *w, unsigned bit, const void *bytes, size_t n)
{
	struct write_feature *f = &w->features[bit % FEATURE_BITS];
	uint8_t *copy;

	if (bit == 0 || bit >= FEATURE_BITS) {
		return write_misuse(w, "features have the numbers 1 to 255");
	}
	if (w->closed || (w->opened && w->o.container == SONDE_CONTAINER_PIPE)) {
		return write_misuse(w, "features of a stream must be set before it is opened");
	}
	copy = malloc(n + 1);
	if (copy == NULL) {
		return error_nomem(&w->error);
	}
	if (n != 0) {
		memcpy(copy, bytes, n);
	}
	free(f->bytes);
	*f = (struct write_feature){.bytes = copy, .n = n, .set = true};
	return 0;
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
	if (!named || w->features[FEATURE_EVENT_DESC].set) {
		return 0;
	}
	t->n = 0;
	write_u32(w, t, (uint32_t)w->nevents);
	write_u32(w, t, (uint32_t)room);
	for (size_t i = 0; i < w->nevents; i++) {
		const struct write_event *e = &w->events[i];
		const char *name = e->name != NULL ? e->name : "";
		size_t len = strlen(name), padded = (len + 1 + 63) / 64 * 64;

		text_bytes(t, (const char *)e->attr, e->attr_size);
		text_fill(t, '\0', room - e->attr_size);
		write_u32(w, t, (uint32_t)e->nids);
		write_u32(w, t, (uint32_t)padded);
		text_bytes(t, name, len);
		text_fill(t, '\0', padded - len);
		for (size_t j = 0; j < e->nids; j++) {
			write_u64(w, t, e->ids[j]);
		}
	}
	return t->failed ? error_nomem(&w->error) : feature_set(w, FEATURE_EVENT_DESC, t->p, t->n);
}

/* ---- opening and closing ---- */

static int stream_open(struct sonde_writer *w, const char *path)
{
	struct write_stream s = {0};

	if (!array_reserve(&w->streams, &w->streams_cap, w->nstreams + 1, sizeof(s))) {
		return error_nomem(&w->error);
	}
	TRY(sink_open(&s.sink, path, &w->error));
	w->streams[w->nstreams++] = s;
	return w->o.compress == 0 ? 0
	                          : packer_new(&w->streams[w->nstreams - 1].packer, w->o.compress,
	                                    w->swap, &w->error);
}

static int to_sink(void *arg, const void *bytes, size_t n, struct error *err)
{
	return sink_put(arg, bytes, n, err);
}

static int stream_flush(struct sonde_writer *w, struct write_stream *s)
{
	struct packer_out to = {.put = to_sink, .arg = &s->sink};

	return packer_flush(s->packer, &to, &w->error);
}

/* data, data.0, data.1, ... up to the stream that is wanted. */
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
		return error_set(&w->error, errno == EACCES ? SONDE_EPERM : SONDE_EIO, NO_OFFSET,
		        "cannot make the directory %s: %s", path, strerror(errno));
	}
	store_u64(version, 1, w->swap);
	if (!w->features[FEATURE_DIR_FORMAT].set) {
		TRY(feature_set(w, FEATURE_DIR_FORMAT, version, sizeof(version)));
	}
	return directory_streams(w, 0);
}

/* COMPRESSED: `u32 version, type (1 zstd), level, ratio, most bytes a record inflates to`. */
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

/* A file's header is written again at its end, at its offset: not in a pipe, nor after other text. */
static int standard_output_fits(struct sonde_writer *w)
{
	struct stat st;
	int flags = fcntl(STDOUT_FILENO, F_GETFL);

	if (w->o.container == SONDE_CONTAINER_FILE && fstat(STDOUT_FILENO, &st) == 0 &&
	        S_ISREG(st.st_mode) && flags >= 0 && (flags & O_APPEND) == 0 &&
	        lseek(STDOUT_FILENO, 0, SEEK_CUR) == 0) {
		return 0;
	}
	return error_set(&w->error, SONDE_EARG, NO_OFFSET,
	        "standard output cannot hold a %s; write a stream (--to pipe), or name a file",
	        w->o.container == SONDE_CONTAINER_FILE ? "seekable file" : "directory");
}

static int writer_open(struct sonde_writer *w, const char *path)
{
	if (w->opened) {
		return write_misuse(w, "this writer has an output already");
	}
	if (strcmp(path, "-") == 0 && w->o.container != SONDE_CONTAINER_PIPE) {
		TRY(standard_output_fits(w));
	}
	if (w->o.container == SONDE_CONTAINER_DIRECTORY) {
		TRY(directory_make(w, path));
	} else {
		TRY(stream_open(w, path));
	}
	TRY(names_set(w));
	TRY(compressed_set(w)); /* a stream needs it now, a file gets the ratio at the end */
	w->opened = true;
	if (w->o.container == SONDE_CONTAINER_PIPE) {
		return write_pipe_start(w);
	}
	TRY(write_file_start(w));
	/* a pipe says so now, and not after an hour of writing */
	TRY(sink_flush(&w->streams[0].sink, &w->error));
	return sink_patch(&w->streams[0].sink, "PERFILE2", w->swap ? 0 : 8, 0, &w->error);
}

int sonde_writer_open(struct sonde_writer *w, const char *path)
{
	WRITER_TRY(w, writer_open(w, path));
	return 0;
}

/* The AUXTRACE feature says where the AUXTRACE records are. */
static int places_set(struct sonde_writer *w)
{
	struct text *t = &w->scratch;

	if (w->nplaces == 0) {
		return 0;
	}
	t->n = 0;
	write_u64(w, t, w->nplaces);
	for (size_t i = 0; i < w->nplaces; i++) {
		write_u64(w, t, w->places[i].offset);
		write_u64(w, t, w->places[i].size);
	}
	return t->failed ? error_nomem(&w->error) : feature_set(w, FEATURE_AUXTRACE, t->p, t->n);
}

/* A data size of 0 says that the recorder did not end: without a record, the end of a round is one.
 */
static int data_fill(struct sonde_writer *w)
{
	uint8_t round[RECORD_HEADER_SIZE] = {0};

	if (w->streams[0].sink.at != w->data_at) {
		return 0;
	}
	store_u32(round, RECORD_FINISHED_ROUND, w->swap);
	store_u16(round + 6, RECORD_HEADER_SIZE, w->swap);
	return sink_put(&w->streams[0].sink, round, sizeof(round), &w->error);
}

/* Whether the format of the directory says that there are data.0, data.1, ... */
static bool directory_parted(const struct sonde_writer *w)
{
	const struct write_feature *f = &w->features[FEATURE_DIR_FORMAT];

	return f->n < 8 || load_u64(f->bytes, w->swap) != 0;
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
	if (w->o.container != SONDE_CONTAINER_PIPE) {
		TRY(data_fill(w));
		TRY(places_set(w));
		TRY(compressed_set(w));
		TRY(write_file_finish(w));
	}
	w->closed = true;
	for (size_t i = 0; i < w->nstreams; i++) {
		TRY(sink_flush(&w->streams[i].sink, &w->error));
	}
	return 0;
}

int sonde_writer_close(struct sonde_writer *w)
{
	WRITER_TRY(w, writer_close(w));
	return 0;
}

/* ---- records ---- */

static int place_add(struct sonde_writer *w, uint64_t offset, uint64_t size)
{
	if (!array_reserve(&w->places, &w->places_cap, w->nplaces + 1, sizeof(*w->places))) {
		return error_nomem(&w->error);
	}
	w->places[w->nplaces++] = (struct write_place){offset, size};
	return 0;
}

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
		struct packer_out to = {.put = to_sink, .arg = &s->sink};

		return packer_put(s->packer, r.p, r.n, &to, &w->error);
	}
	if (s->packer != NULL) {
		TRY(stream_flush(w, s));
	}
	if (type == RECORD_AUXTRACE && stream == 0) {
		TRY(place_add(w, s->sink.at, r.n));
	}
	TRY(sink_put(&s->sink, r.p, r.n, &w->error));
	return sink_put(&s->sink, payload.p, payload.n, &w->error);
}

int sonde_writer_record(struct sonde_writer *w, uint32_t stream, const void *bytes, size_t n,
        const void *payload, size_t payload_n)
{
	WRITER_TRY(w, write_record_put(w, stream, (struct span){bytes, n},
	                      (struct span){payload, payload_n}));
	return 0;
}
