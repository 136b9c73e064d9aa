/* SPDX-License-Identifier: MIT */
/* Private to unwind: entries of .eh_frame and .debug_frame. */
#ifndef SONDE_UNWIND_CFI_H
#define SONDE_UNWIND_CFI_H

#include "unwind/unwind.h"

#define DW_EH_PE_OMIT 0xffu

/* A section of call frame information. */
struct cfi_section {
	struct span bytes;
	uint64_t address; /* of its first byte */
	uint64_t data, text; /* bases of pointers that are relative to them */
	bool debug; /* .debug_frame */
	bool swap;
	enum unwind_machine machine;
};

/* What the entries of one compilation unit have in common. */
struct cfi_cie {
	uint64_t code_align; /* bytes */
	int64_t data_align; /* bytes */
	struct span program;
	uint64_t return_reg;
	uint8_t encoding; /* of addresses, DW_EH_PE_* */
	uint8_t address_size, segment_size;
	bool signal;
	bool sized; /* entries have a size of their augmentation data */
};

/* The entry of a function: addresses [start, end). */
struct cfi_fde {
	struct cfi_cie cie;
	uint64_t start, end;
	struct span program;
};

/* Variable-length numbers, at most 64 bits; more bits set `bad`. */
uint64_t cfi_uleb(struct cursor *c);
int64_t cfi_sleb(struct cursor *c);

/* Reads a pointer; `address`: of the cursor's position. Sets bad for encodings that are not used. */
uint64_t cfi_pointer(
        struct cursor *c, const struct cfi_section *s, unsigned encoding, unsigned address_size);

enum cfi_entry { CFI_END, CFI_FDE, CFI_OTHER /* a CIE, or damaged */ };

/* Reads the entry at *offset and moves *offset to the next one. */
enum cfi_entry cfi_read(const struct cfi_section *s, uint64_t *offset, struct cfi_fde *fde);

/* Runs the program of a function up to an address in it. False: it is damaged. */
bool cfi_run(const struct cfi_section *s, const struct cfi_fde *fde, uint64_t address,
        struct unwind_row *row);

#endif
