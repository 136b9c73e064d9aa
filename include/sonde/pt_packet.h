/* SPDX-License-Identifier: MIT */
/*
 * Intel Processor Trace: the packets of a raw trace, read and written, and the time that they carry.
 *
 * Bytes in, packets out: nothing here knows where the trace came from. The formats are those of the
 * Intel SDM, volume 3, chapter "Intel Processor Trace".
 */
#ifndef SONDE_INCLUDE_PT_PACKET_H
#define SONDE_INCLUDE_PT_PACKET_H

#include <sonde/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The packets. What the fields of struct sonde_pt_packet hold is written after
 * each; a field that is not named is 0.
 */
enum sonde_pt_kind {
	SONDE_PT_PAD = 0,
	SONDE_PT_TNT8, /* count bits; value: the oldest is bit count - 1, 1 is taken */
	SONDE_PT_TNT64, /* the same, up to 47 bits */
	SONDE_PT_TIP, /* count: IP compression (0..4, 6); value: the bytes of the IP that are there
	               */
	SONDE_PT_TIP_PGE, /* as TIP: tracing starts at */
	SONDE_PT_TIP_PGD, /* as TIP: tracing goes off; the IP is where code went on */
	SONDE_PT_FUP, /* as TIP: where an asynchronous event happened */
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
	SONDE_PT_MNT, /* value: 64 bits that the model defines */
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
#define SONDE_PT_F_HW   2u /* PWRE: asked for by hardware */
#define SONDE_PT_F_NR   4u /* PIP: non-root */
#define SONDE_PT_F_MULT 8u /* TRIG: further triggers were merged */
#define SONDE_PT_F_ICNT 16u /* TRIG: has an instruction count */
#define SONDE_PT_F_BAD  32u /* TMA: known to be wrong (erratum SKZ84), without fields */

#define SONDE_PT_EXEC_CS_L 1u
#define SONDE_PT_EXEC_CS_D 2u
#define SONDE_PT_EXEC_IF   4u
#define SONDE_PT_TSX_IN    1u
#define SONDE_PT_TSX_ABORT 2u

#define SONDE_PT_WAKE_INTERRUPT 1u
#define SONDE_PT_WAKE_STORE     4u
#define SONDE_PT_WAKE_HW        8u

#define SONDE_PT_PACKET_MAX 16 /* bytes of the longest packet, PSB */

/* This struct does not grow: callers give it to the encoder, too. */
struct sonde_pt_packet {
	uint64_t offset; /* in the trace, in bytes */
	uint64_t value;
	uint64_t extra;
	uint8_t kind; /* enum sonde_pt_kind */
	uint8_t size; /* bytes */
	uint8_t count;
	uint8_t flags; /* SONDE_PT_F_* */
};

/* What is wrong with a trace, or with following it. */
enum sonde_pt_error {
	SONDE_PT_ERROR_NONE = 0,
	SONDE_PT_ERROR_OPCODE, /* no packet begins with these bytes */
	SONDE_PT_ERROR_PACKET, /* the packet is known, its contents are not */
	SONDE_PT_ERROR_TRUNCATED, /* the trace ends inside a packet */
	SONDE_PT_ERROR_NO_TIME, /* no packet had the time, or the speed of the core */
	SONDE_PT_ERROR_NO_CALIBRATION, /* cycles cannot be made into time yet */
	SONDE_PT_ERROR_UNKNOWN_CPU,
	SONDE_PT_ERROR_NO_MEMORY, /* there is no code at the address */
	SONDE_PT_ERROR_INSN, /* the code at the address is no instruction */
	SONDE_PT_ERROR_QUERY, /* the packet does not fit the code */
	SONDE_PT_ERROR_CONTEXT, /* the packet cannot follow those before it */
	SONDE_PT_ERROR_STATUS, /* a PSB says something else than the packets before it */
	SONDE_PT_ERROR_RETURN, /* a return was compressed, but its call was not seen */
	SONDE_PT_ERROR_LOOP, /* the code would run for ever without a packet */
	SONDE_PT_ERRORS
};

/* A short English text for an enum sonde_pt_error; static, never NULL. */
SONDE_API const char *sonde_pt_error_text(int error);

/* The name of a kind of packet in listings ("tip.pge"); static, never NULL. */
SONDE_API const char *sonde_pt_kind_name(int kind);

/* Names of the types of CFE and EVD ("iret", "cr2"); static, NULL when the type is not known. */
SONDE_API const char *sonde_pt_cfe_name(unsigned type);
SONDE_API const char *sonde_pt_evd_name(unsigned type);

/* Whether a CFE of this type has a vector. */
SONDE_API bool sonde_pt_cfe_has_vector(unsigned type);

/* A processor, as far as its known errata change how a trace is read. */
struct sonde_pt_cpu {
	uint16_t family; /* both 0: not known, no errata are worked around */
	uint8_t model;
};

/* The packets of a trace, by pull. */
struct sonde_pt_packets;

/*
 * A reader of the n bytes at data, which stay the caller's and must live as long as the reader.
 * It begins at offset 0. cpu may be NULL: no errata are worked around. NULL: no memory.
 */
SONDE_API struct sonde_pt_packets *sonde_pt_packets_new(
        const void *data, size_t n, const struct sonde_pt_cpu *cpu);
SONDE_API void sonde_pt_packets_free(struct sonde_pt_packets *packets); /* NULL is fine */

/*
 * The next packet: 1 and *out is set; 0 at the end; SONDE_EFORMAT when the bytes are no packet,
 * with the reason in sonde_pt_packets_error; the reader then stays where it is until sync or seek.
 */
SONDE_API int sonde_pt_packets_next(struct sonde_pt_packets *packets, struct sonde_pt_packet *out);

/* Moves to the first PSB at or after the offset of the reader: 1, or 0 when there is none. */
SONDE_API int sonde_pt_packets_sync(struct sonde_pt_packets *packets);

/* Where the next packet is read, in bytes; seek takes any offset up to the size. */
SONDE_API uint64_t sonde_pt_packets_offset(const struct sonde_pt_packets *packets);
SONDE_API void sonde_pt_packets_seek(struct sonde_pt_packets *packets, uint64_t offset);

/* Why the last next failed: enum sonde_pt_error. */
SONDE_API int sonde_pt_packets_error(const struct sonde_pt_packets *packets);

/*
 * The address that an IP packet (TIP, PGE, PGD, FUP) means when *last is the last IP, which it
 * updates. false: the packet has no IP. PSB and OVF set the last IP to 0; that is the caller's part.
 */
SONDE_API bool sonde_pt_packet_ip(const struct sonde_pt_packet *packet, uint64_t *last);

/*
 * The bytes of one packet, from its fields (size and offset are not looked at). Returns how many of
 * the at most SONDE_PT_PACKET_MAX bytes at out were written; 0 when the fields do not make a
 * packet.
 */
SONDE_API size_t sonde_pt_packet_encode(const struct sonde_pt_packet *packet, uint8_t *out);

/*
 * An encoder packs branches into TNT packets, compresses IPs against the last one, and puts what it
 * is given in the right order: branches that are pending come before any other packet.
 */
struct sonde_pt_encoder;

/* With long_tnt, 7 and more pending branches become a 64-bit TNT. NULL: no memory. */
SONDE_API struct sonde_pt_encoder *sonde_pt_encoder_new(bool long_tnt);
SONDE_API void sonde_pt_encoder_free(struct sonde_pt_encoder *encoder); /* NULL is fine */

/* One more conditional branch or compressed return. 0 or SONDE_ENOMEM. */
SONDE_API int sonde_pt_encoder_tnt(struct sonde_pt_encoder *encoder, bool taken);

/* TIP, TIP_PGE, TIP_PGD or FUP with as few bytes as ip needs. 0, SONDE_EARG, SONDE_ENOMEM. */
SONDE_API int sonde_pt_encoder_ip(struct sonde_pt_encoder *encoder, int kind, uint64_t ip);

/* Any packet as it is; PSB and OVF forget the last IP. 0, SONDE_EARG, SONDE_ENOMEM. */
SONDE_API int sonde_pt_encoder_packet(
        struct sonde_pt_encoder *encoder, const struct sonde_pt_packet *packet);

/*
 * Writes pending branches and gives all bytes so far; they live until the next call with this
 * encoder. 0 or SONDE_ENOMEM.
 */
SONDE_API int sonde_pt_encoder_bytes(
        struct sonde_pt_encoder *encoder, const uint8_t **bytes, size_t *n);

/* How the clocks of a traced processor relate. What is not known is 0. */
struct sonde_pt_clock {
	struct sonde_pt_cpu cpu;
	uint32_t tsc_ratio_numerator; /* CPUID 15H EBX: TSC ticks ... */
	uint32_t tsc_ratio_denominator; /* ... to crystal ticks, EAX */
	uint32_t nominal_ratio; /* the ratio (as CBR counts) at which core cycles are TSC ticks */
	uint8_t mtc_shift; /* RTIT_CTL.MTCFreq: a MTC every 2^n crystal ticks */
	bool keep_calibration; /* an overflow does not spoil the calibration */
	bool no_calibration; /* take only CBR for the speed of the core */
};

/* Follows the packets that give the time. `own` is the library's. This struct does not grow: own has
 * room. */
struct sonde_pt_time {
	struct sonde_pt_clock clock;
	uint64_t tsc; /* the best estimate, in TSC ticks; see has_tsc */
	uint64_t exact; /* the tsc at the last TSC or MTC packet */
	uint64_t cycles; /* core cycles so far: those of CYC packets; as long as there was
	                    none, what TSC and MTC packets and the speed make of it */
	uint64_t speed; /* TSC ticks a core cycle, times 2^16; 0: not known */
	uint64_t lost_mtc, lost_cyc; /* packets that could not be used */
	uint32_t cbr; /* the last CBR; 0: none */
	bool has_cyc; /* a CYC packet was there: cycles are exact from there on */
	bool has_tsc; /* a TSC packet was there: tsc is the machine's counter, not just a sum */
	struct {
		uint64_t cycle_base; /* the tsc from which cycles are counted on ... */
		uint64_t fast; /* ... and what they added, times 2^16 */
		uint64_t ctc_base; /* the tsc at the crystal tick from which MTCs are counted */
		uint64_t ctc_ticks; /* crystal ticks since then */
		uint64_t mtc_tsc; /* the tsc at the last MTC */
		uint64_t interval_ticks, interval_cycles; /* for calibration */
		uint32_t ctc; /* the crystal clock as of the last TMA or MTC */
		uint32_t ctc_mask; /* the bits of it that are known */
		uint8_t mtc; /* the last MTC */
		bool has_ctc, has_mtc, cycled;
		uint64_t room[4]; /* for later versions */
	} own;
};

/* Makes *time ready; clock may be NULL when nothing is known. */
SONDE_API void sonde_pt_time_init(struct sonde_pt_time *time, const struct sonde_pt_clock *clock);

/*
 * Takes a packet; kinds without a time are skipped. SONDE_PT_ERROR_NONE, or
 * SONDE_PT_ERROR_NO_CALIBRATION when cycles could not be used.
 */
SONDE_API int sonde_pt_time_packet(
        struct sonde_pt_time *time, const struct sonde_pt_packet *packet);

#ifdef __cplusplus
}
#endif

#endif
