/* SPDX-License-Identifier: MIT */
/* What the files of tables share. */
#ifndef SONDE_RECORD_LAYOUT_TABLES_H
#define SONDE_RECORD_LAYOUT_TABLES_H

#include "record/layout.h"

#include <sonde/record_types.h>

/* The tables leave out what is zero. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#define LAYOUT(title, table)                                                                       \
	{                                                                                          \
		.name = (title), .fields = (table), .nfields = sizeof(table) / sizeof((table)[0])  \
	}

/* The same with the struct of sonde/record_types.h that its fields are stored into. */
#define LAYOUT_TO(title, table, type)                                                              \
	{                                                                                          \
		.name = (title), .fields = (table), .nfields = sizeof(table) / sizeof((table)[0]), \
		.size = sizeof(type)                                                               \
	}

#define TO_MEMBER(type, member)                                                                    \
	.to = (uint16_t)(1 + offsetof(type, member)), .room = sizeof(((type *)NULL)->member)
#define TO(name, member) TO_MEMBER(struct sonde_record_##name, member)
#define TO_ATTR(member)  TO_MEMBER(struct sonde_attr, member)

extern const struct layout_name layout_branch_flags[];
extern const struct layout layout_attr;

const struct layout *layout_of_kernel_record(uint32_t type);
const struct layout *layout_of_tool_record(uint32_t type);

#endif
