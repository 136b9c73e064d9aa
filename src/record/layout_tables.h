/* SPDX-License-Identifier: MIT */
/* What the files of tables share. */
#ifndef SONDE_RECORD_LAYOUT_TABLES_H
#define SONDE_RECORD_LAYOUT_TABLES_H

#include "record/layout.h"

/* The tables leave out what is zero. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#define LAYOUT(title, table)                                                                       \
	{                                                                                          \
		.name = (title), .fields = (table), .nfields = sizeof(table) / sizeof((table)[0])  \
	}

extern const struct layout_name layout_branch_flags[];
extern const struct layout layout_attr;

const struct layout *layout_of_kernel_record(uint32_t type);
const struct layout *layout_of_tool_record(uint32_t type);

#endif
