/* SPDX-License-Identifier: MIT */
/*
 * Pages of an index differ from those of a table (pages.c) in this:
 *
 *	leaf page       0x0a; cells are: varint size of the record, record of the key and the id
 *	interior page   0x02; cells are: u32 child, and as those of leaves
 *
 * A key of an interior page is in no leaf: it comes between all of its child and all of the next one.
 */
#include "export/key_pages.h"

#include "export/page_bytes.h"

#include "core/status.h"

#include <stdlib.h>
#include <string.h>

#define LEAF     0x0au
#define INTERIOR 0x02u
#define KEY_MAX  24u /* bytes of a cell */
#define LEVELS   12u /* of which each has hundreds of times the pages of the one above */

struct key { /* a cell; bytes begin with room for a child */
	uint32_t child; /* 0: in a leaf */
	uint32_t n; /* bytes, with the child's */
	uint8_t bytes[KEY_MAX];
};

struct level { /* the page that is filled */
	uint8_t page[PAGES_SIZE];
	size_t ncells, start; /* 0, 0: no page yet */
	struct key last; /* of the page */
};

struct tree {
	struct page_file *file;
	struct level levels[LEVELS]; /* leaves first */
};

static size_t head_size(const struct level *l)
{
	return l->last.child == 0 ? 8 : 12;
}

static bool put_key(struct level *l, const struct key *k)
{
	size_t skip = k->child == 0 ? 4 : 0, size = k->n - skip;
	size_t head = k->child == 0 ? 8 : 12;

	if (l->ncells == 0) {
		memset(l->page, 0, sizeof(l->page));
		l->start = sizeof(l->page);
	}
	if (head + 2 * (l->ncells + 1) + size > l->start) {
		return false;
	}
	l->start -= size;
	memcpy(l->page + l->start, k->bytes + skip, size);
	page_u16(l->page + head + 2 * l->ncells++, l->start);
	l->last = *k;
	return true;
}

/* right: the last child of an interior page */
static void end_page(struct level *l, uint32_t right)
{
	bool leaf = head_size(l) == 8;

	l->page[0] = leaf ? LEAF : INTERIOR;
	page_u16(l->page + 3, l->ncells);
	page_u16(l->page + 5, l->start);
	if (!leaf) {
		page_u32(l->page + 8, right);
	}
}

/* A page that is full gives its last key to the level above, so that no page is without keys. */
static int split(struct tree *t, struct level *l, struct key *up)
{
	*up = l->last;
	l->ncells--;
	page_u16(l->page + head_size(l) + 2 * l->ncells, 0);
	l->start += up->n - (up->child == 0 ? 4 : 0);
	end_page(l, up->child);
	TRY(page_file_add(t->file, l->page, &up->child));
	page_u32(up->bytes, up->child);
	l->ncells = 0;
	return 0;
}

static int add_key(struct tree *t, struct key k)
{
	for (size_t i = 0; i < LEVELS; i++) {
		struct key up;

		if (put_key(&t->levels[i], &k)) {
			return 0;
		}
		TRY(split(t, &t->levels[i], &up));
		(void)put_key(&t->levels[i], &k);
		k = up;
	}
	return SONDE_ENOMEM; /* not with ids of 64 bits */
}

static void make_key(struct key *k, const struct run_pair *pair)
{
	uint8_t *body = k->bytes + 8;
	unsigned n[2] = {page_number_size((int64_t)pair->key, &k->bytes[6]),
	        page_number_size((int64_t)pair->id, &k->bytes[7])};
	uint8_t shifted[8];

	page_u64(shifted, pair->key << (64 - 8 * n[0]) % 64);
	memcpy(body, shifted, sizeof(shifted));
	page_u64(shifted, pair->id << (64 - 8 * n[1]) % 64);
	memcpy(body + n[0], shifted, sizeof(shifted));
	k->bytes[4] = (uint8_t)(3 + n[0] + n[1]);
	k->bytes[5] = 3; /* of the header */
	k->child = 0;
	k->n = 8 + n[0] + n[1];
}

/* Writes the pages that are not full, the topmost as root. */
static int end_tree(struct tree *t, uint32_t root)
{
	uint32_t right = 0;
	size_t i = 0;

	for (; i + 1 < LEVELS && t->levels[i + 1].ncells != 0; i++) {
		end_page(&t->levels[i], right);
		TRY(page_file_add(t->file, t->levels[i].page, &right));
	}
	end_page(&t->levels[i], right);
	return page_file_write(t->file, root, t->levels[i].page, 1) ? 0 : SONDE_EOUTPUT;
}

int key_pages_write(struct runs *runs, int scratch, struct page_file *f, uint32_t root)
{
	struct tree *t = calloc(1, sizeof(*t));
	struct run_pair pair;
	struct key k;
	int rc = SONDE_ENOMEM;

	if (t != NULL) {
		t->file = f;
		rc = runs_end(runs, scratch);
	}
	while (rc >= 0 && (rc = runs_next(runs, scratch, &pair)) > 0) {
		make_key(&k, &pair);
		rc = add_key(t, k);
	}
	if (rc == 0 && t->levels[0].ncells != 0) {
		rc = end_tree(t, root);
	}
	free(t);
	return rc;
}
