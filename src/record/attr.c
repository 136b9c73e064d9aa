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
	attr->reserved = cursor_u16(&c);
	attr->aux_sample_size = cursor_u32(&c);
	attr->aux_action = cursor_u32(&c);
	attr->sig_data = cursor_u64(&c);
	attr->config3 = cursor_u64(&c);
	attr->config4 = cursor_u64(&c);
	return true;
}

struct span record_attr_tail(struct span bytes)
{
	struct cursor c = cursor_make(bytes, false);

	if (bytes.n <= ATTR_SIZE_NOW) {
		return (struct span){NULL, 0};
	}
	(void)cursor_bytes(&c, ATTR_SIZE_NOW);
	return cursor_bytes(&c, cursor_left(&c));
}

void record_attr_encode_as(const struct sonde_attr *attr, bool swap, uint8_t out[144])
{
	bool big_endian = swap != HOST_BIG_ENDIAN;

	store_u32(out, attr->type, swap);
	store_u32(out + 4, attr->size, swap);
	store_u64(out + 8, attr->config, swap);
	store_u64(out + 16, attr->sample_period, swap);
	store_u64(out + 24, attr->sample_type, swap);
	store_u64(out + 32, attr->read_format, swap);
	store_u64(out + 40, big_endian ? flags_turn(attr->flags, false) : attr->flags, swap);
	store_u32(out + 48, attr->wakeup_events, swap);
	store_u32(out + 52, attr->bp_type, swap);
	store_u64(out + 56, attr->config1, swap);
	store_u64(out + 64, attr->config2, swap);
	store_u64(out + 72, attr->branch_sample_type, swap);
	store_u64(out + 80, attr->sample_regs_user, swap);
	store_u32(out + 88, attr->sample_stack_user, swap);
	store_u32(out + 92, (uint32_t)attr->clockid, swap);
	store_u64(out + 96, attr->sample_regs_intr, swap);
	store_u32(out + 104, attr->aux_watermark, swap);
	store_u16(out + 108, attr->sample_max_stack, swap);
	store_u16(out + 110, attr->reserved, swap);
	store_u32(out + 112, attr->aux_sample_size, swap);
	store_u32(out + 116, attr->aux_action, swap);
	store_u64(out + 120, attr->sig_data, swap);
	store_u64(out + 128, attr->config3, swap);
	store_u64(out + 136, attr->config4, swap);
}

void record_attr_encode(const struct sonde_attr *attr, uint8_t out[144])
{
	record_attr_encode_as(attr, false, out);
}
