/* SPDX-License-Identifier: MIT */
/* Values of a tracepoint's fields, as numbers, bytes and text. */
#include "trace/value.h"

#include "tap.h"

static struct trace_set made(bool big_endian)
{
	return (struct trace_set){.big_endian = big_endian, .long_size = 8};
}

static void is_text(const struct trace_field *f, const void *data, size_t n, const char *wanted,
        const char *what)
{
	struct trace_set set = made(HOST_BIG_ENDIAN);
	struct text out = {0};

	trace_value_text(&set, f, (struct span){data, n}, &out);
	ok(out.n == strlen(wanted) && (out.n == 0 || memcmp(out.p, wanted, out.n) == 0), what);
	text_fini(&out);
}

static void test_numbers(void)
{
	static const int64_t negative = -2;
	static const uint64_t large = 0xfedcba98;
	struct trace_field f = {.size = 4, .flags = TRACE_SIGNED};

	is_text(&f, &negative, 8, "-2", "a signed number is printed with its sign");
	f = (struct trace_field){.size = 8, .flags = TRACE_SIGNED};
	is_text(&f, &negative, 8, "-2", "a signed number of 8 bytes is printed with its sign");
	f = (struct trace_field){.size = 8};
	is_text(&f, &large, 8, "4275878552", "an unsigned number is decimal");
	f = (struct trace_field){.size = 8, .flags = TRACE_LONG};
	is_text(&f, &large, 8, "0xfedcba98", "an unsigned long is hexadecimal");
	f = (struct trace_field){.size = 8, .flags = TRACE_POINTER};
	is_text(&f, &large, 8, "0xfedcba98", "a pointer is hexadecimal");
	is_text(&f, &large, 7, "", "a number that is cut short has no text");
}

static void test_arrays(void)
{
	static const uint8_t bytes[] = {'h', 'i', 0, 0x80};
	struct trace_field f = {.size = 3, .flags = TRACE_ARRAY | TRACE_STRING};

	is_text(&f, bytes, 4, "hi", "an array of characters is a text up to its NUL");
	f = (struct trace_field){.offset = 3, .size = 1, .flags = TRACE_ARRAY | TRACE_STRING};
	is_text(&f, bytes, 4, "ARRAY[80]", "characters that cannot be printed are bytes");
	f = (struct trace_field){.offset = 2, .size = 2, .flags = TRACE_ARRAY | TRACE_STRING};
	is_text(&f, bytes, 4, "ARRAY[00, 80]", "bytes that begin with a zero are no empty text");
	f.type = SPAN_TEXT("char");
	is_text(&f, bytes, 4, "", "characters that begin with a NUL are an empty text");
	f = (struct trace_field){.size = 2, .flags = TRACE_ARRAY};
	is_text(&f, bytes, 4, "ARRAY[68, 69]", "other arrays are bytes");
}

/* u32 where: u16 offset, u16 size; then the text "eth0". */
static void test_dynamic(void)
{
	struct trace_set set = made(true);
	const struct trace_field from_data = {
	        .size = 4, .flags = TRACE_ARRAY | TRACE_STRING | TRACE_DYNAMIC};
	const struct trace_field from_field = {
	        .size = 4, .flags = TRACE_ARRAY | TRACE_STRING | TRACE_DYNAMIC | TRACE_RELATIVE};
	uint8_t data[] = {0, 5, 0, 5, 'e', 't', 'h', '0', 0, 0};
	struct span all = {data, sizeof(data)}, out;

	ok(trace_value(&set, &from_data, all, &out) && out.p == data + 5 && out.n == 5,
	        "the offset of a dynamic field counts from the data's start");
	data[3] = 1;
	ok(trace_value(&set, &from_field, all, &out) && out.p == data + 5 && out.n == 5,
	        "the offset of a relative field counts from the field's end");
	data[3] = 2;
	ok(!trace_value(&set, &from_field, all, &out),
	        "a dynamic field that ends after the data is not read");
	eq_u64(trace_number(&set, (struct span){data, 2}), 5,
	        "numbers are in the recorded machine's byte order");
}

int main(void)
{
	test_numbers();
	test_arrays();
	test_dynamic();
	return tap_done();
}
