/* SPDX-License-Identifier: MIT */
/* Terms between slashes: splitting them, and the terms that all events accept. */
#include "event/parts.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

/*
 * After "uprobe_path=": a path contains slashes; the last one before modifiers, "," or "}" ends the
 * terms.
 */
static const char *close_of_path(const char *p)
{
	size_t n = strcspn(p, ",}");
	size_t i;

	for (i = n; i > 1; i--) {
		if (p[i - 1] == '/') {
			return event_is_modifiers((struct word){p + i, n - i}) ? p + i - 1 : p + n;
		}
	}
	return p + n;
}

const char *term_close(const char *p)
{
	const char *end;

	while (*p != '\0' && *p != '/') {
		if (*p == '\'' || *p == '"') {
			end = strchr(p + 1, *p);
			if (end == NULL) {
				return NULL;
			}
			p = end + 1;
		} else if (p[0] == '=' && p[1] == '/') {
			p = close_of_path(p + 1);
		} else {
			p++;
		}
	}
	return *p == '/' ? p : NULL;
}

int term_next(const struct parse *p, const char **at, const char *end, struct term *out)
{
	const char *s = *at;
	const char *stop = s;
	struct word all;
	const char *equals;
	char quote = '\0';

	*out = (struct term){0};
	if (s >= end) {
		return 0;
	}
	while (stop < end && (quote != '\0' || *stop != ',')) {
		if (quote == '\0' && (*stop == '\'' || *stop == '"')) {
			quote = *stop;
		} else if (*stop == quote) {
			quote = '\0';
		}
		stop++;
	}
	*at = stop < end ? stop + 1 : stop;
	all = word_trim((struct word){s, (size_t)(stop - s)});
	if (all.n == 0 || (stop < end && stop + 1 == end)) {
		return event_fail(
		        p, (struct word){all.n == 0 ? s : stop, 1}, "a term is missing here");
	}
	equals = memchr(all.p, '=', all.n);
	if (all.p[0] == '@' || equals == NULL) {
		out->name = all;
		return 1;
	}
	out->name = word_trim((struct word){all.p, (size_t)(equals - all.p)});
	out->value = word_trim((struct word){equals + 1, (size_t)(all.p + all.n - equals - 1)});
	if (out->value.n == 0) {
		return event_fail(p, all, "the term '%.*s' has no value after '='",
		        (int)out->name.n, out->name.p);
	}
	if ((*out->value.p == '\'' || *out->value.p == '"') && out->value.n >= 2) {
		out->value.p++;
		out->value.n -= 2;
	}
	return 1;
}

int term_number(const struct parse *p, const struct term *term, uint64_t least, uint64_t most,
        uint64_t *value)
{
	if (term->value.p == NULL) {
		*value = 1;
		return 0;
	}
	if (!word_number(term->value, value)) {
		return event_fail(p, term->value,
		        "'%.*s' wants a number, decimal or hexadecimal with 0x", (int)term->name.n,
		        term->name.p);
	}
	if (*value < least || *value > most) {
		return event_fail(p, term->value,
		        "value of '%.*s' out of range: valid are %" PRIu64 " to %" PRIu64
		        " (0x%" PRIx64 ")",
		        (int)term->name.n, term->name.p, least, most, most);
	}
	return 0;
}

enum kind { NUMBER, SWITCH, SWITCH_OFF, CALL_GRAPH, BRANCHES, ACTION, TEXT };

static const struct def {
	const char *name;
	uint32_t bit;
	enum kind kind;
	size_t offset; /* in struct event_terms */
	uint8_t width; /* size of the member for a number, in bytes */
	uint64_t least, most;
} defs[] = {
#define AT(member) offsetof(struct event_terms, member)
        {"period", EVENT_TERM_PERIOD, NUMBER, AT(period), 8, 1, UINT64_MAX},
        {"freq", EVENT_TERM_FREQ, NUMBER, AT(freq), 8, 1, UINT64_MAX},
        {"time", EVENT_TERM_TIME, SWITCH, AT(time), 1, 0, 1},
        {"call-graph", EVENT_TERM_CALL_GRAPH, CALL_GRAPH, 0, 0, 0, 0},
        {"stack-size", EVENT_TERM_STACK_SIZE, NUMBER, AT(stack_size), 4, 8, 65528},
        {"max-stack", EVENT_TERM_MAX_STACK, NUMBER, AT(max_stack), 4, 0, 65535},
        {"nr", EVENT_TERM_NR, NUMBER, AT(nr), 8, 0, UINT64_MAX},
        {"inherit", EVENT_TERM_INHERIT, SWITCH, AT(inherit), 1, 0, 1},
        {"no-inherit", EVENT_TERM_INHERIT, SWITCH_OFF, AT(inherit), 1, 0, 1},
        {"overwrite", EVENT_TERM_OVERWRITE, SWITCH, AT(overwrite), 1, 0, 1},
        {"no-overwrite", EVENT_TERM_OVERWRITE, SWITCH_OFF, AT(overwrite), 1, 0, 1},
        {"percore", EVENT_TERM_PERCORE, SWITCH, AT(percore), 1, 0, 1},
        {"branch_type", EVENT_TERM_BRANCH_TYPE, BRANCHES, 0, 0, 0, 0},
        {"aux-output", EVENT_TERM_AUX_OUTPUT, SWITCH, AT(aux_output), 1, 0, 1},
        {"aux-sample-size", EVENT_TERM_AUX_SAMPLE_SIZE, NUMBER, AT(aux_sample_size), 4, 0, 65535},
        {"aux-action", EVENT_TERM_AUX_ACTION, ACTION, 0, 0, 0, 0},
        {"name", EVENT_TERM_NAME, TEXT, 0, 0, 0, 0},
        {"metric-id", EVENT_TERM_METRIC_ID, TEXT, 0, 0, 0, 0},
#undef AT
};

#define DEFS (sizeof(defs) / sizeof(defs[0]))

void term_list(struct text *out)
{
	size_t i;

	for (i = 0; i < DEFS; i++) {
		text_str(out, i == 0 ? "" : ", ");
		text_str(out, defs[i].name);
	}
}

struct choice {
	const char *name;
	uint64_t value;
};

static const struct choice call_graphs[] = {{"fp", EVENT_CALL_GRAPH_FP},
        {"dwarf", EVENT_CALL_GRAPH_DWARF}, {"lbr", EVENT_CALL_GRAPH_LBR},
        {"no", EVENT_CALL_GRAPH_NO}, {NULL, 0}};

/* Bits of attr.branch_sample_type by their names in perf-record(1). */
static const struct choice branches[] = {{"any", 1 << 3}, {"any_call", 1 << 4}, {"any_ret", 1 << 5},
        {"ind_call", 1 << 6}, {"ind_jmp", 1 << 12}, {"call", 1 << 13}, {"cond", 1 << 10},
        {"in_tx", 1 << 8}, {"no_tx", 1 << 9}, {"abort_tx", 1 << 7}, {"stack", 1 << 11},
        {"save_type", 1 << 16}, {"hw_index", 1 << 17}, {"priv", 1 << 18}, {"counter", 1 << 19},
        {"u", 1}, {"k", 2}, {"hv", 4}, {NULL, 0}};

static const struct choice actions[] = {
        {"start-paused", 1}, {"pause", 2}, {"resume", 4}, {NULL, 0}};

static int choose(const struct parse *p, const struct term *term, struct word w,
        const struct choice *list, uint64_t *value)
{
	char valid[256] = "";
	size_t i, n = 0;

	for (i = 0; list[i].name != NULL; i++) {
		if (word_is(w, list[i].name)) {
			*value = list[i].value;
			return 0;
		}
	}
	for (i = 0; list[i].name != NULL && n + strlen(list[i].name) + 3 < sizeof(valid); i++) {
		memcpy(valid + n, i == 0 ? "" : ", ", i == 0 ? 0 : 2);
		n += i == 0 ? 0 : 2;
		memcpy(valid + n, list[i].name, strlen(list[i].name) + 1);
		n += strlen(list[i].name);
	}
	(void)event_fail(p, w.n > 0 ? w : term->name, "bad value for '%.*s'", (int)term->name.n,
	        term->name.p);
	return event_hint(p->err, "valid are: %s", valid);
}

/* A value may contain several, separated by "|" or, in quotes, by ",". */
static int choose_branches(const struct parse *p, const struct term *term, uint64_t *value)
{
	struct word left = term->value;
	uint64_t bit = 0;
	size_t n;

	*value = 0;
	do {
		for (n = 0; n < left.n && left.p[n] != '|' && left.p[n] != ','; n++) {
		}
		TRY(choose(p, term, word_trim((struct word){left.p, n}), branches, &bit));
		*value |= bit;
		n += n < left.n;
		left.p += n;
		left.n -= n;
	} while (left.n > 0);
	if ((*value & 7) == *value) { /* privilege levels only, no kind of branch */
		*value |= 1 << 3;
	}
	return 0;
}

static int take_number(const struct parse *p, struct event_terms *t, const struct def *def,
        const struct term *term)
{
	char *member = (char *)t + def->offset;
	uint64_t v;
	uint32_t half;

	TRY(term_number(p, term, def->least, def->most, &v));
	if (def->kind == SWITCH_OFF) {
		v = v == 0;
	}
	if (def->width == 1) {
		*(bool *)member = v != 0;
	} else if (def->width == 4) {
		half = (uint32_t)v;
		memcpy(member, &half, sizeof(half));
	} else {
		memcpy(member, &v, sizeof(v));
	}
	return 1;
}

static int take_text(
        const struct parse *p, struct event *event, const struct def *def, const struct term *term)
{
	const char *copy;

	if (term->value.n == 0) {
		return event_fail(p, term->name, "the term '%s' needs a text", def->name);
	}
	if (def->bit == EVENT_TERM_NAME) {
		copy = arena_text(&p->list->arena, term->value.p, term->value.n);
		if (copy == NULL) {
			return error_nomem(p->err);
		}
		event->name = copy;
	}
	return 1;
}

int term_apply(const struct parse *p, struct event *event, const struct term *term)
{
	struct event_terms *t = &event->terms;
	uint64_t v = 0;
	size_t i;

	for (i = 0; i < DEFS && !word_is(term->name, defs[i].name); i++) {
	}
	if (i == DEFS) {
		return 0;
	}
	t->set |= defs[i].bit;
	switch (defs[i].kind) {
	case CALL_GRAPH:
		TRY(choose(p, term, term->value, call_graphs, &v));
		t->call_graph = (enum event_call_graph)v;
		return 1;
	case BRANCHES: TRY(choose_branches(p, term, &t->branch_type)); return 1;
	case ACTION:
		TRY(choose(p, term, term->value, actions, &v));
		t->aux_action = (uint32_t)v;
		return 1;
	case TEXT: return take_text(p, event, &defs[i], term);
	case NUMBER:
	case SWITCH:
	case SWITCH_OFF: return take_number(p, t, &defs[i], term);
	}
	return 0;
}
