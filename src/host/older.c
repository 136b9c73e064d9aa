/* SPDX-License-Identifier: MIT */
#include "host/older.h"

#include "abi/abi.h"
#include "record/record.h"

#include <errno.h>
#include <time.h>

static const struct host_attr_bits table[] = {
#define BIT(flag) (1ULL << (flag))
        {HOST_ATTR_FLAG, BIT(SONDE_FLAG_BUILD_ID), true, false, "build ids in mmap records"},
        {HOST_ATTR_BRANCH_TYPE, 1 << 19, true, false, "branch counters"},
        {HOST_ATTR_BRANCH_TYPE, 1 << 18, true, false, "privilege levels of branches"},
        {HOST_ATTR_READ_FORMAT, SONDE_READ_LOST, false, false, "lost counts"},
        {HOST_ATTR_SAMPLE_TYPE, SONDE_SAMPLE_WEIGHT_STRUCT, true, false, "weights in three parts"},
        {HOST_ATTR_SAMPLE_TYPE, SONDE_SAMPLE_CODE_PAGE_SIZE, true, false, "sizes of code pages"},
        {HOST_ATTR_SAMPLE_TYPE, SONDE_SAMPLE_DATA_PAGE_SIZE, true, false, "sizes of data pages"},
        {HOST_ATTR_FLAG, BIT(SONDE_FLAG_TEXT_POKE), true, false, "changes of the kernel's code"},
        {HOST_ATTR_FLAG, BIT(SONDE_FLAG_CGROUP), true, false, "cgroup events"},
        {HOST_ATTR_SAMPLE_TYPE, SONDE_SAMPLE_CGROUP, true, false, "cgroups of samples"},
        {HOST_ATTR_BRANCH_TYPE, 1 << 17, false, false, "places in the branch hardware"},
        {HOST_ATTR_FLAG, BIT(SONDE_FLAG_BPF_EVENT), false, false, "bpf events"},
        {HOST_ATTR_FLAG, BIT(SONDE_FLAG_KSYMBOL), false, false, "ksymbol events"},
        {HOST_ATTR_FLAG, BIT(SONDE_FLAG_NAMESPACES), true, false, "namespace events"},
        {HOST_ATTR_SAMPLE_TYPE, SONDE_SAMPLE_PHYS_ADDR, true, false, "physical addresses"},
        {HOST_ATTR_FLAG, BIT(SONDE_FLAG_WRITE_BACKWARD), true, false, "rings written backward"},
        {HOST_ATTR_BRANCH_TYPE, 1 << 16, true, false, "types of branches"},
        {HOST_ATTR_FLAG, BIT(SONDE_FLAG_CONTEXT_SWITCH), true, false, "context switch events"},
        {HOST_ATTR_FLAG, BIT(SONDE_FLAG_USE_CLOCKID), true, false, "clock ids"},
        {HOST_ATTR_BRANCH_TYPE, 3 << 14, false, false, "branches without flags and cycles"},
        {HOST_ATTR_FLAG, BIT(SONDE_FLAG_COMM_EXEC), false, false, "exec marks"},
        {HOST_ATTR_FLAG, BIT(SONDE_FLAG_MMAP2), false, false, "mmap2 records"},
        {HOST_ATTR_FLAG, BIT(SONDE_FLAG_EXCLUDE_GUEST), false, false, "guest exclusion"},
        {HOST_ATTR_FLAG, BIT(SONDE_FLAG_EXCLUDE_HOST), true, false, "host exclusion"},
        {HOST_ATTR_FLAG, BIT(SONDE_FLAG_SAMPLE_ID_ALL), false, false,
                "ids in records other than samples"},
        {HOST_ATTR_SAMPLE_TYPE, SONDE_SAMPLE_IDENTIFIER, false, true, "identifiers"},
#undef BIT
};

#define ENTRIES (sizeof(table) / sizeof(table[0]))

/* Sizes of attrs in bytes in successive kernels, and the fields that each added at the end. */
static const struct size {
	uint32_t size;
	const char *brought;
} sizes[] = {{144, "config4"}, {136, "config3"}, {128, "sig_data"},
        {120, "aux_sample_size, aux_action"}, {112, "aux_watermark, sample_max_stack"},
        {104, "sample_regs_intr"}, {96, "sample_regs_user, sample_stack_user, clockid"},
        {80, "branch_sample_type"}, {72, "config2"}, {64, NULL}};

#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

const struct host_attr_bits *host_attr_bits_at(size_t i)
{
	return i < ENTRIES ? &table[i] : NULL;
}

static uint64_t *field(struct sonde_attr *attr, enum host_attr_place place)
{
	switch (place) {
	case HOST_ATTR_READ_FORMAT: return &attr->read_format;
	case HOST_ATTR_SAMPLE_TYPE: return &attr->sample_type;
	case HOST_ATTR_BRANCH_TYPE: return &attr->branch_sample_type;
	case HOST_ATTR_FLAG: break;
	}
	return &attr->flags;
}

bool host_attr_has_bits(const struct sonde_attr *attr, const struct host_attr_bits *bits)
{
	struct sonde_attr copy = *attr;

	return (*field(&copy, bits->place) & bits->bits) != 0;
}

void host_attr_drop_bits(struct sonde_attr *attr, const struct host_attr_bits *bits)
{
	*field(attr, bits->place) &= ~bits->bits;
}

struct sonde_attr host_attr_probe(const struct host_attr_bits *bits, uint32_t size)
{
	struct sonde_attr attr = {.type = SONDE_TYPE_SOFTWARE,
	        .config = SONDE_SW_CPU_CLOCK,
	        .size = size,
	        .flags = 1ULL << SONDE_FLAG_DISABLED | 1ULL << SONDE_FLAG_EXCLUDE_KERNEL};

	*field(&attr, bits->place) |= bits->bits;
	if (bits->place == HOST_ATTR_BRANCH_TYPE) {
		attr.sample_type = SONDE_SAMPLE_BRANCH_STACK;
		attr.branch_sample_type |= 1 << 3; /* any */
	} else if (bits->bits == 1ULL << SONDE_FLAG_USE_CLOCKID) {
		attr.clockid = CLOCK_MONOTONIC;
	}
	return attr;
}

bool host_attr_unknown(int why)
{
	return why == EINVAL || why == E2BIG;
}

uint32_t host_attr_size(const struct sonde_attr *attr)
{
	return attr->config4 != 0 ? 144 : attr->config3 != 0 ? 136 : HOST_ATTR_SIZE;
}

uint32_t host_attr_size_before(uint32_t now, const char **brought)
{
	size_t i;

	for (i = 0; i < SIZES && sizes[i].size > now; i++) {
	}
	if (i + 1 >= SIZES) {
		return 0;
	}
	*brought = sizes[i].brought;
	return sizes[i + 1].size;
}

bool host_attr_cut(struct sonde_attr *attr, uint32_t size)
{
	uint8_t bytes[ATTR_SIZE_NOW];
	bool lost = false;
	uint32_t i;

	attr->size = attr->size > size ? size : attr->size;
	record_attr_encode(attr, bytes);
	for (i = size; i < sizeof(bytes); i++) {
		lost |= bytes[i] != 0;
		bytes[i] = 0;
	}
	(void)record_attr_decode((struct span){bytes, sizeof(bytes)}, false, attr);
	return lost;
}

static bool read_alone(const struct host_kernel *kernel, struct sonde_attr *attr, int why)
{
	(void)kernel;
	if (why != EINVAL || (attr->read_format & SONDE_READ_GROUP) == 0 ||
	        !sonde_attr_has(attr, SONDE_FLAG_INHERIT)) {
		return false;
	}
	attr->read_format &= ~(uint64_t)SONDE_READ_GROUP;
	return true;
}

static bool user_only(const struct host_kernel *kernel, struct sonde_attr *attr, int why)
{
	(void)kernel;
	if ((why != EACCES && why != EPERM) || sonde_attr_has(attr, SONDE_FLAG_EXCLUDE_KERNEL) ||
	        sonde_attr_has(attr, SONDE_FLAG_EXCLUDE_USER)) {
		return false;
	}
	record_attr_set(attr, SONDE_FLAG_EXCLUDE_KERNEL, true);
	return true;
}

static bool drop_bits(const struct host_kernel *kernel, struct sonde_attr *attr, int why)
{
	struct sonde_attr probe;

	for (size_t i = 0; host_attr_unknown(why) && i < ENTRIES; i++) {
		probe = host_attr_probe(&table[i], attr->size);
		if (host_attr_has_bits(attr, &table[i]) &&
		        !host_kernel_takes(kernel, &probe, 0, -1) && host_attr_unknown(errno)) {
			host_attr_drop_bits(attr, &table[i]);
			return true;
		}
	}
	return false;
}

static bool drop_guests(const struct host_kernel *kernel, struct sonde_attr *attr, int why)
{
	(void)kernel;
	if (!host_attr_unknown(why) || !sonde_attr_has(attr, SONDE_FLAG_EXCLUDE_GUEST)) {
		return false;
	}
	record_attr_set(attr, SONDE_FLAG_EXCLUDE_GUEST, false);
	return true;
}

enum host_fallback host_attr_fallback(
        const struct host_kernel *kernel, struct sonde_attr *attr, unsigned which, int why)
{
	static const struct {
		enum host_fallback which;
		bool (*apply)(const struct host_kernel *kernel, struct sonde_attr *attr, int why);
	} fallbacks[] = {{HOST_FALLBACK_READ_ALONE, read_alone},
	        {HOST_FALLBACK_USER_ONLY, user_only}, {HOST_FALLBACK_BITS, drop_bits},
	        {HOST_FALLBACK_GUESTS, drop_guests}};

	for (size_t i = 0; i < sizeof(fallbacks) / sizeof(fallbacks[0]); i++) {
		if ((which & fallbacks[i].which) != 0 && fallbacks[i].apply(kernel, attr, why)) {
			return fallbacks[i].which;
		}
	}
	return HOST_FALLBACK_NONE;
}
