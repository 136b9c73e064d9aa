/* SPDX-License-Identifier: MIT */
/* Makes small perf.data files in memory. Sample layout: IP, TID, [TIME], PERIOD. */
#ifndef SONDE_TESTS_FILE_MAKE_H
#define SONDE_TESTS_FILE_MAKE_H

#include "abi/abi.h"
#include "record/record.h"

#include <stdlib.h>
#include <string.h>

#define MAKE_IDS   104u
#define MAKE_ATTRS 120u

struct make {
	uint8_t p[8 << 20];
	size_t n;
	size_t attr_size; /* without the section of ids */
	size_t data;
	bool timed;
};

static inline void make_u64(struct make *m, uint64_t v)
{
	if (m->n + 8 > sizeof(m->p)) {
		abort();
	}
	memcpy(m->p + m->n, &v, 8);
	m->n += 8;
}

static inline void make_at(struct make *m, size_t at, uint64_t v)
{
	memcpy(m->p + at, &v, 8);
}

/* Header, two ids (5 and 6), one attr of attr_size bytes. */
static inline void make_begin(struct make *m, size_t attr_size, bool timed)
{
	struct sonde_attr attr = {.type = 1,
	        .size = (uint32_t)attr_size,
	        .sample_period = 1,
	        .sample_type = SONDE_SAMPLE_IP | SONDE_SAMPLE_TID | SONDE_SAMPLE_PERIOD |
	                       (timed ? SONDE_SAMPLE_TIME : 0),
	        .config3 = 77};
	uint8_t bytes[144];

	memset(m, 0, sizeof(*m));
	m->attr_size = attr_size;
	m->timed = timed;
	m->data = MAKE_ATTRS + attr_size + 16;
	record_attr_encode(&attr, bytes);
	memcpy(m->p, "PERFILE2", 8);
	make_at(m, 8, 104);
	make_at(m, 16, attr_size + 16);
	make_at(m, 24, MAKE_ATTRS);
	make_at(m, 32, attr_size + 16);
	make_at(m, 40, m->data);
	make_at(m, MAKE_IDS, 5);
	make_at(m, MAKE_IDS + 8, 6);
	memcpy(m->p + MAKE_ATTRS, bytes, attr_size < 144 ? attr_size : 144);
	make_at(m, MAKE_ATTRS + attr_size, MAKE_IDS);
	make_at(m, MAKE_ATTRS + attr_size + 8, 16);
	m->n = m->data;
}

static inline void make_sample(struct make *m, uint64_t ip, uint32_t tid, uint64_t time)
{
	make_u64(m, RECORD_SAMPLE | (uint64_t)2 << 32 | (uint64_t)(m->timed ? 40 : 32) << 48);
	make_u64(m, ip);
	make_u64(m, tid | (uint64_t)tid << 32);
	if (m->timed) {
		make_u64(m, time);
	}
	make_u64(m, 1);
}

static inline void make_round(struct make *m)
{
	make_u64(m, RECORD_FINISHED_ROUND | (uint64_t)8 << 48);
}

static inline void make_end(struct make *m)
{
	make_at(m, 48, m->n - m->data);
}

#endif
