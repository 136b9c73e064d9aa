/* SPDX-License-Identifier: MIT */
/*
 * The traced code of an Intel PT trace: sections by address space, and their changes.
 *
 * An address space is a number that the caller chooses; use 0 if there is only one. The code of a
 * space may change (generated code, patched code, files mapped elsewhere): each change makes a new
 * generation of all code, 1, 2, and so on. A flow is in one space and one generation at a time;
 * sonde/pt_flow.h describes how it moves. Older generations stay in memory for flows that use them.
 *
 * Threads: sonde_pt_image_change may be called at any time, on any thread. Set sections and bases
 * before flows use their space, and the reader before the first flow.
 */
#ifndef SONDE_INCLUDE_PT_IMAGE_H
#define SONDE_INCLUDE_PT_IMAGE_H

#include <sonde/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sonde_pt_image;

SONDE_API struct sonde_pt_image *sonde_pt_image_new(void); /* NULL: out of memory */
SONDE_API void sonde_pt_image_free(struct sonde_pt_image *image); /* NULL is fine */

/*
 * Adds n bytes at an address of a space. They belong to the caller and must live as long as the
 * image. They replace code that was added before at the same addresses. 0; SONDE_EARG: the section
 * does not fit below the end of the address space, or the space has changed already; SONDE_ELIMIT:
 * too many spaces (a million); SONDE_ENOMEM.
 */
SONDE_API int sonde_pt_image_add(
        struct sonde_pt_image *image, uint32_t space, uint64_t address, const void *data, size_t n);

/*
 * The same with up to n bytes of a file, from offset on; UINT64_MAX: to its end. The file is mapped:
 * if it becomes shorter while the image exists, the process gets SIGBUS. fd may be closed after the
 * call. Also SONDE_ENOENT, SONDE_EPERM, SONDE_EIO.
 */
SONDE_API int sonde_pt_image_add_file(struct sonde_pt_image *image, uint32_t space,
        uint64_t address, const char *path, uint64_t offset, uint64_t n);
SONDE_API int sonde_pt_image_add_fd(struct sonde_pt_image *image, uint32_t space, uint64_t address,
        int fd, uint64_t offset, uint64_t n);

/* Copies up to n bytes at an address to `to`, and returns their number. Called on any thread. */
typedef size_t (*sonde_pt_read_fn)(
        void *arg, uint32_t space, uint64_t address, uint8_t *to, size_t n);

/*
 * Sets a function that returns code that no section has. Its result for an address must not change
 * while flows use the image. NULL: no function.
 */
SONDE_API void sonde_pt_image_set_reader(
        struct sonde_pt_image *image, sonde_pt_read_fn read, void *arg);

/*
 * Sets a base: code that the space does not have is looked up there, such as the kernel that many
 * processes share. Call it before flows use the space. 0; SONDE_EARG: base has a base itself, or
 * space is a base; SONDE_ELIMIT; SONDE_ENOMEM.
 */
SONDE_API int sonde_pt_image_set_base(struct sonde_pt_image *image, uint32_t space, uint32_t base);

/*
 * Makes a new generation, which has these n bytes at an address of a space, and is otherwise equal
 * to the one before; data NULL: without code there. Sets *generation to its number; flows use the
 * newest generation in place of numbers that do not exist. The bytes belong to the caller. 0,
 * SONDE_EARG, SONDE_ENOMEM.
 */
SONDE_API int sonde_pt_image_change(struct sonde_pt_image *image, uint32_t space, uint64_t address,
        const void *data, size_t n, uint32_t *generation);

#ifdef __cplusplus
}
#endif

#endif
