/* SPDX-License-Identifier: MIT */
/* Modifiers after an event: where it counts, how precisely, and how it shares counters. */
#include "event/parts.h"

/* How often each letter may occur in one list. */
static const struct modifier {
	char letter;
	unsigned char most;
} modifiers[] = {{'u', 1}, {'k', 1}, {'h', 1}, {'G', 1}, {'H', 1}, {'I', 1}, {'p', 3}, {'P', 1},
        {'D', 1}, {'e', 1}, {'S', 1}, {'W', 1}, {'b', 1}};

#define MODIFIERS (sizeof(modifiers) / sizeof(modifiers[0]))
#define VALID                                                                                      \
	"valid are u (user), k (kernel), h (hypervisor), G (guest), H (host), I (not when idle), " \
	"p, pp, ppp, P (precise), D (pinned), e (exclusive), W (weak group), S (the leader of a "  \
	"group samples), b (BPF)"

static size_t find(char letter)
{
	size_t k;

	for (k = 0; k < MODIFIERS && modifiers[k].letter != letter; k++) {
	}
	return k;
}

bool event_is_modifiers(struct word w)
{
	size_t i;

	for (i = 0; i < w.n; i++) {
		if (find(w.p[i]) == MODIFIERS) {
			return false;
		}
	}
	return true;
}

static bool has(const struct event *event, enum sonde_attr_flag flag)
{
	return sonde_attr_has(&event->attr, flag) != 0;
}

/* User, kernel and hypervisor: the first one named excludes the others. */
static void apply_levels(struct event *event, const unsigned count[128])
{
	static const enum sonde_attr_flag flags[] = {
	        SONDE_FLAG_EXCLUDE_USER, SONDE_FLAG_EXCLUDE_KERNEL, SONDE_FLAG_EXCLUDE_HV};
	bool some = has(event, flags[0]) || has(event, flags[1]) || has(event, flags[2]);
	size_t i;

	if (count['u'] + count['k'] + count['h'] == 0) {
		return;
	}
	for (i = 0; i < 3; i++) {
		if (count[(unsigned char)"ukh"[i]] > 0 || !some) {
			record_attr_set(
			        &event->attr, flags[i], count[(unsigned char)"ukh"[i]] == 0);
		}
	}
}

static int count_letters(const struct parse *p, struct word w, unsigned count[128])
{
	size_t i, k;

	for (i = 0; i < w.n; i++) {
		k = find(w.p[i]);
		if (k == MODIFIERS) {
			(void)event_fail(p, (struct word){w.p + i, 1}, "bad modifier '%c'",
			        w.p[i] > ' ' ? w.p[i] : '?');
			return event_hint(p->err, VALID);
		}
		if (++count[(unsigned char)w.p[i]] > modifiers[k].most) {
			return event_fail(p, (struct word){w.p + i, 1},
			        "bad modifier: '%c' occurs too often", w.p[i]);
		}
	}
	return 0;
}

/*
 * Applies a list to an event that may have modifiers: those of a group are added to its events'
 * own. Guests, as in perf 6.1: excluded by u and p, or as G and H request.
 */
int event_modify(const struct parse *p, struct event *event, struct word letters, bool member)
{
	unsigned count[128] = {0};
	unsigned precise = record_attr_precision(&event->attr);
	struct word w = word_trim(letters);

	TRY(count_letters(p, w, count));
	apply_levels(event, count);
	if (count['G'] + count['H'] > 0) {
		record_attr_set(&event->attr, SONDE_FLAG_EXCLUDE_HOST, count['H'] == 0);
		record_attr_set(&event->attr, SONDE_FLAG_EXCLUDE_GUEST, count['G'] == 0);
	} else if (count['u'] + count['p'] > 0) {
		record_attr_set(&event->attr, SONDE_FLAG_EXCLUDE_GUEST, true);
	}
	precise = count['P'] > 0 ? 3 : precise + count['p'];
	if (precise > 3) {
		return event_fail(p, w,
		        "bad modifier: with those of the event these are %u steps of precision, 3 "
		        "is the most",
		        precise);
	}
	record_attr_set_precision(&event->attr, precise);
	event->most_precise |= count['P'] > 0;
	event->leader_samples |= count['S'] > 0;
	event->weak |= count['W'] > 0;
	if (count['I'] > 0) {
		record_attr_set(&event->attr, SONDE_FLAG_EXCLUDE_IDLE, true);
	}
	if (count['D'] > 0 && !member) {
		record_attr_set(&event->attr, SONDE_FLAG_PINNED, true);
	}
	if (count['e'] > 0 && !member) {
		record_attr_set(&event->attr, SONDE_FLAG_EXCLUSIVE, true);
	}
	return 0;
}
