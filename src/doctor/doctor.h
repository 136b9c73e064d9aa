/* SPDX-License-Identifier: MIT */
/* A check examines one property of the machine and fills in a row of the answer. */
#ifndef SONDE_DOCTOR_DOCTOR_H
#define SONDE_DOCTOR_DOCTOR_H

#include "core/status.h"
#include "core/text.h"

#include <sonde/preview/doctor.h>

#include <stdint.h>

/* Capabilities by their numbers: capabilities(7). */
enum doctor_cap {
	CAP_IPC_LOCK = 14,
	CAP_SYS_PTRACE = 19,
	CAP_SYS_ADMIN = 21,
	CAP_SYSLOG = 34,
	CAP_PERFMON = 38,
	CAP_BPF = 39
};

struct sonde_doctor {
	struct sonde_doctor_options options;
	struct error error; /* the options are invalid, or the root cannot be opened */
	int root;
	size_t next;
	struct sonde_doctor_check check;
	struct text found, fix;

	/* read once */
	uint64_t caps; /* effective */
	int64_t uid;
	int64_t paranoid; /* INT64_MIN: this kernel has no perf events */
	int64_t ncpus, page_size;
	bool hardware; /* the processor has a PMU */
	bool guest; /* running in a virtual machine */
	char vendor[32]; /* "GenuineIntel", ... */
};

static inline bool doctor_can(const struct sonde_doctor *d, enum doctor_cap cap)
{
	return (d->caps >> cap & 1) != 0;
}

/* Whether the user is exempt from the paranoid level and kptr_restrict. */
static inline bool doctor_privileged(const struct sonde_doctor *d)
{
	return doctor_can(d, CAP_PERFMON) || doctor_can(d, CAP_SYS_ADMIN);
}

/* Of answer.c, for checks: the answer, more words after it, and the command that changes the state. */
void doctor_set(struct sonde_doctor *d, enum sonde_doctor_state state, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));
void doctor_more(struct sonde_doctor *d, const char *fmt, ...)
        __attribute__((format(printf, 2, 3)));
void doctor_fix(struct sonde_doctor *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

bool doctor_exists(const struct sonde_doctor *d, const char *path);
int64_t doctor_number(const struct sonde_doctor *d, const char *path, int64_t none);
/* Finds the value of a key at the start of a line, such as "CapEff:"; false: not found. */
bool doctor_value(
        const struct sonde_doctor *d, const char *path, const char *key, char *buf, size_t size);

/* Rights and limits (rights.c). */
void doctor_check_perf(struct sonde_doctor *d);
void doctor_check_paranoid(struct sonde_doctor *d);
void doctor_check_caps(struct sonde_doctor *d);
void doctor_check_mlock(struct sonde_doctor *d);
void doctor_check_chains(struct sonde_doctor *d);
void doctor_check_rate(struct sonde_doctor *d);
void doctor_check_files(struct sonde_doctor *d);
void doctor_check_kptr(struct sonde_doctor *d);
void doctor_check_ptrace(struct sonde_doctor *d);
void doctor_check_seccomp(struct sonde_doctor *d);

/* Events and traces (events.c). */
void doctor_check_pmus(struct sonde_doctor *d);
void doctor_check_hardware(struct sonde_doctor *d);
void doctor_check_rdpmc(struct sonde_doctor *d);
void doctor_check_watchdog(struct sonde_doctor *d);
void doctor_check_tracefs(struct sonde_doctor *d);
void doctor_check_probes(struct sonde_doctor *d);
void doctor_check_intel_pt(struct sonde_doctor *d);

/* Symbols and debug files (names.c). */
void doctor_check_kallsyms(struct sonde_doctor *d);
void doctor_check_kcore(struct sonde_doctor *d);
void doctor_check_build_ids(struct sonde_doctor *d);
void doctor_check_debuginfod(struct sonde_doctor *d);

#endif
