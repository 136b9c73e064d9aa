/* SPDX-License-Identifier: MIT */
/* Code: decoding an instruction needs exactly the bytes of its size, in every mode. */
#include "pt/insn.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const uint8_t *p, size_t n, enum pt_mode mode)
{
	struct pt_insn insn, again;
	int rc = pt_insn_decode(p, n, mode, &insn);

	if (rc != PT_INSN_OK) {
		return;
	}
	if (insn.size == 0 || insn.size > PT_INSN_MAX || insn.size > n ||
	        insn.class >= PT_CLASSES) {
		abort();
	}
	if (pt_insn_decode(p, insn.size, mode, &again) != PT_INSN_OK || again.size != insn.size ||
	        again.class != insn.class || again.disp != insn.disp) {
		abort();
	}
	for (size_t cut = 0; cut < insn.size; cut++) {
		if (pt_insn_decode(p, cut, mode, &again) != PT_INSN_TRUNCATED) {
			abort();
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		check(data + i, size - i, PT_MODE_16);
		check(data + i, size - i, PT_MODE_32);
		check(data + i, size - i, PT_MODE_64);
	}
	return 0;
}
