/* SPDX-License-Identifier: MIT */
/*
 * perf_event_attr on disk, in either byte order. The table of its fields is in layout_tool.c, in
 * the kernel's order and without gaps. Successive kernels gave it these sizes in bytes: 64, 72
 * (with config2), 80 (branch_sample_type), 96 (clockid), 104 (regs_intr), 112 (max_stack), 120
 * (aux_action), 128 (sig_data), 136 (config3), 144 (config4).
 *
 * Source: perf_event_open(2) and <linux/perf_event.h> for the order, real files for the sizes.
 */
#include "record/layout_tables.h"
#include "record/record.h"

#include "abi/abi.h"

bool record_attr_decode(struct span bytes, bool swap, struct sonde_attr *attr)
{
	const struct layout *layout = &layout_attr_known;
	uint8_t full[ATTR_SIZE_NOW] = {0};
	struct layout_value v = {.bytes.p = full};

	if (bytes.n < ATTR_SIZE_VER0) {
		return false;
	}
	memcpy(full, bytes.p, bytes.n < sizeof(full) ? bytes.n : sizeof(full));
	for (unsigned i = 0; i < layout->nfields; i++) {
		v.field = &layout->fields[i];
		layout_member_store(attr, layout_member_of(v.field), layout_number(&v, 0, swap));
		v.bytes.p += layout_width(v.field->kind);
	}
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
	const struct layout *layout = &layout_attr_known;

	for (unsigned i = 0; i < layout->nfields; i++) {
		const struct layout_field *f = &layout->fields[i];

		layout_put(out, f, layout_member_load(attr, layout_member_of(f)), swap);
		out += layout_width(f->kind);
	}
}

void record_attr_encode(const struct sonde_attr *attr, uint8_t out[144])
{
	record_attr_encode_as(attr, false, out);
}
