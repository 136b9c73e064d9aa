/* SPDX-License-Identifier: MIT */
/* The code that a trace ran through, from --raw and --elf. */
#ifndef SONDE_CMD_PT_IMAGE_H
#define SONDE_CMD_PT_IMAGE_H

#include "cmd/pt_common.h"

#include <sonde/pt_flow.h>

#define PT_CODE_FILES  64
#define PT_CODE_SPACES 64
#define PT_CODE_MOVES  256

/* Whose code it is; what is not given may be anything. */
struct pt_code_space {
	struct sonde_pt_asid asid;
	bool has_root; /* asid.non_root is given */
};

struct pt_code {
	struct sonde_pt_image *image;
	struct pt_file files[PT_CODE_FILES];
	unsigned count;
	struct pt_code_space spaces[PT_CODE_SPACES]; /* by number; the first is that of all */
	unsigned nspaces;
	/* Of the code that comes next: */
	struct pt_code_space space;
	struct sonde_pt_move from; /* where it begins to be there, if has_from */
	bool has_from;
	/* Where code changes. */
	struct sonde_pt_move moves[PT_CODE_MOVES];
	unsigned nmoves;
};

/* option_fn for --raw FILE[:FROM[-TO]]:ADDRESS and --elf FILE[:ADDRESS]; the target is a pt_code.
 */
int pt_code_raw(const struct option_def *def, const char *arg, bool unset);
int pt_code_elf(const struct option_def *def, const char *arg, bool unset);

/* option_fn for --cr3, --vmcs, --root, --from and --from-tsc: of the code that comes behind. */
int pt_code_cr3(const struct option_def *def, const char *arg, bool unset);
int pt_code_vmcs(const struct option_def *def, const char *arg, bool unset);
int pt_code_root(const struct option_def *def, const char *arg, bool unset);
int pt_code_from(const struct option_def *def, const char *arg, bool unset);
int pt_code_from_tsc(const struct option_def *def, const char *arg, bool unset);

/* sonde_pt_space_fn; arg is a struct pt_code. */
uint32_t pt_code_choose(void *arg, const struct sonde_pt_asid *asid);

void pt_code_free(struct pt_code *code);

#endif
