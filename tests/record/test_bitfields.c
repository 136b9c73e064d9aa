/* SPDX-License-Identifier: MIT */
/*
 * Words of bit-fields as compilers lay them out on machines of both byte orders, compared with the
 * values that Sonde reads and writes: test_bitfields TABLE. bitfields.txt is the table;
 * `test_bitfields --print` prints the column of the machine that it is compiled for, from the
 * structs of <linux/perf_event.h>.
 */
#include "abi/abi.h"
#include "core/span.h"
#include "record/layout.h"
#include "record/record.h"
#include "tests/tap.h"

#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <stdlib.h>

enum word { ATTR, BRANCH, DATA_SRC, WEIGHT, BPF, WORDS };

static const char *const word_names[WORDS] = {"attr", "branch", "data_src", "weight", "bpf"};

struct made {
	enum word word;
	const char *field;
	uint64_t value;
	uint8_t bytes[8]; /* of the word with this field set, on this machine */
};

#define ROWS_MAX 128

static struct made rows[ROWS_MAX];
static size_t nrows;

static void add(enum word word, const char *field, uint64_t value, const void *bytes)
{
	struct made *m = &rows[nrows++];

	if (nrows == ROWS_MAX) {
		abort();
	}
	*m = (struct made){.word = word, .field = field, .value = value};
	memcpy(m->bytes, bytes, 8);
}

/* The flags are the word after read_format. */
#define FLAG(name, v)                                                                              \
	do {                                                                                       \
		struct perf_event_attr a = {0};                                                    \
		a.name = (v);                                                                      \
		add(ATTR, #name, (v), (const uint8_t *)&a.read_format + 8);                        \
	} while (0)

#define BRANCH_PART(name, v)                                                                       \
	do {                                                                                       \
		struct perf_branch_entry e = {0};                                                  \
		e.name = (v);                                                                      \
		add(BRANCH, #name, (v), (const uint8_t *)&e.to + 8);                               \
	} while (0)

#define DATA_PART(name, v)                                                                         \
	do {                                                                                       \
		union perf_mem_data_src d = {0};                                                   \
		d.name = (v);                                                                      \
		add(DATA_SRC, #name, (v), &d);                                                     \
	} while (0)

#define WEIGHT_PART(member, name, v)                                                               \
	do {                                                                                       \
		union perf_sample_weight w = {0};                                                  \
		w.member = (v);                                                                    \
		add(WEIGHT, name, (v), &w);                                                        \
	} while (0)

/* The word that begins with ifindex. */
#define BPF_PART(name, v)                                                                          \
	do {                                                                                       \
		struct bpf_prog_info i = {0};                                                      \
		i.name = (v);                                                                      \
		add(BPF, #name, (v),                                                               \
		        (const uint8_t *)&i + offsetof(struct bpf_prog_info, ifindex));            \
	} while (0)

static void make_flags(void)
{
	FLAG(disabled, 1);
	FLAG(inherit, 1);
	FLAG(pinned, 1);
	FLAG(exclusive, 1);
	FLAG(exclude_user, 1);
	FLAG(exclude_kernel, 1);
	FLAG(exclude_hv, 1);
	FLAG(exclude_idle, 1);
	FLAG(mmap, 1);
	FLAG(comm, 1);
	FLAG(freq, 1);
	FLAG(inherit_stat, 1);
	FLAG(enable_on_exec, 1);
	FLAG(task, 1);
	FLAG(watermark, 1);
	FLAG(precise_ip, 1);
	FLAG(precise_ip, 2);
	FLAG(precise_ip, 3);
	FLAG(mmap_data, 1);
	FLAG(sample_id_all, 1);
	FLAG(exclude_host, 1);
	FLAG(exclude_guest, 1);
	FLAG(exclude_callchain_kernel, 1);
	FLAG(exclude_callchain_user, 1);
	FLAG(mmap2, 1);
	FLAG(comm_exec, 1);
	FLAG(use_clockid, 1);
	FLAG(context_switch, 1);
	FLAG(write_backward, 1);
	FLAG(namespaces, 1);
	FLAG(ksymbol, 1);
	FLAG(bpf_event, 1);
	FLAG(aux_output, 1);
	FLAG(cgroup, 1);
	FLAG(text_poke, 1);
	FLAG(build_id, 1);
	FLAG(inherit_thread, 1);
	FLAG(remove_on_exec, 1);
	FLAG(sigtrap, 1);
}

static void make_branches(void)
{
	BRANCH_PART(mispred, 1);
	BRANCH_PART(predicted, 1);
	BRANCH_PART(in_tx, 1);
	BRANCH_PART(abort, 1);
	BRANCH_PART(cycles, 1);
	BRANCH_PART(cycles, 0x1234);
	BRANCH_PART(cycles, 0xffff);
	BRANCH_PART(type, 1);
	BRANCH_PART(type, 10);
	BRANCH_PART(spec, 1);
	BRANCH_PART(spec, 2);
	BRANCH_PART(new_type, 5);
	BRANCH_PART(priv, 3);
	BRANCH_PART(priv, 4);
}

static void make_data(void)
{
	DATA_PART(mem_op, 2);
	DATA_PART(mem_op, 0x1f);
	DATA_PART(mem_lvl, 0x2002);
	DATA_PART(mem_snoop, 0x11);
	DATA_PART(mem_lock, 1);
	DATA_PART(mem_dtlb, 0x41);
	DATA_PART(mem_lvl_num, 9);
	DATA_PART(mem_remote, 1);
	DATA_PART(mem_snoopx, 1);
	DATA_PART(mem_blk, 4);
	DATA_PART(mem_hops, 1);
	WEIGHT_PART(var1_dw, "weight", 0x01020304);
	WEIGHT_PART(var2_w, "ins_lat", 0x0506);
	WEIGHT_PART(var3_w, "p_stage_cyc", 0x0708);
	BPF_PART(ifindex, 0x01020304);
	BPF_PART(gpl_compatible, 1);
}

static void print_rows(void)
{
	for (size_t i = 0; i < nrows; i++) {
		(void)printf("%s %s %#" PRIx64 " ", word_names[rows[i].word], rows[i].field,
		        rows[i].value);
		for (size_t k = 0; k < 8; k++) {
			(void)printf("%02x", rows[i].bytes[k]);
		}
		(void)printf("\n");
	}
}

/* ---- Sonde's values ---- */

/* A record that contains the word, and the field of its layout. */
struct carrier {
	struct record r;
	struct record_plan plan;
	uint8_t body[128];
	size_t at; /* of the word in the body */
	const char *name;
};

/* A FEATURE record with one program whose info ends after the word. */
static void carrier_program(struct carrier *c, bool swap)
{
	store_u64(c->body, FEATURE_BPF_PROG_INFO, swap);
	store_u32(c->body + 8, 1, swap);
	store_u32(c->body + 12, 88, swap); /* info, data: bytes */
}

static void carrier_make(struct carrier *c, enum word word, const uint8_t bytes[8], bool swap)
{
	static const struct {
		const char *name;
		uint64_t sample_type;
		uint32_t record;
		size_t at, size;
	} kinds[WORDS] = {
	        [ATTR] = {"flags", 0, RECORD_HEADER_ATTR, 40, 64},
	        [BRANCH] = {"flags", SONDE_SAMPLE_BRANCH_STACK, RECORD_SAMPLE, 24, 32},
	        [DATA_SRC] = {"data_src", SONDE_SAMPLE_DATA_SRC, RECORD_SAMPLE, 0, 8},
	        [WEIGHT] = {"weight", SONDE_SAMPLE_WEIGHT_STRUCT, RECORD_SAMPLE, 0, 8},
	        [BPF] = {"device", 0, RECORD_HEADER_FEATURE, 108, 116},
	};
	struct sonde_attr attr = {.sample_type = kinds[word].sample_type};
	size_t n = kinds[word].size;

	*c = (struct carrier){.name = kinds[word].name,
	        .at = kinds[word].at,
	        .r = {.type = kinds[word].record, .size = (uint16_t)(RECORD_HEADER_SIZE + n)}};
	record_plan_make(&c->plan, &attr);
	if (word == BRANCH) {
		store_u64(c->body, 1, swap);
	} else if (word == BPF) {
		carrier_program(c, swap);
	}
	memcpy(c->body + c->at, bytes, 8);
	c->r.body = (struct span){c->body, n};
}

/* The field's part of the word according to the layout; UINT64_MAX: none. */
static uint64_t part_of(const struct carrier *c, bool swap, const char *field, uint64_t *word)
{
	struct record_walk w;
	struct layout_value v;
	enum layout_event event;

	record_walk_init(&w, &c->r, swap, &c->plan, 0);
	while ((event = record_walk_next(&w, &v)) != LAYOUT_END) {
		if (event != LAYOUT_VALUE || strcmp(v.field->name, c->name) != 0) {
			continue;
		}
		*word = v.number;
		for (const struct layout_name *n = v.field->names; n->name != NULL; n++) {
			if (strcmp(n->name, field) == 0) {
				return v.number >> n->value & ((UINT64_C(1) << n->width) - 1);
			}
		}
	}
	return UINT64_MAX;
}

/* Whether an attr of these bytes has the word as its flags, and is written with the same bytes. */
static bool attr_agrees(const struct carrier *c, bool swap, uint64_t word)
{
	struct sonde_attr attr;
	uint8_t again[ATTR_SIZE_NOW];

	if (!record_attr_decode(c->r.body, swap, &attr) || attr.flags != word) {
		return false;
	}
	record_attr_encode_as(&attr, swap, again);
	return memcmp(again + c->at, c->body + c->at, 8) == 0;
}

/* A line of the table: the same field and value in the bytes of a machine of either byte order. */
static void check_row(enum word word, const char *field, uint64_t value, uint8_t bytes[2][8])
{
	char what[96];

	for (int big = 0; big <= 1; big++) {
		bool swap = (big != 0) != HOST_BIG_ENDIAN;
		uint8_t turned[sizeof(struct carrier)];
		uint64_t whole = 0;
		struct carrier c;
		bool good;

		carrier_make(&c, word, bytes[big], swap);
		good = part_of(&c, swap, field, &whole) == value;
		good &= whole == load_u64(bytes[0], HOST_BIG_ENDIAN); /* no other bit is set */
		good &= word != ATTR || attr_agrees(&c, swap, whole);
		good &= record_turn(&c.r, swap, &c.plan, 0, turned);
		good &= memcmp(turned + RECORD_HEADER_SIZE + c.at, bytes[!big], 8) == 0;
		(void)snprintf(what, sizeof(what),
		        "%s.%s %#" PRIx64 " of a %s-endian machine: read and turned",
		        word_names[word], field, value, big ? "big" : "little");
		ok(good, what);
	}
}

static bool parse_bytes(const char *text, uint8_t out[8])
{
	char *end;
	uint64_t v = strtoull(text, &end, 16);

	store_u64(out, v, !HOST_BIG_ENDIAN);
	return end - text == 16;
}

static enum word word_of(const char *name)
{
	enum word word = ATTR;

	while (word < WORDS && strcmp(word_names[word], name) != 0) {
		word++;
	}
	return word;
}

/* One line: WORD FIELD VALUE LITTLE BIG. */
static void check_line(char *line, size_t i)
{
	static const char blanks[] = " \t\n";
	uint8_t bytes[2][8];
	char *save, *end;
	const char *name = strtok_r(line, blanks, &save);
	const char *field = strtok_r(NULL, blanks, &save);
	const char *value = strtok_r(NULL, blanks, &save);
	const char *little = strtok_r(NULL, blanks, &save);
	const char *big = strtok_r(NULL, blanks, &save);
	uint64_t v = value != NULL ? strtoull(value, &end, 0) : 0;
	enum word word = word_of(name);

	if (word == WORDS || big == NULL || !parse_bytes(little, bytes[0]) ||
	        !parse_bytes(big, bytes[1])) {
		ok(false, "a line of the table can be parsed");
		return;
	}
	ok(i < nrows && rows[i].word == word && strcmp(rows[i].field, field) == 0 &&
	                rows[i].value == v && memcmp(rows[i].bytes, bytes[HOST_BIG_ENDIAN], 8) == 0,
	        "the table has the bytes that this compiler writes");
	check_row(word, field, v, bytes);
}

int main(int argc, char **argv)
{
	char line[256];
	size_t n = 0;
	FILE *table;

	make_flags();
	make_branches();
	make_data();
	if (argc > 1 && strcmp(argv[1], "--print") == 0) {
		print_rows();
		return 0;
	}
	table = argc > 1 ? fopen(argv[1], "r") : NULL;
	if (table == NULL) {
		(void)fprintf(stderr, "usage: test_bitfields TABLE|--print\n");
		return 1;
	}
	while (fgets(line, sizeof(line), table) != NULL) {
		if (line[0] != '#' && line[0] != '\n') {
			check_line(line, n++);
		}
	}
	(void)fclose(table);
	eq_u64(n, nrows, "every row of the table was checked");
	return tap_done();
}
