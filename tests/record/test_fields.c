/* SPDX-License-Identifier: MIT */
/* sonde/record.h: what the walk over fields says, in both byte orders. */
#include "abi/abi.h"
#include "record/fields.h"
#include "tests/tap.h"

#include <stdlib.h>

static uint8_t body[256];
static size_t used;
static bool swap;

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

/* The walk over what was put, as a record of a type without an event, up to the field `name`. */
static const struct sonde_field *find(struct sonde_fields *it, uint32_t type, const char *name)
{
	const struct record r = {.type = type, .body = {body, used}};
	const struct sonde_field *v;

	fields_begin_record(it, &r, swap, NULL, 0);
	while (sonde_fields_next(it, &v) > 0) {
		if (v->name != NULL && strcmp(v->name, name) == 0) {
			return v;
		}
	}
	return NULL;
}

static void test_mmap(struct sonde_fields *it)
{
	const struct sonde_field *v;

	used = 0;
	put((uint32_t)-1, 4);
	put(7, 4);
	put(0x400000, 8);
	put(0x1000, 8);
	put(0, 8);
	put_text("/bin/a", 8);
	v = find(it, RECORD_MMAP, "pid");
	ok(v != NULL && v->what == SONDE_FIELD_VALUE && v->kind == SONDE_KIND_SIGNED, "a number");
	eq_u64(v->number, UINT64_MAX, "with its sign");
	eq_u64(v->width, 4, "with its width");
	eq_u64(v->size, 4, "and bytes");
	v = find(it, RECORD_MMAP, "len");
	ok(v != NULL && v->number == 0x1000 && v->show == SONDE_SHOW_HEX, "shown in hex");
	eq_str(v->unit, "B", "a unit");
	v = find(it, RECORD_MMAP, "filename");
	ok(v != NULL && v->kind == SONDE_KIND_TEXT && v->text_size == 6, "a text");
	eq_mem(v->text, "/bin/a", 6, "without its padding");
	eq_u64(v->size, 8, "which its bytes have");
	eq_u64(sonde_fields_next(it, &v), 0, "the end");
	ok(v == NULL, "gives nothing");
	eq_u64(sonde_fields_number(it, 0), 0, "and no number");
	eq_u64(sonde_fields_next(it, &v), 0, "and stays");
	used = 20;
	ok(find(it, RECORD_MMAP, "addr") != NULL, "a cut record has its first fields");
	ok(!sonde_fields_cut(it), "which fit");
	eq_u64(sonde_fields_next(it, &v), 1, "then");
	ok(v->what == SONDE_FIELD_REST && v->size == 4, "the rest");
	ok(v->name == NULL && sonde_fields_cut(it), "is too short");
}

static void test_names(struct sonde_fields *it)
{
	const struct sonde_field_part *part;
	const struct sonde_field *v;

	used = 0;
	put(64, 8);
	put(128, 8);
	put(1 | 4, 8);
	v = find(it, RECORD_AUX, "flags");
	ok(v != NULL && v->show == SONDE_SHOW_FLAGS, "flags");
	eq_u64(sonde_fields_part(it, 0, &part), 1, "have parts");
	eq_str(part->name, "TRUNCATED", "with names");
	eq_u64(part->value, 1, "that are set");
	eq_u64(sonde_fields_part(it, 1, &part), 1, "or");
	eq_u64(part->value, 0, "not");
	eq_u64(sonde_fields_part(it, 2, &part), 1, "and masks");
	ok(part->mask == 4 && part->value == 1, "moved down");
	eq_u64(sonde_fields_part(it, 4, &part), 0, "up to the last");
	used = 0;
	put(0x1000, 8);
	put(64, 4);
	put(1, 2);
	put(0, 2);
	put_text("bpf_prog", 16);
	v = find(it, RECORD_KSYMBOL, "ksym_type");
	ok(v != NULL && v->show == SONDE_SHOW_NAME, "numbers with names");
	eq_str(v->meaning, "bpf", "the name");
	eq_u64(sonde_fields_part(it, 0, &part), 0, "no parts");
}

static void test_lists(struct sonde_fields *it)
{
	const struct sonde_field *v;
	uint64_t numbers[4] = {0};

	used = 0;
	put(0, 2);
	put(3, 2);
	put(5, 2);
	put(6, 2);
	put(65535, 2);
	put(0, 6);
	v = find(it, RECORD_CPU_MAP, "cpus");
	ok(v != NULL && v->array && v->count == 3, "an array");
	eq_u64(sonde_fields_number(it, 2), 65535, "its last number");
	eq_u64(sonde_fields_number(it, 3), 0, "and none behind");
	eq_u64(sonde_fields_numbers(it, 1, numbers, 4), 2, "several at once");
	ok(numbers[0] == 6 && numbers[1] == 65535 && numbers[2] == 0, "in their places");
	v = find(it, RECORD_CPU_MAP, "pad");
	ok(v != NULL && v->empty, "padding is told as such");
	used = 0;
	put(2, 8);
	put(11, 8);
	put_text("first", 16);
	put(12, 8);
	put_text("second", 16);
	v = find(it, RECORD_THREAD_MAP, "threads");
	ok(v != NULL && v->what == SONDE_FIELD_LIST && v->count == 2, "a list");
	eq_u64(sonde_fields_next(it, &v), 1, "of");
	ok(v->what == SONDE_FIELD_STRUCT && v->name == NULL, "structs without names");
	eq_u64(sonde_fields_next(it, &v), 1, "with");
	eq_str(v->name, "pid", "fields");
}

static void test_layouts(struct sonde_fields *it)
{
	struct sonde_attr attr = {.type = 1, .size = 144, .flags = 1ull << SONDE_FLAG_FREQ};
	const struct sonde_field_part *part;
	const struct sonde_field *v;
	uint8_t bytes[144];

	attr.flags |= 2ull << SONDE_FLAG_PRECISE_IP | 1ull << 41; /* one that nobody knows */
	record_attr_encode_as(&attr, swap, bytes);
	fields_begin_layout(it, layout_of_attr(), (struct span){bytes, 144}, swap, 0);
	while (sonde_fields_next(it, &v) > 0 && strcmp(v->name, "flags") != 0) {
	}
	ok(v != NULL && v->kind == SONDE_KIND_PARTS, "flags of an attr");
	eq_u64(v->number, attr.flags, "from the lowest bit, known or not");
	eq_u64(sonde_fields_part(it, SONDE_FLAG_PRECISE_IP, &part), 1, "two bits");
	eq_str(part->name, "precise_ip", "with a name");
	eq_u64(part->value, 2, "stand in both byte orders");
	fields_begin_layout(it, NULL, (struct span){bytes, 9}, swap, 0);
	eq_u64(sonde_fields_next(it, &v), 1, "what nobody knows");
	ok(v->what == SONDE_FIELD_REST && v->size == 9 && !sonde_fields_cut(it), "is all rest");
}

int main(void)
{
	struct sonde_fields *it = sonde_fields_new();
	const struct sonde_field *v;

	if (it == NULL) {
		abort();
	}
	eq_u64(sonde_fields_next(it, &v), 0, "a new walk is at its end");
	for (unsigned order = 0; order < 2; order++) {
		swap = order != 0;
		test_mmap(it);
		test_names(it);
		test_lists(it);
		test_layouts(it);
	}
	eq_str(sonde_record_type_name(RECORD_MMAP2), "MMAP2", "a type's name");
	ok(sonde_record_type_name(40) == NULL, "and none");
	eq_str(sonde_record_misc_name(RECORD_COMM, 2 | MISC_COMM_EXEC, 1), "COMM_EXEC", "misc");
	eq_str(sonde_record_misc_name(RECORD_COMM, MISC_COMM_EXEC, 0), "COMM_EXEC", "without mode");
	ok(sonde_record_misc_name(RECORD_COMM, 2, 1) == NULL, "up to the last");
	ok(sonde_record_misc_name(RECORD_FINISHED_ROUND, 1, 0) == NULL, "no mode in the tool's");
	sonde_fields_free(it);
	sonde_fields_free(NULL);
	return tap_done();
}
