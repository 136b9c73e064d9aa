/* SPDX-License-Identifier: MIT */
/*
 * The code of the kernel by run-time address, from an ELF file.
 *
 *	kcore, beside the file of --kallsyms     addresses are run-time addresses; has modules
 *	vmlinux, of --vmlinux or by build id     moved by as much as the symbol of the kernel's mapping
 */
#ifndef SONDE_FRAME_KERNEL_H
#define SONDE_FRAME_KERNEL_H

#include "frame/frame.h"
#include "image/image.h"

/* Closed when zero-initialised, and if no file was found. */
struct frame_kernel {
	struct image_file file;
	struct image_elf elf;
	uint64_t moved; /* run-time address - address in the file */
};

/* Opens the kcore beside the file of kallsyms; it has modules, too. 0, or SONDE_ENOMEM. */
int frame_kernel_open_core(struct frame_kernel *k, const char *kallsyms);
/* Opens the kcore of a bundle. 0, or SONDE_ENOMEM. */
int frame_kernel_open_bundled(struct frame_kernel *k, const struct bundle *bundle);
bool frame_kernel_is_bundled(const struct bundle *bundle); /* whether it has one; NULL: no */
/* Opens the file of a kernel's object. 0, or SONDE_ENOMEM. */
int frame_kernel_open(
        struct frame_kernel *k, const struct frame_resolver *r, const struct timeline_object *o);
void frame_kernel_close(struct frame_kernel *k);

/* Up to n bytes at a run-time address; empty: none. */
struct span frame_kernel_bytes(const struct frame_kernel *k, uint64_t address, size_t n);

#endif
