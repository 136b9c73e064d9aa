/* SPDX-License-Identifier: MIT */
/* The lists of __print_flags and __print_symbolic: { 1, "A" }, { 1 << 4, "B" }. */
#include "trace/compiler.h"

/* The value of a name that no format explains: libtraceevent knows those of the kernel's enums. */
static uint64_t named_value(struct span name)
{
	static const struct {
		const char *name;
		uint64_t value;
	} known[] = {
	        {"HI_SOFTIRQ", 0},
	        {"TIMER_SOFTIRQ", 1},
	        {"NET_TX_SOFTIRQ", 2},
	        {"NET_RX_SOFTIRQ", 3},
	        {"BLOCK_SOFTIRQ", 4},
	        {"IRQ_POLL_SOFTIRQ", 5},
	        {"TASKLET_SOFTIRQ", 6},
	        {"SCHED_SOFTIRQ", 7},
	        {"HRTIMER_SOFTIRQ", 8},
	        {"RCU_SOFTIRQ", 9},
	        {"HRTIMER_NORESTART", 0},
	        {"HRTIMER_RESTART", 1},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (span_is(name, known[i].name)) {
			return known[i].value;
		}
	}
	return UINT64_MAX;
}

/* A value of a list. Negative results of operators are -1 in libtraceevent. */
static uint64_t list_value(struct compiler *c)
{
	const enum token_kind kind = c->tokens.kind;
	const struct span word = c->tokens.text;
	struct tokens ahead = c->tokens;
	const size_t n = c->n;
	uint64_t v;
	bool alone;

	tokens_next(&ahead);
	alone = tokens_at(&ahead, ",");
	if (alone && kind == TOKEN_WORD) {
		compiler_refuse_if(c, span_is(word, "REC"));
		tokens_next(&c->tokens);
		return named_value(word);
	}
	compiler_expression(c, true);
	if (c->refused || c->n != n + 1 || c->code[n].operation != DO_NUMBER) {
		c->refused = true;
		return 0;
	}
	v = c->code[n].number;
	c->n--;
	c->depth--;
	return alone || v <= INT64_MAX ? v : UINT64_MAX;
}

/* "A", or the end of some lists, ((void *)0) or 0, which libtraceevent takes for a name. */
static struct span name_of_list(struct compiler *c)
{
	if (c->tokens.kind == TOKEN_TEXT) {
		return compiler_joined_text(c);
	}
	if (!compiler_skip_null(c)) {
		compiler_refuse_if(c, !span_is(c->tokens.text, "0"));
		tokens_next(&c->tokens);
	}
	return SPAN_TEXT("0");
}

/* Reads the names of a list, { 1, "A" }, { 2, "B" }, and returns their number. */
static size_t read_names(struct compiler *c, struct name *names)
{
	size_t n = 0;

	do {
		struct span text;

		if (n == NAMES_MAX || !tokens_skip(&c->tokens, "{")) {
			break;
		}
		names[n].value = list_value(c);
		if (!tokens_skip(&c->tokens, ",")) {
			break;
		}
		text = name_of_list(c);
		if (!tokens_skip(&c->tokens, "}")) {
			break;
		}
		names[n].text = (const char *)text.p;
		names[n].n = text.n;
		n++;
	} while (!c->refused && !c->no_memory && tokens_skip(&c->tokens, ","));
	compiler_refuse_if(c, n == 0);
	compiler_expect(c, ")");
	return n;
}

const struct names *compiler_list(struct compiler *c, struct span delimiter)
{
	struct name found[NAMES_MAX];
	size_t n = read_names(c, found);
	struct names *names = arena_alloc(c->arena, sizeof(*names));
	struct name *copy = arena_alloc(c->arena, (n + 1) * sizeof(*copy));

	if (names == NULL || copy == NULL) {
		c->no_memory = true;
		return NULL;
	}
	memcpy(copy, found, n * sizeof(*copy));
	*names = (struct names){.list = copy, .n = n, .delimiter = delimiter};
	return names;
}
