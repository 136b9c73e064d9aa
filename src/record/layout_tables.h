/* SPDX-License-Identifier: MIT */
/* Macros for the files of tables. */
#ifndef SONDE_RECORD_LAYOUT_TABLES_H
#define SONDE_RECORD_LAYOUT_TABLES_H

#include "record/layout.h"

#include <sonde/record_types.h>

/* The tables omit members that are zero. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#define LAYOUT(title, table)                                                                       \
	{                                                                                          \
		.name = (title), .fields = (table), .nfields = sizeof(table) / sizeof((table)[0])  \
	}

/* As LAYOUT, with the C struct that its fields are stored into. */
#define LAYOUT_TO(title, table, type)                                                              \
	{                                                                                          \
		.name = (title), .fields = (table), .nfields = sizeof(table) / sizeof((table)[0]), \
		.size = sizeof(type)                                                               \
	}

#define TO_MEMBER(type, member)                                                                    \
	.to = (uint16_t)(1 + offsetof(type, member)),                                              \
	.room = sizeof(__typeof__(((type *)NULL)->member))
#define TO(name, member)         TO_MEMBER(struct sonde_record_##name, member)
#define TO_ATTR(member)          TO_MEMBER(struct sonde_attr, member)
#define TO_FEATURE(name, member) TO_MEMBER(struct feature_##name, member)
#define MEMBER_OF_FEATURE(name, member)                                                            \
	{                                                                                          \
		offsetof(struct feature_##name, member),                                           \
		        sizeof(__typeof__(((struct feature_##name *)NULL)->member))                \
	}
#define N_FEATURE(name, member)   .n = MEMBER_OF_FEATURE(name, member)
#define HAS_FEATURE(name, member) .has = MEMBER_OF_FEATURE(name, member)

extern const struct layout_name layout_branch_flags[]; /* of a LAYOUT_BITS that is mirrored */

/* Converts parts between "counted from the lowest bit" and "counted from the highest". */
uint64_t layout_mirror(uint64_t v, const struct layout_name *parts, bool from_top);

extern const struct layout layout_attr_known;

const struct layout *layout_of_kernel_record(uint32_t type);
const struct layout *layout_of_tool_record(uint32_t type);

#endif
