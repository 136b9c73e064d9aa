/* SPDX-License-Identifier: MIT */
#include "host/refusal.h"

#include "host/tasks.h"
#include "proc/proc.h"

#include <errno.h>
#include <string.h>

/*
 * Highest kernel.perf_event_paranoid at which an ordinary user may open it; see its documentation.
 */
static int paranoid_for(const struct host_refusal *r)
{
	if (r->attr->type == SONDE_TYPE_TRACEPOINT && !r->counting) {
		return -1;
	}
	return r->all ? 0 : sonde_attr_has(r->attr, SONDE_FLAG_EXCLUDE_KERNEL) ? 2 : 1;
}

/* What an ordinary user may not do at any level of the sysctl; NULL: does not apply. */
static const char *privilege_for(const struct host_refusal *r)
{
	if (r->pmu != NULL && (strcmp(r->pmu, "uprobe") == 0 || strcmp(r->pmu, "kprobe") == 0)) {
		return "probes need root, or the capability CAP_SYS_ADMIN";
	}
	if (sonde_attr_has(r->attr, SONDE_FLAG_NAMESPACES)) {
		return "--namespaces needs root, or the capability CAP_PERFMON";
	}
	return NULL;
}

/* The sysctl allows it, but the kernel refused it. */
static int not_allowed_here(struct error *err, const struct host_refusal *r, int64_t paranoid)
{
	unsigned uid = 0;
	pid_t pid;

	if (r->counting) {
		(void)error_set(err, SONDE_EPERM, NO_OFFSET,
		        "the thread is another user's, the event is one for CAP_PERFMON only, or a "
		        "container's filter forbids perf_event_open");
		return error_wrap(err,
		        "not allowed to count '%s' though kernel.perf_event_paranoid is %lld",
		        r->name, (long long)paranoid);
	}
	pid = r->tasks != NULL ? host_tasks_foreign(r->tasks, r->root, &uid) : 0;
	if (pid != 0) {
		(void)error_set(err, SONDE_EPERM, NO_OFFSET,
		        "it belongs to user %u; record as that user or as root, or give sonde the "
		        "capabilities CAP_PERFMON and CAP_SYS_PTRACE",
		        uid);
		return error_wrap(err, "not allowed to record process %d", (int)pid);
	}
	(void)error_set(err, SONDE_EPERM, NO_OFFSET,
	        "%sa security module or a container's filter forbids perf_event_open",
	        r->tasks != NULL ? "the process has another group or more rights than this one, or "
	                         : "");
	return error_wrap(err, "not allowed to open '%s' though kernel.perf_event_paranoid is %lld",
	        r->name, (long long)paranoid);
}

static int not_allowed(struct error *err, const struct host_refusal *r)
{
	const char *privilege = r->counting ? NULL : privilege_for(r);
	int needed = paranoid_for(r);
	int64_t paranoid = 2;

	if (privilege != NULL) {
		(void)error_set(err, SONDE_EPERM, NO_OFFSET, "%s", privilege);
		return error_wrap(err, "not allowed to open '%s'", r->name);
	}
	(void)proc_read_number(r->root, "proc/sys/kernel/perf_event_paranoid", &paranoid);
	if (paranoid <= needed) {
		return not_allowed_here(err, r, paranoid);
	}
	(void)error_set(err, SONDE_EPERM, NO_OFFSET,
	        "kernel.perf_event_paranoid is %lld; as root run 'sysctl "
	        "kernel.perf_event_paranoid=%d', or give %s the capability CAP_PERFMON",
	        (long long)paranoid, needed, r->counting ? "the program" : "sonde");
	return error_wrap(err, "not allowed to %s '%s'%s", r->counting ? "count" : "open", r->name,
	        r->all ? " on all cpus" : "");
}

/* The text for EINVAL. */
static int invalid(struct error *err, const struct host_refusal *r)
{
	int64_t max;

	if (sonde_attr_has(r->attr, SONDE_FLAG_FREQ) &&
	        proc_read_number(r->root, "proc/sys/kernel/perf_event_max_sample_rate", &max) &&
	        r->attr->sample_period > (uint64_t)max) {
		return error_set(err, SONDE_ELIMIT, NO_OFFSET,
		        "'%s' wants %llu Hz, but kernel.perf_event_max_sample_rate allows %lld Hz",
		        r->name, (unsigned long long)r->attr->sample_period, (long long)max);
	}
	return error_errno(err, SONDE_EIO, EINVAL, "cannot open '%s'", r->name);
}

static int not_supported(struct error *err, const struct host_refusal *r, int why)
{
	if (why == EOPNOTSUPP && (r->attr->sample_type & SONDE_SAMPLE_BRANCH_STACK) != 0) {
		(void)error_set(err, SONDE_EUNSUPPORTED, NO_OFFSET,
		        "this machine's counters have no branch stack (-b, -j, --call-graph lbr "
		        "need one)");
		return error_wrap(err, "'%s' cannot record branches", r->name);
	}
	if (why == EOPNOTSUPP && sonde_attr_has(r->attr, SONDE_FLAG_AUX_OUTPUT)) {
		(void)error_set(
		        err, SONDE_EUNSUPPORTED, NO_OFFSET, "its hardware has no aux-output");
		return error_wrap(err, "'%s' cannot write into an AUX area", r->name);
	}
	return error_set(err, SONDE_EUNSUPPORTED, NO_OFFSET, "the event '%s' is not supported here",
	        r->name);
}

int host_refusal(struct error *err, const struct host_refusal *r, int why)
{
	switch (why) {
	case EINVAL: return invalid(err, r);
	case EACCES:
	case EPERM: return not_allowed(err, r);
	case EOPNOTSUPP:
	case ENOENT:
	case ENODEV:
	case ENXIO: return not_supported(err, r, why);
	case ESRCH:
		(void)error_set(
		        err, SONDE_ENOENT, NO_OFFSET, "there is no such thread, it has ended");
		return error_wrap(err, "cannot count '%s'", r->name);
	case EMFILE:
		return error_set(err, SONDE_ELIMIT, NO_OFFSET,
		        "too many open files for '%s': raise the limit with 'ulimit -n'", r->name);
	case ENOSYS:
		return error_set(err, SONDE_EUNSUPPORTED, NO_OFFSET,
		        "this kernel has no perf_event_open, or it is filtered (seccomp)");
	default: return error_errno(err, SONDE_EIO, why, "cannot open '%s'", r->name);
	}
}
