/* SPDX-License-Identifier: MIT */
/*
 * The control page of an event (perf_event_open(2), struct perf_event_mmap_page):
 *
 *	  0 u32 version           40 u64 capabilities: 1 bit0_is_deprecated, 2 user_rdpmc,
 *	  4 u32 compat_version               3 user_time, 4 user_time_zero, 5 user_time_short
 *	  8 u32 lock              48 u16 pmc_width      64 u64 time_zero
 *	 12 u32 index             50 u16 time_shift     72 u32 size
 *	 16 s64 offset            52 u32 time_mult      80 u64 time_cycles
 *	 24 u64 time_enabled      56 u64 time_offset    88 u64 time_mask
 *	 32 u64 time_running
 *
 * The kernel makes lock odd before it changes the page and even afterwards. So values that were
 * read between two reads of the same even number are consistent. A program that reads its own page
 * on its own cpu never sees an odd number; one that reads another's page, as tests do, can.
 *
 * Before bit0_is_deprecated (3.12), one bit meant both rdpmc and time: such pages are not used.
 */
#include "counter/page.h"

#include <stdatomic.h>
#include <stdbool.h>

#define CAP_BIT0_DEPRECATED (1ull << 1)
#define CAP_USER_RDPMC      (1ull << 2)
#define CAP_USER_TIME       (1ull << 3)
#define CAP_USER_TIME_ZERO  (1ull << 4)
#define CAP_USER_TIME_SHORT (1ull << 5)

#define TRIES 100000

#if defined(__x86_64__) || defined(__i386__)
static uint64_t x86_tsc(void *arg)
{
	uint32_t low, high;

	(void)arg;
	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

static uint64_t x86_pmc(void *arg, uint32_t counter)
{
	uint32_t low, high;

	(void)arg;
	__asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(counter));
	return (uint64_t)high << 32 | low;
}

const struct sonde_page_cpu *sonde_page_cpu(void)
{
	static const struct sonde_page_cpu x86 = {.tsc = x86_tsc, .pmc = x86_pmc};

	return &x86;
}
#else
const struct sonde_page_cpu *sonde_page_cpu(void)
{
	return NULL;
}
#endif

/* One consistent copy of the page. */
struct look {
	struct counter_page page; /* lock, version and size are not copied */
	uint64_t caps;
	uint64_t tsc; /* 0 without CAP_USER_TIME */
	uint64_t pmc; /* 0 without a live counter */
	bool live;
};

/* relaxed: the fences of take_look order these loads against the lock */
#define LOAD(member) atomic_load_explicit(&(member), memory_order_relaxed)

static void look_once(
        const struct counter_page *page, const struct sonde_page_cpu *cpu, struct look *out)
{
	struct counter_page *to = &out->page;

	out->caps = LOAD(page->capabilities);
	if ((out->caps & CAP_BIT0_DEPRECATED) == 0) {
		out->caps = 0;
	}
	to->index = LOAD(page->index);
	to->offset = LOAD(page->offset);
	to->time_enabled = LOAD(page->time_enabled);
	to->time_running = LOAD(page->time_running);
	to->pmc_width = LOAD(page->pmc_width);
	to->time_shift = LOAD(page->time_shift);
	to->time_mult = LOAD(page->time_mult);
	to->time_offset = LOAD(page->time_offset);
	to->time_zero = LOAD(page->time_zero);
	to->time_cycles = LOAD(page->time_cycles);
	to->time_mask = LOAD(page->time_mask);
	out->live = cpu != NULL && (out->caps & CAP_USER_RDPMC) != 0 && to->index != 0;
	out->tsc = cpu != NULL && (out->caps & CAP_USER_TIME) != 0 ? cpu->tsc(cpu->arg) : 0;
	out->pmc = out->live ? cpu->pmc(cpu->arg, to->index - 1) : 0;
}

/* False: the page changed during every attempt. */
static bool take_look(
        const struct counter_page *page, const struct sonde_page_cpu *cpu, struct look *out)
{
	uint32_t before;
	unsigned i;

	for (i = 0; i < TRIES; i++) {
		before = atomic_load_explicit(&page->lock, memory_order_acquire);
		if ((before & 1) != 0) {
			continue;
		}
		look_once(page, cpu, out);
		atomic_thread_fence(memory_order_acquire);
		if (LOAD(page->lock) == before) {
			return true;
		}
	}
	return false;
}

/* ticks * mult >> shift without overflow, modulo 2^64; shift is below 64. */
static uint64_t ticks_scale(uint64_t ticks, uint32_t mult, unsigned shift)
{
	uint64_t quotient, rest;

	if (shift > 63) {
		return 0; /* no kernel writes such a shift */
	}
	quotient = ticks >> shift;
	rest = ticks & ((1ull << shift) - 1);
	if (shift <= 32) {
		return quotient * mult + (rest * mult >> shift);
	}
	/* rest has up to 63 bits: multiply its halves */
	return quotient * mult +
	       (((rest >> 32) * mult + ((rest & UINT32_MAX) * mult >> 32)) >> (shift - 32));
}

/* Extends a counter with fewer than 64 bits: the first such count at or after `cycles`. */
static uint64_t ticks_widen(uint64_t ticks, uint64_t cycles, uint64_t mask)
{
	return cycles + ((ticks - cycles) & mask);
}

/* The sign is the top bit of the count. */
static uint64_t sign_extend(uint64_t value, unsigned width)
{
	uint64_t sign;

	if (width == 0 || width > 63) {
		return value;
	}
	sign = 1ull << (width - 1);
	value &= (sign << 1) - 1;
	return (value ^ sign) - sign;
}

bool counter_page_live(const void *page)
{
	const struct counter_page *p = page;
	const uint64_t needed = CAP_BIT0_DEPRECATED | CAP_USER_RDPMC;

	return LOAD(p->index) != 0 && (LOAD(p->capabilities) & needed) == needed;
}

int sonde_page_read(
        const void *page, const struct sonde_page_cpu *cpu, struct sonde_page_count *count)
{
	struct look look;
	uint64_t ticks, delta;

	*count = (struct sonde_page_count){0};
	if (!take_look(page, cpu != NULL ? cpu : sonde_page_cpu(), &look)) {
		return SONDE_EIO;
	}
	count->enabled = look.page.time_enabled;
	count->running = look.page.time_running;
	if (!look.live) {
		return 0;
	}
	count->value = (uint64_t)look.page.offset + sign_extend(look.pmc, look.page.pmc_width);
	if ((look.caps & CAP_USER_TIME) != 0) {
		ticks = look.tsc;
		if ((look.caps & CAP_USER_TIME_SHORT) != 0) {
			ticks = ticks_widen(ticks, look.page.time_cycles, look.page.time_mask);
		}
		delta = look.page.time_offset +
		        ticks_scale(ticks, look.page.time_mult, look.page.time_shift);
		count->enabled += delta;
		count->running += delta; /* the event has an index, so it is running */
	}
	return 1;
}

int sonde_page_clock_get(const void *page, struct sonde_page_clock *clock)
{
	struct look look;

	*clock = (struct sonde_page_clock){0};
	if (!take_look(page, NULL, &look)) {
		return SONDE_EIO;
	}
	if ((look.caps & CAP_USER_TIME_ZERO) == 0 || look.page.time_mult == 0 ||
	        look.page.time_shift > 63) {
		return 0;
	}
	clock->zero = look.page.time_zero;
	clock->mult = look.page.time_mult;
	clock->shift = look.page.time_shift;
	clock->is_short = (look.caps & CAP_USER_TIME_SHORT) != 0;
	clock->cycles = clock->is_short ? look.page.time_cycles : 0;
	clock->mask = clock->is_short ? look.page.time_mask : 0;
	return 1;
}

uint64_t sonde_page_clock_ns(const struct sonde_page_clock *clock, uint64_t ticks)
{
	if (clock->is_short) {
		ticks = ticks_widen(ticks, clock->cycles, clock->mask);
	}
	return clock->zero + ticks_scale(ticks, clock->mult, clock->shift);
}

uint64_t sonde_page_clock_ticks(const struct sonde_page_clock *clock, uint64_t ns)
{
	uint64_t time = ns - clock->zero;
	uint64_t quotient, rest, low;
	unsigned shift = clock->shift;

	if (clock->mult == 0 || shift > 63) {
		return 0;
	}
	quotient = time / clock->mult;
	rest = time % clock->mult; /* below 2^32 */
	if (shift <= 32) {
		return (quotient << shift) + (rest << shift) / clock->mult;
	}
	/* rest << shift has up to 95 bits: divide in two steps of 32 and shift - 32 bits */
	low = rest << 32;
	return (quotient << shift) + ((low / clock->mult) << (shift - 32)) +
	       ((low % clock->mult) << (shift - 32)) / clock->mult;
}

uint64_t sonde_counter_scale(uint64_t value, uint64_t enabled, uint64_t running)
{
	uint64_t quotient, rest, high, part = 0;
	int bit;

	if (running == 0) {
		return 0;
	}
	quotient = value / running;
	rest = value % running;
	if (__builtin_mul_overflow(quotient, enabled, &high)) {
		return UINT64_MAX;
	}
	/* rest * enabled / running, bit by bit of enabled, where the product may have 128 bits */
	if (!__builtin_mul_overflow(rest, enabled, &part)) {
		part /= running;
	} else {
		uint64_t left = 0;

		part = 0;
		for (bit = 63; bit >= 0; bit--) {
			bool carry = (left >> 63) != 0;

			if (part >> 63 != 0) {
				return UINT64_MAX;
			}
			part <<= 1;
			left <<= 1;
			if (carry || left >= running) {
				left -= running;
				part++;
			}
			if ((enabled >> bit & 1) != 0) {
				carry = __builtin_add_overflow(left, rest, &left);
				if (carry || left >= running) {
					left -= running;
					part++;
				}
			}
		}
	}
	return __builtin_add_overflow(high, part, &value) ? UINT64_MAX : value;
}
