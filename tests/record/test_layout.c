/* SPDX-License-Identifier: MIT */
/*
 * The tables of fields are consistent; walk, byte order conversion and plan agree on made records.
 */
#include "abi/abi.h"
#include "record/layout.h"
#include "tests/tap.h"

#include <stdlib.h>

/* Kept numbers come before their use; true: the table is consistent. */
static bool layout_sound(const struct layout *l, unsigned depth, unsigned kept)
{
	if (depth > LAYOUT_DEPTH) {
		return false;
	}
	for (unsigned i = 0; i < l->nfields; i++) {
		const struct layout_field *f = &l->fields[i];
		bool counted = f->count.is == COUNT_SLOT || f->count.is == COUNT_WORDS ||
		               f->count.is == COUNT_STRUCT_REST;
		bool list = f->kind == LAYOUT_STRUCT && f->count.is != COUNT_ONE;

		if ((f->kind == LAYOUT_STRUCT) != (f->sub != NULL) ||
		        (f->name == NULL && (f->kind != LAYOUT_STRUCT || list)) ||
		        (f->name != NULL && f->note == NULL) ||
		        (counted && (kept >> f->count.n & 1) == 0) ||
		        (f->when.slot != SLOT_NONE && (kept >> f->when.slot & 1) == 0) ||
		        (list && f->sub->fields[0].when.is != WHEN_ALWAYS)) {
			printf("# %s.%s\n", l->name, f->name != NULL ? f->name : "(inline)");
			return false;
		}
		kept |= f->keep != SLOT_NONE ? 1u << f->keep : 0;
		if (f->sub != NULL && !layout_sound(f->sub, depth + 1, kept)) {
			return false;
		}
	}
	return true;
}

/* Parts of a word cover it without a hole up to bit 63. */
static bool parts_sound(const struct layout *l)
{
	for (unsigned i = 0; i < l->nfields; i++) {
		const struct layout_field *f = &l->fields[i];
		unsigned bit = 0;

		if (f->sub != NULL && !parts_sound(f->sub)) {
			return false;
		}
		if (f->kind != LAYOUT_BITS && f->kind != LAYOUT_MIRRORED) {
			continue;
		}
		for (const struct layout_name *n = f->names; n->name != NULL; n++) {
			if (n->value != bit) {
				printf("# %s.%s.%s\n", l->name, f->name, n->name);
				return false;
			}
			bit += n->width;
		}
		if (bit != 64) {
			printf("# %s.%s ends at %u\n", l->name, f->name, bit);
			return false;
		}
	}
	return true;
}

static void test_tables(void)
{
	bool sound = true, whole = true;

	for (uint32_t t = 0; t < RECORD_TYPE_MAX; t++) {
		const struct layout *l = layout_of_record(t);

		if (l != NULL) {
			sound &= layout_sound(l, 1, 1u << SLOT_CPUS) && parts_sound(l);
		}
		whole &= (l != NULL) ==
		         ((t >= 1 && t < RECORD_KERNEL_MAX) || t >= RECORD_USER_START);
	}
	for (uint32_t t = 1; t < FEATURE_LAST; t++) {
		const struct layout *l = layout_of_feature(t);

		whole &= l != NULL;
		sound &= l != NULL && layout_sound(l, 1, 1u << SLOT_CPUS) && parts_sound(l);
	}
	ok(sound,
	        "tables: slots are kept before they are used, items have bytes, words are covered");
	ok(whole, "tables: every record type and feature has a layout");
}

/* A number of four or eight bytes, in host order. */
static void put(uint8_t *p, size_t *n, uint64_t v, unsigned width)
{
	if (width == 4) {
		store_u32(p + *n, (uint32_t)v, false);
	} else {
		store_u64(p + *n, v, false);
	}
	*n += width;
}

/* Random bytes, often with small numbers, so that counts fit now and then. */
static size_t bytes_make(uint8_t *p, size_t n, unsigned *seed)
{
	size_t at = 0;

	while (at + 8 <= n) {
		uint64_t v = (uint64_t)rand_r(seed) << 40 ^ (uint64_t)rand_r(seed);

		put(p, &at, rand_r(seed) % 3 == 0 ? v : v % 4, 8);
	}
	return at;
}

/* All bytes are covered once, in order, by values or as rest. */
static bool walk_covers(const struct record *r, bool swap, const struct record_plan *plan)
{
	struct record_walk w;
	struct layout_value v;
	enum layout_event event;
	const uint8_t *at = r->body.p;
	int depth = 0;

	record_walk_init(&w, r, swap, plan, 2);
	while ((event = record_walk_next(&w, &v)) != LAYOUT_END) {
		depth += event == LAYOUT_LIST || event == LAYOUT_ITEM;
		depth -= event == LAYOUT_LIST_END || event == LAYOUT_ITEM_END;
		if (event == LAYOUT_VALUE || event == LAYOUT_REST) {
			if (v.bytes.n != 0 && v.bytes.p != at) {
				return false;
			}
			at += v.bytes.n;
		}
	}
	return depth == 0 && at == r->body.p + r->body.n;
}

static bool turns_back(const struct record *r, const struct record_plan *plan)
{
	uint8_t once[2048], twice[2048];
	struct record other = *r;
	bool whole = record_turn(r, false, plan, 2, once);

	other.body.p = once + RECORD_HEADER_SIZE;
	return record_turn(&other, true, plan, 2, twice) == whole &&
	       load_u32(once, true) == r->type && load_u16(once + 6, true) == r->size &&
	       memcmp(twice + RECORD_HEADER_SIZE, r->body.p, r->body.n) == 0 &&
	       walk_covers(&other, true, plan);
}

static void test_random(void)
{
	unsigned seed = 1;
	bool covers = true, turns = true;
	uint8_t body[1024];

	for (unsigned round = 0; round < 200; round++) {
		struct sonde_attr attr = {.sample_type = (uint64_t)rand_r(&seed) & 0x1ffffff,
		        .read_format = (uint64_t)rand_r(&seed) & 31,
		        .branch_sample_type = (uint64_t)rand_r(&seed) & 0xfffff,
		        .sample_regs_user = 5,
		        .sample_regs_intr = 1,
		        .flags = 1u << SONDE_FLAG_SAMPLE_ID_ALL};
		struct record_plan plan;

		record_plan_make(&plan, &attr);
		for (uint32_t type = 0; type < RECORD_TYPE_MAX + 1; type++) {
			size_t n = bytes_make(body, 8 * ((size_t)rand_r(&seed) % 100), &seed);
			struct record r = {.type = type,
			        .misc = (uint16_t)rand_r(&seed),
			        .size = (uint16_t)(n + RECORD_HEADER_SIZE),
			        .body = {body, n}};
			const struct record_plan *p = round % 4 != 0 ? &plan : NULL;

			covers &= walk_covers(&r, false, p);
			turns &= turns_back(&r, p);
		}
	}
	ok(covers, "walk: every byte of random records is covered once and in order");
	ok(turns, "turn: to the other byte order and back gives the same bytes");
}

/* The number of the first value of that name; UINT64_MAX: none. */
static uint64_t value_of(const struct record *r, bool swap, const struct record_plan *plan,
        const char *name, struct span *bytes)
{
	struct record_walk w;
	struct layout_value v;
	enum layout_event event;

	record_walk_init(&w, r, swap, plan, 2);
	while ((event = record_walk_next(&w, &v)) != LAYOUT_END) {
		if (event == LAYOUT_VALUE && strcmp(v.field->name, name) == 0) {
			if (bytes != NULL) {
				*bytes = v.bytes;
			}
			return v.number;
		}
	}
	return UINT64_MAX;
}

/* precise_ip is at bits 15 and 16; a big-endian compiler puts it at bits 47 and 48. */
static void test_flags(bool big)
{
	static const uint8_t bytes[2][8] = {
	        {0x01, 0x80}, /* bits 0 and 15 */
	        {0x80, 0, 0x80}, /* bits 63 and 47 */
	};
	uint64_t flags = 1ULL << SONDE_FLAG_PRECISE_IP | 1u << SONDE_FLAG_DISABLED;
	bool swap = big != HOST_BIG_ENDIAN;
	uint8_t body[64] = {0}, turned[72];
	struct record r = {.type = RECORD_HEADER_ATTR, .size = 72, .body = {body, 64}};
	struct record other = r;

	memcpy(body + 40, bytes[big], 8);
	eq_u64(value_of(&r, swap, NULL, "flags", NULL), flags,
	        "flags of an attr are read in this byte order");
	ok(record_turn(&r, swap, NULL, 0, turned), "an attr matches its layout");
	eq_mem(turned + 8 + 40, bytes[!big], 8,
	        "flags: bit-fields are mirrored as fields, their bits are not reversed");
	other.body.p = turned + 8;
	eq_u64(value_of(&other, !swap, NULL, "flags", NULL), flags,
	        "flags of the turned attr are read back");
}

/* The table gives the values that the plan decodes. */
static void test_sample(void)
{
	struct sonde_attr attr = {.sample_type = SONDE_SAMPLE_IP | SONDE_SAMPLE_TID |
	                                         SONDE_SAMPLE_TIME | SONDE_SAMPLE_CPU |
	                                         SONDE_SAMPLE_PERIOD | SONDE_SAMPLE_CALLCHAIN};
	struct record_plan plan;
	struct record_scratch scratch = {0};
	struct sonde_sample s;
	uint8_t body[128], turned[136];
	struct record r = {.type = RECORD_SAMPLE, .body = {body, 0}};
	struct span ips = {0};

	put(body, &r.body.n, 0x401000, 8);
	put(body, &r.body.n, 7, 4);
	put(body, &r.body.n, 8, 4);
	put(body, &r.body.n, 99, 8);
	put(body, &r.body.n, 3, 4);
	put(body, &r.body.n, 0, 4);
	put(body, &r.body.n, 1000, 8);
	put(body, &r.body.n, 2, 8);
	put(body, &r.body.n, 0x401000, 8);
	put(body, &r.body.n, 0x402000, 8);
	r.size = (uint16_t)(r.body.n + 8);
	record_plan_make(&plan, &attr);
	ok(record_turn(&r, false, &plan, 0, turned), "a sample matches its layout");
	eq_u64(value_of(&r, false, &plan, "tid", NULL), 8, "sample: tid is a field");
	eq_u64(value_of(&r, false, &plan, "period", NULL), 1000, "sample: period is a field");
	(void)value_of(&r, false, &plan, "ips", &ips);
	eq_u64(ips.n, 16, "sample: ips has two addresses");
	r.body.p = turned + 8;
	eq_u64(record_sample_decode(&plan, r.body, true, &scratch, &s), 1,
	        "a turned sample is decoded by the plan");
	ok(s.ip == 0x401000 && s.pid == 7 && s.tid == 8 && s.time == 99 && s.cpu == 3 &&
	                s.period == 1000 && s.callchain_len == 2 && s.callchain[1] == 0x402000,
	        "a turned sample has the values of the original");
	record_scratch_fini(&scratch);
}

int main(void)
{
	test_tables();
	test_random();
	test_flags(false);
	test_flags(true);
	test_sample();
	return tap_done();
}
