/* SPDX-License-Identifier: MIT */
#include "file/write.h"

#include "core/array.h"
#include "record/layout.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#define RECORD_SIZE_MAX 0xfff8u /* bytes */
#define TEXT_MAX        4000u /* bytes of a name in a record */

static int failed(struct sonde_writer *w, int status)
{
	w->shown = (struct sonde_error){
	        .status = status, .offset = w->error.offset, .text = w->error.text};
	return status;
}

#define WRITER_TRY(w, expr)                                                                        \
	do {                                                                                       \
		int try_rc_ = (w)->shown.status < 0 ? (w)->shown.status : (expr);                  \
		if (try_rc_ < 0) {                                                                 \
			return failed((w), try_rc_);                                               \
		}                                                                                  \
	} while (0)

static int misuse(struct sonde_writer *w, const char *text)
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
		write_packer_free(w->streams[i].packer);
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
		return misuse(w, "events must be added before the output is opened");
	}
	if (n < ATTR_SIZE_VER0 || n > UINT16_MAX / 2) {
		return misuse(w, "an attr has 64 to 32,767 bytes");
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
		return misuse(w, "features have the numbers 1 to 255");
	}
	if (w->closed || (w->opened && w->o.container == SONDE_CONTAINER_PIPE)) {
		return misuse(w, "features of a stream must be set before it is opened");
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
	                          : write_packer_new(&w->streams[w->nstreams - 1], w->o.compress,
	                                    w->swap, &w->error);
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
		write_packer_counts(&w->streams[i], &in, &out);
	}
	store_u32(payload, 1, w->swap);
	store_u32(payload + 4, 1, w->swap);
	store_u32(payload + 8, (uint32_t)w->o.compress, w->swap);
	store_u32(payload + 12, (uint32_t)(out != 0 ? (in + out / 2) / out : 1), w->swap);
	store_u32(payload + 16, WRITE_INFLATED_MAX, w->swap);
	return feature_set(w, FEATURE_COMPRESSED, payload, sizeof(payload));
}

static int writer_open(struct sonde_writer *w, const char *path)
{
	if (w->opened) {
		return misuse(w, "this writer has an output already");
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
		return misuse(w, "the writer is not open");
	}
	if (w->directory != NULL && directory_parted(w)) {
		TRY(directory_streams(w, 1)); /* perf opens no directory without a data.0 */
	}
	for (size_t i = 0; i < w->nstreams; i++) {
		if (w->streams[i].packer != NULL) {
			TRY(write_packer_flush(&w->streams[i], &w->error));
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

static int record_put(struct sonde_writer *w, uint32_t stream, struct span r, struct span payload)
{
	struct write_stream *s;
	uint32_t type;

	if (!w->opened || w->closed) {
		return misuse(w, "records are written between opening and closing");
	}
	if (r.n < RECORD_HEADER_SIZE || load_u16(r.p + 6, w->swap) != (uint16_t)r.n) {
		return misuse(w, "a record's size must be that of its bytes, 8 or more");
	}
	if (w->directory == NULL) {
		stream = 0;
	} else if (stream >= w->nstreams) {
		TRY(directory_streams(w, stream));
	}
	s = &w->streams[stream];
	type = load_u32(r.p, w->swap);
	if (s->packer != NULL && type < RECORD_USER_START) {
		return write_packer_put(s, r.p, r.n, &w->error);
	}
	if (s->packer != NULL) {
		TRY(write_packer_flush(s, &w->error));
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
	WRITER_TRY(w,
	        record_put(w, stream, (struct span){bytes, n}, (struct span){payload, payload_n}));
	return 0;
}

/* ---- records that are made here: in host order, turned at the end ---- */

static void put_host(struct text *t, const void *p, size_t n)
{
	text_bytes(t, p, n);
}

static void put_u32(struct text *t, uint32_t v)
{
	put_host(t, &v, sizeof(v));
}

static void put_u64(struct text *t, uint64_t v)
{
	put_host(t, &v, sizeof(v));
}

static void record_begin(struct text *t, uint32_t type, uint16_t misc)
{
	t->n = 0;
	put_u32(t, type);
	put_host(t, &misc, 2);
	put_host(t, "\0", 2); /* the size, known at the end */
}

/* A name and its NUL, up to a multiple of 8. */
static void put_name(struct text *t, const char *name)
{
	size_t n = strnlen(name, TEXT_MAX);

	text_bytes(t, name, n);
	text_fill(t, '\0', 8 - (t->n & 7));
}

/* The trailer of side-band: that of the first event, when it asks for one. */
static void put_trailer(
        const struct sonde_writer *w, struct text *t, uint32_t pid, uint32_t tid, uint64_t time)
{
	const struct write_event *e = &w->events[0];
	uint64_t type = e->plan.sample_type, id = e->nids != 0 ? e->ids[0] : 0;

	if (e->plan.trailer_size == 0) {
		return;
	}
	if ((type & SONDE_SAMPLE_TID) != 0) {
		put_u32(t, pid);
		put_u32(t, tid);
	}
	if ((type & SONDE_SAMPLE_TIME) != 0) {
		put_u64(t, time);
	}
	for (unsigned i = 0; i < 4; i++) {
		static const uint64_t bits[] = {SONDE_SAMPLE_ID, SONDE_SAMPLE_STREAM_ID,
		        SONDE_SAMPLE_CPU, SONDE_SAMPLE_IDENTIFIER};

		if ((type & bits[i]) != 0) {
			put_u64(t, bits[i] == SONDE_SAMPLE_CPU ? 0 : id);
		}
	}
}

/* Sets the size and writes w->scratch in the file's byte order. */
static int record_end(struct sonde_writer *w, const struct record_plan *plan)
{
	struct text *t = &w->scratch;
	struct record r;
	size_t n = t->n;

	if (n > RECORD_SIZE_MAX) {
		return error_set(&w->error, SONDE_ELIMIT, NO_OFFSET,
		        "a record of %zu bytes does not fit: %u are the most", n, RECORD_SIZE_MAX);
	}
	text_fill(t, '\0', w->swap ? n : 0);
	if (t->failed) {
		return error_nomem(&w->error);
	}
	store_u16((uint8_t *)t->p + 6, (uint16_t)n, false);
	if (w->swap) {
		r = (struct record){.type = load_u32((uint8_t *)t->p, false),
		        .misc = load_u16((uint8_t *)t->p + 4, false),
		        .size = (uint16_t)n,
		        .body = {(uint8_t *)t->p + RECORD_HEADER_SIZE, n - RECORD_HEADER_SIZE}};
		(void)record_turn(&r, false, plan, 0, (uint8_t *)t->p + n);
	}
	return record_put(
	        w, 0, (struct span){(uint8_t *)t->p + (w->swap ? n : 0), n}, (struct span){0});
}

static int side_band_check(struct sonde_writer *w)
{
	return w->nevents != 0 ? 0 : misuse(w, "a recording has at least one event");
}

static int comm_put(
        struct sonde_writer *w, uint32_t pid, uint32_t tid, const char *name, uint64_t time)
{
	struct text *t = &w->scratch;

	TRY(side_band_check(w));
	record_begin(t, RECORD_COMM, 0);
	put_u32(t, pid);
	put_u32(t, tid);
	put_name(t, name);
	put_trailer(w, t, pid, tid, time);
	return record_end(w, &w->events[0].plan);
}

int sonde_writer_comm(
        struct sonde_writer *w, uint32_t pid, uint32_t tid, const char *name, uint64_t time)
{
	WRITER_TRY(w, comm_put(w, pid, tid, name, time));
	return 0;
}

static int mmap_put(struct sonde_writer *w, const struct sonde_writer_mapping *m)
{
	struct text *t = &w->scratch;

	TRY(side_band_check(w));
	record_begin(t, RECORD_MMAP2, MISC_USER);
	put_u32(t, m->pid);
	put_u32(t, m->tid);
	put_u64(t, m->addr);
	put_u64(t, m->len);
	put_u64(t, m->pgoff);
	text_fill(t, '\0', 24); /* device and inode */
	put_u32(t, m->prot);
	put_u32(t, m->flags);
	put_name(t, m->path);
	put_trailer(w, t, m->pid, m->tid, m->time);
	return record_end(w, &w->events[0].plan);
}

int sonde_writer_mmap(struct sonde_writer *w, const struct sonde_writer_mapping *m)
{
	WRITER_TRY(w, mmap_put(w, m));
	return 0;
}

#define SAMPLE_FIXED                                                                               \
	(SONDE_SAMPLE_IDENTIFIER | SONDE_SAMPLE_IP | SONDE_SAMPLE_TID | SONDE_SAMPLE_TIME |        \
	        SONDE_SAMPLE_ADDR | SONDE_SAMPLE_ID | SONDE_SAMPLE_STREAM_ID | SONDE_SAMPLE_CPU |  \
	        SONDE_SAMPLE_PERIOD)
#define SAMPLE_LATER                                                                               \
	(SONDE_SAMPLE_WEIGHT | SONDE_SAMPLE_WEIGHT_STRUCT | SONDE_SAMPLE_DATA_SRC |                \
	        SONDE_SAMPLE_TRANSACTION)
#define SAMPLE_LAST                                                                                \
	(SONDE_SAMPLE_PHYS_ADDR | SONDE_SAMPLE_CGROUP | SONDE_SAMPLE_DATA_PAGE_SIZE |              \
	        SONDE_SAMPLE_CODE_PAGE_SIZE)
#define BRANCH_HW_INDEX ((uint64_t)1 << 17) /* branch_sample_type: the index stands in front */
#define BRANCH_COUNTERS ((uint64_t)1 << 19) /* counters stand behind */

/* Fields of one u64, in the order of the record; pid and tid, and cpu, are made of two u32. */
static void put_words(struct text *t, const struct sonde_sample *s, uint64_t id, uint64_t type)
{
	const struct {
		uint64_t bit, value;
	} words[] = {
	        {SONDE_SAMPLE_IDENTIFIER, id},
	        {SONDE_SAMPLE_IP, s->ip},
	        {SONDE_SAMPLE_TID, 0},
	        {SONDE_SAMPLE_TIME, s->time},
	        {SONDE_SAMPLE_ADDR, s->addr},
	        {SONDE_SAMPLE_ID, id},
	        {SONDE_SAMPLE_STREAM_ID, s->stream_id},
	        {SONDE_SAMPLE_CPU, 0},
	        {SONDE_SAMPLE_PERIOD, s->period},
	        {SONDE_SAMPLE_WEIGHT, s->weight},
	        {SONDE_SAMPLE_WEIGHT_STRUCT, s->weight},
	        {SONDE_SAMPLE_DATA_SRC, s->data_src},
	        {SONDE_SAMPLE_TRANSACTION, s->transaction},
	        {SONDE_SAMPLE_PHYS_ADDR, s->phys_addr},
	        {SONDE_SAMPLE_CGROUP, s->cgroup},
	        {SONDE_SAMPLE_DATA_PAGE_SIZE, s->data_page_size},
	        {SONDE_SAMPLE_CODE_PAGE_SIZE, s->code_page_size},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if ((type & words[i].bit) == 0) {
			continue;
		}
		if (words[i].bit == SONDE_SAMPLE_TID || words[i].bit == SONDE_SAMPLE_CPU) {
			bool tid = words[i].bit == SONDE_SAMPLE_TID;

			put_u32(t, tid ? s->pid : s->cpu);
			put_u32(t, tid ? s->tid : 0);
		} else {
			put_u64(t, words[i].value);
		}
	}
}

static void put_branches(
        struct text *t, const struct record_plan *plan, const struct sonde_sample *s)
{
	put_u64(t, s->branch_len);
	if ((plan->branch_sample_type & BRANCH_HW_INDEX) != 0) {
		put_u64(t, s->branch_hw_index);
	}
	put_host(t, s->branches, s->branch_len * 24);
	if ((plan->branch_sample_type & BRANCH_COUNTERS) != 0) {
		put_host(t, s->branch_counters, s->branch_len * 8);
	}
}

/* The counts: what stands before the values of a group stands behind the value of a single one. */
static void put_counts(struct text *t, uint64_t format, const struct sonde_sample *s)
{
	bool group = (format & SONDE_READ_GROUP) != 0;

	if (group) {
		put_u64(t, s->read_len);
	} else {
		put_u64(t, s->read_values[0].value);
	}
	if ((format & SONDE_READ_ENABLED) != 0) {
		put_u64(t, s->read_enabled);
	}
	if ((format & SONDE_READ_RUNNING) != 0) {
		put_u64(t, s->read_running);
	}
	for (uint64_t i = 0; i < s->read_len; i++) {
		if (group) {
			put_u64(t, s->read_values[i].value);
		}
		if ((format & SONDE_READ_ID) != 0) {
			put_u64(t, s->read_values[i].id);
		}
		if ((format & SONDE_READ_LOST) != 0) {
			put_u64(t, s->read_values[i].lost);
		}
	}
}

/* abi 0: no registers */
static void put_regs(struct text *t, uint64_t abi, const uint64_t *regs, unsigned n)
{
	put_u64(t, regs != NULL ? abi : 0);
	if (abi != 0 && regs != NULL) {
		put_host(t, regs, (size_t)n * 8);
	}
}

/* Size, bytes up to a multiple of 8, and how many of them are valid; of an empty one the size. */
static void put_stack(struct text *t, const struct sonde_sample *s)
{
	size_t n = (size_t)s->user_stack_len;
	size_t pad = (8 - n % 8) % 8;

	put_u64(t, n + pad);
	if (n != 0) {
		put_host(t, s->user_stack, n);
		text_fill(t, '\0', pad);
		put_u64(t, n);
	}
}

/* A multiple of 8 bytes, as the kernel has it. */
static void put_aux(struct text *t, const struct sonde_sample *s)
{
	size_t pad = (8 - s->aux_len % 8) % 8;

	put_u64(t, s->aux_len + pad);
	put_host(t, s->aux, (size_t)s->aux_len);
	text_fill(t, '\0', pad);
}

/* The parts whose length the sample tells. */
static void put_arrays(struct text *t, const struct record_plan *plan, const struct sonde_sample *s)
{
	uint64_t type = plan->sample_type;

	if ((type & SONDE_SAMPLE_READ) != 0) {
		put_counts(t, plan->read_format, s);
	}
	if ((type & SONDE_SAMPLE_CALLCHAIN) != 0) {
		put_u64(t, s->callchain_len);
		put_host(t, s->callchain, s->callchain_len * 8);
	}
	if ((type & SONDE_SAMPLE_RAW) != 0) {
		uint32_t pad = (8 - (s->raw_len + 4) % 8) % 8;

		put_u32(t, s->raw_len + pad);
		put_host(t, s->raw, s->raw_len);
		text_fill(t, '\0', pad);
	}
	if ((type & SONDE_SAMPLE_BRANCH_STACK) != 0) {
		put_branches(t, plan, s);
	}
	if ((type & SONDE_SAMPLE_REGS_USER) != 0) {
		put_regs(t, s->user_regs_abi, s->user_regs, plan->user_regs);
	}
	if ((type & SONDE_SAMPLE_STACK_USER) != 0) {
		put_stack(t, s);
	}
}

/* What cannot be in a record; checked before anything is put together. */
static int sample_check(
        struct sonde_writer *w, const struct record_plan *plan, const struct sonde_sample *s)
{
	bool counts = (plan->sample_type & SONDE_SAMPLE_READ) != 0;
	bool group = (plan->read_format & SONDE_READ_GROUP) != 0;

	if (counts && !group && (s->read_len != 1 || s->read_values == NULL)) {
		return misuse(w, "a sample of this event has one count: read_len and read_values");
	}
	if (s->branch_len != 0 && s->branch_counters == NULL &&
	        (plan->branch_sample_type & BRANCH_COUNTERS) != 0) {
		return misuse(w, "branches of this event have counters: branch_counters");
	}
	if (s->callchain_len > RECORD_SIZE_MAX / 8 || s->branch_len > RECORD_SIZE_MAX / 24 ||
	        s->user_stack_len > RECORD_SIZE_MAX || s->raw_len > RECORD_SIZE_MAX ||
	        s->aux_len > RECORD_SIZE_MAX || (counts && s->read_len > RECORD_SIZE_MAX / 8)) {
		return error_set(&w->error, SONDE_ELIMIT, NO_OFFSET,
		        "call chain (%llu), branches (%llu), stack (%llu bytes), raw data (%u "
		        "bytes), counts (%llu) or trace data (%llu bytes) do not fit into a record "
		        "of at most %u bytes",
		        (unsigned long long)s->callchain_len, (unsigned long long)s->branch_len,
		        (unsigned long long)s->user_stack_len, s->raw_len,
		        (unsigned long long)s->read_len, (unsigned long long)s->aux_len,
		        RECORD_SIZE_MAX);
	}
	return 0;
}

static int sample_put(struct sonde_writer *w, int event, const struct sonde_sample *s)
{
	struct text *t = &w->scratch;
	const struct write_event *e;
	uint64_t type, id;

	if (event < 0 || (size_t)event >= w->nevents) {
		return misuse(w, "the sample's event was not added");
	}
	e = &w->events[event];
	type = e->plan.sample_type;
	id = s->id != 0 || e->nids == 0 ? s->id : e->ids[0];
	TRY(sample_check(w, &e->plan, s));
	record_begin(t, RECORD_SAMPLE, s->ip >> 63 != 0 ? MISC_KERNEL : MISC_USER);
	put_words(t, s, id, type & SAMPLE_FIXED);
	put_arrays(t, &e->plan, s);
	put_words(t, s, id, type & SAMPLE_LATER);
	if ((type & SONDE_SAMPLE_REGS_INTR) != 0) {
		put_regs(t, s->intr_regs_abi, s->intr_regs, e->plan.intr_regs);
	}
	put_words(t, s, id, type & SAMPLE_LAST);
	if ((type & SONDE_SAMPLE_AUX) != 0) {
		put_aux(t, s);
	}
	return record_end(w, &e->plan);
}

int sonde_writer_sample(struct sonde_writer *w, int event, const struct sonde_sample *s)
{
	WRITER_TRY(w, sample_put(w, event, s));
	return 0;
}
