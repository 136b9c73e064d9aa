/* SPDX-License-Identifier: MIT */
#include "mutate.h"

#include <stdbool.h>
#include <string.h>

#define HEADER      104u /* bytes of the header of a seekable file */
#define PIPE_HEADER 16u
#define RECORDS_MAX 512u
#define INSERT_MAX  65536u /* bytes to insert at once */
#define STEPS_MAX   16u

struct rng rng_make(const char *name, uint64_t number)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (; *name != '\0'; name++) {
		h = (h ^ (uint8_t)*name) * 0x100000001b3u;
	}
	return (struct rng){h ^ number * 0x9e3779b97f4a7c15u};
}

/* splitmix64 */
static uint64_t rng_next(struct rng *rng)
{
	uint64_t z = rng->state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

uint64_t rng_below(struct rng *rng, uint64_t below)
{
	return rng_next(rng) % below;
}

size_t mutant_room(size_t n)
{
	return n + (size_t)STEPS_MAX * INSERT_MAX;
}

/* ---- numbers ---- */

static bool is_big(const struct mutant *m)
{
	return m->n >= 8 && (memcmp(m->bytes, "2ELIFREP", 8) == 0 ||
	                            (memcmp(m->bytes, "PERFFILE", 8) == 0 && m->n >= 16 &&
	                                    m->bytes[8] == 0 && m->bytes[9] == 0));
}

static uint64_t get(const struct mutant *m, size_t at, unsigned width)
{
	uint64_t v = 0;
	bool big = is_big(m);

	for (unsigned i = 0; i < width && at + i < m->n; i++) {
		v |= (uint64_t)m->bytes[at + i] << 8 * (big ? width - 1 - i : i);
	}
	return v;
}

static void put(struct mutant *m, size_t at, unsigned width, uint64_t v)
{
	bool big = is_big(m);

	for (unsigned i = 0; i < width && at + i < m->n; i++) {
		m->bytes[at + i] = (uint8_t)(v >> 8 * (big ? width - 1 - i : i));
	}
}

/* A number at the edge of a range, near the old number, or one that can be an offset in the file.
 */
static uint64_t odd_number(const struct mutant *m, struct rng *rng, uint64_t old)
{
	static const uint64_t edges[] = {0, 1, 2, 4, 7, 8, 9, 15, 16, 40, 0x7f, 0xff, 0x7fff,
	        0x8000, 0xfff8, 0xffff, 0x7fffffff, 0x80000000, 0xfffffff8, 0xffffffff, 1ULL << 32,
	        1ULL << 40, INT64_MAX, 1ULL << 63, UINT64_MAX - 7, UINT64_MAX};

	switch (rng_below(rng, 4)) {
	case 0: return old + 1 + rng_below(rng, 16);
	case 1: return old - 1 - rng_below(rng, 16);
	case 2: return rng_below(rng, 2 * m->n + 1);
	default: return edges[rng_below(rng, sizeof(edges) / sizeof(edges[0]))];
	}
}

static void edit(struct mutant *m, struct rng *rng, size_t at, unsigned width)
{
	put(m, at, width, odd_number(m, rng, get(m, at, width)));
}

/* Changes a number of 2, 4 or 8 bytes, at a multiple of 4 in the n bytes from `from`. */
static void edit_some(struct mutant *m, struct rng *rng, size_t from, size_t n)
{
	size_t at = from + (size_t)rng_below(rng, n + 1) / 4 * 4;

	edit(m, rng, at, 2u << rng_below(rng, 3));
}

/* ---- records ---- */

struct places {
	size_t n;
	size_t front; /* offset of the first record */
	size_t behind; /* end of the last contiguous record */
	size_t at[RECORDS_MAX + 1]; /* offsets of records, then the end of the last one */
};

static void find_records(const struct mutant *m, struct places *p)
{
	uint64_t at = 0, end = m->n;

	p->n = 0;
	if (m->n >= PIPE_HEADER && get(m, 8, 8) == PIPE_HEADER) {
		at = PIPE_HEADER;
	} else if (m->n >= HEADER && get(m, 8, 8) < 4096) {
		at = get(m, 40, 8);
		end = get(m, 48, 8) != 0 ? at + get(m, 48, 8) : m->n;
	}
	end = end < m->n ? end : m->n;
	p->front = (size_t)(at < m->n ? at : m->n);
	while (at + 8 <= end && p->n < RECORDS_MAX) {
		uint64_t size = get(m, (size_t)at + 6, 2);

		if (size < 8 || size > end - at) {
			break;
		}
		p->at[p->n++] = (size_t)at;
		at += size;
	}
	p->behind = (size_t)(at < m->n ? at : m->n);
	p->at[p->n] = p->behind;
}

static void cut_out(struct mutant *m, size_t at, size_t n)
{
	n = n < m->n - at ? n : m->n - at;
	memmove(m->bytes + at, m->bytes + at + n, m->n - at - n);
	m->n -= n;
}

/* Inserts a copy of the n bytes at `from` at offset `at`. */
static void put_in(struct mutant *m, size_t at, size_t from, size_t n)
{
	static _Thread_local uint8_t copy[INSERT_MAX];

	n = n < m->n - from ? n : m->n - from;
	n = n < INSERT_MAX ? n : INSERT_MAX;
	n = n < m->room - m->n ? n : m->room - m->n;
	memcpy(copy, m->bytes + from, n);
	memmove(m->bytes + at + n, m->bytes + at, m->n - at);
	memcpy(m->bytes + at, copy, n);
	m->n += n;
}

static void on_record(struct mutant *m, struct rng *rng, const struct places *p)
{
	size_t i = (size_t)rng_below(rng, p->n);
	size_t at = p->at[i], size = p->at[i + 1] - at;
	size_t other = p->at[rng_below(rng, p->n)];

	switch (rng_below(rng, 7)) {
	case 0: edit(m, rng, at + 6, 2); break;
	case 1:
		put(m, at, 4, rng_below(rng, 4) == 0 ? rng_below(rng, 40000) : rng_below(rng, 88));
		break;
	case 2: edit(m, rng, at + 4, 2); break;
	case 3: put_in(m, other, at, size); break;
	case 4: cut_out(m, at, size); break;
	case 5: /* moves the record */
		put_in(m, other, at, size);
		cut_out(m, other <= at ? at + size : at, size);
		break;
	default:
		if (size > 8) { /* a number in its body */
			edit_some(m, rng, at + 8, size - 9);
		}
	}
}

static void step(struct mutant *m, struct rng *rng)
{
	struct places p;
	size_t at = (size_t)rng_below(rng, m->n);
	size_t from = (size_t)rng_below(rng, m->n);

	find_records(m, &p);
	switch (rng_below(rng, 11)) {
	case 0: m->bytes[at] ^= (uint8_t)(1u << rng_below(rng, 8)); break;
	case 1: m->bytes[at] = (uint8_t)rng_below(rng, 256); break;
	case 2: m->n = rng_below(rng, 2) != 0 && p.n != 0 ? p.at[rng_below(rng, p.n)] : at; break;
	case 3: edit(m, rng, (size_t)rng_below(rng, HEADER / 8) * 8, 8); break;
	case 4: /* attrs and ids before the records */ edit_some(m, rng, 0, p.front); break;
	case 5: /* sections and features after the records */
		edit_some(m, rng, p.behind, m->n - p.behind);
		break;
	case 6: cut_out(m, at, 1u << rng_below(rng, 10)); break;
	case 7: put_in(m, at, from, 1u << rng_below(rng, 10)); break;
	default:
		if (p.n != 0) {
			on_record(m, rng, &p);
		}
	}
}

void mutate(struct mutant *m, struct rng *rng)
{
	static const uint8_t counts[] = {1, 1, 1, 2, 2, 4, STEPS_MAX};
	unsigned steps = counts[rng_below(rng, sizeof(counts))];

	for (unsigned i = 0; i < steps && m->n != 0; i++) {
		step(m, rng);
	}
}
