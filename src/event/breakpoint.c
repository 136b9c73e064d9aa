/* SPDX-License-Identifier: MIT */
/*
 * mem:ADDR[/LENGTH][:ACCESS]. By default a breakpoint watches reads and writes of 4 bytes; the
 * length for execution is that of an address (perf_event_open(2)).
 */
#include "event/parts.h"

#include <string.h>

static struct word number_at(const char *s)
{
	return (struct word){s, strspn(s, "0123456789abcdefABCDEFxX")};
}

/* Returns bits of attr.bp_type; 0: not a list of access letters. */
static uint32_t access_of(struct word w)
{
	uint32_t bits = 0;
	uint32_t bit;
	size_t i;

	for (i = 0; i < w.n; i++) {
		bit = w.p[i] == 'r' ? 1 : w.p[i] == 'w' ? 2 : w.p[i] == 'x' ? 4 : 0;
		if (bit == 0 || (bits & bit) != 0) {
			return 0;
		}
		bits |= bit;
	}
	return bits;
}

int breakpoint_parse(const struct parse *p, const char **at)
{
	const char *s = *at + 4;
	struct word w = number_at(s);
	struct sonde_attr *attr;
	struct event *event = event_list_add(p->list);

	if (event == NULL) {
		return error_nomem(p->err);
	}
	attr = &event->attr;
	attr->type = SONDE_TYPE_BREAKPOINT;
	attr->bp_type = 3;
	event->default_period = 1;
	event->name = NULL;
	if (!word_number(w, &attr->config1)) {
		return event_fail(p, w, "a breakpoint wants an address: mem:ADDR[/LENGTH][:rwx]");
	}
	s += w.n;
	if (*s == '/') {
		w = number_at(s + 1);
		if (!word_number(w, &attr->config2) || attr->config2 == 0) {
			return event_fail(p, (struct word){s + 1, w.n},
			        "a breakpoint's length is a number of bytes: 1, 2, 4 or 8");
		}
		s += 1 + w.n;
	}
	if (*s == ':') {
		w = (struct word){s + 1, strspn(s + 1, "rwx")};
		if (w.n > 0 && access_of(w) == 0) {
			return event_fail(
			        p, w, "each of r, w and x may occur once in '%.*s'", (int)w.n, w.p);
		}
		if (w.n > 0) {
			attr->bp_type = access_of(w);
			s += 1 + w.n;
		}
	}
	if (attr->config2 == 0) {
		attr->config2 = attr->bp_type == 4 ? sizeof(long) : 4;
	}
	*at = s;
	return 0;
}
