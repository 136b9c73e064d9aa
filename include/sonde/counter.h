/* SPDX-License-Identifier: MIT */
/*
 * Counting events from inside a program: open, start, read.
 *
 *	struct sonde_counter *c = sonde_counter_new(NULL);
 *	const struct sonde_counter_value *v;
 *	int rc = c ? sonde_counter_open(c, "instructions:u") : SONDE_ENOMEM;
 *
 *	if (rc >= 0) rc = sonde_counter_enable(c);
 *	... the work ...
 *	if (rc >= 0) rc = sonde_counter_read(c, 0, &v);
 *	sonde_counter_free(c);
 *
 * If the hardware permits it, sonde_counter_read_self reads the value without a system call, from a
 * page that the kernel shares. The functions sonde_page_* read any such page.
 *
 * Source of the page's layout and rules: perf_event_open(2), "MMAP layout".
 */
#ifndef SONDE_COUNTER_H
#define SONDE_COUNTER_H

#include <sonde/attr.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- counters ---- */

/* The default of all members is 0. */
struct sonde_counter_options {
	size_t size; /* sizeof(struct sonde_counter_options) of the caller */
	int thread; /* thread id; 0: the thread that opens; -1: all threads, needs one_cpu */
	bool one_cpu; /* count on `cpu` only */
	int cpu;
	bool inherit; /* count threads and processes that are started later, too */
	bool enabled; /* count from opening on; else from sonde_counter_enable on */
};

/* The counters of one thread, or of one cpu. */
struct sonde_counter;

/* The value of a counter when it was read; the library owns it. Times are in ns. */
struct sonde_counter_value {
	uint64_t value; /* as the kernel counted it, not scaled */
	uint64_t enabled; /* time for which it was enabled */
	uint64_t running; /* time for which it had a hardware counter; less than enabled: shared
	                     with other events */
	uint64_t id; /* the kernel's id of the counter; 0 if read from the page */
	uint64_t lost; /* lost samples; 0 on kernels before 6.0, and if read from the page */
};

/* A new handle; options may be NULL. NULL: no memory. */
SONDE_API struct sonde_counter *sonde_counter_new(const struct sonde_counter_options *options);

/* Closes all counters; NULL is fine. */
SONDE_API void sonde_counter_free(struct sonde_counter *c);

/* The last failure; never NULL. Lives as long as the handle. */
SONDE_API const struct sonde_error *sonde_counter_error(const struct sonde_counter *c);

/*
 * Adds the events of a string as of `sonde record -e`: "cycles,{instructions,branches}". Events in
 * braces form a group: they count at the same times and are read together. May be called again.
 * The number of the first event that was added, or SONDE_EARG (the string), SONDE_EUNSUPPORTED (the
 * machine has no such counter), SONDE_EPERM, SONDE_ENOENT (no such thread), SONDE_ELIMIT (open
 * files), SONDE_EIO, SONDE_ENOMEM; nothing was added then.
 */
SONDE_API int sonde_counter_open(struct sonde_counter *c, const char *events);

/*
 * The same for one attr; the handle sets read_format and the flags DISABLED and INHERIT. leader:
 * the leader of the group that the new event joins; -1: none. SONDE_EARG: event `leader` is not a
 * leader, or other events were opened after its group; else as sonde_counter_open.
 */
SONDE_API int sonde_counter_open_attr(
        struct sonde_counter *c, const struct sonde_attr *attr, int leader);

/* The number of opened events. */
SONDE_API size_t sonde_counter_events(const struct sonde_counter *c);

/* The name of an event as requested; the leader of its group, or the event itself without a group;
 * its file descriptor, which the handle owns. event is less than sonde_counter_events. */
SONDE_API const char *sonde_counter_name(const struct sonde_counter *c, size_t event);
SONDE_API size_t sonde_counter_leader(const struct sonde_counter *c, size_t event);
SONDE_API int sonde_counter_fd(const struct sonde_counter *c, size_t event);

/* Start, stop and zero all counters (times go on); a group at once. 0 or SONDE_EIO. */
SONDE_API int sonde_counter_enable(struct sonde_counter *c);
SONDE_API int sonde_counter_disable(struct sonde_counter *c);
SONDE_API int sonde_counter_reset(struct sonde_counter *c);

/*
 * Reads one counter with one system call. 0: *value is set, it lives until this event is read again
 * or events are added. SONDE_EIO; SONDE_EUNSUPPORTED: a pinned event that got no hardware counter;
 * SONDE_ENOMEM. *value is not set then.
 */
SONDE_API int sonde_counter_read(
        struct sonde_counter *c, size_t event, const struct sonde_counter_value **value);

/*
 * Reads the counters of all events, each group with one system call; sonde_counter_last returns the
 * values. Returns the number of events, or a status as sonde_counter_read.
 */
SONDE_API int sonde_counter_read_all(struct sonde_counter *c);

/* The last value of an event, valid as in sonde_counter_read; all 0 before it was read. */
SONDE_API const struct sonde_counter_value *sonde_counter_last(
        const struct sonde_counter *c, size_t event);

/*
 * Reads one counter of the calling thread from the page that the kernel shares, without a system
 * call; as sonde_counter_read where the page gives no live count (software events, machines that
 * do not permit it, a counter that is not on the hardware now). Only for the thread that opened the
 * counters for itself (options.thread 0). 1: from the page; 0: by a system call; negative as
 * sonde_counter_read.
 */
SONDE_API int sonde_counter_read_self(
        struct sonde_counter *c, size_t event, const struct sonde_counter_value **value);

/* The page of an event, mapped when first asked for: for sonde_page_*. NULL: cannot be mapped. */
SONDE_API const void *sonde_counter_page(struct sonde_counter *c, size_t event);

/*
 * Estimates the value for the whole time for which the counter was enabled: value * enabled /
 * running, rounded down; UINT64_MAX if that does not fit, 0 if running is 0.
 */
SONDE_API uint64_t sonde_counter_scale(uint64_t value, uint64_t enabled, uint64_t running);

/* ---- the page ---- */

/* The instructions that reading a page needs; a test can replace them. */
struct sonde_page_cpu {
	uint64_t (*tsc)(void *arg); /* the time-stamp counter */
	uint64_t (*pmc)(void *arg, uint32_t counter); /* hardware counter, as wide as it is */
	void *arg;
};

/* The instructions of this machine; NULL where this build knows none (it is not x86). */
SONDE_API const struct sonde_page_cpu *sonde_page_cpu(void);

/* The counter of a page. This struct does not grow, as the page has no other data. */
struct sonde_page_count {
	uint64_t value; /* as of struct sonde_counter_value */
	uint64_t enabled, running; /* ns */
};

/*
 * Reads value, enabled and running of the counter whose page is mapped at `page`, while the kernel
 * may change it. cpu: NULL means sonde_page_cpu(). 1: *count is the live count and its times
 * (up to now if the page has a clock). 0: the page gives no live count now, *count has
 * the kernel's last times only. SONDE_EIO: the page changed during thousands of tries.
 */
SONDE_API int sonde_page_read(
        const void *page, const struct sonde_page_cpu *cpu, struct sonde_page_count *count);

/* Converts between ticks of the time-stamp counter and times of records (perf's clock, ns). This
 * struct does not grow, as the page has no other data. */
struct sonde_page_clock {
	uint64_t zero; /* time of tick 0, ns; 2^64 is added or taken away as needed */
	uint32_t mult; /* ns = ticks * mult / 2^shift */
	uint16_t shift;
	bool is_short; /* ticks have fewer than 64 bits, `cycles` and `mask` hold */
	uint64_t cycles; /* a full count of ticks that was read when the page was written */
	uint64_t mask; /* the bits that the short counter has */
};

/* Reads the clock of a page. 1; 0: the page has none; SONDE_EIO as sonde_page_read. */
SONDE_API int sonde_page_clock_get(const void *page, struct sonde_page_clock *clock);

/* Converts ticks to ns. A short count stands for the next full count after clock->cycles. */
SONDE_API uint64_t sonde_page_clock_ns(const struct sonde_page_clock *clock, uint64_t ticks);

/* Converts ns to ticks, rounded down; always a full count of 64 bits. */
SONDE_API uint64_t sonde_page_clock_ticks(const struct sonde_page_clock *clock, uint64_t ns);

#ifdef __cplusplus
}
#endif

#endif
