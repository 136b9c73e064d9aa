/* SPDX-License-Identifier: MIT */
#include "cmd/fields.h"

#include <stdio.h>

#define HELP_COLUMN 26 /* as in options.c */

void fields_print(const char *heading, unsigned uses)
{
	const struct sonde_field_info *f;

	(void)printf("\n%s:\n", heading);
	for (size_t i = 0; (f = sonde_field_at(i)) != NULL; i++) {
		bool other = f->other_name != NULL && (uses & SONDE_FIELD_OF_SCRIPT) == 0;
		char names[64];

		if ((f->uses & uses) != 0) {
			(void)snprintf(names, sizeof(names), "%s%s%s", f->name, other ? ", " : "",
			        other ? f->other_name : "");
			(void)printf("  %-*s%s\n", HELP_COLUMN - 2, names, f->help);
		}
	}
}
