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

/*
 * What read gives (perf_event_open(2), read_format):
 *
 *	value, [time_enabled], [time_running], [id], [lost]
 *	nr, [time_enabled], [time_running], {value, [id], [lost]} of each member of a group
 */
bool counter_values(uint64_t format, const uint64_t *p, size_t n, struct sonde_counter_value *out,
        size_t max, size_t *nr)
{
	bool group = (format & SONDE_READ_GROUP) != 0;
	size_t each = 1 + ((format & SONDE_READ_ID) != 0 ? 1u : 0u) +
	              ((format & SONDE_READ_LOST) != 0 ? 1u : 0u);
	size_t times = ((format & SONDE_READ_ENABLED) != 0 ? 1u : 0u) +
	               ((format & SONDE_READ_RUNNING) != 0 ? 1u : 0u);
	size_t head = times + (group ? 1 : 0);
	size_t at_times = 1;
	uint64_t enabled = 0, running = 0;
	size_t i;

	*nr = 0;
	if (n < head + (group ? 0 : each) || (group && p[0] > (n - head) / each)) {
		return false;
	}
	if ((format & SONDE_READ_ENABLED) != 0) {
		enabled = p[at_times++];
	}
	if ((format & SONDE_READ_RUNNING) != 0) {
		running = p[at_times];
	}
	*nr = group ? (size_t)p[0] : 1;
	for (i = 0; i < *nr && i < max; i++) {
		/* of a single value the times stand between it and the rest */
		const uint64_t *rest = p + head + i * each + 1;

		out[i] = (struct sonde_counter_value){.value = group ? p[head + i * each] : p[0],
		        .enabled = enabled,
		        .running = running};
		out[i].id = (format & SONDE_READ_ID) != 0 ? *rest++ : 0;
		out[i].lost = (format & SONDE_READ_LOST) != 0 ? *rest : 0;
	}
	return true;
}
