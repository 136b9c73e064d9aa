/* SPDX-License-Identifier: MIT */
/* The code of the traced program, from --raw and --elf. */
#ifndef SONDE_CMD_PT_IMAGE_H
#define SONDE_CMD_PT_IMAGE_H

#include "cmd/pt_common.h"

#include <sonde/pt_flow.h>

#define PT_CODE_FILES  64
#define PT_CODE_SPACES 64
#define PT_CODE_MOVES  256

/* The address space of code; properties that are not given match any value. */
struct pt_code_space {
	struct sonde_pt_asid asid;
	bool has_root; /* asid.non_root is given */
};

struct pt_code {
	struct sonde_pt_image *image;
	struct pt_file files[PT_CODE_FILES];
	unsigned count;
	struct pt_code_space spaces[PT_CODE_SPACES]; /* by number; 0: code of all processes */
	unsigned nspaces;
	/* Properties of the next --raw and --elf: */
	struct pt_code_space space;
	struct sonde_pt_move from; /* if has_from: the time from which the code is mapped */
	bool has_from;
	/* Changes of code. */
	struct sonde_pt_move moves[PT_CODE_MOVES];
	unsigned nmoves;
};

/* option_fn for --raw FILE[:FROM[-TO]]:ADDRESS and --elf FILE[:ADDRESS]; the target is a pt_code.
 */
int pt_code_raw(const struct option_def *def, const char *arg, bool unset);
int pt_code_elf(const struct option_def *def, const char *arg, bool unset);

/* option_fn for --cr3, --vmcs, --root, --from and --from-tsc: for the code after them. */
int pt_code_cr3(const struct option_def *def, const char *arg, bool unset);
int pt_code_vmcs(const struct option_def *def, const char *arg, bool unset);
int pt_code_root(const struct option_def *def, const char *arg, bool unset);
int pt_code_from(const struct option_def *def, const char *arg, bool unset);
int pt_code_from_tsc(const struct option_def *def, const char *arg, bool unset);

/* sonde_pt_space_fn; arg is a struct pt_code. */
uint32_t pt_code_choose(void *arg, const struct sonde_pt_asid *asid);

void pt_code_free(struct pt_code *code);

#endif
