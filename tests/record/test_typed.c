/* SPDX-License-Identifier: MIT */
/* The tables store into the right members, and structs have the written values, in both orders. */
#include "abi/abi.h"
#include "record/typed.h"
#include "tests/tap.h"

#include <sonde/record.h>

#include <stdlib.h>

static uint8_t body[512];
static size_t used;
static bool swap;
static struct sonde_typed_record out;

static void put(uint64_t v, unsigned width)
{
	uint8_t word[8];

	store_u64(word, v, swap);
	memcpy(body + used, word + (swap != HOST_BIG_ENDIAN ? 8 - width : 0), width);
	used += width;
}

static void put_text(const char *text, size_t room)
{
	memset(body + used, 0, room);
	for (size_t i = 0; text[i] != '\0'; i++) {
		body[used + i] = (uint8_t)text[i];
	}
	used += room;
}

static bool decode(uint32_t type, uint16_t misc, const struct record_plan *plan)
{
	const struct record r = {.type = type, .misc = misc, .body = {body, used}};

	memset(&out, 0, sizeof(out));
	used = 0;
	return typed_decode(&r, swap, plan, &out);
}

/* ---- the tables ---- */

static size_t wanted_room(const struct layout_field *f)
{
	bool many = f->count.is != COUNT_ONE;

	if (f->kind == LAYOUT_BYTES) {
		return sizeof(struct sonde_bytes);
	}
	if (f->kind == LAYOUT_STRUCT) {
		return many ? sizeof(struct sonde_list) : f->sub->size;
	}
	if (f->kind >= LAYOUT_CHARS) {
		return sizeof(struct sonde_text);
	}
	return many ? sizeof(struct sonde_list) : layout_width(f->kind);
}

static bool sound(const struct layout *l, size_t size, const char **owners)
{
	for (unsigned i = 0; i < l->nfields; i++) {
		const struct layout_field *f = &l->fields[i];

		if (f->name == NULL) {
			if (!sound(f->sub, size, owners)) {
				return false;
			}
			continue;
		}
		if (f->to == 0) {
			if (f->show != SHOW_NEVER && strcmp(f->name, "payload") != 0) {
				printf("# %s.%s is not stored\n", l->name, f->name);
				return false;
			}
			continue;
		}
		for (size_t k = f->to - 1; k < f->to - 1u + f->room; k++) {
			if (f->room != wanted_room(f) || k >= size ||
			        (owners[k] != NULL && strcmp(owners[k], f->name) != 0)) {
				printf("# %s.%s\n", l->name, f->name);
				return false;
			}
			owners[k] = f->name;
		}
	}
	return true;
}

static void test_tables(void)
{
	unsigned typed = 0;

	for (uint32_t type = 0; type < RECORD_TYPE_MAX; type++) {
		const struct layout *l = layout_of_record(type);
		const char *owners[sizeof(out)] = {0};

		if (l != NULL && l->size != 0) {
			typed++;
			ok(sound(l, l->size, owners), l->name);
			ok(l->size <= sizeof(out) - offsetof(struct sonde_typed_record, mmap),
			        "the typed struct fits into the union");
		}
	}
	eq_u64(typed, 39, "39 record types have typed structs");
}

/* ---- records ---- */

static void test_mmap2(void)
{
	static const struct sonde_attr attr = {
	        .sample_type = SONDE_SAMPLE_TID | SONDE_SAMPLE_TIME | SONDE_SAMPLE_CPU,
	        .flags = 1ull << SONDE_FLAG_SAMPLE_ID_ALL};
	struct record_plan plan;
	struct record_mmap map;

	record_plan_make(&plan, &attr);
	put((uint32_t)-1, 4);
	put(7, 4);
	put(0x400000, 8);
	put(0x1000, 8);
	put(0x2000, 8);
	put(20, 1);
	put(0, 3);
	for (unsigned i = 0; i < 20; i++) {
		put(i, 1);
	}
	put(5, 4);
	put(2, 4);
	put_text("/bin/a", 8);
	put(7, 4);
	put(8, 4);
	put(99, 8);
	put(3, 8);
	ok(decode(RECORD_MMAP2, MISC_MMAP_BUILD_ID, &plan), "MMAP2 with a build id is decoded");
	ok(out.mmap.pid == -1 && out.mmap.tid == 7 && out.mmap.addr == 0x400000,
	        "MMAP2: pid, tid and addr are right");
	ok(out.mmap.len == 0x1000 && out.mmap.pgoff == 0x2000 && out.mmap.prot == 5,
	        "MMAP2: len, pgoff and prot are right");
	ok(out.mmap.build_id_size == 20 && out.mmap.build_id.n == 20,
	        "MMAP2: the build id has 20 bytes");
	eq_u64(((const uint8_t *)out.mmap.build_id.p)[19], 19,
	        "MMAP2: the last byte of the build id is right");
	eq_u64(out.mmap.filename.n, 6, "MMAP2: the name has 6 characters");
	eq_mem(out.mmap.filename.p, "/bin/a", 6, "MMAP2: the name is without padding");
	eq_u64(out.mmap.ino, 0, "MMAP2: with a build id there is no inode");
	ok(record_mmap_decode(
	           &(struct record){
	                   .type = RECORD_MMAP2, .misc = MISC_MMAP_BUILD_ID, .body = {body, 116}},
	           swap, &map) &&
	                map.start == out.mmap.addr && map.prot == out.mmap.prot &&
	                memcmp(map.build_id, out.mmap.build_id.p, 20) == 0,
	        "MMAP2: record_mmap_decode gives the same values");
	ok(out.trailer.pid == 7 && out.trailer.tid == 8 && out.trailer.time == 99,
	        "MMAP2: the trailer is right");
	used = 30;
	ok(!decode(RECORD_MMAP2, 0, NULL), "a cut MMAP2 is refused");
	ok(out.mmap.addr == 0x400000 && out.mmap.pgoff == 0,
	        "a cut MMAP2 has its complete fields, others are 0");
	used = 4;
	ok(!decode(RECORD_MMAP2, 0, &plan), "an MMAP2 shorter than its trailer is refused");
}

static void test_lists(void)
{
	struct sonde_record_target target;
	struct sonde_record_namespace link;

	put(2, 8);
	put(11, 8);
	put_text("first", 16);
	put((uint64_t)-1, 8);
	put_text("second", 16);
	ok(decode(RECORD_THREAD_MAP, 0, NULL), "THREAD_MAP is decoded");
	eq_u64(out.thread_map.threads.count, 2, "THREAD_MAP has two threads");
	eq_u64(sonde_list_get(&out.thread_map.threads, 1, &target, sizeof(target)), 1,
	        "THREAD_MAP: the last thread is read");
	ok(target.pid == -1 && target.comm.n == 6,
	        "THREAD_MAP: the last thread has its pid and name");
	eq_u64(sonde_list_get(&out.thread_map.threads, 2, &target, sizeof(target)), 0,
	        "THREAD_MAP: there is no thread after the last");
	ok(target.pid == 0 && target.comm.p == NULL, "THREAD_MAP: a missing thread is all 0");
	eq_u64(sonde_list_number(&out.thread_map.threads, 0), 0,
	        "a list of structs has no numbers");
	eq_u64(sonde_list_get(&out.cpu_map.mask, 0, &target, sizeof(target)), 0,
	        "an empty list has no items");
	put(1, 4);
	put(2, 4);
	put(3, 8);
	for (unsigned i = 0; i < 4; i++) {
		put(100 + i, 8);
	}
	put(0, 4);
	ok(!decode(RECORD_NAMESPACES, 0, NULL),
	        "NAMESPACES with fewer items than its count is refused");
	eq_u64(out.namespaces.links.count, 2, "NAMESPACES: its two complete items are there");
	eq_u64(sonde_list_get(&out.namespaces.links, 1, &link, sizeof(link)), 1,
	        "NAMESPACES: the second item is read");
	ok(link.dev == 102 && link.ino == 103, "NAMESPACES: the second item has its numbers");
	eq_u64(sonde_list_get(&out.namespaces.links, 0, &link, 8), 1,
	        "an item is read into an older caller's smaller struct");
	ok(link.dev == 100 && link.ino == 103,
	        "only the bytes of an older caller's struct are written");
}

static void test_numbers(void)
{
	put(3, 8);
	put(42, 8);
	put(0, 2);
	put(2, 2);
	put(4, 2);
	put(65535, 2);
	ok(decode(RECORD_EVENT_UPDATE, 0, NULL), "EVENT_UPDATE with cpus is decoded");
	ok(out.event_update.id == 42 && out.event_update.cpus.nr == 2,
	        "EVENT_UPDATE: the struct inside has its numbers");
	eq_u64(out.event_update.cpus.cpus.count, 2,
	        "EVENT_UPDATE: the array of cpus has two numbers");
	eq_u64(sonde_list_number(&out.event_update.cpus.cpus, 1), 65535,
	        "EVENT_UPDATE: the second cpu is right");
	eq_u64(sonde_list_number(&out.event_update.cpus.cpus, 2), 0,
	        "EVENT_UPDATE: a number after the end of the array is 0");
	put(1, 4);
	put(0, 4);
	for (unsigned i = 0; i < 17; i++) {
		put(i == 16 ? 4 : i, 8);
	}
	put_text("main", 8);
	put(1, 8);
	ok(decode(RECORD_AUXTRACE_INFO, 0, NULL), "AUXTRACE_INFO of Intel PT is decoded");
	ok(out.auxtrace_info.type == 1 && out.auxtrace_info.intel_pt.cyc_bit == 14,
	        "AUXTRACE_INFO: type and cyc_bit are right");
	eq_mem(out.auxtrace_info.intel_pt.filter.p, "main", 4,
	        "AUXTRACE_INFO: the filter is right");
	eq_u64(out.auxtrace_info.intel_pt.cap_event_trace, 1,
	        "AUXTRACE_INFO: the field after the filter is right");
}

static void test_attr(void)
{
	struct sonde_attr attr;
	uint8_t *p = (uint8_t *)&attr;

	for (size_t i = 0; i < sizeof(attr); i++) {
		p[i] = (uint8_t)(i * 7 + 1);
	}
	attr.size = sizeof(attr);
	record_attr_encode_as(&attr, swap, body);
	used = sizeof(attr);
	put(5, 8);
	put(6, 8);
	ok(decode(RECORD_HEADER_ATTR, 0, NULL), "ATTR is decoded");
	eq_mem(&out.header_attr.attr, &attr, sizeof(attr),
	        "ATTR: every member of the attr is right");
	eq_u64(sonde_list_number(&out.header_attr.ids, 1), 6, "ATTR: the second id is right");
}

static void test_read(void)
{
	static const struct sonde_attr attr = {
	        .read_format = SONDE_READ_GROUP | SONDE_READ_ID | SONDE_READ_ENABLED};
	struct sonde_record_read_value value;
	struct record_plan plan;

	record_plan_make(&plan, &attr);
	put(1, 4);
	put(2, 4);
	put(2, 8);
	put(1000, 8);
	for (unsigned i = 0; i < 4; i++) {
		put(50 + i, 8);
	}
	ok(decode(RECORD_READ, 0, &plan), "READ of a group is decoded");
	ok(out.read.pid == 1 && out.read.nr == 2 && out.read.time_enabled == 1000,
	        "READ: its numbers are right");
	eq_u64(sonde_list_get(&out.read.values, 1, &value, sizeof(value)), 1,
	        "READ: the second value is read");
	ok(value.value == 52 && value.id == 53 && value.lost == 0,
	        "READ: the second value has the fields of read_format");
	ok(!typed_knows(RECORD_READ, NULL) && !typed_knows(40, &plan),
	        "READ without a plan, and unknown types, cannot be decoded");
	ok(typed_knows(RECORD_READ, &plan) && typed_knows(RECORD_COMM, NULL),
	        "READ with a plan, and COMM without one, can be decoded");
}

int main(void)
{
	test_tables();
	for (unsigned order = 0; order < 2; order++) {
		swap = order != 0;
		test_mmap2();
		test_lists();
		test_numbers();
		test_attr();
		test_read();
	}
	return tap_done();
}
