/* SPDX-License-Identifier: MIT */
/*
 * Visits all records when a recording is opened. Of most samples it reads only the header and time;
 * workers decode them later.
 */
#include "session/inside.h"

#include "core/array.h"
#include "core/progress.h"
#include "file/feature.h"
#include "trace/format.h"

#include <stdlib.h>

/*
 * Side-band records in an epoch of the timeline: some 50,000 short processes, 60 MB of memory. Few
 * recordings have more.
 */
#define EPOCH_RECORDS ((size_t)1 << 18)
#define FORGET_AFTER  ((uint64_t)16 << 20) /* bytes of a file, whose pages are given back */

/* Fields of sched:sched_switch: offsets of the threads in the raw data of a sample. */
struct walk_switches {
	struct trace_field prev, next; /* tids; size 0: another event */
};

struct walk {
	struct sonde_session *s;
	struct walk_switches *switches; /* by event; NULL: no event is sched_switch */
	struct record_scratch scratch;
	const struct session_source *source; /* of the current records */
	struct reads_walk reads;
	uint64_t thread; /* pid and tid that were added last; (0, 0) is added first */
};

static int walk_seen(struct walk *w, uint32_t pid, uint32_t tid)
{
	uint64_t thread = (uint64_t)pid << 32 | tid;

	if (w->s->options.counts_only != 0 || thread == w->thread) {
		return 0;
	}
	w->thread = thread;
	return timeline_add_thread(w->s->timeline, pid, tid);
}

static int walk_thread(struct walk *w, const struct session_event *e, const struct record *r)
{
	bool swap = w->s->swap;
	uint32_t pid;
	uint32_t tid;

	if (w->s->options.counts_only || e->plan.tid == RECORD_NOT_THERE ||
	        r->body.n < (size_t)e->plan.tid + 8) {
		return 0;
	}
	pid = load_u32(r->body.p + e->plan.tid, swap);
	tid = load_u32(r->body.p + e->plan.tid + 4, swap);
	return walk_seen(w, pid, tid);
}

static void walk_time(struct walk *w, uint64_t time)
{
	struct session_counts *n = &w->s->counts;

	if (n->first_time == 0 || time < n->first_time) {
		n->first_time = time;
	}
	if (time > n->last_time) {
		n->last_time = time;
	}
}

/* Whether the event is sched:sched_switch, with a sample for each context switch. */
static bool is_each_switch(const struct session_event *e)
{
	return e->attr.type == SONDE_TYPE_TRACEPOINT &&
	       strcmp(e->name, "sched:sched_switch") == 0 && e->attr.sample_period == 1 &&
	       sonde_attr_has(&e->attr, SONDE_FLAG_FREQ) == 0;
}

/*
 * Finds the fields of sched:sched_switch by the formats in the header. Without formats, its samples
 * add no switches.
 */
static int find_switches(struct walk *w)
{
	const struct sonde_session *s = w->s;
	struct span blob = file_feature(s->file, FEATURE_TRACING_DATA);

	for (size_t i = 0; i < s->file->nevents && blob.n != 0; i++) {
		const struct session_event *e = &s->events[i];
		struct walk_switches found;
		struct trace_format format;

		if (!is_each_switch(e) || !trace_format_find(blob, e->attr.config, &format) ||
		        !trace_field_find(&format, SPAN_TEXT("prev_pid"), &found.prev) ||
		        !trace_field_find(&format, SPAN_TEXT("next_pid"), &found.next) ||
		        found.prev.size != 4 || found.next.size != 4) {
			continue;
		}
		if (w->switches == NULL) {
			w->switches = calloc(s->nevents, sizeof(*w->switches));
		}
		if (w->switches == NULL) {
			return SONDE_ENOMEM;
		}
		w->switches[i] = found;
	}
	return 0;
}

static struct timeline_thread thread_in(const struct walk *w, const uint8_t *raw, uint32_t offset)
{
	uint32_t tid = load_u32(raw + offset, w->s->swap);

	return (struct timeline_thread){tid == 0 ? 0 : TIMELINE_NO_THREAD, tid};
}

/*
 * Adds the context switch of a sched_switch sample, with the tids of its raw data: the pid and tid
 * of the sample itself are -1 for a task that ends.
 */
static int walk_switch_sample(struct walk *w, uint32_t event, const struct record *r)
{
	struct sonde_session *s = w->s;
	const struct walk_switches *at = &w->switches[event];
	struct sonde_sample sample;

	if (at->next.size == 0) {
		return 0;
	}
	TRY(record_sample_decode(&s->events[event].plan, r->body, s->swap, &w->scratch, &sample));
	if (sample.cpu == UINT32_MAX || sample.raw_len < at->next.offset + 4 ||
	        sample.raw_len < at->prev.offset + 4) {
		return 0;
	}
	return timeline_add_switch(s->timeline, sample.cpu, sample.time,
	        thread_in(w, sample.raw, at->prev.offset),
	        thread_in(w, sample.raw, at->next.offset));
}

/* Adds the trace in a sample. */
static int walk_traced_sample(struct walk *w, const struct session_event *e, const struct record *r)
{
	struct sonde_sample sample;

	TRY(record_sample_decode(&e->plan, r->body, w->s->swap, &w->scratch, &sample));
	return aux_add_sample(w->s->aux, &sample);
}

/* Remembers a sample for the letters G and L. */
static int walk_point(struct walk *w, const struct session_event *e,
        const struct session_item *item, const struct record *r)
{
	bool swap = w->s->swap;
	struct aux_point point = {.time = item->time, .cpu = UINT32_MAX};

	if (e->plan.time == RECORD_NOT_THERE || e->plan.tid == RECORD_NOT_THERE) {
		return 0;
	}
	point.tid = load_u32(r->body.p + e->plan.tid + 4, swap);
	if (e->plan.cpu != RECORD_NOT_THERE) {
		point.cpu = load_u32(r->body.p + e->plan.cpu, swap);
	}
	return aux_add_point(w->s->aux, &point);
}

/* Adds a sample of the recording to what traces need of it. */
static int walk_for_traces(struct walk *w, const struct session_event *e,
        const struct session_item *item, const struct record *r)
{
	if (w->s->aux == NULL || w->s->options.counts_only) {
		return 0;
	}
	if ((e->plan.sample_type & SONDE_SAMPLE_AUX) != 0) {
		TRY(walk_traced_sample(w, e, r));
	}
	return (e->gets_chain || e->gets_branches) && aux_has_info(w->s->aux)
	               ? walk_point(w, e, item, r)
	               : 0;
}

/* Adds the page of a sample to those that are hit. */
static inline void walk_page(const struct sonde_session *s, const struct session_event *e,
        const struct session_item *item, const struct record *r)
{
	uint64_t thread = 0;

	if (e->plan.ip == RECORD_NOT_THERE) {
		return;
	}
	if (e->plan.tid != RECORD_NOT_THERE) {
		thread = (uint64_t)load_u32(r->body.p + e->plan.tid, s->swap) << 32 |
		         load_u32(r->body.p + e->plan.tid + 4, s->swap);
	}
	hit_pages_add(s->pages, thread, r->misc & MISC_CPUMODE_MASK,
	        load_u64(r->body.p + e->plan.ip, s->swap), item->time);
}

static int walk_sample(struct walk *w, const struct session_item *item, const struct record *r)
{
	struct sonde_session *s = w->s;
	struct session_event *e;
	int counted = 0; /* the sample is replaced by a sample for each of its counts */

	if (item->event == SESSION_NO_EVENT) {
		diag_report(&s->diags, SONDE_DIAG_UNKNOWN, r->offset,
		        "a sample has an id that belongs to no event of the file");
		return 0;
	}
	e = &s->events[item->event];
	if (r->body.n < e->plan.fixed_size) {
		diag_report(&s->diags, SONDE_DIAG_DAMAGED, r->offset, "a sample is too short");
		return 0;
	}
	if ((e->plan.sample_type & SONDE_SAMPLE_READ) != 0) {
		counted = reads_walk_add(&w->reads, w->source, e, r);
		TRY(counted);
	}
	if (counted == 0) {
		e->count.samples++;
		e->count.side_band[RECORD_SAMPLE]++;
		e->count.period += e->plan.period != RECORD_NOT_THERE
		                           ? load_u64(r->body.p + e->plan.period, s->swap)
		                           : e->attr.sample_period;
	}
	walk_time(w, item->time);
	if (s->pages != NULL) {
		walk_page(s, e, item, r);
	}
	TRY(walk_for_traces(w, e, item, r));
	if (w->switches != NULL) {
		TRY(walk_switch_sample(w, item->event, r));
	}
	return walk_thread(w, e, r);
}

static void walk_lost(struct walk *w, struct session_event *e, const struct record *r)
{
	struct sonde_session *s = w->s;
	struct cursor c = cursor_make(r->body, s->swap);
	bool samples = r->type == RECORD_LOST_SAMPLES;
	uint64_t id = samples ? 0 : cursor_u64(&c);
	uint64_t lost = cursor_u64(&c);

	if (samples) {
		s->counts.lost_samples += lost;
	} else {
		const struct session_event *named = session_event_by_id(s, id);

		e = named != NULL ? &s->events[named - s->events] : e;
		s->counts.lost_chunks++;
		s->counts.lost_events += lost;
	}
	if (e != NULL && samples) {
		e->count.lost_samples += lost;
	} else if (e != NULL) {
		e->count.lost_records += lost;
	}
}

/*
 * Sums losses without counting them twice. counted: events have counts of their lost samples
 * (SONDE_READ_LOST), which the recorder writes as LOST_SAMPLES records at the end; they include the
 * losses in LOST records of a full ring. Without such counts, the kernel writes LOST_SAMPLES for
 * losses in another buffer.
 */
static uint64_t lost_once(bool counted, uint64_t records, uint64_t samples)
{
	if (!counted) {
		return records + samples;
	}
	return records > samples ? records : samples;
}

/* Sums all losses, and reports them and throttled events once. */
static void walk_lost_end(struct walk *w)
{
	struct sonde_session *s = w->s;
	struct session_counts *n = &s->counts;
	bool counted = false;
	uint64_t all;

	for (size_t i = 0; i < s->nevents; i++) {
		bool own = (s->events[i].attr.read_format & SONDE_READ_LOST) != 0;
		struct session_event_count *e = &s->events[i].count;

		e->lost = lost_once(own, e->lost_records, e->lost_samples);
		counted = counted || own;
	}
	n->lost = lost_once(counted, n->lost_events, n->lost_samples);
	if (n->records[RECORD_THROTTLE] != 0) {
		diag_report(&s->diags, SONDE_DIAG_LOST, NO_OFFSET,
		        "the kernel stopped an event %llu times because of too many samples: what "
		        "ran meanwhile is missing; record with a lower rate (-F)",
		        (unsigned long long)n->records[RECORD_THROTTLE]);
	}
	if (n->lost == 0) {
		return;
	}
	all = n->lost + n->records[RECORD_SAMPLE];
	diag_report(&s->diags, SONDE_DIAG_LOST, NO_OFFSET,
	        "%llu events were lost while recording, %.1f%% of all: record with a lower rate "
	        "(-F), fewer events or larger rings (-m)",
	        (unsigned long long)n->lost, 100.0 * (double)n->lost / (double)all);
}

/* With counts_only there is no timeline: reports the damage that the timeline would report. */
static int walk_only_look(struct sonde_session *s, const struct record *r)
{
	struct feature_build_id_view build_id;
	struct record_mmap mmap;
	struct record_comm comm;
	struct record_ksymbol ksymbol;
	struct record_task task;
	bool swap = s->swap;
	const char *cut = NULL;

	if (r->type == RECORD_KSYMBOL) {
		cut = record_ksymbol_decode(r, swap, &ksymbol) ? NULL
		                                               : "a KSYMBOL record is cut short";
	} else if (r->type == RECORD_COMM) {
		cut = record_comm_decode(r, swap, &comm) ? NULL : "a COMM record is cut short";
	} else if (r->type == RECORD_EXIT) {
		return 0;
	} else if (r->type == RECORD_FORK) {
		cut = record_task_decode(r, swap, &task) ? NULL : "a FORK record is cut short";
	} else if (r->type == RECORD_BUILD_ID) {
		cut = feature_build_id_view(r->body, r->misc, swap, &build_id)
		              ? NULL
		              : "a build id is damaged";
	} else {
		cut = record_mmap_decode(r, swap, &mmap) ? NULL : "an MMAP record is cut short";
	}
	if (cut != NULL) {
		diag_report(&s->diags, SONDE_DIAG_DAMAGED, r->offset, "%s", cut);
	}
	return 0;
}

static int walk_deferred(
        struct walk *w, const struct record *r, const struct record_trailer *trailer)
{
	struct sonde_session *s = w->s;
	int rc = 1;

	if (!s->options.counts_only) {
		rc = frame_deferred_add(&s->frames, r, trailer->tid, trailer->time);
	}
	if (rc == 0) {
		diag_report(&s->diags, SONDE_DIAG_DAMAGED, r->offset,
		        "a CALLCHAIN_DEFERRED record is cut short");
	}
	return rc < 0 ? rc : 0;
}

/* SWITCH_CPU_WIDE: u32 pid, tid of the next thread (switch out) or of the previous one (in) */
static int walk_switch(struct walk *w, const struct record *r, const struct record_trailer *trailer)
{
	struct sonde_session *s = w->s;
	struct cursor c = cursor_make(r->body, s->swap);
	struct timeline_thread other = {TIMELINE_NO_THREAD, TIMELINE_NO_THREAD};
	struct timeline_thread own = {trailer->pid, trailer->tid};
	bool out = (r->misc & MISC_SWITCH_OUT) != 0;

	TRY(walk_seen(w, trailer->pid, trailer->tid));
	if (trailer->cpu == UINT32_MAX || s->options.counts_only) {
		return 0;
	}
	if (r->type == RECORD_SWITCH_CPU_WIDE) {
		other.pid = cursor_u32(&c);
		other.tid = cursor_u32(&c);
	}
	return timeline_add_switch(
	        s->timeline, trailer->cpu, trailer->time, out ? own : other, out ? other : own);
}

/* AUX: u64 offset, size, flags of part of a trace */
static void walk_aux(struct walk *w, const struct record *r)
{
	struct session_aux_flags *n = &w->s->aux_flags;
	struct cursor c = cursor_make(r->body, w->s->swap);
	uint64_t flags;

	(void)cursor_u64(&c);
	(void)cursor_u64(&c);
	flags = cursor_u64(&c);
	if (!c.bad) {
		n->records++;
		n->truncated += (flags & 1) != 0;
		n->partial += (flags & 4) != 0;
		n->collisions += (flags & 8) != 0;
	}
}

/* A record about traces. ITRACE_START: u32 pid, tid of the thread that is traced */
static int walk_trace(struct walk *w, const struct record *r, const struct record_trailer *trailer)
{
	struct sonde_session *s = w->s;
	struct cursor c = cursor_make(r->body, s->swap);
	uint32_t pid, tid;

	if (s->aux == NULL || s->options.counts_only) {
		return 0;
	}
	if (r->type == RECORD_ITRACE_START) {
		pid = cursor_u32(&c);
		tid = cursor_u32(&c);
		TRY(c.bad ? 0 : walk_seen(w, pid, tid));
	}
	return aux_add(s->aux, r, s->swap,
	        w->source->stream == 0 ? file_outside(s->file, r) : (struct span){NULL, 0},
	        trailer);
}

/* AUX_OUTPUT_HW_ID: u64 number, in PEBS records in traces, of the event that the record has */
static void walk_output(struct walk *w, uint32_t event, const struct record *r)
{
	struct sonde_session *s = w->s;
	struct cursor c = cursor_make(r->body, s->swap);
	uint64_t number = cursor_u64(&c);

	if (s->aux == NULL || s->options.counts_only || c.bad) {
		return;
	}
	if (event == SESSION_NO_EVENT) {
		diag_report(&s->diags, SONDE_DIAG_UNKNOWN, r->offset,
		        "an AUX_OUTPUT_HW_ID record has an id that belongs to no event of the "
		        "file");
		return;
	}
	if (!aux_add_output(s->aux, number, event)) {
		diag_report(&s->diags, SONDE_DIAG_DAMAGED, r->offset,
		        "the number %llu of an AUX_OUTPUT_HW_ID record is not below 64",
		        (unsigned long long)number);
	}
}

/* TEXT_POKE: u64 address; u16 size before, size after; the bytes before, and after */
static int walk_poke(struct sonde_session *s, const struct record *r, uint64_t time)
{
	struct cursor c = cursor_make(r->body, s->swap);
	struct frame_poke poke = {.time = time, .address = cursor_u64(&c)};
	uint16_t before = cursor_u16(&c);
	uint16_t after = cursor_u16(&c);

	(void)cursor_take(&c, before);
	poke.bytes = (struct span){cursor_take(&c, after), after};
	return c.bad || after == 0 || s->options.counts_only
	               ? 0
	               : frame_pokes_add(&s->frames.pokes, &poke);
}

/* u64 shift, multiplier, zero: see struct sonde_record_time_conv */
static void walk_time_conv(struct sonde_session *s, const struct record *r)
{
	struct cursor c = cursor_make(r->body, s->swap);

	s->tsc.time_shift = cursor_u64(&c);
	s->tsc.time_mult = cursor_u64(&c);
	s->tsc.time_zero = cursor_u64(&c);
}

static int walk_timeline(struct sonde_session *s, const struct record *r, uint64_t time)
{
	if (s->options.counts_only) {
		return walk_only_look(s, r);
	}
	TRY(timeline_add(s->timeline, r, s->swap, time));
	return r->type == RECORD_MMAP || r->type == RECORD_MMAP2 ? session_jit_add(s, r, time) : 0;
}

static int walk_side_band(struct walk *w, uint32_t event, const struct record *r)
{
	struct sonde_session *s = w->s;
	struct session_event *e = event != SESSION_NO_EVENT ? &s->events[event] : NULL;
	const struct session_event *any = e != NULL ? e : s->events;
	struct record_trailer trailer;
	struct record_task task;

	if (!record_trailer_decode(&any->plan, r->body, s->swap, &trailer)) {
		diag_report(&s->diags, SONDE_DIAG_DAMAGED, r->offset, "a record is too short");
		return 0;
	}
	if (e != NULL) {
		e->count.side_band[r->type]++;
	}
	if (r->type == RECORD_LOST || r->type == RECORD_LOST_SAMPLES) {
		walk_lost(w, e, r);
	}
	if (any->plan.time == RECORD_NOT_THERE) {
		trailer.time = r->offset;
	}
	if (r->type == RECORD_FORK && record_task_decode(r, s->swap, &task)) {
		TRY(walk_seen(w, task.ppid, task.ptid)); /* so that the parent has a name */
	}
	switch (r->type) {
	case RECORD_MMAP:
	case RECORD_MMAP2:
	case RECORD_COMM:
	case RECORD_FORK:
	case RECORD_EXIT:
	case RECORD_KSYMBOL: return walk_timeline(s, r, trailer.time);
	case RECORD_SWITCH:
	case RECORD_SWITCH_CPU_WIDE: return walk_switch(w, r, &trailer);
	case RECORD_CGROUP: return session_cgroup_add(s, r);
	case RECORD_CALLCHAIN_DEFERRED: return walk_deferred(w, r, &trailer);
	case RECORD_AUX: walk_aux(w, r); return walk_trace(w, r, &trailer);
	case RECORD_TEXT_POKE: return walk_poke(s, r, trailer.time);
	case RECORD_ITRACE_START: return walk_trace(w, r, &trailer);
	case RECORD_AUX_OUTPUT_HW_ID: walk_output(w, event, r); return 0;
	default: return 0;
	}
}

static int walk_record(struct walk *w, const struct session_item *item)
{
	struct sonde_session *s = w->s;
	const struct record record = session_item_record(item, s->swap);
	const struct record *r = &record;

	if (r->type == RECORD_SAMPLE) {
		s->counts.records[RECORD_SAMPLE]++;
		return s->events != NULL ? walk_sample(w, item, r) : 0;
	}
	if (r->type >= RECORD_TYPE_MAX || record_type_name(r->type) == NULL) {
		s->counts.unknown_records++;
		diag_report(&s->diags, SONDE_DIAG_UNKNOWN, r->offset, "a record of unknown type %u",
		        r->type);
		return 0;
	}
	s->counts.records[r->type]++;
	if (r->type < RECORD_KERNEL_MAX && s->events == NULL) {
		return 0; /* session_walk reports that there are no events */
	}
	if (r->type < RECORD_KERNEL_MAX) {
		return walk_side_band(w, item->event, r);
	}
	if (r->type == RECORD_BUILD_ID && s->options.counts_only) {
		return walk_only_look(s, r);
	}
	if (r->type == RECORD_AUXTRACE || r->type == RECORD_AUXTRACE_INFO) {
		return walk_trace(w, r, NULL);
	}
	if (r->type == RECORD_TIME_CONV) {
		walk_time_conv(s, r);
	}
	if (r->type == RECORD_ID_INDEX && !s->options.counts_only) {
		return session_guests_add(s, r);
	}
	if (r->type == RECORD_BUILD_ID) {
		if (!array_reserve(&s->build_ids, &s->build_ids_cap, s->nbuild_ids + 1,
		            sizeof(*s->build_ids))) {
			return SONDE_ENOMEM;
		}
		s->build_ids[s->nbuild_ids++] = record;
	}
	return 0;
}

/* Adds the samples that counts make to the totals of their events. */
static int walk_reads_end(struct walk *w)
{
	struct sonde_session *s = w->s;

	TRY(reads_walk_end(&w->reads));
	for (size_t i = 0; w->reads.totals != NULL && i < s->nevents; i++) {
		struct session_event_count *count = &s->events[i].count;

		count->samples += w->reads.totals[i].samples;
		count->side_band[RECORD_SAMPLE] += w->reads.totals[i].samples;
		count->period += w->reads.totals[i].period;
	}
	return 0;
}

static int walk_source(struct walk *w, struct session_source *src)
{
	const struct sonde_session_options *o = &w->s->options;
	struct session_item items[SESSION_BATCH];
	struct progress progress =
	        progress_begin(o->on_progress, o->progress_arg, session_size(w->s));
	uint64_t kept = 0;
	int n;

	w->source = src;
	while ((n = src->ops->scan(src, items, SESSION_BATCH)) > 0) {
		progress_at(&progress, items[0].sequence);
		if (src == w->s->sources[0] && items[0].sequence - kept >= FORGET_AFTER) {
			session_forget(w->s);
			kept = items[0].sequence;
		}
		for (int i = 0; i < n; i++) {
			TRY(walk_record(w, &items[i]));
		}
		/* the recorder promised that what follows is later than the last mark but one */
		if (src->nlimits >= 2) {
			TRY(timeline_settled(w->s->timeline, src->limits[src->nlimits - 2]));
		}
	}
	return n;
}

/* Traces need the mappings of all times at once. */
static bool may_have_traces(const struct sonde_session *s)
{
	return s->aux != NULL && (file_has_feature(s->file, FEATURE_AUXTRACE) || s->file->pipe);
}

/*
 * Begins to collect the pages that samples hit, if all samples are in the recording as they are: none
 * is made of counts or a trace, or belongs to a guest's address space.
 */
static int pages_begin(struct sonde_session *s)
{
	bool usable = s->wants_hits && s->nsources == 1 && s->aux == NULL && !s->guest_code;

	for (size_t i = 0; i < s->nevents; i++) {
		usable = usable && (s->events[i].plan.sample_type & SONDE_SAMPLE_READ) == 0;
	}
	if (usable) {
		s->pages = calloc(1, sizeof(*s->pages));
	}
	return usable && s->pages == NULL ? SONDE_ENOMEM : 0;
}

static int walk_sources(struct walk *w)
{
	struct sonde_session *s = w->s;

	if (!s->options.counts_only) {
		TRY(find_switches(w));
	}
	if (s->nsources == 1 &&
	        !may_have_traces(
	                s)) { /* times of several sources are not in order while they are read */
		timeline_limit(s->timeline,
		        s->epoch_records != 0 ? s->epoch_records : EPOCH_RECORDS, session_reread,
		        s);
	}
	TRY(pages_begin(s));
	/* the idle task, which also owns the kernel's mappings */
	TRY(timeline_add_thread(s->timeline, 0, 0));
	for (size_t i = 0; i < s->nsources; i++) {
		TRY(walk_source(w, s->sources[i]));
	}
	return 0;
}

int session_walk(struct sonde_session *s)
{
	struct walk w = {.s = s, .reads = {.session = s, .out = &s->reads, .diags = &s->diags}};
	int rc;

	if (s->nevents == 0) {
		diag_report(&s->diags, SONDE_DIAG_DAMAGED, NO_OFFSET,
		        "the recording describes no event: its samples can only be counted");
	}
	rc = walk_sources(&w);
	walk_lost_end(&w);
	if (rc >= 0) {
		rc = walk_reads_end(&w);
	}
	reads_walk_fini(&w.reads);
	record_scratch_fini(&w.scratch);
	free(w.switches);
	if (rc >= 0 && s->sources[0]->late && !s->options.counts_only) {
		timeline_unsettle(s->timeline);
		diag_report(&s->diags, SONDE_DIAG_NOTE, NO_OFFSET,
		        "samples are older than the recorder promised; the whole file is sorted at "
		        "once");
	}
	return rc;
}
