/* SPDX-License-Identifier: MIT */
/*
 * The control page in memory: the only struct laid over the kernel's bytes, as its members must be
 * loaded whole while they change. Always in host byte order.
 */
#ifndef SONDE_COUNTER_PAGE_H
#define SONDE_COUNTER_PAGE_H

#include <sonde/counter.h>

#include <assert.h>
#include <stdbool.h>

struct counter_page {
	uint32_t version, compat_version;
	_Atomic uint32_t lock;
	_Atomic uint32_t index; /* index of the hardware counter, plus 1; 0: not on a counter now */
	_Atomic int64_t offset; /* count before the event got this counter */
	_Atomic uint64_t time_enabled, time_running; /* ns */
	_Atomic uint64_t capabilities;
	_Atomic uint16_t pmc_width; /* bits */
	_Atomic uint16_t time_shift;
	_Atomic uint32_t time_mult;
	_Atomic uint64_t time_offset;
	_Atomic uint64_t time_zero;
	uint32_t size, reserved;
	_Atomic uint64_t time_cycles;
	_Atomic uint64_t time_mask;
};

static_assert(sizeof(struct counter_page) == 96, "struct perf_event_mmap_page begins like this");

/* Whether the page had a live count a moment ago; if not, reading the page is useless. */
bool counter_page_live(const void *page);

#endif
