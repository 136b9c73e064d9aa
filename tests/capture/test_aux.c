/* SPDX-License-Identifier: MIT */
/*
 * Recordings of trace on a kernel that is played: every byte that went into an AUX area is in the
 * file, at its place, and nothing else. `test_aux MACHINE [FOLDER]`: keeps the recordings there.
 */
#define _GNU_SOURCE
#include "pt_recorder.h"

#include <signal.h>
#include <sys/resource.h>

#define AUX_TRUNCATED 1u
#define AUX_OVERWRITE 2u
#define AUX_PARTIAL   4u
#define AUX_COLLISION 8u

/* ---- what the machine does ---- */

struct play {
	struct sonde_recorder *record;
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
		sonde_recorder_snapshot(p->record);
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
	uint64_t astray; /* places in the index where no record is */
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

		s.indexed += at <= f.bytes.p + f.bytes.n - 48 &&
		             load_u32(at, false) == RECORD_AUXTRACE &&
		             load_u64(index.p + 16 + i * 16, false) == 48;
	}
	s.astray = n - s.indexed;
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

static struct seen record(struct sonde_recorder *r, struct play *p)
{
	struct seen s;
	bool good;

	p->record = r;
	fake_on_poll(play, p);
	good = sonde_recorder_start(r) == 0 && sonde_recorder_run(r) == 0;
	if (!ok(good, "a recording")) {
		printf("# %s\n", sonde_recorder_error(r)->text);
	}
	s = read_back();
	eq_u64(sonde_recorder_get_result(r)->trace_pieces, s.aux_records, "pieces are counted");
	eq_u64(sonde_recorder_get_result(r)->trace_lost, s.truncated, "and losses");
	eq_u64(sonde_recorder_get_result(r)->trace_gaps, s.partial + s.collision, "and gaps");
	eq_u64(s.damaged, 0, "nothing in it is damaged");
	eq_u64(s.infos, 1, "AUXTRACE_INFO is there, once");
	eq_u64(s.indexed, s.chunks, "the index names every AUXTRACE record");
	sonde_recorder_free(r);
	eq_u64(fake_open_fds(), 0, "all descriptors are closed");
	eq_u64(fake_locked(), 0, "and all memory unlocked");
	return s;
}

static void test_wrap(void)
{
	struct sonde_recorder_options o = options("full-wrap.data");
	struct play p = {.last = 200, .each = 3000};
	struct seen s;

	o.aux.pages = 4;
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
	struct sonde_recorder_options o = options("full-lost.data");
	struct play p = {.last = 100, .each = 9000};
	struct seen s;

	o.aux.pages = 2;
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
	struct sonde_recorder_options o = options("mutant.data");
	uint64_t with;
	struct play p = {.last = 100, .each = 9000};
	struct seen s;

	o.aux.pages = 2;
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
	struct sonde_recorder_options o = options(name);
	struct play p = {.last = 60, .each = each, .snapshots_every = 20};
	struct seen s;

	o.aux.pages = 4;
	o.aux.snapshot = true;
	o.aux.snapshot_on_exit = true;
	o.aux.snapshot_size = size;
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
	struct sonde_recorder_options o = options("info.data");
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

/* Another PMU with an AUX area: the same way, with its own words in AUXTRACE_INFO. */
static void test_spe(void)
{
	struct sonde_recorder_options o = options("spe.data");
	struct play p = {.last = 30, .each = 3000};
	struct sonde_recorder *r;
	struct seen s;
	size_t i = 0;

	events[0] = "arm_spe_0//u";
	o.aux.pages = 4;
	fake_reset(&(struct fake_options){.ncpus = CPUS, .aux_type = SPE_TYPE});
	r = begin(&o);
	s = record(r, &p);
	ok(whole(&s, &p), "every byte is in the file, at its place");
	eq_u64(load_u32(s.info, false), 4, "AUXTRACE_INFO of Arm SPE");
	eq_u64(s.info_size, 8 + 16, "has two words");
	eq_u64(info_word(&s, 0), SPE_TYPE, "the PMU's type");
	eq_u64(info_word(&s, 1), 1, "and that areas are by cpu");
	while (i < fake_events() && fake_event(i)->attr.type != SPE_TYPE) {
		i++;
	}
	ok(i < fake_events() && fake_event(i)->attr.sample_period == 1024,
	        "takes as many samples as the hardware can");
}

static void test_clock(void)
{
	static const struct fake_page page = {.time_shift = 31,
	        .time_mult = 715827883,
	        .time_zero = 0x123456789abcdef,
	        .time_cycles = 77,
	        .time_mask = 0xffffffff,
	        .caps = FAKE_CAP_TIME | FAKE_CAP_TIME_ZERO | FAKE_CAP_TIME_SHORT};
	struct sonde_recorder_options o = options("clock.data");
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

/* More side-band than a ring of one page holds. */
static bool play_flood(void *arg)
{
	struct play *p = arg;
	unsigned i = p->polls++, k;

	if (i == 0) {
		fake_run(0, 7, 7);
	}
	for (k = 0; k < 60; k++) {
		fake_mmap(7, 0x10000 + (uint64_t)0x1000 * p->files++, 0x1000, "/lib/flood");
	}
	fake_trace(0, 700);
	return i < p->last;
}

static void test_flood(void)
{
	struct sonde_recorder_options o = options("flood.data");
	struct play p = {.last = 60};
	struct sonde_recorder *r;
	struct seen s;

	o.buffers.pages = 1;
	o.aux.pages = 2;
	fake_reset(&(struct fake_options){.ncpus = CPUS, .aux_type = PT_TYPE});
	r = begin(&o);
	p.record = r;
	fake_on_poll(play_flood, &p);
	ok(sonde_recorder_start(r) == 0 && sonde_recorder_run(r) == 0, "records are lost");
	ok(sonde_recorder_get_result(r)->lost > 100, "and counted");
	sonde_recorder_free(r);
	s = read_back();
	ok(s.maps < p.files && s.aux_bytes < s.bytes[0], "also those that tell of trace");
	ok(s.wrong == 0 && s.bytes[0] == fake_aux_end(0) && s.bytes[0] > 0,
	        "but no byte of the trace");
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
	struct sonde_recorder_options o = options("offline.data");
	struct play p = {.last = 60, .each = 3000};
	struct sonde_recorder *r;
	struct seen s;

	o.aux.pages = 4;
	fake_reset(&(struct fake_options){.ncpus = CPUS, .aux_type = PT_TYPE});
	r = begin(&o);
	p.record = r;
	fake_on_poll(play_offline, &p);
	ok(sonde_recorder_start(r) == 0 && sonde_recorder_run(r) == 0, "a cpu goes off-line");
	sonde_recorder_free(r);
	s = read_back();
	ok(whole(&s, &p), "what it had made until then is in the file, and all of the others");
	ok(s.bytes[1] > 0 && s.bytes[1] < s.bytes[0] / 3, "it made nothing more");
}

static void test_some_cpus(void)
{
	struct sonde_recorder_options o = options("cpus.data");
	struct play p = {.last = 60, .each = 2000};
	struct sonde_recorder *r;
	struct seen s;

	o.targets.all_cpus = false;
	o.targets.cpus = "1";
	o.aux.pages = 4;
	fake_reset(&(struct fake_options){.ncpus = CPUS, .aux_type = PT_TYPE});
	r = begin(&o);
	p.record = r;
	fake_on_poll(play, &p);
	ok(sonde_recorder_start(r) == 0, "-C 1");
	ok(fake_find(PT_TYPE, PT_CONFIG, 0) == NULL && fake_find(PT_TYPE, PT_CONFIG, 1) != NULL,
	        "traces that cpu alone");
	ok(fake_find(SONDE_TYPE_SOFTWARE, SONDE_SW_DUMMY, 0) != NULL, "side-band is of all");
	ok(sonde_recorder_run(r) == 0, "runs");
	sonde_recorder_free(r);
	s = read_back();
	ok(whole(&s, &p) && s.bytes[0] == 0 && s.bytes[1] > 0, "its trace, and mappings of others");
}

static void test_workers(void)
{
	struct sonde_recorder_options o = options("worker.data");
	struct play p = {.last = 60, .each = 3000};
	struct seen s;

	o.aux.pages = 4;
	o.output.async = true;
	fake_reset(&(struct fake_options){.ncpus = CPUS, .aux_type = PT_TYPE});
	s = record(begin(&o), &p);
	ok(whole(&s, &p), "written by a thread: the same");
	o = options("compressed.data");
	o.aux.pages = 4;
	o.output.compress = 1;
	p = (struct play){.last = 60, .each = 3000};
	fake_reset(&(struct fake_options){.ncpus = CPUS, .aux_type = PT_TYPE});
	s = record(begin(&o), &p);
	ok(whole(&s, &p), "records compressed, the trace between them not: the same");
}

/* A stream has no index; what is in it is the same. */
static void test_stream(void)
{
	struct sonde_recorder_options o = options("stream.data");
	struct play p = {.last = 60, .each = 3000};
	struct sonde_recorder *r;
	int kept, fd;
	bool good;
	struct seen s;

	o.aux.pages = 4;
	o.output.path = "-";
	fake_reset(&(struct fake_options){.ncpus = CPUS, .aux_type = PT_TYPE});
	r = begin(&o);
	p.record = r;
	fake_on_poll(play, &p);
	(void)fflush(stdout);
	kept = dup(STDOUT_FILENO);
	fd = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	(void)dup2(fd, STDOUT_FILENO);
	good = sonde_recorder_start(r) == 0 && sonde_recorder_run(r) == 0;
	(void)dup2(kept, STDOUT_FILENO);
	(void)close(kept);
	(void)close(fd);
	sonde_recorder_free(r);
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
	struct sonde_recorder_options o = options("threads.data");
	struct play p = {.last = 60};
	struct sonde_recorder *r;
	struct seen s;

	o.targets.all_cpus = false;
	o.targets.tids = "7,10";
	o.targets.per_thread = true;
	o.aux.pages = 4;
	fake_reset(&(struct fake_options){.ncpus = CPUS, .aux_type = PT_TYPE});
	r = begin(&o);
	p.record = r;
	fake_on_poll(play_threads, &p);
	if (!ok(sonde_recorder_start(r) == 0 && sonde_recorder_run(r) == 0,
	            "an area for each thread")) {
		printf("# %s\n", sonde_recorder_error(r)->text);
	}
	ok(strstr(said, "perf event ring buffer mmapped per thread\n") != NULL, "-v line");
	sonde_recorder_free(r);
	s = read_back();
	ok(whole(&s, &p), "every byte of each is in the file, at its place");
	eq_u64(info_word(&s, 9), 0, "AUXTRACE_INFO says that areas are not by cpu");
	eq_u64(info_word(&s, 7), 0, "and that nobody tells of switches");
}

/* A workload: nothing is traced before its exec. */
static bool play_exec(void *arg)
{
	struct play *p = arg;
	unsigned i = p->polls++;

	if (i == 0) {
		fake_run(0, p->record->workload.pid, p->record->workload.pid);
		fake_trace(0, 1000);
		fake_exec(p->record->workload.pid, "true");
	}
	fake_trace(0, 1000);
	return i < p->last;
}

static void test_workload(void)
{
	static char command[] = "true";
	static char *workload[] = {command, NULL};
	struct sonde_recorder_options o = options("workload.data");
	struct play p = {.last = 10};
	struct sonde_recorder *r;
	struct seen s;

	o.targets.all_cpus = false;
	o.targets.workload = workload;
	fake_reset(&(struct fake_options){.ncpus = CPUS, .aux_type = PT_TYPE});
	r = begin(&o);
	p.record = r;
	fake_on_poll(play_exec, &p);
	ok(sonde_recorder_start(r) == 0, "a workload");
	ok(!fake_find(PT_TYPE, PT_CONFIG, 0)->enabled, "its trace waits for the exec");
	ok(fake_find(SONDE_TYPE_SOFTWARE, SONDE_SW_DUMMY, 0)->enabled, "the dummy does not");
	ok(sonde_recorder_run(r) == 0, "runs");
	sonde_recorder_free(r);
	s = read_back();
	eq_u64(s.wrong, 0, "and its trace is right");
	ok(s.bytes[0] >= 1000 && s.bytes[0] == fake_aux_end(0), "and whole");
	eq_u64(s.starts, 1, "from the exec on");
}

/* A sample every 1500 bytes of trace. */
static bool play_samples(void *arg)
{
	struct play *p = arg;
	unsigned i = p->polls++;

	if (i == 0) {
		fake_run(0, 7, 7);
	}
	fake_trace(0, 1500);
	(void)fake_sample(fake_find(SONDE_TYPE_SOFTWARE, 0, 0), 0x1000 + i);
	return i < p->last;
}

/* Every sample has the newest bytes that there were. */
static void check_samples(uint64_t *samples, uint64_t *wrong)
{
	struct diag_sink diags = {0};
	struct file f = {.diags = &diags};
	struct record_scratch scratch = {0};
	const struct file_event *e;
	struct sonde_sample sample;
	struct record r;
	uint64_t offset, i, end;

	ok(file_open(&f, output) >= 0, "the file opens");
	for (offset = f.data.offset; file_next(&f, &offset, &r, &diags) > 0;) {
		if (r.type != RECORD_SAMPLE) {
			continue;
		}
		e = file_sample_event(&f, &r);
		end = 1500 * (*samples + 1);
		*wrong += e == NULL ||
		          record_sample_decode(&e->plan, r.body, false, &scratch, &sample) != 1 ||
		          sample.aux_len != (end < 4096 ? end : 4096);
		for (i = 0; *wrong == 0 && i < sample.aux_len; i++) {
			*wrong += ((const uint8_t *)sample.aux)[i] !=
			          fake_pt_byte(0, end - sample.aux_len + i);
		}
		++*samples;
	}
	record_scratch_fini(&scratch);
	file_close(&f);
}

static void test_samples(void)
{
	struct sonde_recorder_options o = options("samples.data");
	struct play p = {.last = 20};
	struct sonde_recorder *r;
	uint64_t samples = 0, wrong = 0;

	events[0] = "{intel_pt//u,cpu-clock:u}";
	o.aux.sample = true;
	fake_reset(&(struct fake_options){.ncpus = CPUS, .aux_type = PT_TYPE});
	r = begin(&o);
	fake_on_poll(play_samples, &p);
	ok(sonde_recorder_start(r) == 0 && sonde_recorder_run(r) == 0, "trace in samples");
	sonde_recorder_free(r);
	check_samples(&samples, &wrong);
	eq_u64(samples, p.last + 1, "every sample is there");
	eq_u64(wrong, 0, "with the newest bytes of trace");
}

/* The disk is full in the middle of trace: what stands in the file is whole, and so is its index. */
static void test_disk_full(void)
{
	struct sonde_recorder_options o = options("no-room.data");
	struct rlimit old, limit;
	unsigned i, features = 0;

	o.aux.pages = 16;
	(void)getrlimit(RLIMIT_FSIZE, &old);
	(void)signal(SIGXFSZ, SIG_IGN);
	for (i = 0; i < 12; i++) {
		struct play p = {.last = 200, .each = 20000};
		struct sonde_recorder *r;
		struct seen s;

		fake_reset(&(struct fake_options){.ncpus = CPUS, .aux_type = PT_TYPE});
		r = begin(&o);
		p.record = r;
		fake_on_poll(play, &p);
		limit = old;
		limit.rlim_cur = 100000 + 4096 * i;
		(void)setrlimit(RLIMIT_FSIZE, &limit);
		ok(sonde_recorder_start(r) == 0, "it starts while there is room");
		eq_u64(sonde_recorder_run(r), SONDE_EIO, "it ends when there is none");
		(void)setrlimit(RLIMIT_FSIZE, &old);
		s = read_back();
		ok(s.damaged == 0 && s.wrong == 0 && s.chunks > 0, "trace up to there is whole");
		eq_u64(s.astray, 0, "the index names nothing that was cut off");
		ok(s.indexed == 0 || s.indexed == s.chunks, "and all that was not");
		features += s.indexed > 0;
		sonde_recorder_free(r);
	}
	ok(features > 0, "there was room for an index");
	(void)signal(SIGXFSZ, SIG_DFL);
	(void)unlink(output);
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
	test_spe();
	test_clock();
	test_flood();
	test_offline();
	test_per_thread();
	test_workers();
	test_stream();
	test_some_cpus();
	test_workload();
	test_samples();
	test_disk_full();
	fake_end();
	fixture_close(&machine);
	return tap_done();
}
