/* SPDX-License-Identifier: MIT */
/*
 * Contents of a sample: options to sample_type and related fields, with the bits that perf 6.1 sets
 * for the same options (observed with `perf record -vv` and in its files).
 */
#include "capture/plan/content.h"

#include "core/text.h"
#include "record/record.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/utsname.h>

#define STACK_DUMP     8192u /* bytes of user stack by default */
#define STACK_DUMP_MAX 65528u /* bytes that fit into a record, in steps of 8 */

/* bits of branch_sample_type: perf_event_open(2) */
#define BRANCH_ANY        (1u << 3)
#define BRANCH_CALL_GRAPH (1u | 1u << 11 | 1u << 14 | 1u << 15 | 1u << 17)
#define BRANCH_LEVELS     7u /* user, kernel, hypervisor */

static const struct {
	const char *name;
	unsigned bit;
} branches[] = {{"u", 0}, {"k", 1}, {"hv", 2}, {"any", 3}, {"any_call", 4}, {"any_ret", 5},
        {"ind_call", 6}, {"abort_tx", 7}, {"in_tx", 8}, {"no_tx", 9}, {"cond", 10}, {"stack", 11},
        {"ind_jmp", 12}, {"call", 13}, {"no_flags", 14}, {"no_cycles", 15}, {"save_type", 16},
        {"hw_index", 17}, {"priv", 18}, {"counter", 19}};

#define BRANCHES (sizeof(branches) / sizeof(branches[0]))

static int bad_branch(struct error *err, const char *word, size_t n)
{
	struct text list = {0};
	size_t i;
	int rc;

	for (i = 0; i < BRANCHES; i++) {
		text_printf(&list, "%s%s", i == 0 ? "" : ", ", branches[i].name);
	}
	rc = error_set(err, SONDE_EARG, NO_OFFSET,
	        "-j does not know the branch filter '%.*s'; valid are: %.*s", (int)n, word,
	        (int)list.n, list.p != NULL ? list.p : "");
	text_fini(&list);
	return rc;
}

/* A list without a kind of branch means any; then perf ignores the privilege levels in it. */
static int parse_branches(const char *s, uint64_t *out, struct error *err)
{
	uint64_t mask = 0;
	size_t i, n;

	for (;; s += n + 1) {
		n = strcspn(s, ",");
		for (i = 0; i < BRANCHES; i++) {
			if (strlen(branches[i].name) == n &&
			        strncasecmp(branches[i].name, s, n) == 0) {
				break;
			}
		}
		if (i == BRANCHES) {
			return bad_branch(err, s, n);
		}
		mask |= 1ull << branches[i].bit;
		if (s[n] == '\0') {
			break;
		}
	}
	*out = (mask & ~(uint64_t)BRANCH_LEVELS) != 0 ? mask : BRANCH_ANY;
	return 0;
}

/* ---- registers ---- */

/*
 * The registers that the kernel supports: on x86-64 all but the data segments (<asm/perf_regs.h>).
 */
static uint64_t all_registers(const char *const **names, size_t *n)
{
	struct utsname u;
	uint64_t mask;

	*names = NULL;
	*n = 0;
	if (uname(&u) == 0) {
		*names = record_reg_names(u.machine, n);
	}
	if (*names == NULL) {
		return 0;
	}
	mask = *n < 64 ? (1ull << *n) - 1 : UINT64_MAX;
	return strcmp((*names)[0], "AX") == 0 ? mask & ~0xf000ull : mask;
}

const char *sonde_recorder_registers(void)
{
	static const char x86[] =
	        "AX BX CX DX SI DI BP SP IP FLAGS CS SS R8 R9 R10 R11 R12 R13 R14 R15";
	static const char arm64[] = "x0 x1 x2 x3 x4 x5 x6 x7 x8 x9 x10 x11 x12 x13 x14 x15 x16 x17 "
	                            "x18 x19 x20 x21 x22 x23 x24 x25 x26 x27 x28 x29 lr sp pc";
	static const char arm[] = "r0 r1 r2 r3 r4 r5 r6 r7 r8 r9 r10 fp ip sp lr pc";
	const char *const *names;
	size_t n;

	(void)all_registers(&names, &n);
	return n == 0                        ? ""
	       : strcmp(names[0], "AX") == 0 ? x86
	       : strcmp(names[0], "x0") == 0 ? arm64
	                                     : arm;
}

static int parse_registers(const char *s, const char *option, uint64_t *out, struct error *err)
{
	const char *const *names;
	size_t i, n, count;
	uint64_t all = all_registers(&names, &count);

	if (all == 0) {
		return error_set(err, SONDE_EUNSUPPORTED, NO_OFFSET,
		        "%s: the registers of this kind of machine are not known", option);
	}
	*out = 0;
	if (*s == '\0') {
		*out = all;
		return 0;
	}
	for (;; s += n + 1) {
		n = strcspn(s, ",");
		for (i = 0; i < count; i++) {
			if (strlen(names[i]) == n && strncasecmp(names[i], s, n) == 0 &&
			        (all >> i & 1) != 0) {
				break;
			}
		}
		if (i == count) {
			return error_set(err, SONDE_EARG, NO_OFFSET,
			        "%s does not know the register '%.*s'; valid are: %s", option,
			        (int)n, s, sonde_recorder_registers());
		}
		*out |= 1ull << i;
		if (s[n] == '\0') {
			return 0;
		}
	}
}

/* The minimum for unwinding a stack: stack pointer and instruction pointer. */
static uint64_t unwind_registers(void)
{
	static const char *const wanted[] = {"SP", "IP", "sp", "pc"};
	const char *const *names;
	uint64_t mask = 0;
	size_t i, k, n;

	(void)all_registers(&names, &n);
	for (i = 0; i < n; i++) {
		for (k = 0; k < 4; k++) {
			if (strcmp(names[i], wanted[k]) == 0) {
				mask |= 1ull << i;
			}
		}
	}
	return mask;
}

/* ---- call chains ---- */

static bool number(const char *s, uint64_t *v)
{
	char *end;

	if (!isdigit((unsigned char)*s)) {
		return false;
	}
	*v = strtoull(s, &end, 0);
	return *end == '\0';
}

/* Sets the bytes of a copy of the stack: the number `v` after the comma, if there is one. */
static int set_dump(
        const char *s, const char *more, uint64_t v, struct capture_content *c, struct error *err)
{
	v = more == NULL ? STACK_DUMP : (v + 7) / 8 * 8;
	if (v == 0 || v > STACK_DUMP_MAX) {
		return error_set(err, SONDE_EARG, NO_OFFSET,
		        "--call-graph %.*s: a stack dump has 1 to %u bytes, not '%s'",
		        (int)strcspn(s, ","), s, STACK_DUMP_MAX, more);
	}
	c->stack_dump = (uint32_t)v;
	return 0;
}

static int parse_chain(const char *s, struct capture_content *c, struct error *err)
{
	size_t n = strcspn(s, ",");
	const char *more = s[n] == ',' ? s + n + 1 : NULL;
	uint64_t v = 0;

	if (n == 2 && strncmp(s, "no", n) == 0 && more == NULL) {
		c->chain = CAPTURE_CHAIN_NONE;
		return 0;
	}
	if (n == 2 && strncmp(s, "fp", n) == 0 &&
	        (more == NULL || (number(more, &v) && v > 0 && v <= UINT16_MAX))) {
		c->chain = CAPTURE_CHAIN_FP;
		c->frames_max = v;
		return 0;
	}
	if (n == 5 && strncmp(s, "dwarf", n) == 0 && (more == NULL || number(more, &v))) {
		c->chain = CAPTURE_CHAIN_DWARF;
		return set_dump(s, more, v, c, err);
	}
	if (n == 6 && strncmp(s, "unwind", n) == 0 && (more == NULL || number(more, &v))) {
		c->chain = CAPTURE_CHAIN_UNWIND;
		return set_dump(s, more, v, c, err);
	}
	if (n == 3 && strncmp(s, "lbr", n) == 0 && more == NULL) {
		c->chain = CAPTURE_CHAIN_LBR;
		return 0;
	}
	return error_set(err, SONDE_EARG, NO_OFFSET,
	        "--call-graph wants fp[,FRAMES], dwarf[,BYTES], unwind[,BYTES], lbr or no, not "
	        "'%s'",
	        s);
}

int capture_content_parse(
        const struct sonde_recorder_options *o, struct capture_content *c, struct error *err)
{
	*c = (struct capture_content){0};
	if (o->chains.frame_pointers) {
		c->chain = CAPTURE_CHAIN_FP;
	}
	if (o->chains.mode != NULL) {
		TRY(parse_chain(o->chains.mode, c, err));
	}
	if (o->samples.branches != NULL) {
		TRY(parse_branches(o->samples.branches, &c->branches, err));
	}
	if (o->samples.user_regs != NULL) {
		TRY(parse_registers(o->samples.user_regs, "--user-regs", &c->user_regs, err));
	}
	if (o->samples.intr_regs != NULL) {
		TRY(parse_registers(o->samples.intr_regs, "-I", &c->intr_regs, err));
	}
	return 0;
}

/* ---- to an attr ---- */

static void choose(uint64_t *mask, uint64_t bit, bool on)
{
	*mask = on ? *mask | bit : *mask & ~bit;
}

static void set_chain(const struct sonde_recorder_options *o, const struct capture_content *c,
        struct sonde_attr *attr)
{
	const char *const *names;
	size_t n;

	if (c->chain == CAPTURE_CHAIN_NONE) {
		return;
	}
	attr->sample_type |= SONDE_SAMPLE_CALLCHAIN;
	attr->sample_max_stack = (uint16_t)c->frames_max;
	record_attr_set(attr, SONDE_FLAG_EXCLUDE_CALLCHAIN_KERNEL, o->chains.user_only);
	record_attr_set(attr, SONDE_FLAG_EXCLUDE_CALLCHAIN_USER, o->chains.kernel_only);
	if (c->chain == CAPTURE_CHAIN_LBR &&
	        !sonde_attr_has(attr, SONDE_FLAG_EXCLUDE_USER)) { /* it supports user space only */
		attr->sample_type |= SONDE_SAMPLE_BRANCH_STACK;
		attr->branch_sample_type = BRANCH_CALL_GRAPH;
		record_attr_set(attr, SONDE_FLAG_EXCLUDE_CALLCHAIN_USER, true);
	}
	if (c->chain == CAPTURE_CHAIN_DWARF || c->chain == CAPTURE_CHAIN_UNWIND) {
		bool chosen = c->user_regs != 0 && c->chain == CAPTURE_CHAIN_DWARF;

		attr->sample_type |= SONDE_SAMPLE_REGS_USER | SONDE_SAMPLE_STACK_USER;
		attr->sample_regs_user =
		        chosen ? c->user_regs | unwind_registers() : all_registers(&names, &n);
		attr->sample_stack_user = c->stack_dump;
		record_attr_set(attr, SONDE_FLAG_EXCLUDE_CALLCHAIN_USER, true);
	}
}

static void set_counts(const struct sonde_recorder_options *o, struct sonde_attr *attr)
{
	if (o->samples.thread_counts || o->samples.running_time) {
		attr->read_format |= SONDE_READ_ENABLED | SONDE_READ_RUNNING;
	}
	record_attr_set(attr, SONDE_FLAG_INHERIT_STAT, o->samples.thread_counts);
	if (o->samples.none) {
		attr->sample_period = 0;
	}
	if (o->buffers.no_buffering) {
		record_attr_set(attr, SONDE_FLAG_WATERMARK, false);
		attr->wakeup_events = 1;
	}
}

void capture_content_levels(const struct sonde_recorder_options *o, struct sonde_attr *attr)
{
	if (o->events.all_user) {
		record_attr_set(attr, SONDE_FLAG_EXCLUDE_KERNEL, true);
		record_attr_set(attr, SONDE_FLAG_EXCLUDE_USER, false);
	}
	if (o->events.all_kernel) {
		record_attr_set(attr, SONDE_FLAG_EXCLUDE_KERNEL, false);
		record_attr_set(attr, SONDE_FLAG_EXCLUDE_USER, true);
	}
}

bool capture_content_plain(const struct capture_content *c, struct sonde_attr *attr)
{
	if (c->chain != CAPTURE_CHAIN_UNWIND ||
	        (attr->sample_type & SONDE_SAMPLE_STACK_USER) == 0) {
		return false;
	}
	attr->sample_type &= ~(uint64_t)SONDE_SAMPLE_STACK_USER;
	attr->sample_stack_user = 0;
	if (c->user_regs == 0) {
		attr->sample_type &= ~(uint64_t)SONDE_SAMPLE_REGS_USER;
		attr->sample_regs_user = 0;
	}
	record_attr_set(attr, SONDE_FLAG_EXCLUDE_CALLCHAIN_USER, false);
	return true;
}

void capture_content_apply(const struct sonde_recorder_options *o, const struct capture_content *c,
        struct sonde_attr *attr, bool tracking)
{
	const struct sonde_recorder_samples *s = &o->samples;
	bool unwinds = c->chain == CAPTURE_CHAIN_UNWIND;
	const struct {
		uint64_t bit;
		bool on;
	} wanted[] = {
	        {SONDE_SAMPLE_ADDR | SONDE_SAMPLE_DATA_SRC,
	                s->addresses || c->chain == CAPTURE_CHAIN_DWARF},
	        {SONDE_SAMPLE_PHYS_ADDR, s->phys_addresses},
	        {SONDE_SAMPLE_DATA_PAGE_SIZE, s->data_page_sizes},
	        {SONDE_SAMPLE_CODE_PAGE_SIZE, s->code_page_sizes},
	        {SONDE_SAMPLE_CPU, s->cpu || s->raw},
	        {SONDE_SAMPLE_TIME | SONDE_SAMPLE_RAW, s->raw},
	        {SONDE_SAMPLE_WEIGHT_STRUCT, s->weights},
	        {SONDE_SAMPLE_TRANSACTION, s->transactions},
	        {SONDE_SAMPLE_REGS_USER, c->user_regs != 0},
	        {SONDE_SAMPLE_REGS_INTR, c->intr_regs != 0},
	        {SONDE_SAMPLE_BRANCH_STACK, c->branches != 0},
	        {SONDE_SAMPLE_IDENTIFIER, s->identifier || unwinds},
	        {SONDE_SAMPLE_TIME, unwinds},
	};
	size_t i;

	if (s->periods != SONDE_RECORDER_AUTO && !tracking) {
		choose(&attr->sample_type, SONDE_SAMPLE_PERIOD, s->periods == SONDE_RECORDER_YES);
	}
	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		attr->sample_type |= wanted[i].on ? wanted[i].bit : 0;
	}
	attr->sample_regs_user = c->user_regs;
	attr->sample_regs_intr = c->intr_regs;
	set_chain(o, c, attr);
	attr->branch_sample_type = c->branches != 0 ? c->branches : attr->branch_sample_type;
	set_counts(o, attr);
	capture_content_levels(o, attr);
}
