/* SPDX-License-Identifier: MIT */
#include "capture/control.h"

#include "capture/recorder.h"
#include "record/attr_text.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>

/* ---- delays ---- */

static int bad_delay(struct sonde_recorder *r)
{
	return error_set(&r->error, SONDE_EARG, NO_OFFSET,
	        "-D wants milliseconds, -1, or rising ranges such as 10-20,30-40, not '%s'",
	        r->options.control.delay);
}

static bool number(const char **s, uint64_t *v)
{
	char *end;

	if (!isdigit((unsigned char)**s)) {
		return false;
	}
	*v = strtoull(*s, &end, 10);
	*s = end;
	return *v < UINT64_MAX / 1000000;
}

static int parse_ranges(struct sonde_recorder *r)
{
	struct capture_control *c = &r->control;
	const char *s = r->options.control.delay;
	uint64_t from, to, last = 0;

	for (;; s++) {
		if (!number(&s, &from) || *s != '-' || from < last) {
			return bad_delay(r);
		}
		s++;
		if (!number(&s, &to) || to <= from || (*s != ',' && *s != '\0')) {
			return bad_delay(r);
		}
		c->turns[c->nturns++] = from * 1000000;
		c->turns[c->nturns++] = to * 1000000;
		last = to;
		if (*s == '\0') {
			c->ends = true;
			return 0;
		}
	}
}

int capture_control_plan(struct sonde_recorder *r)
{
	struct capture_control *c = &r->control;
	const char *s = r->options.control.delay;
	uint64_t ms;

	if (s == NULL) {
		return 0;
	}
	if (strcmp(s, "-1") == 0) {
		return 0;
	}
	c->turns = calloc(strlen(s) + 2, sizeof(*c->turns));
	if (c->turns == NULL) {
		return error_nomem(&r->error);
	}
	if (strchr(s, '-') != NULL) {
		return parse_ranges(r);
	}
	if (!number(&s, &ms) || *s != '\0' || ms == 0) {
		return bad_delay(r);
	}
	c->turns[c->nturns++] = ms * 1000000;
	return 0;
}

void capture_control_begin(struct sonde_recorder *r)
{
	r->control.began_ns = host_now_ns(CLOCK_MONOTONIC);
	if (r->plan.delayed) {
		capture_say(&r->log, SONDE_RECORDER_STATE, "Events disabled");
	}
	if (r->options.control.commands) {
		int flags = fcntl(r->options.control.fd, F_GETFL);

		if (flags >= 0) {
			(void)fcntl(r->options.control.fd, F_SETFL, flags | O_NONBLOCK);
		}
	}
}

void capture_control_free(struct sonde_recorder *r)
{
	free(r->control.turns);
	r->control.turns = NULL;
}

int capture_control_timeout(const struct sonde_recorder *r)
{
	const struct capture_control *c = &r->control;
	uint64_t now;

	if (c->turn >= c->nturns) {
		return -1;
	}
	now = host_now_ns(CLOCK_MONOTONIC) - c->began_ns;
	return now >= c->turns[c->turn] ? 0 : host_timeout(c->turns[c->turn] - now);
}

static int all(struct sonde_recorder *r, bool on)
{
	TRY(capture_enable(&r->rings, SIZE_MAX, on));
	capture_say(&r->log, SONDE_RECORDER_STATE, on ? "Events enabled" : "Events disabled");
	return 0;
}

int capture_control_turn(struct sonde_recorder *r)
{
	struct capture_control *c = &r->control;

	while (c->turn < c->nturns && capture_control_timeout(r) == 0) {
		TRY(all(r, c->turn % 2 == 0));
		c->turn++;
	}
	return c->ends && c->turn == c->nturns ? HOST_CONTROL_STOP : HOST_CONTROL_GO_ON;
}

/* ---- commands ---- */

static int one(struct sonde_recorder *r, const char *name, bool on)
{
	size_t i;

	for (i = 0; i < r->plan.events.n; i++) {
		if (strcmp(r->plan.events.v[i].name, name) == 0) {
			TRY(capture_enable(&r->rings, i, on));
			capture_say(&r->log, SONDE_RECORDER_STATE, "Event %s %s", name,
			        on ? "enabled" : "disabled");
			return 0;
		}
	}
	capture_say(&r->log, SONDE_RECORDER_STATE, "failed: can't find '%s' event", name);
	return 0;
}

static int do_enable(void *arg, const char *rest)
{
	return *rest == '\0' ? all(arg, true) : one(arg, rest, true);
}

static int do_disable(void *arg, const char *rest)
{
	return *rest == '\0' ? all(arg, false) : one(arg, rest, false);
}

static int do_snapshot(void *arg, const char *rest)
{
	struct sonde_recorder *r = arg;

	(void)rest;
	return r->plan.aux.pmu != NULL ? capture_snapshot(r) : 0;
}

static int do_stop(void *arg, const char *rest)
{
	(void)arg;
	(void)rest;
	return HOST_CONTROL_STOP;
}

static int do_ping(void *arg, const char *rest)
{
	(void)arg;
	(void)rest;
	return 0;
}

/*
 * Lists the events as `sonde evlist`: names, with -v their attrs, with -F their rates, with -g
 * groups in braces.
 */
static int do_evlist(void *arg, const char *rest)
{
	static const struct record_attr_style detail = {": ", ", ", ": ", 0};
	bool verbose = strcmp(rest, "-v") == 0, rates = strcmp(rest, "-F") == 0;
	bool groups = strcmp(rest, "-g") == 0;
	struct sonde_recorder *r = arg;
	const struct event *e;
	struct text t = {0};
	size_t i, left = 0;

	for (i = 0; i < r->plan.events.n; i++) {
		e = &r->plan.events.v[i];
		if (groups && e->members > 1) {
			left = e->members;
			text_char(&t, '{');
		}
		text_str(&t, e->name);
		if (verbose) {
			record_attr_text(&t, &e->attr, &detail);
		} else if (rates) {
			text_printf(&t, ": sample_%s=%llu",
			        sonde_attr_has(&e->attr, SONDE_FLAG_FREQ) ? "freq" : "period",
			        (unsigned long long)e->attr.sample_period);
		}
		left -= left > 0;
		text_str(&t, left > 0 ? "," : groups && e->leader != i ? "}\n" : "\n");
	}
	t.n -= t.n > 0; /* messages have no newline at their end */
	text_char(&t, '\0');
	if (!t.failed && r->options.message != NULL) {
		r->options.message(r->options.message_arg, SONDE_RECORDER_STATE, t.p);
	}
	text_fini(&t);
	return 0;
}

static void warn(void *arg, const char *text)
{
	const struct sonde_recorder *r = arg;

	capture_say(&r->log, SONDE_RECORDER_WARNING, "%s", text);
}

int capture_control_read(struct sonde_recorder *r)
{
	static const struct host_command list[] = {{"enable", do_enable}, {"disable", do_disable},
	        {"snapshot", do_snapshot}, {"stop", do_stop}, {"ping", do_ping},
	        {"evlist", do_evlist}};
	static const struct host_commands commands = {.v = list,
	        .n = sizeof(list) / sizeof(list[0]),
	        .valid = "enable [EVENT], disable [EVENT], snapshot, stop, ping, evlist [-v|-g|-F]",
	        .warn = warn};

	return host_control_read(&r->control.commands, r->options.control.fd,
	        r->options.control.ack_fd, &commands, r);
}
