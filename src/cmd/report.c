/* SPDX-License-Identifier: MIT */
/* `sonde report`: where a recorded program spent its time. */
#include "cmd/report.h"
#include "cmd/dump.h"
#include "cmd/fields.h"
#include "cmd/inspect.h"
#include "cmd/options.h"
#include "cmd/recording.h"

#include <sonde/preview/report.h>

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOBS_MAX       256
#define NO_MAX_STACK   UINT64_MAX /* --max-stack is not given */
#define REPORT_OPTIONS 128 /* room in the table of options */

struct report_command {
	struct recording from;
	struct sonde_report_options report;
	const char *color, *vmlinux;
	bool no_vmlinux, modules;
	bool children, inverted, pager, stdio;
	uint64_t socket;
	bool unsorted;
	bool header, header_only, dump, skip_empty;
	int verbose;
	uint64_t max_stack;
	struct terminal_output out;
};

struct graph_word {
	const char *word;
	void (*set)(struct sonde_report_options *o, int value);
	int value;
};

static void set_none(struct sonde_report_options *o, int value)
{
	o->no_graph = value;
}

static void set_kind(struct sonde_report_options *o, int value)
{
	o->graph_kind = (enum sonde_report_graph)value;
}

static void set_value(struct sonde_report_options *o, int value)
{
	o->graph_value = (enum sonde_report_value)value;
}

static void set_order(struct sonde_report_options *o, int value)
{
	o->order_given = true;
	o->callee = value;
}

static void set_address(struct sonde_report_options *o, int value)
{
	o->graph_address = value;
	o->graph_line = false;
}

static void set_line(struct sonde_report_options *o, int value)
{
	o->graph_address = false;
	o->graph_line = value;
}

/* As in perf, the first word that begins with the given one counts: "f" is flat. */
static const struct graph_word graph_words[] = {
        {"none", set_none, 1},
        {"graph", set_kind, SONDE_REPORT_GRAPH_TREE},
        {"flat", set_kind, SONDE_REPORT_GRAPH_FLAT},
        {"fractal", set_kind, SONDE_REPORT_GRAPH_FRACTAL},
        {"folded", set_kind, SONDE_REPORT_GRAPH_FOLDED},
        {"caller", set_order, 0},
        {"callee", set_order, 1},
        {"function", set_address, 0},
        {"address", set_address, 1},
        {"srcline", set_line, 1},
        {"percent", set_value, SONDE_REPORT_VALUE_PERCENT},
        {"period", set_value, SONDE_REPORT_VALUE_PERIOD},
        {"count", set_value, SONDE_REPORT_VALUE_COUNT},
};

/* percent 0: no limit. */
static void set_graph_limit(struct report_command *c, double percent)
{
	c->report.graph_limit = percent > 0 ? percent : -1;
}

/* Parses a word of "graph,0.5,10,caller"; number 1 is the limit in percent, 2 that of branches. */
static int graph_word(struct report_command *c, const char *word, size_t n, unsigned *numbers)
{
	char text[16];
	char *end;
	double number;

	if (n >= sizeof(text)) {
		return -1;
	}
	memcpy(text, word, n);
	text[n] = 0;
	if (n == 0) { /* ",10": the first number is left out */
		++*numbers;
		return 0;
	}
	for (size_t i = 0; i < sizeof(graph_words) / sizeof(graph_words[0]); i++) {
		if (strncmp(text, graph_words[i].word, n) == 0) {
			graph_words[i].set(&c->report, graph_words[i].value);
			return 0;
		}
	}
	number = strtod(text, &end);
	if (end == text || *end != 0 || !(number >= 0)) {
		return -1;
	}
	++*numbers;
	if (*numbers == 1 && number <= 100) {
		set_graph_limit(c, number);
		return 0;
	}
	if (*numbers == 2 && number <= UINT32_MAX) {
		c->report.graph_branches = (uint32_t)number;
		return 0;
	}
	return -1;
}

static void graph_word_unknown(const char *word, size_t n)
{
	if (strncmp(word, "branch", n) == 0) {
		(void)fprintf(stderr,
		        "Error: -g branch, the last branches in call graphs: use --branch-history, "
		        "or leave it out\n");
		return;
	}
	(void)fprintf(stderr,
	        "Error: call graph mode '%.*s' is not known: none, graph, fractal, flat, folded, "
	        "caller, callee, function, address, srcline, percent, period, "
	        "count, a percentage and a number of branches are\n",
	        (int)n, word);
}

static int on_graph(const struct option_def *def, const char *arg, bool unset)
{
	struct report_command *c = def->target;
	unsigned numbers = 0;

	c->report.no_graph = unset;
	while (arg != NULL && *arg != 0) {
		size_t n = strcspn(arg, ",");

		if (graph_word(c, arg, n, &numbers) < 0) {
			graph_word_unknown(arg, n);
			return -1;
		}
		arg += n + (arg[n] == ',');
	}
	return 0;
}

static int on_percentage(const struct option_def *def, const char *arg, bool unset)
{
	struct report_command *c = def->target;

	c->report.relative = !unset && strcmp(arg, "relative") == 0;
	if (unset || c->report.relative || strcmp(arg, "absolute") == 0) {
		return 0;
	}
	(void)fprintf(stderr, "Error: --percentage is relative or absolute, not '%s'\n", arg);
	return -1;
}

static int on_pretty(const struct option_def *def, const char *arg, bool unset)
{
	struct report_command *c = def->target;

	c->report.threads_raw = !unset && strcmp(arg, "raw") == 0;
	if (unset || c->report.threads_raw || strcmp(arg, "normal") == 0) {
		return 0;
	}
	(void)fprintf(stderr, "Error: --pretty is normal or raw, not '%s'\n", arg);
	return -1;
}

static int on_branch_stack(const struct option_def *def, const char *arg, bool unset)
{
	struct report_command *c = def->target;

	(void)arg;
	c->report.branches = unset ? SONDE_REPORT_BRANCHES_OFF : SONDE_REPORT_BRANCHES_ON;
	return 0;
}

static int on_percent_limit(const struct option_def *def, const char *arg, bool unset)
{
	struct report_command *c = def->target;
	char *end;

	if (unset) {
		c->report.percent_limit = 0;
		return 0;
	}
	c->report.percent_limit = strtod(arg, &end);
	if (end == arg || *end != 0 ||
	        !(c->report.percent_limit >= 0 && c->report.percent_limit <= 100)) {
		(void)fprintf(stderr, "Error: '%s' is no percentage from 0 to 100\n", arg);
		return -1;
	}
	set_graph_limit(c, c->report.percent_limit);
	return 0;
}

static int on_time_quantum(const struct option_def *def, const char *arg, bool unset)
{
	static const struct {
		const char *unit;
		uint64_t ns;
	} units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
	struct report_command *c = def->target;
	unsigned long n = 0;
	char *end = NULL;

	c->report.time_quantum = 0;
	if (unset) {
		return 0;
	}
	if (*arg >= '0' && *arg <= '9') {
		n = strtoul(arg, &end, 10);
	}
	for (size_t i = 0; end != NULL && i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(end, units[i].unit) == 0 && n <= UINT64_MAX / units[i].ns) {
			c->report.time_quantum = n * units[i].ns;
		}
	}
	if (c->report.time_quantum == 0) {
		(void)fprintf(stderr,
		        "Error: '%s' is no length of time: write a number and s, ms, us or ns\n",
		        arg);
		return -1;
	}
	return 0;
}

static int on_group(const struct option_def *def, const char *arg, bool unset)
{
	struct report_command *c = def->target;

	(void)arg;
	c->report.group = unset ? SONDE_REPORT_GROUP_NONE : SONDE_REPORT_GROUP_ALL;
	return 0;
}

static int on_group_sort(const struct option_def *def, const char *arg, bool unset)
{
	struct report_command *c = def->target;
	char *end;
	long n = unset ? 0 : strtol(arg, &end, 10);

	if (!unset && (end == arg || *end != 0 || n < INT32_MIN || n > INT32_MAX)) {
		(void)fprintf(stderr,
		        "Error: --group-sort-idx: '%s' is no number of an event in its group\n",
		        arg);
		return -1;
	}
	c->report.group_sort = (int32_t)n;
	return 0;
}

static void options_settle(struct report_command *c)
{
	struct sonde_report_options *o = &c->report;

	c->from.notes = c->verbose != 0;
	o->verbose = c->verbose != 0;
	c->from.session.vmlinux = c->no_vmlinux ? NULL : c->vmlinux;
	c->from.session.counts_only = o->stats;
	o->no_children = !c->children;
	o->graph_given = o->graph_given && !o->no_graph;
	o->show_empty = !c->skip_empty;
	o->by_socket = c->socket != UINT64_MAX;
	o->socket = (uint32_t)c->socket;
	o->max_stack = c->max_stack != NO_MAX_STACK ? (uint32_t)c->max_stack : 0;
	o->no_stack = c->max_stack == 0;
	if (c->header_only) {
		o->header = SONDE_REPORT_HEADER_ONLY;
	} else if (c->header) {
		o->header = SONDE_REPORT_HEADER;
	}
	if (c->inverted) {
		o->graph_given = true;
		o->order_given = true;
		o->callee = false;
	}
}

/* Prints only the header, without reading records, so that the size of the file does not matter. */
static int report_header_only(struct report_command *c)
{
	const struct sonde_header_options o = {.size = sizeof(o), .full = c->report.header_full};
	struct inspect i = {.no_notes = c->verbose == 0};
	int rc = SONDE_ENOMEM;

	if (inspect_begin(&i, c->report.json, c->from.force, c->pager)) {
		rc = sonde_inspector_header(i.in, c->from.input, &o, terminal_output_write, &i.out);
	}
	return inspect_end(&i, rc, c->from.input);
}

static int write_text(void *arg, const char *text, size_t n)
{
	struct report_command *c = arg;

	terminal_progress_yield(&c->from.progress, &c->out);
	return terminal_output_write(&c->out, text, n);
}

static int report_open(struct report_command *c)
{
	struct sonde_session *s = recording_open(&c->from);
	int rc, status;

	if (s == NULL) {
		return RECORDING_FAILED;
	}
	terminal_output_open(&c->out, c->pager);
	rc = sonde_report_print(s, &c->report, write_text, c);
	terminal_progress_end(&c->from.progress);
	terminal_output_close(&c->out);
	if (terminal_output_failed(&c->out, &status)) {
		sonde_session_free(s);
		return status;
	}
	if (rc == SONDE_EARG) {
		(void)fprintf(stderr, "Error: %s\n", sonde_session_error(s)->text);
		rc = OPTIONS_USAGE;
	} else if (rc < 0) {
		(void)fprintf(stderr, "Error: cannot report %s: %s\n", c->from.input,
		        sonde_session_error(s)->text);
		rc = 1;
	}
	if (rc == 1) {
		(void)fprintf(stderr, "Warning: no samples in %s%s\n", c->from.input,
		        c->report.filter.time != NULL || c->report.filter.cpus != NULL ||
		                        c->report.by_socket || c->report.hide_unresolved ||
		                        c->report.switch_on != NULL || c->report.switch_off != NULL
		                ? " that were asked for"
		                : "");
		rc = 0;
	}
	if (rc == 0 && recording_damaged(&c->from, s)) {
		rc = 1;
	}
	sonde_session_free(s);
	return rc;
}

/* Returns a given option that JSON output does not support; NULL: none. */
static const char *text_only(const struct report_command *c)
{
	const struct {
		bool given;
		const char *option;
	} options[] = {{c->report.graph_given, "-g"}, {c->inverted, "-G"},
	        {c->report.threads, "-T"}, {c->report.separator != NULL, "-t"},
	        {c->report.widths != NULL, "-w"}, {c->color != NULL, "--color"},
	        {c->header, "--header"}, {c->report.quiet, "-q"}, {c->report.tasks, "--tasks"},
	        {c->report.mmaps, "--mmaps"},
	        {c->report.group == SONDE_REPORT_GROUP_ALL, "--group"}};

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		if (options[i].given) {
			return options[i].option;
		}
	}
	return NULL;
}

static const struct option_command command_words = {.name = "report", .usage = "[options]"};

static void print_fields(void)
{
	fields_print("Keys: what rows differ in", SONDE_FIELD_KEY);
	fields_print("Keys of rows of branches", SONDE_FIELD_BRANCH_KEY);
	fields_print("Keys with --mem-mode", SONDE_FIELD_MEMORY_KEY);
	fields_print("Sums over the samples of a row", SONDE_FIELD_TOTAL);
}

/* Which samples are shown, and as which rows. */
static struct option_def *sample_options(struct option_def *to, struct report_command *c)
{
	const struct option_def group[] = {
	        OPTION_TEXT('i', "input", &c->from.input, "FILE", "read this file (perf.data)"),
	        OPTION_TEXT('s', "sort", &c->report.sort, "KEYS",
	                "keys of rows (comm,dso,sym; of tracepoints trace)"),
	        OPTION_SWITCH(0, "raw-trace", &c->report.raw_trace,
	                "show fields of tracepoints as numbers, not as in their texts"),
	        OPTION_TEXT('F', "fields", &c->report.fields, "FIELDS", "columns: keys and sums"),
	        OPTION_TEXT('t', "field-separator", &c->report.separator, "TEXT",
	                "put TEXT between columns instead of blanks"),
	        OPTION_TEXT(
	                'w', "column-widths", &c->report.widths, "N,N", "widths of the columns"),
	        OPTION_TEXT('c', "comms", &c->report.filter.comms, "NAMES", "only these commands"),
	        OPTION_TEXT('d', "dsos", &c->report.filter.dsos, "NAMES", "only these objects"),
	        OPTION_TEXT(
	                'S', "symbols", &c->report.filter.symbols, "NAMES", "only these functions"),
	        OPTION_TEXT(0, "symbol-filter", &c->report.symbol_part, "TEXT",
	                "only rows with TEXT in the symbol's name"),
	        OPTION_SWITCH('U', "hide-unresolved", &c->report.hide_unresolved,
	                "only samples and callers in code with symbols"),
	        OPTION_TEXT(0, "pid", &c->report.filter.pids, "PIDS", "only these processes"),
	        OPTION_TEXT(0, "tid", &c->report.filter.tids, "TIDS", "only these threads"),
	        OPTION_TEXT('C', "cpu", &c->report.filter.cpus, "LIST", "only these processors"),
	        OPTION_UINT(0, "socket-filter", &c->socket, "N", "only processors of this socket"),
	        OPTION_TEXT(0, "time", &c->report.filter.time, "SPAN",
	                "only from START,END in seconds, 10%-20%, or 10%/2"),
	        OPTION_TEXT(0, "switch-on", &c->report.switch_on, "EVENT",
	                "only samples after one of EVENT"),
	        OPTION_TEXT(0, "switch-off", &c->report.switch_off, "EVENT",
	                "no samples after one of EVENT, until the next --switch-on"),
	        OPTION_SWITCH(0, "show-on-off-events", &c->report.show_switches,
	                "also the samples that --switch-on and --switch-off wait for"),
	        OPTION_CALL_WORD(0, "percentage", on_percentage, c, "HOW", "relative absolute",
	                "of what the filters leave (relative) or of all (absolute)"),
	};

	return OPTIONS_PUT(to, group);
}

/* Columns, call graphs, and the order of rows. */
static struct option_def *row_options(struct option_def *to, struct report_command *c)
{
	const struct option_def group[] = {
	        OPTION_SWITCH('n', "show-nr-samples", &c->report.show_samples,
	                "show the number of samples"),
	        OPTION_SWITCH(
	                0, "show-total-period", &c->report.show_period, "show the sum of periods"),
	        OPTION_SWITCH(0, "show-cpu-utilization", &c->report.show_modes,
	                "show the shares in the kernel and in user space"),
	        OPTION_SWITCH(0, "showcpuutilization", &c->report.show_modes, "the same"),
	        OPTION_SWITCH(0, "children", &c->children, "count callers with what they called"),
	        OPTION_TEXT('p', "parent", &c->report.parent, "REGEX",
	                "functions that the key parent looks for among callers"),
	        OPTION_SWITCH('x', "exclude-other", &c->report.exclude_other,
	                "only samples with such a caller"),
	        OPTION_TEXT(0, "ignore-callees", &c->report.ignore_callees, "REGEX",
	                "count what these functions called as their own"),
	        {.short_name = 'g',
	                .long_name = "call-graph",
	                .kind = OPTION_KIND_CALL,
	                .arg = OPTION_APART,
	                .call = on_graph,
	                .target = c,
	                .given = &c->report.graph_given,
	                .arg_name = "MODE",
	                .values = "none graph fractal flat folded caller callee function address "
	                          "srcline "
	                          "percent period count",
	                .help = "none, graph, fractal, flat or folded, with limits, order, value "
	                        "(graph,0.5,caller)"},
	        OPTION_SWITCH(0, "latency", &c->report.latency,
	                "order rows by their share of the time that passed (record --latency)"),
	        OPTION_SWITCH(
	                'G', "inverted", &c->inverted, "graphs start at the outermost caller"),
	        OPTION_CALL('b', "branch-stack", OPTION_NONE, on_branch_stack, c, NULL,
	                "rows of branches, not of samples (as after record -b)"),
	        OPTION_SWITCH(0, "branch-history", &c->report.branch_history,
	                "branches are entries of call chains (as after record -b)"),
	        OPTION_SWITCH(0, "total-cycles", &c->report.total_cycles,
	                "rows of blocks between branches, by cycles (as after record -b)"),
	        OPTION_SWITCH(0, "mem-mode", &c->report.memory,
	                "rows of memory accesses, by weight (as after record -d -W)"),
	        OPTION_CALL(0, "percent-limit", OPTION_REQUIRED, on_percent_limit, c, "PERCENT",
	                "hide rows and branches below"),
	        OPTION_CALL(0, "time-quantum", OPTION_REQUIRED, on_time_quantum, c, "TIME",
	                "rows of -s time are this long (100ms)"),
	        OPTION_SWITCH(0, "ns", &c->report.ns, "times of -s time in nanoseconds"),
	        OPTION_SWITCH(
	                0, "inline", &c->report.inlined, "show inlined functions in call graphs"),
	        OPTION_SWITCH(0, "full-source-path", &c->report.source_path,
	                "show source files with their paths"),
	        OPTION_UINT(0, "max-stack", &c->max_stack, "N", "use N frames of a chain (127)"),
	        OPTION_CALL(0, "group", OPTION_NONE, on_group, c, NULL,
	                "one table for the events of a group; of all events if there is none"),
	        OPTION_CALL(0, "group-sort-idx", OPTION_REQUIRED, on_group_sort, c, "N",
	                "order groups by their event number N, from 0"),
	        OPTION_SWITCH(0, "hierarchy", &c->report.hierarchy,
	                "keys of --sort as levels; {KEY,KEY} is one level"),
	};

	return OPTIONS_PUT(to, group);
}

/* Other texts than rows, and what applies to all of them. */
static struct option_def *other_options(struct option_def *to, struct report_command *c)
{
	const struct option_def group[] = {
	        OPTION_SWITCH('T', "threads", &c->report.threads,
	                "also what each thread counted (record -s)"),
	        OPTION_CALL(0, "pretty", OPTION_REQUIRED, on_pretty, c, "HOW",
	                "of the counts of threads: a line for each thread (normal) or count (raw)"),
	        OPTION_SWITCH(0, "stats", &c->report.stats, "count records by type instead"),
	        OPTION_SWITCH(
	                0, "tasks", &c->report.tasks, "all threads as a tree, instead of rows"),
	        OPTION_SWITCH(0, "mmaps", &c->report.mmaps, "the same with their mappings"),
	        OPTION_SWITCH(0, "skip-empty", &c->skip_empty,
	                "no tables of events without samples, no counts of 0 (default)"),
	        OPTION_SWITCH('D', "dump-raw-trace", &c->dump,
	                "print every record with its bytes instead, as 'sonde dump --raw'"),
	        OPTION_SWITCH(0, "header", &c->header, "show the header of the file first"),
	        OPTION_SWITCH(0, "header-only", &c->header_only, "show only the header"),
	        OPTION_SWITCH(
	                'I', "show-info", &c->report.header_full, "with CPU and memory topology"),
	        OPTION_SWITCH(0, "json", &c->report.json,
	                "rows as JSON; with --stats or --header-only: these"),
	        OPTION_SWITCH('q', "quiet", &c->report.quiet, "rows only"),
	        OPTION_COUNT('v', "verbose", &c->verbose,
	                "show paths of objects, addresses, and what is only worth noting"),
	        OPTION_SWITCH(0, "stdio", &c->stdio, "text output, which is the only one"),
	        OPTION_SWITCH(0, "disable-order", &c->unsorted,
	                "do not sort samples by time, which this command never does"),
	        OPTION_SWITCH('f', "force", &c->from.force, "read files of other users too"),
	        OPTION_SWITCH(0, "strict", &c->from.session.strict, "damaged input is an error"),
	        OPTION_UINT('j', "jobs", &c->from.jobs, "N", "worker threads (one a processor)"),
	        OPTION_SWITCH(0, "stitch-lbr", &c->from.session.stitch_call_stacks,
	                "complete LBR call stacks by those of earlier samples"),
	        OPTION_SWITCH(0, "show-ref-call-graph", &c->report.reference_chains,
	                "call graphs of events with call-graph=no: those of samples before"),
	        RECORDING_ITRACE(&c->from),
	        RECORDING_DEBUGINFOD(&c->from, false),
	        RECORDING_SYMFS(&c->from.symfs),
	        OPTION_TEXT(0, "kallsyms", &c->from.session.kallsyms, "FILE",
	                "kernel symbols from FILE"),
	        OPTION_TEXT('k', "vmlinux", &c->vmlinux, "FILE",
	                "kernel symbols from FILE, the ELF file of the kernel"),
	        OPTION_SWITCH(0, "ignore-vmlinux", &c->no_vmlinux, "ignore --vmlinux"),
	        OPTION_SWITCH('m', "modules", &c->modules,
	                "symbols of kernel modules too, which are always read"),
	        OPTION_SWITCH(0, "demangle-kernel", &c->from.session.demangle_kernel,
	                "names of the kernel as they are in the source too"),
	        OPTION_SWITCH(0, "demangle", &c->from.demangle, "names as they are in the source"),
	        {.long_name = "pager",
	                .kind = OPTION_KIND_SWITCH,
	                .target = &c->pager,
	                .help = "use a pager on a terminal",
	                .yields = true},
	        {.long_name = "color",
	                .kind = OPTION_KIND_TEXT,
	                .arg = OPTION_REQUIRED,
	                .target = &c->color,
	                .arg_name = "WHEN",
	                .values = "auto always never",
	                .help = "auto, always or never",
	                .yields = true},
	        {.long_name = "stdio-color",
	                .kind = OPTION_KIND_TEXT,
	                .arg = OPTION_OPTIONAL,
	                .target = &c->color,
	                .fallback = "always",
	                .arg_name = "WHEN",
	                .values = "auto always never",
	                .help = "the same, as perf calls it; alone: always"},
	        OPTION_END,
	};

	return OPTIONS_PUT(to, group);
}

static int report_parse(struct report_command *c, int argc, char **argv)
{
	struct option_def defs[REPORT_OPTIONS];
	const struct option_def *end = other_options(row_options(sample_options(defs, c), c), c);
	const struct option_command command = {.name = "report",
	        .usage = "[options]",
	        .about = "Shows where a recorded program spent its time.",
	        .defs = defs,
	        .more = print_fields};
	struct option_rest rest;
	int rc;

	c->from.session.itrace = "gGixewpIo";
	c->from.itrace_bare = "bixewpIo";
	assert(end - defs <= REPORT_OPTIONS);
	(void)end;
	rc = options_parse(&command, argc, argv, &rest);
	if (rc == OPTIONS_RUN && rest.argc > 0) {
		return options_mistake(&command, "'%s' is not an option", rest.argv[0]);
	}
	return rc;
}

/* Refuses values and combinations of options that have no meaning. */
static int options_check(const struct report_command *c)
{
	const struct sonde_report_options *o = &c->report;
	const char *other = o->json && !o->stats && !c->header_only ? text_only(c) : NULL;

	if (other != NULL) {
		return options_mistake(
		        &command_words, "%s changes only the text: leave it or --json out", other);
	}
	if (o->threads_raw && !o->threads) {
		return options_mistake(&command_words,
		        "--pretty changes the counts of threads: add --threads, or leave it out");
	}
	if (o->show_switches && o->switch_on == NULL && o->switch_off == NULL) {
		return options_mistake(
		        &command_words, "--show-on-off-events needs --switch-on or --switch-off");
	}
	if (o->separator != NULL && strcmp(o->separator, ".") == 0) {
		return options_mistake(&command_words,
		        "-t . is not possible: a dot stands for the separator inside of names");
	}
	if (c->socket != UINT64_MAX && c->socket >= UINT32_MAX) {
		return options_mistake(&command_words, "--socket-filter is too large");
	}
	if (c->from.jobs > JOBS_MAX ||
	        (c->max_stack > UINT32_MAX && c->max_stack != NO_MAX_STACK)) {
		return options_mistake(&command_words, "--jobs or --max-stack is too large");
	}
	return OPTIONS_RUN;
}

int cmd_report(int argc, char **argv)
{
	struct report_command c = {.from = RECORDING,
	        .report = {.size = sizeof(c.report)},
	        .children = true,
	        .skip_empty = true,
	        .socket = UINT64_MAX,
	        .max_stack = NO_MAX_STACK,
	        .pager = true,
	        .stdio = true};
	int rc, color;

	rc = report_parse(&c, argc, argv);
	if (rc != OPTIONS_RUN) {
		return rc;
	}
	if (c.dump) {
		return dump_raw(c.from.input, c.from.force, c.from.session.itrace != NULL);
	}
	rc = options_check(&c);
	if (rc != OPTIONS_RUN) {
		return rc;
	}
	color = terminal_color(c.color);
	if (color < 0) {
		return options_mistake(
		        &command_words, "--color is auto, always or never, not '%s'", c.color);
	}
	c.report.color = color > 0;
	if (c.report.separator != NULL && c.report.separator[0] == 0) {
		c.report.separator = NULL;
	}
	options_settle(&c);
	return c.header_only ? report_header_only(&c) : report_open(&c);
}
