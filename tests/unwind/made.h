/* SPDX-License-Identifier: MIT */
/* Call frame information made by hand, as sections of an ELF file in memory. */
#ifndef SONDE_TESTS_UNWIND_MADE_H
#define SONDE_TESTS_UNWIND_MADE_H

#include "unwind/unwind.h"

#include <assert.h>

#define CODE     0x1000u /* address of the code, a page */
#define SECTION  0x3000u /* address of .eh_frame */
#define HEADER   0x5000u /* address of .eh_frame_hdr */
#define X86_64   62u
#define AARCH64  183u
#define MADE_MAX 4096u

struct made {
	uint8_t bytes[2 * MADE_MAX]; /* .eh_frame or .debug_frame, then .eh_frame_hdr */
	size_t n, header;
	size_t cie; /* offset of the last CIE */
	bool debug;
	struct image_section sections[2];
	struct image_segment segment;
	struct image_elf elf;
};

static inline void made_bytes(struct made *m, const void *p, size_t n)
{
	assert(m->n + n <= MADE_MAX);
	memcpy(m->bytes + m->n, p, n);
	m->n += n;
}

static inline void made_u32(struct made *m, uint32_t v)
{
	made_bytes(m, &v, sizeof(v));
}

static inline void made_u64(struct made *m, uint64_t v)
{
	made_bytes(m, &v, sizeof(v));
}

/* Sets the length at `at` to the bytes after it. */
static inline void made_length(struct made *m, size_t at)
{
	uint32_t length = (uint32_t)(m->n - at - 4);

	memcpy(m->bytes + at, &length, sizeof(length));
}

/* A CIE with code in units of 1 and data in units of -8. */
static inline void made_cie(
        struct made *m, const char *letters, uint8_t return_reg, const void *program, size_t n)
{
	uint8_t factors[] = {1, 0x78, return_reg};
	uint8_t augmentation[] = {1, 0x1b}; /* size; DW_EH_PE_pcrel | DW_EH_PE_sdata4 */

	m->cie = m->n;
	made_u32(m, 0);
	made_u32(m, m->debug ? UINT32_MAX : 0);
	made_bytes(m, "\1", 1);
	made_bytes(m, letters, strlen(letters) + 1);
	made_bytes(m, factors, sizeof(factors));
	if (letters[0] == 'z') {
		made_bytes(m, augmentation, sizeof(augmentation));
	}
	made_bytes(m, program, n);
	made_length(m, m->cie);
}

/* The function [start, start + size) of the last CIE. */
static inline void made_fde(
        struct made *m, uint64_t start, uint32_t size, const void *program, size_t n)
{
	size_t at = m->n;

	made_u32(m, 0);
	if (m->debug) {
		made_u32(m, (uint32_t)m->cie);
		made_u64(m, start);
		made_u64(m, size);
	} else {
		made_u32(m, (uint32_t)(m->n - m->cie));
		made_u32(m, (uint32_t)(start - (SECTION + m->n)));
		made_u32(m, size);
		made_bytes(m, "", 1); /* no augmentation data */
	}
	made_bytes(m, program, n);
	made_length(m, at);
}

/* Adds a sorted table of these functions: pairs of an address and the offset of its entry. */
static inline void made_header(struct made *m, const uint32_t *pairs, uint32_t n)
{
	static const uint8_t start[] = {1, 0x1b, 3, 0x3b}; /* version, encodings */
	uint8_t *p = m->bytes + MADE_MAX;
	uint32_t frame = SECTION - (HEADER + 4);

	memcpy(p, start, sizeof(start));
	memcpy(p + 4, &frame, 4);
	memcpy(p + 8, &n, 4);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t entry[] = {
		        pairs[(size_t)2 * i] - HEADER, SECTION + pairs[(size_t)2 * i + 1] - HEADER};

		memcpy(p + 12 + (size_t)8 * i, entry, sizeof(entry));
	}
	m->header = 12 + (size_t)8 * n;
}

/* Makes the table. */
static inline struct unwind_table *made_table(struct made *m, uint16_t machine)
{
	struct unwind_table *t = NULL;

	m->sections[0] = (struct image_section){.name = m->debug ? ".debug_frame" : ".eh_frame",
	        .addr = m->debug ? 0 : SECTION,
	        .size = m->n,
	        .type = 1};
	m->sections[1] = (struct image_section){.name = ".eh_frame_hdr",
	        .addr = HEADER,
	        .offset = MADE_MAX,
	        .size = m->header,
	        .type = 1};
	m->segment = (struct image_segment){
	        .offset = 0x200, .vaddr = CODE, .filesz = 0x1000, .memsz = 0x1000};
	m->elf = (struct image_elf){.bytes = {m->bytes, sizeof(m->bytes)},
	        .sections = m->sections,
	        .nsections = m->header != 0 ? 2 : 1,
	        .segments = &m->segment,
	        .nsegments = 1,
	        .machine = machine,
	        .is64 = true};
	(void)unwind_table_new(&(struct unwind_source){.object = &m->elf}, &t);
	return t;
}

#endif
