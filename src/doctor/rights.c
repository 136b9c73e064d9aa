/* SPDX-License-Identifier: MIT */
/*
 * Checks of the user's rights: perf_event_paranoid, capabilities, limits. Source: the kernel's
 * Documentation/admin-guide/perf-security and sysctl/kernel, perf_event_open(2).
 */
#include "doctor/doctor.h"

#include <stdio.h>
#include <stdlib.h>

#define SETCAP "setcap cap_perfmon,cap_sys_ptrace,cap_syslog=ep \"$(command -v sonde)\""

void doctor_check_perf(struct sonde_doctor *d)
{
	char release[128] = "";

	(void)doctor_value(d, "proc/sys/kernel/osrelease", "", release, sizeof(release));
	if (d->paranoid == INT64_MIN) {
		doctor_set(d, SONDE_DOCTOR_MISSING,
		        "Linux %s has no perf events: proc/sys/kernel/perf_event_paranoid is not "
		        "there",
		        release);
		doctor_fix(d, "boot a kernel with CONFIG_PERF_EVENTS=y");
		return;
	}
	doctor_set(d, SONDE_DOCTOR_OK, "Linux %s has perf events, %lld cpus are on-line", release,
	        (long long)d->ncpus);
}

void doctor_check_paranoid(struct sonde_doctor *d)
{
	static const char *const allowed[] = {"everything, raw tracepoints too",
	        "all processes and cpus, but no raw tracepoints",
	        "own processes, in kernel and user space", "own processes, in user space only",
	        "nothing"};
	int64_t level = d->paranoid < -1 ? -1 : d->paranoid > 3 ? 3 : d->paranoid;

	if (d->paranoid == INT64_MIN) {
		doctor_set(d, SONDE_DOCTOR_MISSING, "there is none without perf events");
		return;
	}
	if (doctor_privileged(d)) {
		doctor_set(d, SONDE_DOCTOR_OK,
		        "kernel.perf_event_paranoid is %lld, which does not bind this user",
		        (long long)d->paranoid);
		return;
	}
	doctor_set(d,
	        level == -1 ? SONDE_DOCTOR_OK
	        : level > 2 ? SONDE_DOCTOR_MISSING
	                    : SONDE_DOCTOR_LIMITED,
	        "kernel.perf_event_paranoid is %lld: this user may record %s",
	        (long long)d->paranoid, allowed[level + 1]);
	if (level > -1) {
		doctor_fix(d, "sudo sysctl kernel.perf_event_paranoid=%d", level > 1 ? 1 : -1);
	}
}

void doctor_check_caps(struct sonde_doctor *d)
{
	static const struct {
		enum doctor_cap cap;
		const char *name;
	} wanted[] = {{CAP_PERFMON, "CAP_PERFMON"}, {CAP_SYS_ADMIN, "CAP_SYS_ADMIN"},
	        {CAP_SYS_PTRACE, "CAP_SYS_PTRACE"}, {CAP_SYSLOG, "CAP_SYSLOG"},
	        {CAP_IPC_LOCK, "CAP_IPC_LOCK"}, {CAP_BPF, "CAP_BPF"}};
	const char *before = "";
	size_t i;

	doctor_set(d, doctor_privileged(d) ? SONDE_DOCTOR_OK : SONDE_DOCTOR_LIMITED,
	        "user %lld has ", (long long)d->uid);
	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		if (doctor_can(d, wanted[i].cap)) {
			doctor_more(d, "%s%s", before, wanted[i].name);
			before = ", ";
		}
	}
	if (before[0] == '\0') {
		doctor_more(d, "none that helps");
	}
	if (!doctor_privileged(d)) {
		doctor_fix(d, "sudo " SETCAP);
	}
}

void doctor_check_seccomp(struct sonde_doctor *d)
{
	char mode[32] = "0";

	(void)doctor_value(d, "proc/self/status", "Seccomp", mode, sizeof(mode));
	if (strtol(mode, NULL, 10) == 0) {
		doctor_set(d, SONDE_DOCTOR_OK, "system calls are not filtered");
		return;
	}
	doctor_set(d, SONDE_DOCTOR_LIMITED,
	        "system calls are filtered, as in containers: perf_event_open may be forbidden "
	        "('sonde test' tries it)");
	doctor_fix(d, "docker run --cap-add=PERFMON --security-opt seccomp=unconfined ...");
}

void doctor_check_ptrace(struct sonde_doctor *d)
{
	int64_t scope = doctor_number(d, "proc/sys/kernel/yama/ptrace_scope", 0);

	if (doctor_can(d, CAP_SYS_PTRACE)) {
		doctor_set(d, SONDE_DOCTOR_OK, "processes of all users can be recorded");
		return;
	}
	if (scope == 0) {
		doctor_set(d, SONDE_DOCTOR_LIMITED, "own processes can be recorded (-p)");
		doctor_fix(d, "sudo " SETCAP);
		return;
	}
	doctor_set(d, SONDE_DOCTOR_LIMITED,
	        "kernel.yama.ptrace_scope is %lld: -p records own children only", (long long)scope);
	doctor_fix(d, "sudo sysctl kernel.yama.ptrace_scope=0");
}

/* Returns a limit of proc/self/limits, in bytes or files; -1: unlimited, or unknown. */
static int64_t limit(const struct sonde_doctor *d, const char *name)
{
	char value[256];

	if (!doctor_value(d, "proc/self/limits", name, value, sizeof(value)) ||
	        strncmp(value, "unlimited", 9) == 0) {
		return -1;
	}
	return strtoll(value, NULL, 10);
}

/* Whether no limit binds the memory of this user's rings. */
static bool has_any_memory(const struct sonde_doctor *d)
{
	return doctor_can(d, CAP_IPC_LOCK) || d->paranoid == -1 ||
	       limit(d, "Max locked memory") < 0;
}

/*
 * Chains of --call-graph unwind. Copies of stacks need rings of 2 MiB, so that none is lost while
 * programs keep all cpus busy; smaller ones are used where the limits require it.
 */
void doctor_check_chains(struct sonde_doctor *d)
{
	const int64_t wanted = 2048 + d->page_size / 1024; /* KiB */
	int64_t each = doctor_number(d, "proc/sys/kernel/perf_event_mlock_kb", 516);
	const char *what = "record --call-graph unwind finds all callers, also in programs without "
	                   "frame pointers, where -g finds few";

	if (d->paranoid == INT64_MIN) {
		doctor_set(d, SONDE_DOCTOR_MISSING, "there are none without perf events");
		return;
	}
	if (has_any_memory(d) || each >= wanted) {
		doctor_set(d, SONDE_DOCTOR_OK, "%s", what);
		return;
	}
	doctor_set(d, SONDE_DOCTOR_LIMITED,
	        "%s; its rings are smaller than 2 MiB for this user, so that busy machines can "
	        "lose samples",
	        what);
	doctor_fix(d, "sudo sysctl kernel.perf_event_mlock_kb=%lld", (long long)wanted);
}

/*
 * Per cpu, perf_event_mlock_kb less a page for all rings of a user together, and RLIMIT_MEMLOCK
 * once per process: perf_event_open(2), and observed behaviour of the kernel.
 */
void doctor_check_mlock(struct sonde_doctor *d)
{
	int64_t each = doctor_number(d, "proc/sys/kernel/perf_event_mlock_kb", 516);
	int64_t page = d->page_size / 1024, more = limit(d, "Max locked memory");
	int64_t sum = (each - page) * d->ncpus + (more < 0 ? 0 : more / 1024);

	if (doctor_can(d, CAP_IPC_LOCK)) {
		doctor_set(d, SONDE_DOCTOR_OK, "no limit binds this user (CAP_IPC_LOCK)");
		return;
	}
	if (d->paranoid == -1) {
		doctor_set(d, SONDE_DOCTOR_OK, "no limit at this paranoid level");
		return;
	}
	if (more < 0) {
		doctor_set(d, SONDE_DOCTOR_OK, "RLIMIT_MEMLOCK is unlimited");
		return;
	}
	doctor_set(d, each < 516 ? SONDE_DOCTOR_LIMITED : SONDE_DOCTOR_OK,
	        "%lld KiB: (kernel.perf_event_mlock_kb %lld - %lld) on %lld cpus, and "
	        "RLIMIT_MEMLOCK %lld KiB",
	        (long long)sum, (long long)each, (long long)page, (long long)d->ncpus,
	        (long long)(more / 1024));
	doctor_fix(d, "sudo sysctl kernel.perf_event_mlock_kb=%lld",
	        (long long)(each < 516 ? 516 : 4096 + page));
}

void doctor_check_files(struct sonde_doctor *d)
{
	int64_t files = limit(d, "Max open files");
	const int64_t events = 8; /* a typical number of events for -a */

	if (files < 0 || files >= events * d->ncpus + 64) {
		doctor_set(d, SONDE_DOCTOR_OK, "enough for %lld events on all cpus",
		        (long long)events);
		return;
	}
	doctor_set(d, SONDE_DOCTOR_LIMITED,
	        "%lld files are fewer than %lld events on %lld cpus take", (long long)files,
	        (long long)events, (long long)d->ncpus);
	doctor_fix(d, "ulimit -n %lld", (long long)events * d->ncpus + 1024);
}

void doctor_check_rate(struct sonde_doctor *d)
{
	int64_t rate = doctor_number(d, "proc/sys/kernel/perf_event_max_sample_rate", 100000);
	int64_t share = doctor_number(d, "proc/sys/kernel/perf_cpu_time_max_percent", 25);

	doctor_set(d, rate < 4000 ? SONDE_DOCTOR_LIMITED : SONDE_DOCTOR_OK,
	        "up to %lld Hz; the kernel lowers it when sampling takes over %lld %% of a cpu",
	        (long long)rate, (long long)share);
	if (rate < 4000) {
		doctor_more(d, ", as it has done");
		doctor_fix(d, "sudo sysctl kernel.perf_event_max_sample_rate=100000");
	}
}

void doctor_check_kptr(struct sonde_doctor *d)
{
	int64_t level = doctor_number(d, "proc/sys/kernel/kptr_restrict", 0);
	bool sees = level == 0 ? doctor_can(d, CAP_SYSLOG) ||
	                                 (d->paranoid != INT64_MIN && d->paranoid <= 1)
	            : level == 1 ? doctor_can(d, CAP_SYSLOG)
	                         : false;

	doctor_set(d, sees ? SONDE_DOCTOR_OK : SONDE_DOCTOR_LIMITED,
	        "kernel.kptr_restrict is %lld: this user %s the addresses of the kernel",
	        (long long)level, sees ? "sees" : "does not see");
	if (!sees && level == 0) {
		doctor_fix(d, "sudo sysctl kernel.perf_event_paranoid=1");
	} else if (!sees) {
		doctor_fix(d, "%s",
		        level == 1 ? "sudo " SETCAP : "sudo sysctl kernel.kptr_restrict=0");
	}
}
