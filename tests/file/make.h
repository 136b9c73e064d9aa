/* SPDX-License-Identifier: MIT */
/* Makes small perf.data files in memory, in either byte order. Sample layout: IP, TID, [TIME],
 * PERIOD. */
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
	bool swap; /* use the byte order that is not the host's; kept by make_begin */
};

/* Room for one more word. */
static inline uint8_t *make_word(struct make *m)
{
	if (m->n + 8 > sizeof(m->p)) {
		abort();
	}
	m->n += 8;
	return m->p + m->n - 8;
}

static inline void make_u64(struct make *m, uint64_t v)
{
	store_u64(make_word(m), v, m->swap);
}

static inline void make_at_u32s(struct make *m, size_t at, uint32_t first, uint32_t second)
{
	store_u32(m->p + at, first, m->swap);
	store_u32(m->p + at + 4, second, m->swap);
}

static inline void make_u32s(struct make *m, uint32_t first, uint32_t second)
{
	(void)make_word(m);
	make_at_u32s(m, m->n - 8, first, second);
}

static inline void make_record(struct make *m, uint32_t type, uint16_t misc, uint16_t size)
{
	uint8_t *p = make_word(m);

	store_u32(p, type, m->swap);
	store_u16(p + 4, misc, m->swap);
	store_u16(p + 6, size, m->swap);
}

static inline void make_at(struct make *m, size_t at, uint64_t v)
{
	store_u64(m->p + at, v, m->swap);
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
	bool swap = m->swap;

	memset(m, 0, sizeof(*m));
	m->swap = swap;
	m->attr_size = attr_size;
	m->timed = timed;
	m->data = MAKE_ATTRS + attr_size + 16;
	record_attr_encode_as(&attr, swap, bytes);
	make_at(m, 0, FILE_MAGIC2);
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
	make_record(m, RECORD_SAMPLE, MISC_USER, m->timed ? 40 : 32);
	make_u64(m, ip);
	make_u32s(m, tid, tid);
	if (m->timed) {
		make_u64(m, time);
	}
	make_u64(m, 1);
}

static inline void make_round(struct make *m)
{
	make_record(m, RECORD_FINISHED_ROUND, 0, 8);
}

static inline void make_end(struct make *m)
{
	make_at(m, 48, m->n - m->data);
}

#endif
