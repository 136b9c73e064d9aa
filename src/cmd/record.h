/* SPDX-License-Identifier: MIT */
/* Shared by the files of `sonde record`: the command line, and the table of its options. */
#ifndef SONDE_CMD_RECORD_H
#define SONDE_CMD_RECORD_H

#include "cmd/caches.h"
#include "cmd/options.h"

#include <sonde/preview/recorder.h>

struct record_command {
	struct sonde_recorder_options options;
	const char **events, **triggers;
	struct sonde_recorder_cgroup_filter *cgroups;
	struct sonde_recorder_filter *filters;
	char exclude_self[32]; /* filter that excludes events of this process */
	bool switches_given; /* --switch-events or --no-switch-events was given */
	bool quiet;
	bool inherit_given; /* -i or --inherit was given */
	bool buildid_given; /* -B or --no-no-buildid was given */
	bool no_cache;
	char cache[CACHES_PATH]; /* the folder of the build-id cache */
	const char *chain_mode; /* of -g without --call-graph; NULL: frame pointers */
	uint64_t dump_size; /* of chain_mode dwarf, bytes; 0: the default */
	char dwarf[32]; /* "dwarf,SIZE" */
	bool off_cpu;
	const char *aio, *debuginfod;
	const char *clang_path, *clang_opt, *vmlinux; /* for BPF programs: ignored with a warning */
	uint64_t realtime;
	int verbose;
	bool soft_pt; /* trace by ptrace, without the hardware */
	bool single_steps; /* of software PT: stop at every instruction */
};

/*
 * Ends as the workload ended, or by the signal that stopped the recording (0: none), so that a
 * waiting shell sees the interruption. status: as from waitpid; -1: no workload.
 */
int record_workload_exit(int status, int stopping_signal);

/* Records by software PT; returns the exit status. */
int record_soft_run(struct record_command *c, const struct option_command *command);

/* Names --soft-pt if Intel PT was asked for, and this machine has none. */
void record_soft_hint(const struct record_command *c);

/* option_fn; the target is the struct record_command, of the last three the option's member. */
int record_on_event(const struct option_def *def, const char *arg, bool unset);
int record_on_frequency(const struct option_def *def, const char *arg, bool unset);
int record_on_pages(const struct option_def *def, const char *arg, bool unset);
int record_on_clock(const struct option_def *def, const char *arg, bool unset);
int record_on_filter(const struct option_def *def, const char *arg, bool unset);
int record_on_exclude_perf(const struct option_def *def, const char *arg, bool unset);
int record_on_snapshot(const struct option_def *def, const char *arg, bool unset);
int record_on_aux_sample(const struct option_def *def, const char *arg, bool unset);
int record_on_cgroups(const struct option_def *def, const char *arg, bool unset);
int record_on_choice(const struct option_def *def, const char *arg, bool unset);
int record_on_branch_any(const struct option_def *def, const char *arg, bool unset);
int record_on_compress(const struct option_def *def, const char *arg, bool unset);
int record_on_switch(const struct option_def *def, const char *arg, bool unset);
int record_on_trigger(const struct option_def *def, const char *arg, bool unset);
int record_on_bytes(const struct option_def *def, const char *arg, bool unset);
int record_on_control(const struct option_def *def, const char *arg, bool unset);
int record_on_optional(const struct option_def *def, const char *arg, bool unset);
int record_on_build_id(const struct option_def *def, const char *arg, bool unset);
int record_on_registers(const struct option_def *def, const char *arg, bool unset);

/* Fills in the table of all options, RECORD_OPTIONS entries at most. */
#define RECORD_OPTIONS 128
void record_option_table(struct option_def *defs, struct record_command *c);

#endif
