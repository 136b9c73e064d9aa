/* SPDX-License-Identifier: MIT */
/*
 * Kernels that are older than what is asked of them, and PMUs that can less. The kernel says EINVAL
 * for a bit and E2BIG for a field that it does not know, but not which one: each is asked for alone,
 * on an event that every kernel has, and what is refused there is left out. Sizes of attrs and the
 * kernels that brought them: perf_event_open(2).
 */
#include "capture/capture.h"
#include "record/record.h"

#include <errno.h>
#include <string.h>
#include <time.h>

enum place { FLAG, READ_FORMAT, SAMPLE_TYPE, BRANCH_TYPE };

static const struct step {
	enum place place;
	uint64_t bits;
	bool asked; /* by the user: going without is worth a word without -v */
	const char *name;
} steps[] = {
#define BIT(flag) (1ULL << (flag))
        {FLAG, BIT(SONDE_FLAG_BUILD_ID), true, "build ids in mmap records"},
        {BRANCH_TYPE, 1 << 19, true, "branch counters"},
        {BRANCH_TYPE, 1 << 18, true, "privilege levels of branches"},
        {READ_FORMAT, SONDE_READ_LOST, false, "lost counts"},
        {SAMPLE_TYPE, SONDE_SAMPLE_WEIGHT_STRUCT, true, "weights in three parts"},
        {SAMPLE_TYPE, SONDE_SAMPLE_CODE_PAGE_SIZE, true, "sizes of code pages"},
        {SAMPLE_TYPE, SONDE_SAMPLE_DATA_PAGE_SIZE, true, "sizes of data pages"},
        {FLAG, BIT(SONDE_FLAG_TEXT_POKE), true, "changes of the kernel's code"},
        {FLAG, BIT(SONDE_FLAG_CGROUP), true, "cgroup events"},
        {SAMPLE_TYPE, SONDE_SAMPLE_CGROUP, true, "cgroups of samples"},
        {BRANCH_TYPE, 1 << 17, false, "places in the branch hardware"},
        {FLAG, BIT(SONDE_FLAG_BPF_EVENT), false, "bpf events"},
        {FLAG, BIT(SONDE_FLAG_KSYMBOL), false, "ksymbol events"},
        {FLAG, BIT(SONDE_FLAG_NAMESPACES), true, "namespace events"},
        {SAMPLE_TYPE, SONDE_SAMPLE_PHYS_ADDR, true, "physical addresses"},
        {FLAG, BIT(SONDE_FLAG_WRITE_BACKWARD), true, "rings written backward"},
        {BRANCH_TYPE, 1 << 16, true, "types of branches"},
        {FLAG, BIT(SONDE_FLAG_CONTEXT_SWITCH), true, "context switch events"},
        {FLAG, BIT(SONDE_FLAG_USE_CLOCKID), true, "clock ids"},
        {BRANCH_TYPE, 3 << 14, false, "branches without flags and cycles"},
        {FLAG, BIT(SONDE_FLAG_COMM_EXEC), false, "exec marks"},
        {FLAG, BIT(SONDE_FLAG_MMAP2), false, "mmap2 records"},
        {FLAG, BIT(SONDE_FLAG_EXCLUDE_GUEST), false, "guest exclusion"},
        {FLAG, BIT(SONDE_FLAG_EXCLUDE_HOST), true, "host exclusion"},
        {FLAG, BIT(SONDE_FLAG_SAMPLE_ID_ALL), false, "ids in records other than samples"},
#undef BIT
};

#define STEPS (sizeof(steps) / sizeof(steps[0]))

/* Bytes of the attr in successive kernels, and what each brought at its end. */
static const struct size {
	uint32_t size;
	const char *brought;
} sizes[] = {{144, "config4"}, {136, "config3"}, {128, "sig_data"},
        {120, "aux_sample_size, aux_action"}, {112, "aux_watermark, sample_max_stack"},
        {104, "sample_regs_intr"}, {96, "sample_regs_user, sample_stack_user, clockid"},
        {80, "branch_sample_type"}, {72, "config2"}, {64, NULL}};

#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

static uint64_t *field(struct sonde_attr *attr, enum place place)
{
	switch (place) {
	case READ_FORMAT: return &attr->read_format;
	case SAMPLE_TYPE: return &attr->sample_type;
	case BRANCH_TYPE: return &attr->branch_sample_type;
	case FLAG: break;
	}
	return &attr->flags;
}

/* Would the kernel take an event with nothing but this? */
static bool refused(struct sonde_record *r, const struct step *step)
{
	struct sonde_attr attr = {.type = SONDE_TYPE_SOFTWARE,
	        .config = SONDE_SW_CPU_CLOCK,
	        .size = r->events.v[0].attr.size,
	        .flags = 1ULL << SONDE_FLAG_DISABLED | 1ULL << SONDE_FLAG_EXCLUDE_KERNEL};
	int fd;

	*field(&attr, step->place) |= step->bits;
	if (step->place == BRANCH_TYPE) {
		attr.sample_type = SONDE_SAMPLE_BRANCH_STACK;
		attr.branch_sample_type |= 1 << 3; /* any */
	} else if (step->bits == 1ULL << SONDE_FLAG_USE_CLOCKID) {
		attr.clockid = CLOCK_MONOTONIC;
	}
	capture_trace_attr(r, &attr);
	fd = r->kernel->open(&attr, 0, -1, -1, 0);
	capture_trace_open(r, 0, -1, -1, 0, fd);
	if (fd >= 0) {
		(void)r->kernel->close(fd);
	}
	return fd < 0 && (errno == EINVAL || errno == E2BIG);
}

static bool drop(struct sonde_record *r, const struct step *step)
{
	bool found = false;
	uint64_t *at;
	size_t k;

	for (k = 0; k < r->events.n; k++) {
		found |= (*field(&r->events.v[k].attr, step->place) & step->bits) != 0;
	}
	if (!found || !refused(r, step)) {
		return false;
	}
	for (k = 0; k < r->events.n; k++) {
		at = field(&r->events.v[k].attr, step->place);
		*at &= ~step->bits;
	}
	capture_say(r, step->asked ? SONDE_RECORD_WARNING : SONDE_RECORD_VERBOSE,
	        "this kernel refuses %s: going without", step->name);
	return true;
}

/* An attr of a kernel before: what stands behind its end is left out. */
static bool shrink(struct sonde_record *r)
{
	uint8_t bytes[144];
	uint32_t now = 0;
	bool lost = false;
	struct sonde_attr *attr;
	size_t i, k;

	for (k = 0; k < r->events.n; k++) {
		now = r->events.v[k].attr.size > now ? r->events.v[k].attr.size : now;
	}
	for (i = 0; i < SIZES && sizes[i].size > now; i++) {
	}
	if (i + 1 >= SIZES) {
		return false;
	}
	for (k = 0; k < r->events.n; k++) {
		attr = &r->events.v[k].attr;
		attr->size = attr->size > sizes[i + 1].size ? sizes[i + 1].size : attr->size;
		record_attr_encode(attr, bytes);
		for (now = sizes[i + 1].size; now < sizes[i].size; now++) {
			lost |= bytes[now] != 0;
			bytes[now] = 0;
		}
		(void)record_attr_decode((struct span){bytes, sizeof(bytes)}, false, attr);
	}
	capture_say(r, lost ? SONDE_RECORD_WARNING : SONDE_RECORD_VERBOSE,
	        "this kernel refuses attrs of %u bytes: going without %s", sizes[i].size,
	        sizes[i].brought);
	return true;
}

/* Some PMUs know nothing of guests: they count them like everybody. */
static bool drop_guests(struct sonde_record *r, size_t e)
{
	const uint64_t bits = 1ULL << SONDE_FLAG_EXCLUDE_GUEST;
	struct sonde_attr *attr = &r->events.v[e].attr;

	if (r->events.v[e].pmu == NULL || (attr->flags & bits) == 0) {
		return false;
	}
	attr->flags &= ~bits;
	capture_say(r, SONDE_RECORD_VERBOSE, "'%s' refuses guest exclusion: going without",
	        r->events.v[e].name);
	return true;
}

/* A weak group (W) that cannot be scheduled as one becomes single events. */
static bool break_weak_group(struct sonde_record *r, size_t e)
{
	const uint64_t leads = 1ULL << SONDE_FLAG_DISABLED | 1ULL << SONDE_FLAG_ENABLE_ON_EXEC;
	size_t leader = r->events.v[e].leader;
	struct event *event;
	size_t k;

	if (leader == e || !r->events.v[leader].weak) {
		return false;
	}
	capture_say(r, SONDE_RECORD_VERBOSE,
	        "the group of '%s' cannot be counted at the same time: its events go alone",
	        r->events.v[leader].name);
	for (k = 0; k < r->events.n; k++) {
		event = &r->events.v[k];
		if (event->leader == leader) {
			event->leader = k;
			event->members = 1;
			event->attr.flags |= r->events.v[leader].attr.flags & leads;
			event->attr.read_format &= ~(uint64_t)SONDE_READ_GROUP;
		}
	}
	return true;
}

bool capture_use_older(struct sonde_record *r, size_t e, int why)
{
	bool changed = false;
	size_t i;

	if (why != EINVAL && why != E2BIG) {
		return false;
	}
	if (break_weak_group(r, e)) {
		return true;
	}
	for (i = 0; i < STEPS; i++) {
		changed |= drop(r, &steps[i]);
	}
	changed = changed || (why == E2BIG && shrink(r));
	return changed || drop_guests(r, e);
}

uint32_t capture_attr_size(const struct sonde_attr *attr)
{
	return attr->config4 != 0 ? 144 : attr->config3 != 0 ? 136 : HOST_ATTR_SIZE;
}

void capture_attr_sizes(struct sonde_record *r, bool in_file)
{
	struct sonde_attr *attr;
	size_t k;

	for (k = 0; k < r->events.n; k++) {
		attr = &r->events.v[k].attr;
		attr->size = in_file ? HOST_ATTR_SIZE : capture_attr_size(attr);
		if (in_file && r->events.v[k].text_address) {
			attr->config1 = 0;
		}
	}
}

bool capture_only_counts(const struct sonde_record *r, size_t e)
{
	struct sonde_attr attr = r->events.v[e].attr;
	int fd;

	if (r->events.v[e].pmu == NULL) {
		return false;
	}
	attr.sample_period = 0;
	attr.sample_type = 0;
	attr.flags &= ~(1ULL << SONDE_FLAG_FREQ);
	attr.flags |= 1ULL << SONDE_FLAG_DISABLED;
	fd = r->kernel->open(&attr, r->events.v[e].uncore ? -1 : 0,
	        r->events.v[e].uncore ? (int)r->cpus[0] : -1, -1, 0);
	if (fd >= 0) {
		(void)r->kernel->close(fd);
	}
	return fd >= 0;
}
