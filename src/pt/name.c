/* SPDX-License-Identifier: MIT */
/* Names of packets and texts of errors. */
#include <sonde/pt_packet.h>

const char *sonde_pt_kind_name(int kind)
{
	static const char *const names[SONDE_PT_KINDS] = {
	        [SONDE_PT_PAD] = "pad",
	        [SONDE_PT_TNT8] = "tnt.8",
	        [SONDE_PT_TNT64] = "tnt.64",
	        [SONDE_PT_TIP] = "tip",
	        [SONDE_PT_TIP_PGE] = "tip.pge",
	        [SONDE_PT_TIP_PGD] = "tip.pgd",
	        [SONDE_PT_FUP] = "fup",
	        [SONDE_PT_PIP] = "pip",
	        [SONDE_PT_MODE_EXEC] = "mode.exec",
	        [SONDE_PT_MODE_TSX] = "mode.tsx",
	        [SONDE_PT_STOP] = "stop",
	        [SONDE_PT_CBR] = "cbr",
	        [SONDE_PT_TSC] = "tsc",
	        [SONDE_PT_TMA] = "tma",
	        [SONDE_PT_MTC] = "mtc",
	        [SONDE_PT_CYC] = "cyc",
	        [SONDE_PT_VMCS] = "vmcs",
	        [SONDE_PT_OVF] = "ovf",
	        [SONDE_PT_PSB] = "psb",
	        [SONDE_PT_PSBEND] = "psbend",
	        [SONDE_PT_MNT] = "mnt",
	        [SONDE_PT_EXSTOP] = "exstop",
	        [SONDE_PT_MWAIT] = "mwait",
	        [SONDE_PT_PWRE] = "pwre",
	        [SONDE_PT_PWRX] = "pwrx",
	        [SONDE_PT_PTW] = "ptw",
	        [SONDE_PT_CFE] = "cfe",
	        [SONDE_PT_EVD] = "evd",
	        [SONDE_PT_TRIG] = "trig",
	        [SONDE_PT_BBP] = "bbp",
	        [SONDE_PT_BIP] = "bip",
	        [SONDE_PT_BEP] = "bep",
	};

	return kind >= 0 && kind < SONDE_PT_KINDS ? names[kind] : "?";
}

const char *sonde_pt_error_text(int error)
{
	static const char *const texts[SONDE_PT_ERRORS] = {
	        [SONDE_PT_ERROR_NONE] = "no error",
	        [SONDE_PT_ERROR_OPCODE] = "unknown opcode",
	        [SONDE_PT_ERROR_PACKET] = "unknown packet",
	        [SONDE_PT_ERROR_TRUNCATED] = "truncated packet",
	        [SONDE_PT_ERROR_NO_TIME] = "no timing information",
	        [SONDE_PT_ERROR_NO_CALIBRATION] = "no calibration",
	        [SONDE_PT_ERROR_UNKNOWN_CPU] = "unknown cpu",
	        [SONDE_PT_ERROR_NO_MEMORY] = "no memory mapped at this address",
	        [SONDE_PT_ERROR_INSN] = "unknown instruction",
	        [SONDE_PT_ERROR_QUERY] = "trace stream does not match query",
	        [SONDE_PT_ERROR_CONTEXT] = "unexpected packet context",
	        [SONDE_PT_ERROR_STATUS] = "bad status update",
	        [SONDE_PT_ERROR_RETURN] = "return without a call",
	        [SONDE_PT_ERROR_LOOP] = "endless loop without packets",
	};

	return error >= 0 && error < SONDE_PT_ERRORS ? texts[error] : "?";
}

/* Types of control flow events; Intel SDM, "CFE packet definition". */
static const struct cfe {
	const char *name;
	bool vector;
} cfes[] = {
        [1] = {"intr", true},
        [2] = {"iret", false},
        [3] = {"smi", false},
        [4] = {"rsm", false},
        [5] = {"sipi", true},
        [6] = {"init", false},
        [7] = {"vmentry", false},
        [8] = {"vmexit", false},
        [9] = {"vmexit_intr", true},
        [10] = {"shutdown", false},
        [12] = {"uintr", true},
        [13] = {"uiret", false},
        [14] = {"swintr", true},
        [15] = {"syscall", false},
};

const char *sonde_pt_cfe_name(unsigned type)
{
	return type < sizeof(cfes) / sizeof(cfes[0]) ? cfes[type].name : NULL;
}

bool sonde_pt_cfe_has_vector(unsigned type)
{
	return type < sizeof(cfes) / sizeof(cfes[0]) && cfes[type].vector;
}

const char *sonde_pt_evd_name(unsigned type)
{
	static const char *const names[] = {"cr2", "vmxq", "vmxr"};

	return type < sizeof(names) / sizeof(names[0]) ? names[type] : NULL;
}
