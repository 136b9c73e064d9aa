/* SPDX-License-Identifier: MIT */
#include "counter/counter.h"
#include "proc/proc.h"

#include <errno.h>
#include <string.h>

static int not_allowed(
        struct error *err, int root, const char *name, const struct sonde_attr *attr, bool all)
{
	int needed = all ? 0 : sonde_attr_has(attr, SONDE_FLAG_EXCLUDE_KERNEL) ? 2 : 1;
	int64_t paranoid = 2;

	(void)proc_read_number(root, "proc/sys/kernel/perf_event_paranoid", &paranoid);
	if (paranoid > needed) {
		return error_set(err, SONDE_EPERM, NO_OFFSET,
		        "not allowed to count '%s'%s: kernel.perf_event_paranoid is %lld; as root "
		        "run 'sysctl kernel.perf_event_paranoid=%d', or give the program the "
		        "capability CAP_PERFMON",
		        name, all ? " on all cpus" : "", (long long)paranoid, needed);
	}
	return error_set(err, SONDE_EPERM, NO_OFFSET,
	        "not allowed to count '%s' though kernel.perf_event_paranoid is %lld: the thread "
	        "is another user's, the event is one for CAP_PERFMON only, or a container's filter "
	        "forbids perf_event_open",
	        name, (long long)paranoid);
}

int counter_open_failed(struct error *err, int root, const char *name,
        const struct sonde_attr *attr, bool all, int why)
{
	switch (why) {
	case EACCES:
	case EPERM: return not_allowed(err, root, name, attr, all);
	case ENOENT:
	case ENODEV:
	case ENXIO:
	case EOPNOTSUPP:
		return error_set(err, SONDE_EUNSUPPORTED, NO_OFFSET,
		        "the event '%s' is not supported here", name);
	case ENOSYS:
		return error_set(err, SONDE_EUNSUPPORTED, NO_OFFSET,
		        "this kernel has no perf_event_open, or it is filtered (seccomp)");
	case ESRCH:
		return error_set(err, SONDE_ENOENT, NO_OFFSET,
		        "cannot count '%s': there is no such thread, it has ended", name);
	case EMFILE:
		return error_set(err, SONDE_ELIMIT, NO_OFFSET,
		        "too many open files for '%s': raise the limit with 'ulimit -n'", name);
	default:
		return error_set(
		        err, SONDE_EIO, NO_OFFSET, "cannot open '%s': %s", name, strerror(why));
	}
}
