/* SPDX-License-Identifier: MIT */
/* The code that a trace ran through, from --raw and --elf. */
#ifndef SONDE_CMD_PT_IMAGE_H
#define SONDE_CMD_PT_IMAGE_H

#include "cmd/pt_common.h"

#include <sonde/pt_flow.h>

#define PT_CODE_FILES 64

struct pt_code {
	struct sonde_pt_image *image;
	struct pt_file files[PT_CODE_FILES];
	unsigned count;
};

/* option_fn for --raw FILE[:FROM[-TO]]:ADDRESS and --elf FILE[:ADDRESS]; the target is a pt_code.
 */
int pt_code_raw(const struct option_def *def, const char *arg, bool unset);
int pt_code_elf(const struct option_def *def, const char *arg, bool unset);

void pt_code_free(struct pt_code *code);

#endif
