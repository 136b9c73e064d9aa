/* SPDX-License-Identifier: MIT */
/* sonde/preview/unwind.h: what it refuses, and stacks in code without information. */
#include <sonde/preview/unwind.h>

#include "tap.h"

#include <string.h>

#define SP_AND_PC ((uint64_t)1 << 7 | (uint64_t)1 << 8) /* x86-64 */
#define FRAME     ((uint64_t)1 << 6)

static uint64_t words[8];

static int run(struct sonde_unwinder *u, uint64_t mask, const uint64_t *values, uint64_t *ips,
        enum sonde_unwind_end *end)
{
	struct sonde_unwind_stack stack = {.size = sizeof(stack),
	        .mask = mask,
	        .registers = values,
	        .bytes = words,
	        .nbytes = sizeof(words)};

	return sonde_unwind(u, &stack, ips, 8, end);
}

int main(void)
{
	struct sonde_unwinder *u = sonde_unwinder_new(SONDE_UNWIND_X86_64);
	uint64_t frame[] = {0x7000, 0x7000, 0x1010}; /* bp, sp, ip */
	uint64_t ips[8];
	enum sonde_unwind_end end = SONDE_UNWIND_OUTERMOST;

	eq_u64(sonde_unwinder_map(u, 0x2000, 0x2000, 0, NULL), SONDE_EARG,
	        "an empty mapping is refused");
	eq_u64(sonde_unwinder_map(u, 0x1000, 0x2000, 0, "/no/such/file"), 0,
	        "a file that does not exist can be mapped");
	eq_u64(sonde_unwinder_map(u, 0x4000, 0x5000, 0, NULL), 0,
	        "code without a file can be mapped");
	eq_u64(run(u, FRAME, frame, ips, &end), SONDE_EARG,
	        "registers without stack pointer are refused");
	eq_u64(run(u, SP_AND_PC | FRAME, frame, ips, &end), 1,
	        "code whose file does not exist is one address");
	ok(ips[0] == 0x1010 && end == SONDE_UNWIND_NO_INFORMATION,
	        "the end says that its information is missing");
	frame[2] = 0x4010;
	words[0] = 0;
	words[1] = 0x4020;
	eq_u64(run(u, SP_AND_PC | FRAME, frame, ips, &end), 2,
	        "code without a file is unwound by its frame pointer");
	ok(ips[1] == 0x401f && end == SONDE_UNWIND_OUTERMOST,
	        "a frame pointer of 0 makes the chain complete");
	eq_u64(sonde_unwinder_map(u, 0x4000, 0x4800, 0, "/no/such/file"), 0,
	        "a part of a mapping can be replaced");
	eq_u64(run(u, SP_AND_PC | FRAME, frame, ips, &end), 1,
	        "a later mapping replaces an earlier one");
	frame[2] = 0x9000;
	eq_u64(run(u, SP_AND_PC | FRAME, frame, ips, &end), 1,
	        "an address outside of all mappings is one address");
	eq_u64(end, SONDE_UNWIND_UNMAPPED, "the end says that nothing is mapped");
	for (int i = SONDE_UNWIND_OUTERMOST; i <= SONDE_UNWIND_DAMAGED; i++) {
		ok(strcmp(sonde_unwind_end_text((enum sonde_unwind_end)i), "unknown") != 0,
		        "an end has a text");
	}
	eq_str(sonde_unwind_end_text((enum sonde_unwind_end)99), "unknown",
	        "an unknown end has a text");
	sonde_unwinder_free(u);
	sonde_unwinder_free(NULL);
	return tap_done();
}
