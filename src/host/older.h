/* SPDX-License-Identifier: MIT */
/*
 * What older kernels do not know. The kernel says EINVAL for a bit and E2BIG for a field that it
 * does not know, but not which one: each is asked for alone, on an event that every kernel has.
 * Sizes of attrs and the kernels that brought them: perf_event_open(2).
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

/* Bits that came with one kernel. */
struct host_attr_bits {
	enum host_attr_place place;
	uint64_t bits;
	bool asked; /* by the user: going without is worth a word without -v */
	bool counting; /* can be left out where nothing is sampled only */
	const char *name;
};

/* Entry i of the table, the newest first; NULL after the last one. */
const struct host_attr_bits *host_attr_bits_at(size_t i);

bool host_attr_has_bits(const struct sonde_attr *attr, const struct host_attr_bits *bits);
void host_attr_drop_bits(struct sonde_attr *attr, const struct host_attr_bits *bits);

/* An event of `size` bytes with nothing but these bits, to see whether the kernel takes it. */
struct sonde_attr host_attr_probe(const struct host_attr_bits *bits, uint32_t size);

/* Does this errno of open mean that something in the attr is not known? */
bool host_attr_unknown(int why);

/* Bytes that hold all that an attr asks for. */
uint32_t host_attr_size(const struct sonde_attr *attr);

/*
 * Bytes of the attr that kernels knew before those of `now` bytes; 0: there were none. *brought:
 * what the larger attr has at its end.
 */
uint32_t host_attr_size_before(uint32_t now, const char **brought);

/* Cuts an attr to as many bytes; true when something was there. */
bool host_attr_cut(struct sonde_attr *attr, uint32_t size);

/*
 * Leaves out of an attr that only counts, and that was refused with errno `why`, the next thing that
 * this kernel does not know, at last the exclusion of guests, which some PMUs refuse. True: try
 * again.
 */
bool host_attr_ease(const struct host_kernel *kernel, struct sonde_attr *attr, int why);

#endif
