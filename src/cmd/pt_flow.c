/* SPDX-License-Identifier: MIT */
/* sonde pt flow: prints the flow of a trace: the IP of each instruction, events and errors. */
#include "cmd/commands.h"
#include "cmd/pt_event.h"
#include "cmd/pt_image.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct flow {
	struct pt_clock_options clock;
	struct pt_cpu_option cpu;
	struct pt_code code;
	const char *trace;
	const char *itrace; /* letters that select the output; NULL: instructions and events */
	unsigned want;
	uint64_t every, every_ticks;
	uint64_t filter_cfg[4], filter_a[4], filter_b[4];
	bool branches, gaps, quiet, stat, stat_insn, stat_blocks, count;
	bool blocks, show_blocks, end_on_call, end_on_jump;
	struct pt_event_words words;
	bool event_time;
	bool keep_position, keep_calibration, insn_decoder, check, no_inst;
	bool ipc, time, psb, edges;
	uint64_t ipc_insns, ipc_cycles; /* counts when IPC was last printed */
	uint64_t insns, nblocks, jobs, part;
	bool open_block; /* the block continues with the next instruction */
	bool failed;
	FILE *out;
};

/* The output of a worker for its current part of the trace. */
struct part {
	struct flow flow; /* a copy of the whole, with its own sums */
	char *text;
	size_t size;
};

struct parts {
	struct flow *whole;
	struct flow start; /* a copy of the whole before the first part */
	struct part *of; /* by worker */
};

#define JOBS_MAX       256
#define BRANCHES_TAKEN (SONDE_PT_WANT_TAKEN | SONDE_PT_WANT_CALLS | SONDE_PT_WANT_RETURNS)

/* Prints an event as a branch, with address 0 for code that is not traced. */
static bool show_pair(const struct flow *f, const struct sonde_pt_event *e)
{
	uint64_t from = 0;
	uint64_t to = 0;

	if (e->kind == SONDE_PT_EVENT_ENABLED) {
		to = e->ip;
	} else if (e->kind == SONDE_PT_EVENT_DISABLED && e->has_ip) {
		from = e->ip;
		to = e->extra;
	} else if (e->kind == SONDE_PT_EVENT_ASYNC) {
		from = e->ip;
		to = e->value;
	} else if (e->kind == SONDE_PT_EVENT_OVERFLOW && e->has_ip) {
		(void)fprintf(f->out, "[overflow]\n");
		to = e->ip;
	} else {
		return false;
	}
	if (!f->quiet && (e->kind != SONDE_PT_EVENT_DISABLED || e->value != 0)) {
		(void)fprintf(f->out, "%016" PRIx64 " %016" PRIx64 "\n", from, to);
	}
	return true;
}

static void show_event(struct flow *f, const struct sonde_pt_event *e)
{
	char text[PT_EVENT_TEXT];

	pt_event_text(&f->words, e, text);
	f->open_block = f->open_block && text[0] == '\0';
	if (f->branches && show_pair(f, e)) {
		return;
	}
	if (text[0] == '\0' || f->quiet) {
		return;
	}
	if (f->event_time) {
		(void)fprintf(f->out, "[%016" PRIx64 "  %s]\n", e->tsc, text);
	} else {
		(void)fprintf(f->out, "[%s]\n", text);
	}
}

/* Ends a line with the time, and with instructions per cycle if cycles are known. */
static void end_line(struct flow *f, const struct sonde_pt_step *s)
{
	if (f->time) {
		(void)fprintf(
		        f->out, "  %016" PRIx64 "%s", s->tsc, s->tsc == s->exact_tsc ? "" : "~");
	}
	if (f->ipc && s->cycle_insns == s->insns && s->cycles != f->ipc_cycles) {
		uint64_t insns = s->insns - f->ipc_insns;
		uint64_t cycles = s->cycles - f->ipc_cycles;

		/* Truncated, not rounded, as in perf script. */
		(void)fprintf(f->out, "  IPC: %" PRIu64 ".%02" PRIu64 " (%" PRIu64 "/%" PRIu64 ")",
		        insns / cycles, insns % cycles * 100 / cycles, insns, cycles);
		f->ipc_insns = s->insns;
		f->ipc_cycles = s->cycles;
	}
	(void)fputc('\n', f->out);
}

static void show_insn(struct flow *f, const struct sonde_pt_step *s)
{
	f->insns++;
	if (s->first || !f->open_block) {
		f->nblocks++;
		if (f->show_blocks && !f->quiet) {
			(void)fprintf(f->out, "[block]\n");
		}
	}
	f->open_block = !(s->call && f->end_on_call) && !(s->jump && f->end_on_jump);
	if (f->quiet) {
		return;
	}
	if (s->sampled || (f->want & SONDE_PT_WANT_INSNS && f->every + f->every_ticks == 0)) {
		(void)fprintf(f->out, "%s%016" PRIx64, s->speculative ? "? " : "", s->ip);
		end_line(f, s);
	}
	if ((s->taken && f->want & BRANCHES_TAKEN) ||
	        (s->conditional && !s->taken && s->to != 0 && f->want & SONDE_PT_WANT_NOT_TAKEN)) {
		(void)fprintf(f->out, "%016" PRIx64 " %016" PRIx64, s->ip, s->to);
		end_line(f, s);
	}
}

static void show_block(struct flow *f, const struct sonde_pt_step *s)
{
	f->insns += s->count;
	f->nblocks++;
	if (!f->quiet) {
		(void)fprintf(
		        f->out, "%016" PRIx64 " %016" PRIx64 " %" PRIu32, s->ip, s->last, s->count);
		end_line(f, s);
	}
}

static void show_gap(struct flow *f, const struct sonde_pt_step *s)
{
	if (f->gaps) {
		(void)fprintf(f->out, "[%" PRIx64 "..%" PRIx64 ": gap: %" PRIu64 " bytes]\n",
		        s->offset, s->end, s->end - s->offset);
	}
	if (f->want & SONDE_PT_WANT_TAKEN && !f->quiet && s->ip != 0) {
		(void)fprintf(f->out, "%016" PRIx64 " %016" PRIx64 "\n", UINT64_C(0), s->ip);
	}
}

static void show_step(struct flow *f, const struct sonde_pt_step *s)
{
	switch (s->kind) {
	case SONDE_PT_STEP_INSN: show_insn(f, s); break;
	case SONDE_PT_STEP_BLOCK: show_block(f, s); break;
	case SONDE_PT_STEP_EVENT: show_event(f, &s->event); break;
	case SONDE_PT_STEP_ERROR:
		f->failed = true;
		f->open_block = false;
		(void)fprintf(f->out, "[%" PRIx64 ", %" PRIx64 ": %serror: %s", s->offset, s->ip,
		        s->resync ? "resync " : "", sonde_pt_error_text(s->error));
		if (f->psb && s->psb != UINT64_MAX) {
			(void)fprintf(f->out, ", psb: %" PRIx64, s->psb);
		}
		(void)fprintf(f->out, "]\n");
		break;
	case SONDE_PT_STEP_GAP: show_gap(f, s); break;
	default:
		if (!f->quiet) {
			(void)fprintf(f->out, "[end of trace]\n");
		}
		break;
	}
}

static void show_stat(const struct flow *f)
{
	bool chosen = f->stat_insn || f->stat_blocks;

	if (!f->stat && !chosen) {
		return;
	}
	if (f->stat_insn || !chosen) {
		(void)printf("insn:\t%" PRIu64 ".\n", f->insns);
	}
	if (f->stat_blocks || (!chosen && f->blocks)) {
		(void)printf("blocks:\t%" PRIu64 ".\n", f->nblocks);
	}
}

static int show_count(struct flow *f, struct sonde_pt_flow *flow)
{
	const struct sonde_pt_totals *t;
	uint64_t edges = 0;
	const struct sonde_pt_edge *edge;
	int rc = sonde_pt_flow_count(flow, &t);

	while (rc == 0 && (rc = sonde_pt_flow_next_edge(flow, &edge)) > 0) {
		edges++;
		if (f->edges) {
			(void)printf("%016" PRIx64 " %016" PRIx64 " %" PRIu64 "\n", edge->from,
			        edge->to, edge->count);
		}
		rc = 0;
	}
	if (rc < 0) {
		return rc;
	}
	(void)printf("insn:\t%" PRIu64 "\nbranches:\t%" PRIu64 "\ntaken:\t%" PRIu64
	             "\nedges:\t%" PRIu64 "\nevents:\t%" PRIu64 "\nerrors:\t%" PRIu64
	             "\ngaps:\t%" PRIu64 "\ngap bytes:\t%" PRIu64 "\n",
	        t->insns, t->branches, t->taken, edges, t->events, t->errors, t->gaps,
	        t->gap_bytes);
	f->failed = t->errors != 0;
	return 0;
}

static void fill_options(struct flow *f, struct sonde_pt_flow_options *o)
{
	o->clock = pt_clock_make(&f->clock, &f->cpu);
	o->clock.keep_calibration = f->keep_calibration;
	o->keep_position = f->keep_position;
	o->jobs = (unsigned)(f->jobs < JOBS_MAX ? f->jobs : JOBS_MAX);
	o->part = (size_t)f->part;
	o->time = f->event_time || f->words.ticks || f->time || f->ipc;
	o->ticks = f->words.ticks;
	o->want = f->want;
	o->every = f->every;
	if (f->code.nspaces > 1) {
		o->choose_space = pt_code_choose;
		o->choose_arg = &f->code;
	}
	for (unsigned i = 0; i < f->code.nmoves; i++) {
		o->time = o->time || f->code.moves[i].by_tsc;
	}
	o->every_ticks = f->every_ticks;
	for (unsigned i = 0; i < 4; i++) {
		if (f->filter_cfg[i] == 1) {
			o->filter[o->filters].first = f->filter_a[i];
			o->filter[o->filters].last = f->filter_b[i];
			o->filters++;
		}
	}
}

static int show_part(void *arg, unsigned worker, struct sonde_pt_flow *flow)
{
	const struct parts *parts = arg;
	struct part *p = &parts->of[worker];
	const struct sonde_pt_step *step;
	int rc;

	*p = (struct part){.flow = parts->start};
	p->flow.insns = 0;
	p->flow.nblocks = 0;
	p->flow.out = open_memstream(&p->text, &p->size);
	if (p->flow.out == NULL) {
		return SONDE_ENOMEM;
	}
	while ((rc = sonde_pt_flow_next(flow, &step)) > 0) {
		show_step(&p->flow, step);
	}
	return fclose(p->flow.out) == 0 ? rc : SONDE_ENOMEM;
}

static int put_part(void *arg, unsigned worker, struct sonde_pt_flow *flow)
{
	const struct parts *parts = arg;
	struct part *p = &parts->of[worker];
	struct flow *f = parts->whole;

	(void)flow;
	(void)fwrite(p->text, 1, p->size, f->out);
	free(p->text);
	f->insns += p->flow.insns;
	f->nblocks += p->flow.nblocks;
	f->failed = f->failed || p->flow.failed;
	return 0;
}

static int show_steps(struct flow *f, struct sonde_pt_flow *flow)
{
	const struct sonde_pt_step *step;
	struct parts parts = {.whole = f, .start = *f};
	int rc;

	if (f->jobs < 2 || f->ipc) { /* IPC needs the cycles since the previous line */
		while ((rc = sonde_pt_flow_next(flow, &step)) > 0) {
			show_step(f, step);
		}
		return rc;
	}
	parts.of = calloc(JOBS_MAX, sizeof(*parts.of));
	rc = parts.of != NULL ? sonde_pt_flow_parts(flow, show_part, put_part, &parts)
	                      : SONDE_ENOMEM;
	free(parts.of);
	return rc;
}

static int follow(struct flow *f, const struct pt_trace *trace)
{
	struct sonde_pt_flow_options o = {.size = sizeof(o)};
	struct sonde_pt_graph *graph = sonde_pt_graph_new(f->code.image);
	struct sonde_pt_flow *flow;
	int rc = SONDE_ENOMEM;

	fill_options(f, &o);
	flow = graph != NULL ? sonde_pt_flow_new(graph, trace->data, trace->size, &o) : NULL;
	for (unsigned i = 0; flow != NULL && i < f->code.nmoves; i++) {
		if (sonde_pt_flow_move(flow, &f->code.moves[i]) < 0) {
			sonde_pt_flow_free(flow);
			flow = NULL;
		}
	}
	if (f->cpu.given && f->cpu.cpu.family == 0) {
		(void)printf("[0, 0: config error: %s]\n",
		        sonde_pt_error_text(SONDE_PT_ERROR_UNKNOWN_CPU));
		f->failed = true;
	}
	if (flow != NULL && f->count) {
		rc = show_count(f, flow);
	} else if (flow != NULL) {
		rc = show_steps(f, flow);
		show_stat(f);
	}
	sonde_pt_flow_free(flow);
	sonde_pt_graph_free(graph);
	if (rc < 0) {
		(void)fprintf(stderr, "Error: %s\n", sonde_status_text(rc));
		return PT_EXIT_FILE;
	}
	return f->failed;
}

/* Parses the period after the letter i: a number, then i (instructions) or t (TSC ticks). */
static const char *parse_period(struct flow *f, const char *p)
{
	uint64_t n = 0;

	while (*p >= '0' && *p <= '9' && n < UINT64_MAX / 10 - 9) {
		n = n * 10 + (uint64_t)(*p++ - '0');
	}
	if (*p == 't') {
		f->every_ticks = n;
		return p + 1;
	}
	f->every = n > 1 ? n : 0;
	return *p == 'i' && n != 0 ? p + 1 : p;
}

/* Parses the letters of --itrace; false: unknown letter. */
static bool parse_itrace(struct flow *f, const char *p)
{
	static const struct {
		char letter;
		unsigned want;
	} letters[] = {
	        {'i', SONDE_PT_WANT_INSNS},
	        {'b', SONDE_PT_WANT_TAKEN},
	        {'n', SONDE_PT_WANT_NOT_TAKEN},
	        {'c', SONDE_PT_WANT_CALLS},
	        {'r', SONDE_PT_WANT_RETURNS},
	        {'k', SONDE_PT_WANT_BLOCKS},
	        {'p', SONDE_PT_WANT_EVENTS},
	        {'e', 0},
	};
	const size_t n = sizeof(letters) / sizeof(letters[0]);

	f->want = 0;
	while (*p != '\0') {
		char letter = *p++;
		size_t i = 0;

		while (i < n && letters[i].letter != letter) {
			i++;
		}
		if (i == n) {
			return false;
		}
		f->want |= letters[i].want;
		p = letter == 'i' ? parse_period(f, p) : p;
	}
	f->want |= f->want == 0 ? SONDE_PT_WANT_NOTHING : 0;
	return true;
}

static int run(struct flow *f, const struct option_command *command, int argc, char **argv)
{
	struct option_rest rest;
	struct pt_trace trace;
	int rc = options_parse(command, argc, argv, &rest);

	if (rc != OPTIONS_RUN) {
		return rc;
	}
	if (rest.argc > 1 || (rest.argc == 1) == (f->trace != NULL)) {
		return options_mistake(command, "one trace is wanted");
	}
	f->want = SONDE_PT_WANT_EVENTS | (f->branches ? SONDE_PT_WANT_TAKEN : SONDE_PT_WANT_INSNS);
	if (f->itrace != NULL && !parse_itrace(f, f->itrace)) {
		return options_mistake(command, "--itrace takes the letters i b n c r k p e");
	}
	rc = pt_trace_read(&trace, f->trace != NULL ? f->trace : rest.argv[0]);
	if (rc != 0) {
		return rc;
	}
	f->show_blocks = f->show_blocks && f->blocks;
	rc = follow(f, &trace);
	pt_trace_free(&trace);
	return rc;
}

#define FILTER_OPTIONS(f, n)                                                                       \
	OPTION_UINT(0, "filter:addr" #n "_cfg", &(f)->filter_cfg[n], "N",                          \
	        "1: range " #n " was traced"),                                                     \
	        OPTION_UINT(0, "filter:addr" #n "_a", &(f)->filter_a[n], "ADDRESS",                \
	                "its first address"),                                                      \
	        OPTION_UINT(0, "filter:addr" #n "_b", &(f)->filter_b[n], "ADDRESS",                \
	                "its last address")

int cmd_pt_flow(int argc, char **argv)
{
	struct flow f = {.code = {.image = sonde_pt_image_new()}, .out = stdout};
	const struct option_def defs[] = {
	        OPTION_TEXT(0, "pt", &f.trace, "FILE[:FROM[-TO]]", "the trace"),
	        OPTION_CALL(0, "raw", OPTION_REQUIRED, pt_code_raw, &f.code,
	                "FILE[:FROM[-TO]]:ADDRESS", "code: bytes of a file at an address"),
	        OPTION_CALL(0, "elf", OPTION_REQUIRED, pt_code_elf, &f.code, "FILE[:ADDRESS]",
	                "code: segments of an ELF file, moved to an address"),
	        OPTION_CALL(0, "cr3", OPTION_REQUIRED, pt_code_cr3, &f.code, "N",
	                "use the code of later options only with this CR3"),
	        OPTION_CALL(0, "vmcs", OPTION_REQUIRED, pt_code_vmcs, &f.code, "N",
	                "use the code of later options only with this VMCS"),
	        OPTION_CALL(0, "root", OPTION_REQUIRED, pt_code_root, &f.code, "yes|no",
	                "the same: only outside (yes) or inside (no) of virtual machines"),
	        OPTION_CALL(0, "from", OPTION_REQUIRED, pt_code_from, &f.code, "OFFSET",
	                "use the code of later options from this offset in the trace on"),
	        OPTION_CALL(0, "from-tsc", OPTION_REQUIRED, pt_code_from_tsc, &f.code, "TSC",
	                "use the code of later options from this time on"),
	        OPTION_CALL(0, "cpu", OPTION_REQUIRED, pt_cpu_parse, &f.cpu,
	                "none|auto|FAMILY/MODEL", "the processor, for its errata"),
	        OPTION_SWITCH(0, "count", &f.count, "print only totals"),
	        OPTION_SWITCH(0, "edges", &f.edges,
	                "with --count: print the edges, from and to and how often"),
	        OPTION_UINT('j', "jobs", &f.jobs, "N", "threads"),
	        OPTION_UINT(0, "part", &f.part, "BYTES",
	                "minimum size of a thread's part of the trace"),
	        OPTION_SWITCH(0, "branches", &f.branches, "print taken branches: from, to"),
	        OPTION_TEXT(0, "itrace", &f.itrace, "LETTERS",
	                "what to print: i[N][i|t] b n c r k p e"),
	        OPTION_SWITCH(0, "gaps", &f.gaps, "print ranges of skipped packets"),
	        OPTION_SWITCH(0, "time", &f.time, "print the time after each line"),
	        OPTION_SWITCH(0, "psb", &f.psb, "print the last good PSB with errors"),
	        OPTION_SWITCH(
	                0, "ipc", &f.ipc, "print instructions per cycle where cycles are known"),
	        OPTION_SWITCH(0, "quiet", &f.quiet, "print only errors and statistics"),
	        OPTION_SWITCH(0, "stat", &f.stat, "print statistics at the end"),
	        OPTION_SWITCH(0, "stat:insn", &f.stat_insn, "only those of instructions"),
	        OPTION_SWITCH(0, "stat:blocks", &f.stat_blocks, "only those of blocks"),
	        OPTION_SWITCH(0, "resync-on-error", &f.keep_position,
	                "after an error, continue at the next IP, not at the next PSB"),
	        OPTION_SWITCH(0, "event:ip", &f.words.ip, "show the IPs of events"),
	        OPTION_SWITCH(0, "event:time", &f.event_time, "show the times of events"),
	        OPTION_SWITCH(0, "event:tick", &f.words.ticks, "show each change of the time"),
	        OPTION_SWITCH(
	                0, "event:iflags", &f.words.iflags, "show changes of the interrupt flag"),
	        OPTION_SWITCH(0, "insn-decoder", &f.insn_decoder, "count no blocks (default)"),
	        OPTION_SWITCH(0, "block-decoder", &f.blocks, "count blocks"),
	        OPTION_SWITCH(0, "block:show-blocks", &f.show_blocks, "show where blocks begin"),
	        OPTION_SWITCH(0, "block:end-on-call", &f.end_on_call, "calls end blocks"),
	        OPTION_SWITCH(0, "block:end-on-jump", &f.end_on_jump, "jumps end blocks"),
	        OPTION_SWITCH(0, "insn:keep-tcal-on-ovf", &f.keep_calibration,
	                "keep the calibration after lost packets"),
	        OPTION_SWITCH(0, "block:keep-tcal-on-ovf", &f.keep_calibration, "the same"),
	        OPTION_SWITCH(0, "check", &f.check, "accepted; errors are always shown"),
	        OPTION_SWITCH(0, "no-inst", &f.no_inst, "accepted; only IPs are shown"),
	        PT_CLOCK_OPTIONS(&f.clock),
	        FILTER_OPTIONS(&f, 0),
	        FILTER_OPTIONS(&f, 1),
	        FILTER_OPTIONS(&f, 2),
	        FILTER_OPTIONS(&f, 3),
	        OPTION_END,
	};
	const struct option_command command = {
	        .name = "pt flow",
	        .usage = "[options] --pt FILE.pt",
	        .about = "Lists the instructions that ran, according to a raw Intel PT trace.",
	        .defs = defs,
	        .anywhere = true,
	};
	int rc;

	if (f.code.image == NULL) {
		(void)fprintf(stderr, "Error: out of memory\n");
		return PT_EXIT_FILE;
	}
	rc = run(&f, &command, argc, argv);
	pt_code_free(&f.code);
	return rc;
}
