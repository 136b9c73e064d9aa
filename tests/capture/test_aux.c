/* SPDX-License-Identifier: MIT */
/*
 * Recordings of trace on a kernel that is played: every byte that went into an AUX area is in the
 * file, at its place, and nothing else. `test_aux MACHINE [FOLDER]`: keeps the recordings there.
 */
#define _GNU_SOURCE
#include "abi/abi.h"
#include "fake/fake.h"
#include "file/file.h"
#include "fixture.h"
#include "tap.h"

#include <stdlib.h>
#include <unistd.h>

#define PT_TYPE   10u
#define PT_CONFIG 0x300e601u
#define CPUS      2
#define PAGE      ((uint64_t)FAKE_PAGE)

#define AUX_TRUNCATED 1u
#define AUX_OVERWRITE 2u
#define AUX_PARTIAL   4u
#define AUX_COLLISION 8u

static struct fixture machine;
static const char *keep; /* where recordings stay; NULL: nowhere */
static char said[8192];

static void on_message(void *arg, enum sonde_record_message kind, const char *text)
{
	size_t n = strlen(said);

	(void)arg;
	(void)kind;
	(void)snprintf(said + n, sizeof(said) - n, "%s\n", text);
}

static char output[256];
static const char *events[4];

static struct sonde_record_options options(const char *name)
{
	(void)snprintf(output, sizeof(output), "%s/%s", keep != NULL ? keep : machine.path, name);
	(void)unlink(output);
	events[0] = "intel_pt//u";
	return (struct sonde_record_options){.size = sizeof(struct sonde_record_options),
	        .all_cpus = true,
	        .events = events,
	        .nevents = 1,
	        .no_bpf_events = true,
	        .no_build_ids = true,
	        .output = output,
	        .message = on_message};
}

/* A recorder of the played machine. */
static struct sonde_record *begin(const struct sonde_record_options *o)
{
	struct sonde_record *r = sonde_record_new(o);

	if (r == NULL) {
		abort();
	}
	said[0] = '\0';
	r->kernel = fake_kernel();
	(void)close(r->root_fd);
	r->root_fd = dup(machine.fd);
	return r;
}

/* ---- what the machine does ---- */

struct play {
	struct sonde_record *record;
	unsigned polls, last;
	uint64_t each; /* bytes of trace between polls */
	unsigned snapshots_every; /* polls; 0: never */
	unsigned files; /* mappings so far */
};

static bool play(void *arg)
{
	struct play *p = arg;
	unsigned i = p->polls++;
	char name[32];

	if (i == 0) {
		fake_run(0, 7, 7);
		fake_run(1, 8, 8);
	}
	if (i == 5) {
		fake_aux_flags(0, AUX_PARTIAL);
	}
	if (i == 6) {
		fake_aux_flags(1, AUX_COLLISION);
	}
	fake_trace(0, p->each + (uint64_t)i * 13);
	fake_trace(1, p->each / 2 + i);
	/* side-band must come whether the trace is on or off */
	(void)snprintf(name, sizeof(name), "/lib/%u", p->files);
	fake_mmap(7, 0x10000 + (uint64_t)0x1000 * p->files++, 0x1000, name);
	if (i % 4 == 3) {
		fake_run(0, i % 8 == 3 ? 9 : 7, i % 8 == 3 ? 9 : 7);
	}
	if (p->snapshots_every != 0 && i % p->snapshots_every == p->snapshots_every - 1) {
		sonde_record_snapshot(p->record);
	}
	return i < p->last;
}

/* ---- what the file says ---- */

struct seen {
	uint64_t bytes[CPUS]; /* of trace */
	uint64_t next[CPUS]; /* where it would go on */
	uint64_t gaps[CPUS]; /* places where it did not */
	uint64_t wrong; /* bytes that are not what the hardware made, or were never there */
	uint64_t aux_records, aux_bytes, truncated, overwrite, partial, collision;
	uint64_t starts, maps, switches, infos, chunks, indexed, clocks;
	uint64_t damaged;
	uint8_t info[256];
	size_t info_size;
	uint8_t clock[48]; /* TIME_CONV */
};

static void see_chunk(struct seen *s, const struct record *r)
{
	uint64_t size = load_u64(r->body.p, false);
	uint64_t offset = load_u64(r->body.p + 8, false);
	uint32_t cpu = load_u32(r->body.p + 32, false);
	const uint8_t *p = r->body.p + 40;
	uint64_t i, real = size;
	int want;

	if (cpu == UINT32_MAX) { /* a thread's area: thread number n stays on cpu n */
		cpu = load_u32(r->body.p + 24, false);
	}
	if (cpu >= CPUS) {
		s->wrong += size;
		return;
	}
	while (real > 0 && size - real < 7 && p[real - 1] == 0) {
		real--; /* the hardware makes no zeros */
	}
	for (i = 0; i < real; i++) {
		want = fake_aux_byte((int)cpu, offset + i);
		s->wrong += want != p[i];
	}
	s->gaps[cpu] += offset != s->next[cpu];
	s->next[cpu] = offset + real;
	s->bytes[cpu] += real;
	s->chunks++;
}

static void see_aux(struct seen *s, const struct record *r)
{
	uint64_t flags = load_u64(r->body.p + 16, false);

	s->aux_records++;
	s->aux_bytes += load_u64(r->body.p + 8, false);
	s->truncated += (flags & AUX_TRUNCATED) != 0;
	s->overwrite += (flags & AUX_OVERWRITE) != 0;
	s->partial += (flags & AUX_PARTIAL) != 0;
	s->collision += (flags & AUX_COLLISION) != 0;
}

static void see(struct seen *s, const struct record *r)
{
	switch (r->type) {
	case RECORD_AUXTRACE: see_chunk(s, r); return;
	case RECORD_AUX: see_aux(s, r); return;
	case RECORD_ITRACE_START: s->starts++; return;
	case RECORD_MMAP2:
		s->maps += strncmp((const char *)r->body.p + 64, "/lib/", 5) == 0;
		return;
	case RECORD_SWITCH:
	case RECORD_SWITCH_CPU_WIDE: s->switches++; return;
	case RECORD_TIME_CONV:
		s->clocks += r->body.n == sizeof(s->clock);
		memcpy(s->clock, r->body.p, r->body.n < 48 ? r->body.n : 48);
		return;
	case RECORD_AUXTRACE_INFO:
		s->infos++;
		s->info_size = r->body.n < sizeof(s->info) ? r->body.n : sizeof(s->info);
		memcpy(s->info, r->body.p, s->info_size);
		return;
	default: return;
	}
}

static struct seen read_back(void)
{
	struct diag_sink diags = {0};
	struct file f = {.diags = &diags};
	struct seen s = {0};
	struct record r;
	uint64_t offset, i, n;
	struct span index;

	ok(file_open(&f, output) >= 0 && file_inflate(&f) >= 0, "the file opens");
	for (offset = f.streams[0].start; file_next(&f, &offset, &r, &diags) > 0;) {
		see(&s, &r);
	}
	index = file_feature(&f, FEATURE_AUXTRACE);
	n = index.n >= 8 ? load_u64(index.p, false) : 0;
	for (i = 0; i < n && index.n >= 24 + i * 16; i++) {
		const uint8_t *at = f.bytes.p + load_u64(index.p + 8 + i * 16, false);

		s.indexed += load_u32(at, false) == RECORD_AUXTRACE &&
		             load_u64(index.p + 16 + i * 16, false) == 48;
	}
	s.damaged = diags.counts[SONDE_DIAG_TRUNCATED] + diags.counts[SONDE_DIAG_DAMAGED];
	file_close(&f);
	return s;
}

static uint64_t lost_pieces(void)
{
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < fake_pieces(); i++) {
		n += fake_piece(i)->lost;
	}
	return n;
}

/* True when the file has all that went into the areas and all side-band of the run. */
static bool whole(const struct seen *s, const struct play *p)
{
	return s->wrong == 0 && s->bytes[0] == fake_aux_end(0) && s->bytes[1] == fake_aux_end(1) &&
	       s->gaps[0] + s->gaps[1] == 0 && s->maps == p->files && s->truncated == lost_pieces();
}

static struct seen record(struct sonde_record *r, struct play *p)
{
	struct seen s;
	bool good;

	p->record = r;
	fake_on_poll(play, p);
	good = sonde_record_start(r) == 0 && sonde_record_run(r) == 0;
	if (!ok(good, "a recording")) {
		printf("# %s\n", sonde_record_error(r)->text);
	}
	s = read_back();
	eq_u64(sonde_record_get_result(r)->trace_pieces, s.aux_records, "pieces are counted");
	eq_u64(sonde_record_get_result(r)->trace_lost, s.truncated, "and losses");
	eq_u64(sonde_record_get_result(r)->trace_gaps, s.partial + s.collision, "and gaps");
	eq_u64(s.damaged, 0, "nothing in it is damaged");
	eq_u64(s.infos, 1, "AUXTRACE_INFO is there, once");
	eq_u64(s.indexed, s.chunks, "the index names every AUXTRACE record");
	sonde_record_free(r);
	eq_u64(fake_open_fds(), 0, "all descriptors are closed");
	eq_u64(fake_locked(), 0, "and all memory unlocked");
	return s;
}

static void test_wrap(void)
{
	struct sonde_record_options o = options("full-wrap.data");
	struct play p = {.last = 200, .each = 3000};
	struct seen s;

	o.aux_pages = 4;
	fake_reset(&(struct fake_options){.ncpus = CPUS, .aux_type = PT_TYPE});
	s = record(begin(&o), &p);
	ok(fake_aux_end(0) > (uint64_t)20 * 4 * PAGE, "the area went round more than twenty times");
	eq_u64(lost_pieces(), 0, "and nothing was lost");
	ok(whole(&s, &p), "every byte is in the file, at its place");
	eq_u64(s.aux_bytes, s.bytes[0] + s.bytes[1], "AUX records tell of each of them");
	eq_u64(s.partial, 1, "flags of AUX records come through: PARTIAL");
	eq_u64(s.collision, 1, "and COLLISION");
	ok(s.starts >= 2, "ITRACE_START says who was traced first");
	ok(s.switches > 0, "switches are told");
}

static void test_full(void)
{
	struct sonde_record_options o = options("full-lost.data");
	struct play p = {.last = 100, .each = 9000};
	struct seen s;

	o.aux_pages = 2;
	fake_reset(&(struct fake_options){.ncpus = CPUS, .aux_type = PT_TYPE, .late = 2});
	s = record(begin(&o), &p);
	ok(lost_pieces() > 10, "late wake-ups: trace is lost many times");
	ok(fake_aux_end(0) > (uint64_t)20 * 2 * PAGE, "and goes on each time");
	ok(whole(&s, &p), "what was not declared lost is in the file, at its place");
	eq_u64(s.truncated, lost_pieces(), "each loss is one AUX record with TRUNCATED");
}

/* What the test is worth: with each of these taken away it must fail. */
static void test_mutations(void)
{
	struct fake_options without[] = {
	        {.ncpus = CPUS, .aux_type = PT_TYPE, .late = 2, .ignore_enable = true},
	        {.ncpus = CPUS, .aux_type = PT_TYPE, .late = 2, .ignore_dummy = true},
	};
	struct sonde_record_options o = options("mutant.data");
	uint64_t with;
	struct play p = {.last = 100, .each = 9000};
	struct seen s;

	o.aux_pages = 2;
	fake_reset(&(struct fake_options){.ncpus = CPUS, .aux_type = PT_TYPE, .late = 2});
	(void)record(begin(&o), &p);
	with = fake_aux_end(0);
	p = (struct play){.last = 100, .each = 9000};
	fake_reset(&without[0]);
	s = record(begin(&o), &p);
	ok(fake_aux_end(0) < with / 4, "without starting again the trace ends early");
	p = (struct play){.last = 100, .each = 9000};
	fake_reset(&without[1]);
	s = record(begin(&o), &p);
	ok(!whole(&s, &p), "without the dummy event side-band is missing");
	(void)unlink(output);
}

static void test_snapshot(bool head_wraps, uint64_t size, uint64_t each, const char *name)
{
	struct sonde_record_options o = options(name);
	struct play p = {.last = 60, .each = each, .snapshots_every = 20};
	struct seen s;

	o.aux_pages = 4;
	o.snapshot = true;
	o.snapshot_on_exit = true;
	o.snapshot_size = size;
	fake_reset(&(struct fake_options){
	        .ncpus = CPUS, .aux_type = PT_TYPE, .aux_head_wraps = head_wraps});
	s = record(begin(&o), &p);
	(void)s;
	eq_u64(s.maps, p.files, "side-band goes on while the trace is stopped");
	ok(s.overwrite > 0, "AUX records say OVERWRITE");
	ok(strstr(said, "Recording AUX area tracing snapshot\n") != NULL, "-v tells of it");
	if (!head_wraps) {
		eq_u64(s.wrong, 0, "bytes of snapshots are what was made there");
		eq_u64(s.next[0], fake_aux_end(0), "up to the end");
	}
	if (size == 0 && each < PAGE / 8) {
		eq_u64(s.bytes[0], fake_aux_end(0), "nothing twice, nothing left out");
	}
	if (!head_wraps && each > PAGE) {
		eq_u64(s.bytes[0], 4 * (size != 0 ? size : 4 * PAGE),
		        "four snapshots of full size");
	}
	ok(strstr(said, "Intel PT snapshot size: ") != NULL, "its size is told");
}

static uint64_t info_word(const struct seen *s, size_t i)
{
	return load_u64(s->info + 8 + i * 8, false);
}

static void test_info(void)
{
	static const uint64_t want[] = {
	        10, 0, 0, 0, 0, 0x400, 0x800, 3, 0, 1, 0x200, 0x3c000, 246, 2, 2, 29, 0, 0};
	struct sonde_record_options o = options("info.data");
	struct play p = {.last = 3, .each = 100};
	struct seen s;
	size_t i;

	fake_reset(&(struct fake_options){.ncpus = CPUS, .aux_type = PT_TYPE});
	s = record(begin(&o), &p);
	eq_u64(s.info_size, 8 + sizeof(want), "AUXTRACE_INFO has perf's size");
	eq_u64(load_u32(s.info, false), 1, "of Intel PT");
	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		eq_u64(info_word(&s, i), want[i], "a word of it");
	}
	ok(strstr(said, "TSC not available") != NULL, "no clock in the control page: a warning");
	ok(strstr(said, "Synthesizing auxtrace information\n") != NULL, "-v line");
	ok(strstr(said, "AUX area mmap length 4194304\n") != NULL, "-v line");
	ok(strstr(said, "mmap size 528384B\n") != NULL, "-v line");
	ok(strstr(said, "perf event ring buffer mmapped per cpu\n") != NULL, "-v line");
}

static void test_clock(void)
{
	static const struct fake_page page = {.time_shift = 31,
	        .time_mult = 715827883,
	        .time_zero = 0x123456789abcdef,
	        .time_cycles = 77,
	        .time_mask = 0xffffffff,
	        .caps = FAKE_CAP_TIME | FAKE_CAP_TIME_ZERO | FAKE_CAP_TIME_SHORT};
	struct sonde_record_options o = options("clock.data");
	struct play p = {.last = 3, .each = 100};
	struct seen s;

	fake_reset(&(struct fake_options){.ncpus = CPUS, .aux_type = PT_TYPE, .page = &page});
	s = record(begin(&o), &p);
	eq_u64(info_word(&s, 1), 31, "AUXTRACE_INFO has the clock: shift");
	eq_u64(info_word(&s, 2), 715827883, "multiplier");
	eq_u64(info_word(&s, 3), page.time_zero, "zero");
	eq_u64(info_word(&s, 4), 1, "and says so");
	eq_u64(s.clocks, 1, "TIME_CONV too");
	eq_u64(load_u64(s.clock, false), 31, "shift");
	eq_u64(load_u64(s.clock + 8, false), 715827883, "multiplier");
	eq_u64(load_u64(s.clock + 16, false), page.time_zero, "zero");
	eq_u64(load_u64(s.clock + 24, false), 77, "cycles");
	eq_u64(load_u64(s.clock + 32, false), 0xffffffff, "mask");
	ok(s.clock[40] == 1 && s.clock[41] == 1, "both capabilities");
	ok(strstr(said, "TSC not available") == NULL, "then nobody is warned");
}

/* A cpu goes off-line in the middle. */
static bool play_offline(void *arg)
{
	struct play *p = arg;
	bool more = play(arg);

	if (p->polls == 20) {
		fake_offline(1);
	}
	return more;
}

static void test_offline(void)
{
	struct sonde_record_options o = options("offline.data");
	struct play p = {.last = 60, .each = 3000};
	struct sonde_record *r;
	struct seen s;

	o.aux_pages = 4;
	fake_reset(&(struct fake_options){.ncpus = CPUS, .aux_type = PT_TYPE});
	r = begin(&o);
	p.record = r;
	fake_on_poll(play_offline, &p);
	ok(sonde_record_start(r) == 0 && sonde_record_run(r) == 0, "a cpu goes off-line");
	sonde_record_free(r);
	s = read_back();
	ok(whole(&s, &p), "what it had made until then is in the file, and all of the others");
	ok(s.bytes[1] > 0 && s.bytes[1] < s.bytes[0] / 3, "it made nothing more");
}

static void test_some_cpus(void)
{
	struct sonde_record_options o = options("cpus.data");
	struct play p = {.last = 60, .each = 2000};
	struct sonde_record *r;
	struct seen s;

	o.all_cpus = false;
	o.cpus = "1";
	o.aux_pages = 4;
	fake_reset(&(struct fake_options){.ncpus = CPUS, .aux_type = PT_TYPE});
	r = begin(&o);
	p.record = r;
	fake_on_poll(play, &p);
	ok(sonde_record_start(r) == 0, "-C 1");
	ok(fake_find(PT_TYPE, PT_CONFIG, 0) == NULL && fake_find(PT_TYPE, PT_CONFIG, 1) != NULL,
	        "traces that cpu alone");
	ok(fake_find(SONDE_TYPE_SOFTWARE, SONDE_SW_DUMMY, 0) != NULL, "side-band is of all");
	ok(sonde_record_run(r) == 0, "runs");
	sonde_record_free(r);
	s = read_back();
	ok(whole(&s, &p) && s.bytes[0] == 0 && s.bytes[1] > 0, "its trace, and mappings of others");
}

static void test_workers(void)
{
	struct sonde_record_options o = options("worker.data");
	struct play p = {.last = 60, .each = 3000};
	struct seen s;

	o.aux_pages = 4;
	o.async_writes = true;
	fake_reset(&(struct fake_options){.ncpus = CPUS, .aux_type = PT_TYPE});
	s = record(begin(&o), &p);
	ok(whole(&s, &p), "written by a thread: the same");
	o = options("compressed.data");
	o.aux_pages = 4;
	o.compress = 1;
	p = (struct play){.last = 60, .each = 3000};
	fake_reset(&(struct fake_options){.ncpus = CPUS, .aux_type = PT_TYPE});
	s = record(begin(&o), &p);
	ok(whole(&s, &p), "records compressed, the trace between them not: the same");
}

/* A stream has no index; what is in it is the same. */
static void test_stream(void)
{
	struct sonde_record_options o = options("stream.data");
	struct play p = {.last = 60, .each = 3000};
	struct sonde_record *r;
	int kept, fd;
	bool good;
	struct seen s;

	o.aux_pages = 4;
	o.output = "-";
	fake_reset(&(struct fake_options){.ncpus = CPUS, .aux_type = PT_TYPE});
	r = begin(&o);
	p.record = r;
	fake_on_poll(play, &p);
	(void)fflush(stdout);
	kept = dup(STDOUT_FILENO);
	fd = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	(void)dup2(fd, STDOUT_FILENO);
	good = sonde_record_start(r) == 0 && sonde_record_run(r) == 0;
	(void)dup2(kept, STDOUT_FILENO);
	(void)close(kept);
	(void)close(fd);
	sonde_record_free(r);
	ok(good, "a recording to a stream");
	s = read_back();
	ok(whole(&s, &p) && s.infos == 1, "every byte is in it, at its place");
}

static bool play_threads(void *arg)
{
	struct play *p = arg;
	unsigned i = p->polls++;

	if (i == 0) {
		fake_run(0, 7, 7);
		fake_run(1, 10, 10);
	}
	fake_trace(0, 2000 + i);
	fake_trace(1, 1000 + i);
	return i < p->last;
}

static void test_per_thread(void)
{
	struct sonde_record_options o = options("threads.data");
	struct play p = {.last = 60};
	struct sonde_record *r;
	struct seen s;

	o.all_cpus = false;
	o.tids = "7,10";
	o.per_thread = true;
	o.aux_pages = 4;
	fake_reset(&(struct fake_options){.ncpus = CPUS, .aux_type = PT_TYPE});
	r = begin(&o);
	p.record = r;
	fake_on_poll(play_threads, &p);
	if (!ok(sonde_record_start(r) == 0 && sonde_record_run(r) == 0,
	            "an area for each thread")) {
		printf("# %s\n", sonde_record_error(r)->text);
	}
	ok(strstr(said, "perf event ring buffer mmapped per thread\n") != NULL, "-v line");
	sonde_record_free(r);
	s = read_back();
	ok(whole(&s, &p), "every byte of each is in the file, at its place");
	eq_u64(info_word(&s, 9), 0, "AUXTRACE_INFO says that areas are not by cpu");
	eq_u64(info_word(&s, 7), 0, "and that nobody tells of switches");
}

static const struct event *last_event(const struct sonde_record *r)
{
	return &r->events.v[r->events.n - 1];
}

static void test_events(void)
{
	struct sonde_record_options o = options("events.data");
	struct sonde_record *r;
	const struct sonde_attr *a;

	fake_reset(&(struct fake_options){.ncpus = CPUS, .aux_type = PT_TYPE});
	events[0] = "cpu-clock";
	events[1] = "intel_pt//";
	o.nevents = 2;
	r = begin(&o);
	ok(sonde_record_start(r) == 0, "trace and samples");
	eq_str(r->events.v[0].name, "intel_pt//", "the trace goes first");
	eq_u64(r->events.v[0].attr.config, PT_CONFIG, "with perf's config");
	a = &r->events.v[0].attr;
	eq_u64(a->sample_period, 1, "the trace has no samples");
	eq_u64(a->sample_type,
	        SONDE_SAMPLE_IP | SONDE_SAMPLE_TID | SONDE_SAMPLE_TIME | SONDE_SAMPLE_CPU |
	                SONDE_SAMPLE_IDENTIFIER,
	        "its sample_type as perf's");
	eq_u64(a->flags,
	        1u << SONDE_FLAG_DISABLED | 1u << SONDE_FLAG_INHERIT |
	                1u << SONDE_FLAG_SAMPLE_ID_ALL,
	        "its flags as perf's");
	eq_u64(a->aux_watermark, 1u << 20, "woken at a quarter of the area");
	eq_str(last_event(r)->name, "dummy:u", "the dummy comes last");
	a = &last_event(r)->attr;
	ok(sonde_attr_has(a, SONDE_FLAG_CONTEXT_SWITCH) && sonde_attr_has(a, SONDE_FLAG_MMAP2) &&
	                !sonde_attr_has(a, SONDE_FLAG_DISABLED),
	        "tells of switches and mappings, and is on from the start");
	ok(!sonde_attr_has(&r->events.v[0].attr, SONDE_FLAG_MMAP), "the trace does not");
	sonde_record_free(r);

	o.nevents = 1;
	events[0] = "intel_pt/tsc=0/";
	r = begin(&o);
	ok(sonde_record_start(r) == 0, "no times in the trace");
	ok(!sonde_attr_has(&last_event(r)->attr, SONDE_FLAG_CONTEXT_SWITCH) && r->events.n == 2,
	        "then nobody needs switches");
	sonde_record_free(r);

	fake_reset(&(struct fake_options){.ncpus = CPUS,
	        .aux_type = PT_TYPE,
	        .unknown_flags = 1u << SONDE_FLAG_CONTEXT_SWITCH});
	events[0] = "intel_pt//";
	r = begin(&o);
	ok(sonde_record_start(r) == 0, "a kernel without records of switches");
	eq_u64(r->events.n, 3, "gets sched_switch");
	eq_u64(r->events.v[1].attr.config, 372, "by its id");
	eq_u64(r->events.v[1].attr.sample_type,
	        SONDE_SAMPLE_IP | SONDE_SAMPLE_TID | SONDE_SAMPLE_TIME | SONDE_SAMPLE_CPU |
	                SONDE_SAMPLE_PERIOD | SONDE_SAMPLE_RAW | SONDE_SAMPLE_IDENTIFIER,
	        "sampled as perf samples it");
	sonde_record_free(r);

	events[0] = "intel_pt/tsc=0/";
	r = begin(&o);
	ok(sonde_record_start(r) == 0, "but not without times");
	eq_u64(r->events.n, 2, "the dummy alone");
	sonde_record_free(r);
}

static void refused(struct sonde_record_options o, const char *event, const char *why)
{
	struct sonde_record *r;

	fake_reset(&(struct fake_options){.ncpus = CPUS, .aux_type = PT_TYPE});
	events[0] = event;
	r = begin(&o);
	ok(sonde_record_start(r) < 0, "refused");
	eq_str(sonde_record_error(r)->text, why, "in perf's words");
	sonde_record_free(r);
}

static void test_refusals(void)
{
	static const char alone[] =
	        "AUX area sampling requires an AUX area event group leader plus other events to "
	        "which to add samples";
	struct sonde_record_options o = options("refused.data");

	o.aux_pages = 1;
	refused(o, "intel_pt//u",
	        "Invalid mmap size for Intel Processor Trace: must be at least 8KiB and a power "
	        "of 2");
	o.aux_pages = 16;
	o.snapshot = true;
	o.snapshot_size = 0x100000;
	refused(o, "intel_pt//u",
	        "Snapshot size 1048576 must not be greater than AUX area tracing mmap size 65536");
	refused(o, "cpu-clock", "No AUX area tracing to snapshot");
	o.aux_sample = true;
	refused(o, "{intel_pt//u,cpu-clock}",
	        "Snapshot mode (intel_pt PMU) and sample trace cannot be used together");
	refused(o, "intel_pt//u", alone);
	o.snapshot = false;
	refused(o, "cpu-clock", "No AUX area event to sample");
	refused(o, "intel_pt//u,cpu-clock", alone);
	refused(o, "{cpu-clock,intel_pt//u}", alone);
	refused(o, "{intel_pt//u,cpu-clock/aux-sample-size=0/}", alone);
	o.aux_sample_size = 70000;
	refused(o, "{intel_pt//u,cpu-clock}", "AUX area sample size 70000 too big, max. 61440");
	o.aux_sample = false;
	o.threads = "";
	refused(o, "intel_pt//u",
	        "Parallel trace streaming is not available in AUX area tracing mode");
	o.threads = NULL;
	o.overwrite = true;
	refused(o, "intel_pt//u",
	        "--overwrite is not available in AUX area tracing mode: -S keeps the newest "
	        "trace");
	o.overwrite = false;
	refused(o, "intel_pt//u,intel_pt/tsc=0/", "There may be only one intel_pt event");
}

struct sizes {
	bool limited;
	uint64_t mlock_kb, memlock;
	size_t pages, aux_pages;
	uint64_t snapshot_size;
	bool snapshot;
	uint64_t data, aux; /* what comes of it, bytes */
};

static void test_sizes(void)
{
	static const struct sizes all[] = {
	        {.data = 512 << 10, .aux = 4 << 20},
	        {.limited = true, .mlock_kb = 516, .data = 256 << 10, .aux = 128 << 10},
	        {.limited = true,
	                .mlock_kb = 516,
	                .pages = 64,
	                .data = 256 << 10,
	                .aux = 128 << 10},
	        {.limited = true,
	                .mlock_kb = 516,
	                .aux_pages = 16,
	                .data = 256 << 10,
	                .aux = 64 << 10},
	        {.limited = true, .mlock_kb = 260, .data = 128 << 10, .aux = 128 << 10},
	        {.aux_pages = 16, .data = 512 << 10, .aux = 64 << 10},
	        {.snapshot = true, .data = 512 << 10, .aux = 4 << 20},
	        {.snapshot = true, .snapshot_size = 0x100000, .data = 512 << 10, .aux = 1 << 20},
	        {.snapshot = true, .snapshot_size = 5000, .data = 512 << 10, .aux = 8192},
	        {.snapshot = true, .aux_pages = 1, .data = 512 << 10, .aux = 4096},
	        {.limited = true,
	                .mlock_kb = 516,
	                .snapshot = true,
	                .data = 256 << 10,
	                .aux = 128 << 10},
	};
	struct sonde_record_options o = options("sizes.data");
	char pid[16];
	size_t i;

	(void)snprintf(pid, sizeof(pid), "%d", 7);
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		const struct sizes *s = &all[i];
		struct sonde_record *r;

		fake_reset(&(struct fake_options){.ncpus = CPUS,
		        .aux_type = PT_TYPE,
		        .unprivileged = s->limited,
		        .mlock_kb = s->mlock_kb,
		        .memlock = s->memlock});
		o.all_cpus = false;
		o.pids = pid;
		o.mmap_pages = s->pages;
		o.aux_pages = s->aux_pages;
		o.snapshot = s->snapshot;
		o.snapshot_size = s->snapshot_size;
		(void)unlink("mlock");
		r = begin(&o);
		{
			int fd = openat(r->root_fd, "proc/sys/kernel/perf_event_mlock_kb",
			        O_WRONLY | O_TRUNC | O_CLOEXEC);
			char text[16];
			int n = snprintf(text, sizeof(text), "%llu\n",
			        (unsigned long long)(s->mlock_kb != 0 ? s->mlock_kb : 516));

			ok(fd >= 0 && write(fd, text, (size_t)n) == n, "limit is set");
			(void)close(fd);
		}
		if (!ok(sonde_record_start(r) == 0, "sizes by limits and options")) {
			printf("# %s\n", sonde_record_error(r)->text);
		}
		eq_u64(r->ring_pages * PAGE, s->data, "bytes of a data ring");
		eq_u64(r->aux.size, s->aux, "bytes of an AUX area");
		sonde_record_free(r);
	}
}

/* A workload: nothing is traced before its exec. */
static bool play_exec(void *arg)
{
	struct play *p = arg;
	unsigned i = p->polls++;

	if (i == 0) {
		fake_run(0, p->record->child, p->record->child);
		fake_trace(0, 1000);
		fake_exec(p->record->child, "true");
	}
	fake_trace(0, 1000);
	return i < p->last;
}

static void test_workload(void)
{
	static char command[] = "true";
	static char *workload[] = {command, NULL};
	struct sonde_record_options o = options("workload.data");
	struct play p = {.last = 10};
	struct sonde_record *r;
	struct seen s;

	o.all_cpus = false;
	o.workload = workload;
	fake_reset(&(struct fake_options){.ncpus = CPUS, .aux_type = PT_TYPE});
	r = begin(&o);
	p.record = r;
	fake_on_poll(play_exec, &p);
	ok(sonde_record_start(r) == 0, "a workload");
	ok(!fake_find(PT_TYPE, PT_CONFIG, 0)->enabled, "its trace waits for the exec");
	ok(fake_find(SONDE_TYPE_SOFTWARE, SONDE_SW_DUMMY, 0)->enabled, "the dummy does not");
	ok(sonde_record_run(r) == 0, "runs");
	sonde_record_free(r);
	s = read_back();
	eq_u64(s.wrong, 0, "and its trace is right");
	ok(s.bytes[0] >= 1000 && s.bytes[0] == fake_aux_end(0), "and whole");
	eq_u64(s.starts, 1, "from the exec on");
}

static void sampled(const char *event, const char *more, uint32_t size)
{
	struct sonde_record_options o = options("sample.data");
	struct sonde_record *r;

	events[0] = event;
	events[1] = more;
	o.nevents = more != NULL ? 2 : 1;
	o.aux_sample = more == NULL;
	fake_reset(&(struct fake_options){.ncpus = CPUS, .aux_type = PT_TYPE});
	r = begin(&o);
	if (!ok(sonde_record_start(r) == 0, "trace in samples")) {
		printf("# %s\n", sonde_record_error(r)->text);
	}
	eq_u64(r->events.v[0].attr.config, 0xe601, "PSBs as near as can be");
	eq_u64(r->events.v[1].leader, 0, "both in one group");
	eq_u64(r->events.v[1].attr.aux_sample_size, size, "bytes in each sample");
	ok((r->events.v[1].attr.sample_type & SONDE_SAMPLE_AUX) != 0, "which says so");
	eq_u64(r->aux.size, size, "the area need not be larger");
	eq_u64(r->events.v[0].attr.aux_watermark, 0, "nobody is woken for it");
	sonde_record_free(r);
}

static void test_sample(void)
{
	sampled("{intel_pt//u,cpu-clock:u}", NULL, 4096);
	sampled("intel_pt//u", "cpu-clock/aux-sample-size=8192/u", 8192);
	sampled("cpu-clock/aux-sample-size=8192/u", "intel_pt//u", 8192);
}

/* The filter that the kernel gets; NULL: none, the recording is refused. */
static void filtered(const char *text, const char *want, const char *error)
{
	struct sonde_record_filter filter = {.text = text, .nevents = 1};
	struct sonde_record_options o = options("filter.data");
	struct sonde_record *r;
	const struct fake_event *e;

	o.filters = &filter;
	o.nfilters = 1;
	fake_reset(&(struct fake_options){.ncpus = CPUS, .aux_type = PT_TYPE});
	r = begin(&o);
	if (want != NULL) {
		if (!ok(sonde_record_start(r) == 0, text)) {
			printf("# %s\n", sonde_record_error(r)->text);
		}
		e = fake_find(PT_TYPE, PT_CONFIG, 1);
		eq_str(e != NULL ? e->filter : "", want, "as the kernel gets it");
	} else {
		ok(sonde_record_start(r) < 0, text);
		if (!ok(strstr(sonde_record_error(r)->text, error) != NULL, error)) {
			printf("# %s\n", sonde_record_error(r)->text);
		}
	}
	sonde_record_free(r);
}

static void test_filter(void)
{
	filtered("filter 0x1100/0x20@/no/such/object", "filter 0x1100/0x20@/no/such/object", NULL);
	filtered(
	        "filter 4352 / 32 @ /x start 0x1 @ /x", "filter 0x1100/0x20@/x,start 0x1@/x", NULL);
	filtered("start 0x10@/x, stop 0x20@/x", "start 0x10@/x,stop 0x20@/x", NULL);
	filtered("tracestop 0x10/0x20@/x", "stop 0x10/0x20@/x", NULL);
	filtered("filter 0xffffffff81000000/0x1000", "filter 0xffffffff81000000/0x1000", NULL);
	filtered("filter schedule", "filter 0xffffffff81002000/0x1000", NULL);
	filtered("start twice #2", "start 0xffffffff81005000", NULL);
	filtered("filter twice #g", "filter 0xffffffff81005000/0x800", NULL);
	filtered("filter schedule / twice #1", "filter 0xffffffff81002000/0x3000", NULL);
	filtered("filter *", "filter 0xffffffff81000000/0x6000", NULL);
	filtered("filter twice", NULL, "#2\t0xffffffff81005000\tg\ttwice");
	filtered("filter twice #3", NULL, "only 2 symbols");
	filtered("filter schedule #2", NULL, "only 1 symbols");
	filtered("filter nothing", NULL, "Symbol 'nothing' not found");
	filtered("filter twice #1 / schedule", NULL,
	        "Symbol 'schedule' (0xffffffff81002000) comes before 'twice' (0xffffffff81004000)");
	filtered("bogus main @ /x", NULL, "Failed to parse address filter: 'bogus main @ /x'");
	filtered("filter", NULL, "Failed to parse address filter");
	filtered("filter main @", NULL, "Failed to parse address filter");
	filtered("filter 0x1000 @ /x", NULL, "needs a size");
	filtered("start 1@/x start 2@/x start 3@/x", NULL,
	        "number of address filters (3) exceeds maximum (2)");
}

int main(int argc, char **argv)
{
	fixture_open(&machine, argv[1]);
	keep = argc > 2 ? argv[2] : NULL;
	test_wrap();
	test_full();
	test_mutations();
	test_snapshot(false, 0, 3000, "snapshot.data");
	test_snapshot(false, 8192, 9000, "snapshot-part.data");
	test_snapshot(false, 0, 100, "snapshot-few.data");
	test_snapshot(true, 0, 3001, "snapshot-old-kernel.data");
	test_info();
	test_clock();
	test_offline();
	test_per_thread();
	test_workers();
	test_stream();
	test_some_cpus();
	test_events();
	test_refusals();
	test_sizes();
	test_workload();
	test_sample();
	test_filter();
	fake_end();
	fixture_close(&machine);
	return tap_done();
}
