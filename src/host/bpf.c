/* SPDX-License-Identifier: MIT */
/*
 * BPF programs: their names and addresses as records, and their details as the features
 * BPF_PROG_INFO and BPF_BTF. The details are read at once, as an unloaded program has none.
 *
 * Numbers and layouts: <linux/bpf.h>; the feature's layout and its arrays: files of perf 6.1, see
 * doc/format.md. Arrays of a program, in the order of their bits:
 *
 *	0 jited_insns  1 xlated_insns  2 map_ids  3 jited_ksyms  4 jited_func_lens
 *	5 func_info  6 line_info  7 jited_line_info  8 prog_tags
 */
#define _GNU_SOURCE
#include "host/bpf.h"

#include "abi/abi.h"
#include "core/array.h"
#include "core/span.h"
#include "host/synth.h"
#include "record/feature_write.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PROG_NEXT_ID  11
#define PROG_FD_BY_ID 13
#define INFO_BY_FD    15
#define BTF_FD_BY_ID  19
#define PROGRAMS_MAX  65536
#define ARRAYS_MAX    (16u << 20) /* bytes of all arrays of a program */
#define BTF_MAX       (64u << 20)
#define TAG_SIZE      8
#define NAME_SIZE     16

/* offsets in struct bpf_prog_info */
enum { AT_TAG = 8, AT_NAME = 64, AT_BTF_ID = 128 };

/* The arrays that are read: offsets of their count, their element size and their pointer. */
static const struct array {
	unsigned bit;
	unsigned count_at, pointer_at;
	unsigned size_at; /* offset of the element size; 0: elements have `size` bytes */
	unsigned size;
} arrays[] = {
        {0, 16, 24, 0, 1}, /* jited_prog_len, jited_prog_insns */
        {3, 104, 112, 0, 8},
        {4, 108, 120, 0, 4},
        {5, 144, 136, 132, 0},
        {6, 148, 152, 172, 0},
        {7, 168, 160, 176, 0},
        {8, 180, 184, 0, TAG_SIZE},
};

#define ARRAYS (sizeof(arrays) / sizeof(arrays[0]))

static int bpf(int command, void *attr, size_t size)
{
	return (int)syscall(SYS_bpf, command, attr, size);
}

static int fd_by_id(int command, uint32_t id)
{
	uint32_t attr[4] = {id};

	return bpf(command, attr, sizeof(attr));
}

static bool info_by_fd(int fd, void *info, uint32_t *size)
{
	uint64_t attr[2];

	store_u32((uint8_t *)attr, (uint32_t)fd, false);
	store_u32((uint8_t *)attr + 4, *size, false);
	attr[1] = (uint64_t)(uintptr_t)info;
	if (bpf(INFO_BY_FD, attr, sizeof(attr)) != 0) {
		return false;
	}
	*size = load_u32((uint8_t *)attr + 4, false);
	return true;
}

static uint32_t element_size(const struct array *a, const uint8_t *info)
{
	return a->size_at != 0 ? load_u32(info + a->size_at, false) : a->size;
}

/*
 * Requests the arrays: counts and element sizes from the kernel's first answer, pointers into data.
 */
static size_t lay_out(const uint8_t *first, uint8_t *info, uint8_t *data)
{
	size_t i, at = 0;
	uint32_t n, size;

	memset(info, 0, HOST_BPF_INFO);
	for (i = 0; i < ARRAYS; i++) {
		n = load_u32(first + arrays[i].count_at, false);
		size = element_size(&arrays[i], first);
		store_u32(info + arrays[i].count_at, n, false);
		if (arrays[i].size_at != 0) {
			store_u32(info + arrays[i].size_at, size, false);
		}
		store_u64(info + arrays[i].pointer_at,
		        data != NULL ? (uint64_t)(uintptr_t)data + at : at, false);
		at += ((size_t)n * size + 7) / 8 * 8;
		if (at > ARRAYS_MAX) {
			return SIZE_MAX;
		}
	}
	return at;
}

static bool read_program(int fd, struct host_bpf_program *p)
{
	uint8_t first[HOST_BPF_INFO] = {0}, unused[HOST_BPF_INFO];
	uint32_t size = sizeof(first);
	size_t i, n;

	if (!info_by_fd(fd, first, &size)) {
		return false;
	}
	n = lay_out(first, unused, NULL);
	p->data = n != SIZE_MAX ? calloc(n + 1, 1) : NULL;
	if (p->data == NULL) {
		return false;
	}
	p->size = n;
	(void)lay_out(first, p->info, p->data);
	p->info_size = sizeof(p->info);
	if (!info_by_fd(fd, p->info, &p->info_size) || p->info_size > sizeof(p->info)) {
		free(p->data);
		return false;
	}
	for (i = 0; i < ARRAYS; i++) { /* pointers of this process become offsets */
		uint64_t v = load_u64(p->info + arrays[i].pointer_at, false);

		v = v >= (uintptr_t)p->data ? v - (uintptr_t)p->data : 0;
		store_u64(p->info + arrays[i].pointer_at, v <= n ? v : 0, false);
	}
	p->id = load_u32(p->info + 4, false);
	return true;
}

static bool read_types(struct host_bpf *b, uint32_t id)
{
	uint64_t info[4] = {0}; /* pointer, u32 size, u32 id, name, u32 name size */
	uint32_t size = sizeof(info), bytes;
	uint8_t *data = NULL;
	int fd;
	size_t i;
	bool good = false;

	for (i = 0; i < b->ntypes; i++) {
		if (b->types[i].id == id) {
			return true;
		}
	}
	fd = fd_by_id(BTF_FD_BY_ID, id);
	if (fd < 0) {
		return false;
	}
	if (info_by_fd(fd, info, &size)) {
		bytes = load_u32((uint8_t *)&info[1], false);
		data = bytes > 0 && bytes <= BTF_MAX ? malloc(bytes) : NULL;
		memset(info, 0, sizeof(info));
		info[0] = (uint64_t)(uintptr_t)data;
		store_u32((uint8_t *)&info[1], bytes, false);
		size = sizeof(info);
		good = data != NULL && info_by_fd(fd, info, &size) &&
		       array_reserve(&b->types, &b->types_cap, b->ntypes + 1, sizeof(*b->types));
		if (good) {
			b->types[b->ntypes++] =
			        (struct host_bpf_types){.id = id, .data = data, .size = bytes};
		}
	}
	(void)close(fd);
	if (!good) {
		free(data);
	}
	return good;
}

/* Reads the details of a program; NULL: it was unloaded. */
static const struct host_bpf_program *take_program(struct host_bpf *b, uint32_t id)
{
	struct host_bpf_program p = {0};
	uint32_t types;
	int fd;
	size_t i;

	for (i = 0; i < b->n; i++) {
		if (b->programs[i].id == id) {
			return &b->programs[i];
		}
	}
	fd = b->n < PROGRAMS_MAX ? fd_by_id(PROG_FD_BY_ID, id) : -1;
	if (fd < 0 || !array_reserve(&b->programs, &b->cap, b->n + 1, sizeof(p)) ||
	        !read_program(fd, &p)) {
		if (fd >= 0) {
			(void)close(fd);
		}
		return NULL;
	}
	(void)close(fd);
	types = load_u32(p.info + AT_BTF_ID, false);
	if (types != 0) {
		(void)read_types(b, types);
	}
	b->programs[b->n] = p;
	return &b->programs[b->n++];
}

/* ---- names of functions in BTF ---- */

/* Bytes after the first 12 of a type, by kind; the number of elements is vlen. */
static const struct {
	uint8_t fixed, each;
} kinds[] = {[1] = {4, 0},
        [3] = {12, 0},
        [4] = {0, 12},
        [5] = {0, 12},
        [6] = {0, 8},
        [13] = {0, 8},
        [14] = {4, 0},
        [15] = {0, 12},
        [17] = {4, 0},
        [19] = {0, 12}};

/*
 * Returns the name of type number `wanted`, or NULL. Header: u16 magic, u8, u8, u32 header length,
 * offsets and lengths of types and strings; a type: u32 name, u32 info, u32.
 */
static const char *type_name(const struct host_bpf_types *t, uint32_t wanted)
{
	uint32_t header, types, types_len, strings, strings_len, id, info, kind, name;
	size_t at, end;

	if (t->size < 24) {
		return NULL;
	}
	header = load_u32(t->data + 4, false);
	types = load_u32(t->data + 8, false);
	types_len = load_u32(t->data + 12, false);
	strings = load_u32(t->data + 16, false);
	strings_len = load_u32(t->data + 20, false);
	if ((uint64_t)header + types + types_len > t->size ||
	        (uint64_t)header + strings + strings_len > t->size || strings_len == 0 ||
	        t->data[header + strings + strings_len - 1] != '\0') {
		return NULL;
	}
	end = header + types + types_len;
	for (at = header + types, id = 1; at + 12 <= end; id++) {
		name = load_u32(t->data + at, false);
		info = load_u32(t->data + at + 4, false);
		if (id == wanted) {
			return name < strings_len ? (const char *)t->data + header + strings + name
			                          : NULL;
		}
		kind = info >> 24 & 31;
		at += 12 + (kind < sizeof(kinds) / sizeof(kinds[0])
		                           ? kinds[kind].fixed +
		                                     (size_t)kinds[kind].each * (info & 0xffff)
		                           : 0);
	}
	return NULL;
}

/* The kernel's name of function number i: that of its type, or of the program, or F. */
static const char *function_name(
        const struct host_bpf *b, const struct host_bpf_program *p, uint32_t i)
{
	uint32_t n = load_u32(p->info + 144, false), size = load_u32(p->info + 132, false);
	uint64_t at = load_u64(p->info + 136, false) + (uint64_t)i * size;
	const char *name = NULL;
	size_t k;

	for (k = 0; k < b->ntypes && i < n && size >= 8 && at + 8 <= p->size; k++) {
		if (b->types[k].id == load_u32(p->info + AT_BTF_ID, false)) {
			name = type_name(&b->types[k], load_u32(p->data + at + 4, false));
		}
	}
	return name != NULL ? name : i == 0 ? (const char *)p->info + AT_NAME : "F";
}

/* ---- records ---- */

static void put_symbols(const struct host_bpf *b, const struct host_bpf_program *p,
        const struct sonde_attr *attr, struct text *t)
{
	uint32_t i, n = load_u32(p->info + 104, false);
	uint64_t syms = load_u64(p->info + 112, false), lens = load_u64(p->info + 120, false);
	uint64_t tags = load_u64(p->info + 184, false);
	const char *name;
	size_t at;

	for (i = 0; i < n; i++) {
		if (syms + 8 * ((uint64_t)i + 1) > p->size ||
		        lens + 4 * ((uint64_t)i + 1) > p->size ||
		        tags + TAG_SIZE * ((uint64_t)i + 1) > p->size) {
			return;
		}
		at = host_record_begin(t, RECORD_KSYMBOL, 0);
		feature_put_u64(t, load_u64(p->data + syms + 8ull * i, false));
		feature_put_u32(t, load_u32(p->data + lens + 4ull * i, false));
		feature_put_u32(t, 1); /* type 1: a program; flags 0: it is loaded */
		text_str(t, "bpf_prog_");
		text_hex_bytes(t, p->data + tags + TAG_SIZE * (uint64_t)i, TAG_SIZE);
		name = function_name(b, p, i);
		if (name[0] != '\0') {
			text_printf(t, "_%.*s",
			        i == 0 && name == (const char *)p->info + AT_NAME ? NAME_SIZE : 512,
			        name);
		}
		text_char(t, '\0');
		host_record_end(t, at, attr, 0);
	}
}

static void put_event(
        const struct host_bpf_program *p, const struct sonde_attr *attr, struct text *t)
{
	size_t at = host_record_begin(t, RECORD_BPF_EVENT, 0);

	feature_put_u32(t, 1); /* type 1: it was loaded */
	feature_put_u32(t, p->id);
	text_bytes(t, (const char *)p->info + AT_TAG, TAG_SIZE);
	host_record_end(t, at, attr, 0);
}

void host_bpf_synth(struct host_bpf *b, const struct sonde_attr *attr, struct text *out)
{
	const struct host_bpf_program *p;
	uint32_t ids[4] = {0};
	unsigned i;

	for (i = 0; i < PROGRAMS_MAX; i++) {
		if (bpf(PROG_NEXT_ID, ids, sizeof(ids)) != 0) {
			return; /* no more programs, or no permission */
		}
		ids[0] = ids[1];
		p = take_program(b, ids[0]);
		if (p != NULL) {
			put_symbols(b, p, attr, out);
			put_event(p, attr, out);
		}
	}
}

void host_bpf_take(struct host_bpf *b, uint32_t id)
{
	(void)take_program(b, id);
}

void host_bpf_fini(struct host_bpf *b)
{
	size_t i;

	for (i = 0; i < b->n; i++) {
		free(b->programs[i].data);
	}
	for (i = 0; i < b->ntypes; i++) {
		free(b->types[i].data);
	}
	free(b->programs);
	free(b->types);
	*b = (struct host_bpf){0};
}

/* ---- features ---- */

void host_bpf_put_programs(const struct host_bpf *b, struct text *t)
{
	uint64_t mask = 0;
	size_t i;

	for (i = 0; i < ARRAYS; i++) {
		mask |= 1ull << arrays[i].bit;
	}
	feature_put_u32(t, b != NULL ? (uint32_t)b->n : 0);
	for (i = 0; b != NULL && i < b->n; i++) {
		feature_put_u32(t, b->programs[i].info_size);
		feature_put_u32(t, (uint32_t)b->programs[i].size);
		feature_put_u64(t, mask);
		text_bytes(t, (const char *)b->programs[i].info, b->programs[i].info_size);
		text_bytes(t, (const char *)b->programs[i].data, b->programs[i].size);
	}
}

void host_bpf_put_types(const struct host_bpf *b, struct text *t)
{
	size_t i;

	feature_put_u32(t, b != NULL ? (uint32_t)b->ntypes : 0);
	for (i = 0; b != NULL && i < b->ntypes; i++) {
		feature_put_u32(t, b->types[i].id);
		feature_put_u32(t, b->types[i].size);
		text_bytes(t, (const char *)b->types[i].data, b->types[i].size);
	}
}
