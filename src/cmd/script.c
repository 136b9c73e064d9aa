/* SPDX-License-Identifier: MIT */
#include "cmd/caches.h"
#include "cmd/commands.h"
#include "cmd/dump.h"
#include "cmd/fields.h"
#include "cmd/inspect.h"
#include "cmd/options.h"
#include "cmd/script_files.h"
#include "cmd/terminal.h"

#include <assert.h>
#include <sonde/preview/script.h>
#include <stdio.h>
#include <string.h>

#define EXIT_FILE      255 /* the file is missing or cannot be used */
#define FIELDS_MAX     16
#define DLARGS_MAX     64
#define SCRIPT_OPTIONS 96 /* room in the table of options */

struct script {
	const char *input;
	const char *symfs, *kallsyms, *vmlinux, *stop_bt, *switch_on, *switch_off;
	struct sonde_filter filter;
	uint64_t jobs, max_stack, max_blocks;
	bool tasks, mmaps, switches, lost, cgroups, namespaces, bpf, text_pokes, rounds;
	bool kernel_path, on_off, per_event, source_path, json;
	bool inlined, inlined_given;
	bool hide_call_graph, ns, reltime, deltatime, header, header_only, full, demangle, force,
	        strict, pager, dump, demangle_kernel, merged;
	struct terminal_progress progress;
	const char *fields[FIELDS_MAX];
	size_t nfields;
	unsigned diags_shown;
	const char *dlfilter;
	const char *dlargs[DLARGS_MAX];
	size_t ndlargs;
	bool list_dlfilters, verbose;
};

static int on_fields(const struct option_def *def, const char *arg, bool unset)
{
	struct script *s = def->target;

	if (unset) {
		s->nfields = 0;
		return 0;
	}
	if (s->nfields == FIELDS_MAX) {
		(void)fprintf(stderr, "Error: -F was given more than %d times\n", FIELDS_MAX);
		return -1;
	}
	s->fields[s->nfields++] = arg;
	return 0;
}

static int on_dlarg(const struct option_def *def, const char *arg, bool unset)
{
	struct script *s = def->target;

	if (unset) {
		s->ndlargs = 0;
		return 0;
	}
	if (s->ndlargs == DLARGS_MAX) {
		(void)fprintf(stderr, "Error: --dlarg was given more than %d times\n", DLARGS_MAX);
		return -1;
	}
	s->dlargs[s->ndlargs++] = arg;
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
		return EXIT_FILE;
	}
	return terminal_stdout_finish(0);
}

static void on_diag(void *arg, const struct sonde_diag *d)
{
	struct script *s = arg;

	if (d->kind == SONDE_DIAG_NOTE && d->offset == UINT64_MAX) {
		return; /* a note about the whole file, without consequences for the user */
	}
	terminal_progress_end(&s->progress);
	terminal_diag_show(&s->diags_shown, d);
}

static int header_only(struct script *s)
{
	const struct sonde_header_options o = {.size = sizeof(o), .full = s->full};
	struct inspect i = {.no_notes = true};
	int rc = SONDE_ENOMEM;

	if (inspect_begin(&i, false, s->force, s->pager)) {
		rc = sonde_inspector_header(i.in, s->input, &o, terminal_output_write, &i.out);
	}
	return inspect_end(&i, rc, s->input);
}

static int finish(const struct sonde_session *session, const char *input, int rc)
{
	uint64_t lost = sonde_session_diags(session, SONDE_DIAG_TRUNCATED) +
	                sonde_session_diags(session, SONDE_DIAG_DAMAGED);

	if (rc < 0) {
		(void)fprintf(stderr, "Error: %s\n", sonde_session_error(session)->text);
		return rc == SONDE_EARG ? OPTIONS_USAGE : EXIT_FILE;
	}
	if (lost != 0) {
		(void)fprintf(stderr,
		        "Warning: part of %s was not read (see above); what is shown is not all\n",
		        input);
		return 1;
	}
	return 0;
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

/* Prints the session; the exit status. */
static int print(
        struct script *s, struct sonde_session *session, const struct sonde_script_options *o)
{
	struct script_output output = {.progress = &s->progress};
	int rc, status = EXIT_FILE;

	if (s->per_event && !script_files_open(&output.files, session, s->input)) {
		script_files_close(&output.files);
		return EXIT_FILE;
	}
	terminal_output_open(&output.out, s->pager && s->dlfilter == NULL);
	rc = sonde_script_print(session, o, write_lines, &output);
	terminal_progress_end(&s->progress);
	if (rc >= 0 && s->per_event) {
		script_files_print(&output.files, &output.out);
	}
	terminal_output_close(&output.out);
	if (!terminal_output_failed(&output.out, &status) && rc != SONDE_EOUTPUT) {
		status = finish(session, s->input, rc);
	}
	script_files_close(&output.files);
	return status;
}

static int run(struct script *s)
{
	struct sonde_session_options so = {
	        .size = sizeof(so),
	        .jobs = (unsigned)s->jobs,
	        .symfs = s->symfs,
	        .kallsyms = s->kallsyms,
	        .vmlinux = s->vmlinux,
	        .demangle_kernel = s->demangle_kernel,
	        .no_demangle = !s->demangle,
	        .on_diag = on_diag,
	        .diag_arg = s,
	        .strict = s->strict,
	        .check_owner = !s->force,
	        .on_progress = terminal_progress_show,
	        .progress_arg = &s->progress,
	};
	struct sonde_script_options o = {
	        .size = sizeof(o),
	        .fields = s->fields,
	        .nfields = s->nfields,
	        .hide_call_graph = s->hide_call_graph,
	        .ns = s->ns,
	        .max_stack = s->max_stack,
	        .max_blocks = s->max_blocks,
	        .filter = s->filter,
	        .show_tasks = s->tasks,
	        .show_mmaps = s->mmaps,
	        .show_switches = s->switches,
	        .show_lost = s->lost,
	        .show_cgroups = s->cgroups,
	        .kernel_path = s->kernel_path,
	        .show_namespaces = s->namespaces,
	        .show_bpf = s->bpf,
	        .show_text_pokes = s->text_pokes,
	        .show_rounds = s->rounds,
	        .switch_on = s->switch_on,
	        .switch_off = s->switch_off,
	        .show_on_off = s->on_off,
	        .stop_at = s->stop_bt,
	        .relative_times = s->reltime,
	        .json = s->json,
	        .dlfilter = s->dlfilter,
	        .dlargs = s->dlargs,
	        .ndlargs = s->ndlargs,
	        .write_event = s->per_event ? write_event : NULL,
	        .time_differences = s->deltatime,
	        .source_path = s->source_path,
	        .inlined = s->inlined,
	        .not_inlined = s->inlined_given && !s->inlined,
	        .header = s->header ? 1 + s->full : 0,
	};
	struct sonde_session *session;
	struct caches caches;
	int rc, status;

	o.filter.relative_time = s->reltime;
	caches_set(&caches, &so);
	session = sonde_session_new(&so);
	if (session == NULL) {
		(void)fprintf(stderr, "Error: out of memory\n");
		return EXIT_FILE;
	}
	rc = sonde_session_open(session, s->input);
	status = rc >= 0 ? print(s, session, &o) : finish(session, s->input, rc);
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
	        OPTION_TEXT(
	                'i', "input", &s->input, "FILE", "input file; perf.data when not given"),
	        OPTION_CALL('F', "fields", OPTION_REQUIRED, on_fields, s, "FIELDS",
	                "fields to show: comm,ip or +field,-field; with 'type:' in front for some "
	                "events"),
	        OPTION_SWITCH('D', "dump-raw-trace", &s->dump,
	                "print every record with its bytes, as 'sonde dump --raw'"),
	        OPTION_SWITCH(0, "dump-unsorted-raw-trace", &s->dump,
	                "the same: records are always in the order of the file"),
	        OPTION_SWITCH('G', "hide-call-graph", &s->hide_call_graph, "show no call chains"),
	        OPTION_TEXT('c', "comms", &s->filter.comms, "NAMES", "only these commands"),
	        OPTION_TEXT(0, "dsos", &s->filter.dsos, "NAMES", "only code of these objects"),
	        OPTION_TEXT('S', "symbols", &s->filter.symbols, "NAMES",
	                "only these functions, or addresses 0x..."),
	        OPTION_UINT(0, "addr-range", &s->filter.address_range, "N",
	                "with -S 0x...: only N bytes of code from there"),
	        OPTION_TEXT(0, "pid", &s->filter.pids, "PIDS", "only these processes"),
	        OPTION_TEXT(0, "tid", &s->filter.tids, "TIDS", "only these threads"),
	        OPTION_TEXT('C', "cpu", &s->filter.cpus, "LIST", "only these processors"),
	        OPTION_TEXT(0, "time", &s->filter.time, "SPAN",
	                "only from START,END in seconds, 10%-20%, or 10%/2"),
	        OPTION_TEXT(0, "switch-on", &s->switch_on, "EVENT",
	                "only samples after one of this event"),
	        OPTION_TEXT(0, "switch-off", &s->switch_off, "EVENT",
	                "no samples after one of this event"),
	        OPTION_SWITCH(0, "show-on-off-events", &s->on_off,
	                "show the events of --switch-on and --switch-off too"),
	};

	return OPTIONS_PUT(to, group);
}

/* Which other records are shown, and how addresses are printed. */
static struct option_def *record_options(struct option_def *to, struct script *s)
{
	const struct option_def group[] = {
	        OPTION_SWITCH(0, "show-task-events", &s->tasks, "show names, forks and exits too"),
	        OPTION_SWITCH(0, "show-mmap-events", &s->mmaps, "show mappings too"),
	        OPTION_SWITCH(0, "show-switch-events", &s->switches, "show context switches too"),
	        OPTION_SWITCH(0, "show-lost-events", &s->lost, "show where events were lost too"),
	        OPTION_SWITCH(0, "show-cgroup-events", &s->cgroups, "show new control groups too"),
	        OPTION_SWITCH(
	                0, "show-namespace-events", &s->namespaces, "show new namespaces too"),
	        OPTION_SWITCH(0, "show-bpf-events", &s->bpf,
	                "show BPF programs and other code that the kernel made too"),
	        OPTION_SWITCH(0, "show-text-poke-events", &s->text_pokes,
	                "show changes of the kernel's code too"),
	        OPTION_SWITCH(0, "show-round-events", &s->rounds,
	                "show ends of rounds too, in the order of the file"),
	        OPTION_SWITCH(0, "show-kernel-path", &s->kernel_path,
	                "show kernel modules by the paths of their files"),
	        OPTION_SWITCH(0, "full-source-path", &s->source_path,
	                "srcline: show the paths of source files, not only their names"),
	        {.long_name = "inline",
	                .kind = OPTION_KIND_SWITCH,
	                .target = &s->inlined,
	                .given = &s->inlined_given,
	                .help = "show inlined functions in call chains"},
	};

	return OPTIONS_PUT(to, group);
}

/* Times, call chains, other forms of output, and what applies to all. */
static struct option_def *other_options(struct option_def *to, struct script *s)
{
	const struct option_def group[] = {
	        OPTION_SWITCH(0, "ns", &s->ns, "show times with nine digits"),
	        OPTION_SWITCH(0, "reltime", &s->reltime, "show times since the first line"),
	        OPTION_SWITCH(0, "deltatime", &s->deltatime, "show times since the line before"),
	        OPTION_UINT(
	                0, "max-stack", &s->max_stack, "N", "entries of a call chain to show; 127"),
	        OPTION_UINT(0, "max-blocks", &s->max_blocks, "N",
	                "brstackinsn: blocks of code of a sample to show"),
	        OPTION_TEXT(0, "stop-bt", &s->stop_bt, "NAMES",
	                "functions that are the last entries of call chains"),
	        OPTION_SWITCH(0, "merge-callchains", &s->merged,
	                "show call chains whose user part was recorded later whole (always)"),
	        OPTION_TEXT(0, "dlfilter", &s->dlfilter, "FILE",
	                "load a filter of samples from a shared object"),
	        OPTION_CALL(0, "dlarg", OPTION_REQUIRED, on_dlarg, s, "TEXT",
	                "an argument for the filter; may be repeated"),
	        OPTION_SWITCH(0, "list-dlfilters", &s->list_dlfilters, "list installed filters"),
	        OPTION_SWITCH('v', "verbose", &s->verbose,
	                "with --list-dlfilters, show long descriptions"),
	        OPTION_SWITCH(0, "json", &s->json, "print a JSON object a line (doc/json.md)"),
	        OPTION_SWITCH(0, "per-event-dump", &s->per_event,
	                "write the samples of each event to FILE.EVENT.dump"),
	        OPTION_SWITCH(0, "header", &s->header, "show the header of the file first"),
	        OPTION_SWITCH(
	                0, "header-only", &s->header_only, "show only the header of the file"),
	        OPTION_SWITCH(
	                'I', "show-info", &s->full, "show topologies and caches in the header"),
	        OPTION_UINT('j', "jobs", &s->jobs, "N", "worker threads; 0: all processors"),
	        OPTION_TEXT(0, "symfs", &s->symfs, "DIR", "look for objects below this directory"),
	        OPTION_TEXT(0, "kallsyms", &s->kallsyms, "FILE", "symbols of the kernel"),
	        OPTION_TEXT('k', "vmlinux", &s->vmlinux, "FILE",
	                "symbols of the kernel from its ELF file"),
	        OPTION_SWITCH(0, "demangle-kernel", &s->demangle_kernel,
	                "names of the kernel as they are in the source too"),
	        OPTION_SWITCH(
	                0, "demangle", &s->demangle, "show C++ and Rust names as in the source"),
	        OPTION_SWITCH(0, "strict", &s->strict, "stop at damaged input"),
	        OPTION_SWITCH(0, "pager", &s->pager, "show the text in a pager when on a terminal"),
	        OPTION_SWITCH('f', "force", &s->force, "read files of other users too"),
	        OPTION_END,
	};

	return OPTIONS_PUT(to, group);
}

/* Options that do not go together. OPTIONS_RUN, or the result of options_mistake. */
static int check_options(const struct option_command *command, const struct script *s)
{
	if (s->verbose) {
		return options_mistake(command, "-v is for --list-dlfilters only");
	}
	if (s->ndlargs != 0 && s->dlfilter == NULL) {
		return options_mistake(command, "--dlarg is for a filter: add --dlfilter FILE");
	}
	if (!s->merged) {
		return options_mistake(command,
		        "call chains are always printed whole: 'sonde dump' shows their parts");
	}
	if (s->json && (s->dump || s->header_only)) {
		return options_mistake(command,
		        "--json goes with samples only: 'sonde dump --json' and 'sonde report "
		        "--header-only --json' print records and the header");
	}
	if (s->json && s->per_event) {
		return options_mistake(command,
		        "--json does not go with --per-event-dump: an object has its event");
	}
	return OPTIONS_RUN;
}

int cmd_script(int argc, char **argv)
{
	struct script s = {
	        .input = options_input(), .demangle = true, .pager = true, .merged = true};
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
	rc = check_options(&command, &s);
	if (rc != OPTIONS_RUN) {
		return rc;
	}
	if (s.dump) {
		return dump_raw(s.input, s.force);
	}
	return s.header_only ? header_only(&s) : run(&s);
}
