/* SPDX-License-Identifier: MIT */
#include "cmd/commands.h"
#include "cmd/dump.h"
#include "cmd/fields.h"
#include "cmd/inspect.h"
#include "cmd/options.h"
#include "cmd/recording.h"
#include "cmd/script_files.h"

#include <assert.h>
#include <errno.h>
#include <sonde/preview/script.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS_MAX     16
#define DLARGS_MAX     64
#define NO_MAX_STACK   UINT64_MAX /* --max-stack is not given */
#define TRACE_LETTERS  "cewpxIo" /* usual samples of traces, as in perf 6.1 */
#define FIND_XED       "command -v xed >/dev/null"
#define XED            "exec xed -F insn: -A -64" /* the words are those of perf */
#define SCRIPT_OPTIONS 96 /* room in the table of options */

struct script {
	struct recording from;
	struct sonde_script_options o;
	bool per_event, header, header_only, full, pager, dump, merged, debug, xed;
	bool inlined_given;
	const char *fields[FIELDS_MAX];
	const char *dlargs[DLARGS_MAX];
	bool list_dlfilters, verbose;
};

static int on_fields(const struct option_def *def, const char *arg, bool unset)
{
	struct script *s = def->target;

	if (unset) {
		s->o.nfields = 0;
		return 0;
	}
	s->from.session.trace_calls =
	        s->from.session.trace_calls || strstr(arg, "callindent") != NULL;
	if (s->o.nfields == FIELDS_MAX) {
		(void)fprintf(stderr, "Error: -F was given more than %d times\n", FIELDS_MAX);
		return -1;
	}
	s->fields[s->o.nfields++] = arg;
	return 0;
}

/* As in perf: each instruction with its bytes. */
static int on_insn_trace(const struct option_def *def, const char *arg, bool unset)
{
	struct script *s = def->target;
	bool text = arg != NULL && strcmp(arg, "disasm") == 0;

	if (unset || (arg != NULL && !text && strcmp(arg, "raw") != 0)) {
		(void)fprintf(stderr, "Error: --insn-trace wants raw or disasm\n");
		return -1;
	}
	s->from.session.itrace = "i0nse";
	s->o.ns = true;
	return on_fields(&(struct option_def){.target = s},
	        text ? "+disasm,-event,-period" : "+insn,-event,-period", false);
}

static int show_calls(const struct option_def *def, const char *letters, const char *fields)
{
	struct script *s = def->target;

	s->from.session.itrace = letters;
	s->from.session.trace_calls = true;
	s->o.ns = true;
	return on_fields(&(struct option_def){.target = s}, fields, false);
}

/* As in perf: calls, indented; with their objects in a wide column. */
static int on_call_trace(const struct option_def *def, const char *arg, bool unset)
{
	struct script *s = def->target;

	(void)arg, (void)unset;
	s->o.wide_object = true;
	return show_calls(def, "cewp", "-ip,-addr,-event,-period,+callindent");
}

static int on_call_ret_trace(const struct option_def *def, const char *arg, bool unset)
{
	(void)arg, (void)unset;
	return show_calls(def, "crewp", "-ip,-addr,-event,-period,+flags,+callindent");
}

static int on_dlarg(const struct option_def *def, const char *arg, bool unset)
{
	struct script *s = def->target;

	if (unset) {
		s->o.ndlargs = 0;
		return 0;
	}
	if (s->o.ndlargs == DLARGS_MAX) {
		(void)fprintf(stderr, "Error: --dlarg was given more than %d times\n", DLARGS_MAX);
		return -1;
	}
	s->dlargs[s->o.ndlargs++] = arg;
	return 0;
}

static void list_dlfilter(
        void *arg, const char *name, const char *description, const char *long_description)
{
	const bool *verbose = arg;

	(void)printf("  %-36s %s\n", name, description);
	if (*verbose && long_description[0] != '\0') {
		(void)printf("  %-36s %s\n", "", long_description);
	}
}

static int list_dlfilters(bool verbose)
{
	(void)printf("List of available dlfilters:\n");
	if (sonde_dlfilters(list_dlfilter, &verbose) < 0) {
		(void)fprintf(stderr, "Error: this static build cannot load filters\n");
		return RECORDING_FAILED;
	}
	return terminal_stdout_finish(0);
}

static int header_only(struct script *s)
{
	const struct sonde_header_options o = {.size = sizeof(o), .full = s->full};
	struct inspect i = {.no_notes = !s->verbose};
	int rc = SONDE_ENOMEM;

	if (inspect_begin(&i, false, s->from.force, s->pager)) {
		rc = sonde_inspector_header(i.in, s->from.input, &o, terminal_output_write, &i.out);
	}
	return inspect_end(&i, rc, s->from.input);
}

static int write_error(void *arg, const char *text, size_t n)
{
	(void)arg;
	return fwrite(text, 1, n, stderr) == n ? 0 : -1;
}

/* As in perf: on standard error, and no samples. */
static int debug_mode(const struct script *s)
{
	const struct sonde_check_options o = {.size = sizeof(o), .samples = true};
	struct inspect i = {0};
	int rc = SONDE_ENOMEM, status;

	if (inspect_begin(&i, false, s->from.force, false)) {
		rc = sonde_inspector_check(i.in, s->from.input, &o, write_error, NULL);
	}
	status = inspect_end(&i, rc, s->from.input);
	return rc == SONDE_CHECK_UNUSABLE ? RECORDING_FAILED : status;
}

static int finish(const struct script *s, const struct sonde_session *session, int rc)
{
	if (rc < 0) {
		(void)fprintf(stderr, "Error: %s\n", sonde_session_error(session)->text);
		return rc == SONDE_EARG ? OPTIONS_USAGE : RECORDING_FAILED;
	}
	return recording_damaged(&s->from, session) ? 1 : 0;
}

/* Where lines go. */
struct script_output {
	struct terminal_output out;
	struct script_files files; /* --per-event-dump */
	struct terminal_progress *progress;
};

static int write_lines(void *arg, const char *text, size_t n)
{
	struct script_output *o = arg;

	terminal_progress_yield(o->progress, &o->out);
	(void)fflush(stdout); /* what a filter printed before this line */
	return terminal_output_write(&o->out, text, n);
}

static int write_event(void *arg, size_t event, const char *text, size_t n, uint64_t samples)
{
	struct script_output *o = arg;

	return script_files_write(&o->files, event, text, n, samples);
}

/* --xed: as in perf, the disassembler replaces the bytes of instructions in the text. */
static bool open_output(const struct script *s, struct terminal_output *out)
{
	if (!s->xed) {
		terminal_output_open(out, s->pager && s->o.dlfilter == NULL);
		return true;
	}
	if (system(FIND_XED) != 0) {
		(void)fprintf(stderr,
		        "Error: there is no program xed in PATH: install Intel XED, or print "
		        "instructions as text with -F +disasm or --insn-trace=disasm\n");
		return false;
	}
	if (!terminal_output_through(out, XED)) {
		(void)fprintf(stderr, "Error: cannot run xed: %s\n", strerror(errno));
		return false;
	}
	return true;
}

/* Prints the session; the exit status. */
static int print(struct script *s, struct sonde_session *session)
{
	struct script_output output = {.progress = &s->from.progress};
	int rc, status = RECORDING_FAILED;

	if (s->per_event && !script_files_open(&output.files, session, s->from.input)) {
		script_files_close(&output.files);
		return RECORDING_FAILED;
	}
	if (!open_output(s, &output.out)) {
		script_files_close(&output.files);
		return RECORDING_FAILED;
	}
	rc = sonde_script_print(session, &s->o, write_lines, &output);
	terminal_progress_end(&s->from.progress);
	if (rc >= 0 && s->per_event) {
		script_files_print(&output.files, &output.out);
	}
	terminal_output_close(&output.out);
	if (!terminal_output_failed(&output.out, &status) && rc != SONDE_EOUTPUT) {
		status = finish(s, session, rc);
	}
	script_files_close(&output.files);
	return status;
}

static int run(struct script *s)
{
	struct sonde_script_options *o = &s->o;
	struct sonde_session *session;
	int status;

	s->from.session.trace_calls = s->from.session.trace_calls || o->graph_functions != NULL;
	session = recording_open(&s->from);
	if (session == NULL) {
		return RECORDING_FAILED;
	}
	o->size = sizeof(*o);
	o->fields = s->fields;
	o->dlargs = s->dlargs;
	o->filter.relative_time = o->relative_times;
	o->write_event = s->per_event ? write_event : NULL;
	o->not_inlined = s->inlined_given && !o->inlined;
	o->header = s->header ? 1 + s->full : s->full ? 3 : 0;
	status = print(s, session);
	sonde_session_free(session);
	return status;
}

static void print_fields(void)
{
	fields_print("Fields of -F", SONDE_FIELD_OF_SCRIPT);
}

/* Which samples are shown, with which fields. */
static struct option_def *sample_options(struct option_def *to, struct script *s)
{
	const struct option_def group[] = {
	        OPTION_TEXT('i', "input", &s->from.input, "FILE",
	                "input file; perf.data when not given"),
	        OPTION_CALL('F', "fields", OPTION_REQUIRED, on_fields, s, "FIELDS",
	                "fields to show: comm,ip or +field,-field; with 'type:' in front for some "
	                "events"),
	        OPTION_SWITCH('D', "dump-raw-trace", &s->dump,
	                "print every record with its bytes, as 'sonde dump --raw'"),
	        OPTION_SWITCH(0, "dump-unsorted-raw-trace", &s->dump,
	                "the same: records are always in the order of the file"),
	        OPTION_SWITCH('d', "debug-mode", &s->debug,
	                "print no samples, but whether they are in order, and what was lost"),
	        OPTION_SWITCH('G', "hide-call-graph", &s->o.hide_call_graph, "show no call chains"),
	        OPTION_TEXT('c', "comms", &s->o.filter.comms, "NAMES", "only these commands"),
	        OPTION_TEXT(0, "dsos", &s->o.filter.dsos, "NAMES", "only code of these objects"),
	        OPTION_TEXT('S', "symbols", &s->o.filter.symbols, "NAMES",
	                "only these functions, or addresses 0x..."),
	        OPTION_UINT(0, "addr-range", &s->o.filter.address_range, "N",
	                "with -S 0x...: only N bytes of code from there"),
	        OPTION_TEXT(0, "pid", &s->o.filter.pids, "PIDS", "only these processes"),
	        OPTION_TEXT(0, "tid", &s->o.filter.tids, "TIDS", "only these threads"),
	        OPTION_TEXT('C', "cpu", &s->o.filter.cpus, "LIST", "only these processors"),
	        RECORDING_ITRACE(&s->from),
	        OPTION_CALL(0, "insn-trace", OPTION_OPTIONAL, on_insn_trace, s, "raw|disasm",
	                "show each instruction of traces, its bytes or its text"),
	        OPTION_SWITCH(0, "xed", &s->xed,
	                "let the program xed print the instructions of -F insn and --insn-trace"),
	        OPTION_CALL(0, "call-trace", OPTION_NONE, on_call_trace, s, NULL,
	                "show the calls of traces, indented"),
	        OPTION_CALL(0, "call-ret-trace", OPTION_NONE, on_call_ret_trace, s, NULL,
	                "show the calls and returns of traces, indented"),
	        OPTION_TEXT(0, "graph-function", &s->o.graph_functions, "NAMES",
	                "only calls of these functions in traces, and what they call"),
	        OPTION_TEXT(0, "time", &s->o.filter.time, "SPAN",
	                "only from START,END in seconds, 10%-20%, or 10%/2"),
	        OPTION_TEXT(0, "switch-on", &s->o.switch_on, "EVENT",
	                "only samples after one of this event"),
	        OPTION_TEXT(0, "switch-off", &s->o.switch_off, "EVENT",
	                "no samples after one of this event"),
	        OPTION_SWITCH(0, "show-on-off-events", &s->o.show_on_off,
	                "show the events of --switch-on and --switch-off too"),
	};

	return OPTIONS_PUT(to, group);
}

/* Which other records are shown, and how addresses are printed. */
static struct option_def *record_options(struct option_def *to, struct script *s)
{
	const struct option_def group[] = {
	        OPTION_SWITCH(
	                0, "show-task-events", &s->o.show_tasks, "show names, forks and exits too"),
	        OPTION_SWITCH(0, "show-mmap-events", &s->o.show_mmaps, "show mappings too"),
	        OPTION_SWITCH(
	                0, "show-switch-events", &s->o.show_switches, "show context switches too"),
	        OPTION_SWITCH(
	                0, "show-lost-events", &s->o.show_lost, "show where events were lost too"),
	        OPTION_SWITCH(
	                0, "show-cgroup-events", &s->o.show_cgroups, "show new control groups too"),
	        OPTION_SWITCH(0, "show-namespace-events", &s->o.show_namespaces,
	                "show new namespaces too"),
	        OPTION_SWITCH(0, "show-bpf-events", &s->o.show_bpf,
	                "show BPF programs and other code that the kernel made too"),
	        OPTION_SWITCH(0, "show-text-poke-events", &s->o.show_text_pokes,
	                "show changes of the kernel's code too"),
	        OPTION_SWITCH(0, "show-round-events", &s->o.show_rounds,
	                "show ends of rounds too, in the order of the file"),
	        OPTION_SWITCH(0, "show-kernel-path", &s->o.kernel_path,
	                "show kernel modules by the paths of their files"),
	        OPTION_SWITCH(0, "full-source-path", &s->o.source_path,
	                "srcline: show the paths of source files, not only their names"),
	        {.long_name = "inline",
	                .kind = OPTION_KIND_SWITCH,
	                .target = &s->o.inlined,
	                .given = &s->inlined_given,
	                .help = "show inlined functions in call chains"},
	};

	return OPTIONS_PUT(to, group);
}

/* Times, call chains, other forms of output, and what applies to all. */
static struct option_def *other_options(struct option_def *to, struct script *s)
{
	const struct option_def group[] = {
	        OPTION_SWITCH(0, "ns", &s->o.ns, "show times with nine digits"),
	        OPTION_SWITCH('L', "Latency", &s->o.narrow,
	                "show names of threads and processors in narrow columns"),
	        OPTION_SWITCH(
	                0, "reltime", &s->o.relative_times, "show times since the first line"),
	        OPTION_SWITCH(
	                0, "deltatime", &s->o.time_differences, "show times since the line before"),
	        OPTION_UINT(0, "max-stack", &s->o.max_stack, "N",
	                "entries of a call chain to show; 127"),
	        OPTION_UINT(0, "max-blocks", &s->o.max_blocks, "N",
	                "brstackinsn: blocks of code of a sample to show"),
	        OPTION_TEXT(0, "stop-bt", &s->o.stop_at, "NAMES",
	                "functions that are the last entries of call chains"),
	        OPTION_SWITCH(0, "merge-callchains", &s->merged,
	                "show call chains whose user part was recorded later whole (always)"),
	        OPTION_TEXT(0, "dlfilter", &s->o.dlfilter, "FILE",
	                "load a filter of samples from a shared object"),
	        OPTION_CALL(0, "dlarg", OPTION_REQUIRED, on_dlarg, s, "TEXT",
	                "an argument for the filter; may be repeated"),
	        OPTION_SWITCH(0, "list-dlfilters", &s->list_dlfilters, "list installed filters"),
	        OPTION_SWITCH('v', "verbose", &s->verbose,
	                "show also what is only worth noting; long descriptions of filters"),
	        OPTION_SWITCH(0, "json", &s->o.json, "print a JSON object a line (doc/json.md)"),
	        OPTION_SWITCH(0, "per-event-dump", &s->per_event,
	                "write the samples of each event to FILE.EVENT.dump"),
	        OPTION_SWITCH(0, "header", &s->header, "show the header of the file first"),
	        OPTION_SWITCH(
	                0, "header-only", &s->header_only, "show only the header of the file"),
	        OPTION_SWITCH(
	                'I', "show-info", &s->full, "show topologies and caches in the header"),
	        OPTION_UINT('j', "jobs", &s->from.jobs, "N", "worker threads; 0: all processors"),
	        OPTION_SWITCH(0, "stitch-lbr", &s->from.session.stitch_call_stacks,
	                "complete LBR call stacks by those of earlier samples"),
	        RECORDING_DEBUGINFOD(&s->from, true),
	        RECORDING_SYMFS(&s->from.symfs),
	        OPTION_TEXT(
	                0, "kallsyms", &s->from.session.kallsyms, "FILE", "symbols of the kernel"),
	        OPTION_TEXT(0, "guestkallsyms", &s->from.session.guest_kallsyms, "FILE",
	                "symbols of the kernel of guests"),
	        OPTION_TEXT(0, "guestvmlinux", &s->from.session.guest_vmlinux, "FILE",
	                "the kernel of guests"),
	        OPTION_TEXT('k', "vmlinux", &s->from.session.vmlinux, "FILE",
	                "symbols of the kernel from its ELF file"),
	        OPTION_SWITCH(0, "demangle-kernel", &s->from.session.demangle_kernel,
	                "names of the kernel as they are in the source too"),
	        OPTION_SWITCH(0, "demangle", &s->from.demangle,
	                "show C++ and Rust names as in the source"),
	        OPTION_SWITCH(0, "strict", &s->from.session.strict, "stop at damaged input"),
	        OPTION_SWITCH(0, "pager", &s->pager, "show the text in a pager when on a terminal"),
	        OPTION_SWITCH('f', "force", &s->from.force, "read files of other users too"),
	        OPTION_END,
	};

	return OPTIONS_PUT(to, group);
}

/* Options that do not go together. OPTIONS_RUN, or the result of options_mistake. */
static int check_options(const struct option_command *command, const struct script *s)
{
	if (s->o.ndlargs != 0 && s->o.dlfilter == NULL) {
		return options_mistake(command, "--dlarg is for a filter: add --dlfilter FILE");
	}
	if (!s->merged) {
		return options_mistake(command,
		        "call chains are always printed whole: 'sonde dump' shows their parts");
	}
	if (s->o.json && (s->dump || s->header_only)) {
		return options_mistake(command,
		        "--json goes with samples only: 'sonde dump --json' and 'sonde report "
		        "--header-only --json' print records and the header");
	}
	if (s->o.json && s->per_event) {
		return options_mistake(command,
		        "--json does not go with --per-event-dump: an object has its event");
	}
	if (s->xed && (s->o.json || s->dump || s->header_only || s->per_event || s->debug)) {
		return options_mistake(command, "--xed reads the text of samples: leave out "
		                                "--json, -D, -d, --header-only and "
		                                "--per-event-dump");
	}
	if (s->debug &&
	        (s->o.json || s->dump || s->header_only || s->per_event || s->o.nfields != 0)) {
		return options_mistake(command, "--debug-mode prints no samples, records or "
		                                "header: leave out -F, -D, --json, "
		                                "--header-only and --per-event-dump");
	}
	return OPTIONS_RUN;
}

int cmd_script(int argc, char **argv)
{
	struct script s = {
	        .from = RECORDING, .o = {.max_stack = NO_MAX_STACK}, .pager = true, .merged = true};
	struct option_def defs[SCRIPT_OPTIONS];
	const struct option_def *end =
	        other_options(record_options(sample_options(defs, &s), &s), &s);
	const struct option_command command = {
	        .name = "script",
	        .usage = "[options]",
	        .about = "Prints the samples of a recording in time order.",
	        .defs = defs,
	        .more = print_fields,
	};
	struct option_rest rest;
	int rc;

	s.from.session.itrace = s.from.itrace_bare = TRACE_LETTERS;
	assert(end - defs <= SCRIPT_OPTIONS);
	(void)end;
	rc = options_parse(&command, argc, argv, &rest);
	if (rc != OPTIONS_RUN) {
		return rc;
	}
	if (rest.argc != 0) {
		return options_mistake(&command,
		        "unexpected word '%s': Sonde has no scripts, 'sonde script | ./program' "
		        "runs one on its text",
		        rest.argv[0]);
	}
	if (s.list_dlfilters) {
		return list_dlfilters(s.verbose);
	}
	s.from.notes = s.verbose;
	s.o.no_stack = s.o.max_stack == 0;
	s.o.max_stack = s.o.max_stack != NO_MAX_STACK ? s.o.max_stack : 0;
	rc = check_options(&command, &s);
	if (rc != OPTIONS_RUN) {
		return rc;
	}
	if (s.debug) {
		return debug_mode(&s);
	}
	if (s.dump) {
		return dump_raw(s.from.input, s.from.force, s.from.session.itrace != NULL);
	}
	return s.header_only ? header_only(&s) : run(&s);
}
