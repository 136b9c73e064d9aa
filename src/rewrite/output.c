/* SPDX-License-Identifier: MIT */
#include "rewrite/output.h"

#include "file/write.h"
#include "record/layout.h"

#include <stdlib.h>

#define STREAM_FEATURE_MAX 0xffe0u /* bytes that fit into a FEATURE record of a stream */
/* The highest level kept from an input: 22, as in some files, takes 650 MB for each stream. */
#define LEVEL_KEPT 9u
/* Most files to spread records over; each may need a zstd context of megabytes. */
#define SPREAD_MAX 64u

static int writer_failed(struct output *o)
{
	return error_take(o->error, sonde_writer_error(o->writer));
}

#define WRITE(o, expr)                                                                             \
	do {                                                                                       \
		if ((expr) < 0) {                                                                  \
			return writer_failed(o);                                                   \
		}                                                                                  \
	} while (0)

void output_fini(struct output *o)
{
	for (size_t i = 0; i < FEATURE_BITS; i++) {
		text_fini(&o->features[i].bytes);
	}
	sonde_writer_free(o->writer);
	text_fini(&o->build_ids);
	free(o->room);
}

/* ---- the other byte order ---- */

static uint8_t *room_for(struct output *o, size_t n)
{
	if (n > o->room_size) {
		uint8_t *p = realloc(o->room, n);

		if (p == NULL) {
			return NULL;
		}
		o->room = p;
		o->room_size = n;
	}
	return o->room;
}

/* Converts the bytes of a layout to the output's byte order; p is NULL: out of memory. */
static struct span turned(struct output *o, const struct layout *layout, struct span in)
{
	struct layout_walk walk;
	struct layout_value v;
	enum layout_event event;
	uint8_t *out;

	if (!o->turn || layout == NULL || in.n == 0) {
		return in;
	}
	out = room_for(o, in.n);
	if (out == NULL) {
		return (struct span){0};
	}
	layout_walk_init(&walk, layout, in, o->in->swap, NULL, 0);
	walk.slots[SLOT_CPUS] = o->cpus;
	while ((event = layout_next(&walk, &v)) != LAYOUT_END) {
		if ((event == LAYOUT_VALUE || event == LAYOUT_REST) && v.bytes.n != 0) {
			layout_turn(&v, o->in->swap, out + (v.bytes.p - in.p));
		}
	}
	return (struct span){out, in.n};
}

/* ---- events ---- */

/* Whether the output will have the feature. */
static bool has_feature(const struct output *o, unsigned bit)
{
	return o->features[bit].changed ? !o->features[bit].gone
	                                : file_has_feature(o->in, (enum abi_feature)bit);
}

static struct span feature_of(const struct output *o, unsigned bit)
{
	const struct text *t = &o->features[bit].bytes;

	return o->features[bit].changed ? (struct span){(const uint8_t *)t->p, t->n}
	                                : file_feature(o->in, (enum abi_feature)bit);
}

/* Whether the input has names of events where the output cannot: version 1 and old streams do. */
static bool names_elsewhere(const struct output *o)
{
	bool types = o->in->old;

	for (size_t i = 0; i < o->in->nnamings; i++) {
		types |= o->in->namings[i].type == RECORD_HEADER_EVENT_TYPE;
	}
	return types && !has_feature(o, FEATURE_EVENT_DESC);
}

/*
 * A list of names that is cut off, or does not match the events of the output, is made again from
 * the known names.
 */
static bool names_again(const struct output *o)
{
	return (o->in->names_cut || o->events != o->in) && !has_feature(o, FEATURE_EVENT_DESC);
}

static int events_write(struct output *o)
{
	bool named = names_again(o) || names_elsewhere(o);

	for (size_t i = 0; i < o->events->nevents; i++) {
		const struct file_event *e = &o->events->events[i];
		struct span attr = turned(o, layout_of_attr(), e->bytes);

		if (attr.p == NULL) {
			return error_nomem(o->error);
		}
		WRITE(o, sonde_writer_event_bytes(o->writer, attr.p, attr.n, e->ids, e->nids,
		                 named ? e->name : NULL));
	}
	return 0;
}

/* ---- features ---- */

bool output_feature_fits(const struct output *o, unsigned bit)
{
	const struct layout *layout = layout_of_feature(bit);
	struct layout_walk walk;
	struct layout_value v;

	if (layout == NULL) {
		return true;
	}
	layout_walk_init(&walk, layout, feature_of(o, bit), o->in->swap, NULL, 0);
	walk.slots[SLOT_CPUS] = o->cpus;
	while (layout_next(&walk, &v) != LAYOUT_END) {
	}
	return !walk.bad;
}

/* Features that describe the container: the writer makes new ones. */
static bool feature_is_made(unsigned bit)
{
	return bit == FEATURE_COMPRESSED || bit == FEATURE_DIR_FORMAT || bit == FEATURE_AUXTRACE;
}

/* Warns of a feature that a stream cannot have as a record: one that is too long, or empty. */
static void stream_note(struct output *o, unsigned bit)
{
	size_t n = feature_of(o, bit).n;
	bool mark = bit == FEATURE_BRANCH_STACK || bit == FEATURE_STAT;
	bool record = bit == FEATURE_TRACING_DATA || bit == FEATURE_BUILD_ID;

	if (o->to_pipe && !record && ((n == 0 && !mark) || n > STREAM_FEATURE_MAX)) {
		diag_report(o->in->diags, SONDE_DIAG_NOTE, o->in->features[bit].offset,
		        "header feature %u of %zu bytes does not fit into a stream and is left out",
		        bit, n);
	}
}

/*
 * A directory converted to a directory keeps its format: a single file (with copies of the kernel)
 * or parts.
 */
bool output_takes_feature(const struct output *o, unsigned bit)
{
	bool alike = bit == FEATURE_DIR_FORMAT && o->in->directory && o->to_directory;

	return has_feature(o, bit) && (alike || !feature_is_made(bit));
}

static int feature_write(struct output *o, unsigned bit)
{
	struct span in = feature_of(o, bit);
	struct span s = turned(o, layout_of_feature(bit), in);

	if (in.n != 0 && s.p == NULL) {
		return error_nomem(o->error);
	}
	WRITE(o, sonde_writer_feature(o->writer, bit, s.p, s.n));
	return 0;
}

static int features_write(struct output *o)
{
	for (unsigned bit = 1; bit < FEATURE_BITS; bit++) {
		if (!output_takes_feature(o, bit)) {
			continue;
		}
		if (o->turn && !output_feature_fits(o, bit)) {
			diag_report(o->in->diags, SONDE_DIAG_DAMAGED, o->in->features[bit].offset,
			        "header feature %u does not fit its fields: the bytes behind them "
			        "keep their order",
			        bit);
		}
		stream_note(o, bit);
		TRY(feature_write(o, bit));
	}
	return 0;
}

/* Starts with the entries of the feature, to which BUILD_ID records are added. */
static int build_ids_start(struct output *o)
{
	struct span in = feature_of(o, FEATURE_BUILD_ID);
	struct span s = turned(o, layout_of_feature(FEATURE_BUILD_ID), in);

	o->build_ids.n = 0;
	text_bytes(&o->build_ids, (const char *)s.p, s.n);
	return o->build_ids.failed || s.n != in.n ? error_nomem(o->error) : 0;
}

void output_drop_feature(struct output *o, unsigned bit)
{
	o->features[bit].changed = true;
	o->features[bit].gone = true;
}

int output_set_feature(struct output *o, unsigned bit, const void *bytes, size_t n)
{
	struct output_feature *f = &o->features[bit % FEATURE_BITS];

	if (bit == 0 || bit >= FEATURE_BITS || feature_is_made(bit)) {
		return error_set(o->error, SONDE_EARG, NO_OFFSET,
		        "header feature %u is not a stage's to change", bit);
	}
	if (o->opened && (o->to_pipe || bytes == NULL)) {
		return error_set(o->error, SONDE_EARG, NO_OFFSET,
		        "header feature %u can only be %s before the first record", bit,
		        bytes == NULL ? "removed" : "set in a stream");
	}
	f->changed = true;
	f->gone = bytes == NULL;
	f->bytes.n = 0;
	text_bytes(&f->bytes, bytes, f->gone ? 0 : n);
	if (f->bytes.failed) {
		return error_nomem(o->error);
	}
	if (!o->opened) {
		return 0;
	}
	return bit == FEATURE_BUILD_ID ? build_ids_start(o) : feature_write(o, bit);
}

/* ---- records ---- */

/* Converts a BUILD_ID record to an entry of the feature, where the type is 0. */
static int build_id_keep(struct output *o, const uint8_t *bytes, size_t n)
{
	text_fill(&o->build_ids, '\0', 4);
	text_bytes(&o->build_ids, (const char *)bytes + 4, n - 4);
	return o->build_ids.failed ? error_nomem(o->error) : 0;
}

/*
 * The file of a directory for a record of one stream: samples by processor, all other records to
 * data.
 */
static uint32_t part_of(
        const struct output *o, const struct record *r, const struct file_event *event)
{
	uint32_t cpu = 0;
	uint8_t at;

	if (r->type != RECORD_SAMPLE || event == NULL) {
		return 0;
	}
	at = event->plan.cpu;
	if (at != RECORD_NOT_THERE && r->body.n >= at + 4u) {
		cpu = load_u32(r->body.p + at, o->in->swap);
	}
	return 1 + (cpu < o->cpus ? cpu % SPREAD_MAX : 0);
}

/* Sets *bytes to the record in the output's byte order, with the length of its trace data. */
static int record_turned(struct output *o, const struct record *r, const struct file_event *event,
        uint64_t payload, const uint8_t **bytes)
{
	const struct record_plan *plan = event != NULL ? &event->plan : NULL;
	size_t n = r->body.n + RECORD_HEADER_SIZE;
	bool cut = r->type == RECORD_AUXTRACE && n >= 16 &&
	           load_u64(r->body.p, o->in->swap) != payload;
	uint8_t *out;

	*bytes = r->body.p - RECORD_HEADER_SIZE;
	if (!o->turn && !cut) {
		return 0;
	}
	out = room_for(o, n);
	if (out == NULL) {
		return error_nomem(o->error);
	}
	if (!o->turn) {
		memcpy(out, *bytes, n);
	} else if (!record_turn(r, o->in->swap, plan, o->cpus, out)) {
		diag_report(o->in->diags, SONDE_DIAG_NOTE, r->offset,
		        "a record of type %u does not fit its fields: the bytes behind them keep "
		        "their order",
		        r->type);
	}
	if (cut) {
		store_u64(out + RECORD_HEADER_SIZE, payload, o->in->swap != o->turn);
	}
	*bytes = out;
	return 0;
}

struct record output_record_of(const struct sonde_raw_record *raw)
{
	return (struct record){.type = raw->type,
	        .misc = raw->misc,
	        .size = (uint16_t)raw->size,
	        .offset = raw->position,
	        .body = {(const uint8_t *)raw->bytes + RECORD_HEADER_SIZE,
	                raw->size - RECORD_HEADER_SIZE}};
}

static int record_write(
        struct output *o, const struct sonde_raw_record *raw, uint32_t stream, const uint8_t *bytes)
{
	WRITE(o, sonde_writer_record(o->writer, stream, bytes, raw->size, raw->payload,
	                 (size_t)raw->payload_size));
	o->rounds_last = raw->type == RECORD_FINISHED_ROUND ? o->rounds_last + 1 : 0;
	o->rounds_first += o->rounds_last == ++o->records;
	return 0;
}

int output_record(struct output *o, const struct sonde_raw_record *raw)
{
	bool same = !o->turn && raw->type != RECORD_AUXTRACE && raw->type != RECORD_BUILD_ID;
	const struct file_event *event = NULL;
	const uint8_t *bytes = raw->bytes;
	struct record r;

	if (same && !o->spread) { /* most records */
		return record_write(o, raw, raw->stream, bytes);
	}
	/* a round does not apply to records that went to other files */
	if (o->spread && raw->type == RECORD_FINISHED_ROUND) {
		return 0;
	}
	r = output_record_of(raw);
	if (r.type < RECORD_USER_START) {
		event = r.type == RECORD_SAMPLE ? file_sample_event(o->events, &r)
		                                : file_record_event(o->events, &r);
	}
	if (!same) {
		TRY(record_turned(o, &r, event, raw->payload_size, &bytes));
	}
	if (r.type == RECORD_BUILD_ID && !o->to_pipe) {
		return build_id_keep(o, bytes, raw->size);
	}
	return record_write(o, raw, o->spread ? part_of(o, &r, event) : raw->stream, bytes);
}

/* ---- opening and closing ---- */

/* zstd level of the input; 0: not compressed. */
static int level_of(const struct file *f)
{
	struct span s = file_feature(f, FEATURE_COMPRESSED);
	uint32_t level = s.n >= 12 ? load_u32(s.p + 8, f->swap) : 0;

	return (int)(level < LEVEL_KEPT ? level : LEVEL_KEPT);
}

static enum sonde_container container_of(const struct file *f, const struct output_target *target)
{
	bool named = target->path != NULL && strcmp(target->path, "-") != 0;

	return !named         ? SONDE_CONTAINER_PIPE
	       : f->directory ? SONDE_CONTAINER_DIRECTORY
	       : f->pipe      ? SONDE_CONTAINER_PIPE
	                      : SONDE_CONTAINER_FILE;
}

int output_plan(struct output *o, const struct sonde_rewriter_options *options,
        const struct output_target *target)
{
	struct sonde_writer_options wo = {.size = sizeof(wo), .container = options->container};
	struct span s = file_feature(o->in, FEATURE_NRCPUS);

	if (wo.container == 0) {
		wo.container = container_of(o->in, target);
	}
	if (o->in->nevents == 0 && wo.container != SONDE_CONTAINER_PIPE) {
		return error_set(o->error, SONDE_EFORMAT, NO_OFFSET,
		        "the recording describes no event, which a file must; only a stream "
		        "('--to pipe') can be written");
	}
	wo.order = o->in->swap != HOST_BIG_ENDIAN ? SONDE_ORDER_BIG : SONDE_ORDER_LITTLE;
	o->turn = options->order != SONDE_ORDER_HOST && options->order != wo.order;
	wo.order = o->turn ? options->order : wo.order;
	wo.compress = options->compress > 0                      ? options->compress
	              : options->compress == SONDE_REWRITE_PLAIN ? 0
	                                                         : level_of(o->in);
	o->cpus = s.n >= 4 ? load_u32(s.p, o->in->swap) : 0;
	o->to_pipe = wo.container == SONDE_CONTAINER_PIPE;
	o->to_directory = wo.container == SONDE_CONTAINER_DIRECTORY;
	o->spread = o->to_directory && !o->in->directory;
	o->writer = sonde_writer_new(&wo);
	if (o->writer == NULL) {
		return error_nomem(o->error);
	}
	write_whole(o->writer);
	return 0;
}

int output_open(struct output *o, const struct output_target *target)
{
	TRY(events_write(o));
	TRY(features_write(o));
	if (target->path != NULL) {
		WRITE(o, sonde_writer_open(o->writer, target->path));
	} else if (target->write != NULL) {
		WRITE(o, sonde_writer_open_function(o->writer, target->write, target->write_arg));
	} else {
		WRITE(o, sonde_writer_open_fd(o->writer, target->fd));
	}
	o->opened = true;
	return build_ids_start(o);
}

/*
 * Two rounds in a row before all other records promise two more at the end of a stream
 * (file/writer.h). They are missing if the recorder was killed, or if the input is no stream, where
 * rounds promise nothing. The output is a complete recording.
 */
static int stream_end(struct output *o)
{
	const size_t n = RECORD_HEADER_SIZE;
	uint8_t round[RECORD_HEADER_SIZE] = {0};
	bool swap = o->in->swap != o->turn;
	uint64_t after = o->records - 2; /* those after the two that promise more */

	if (!o->to_pipe || o->rounds_first < 2 || (o->rounds_last >= 2 && after >= 2)) {
		return 0;
	}
	store_u32(round, RECORD_FINISHED_ROUND, swap);
	store_u16(round + 6, (uint16_t)n, swap);
	for (unsigned i = 0; i < 2; i++) {
		WRITE(o, sonde_writer_record(o->writer, 0, round, n, NULL, 0));
	}
	return 0;
}

int output_end(struct output *o)
{
	TRY(stream_end(o));
	if (!o->to_pipe && o->build_ids.n != 0) {
		WRITE(o, sonde_writer_feature(
		                 o->writer, FEATURE_BUILD_ID, o->build_ids.p, o->build_ids.n));
	}
	return 0;
}

int output_close(struct output *o)
{
	WRITE(o, sonde_writer_close(o->writer));
	return 0;
}
