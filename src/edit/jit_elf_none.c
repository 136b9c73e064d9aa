/* SPDX-License-Identifier: MIT */
#include "edit/jit_elf.h"

int jit_elf_write(int fd, const struct frame_jit_code *code, const struct jit_debug *debug,
        uint8_t id[JIT_ELF_ID], struct error *err)
{
	(void)fd;
	(void)code;
	(void)debug;
	memset(id, 0, JIT_ELF_ID);
	return error_set(err, SONDE_EUNSUPPORTED, NO_OFFSET,
	        "ELF files of JIT-compiled code need libelf, which this build lacks; reports read "
	        "jitdump files without them");
}
