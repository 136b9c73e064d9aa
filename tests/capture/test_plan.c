/* SPDX-License-Identifier: MIT */
/*
 * The attrs of a plan follow from the plan alone: no kernel is asked, and each time they are equal. What
 * a kernel refuses is removed from a plan whose events are not open.
 */
#define _GNU_SOURCE
#include "capture/plan/plan.h"
#include "fake/fake.h"
#include "proc/proc.h"
#include "tap.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static const char *const strings[] = {"{cpu-clock,page-faults}:S", "cs/period=5,call-graph=fp/"};
static const struct sonde_recorder_options options = {.size = sizeof(options),
        .targets.all_cpus = true,
        .events.strings = strings,
        .events.n = 2,
        .events.frequency = 100,
        .chains.mode = "dwarf,4096"};

static bool same(const struct capture_plan *p, const struct sonde_attr *attrs)
{
	size_t i;

	for (i = 0; i < p->events.n; i++) {
		if (memcmp(&p->events.v[i].attr, &attrs[i], sizeof(attrs[i])) != 0) {
			return false;
		}
	}
	return true;
}

static void test_attrs(struct capture_plan *p)
{
	struct sonde_attr first[8];
	size_t i;

	for (i = 0; i < p->events.n; i++) {
		first[i] = p->events.v[i].attr;
	}
	capture_plan_attrs(p);
	ok(same(p, first), "attrs that are computed twice are equal");
	p->frequency = 50;
	p->targets = CAPTURE_WORKLOAD;
	capture_plan_attrs(p);
	eq_u64(p->events.v[0].attr.sample_period, 50,
	        "another frequency in the plan, another in the attr");
	ok((p->events.v[0].attr.sample_type & SONDE_SAMPLE_CPU) == 0,
	        "samples of a workload hold no cpu");
	p->frequency = 100;
	p->targets = CAPTURE_ALL;
	capture_plan_attrs(p);
	ok(same(p, first), "the first plan again gives the first attrs again");
}

static unsigned with_flag(const struct capture_plan *p, enum sonde_attr_flag flag)
{
	unsigned n = 0;

	for (size_t i = 0; i < p->events.n; i++) {
		n += sonde_attr_has(&p->events.v[i].attr, flag) != 0;
	}
	return n;
}

static void test_older(struct capture_plan *p, const struct capture_machine *m)
{
	fake_reset(&(struct fake_options){
	        .attr_size = 112, .unknown_flags = 1ull << SONDE_FLAG_BPF_EVENT});
	capture_plan_sizes(p, false);
	p->events.v[0].attr.sig_data = 1;
	ok(capture_plan_older(p, m, 0, EINVAL), "a bit that the kernel refuses is removed");
	eq_u64(with_flag(p, SONDE_FLAG_BPF_EVENT), 0, "no event keeps the refused bit");
	ok(with_flag(p, SONDE_FLAG_KSYMBOL) > 0, "bits that the kernel accepts stay");
	for (int i = 0; i < 2; i++) {
		ok(capture_plan_older(p, m, 0, E2BIG), "attrs get the size of an older kernel");
	}
	eq_u64(p->events.v[0].attr.sig_data, 0, "fields that do not fit are removed");
	ok(!capture_plan_older(p, m, 0, EINVAL), "nothing is left to remove");
	ok(!capture_plan_older(p, m, 0, EACCES), "recording all tasks never drops the kernel");
	eq_u64(fake_open_fds(), 0, "a probe leaves no event open");
}

int main(void)
{
	const struct capture_log log = {0};
	struct error err = {0};
	const struct capture_machine machine = {fake_kernel(), proc_root_open("/"), &log, &err};
	struct capture_plan p = {0};

	fake_reset(&(struct fake_options){0});
	eq_u64(capture_plan_make(&p, &options, &machine), 0, "a plan is made");
	eq_u64(p.events.n, 4, "of three events and the one for side-band");
	eq_u64(p.parsed[1], 2, "the first string made two of them");
	eq_u64(fake_open_fds(), 0, "no event stays open");
	test_attrs(&p);
	test_older(&p, &machine);
	capture_plan_fini(&p);
	fake_end();
	(void)close(machine.root);
	return tap_done();
}
