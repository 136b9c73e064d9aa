/* SPDX-License-Identifier: MIT */
/*
 * Headers of tar archives, one a block of 512 bytes in front of each member, as POSIX describes them
 * in pax(1). Numbers are octal text.
 *
 *	0   name (100)      100 mode (8)      108 uid (8)    116 gid (8)   124 size (12)
 *	136 mtime (12)      148 checksum (8)  156 type (1)   157 linkname (100)
 *	257 "ustar" 0 "00"  265 uname (32)    297 gname (32) 329 devmajor (8), devminor (8)
 *	345 prefix (155): the name is PREFIX/NAME
 *
 * A member of type 'x' has records "SIZE KEY=VALUE\n" for the one after it: `path` and `size` replace
 * those of its header. GNU tar uses a member of type 'L' with a long name for it, and numbers with
 * the first bit set are binary.
 */
#ifndef SONDE_BUNDLE_TAR_H
#define SONDE_BUNDLE_TAR_H

#define TAR_BLOCK       512u
#define TAR_NAME        0u
#define TAR_NAME_SIZE   100u
#define TAR_MODE        100u
#define TAR_UID         108u
#define TAR_GID         116u
#define TAR_SIZE        124u
#define TAR_SIZE_SIZE   12u
#define TAR_MTIME       136u
#define TAR_SUM         148u
#define TAR_SUM_SIZE    8u
#define TAR_TYPE        156u
#define TAR_MAGIC       257u
#define TAR_VERSION     263u
#define TAR_PREFIX      345u
#define TAR_PREFIX_SIZE 155u

#define TAR_OCTAL_MAX ((UINT64_C(1) << 33) - 1) /* largest size with 11 octal digits */

#endif
