/* SPDX-License-Identifier: MIT */
#include "core/text.h"
#include "file/file.h"
#include "record/layout.h"
#include "rewrite/kcore.h"

#include <sonde/preview/convert.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define STREAM_FEATURE_MAX 0xffe0u /* bytes that the FEATURE record of a stream can hold */
/* The highest level that is taken over from an input: 22, as some files say, takes 650 MB a stream.
 */
#define LEVEL_KEPT 9u
/* Files that records are spread over; each may need a zstd context of megabytes. */
#define SPREAD_MAX 64u

/* Types from here on nobody invented yet. */
#define UNKNOWN_TYPE_MAX 0x10000u

struct convert {
	struct file in;
	struct diag_sink diags;
	struct sonde_convert_options o;
	struct sonde_writer *out;
	struct error error;
	bool to_pipe, to_directory;
	bool turn; /* the output's byte order is not the input's */
	bool spread; /* records of one stream go to data.N by processor */
	uint32_t cpus; /* NRCPUS available */
	struct text build_ids; /* of BUILD_ID records, for the feature */
	uint8_t *room; /* for turned bytes */
	size_t room_size;
};

static int writer_failed(struct convert *c)
{
	const struct sonde_error *e = sonde_writer_error(c->out);

	return error_set(&c->error, e->status, e->offset, "%s", e->text);
}

#define WRITE(c, expr)                                                                             \
	do {                                                                                       \
		if ((expr) < 0) {                                                                  \
			return writer_failed(c);                                                   \
		}                                                                                  \
	} while (0)

static uint8_t *room_for(struct convert *c, size_t n)
{
	if (n > c->room_size) {
		uint8_t *p = realloc(c->room, n);

		if (p == NULL) {
			return NULL;
		}
		c->room = p;
		c->room_size = n;
	}
	return c->room;
}

/* The bytes of a layout in the output's byte order; p is NULL: no memory. */
static struct span turned(struct convert *c, const struct layout *layout, struct span in)
{
	struct layout_walk walk;
	struct layout_value v;
	enum layout_event event;
	uint8_t *out;

	if (!c->turn || layout == NULL || in.n == 0) {
		return in;
	}
	out = room_for(c, in.n);
	if (out == NULL) {
		return (struct span){0};
	}
	layout_walk_init(&walk, layout, in, c->in.swap, NULL, 0);
	walk.slots[SLOT_CPUS] = c->cpus;
	while ((event = layout_next(&walk, &v)) != LAYOUT_END) {
		if ((event == LAYOUT_VALUE || event == LAYOUT_REST) && v.bytes.n != 0) {
			layout_turn(&v, c->in.swap, out + (v.bytes.p - in.p));
		}
	}
	return (struct span){out, in.n};
}

/* ---- what stands around the records ---- */

/* Whether the input names events where the output cannot: version 1 and old streams do. */
static bool names_elsewhere(const struct convert *c)
{
	bool types = c->in.old;

	for (size_t i = 0; i < c->in.nnamings; i++) {
		types |= c->in.namings[i].type == RECORD_HEADER_EVENT_TYPE;
	}
	return types && !file_has_feature(&c->in, FEATURE_EVENT_DESC);
}

/* In a repair, a list of names that is cut off is made again of the names that are known. */
static bool names_again(const struct convert *c)
{
	return c->o.whole != 0 && c->in.names_cut;
}

static int events_copy(struct convert *c)
{
	bool named = names_again(c) || names_elsewhere(c);

	for (size_t i = 0; i < c->in.nevents; i++) {
		const struct file_event *e = &c->in.events[i];
		struct span attr = turned(c, layout_of_attr(), e->bytes);

		if (attr.p == NULL) {
			return error_nomem(&c->error);
		}
		WRITE(c, sonde_writer_event_bytes(
		                 c->out, attr.p, attr.n, e->ids, e->nids, named ? e->name : NULL));
	}
	return 0;
}

/* Features that say what the container is; the writer makes those of the output. */
static bool feature_of_container(unsigned bit)
{
	return bit == FEATURE_COMPRESSED || bit == FEATURE_DIR_FORMAT || bit == FEATURE_AUXTRACE;
}

static bool feature_fits(const struct convert *c, unsigned bit)
{
	const struct layout *layout = layout_of_feature(bit);
	struct layout_walk walk;
	struct layout_value v;

	if (layout == NULL) {
		return true;
	}
	if (bit == FEATURE_EVENT_DESC && names_again(c)) {
		return false;
	}
	layout_walk_init(
	        &walk, layout, file_feature(&c->in, (enum abi_feature)bit), c->in.swap, NULL, 0);
	walk.slots[SLOT_CPUS] = c->cpus;
	while (layout_next(&walk, &v) != LAYOUT_END) {
	}
	return !walk.bad;
}

/* A stream has features as records: one that is too long, or empty like the end mark, is lost. */
static void stream_note(struct convert *c, unsigned bit)
{
	size_t n = file_feature(&c->in, (enum abi_feature)bit).n;
	bool mark = bit == FEATURE_BRANCH_STACK || bit == FEATURE_STAT;
	bool record = bit == FEATURE_TRACING_DATA || bit == FEATURE_BUILD_ID;

	if (c->to_pipe && !record && ((n == 0 && !mark) || n > STREAM_FEATURE_MAX)) {
		diag_report(&c->diags, SONDE_DIAG_NOTE, c->in.features[bit].offset,
		        "header feature %u of %zu bytes cannot stand in a stream and is left out",
		        bit, n);
	}
}

/* A directory that stays one keeps its format: a single file (with copies of the kernel) or parts.
 */
static bool directory_alike(const struct convert *c, unsigned bit)
{
	return bit == FEATURE_DIR_FORMAT && c->in.directory && c->to_directory;
}

static int features_copy(struct convert *c)
{
	for (unsigned bit = 1; bit < FEATURE_BITS; bit++) {
		struct span s;

		if (!file_has_feature(&c->in, (enum abi_feature)bit) ||
		        (feature_of_container(bit) && !directory_alike(c, bit))) {
			continue;
		}
		if (c->turn && c->o.whole == 0 && !feature_fits(c, bit)) {
			diag_report(&c->diags, SONDE_DIAG_DAMAGED, c->in.features[bit].offset,
			        "header feature %u does not fit its fields: the bytes behind them "
			        "keep their order",
			        bit);
		}
		if (c->o.whole != 0 && !feature_fits(c, bit)) {
			diag_report(&c->diags, SONDE_DIAG_DAMAGED, c->in.features[bit].offset,
			        "header feature %u does not fit its fields and is left out", bit);
			c->o.left_out++;
			continue;
		}
		stream_note(c, bit);
		s = turned(c, layout_of_feature(bit), file_feature(&c->in, (enum abi_feature)bit));
		WRITE(c, sonde_writer_feature(c->out, bit, s.p, s.n));
	}
	return 0;
}

/* ---- records ---- */

/* A BUILD_ID record becomes an entry of the feature, where the type is 0. */
static int build_id_keep(struct convert *c, const uint8_t *bytes, size_t n)
{
	text_fill(&c->build_ids, '\0', 4);
	text_bytes(&c->build_ids, (const char *)bytes + 4, n - 4);
	return c->build_ids.failed ? error_nomem(&c->error) : 0;
}

static int build_ids_start(struct convert *c)
{
	struct span s = turned(
	        c, layout_of_feature(FEATURE_BUILD_ID), file_feature(&c->in, FEATURE_BUILD_ID));

	if (c->o.whole == 0 || feature_fits(c, FEATURE_BUILD_ID)) {
		text_bytes(&c->build_ids, (const char *)s.p, s.n);
	}
	return c->build_ids.failed ? error_nomem(&c->error) : 0;
}

/* Records that a container has for itself: events, features, compressed data. */
static bool record_of_container(uint32_t type)
{
	switch (type) {
	case RECORD_HEADER_ATTR:
	case RECORD_HEADER_EVENT_TYPE:
	case RECORD_TRACING_DATA:
	case RECORD_HEADER_FEATURE:
	case RECORD_COMPRESSED:
	case RECORD_COMPRESSED2: return true;
	default: return false;
	}
}

/* The part of a directory that a record goes to: samples by processor, all else to data. */
static uint32_t stream_of(struct convert *c, const struct record *r, const struct record_plan *plan)
{
	uint32_t cpu = 0;

	if (!c->spread) {
		return (uint32_t)(file_place(&c->in, r->offset).stream - c->in.streams);
	}
	if (r->type != RECORD_SAMPLE || plan == NULL) {
		return 0;
	}
	if (plan->cpu != RECORD_NOT_THERE && r->body.n >= plan->cpu + 4u) {
		cpu = load_u32(r->body.p + plan->cpu, c->in.swap);
	}
	return 1 + (cpu < c->cpus ? cpu % SPREAD_MAX : 0);
}

/*
 * Whether all fields of a record are there, and a reader that looks for the next record after some
 * damage would believe in it: the kernel's records have a multiple of 8 bytes.
 */
static bool record_fits(const struct convert *c, const struct record *r, const struct file_event *e)
{
	struct record_walk w;
	struct layout_value v;

	if ((r->type == RECORD_SAMPLE && e == NULL) || r->type >= UNKNOWN_TYPE_MAX ||
	        (r->type < RECORD_USER_START && r->size % 8 != 0)) {
		return false;
	}
	record_walk_init(&w, r, c->in.swap, e != NULL ? &e->plan : NULL, c->cpus);
	while (record_walk_next(&w, &v) != LAYOUT_END) {
	}
	return !w.bad;
}

static int record_copy(struct convert *c, const struct record *r)
{
	const struct file_event *e = NULL;
	struct span payload = file_outside(&c->in, r);
	const uint8_t *bytes = r->body.p - RECORD_HEADER_SIZE;
	size_t n = r->body.n + RECORD_HEADER_SIZE;

	/* a round says nothing of the records that went to other files */
	if (record_of_container(r->type) || (c->spread && r->type == RECORD_FINISHED_ROUND)) {
		return 0;
	}
	if ((c->turn || c->spread || c->o.whole != 0) && r->type < RECORD_USER_START) {
		e = r->type == RECORD_SAMPLE ? file_sample_event(&c->in, r)
		                             : file_record_event(&c->in, r);
	}
	if (c->o.whole != 0 && !record_fits(c, r, e)) {
		diag_report(&c->diags, SONDE_DIAG_DAMAGED, file_place(&c->in, r->offset).offset,
		        "a record of type %u and %zu bytes does not fit its fields and is left out",
		        r->type, n);
		c->o.left_out++;
		return 0;
	}
	if (c->turn) {
		uint8_t *out = room_for(c, n);

		if (out == NULL) {
			return error_nomem(&c->error);
		}
		if (!record_turn(r, c->in.swap, e != NULL ? &e->plan : NULL, c->cpus, out)) {
			diag_report(&c->diags, SONDE_DIAG_NOTE, r->offset,
			        "a record of type %u does not fit its fields: the bytes behind "
			        "them keep their order",
			        r->type);
		}
		bytes = out;
	}
	if (r->type == RECORD_AUXTRACE && n >= 16 &&
	        load_u64(r->body.p, c->in.swap) != payload.n) { /* it was cut off */
		uint8_t *out = c->turn ? c->room : room_for(c, n);

		if (out == NULL) {
			return error_nomem(&c->error);
		}
		memmove(out, bytes, n);
		store_u64(out + 8, payload.n, c->in.swap != c->turn);
		bytes = out;
	}
	if (r->type == RECORD_BUILD_ID && !c->to_pipe) {
		return build_id_keep(c, bytes, n);
	}
	WRITE(c, sonde_writer_record(c->out, stream_of(c, r, e != NULL ? &e->plan : NULL), bytes, n,
	                 payload.p, payload.n));
	c->o.records++;
	return 0;
}

/* A stream of a recorder that was killed lacks its end, which says that nothing is missing
 * (file/writer.h). What could be read becomes a whole recording. */
static int stream_end(struct convert *c)
{
	const size_t n = RECORD_HEADER_SIZE;
	uint8_t round[RECORD_HEADER_SIZE] = {0};
	bool swap = c->in.swap != c->turn;

	if (!c->to_pipe || !c->in.pipe || !c->in.interrupted) {
		return 0;
	}
	store_u32(round, RECORD_FINISHED_ROUND, swap);
	store_u16(round + 6, (uint16_t)n, swap);
	for (unsigned i = 0; i < 2; i++) {
		WRITE(c, sonde_writer_record(c->out, 0, round, n, NULL, 0));
	}
	return 0;
}

static int records_copy(struct convert *c)
{
	uint64_t position = file_begin(&c->in);
	struct record r;

	TRY(build_ids_start(c));
	while (file_next(&c->in, &position, &r, &c->diags) > 0) {
		TRY(record_copy(c, &r));
	}
	TRY(stream_end(c));
	if (!c->to_pipe && c->build_ids.n != 0) {
		WRITE(c, sonde_writer_feature(
		                 c->out, FEATURE_BUILD_ID, c->build_ids.p, c->build_ids.n));
	}
	return 0;
}

/* ---- all of it ---- */

/* Writing over the input would pull its bytes away while they are read. */
static int same_file(struct convert *c, const char *path, const char *output)
{
	struct stat a, b;

	if (stat(path, &a) == 0 && stat(output, &b) == 0 && a.st_dev == b.st_dev &&
	        a.st_ino == b.st_ino && !S_ISCHR(a.st_mode)) {
		return error_set(&c->error, SONDE_EARG, NO_OFFSET,
		        "%s is the input itself; give another name for the output", output);
	}
	return 0;
}

/* zstd level of the input; 0: it is not compressed. */
static int level_of(const struct convert *c)
{
	struct span s = file_feature(&c->in, FEATURE_COMPRESSED);
	uint32_t level = s.n >= 12 ? load_u32(s.p + 8, c->in.swap) : 0;

	return (int)(level < LEVEL_KEPT ? level : LEVEL_KEPT);
}

static int convert_open(struct convert *c, const char *path, const char *output)
{
	struct sonde_writer_options wo = {.size = sizeof(wo), .container = c->o.container};
	struct span s;

	if (file_open(&c->in, path) < 0) {
		return error_set(
		        &c->error, c->in.error.status, c->in.error.offset, "%s", c->in.error.text);
	}
	TRY(same_file(c, path, output));
	if (file_inflate(&c->in) < 0) {
		return error_set(
		        &c->error, c->in.error.status, c->in.error.offset, "%s", c->in.error.text);
	}
	if (wo.container == 0 && strcmp(output, "-") == 0) {
		wo.container = SONDE_CONTAINER_PIPE;
	} else if (wo.container == 0) {
		wo.container = c->in.directory ? SONDE_CONTAINER_DIRECTORY
		               : c->in.pipe    ? SONDE_CONTAINER_PIPE
		                               : SONDE_CONTAINER_FILE;
	}
	if (c->in.nevents == 0 && wo.container != SONDE_CONTAINER_PIPE) {
		return error_set(&c->error, SONDE_EFORMAT, NO_OFFSET,
		        "the recording describes no event, which a file must; only a stream "
		        "('--to pipe') can be written");
	}
	wo.order = c->in.swap != HOST_BIG_ENDIAN ? SONDE_ORDER_BIG : SONDE_ORDER_LITTLE;
	if (c->o.set_order != 0 && c->o.order != wo.order) {
		wo.order = c->o.order;
		c->turn = true;
	}
	wo.compress = c->o.compress >= 0 ? c->o.compress : level_of(c);
	s = file_feature(&c->in, FEATURE_NRCPUS);
	c->cpus = s.n >= 4 ? load_u32(s.p, c->in.swap) : 0;
	c->to_pipe = wo.container == SONDE_CONTAINER_PIPE;
	c->to_directory = wo.container == SONDE_CONTAINER_DIRECTORY;
	c->spread = c->to_directory && !c->in.directory;
	c->out = sonde_writer_new(&wo);
	return c->out != NULL ? 0 : error_nomem(&c->error);
}

/* A folder keeps its copies of the kernel; nothing else has a place for them. */
static int kcore_keep(struct convert *c, const char *path, const char *output)
{
	if (!c->in.directory || !kcore_there(path)) {
		return 0;
	}
	if (c->to_directory) {
		return kcore_copy(path, output, &c->error);
	}
	diag_report(&c->diags, SONDE_DIAG_NOTE, NO_OFFSET,
	        "the copies of the kernel in %s stay there: only a directory can hold them", path);
	return 0;
}

static int convert_all(struct convert *c, const char *path, const char *output)
{
	TRY(convert_open(c, path, output));
	TRY(events_copy(c));
	TRY(features_copy(c));
	WRITE(c, sonde_writer_open(c->out, output));
	TRY(records_copy(c));
	TRY(kcore_keep(c, path, output));
	WRITE(c, sonde_writer_close(c->out));
	return 0;
}

int sonde_convert(const char *path, const char *output, struct sonde_convert_options *options)
{
	struct convert *c = calloc(1, sizeof(*c));
	int rc;

	if (c == NULL) {
		return SONDE_ENOMEM;
	}
	memcpy(&c->o, options, options->size < sizeof(c->o) ? options->size : sizeof(c->o));
	c->o.records = c->o.left_out = 0;
	c->diags.fn = c->o.on_diag;
	c->diags.arg = c->o.diag_arg;
	c->in.diags = &c->diags;
	c->in.check_owner = c->o.check_owner != 0;
	rc = convert_all(c, path, output);
	if (rc < 0 && c->o.message != NULL) {
		(void)snprintf(c->o.message, c->o.message_size, "%s", c->error.text);
	}
	options->records = c->o.records;
	options->left_out = c->o.left_out;
	if (rc >= 0 &&
	        c->diags.counts[SONDE_DIAG_TRUNCATED] + c->diags.counts[SONDE_DIAG_DAMAGED] != 0) {
		rc = 1;
	}
	sonde_writer_free(c->out);
	file_close(&c->in);
	text_fini(&c->build_ids);
	free(c->room);
	free(c);
	return rc;
}
