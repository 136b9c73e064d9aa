/* SPDX-License-Identifier: MIT */
/*
 * What older kernels do not support. The kernel returns EINVAL for an unknown bit and E2BIG for an
 * unknown field, but not which one: each is tried alone, on an event that every kernel has. Sizes
 * of attrs and the kernels that introduced them: perf_event_open(2).
 */
#ifndef SONDE_HOST_OLDER_H
#define SONDE_HOST_OLDER_H

#include "host/kernel.h"

enum host_attr_place {
	HOST_ATTR_FLAG,
	HOST_ATTR_READ_FORMAT,
	HOST_ATTR_SAMPLE_TYPE,
	HOST_ATTR_BRANCH_TYPE
};

/* Bits that one kernel introduced. */
struct host_attr_bits {
	enum host_attr_place place;
	uint64_t bits;
	bool asked; /* the user requested it: report its absence even without -v */
	bool counting; /* an event that only counts can do without it */
	const char *name;
};

/* Entry i of the table, newest first; NULL after the last one. */
const struct host_attr_bits *host_attr_bits_at(size_t i);

bool host_attr_has_bits(const struct sonde_attr *attr, const struct host_attr_bits *bits);
void host_attr_drop_bits(struct sonde_attr *attr, const struct host_attr_bits *bits);

/* An event of `size` bytes with only these bits, to test whether the kernel accepts it. */
struct sonde_attr host_attr_probe(const struct host_attr_bits *bits, uint32_t size);

/* Whether this errno of open means that the attr has an unknown bit or field. */
bool host_attr_unknown(int why);

/* Size in bytes that holds all fields that an attr uses. */
uint32_t host_attr_size(const struct sonde_attr *attr);

/*
 * Size of attrs before kernels with `now` bytes; 0: there was none. *brought: the fields that the
 * larger attr adds.
 */
uint32_t host_attr_size_before(uint32_t now, const char **brought);

/* Truncates an attr to this size; true if a field was lost. */
bool host_attr_cut(struct sonde_attr *attr, uint32_t size);

/* What is left out of an attr that the kernel refused, in this order. */
enum host_fallback {
	HOST_FALLBACK_NONE = 0,
	HOST_FALLBACK_READ_ALONE = 1, /* inherited events are not read as a group: before 4.13 */
	HOST_FALLBACK_USER_ONLY = 2, /* the kernel's part, which this user may not see */
	HOST_FALLBACK_BITS = 4, /* the next bits of the table that this kernel does not know */
	HOST_FALLBACK_GUESTS = 8 /* the exclusion of guests, which some PMUs refuse */
};

/*
 * Leaves the next thing out of an attr that was refused with errno `why`: the first of `which`, bits
 * of enum host_fallback, that applies. HOST_FALLBACK_NONE: nothing is left to try.
 */
enum host_fallback host_attr_fallback(
        const struct host_kernel *kernel, struct sonde_attr *attr, unsigned which, int why);

#endif
