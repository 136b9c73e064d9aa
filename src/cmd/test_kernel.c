/* SPDX-License-Identifier: MIT */
/* Tests of the kernel's interface: events, the control page, rings. */
#define _GNU_SOURCE
#include "cmd/test.h"

#include <sonde/counter.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define RING_PAGES  4u /* of data; a power of two */
#define DATA_HEAD   1024u /* offsets in the control page, see perf_event_open(2) */
#define DATA_TAIL   1032u
#define RECORD_COMM 3u

/* Opens an event for this thread and starts it; NULL: failed, with *outcome. */
static struct sonde_counter *start(
        const char *event, struct test_reason *why, enum test_outcome *outcome)
{
	struct sonde_counter *c = sonde_counter_new(NULL);
	int rc = c != NULL ? sonde_counter_open(c, event) : SONDE_ENOMEM;

	rc = rc >= 0 ? sonde_counter_enable(c) : rc;
	if (rc >= 0) {
		return c;
	}
	*outcome = test_status(why, rc, c != NULL ? sonde_counter_error(c)->text : "no memory");
	sonde_counter_free(c);
	return NULL;
}

enum test_outcome test_software_events(struct test_reason *why)
{
	static const char *const events[] = {"cpu-clock", "task-clock", "page-faults",
	        "context-switches", "cpu-migrations", "minor-faults", "major-faults", "dummy"};
	enum test_outcome outcome;
	const struct sonde_counter_value *v;
	size_t i;

	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		char user[64];
		struct sonde_counter *c;

		(void)snprintf(user, sizeof(user), "%s:u", events[i]);
		c = start(user, why, &outcome);
		if (c == NULL) {
			return outcome;
		}
		if (sonde_counter_read(c, 0, &v) < 0 || v->enabled == 0) {
			sonde_counter_free(c);
			return test_say(why, TEST_FAIL, "%s cannot be read", events[i]);
		}
		sonde_counter_free(c);
	}
	return TEST_OK;
}

enum test_outcome test_parse(struct test_reason *why)
{
	static const char *const good[] = {"cycles", "cycles:pp", "instructions:u",
	        "{cycles,branches}:S", "page-faults:k,cs", "L1-dcache-load-misses", "r1a8",
	        "mem:0x1000/4:w", "cpu-clock/period=1000/u"};
	static const char *const bad[] = {"", "no-such-event", "cycles:y", "{cycles", "cycles,,cs"};
	size_t i, n_good = sizeof(good) / sizeof(good[0]), n_bad = sizeof(bad) / sizeof(bad[0]);

	for (i = 0; i < n_good + n_bad; i++) {
		const char *text = i < n_good ? good[i] : bad[i - n_good];
		struct sonde_counter *c = sonde_counter_new(NULL);
		bool refused = c != NULL && sonde_counter_open(c, text) == SONDE_EARG;

		sonde_counter_free(c);
		if (refused != (i >= n_good)) {
			return test_say(
			        why, TEST_FAIL, "'%s' is %s", text, refused ? "refused" : "taken");
		}
	}
	return TEST_OK;
}

enum test_outcome test_group(struct test_reason *why)
{
	struct sonde_counter_value v[2];
	uint64_t ended;
	enum test_outcome outcome;
	struct sonde_counter *c = start("{task-clock:u,page-faults:u}", why, &outcome);
	int rc;

	if (c == NULL) {
		return outcome;
	}
	test_spin();
	rc = sonde_counter_read_all(c);
	v[0] = *sonde_counter_last(c, 0);
	v[1] = *sonde_counter_last(c, 1);
	rc = rc >= 0 ? sonde_counter_disable(c) : rc;
	rc = rc >= 0 ? sonde_counter_read_all(c) : rc;
	ended = sonde_counter_last(c, 0)->value;
	sonde_counter_free(c);
	if (rc < 0) {
		return test_say(why, TEST_FAIL, "it cannot be read");
	}
	if (v[0].value == 0 || v[0].id == v[1].id || v[0].enabled != v[1].enabled ||
	        ended < v[0].value) {
		return test_say(why, TEST_FAIL, "its counts make no sense");
	}
	return test_say(why, TEST_OK, "%llu ms", (unsigned long long)(v[0].value / 1000000));
}

enum test_outcome test_tracepoint(struct test_reason *why)
{
	const struct sonde_counter_value *v;
	uint64_t count;
	enum test_outcome outcome;
	struct sonde_counter *c;
	int i;

	if (access("/sys/kernel/tracing/events", R_OK) != 0 &&
	        access("/sys/kernel/debug/tracing/events", R_OK) != 0) {
		return test_say(why, TEST_SKIP, "tracefs cannot be read: see 'sonde doctor'");
	}
	c = start("sched:sched_switch", why, &outcome);
	if (c == NULL) {
		return outcome;
	}
	for (i = 0; i < 20; i++) {
		(void)usleep(1000);
	}
	i = sonde_counter_read(c, 0, &v);
	count = i == 0 ? v->value : 0;
	sonde_counter_free(c);
	return i == 0 && count >= 20
	               ? test_say(why, TEST_OK, "%llu switches", (unsigned long long)count)
	               : test_say(why, TEST_FAIL, "%llu switches in 20 sleeps",
	                         (unsigned long long)count);
}

enum test_outcome test_breakpoint(struct test_reason *why)
{
	static volatile int target;
	const struct sonde_counter_value *v;
	uint64_t count;
	enum test_outcome outcome;
	struct sonde_counter *c;
	char event[64];
	int rc;

	(void)snprintf(
	        event, sizeof(event), "mem:0x%llx/4:w:u", (unsigned long long)(uintptr_t)&target);
	c = start(event, why, &outcome);
	if (c == NULL) {
		return outcome;
	}
	for (int i = 0; i < 100; i++) {
		target = i;
	}
	rc = sonde_counter_read(c, 0, &v);
	count = rc == 0 ? v->value : 0;
	sonde_counter_free(c);
	return rc == 0 && count == 100
	               ? TEST_OK
	               : test_say(why, TEST_FAIL, "%llu of 100 writes", (unsigned long long)count);
}

static void __attribute__((noinline)) probed(void)
{
	__asm__ volatile("nop\n\tnop\n\tnop\n\tnop" ::: "memory");
}

/* Finds the file offset of an address of this program; false: not mapped from a file. */
static bool file_offset(uintptr_t address, uint64_t *offset)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long start_at, end, pgoff;
	char line[4096];
	bool found = false;

	while (maps != NULL && !found && fgets(line, sizeof(line), maps) != NULL) {
		if (sscanf(line, "%lx-%lx %*s %lx", &start_at, &end, &pgoff) == 3 &&
		        address >= start_at && address < end) {
			*offset = address - start_at + pgoff;
			found = true;
		}
	}
	if (maps != NULL) {
		(void)fclose(maps);
	}
	return found;
}

enum test_outcome test_uprobe(struct test_reason *why)
{
	static char path[4096];
	FILE *in = fopen("/sys/bus/event_source/devices/uprobe/type", "re");
	struct sonde_attr attr = {.flags = 1ull << SONDE_FLAG_EXCLUDE_KERNEL};
	struct sonde_counter *c;
	const struct sonde_counter_value *v;
	uint64_t count;
	unsigned type = 0;
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	int rc;

	if (in == NULL || fscanf(in, "%u", &type) != 1 || n <= 0) {
		if (in != NULL) {
			(void)fclose(in);
		}
		return test_say(why, TEST_SKIP, "the kernel has no uprobes");
	}
	(void)fclose(in);
	attr.type = type;
	attr.config1 =
	        (uint64_t)(uintptr_t)path; /* uprobe_path, probe_offset: perf_event_open(2) */
	if (!file_offset((uintptr_t)probed, &attr.config2)) {
		return test_say(why, TEST_FAIL, "our own code is not in /proc/self/maps");
	}
	c = sonde_counter_new(NULL);
	rc = c != NULL ? sonde_counter_open_attr(c, &attr, -1) : SONDE_ENOMEM;
	rc = rc >= 0 ? sonde_counter_enable(c) : rc;
	for (int i = 0; rc >= 0 && i < 100; i++) {
		probed();
	}
	if (rc < 0) {
		enum test_outcome outcome = test_status(
		        why, rc, c != NULL ? sonde_counter_error(c)->text : "no memory");

		sonde_counter_free(c);
		return outcome;
	}
	rc = sonde_counter_read(c, 0, &v);
	count = rc == 0 ? v->value : 0;
	sonde_counter_free(c);
	return rc == 0 && count == 100
	               ? TEST_OK
	               : test_say(why, TEST_FAIL, "%llu of 100 calls", (unsigned long long)count);
}

static uint64_t monotonic_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

enum test_outcome test_page_clock(struct test_reason *why)
{
	const struct sonde_page_cpu *cpu = sonde_page_cpu();
	struct sonde_page_clock clock;
	enum test_outcome outcome;
	struct sonde_counter *c = start("task-clock:u", why, &outcome);
	uint64_t ns, ticks, wall;
	int rc;

	if (c == NULL) {
		return outcome;
	}
	rc = cpu != NULL && sonde_counter_page(c, 0) != NULL
	             ? sonde_page_clock_get(sonde_counter_page(c, 0), &clock)
	             : 0;
	sonde_counter_free(c);
	if (rc != 1) {
		return test_say(why, TEST_SKIP, "the page has no clock here");
	}
	wall = monotonic_ns();
	ticks = cpu->tsc(cpu->arg);
	(void)usleep(20000);
	ns = sonde_page_clock_ns(&clock, cpu->tsc(cpu->arg)) - sonde_page_clock_ns(&clock, ticks);
	wall = monotonic_ns() - wall;
	if (ns < 19000000 || ns > wall + wall / 50) {
		return test_say(why, TEST_FAIL, "%llu ns by ticks are %llu ns",
		        (unsigned long long)ns, (unsigned long long)wall);
	}
	ns = sonde_page_clock_ns(&clock, ticks);
	wall = sonde_page_clock_ticks(&clock, ns);
	return ticks - wall <= 1 + (1ull << clock.shift) / clock.mult
	               ? TEST_OK
	               : test_say(why, TEST_FAIL, "%llu ticks become %llu",
	                         (unsigned long long)ticks, (unsigned long long)wall);
}

enum test_outcome test_rdpmc(struct test_reason *why)
{
	const struct sonde_counter_value *v;
	uint64_t before, after;
	enum test_outcome outcome;
	struct sonde_counter *c = start("instructions:u", why, &outcome);
	int first, second;

	if (c == NULL) {
		return outcome;
	}
	first = sonde_counter_read_self(c, 0, &v);
	before = first > 0 ? v->value : 0;
	for (volatile int i = 0; i < 100000; i++) {
	}
	second = sonde_counter_read_self(c, 0, &v);
	after = second > 0 ? v->value : 0;
	sonde_counter_free(c);
	if (first < 0 || second < 0) {
		return test_say(why, TEST_FAIL, "it cannot be read");
	}
	if (first == 0 || second == 0) {
		return test_say(why, TEST_SKIP, "the page gives no live count: see 'sonde doctor'");
	}
	return after - before >= 100000
	               ? TEST_OK
	               : test_say(why, TEST_FAIL, "%llu instructions in 100000 turns",
	                         (unsigned long long)(after - before));
}

/* ---- rings ---- */

struct ring {
	uint8_t *page, *data;
	size_t size; /* bytes of data */
	unsigned comms; /* number of COMM records read */
	bool broken; /* a record had an impossible size */
};

static bool ring_open(struct ring *r, int fd)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *p = mmap(NULL, (1 + RING_PAGES) * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	*r = (struct ring){0};
	if (p == MAP_FAILED) {
		return false;
	}
	r->page = p;
	r->data = r->page + page;
	r->size = RING_PAGES * page;
	return true;
}

/* Reads all records of the ring. */
static void ring_read(struct ring *r)
{
	_Atomic uint64_t *head_at = (_Atomic uint64_t *)(void *)(r->page + DATA_HEAD);
	_Atomic uint64_t *tail_at = (_Atomic uint64_t *)(void *)(r->page + DATA_TAIL);
	uint64_t head = atomic_load_explicit(head_at, memory_order_acquire);
	uint64_t tail = atomic_load_explicit(tail_at, memory_order_relaxed);

	while (tail < head && !r->broken) {
		uint8_t header[8];
		uint32_t type;
		uint16_t size;

		for (size_t i = 0; i < sizeof(header); i++) {
			header[i] = r->data[(tail + i) % r->size];
		}
		memcpy(&type, header, sizeof(type));
		memcpy(&size, header + 6, sizeof(size));
		r->comms += type == RECORD_COMM;
		r->broken = size < 8 || size % 8 != 0 || size > head - tail;
		tail += size;
	}
	atomic_store_explicit(tail_at, head, memory_order_release);
}

/* Opens an event with side-band records, and its ring; NULL: failed, with *outcome. */
static struct sonde_counter *open_tracking(const struct sonde_attr *attr, struct ring *r,
        struct test_reason *why, enum test_outcome *outcome)
{
	struct sonde_counter *c = sonde_counter_new(NULL);
	int rc = c != NULL ? sonde_counter_open_attr(c, attr, -1) : SONDE_ENOMEM;

	rc = rc >= 0 ? sonde_counter_enable(c) : rc;
	if (rc < 0) {
		*outcome = test_status(
		        why, rc, c != NULL ? sonde_counter_error(c)->text : "no memory");
	} else if (!ring_open(r, sonde_counter_fd(c, 0))) {
		*outcome = test_say(why, TEST_SKIP, "no ring can be mapped: see 'sonde doctor'");
	} else {
		return c;
	}
	sonde_counter_free(c);
	return NULL;
}

static const struct sonde_attr dummy = {.type = SONDE_TYPE_SOFTWARE,
        .config = SONDE_SW_DUMMY,
        .sample_period = 1,
        .wakeup_events = 1,
        .flags = 1ull << SONDE_FLAG_COMM | 1ull << SONDE_FLAG_EXCLUDE_KERNEL |
                 1ull << SONDE_FLAG_EXCLUDE_HV};

enum test_outcome test_ring_wrap(struct test_reason *why)
{
	enum test_outcome outcome;
	struct ring r;
	struct sonde_counter *c = open_tracking(&dummy, &r, why, &outcome);
	const unsigned names = 5000;
	char name[16];

	if (c == NULL) {
		return outcome;
	}
	for (unsigned i = 0; i < names; i++) {
		(void)snprintf(name, sizeof(name), "name-%0*u", (int)(i % 9) + 1, i);
		(void)prctl(PR_SET_NAME, name);
		if (i % 50 == 49) {
			ring_read(&r);
		}
	}
	ring_read(&r);
	sonde_counter_free(c);
	return !r.broken && r.comms == names
	               ? TEST_OK
	               : test_say(why, TEST_FAIL, "%u of %u records%s", r.comms, names,
	                         r.broken ? ", then nonsense" : "");
}

/* Side-band must still arrive while the sampling event is off and the dummy event is on. */
enum test_outcome test_tracking(struct test_reason *why)
{
	const char *names[] = {"cycles:u", "cpu-clock:u"};
	enum test_outcome outcome = TEST_SKIP;
	struct sonde_counter *tracking, *sampling = NULL;
	struct ring r;
	unsigned on, off;
	size_t i;

	for (i = 0; i < 2 && sampling == NULL; i++) {
		sampling = start(names[i], why, &outcome);
	}
	if (sampling == NULL) {
		return outcome;
	}
	tracking = open_tracking(&dummy, &r, why, &outcome);
	if (tracking == NULL) {
		sonde_counter_free(sampling);
		return outcome;
	}
	(void)prctl(PR_SET_NAME, "first-name");
	ring_read(&r);
	on = r.comms;
	(void)sonde_counter_disable(sampling);
	(void)prctl(PR_SET_NAME, "second-name");
	ring_read(&r);
	off = r.comms - on;
	sonde_counter_free(sampling);
	sonde_counter_free(tracking);
	return on == 1 && off == 1 && !r.broken
	               ? test_say(why, TEST_OK, "beside %s", names[i - 1])
	               : test_say(why, TEST_FAIL, "%u names while %s was on, %u while it was off",
	                         on, names[i - 1], off);
}
