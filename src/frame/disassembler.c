/* SPDX-License-Identifier: MIT */
/* Instructions of other processors than x86 as text, by capstone. */
#include "frame/disassembler.h"

#include <capstone/capstone.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

struct frame_disassembler {
	csh handle;
	cs_insn *insn; /* room for one */
	const struct machine *machine;
};

/* Jumps and calls with a fixed target have it as their last operand. */
static bool arm64_target(csh handle, const cs_insn *insn, uint64_t *out)
{
	const cs_arm64 *code = &insn->detail->arm64;
	bool jumps = cs_insn_group(handle, insn, CS_GRP_JUMP) ||
	             cs_insn_group(handle, insn, CS_GRP_CALL) ||
	             cs_insn_group(handle, insn, CS_GRP_BRANCH_RELATIVE);

	if (!jumps || code->op_count == 0 ||
	        code->operands[code->op_count - 1].type != ARM64_OP_IMM) {
		return false;
	}
	*out = (uint64_t)code->operands[code->op_count - 1].imm;
	return true;
}

/* By name: capstone 4 has no groups for these. */
static bool s390_target(csh handle, const cs_insn *insn, uint64_t *out)
{
	const cs_sysz *code = &insn->detail->sysz;
	bool jumps = insn->mnemonic[0] == 'j' || strncmp(insn->mnemonic, "bras", 4) == 0;

	(void)handle;
	if (!jumps || code->op_count == 0 ||
	        code->operands[code->op_count - 1].type != SYSZ_OP_IMM) {
		return false;
	}
	*out = (uint64_t)code->operands[code->op_count - 1].imm;
	return true;
}

static const struct machine {
	uint16_t number; /* e_machine */
	uint8_t step; /* bytes of what is no instruction */
	cs_arch arch;
	cs_mode mode;
	/* false: the instruction has no fixed target */
	bool (*target)(csh handle, const cs_insn *insn, uint64_t *out);
} machines[] = {
        {EM_AARCH64, 4, CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, arm64_target},
        {EM_S390, 2, CS_ARCH_SYSZ, CS_MODE_BIG_ENDIAN, s390_target},
};

static const struct machine *find_machine(const struct frame_code_kind *kind)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		if (machines[i].number == kind->machine && kind->is64) {
			return &machines[i];
		}
	}
	return NULL;
}

int frame_disassembler_new(const struct frame_code_kind *kind, struct frame_disassembler **out)
{
	const struct machine *machine = find_machine(kind);
	struct frame_disassembler *d;
	cs_err error;

	*out = NULL;
	if (machine == NULL || !cs_support((int)machine->arch)) {
		return 0;
	}
	d = calloc(1, sizeof(*d));
	if (d == NULL) {
		return SONDE_ENOMEM;
	}
	d->machine = machine;
	error = cs_open(machine->arch, machine->mode, &d->handle);
	if (error == CS_ERR_OK) {
		error = cs_option(d->handle, CS_OPT_DETAIL, CS_OPT_ON);
		d->insn = error == CS_ERR_OK ? cs_malloc(d->handle) : NULL;
	}
	if (d->insn == NULL) {
		frame_disassembler_free(d);
		return SONDE_ENOMEM;
	}
	*out = d;
	return 0;
}

void frame_disassembler_free(struct frame_disassembler *d)
{
	if (d == NULL) {
		return;
	}
	if (d->insn != NULL) {
		cs_free(d->insn, 1);
	}
	(void)cs_close(&d->handle);
	free(d);
}

bool frame_disassembler_read(struct frame_disassembler *d, uint64_t ip, struct span code,
        struct text *out, struct frame_disassembled *insn)
{
	const uint8_t *p = code.p;
	size_t n = code.n;

	if (!cs_disasm_iter(d->handle, &p, &n, &ip, d->insn)) {
		*insn = (struct frame_disassembled){
		        .size = (uint8_t)(code.n < d->machine->step ? code.n : d->machine->step)};
		return false;
	}
	*insn = (struct frame_disassembled){.size = (uint8_t)d->insn->size};
	insn->direct = d->machine->target(d->handle, d->insn, &insn->target);
	text_str(out, d->insn->mnemonic);
	if (d->insn->op_str[0] != '\0') {
		text_char(out, ' ');
		text_str(out, d->insn->op_str);
	}
	return true;
}
