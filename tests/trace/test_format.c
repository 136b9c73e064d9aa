/* SPDX-License-Identifier: MIT */
/* Formats of tracepoints: the blob that the recorder made, and the fields of a format. */
#include "trace/format.h"

#include "core/text.h"
#include "tap.h"

static struct span bytes_of(const struct text *t)
{
	return (struct span){(const uint8_t *)t->p, t->n};
}

static void put_file(struct text *t, const char *s)
{
	uint64_t n = strlen(s);

	text_bytes(t, (const char *)&n, sizeof(n));
	text_str(t, s);
}

static void put_count(struct text *t, uint32_t n)
{
	text_bytes(t, (const char *)&n, sizeof(n));
}

/* Two systems; the second one's only event has the id 47. */
static void make_blob(struct text *t)
{
	text_bytes(t, "\027\010\104tracing0.6", 14);
	text_char(t, (char)HOST_BIG_ENDIAN);
	text_char(t, 8);
	put_count(t, 4096);
	text_bytes(t, "header_page", 12);
	put_file(t, "page");
	text_bytes(t, "header_event", 13);
	put_file(t, "event");
	put_count(t, 1);
	put_file(t, "name: function\nID: 1\n");
	put_count(t, 2);
	text_bytes(t, "irq", 4);
	put_count(t, 0);
	text_bytes(t, "sched", 6);
	put_count(t, 1);
	put_file(t, "name: sched_switch\nID: 47\nformat:\n"
	            "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
	            "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:1;\n"
	            "\tfield:__data_loc char[] why;\toffset:24;\tsize:4;\tsigned:1;\n"
	            "\tfield:unsigned long flags;\toffset:32;\tsize:8;\tsigned:0;\n"
	            "\tfield:const char * text;\toffset:40;\tsize:8;\tsigned:0;\n"
	            "\tfield:u32 list[0x2];\toffset:48;\tsize:8;\tsigned:0;\n"
	            "\tfield:__rel_loc u8[] rest;\toffset:56;\tsize:4;\tsigned:0;\n"
	            "\tfield:int far;\toffset:70000;\tsize:4;\tsigned:1;\n"
	            "\nprint fmt: \"%s\", REC->prev_comm\n");
	put_count(t, 0);
	put_count(t, 12);
	text_bytes(t, "0x1 : \"one\"\n", 12);
}

static void test_find(const struct text *t)
{
	struct trace_format format;
	struct trace_formats at;
	struct trace_blob blob;

	ok(trace_blob_open(bytes_of(t), &blob), "a blob is opened");
	ok(blob.long_size == 8 && blob.big_endian == HOST_BIG_ENDIAN,
	        "the blob has the size of long and the byte order of its machine");
	trace_formats_begin(&at, &blob);
	ok(trace_formats_next(&at, &format) && format.id == 47, "the blob's only format is listed");
	ok(!trace_formats_next(&at, &format), "the list of formats ends");
	ok(span_is(trace_formats_printk(&at), "0x1 : \"one\"\n"),
	        "the texts of trace_printk follow the formats");
	ok(trace_format_find(bytes_of(t), 47, &format), "a tracepoint is found by its id");
	ok(span_is(format.system, "sched") && span_is(format.name, "sched_switch"),
	        "a tracepoint has its system and name");
	ok(span_is(trace_format_print(&format), "\"%s\", REC->prev_comm"),
	        "a tracepoint has a print format");
	ok(!trace_format_find(bytes_of(t), 1, &format),
	        "events of the function tracer are not found");
}

static void test_fields(const struct text *t)
{
	static const struct {
		const char *name, *type;
		uint32_t offset, size;
		unsigned flags;
	} wanted[] = {
	        {"common_type", "unsigned short", 0, 2, TRACE_COMMON},
	        {"prev_comm", "char", 8, 16, TRACE_ARRAY | TRACE_STRING | TRACE_SIGNED},
	        {"why", "__data_loc char[]", 24, 4,
	                TRACE_ARRAY | TRACE_STRING | TRACE_DYNAMIC | TRACE_SIGNED},
	        {"flags", "unsigned long", 32, 8, TRACE_LONG},
	        {"text", "const char *", 40, 8, TRACE_POINTER},
	        {"list", "u32", 48, 8, TRACE_ARRAY},
	        {"rest", "__rel_loc u8[]", 56, 4,
	                TRACE_ARRAY | TRACE_STRING | TRACE_DYNAMIC | TRACE_RELATIVE},
	};
	struct trace_format format;
	struct trace_field field;
	size_t at = 0;
	bool good = true;

	(void)trace_format_find(bytes_of(t), 47, &format);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		good = good && trace_field_next(&format, &at, &field) &&
		       span_is(field.name, wanted[i].name) && span_is(field.type, wanted[i].type) &&
		       field.offset == wanted[i].offset && field.size == wanted[i].size &&
		       field.flags == wanted[i].flags;
	}
	ok(good, "fields have their names, types, offsets, sizes and flags");
	ok(!trace_field_next(&format, &at, &field), "a field outside of 64 KiB is skipped");
	ok(trace_field_find(&format, SPAN_TEXT("why"), &field) && field.offset == 24,
	        "a field is found by its name");
	ok(!trace_field_find(&format, SPAN_TEXT("common_type"), &field) &&
	                !trace_field_find(&format, SPAN_TEXT("x"), &field),
	        "fields of all tracepoints and unknown ones are not found");
}

/* The place where the last format ends: what follows it is not needed to find it. */
static size_t end_of_formats(const struct text *t)
{
	return t->n - 12 - 2 * sizeof(uint32_t);
}

static void test_cuts(const struct text *t)
{
	struct trace_format format;
	bool good = true;

	for (size_t n = 0; n < end_of_formats(t); n++) {
		struct span cut = {(const uint8_t *)t->p, n};

		good = good && !trace_format_find(cut, 47, &format);
	}
	ok(good, "a tracepoint is not found in a blob that is cut before its end");
}

int main(void)
{
	struct text t = {0};

	make_blob(&t);
	test_find(&t);
	test_fields(&t);
	test_cuts(&t);
	text_fini(&t);
	return tap_done();
}
