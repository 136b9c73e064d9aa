/* SPDX-License-Identifier: MIT */
/* sonde/record.h: values of the walk over fields, in both byte orders. */
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

/* Walks over the bytes as a record of a type without an event, up to the field `name`. */
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
	ok(v != NULL && v->what == SONDE_FIELD_VALUE && v->kind == SONDE_KIND_SIGNED,
	        "pid of MMAP is a signed number");
	eq_u64(v->number, UINT64_MAX, "pid -1 is sign-extended");
	eq_u64(v->width, 4, "pid has a width of 4");
	eq_u64(v->size, 4, "pid has 4 bytes");
	v = find(it, RECORD_MMAP, "len");
	ok(v != NULL && v->number == 0x1000 && v->show == SONDE_SHOW_HEX,
	        "addr of MMAP is shown in hex");
	eq_str(v->unit, "B", "len of MMAP has the unit B");
	v = find(it, RECORD_MMAP, "filename");
	ok(v != NULL && v->kind == SONDE_KIND_TEXT && v->text_size == 6,
	        "filename of MMAP is a text without its padding");
	eq_mem(v->text, "/bin/a", 6, "filename of MMAP has the right characters");
	eq_u64(v->size, 8, "the size of filename includes the padding");
	eq_u64(sonde_fields_next(it, &v), 0, "the walk ends after the last field");
	ok(v == NULL, "at the end of a walk the value is NULL");
	eq_u64(sonde_fields_number(it, 0), 0, "at the end of a walk there is no number");
	eq_u64(sonde_fields_next(it, &v), 0, "a walk stays at its end");
	used = 20;
	ok(find(it, RECORD_MMAP, "addr") != NULL, "a cut MMAP has its first fields");
	ok(!sonde_fields_cut(it), "complete fields of a cut record are not marked as cut");
	eq_u64(sonde_fields_next(it, &v), 1, "a cut MMAP has one more step");
	ok(v->what == SONDE_FIELD_REST && v->size == 4,
	        "the last step of a cut MMAP is its remaining 4 bytes");
	ok(v->name == NULL && sonde_fields_cut(it),
	        "the record is marked as cut after its remaining bytes");
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
	ok(v != NULL && v->show == SONDE_SHOW_FLAGS, "flags of AUX are shown as flags");
	eq_u64(sonde_fields_part(it, 0, &part), 1, "flags of AUX have a first part");
	eq_str(part->name, "TRUNCATED", "the first flag of AUX is TRUNCATED");
	eq_u64(part->value, 1, "TRUNCATED is set");
	eq_u64(sonde_fields_part(it, 1, &part), 1, "flags of AUX have a second part");
	eq_u64(part->value, 0, "the second flag of AUX is not set");
	eq_u64(sonde_fields_part(it, 2, &part), 1, "flags of AUX have a third part");
	ok(part->mask == 4 && part->value == 1,
	        "the value of a part is shifted down from its mask");
	eq_u64(sonde_fields_part(it, 4, &part), 0, "flags of AUX have no fifth part");
	used = 0;
	put(0x1000, 8);
	put(64, 4);
	put(1, 2);
	put(0, 2);
	put_text("bpf_prog", 16);
	v = find(it, RECORD_KSYMBOL, "ksym_type");
	ok(v != NULL && v->show == SONDE_SHOW_NAME, "a number with a name is shown by name");
	eq_str(v->meaning, "bpf", "the name of the number is bpf");
	eq_u64(sonde_fields_part(it, 0, &part), 0, "a number with a name has no parts");
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
	ok(v != NULL && v->array && v->count == 3, "cpus is an array of 3 numbers");
	eq_u64(sonde_fields_number(it, 2), 65535, "the last number of cpus is read");
	eq_u64(sonde_fields_number(it, 3), 0, "a number after the end of cpus is 0");
	eq_u64(sonde_fields_numbers(it, 1, numbers, 4), 2,
	        "sonde_fields_numbers returns the two numbers from index 1 on");
	ok(numbers[0] == 6 && numbers[1] == 65535 && numbers[2] == 0,
	        "sonde_fields_numbers fills only existing numbers");
	v = find(it, RECORD_CPU_MAP, "pad");
	ok(v != NULL && v->empty, "zero padding is marked as empty");
	used = 0;
	put(2, 8);
	put(11, 8);
	put_text("first", 16);
	put(12, 8);
	put_text("second", 16);
	v = find(it, RECORD_THREAD_MAP, "threads");
	ok(v != NULL && v->what == SONDE_FIELD_LIST && v->count == 2,
	        "threads is a list of 2 items");
	eq_u64(sonde_fields_next(it, &v), 1, "a list continues with its first item");
	ok(v->what == SONDE_FIELD_STRUCT && v->name == NULL, "an item is a struct without a name");
	eq_u64(sonde_fields_next(it, &v), 1, "an item continues with its first field");
	eq_str(v->name, "pid", "the first field of a thread is pid");
}

static void test_layouts(struct sonde_fields *it)
{
	struct sonde_attr attr = {.type = 1, .size = 144, .flags = 1ull << SONDE_FLAG_FREQ};
	const struct sonde_field_part *part;
	const struct sonde_field *v;
	uint8_t bytes[144];

	attr.flags |= 2ull << SONDE_FLAG_PRECISE_IP | 1ull << 41; /* and an unknown one */
	record_attr_encode_as(&attr, swap, bytes);
	fields_begin_layout(it, layout_of_attr(), (struct span){bytes, 144}, swap, 0);
	while (sonde_fields_next(it, &v) > 0 && strcmp(v->name, "flags") != 0) {
	}
	ok(v != NULL && v->kind == SONDE_KIND_PARTS, "flags of an attr are shown in parts");
	eq_u64(v->number, attr.flags,
	        "flags of an attr are counted from the lowest bit, unknown ones too");
	eq_u64(sonde_fields_part(it, SONDE_FLAG_PRECISE_IP, &part), 1,
	        "precise_ip is a part of the flags");
	eq_str(part->name, "precise_ip", "the part has the name precise_ip");
	eq_u64(part->value, 2, "precise_ip of two bits is read in both byte orders");
	fields_begin_layout(it, NULL, (struct span){bytes, 9}, swap, 0);
	eq_u64(sonde_fields_next(it, &v), 1, "a record of an unknown type has one step");
	ok(v->what == SONDE_FIELD_REST && v->size == 9 && !sonde_fields_cut(it),
	        "all bytes of an unknown type are the rest, not cut");
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
	eq_str(sonde_record_type_name(RECORD_MMAP2), "MMAP2", "sonde_record_type_name knows MMAP2");
	ok(sonde_record_type_name(40) == NULL, "an unknown record type has no name");
	eq_str(sonde_record_misc_name(RECORD_COMM, 2 | MISC_COMM_EXEC, 1), "COMM_EXEC",
	        "misc of COMM: COMM_EXEC is named after the mode");
	eq_str(sonde_record_misc_name(RECORD_COMM, MISC_COMM_EXEC, 0), "COMM_EXEC",
	        "misc of COMM without mode: COMM_EXEC is the first name");
	ok(sonde_record_misc_name(RECORD_COMM, 2, 1) == NULL,
	        "misc of COMM has no name after the last");
	ok(sonde_record_misc_name(RECORD_FINISHED_ROUND, 1, 0) == NULL,
	        "misc of the tool's records has no mode");
	sonde_fields_free(it);
	sonde_fields_free(NULL);
	return tap_done();
}
