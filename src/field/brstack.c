/* SPDX-License-Identifier: MIT */
/*
 * Branch stacks in lines of `script`, the newest branch first:
 *
 *	FROM/TO/P/-/-/CYCLES/KIND
 *
 * P: predicted, M: mispredicted, X: in a transaction, A: the transaction was aborted. The words for
 * kinds were observed with a recording that has all of them.
 */
#include "core/escape.h"
#include "field/address.h"
#include "field/branch.h"

/* By PERF_BR_*; NULL: unknown. */
static const char *const kinds[BRANCH_KIND_IS_NEW] = {NULL, "COND", "UNCOND", "IND", "CALL",
        "IND_CALL", "RET", "SYSCALL", "SYSRET", "COND_CALL", "COND_RET", "ERET", "IRQ", "SERROR",
        "NO_TX"};
/* By PERF_BR_NEW_*. */
static const char *const new_kinds[BRANCH_KINDS - BRANCH_KIND_IS_NEW] = {
        "FAULT_ALGN", "FAULT_DATA", "FAULT_INST", "ARCH_1", "ARCH_2", "ARCH_3", "ARCH_4", "ARCH_5"};

const char *branch_kind_name(unsigned kind)
{
	return kind < BRANCH_KIND_IS_NEW ? kinds[kind] : new_kinds[kind - BRANCH_KIND_IS_NEW];
}

static void put_flags(struct text *out, const struct branch_entry *b)
{
	const char *kind = branch_kind_name(b->kind);

	text_char(out, '/');
	text_char(out, (char)(b->predicted ? 'P' : b->mispredicted ? 'M' : '-'));
	text_str(out, b->in_tx ? "/X" : "/-");
	text_str(out, b->aborted ? "/A/" : "/-/");
	text_u64(out, b->cycles, 0, ' ');
	text_char(out, '/');
	text_str(out, kind != NULL ? kind : "");
	text_char(out, ' ');
}

static void put_symbol(struct text *out, const struct frame_resolver *f, const struct frame *at)
{
	const char *name = frame_symbol_name(f, at->object, at->symbol);

	if (name == NULL) {
		text_str(out, "[unknown]");
		return;
	}
	text_plain(out, name);
	text_str(out, "+0x");
	text_hex(out, at->address - at->symbol->start, 0, ' ');
}

/* Prints an end of a branch. */
static void put_end(struct text *out, struct address_cache *c, const struct session_sample *s,
        enum brstack_form form, unsigned parts, uint64_t ip)
{
	uint32_t mode = frame_mode_of(&c->frames, s->view, s->cpumode, ip);
	const struct frame *at = frame_find(&c->frames, s->view, mode, ip);

	if (at == NULL) {
		out->failed = true;
		return;
	}
	if (form == BRSTACK_SYMBOLS) {
		put_symbol(out, c->frames.resolver, at);
	} else {
		text_0x(out, form == BRSTACK_OFFSETS ? at->address : ip);
	}
	if ((parts & ADDRESS_DSO) != 0) {
		address_object(out, session_timeline(c->session), at, parts);
	}
}

void brstack_text(struct text *out, struct address_cache *c, const struct session_sample *s,
        enum brstack_form form, unsigned parts)
{
	for (uint64_t i = 0; i < s->s.branch_len && !out->failed; i++) {
		struct branch_entry b = branch_at(s, i);

		text_str(out, form == BRSTACK_SYMBOLS ? "" : " ");
		put_end(out, c, s, form, parts, b.from);
		text_char(out, '/');
		put_end(out, c, s, form, parts, b.to);
		put_flags(out, &b);
	}
}
