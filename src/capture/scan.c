/* SPDX-License-Identifier: MIT */
/*
 * Reads a recording back: times, counts, and the objects that samples hit. Side-band becomes a
 * timeline as for a report, so that forked processes and reused addresses are right and the cost of
 * a sample does not grow with the number of processes.
 */
#include "capture/scan.h"

#include "abi/abi.h"
#include "file/file.h"
#include "frame/frame.h"
#include "image/image.h"
#include "record/feature_write.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { AUX_TRUNCATED = 1, AUX_PARTIAL = 4, AUX_COLLISION = 8 }; /* flags of an AUX record */

struct scan {
	const struct capture_scan_options *o;
	uint64_t seen_records;
	struct file file;
	struct diag_sink diags;
	struct timeline *timeline;
	struct timeline_cursor cursor;
	struct capture_scan *out;
	bool *hit; /* by object */
	struct frame_resolver resolver; /* for mappings only: it is not sealed */
	struct frame_reader frames;
};

static bool gives_up(struct scan *s)
{
	return (++s->seen_records & 0xffff) == 0 && host_stopped_twice(s->o->stop);
}

static bool is_side_band(uint32_t type)
{
	return type == RECORD_MMAP || type == RECORD_MMAP2 || type == RECORD_COMM ||
	       type == RECORD_FORK;
}

static int scan_side_band(struct scan *s, const struct record *r)
{
	const struct file_event *e = file_record_event(&s->file, r);
	struct record_trailer trailer;

	if (!record_trailer_decode(
	            e != NULL ? &e->plan : &s->file.events[0].plan, r->body, false, &trailer)) {
		return 0;
	}
	return timeline_add(s->timeline, r, false, trailer.time);
}

static void scan_sample(struct scan *s, const struct record *r, bool build_ids)
{
	const struct file_event *e = file_sample_event(&s->file, r);
	const struct record_plan *plan;
	const uint8_t *p = r->body.p;
	uint64_t time;

	s->out->samples++;
	plan = e != NULL ? &e->plan : &s->file.events[0].plan;
	if (plan->fixed_size > r->body.n || plan->time == RECORD_NOT_THERE ||
	        plan->ip == RECORD_NOT_THERE || plan->tid == RECORD_NOT_THERE) {
		return;
	}
	time = load_u64(p + plan->time, false);
	s->out->first = s->out->first == 0 || time < s->out->first ? time : s->out->first;
	s->out->last = time > s->out->last ? time : s->out->last;
	if (build_ids) {
		frame_hit(&s->frames,
		        timeline_at(s->timeline, &s->cursor, load_u32(p + plan->tid, false),
		                load_u32(p + plan->tid + 4, false), time),
		        r->misc & MISC_CPUMODE_MASK, load_u64(p + plan->ip, false), s->hit);
	}
}

/* u64 offset, size, flags: perf_event_open(2) */
static void scan_aux(struct scan *s, const struct record *r)
{
	uint64_t flags = r->body.n >= 24 ? load_u64(r->body.p + 16, false) : 0;

	s->out->aux_records++;
	s->out->aux_truncated += (flags & AUX_TRUNCATED) != 0;
	s->out->aux_gaps += (flags & (AUX_PARTIAL | AUX_COLLISION)) != 0;
}

static void scan_samples(struct scan *s, bool build_ids)
{
	uint64_t offset = file_begin(&s->file);
	struct record r;

	while (!gives_up(s) && file_next(&s->file, &offset, &r, NULL) > 0) {
		if (r.type == RECORD_SAMPLE) {
			scan_sample(s, &r, build_ids);
		} else if (r.type == RECORD_LOST && r.body.n >= 16) {
			s->out->lost += load_u64(r.body.p + 8, false);
		} else if (r.type == RECORD_AUX) {
			scan_aux(s, &r);
		}
	}
}

static void put_id(
        struct capture_scan *out, uint16_t misc, const uint8_t *id, int n, const char *name)
{
	if (n > 0) {
		feature_put_build_id(&out->build_ids, misc, id, (size_t)n, name);
	}
}

static void put_object(const struct scan *s, const struct timeline_object *object)
{
	bool kernel = object->kind == TIMELINE_KERNEL || object->kind == TIMELINE_MODULE;
	uint8_t id[IMAGE_BUILD_ID_MAX] = {0};

	put_id(s->out, kernel ? MISC_KERNEL : MISC_USER, id,
	        frame_object_build_id(&s->resolver, object, id),
	        object->kind == TIMELINE_KERNEL ? "[kernel.kallsyms]"
	                                        : timeline_text(s->timeline, object->name));
}

/* Like perf, lists the vdso whenever it was mapped: no file on disk could replace it. */
static void put_build_ids(const struct scan *s)
{
	const struct timeline_object *object;
	size_t i, n = timeline_objects(s->timeline);
	uint8_t id[IMAGE_BUILD_ID_MAX] = {0};
	bool kernel = false;

	for (i = 0; i < n && !host_stopped_twice(s->o->stop); i++) { /* files may be on slow
	                                                                   file systems */
		object = timeline_object(s->timeline, (uint32_t)i);
		kernel |= object->kind == TIMELINE_KERNEL;
		if (s->hit[i] || s->o->all || object->kind == TIMELINE_VDSO) {
			put_object(s, object);
		}
	}
	if (s->o->all && !kernel) {
		put_id(s->out, MISC_KERNEL, id, image_build_id_of_kernel(id), "[kernel.kallsyms]");
	}
}

static int scan_build_ids(struct scan *s)
{
	uint64_t offset = file_begin(&s->file);
	struct record r;

	s->timeline = timeline_new(&s->diags);
	if (s->timeline == NULL) {
		return SONDE_ENOMEM;
	}
	while (!gives_up(s) && file_next(&s->file, &offset, &r, NULL) > 0) {
		if (is_side_band(r.type)) {
			TRY(scan_side_band(s, &r));
		}
	}
	TRY(timeline_seal(s->timeline));
	s->resolver.timeline = s->timeline;
	s->resolver.options.running_kernel = true;
	TRY(frame_reader_init(&s->frames, &s->resolver));
	s->hit = calloc(timeline_objects(s->timeline) + 1, sizeof(*s->hit));
	if (s->hit == NULL) {
		return SONDE_ENOMEM;
	}
	scan_samples(s, true);
	put_build_ids(s);
	return 0;
}

static int scan_open_file(struct scan *s)
{
	int rc = 0;

	s->out->samples = s->out->lost = 0;
	if (s->o->build_ids) {
		rc = scan_build_ids(s);
	} else {
		scan_samples(s, false);
	}
	frame_reader_fini(&s->frames);
	timeline_free(s->timeline);
	free(s->hit);
	return rc < 0 ? SONDE_ENOMEM : 0;
}

/* A packed recording, or one of several files, is opened by its name. */
static int scan_whole(struct scan *s)
{
	int rc = file_open(&s->file, s->o->name);

	rc = rc >= 0 ? file_inflate(&s->file) : rc;
	rc = rc >= 0 ? scan_open_file(s) : rc;
	file_close(&s->file);
	return rc == SONDE_ENOMEM ? rc : 0;
}

/* A plain file is mapped up to the end of its records: it has no table of features yet. */
static int scan_plain(struct scan *s)
{
	size_t size = (size_t)s->o->size;
	void *p = mmap(NULL, size, PROT_READ, MAP_PRIVATE, s->o->fd, 0);
	int rc;

	if (p == MAP_FAILED) { /* such as a device: nothing can be read back */
		return 0;
	}
	rc = file_open_bytes(&s->file, (struct span){.p = p, .n = size}, s->o->name);
	rc = rc >= 0 ? scan_open_file(s) : rc;
	file_close(&s->file);
	(void)munmap(p, size);
	return rc == SONDE_ENOMEM ? rc : 0;
}

int capture_scan(struct capture_scan *out, const struct capture_scan_options *o)
{
	struct scan *s = calloc(1, sizeof(*s));
	int rc;

	if (s == NULL) {
		return SONDE_ENOMEM;
	}
	s->o = o;
	s->out = out;
	s->file.diags = &s->diags;
	rc = o->whole ? scan_whole(s) : scan_plain(s);
	free(s);
	return rc;
}
