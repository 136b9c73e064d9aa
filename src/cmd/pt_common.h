/* SPDX-License-Identifier: MIT */
/* Shared by the subcommands of `sonde pt`. */
#ifndef SONDE_CMD_PT_COMMON_H
#define SONDE_CMD_PT_COMMON_H

#include "cmd/options.h"

#include <sonde/pt_packet.h>

#define PT_EXIT_FILE 255 /* the trace or the code cannot be read */

/* A whole file in memory; data is NULL for an empty file. */
struct pt_file {
	uint8_t *data; /* read-only */
	size_t size;
	bool mapped;
};

/* Returns 0, or PT_EXIT_FILE after printing the error to stderr. */
int pt_file_read(struct pt_file *file, const char *path);
void pt_file_free(struct pt_file *file);

/* The bytes of a trace: those of a file, or a range of them. */
struct pt_trace {
	struct pt_file file;
	const uint8_t *data;
	size_t size;
};

/*
 * Reads FILE, FILE:FROM or FILE:FROM-TO; offsets in the trace are counted from FROM. Returns 0, or
 * PT_EXIT_FILE after printing the error to stderr.
 */
int pt_trace_read(struct pt_trace *trace, const char *arg);
void pt_trace_free(struct pt_trace *trace);

/*
 * Parses FROM or FROM-TO, which it may change; without TO, *to is not set. false: they are not
 * numbers.
 */
bool pt_range_parse(char *text, uint64_t *from, uint64_t *to);

/*
 * option_fn for --cpu none, auto (this machine's processor) or FAMILY/MODEL[/STEPPING]; the target
 * is a struct pt_cpu_option.
 */
struct pt_cpu_option {
	struct sonde_pt_cpu cpu;
	bool given;
};

int pt_cpu_parse(const struct option_def *def, const char *arg, bool unset);

/* Parameters of the clock, from options. */
struct pt_clock_options {
	uint64_t mtc_freq, nom_freq, eax, ebx;
};

#define PT_CLOCK_OPTIONS(c)                                                                        \
	OPTION_UINT(0, "mtc-freq", &(c)->mtc_freq, "N", "an MTC every 2^N crystal ticks"),         \
	        OPTION_UINT(0, "nom-freq", &(c)->nom_freq, "N",                                    \
	                "the bus ratio at which cycles are TSC ticks"),                            \
	        OPTION_UINT(0, "cpuid-0x15.eax", &(c)->eax, "N",                                   \
	                "crystal ticks ... (CPUID leaf 15H)"),                                     \
	        OPTION_UINT(0, "cpuid-0x15.ebx", &(c)->ebx, "N", "... that are N TSC ticks")

struct sonde_pt_clock pt_clock_make(
        const struct pt_clock_options *options, const struct pt_cpu_option *cpu);

#endif
