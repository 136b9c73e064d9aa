/* SPDX-License-Identifier: MIT */
/*
 * Intel Processor Trace: reads and writes the packets of a raw trace, and computes their time.
 *
 * The source of the trace does not matter. Formats: Intel SDM, volume 3, chapter "Intel Processor
 * Trace".
 */
#ifndef SONDE_INCLUDE_PT_PACKET_H
#define SONDE_INCLUDE_PT_PACKET_H

#include <sonde/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Kinds of packets, with the fields of struct sonde_pt_packet that each uses; the other fields are 0.
 */
enum sonde_pt_kind {
	SONDE_PT_PAD = 0,
	SONDE_PT_TNT8, /* count bits; value: the oldest is bit count - 1, 1 is taken */
	SONDE_PT_TNT64, /* the same, up to 47 bits */
	SONDE_PT_TIP, /* count: IP compression (0..4, 6); value: the present bytes of the IP */
	SONDE_PT_TIP_PGE, /* as TIP: tracing starts at the IP */
	SONDE_PT_TIP_PGD, /* as TIP: tracing stops; the program continues at the IP */
	SONDE_PT_FUP, /* as TIP: address of an asynchronous event */
	SONDE_PT_PIP, /* value: CR3; flag NR: in VMX non-root operation */
	SONDE_PT_MODE_EXEC, /* value: SONDE_PT_EXEC_* */
	SONDE_PT_MODE_TSX, /* value: SONDE_PT_TSX_* */
	SONDE_PT_STOP, /* TraceStop */
	SONDE_PT_CBR, /* value: core to bus ratio */
	SONDE_PT_TSC, /* value: 56 bits of the time stamp counter */
	SONDE_PT_TMA, /* value: 16 bits of the crystal clock, extra: 9 bits of the fast counter */
	SONDE_PT_MTC, /* value: 8 bits of the crystal clock */
	SONDE_PT_CYC, /* value: core cycles since the last CYC */
	SONDE_PT_VMCS, /* value: base of the VM control structure */
	SONDE_PT_OVF,
	SONDE_PT_PSB,
	SONDE_PT_PSBEND,
	SONDE_PT_MNT, /* value: 64 bits, model-specific */
	SONDE_PT_EXSTOP, /* flag IP: a FUP follows */
	SONDE_PT_MWAIT, /* value: hints, extra: extensions */
	SONDE_PT_PWRE, /* value: C-state, extra: sub C-state; flag HW */
	SONDE_PT_PWRX, /* value: last core C-state, extra: deepest; count: SONDE_PT_WAKE_* */
	SONDE_PT_PTW, /* count: 0 for 4 bytes, 1 for 8; value: the payload; flag IP */
	SONDE_PT_CFE, /* count: type, value: vector; flag IP */
	SONDE_PT_EVD, /* count: type, value: payload */
	SONDE_PT_TRIG, /* value: trigger bits, extra: instruction count; flags IP, MULT, ICNT */
	SONDE_PT_BBP, /* count: type of block, value: bytes of a BIP's payload (4 or 8) */
	SONDE_PT_BIP, /* count: id, value: payload, extra: bytes of it (4 or 8) */
	SONDE_PT_BEP, /* flag IP */
	SONDE_PT_KINDS
};

#define SONDE_PT_F_IP   1u /* a FUP with the instruction's address follows */
#define SONDE_PT_F_HW   2u /* PWRE: requested by hardware */
#define SONDE_PT_F_NR   4u /* PIP: non-root */
#define SONDE_PT_F_MULT 8u /* TRIG: further triggers were merged */
#define SONDE_PT_F_ICNT 16u /* TRIG: has an instruction count */
#define SONDE_PT_F_BAD  32u /* TMA: wrong because of erratum SKZ84, without fields */

#define SONDE_PT_EXEC_CS_L 1u
#define SONDE_PT_EXEC_CS_D 2u
#define SONDE_PT_EXEC_IF   4u
#define SONDE_PT_TSX_IN    1u
#define SONDE_PT_TSX_ABORT 2u

#define SONDE_PT_WAKE_INTERRUPT 1u
#define SONDE_PT_WAKE_STORE     4u
#define SONDE_PT_WAKE_HW        8u

#define SONDE_PT_PACKET_MAX 16 /* bytes of the longest packet, PSB */

/* This struct does not grow: callers pass it to the encoder, too. */
struct sonde_pt_packet {
	uint64_t offset; /* in the trace, in bytes */
	uint64_t value;
	uint64_t extra;
	uint8_t kind; /* enum sonde_pt_kind */
	uint8_t size; /* bytes */
	uint8_t count;
	uint8_t flags; /* SONDE_PT_F_* */
};

/* Errors in a trace, or in following it. */
enum sonde_pt_error {
	SONDE_PT_ERROR_NONE = 0,
	SONDE_PT_ERROR_OPCODE, /* no packet begins with these bytes */
	SONDE_PT_ERROR_PACKET, /* the packet has invalid contents */
	SONDE_PT_ERROR_TRUNCATED, /* the trace ends inside a packet */
	SONDE_PT_ERROR_NO_TIME, /* no packet has had a time, or the speed of the core */
	SONDE_PT_ERROR_NO_CALIBRATION, /* cycles cannot be converted to time yet */
	SONDE_PT_ERROR_UNKNOWN_CPU,
	SONDE_PT_ERROR_NO_MEMORY, /* there is no code at the address */
	SONDE_PT_ERROR_INSN, /* the code at the address is not an instruction */
	SONDE_PT_ERROR_QUERY, /* the packet does not match the code */
	SONDE_PT_ERROR_CONTEXT, /* the packet cannot follow the packets before it */
	SONDE_PT_ERROR_STATUS, /* a PSB contradicts the packets before it */
	SONDE_PT_ERROR_RETURN, /* a compressed return without its call in the trace */
	SONDE_PT_ERROR_LOOP, /* the code would run for ever without a packet */
	SONDE_PT_ERRORS
};

/* A short English text for an enum sonde_pt_error; static, never NULL. */
SONDE_API const char *sonde_pt_error_text(int error);

/* The name of a kind of packet in listings ("tip.pge"); static, never NULL. */
SONDE_API const char *sonde_pt_kind_name(int kind);

/* Names of the types of CFE and EVD ("iret", "cr2"); static; NULL: unknown type. */
SONDE_API const char *sonde_pt_cfe_name(unsigned type);
SONDE_API const char *sonde_pt_evd_name(unsigned type);

/* Whether a CFE of this type has a vector. */
SONDE_API bool sonde_pt_cfe_has_vector(unsigned type);

/* A processor model, for its errata. */
struct sonde_pt_cpu {
	uint16_t family; /* both 0: unknown, no errata */
	uint8_t model;
};

/* Reads the packets of a trace. */
struct sonde_pt_packets;

/*
 * Returns a reader for a trace of n bytes, at offset 0. The bytes belong to the caller and must live
 * as long as the reader. cpu may be NULL: no errata. NULL: out of memory.
 */
SONDE_API struct sonde_pt_packets *sonde_pt_packets_new(
        const void *data, size_t n, const struct sonde_pt_cpu *cpu);
SONDE_API void sonde_pt_packets_free(struct sonde_pt_packets *packets); /* NULL is fine */

/*
 * Reads the next packet. 1: *out is set; 0: end; SONDE_EFORMAT: the bytes are not a packet, and
 * sonde_pt_packets_error has the reason; the reader does not move until sync or seek.
 */
SONDE_API int sonde_pt_packets_next(struct sonde_pt_packets *packets, struct sonde_pt_packet *out);

/*
 * Moves to the first PSB at or after the reader's offset. After a failure of sonde_pt_packets_next,
 * also to a PSB whose first bytes were read as part of the packet before. 1; 0: there is none.
 */
SONDE_API int sonde_pt_packets_sync(struct sonde_pt_packets *packets);

/* The offset of the next packet, in bytes; seek accepts any offset up to the size. */
SONDE_API uint64_t sonde_pt_packets_offset(const struct sonde_pt_packets *packets);
SONDE_API void sonde_pt_packets_seek(struct sonde_pt_packets *packets, uint64_t offset);

/* The reason, of enum sonde_pt_error, why the last sonde_pt_packets_next failed. */
SONDE_API int sonde_pt_packets_error(const struct sonde_pt_packets *packets);

/*
 * Computes the address of an IP packet (TIP, PGE, PGD, FUP) from the last IP, *last, and stores it
 * there. false: the packet has no IP. The caller sets *last to 0 at PSB and OVF.
 */
SONDE_API bool sonde_pt_packet_ip(const struct sonde_pt_packet *packet, uint64_t *last);

/*
 * Writes the bytes of a packet to out, which has SONDE_PT_PACKET_MAX bytes, from its fields (size and
 * offset are ignored). Returns their number; 0: the fields are not those of a packet.
 */
SONDE_API size_t sonde_pt_packet_encode(const struct sonde_pt_packet *packet, uint8_t *out);

/*
 * Encodes packets: packs branches into TNT packets, and compresses IPs. Pending branches are written
 * before any other packet.
 */
struct sonde_pt_encoder;

/* With long_tnt, 7 and more pending branches become a 64-bit TNT. NULL: out of memory. */
SONDE_API struct sonde_pt_encoder *sonde_pt_encoder_new(bool long_tnt);
SONDE_API void sonde_pt_encoder_free(struct sonde_pt_encoder *encoder); /* NULL is fine */

/* Adds a conditional branch or compressed return. 0 or SONDE_ENOMEM. */
SONDE_API int sonde_pt_encoder_tnt(struct sonde_pt_encoder *encoder, bool taken);

/* Adds a TIP, TIP_PGE, TIP_PGD or FUP with a compressed IP. 0, SONDE_EARG, SONDE_ENOMEM. */
SONDE_API int sonde_pt_encoder_ip(struct sonde_pt_encoder *encoder, int kind, uint64_t ip);

/* Adds any packet, unchanged; PSB and OVF reset the last IP. 0, SONDE_EARG, SONDE_ENOMEM. */
SONDE_API int sonde_pt_encoder_packet(
        struct sonde_pt_encoder *encoder, const struct sonde_pt_packet *packet);

/*
 * Writes pending branches, and returns all bytes so far; they are valid until the next call for this
 * encoder. 0 or SONDE_ENOMEM.
 */
SONDE_API int sonde_pt_encoder_bytes(
        struct sonde_pt_encoder *encoder, const uint8_t **bytes, size_t *n);

/* Relations between the clocks of a traced processor. 0: unknown. */
struct sonde_pt_clock {
	struct sonde_pt_cpu cpu;
	uint32_t tsc_ratio_numerator; /* CPUID 15H EBX: TSC ticks ... */
	uint32_t tsc_ratio_denominator; /* ... to crystal ticks, EAX */
	uint32_t nominal_ratio; /* the ratio (as CBR counts) at which core cycles are TSC ticks */
	uint8_t mtc_shift; /* RTIT_CTL.MTCFreq: a MTC every 2^n crystal ticks */
	bool keep_calibration; /* keep the calibration after an overflow */
	bool no_calibration; /* use only CBR for the speed of the core */
};

/* Time from packets. `own` is private to the library. This struct does not grow: own has room. */
struct sonde_pt_time {
	struct sonde_pt_clock clock;
	uint64_t tsc; /* the best estimate, in TSC ticks; see has_tsc */
	uint64_t exact; /* the tsc at the last TSC or MTC packet */
	uint64_t cycles; /* core cycles so far: from CYC packets; before the first one,
	                    estimated from TSC and MTC packets and the speed */
	uint64_t speed; /* TSC ticks per core cycle, times 2^16; 0: unknown */
	uint64_t lost_mtc, lost_cyc; /* number of packets that could not be used */
	uint32_t cbr; /* the last CBR; 0: none */
	bool has_cyc; /* after the first CYC packet: cycles are exact from there on */
	bool has_tsc; /* after the first TSC packet: tsc is the machine's counter, not only a sum */
	struct {
		uint64_t cycle_base; /* the tsc from which cycles are counted on ... */
		uint64_t fast; /* ... and what they added, times 2^16 */
		uint64_t ctc_base; /* the tsc at the crystal tick from which MTCs are counted */
		uint64_t ctc_ticks; /* crystal ticks since then */
		uint64_t mtc_tsc; /* the tsc at the last MTC */
		uint64_t interval_ticks, interval_cycles; /* for calibration by MTC */
		uint64_t tsc_before, tsc_cycles; /* by TSC: the last one, and cycles since */
		uint32_t ctc; /* the crystal clock as of the last TMA or MTC */
		uint32_t ctc_mask; /* the bits of it that are known */
		uint8_t mtc; /* the last MTC */
		bool has_ctc, has_mtc, cycled;
		bool has_before, in_psb;
		uint64_t room[2]; /* for later versions */
	} own;
};

/* Initialises *time; clock may be NULL: nothing is known. */
SONDE_API void sonde_pt_time_init(struct sonde_pt_time *time, const struct sonde_pt_clock *clock);

/*
 * Updates the time from a packet; kinds without a time are ignored. SONDE_PT_ERROR_NONE, or
 * SONDE_PT_ERROR_NO_CALIBRATION: cycles could not be used.
 */
SONDE_API int sonde_pt_time_packet(
        struct sonde_pt_time *time, const struct sonde_pt_packet *packet);

#ifdef __cplusplus
}
#endif

#endif
