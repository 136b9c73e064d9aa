/* SPDX-License-Identifier: MIT */
/*
 * Commands are lines. Those that are known are answered by "ack" and a newline once they are done,
 * also when they had nothing to do, as perf answers them.
 */
#define _GNU_SOURCE
#include "capture/control.h"

#include "capture/capture.h"
#include "record/attr_text.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* ---- delays ---- */

static int bad_delay(struct sonde_record *r)
{
	return error_set(&r->error, SONDE_EARG, NO_OFFSET,
	        "-D wants milliseconds, -1, or rising ranges such as 10-20,30-40, not '%s'",
	        r->options.delay);
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

static int parse_ranges(struct sonde_record *r)
{
	struct capture_control *c = &r->control;
	const char *s = r->options.delay;
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

int capture_control_plan(struct sonde_record *r)
{
	struct capture_control *c = &r->control;
	const char *s = r->options.delay;
	uint64_t ms;

	if (s == NULL) {
		return 0;
	}
	c->delayed = true;
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

void capture_control_begin(struct sonde_record *r)
{
	r->control.began_ns = capture_now_ns(CLOCK_MONOTONIC);
	if (r->control.delayed) {
		capture_say(r, SONDE_RECORD_STATE, "Events disabled");
	}
	if (r->options.has_control) {
		int flags = fcntl(r->options.control_fd, F_GETFL);

		if (flags >= 0) {
			(void)fcntl(r->options.control_fd, F_SETFL, flags | O_NONBLOCK);
		}
	}
}

void capture_control_free(struct sonde_record *r)
{
	free(r->control.turns);
	r->control.turns = NULL;
}

int capture_control_timeout(const struct sonde_record *r)
{
	const struct capture_control *c = &r->control;
	uint64_t now;

	if (c->turn >= c->nturns) {
		return -1;
	}
	now = capture_now_ns(CLOCK_MONOTONIC) - c->began_ns;
	return now >= c->turns[c->turn] ? 0 : capture_timeout(c->turns[c->turn] - now);
}

static int all(struct sonde_record *r, bool on)
{
	TRY(capture_enable(r, SIZE_MAX, on));
	capture_say(r, SONDE_RECORD_STATE, on ? "Events enabled" : "Events disabled");
	return 0;
}

int capture_control_turn(struct sonde_record *r)
{
	struct capture_control *c = &r->control;

	while (c->turn < c->nturns && capture_control_timeout(r) == 0) {
		TRY(all(r, c->turn % 2 == 0));
		c->turn++;
	}
	return c->ends && c->turn == c->nturns ? CONTROL_STOP : CONTROL_GO_ON;
}

/* ---- commands ---- */

static int one(struct sonde_record *r, const char *name, bool on)
{
	size_t i;

	for (i = 0; i < r->events.n; i++) {
		if (strcmp(r->events.v[i].name, name) == 0) {
			TRY(capture_enable(r, i, on));
			capture_say(r, SONDE_RECORD_STATE, "Event %s %s", name,
			        on ? "enabled" : "disabled");
			return 0;
		}
	}
	capture_say(r, SONDE_RECORD_STATE, "failed: can't find '%s' event", name);
	return 0;
}

static int do_enable(struct sonde_record *r, const char *rest)
{
	return *rest == '\0' ? all(r, true) : one(r, rest, true);
}

static int do_disable(struct sonde_record *r, const char *rest)
{
	return *rest == '\0' ? all(r, false) : one(r, rest, false);
}

static int do_snapshot(struct sonde_record *r, const char *rest)
{
	(void)rest;
	return r->aux.pmu != NULL ? capture_aux_snapshot(r) : 0;
}

static int do_stop(struct sonde_record *r, const char *rest)
{
	(void)r;
	(void)rest;
	return CONTROL_STOP;
}

static int do_ping(struct sonde_record *r, const char *rest)
{
	(void)r;
	(void)rest;
	return 0;
}

/* Events as `sonde evlist` lists them: names, with -v their attrs, with -F their rates, with -g
 * groups in braces. */
static int do_evlist(struct sonde_record *r, const char *rest)
{
	static const struct record_attr_style detail = {": ", ", ", ": ", 0};
	bool verbose = strcmp(rest, "-v") == 0, rates = strcmp(rest, "-F") == 0;
	bool groups = strcmp(rest, "-g") == 0;
	const struct event *e;
	struct text t = {0};
	size_t i, left = 0;

	for (i = 0; i < r->events.n; i++) {
		e = &r->events.v[i];
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
	t.n -= t.n > 0; /* a message is told without its last end of line */
	text_char(&t, '\0');
	if (!t.failed && r->options.message != NULL) {
		r->options.message(r->options.message_arg, SONDE_RECORD_STATE, t.p);
	}
	text_fini(&t);
	return 0;
}

static const struct command {
	const char *name;
	int (*run)(struct sonde_record *r, const char *rest);
} commands[] = {{"enable", do_enable}, {"disable", do_disable}, {"snapshot", do_snapshot},
        {"stop", do_stop}, {"ping", do_ping}, {"evlist", do_evlist}};

static void acknowledge(struct sonde_record *r)
{
	if (r->options.ack_fd >= 0 && write(r->options.ack_fd, "ack\n", 4) != 4) {
		capture_say(r, SONDE_RECORD_WARNING, "a command cannot be answered: %s",
		        strerror(errno));
	}
}

static int run_line(struct sonde_record *r, char *line)
{
	size_t i, n = strcspn(line, " \t");
	char *rest = line + n + strspn(line + n, " \t");
	int rc;

	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strlen(commands[i].name) == n && strncmp(commands[i].name, line, n) == 0) {
			rc = commands[i].run(r, rest);
			TRY(rc);
			acknowledge(r);
			return rc;
		}
	}
	if (n > 0) {
		capture_say(r, SONDE_RECORD_WARNING,
		        "the command '%s' is not known; valid are enable [EVENT], disable "
		        "[EVENT], snapshot, stop, ping, evlist [-v|-g|-F]",
		        line);
	}
	return 0;
}

int capture_control_read(struct sonde_record *r)
{
	struct capture_control *c = &r->control;
	ssize_t got = read(r->options.control_fd, c->line + c->n, CONTROL_LINE - 1 - c->n);
	char *end;
	int rc = CONTROL_GO_ON;

	if (got <= 0) {
		c->closed |= got == 0 || (errno != EAGAIN && errno != EINTR);
		return CONTROL_GO_ON;
	}
	c->n += (size_t)got;
	while (rc == CONTROL_GO_ON && (end = memchr(c->line, '\n', c->n)) != NULL) {
		*end = '\0';
		rc = run_line(r, c->line);
		TRY(rc);
		c->n -= (size_t)(end + 1 - c->line);
		memmove(c->line, end + 1, c->n);
	}
	c->n = c->n == CONTROL_LINE - 1 ? 0 : c->n; /* no command is that long */
	return rc;
}
