/* SPDX-License-Identifier: MIT */
/*
 * The lines of an object as sorted rows. All numbers are in host byte order:
 *
 *	0   "SONDELIN"                8   u32 version (1), u32 0x01020304
 *	16  u64 size of all           24  u64 checksum of all that follows
 *	32  u64 rows                  40  u64 nodes, at least 1
 *	48  u64 bytes of texts        56  the key: struct line_index_key, 32 bytes
 *	88  40 bytes, 0
 *	128 rows x { u64 start }                      virtual addresses, rising
 *	    nodes x { u32 function, file, line, parent }
 *	    rows x { u32 node, file, line }
 *	    texts: "" first, each with its NUL; function and file are offsets in them
 *
 * An address belongs to the last row whose start is not above it. That row has file and line of the
 * innermost function, and the node of that function; a node has the place of its call, which is the
 * line in its parent:
 *
 *	row {node 7, a.h:12}    node 7 {"min", a.c:90, parent 3}    node 3 {"main", -, parent 0}
 *	  min  a.h:12    (inlined)
 *	  main a.c:90
 *
 * A row without a file is a gap. A stored file is used only if version, key, size, checksum and all
 * numbers are right; otherwise the index is built again.
 */
#include "symbol/line_index.h"

#include "symbol/store.h"

#include <stdio.h>
#include <stdlib.h>

#define VERSION      1u
#define ORDER_MARK   0x01020304u
#define SUMMED_FROM  32u
#define KEY_AT       56u
#define HEADER_SIZE  128u
#define FILE_LIMIT   ((uint64_t)1 << 30) /* bytes of a stored index */
#define FOLDER_LIMIT ((uint64_t)2 << 30) /* bytes of all of them */
#define NAME_START   "lines-"

static const uint8_t magic[8] = {'S', 'O', 'N', 'D', 'E', 'L', 'I', 'N'};

void line_index_close(struct line_index *x)
{
	free(x->memory);
	image_file_close(&x->file);
	*x = (struct line_index){0};
}

/* Where the parts of a block are. */
static void views_set(struct line_parts *p)
{
	uint8_t *at = p->block + HEADER_SIZE;

	/* NOLINTBEGIN(clang-diagnostic-cast-align): the block is aligned, and so are the parts */
	p->starts = (uint64_t *)(void *)at;
	at += p->nrows * sizeof(*p->starts);
	p->nodes = (struct line_node *)(void *)at;
	at += p->nnodes * sizeof(*p->nodes);
	p->rows = (struct line_row *)(void *)at;
	at += p->nrows * sizeof(*p->rows);
	/* NOLINTEND(clang-diagnostic-cast-align) */
	p->texts = (char *)at;
}

static uint64_t size_of(uint64_t nrows, uint64_t nnodes, uint64_t ntexts)
{
	return HEADER_SIZE + nrows * (sizeof(uint64_t) + sizeof(struct line_row)) +
	       nnodes * sizeof(struct line_node) + ntexts;
}

int line_parts_new(struct line_parts *p, size_t nrows, size_t nnodes, size_t ntexts)
{
	*p = (struct line_parts){.nrows = nrows, .nnodes = nnodes, .ntexts = ntexts};
	if (nrows > UINT32_MAX || nnodes > UINT32_MAX || ntexts > UINT32_MAX) {
		return SONDE_ELIMIT;
	}
	p->size = (size_t)size_of(nrows, nnodes, ntexts);
	p->block = malloc(p->size);
	if (p->block == NULL) {
		return SONDE_ENOMEM;
	}
	memset(p->block, 0, HEADER_SIZE);
	views_set(p);
	return 0;
}

void line_parts_fit(struct line_parts *p, size_t nrows)
{
	struct line_parts to = *p;
	uint8_t *block;

	to.nrows = nrows;
	to.size = (size_t)size_of(to.nrows, to.nnodes, to.ntexts);
	views_set(&to);
	memmove(to.nodes, p->nodes, p->nnodes * sizeof(*p->nodes));
	memmove(to.rows, p->rows, nrows * sizeof(*p->rows));
	memmove(to.texts, p->texts, p->ntexts);
	block = realloc(to.block, to.size);
	to.block = block != NULL ? block : to.block;
	views_set(&to);
	*p = to;
}

static struct line_index index_of(const struct line_parts *p)
{
	return (struct line_index){.starts = p->starts,
	        .rows = p->rows,
	        .nodes = p->nodes,
	        .texts = p->texts,
	        .nrows = p->nrows,
	        .nnodes = p->nnodes,
	        .ntexts = p->ntexts};
}

void line_index_seal(struct line_parts *p, const struct line_index_key *key, struct line_index *out)
{
	const uint32_t marks[] = {VERSION, ORDER_MARK};
	uint64_t numbers[] = {p->size, 0, p->nrows, p->nnodes, p->ntexts};

	memcpy(p->block, magic, sizeof(magic));
	memcpy(p->block + 8, marks, sizeof(marks));
	memcpy(p->block + 16, numbers, sizeof(numbers));
	memcpy(p->block + KEY_AT, key, sizeof(*key));
	numbers[1] = store_checksum((struct span){p->block, p->size}, SUMMED_FROM);
	memcpy(p->block + 24, &numbers[1], sizeof(numbers[1]));
	*out = index_of(p);
	out->memory = p->block;
}

static bool rows_valid(const struct line_index *x)
{
	bool valid = true;

	for (size_t i = 0; i < x->nrows; i++) {
		const struct line_row *r = &x->rows[i];

		valid = valid && (i == 0 || x->starts[i] > x->starts[i - 1]) &&
		        r->node < x->nnodes && r->file < x->ntexts;
	}
	return valid;
}

static bool nodes_valid(const struct line_index *x)
{
	bool valid = true;

	for (size_t i = 0; i < x->nnodes; i++) {
		const struct line_node *n = &x->nodes[i];

		valid = valid && n->parent < (i != 0 ? i : 1) && n->function < x->ntexts &&
		        n->file < x->ntexts;
	}
	return valid;
}

int line_index_read(struct span bytes, const struct line_index_key *key, struct line_index *out)
{
	struct cursor c = cursor_make(bytes, false);
	struct line_parts p = {.size = bytes.n};

	*out = (struct line_index){0};
	if (bytes.n <= HEADER_SIZE || memcmp(bytes.p, magic, sizeof(magic)) != 0 ||
	        memcmp(bytes.p + KEY_AT, key, sizeof(*key)) != 0) {
		return SONDE_EFORMAT;
	}
	(void)cursor_take(&c, sizeof(magic));
	if (cursor_u32(&c) != VERSION || cursor_u32(&c) != ORDER_MARK ||
	        cursor_u64(&c) != bytes.n || cursor_u64(&c) != store_checksum(bytes, SUMMED_FROM)) {
		return SONDE_EFORMAT;
	}
	p.nrows = cursor_u64(&c);
	p.nnodes = cursor_u64(&c);
	p.ntexts = cursor_u64(&c);
	if (p.nrows > bytes.n || p.nnodes > bytes.n || p.nnodes == 0 || p.ntexts > bytes.n ||
	        p.ntexts == 0 || size_of(p.nrows, p.nnodes, p.ntexts) != bytes.n) {
		return SONDE_EFORMAT;
	}
	/* only read, through const views; NOLINTNEXTLINE(performance-no-int-to-ptr) drops const */
	p.block = (uint8_t *)(uintptr_t)bytes.p;
	views_set(&p);
	*out = index_of(&p);
	if (out->texts[0] != 0 || out->texts[out->ntexts - 1] != 0 || !rows_valid(out) ||
	        !nodes_valid(out)) {
		*out = (struct line_index){0};
		return SONDE_EFORMAT;
	}
	return 0;
}

/* The index of the last start at or below the address; false: there is none. */
static bool row_find(const struct line_index *x, uint64_t address, size_t *at)
{
	const uint64_t *base = x->starts;
	size_t n = x->nrows;

	if (n == 0 || *base > address) {
		return false;
	}
	while (n > 1) {
		size_t half = n / 2;

		base = base[half] <= address ? base + half : base;
		n -= half;
	}
	*at = (size_t)(base - x->starts);
	return true;
}

static const char *text_at(const struct line_index *x, uint32_t offset)
{
	return offset != 0 ? x->texts + offset : NULL;
}

bool line_index_find(const struct line_index *x, uint64_t address, struct lines_place *out)
{
	struct lines_frame next;
	uint32_t node;
	size_t i;

	if (!row_find(x, address, &i) || x->rows[i].file == 0) {
		return false;
	}
	node = x->rows[i].node;
	next = (struct lines_frame){.file = text_at(x, x->rows[i].file), .line = x->rows[i].line};
	out->n = 0;
	do {
		const struct line_node *f = &x->nodes[node];

		next.function = text_at(x, f->function);
		out->frames[out->n++] = next;
		next = (struct lines_frame){.file = text_at(x, f->file), .line = f->line};
		node = f->parent;
	} while (node != 0 && out->n < LINES_DEPTH);
	out->found = LINES_LINE;
	return true;
}

/* The name of an object's file in the folder; false: it has no build id. */
static bool name_of(const struct line_index_key *key, char name[LINE_INDEX_NAME])
{
	size_t at = (size_t)snprintf(name, LINE_INDEX_NAME, NAME_START);

	for (size_t i = 0; i < key->id_size && i < sizeof(key->id); i++) {
		at += (size_t)snprintf(name + at, LINE_INDEX_NAME - at, "%02x", key->id[i]);
	}
	return key->id_size != 0;
}

bool line_index_load(const char *folder, const struct line_index_key *key, struct line_index *out)
{
	char name[LINE_INDEX_NAME];
	struct image_file file;

	*out = (struct line_index){0};
	if (!name_of(key, name) || !store_open(folder, name, FILE_LIMIT, &file)) {
		return false;
	}
	if (line_index_read(file.bytes, key, out) < 0) {
		image_file_close(&file);
		return false;
	}
	out->file = file;
	return true;
}

void line_index_save(
        const char *folder, const struct line_index_key *key, const struct line_index *x)
{
	char name[LINE_INDEX_NAME];
	uint64_t size = size_of(x->nrows, x->nnodes, x->ntexts);

	if (name_of(key, name) && x->memory != NULL && size <= FILE_LIMIT) {
		store_save(folder, name, x->memory, (size_t)size);
		store_bound(folder, NAME_START, FOLDER_LIMIT);
	}
}
