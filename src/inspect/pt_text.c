/* SPDX-License-Identifier: MIT */
/*
 * A line a packet,
 *
 *	.  00000010:  19 00 c0 f6 62 d5 01 00                         TSC 0x1d562f6c000
 *	0  3          14                                              62
 *
 * with the offset in the record, its bytes and its fields. Zeros after a packet are part of its line
 * up to 8 bytes, as in perf; so are a run of PADs.
 *
 * Packets are those of pt/packet.c, except where perf decides otherwise (`strict`, `loose`): the text
 * must be equal for damaged bytes, too, so that listings of both tools can be compared.
 */
#include "inspect/pt_text.h"

#include "core/span.h"

#define BYTES_AT    14 /* column of the first byte */
#define NAME_AT     62 /* column of the packet's name */
#define LONGEST_CYC 10 /* bytes */
#define FILLED      8 /* zeros after a packet belong to its line up to this size */

static const char digits[] = "0123456789abcdef";

/* ---- pieces of a line; each returns the end ---- */

static char *put(char *p, const char *s)
{
	while (*s != '\0') {
		*p++ = *s++;
	}
	return p;
}

static char *put_0x(char *p, uint64_t v)
{
	unsigned n = v != 0 ? (67u - (unsigned)__builtin_clzll(v)) / 4 : 1;

	*p++ = '0';
	*p++ = 'x';
	for (unsigned i = n; i-- > 0; v >>= 4) {
		p[i] = digits[v & 15];
	}
	return p + n;
}

static char *put_dec(char *p, unsigned v)
{
	if (v >= 10) {
		*p++ = (char)('0' + v / 10 % 10);
	}
	*p++ = (char)('0' + v % 10);
	return p;
}

/* A name and a number of two hexadecimal digits. */
static char *put_0x2(char *p, const char *name, unsigned v)
{
	p = put(put(p, name), "0x");
	*p++ = digits[v >> 4 & 15];
	*p++ = digits[v & 15];
	return p;
}

static char *put_named(char *p, const char *name, uint64_t v)
{
	return put_0x(put(p, name), v);
}

static char *put_flag(char *p, const char *name, bool flag)
{
	p = put(p, name);
	*p++ = flag ? '1' : '0';
	return p;
}

static void put_offset(char *line, uint64_t at)
{
	for (unsigned i = 8; i-- > 0; at >>= 4) {
		line[3 + i] = digits[at & 15];
	}
}

/* Everything before the packet's name, except the offset. */
static char *put_bytes(char *line, const uint8_t *bytes, unsigned n)
{
	memset(line, ' ', NAME_AT);
	line[0] = '.';
	line[11] = ':';
	for (unsigned i = 0; i < n; i++) {
		line[BYTES_AT + 3 * i] = digits[bytes[i] >> 4];
		line[BYTES_AT + 3 * i + 1] = digits[bytes[i] & 15];
	}
	return line + NAME_AT;
}

/* ---- fields by kind; b: the packet's bytes ---- */

static char *put_tnt(char *p, const struct sonde_pt_packet *packet, const uint8_t *b)
{
	(void)b;
	p = put(p, "TNT ");
	for (unsigned i = packet->count; i-- > 0;) {
		*p++ = packet->value >> i & 1 ? 'T' : 'N';
	}
	p = put_dec(put(p, " ("), packet->count);
	*p++ = ')';
	return p;
}

static char *put_ip(char *p, const struct sonde_pt_packet *packet, const uint8_t *b)
{
	static const char *const names[SONDE_PT_KINDS] = {
	        [SONDE_PT_TIP] = "TIP ",
	        [SONDE_PT_TIP_PGE] = "TIP.PGE ",
	        [SONDE_PT_TIP_PGD] = "TIP.PGD ",
	        [SONDE_PT_FUP] = "FUP ",
	};

	(void)b;
	p = put(p, names[packet->kind]);
	return packet->count == 0 ? put(p, "no ip") : put_0x(p, packet->value);
}

static char *put_pip(char *p, const struct sonde_pt_packet *packet, const uint8_t *b)
{
	(void)b;
	p = put_flag(put_named(p, "PIP ", packet->value >> 5),
	        " (NR=", (packet->flags & SONDE_PT_F_NR) != 0);
	*p++ = ')';
	return p;
}

static char *put_mode_exec(char *p, const struct sonde_pt_packet *packet, const uint8_t *b)
{
	const char *mode = packet->value & SONDE_PT_EXEC_CS_L   ? " 64"
	                   : packet->value & SONDE_PT_EXEC_CS_D ? " 32"
	                                                        : " 16";

	(void)b;
	return put(put_flag(p, "MODE.Exec IF:", (packet->value & SONDE_PT_EXEC_IF) != 0), mode);
}

static char *put_mode_tsx(char *p, const struct sonde_pt_packet *packet, const uint8_t *b)
{
	(void)b;
	p = put_flag(p, "MODE.TSX TXAbort:", (packet->value & SONDE_PT_TSX_ABORT) != 0);
	return put_flag(p, " InTX:", (packet->value & SONDE_PT_TSX_IN) != 0);
}

/* perf prints 16 bits, of which 8 are the ratio. */
static char *put_cbr(char *p, const struct sonde_pt_packet *packet, const uint8_t *b)
{
	(void)packet;
	return put_named(p, "CBR ", b[2] | (unsigned)b[3] << 8);
}

static char *put_tma(char *p, const struct sonde_pt_packet *packet, const uint8_t *b)
{
	(void)b;
	return put_named(put_named(p, "TMA CTC ", packet->value), " FC ", packet->extra);
}

static char *put_vmcs(char *p, const struct sonde_pt_packet *packet, const uint8_t *b)
{
	(void)b;
	return put_named(p, "VMCS ", packet->value >> 12);
}

/* Packets that are a name and one number. */
static char *put_number(char *p, const struct sonde_pt_packet *packet, const uint8_t *b)
{
	static const char *const names[SONDE_PT_KINDS] = {
	        [SONDE_PT_TSC] = "TSC ",
	        [SONDE_PT_MTC] = "MTC ",
	        [SONDE_PT_CYC] = "CYC ",
	        [SONDE_PT_MNT] = "MNT ",
	};

	(void)b;
	return put_named(p, names[packet->kind], packet->value);
}

static char *put_name(char *p, const struct sonde_pt_packet *packet, const uint8_t *b)
{
	static const char *const names[SONDE_PT_KINDS] = {
	        [SONDE_PT_PAD] = "PAD",
	        [SONDE_PT_STOP] = "TraceSTOP",
	        [SONDE_PT_OVF] = "OVF",
	        [SONDE_PT_PSB] = "PSB",
	        [SONDE_PT_PSBEND] = "PSBEND",
	};

	(void)b;
	return put(p, names[packet->kind]);
}

static char *put_exstop(char *p, const struct sonde_pt_packet *packet, const uint8_t *b)
{
	(void)b;
	return put_flag(p, "EXSTOP IP:", (packet->flags & SONDE_PT_F_IP) != 0);
}

static char *put_bep(char *p, const struct sonde_pt_packet *packet, const uint8_t *b)
{
	(void)b;
	return put_flag(p, "BEP IP:", (packet->flags & SONDE_PT_F_IP) != 0);
}

static char *put_mwait(char *p, const struct sonde_pt_packet *packet, const uint8_t *b)
{
	(void)b;
	p = put_named(p, "MWAIT ", packet->extra << 32 | packet->value);
	p = put_named(p, " Hints ", packet->value & 0xff);
	return put_named(p, " Extensions ", packet->extra & 3);
}

/* C-states are printed as they are stored, minus one. */
static char *put_pwre(char *p, const struct sonde_pt_packet *packet, const uint8_t *b)
{
	(void)packet;
	p = put_named(p, "PWRE ", b[2] | (unsigned)b[3] << 8);
	p = put_flag(p, " HW:", (b[2] & 0x80) != 0);
	p = put_dec(put(p, " CState:"), b[3] >> 4);
	return put_dec(put(p, " Sub-CState:"), b[3] & 15);
}

static char *put_pwrx(char *p, const struct sonde_pt_packet *packet, const uint8_t *b)
{
	(void)packet;
	p = put_named(p, "PWRX ", load_u32(b + 2, HOST_BIG_ENDIAN) | (uint64_t)b[6] << 32);
	p = put_dec(put(p, " Last CState:"), b[2] >> 4);
	p = put_dec(put(p, " Deepest CState:"), b[2] & 15);
	return put_named(p, " Wake Reason ", b[3] & 15);
}

static char *put_ptw(char *p, const struct sonde_pt_packet *packet, const uint8_t *b)
{
	(void)b;
	return put_flag(put_named(p, "PTWRITE ", packet->value),
	        " IP:", (packet->flags & SONDE_PT_F_IP) != 0);
}

static char *put_cfe(char *p, const struct sonde_pt_packet *packet, const uint8_t *b)
{
	(void)b;
	p = put_flag(p, "CFE IP:", (packet->flags & SONDE_PT_F_IP) != 0);
	return put_named(put_0x2(p, " Type ", packet->count), " Vector ", packet->value);
}

static char *put_evd(char *p, const struct sonde_pt_packet *packet, const uint8_t *b)
{
	(void)b;
	return put_named(put_0x2(p, "EVD Type ", packet->count), " Payload ", packet->value);
}

static char *put_bbp(char *p, const struct sonde_pt_packet *packet, const uint8_t *b)
{
	(void)b;
	p = put(p, packet->value == 4 ? "BBP SZ 4-byte Type " : "BBP SZ 8-byte Type ");
	return put_0x(p, packet->count);
}

static char *put_bip(char *p, const struct sonde_pt_packet *packet, const uint8_t *b)
{
	(void)b;
	return put_named(put_0x2(p, "BIP ID ", packet->count), " Value ", packet->value);
}

typedef char *(*put_fn)(char *p, const struct sonde_pt_packet *packet, const uint8_t *b);

static const put_fn puts_by_kind[SONDE_PT_KINDS] = {
        [SONDE_PT_PAD] = put_name,
        [SONDE_PT_TNT8] = put_tnt,
        [SONDE_PT_TNT64] = put_tnt,
        [SONDE_PT_TIP] = put_ip,
        [SONDE_PT_TIP_PGE] = put_ip,
        [SONDE_PT_TIP_PGD] = put_ip,
        [SONDE_PT_FUP] = put_ip,
        [SONDE_PT_PIP] = put_pip,
        [SONDE_PT_MODE_EXEC] = put_mode_exec,
        [SONDE_PT_MODE_TSX] = put_mode_tsx,
        [SONDE_PT_STOP] = put_name,
        [SONDE_PT_CBR] = put_cbr,
        [SONDE_PT_TSC] = put_number,
        [SONDE_PT_TMA] = put_tma,
        [SONDE_PT_MTC] = put_number,
        [SONDE_PT_CYC] = put_number,
        [SONDE_PT_VMCS] = put_vmcs,
        [SONDE_PT_OVF] = put_name,
        [SONDE_PT_PSB] = put_name,
        [SONDE_PT_PSBEND] = put_name,
        [SONDE_PT_MNT] = put_number,
        [SONDE_PT_EXSTOP] = put_exstop,
        [SONDE_PT_MWAIT] = put_mwait,
        [SONDE_PT_PWRE] = put_pwre,
        [SONDE_PT_PWRX] = put_pwrx,
        [SONDE_PT_PTW] = put_ptw,
        [SONDE_PT_CFE] = put_cfe,
        [SONDE_PT_EVD] = put_evd,
        [SONDE_PT_BBP] = put_bbp,
        [SONDE_PT_BIP] = put_bip,
        [SONDE_PT_BEP] = put_bep,
};

/* ---- packets as perf reads them ---- */

/* Whether perf calls a packet bad that pt/packet.c reads. */
static bool strict(const struct sonde_pt_packet *packet)
{
	switch (packet->kind) {
	case SONDE_PT_MODE_EXEC:
	case SONDE_PT_MODE_TSX: return (packet->value & 3) == 3; /* L and D, or InTX and abort */
	case SONDE_PT_TRIG: return true;
	default: return false;
	}
}

/* A CYC of up to 10 bytes, of which bits above 64 are lost. */
static bool loose_cyc(struct pt_cursor *c, struct sonde_pt_packet *out)
{
	const uint8_t *b = c->p;
	uint64_t value = b[0] >> 3;
	unsigned size = 1;
	bool more = b[0] & 4;

	while (more) {
		if (size == LONGEST_CYC || size == (size_t)(c->end - b)) {
			return false;
		}
		value |= (uint64_t)(b[size] >> 1) << (7 * size - 2);
		more = b[size++] & 1;
	}
	out->kind = SONDE_PT_CYC;
	out->value = value;
	out->size = (uint8_t)size;
	c->p += size;
	return true;
}

/* Reads what perf accepts and pt/packet.c does not; false: both call it bad. */
static bool loose(struct pt_cursor *c, struct sonde_pt_packet *out)
{
	const uint8_t *b = c->p;

	if ((b[0] & 3) == 3) {
		return loose_cyc(c, out);
	}
	if (c->end - b < 8 || b[0] != 2) {
		return false;
	}
	if (b[1] == 0xa3) { /* a TNT without its stop bit */
		out->kind = SONDE_PT_TNT64;
		out->count = 0;
		out->value = 0;
		out->size = 8;
		c->p += out->size;
		return true;
	}
	if (b[1] == 0x73) { /* a TMA with reserved bits */
		out->kind = SONDE_PT_TMA;
		out->value = load_u16(b + 2, HOST_BIG_ENDIAN);
		out->extra = load_u16(b + 5, HOST_BIG_ENDIAN) & 0x1ff;
		out->size = 7;
		c->p += out->size;
		return true;
	}
	return false;
}

/* Packets that perf accepts inside a block of BIPs; any other one ends the block. */
static const bool in_block[SONDE_PT_KINDS] = {
        [SONDE_PT_PAD] = true,
        [SONDE_PT_FUP] = true,
        [SONDE_PT_CBR] = true,
        [SONDE_PT_TSC] = true,
        [SONDE_PT_TMA] = true,
        [SONDE_PT_MTC] = true,
        [SONDE_PT_CYC] = true,
        [SONDE_PT_MNT] = true,
        [SONDE_PT_EXSTOP] = true,
        [SONDE_PT_PWRE] = true,
        [SONDE_PT_PWRX] = true,
        [SONDE_PT_BBP] = true,
        [SONDE_PT_BIP] = true,
};

/* Reads the next packet; kind SONDE_PT_KINDS: a bad byte. False: the trace ends. */
static bool next(struct pt_cursor *c, struct sonde_pt_packet *out)
{
	struct pt_cursor before = *c;
	int rc = pt_cursor_next(c, out);

	if (rc == 0) {
		return false;
	}
	if ((rc < 0 && !loose(c, out)) || (rc > 0 && strict(out))) {
		*c = before;
		c->p++;
		out->kind = SONDE_PT_KINDS;
		out->size = 1;
		return true;
	}
	c->bip_size = in_block[out->kind] ? c->bip_size : 0;
	while (out->size < FILLED && c->p < c->end && *c->p == 0) {
		c->p++;
		out->size++;
	}
	return true;
}

/* ---- lines ---- */

static char *put_packet(char *line, const struct sonde_pt_packet *packet, const uint8_t *b)
{
	char *p = put_bytes(line, b, packet->size);

	p = packet->kind == SONDE_PT_KINDS ? put(p, "Bad packet!")
	                                   : puts_by_kind[packet->kind](p, packet, b);
	*p++ = '\n';
	return p;
}

void pt_text_init(struct pt_text *t)
{
	for (unsigned i = 0; i < 256; i++) {
		uint8_t byte = (uint8_t)i;
		struct pt_cursor c = pt_cursor_make(&byte, 1);
		struct sonde_pt_packet packet;

		t->tnt[i].size = 0;
		if (pt_cursor_next(&c, &packet) == 1 && packet.kind == SONDE_PT_TNT8) {
			char *end = put_packet(t->tnt[i].text, &packet, &byte);

			t->tnt[i].size = (uint8_t)(end - t->tnt[i].text);
		}
	}
}

void pt_text_begin(struct pt_text *t, struct span trace)
{
	t->cursor = pt_cursor_make(trace.p, trace.n);
	t->cursor.over_psb = true;
}

/*
 * Appends the prepared lines of short TNTs up to another packet: most packets are short TNTs. A TNT
 * with a zero after it, and one that may be a BIP, are left to the caller.
 */
static char *put_tnts(struct pt_text *t, char *line, const char *end)
{
	struct pt_cursor *c = &t->cursor;

	while (c->end - c->p >= 2 && end - line >= PT_LINE_MAX && t->tnt[*c->p].size != 0 &&
	        c->p[1] != 0 && c->bip_size == 0) {
		memcpy(line, t->tnt[*c->p].text, 80);
		put_offset(line, (uint64_t)(c->p - c->begin));
		line += t->tnt[*c->p].size;
		c->p++;
	}
	return line;
}

bool pt_text_lines(struct pt_text *t, struct text *out, size_t full)
{
	size_t room = (full > out->n ? full - out->n : 0) + (size_t)2 * PT_LINE_MAX;
	char *line = text_room(out, room);
	const char *end = line != NULL ? line + room - PT_LINE_MAX : NULL;
	struct sonde_pt_packet packet;
	bool more = line != NULL;

	while (more && end - line >= PT_LINE_MAX) {
		const uint8_t *b;

		line = put_tnts(t, line, end);
		b = t->cursor.p;
		more = next(&t->cursor, &packet);
		if (more) {
			char *p = put_packet(line, &packet, b);

			put_offset(line, (uint64_t)(b - t->cursor.begin));
			line = p;
		}
	}
	out->n = line != NULL ? (size_t)(line - out->p) : out->n;
	return more;
}

void pt_text_until(struct pt_text *t, struct text *out, uint64_t offset)
{
	struct pt_cursor *c = &t->cursor;

	while ((uint64_t)(c->p - c->begin) < offset) {
		const uint8_t *b = c->p;
		char line[PT_LINE_MAX];
		struct sonde_pt_packet packet;
		char *end;

		if (!next(c, &packet)) {
			return;
		}
		end = put_packet(line, &packet, b);
		put_offset(line, (uint64_t)(b - c->begin));
		text_bytes(out, line + 1, (size_t)(end - line - 1));
	}
}
