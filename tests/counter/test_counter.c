/* SPDX-License-Identifier: MIT */
/*
 * Opening and reading counters: on this machine, and on a fake kernel that refuses or multiplexes.
 */
#include "tap.h"

#include "counter/counter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A kernel with made-up counts: descriptor n counts 1000 n, and ran half of the time. */
static struct fake {
	struct sonde_attr attr[64];
	int group[64];
	int opened, closed;
	int refuse; /* errno */
	uint64_t refuse_format; /* read_format bits that it does not know */
	bool pinned_out;
	int enables;
} f;

static int fake_open(const struct sonde_attr *attr, pid_t pid, int cpu, int group, unsigned flags)
{
	(void)pid, (void)cpu, (void)flags;
	if (f.refuse != 0 || (attr->read_format & f.refuse_format) != 0) {
		errno = f.refuse != 0 ? f.refuse : EINVAL;
		return -1;
	}
	f.attr[++f.opened] = *attr;
	f.group[f.opened] = group;
	return f.opened;
}

static int fake_close(int fd)
{
	(void)fd;
	f.closed++;
	return 0;
}

static ssize_t fake_read(int fd, void *buf, size_t size)
{
	uint64_t out[64];
	uint64_t format = f.attr[fd].read_format;
	size_t n = 0;
	int i;

	if (f.pinned_out) {
		return 0;
	}
	if ((format & SONDE_READ_GROUP) != 0) {
		out[n++] = 1;
	} else {
		out[n++] = 1000 * (uint64_t)fd;
	}
	out[n++] = 200;
	out[n++] = 100;
	for (i = fd; i <= f.opened; i++) {
		if (i != fd && f.group[i] != fd) {
			break;
		}
		if ((format & SONDE_READ_GROUP) != 0) {
			out[0] = (uint64_t)(i - fd) + 1;
			out[n++] = 1000 * (uint64_t)i;
		} else if (i != fd) {
			break;
		}
		out[n++] = 70 + (uint64_t)i;
		if ((format & SONDE_READ_LOST) != 0) {
			out[n++] = (uint64_t)i;
		}
	}
	if (n * 8 > size) {
		errno = ENOSPC;
		return -1;
	}
	memcpy(buf, out, n * 8);
	return (ssize_t)(n * 8);
}

static int fake_enable(int fd, bool on, bool group)
{
	(void)fd, (void)group;
	f.enables += on;
	return 0;
}

static void *fake_map(int fd, size_t size, bool read_only)
{
	(void)fd, (void)size, (void)read_only;
	return NULL;
}

static const struct host_kernel kernel = {.open = fake_open,
        .close = fake_close,
        .read = fake_read,
        .enable = fake_enable,
        .map = fake_map};

static void test_group(void)
{
	const struct sonde_counter_value *v;
	struct sonde_counter *c;

	memset(&f, 0, sizeof(f));
	c = counter_new_with(NULL, &kernel);
	eq_u64(sonde_counter_open(c, "page-faults,{task-clock,cs,migrations}"), 0,
	        "a string of four events is opened");
	eq_u64(sonde_counter_events(c), 4, "the handle has four events");
	eq_str(sonde_counter_name(c, 2), "cs", "an event has its name");
	eq_u64(sonde_counter_leader(c, 3), 1, "the last event has the leader of its group");
	eq_u64(f.group[4], 2, "the kernel gets the leader of the group");
	eq_u64(f.attr[1].size, 128,
	        "the kernel gets the whole attr, not only the first kernels' fields");
	ok(sonde_attr_has(&f.attr[2], SONDE_FLAG_DISABLED) &&
	                !sonde_attr_has(&f.attr[3], SONDE_FLAG_DISABLED),
	        "a group is started by its leader");
	eq_u64(sonde_counter_enable(c), 0, "all events are enabled");
	eq_u64(f.enables, 2, "one call enables a group");
	eq_u64(sonde_counter_read_all(c), 4, "all events are read at once");
	eq_u64(sonde_counter_last(c, 0)->value, 1000, "the first event has its count");
	eq_u64(sonde_counter_last(c, 3)->value, 4000, "the last event of the group has its count");
	eq_u64(sonde_counter_last(c, 3)->id, 74, "a count has its id");
	eq_u64(sonde_counter_last(c, 3)->lost, 4, "a count has the number of lost samples");
	eq_u64(sonde_counter_last(c, 3)->enabled, 200, "a count has the time enabled");
	eq_u64(sonde_counter_last(c, 3)->running, 100, "a count has the time running");
	eq_u64(sonde_counter_scale(sonde_counter_last(c, 3)->value,
	               sonde_counter_last(c, 3)->enabled, sonde_counter_last(c, 3)->running),
	        8000, "a count is scaled");
	eq_u64(sonde_counter_read(c, 1, &v), 0, "the leader of a group is read alone");
	eq_u64(v->value, 2000, "reading the leader alone returns its count");
	eq_u64(sonde_counter_read_self(c, 0, &v), 0,
	        "without a page the event is read by a system call");
	eq_u64(v->value, 1000, "the system call returns the same value");
	f.pinned_out = true;
	ok(sonde_counter_read(c, 0, &v) == SONDE_EUNSUPPORTED,
	        "a pinned event without a counter is unsupported");
	sonde_counter_free(c);
	eq_u64(f.closed, 4, "all descriptors are closed");
}

static void test_refusals(void)
{
	static const struct {
		int why, status;
		const char *word;
	} cases[] = {{EACCES, SONDE_EPERM, "perf_event_paranoid"},
	        {ENOENT, SONDE_EUNSUPPORTED, "not supported"}, {ESRCH, SONDE_ENOENT, "no such"},
	        {EMFILE, SONDE_ELIMIT, "ulimit -n"}, {EINVAL, SONDE_EIO, "cannot open"}};
	struct sonde_counter *c;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		memset(&f, 0, sizeof(f));
		c = counter_new_with(NULL, &kernel);
		f.refuse = cases[i].why;
		ok(sonde_counter_open(c, "cs") == cases[i].status,
		        "a refused event has this status");
		ok(strstr(sonde_counter_error(c)->text, cases[i].word) != NULL,
		        "the message about a refused event helps");
		eq_u64(sonde_counter_events(c), 0, "after a refusal no event is added");
		sonde_counter_free(c);
	}
	memset(&f, 0, sizeof(f));
	f.refuse_format = SONDE_READ_LOST;
	c = counter_new_with(NULL, &kernel);
	eq_u64(sonde_counter_open(c, "{cs,page-faults}"), 0,
	        "a group is opened on an older kernel");
	eq_u64(sonde_counter_read_all(c), 2, "a group of an older kernel is read");
	eq_u64(sonde_counter_last(c, 1)->value, 2000, "a group of an older kernel has its counts");
	eq_u64(sonde_counter_last(c, 1)->lost, 0, "an older kernel reports no lost samples");
	sonde_counter_free(c);
	c = sonde_counter_new(NULL);
	ok(sonde_counter_open(c, "no-such-event") == SONDE_EARG, "an unknown event is refused");
	sonde_counter_free(c);
	sonde_counter_free(NULL);
}

static void test_machine(void)
{
	struct sonde_counter_options o = {.size = sizeof(o), .inherit = true};
	struct sonde_counter *c = sonde_counter_new(NULL);
	const struct sonde_counter_value *again;
	uint64_t faults;
	const struct sonde_page_cpu *cpu = sonde_page_cpu();
	struct sonde_page_clock clock;
	char *memory;
	volatile char *touch;
	size_t i;

	if (sonde_counter_open(c, "{page-faults:u,task-clock:u},cs") < 0) {
		skip(sonde_counter_error(c)->text);
		sonde_counter_free(c);
		return;
	}
	ok(sonde_counter_enable(c) == 0, "real events are enabled");
	touch = memory = malloc((size_t)4 << 20);
	for (i = 0; touch != NULL && i < (size_t)4 << 20; i += 4096) {
		touch[i] = 1;
	}
	ok(sonde_counter_disable(c) == 0, "real events are disabled");
	eq_u64(sonde_counter_read_all(c), 3, "real events are read");
	faults = sonde_counter_last(c, 0)->value;
	ok(faults > 0, "page faults were counted");
	ok(sonde_counter_last(c, 1)->value > 0 && sonde_counter_last(c, 1)->enabled > 0 &&
	                sonde_counter_last(c, 1)->running == sonde_counter_last(c, 1)->enabled,
	        "the task clock ran all the time");
	ok(sonde_counter_last(c, 0)->id != sonde_counter_last(c, 1)->id &&
	                sonde_counter_last(c, 0)->id != 0,
	        "events have different ids");
	eq_u64(sonde_counter_read_self(c, 0, &again), 0, "a software event has no live count");
	eq_u64(again->value, faults, "a software event is read by a system call");
	ok(sonde_counter_reset(c) == 0 && sonde_counter_read(c, 0, &again) == 0,
	        "counts are reset");
	eq_u64(again->value, 0, "a count is 0 after a reset");
	if (sonde_counter_page(c, 0) != NULL && cpu != NULL &&
	        sonde_page_clock_get(sonde_counter_page(c, 0), &clock) == 1) {
		uint64_t ns = sonde_page_clock_ns(&clock, cpu->tsc(cpu->arg));

		ok(sonde_page_clock_ticks(&clock, ns) > 0 && ns > 0,
		        "the clock of a real page converts");
	} else {
		skip("the page has no clock here");
	}
	sonde_counter_free(c);
	c = sonde_counter_new(&o);
	ok(sonde_counter_open(c, "{page-faults:u,task-clock:u}") == 0,
	        "an inherited group is opened");
	eq_u64(sonde_counter_read_all(c), 2, "an inherited group is read");
	sonde_counter_free(c);
	free(memory);
}

int main(void)
{
	test_group();
	test_refusals();
	test_machine();
	return tap_done();
}
