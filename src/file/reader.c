/* SPDX-License-Identifier: MIT */
/*
 * The public API for reading a file: sonde/file.h, and functions of sonde/record.h that begin
 * walks.
 */
#include "file/reader.h"

#include "core/options.h"
#include "file/feature.h"
#include "record/fields.h"
#include "record/typed.h"

#include <stdlib.h>

struct sonde_file {
	struct sonde_file_options options;
	struct diag_sink diags;
	struct file file;
	struct sonde_file_info info;
	struct sonde_raw_record record;
	struct sonde_typed_record typed;
	struct record_scratch scratch;
	bool sample_kept; /* the last decoded record was a complete sample */
	struct file_gap gap;
	uint64_t position;
	uint32_t cpus; /* available cpus; 0: unknown */
	bool misused; /* the options are wrong */
	bool begun; /* sonde_file_open was called */
	bool view; /* only its events are its own */
	bool opened;
};

struct sonde_file *sonde_file_new(const struct sonde_file_options *options)
{
	struct sonde_file *f = calloc(1, sizeof(*f));

	if (f == NULL) {
		return NULL;
	}
	f->misused = options_copy(&f->options, sizeof(f->options), options, &f->file.error) < 0;
	f->diags.fn = f->options.on_diag;
	f->diags.arg = f->options.diag_arg;
	f->file.diags = &f->diags;
	f->file.temp_dir = f->options.temp_dir;
	return f;
}

void sonde_file_free(struct sonde_file *f)
{
	if (f == NULL) {
		return;
	}
	record_scratch_fini(&f->scratch);
	if (f->view) {
		file_free_events(&f->file);
	} else {
		file_close(&f->file);
	}
	free(f);
}

struct file *reader_file(struct sonde_file *f)
{
	return &f->file;
}

struct sonde_file *reader_view(const struct sonde_file *of)
{
	struct sonde_file *f = malloc(sizeof(*f));

	if (f == NULL) {
		return NULL;
	}
	*f = *of;
	f->view = true;
	f->scratch = (struct record_scratch){0};
	f->sample_kept = false;
	(void)error_take(&f->file.error, error_show(&of->file.error));
	if (file_own_events(&f->file) < 0) {
		sonde_file_free(f);
		return NULL;
	}
	return f;
}

const struct sonde_error *sonde_file_error(const struct sonde_file *f)
{
	return error_show(&f->file.error);
}

static void fill_info(struct sonde_file *f)
{
	const struct file *in = &f->file;

	f->info = (struct sonde_file_info){
	        .container = in->directory ? SONDE_CONTAINER_DIRECTORY
	                     : in->pipe    ? SONDE_CONTAINER_PIPE
	                                   : SONDE_CONTAINER_FILE,
	        .version = in->old ? 1 : 2,
	        .big_endian = in->swap != HOST_BIG_ENDIAN,
	        .swapped = in->swap,
	        .interrupted = in->interrupted,
	        .truncated = in->truncated,
	        .header_size = in->header_size,
	        .attr_size = in->attr_size,
	        .data_offset = in->data.offset,
	        .data_size = in->data.size,
	        .streams = in->nstreams,
	};
	memcpy(f->info.feature_bits, in->feature_bits, sizeof(f->info.feature_bits));
}

void reader_begin(struct sonde_file *f)
{
	f->begun = true;
	f->opened = true;
	f->position = file_begin(&f->file);
	f->cpus = file_cpus(&f->file);
	fill_info(f);
}

int sonde_file_open(struct sonde_file *f, const char *path)
{
	int rc;

	if (f->misused) {
		return error_status(&f->file.error);
	}
	if (f->begun) {
		return error_set(
		        &f->file.error, SONDE_EARG, NO_OFFSET, "this handle has a file already");
	}
	f->begun = true;
	rc = file_open(&f->file, path);
	if (rc >= 0) {
		rc = file_inflate(&f->file);
	}
	if (rc < 0) {
		return error_ensure(&f->file.error, rc);
	}
	reader_begin(f);
	return 0;
}

const struct sonde_file_info *sonde_file_get_info(const struct sonde_file *f)
{
	return &f->info;
}

static void find_place(struct sonde_file *f, uint64_t position)
{
	struct file_place place = file_place(&f->file, position);

	f->record.file = place.stream->name;
	f->record.stream = (uint32_t)(place.stream - f->file.streams);
	f->record.inflated = place.inflated;
	f->record.offset = place.offset;
	f->record.inside = place.inside;
}

static inline void fill_place(struct sonde_file *f, uint64_t position)
{
	f->record.position = position;
	if (f->file.nstreams != 1 || f->file.streams->runs != NULL) {
		find_place(f, position);
		return;
	}
	f->record.file = f->file.streams->name; /* file_place, for the common case */
	f->record.stream = 0;
	f->record.inflated = 0;
	f->record.offset = position - f->file.streams->base;
	f->record.inside = 0;
}

static void fill_gap(struct sonde_file *f)
{
	const struct file_stream *s;

	fill_place(f, f->gap.position);
	s = &f->file.streams[f->record.stream];
	f->record.gap = f->gap.text;
	f->record.bytes = s->bytes.p + (f->gap.position - s->base);
	f->record.size = (size_t)f->gap.size;
}

static void fill_record(struct sonde_file *f, const struct record *r)
{
	struct span outside = {NULL, 0};

	if (r->type == RECORD_AUXTRACE || r->type == RECORD_TRACING_DATA) {
		outside = file_outside(&f->file, r);
	}
	fill_place(f, r->offset);
	f->record.type = r->type;
	f->record.misc = r->misc;
	f->record.size = r->body.n + RECORD_HEADER_SIZE;
	f->record.bytes = r->body.p - RECORD_HEADER_SIZE;
	f->record.payload = outside.p;
	f->record.payload_size = outside.n;
	f->record.gap = NULL;
}

int sonde_file_next(struct sonde_file *f, const struct sonde_raw_record **r)
{
	struct record in;

	if (!f->opened) {
		return error_set(&f->file.error, SONDE_EARG, NO_OFFSET,
		        "no file is open: call sonde_file_open first");
	}
	for (;;) {
		enum file_step step = file_step(&f->file, &f->position, &in, &f->gap);

		if (f->gap.text[0] != '\0') {
			file_gap_report(&f->file, &f->gap, &f->diags);
		}
		if (step == FILE_END) {
			return 0;
		}
		if (step == FILE_GAP && !f->options.gaps) {
			continue;
		}
		if (step == FILE_GAP) {
			f->record = (struct sonde_raw_record){0};
			fill_gap(f);
		} else {
			fill_record(f, &in);
		}
		*r = &f->record;
		return 1;
	}
}

void sonde_file_rewind(struct sonde_file *f)
{
	f->position = f->opened ? file_begin(&f->file) : 0;
}

uint64_t sonde_file_diags(const struct sonde_file *f, enum sonde_diag_kind kind)
{
	return kind < SONDE_DIAG_KINDS ? f->diags.counts[kind] : 0;
}

size_t sonde_file_events(const struct sonde_file *f)
{
	return f->file.nevents;
}

const char *sonde_file_event_name(const struct sonde_file *f, size_t event)
{
	return event < f->file.nevents ? f->file.events[event].name : NULL;
}

const struct sonde_attr *sonde_file_event_attr(const struct sonde_file *f, size_t event)
{
	return event < f->file.nevents ? &f->file.events[event].attr : NULL;
}

const void *sonde_file_event_bytes(const struct sonde_file *f, size_t event, size_t *n)
{
	struct span s = {0};

	if (event < f->file.nevents) {
		s = f->file.events[event].bytes;
	}
	*n = s.n;
	return s.p;
}

const uint64_t *sonde_file_event_ids(const struct sonde_file *f, size_t event, size_t *n)
{
	*n = event < f->file.nevents ? f->file.events[event].nids : 0;
	return *n != 0 ? f->file.events[event].ids : NULL;
}

static struct record record_of(const struct sonde_raw_record *r)
{
	return (struct record){.type = r->type,
	        .misc = r->misc,
	        .size = (uint16_t)r->size,
	        .body = {(const uint8_t *)r->bytes + RECORD_HEADER_SIZE,
	                r->size - RECORD_HEADER_SIZE}};
}

/*
 * Records of the tool have no event; those of the kernel have one, even if their type is unknown.
 */
static const struct file_event *event_of(const struct file *f, const struct record *r)
{
	if (r->type == RECORD_SAMPLE) {
		return file_sample_event(f, r);
	}
	return r->type < RECORD_USER_START ? file_record_event(f, r) : NULL;
}

long sonde_file_record_event(const struct sonde_file *f, const struct sonde_raw_record *r)
{
	const struct file_event *e = NULL;

	if (r->gap == NULL) {
		const struct record in = record_of(r);

		e = event_of(&f->file, &in);
	}
	return e != NULL ? (long)(e - f->file.events) : -1;
}

const void *sonde_file_feature(const struct sonde_file *f, unsigned bit, size_t *n)
{
	struct span s = {0};

	if (bit < FEATURE_BITS) {
		s = file_feature(&f->file, (enum abi_feature)bit);
	}
	*n = s.n;
	return s.p;
}

int sonde_file_record_fields(
        const struct sonde_file *f, const struct sonde_raw_record *r, struct sonde_fields *it)
{
	const struct file_event *e;
	struct record in;

	if (r->gap != NULL) {
		return SONDE_EARG;
	}
	in = record_of(r);
	e = event_of(&f->file, &in);
	fields_begin_record(it, &in, f->file.swap, e != NULL ? &e->plan : NULL, f->cpus);
	return 0;
}

int sonde_file_feature_fields(const struct sonde_file *f, unsigned bit, struct sonde_fields *it)
{
	if (bit >= FEATURE_BITS || !file_has_feature(&f->file, (enum abi_feature)bit)) {
		return SONDE_ENOENT;
	}
	fields_begin_layout(it, layout_of_feature(bit),
	        file_feature(&f->file, (enum abi_feature)bit), f->file.swap, f->cpus);
	return 0;
}

int sonde_file_event_fields(const struct sonde_file *f, size_t event, struct sonde_fields *it)
{
	if (event >= f->file.nevents) {
		return SONDE_ENOENT;
	}
	fields_begin_layout(
	        it, layout_of_attr(), f->file.events[event].bytes, f->file.swap, f->cpus);
	return 0;
}

static uint64_t fixed_at(const struct span body, uint8_t at, bool swap)
{
	return at != RECORD_NOT_THERE && at + 8u <= body.n ? load_u64(body.p + at, swap) : 0;
}

/*
 * Writes only the members that a sample has, not the whole union: most records are samples. Members
 * that repeat the trailer are read from the input again: reading in one load what was just written
 * by several small stores (as compilers read pid and tid together) stalls the processor.
 */
static int decode_sample(struct sonde_file *f, const struct sonde_raw_record *r,
        const struct file_event *e, struct span body)
{
	const struct record_plan *plan = &e->plan;
	struct sonde_typed_record *t = &f->typed;
	bool swap = f->file.swap;
	bool again = f->sample_kept && t->sample.present == plan->sample_type;
	int rc = again ? record_sample_decode_over(plan, body, swap, &f->scratch, &t->sample)
	               : record_sample_decode(plan, body, swap, &f->scratch, &t->sample);

	f->sample_kept = rc > 0;
	t->type = RECORD_SAMPLE;
	t->misc = r->misc;
	t->event = (long)(e - f->file.events);
	if (rc > 0 && plan->tid != RECORD_NOT_THERE) {
		t->trailer.pid = load_u32(body.p + plan->tid, swap);
		t->trailer.tid = load_u32(body.p + plan->tid + 4, swap);
	} else {
		t->trailer.pid = t->sample.pid;
		t->trailer.tid = t->sample.tid;
	}
	t->trailer.time = fixed_at(body, plan->time, swap);
	t->trailer.id = fixed_at(body, plan->sample_id, swap);
	t->trailer.stream_id = fixed_at(body, plan->stream_id, swap);
	t->trailer.cpu = t->sample.cpu;
	return rc < 0 ? error_nomem(&f->file.error) : rc;
}

int sonde_file_decode(struct sonde_file *f, const struct sonde_raw_record *r,
        const struct sonde_typed_record **record)
{
	const struct record_plan *plan;
	const struct file_event *e;
	struct record in;

	if (r->gap != NULL) {
		return error_set(&f->file.error, SONDE_EARG, r->offset,
		        "these bytes are no record: %s", r->gap);
	}
	if (r->type == RECORD_SAMPLE) {
		struct record sample = {.body = {(const uint8_t *)r->bytes + RECORD_HEADER_SIZE,
		                                r->size - RECORD_HEADER_SIZE}};

		e = file_sample_event(&f->file, &sample);
		if (e != NULL) {
			*record = &f->typed;
			return decode_sample(f, r, e, sample.body);
		}
	}
	in = record_of(r);
	e = event_of(&f->file, &in);
	plan = e != NULL ? &e->plan : NULL;
	f->sample_kept = false;
	f->typed.type = r->type;
	f->typed.misc = r->misc;
	f->typed.event = e != NULL ? (long)(e - f->file.events) : -1;
	*record = &f->typed;
	if (!typed_knows(r->type, plan)) {
		return error_set(&f->file.error, SONDE_EUNSUPPORTED, r->offset,
		        "a record of type %u at offset %llu has no fields: its %s", r->type,
		        (unsigned long long)r->offset,
		        record_type_name(r->type) != NULL ? "event is unknown"
		                                          : "type is not known");
	}
	memset(&f->typed.trailer, 0,
	        sizeof(f->typed) - offsetof(struct sonde_typed_record, trailer));
	f->typed.trailer.cpu = UINT32_MAX;
	return typed_decode(&in, f->file.swap, plan, &f->typed);
}
