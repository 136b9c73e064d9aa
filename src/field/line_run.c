/* SPDX-License-Identifier: MIT */
/*
 * Lines of branches that have the time, thread and event of one sample: what they have in common is
 * formatted once.
 */
#include "field/line.h"

#define FLAGS_WIDTH 21u
/* Flags of the processor, which follow the kind of a branch in parentheses. */
#define STATE_FLAGS (AUX_FLAG_IN_TX | AUX_FLAG_DISABLED | AUX_FLAG_TOGGLE)
#define PLAIN_LINE  64u /* bytes of a line without what is in common, flags and texts of addresses */

/* The name of a kind of branch, by its flags; NULL: it has none, or it is a plain jump. */
static const char *branch_name(uint32_t flags)
{
	static const struct {
		uint32_t flags;
		const char *name;
	} names[] = {
	        {AUX_FLAG_BRANCH | AUX_FLAG_COND, "jcc"},
	        {AUX_FLAG_BRANCH | AUX_FLAG_CALL, "call"},
	        {AUX_FLAG_BRANCH | AUX_FLAG_RETURN, "return"},
	        {AUX_FLAG_BRANCH | AUX_FLAG_CALL | AUX_FLAG_INTERRUPT, "int"},
	        {AUX_FLAG_BRANCH | AUX_FLAG_RETURN | AUX_FLAG_INTERRUPT, "iret"},
	        {AUX_FLAG_BRANCH | AUX_FLAG_CALL | AUX_FLAG_SYSCALL, "syscall"},
	        {AUX_FLAG_BRANCH | AUX_FLAG_RETURN | AUX_FLAG_SYSCALL, "sysret"},
	        {AUX_FLAG_BRANCH | AUX_FLAG_ASYNC, "async"},
	        {AUX_FLAG_BRANCH | AUX_FLAG_CALL | AUX_FLAG_ASYNC | AUX_FLAG_INTERRUPT, "hw int"},
	        {AUX_FLAG_BRANCH | AUX_FLAG_ABORT, "tx abrt"},
	        {AUX_FLAG_BRANCH | AUX_FLAG_CALL | AUX_FLAG_VM_ENTRY, "vmentry"},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i].flags == flags) {
			return names[i].name;
		}
	}
	return NULL;
}

/* A letter for each flag of a branch of a kind without a name; they are perf's. */
static void put_flag_letters(struct text *out, uint32_t flags)
{
	static const char letters[] = "bcrosyiABExghDt";
	static const uint32_t in_order[] = {AUX_FLAG_BRANCH, AUX_FLAG_CALL, AUX_FLAG_RETURN,
	        AUX_FLAG_COND, AUX_FLAG_SYSCALL, AUX_FLAG_ASYNC, AUX_FLAG_INTERRUPT, AUX_FLAG_ABORT,
	        AUX_FLAG_BEGIN, AUX_FLAG_END, AUX_FLAG_IN_TX, AUX_FLAG_VM_ENTRY, AUX_FLAG_VM_EXIT,
	        AUX_FLAG_DISABLED, AUX_FLAG_TOGGLE};

	for (size_t i = 0; i < sizeof(in_order) / sizeof(in_order[0]); i++) {
		if ((flags & in_order[i]) != 0) {
			text_char(out, letters[i]);
		}
	}
}

/* As in perf, 21 wide: an event that is no branch has no flags. */
void line_flags_text(struct text *out, uint32_t flags)
{
	uint32_t ends = flags & (AUX_FLAG_BEGIN | AUX_FLAG_END);
	uint32_t state = flags & STATE_FLAGS;
	const char *name = branch_name(flags & ~(ends | STATE_FLAGS));
	size_t start;

	text_str(out, "  ");
	start = out->n;
	if (ends != 0) {
		text_str(out, (ends & AUX_FLAG_BEGIN) != 0 ? "tr strt" : "tr end ");
		text_str(out, name != NULL ? " " : "");
	} else if (name == NULL && (flags & ~STATE_FLAGS) == AUX_FLAG_BRANCH) {
		name = "jmp";
	} else if (name == NULL) {
		put_flag_letters(out, flags);
		state = 0;
	}
	text_str(out, name != NULL ? name : "");
	if (state != 0) {
		size_t width = (size_t)__builtin_popcount(state) + 2;

		text_fill(out, ' ', FLAGS_WIDTH - width - (out->n - start));
		text_char(out, '(');
		put_flag_letters(out, state);
		text_char(out, ')');
	}
	if (out->n - start < FLAGS_WIDTH) {
		text_fill(out, ' ', FLAGS_WIDTH - (out->n - start));
	}
	text_char(out, ' ');
}

/* Returns the kept text of flags. */
static const struct line_flags *flags_of(struct line_worker *worker, uint32_t flags)
{
	struct line_flags *kept = &worker->flags[flags * 0x9e3779b1u >> 27];
	struct text t = {0};

	if (kept->n != 0 && kept->flags == flags) {
		return kept;
	}
	line_flags_text(&t, flags);
	if (t.failed || t.n > LINE_FLAGS_MAX) {
		text_fini(&t);
		return NULL;
	}
	memset(kept->text, 0, sizeof(kept->text));
	memcpy(kept->text, t.p, t.n);
	kept->flags = flags;
	kept->n = (uint32_t)t.n;
	text_fini(&t);
	return kept;
}

static void put_flags(struct text *out, struct line_worker *worker, uint32_t flags)
{
	const struct line_flags *kept = flags_of(worker, flags);
	char *p = kept != NULL ? text_room(out, LINE_FLAGS_MAX) : NULL;

	if (kept == NULL) {
		line_flags_text(out, flags);
	} else if (p != NULL) {
		memcpy(p, kept->text, LINE_FLAGS_MAX);
		out->n += kept->n;
	}
}

/* A line after its flags, with the texts of both addresses. */
static void put_places(struct text *out, const struct line_plan *plan, struct address_cache *cache,
        const struct session_sample *sample, const struct aux_branch *b)
{
	const struct timeline_view *view = sample->view;
	uint32_t mode = aux_misc(b->ip, b->addr, aux_misc_is_guest(sample->cpumode));
	unsigned parts = plan->address_parts;

	if ((plan->printed & FIELD_BIT(FIELD_IP)) != 0) {
		text_char(out, ' ');
		text_hex16(out, b->ip);
		address_text(cache, out, view, mode, b->ip, parts);
	}
	if (plan->target) {
		text_bytes(out, " => ", 4);
		text_hex16(out, b->addr);
		address_text(cache, out, view, frame_mode_of(&cache->frames, view, mode, b->addr),
		        b->addr, parts);
	}
	text_char(out, '\n');
}

/* A line after its flags that has only numbers. */
static inline void put_numbers(
        struct text *out, const struct line_plan *plan, const struct aux_branch *b)
{
	static const char arrow[4] = {' ', '=', '>', ' '};
	char *start = text_room(out, PLAIN_LINE);
	char *p = start;

	if (p == NULL) {
		return;
	}
	if ((plan->printed & FIELD_BIT(FIELD_IP)) != 0) {
		*p++ = ' ';
		p = text_put_hex16(p, b->ip);
	}
	if (plan->target) {
		memcpy(p, arrow, sizeof(arrow));
		p = text_put_hex16(p + sizeof(arrow), b->addr);
	}
	*p++ = '\n';
	out->n += (size_t)(p - start);
}

void line_run(struct text *out, const struct line_plan *plan, const struct line_style *style,
        struct line_worker *worker, const struct session_sample *sample,
        struct line_branches branches)
{
	struct text *prefix = &worker->prefix;
	bool flags = (plan->printed & FIELD_BIT(FIELD_FLAGS)) != 0;

	prefix->n = 0;
	line_fields(prefix, plan, style, worker, sample, plan->printed & LINE_RUN_FIELDS);
	out->failed = out->failed || prefix->failed;
	for (size_t i = 0; i < branches.n; i++) {
		text_bytes(out, prefix->p, prefix->n);
		if (flags) {
			put_flags(out, worker, branches.v[i].flags);
		}
		if (plan->address_parts != 0) {
			put_places(out, plan, &worker->addresses, sample, &branches.v[i]);
		} else {
			put_numbers(out, plan, &branches.v[i]);
		}
	}
}

void line_worker_fini(struct line_worker *worker)
{
	text_fini(&worker->prefix);
}
