/* SPDX-License-Identifier: MIT */
/*
 * Print formats as programs: the texts of all that are compiled are libtraceevent's. The formats are
 * those below, random ones, those of this machine's tracefs, and those of the recordings that are
 * arguments or in the folder $SONDE_CORPUS.
 */
#define _GNU_SOURCE
#include "trace/library.h"
#include "trace/program.h"
#include "trace/value.h"

#include "tap.h"

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

/* libtraceevent does not free everything after an expression that it cannot parse. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libtraceevent";
}

#define EVENTS      "/sys/kernel/tracing/events"
#define CONTENTS    60u /* random samples of each event */
#define DAMAGED     20u /* random bytes of each event */
#define DATA_MAX    16384u
#define PADDING     64u
#define SHOWN_MAX   20u
#define EXPRESSIONS 3000u

/* A blob of tracing data that is being made, and the ids of its events. */
struct blob {
	struct text text;
	bool big_endian;
	size_t nids;
	uint64_t ids[8192];
};

static void store(uint8_t *p, uint64_t v, size_t size, bool big_endian)
{
	for (size_t i = 0; i < size; i++) {
		p[big_endian ? size - 1 - i : i] = (uint8_t)(v >> 8 * i);
	}
}

static void put_number(struct blob *b, uint64_t v, size_t size)
{
	uint8_t bytes[8];

	store(bytes, v, size, b->big_endian);
	text_bytes(&b->text, (const char *)bytes, size);
}

static void blob_begin(struct blob *b, bool big_endian)
{
	*b = (struct blob){.big_endian = big_endian};
	text_bytes(&b->text, "\027\010\104tracing0.6", 14);
	put_number(b, big_endian, 1);
	put_number(b, 8, 1);
	put_number(b, 4096, 4);
	text_bytes(&b->text, "header_page\0\0\0\0\0\0\0\0", 20);
	text_bytes(&b->text, "header_event\0\0\0\0\0\0\0\0", 21);
	put_number(b, 0, 4);
}

static void blob_add_format(struct blob *b, const char *text, size_t n)
{
	const char *id = strstr(text, "\nID: ");

	put_number(b, n, 8);
	text_bytes(&b->text, text, n);
	if (id != NULL && b->nids < sizeof(b->ids) / sizeof(*b->ids)) {
		b->ids[b->nids++] = strtoull(id + 5, NULL, 10);
	}
}

/* Random numbers that are the same in each run. */
static uint64_t random_of(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state * 0x2545f4914f6cdd1d;
}

/* Small numbers and negative ones more often than others. */
static void random_number(uint64_t *state, uint8_t *out, size_t size)
{
	static const uint8_t bits[] = {0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 31, 32, 48, 63, 64};
	unsigned n = bits[random_of(state) % sizeof(bits)];
	uint64_t v = n != 0 ? random_of(state) >> (64 - n) : 0;

	v = random_of(state) % 8 == 0 ? 0 - v : v;
	for (size_t i = 0; i < size; i++) {
		out[HOST_BIG_ENDIAN && size <= 8 ? size - 1 - i : i] =
		        i < 8 ? (uint8_t)(v >> 8 * i) : (uint8_t)random_of(state);
	}
}

static void random_text(uint64_t *state, uint8_t *out, size_t size)
{
	size_t n = random_of(state) % (size + 1);

	for (size_t i = 0; i < size; i++) {
		out[i] = i < n ? (uint8_t)(1 + random_of(state) %
		                                       (random_of(state) % 8 != 0 ? 126 : 255))
		               : 0;
	}
}

/* Fills the data of a sample: all fields, and the bytes of dynamic ones after them. */
static size_t random_data(uint64_t *state, const struct trace_event *e, uint8_t *data)
{
	size_t n = e->extent;

	memset(data, 0, DATA_MAX);
	for (size_t i = 0; i < e->nfields; i++) {
		const struct trace_field *f = &e->fields[i];
		size_t size = random_of(state) % 24;
		uint8_t *p = data + f->offset;
		uint32_t where;

		if ((f->flags & TRACE_DYNAMIC) == 0) {
			if ((f->flags & TRACE_STRING) != 0) {
				random_text(state, p, f->size);
			} else if ((f->flags & TRACE_COUNT) != 0) {
				memset(p, 0, f->size);
				p[HOST_BIG_ENDIAN ? f->size - 1 : 0] =
				        (uint8_t)(random_of(state) % 9);
			} else {
				random_number(state, p, f->size);
			}
			continue;
		}
		if (n + size > DATA_MAX) {
			continue;
		}
		size = (f->flags & TRACE_STRING) != 0 ? size : size / 8 * 8;
		where = (uint32_t)(n | size << 16);
		where -= (f->flags & TRACE_RELATIVE) != 0 ? f->offset + f->size : 0;
		memcpy(p, &where, f->size < 4 ? f->size : 4);
		random_text(state, data + n, size);
		n += size;
	}
	memset(data, 0, e->extent < 2 ? e->extent : 2);
	memcpy(data, &(uint16_t){(uint16_t)e->format.id}, e->extent < 2 ? 0 : 2);
	return n;
}

struct result {
	unsigned events, compiled, samples, left, differ;
};

static bool find(void *arg, uint64_t address, struct trace_symbol *out)
{
	(void)arg;
	*out = (struct trace_symbol){.name = "a_function", .start = address & ~(uint64_t)0xff};
	if (address % 4 == 0) {
		out->module = "a_module";
	}
	return address % 2 == 0;
}

/* Compares texts, and shows the first ones that differ. */
static bool differ(const struct trace_event *e, const struct text *got, const struct text *wanted,
        unsigned before)
{
	if (got->n == wanted->n && (got->n == 0 || memcmp(got->p, wanted->p, got->n) == 0)) {
		return false;
	}
	if (before < SHOWN_MAX) {
		struct span print = trace_format_print(&e->format);

		printf("# %.*s: %.*s\n#  program %.*s\n#  library %.*s\n", (int)e->format.name.n,
		        (const char *)e->format.name.p, (int)print.n, (const char *)print.p,
		        (int)got->n, got->p, (int)wanted->n, wanted->p);
	}
	return true;
}

static void compare(const struct trace_set *s, const struct trace_event *e, struct trace_library *l,
        const struct trace_text_options *o, struct result *r)
{
	static uint8_t data[9 * DATA_MAX + PADDING];
	struct text got = {0}, wanted = {0};
	uint64_t state = 0x9e3779b97f4a7c15 + e->format.id;

	for (unsigned k = 0; k < CONTENTS; k++) {
		size_t n = random_data(&state, e, data);
		struct span span = {data, n};

		got.n = wanted.n = 0;
		r->samples++;
		if (!trace_values_fit(s, e, span) ||
		        !trace_program_put(e->program, s, span, o, &got)) {
			r->left++;
			continue;
		}
		trace_library_put(l, span, 0, &wanted);
		if (differ(e, &got, &wanted, r->differ)) {
			r->differ++;
			break;
		}
	}
	text_fini(&got);
	text_fini(&wanted);
}

/* Random bytes of any length: texts that are printed are libtraceevent's, others leave nothing. */
static void compare_damaged(const struct trace_set *s, const struct trace_event *e,
        struct trace_library *l, const struct trace_text_options *o, struct result *r)
{
	static uint8_t padded[9 * DATA_MAX + PADDING];
	struct text got = {0}, wanted = {0};
	uint64_t state = 0x123456789abcdef + e->format.id;

	for (unsigned k = 0; k < DAMAGED; k++) {
		size_t n = random_of(&state) % (e->extent + 40u);
		uint8_t *data = malloc(n + 1); /* of its size, so that ASAN sees reads after it */
		struct span span = {data, n};
		bool printed;

		for (size_t i = 0; i < n; i++) {
			data[i] = random_of(&state) % 3 != 0 ? 0 : (uint8_t)random_of(&state);
		}
		if (n >= 2) {
			memcpy(data, &(uint16_t){(uint16_t)e->format.id}, 2);
		}
		got.n = wanted.n = 0;
		printed = trace_program_put(e->program, s, span, o, &got);
		r->differ += !printed && got.n != 0;
		if (printed && trace_values_fit(s, e, span)) {
			memset(padded, 0, sizeof(padded));
			memcpy(padded, data, n);
			trace_library_put(l, (struct span){padded, n}, 0, &wanted);
			r->differ += differ(e, &got, &wanted, r->differ);
		}
		free(data);
	}
	text_fini(&got);
	text_fini(&wanted);
}

/* Makes a library that knows all events, those with programs too. */
static int oracle_new(
        struct trace_library **out, struct trace_set *s, const struct trace_text_options *o)
{
	const struct trace_program **programs = calloc(s->nevents + 1, sizeof(void *));
	int rc;

	for (size_t i = 0; i < s->nevents; i++) {
		programs[i] = s->events[i].program;
		s->events[i].program = NULL;
	}
	rc = trace_library_new(out, s, o);
	for (size_t i = 0; i < s->nevents; i++) {
		s->events[i].program = programs[i];
	}
	free(programs);
	return rc;
}

static struct result compare_all(struct span bytes, const uint64_t *ids, size_t nids)
{
	const struct trace_text_options options = {.find = find};
	struct trace_library *l = NULL;
	struct result r = {0};
	struct trace_set s;

	if (trace_set_init(&s, bytes, ids, nids) < 0 || oracle_new(&l, &s, &options) < 0) {
		r.differ = 1;
	}
	for (size_t i = 0; i < s.nevents; i++) {
		const struct trace_event *e = &s.events[i];

		r.events++;
		if (e->program != NULL && e->extent < DATA_MAX / 2) {
			r.compiled++;
			compare(&s, e, l, &options, &r);
			compare_damaged(&s, e, l, &options, &r);
		} else if (getenv("SHOW_REFUSED") != NULL) {
			struct span print = trace_format_print(&e->format);

			printf("# refused %.*s: %.*s\n", (int)e->format.name.n,
			        (const char *)e->format.name.p, (int)print.n,
			        (const char *)print.p);
		}
	}
	trace_library_free(l);
	trace_set_fini(&s);
	return r;
}

static void read_into(struct text *out, const char *path)
{
	FILE *f = fopen(path, "rb");
	char buffer[65536];
	size_t n;

	out->n = 0;
	while (f != NULL && (n = fread(buffer, 1, sizeof(buffer), f)) != 0) {
		text_bytes(out, buffer, n);
	}
	if (f != NULL) {
		(void)fclose(f);
	}
}

/* Adds the formats of a system: names are counted first. */
static void add_system(struct blob *b, const char *system)
{
	char path[1024];
	struct text text = {0}, formats = {0};
	struct dirent *d;
	uint32_t n = 0;
	size_t at;
	DIR *dir;

	(void)snprintf(path, sizeof(path), EVENTS "/%s", system);
	dir = opendir(path);
	text_bytes(&b->text, system, strlen(system) + 1);
	at = b->text.n;
	put_number(b, 0, 4);
	while (dir != NULL && (d = readdir(dir)) != NULL) {
		(void)snprintf(path, sizeof(path), EVENTS "/%s/%s/format", system, d->d_name);
		read_into(&text, path);
		if (text.n != 0) {
			text_char(&text, '\0');
			blob_add_format(b, text.p, text.n - 1);
			n++;
		}
	}
	memcpy(b->text.p + at, &n, 4);
	if (dir != NULL) {
		(void)closedir(dir);
	}
	text_fini(&text);
	text_fini(&formats);
}

static void test_machine(void)
{
	static struct blob b;
	struct dirent *d;
	struct result r;
	uint32_t n = 0;
	size_t at;
	DIR *dir = opendir(EVENTS);

	if (dir == NULL || !trace_library_present()) {
		skip("print formats of this machine: no tracefs that can be read, or no library");
		return;
	}
	blob_begin(&b, HOST_BIG_ENDIAN);
	at = b.text.n;
	put_number(&b, 0, 4);
	while ((d = readdir(dir)) != NULL) {
		if (d->d_type == DT_DIR && d->d_name[0] != '.' &&
		        strcmp(d->d_name, "ftrace") != 0) {
			add_system(&b, d->d_name);
			n++;
		}
	}
	(void)closedir(dir);
	memcpy(b.text.p + at, &n, 4);
	r = compare_all((struct span){(const uint8_t *)b.text.p, b.text.n}, b.ids, b.nids);
	printf("# this machine: %u events, %u compiled; %u samples, %u left to the library\n",
	        r.events, r.compiled, r.samples, r.left);
	ok(r.events > 0 && r.compiled > r.events * 9 / 10 && r.left < r.samples / 10,
	        "over 90% of this machine's print formats are compiled");
	eq_u64(r.differ, 0, "the texts of this machine's print formats are libtraceevent's");
	text_fini(&b.text);
}

/* The event of the formats below, and the data of its sample. */
static const char fields[] =
        "name: ev\nID: 5\nformat:\n"
        "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
        "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
        "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
        "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
        "\tfield:int i;\toffset:8;\tsize:4;\tsigned:1;\n"
        "\tfield:unsigned int u;\toffset:12;\tsize:4;\tsigned:0;\n"
        "\tfield:long l;\toffset:16;\tsize:8;\tsigned:1;\n"
        "\tfield:short h;\toffset:24;\tsize:2;\tsigned:1;\n"
        "\tfield:u8 b;\toffset:26;\tsize:1;\tsigned:0;\n"
        "\tfield:char c[5];\toffset:27;\tsize:5;\tsigned:0;\n"
        "\tfield:__data_loc char[] d;\toffset:32;\tsize:4;\tsigned:0;\n"
        "\tfield:u16 w[4];\toffset:36;\tsize:8;\tsigned:0;\n"
        "\tfield:int z;\toffset:44;\tsize:4;\tsigned:1;\n"
        "\tfield:const char * s;\toffset:48;\tsize:8;\tsigned:0;\n"
        "\tfield:__data_loc u32[] e;\toffset:56;\tsize:4;\tsigned:0;\n"
        "\tfield:__rel_loc char[] r;\toffset:60;\tsize:4;\tsigned:0;\n"
        "\tfield:__u8 addr[16];\toffset:64;\tsize:16;\tsigned:0;\n"
        "\tfield:__u8 ip[4];\toffset:80;\tsize:4;\tsigned:0;\n"
        "\tfield:char n[4];\toffset:84;\tsize:0;\tsigned:0;\n\nprint fmt: ";

static size_t fill_data(uint8_t *p, bool big_endian)
{
	static const char hello[] = "hello", wxyz[] = "wxyz";
	static const uint8_t ip[] = {192, 168, 1, 2};

	memset(p, 0, 512);
	store(p, 5, 2, big_endian);
	store(p + 8, (uint32_t)-3, 4, big_endian);
	store(p + 12, 0xfffffff0, 4, big_endian);
	store(p + 16, (uint64_t)-78187493530, 8, big_endian);
	store(p + 24, (uint16_t)-2, 2, big_endian);
	p[26] = 0x9c;
	store(p + 32, 84 | 5 << 16, 4, big_endian);
	for (size_t i = 0; i < 4; i++) {
		store(p + 36 + 2 * i, i == 1 ? 0x8002 : i + 1, 2, big_endian);
	}
	store(p + 48, 0xffffffff81000010, 8, big_endian);
	store(p + 56, 92 | 8 << 16, 4, big_endian);
	store(p + 60, (84 - 64) | 5 << 16, 4, big_endian);
	for (size_t i = 0; i < 16; i++) {
		p[64 + i] = i > 3 && i < 9 ? 0 : (uint8_t)(i + 1);
	}
	memcpy(p + 80, ip, sizeof(ip));
	for (size_t i = 0; i < 5; i++) {
		p[27 + i] = (uint8_t)hello[i]; /* without a NUL */
		p[84 + i] = (uint8_t)wxyz[i];
	}
	store(p + 92, 0x84030201, 4, big_endian);
	store(p + 96, 7, 4, big_endian);
	return 100;
}

/* The line break is no part of the text. */
static const char constants[] = "0xffffffff81000010 : \"constant\\n\"\n";

/* Makes a blob with that event and a print format. */
static void make_blob(struct blob *b, const char *print, bool big_endian)
{
	struct text format = {0};

	blob_begin(b, big_endian);
	text_str(&format, fields);
	text_str(&format, print);
	text_str(&format, "\n");
	text_char(&format, '\0');
	put_number(b, 1, 4);
	text_bytes(&b->text, "sys", 4);
	put_number(b, 1, 4);
	blob_add_format(b, format.p, format.n - 1);
	put_number(b, 0, 4); /* no kallsyms */
	put_number(b, strlen(constants), 4);
	text_str(&b->text, constants);
	text_fini(&format);
}

/* Prints the data of the event; false: its format was not compiled. */
static bool print_event(const char *print, bool big_endian, struct text *got, struct text *wanted)
{
	static const struct trace_text_options options = {.find = find};
	static struct blob b;
	uint8_t data[512];
	const size_t n = fill_data(data, big_endian);
	struct trace_library *l = NULL;
	struct trace_set s;
	bool compiled;

	got->n = wanted->n = 0;
	make_blob(&b, print, big_endian);
	compiled = trace_set_init(&s, (struct span){(const uint8_t *)b.text.p, b.text.n}, b.ids,
	                   b.nids) >= 0 &&
	           s.nevents == 1 && s.events[0].program != NULL;
	if (compiled && oracle_new(&l, &s, &options) >= 0) {
		(void)trace_program_put(
		        s.events[0].program, &s, (struct span){data, n}, &options, got);
		if (l != NULL) {
			trace_library_put(l, (struct span){data, n}, 0, wanted);
		}
	}
	trace_library_free(l);
	trace_set_fini(&s);
	text_fini(&b.text);
	return compiled;
}

static const struct {
	const char *print, *text; /* NULL: only libtraceevent prints it */
} language[] = {
        {"\"plain\"", "plain"},
        {"\"a\" \"b %d%%\", REC->b", "ab 156%"},
        {"\"a\\tb\\\"\\n\"", "a\tb\"\n"},
        {"\"%d %ld %u %x\", REC->i, REC->i, REC->i, REC->i", "-3 4294967293 4294967293 fffffffd"},
        {"\"%hd %hhx %lld %lu\", REC->h, REC->h, REC->l, REC->u", "-2 fe -78187493530 4294967280"},
        {"\"%08x|%#x|%#x|%-5d|%5d|%05d|%.4d|%o|%X\", REC->b, REC->b, REC->z, REC->b, REC->b, "
         "REC->i, REC->b, REC->b, REC->b",
                "0000009c|0x9c|0|156  |  156|-0003|0156|234|9C"},
        {"\"%p %p\", REC->l, REC->z", "0xffffffedcba98766 (nil)"},
        {"\"%pS %ps %pS\", REC->s, REC->s, REC->b + 1", "a_function+0x10 a_function 0x9d"},
        {"\"%s|%8s|%-8s|%.2s|%.*s\", REC->c, REC->c, REC->c, REC->c, 3, REC->c",
                "hello|   hello|hello   |he|hel"},
        {"\"%s %s %s\", __get_str(d), __get_rel_str(r), REC->s", "wxyz wxyz constant"},
        {"\"%s\", __print_array(__get_dynamic_array(e), __get_dynamic_array_len(e) / 4, 4)",
                "2214789633 7"},
        {"\"%s %s\", __print_hex(REC->ip, 4), __print_hex_str(REC->ip, 4)", "c0 a8 01 02 c0a80102"},
        {"\"%s|%s\", __print_flags(REC->b, \"|\", { 4, \"A\" }, { 8 | 16, \"B\" }), "
         "__print_flags(REC->z, \"|\", { 1, \"A\" })",
                "A|B|0x80|"},
        {"\"%s %s\", __print_symbolic(REC->b, { 1 << 7, \"A\" }, { 0x9c, \"B\" \"C\" }), "
         "__print_symbolic(REC->z, { 1, \"A\" })",
                "BC 0x0"},
        {"\"%s\", __print_symbolic(REC->z + 1, { TIMER_SOFTIRQ, \"T\" })", "T"},
        {"\"%d,%d\", ((unsigned int) ((REC->u) >> 20)), ((unsigned int) ((REC->u) & ((1U << 20) - "
         "1)))",
                "4095,1048560"},
        {"\"%s %d\", REC->z ? \"a\" : (REC->b == 156 ? \"b\" : \"c\"), !REC->z && REC->b > 4",
                "b 1"},
        {"\"%x %x %d\", REC->w[1], REC->w[1] << 4, (u8)REC->i >> 4", "8002 80020 15"},
        {"\"%s|%.*s\", REC->z ? __get_str(d) : ((void *)0), 2, REC->b ? REC->c : \"x\"", "|he"},
        {"\"%s\", REC->z ? \"a\" : 0", NULL}, /* prints "0" there */
        {"\"%s\", REC->z ? \"a\" : NULL", NULL},
        {"\"%s\", REC->z ? \"a\" : ((char *)0)", NULL},
        {"\"%s\", __print_array(__get_str(e), 2, 4)", NULL}, /* crashes there */
        {"\"%s\", __get_dynamic_array(d)", NULL}, /* prints nothing there */
        {"\"%s\", REC->z ? \"a\" : __get_rel_dynamic_array(r)", NULL},
        {"\"%s\", REC->n", NULL}, /* up to the end of the data there */
        {"\"%x\", REC->w[REC->z]", "1"},
        {"\"%x\", REC->w[REC->z + 1]", NULL},
        {"\"%x\", REC->w[-1]", NULL},
        {"\"%x\", REC->w[!REC->z]", NULL},
        {"\"%x\", REC->w[REC->w[0]]", NULL},
        {"\"%pU\", REC->addr", "01020304-0000-0000-000a-0b0c0d0e0f10"},
        {"\"%pI4 %pI6c\", REC->ip, REC->addr", "192.168.1.2 102:304::a:b0c:d0e:f10"},
        {"\"%p\", (((struct page *)vmemmap_base) + (REC->b))", "0x9c"},
        {"\"%d\", REC->i + 2 - 1", NULL}, /* libtraceevent groups it from the right */
        {"\"%d\", REC->b & (4 | 8)", NULL},
        {"\"%d\", REC->i & (1--15)", NULL}, /* "--" is one operator there */
        {"\"%d\", REC->i * -1", NULL}, /* (REC->i * 0) - 1 there */
        {"\"%d\", REC->i << -1", NULL},
        {"\"%d %d %d\", REC->i >= -3LL, -1, REC->z ? 1 : -1", "0 -1 -1"},
        {"\"%s\", __print_flags(REC->l, \"|\", { 1 << 63, \"A\" })", "0xffffffedcba98766"},
        {"\"%s\", __print_flags(REC->l, \"|\", { 9223372036854775808 << 1, \"A\" })", NULL},
        {"\"%s\", __print_flags(REC->l, \"|\", { (1 - 2) + 3, \"A\" })", NULL},
        {"\"%s\", __print_symbolic(REC->z + 1, { -0xffffffffffffffff, \"A\" })", NULL},
        {"\"%s\", __print_symbolic(REC->b, { REC, \"A\" })", NULL},
        {"\"%s\", __print_symbolic(REC->b, { 1, 0x0 })", NULL}, /* the name is "0x0" there */
        {"\"%d\", !!REC->z", "0"},
        {"\"%d\", REC->b && !!REC->b", "1"},
        {"\"%d\", !!REC->z + 1", NULL}, /* !(!REC->z + 1) there */
        {"\"a\\\\\"", NULL}, /* a quote after a backslash ends no text there */
        {"\"a\\'\"", NULL},
        {"\"%p\", (char **)REC->l", NULL}, /* unknown there */
        {"\"%d\", REC->z ? 1 : REC->b ? 2 : 3", NULL},
        {"\"%d\", REC->b / REC->z", NULL}, /* and divides by 0 */
        {"\"%d\", REC->b ^ 1", NULL},
        {"\"%d\"", NULL},
        {"\"%d\", REC->unknown", NULL},
        {"\"%d\", REC->c", NULL},
        {"\"%s\", REC->b", NULL},
        {"\"%s\", (unsigned long long) REC->s", NULL}, /* libtraceevent prints nothing */
        {"\"%s\", ((char *) REC->s)", NULL},
        {"\"%s\", (REC->s)", "constant"},
        {"\"%q\", REC->b", NULL},
        {"\"%300d\", REC->b", NULL},
        {"\"%d\", 99999999999999999999", NULL},
        {"\"%d\", jiffies_to_msecs(REC->b)", NULL},
        {"\"%s\", __print_flags(REC->b, \"|\")", NULL},
        {"\"%d", NULL},
        {"", NULL},
};

static bool same(const struct text *t, const char *wanted)
{
	return t->n == strlen(wanted) && (t->n == 0 || memcmp(t->p, wanted, t->n) == 0);
}

static void show(const struct text *got, const struct text *wanted, const char *text)
{
	if (!same(got, text) || (trace_library_present() && !same(wanted, text))) {
		printf("#  program %.*s\n#  library %.*s\n", (int)got->n, got->p, (int)wanted->n,
		        wanted->p);
	}
}

static void test_language(void)
{
	struct text got = {0}, wanted = {0};
	unsigned left = 0;

	for (size_t i = 0; i < sizeof(language) / sizeof(*language); i++) {
		const char *print = language[i].print, *text = language[i].text;
		char name[512];

		(void)snprintf(name, sizeof(name), "%.300s is %s",
		        *print != '\0' ? print : "nothing",
		        text != NULL ? "compiled" : "left to libtraceevent");
		for (char *p = name; (p = strchr(p, '#')) != NULL;) {
			*p = '.'; /* of TAP */
		}
		if (text == NULL) {
			ok(!print_event(print, HOST_BIG_ENDIAN, &got, &wanted), name);
			continue;
		}
		ok(print_event(print, HOST_BIG_ENDIAN, &got, &wanted) && same(&got, text) &&
		                (!trace_library_present() || same(&wanted, text)),
		        name);
		show(&got, &wanted, text);
		if (!print_event(print, !HOST_BIG_ENDIAN, &got, &wanted)) {
			left++;
			continue;
		}
		ok(same(&got, text) && (!trace_library_present() || same(&wanted, text)),
		        "data in the other byte order has the same text");
		show(&got, &wanted, text);
	}
	eq_u64(left, 3,
	        "data in the other byte order: constant strings and arrays of numbers are left to "
	        "libtraceevent");
	text_fini(&got);
	text_fini(&wanted);
}

/* Appends a random expression; depth: of operators in it. */
static void random_expression(uint64_t *state, unsigned depth, struct text *out)
{
	static const char *const atoms[] = {"REC->i", "REC->u", "REC->z", "REC->b", "REC->w[1]",
	        "REC->l", "1", "2", "8", "0x10", "-1"};
	static const char *const binary[] = {
	        "*", "+", "-", "<<", ">>", "<", "<=", ">", ">=", "==", "!=", "&", "|", "&&", "||"};
	static const char *const before[] = {
	        "!(", "~(", "(u8)(", "(int)(", "(unsigned long)(", "("};
	uint64_t kind = random_of(state) % 10;

	if (depth == 0 || kind < 2) {
		text_str(out, atoms[random_of(state) % (sizeof(atoms) / sizeof(*atoms))]);
	} else if (kind < 6) {
		random_expression(state, depth - 1, out);
		text_str(out, " ");
		text_str(out, binary[random_of(state) % (sizeof(binary) / sizeof(*binary))]);
		text_str(out, " ");
		random_expression(state, depth - 1, out);
	} else if (kind < 9) {
		text_str(out, before[random_of(state) % (sizeof(before) / sizeof(*before))]);
		random_expression(state, depth - 1, out);
		text_str(out, ")");
	} else {
		random_expression(state, depth - 1, out);
		text_str(out, " ? ");
		random_expression(state, depth - 1, out);
		text_str(out, " : ");
		random_expression(state, depth - 1, out);
	}
}

static void test_expressions(void)
{
	struct text print = {0}, got = {0}, wanted = {0};
	unsigned compiled = 0, differing = 0;
	uint64_t state = 42;

	if (!trace_library_present()) {
		skip("random expressions: no libtraceevent");
		return;
	}
	for (unsigned i = 0; i < EXPRESSIONS; i++) {
		print.n = 0;
		text_str(&print, "\"%llx\", ");
		random_expression(&state, 1 + i % 4, &print);
		text_char(&print, '\0');
		if (!print_event(print.p, HOST_BIG_ENDIAN, &got, &wanted)) {
			continue;
		}
		compiled++;
		if (got.n == 0 || got.n != wanted.n || memcmp(got.p, wanted.p, got.n) != 0) {
			differing++;
			printf("# %s: program %.*s, library %.*s\n", print.p, (int)got.n, got.p,
			        (int)wanted.n, wanted.p);
		}
	}
	printf("# %u of %u random expressions are compiled\n", compiled, EXPRESSIONS);
	ok(compiled > EXPRESSIONS / 3, "over a third of random expressions is compiled");
	eq_u64(differing, 0, "the values of random expressions are libtraceevent's");
	text_fini(&print);
	text_fini(&got);
	text_fini(&wanted);
}

static struct {
	unsigned files;
	struct result sum;
} recordings; /* nftw passes no argument */

/* Compares the formats in a recording, if it has any. */
static int compare_file(const char *path, const struct stat *st, int type, struct FTW *at)
{
	struct text file = {0};
	struct trace_blob blob;
	struct trace_formats formats;
	struct trace_format format;
	static uint64_t ids[8192];
	size_t nids = 0;
	const char *found;

	(void)st;
	(void)at;
	if (type != FTW_F) {
		return 0;
	}
	read_into(&file, path);
	found = file.n != 0 ? memmem(file.p, file.n, "\027\010\104tracing", 10) : NULL;
	if (found != NULL) {
		struct span bytes = {(const uint8_t *)found, file.n - (size_t)(found - file.p)};
		struct result r;

		if (trace_blob_open(bytes, &blob)) {
			trace_formats_begin(&formats, &blob);
			while (nids < 8192 && trace_formats_next(&formats, &format)) {
				ids[nids++] = format.id;
			}
		}
		r = compare_all(bytes, ids, nids);
		recordings.files++;
		recordings.sum.events += r.events;
		recordings.sum.compiled += r.compiled;
		recordings.sum.samples += r.samples;
		recordings.sum.differ += r.differ;
	}
	text_fini(&file);
	return 0;
}

static void test_recordings(char **paths)
{
	const char *corpus = getenv("SONDE_CORPUS");

	if (!trace_library_present()) {
		skip("print formats of recordings: no libtraceevent");
		return;
	}
	for (; *paths != NULL; paths++) {
		(void)compare_file(*paths, NULL, FTW_F, NULL);
	}
	if (corpus != NULL) {
		(void)nftw(corpus, compare_file, 16, FTW_PHYS);
	}
	printf("# %u recordings: %u events, %u compiled; %u samples\n", recordings.files,
	        recordings.sum.events, recordings.sum.compiled, recordings.sum.samples);
	ok(recordings.sum.compiled > 0, "print formats of recordings are compiled");
	eq_u64(recordings.sum.differ, 0,
	        "the texts of recordings' print formats are libtraceevent's");
}

int main(int argc, char **argv)
{
	(void)argc;
	test_language();
	test_expressions();
	test_machine();
	test_recordings(argv + 1);
	return tap_done();
}
