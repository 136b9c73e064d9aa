/* SPDX-License-Identifier: MIT */
/* The control page: widths, wrap, clocks in both directions, and a writer that races the reader. */
#include "tap.h"

#include "counter/page.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#define DEPRECATED 2u
#define RDPMC      4u
#define TIME       8u
#define TIME_ZERO  16u
#define TIME_SHORT 32u

struct hardware {
	uint64_t tsc, pmc;
	uint32_t counter; /* the last one asked for */
};

static uint64_t fake_tsc(void *arg)
{
	return ((struct hardware *)arg)->tsc;
}

static uint64_t fake_pmc(void *arg, uint32_t counter)
{
	struct hardware *h = arg;

	h->counter = counter;
	return h->pmc;
}

static void test_widths(void)
{
	static const struct {
		unsigned width;
		uint64_t pmc; /* result of rdpmc */
		int64_t offset;
		uint64_t want;
	} cases[] = {
	        {48, 1000, 0, 1000}, {48, 1000, 500, 1500}, {48, 0x7fffffffffff, 0, 0x7fffffffffff},
	        /* the kernel starts a counter below zero, and offset compensates for it */
	        {48, 0x800000000000, (int64_t)0x800000000000, 0},
	        {48, 0xffffffffffff, (int64_t)0x800000000000, 0x7fffffffffff},
	        /* it wrapped: -1 becomes 0 */
	        {48, 0xffffffffffff, 0x1000, 0xfff}, {48, 0, 0x1000, 0x1000},
	        {40, 0xffffffffff, 0x1000, 0xfff}, {40, 0x8000000000, 0x8000000000, 0},
	        {32, 0x80000000, 0x80000000, 0}, {32, 0xffffffff, 1, 0}, {64, UINT64_MAX, 1, 0},
	        {1, 1, 1, 0},
	        {48, 0xabcd800000000001, (int64_t)0x800000000000, 1}, /* bits above the width */
	};
	struct hardware h = {0};
	const struct sonde_page_cpu cpu = {.tsc = fake_tsc, .pmc = fake_pmc, .arg = &h};
	struct sonde_page_count v;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct counter_page page = {.index = 3,
		        .offset = cases[i].offset,
		        .capabilities = DEPRECATED | RDPMC,
		        .pmc_width = (uint16_t)cases[i].width};

		h.pmc = cases[i].pmc;
		eq_u64(sonde_page_read(&page, &cpu, &v), 1, "the page has a live count");
		eq_u64(v.value, cases[i].want,
		        "the count is sign-extended from its width, plus the offset");
		eq_u64(h.counter, 2, "the counter is the one before index");
	}
}

static void test_no_count(void)
{
	static const struct {
		uint32_t index;
		uint64_t caps;
		const char *what;
	} cases[] = {
	        {0, DEPRECATED | RDPMC, "no counter now"},
	        {1, DEPRECATED, "rdpmc is not permitted"},
	        {1, 1 | RDPMC | TIME, "a kernel before 3.12"},
	};
	struct hardware h = {.pmc = 7, .tsc = 7};
	const struct sonde_page_cpu cpu = {.tsc = fake_tsc, .pmc = fake_pmc, .arg = &h};
	struct sonde_page_count v;
	size_t i;

	for (i = 0; i < 3; i++) {
		struct counter_page page = {.index = cases[i].index,
		        .offset = 99,
		        .time_enabled = 20,
		        .time_running = 10,
		        .time_mult = 1,
		        .capabilities = cases[i].caps};

		eq_u64(sonde_page_read(&page, &cpu, &v), 0, cases[i].what);
		eq_u64(v.enabled, 20,
		        "without a live count the page has the kernel's time enabled");
		eq_u64(v.running, 10,
		        "without a live count the page has the kernel's time running");
	}
	{
		struct counter_page page = {.lock = 1};

		ok(sonde_page_read(&page, &cpu, &v) == SONDE_EIO,
		        "a page that changes all the time is an error");
	}
}

static void test_times(void)
{
	struct hardware h = {.pmc = 5, .tsc = 3000};
	const struct sonde_page_cpu cpu = {.tsc = fake_tsc, .pmc = fake_pmc, .arg = &h};
	struct counter_page page = {.index = 1,
	        .time_enabled = 1000,
	        .time_running = 400,
	        .time_shift = 1,
	        .time_mult = 3,
	        .time_offset = (uint64_t)-3000,
	        .pmc_width = 48,
	        .capabilities = DEPRECATED | RDPMC | TIME};
	struct sonde_page_count v;

	eq_u64(sonde_page_read(&page, &cpu, &v), 1, "the page has a live count and a clock");
	eq_u64(v.enabled, 1000 + 4500 - 3000, "the time enabled is extended to now");
	eq_u64(v.running, 400 + 4500 - 3000, "the time running is extended to now");
	page.capabilities = DEPRECATED | RDPMC | TIME | TIME_SHORT;
	page.time_cycles = 0xfffff00;
	page.time_mask = 0xfff; /* twelve bits of ticks: 0xf00 was written, 0x010 is read */
	page.time_offset = 0;
	h.tsc = 0x10;
	(void)sonde_page_read(&page, &cpu, &v);
	eq_u64(v.enabled, 1000 + 0x10000010ull * 3 / 2, "a short clock that wrapped is extended");
}

/* (a * b) >> shift and (a << shift) / b in 128 bits */
static uint64_t exact_ns(uint64_t ticks, uint32_t mult, unsigned shift)
{
	return (uint64_t)((unsigned __int128)ticks * mult >> shift);
}

static uint64_t exact_ticks(uint64_t ns, uint32_t mult, unsigned shift)
{
	return (uint64_t)(((unsigned __int128)ns << shift) / mult);
}

static uint64_t seed = 88172645463325252ull;

static uint64_t next(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static void test_clock(void)
{
	struct counter_page page = {.time_zero = (uint64_t)-5000,
	        .time_shift = 31,
	        .time_mult = 0x60000000,
	        .capabilities = DEPRECATED | TIME | TIME_ZERO};
	struct sonde_page_clock clock;
	unsigned bad_ns = 0, bad_ticks = 0, bad_way = 0, i;

	eq_u64(sonde_page_clock_get(&page, &clock), 1, "the page has a clock");
	eq_u64(sonde_page_clock_ns(&clock, 8000), 1000, "ticks are converted to ns");
	eq_u64(sonde_page_clock_ticks(&clock, 1000), 8000, "ns are converted to ticks");
	for (i = 0; i < 200000; i++) {
		uint64_t ticks = next() >> (next() % 64), back;

		clock.shift = (uint16_t)(next() % 64);
		clock.mult = (uint32_t)(next() >> (32 + next() % 31)) | 1;
		clock.zero = next();
		bad_ns += sonde_page_clock_ns(&clock, ticks) !=
		          clock.zero + exact_ns(ticks, clock.mult, clock.shift);
		bad_ticks += sonde_page_clock_ticks(&clock, clock.zero + ticks) !=
		             exact_ticks(ticks, clock.mult, clock.shift);
		/* there and back: within the ticks that share a nanosecond */
		ticks >>= 8;
		if (clock.shift >= 32 || clock.mult >> clock.shift > 15) {
			continue;
		}
		back = sonde_page_clock_ticks(&clock, sonde_page_clock_ns(&clock, ticks));
		bad_way += back > ticks || ticks - back > (1ull << clock.shift) / clock.mult + 1;
	}
	eq_u64(bad_ns, 0, "ticks are converted to ns exactly, for every shift");
	eq_u64(bad_ticks, 0, "ns are converted to ticks exactly, for every shift");
	eq_u64(bad_way, 0, "ticks converted to ns and back are the same");
	page.capabilities = DEPRECATED | TIME;
	eq_u64(sonde_page_clock_get(&page, &clock), 0, "a page without time_zero has no clock");
	page.capabilities = DEPRECATED | TIME | TIME_ZERO | TIME_SHORT;
	page.time_cycles = 0x1fffffff0;
	page.time_mask = UINT32_MAX;
	page.time_shift = 0;
	page.time_mult = 1;
	page.time_zero = 0;
	eq_u64(sonde_page_clock_get(&page, &clock), 1, "a page has a short clock");
	eq_u64(sonde_page_clock_ns(&clock, 0xfffffff5), 0x1fffffff5,
	        "a short clock before the wrap is converted");
	eq_u64(sonde_page_clock_ns(&clock, 4), 0x200000004,
	        "a short clock after the wrap is converted");
}

static void test_scale(void)
{
	unsigned bad = 0, i;

	eq_u64(sonde_counter_scale(100, 1000, 250), 400,
	        "a count of a quarter of the time is scaled by 4");
	eq_u64(sonde_counter_scale(100, 1000, 1000), 100, "a count of all the time is not scaled");
	eq_u64(sonde_counter_scale(7, 1000, 0), 0, "a count of an event that never ran is 0");
	eq_u64(sonde_counter_scale(UINT64_MAX, UINT64_MAX, UINT64_MAX), UINT64_MAX,
	        "the largest count is not scaled");
	eq_u64(sonde_counter_scale(UINT64_MAX, 2, 1), UINT64_MAX,
	        "a scaled count that does not fit is the largest number");
	for (i = 0; i < 200000; i++) {
		uint64_t v = next() >> (next() % 64), e = next() >> (next() % 64);
		uint64_t r = next() >> (next() % 64);
		unsigned __int128 want = (unsigned __int128)v * e;

		want = r == 0 ? 0 : want / r;
		bad += sonde_counter_scale(v, e, r) !=
		       (want > UINT64_MAX ? UINT64_MAX : (uint64_t)want);
	}
	eq_u64(bad, 0, "counts are scaled as with 128 bits");
}

/*
 * The race: a writer changes page and hardware together, as the kernel does when it moves a
 * counter. Update n has offset n * 1000, counter 1000 - n (so that they belong together), times 10
 * n and 7 n. Any mixture of updates shows.
 */
struct race {
	struct counter_page page;
	_Atomic uint64_t pmc, tsc;
	atomic_bool stop;
};

static uint64_t race_tsc(void *arg)
{
	return atomic_load_explicit(&((struct race *)arg)->tsc, memory_order_relaxed);
}

static uint64_t race_pmc(void *arg, uint32_t counter)
{
	(void)counter;
	return atomic_load_explicit(&((struct race *)arg)->pmc, memory_order_relaxed);
}

#define SET(to, v) atomic_store_explicit(&(to), (v), memory_order_relaxed)

static void *race_write(void *arg)
{
	struct race *r = arg;
	uint64_t n;
	uint32_t lock = 0;

	for (n = 1; !atomic_load(&r->stop); n++) {
		uint64_t wait;

		SET(r->page.lock, ++lock);
		atomic_thread_fence(memory_order_release);
		SET(r->page.index, (uint32_t)(1 + n % 8));
		SET(r->page.offset, (int64_t)(n * 1000));
		SET(r->pmc, (1000 - n) & 0xffffffffffff);
		SET(r->tsc, 3 * n);
		SET(r->page.time_enabled, 10 * n);
		SET(r->page.time_running, 7 * n);
		SET(r->page.time_offset, (uint64_t)0 - 3 * n);
		SET(r->page.time_zero, n);
		SET(r->page.time_mult, (uint32_t)n | 1);
		atomic_store_explicit(&r->page.lock, ++lock, memory_order_release);
		for (wait = 0; wait < (n & 63); wait++) {
			__asm__ volatile("" ::: "memory");
		}
	}
	return NULL;
}

/* A writer that loses its processor during a change makes the reader give up: try again. */
static bool race_read(struct race *r, const struct sonde_page_cpu *cpu, struct sonde_page_count *v,
        struct sonde_page_clock *clock)
{
	int rc;

	do {
		rc = v != NULL ? sonde_page_read(&r->page, cpu, v)
		               : sonde_page_clock_get(&r->page, clock);
		if (rc == SONDE_EIO) {
			(void)sched_yield();
		}
	} while (rc == SONDE_EIO);
	return rc == 1;
}

/* Counts and clock with the page's times; else times that do not advance. */
static void test_race(uint64_t caps)
{
	struct race r = {.page = {.index = 1,
	                         .pmc_width = 48,
	                         .time_mult = 1,
	                         .capabilities = DEPRECATED | RDPMC | caps},
	        .pmc = 1000};
	const struct sonde_page_cpu cpu = {.tsc = race_tsc, .pmc = race_pmc, .arg = &r};
	unsigned torn = 0, bad_clock = 0, changes = 0, i;
	uint64_t last = 0;
	pthread_t writer;
	time_t end;

	if (pthread_create(&writer, NULL, race_write, &r) != 0) {
		skip("no second thread");
		return;
	}
	end = time(NULL) + 3;
	for (i = 0; changes < 20000 && (i % 1024 != 0 || time(NULL) < end); i++) {
		struct sonde_page_count v;
		struct sonde_page_clock clock;

		torn += !race_read(&r, &cpu, &v, NULL);
		changes += v.value != last;
		last = v.value;
		if ((caps & TIME_ZERO) == 0) {
			torn += v.enabled * 7 != v.running * 10 ||
			        v.value != v.enabled / 10 * 999 + 1000;
			continue;
		}
		torn += (v.value - 1000) % 999 != 0;
		bad_clock += !race_read(&r, &cpu, NULL, &clock) ||
		             (clock.zero != 0 && clock.mult != ((uint32_t)clock.zero | 1));
	}
	atomic_store(&r.stop, true);
	(void)pthread_join(writer, NULL);
	eq_u64(torn, 0, "no read mixes two updates of the writer");
	eq_u64(bad_clock, 0, "no clock mixes two updates of the writer");
	if (changes > 100) {
		ok(true, "the writer updated the page meanwhile");
	} else {
		skip("the writer got no processor meanwhile");
	}
}

static void test_machine(void)
{
	const struct sonde_page_cpu *cpu = sonde_page_cpu();
	uint64_t a, b;

	if (cpu == NULL) {
		skip("no instructions known for this machine");
		return;
	}
	a = cpu->tsc(cpu->arg);
	b = cpu->tsc(cpu->arg);
	ok(b > a || a - b > UINT64_MAX / 2, "the time-stamp counter advances");
}

int main(void)
{
	test_widths();
	test_no_count();
	test_times();
	test_clock();
	test_scale();
	test_race(TIME | TIME_ZERO);
	test_race(0);
	test_machine();
	return tap_done();
}
