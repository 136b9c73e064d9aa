/* SPDX-License-Identifier: MIT */
/*
 * The code that an Intel PT trace ran through: by address space, in sections, and as it changes.
 *
 * An address space is a number of the caller's choice; 0 where there is only one. The code of a
 * space may change (generated code, patched code, files mapped elsewhere): each change makes a new
 * generation of all code, 1, 2, and so on. A flow is in one space and one generation at a time; who
 * moves it is said in sonde/pt_flow.h. Code of older generations stays for flows that are there.
 *
 * Threads: sonde_pt_image_change may be called at any time, on any thread; sections and bases are
 * set before flows use their space, the reader before there are flows.
 */
#ifndef SONDE_INCLUDE_PT_IMAGE_H
#define SONDE_INCLUDE_PT_IMAGE_H

#include <sonde/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sonde_pt_image;

SONDE_API struct sonde_pt_image *sonde_pt_image_new(void); /* NULL: no memory */
SONDE_API void sonde_pt_image_free(struct sonde_pt_image *image); /* NULL is fine */

/*
 * Adds n bytes at address of an address space. They stay the caller's and must live as long as the
 * image. What is added later lies over what was there. 0, SONDE_EARG (the section would pass the
 * end of the address space, or the space has changed already), SONDE_ELIMIT (a million spaces) or
 * SONDE_ENOMEM.
 */
SONDE_API int sonde_pt_image_add(
        struct sonde_pt_image *image, uint32_t space, uint64_t address, const void *data, size_t n);

/*
 * The same with n bytes of a file from offset on, as far as it has them; UINT64_MAX: to its end.
 * They are mapped, not read: the file must not become shorter as long as the image lives, else the
 * process gets SIGBUS. fd may be closed after the call. Also SONDE_ENOENT, SONDE_EPERM, SONDE_EIO.
 */
SONDE_API int sonde_pt_image_add_file(struct sonde_pt_image *image, uint32_t space,
        uint64_t address, const char *path, uint64_t offset, uint64_t n);
SONDE_API int sonde_pt_image_add_fd(struct sonde_pt_image *image, uint32_t space, uint64_t address,
        int fd, uint64_t offset, uint64_t n);

/* Copies up to n bytes at address to `to`; returns how many there are. May be called on any thread.
 */
typedef size_t (*sonde_pt_read_fn)(
        void *arg, uint32_t space, uint64_t address, uint8_t *to, size_t n);

/*
 * Asks a function for what no section has. What it says of an address must not change while flows
 * use the image. NULL takes it away.
 */
SONDE_API void sonde_pt_image_set_reader(
        struct sonde_pt_image *image, sonde_pt_read_fn read, void *arg);

/*
 * What a space lacks is looked up in another one, as the kernel that many processes share. Before
 * flows use the space. 0, SONDE_EARG (base has a base itself, or space is one), SONDE_ELIMIT,
 * SONDE_ENOMEM.
 */
SONDE_API int sonde_pt_image_set_base(struct sonde_pt_image *image, uint32_t space, uint32_t base);

/*
 * A new generation, in which these n bytes are at address of a space, and all other code is as it
 * was; data NULL: the code is removed. *generation is its number; a flow that is given a number
 * that does not exist takes the newest. The bytes stay the caller's. 0, SONDE_EARG, SONDE_ENOMEM.
 */
SONDE_API int sonde_pt_image_change(struct sonde_pt_image *image, uint32_t space, uint64_t address,
        const void *data, size_t n, uint32_t *generation);

#ifdef __cplusplus
}
#endif

#endif
