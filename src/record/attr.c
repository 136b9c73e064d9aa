/* SPDX-License-Identifier: MIT */
/*
 * perf_event_attr on disk (offsets in bytes; the kernel's layout, any byte order):
 *
 *	  0 u32 type             4 u32 size              8 u64 config
 *	 16 u64 period or freq  24 u64 sample_type      32 u64 read_format
 *	 40 u64 flag bits       48 u32 wakeup           52 u32 bp_type
 *	 56 u64 config1   (64)  64 u64 config2   (72)   72 u64 branch_sample_type (80)
 *	 80 u64 regs_user       88 u32 stack_user       92 s32 clockid            (96)
 *	 96 u64 regs_intr (104) 104 u32 aux_watermark  108 u16 max_stack, u16 0   (112)
 *	112 u32 aux_sample_size 116 u32 aux_action (120) 120 u64 sig_data         (128)
 *	128 u64 config3  (136)  136 u64 config4  (144)
 *
 * In brackets: where the sizes of successive kernel versions end. Source: perf_event_open(2) and
 * <linux/perf_event.h> for the order, real files for the sizes.
 */
#include "record/record.h"

#include "abi/abi.h"

/*
 * A big-endian compiler lays bit-fields out from the top of the word: the field at bit o (from the
 * lowest, as a little-endian writer has it) of width w stands at bits 64-o-w there.
 */
static uint64_t flags_turn(uint64_t v, bool from_top)
{
	uint64_t out = 0;
	unsigned bit = 0;

	while (bit < 64) {
		unsigned width = bit == SONDE_FLAG_PRECISE_IP ? 2 : 1;
		unsigned top = 64 - bit - width;
		uint64_t mask = (1u << width) - 1;

		out |= from_top ? (v >> top & mask) << bit : (v >> bit & mask) << top;
		bit += width;
	}
	return out;
}

bool record_attr_decode(struct span bytes, bool swap, struct sonde_attr *attr)
{
	uint8_t full[ATTR_SIZE_NOW] = {0};
	struct cursor c;

	if (bytes.n < ATTR_SIZE_VER0) {
		return false;
	}
	memcpy(full, bytes.p, bytes.n < sizeof(full) ? bytes.n : sizeof(full));
	c = cursor_make((struct span){full, sizeof(full)}, swap);
	attr->type = cursor_u32(&c);
	attr->size = cursor_u32(&c);
	attr->config = cursor_u64(&c);
	attr->sample_period = cursor_u64(&c);
	attr->sample_type = cursor_u64(&c);
	attr->read_format = cursor_u64(&c);
	attr->flags = cursor_u64(&c);
	if (swap != HOST_BIG_ENDIAN) {
		attr->flags = flags_turn(attr->flags, true);
	}
	attr->wakeup_events = cursor_u32(&c);
	attr->bp_type = cursor_u32(&c);
	attr->config1 = cursor_u64(&c);
	attr->config2 = cursor_u64(&c);
	attr->branch_sample_type = cursor_u64(&c);
	attr->sample_regs_user = cursor_u64(&c);
	attr->sample_stack_user = cursor_u32(&c);
	attr->clockid = (int32_t)cursor_u32(&c);
	attr->sample_regs_intr = cursor_u64(&c);
	attr->aux_watermark = cursor_u32(&c);
	attr->sample_max_stack = cursor_u16(&c);
	(void)cursor_u16(&c);
	attr->aux_sample_size = cursor_u32(&c);
	attr->aux_action = cursor_u32(&c);
	attr->sig_data = cursor_u64(&c);
	attr->config3 = cursor_u64(&c);
	attr->config4 = cursor_u64(&c);
	return true;
}

static uint8_t *put(uint8_t *p, const void *v, size_t n)
{
	memcpy(p, v, n);
	return p + n;
}

void record_attr_encode(const struct sonde_attr *attr, uint8_t out[144])
{
	uint64_t flags = HOST_BIG_ENDIAN ? flags_turn(attr->flags, false) : attr->flags;
	const uint16_t zero = 0;
	uint8_t *p = out;

	p = put(p, &attr->type, 4);
	p = put(p, &attr->size, 4);
	p = put(p, &attr->config, 8);
	p = put(p, &attr->sample_period, 8);
	p = put(p, &attr->sample_type, 8);
	p = put(p, &attr->read_format, 8);
	p = put(p, &flags, 8);
	p = put(p, &attr->wakeup_events, 4);
	p = put(p, &attr->bp_type, 4);
	p = put(p, &attr->config1, 8);
	p = put(p, &attr->config2, 8);
	p = put(p, &attr->branch_sample_type, 8);
	p = put(p, &attr->sample_regs_user, 8);
	p = put(p, &attr->sample_stack_user, 4);
	p = put(p, &attr->clockid, 4);
	p = put(p, &attr->sample_regs_intr, 8);
	p = put(p, &attr->aux_watermark, 4);
	p = put(p, &attr->sample_max_stack, 2);
	p = put(p, &zero, 2);
	p = put(p, &attr->aux_sample_size, 4);
	p = put(p, &attr->aux_action, 4);
	p = put(p, &attr->sig_data, 8);
	p = put(p, &attr->config3, 8);
	(void)put(p, &attr->config4, 8);
}
