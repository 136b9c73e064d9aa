/* SPDX-License-Identifier: MIT */
#include "edit/names.h"

#include "core/array.h"
#include "core/span.h"
#include "core/status.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DELETED " (deleted)"
#define MODULE  ".ko"
#define ANON    "//anon"

void names_fini(struct names *n)
{
	index_fini(&n->index);
	free(n->known);
	arena_fini(&n->arena);
}

static uint64_t rotated(uint64_t x, unsigned by)
{
	return x << by | x >> (64 - by);
}

static void sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[1] = rotated(v[1], 13) ^ v[0];
	v[0] = rotated(v[0], 32);
	v[2] += v[3];
	v[3] = rotated(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = rotated(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = rotated(v[1], 17) ^ v[2];
	v[2] = rotated(v[2], 32);
}

static void sip_word(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	sip_round(v);
	sip_round(v);
	v[0] ^= word;
}

/* Words are little-endian on every machine, so that hashes are the same. */
static uint64_t word_at(const uint8_t *p, size_t n)
{
	uint64_t word = 0;

	for (size_t i = 0; i < n; i++) {
		word |= (uint64_t)p[i] << (8 * i);
	}
	return word;
}

uint64_t names_hash(const struct names *n, const void *bytes, size_t size)
{
	const uint64_t k0 = word_at(n->key, 8), k1 = word_at(n->key + 8, 8);
	uint64_t v[4] = {k0 ^ UINT64_C(0x736f6d6570736575), k1 ^ UINT64_C(0x646f72616e646f6d),
	        k0 ^ UINT64_C(0x6c7967656e657261), k1 ^ UINT64_C(0x7465646279746573)};
	const uint8_t *p = bytes;
	size_t left = size;

	for (; left >= 8; left -= 8, p += 8) {
		sip_word(v, word_at(p, 8));
	}
	sip_word(v, word_at(p, left) | (uint64_t)size << 56);
	v[2] ^= 0xff;
	for (unsigned i = 0; i < 4; i++) {
		sip_round(v);
	}
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* Returns the number of a remembered name, or INDEX_NONE; *at: its slot. The index has room. */
static uint32_t find(const struct names *n, const char *name, size_t size, size_t *at)
{
	uint32_t hash = (uint32_t)hash_bytes(name, size);
	uint32_t i;

	*at = hash;
	while ((i = index_next(&n->index, hash, at)) != INDEX_NONE) {
		if (strlen(n->known[i]) == size && memcmp(n->known[i], name, size) == 0) {
			break;
		}
		++*at;
	}
	return i;
}

int names_learn(struct names *n, const char *name, size_t size)
{
	size_t at;

	if (size < NAMES_LEAST) {
		return 0;
	}
	if (index_room(&n->index) < 0 ||
	        !array_reserve(&n->known, &n->cap, n->nknown + 1, sizeof(*n->known))) {
		return SONDE_ENOMEM;
	}
	if (find(n, name, size, &at) != INDEX_NONE) {
		return 0;
	}
	n->known[n->nknown] = arena_text(&n->arena, name, size);
	if (n->known[n->nknown] == NULL) {
		return SONDE_ENOMEM;
	}
	index_put(&n->index, (uint32_t)hash_bytes(name, size), at, (uint32_t)n->nknown++);
	return 0;
}

/* Names that say nothing about the user: of the kernel, and of memory without a file. */
static bool is_plain(const char *path, size_t size)
{
	return size == 0 || path[0] == '[' ||
	       (size == strlen(ANON) && memcmp(path, ANON, size) == 0);
}

/* Returns the size without an ending. */
static size_t without(const char *path, size_t size, const char *ending)
{
	size_t n = strlen(ending);

	return size > n && memcmp(path + size - n, ending, n) == 0 ? size - n : size;
}

int names_learn_path(struct names *n, const char *path, size_t size)
{
	if (is_plain(path, size)) {
		return 0;
	}
	size = without(path, size, DELETED);
	TRY(names_learn(n, path, size));
	for (size_t at = 0, len; at < size; at += len + 1) {
		const char *slash = memchr(path + at, '/', size - at);

		len = slash != NULL ? (size_t)(slash - (path + at)) : size - at;
		TRY(names_learn(n, path + at, len));
	}
	return 0;
}

void names_put(const struct names *n, struct text *out, const char *name, size_t size)
{
	text_hex(out, names_hash(n, name, size) >> (64 - 4 * NAMES_WIDTH), NAMES_WIDTH, '0');
}

void names_put_path(const struct names *n, struct text *out, const char *path, size_t size)
{
	size_t end = without(path, size, DELETED);
	size_t last = without(path, end, MODULE);

	if (is_plain(path, size)) {
		text_bytes(out, path, size);
		return;
	}
	for (size_t at = 0, len; at <= last; at += len + 1) {
		const char *slash = at < last ? memchr(path + at, '/', last - at) : NULL;

		len = slash != NULL ? (size_t)(slash - (path + at)) : last - at;
		if (len != 0) {
			names_put(n, out, path + at, len);
		}
		if (slash != NULL) {
			text_char(out, '/');
		}
	}
	text_bytes(out, path + last, size - last);
}

static bool is_of_name(uint8_t c)
{
	return c > ' ' && c < 0x7f && c != '/' && c != ':' && c != '=' && c != '"' && c != ',';
}

void names_blot(const struct names *n, uint8_t *bytes, size_t size)
{
	size_t end, at;
	char hash[17];

	for (size_t i = 0; i < size && n->nknown != 0; i = end) {
		end = i;
		while (end < size && is_of_name(bytes[end])) {
			end++;
		}
		if (end - i >= NAMES_LEAST &&
		        find(n, (const char *)bytes + i, end - i, &at) != INDEX_NONE) {
			(void)snprintf(hash, sizeof(hash), "%016llx",
			        (unsigned long long)names_hash(n, bytes + i, end - i));
			for (size_t k = i; k < end; k++) {
				bytes[k] = (uint8_t)hash[(k - i) % 16];
			}
		}
		end += end == i;
	}
}
