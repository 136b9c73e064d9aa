/* SPDX-License-Identifier: MIT */
#include "cmd/perf_only.h"

#include <stdio.h>
#include <string.h>

/* In alphabetical order. */
#define PERF_ONLY_SEE(s, l, what_to_do)                                                            \
	{                                                                                          \
		.short_name = (s), .long_name = (l), .help = (what_to_do),                         \
		.kind = OPTION_KIND_PERF_ONLY                                                      \
	}
#define PERF_ONLY(s, l) PERF_ONLY_SEE(s, l, NULL)

/* What to do instead. */
#define PIPE                                                                                       \
	"Sonde runs no interpreter: pipe its text into the program, 'sonde script | ./program', "  \
	"or objects,\n'sonde script --json | ./program'; programs in Python can also read the "    \
	"recording with the module sonde."
#define CODE_VIEW "It changes how perf's interactive view shows code. Rows are the same without it."
#define TEXT_ONLY "Sonde prints text, as perf does with --stdio; leave it out."
#define GUESTS                                                                                     \
	"Sonde finds the code of a guest's kernel by --guestkallsyms and --guestvmlinux only."

/* Options before a command: perf --debug verbose=1 report */
static const struct option_def perf_options[] = {
        PERF_ONLY(0, "debug"),
        PERF_ONLY(0, "debugfs-dir"),
        PERF_ONLY(0, "exec-path"),
        PERF_ONLY(0, "html-path"),
        PERF_ONLY(0, "list-cmds"),
        PERF_ONLY(0, "list-opts"),
        OPTION_END,
};

static const struct option_def annotate_options[] = {
        PERF_ONLY_SEE('D', "dump-raw-trace", "'sonde script -D' prints it."),
        PERF_ONLY_SEE('m', "modules", "Sonde loads symbols of modules without it."),
        PERF_ONLY_SEE(0, "objdump", "Sonde starts no program to disassemble."),
        PERF_ONLY_SEE(0, "prefix", "Sonde reads source files where debug information says."),
        PERF_ONLY_SEE(0, "prefix-strip", "Sonde reads source files where debug information says."),
        PERF_ONLY('q', "quiet"),
        PERF_ONLY_SEE(0, "stdio-color", "Sonde prints no colors here; leave it out."),
        PERF_ONLY_SEE(0, "stdio2", TEXT_ONLY),
        PERF_ONLY_SEE(0, "tui", TEXT_ONLY),
        PERF_ONLY('v', "verbose"),
        OPTION_END,
};

static const struct option_def report_options[] = {
        PERF_ONLY_SEE(0, "asm-raw", CODE_VIEW),
        PERF_ONLY_SEE('M', "disassembler-style", CODE_VIEW),
        PERF_ONLY_SEE(0, "gtk", TEXT_ONLY),
        PERF_ONLY_SEE(0, "objdump", CODE_VIEW),
        PERF_ONLY_SEE(0, "percent-type", CODE_VIEW),
        PERF_ONLY_SEE(0, "prefix", CODE_VIEW),
        PERF_ONLY_SEE(0, "prefix-strip", CODE_VIEW),
        PERF_ONLY_SEE(0, "samples",
                "It keeps samples of each row for perf's interactive view; 'sonde script' prints "
                "them."),
        PERF_ONLY_SEE(0, "source", CODE_VIEW),
        PERF_ONLY_SEE(0, "tui", TEXT_ONLY),
        OPTION_END,
};

static const struct option_def script_options[] = {
        PERF_ONLY_SEE('a', "all-cpus",
                "It is for perf's own scripts, which record too: 'sonde record -a' records all "
                "processors."),
        PERF_ONLY_SEE('g', "gen-script", PIPE),
        PERF_ONLY_SEE(0, "guest-code", GUESTS),
        PERF_ONLY_SEE(0, "guestmodules", GUESTS),
        PERF_ONLY_SEE(0, "guestmount", GUESTS),
        PERF_ONLY_SEE('l', "list", PIPE),
        PERF_ONLY_SEE('s', "script", PIPE),
        OPTION_END,
};

static const struct option_def list_options[] = {
        PERF_ONLY(0, "cputype"),
        PERF_ONLY(0, "debug"),
        PERF_ONLY(0, "deprecated"),
        PERF_ONLY('d', "desc"),
        OPTION_END,
};

static const struct option_def inject_options[] = {
        PERF_ONLY(0, "guestmount"),
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
        {"annotate", annotate_options, true},
        {"report", report_options, true},
        {"script", script_options, true},
        {"list", list_options, false},
        {"inject", inject_options, true},
        {"stat", stat_options, false},
        {"test", test_options, false},
};

#define TABLES (sizeof(tables) / sizeof(tables[0]))

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

int perf_only_option(const char *command, const struct option_def *def, const char *written)
{
	const char *gap = *command != '\0' ? " " : "";
	size_t i = find_table(command);

	(void)fprintf(stderr, "sonde%s%s: %s", gap, command, written);
	if (def->long_name != NULL && strcmp(written + strspn(written, "-"), def->long_name) != 0) {
		(void)fprintf(stderr, " (--%s)", def->long_name);
	}
	(void)fprintf(
	        stderr, " is an option of perf%s%s that Sonde does not have yet\n", gap, command);
	if (def->help != NULL) {
		(void)fprintf(stderr, "%s\n", def->help);
	}
	if (i < TABLES && tables[i].reads) {
		(void)fprintf(stderr, "'perf %s' reads the same recording and has it.\n", command);
	}
	(void)fprintf(stderr, "'sonde%s%s --help' lists the options of Sonde.\n", gap, command);
	return OPTIONS_USAGE;
}

static const struct {
	const char *name;
	const char *instead; /* command of Sonde to suggest; NULL: none, suggest perf's */
} commands[] = {
        {"bench", NULL},
        {"c2c", NULL},
        {"daemon", NULL},
        {"diff", NULL},
        {"ftrace", NULL},
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
