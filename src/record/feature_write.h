/* SPDX-License-Identifier: MIT */
/* Appends the parts of header features to a text buffer, in host byte order. */
#ifndef SONDE_RECORD_FEATURE_WRITE_H
#define SONDE_RECORD_FEATURE_WRITE_H

#include "core/text.h"

void feature_put_u32(struct text *t, uint32_t v);
void feature_put_u64(struct text *t, uint64_t v);

/* u32 length, then the text, padded with NULs (at least one) to a multiple of 64 bytes. */
void feature_put_text(struct text *t, const char *s);

/* Appends the number of items and the items, and frees them. Returns whether there are any. */
bool feature_put_list(struct text *t, uint32_t n, struct text *items);

/* Appends an entry of the feature BUILD_ID; misc: MISC_KERNEL or MISC_USER. */
void feature_put_build_id(
        struct text *t, uint16_t misc, const uint8_t *id, size_t id_size, const char *name);

#endif
