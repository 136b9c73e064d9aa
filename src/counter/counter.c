/* SPDX-License-Identifier: MIT */
#include "counter/counter.h"

#include "abi/abi.h"
#include "core/array.h"
#include "core/options.h"
#include "counter/page.h"
#include "event/event.h"
#include "host/older.h"
#include "host/refusal.h"
#include "proc/proc.h"
#include "record/record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A count that leaves out the kernel would be another count. */
#define FALLBACKS (HOST_FALLBACK_READ_ALONE | HOST_FALLBACK_BITS | HOST_FALLBACK_GUESTS)

struct opened {
	char *name;
	struct sonde_attr attr; /* as the kernel accepted it */
	size_t leader, members; /* as in struct event */
	int fd;
	void *page; /* NULL: not mapped */
	bool no_page; /* the page cannot be mapped */
	struct sonde_counter_value last; /* of the last reading */
};

struct sonde_counter {
	struct sonde_counter_options options;
	const struct host_kernel *kernel;
	struct opened *v;
	size_t n, cap;
	uint64_t *buf; /* for group reads */
	size_t buf_cap;
	struct error error;
	bool misused; /* the options are wrong: nothing can be opened */
	int root_fd;
};

#define READ_FORMAT (SONDE_READ_ENABLED | SONDE_READ_RUNNING | SONDE_READ_ID | SONDE_READ_LOST)

struct sonde_counter *counter_new_with(
        const struct sonde_counter_options *options, const struct host_kernel *kernel)
{
	struct sonde_counter *c = calloc(1, sizeof(*c));

	if (c == NULL) {
		return NULL;
	}
	c->misused = options_copy(&c->options, sizeof(c->options), options, &c->error) < 0;
	c->kernel = kernel;
	c->root_fd = proc_root_open("/"); /* for PMUs, and for the text of errors */
	return c;
}

struct sonde_counter *sonde_counter_new(const struct sonde_counter_options *options)
{
	return counter_new_with(options, host_kernel_linux());
}

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* Members of a group are closed before their leader. */
static void close_from(struct sonde_counter *c, size_t first)
{
	while (c->n > first) {
		struct opened *o = &c->v[--c->n];

		if (o->page != NULL) {
			c->kernel->unmap(o->page, page_size());
		}
		(void)c->kernel->close(o->fd);
		free(o->name);
	}
}

void sonde_counter_free(struct sonde_counter *c)
{
	if (c == NULL) {
		return;
	}
	close_from(c, 0);
	if (c->root_fd >= 0) {
		(void)close(c->root_fd);
	}
	free(c->v);
	free(c->buf);
	free(c);
}

const struct sonde_error *sonde_counter_error(const struct sonde_counter *c)
{
	return error_show(&c->error);
}

static int open_attr(struct sonde_counter *c, struct opened *o)
{
	const struct sonde_counter_options *opt = &c->options;
	int leader = o->leader < c->n ? c->v[o->leader].fd : -1;
	int cpu = opt->one_cpu != 0 ? opt->cpu : -1;
	int why;

	if (opt->thread == -1 && !opt->one_cpu) {
		return error_set(&c->error, SONDE_EARG, NO_OFFSET,
		        "all threads can be counted on one cpu only: set one_cpu");
	}
	for (;;) {
		o->fd = c->kernel->open(&o->attr, opt->thread, cpu, leader, 0);
		if (o->fd >= 0) {
			return 0;
		}
		why = errno;
		if (host_attr_fallback(c->kernel, &o->attr, FALLBACKS, why) == HOST_FALLBACK_NONE) {
			const struct host_refusal refusal = {.root = c->root_fd,
			        .name = o->name,
			        .attr = &o->attr,
			        .all = opt->thread == -1,
			        .counting = true};

			return host_refusal(&c->error, &refusal, why);
		}
	}
}

/*
 * Opens one event; attr defines what to count, the handle sets the other members. members: of the
 * group that it will lead. A leader reads all members at once; that format costs more for a single
 * event.
 */
static int add(struct sonde_counter *c, const char *name, const struct sonde_attr *attr,
        size_t leader, size_t members)
{
	struct opened *o;
	int rc;

	if (c->misused) {
		return error_status(&c->error);
	}
	if (!array_reserve(&c->v, &c->cap, c->n + 1, sizeof(*c->v))) {
		return error_nomem(&c->error);
	}
	o = &c->v[c->n];
	*o = (struct opened){.attr = *attr, .leader = leader, .members = 1, .fd = -1};
	/*
	 * size 0 would mean the first kernels' attr, without config2; newer fields are allowed if
	 * zero
	 */
	o->attr.size = attr->config3 != 0 || attr->config4 != 0 ? ATTR_SIZE_NOW : HOST_ATTR_SIZE;
	o->attr.read_format = READ_FORMAT | (members > 1 ? SONDE_READ_GROUP : 0);
	/* members are enabled with their leader */
	record_attr_set(&o->attr, SONDE_FLAG_DISABLED, !c->options.enabled && leader == c->n);
	if (c->options.inherit) {
		record_attr_set(&o->attr, SONDE_FLAG_INHERIT, true);
	}
	o->name = strdup(name);
	rc = o->name == NULL ? error_nomem(&c->error) : open_attr(c, o);
	if (rc < 0) {
		free(o->name);
		return rc;
	}
	if (leader != c->n) {
		c->v[leader].members++;
		o->members = 0;
	}
	c->n++;
	return 0;
}

int sonde_counter_open(struct sonde_counter *c, const char *events)
{
	struct event_list list = {0};
	size_t i, first = c->n;
	int rc = event_parse(&list, c->root_fd, events, &c->error);

	for (i = 0; rc >= 0 && i < list.n; i++) {
		rc = add(c, list.v[i].name, &list.v[i].attr, first + list.v[i].leader,
		        list.v[i].members);
	}
	event_list_fini(&list);
	if (rc < 0) {
		close_from(c, first);
		return rc;
	}
	return (int)first;
}

int sonde_counter_open_attr(struct sonde_counter *c, const struct sonde_attr *attr, int leader)
{
	char name[64];
	size_t first = c->n;

	if (leader >= 0 && ((size_t)leader >= c->n || c->v[leader].leader != (size_t)leader)) {
		return error_set(&c->error, SONDE_EARG, NO_OFFSET,
		        "event %d does not lead a group: there is none, or it is a member", leader);
	}
	if (leader >= 0 && (size_t)leader + c->v[leader].members != c->n) {
		return error_set(&c->error, SONDE_EARG, NO_OFFSET,
		        "members of a group must be consecutive: other events follow event %d",
		        leader);
	}
	(void)snprintf(name, sizeof(name), "type=%u,config=0x%llx", attr->type,
	        (unsigned long long)attr->config);
	TRY(add(c, name, attr, leader >= 0 ? (size_t)leader : first, 1));
	return (int)first;
}

size_t sonde_counter_events(const struct sonde_counter *c)
{
	return c->n;
}

const char *sonde_counter_name(const struct sonde_counter *c, size_t event)
{
	return c->v[event].name;
}

size_t sonde_counter_leader(const struct sonde_counter *c, size_t event)
{
	return c->v[event].leader;
}

int sonde_counter_fd(const struct sonde_counter *c, size_t event)
{
	return c->v[event].fd;
}

/* Calls a function for every group. */
static int control_all(
        struct sonde_counter *c, int (*control)(const struct sonde_counter *c, int fd))
{
	size_t i;

	for (i = 0; i < c->n; i++) {
		if (c->v[i].leader == i && control(c, c->v[i].fd) < 0) {
			return error_errno(
			        &c->error, SONDE_EIO, errno, "cannot control '%s'", c->v[i].name);
		}
	}
	return 0;
}

static int enable(const struct sonde_counter *c, int fd)
{
	return c->kernel->enable(fd, true, true);
}

static int disable(const struct sonde_counter *c, int fd)
{
	return c->kernel->enable(fd, false, true);
}

static int reset(const struct sonde_counter *c, int fd)
{
	return c->kernel->reset(fd, true);
}

int sonde_counter_enable(struct sonde_counter *c)
{
	return control_all(c, enable);
}

int sonde_counter_disable(struct sonde_counter *c)
{
	return control_all(c, disable);
}

int sonde_counter_reset(struct sonde_counter *c)
{
	return control_all(c, reset);
}

static int read_failed(struct sonde_counter *c, const struct opened *o, ssize_t got)
{
	if (got == 0) {
		return error_set(&c->error, SONDE_EUNSUPPORTED, NO_OFFSET,
		        "'%s' is pinned and got no hardware counter: others hold them", o->name);
	}
	(void)error_set(
	        &c->error, SONDE_EIO, NO_OFFSET, "%s", got < 0 ? strerror(errno) : "too few bytes");
	return error_wrap(&c->error, "cannot read '%s'", o->name);
}

/* Reads values according to the event's read_format into `last` of up to max events from o on; *nr:
 * how many there were. */
static int read_values(struct sonde_counter *c, struct opened *o, size_t max, size_t *nr)
{
	uint64_t few[5];
	uint64_t *buf = few;
	size_t i, need = sizeof(few) / sizeof(few[0]);
	struct sonde_record_read_value v;
	struct record_counts counts;
	ssize_t got;

	if ((o->attr.read_format & SONDE_READ_GROUP) != 0) {
		need = 3 + 3 * o->members;
		if (!array_reserve(&c->buf, &c->buf_cap, need, sizeof(*c->buf))) {
			return error_nomem(&c->error);
		}
		buf = c->buf;
	}
	got = c->kernel->read(o->fd, buf, need * 8);
	if (got <= 0 || !record_counts_read(o->attr.read_format,
	                        (struct span){(const uint8_t *)buf, (size_t)got}, &counts)) {
		return read_failed(c, o, got);
	}
	*nr = (size_t)counts.left;
	for (i = 0; i < max; i++) {
		if (!record_counts_next(&counts, &v)) {
			v = (struct sonde_record_read_value){0};
		}
		o[i].last = (struct sonde_counter_value){.value = v.value,
		        .enabled = counts.enabled,
		        .running = counts.running,
		        .id = v.id,
		        .lost = v.lost};
	}
	return 0;
}

int sonde_counter_read(
        struct sonde_counter *c, size_t event, const struct sonde_counter_value **value)
{
	size_t nr;

	TRY(read_values(c, &c->v[event], 1, &nr));
	*value = &c->v[event].last;
	return 0;
}

const struct sonde_counter_value *sonde_counter_last(const struct sonde_counter *c, size_t event)
{
	return &c->v[event].last;
}

int sonde_counter_read_all(struct sonde_counter *c)
{
	size_t i, nr = 0;

	for (i = 0; i < c->n; i += nr) {
		bool group = (c->v[i].attr.read_format & SONDE_READ_GROUP) != 0;

		TRY(read_values(c, &c->v[i], group ? c->v[i].members : 1, &nr));
		if (nr != (group ? c->v[i].members : 1)) {
			return error_set(&c->error, SONDE_EIO, NO_OFFSET,
			        "reading the group of '%s' gave %zu values", c->v[i].name, nr);
		}
	}
	return (int)c->n;
}

const void *sonde_counter_page(struct sonde_counter *c, size_t event)
{
	struct opened *o = &c->v[event];

	if (o->page == NULL && !o->no_page) {
		o->page = c->kernel->map(o->fd, page_size(), true);
		o->no_page = o->page == NULL;
	}
	return o->page;
}

int sonde_counter_read_self(
        struct sonde_counter *c, size_t event, const struct sonde_counter_value **value)
{
	const void *page = c->options.thread == 0 ? sonde_counter_page(c, event) : NULL;
	struct sonde_page_count count;

	if (page != NULL && counter_page_live(page) && sonde_page_read(page, NULL, &count) == 1) {
		c->v[event].last = (struct sonde_counter_value){
		        .value = count.value, .enabled = count.enabled, .running = count.running};
		*value = &c->v[event].last;
		return 1;
	}
	return sonde_counter_read(c, event, value);
}
