/* SPDX-License-Identifier: MIT */
/*
 * Events that a decoder of traces made, in recordings that perf inject wrote: their raw data as
 * text. Observed with perf 6.1; numbers in the recorder's byte order, bits from the lowest:
 *
 *	ptwrite  0: u32, 1 bit whether ip is exact      4: u64 payload
 *	mwait    4: u64, 8 bits hints, bits 32-33 extensions
 *	pwre     4: u64, bit 7 hw, bits 8-11 sub-state, bits 12-15 state
 *	exstop   0: u32, 1 bit as above
 *	pwrx     4: u64, 4 bits each: deepest state, last state, reason
 *	cbr      0: u32, 8 bits ratio, bits 16-23 ratio without turbo      4: u32 kHz
 *	psb      4: u64 offset in the trace
 *	evt      0: u32, 5 bits kind, bit 7 as above, 8 bits vector, 16 bits count
 *	         4: count times u64 (6 bits kind), u64 payload
 *	iflag    0: u32, 1 bit flag, 1 bit whether a branch      4: u64 its address
 */
#include "core/span.h"
#include "field/line.h"

#include <ctype.h>

#define WIDTH 34u

struct synth {
	struct text *out;
	uint32_t word; /* at 0 */
	uint64_t value; /* at 4 */
	struct cursor rest; /* from 4 */
};

typedef void (*synth_fn)(struct synth *s);

/* The payload as text, if it is printable characters up to a NUL. */
static void put_string(struct text *out, uint64_t payload)
{
	char text[9] = "";

	for (size_t i = 0; i < 8 && payload >> 8 * i != 0; i++) {
		char c = (char)(payload >> 8 * i);

		if (!isprint((unsigned char)c)) {
			return;
		}
		text[i] = c;
	}
	text_str(out, text);
}

static void put_ptwrite(struct synth *s)
{
	text_printf(s->out, " IP: %u payload: %#llx ", s->word & 1, (unsigned long long)s->value);
	put_string(s->out, s->value);
	text_char(s->out, ' ');
}

static void put_mwait(struct synth *s)
{
	text_printf(s->out, " hints: %#x extensions: %#x ", (unsigned)(s->value & 0xff),
	        (unsigned)(s->value >> 32 & 3));
}

static void put_pwre(struct synth *s)
{
	text_printf(s->out, " hw: %u cstate: %u sub-cstate: %u ", (unsigned)(s->value >> 7 & 1),
	        (unsigned)(s->value >> 12 & 15), (unsigned)(s->value >> 8 & 15));
}

static void put_exstop(struct synth *s)
{
	text_printf(s->out, " IP: %u ", s->word & 1);
}

static void put_pwrx(struct synth *s)
{
	text_printf(s->out, " deepest cstate: %u last cstate: %u wake reason: %#x ",
	        (unsigned)(s->value & 15), (unsigned)(s->value >> 4 & 15),
	        (unsigned)(s->value >> 8 & 15));
}

static void put_cbr(struct synth *s)
{
	unsigned ratio = s->word & 0xff;
	unsigned usual = s->word >> 16 & 0xff;
	uint64_t khz = s->value & UINT32_MAX;

	text_printf(s->out, " cbr: %2u freq: %4u MHz ", ratio, (unsigned)((khz + 500) / 1000));
	if (usual != 0) {
		text_printf(s->out, "(%3u%%) ", (5 + 1000 * ratio / usual) / 10);
	}
}

static void put_psb(struct synth *s)
{
	text_printf(s->out, " psb offs: %#llx ", (unsigned long long)s->value);
}

static void put_evt(struct synth *s)
{
	static const char *const kinds[] = {NULL, "INTR", "IRET", "SMI", "RSM", "SIPI", "INIT",
	        "VMENTRY", "VMEXIT", "VMEXIT_INTR", "SHUTDOWN"};
	static const char *const data[] = {"PFA", "VMXQ", "VMXR"};
	unsigned kind = s->word & 31;
	unsigned left = s->word >> 16;

	text_str(s->out, " cfe: ");
	if (kind != 0 && kind < sizeof(kinds) / sizeof(kinds[0])) {
		text_str(s->out, kinds[kind]);
	} else {
		text_u64(s->out, kind, 0, ' ');
	}
	text_printf(s->out, " IP: %u vector: %u", s->word >> 7 & 1, s->word >> 8 & 0xff);
	for (; left > 0 && cursor_left(&s->rest) >= 16; left--) {
		unsigned type = (unsigned)(cursor_u64(&s->rest) & 63);
		unsigned long long payload = cursor_u64(&s->rest);

		if (type < sizeof(data) / sizeof(data[0])) {
			text_printf(s->out, " %s: %#llx", data[type], payload);
		} else {
			text_printf(s->out, " EVD_%u: %#llx", type, payload);
		}
	}
}

static void put_iflag(struct synth *s)
{
	bool set = (s->word & 1) != 0;

	text_printf(
	        s->out, " IFLAG: %d->%d %s branch", !set, set, (s->word & 2) != 0 ? "via" : "non");
}

void synth_text(struct text *out, uint64_t config, struct span raw, bool swap)
{
	static const struct {
		synth_fn put;
		size_t size; /* minimum */
	} kinds[] = {{put_ptwrite, 12}, {put_mwait, 12}, {put_pwre, 12}, {put_exstop, 4},
	        {put_pwrx, 12}, {put_cbr, 12}, {put_psb, 12}, {put_evt, 4}, {put_iflag, 12}};
	struct cursor c = cursor_make(raw, swap);
	struct synth s = {.out = out, .word = cursor_u32(&c), .rest = c};
	size_t start = out->n;

	if (config >= sizeof(kinds) / sizeof(kinds[0]) || raw.n < kinds[config].size) {
		return;
	}
	s.value = config == 5 ? cursor_u32(&c) : cursor_u64(&c);
	kinds[config].put(&s);
	if (out->n - start < WIDTH) {
		text_fill(out, ' ', WIDTH - (out->n - start));
	}
}
