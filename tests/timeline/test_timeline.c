/* SPDX-License-Identifier: MIT */
/*
 * Address spaces compared with an array of pages, and the rules for time, fork, exec and reused
 * pids.
 */
#include "tests/tap.h"
#include "timeline/space.h"
#include "timeline/timeline.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define PAGES 200

/* Random inserts; every version must agree with an array of pages. */
static void test_space(void)
{
	static uint32_t plain[101][PAGES];
	struct space_pool pool = {0};
	uint32_t roots[101] = {0};
	uint64_t seed = 42;
	bool same = true;

	memset(plain[0], 0xff, sizeof(plain[0]));
	for (uint32_t i = 1; i <= 100; i++) {
		uint64_t start;
		uint64_t end;

		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		start = (seed >> 33) % PAGES;
		end = start + 1 + (seed >> 50) % 40;
		memcpy(plain[i], plain[i - 1], sizeof(plain[0]));
		for (uint64_t p = start; p < end && p < PAGES; p++) {
			plain[i][p] = i;
		}
		roots[i] = space_insert(&pool, roots[i - 1], start * 4096, end * 4096, i);
	}
	for (uint32_t i = 0; i <= 100; i++) {
		for (uint32_t p = 0; p < PAGES; p++) {
			const struct space_node *n =
			        space_find(&pool, roots[i], (uint64_t)p * 4096 + 17);

			same &= (n == NULL ? UINT32_MAX : n->mapping) == plain[i][p];
		}
	}
	ok(same, "every version of a space agrees with an array of pages");
	space_pool_fini(&pool);
}

struct bytes {
	uint64_t words[32];
};

static void add_mapping(struct timeline *t, struct bytes *b, uint32_t pid, struct timeline_range at,
        const char *name, uint64_t time)
{
	struct record r = {.type = RECORD_MMAP, .misc = MISC_USER};
	uint32_t ids[2] = {pid, pid};
	uint64_t rest[3] = {at.start, at.end - at.start, 0};

	memset(b, 0, sizeof(*b));
	memcpy(b->words, ids, 8);
	memcpy(b->words + 1, rest, 24);
	memcpy(b->words + 4, name, strlen(name));
	r.body = (struct span){(const uint8_t *)b->words, 32 + 64};
	(void)timeline_add(t, &r, false, time);
}

static void add_mmap(struct timeline *t, struct bytes *b, uint32_t pid, uint64_t start,
        const char *name, uint64_t time)
{
	add_mapping(t, b, pid, (struct timeline_range){start, start + 0x1000}, name, time);
}

static void add_comm(struct timeline *t, struct bytes *b, uint32_t pid, const char *name, bool exec,
        uint64_t time)
{
	struct record r = {.type = RECORD_COMM, .misc = exec ? MISC_COMM_EXEC : 0};
	uint32_t ids[2] = {pid, pid};

	memset(b, 0, sizeof(*b));
	memcpy(b->words, ids, 8);
	memcpy(b->words + 1, name, strlen(name));
	r.body = (struct span){(const uint8_t *)b->words, 8 + 16};
	(void)timeline_add(t, &r, false, time);
}

static void add_fork(
        struct timeline *t, struct bytes *b, uint32_t pid, uint32_t ppid, uint64_t time)
{
	struct record r = {.type = RECORD_FORK};
	uint32_t ids[4] = {pid, ppid, pid, ppid};

	memcpy(b->words, ids, 16);
	b->words[2] = time;
	r.body = (struct span){(const uint8_t *)b->words, 24};
	(void)timeline_add(t, &r, false, time);
}

static const char *dso_at(const struct timeline *t, uint32_t pid, uint64_t time, uint64_t addr)
{
	struct timeline_cursor c = {0};
	const struct timeline_view *v = timeline_at(t, &c, pid, pid, time);
	struct timeline_range range;
	const struct timeline_mapping *m = timeline_find(v, MISC_USER, addr, &range);

	return m != NULL ? timeline_text(t, timeline_object(t, m->object)->name) : "none";
}

static const char *comm_at(const struct timeline *t, uint32_t pid, uint64_t time)
{
	struct timeline_cursor c = {0};

	return timeline_text(t, timeline_at(t, &c, pid, pid, time)->comm);
}

static void test_rules(void)
{
	static struct bytes b[16];
	struct diag_sink diags = {0};
	struct timeline *t = timeline_new(&diags);

	add_comm(t, &b[0], 10, "shell", false, 0);
	add_mmap(t, &b[1], 10, 0x10000, "/bin/sh", 0);
	add_mmap(t, &b[2], 20, 0x10000, "/bin/ls", 300); /* out of order in the file */
	add_fork(t, &b[3], 20, 10, 100);
	add_comm(t, &b[4], 20, "ls", true, 200);
	add_fork(t, &b[5], 20, 10, 900); /* the pid is reused */
	add_mmap(t, &b[6], 10, 0x50000, "late", 1000);
	(void)timeline_add_thread(t, 77, 77);
	(void)timeline_add_thread(t, UINT32_MAX, UINT32_MAX);
	eq_u64(timeline_seal(t), 0, "a timeline is built");
	eq_str(comm_at(t, 20, 150), "shell", "a child has its parent's name");
	eq_str(dso_at(t, 20, 150, 0x10800), "/bin/sh", "a child has its parent's address space");
	eq_str(comm_at(t, 20, 250), "ls", "a child has its new name after exec");
	eq_str(dso_at(t, 20, 400, 0x10800), "/bin/ls", "after exec a new mapping is found");
	eq_str(dso_at(t, 20, 250, 0x10800), "/bin/sh",
	        "mappings from before exec are found until mapped over");
	eq_str(dso_at(t, 10, 5, 0x50800), "late",
	        "a later mapping is found at an earlier time without a mapping");
	eq_str(dso_at(t, 20, 400, 0x11000), "none", "the end address of a mapping is outside");
	eq_str(comm_at(t, 20, 950), "shell", "a reused pid has the name of its new process");
	eq_str(dso_at(t, 20, 950, 0x10800), "/bin/sh",
	        "a reused pid has the address space of its new process");
	eq_str(comm_at(t, 77, 5), ":77", "a thread without a name is called by its tid");
	eq_str(comm_at(t, UINT32_MAX, 5), ":-1",
	        "a thread that has ended, tid -1, is called by its tid");
	eq_str(comm_at(t, 88, 5), "?", "a thread of no sample and no record is called ?");
	eq_str(comm_at(t, 10, UINT64_MAX), "shell", "the largest time is valid");
	timeline_free(t);
}

/* A name applies from its record on, not before. */
static void test_names(void)
{
	static struct bytes b[8];
	struct diag_sink diags = {0};
	struct timeline *t = timeline_new(&diags);

	add_comm(t, &b[0], 10, "late", false, 500);
	add_fork(t, &b[1], 20, 10, 100);
	add_comm(t, &b[2], 20, "child", true, 300);
	add_fork(t, &b[3], 30, 10, 600);
	add_comm(t, &b[4], 0, "foreign", true, 400);
	add_fork(t, &b[5], 0, 0, 700);
	eq_u64(timeline_seal(t), 0, "a timeline with late names is built");
	eq_str(comm_at(t, 10, 499), ":10", "before its first name a thread is called by its tid");
	eq_str(comm_at(t, 10, 500), "late", "a name applies from the time of its record");
	eq_str(comm_at(t, 20, 50), ":20", "before its fork a thread is called by its tid");
	eq_str(comm_at(t, 20, 200), ":20", "a child of a nameless parent is called by its tid");
	eq_str(comm_at(t, 20, 300), "child",
	        "a child of a nameless parent has a name after its COMM");
	eq_str(comm_at(t, 30, 650), "late", "a child of a named parent has the parent's name");
	eq_str(comm_at(t, 0, 399), "swapper",
	        "tid 0 is called swapper before foreign tasks get names");
	eq_str(comm_at(t, 0, 400), "foreign", "a foreign task changes the name of tid 0");
	eq_str(comm_at(t, 0, 700), "foreign", "a fork of a foreign task keeps the name of tid 0");
	timeline_free(t);
}

#define SWITCHES 4000u
#define CPUS     3u

/* Which thread ran, from switches in random order of time, as a plain search finds it. */
static void test_running(void)
{
	static uint64_t times[SWITCHES];
	static uint32_t cpus[SWITCHES], tids[SWITCHES];
	struct diag_sink diags = {0};
	struct timeline *t = timeline_new(&diags);
	const struct timeline_thread nobody = {TIMELINE_NO_THREAD, TIMELINE_NO_THREAD};
	uint64_t seed = 7;
	struct timeline_cursor c = {0};
	bool same = true;

	for (uint32_t i = 0; i < SWITCHES; i++) {
		struct timeline_thread to;

		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		times[i] = 1000 + (seed >> 40) % 5000;
		cpus[i] = (uint32_t)(seed >> 20) % CPUS * 1000;
		tids[i] = i % 5 == 0 ? TIMELINE_NO_THREAD : i;
		to = (struct timeline_thread){tids[i], tids[i]};
		same &= timeline_add_switch(t, cpus[i], times[i], nobody, to) == 0;
	}
	eq_u64(timeline_seal(t), 0, "a timeline of switches is built");
	for (uint64_t time = 900; time < 6100; time += 3) {
		for (uint32_t cpu = 0; cpu < CPUS * 1000; cpu += 1000) {
			uint32_t want = TIMELINE_NO_THREAD;
			uint64_t last = 0;

			for (uint32_t i = 0; i < SWITCHES; i++) {
				if (cpus[i] == cpu && times[i] <= time && times[i] >= last) {
					last = times[i];
					want = tids[i];
				}
			}
			same &= timeline_running(t, &c, cpu, time).tid == want;
		}
	}
	ok(same, "the running thread is that of the last switch at or before the time");
	eq_u64(timeline_running(t, &c, 1, 3000).tid, TIMELINE_NO_THREAD,
	        "no thread is known to run on a processor without switches");
	timeline_free(t);
	t = timeline_new(&diags);
	(void)timeline_add_switch(t, 2, 100, (struct timeline_thread){5, 6}, nobody);
	(void)timeline_add_switch(t, 2, 50, (struct timeline_thread){3, 4}, nobody);
	eq_u64(timeline_seal(t), 0, "a timeline of two switches is built");
	eq_u64(timeline_running(t, &c, 2, 49).tid, 4,
	        "before the first switch the thread ran that it ended");
	eq_u64(timeline_running(t, &c, 2, 50).tid, TIMELINE_NO_THREAD,
	        "after a switch to an unknown thread none is known");
	timeline_free(t);
	t = timeline_new(&diags);
	(void)timeline_add_switch(
	        t, 2, 10, (struct timeline_thread){1, 1}, (struct timeline_thread){2, 2});
	(void)timeline_add_switch(
	        t, 2, 30, (struct timeline_thread){3, 3}, (struct timeline_thread){4, 4});
	(void)timeline_add_switch(
	        t, 2, 32, (struct timeline_thread){3, 3}, (struct timeline_thread){4, 4});
	eq_u64(timeline_seal(t), 0, "a timeline that lacks a switch is built");
	eq_u64(timeline_running(t, &c, 2, 20).tid, TIMELINE_NO_THREAD,
	        "no thread is known where a switch is missing");
	eq_u64(timeline_running(t, &c, 2, 31).tid, 4, "a switch may be recorded by both threads");
	timeline_free(t);
}

struct ksymbol {
	uint64_t addr;
	uint32_t len; /* bytes */
	uint64_t time; /* ns */
	bool gone; /* unregistered, not registered */
	const char *name;
};

static void add_ksymbol(struct timeline *t, struct bytes *b, struct ksymbol k)
{
	struct record r = {.type = RECORD_KSYMBOL};
	uint16_t kind[2] = {1, k.gone ? KSYMBOL_UNREGISTER : 0};

	memset(b, 0, sizeof(*b));
	memcpy(b->words, &k.addr, 8);
	memcpy(b->words + 1, &k.len, 4);
	memcpy((uint8_t *)b->words + 12, kind, 4);
	memcpy(b->words + 2, k.name, strlen(k.name));
	r.body = (struct span){(const uint8_t *)b->words, 16 + 32};
	(void)timeline_add(t, &r, false, k.time);
}

static const char *code_at(const struct timeline *t, uint64_t time, uint64_t addr)
{
	struct timeline_cursor c = {0};
	const struct timeline_view *v = timeline_at(t, &c, 0, 0, time);
	struct timeline_range range;
	const struct timeline_mapping *m = timeline_find(v, MISC_KERNEL, addr, &range);

	return m != NULL ? timeline_text(t, timeline_object(t, m->object)->name) : "none";
}

static void test_ksymbols(void)
{
	static struct bytes b[8];
	const uint64_t at = 0xffffffffc0100000;
	struct diag_sink diags = {0};
	struct timeline *t = timeline_new(&diags);
	struct record cut = {.type = RECORD_KSYMBOL, .body = {(const uint8_t *)b, 12}};

	(void)timeline_add_thread(t, 0, 0);
	add_ksymbol(t, &b[0], (struct ksymbol){at, 0x100, 0, false, "bpf_prog_a"});
	add_ksymbol(t, &b[1], (struct ksymbol){at, 0x100, 200, true, "bpf_prog_a"});
	add_ksymbol(t, &b[2], (struct ksymbol){at, 0x80, 300, false, "bpf_prog_b"});
	add_ksymbol(t, &b[3], (struct ksymbol){at + 0x1000, 0x40, 150, false, "trampoline"});
	add_ksymbol(t, &b[4], (struct ksymbol){UINT64_MAX - 4, 0x40, 400, true, "end"});
	(void)timeline_add(t, &cut, false, 500);
	eq_u64(timeline_seal(t), 0, "a timeline of BPF programs is built");
	eq_u64(diags.counts[SONDE_DIAG_DAMAGED], 1,
	        "a KSYMBOL record that is cut short is reported");
	eq_str(code_at(t, 100, at + 0xff), "bpf_prog_a", "a BPF program has its name");
	eq_str(code_at(t, 100, at + 0x100), "none", "a BPF program ends after its length");
	eq_str(code_at(t, 200, at), "none", "a program that is unloaded is gone");
	eq_str(code_at(t, 300, at + 0x7f), "bpf_prog_b", "another program can have its address");
	eq_str(code_at(t, 149, at + 0x1000), "none", "a trampoline is not there before it is made");
	eq_str(code_at(t, 150, at + 0x1000), "trampoline", "a trampoline has its name");
	timeline_free(t);
}

/* The mapping that timeline_next returns, as "NAME START-END". */
static const char *next_at(const struct timeline *t, const struct timeline_view *v, uint64_t addr)
{
	static char text[64];
	struct timeline_range range;
	const struct timeline_mapping *m = timeline_next(v, addr, &range);

	if (m == NULL) {
		return "none";
	}
	(void)snprintf(text, sizeof(text), "%s %" PRIx64 "-%" PRIx64,
	        timeline_text(t, timeline_object(t, m->object)->name), range.start, range.end);
	return text;
}

static void test_next(void)
{
	struct diag_sink diags = {0};
	struct timeline *t = timeline_new(&diags);
	struct bytes b[5];
	struct timeline_cursor c = {0};
	const struct timeline_view *v;
	struct timeline_life life;

	add_comm(t, &b[0], 7, "a", false, 1);
	add_mapping(t, &b[1], 7, (struct timeline_range){0x1000, 0x5000}, "/low", 2);
	add_mmap(t, &b[2], 7, 0x9000, "/high", 3);
	add_mmap(t, &b[3], 7, 0x2000, "/middle", 4);
	add_fork(t, &b[4], 8, 7, 5);
	eq_u64(timeline_seal(t), 0, "a timeline of mappings is built");
	v = timeline_at(t, &c, 8, 8, UINT64_MAX);
	eq_str(next_at(t, v, 0), "/low 1000-2000", "the lowest mapping is found first");
	eq_str(next_at(t, v, 0x1fff), "/low 1000-2000", "a mapping ends above its last address");
	eq_str(next_at(t, v, 0x2000), "/middle 2000-3000", "a later mapping covers an earlier one");
	eq_str(next_at(t, v, 0x3000), "/low 3000-5000", "the rest of a mapping follows");
	eq_str(next_at(t, v, 0x5000), "/high 9000-a000", "a gap is skipped");
	eq_str(next_at(t, v, 0xa000), "none", "nothing follows the last mapping");
	(void)timeline_thread(t, &c, 1, &life);
	eq_u64(life.ptid, 7, "a FORK record has the thread that created another");
	(void)timeline_thread(t, &c, 0, &life);
	eq_u64(life.ptid, UINT32_MAX, "without a FORK record it is unknown");
	timeline_free(t);
}

int main(void)
{
	test_space();
	test_rules();
	test_names();
	test_running();
	test_ksymbols();
	test_next();
	return tap_done();
}
