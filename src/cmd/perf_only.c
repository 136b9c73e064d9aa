/* SPDX-License-Identifier: MIT */
#include "cmd/perf_only.h"

#include <stdio.h>
#include <string.h>

/* In alphabetical order, one entry per line. */
#define PERF_ONLY(s, l)                                                                            \
	{                                                                                          \
		.short_name = (s), .long_name = (l), .kind = OPTION_KIND_PERF_ONLY                 \
	}

/* Options before a command: perf --no-pager report */
static const struct option_def perf_options[] = {
        PERF_ONLY(0, "buildid-dir"),
        PERF_ONLY(0, "debug"),
        PERF_ONLY(0, "debugfs-dir"),
        PERF_ONLY(0, "exec-path"),
        PERF_ONLY(0, "html-path"),
        PERF_ONLY(0, "list-cmds"),
        PERF_ONLY(0, "list-opts"),
        PERF_ONLY(0, "no-pager"),
        PERF_ONLY('p', "paginate"),
        OPTION_END,
};

static const struct option_def report_options[] = {
        PERF_ONLY(0, "asm-raw"),
        PERF_ONLY('M', "disassembler-style"),
        PERF_ONLY(0, "gtk"),
        PERF_ONLY(0, "itrace"),
        PERF_ONLY(0, "objdump"),
        PERF_ONLY(0, "percent-type"),
        PERF_ONLY(0, "prefix"),
        PERF_ONLY(0, "prefix-strip"),
        PERF_ONLY(0, "samples"),
        PERF_ONLY(0, "show-ref-call-graph"),
        PERF_ONLY(0, "source"),
        PERF_ONLY(0, "stitch-lbr"),
        PERF_ONLY(0, "tui"),
        OPTION_END,
};

static const struct option_def script_options[] = {
        PERF_ONLY('a', "all-cpus"),
        PERF_ONLY(0, "call-ret-trace"),
        PERF_ONLY(0, "call-trace"),
        PERF_ONLY('d', "debug-mode"),
        PERF_ONLY(0, "dump-unsorted-raw-trace"),
        PERF_ONLY('g', "gen-script"),
        PERF_ONLY(0, "graph-function"),
        PERF_ONLY(0, "guest-code"),
        PERF_ONLY(0, "guestkallsyms"),
        PERF_ONLY(0, "guestmodules"),
        PERF_ONLY(0, "guestmount"),
        PERF_ONLY(0, "guestvmlinux"),
        PERF_ONLY(0, "insn-trace"),
        PERF_ONLY(0, "itrace"),
        PERF_ONLY('L', "Latency"),
        PERF_ONLY('l', "list"),
        PERF_ONLY('s', "script"),
        PERF_ONLY(0, "stitch-lbr"),
        PERF_ONLY(0, "xed"),
        OPTION_END,
};

static const struct option_def list_options[] = {
        PERF_ONLY(0, "cputype"),
        PERF_ONLY(0, "debug"),
        PERF_ONLY(0, "deprecated"),
        PERF_ONLY('d', "desc"),
        OPTION_END,
};

static const struct option_def buildid_list_options[] = {
        PERF_ONLY('m', "kernel-maps"),
        OPTION_END,
};

static const struct option_def stat_options[] = {
        PERF_ONLY(0, "hybrid-merge"),
        PERF_ONLY(0, "metric-no-group"),
        PERF_ONLY(0, "metric-no-merge"),
        PERF_ONLY(0, "percore-show-thread"),
        OPTION_END,
};

static const struct option_def test_options[] = {
        PERF_ONLY('F', "dont-fork"),
        PERF_ONLY('s', "skip"),
        PERF_ONLY('w', "workload"),
        OPTION_END,
};
static const struct option_def none[] = {OPTION_END};

static const struct {
	const char *command;
	const struct option_def *options;
	bool reads; /* the command reads a recording */
} tables[] = {
        {"", perf_options, false},
        {"report", report_options, true},
        {"script", script_options, true},
        {"list", list_options, false},
        {"buildid-list", buildid_list_options, true},
        {"stat", stat_options, false},
        {"test", test_options, false},
};

#define TABLES (sizeof(tables) / sizeof(tables[0]))

#define CODE_VIEW "It changes how perf's interactive view shows code. Rows are the same without it."
#define TEXT_ONLY "Sonde prints text, as perf does with --stdio; leave it out."

/* What to do instead, where perf's command is not the answer. */
static const struct {
	const char *command, *option, *instead;
} reasons[] = {
        {"report", "asm-raw", CODE_VIEW},
        {"report", "disassembler-style", CODE_VIEW},
        {"report", "gtk", TEXT_ONLY},
        {"report", "itrace",
                "It decodes traces: 'perf report' does, and 'sonde pt flow' decodes a raw Intel PT "
                "trace."},
        {"report", "objdump", CODE_VIEW},
        {"report", "percent-type", CODE_VIEW},
        {"report", "prefix", CODE_VIEW},
        {"report", "prefix-strip", CODE_VIEW},
        {"report", "samples",
                "It keeps samples of each row for perf's interactive view. 'sonde script' prints "
                "the samples."},
        {"report", "show-ref-call-graph",
                "It shows the chain of the sample before one that was recorded without chains. "
                "'perf report' does."},
        {"report", "source", CODE_VIEW},
        {"report", "stitch-lbr",
                "It joins LBR call stacks, which Sonde does not show. 'perf report' does."},
        {"report", "tui", TEXT_ONLY},
};

static size_t find_table(const char *command)
{
	size_t i = 0;

	while (i < TABLES && strcmp(tables[i].command, command) != 0) {
		i++;
	}
	return i;
}

const struct option_def *perf_only_options(const char *command)
{
	size_t i = find_table(command);

	return i < TABLES ? tables[i].options : none;
}

/* Returns what to do instead of an option; NULL: use perf's command, if there is one. */
static const char *find_reason(const char *command, const struct option_def *def)
{
	const char *name = def->long_name != NULL ? def->long_name : "";

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		if (strcmp(reasons[i].command, command) == 0 &&
		        strcmp(reasons[i].option, name) == 0) {
			return reasons[i].instead;
		}
	}
	return NULL;
}

int perf_only_option(const char *command, const struct option_def *def, const char *written)
{
	const char *gap = *command != '\0' ? " " : "";
	size_t i = find_table(command);
	const char *instead = find_reason(command, def);

	(void)fprintf(stderr, "sonde%s%s: %s", gap, command, written);
	if (def->long_name != NULL && strcmp(written + strspn(written, "-"), def->long_name) != 0) {
		(void)fprintf(stderr, " (--%s)", def->long_name);
	}
	(void)fprintf(
	        stderr, " is an option of perf%s%s that Sonde does not have yet\n", gap, command);
	if (instead != NULL) {
		(void)fprintf(stderr, "%s\n", instead);
	} else if (i < TABLES && tables[i].reads) {
		(void)fprintf(stderr, "'perf %s' reads the same recording and has it.\n", command);
	}
	(void)fprintf(stderr, "'sonde%s%s --help' lists the options of Sonde.\n", gap, command);
	return OPTIONS_USAGE;
}

static const struct {
	const char *name;
	const char *instead; /* command of Sonde to suggest; NULL: none, suggest perf's */
} commands[] = {
        {"annotate", NULL},
        {"archive", NULL},
        {"bench", NULL},
        {"buildid-cache", NULL},
        {"c2c", NULL},
        {"daemon", NULL},
        {"data", "'sonde convert' writes recordings in other containers; 'perf data convert' "
                 "writes CTF and JSON."},
        {"diff", NULL},
        {"ftrace", NULL},
        {"inject", NULL},
        {"iostat", "'sonde stat --iostat' counts the same events."},
        {"kallsyms", NULL},
        {"kmem", NULL},
        {"kvm", NULL},
        {"kwork", NULL},
        {"lock", NULL},
        {"mem", NULL},
        {"probe", NULL},
        {"sched", NULL},
        {"timechart", NULL},
        {"top", "'sonde record -a' and then 'sonde report' show what ran; 'perf top' shows it "
                "while it runs."},
        {"trace", NULL},
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

bool perf_only_command(const char *name)
{
	size_t i = 0;

	while (i < COMMANDS && strcmp(commands[i].name, name) != 0) {
		i++;
	}
	if (i == COMMANDS) {
		return false;
	}
	(void)fprintf(
	        stderr, "sonde: '%s' is a command of perf that Sonde does not have yet\n", name);
	if (commands[i].instead != NULL) {
		(void)fprintf(stderr, "%s\n", commands[i].instead);
	} else {
		(void)fprintf(stderr, "'perf %s' has it.\n", name);
	}
	return true;
}
