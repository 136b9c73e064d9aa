/* SPDX-License-Identifier: MIT */
/* The header features of an open file as typed structs (record/feature.h). */
#ifndef SONDE_FILE_FEATURE_H
#define SONDE_FILE_FEATURE_H

#include "file/file.h"
#include "record/feature.h"

/* Decodes one feature with feature_decode; 0 when it is absent (*out is zero). */
int feature_read(const struct file *f, unsigned bit, struct arena *a, void *out, size_t size);

#define FEATURE_READ(f, bit, a, out) feature_read(f, bit, a, out, sizeof(*(out)))

#endif
