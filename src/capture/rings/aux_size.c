/* SPDX-License-Identifier: MIT */
/* Sizes of AUX areas and of the rings next to them: as perf 6.1 chooses them. */
#include "capture/rings/rings.h"
#include "proc/proc.h"

#include <unistd.h>

#define AREA_PRIVILEGED   ((uint64_t)4 << 20)
#define AREA_UNPRIVILEGED ((uint64_t)128 << 10)
#define DATA_UNPRIVILEGED ((uint64_t)256 << 10)
#define PSB_SMALLEST      2048u /* bytes of trace between PSBs, the unit of psb_period */

static bool privileged(const struct capture_rings *r)
{
	int64_t paranoid = 2;

	(void)proc_read_number(r->root, "proc/sys/kernel/perf_event_paranoid", &paranoid);
	return paranoid < 0 || r->kernel->privileged();
}

static uint64_t power_of_two(uint64_t v)
{
	uint64_t p = (uint64_t)sysconf(_SC_PAGESIZE);

	while (p < v && p < UINT64_MAX / 2) {
		p *= 2;
	}
	return p;
}

static uint64_t largest_sample(const struct capture_rings *r)
{
	uint64_t most = 0;
	size_t i;

	for (i = 0; i < r->plan->events.n; i++) {
		most = r->plan->events.v[i].attr.aux_sample_size > most
		               ? r->plan->events.v[i].attr.aux_sample_size
		               : most;
	}
	return most;
}

static uint64_t smallest_sample(const struct capture_rings *r)
{
	uint64_t least = CAPTURE_SAMPLE_MAX;
	size_t i;

	for (i = 0; i < r->plan->events.n; i++) {
		uint64_t v = r->plan->events.v[i].attr.aux_sample_size;

		least = v != 0 && v < least ? v : least;
	}
	return least;
}

/* A piece of trace without a PSB cannot be decoded. */
static void warn_of_psb(struct capture_rings *r, const char *what, uint64_t size)
{
	uint64_t mask = capture_aux_mask(&r->plan->aux, r->root, "psb_period");
	uint64_t psb = PSB_SMALLEST;

	if (mask != 0) {
		psb <<= (r->plan->events.v[0].attr.config & mask) >> __builtin_ctzll(mask);
	}
	if (r->plan->aux.pmu->type == AUXTRACE_INTEL_PT && size <= psb + 256) {
		capture_say(r->log, SONDE_RECORDER_WARNING,
		        "Intel PT %s size (%llu) may be too small for PSB period (%llu)", what,
		        (unsigned long long)size, (unsigned long long)psb);
	}
}

static int plan_snapshot_size(struct capture_rings *r)
{
	struct capture_aux *aux = &r->aux;

	aux->snapshot_size = r->plan->options->aux.snapshot_size;
	if (r->plan->options->aux.pages == 0 && aux->snapshot_size != 0) {
		aux->size = power_of_two(aux->snapshot_size);
	}
	if (aux->snapshot_size == 0) {
		aux->snapshot_size = aux->size;
	}
	if (aux->snapshot_size > aux->size) {
		return error_set(r->err, SONDE_EARG, NO_OFFSET,
		        "Snapshot size %llu must not be greater than AUX area tracing mmap size "
		        "%llu",
		        (unsigned long long)aux->snapshot_size, (unsigned long long)aux->size);
	}
	capture_say(r->log, SONDE_RECORDER_LINE, "Intel PT snapshot size: %llu",
	        (unsigned long long)aux->snapshot_size);
	warn_of_psb(r, "snapshot", aux->snapshot_size);
	return 0;
}

/*
 * The limit of locked memory for an unprivileged user: perf_event_mlock_kb less a page for each
 * cpu, and RLIMIT_MEMLOCK once. Sizes that were not requested shrink until they fit, the larger one
 * first.
 */
static void fit_limits(struct capture_rings *r, size_t nrings, uint64_t least)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t data = r->pages * page;
	bool data_may = r->plan->options->buffers.pages == 0;
	bool area_may = r->plan->options->aux.pages == 0 &&
	                r->plan->options->aux.snapshot_size == 0 &&
	                r->plan->aux.mode != CAPTURE_AUX_SAMPLE;
	int64_t mlock_kb = 516;
	uint64_t allowed;

	(void)proc_read_number(r->root, "proc/sys/kernel/perf_event_mlock_kb", &mlock_kb);
	allowed = (uint64_t)mlock_kb * 1024;
	allowed = (allowed > page ? allowed - page : 0) * r->ncpus + r->kernel->memlock();
	while (nrings * (data + r->aux.size) > allowed) {
		area_may &= r->aux.size > least;
		data_may &= data > page;
		if (data_may && (data >= r->aux.size || !area_may)) {
			data /= 2;
		} else if (area_may) {
			r->aux.size /= 2;
		} else {
			break;
		}
	}
	r->pages = data / page;
}

int capture_aux_plan_sizes(struct capture_rings *r, size_t nrings)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct capture_aux *aux = &r->aux;
	uint64_t least = r->plan->aux.mode == CAPTURE_AUX_FULL ? 2 * page : page;
	bool limited;

	if (r->plan->aux.pmu == NULL) {
		return 0;
	}
	limited = !privileged(r);
	if (limited && r->plan->options->buffers.pages == 0) {
		r->pages = DATA_UNPRIVILEGED / page;
	}
	aux->size = r->plan->options->aux.pages != 0          ? r->plan->options->aux.pages * page
	            : r->plan->aux.mode == CAPTURE_AUX_SAMPLE ? power_of_two(largest_sample(r))
	            : limited                                 ? AREA_UNPRIVILEGED
	                                                      : AREA_PRIVILEGED;
	if (limited) {
		fit_limits(r, nrings, least);
	}
	if (r->plan->aux.mode == CAPTURE_AUX_SNAPSHOT) {
		TRY(plan_snapshot_size(r));
	}
	if (aux->size < least || (aux->size & (aux->size - 1)) != 0) {
		return error_set(r->err, SONDE_EARG, NO_OFFSET,
		        "Invalid mmap size for %s: must be at least %lluKiB and a power of 2",
		        r->plan->aux.pmu->title, (unsigned long long)least / 1024);
	}
	if (r->plan->aux.mode == CAPTURE_AUX_SAMPLE) {
		capture_say(r->log, SONDE_RECORDER_LINE,
		        "Intel PT min. sample size: %llu max. sample size: %llu",
		        (unsigned long long)smallest_sample(r),
		        (unsigned long long)largest_sample(r));
		warn_of_psb(r, "sample", smallest_sample(r));
	}
	if (r->plan->aux.mode == CAPTURE_AUX_FULL) {
		capture_plan_watermark(r->plan, aux->size / 4);
	}
	return 0;
}
