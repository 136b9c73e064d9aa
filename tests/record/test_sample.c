/* SPDX-License-Identifier: MIT */
/* Attrs and samples: decoding what was encoded, both byte orders, and every truncated body. */
#include "abi/abi.h"
#include "record/record.h"
#include "tests/tap.h"

static void put64(uint8_t *p, size_t word, uint64_t v, bool swap)
{
	if (swap) {
		v = __builtin_bswap64(v);
	}
	memcpy(p + word * 8, &v, 8);
}

static void put32x2(uint8_t *p, size_t word, uint32_t a, uint32_t b, bool swap)
{
	if (swap) {
		a = __builtin_bswap32(a);
		b = __builtin_bswap32(b);
	}
	memcpy(p + word * 8, &a, 4);
	memcpy(p + word * 8 + 4, &b, 4);
}

static void test_attr(void)
{
	struct sonde_attr a = {.type = 1,
	        .size = 128,
	        .config = 0x1122334455667788,
	        .sample_period = 4000,
	        .sample_type = 0x10107,
	        .read_format = 4,
	        .flags = (uint64_t)1 << SONDE_FLAG_FREQ | (uint64_t)2 << SONDE_FLAG_PRECISE_IP |
	                 (uint64_t)1 << SONDE_FLAG_DEFER_OUTPUT,
	        .clockid = -3,
	        .config4 = 9};
	struct sonde_attr b;
	uint8_t bytes[144];
	uint8_t again[144];

	record_attr_encode(&a, bytes);
	ok(record_attr_decode((struct span){bytes, 144}, false, &b), "an encoded attr is decoded");
	record_attr_encode(&b, again);
	eq_mem(bytes, again, 144, "a decoded attr is encoded to the same bytes");
	ok(b.flags == a.flags && b.clockid == -3 && b.config4 == 9,
	        "an attr has its flags and its newest fields");
	ok(!record_attr_decode((struct span){bytes, 63}, false, &b), "63 bytes are no attr");
	ok(record_attr_decode((struct span){bytes, 64}, false, &b) && b.config4 == 0 &&
	                b.clockid == 0,
	        "fields missing in a short attr are zero");
}

/* A big-endian compiler puts the first bit-field at the top: freq is bit 53, precise_ip bits 47
 * and 48. */
static void test_attr_big(void)
{
	uint8_t bytes[144] = {0};
	struct sonde_attr a;

	put64(bytes, 5, (uint64_t)1 << (63 - SONDE_FLAG_FREQ) | (uint64_t)1 << 47,
	        !HOST_BIG_ENDIAN);
	ok(record_attr_decode((struct span){bytes, 144}, !HOST_BIG_ENDIAN, &a),
	        "a big-endian attr is decoded");
	eq_u64(a.flags, (uint64_t)1 << SONDE_FLAG_FREQ | (uint64_t)1 << SONDE_FLAG_PRECISE_IP,
	        "freq and precise_ip 1 of a big-endian attr are found");
}

static size_t sample_bytes(uint8_t *p, bool swap)
{
	put64(p, 0, 77, swap); /* IDENTIFIER */
	put64(p, 1, 0x401000, swap); /* IP */
	put32x2(p, 2, 12, 34, swap); /* pid, tid */
	put64(p, 3, 1000000007, swap); /* TIME */
	put32x2(p, 4, 3, 0, swap); /* cpu */
	put64(p, 5, 250000, swap); /* PERIOD */
	put64(p, 6, 3, swap); /* callchain */
	put64(p, 7, CALLCHAIN_USER, swap);
	put64(p, 8, 0x401000, swap);
	put64(p, 9, 0x402000, swap);
	put64(p, 10, 4096, swap); /* code page size */
	return 88;
}

static void test_sample(bool swap, bool shifted)
{
	const struct sonde_attr attr = {
	        .sample_type = SONDE_SAMPLE_IDENTIFIER | SONDE_SAMPLE_IP | SONDE_SAMPLE_TID |
	                       SONDE_SAMPLE_TIME | SONDE_SAMPLE_CPU | SONDE_SAMPLE_PERIOD |
	                       SONDE_SAMPLE_CALLCHAIN | SONDE_SAMPLE_CODE_PAGE_SIZE};
	struct record_scratch scratch = {0};
	struct record_plan plan;
	struct sonde_sample s;
	uint64_t words[16] = {0};
	uint8_t *p = (uint8_t *)words + (shifted ? 4 : 0);
	size_t n = sample_bytes(p, swap);
	bool all_short = true;

	record_plan_make(&plan, &attr);
	eq_u64(record_sample_decode(&plan, (struct span){p, n}, swap, &scratch, &s), 1,
	        "a sample is decoded");
	eq_u64(s.id, 77, "sample: id is right");
	eq_u64(s.ip, 0x401000, "sample: ip is right");
	ok(s.pid == 12 && s.tid == 34 && s.cpu == 3,
	        "sample: pid, tid and cpu are separate 32-bit words");
	ok(s.time == 1000000007 && s.period == 250000, "sample: time and period are right");
	ok(s.callchain_len == 3 && s.callchain[0] == CALLCHAIN_USER && s.callchain[2] == 0x402000,
	        "sample: the call chain has its three entries");
	eq_u64(s.code_page_size, 4096, "sample: the field after the call chain is right");
	for (size_t i = 0; i < n; i++) {
		all_short &=
		        record_sample_decode(&plan, (struct span){p, i}, swap, &scratch, &s) == 0;
	}
	ok(all_short, "sample: every cut body is reported as too short");
	put64(p, 6, UINT64_MAX / 8, swap);
	eq_u64(record_sample_decode(&plan, (struct span){p, n}, swap, &scratch, &s), 0,
	        "sample: a count larger than the record is refused");
	record_scratch_fini(&scratch);
}

/* Of a tracepoint, with a call chain and without. Aligned ones are decoded on a path of their own. */
static void test_raw(bool swap, bool shifted, bool chain)
{
	const struct sonde_attr attr = {
	        .sample_type = SONDE_SAMPLE_TIME | SONDE_SAMPLE_RAW |
	                       (chain ? (uint64_t)SONDE_SAMPLE_CALLCHAIN : 0)};
	struct record_scratch scratch = {0};
	struct record_plan plan;
	struct sonde_sample s;
	uint64_t words[8] = {0};
	uint8_t *p = (uint8_t *)words + (shifted ? 4 : 0);
	size_t raw = chain ? 3 : 1, n = (raw + 2) * 8;
	bool all_short = true;

	put64(p, 0, 9, swap); /* TIME */
	if (chain) {
		put64(p, 1, 1, swap);
		put64(p, 2, 0x401000, swap);
	}
	put32x2(p, raw, 12, 5, swap); /* size, first word */
	record_plan_make(&plan, &attr);
	ok(record_sample_decode(&plan, (struct span){p, n}, swap, &scratch, &s) == 1 &&
	                s.time == 9 && s.callchain_len == (chain ? 1 : 0) &&
	                (!chain || s.callchain[0] == 0x401000),
	        "a sample with raw data has its time and its chain");
	ok(s.raw == p + raw * 8 + 4 && s.raw_len == 12,
	        "the raw data of a sample is after its size");
	for (size_t i = 0; i < n; i++) {
		all_short &=
		        record_sample_decode(&plan, (struct span){p, i}, swap, &scratch, &s) == 0;
	}
	ok(all_short, "raw data that is cut anywhere is refused");
	put32x2(p, raw, UINT32_MAX, 5, swap);
	eq_u64(record_sample_decode(&plan, (struct span){p, n}, swap, &scratch, &s), 0,
	        "raw data longer than its record is refused");
	record_scratch_fini(&scratch);
}

/* The READ part of a sample; returns its words. */
static size_t read_words(uint8_t *p, uint64_t format, bool swap)
{
	bool group = (format & SONDE_READ_GROUP) != 0;
	unsigned n = group ? 3 : 1;
	size_t w = 0;

	put64(p, w++, 9, swap); /* TIME */
	if (group) {
		put64(p, w++, n, swap);
	}
	for (unsigned i = 0; i < n; i++) {
		if (!group) {
			put64(p, w++, 100, swap);
		}
		if (i == 0 && (format & SONDE_READ_ENABLED) != 0) {
			put64(p, w++, 500, swap);
		}
		if (i == 0 && (format & SONDE_READ_RUNNING) != 0) {
			put64(p, w++, 400, swap);
		}
		if (group) {
			put64(p, w++, 100 + i, swap);
		}
		if ((format & SONDE_READ_ID) != 0) {
			put64(p, w++, 7 + i, swap);
		}
		if ((format & SONDE_READ_LOST) != 0) {
			put64(p, w++, 2 + i, swap);
		}
	}
	put64(p, w++, 4096, swap); /* code page size */
	return w;
}

static void test_counts(uint64_t format, bool swap)
{
	const struct sonde_attr attr = {.read_format = format,
	        .sample_type = SONDE_SAMPLE_TIME | SONDE_SAMPLE_READ | SONDE_SAMPLE_CODE_PAGE_SIZE};
	struct record_scratch scratch = {0};
	struct record_plan plan;
	struct sonde_sample s;
	uint64_t words[16] = {0};
	uint8_t *p = (uint8_t *)words;
	size_t n = read_words(p, format, swap) * 8;
	bool good;
	bool all_short = true;

	record_plan_make(&plan, &attr);
	good = record_sample_decode(&plan, (struct span){p, n}, swap, &scratch, &s) == 1 &&
	       s.read_len == ((format & SONDE_READ_GROUP) != 0 ? 3 : 1) && s.read_value == 100 &&
	       s.read_enabled == ((format & SONDE_READ_ENABLED) != 0 ? 500 : 0) &&
	       s.read_running == ((format & SONDE_READ_RUNNING) != 0 ? 400 : 0) &&
	       s.code_page_size == 4096;
	for (uint64_t i = 0; good && i < s.read_len; i++) {
		good = s.read_values[i].value == 100 + i &&
		       s.read_values[i].id == ((format & SONDE_READ_ID) != 0 ? 7 + i : 0) &&
		       s.read_values[i].lost == ((format & SONDE_READ_LOST) != 0 ? 2 + i : 0);
	}
	for (size_t i = 0; i < n; i++) {
		all_short &=
		        record_sample_decode(&plan, (struct span){p, i}, swap, &scratch, &s) == 0;
	}
	if (!good || !all_short) {
		printf("#   read_format %" PRIu64 "\n", format);
	}
	ok(good, "the counts of a sample are read, for this read_format");
	ok(all_short, "the counts of every cut sample are refused, for this read_format");
	record_scratch_fini(&scratch);
}

/*
 * A branch that was predicted, after 7 cycles, of the newer kind 1: bits 1, 4, 20 and 26 from the
 * lowest one, or from the highest one if a big-endian machine wrote it.
 */
static void test_branch(bool swap)
{
	const struct sonde_attr attr = {.sample_type = SONDE_SAMPLE_BRANCH_STACK};
	uint64_t low = UINT64_C(1) << 1 | UINT64_C(7) << 4 | UINT64_C(15) << 20 | UINT64_C(1) << 26;
	uint64_t high =
	        UINT64_C(1) << 62 | UINT64_C(7) << 44 | UINT64_C(15) << 40 | UINT64_C(1) << 34;
	struct record_scratch scratch = {0};
	struct record_plan plan;
	struct sonde_sample s;
	uint64_t words[4];
	uint8_t *p = (uint8_t *)words;

	put64(p, 0, 1, swap);
	put64(p, 1, 0x401000, swap);
	put64(p, 2, 0x402000, swap);
	put64(p, 3, swap != HOST_BIG_ENDIAN ? high : low, swap);
	record_plan_make(&plan, &attr);
	eq_u64((uint64_t)record_sample_decode(
	               &plan, (struct span){p, sizeof(words)}, swap, &scratch, &s),
	        1, "a sample with a branch is decoded");
	eq_u64(s.branch_len, 1, "it has one branch");
	eq_u64(s.branches[1], 0x402000, "the target of the branch");
	eq_u64(s.branches[2], low, "flags are counted from the lowest bit in either byte order");
	record_scratch_fini(&scratch);
}

/* Including padding: both were cleared completely. */
static bool same_bytes(const void *a, const void *b, size_t n)
{
	return memcmp(a, b, n) == 0;
}

/* Decoding over a previous sample gives the same, whatever its parts and sizes. */
static void test_over(bool swap)
{
	struct record_scratch scratch = {0};
	uint64_t seed = 1;
	unsigned wrong = 0;
	unsigned good = 0;

	for (unsigned i = 0; i < 20000; i++) {
		struct sonde_attr attr = {.sample_regs_user = 5, .sample_regs_intr = 2};
		struct sonde_sample plain;
		struct sonde_sample over;
		struct record_plan plan;
		uint64_t words[40];
		bool kept = false;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		attr.sample_type =
		        seed >> 20 & ((SONDE_SAMPLE_AUX << 1) - 1) & ~(seed >> 42 & 0xffff00);
		attr.read_format = seed >> 40 & 0x1f;
		attr.branch_sample_type = seed >> 30 & (1u << 17 | 1u << 19);
		record_plan_make(&plan, &attr);
		for (unsigned k = 0; k < 4; k++) {
			struct span body;

			for (unsigned w = 0; w < 40; w++) {
				seed = seed * 6364136223846793005u + 1442695040888963407u;
				put64((uint8_t *)words, w, seed >> 61, swap);
			}
			body = (struct span){(uint8_t *)words, 160 + (seed >> 40) % 160};
			if (record_sample_decode(&plan, body, swap, &scratch, &plain) == 1 &&
			        kept) {
				good++;
				wrong += record_sample_decode_over(
				                 &plan, body, swap, &scratch, &over) != 1;
				wrong += !same_bytes(&plain, &over, sizeof(over));
			} else if (kept) {
				wrong += record_sample_decode_over(
				                 &plan, body, swap, &scratch, &over) != 0;
				wrong += !same_bytes(&plain, &over, sizeof(over));
				kept = false;
			} else if (record_sample_decode(&plan, body, swap, &scratch, &over) == 1) {
				kept = true;
			}
		}
	}
	eq_u64(wrong, 0,
	        "decoding over another sample gives the same as decoding into a cleared one");
	ok(good > 5000, "decoding over another sample: enough samples were complete");
	record_scratch_fini(&scratch);
}

static void test_no_counts(void)
{
	const struct sonde_attr attr = {.read_format = SONDE_READ_GROUP | SONDE_READ_ID,
	        .sample_type = SONDE_SAMPLE_READ | SONDE_SAMPLE_CODE_PAGE_SIZE};
	struct record_scratch scratch = {0};
	struct record_plan plan;
	struct sonde_sample s;
	uint64_t words[2] = {0, 4096};

	record_plan_make(&plan, &attr);
	eq_u64(record_sample_decode(
	               &plan, (struct span){(uint8_t *)words, 16}, false, &scratch, &s),
	        1, "a sample with a group of no members is decoded");
	ok(s.read_len == 0 && s.code_page_size == 4096, "a group without members has no counts");
	record_scratch_fini(&scratch);
}

static void test_trailer(void)
{
	const struct sonde_attr attr = {.sample_type = SONDE_SAMPLE_TID | SONDE_SAMPLE_TIME |
	                                               SONDE_SAMPLE_CPU | SONDE_SAMPLE_IDENTIFIER,
	        .flags = (uint64_t)1 << SONDE_FLAG_SAMPLE_ID_ALL};
	struct record_trailer t;
	struct record_plan plan;
	uint8_t p[40] = {0};

	put32x2(p, 1, 5, 6, false);
	put64(p, 2, 99, false);
	put32x2(p, 3, 7, 0, false);
	put64(p, 4, 1234, false);
	record_plan_make(&plan, &attr);
	ok(record_trailer_decode(&plan, (struct span){p, 40}, false, &t),
	        "a trailer is decoded from the end of a record");
	ok(t.pid == 5 && t.tid == 6 && t.time == 99 && t.cpu == 7 && t.id == 1234,
	        "trailer: pid, tid, time, cpu and id are right");
	ok(!record_trailer_decode(&plan, (struct span){p, 31}, false, &t),
	        "a cut trailer is refused");
}

static void test_mmap(void)
{
	uint8_t p[80] = {0};
	const struct record r = {.type = RECORD_MMAP2, .misc = MISC_USER, .body = {p, 80}};
	const struct record cut = {.type = RECORD_MMAP2, .misc = MISC_USER, .body = {p, 70}};
	struct record_mmap m;

	put32x2(p, 0, 8, 9, false);
	put64(p, 1, 0x1000, false);
	put64(p, 2, 0x2000, false);
	put64(p, 3, 0x3000, false);
	put32x2(p, 7, 5, 2, false);
	memcpy(p + 64, "/bin/cat", 9);
	ok(record_mmap_decode(&r, false, &m), "MMAP2 is decoded");
	ok(m.pid == 8 && m.start == 0x1000 && m.len == 0x2000 && m.pgoff == 0x3000 && m.prot == 5,
	        "MMAP2: its numbers are right");
	ok(m.name.n == 8 && memcmp(m.name.p, "/bin/cat", 8) == 0,
	        "MMAP2: the name ends at the NUL");
	ok(!record_mmap_decode(&cut, false, &m), "MMAP2: a name without a NUL is refused");
}

int main(void)
{
	test_attr();
	test_attr_big();
	test_sample(false, false);
	test_sample(false, true);
	test_sample(true, false);
	for (unsigned i = 0; i < 8; i++) {
		test_raw((i & 1) != 0, (i & 2) != 0, (i & 4) != 0);
	}
	for (uint64_t format = 0; format < 32; format++) {
		test_counts(format, false);
		test_counts(format, true);
	}
	test_no_counts();
	test_branch(false);
	test_branch(true);
	test_over(false);
	test_over(true);
	test_trailer();
	test_mmap();
	return tap_done();
}
