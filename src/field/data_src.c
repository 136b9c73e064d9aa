/* SPDX-License-Identifier: MIT */
/*
 * Text of PERF_SAMPLE_DATA_SRC, in the layout of perf script. The bits, from 0 up:
 *
 *	op 5 | lvl 14 | snoop 5 | lock 2 | dtlb 7 | lvl_num 4 | remote 1 | snoopx 2 | blk 3 | hops 3
 *
 * Source: union perf_mem_data_src of <linux/perf_event.h>; the words were observed with recordings
 * that have every bit set.
 */
#include "field/data_src.h"

#define OP_SHIFT      0
#define LVL_SHIFT     5
#define SNOOP_SHIFT   19
#define LOCK_SHIFT    24
#define TLB_SHIFT     26
#define LVL_NUM_SHIFT 33
#define REMOTE_SHIFT  37
#define SNOOPX_SHIFT  38
#define BLK_SHIFT     40
#define HOPS_SHIFT    43

/* Words by bit; NULL: not in the list. */
static const char *const op_words[5] = {"N/A", "LOAD", "STORE", "PFETCH", "EXEC"};
static const char *const lvl_words[14] = {"N/A", NULL, NULL, "L1", "LFB/MAB", "L2", "L3",
        "Local RAM", "Remote RAM (1 hop)", "Remote RAM (2 hops)", "Remote Cache (1 hop)",
        "Remote Cache (2 hops)", "I/O", "Uncached"};
static const char *const snoop_words[5] = {"N/A", "None", "Hit", "Miss", "HitM"};
static const char *const snoopx_words[2] = {"Fwd", "Peer"};
static const char *const tlb_words[7] = {"N/A", NULL, NULL, "L1", "L2", "Walker", "Fault"};
/* Words by value. */
static const char *const lvl_num_words[16] = {NULL, "L1", "L2", "L3", "L4", "L5", "L6", "L7", "L8",
        "CXL", "I/O", "Any cache", "LFB/MAB", "RAM", "PMEM", "N/A"};
static const char *const hops_words[8] = {NULL, "core, same node ", "node, same socket ",
        "socket, same board ", "board ", "N/A ", "N/A ", "N/A "};

static uint64_t bits(uint64_t value, unsigned shift, unsigned n)
{
	return value >> shift & ((UINT64_C(1) << n) - 1);
}

/* Prints the words of the set bits, separated by " or "; any: words precede them. */
static bool put_words(
        struct text *out, uint64_t value, const char *const *words, unsigned n, bool any)
{
	for (unsigned i = 0; i < n; i++) {
		if ((value >> i & 1) != 0 && words[i] != NULL) {
			text_str(out, any ? " or " : "");
			text_str(out, words[i]);
			any = true;
		}
	}
	return any;
}

/* Bits 1 and 2 of a level are hit and miss. */
static void put_outcome(struct text *out, uint64_t level)
{
	text_str(out, (level & 2) != 0 ? " hit" : "");
	text_str(out, (level & 4) != 0 ? " miss" : "");
}

static void put_op(struct text *out, uint64_t op)
{
	text_str(out, "|OP ");
	text_str(out, op == 0 ? "No" : op_words[__builtin_ctzll(op)]);
}

static void put_level(struct text *out, uint64_t v)
{
	uint64_t lvl = bits(v, LVL_SHIFT, 14);
	const char *number = lvl_num_words[bits(v, LVL_NUM_SHIFT, 4)];
	const char *hops = hops_words[bits(v, HOPS_SHIFT, 3)];
	size_t start;
	bool any;

	start = out->n;
	text_str(out, bits(v, REMOTE_SHIFT, 1) != 0 ? "Remote " : "");
	text_str(out, hops != NULL ? hops : "");
	any = put_words(out, hops == NULL ? lvl : 0, lvl_words, 14, false);
	if (number != NULL) {
		text_str(out, any ? " or " : "");
		text_str(out, number);
	}
	text_str(out, out->n == start ? "N/A" : "");
	put_outcome(out, lvl);
}

static void put_snoop(struct text *out, uint64_t v)
{
	bool any;

	any = put_words(out, bits(v, SNOOP_SHIFT, 5), snoop_words, 5, false);
	any = put_words(out, bits(v, SNOOPX_SHIFT, 2), snoopx_words, 2, any);
	text_str(out, any ? "" : "N/A");
}

static void put_tlb(struct text *out, uint64_t v)
{
	uint64_t tlb = bits(v, TLB_SHIFT, 7);

	text_str(out, put_words(out, tlb, tlb_words, 7, false) ? "" : "N/A");
	put_outcome(out, tlb);
}

static void put_lock(struct text *out, uint64_t v)
{
	uint64_t lock = bits(v, LOCK_SHIFT, 2);

	text_str(out, lock == 0 ? "No" : (lock & 1) != 0 ? "N/A" : "Yes");
}

static void put_blocked(struct text *out, uint64_t v)
{
	uint64_t blk = bits(v, BLK_SHIFT, 3);

	if (blk == 0 || (blk & 1) != 0) {
		text_str(out, " N/A");
		return;
	}
	text_str(out, (blk & 2) != 0 ? " Data" : "");
	text_str(out, (blk & 4) != 0 ? " Addr" : "");
}

/* A part: bits [first, first + n), then bits [more_first, more_first + more_n). */
static const struct part {
	const char *title;
	void (*put)(struct text *out, uint64_t v);
	uint8_t first, n, more_first, more_n;
} parts[] = {
        [DATA_SRC_LEVEL] = {"|LVL ", put_level, LVL_SHIFT, 14, LVL_NUM_SHIFT, 13},
        [DATA_SRC_SNOOP] = {"|SNP ", put_snoop, SNOOP_SHIFT, 5, SNOOPX_SHIFT, 2},
        [DATA_SRC_TLB] = {"|TLB ", put_tlb, TLB_SHIFT, 7, 0, 0},
        [DATA_SRC_LOCK] = {"|LCK ", put_lock, LOCK_SHIFT, 2, 0, 0},
        [DATA_SRC_BLOCKED] = {"|BLK ", put_blocked, BLK_SHIFT, 3, 0, 0},
};

/* Bits of the words that levels depend on, of those from LVL_NUM_SHIFT on. */
#define LEVEL_MORE 0x1c1fu /* lvl_num, remote, hops */

void data_src_text(struct text *out, uint64_t v)
{
	put_op(out, bits(v, OP_SHIFT, 5));
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		text_str(out, parts[i].title);
		parts[i].put(out, v);
	}
}

uint64_t data_src_key(enum data_src_part part, uint64_t v)
{
	const struct part *p = &parts[part];
	uint64_t more = bits(v, p->more_first, p->more_n);

	more &= part == DATA_SRC_LEVEL ? LEVEL_MORE : UINT64_MAX;
	return bits(v, p->first, p->n) << p->more_n | more;
}

void data_src_key_text(struct text *out, enum data_src_part part, uint64_t key)
{
	const struct part *p = &parts[part];

	p->put(out, key >> p->more_n << p->first | bits(key, 0, p->more_n) << p->more_first);
}
