/* SPDX-License-Identifier: MIT */
/*
 * Applies the terms of an event ("cycles/period=1000,call-graph=fp/") to the attr made from
 * options.
 */
#include "capture/plan/plan.h"

#include "record/record.h"

/*
 * General registers of x86-64 in PERF_SAMPLE_REGS_USER: all but segments that are not saved for
 * user code (ds, es); of Arm64: x0 to pc.
 */
#if defined(__aarch64__)
#define USER_REGS 0x1ffffffffull
#else
#define USER_REGS 0xff0fffull
#endif
#define STACK_DEFAULT 8192u /* bytes of user stack, from perf-record(1) */

/* Bits of attr.branch_sample_type (perf_event_open(2)). */
enum {
	BRANCH_USER = 1 << 0,
	BRANCH_CALL_STACK = 1 << 11,
	BRANCH_NO_FLAGS = 1 << 14,
	BRANCH_NO_CYCLES = 1 << 15,
	BRANCH_HW_INDEX = 1 << 17
};

static void drop_chains(struct sonde_attr *attr)
{
	attr->sample_type &= ~(uint64_t)(SONDE_SAMPLE_CALLCHAIN | SONDE_SAMPLE_REGS_USER |
	                                 SONDE_SAMPLE_STACK_USER);
	if ((attr->branch_sample_type & BRANCH_CALL_STACK) != 0) {
		attr->sample_type &= ~(uint64_t)SONDE_SAMPLE_BRANCH_STACK;
		attr->branch_sample_type = 0;
	}
	attr->sample_regs_user = 0;
	attr->sample_stack_user = 0;
	record_attr_set(attr, SONDE_FLAG_EXCLUDE_CALLCHAIN_USER, false);
}

static void use_dwarf(struct sonde_attr *attr, uint32_t stack_size)
{
	attr->sample_type |= SONDE_SAMPLE_CALLCHAIN | SONDE_SAMPLE_REGS_USER |
	                     SONDE_SAMPLE_STACK_USER | SONDE_SAMPLE_ADDR | SONDE_SAMPLE_DATA_SRC;
	attr->sample_regs_user = USER_REGS;
	attr->sample_stack_user = stack_size != 0 ? (stack_size + 7) / 8 * 8 : STACK_DEFAULT;
	record_attr_set(attr, SONDE_FLAG_EXCLUDE_CALLCHAIN_USER, true);
}

static void use_lbr(struct sonde_attr *attr)
{
	attr->sample_type |= SONDE_SAMPLE_CALLCHAIN | SONDE_SAMPLE_BRANCH_STACK;
	attr->branch_sample_type = BRANCH_USER | BRANCH_CALL_STACK | BRANCH_NO_FLAGS |
	                           BRANCH_NO_CYCLES | BRANCH_HW_INDEX;
}

static void apply_chains(struct sonde_attr *attr, const struct event_terms *t)
{
	bool some = (attr->sample_type & SONDE_SAMPLE_CALLCHAIN) != 0;

	if ((t->set & EVENT_TERM_CALL_GRAPH) != 0) {
		drop_chains(attr);
		if (t->call_graph == EVENT_CALL_GRAPH_FP) {
			attr->sample_type |= SONDE_SAMPLE_CALLCHAIN;
		} else if (t->call_graph == EVENT_CALL_GRAPH_DWARF) {
			use_dwarf(attr, t->stack_size);
		} else if (t->call_graph == EVENT_CALL_GRAPH_LBR) {
			use_lbr(attr);
		}
		some = t->call_graph != EVENT_CALL_GRAPH_NO;
	} else if ((t->set & EVENT_TERM_STACK_SIZE) != 0 && attr->sample_stack_user != 0) {
		attr->sample_stack_user = (t->stack_size + 7) / 8 * 8;
	}
	if ((t->set & EVENT_TERM_MAX_STACK) != 0) {
		attr->sample_max_stack = (uint16_t)t->max_stack;
		if (!some) {
			attr->sample_type |= SONDE_SAMPLE_CALLCHAIN;
		}
	}
}

static void apply_rate(struct sonde_attr *attr, const struct event_terms *t)
{
	if ((t->set & EVENT_TERM_FREQ) != 0) {
		attr->sample_period = t->freq;
		attr->sample_type |= SONDE_SAMPLE_PERIOD;
		record_attr_set(attr, SONDE_FLAG_FREQ, true);
	}
	if ((t->set & EVENT_TERM_PERIOD) != 0) {
		attr->sample_period = t->period;
		attr->sample_type &= ~(uint64_t)SONDE_SAMPLE_PERIOD;
		record_attr_set(attr, SONDE_FLAG_FREQ, false);
	}
}

void capture_terms_apply(struct event *event)
{
	const struct event_terms *t = &event->terms;
	struct sonde_attr *attr = &event->attr;

	if (t->set == 0) {
		return;
	}
	apply_rate(attr, t);
	apply_chains(attr, t);
	if ((t->set & EVENT_TERM_TIME) != 0) {
		attr->sample_type &= ~(uint64_t)SONDE_SAMPLE_TIME;
		attr->sample_type |= t->time ? SONDE_SAMPLE_TIME : 0;
	}
	if ((t->set & EVENT_TERM_BRANCH_TYPE) != 0) {
		attr->sample_type |= SONDE_SAMPLE_BRANCH_STACK;
		attr->branch_sample_type = t->branch_type;
	}
	if ((t->set & EVENT_TERM_INHERIT) != 0) {
		record_attr_set(attr, SONDE_FLAG_INHERIT, t->inherit);
	}
	if ((t->set & EVENT_TERM_OVERWRITE) != 0) {
		record_attr_set(attr, SONDE_FLAG_WRITE_BACKWARD, t->overwrite);
	}
	if ((t->set & EVENT_TERM_AUX_OUTPUT) != 0) {
		record_attr_set(attr, SONDE_FLAG_AUX_OUTPUT, t->aux_output);
	}
	if ((t->set & EVENT_TERM_AUX_SAMPLE_SIZE) != 0) {
		attr->aux_sample_size = t->aux_sample_size;
		attr->sample_type |= t->aux_sample_size != 0 ? SONDE_SAMPLE_AUX : 0;
	}
	if ((t->set & EVENT_TERM_AUX_ACTION) != 0) {
		attr->aux_action = t->aux_action;
	}
}
