/* SPDX-License-Identifier: MIT */
/*
 * u8 flags (1: big-endian, 2: long has 4 bytes), u16 n, a format file of n bytes, and the data of a
 * sample: a program that its print format is compiled to reads nothing outside of the data, and
 * prints what libtraceevent prints.
 */
#include "trace/library.h"
#include "trace/program.h"
#include "trace/sound.h"
#include "trace/value.h"

#include <stdlib.h>

#define REACH 8u /* bytes that libtraceevent may read for each byte of data */
#define NULS  64u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* libtraceevent does not free everything. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libtraceevent";
}

static void put_number(struct text *t, uint64_t v, size_t size, bool big_endian)
{
	for (size_t i = 0; i < size; i++) {
		text_char(t, (char)(v >> 8 * (big_endian ? size - 1 - i : i)));
	}
}

static void make_blob(struct text *t, struct span format, unsigned flags)
{
	const bool big = (flags & 1) != 0;

	text_bytes(t, "\027\010\104tracing0.6", 14);
	put_number(t, big, 1, big);
	put_number(t, (flags & 2) != 0 ? 4 : 8, 1, big);
	put_number(t, 4096, 4, big);
	text_bytes(t, "header_page\0\0\0\0\0\0\0\0", 20);
	text_bytes(t, "header_event\0\0\0\0\0\0\0\0", 21);
	put_number(t, 0, 4, big);
	put_number(t, 1, 4, big);
	text_bytes(t, "sys", 4);
	put_number(t, 1, 4, big);
	put_number(t, format.n, 8, big);
	text_bytes(t, (const char *)format.p, format.n);
	put_number(t, 0, 4, big);
	put_number(t, 0, 4, big);
}

static void compare(struct trace_set *s, struct span data, const struct text *got)
{
	const struct trace_text_options options = {.home = NULL};
	const struct trace_program *program = s->events[0].program;
	struct text wanted = {0}, copy = {0};
	struct trace_library *l = NULL;

	text_bytes(&copy, (const char *)data.p, data.n);
	text_fill(&copy, '\0', REACH * data.n + NULS);
	s->events[0].program = NULL; /* the library leaves out events that have one */
	if (trace_library_new(&l, s, &options) >= 0 && l != NULL) {
		trace_library_put(l, (struct span){(const uint8_t *)copy.p, data.n}, 0, &wanted);
		if (got->n != wanted.n || (got->n != 0 && memcmp(got->p, wanted.p, got->n) != 0)) {
			abort();
		}
	}
	s->events[0].program = program;
	trace_library_free(l);
	text_fini(&wanted);
	text_fini(&copy);
}

/* Whether libtraceevent finds the event: by the number at the front of the data. */
static bool is_found(const struct trace_event *e)
{
	const struct trace_field *f = trace_event_field(e, SPAN_TEXT("common_type"));

	return f != NULL && f->offset == 0 && f->size == 2 && e->format.id <= UINT16_MAX &&
	       trace_format_is_sound(e->format.text);
}

static void run(struct trace_set *s, struct span rest)
{
	const struct trace_text_options options = {.home = NULL};
	const struct trace_event *e = &s->events[0];
	uint8_t *exact = malloc(rest.n + 1);
	struct span data = {exact, rest.n};
	struct text got = {0};

	if (exact != NULL) {
		memcpy(exact, rest.p, rest.n);
		if (rest.n > 1) { /* the number of the event, by which the library finds it */
			store_u16(exact, (uint16_t)e->format.id, s->big_endian != HOST_BIG_ENDIAN);
		}
		if (!trace_program_put(e->program, s, data, &options, &got)) {
			if (got.n != 0) {
				abort();
			}
		} else if (trace_values_fit(s, e, data) && is_found(e)) {
			compare(s, data, &got);
		}
	}
	text_fini(&got);
	free(exact);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trace_formats at;
	struct trace_format format;
	struct trace_blob open;
	struct trace_set set;
	struct text blob = {0};
	struct span bytes;
	size_t n;

	if (size < 3) {
		return 0;
	}
	n = (size_t)data[1] | (size_t)data[2] << 8;
	n = n < size - 3 ? n : size - 3;
	make_blob(&blob, (struct span){data + 3, n}, data[0]);
	bytes = (struct span){(const uint8_t *)blob.p, blob.n};
	if (trace_blob_open(bytes, &open)) {
		trace_formats_begin(&at, &open);
		if (trace_formats_next(&at, &format)) {
			if (trace_set_init(&set, bytes, &format.id, 1) >= 0 && set.nevents != 0 &&
			        set.events[0].program != NULL) {
				run(&set, (struct span){data + 3 + n, size - 3 - n});
			}
			trace_set_fini(&set);
		}
	}
	text_fini(&blob);
	return 0;
}
