/* SPDX-License-Identifier: MIT */
/*
 * A small recording with call chains and known results: kernel functions of a made-up kallsyms, so
 * that nothing depends on the machine. The file is in host byte order. All files are in a new
 * folder.
 *
 *	chain (leaf first)     period       self       with callees
 *	h f main                   10       h     50   main  150
 *	g f main                   20       g     20   f     170
 *	f main                     30       f    140   h      50
 *	h main                     40       main   0   g      20
 *	f f main                   50
 *	f UNKNOWN-MARK main        60       the mark voids the chain
 */
#ifndef SONDE_TESTS_PROFILE_CHAINS_H
#define SONDE_TESTS_PROFILE_CHAINS_H

#include "abi/abi.h"
#include "core/span.h"
#include "record/record.h"

#include <sonde/session.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHAINS_BASE  UINT64_C(0xffffffff81000000)
#define CHAINS_MAIN  (CHAINS_BASE + 0x1010)
#define CHAINS_F     (CHAINS_BASE + 0x2020)
#define CHAINS_G     (CHAINS_BASE + 0x3030)
#define CHAINS_H     (CHAINS_BASE + 0x4040)
#define CHAINS_MARK  UINT64_C(0xfffffffffffff123) /* an unknown context mark */
#define CHAINS_TOTAL 210u
#define CHAINS_WORDS (1u << 19)

struct chains {
	char folder[32];
	char data[64], kallsyms[64];
	uint64_t words[CHAINS_WORDS];
	size_t n;
	uint32_t state; /* of chains_lot */
};

static inline void chains_put(struct chains *c, uint64_t word)
{
	c->words[c->n++] = word;
}

static inline void chains_record(struct chains *c, uint32_t type, uint16_t misc, size_t size)
{
	uint8_t *p = (uint8_t *)&c->words[c->n++];

	store_u32(p, type, false);
	store_u16(p + 4, misc, false);
	store_u16(p + 6, (uint16_t)size, false);
}

static inline void chains_sample(
        struct chains *c, uint64_t period, const uint64_t *chain, unsigned n)
{
	chains_record(c, RECORD_SAMPLE, MISC_KERNEL, 56 + 8 * n);
	chains_put(c, chain[0]);
	chains_put(c, (uint64_t)7 << 32 | 7); /* pid and tid */
	chains_put(c, 1000 + period); /* ns */
	chains_put(c, period);
	chains_put(c, n + 1);
	chains_put(c, CALLCHAIN_KERNEL);
	for (unsigned i = 0; i < n; i++) {
		chains_put(c, chain[i]);
	}
}

static inline void chains_mmap(struct chains *c)
{
	chains_record(c, RECORD_MMAP, MISC_KERNEL, 72);
	store_u32((uint8_t *)&c->words[c->n++], UINT32_MAX, false); /* pid -1, tid 0 */
	chains_put(c, CHAINS_BASE);
	chains_put(c, 0x10000);
	chains_put(c, CHAINS_BASE);
	memcpy(&c->words[c->n], "[kernel.kallsyms]_stext\0\0\0\0\0\0\0\0", 32);
	c->n += 4;
}

static inline void chains_file(const char *path, const void *bytes, size_t n)
{
	FILE *f = fopen(path, "wb");

	if (f == NULL || fwrite(bytes, 1, n, f) != n || fclose(f) != 0) {
		abort();
	}
}

/* Returns a number from 0 to n - 1. */
static inline unsigned chains_lot(struct chains *c, unsigned n)
{
	c->state = c->state * 1664525u + 1013904223u;
	return (c->state >> 16) % n;
}

/*
 * More samples, with chains of 1 to 12 frames: functions of kallsyms and addresses without symbols,
 * some of them more than once in a chain.
 */
static inline void chains_random(struct chains *c, unsigned samples)
{
	for (unsigned i = 0; i < samples; i++) {
		uint64_t chain[12];
		unsigned n = 1 + chains_lot(c, 12);

		for (unsigned k = 0; k < n; k++) {
			uint64_t offset = 0x1000u * (1u + chains_lot(c, 4)) + chains_lot(c, 8);

			chain[k] = chains_lot(c, 3) != 0 ? CHAINS_BASE + offset : offset;
		}
		chains_sample(c, 1 + chains_lot(c, 9), chain, n);
	}
}

/* Header, one attr without ids, records. */
static inline void chains_records(struct chains *c, unsigned more)
{
	static const uint64_t hfm[] = {CHAINS_H, CHAINS_F, CHAINS_MAIN};
	static const uint64_t gfm[] = {CHAINS_G, CHAINS_F, CHAINS_MAIN};
	static const uint64_t fm[] = {CHAINS_F, CHAINS_MAIN};
	static const uint64_t hm[] = {CHAINS_H, CHAINS_MAIN};
	static const uint64_t ffm[] = {CHAINS_F, CHAINS_F, CHAINS_MAIN};
	static const uint64_t void_chain[] = {CHAINS_F, CHAINS_MARK, CHAINS_MAIN};
	struct sonde_attr attr = {.type = SONDE_TYPE_SOFTWARE,
	        .size = 128,
	        .sample_period = 1,
	        .sample_type = SONDE_SAMPLE_IP | SONDE_SAMPLE_TID | SONDE_SAMPLE_TIME |
	                       SONDE_SAMPLE_PERIOD | SONDE_SAMPLE_CALLCHAIN};
	uint8_t bytes[144];
	size_t data;

	c->words[0] = FILE_MAGIC2;
	c->words[1] = 104;
	c->words[2] = 144;
	c->words[3] = 104;
	c->words[4] = 144;
	c->words[5] = data = 104 + 144;
	c->n = 13;
	record_attr_encode(&attr, bytes);
	memcpy(&c->words[c->n], bytes, 128);
	c->n = data / 8;
	chains_mmap(c);
	chains_sample(c, 10, hfm, 3);
	chains_sample(c, 20, gfm, 3);
	chains_sample(c, 30, fm, 2);
	chains_sample(c, 40, hm, 2);
	chains_sample(c, 50, ffm, 3);
	chains_sample(c, 60, void_chain, 3);
	chains_random(c, more);
	c->words[6] = c->n * 8 - data;
}

/* Writes the recording, with this many random samples after those above. */
static inline void chains_begin_with(struct chains *c, unsigned more)
{
	static const char kallsyms[] = "ffffffff81000000 T _stext\n"
	                               "ffffffff81001000 T main\n"
	                               "ffffffff81002000 T f\n"
	                               "ffffffff81003000 T g\n"
	                               "ffffffff81004000 T h\n"
	                               "ffffffff81005000 T _etext\n";

	memset(c, 0, sizeof(*c));
	memcpy(c->folder, "/tmp/sonde-chains-XXXXXX", sizeof("/tmp/sonde-chains-XXXXXX"));
	if (mkdtemp(c->folder) == NULL) {
		abort();
	}
	(void)snprintf(c->data, sizeof(c->data), "%s/perf.data", c->folder);
	(void)snprintf(c->kallsyms, sizeof(c->kallsyms), "%s/kallsyms", c->folder);
	chains_records(c, more);
	chains_file(c->data, c->words, c->n * 8);
	chains_file(c->kallsyms, kallsyms, sizeof(kallsyms) - 1);
}

static inline void chains_begin(struct chains *c)
{
	chains_begin_with(c, 0);
}

static inline struct sonde_session *chains_open(const struct chains *c, unsigned jobs)
{
	struct sonde_session_options o = {.size = sizeof(o), .jobs = jobs, .kallsyms = c->kallsyms};
	struct sonde_session *s = sonde_session_new(&o);

	if (s == NULL || sonde_session_open(s, c->data) < 0) {
		abort();
	}
	return s;
}

static inline void chains_end(struct chains *c)
{
	(void)unlink(c->data);
	(void)unlink(c->kallsyms);
	(void)rmdir(c->folder);
}

#endif
