/* SPDX-License-Identifier: MIT */
/*
 * The stage that adds what a recording made in a virtual machine says of its processes to a recording of
 * the host, so that traces of the guest can be decoded: `perf record` in the guest writes MMAP, COMM and
 * so on, whose time is that of the guest.
 *
 *	ID_INDEX  {id, thread of the VCPU} {process of the guest, VCPU}   new ids of the guest's events
 *	records of the guest without a time | FINISHED_INIT
 *	records of a round, up to time M | records of the guest up to M | FINISHED_ROUND | ...
 *
 * Times are converted by way of the time-stamp counter, which the guest reads with an offset and a scale:
 *
 *	guest's ns -> guest's TSC;  host's TSC = (guest's TSC - offset) / scale;  host's TSC -> host's ns
 */
#include "edit/inside.h"

#include "core/array.h"
#include "core/sort.h"
#include "file/reader.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#define ID_SIZE      32u /* u64 id, idx, cpu, tid of ID_INDEX */
#define MACHINE_SIZE 16u /* u64 machine_pid, vcpu */
#define INDEX_MOST   1024u /* entries of an ID_INDEX: more do not fit into its size */
#define IDENTIFIER   8u /* bytes */
#define KSYMBOL_TYPE 12u /* offset in the body */
#define OUT_OF_LINE  2u
#define VCPUS_MOST   65536u
#define TSC_END      0x1p64

/* TIME_CONV: ns = zero + tsc * mult >> shift. mult 0: no such record, ns and TSC are one. */
struct clock {
	uint64_t shift, mult, zero;
};

struct vcpu {
	uint32_t number, tid; /* of the thread */
};

struct ran { /* a thread of a VCPU began to run on a processor */
	uint64_t time;
	uint32_t number, cpu;
};

struct guest_id {
	uint64_t from, to;
	uint32_t vcpu;
};

struct guest_record {
	const uint8_t *bytes;
	size_t size;
	const struct file_event *event;
};

struct edit_guest {
	struct sonde_editor *e;
	char *path;
	uint32_t pid; /* of the process of the guest */
	uint64_t offset; /* of the guest's TSC */
	double scale;
	struct sonde_file *handle;
	const struct file *f; /* of the guest */
	struct clock guest, host;
	bool swap;
	struct vcpu *vcpus;
	size_t nvcpus, vcpus_cap;
	struct ran *ran; /* sorted by time after the first pass */
	size_t nran, ran_cap, next_ran;
	uint32_t *cpus; /* where VCPUs run, by number */
	uint32_t ncpus;
	struct guest_id *ids; /* sorted by `from` */
	size_t nids;
	struct guest_record *records;
	uint64_t *times; /* of the host, by number of the record */
	size_t n, records_cap, times_cap;
	uint32_t *order;
	size_t next; /* in `order` */
	uint64_t newest; /* time of the host's records so far, ns */
	bool begun; /* the ids were written */
};

static bool is_side_band(const struct record *r, bool swap)
{
	switch (r->type) {
	case RECORD_MMAP:
	case RECORD_MMAP2:
	case RECORD_COMM:
	case RECORD_FORK:
	case RECORD_EXIT:
	case RECORD_SWITCH:
	case RECORD_SWITCH_CPU_WIDE:
	case RECORD_TEXT_POKE:
	case RECORD_LOST: return true;
	case RECORD_KSYMBOL: /* code of BPF programs cannot be decoded */
		return r->body.n >= KSYMBOL_TYPE + 2 &&
		       load_u16(r->body.p + KSYMBOL_TYPE, swap) == OUT_OF_LINE;
	default: return false;
	}
}

/* ---- options ---- */

static int bad_option(struct edit_guest *g, const char *what)
{
	return error_set(&g->e->error, SONDE_EARG, NO_OFFSET,
	        "--guest-data=%s: %s; it is PATH,PID[,OFFSET[,SCALE]]: the guest's recording, the "
	        "process that runs the guest, offset and scale of its TSC",
	        g->e->o.guest_data, what);
}

/* Reads the end of the option: ",OFFSET[,SCALE]". */
static int clock_read(struct edit_guest *g, const char *s)
{
	char *end;

	errno = 0;
	g->offset = strtoull(s, &end, 0); /* a negative number wraps, as the TSC does */
	if (errno != 0 || end == s || (*end != '\0' && *end != ',')) {
		return bad_option(g, "the offset is no number");
	}
	if (*end == '\0') {
		return 0;
	}
	s = end + 1;
	g->scale = strtod(s, &end);
	if (end == s || *end != '\0' || !(g->scale > 0) || g->scale > 1e9) {
		return bad_option(g, "the scale is no number above 0");
	}
	return 0;
}

static int options_read(struct edit_guest *g, const char *text)
{
	size_t n = strcspn(text, ",");
	unsigned long long pid;
	char *end;

	g->scale = 1;
	if (n == 0 || text[n] == '\0') {
		return bad_option(g, n == 0 ? "no recording is named" : "the process is missing");
	}
	errno = 0;
	pid = text[n + 1] >= '0' && text[n + 1] <= '9' ? strtoull(text + n + 1, &end, 0) : 0;
	if (pid == 0 || errno != 0 || pid > INT_MAX || (*end != '\0' && *end != ',')) {
		return bad_option(g, "the process is no number above 0");
	}
	g->pid = (uint32_t)pid;
	g->path = strndup(text, n);
	if (g->path == NULL) {
		return error_nomem(&g->e->error);
	}
	return *end == ',' ? clock_read(g, end + 1) : 0;
}

/* ---- clocks ---- */

static void clock_note(struct clock *c, const struct record *r, bool swap)
{
	struct cursor in = cursor_make(r->body, swap);
	struct clock found = {cursor_u64(&in), cursor_u64(&in), cursor_u64(&in)};

	if (!in.bad && found.shift < 64) {
		*c = found;
	}
}

static uint64_t tsc_of(const struct clock *c, uint64_t ns)
{
	ns -= c->zero;
	return c->mult == 0 ? ns
	                    : ((ns / c->mult) << c->shift) + ((ns % c->mult) << c->shift) / c->mult;
}

static uint64_t ns_of(const struct clock *c, uint64_t tsc)
{
	uint64_t rest = tsc & ((UINT64_C(1) << c->shift) - 1);

	return c->mult == 0 ? c->zero + tsc
	                    : c->zero + (tsc >> c->shift) * c->mult + (rest * c->mult >> c->shift);
}

/* The host's time for a time of the guest; 0 stays: it says that a record is of the start. */
static uint64_t time_convert(const struct edit_guest *g, uint64_t ns)
{
	uint64_t tsc;

	if (ns == 0 || ns == UINT64_MAX) {
		return ns;
	}
	tsc = tsc_of(&g->guest, ns) - g->offset;
	if (g->scale != 1) {
		double scaled = (double)tsc / g->scale;

		tsc = scaled < TSC_END ? (uint64_t)scaled : UINT64_MAX;
	}
	return ns_of(&g->host, tsc);
}

/* ---- the host: the first pass ---- */

/* "CPU 3/KVM": QEMU with -name debug-threads=on names its threads so. */
static bool vcpu_name(struct span name, uint32_t *number)
{
	static const char first[] = "CPU ", last[] = "/KVM";
	size_t at = sizeof(first) - 1;

	*number = 0;
	if (name.n < at || memcmp(name.p, first, at) != 0) {
		return false;
	}
	while (at < name.n && name.p[at] >= '0' && name.p[at] <= '9' && *number < VCPUS_MOST) {
		*number = *number * 10 + (uint32_t)(name.p[at++] - '0');
	}
	return at > sizeof(first) - 1 && *number < VCPUS_MOST && name.n - at >= sizeof(last) - 1 &&
	       memcmp(name.p + at, last, sizeof(last) - 1) == 0;
}

static const struct vcpu *vcpu_by_tid(const struct edit_guest *g, uint32_t tid)
{
	for (size_t i = 0; i < g->nvcpus; i++) {
		if (g->vcpus[i].tid == tid) {
			return &g->vcpus[i];
		}
	}
	return NULL;
}

static uint32_t tid_of(const struct edit_guest *g, uint32_t number)
{
	for (size_t i = 0; i < g->nvcpus; i++) {
		if (g->vcpus[i].number == number) {
			return g->vcpus[i].tid;
		}
	}
	return 0;
}

static int comm_note(struct edit_guest *g, const struct record *r, bool swap)
{
	struct record_comm comm;
	uint32_t number;

	if (!record_comm_decode(r, swap, &comm) || comm.pid != g->pid ||
	        !vcpu_name(comm.name, &number) || vcpu_by_tid(g, comm.tid) != NULL) {
		return 0;
	}
	if (!array_reserve(&g->vcpus, &g->vcpus_cap, g->nvcpus + 1, sizeof(*g->vcpus))) {
		return error_nomem(&g->e->error);
	}
	g->vcpus[g->nvcpus++] = (struct vcpu){.number = number, .tid = comm.tid};
	g->ncpus = number >= g->ncpus ? number + 1 : g->ncpus;
	return 0;
}

static int switch_note(struct edit_guest *g, const struct file *f, const struct record *r)
{
	const struct file_event *event = file_record_event(f, r);
	struct record_trailer trailer;
	const struct vcpu *vcpu;

	if ((r->misc & MISC_SWITCH_OUT) != 0 || event == NULL ||
	        !record_trailer_decode(&event->plan, r->body, f->swap, &trailer) ||
	        trailer.pid != g->pid) {
		return 0;
	}
	vcpu = vcpu_by_tid(g, trailer.tid);
	if (vcpu == NULL) {
		return 0;
	}
	if (!array_reserve(&g->ran, &g->ran_cap, g->nran + 1, sizeof(*g->ran))) {
		return error_nomem(&g->e->error);
	}
	g->ran[g->nran++] = (struct ran){trailer.time, vcpu->number, trailer.cpu};
	return 0;
}

static int look(void *arg, struct sonde_rewriter *rw, const struct sonde_raw_record *raw)
{
	struct edit_guest *g = arg;
	const struct file *f = reader_file(sonde_rewriter_file(rw));
	const struct record r = edit_view(raw);
	int rc = 0;

	if (r.type == RECORD_COMM) {
		rc = comm_note(g, &r, f->swap);
	} else if (r.type == RECORD_SWITCH || r.type == RECORD_SWITCH_CPU_WIDE) {
		rc = switch_note(g, f, &r);
	} else if (r.type == RECORD_TIME_CONV) {
		clock_note(&g->host, &r, f->swap);
	}
	return edit_failed(g->e, rw, rc);
}

/* ---- the guest ---- */

static int guest_open(struct edit_guest *g, const struct file *host)
{
	const struct sonde_file_options o = {.size = sizeof(o),
	        .on_diag = host->diags->fn,
	        .diag_arg = host->diags->arg,
	        .temp_dir = host->temp_dir};

	g->handle = sonde_file_new(&o);
	if (g->handle == NULL) {
		return error_nomem(&g->e->error);
	}
	reader_file(g->handle)->check_owner = host->check_owner;
	if (sonde_file_open(g->handle, g->path) < 0) {
		return error_take(&g->e->error, sonde_file_error(g->handle));
	}
	g->f = reader_file(g->handle);
	g->swap = g->f->swap;
	if (g->f->kallsyms != NULL) {
		diag_report(host->diags, SONDE_DIAG_NOTE, NO_OFFSET,
		        "%s has a copy of the guest's kernel, which is not in the output: cp -r "
		        "%s/kcore_dir OUTPUT/kcore_dir__%u if the output is a directory",
		        g->path, g->path, g->pid);
	}
	if (g->f->swap != host->swap) {
		return error_set(&g->e->error, SONDE_EFORMAT, NO_OFFSET,
		        "%s has another byte order than %s; change one first: sonde convert "
		        "--endian",
		        g->path, host->path);
	}
	for (size_t i = 0; i < g->f->nevents; i++) {
		const struct record_plan *plan = &g->f->events[i].plan;

		if (plan->trailer_time == RECORD_NOT_THERE) {
			return error_set(&g->e->error, SONDE_EFORMAT, NO_OFFSET,
			        "%s: the records of event %s have no times; record in the guest "
			        "with: perf record --sample-identifier -a -e dummy",
			        g->path, g->f->events[i].name);
		}
	}
	return 0;
}

static int compare_ids(const void *a, const void *b)
{
	const struct guest_id *x = a, *y = b;

	return (x->from > y->from) - (x->from < y->from);
}

static struct guest_id *id_find(const struct edit_guest *g, uint64_t from)
{
	const struct guest_id key = {.from = from};

	return g->nids != 0 ? bsearch(&key, g->ids, g->nids, sizeof(key), compare_ids) : NULL;
}

static uint64_t ids_end(const struct file *f)
{
	uint64_t end = 1;

	for (size_t i = 0; i < f->nevents; i++) {
		for (size_t k = 0; k < f->events[i].nids; k++) {
			end = f->events[i].ids[k] >= end ? f->events[i].ids[k] + 1 : end;
		}
	}
	return end;
}

/* Gives the events ids after those of the host. An event without one, as a single one has, gets one. */
static int ids_choose(struct edit_guest *g, const struct file *host)
{
	uint64_t next = ids_end(host);
	size_t total = 0;

	for (size_t i = 0; i < g->f->nevents; i++) {
		total += g->f->events[i].nids;
	}
	if (next > UINT64_MAX - total) {
		return error_set(&g->e->error, SONDE_ELIMIT, NO_OFFSET,
		        "%s: no numbers are left for the events of the guest", host->path);
	}
	g->ids = arena_alloc(&g->e->arena, (total + 1) * sizeof(*g->ids));
	if (g->ids == NULL) {
		return error_nomem(&g->e->error);
	}
	for (size_t i = 0; i < g->f->nevents; i++) {
		for (size_t k = 0; k < g->f->events[i].nids; k++) {
			g->ids[g->nids++] = (struct guest_id){g->f->events[i].ids[k], next++, 0};
		}
	}
	if (g->nids == 0) {
		return error_set(&g->e->error, SONDE_EFORMAT, NO_OFFSET,
		        "%s: its events have no ids; record in the guest with: perf record "
		        "--sample-identifier -a -e dummy",
		        g->path);
	}
	qsort(g->ids, g->nids, sizeof(*g->ids), compare_ids);
	return 0;
}

/* u64 n, then {u64 id, index, cpu, tid}: the processor of an event is the VCPU. */
static void index_note(struct edit_guest *g, const struct record *r)
{
	struct cursor c = cursor_make(r->body, g->swap);
	uint64_t n = cursor_u64(&c);

	for (uint64_t i = 0; i < n && cursor_left(&c) >= ID_SIZE; i++) {
		struct guest_id *id = id_find(g, cursor_u64(&c));
		uint64_t cpu;

		(void)cursor_u64(&c);
		cpu = cursor_u64(&c);
		(void)cursor_u64(&c);
		if (id != NULL && cpu < VCPUS_MOST) {
			id->vcpu = (uint32_t)cpu;
		}
	}
}

static int record_keep(struct edit_guest *g, const struct record *r, const uint8_t *bytes)
{
	const struct file_event *event = file_record_event(g->f, r);
	struct record_trailer trailer;

	event = event != NULL ? event : &g->f->events[0];
	if (!record_trailer_decode(&event->plan, r->body, g->swap, &trailer)) {
		return 0;
	}
	if (g->n == UINT32_MAX ||
	        !array_reserve(&g->records, &g->records_cap, g->n + 1, sizeof(*g->records)) ||
	        !array_reserve(&g->times, &g->times_cap, g->n + 1, sizeof(*g->times))) {
		return error_nomem(&g->e->error);
	}
	g->records[g->n] = (struct guest_record){bytes, RECORD_HEADER_SIZE + r->body.n, event};
	g->times[g->n++] = trailer.time;
	return 0;
}

static int records_read(struct edit_guest *g)
{
	const struct sonde_raw_record *raw;
	int rc;

	while ((rc = sonde_file_next(g->handle, &raw)) > 0) {
		const struct record r = edit_view(raw);

		if (r.type == RECORD_ID_INDEX) {
			index_note(g, &r);
		} else if (r.type == RECORD_TIME_CONV) {
			clock_note(&g->guest, &r, g->swap);
		} else if (is_side_band(&r, g->swap)) {
			TRY(record_keep(g, &r, raw->bytes));
		}
	}
	return rc < 0 ? error_take(&g->e->error, sonde_file_error(g->handle)) : 0;
}

static int compare_ran(const void *a, const void *b)
{
	const struct ran *x = a, *y = b;

	return (x->time > y->time) - (x->time < y->time);
}

static int records_sort(struct edit_guest *g)
{
	uint64_t *spare = g->n != 0 ? malloc(2 * g->n * sizeof(*spare)) : NULL;

	g->order = malloc((g->n + 1) * sizeof(*g->order));
	g->cpus = calloc(g->ncpus + 1u, sizeof(*g->cpus));
	if (g->order == NULL || g->cpus == NULL || (g->n != 0 && spare == NULL)) {
		free(spare);
		return error_nomem(&g->e->error);
	}
	for (size_t i = 0; i < g->n; i++) {
		g->order[i] = (uint32_t)i;
		g->times[i] = time_convert(g, g->times[i]);
	}
	if (g->n != 0) {
		sort_order(g->times, g->order, spare, g->n);
	}
	if (g->nran != 0) {
		qsort(g->ran, g->nran, sizeof(*g->ran), compare_ran);
	}
	free(spare);
	return 0;
}

/* ---- events and header ---- */

/* "dummy" of a guest is called "dummy:G", "dummy:u" is called "dummy:uG". */
static const char *name_make(struct edit_guest *g, const char *name)
{
	struct text t = {0};
	const char *out;

	text_str(&t, name);
	text_str(&t, strrchr(name, ':') != NULL ? "G" : ":G");
	out = t.failed ? NULL : arena_text(&g->e->arena, t.p, t.n);
	text_fini(&t);
	return out;
}

static int event_add(struct edit_guest *g, struct sonde_rewriter *rw, size_t i)
{
	const struct file_event *e = &g->f->events[i];
	size_t at = reader_file(sonde_rewriter_file(rw))->nevents + i;
	uint64_t *ids = arena_alloc(&g->e->arena, (e->nids + 1) * sizeof(*ids));
	uint8_t *bytes = arena_alloc(&g->e->arena, ATTR_SIZE_NOW);
	struct sonde_rewriter_event event = {.size = sizeof(event),
	        .attr = bytes,
	        .ids = ids,
	        .nids = e->nids,
	        .name = name_make(g, e->name)};
	struct sonde_attr attr = e->attr;

	if (ids == NULL || bytes == NULL || event.name == NULL) {
		return edit_failed(g->e, rw, error_nomem(&g->e->error));
	}
	for (size_t k = 0; k < e->nids; k++) {
		ids[k] = id_find(g, e->ids[k])->to;
	}
	attr.sample_type |= SONDE_SAMPLE_IDENTIFIER;
	record_attr_set(&attr, SONDE_FLAG_EXCLUDE_HOST, true);
	record_attr_set(&attr, SONDE_FLAG_EXCLUDE_GUEST, false);
	attr.size = attr.size < ATTR_SIZE_NOW ? attr.size : ATTR_SIZE_NOW;
	attr.size = attr.size < ATTR_SIZE_VER0 ? ATTR_SIZE_VER0 : attr.size;
	record_attr_encode_as(&attr, g->swap, bytes);
	event.attr_size = attr.size;
	return sonde_rewriter_set_event(rw, at, &event);
}

static uint16_t guest_mode(uint16_t misc)
{
	uint16_t mode = misc & MISC_CPUMODE_MASK;

	mode = mode == 0 || mode == MISC_KERNEL ? MISC_GUEST_KERNEL : MISC_GUEST_USER;
	return (uint16_t)((misc & ~(unsigned)MISC_CPUMODE_MASK) | mode);
}

/* The build ids of both; those of the guest name its process. */
static int build_ids_join(struct edit_guest *g, struct sonde_rewriter *rw)
{
	const struct span own =
	        file_feature(reader_file(sonde_rewriter_file(rw)), FEATURE_BUILD_ID);
	struct span s = file_feature(g->f, FEATURE_BUILD_ID);
	struct text out = {0};
	int rc = 0;

	text_bytes(&out, (const char *)own.p, own.n);
	while (s.n > RECORD_HEADER_SIZE + 4) {
		size_t size = load_u16(s.p + 6, g->swap);
		uint8_t head[RECORD_HEADER_SIZE + 4];

		if (size <= sizeof(head) || size > s.n) {
			break;
		}
		memcpy(head, s.p, RECORD_HEADER_SIZE);
		store_u16(head + 4, guest_mode(load_u16(s.p + 4, g->swap)), g->swap);
		store_u32(head + 8, g->pid, g->swap);
		text_bytes(&out, (const char *)head, sizeof(head));
		text_bytes(&out, (const char *)s.p + sizeof(head), size - sizeof(head));
		s.p += size;
		s.n -= size;
	}
	if (out.failed) {
		rc = edit_failed(g->e, rw, error_nomem(&g->e->error));
	} else if (out.n != own.n) {
		rc = sonde_rewriter_set_feature(rw, FEATURE_BUILD_ID, out.p, out.n);
	}
	text_fini(&out);
	return rc;
}

static int guest_read(struct edit_guest *g, const struct file *host)
{
	if (g->nvcpus == 0) {
		return error_set(&g->e->error, SONDE_EFORMAT, NO_OFFSET,
		        "%s: no thread of process %u is called 'CPU N/KVM': give the process of "
		        "the guest, and start QEMU with -name guest=NAME,debug-threads=on",
		        host->path, g->pid);
	}
	TRY(guest_open(g, host));
	TRY(ids_choose(g, host));
	TRY(records_read(g));
	return records_sort(g);
}

static int begin(void *arg, struct sonde_rewriter *rw)
{
	struct edit_guest *g = arg;

	TRY(edit_failed(g->e, rw, guest_read(g, reader_file(sonde_rewriter_file(rw)))));
	for (size_t i = 0; i < g->f->nevents; i++) {
		TRY(event_add(g, rw, i));
	}
	return build_ids_join(g, rw);
}

/* ---- the second pass ---- */

static int bytes_put(struct edit_guest *g, struct sonde_rewriter *rw, size_t size)
{
	const struct sonde_raw_record made = {.bytes = g->e->room, .size = size};

	return sonde_rewriter_put(rw, &made);
}

/* Which event ids are of which VCPU of the guest. */
static int ids_put(struct edit_guest *g, struct sonde_rewriter *rw)
{
	for (size_t from = 0; from < g->nids; from += INDEX_MOST) {
		size_t n = g->nids - from < INDEX_MOST ? g->nids - from : INDEX_MOST;
		size_t size = RECORD_HEADER_SIZE + 8 + n * (ID_SIZE + MACHINE_SIZE);
		uint8_t *id = g->e->room + RECORD_HEADER_SIZE + 8, *machine = id + n * ID_SIZE;

		memset(g->e->room, 0, size);
		store_u32(g->e->room, RECORD_ID_INDEX, g->swap);
		store_u16(g->e->room + 6, (uint16_t)size, g->swap);
		store_u64(g->e->room + RECORD_HEADER_SIZE, n, g->swap);
		for (size_t i = 0; i < n; i++, id += ID_SIZE, machine += MACHINE_SIZE) {
			const struct guest_id *one = &g->ids[from + i];

			store_u64(id, one->to, g->swap);
			store_u64(id + 16, UINT64_MAX, g->swap);
			store_u64(id + 24, tid_of(g, one->vcpu), g->swap);
			store_u64(machine, g->pid, g->swap);
			store_u64(machine + 8, one->vcpu, g->swap);
		}
		TRY(bytes_put(g, rw, size));
	}
	return 0;
}

/* Returns the id of a record, and that of its event if it has none. */
static const struct guest_id *id_of(const struct edit_guest *g, const struct guest_record *r)
{
	const struct record_plan *plan = &r->event->plan;
	const struct guest_id *id = NULL;

	if (plan->trailer_id != RECORD_NOT_THERE) {
		id = id_find(g, load_u64(r->bytes + r->size - plan->trailer_id, g->swap));
	}
	if (id == NULL && r->event->nids != 0) {
		id = id_find(g, r->event->ids[0]);
	}
	return id != NULL ? id : &g->ids[0];
}

/* The processor of the host where a VCPU runs at a time; 0 before the first switch, as in perf. */
static uint32_t cpu_at(struct edit_guest *g, uint32_t vcpu, uint64_t time)
{
	while (g->next_ran < g->nran && g->ran[g->next_ran].time <= time) {
		g->cpus[g->ran[g->next_ran].number] = g->ran[g->next_ran].cpu;
		g->next_ran++;
	}
	return vcpu < g->ncpus ? g->cpus[vcpu] : 0;
}

/* Sets ID and IDENTIFIER before the end of a record: ID, STREAM_ID, CPU, IDENTIFIER, each of 8 bytes. */
static void ids_store(const struct record_plan *plan, uint8_t *end, uint64_t id, bool swap)
{
	const uint64_t after[] = {
	        SONDE_SAMPLE_STREAM_ID, SONDE_SAMPLE_CPU, SONDE_SAMPLE_IDENTIFIER};
	size_t at = 8;

	if (plan->trailer_id != RECORD_NOT_THERE) {
		store_u64(end - plan->trailer_id, id, swap);
	}
	for (size_t i = 0; i < sizeof(after) / sizeof(after[0]); i++) {
		at += (plan->sample_type & after[i]) != 0 ? 8 : 0;
	}
	if ((plan->sample_type & SONDE_SAMPLE_ID) != 0) {
		store_u64(end - at, id, swap);
	}
}

/* Writes a record with the host's time and processor, the new id, and always an IDENTIFIER. */
static int guest_put(struct edit_guest *g, struct sonde_rewriter *rw, uint32_t number)
{
	const struct guest_record *r = &g->records[number];
	const struct record_plan *plan = &r->event->plan;
	const struct guest_id *id = id_of(g, r);
	uint8_t *p = g->e->room, *end = p + r->size;
	size_t size = r->size;

	memcpy(p, r->bytes, r->size);
	store_u16(p + 4, guest_mode(load_u16(p + 4, g->swap)), g->swap);
	store_u64(end - plan->trailer_time, g->times[number], g->swap);
	ids_store(plan, end, id->to, g->swap);
	if (plan->trailer_cpu != RECORD_NOT_THERE &&
	        load_u32(end - plan->trailer_cpu, g->swap) != UINT32_MAX) {
		store_u32(end - plan->trailer_cpu, cpu_at(g, id->vcpu, g->times[number]), g->swap);
	}
	if (load_u32(p, g->swap) == RECORD_LOST && r->size >= RECORD_HEADER_SIZE + 16) {
		const struct guest_id *lost = id_find(g, load_u64(p + RECORD_HEADER_SIZE, g->swap));

		store_u64(p + RECORD_HEADER_SIZE, lost != NULL ? lost->to : id->to, g->swap);
	}
	if ((plan->sample_type & SONDE_SAMPLE_IDENTIFIER) == 0) {
		if (size > UINT16_MAX - IDENTIFIER) {
			return 0; /* names are not that long */
		}
		store_u64(end, id->to, g->swap);
		size += IDENTIFIER;
		store_u16(p + 6, (uint16_t)size, g->swap);
	}
	return bytes_put(g, rw, size);
}

/* Writes the records of the guest up to a time. */
static int guests_put(struct edit_guest *g, struct sonde_rewriter *rw, uint64_t until)
{
	if (!g->begun) {
		g->begun = true;
		TRY(ids_put(g, rw));
	}
	while (g->next < g->n && g->times[g->order[g->next]] <= until) {
		TRY(guest_put(g, rw, g->order[g->next++]));
	}
	return 0;
}

static int record(void *arg, struct sonde_rewriter *rw, const struct sonde_raw_record *r)
{
	struct edit_guest *g = arg;

	if (r->type == RECORD_FINISHED_INIT) {
		TRY(guests_put(g, rw, 0));
	} else if (r->type == RECORD_FINISHED_ROUND) {
		TRY(guests_put(g, rw, g->newest));
	} else if (r->type < RECORD_USER_START) {
		g->newest = edit_newer(reader_file(sonde_rewriter_file(rw)), r, g->newest);
	}
	return sonde_rewriter_put(rw, r);
}

static int end(void *arg, struct sonde_rewriter *rw)
{
	return guests_put(arg, rw, UINT64_MAX);
}

int edit_guest_stage(struct sonde_editor *e, struct sonde_rewriter *rw)
{
	struct sonde_rewriter_stage stage = {
	        .size = sizeof(stage), .look = look, .begin = begin, .record = record, .end = end};

	e->guest = calloc(1, sizeof(*e->guest));
	if (e->guest == NULL) {
		return error_nomem(&e->error);
	}
	e->guest->e = e;
	stage.arg = e->guest;
	TRY(options_read(e->guest, e->o.guest_data));
	return sonde_rewriter_add(rw, &stage);
}

void edit_guest_fini(struct sonde_editor *e)
{
	struct edit_guest *g = e->guest;

	if (g != NULL) {
		sonde_file_free(g->handle);
		free(g->path);
		free(g->vcpus);
		free(g->ran);
		free(g->cpus);
		free(g->records);
		free(g->times);
		free(g->order);
	}
	free(g);
}
