/* SPDX-License-Identifier: MIT */
/*
 * JIT-compiled code as ELF files, as perf inject makes them:
 *
 *	0x80        .text             the code; its symbol is in .symtab
 *	rounded up  .eh_frame         of the runtime, which refers to the code by this distance
 *	to 8        .eh_frame_hdr     if the runtime wrote one for this .eh_frame
 *	not loaded  .note.gnu.build-id, .symtab, .strtab, .debug_* (DWARF 4), .shstrtab
 */
#ifndef SONDE_EDIT_JIT_ELF_H
#define SONDE_EDIT_JIT_ELF_H

#include "core/text.h"
#include "frame/jit.h"

#define JIT_ELF_ID 20u /* bytes of the build id */

/* Sections with source lines, in the byte order of the code; empty: none. */
struct jit_debug {
	struct text line, info, abbrev, aranges;
};

/* Makes the sections from the lines of the code with a number. SONDE_ENOMEM: call fini in any case. */
int jit_debug_make(struct jit_debug *d, const struct frame_resolver *f, uint32_t code);
void jit_debug_fini(struct jit_debug *d);

/*
 * Writes an ELF file to a descriptor, with a build id that depends on its contents. Negative: see
 * *err; SONDE_EUNSUPPORTED: this build has no libelf.
 */
int jit_elf_write(int fd, const struct frame_jit_code *code, const struct jit_debug *debug,
        uint8_t id[JIT_ELF_ID], struct error *err);

#endif
