/* SPDX-License-Identifier: MIT */
/* Names of record types and of the bits of misc. Source: perf_event_open(2), real files. */
#include "abi/abi.h"
#include "record/layout.h"

#include <sonde/record.h>

static const char *const cpumodes[8] = {
        NULL, "kernel", "user", "hypervisor", "guest_kernel", "guest_user", NULL, NULL};

static const struct misc_bit {
	uint16_t type, bit;
	const char *name;
} misc_bits[] = {
        {RECORD_MMAP, MISC_MMAP_DATA, "MMAP_DATA"},
        {RECORD_MMAP2, MISC_MMAP_DATA, "MMAP_DATA"},
        {RECORD_MMAP2, MISC_MMAP_BUILD_ID, "MMAP_BUILD_ID"},
        {RECORD_COMM, MISC_COMM_EXEC, "COMM_EXEC"},
        {RECORD_FORK, MISC_FORK_EXEC, "FORK_EXEC"},
        {RECORD_SAMPLE, 1 << 14, "EXACT_IP"},
        {RECORD_SWITCH, MISC_SWITCH_OUT, "SWITCH_OUT"},
        {RECORD_SWITCH, 1 << 14, "SWITCH_OUT_PREEMPT"},
        {RECORD_SWITCH_CPU_WIDE, MISC_SWITCH_OUT, "SWITCH_OUT"},
        {RECORD_SWITCH_CPU_WIDE, 1 << 14, "SWITCH_OUT_PREEMPT"},
        {RECORD_LOST_SAMPLES, 1 << 15, "BPF_FILTERED"},
        {RECORD_BUILD_ID, MISC_BUILD_ID_SIZE, "BUILD_ID_SIZE"},
};

const char *record_type_name(uint32_t type)
{
	const struct layout *layout = layout_of_record(type);

	return layout != NULL ? layout->name : NULL;
}

const char *sonde_record_type_name(uint32_t type)
{
	return record_type_name(type);
}

const char *sonde_record_misc_name(uint32_t type, uint16_t misc, unsigned i)
{
	const char *mode = type < RECORD_USER_START ? cpumodes[misc & MISC_CPUMODE_MASK] : NULL;

	if (mode != NULL && i-- == 0) {
		return mode;
	}
	for (size_t k = 0; k < sizeof(misc_bits) / sizeof(misc_bits[0]); k++) {
		const struct misc_bit *b = &misc_bits[k];

		if (b->type == type && (misc & b->bit) != 0 && i-- == 0) {
			return b->name;
		}
	}
	return NULL;
}
