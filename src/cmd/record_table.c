/* SPDX-License-Identifier: MIT */
/* The options of `sonde record`: a table for each group in --help. */
#include "cmd/record.h"

#include <assert.h>
#include <string.h>

static struct option_def *target_options(struct option_def *to, struct record_command *c)
{
	struct sonde_recorder_targets *o = &c->options.targets;
	const struct option_def group[] = {
	        OPTION_HEADING("What to record"),
	        OPTION_SWITCH('a', "all-cpus", &o->all_cpus, "all processes on all cpus"),
	        OPTION_TEXT('C', "cpu", &o->cpus, "LIST", "all processes on cpus such as 0,2-3"),
	        OPTION_TEXT('p', "pid", &o->pids, "PID[,PID]", "running processes"),
	        OPTION_TEXT('t', "tid", &o->tids, "TID[,TID]", "running threads, without children"),
	        OPTION_TEXT('u', "uid", &o->user, "USER", "all processes of a user"),
	        OPTION_EACH('G', "cgroup", record_on_cgroups, c, "NAME[,NAME]",
	                "with -a: only tasks in control groups"),
	        OPTION_SWITCH(0, "per-thread", &o->per_thread, "rings for threads, not cpus"),
	        {.short_name = 'i',
	                .long_name = "no-inherit",
	                .kind = OPTION_KIND_SWITCH,
	                .target = &o->no_inherit,
	                .given = &c->inherit_given,
	                .help = "do not record child processes"},
	};

	return OPTIONS_PUT(to, group);
}

static struct option_def *event_options(struct option_def *to, struct record_command *c)
{
	struct sonde_recorder_events *o = &c->options.events;
	const struct option_def group[] = {
	        OPTION_EACH('e', "event", record_on_event, c, "EVENT[,EVENT]",
	                "events, such as cpu-clock, page-faults:u (default: cycles)"),
	        OPTION_CALL('F', "freq", OPTION_REQUIRED, record_on_frequency, c, "N|max",
	                "samples a second (default: 4000)"),
	        OPTION_SWITCH(0, "strict-freq", &o->strict_frequency,
	                "fail if this frequency is not allowed"),
	        OPTION_UINT('c', "count", &o->period, "N", "a sample every N events"),
	        OPTION_SWITCH(0, "group", &o->group, "all events are one group"),
	        OPTION_EACH(0, "filter", record_on_filter, c, "FILTER",
	                "for the tracepoint or trace before it"),
	        {.long_name = "exclude-perf",
	                .kind = OPTION_KIND_CALL,
	                .call = record_on_exclude_perf,
	                .target = c,
	                .each = true,
	                .help = "exclude sonde itself: a filter for the tracepoint before it"},
	        OPTION_SWITCH(0, "all-user", &o->all_user, "only events in user space"),
	        OPTION_SWITCH(0, "all-kernel", &o->all_kernel, "only events in the kernel"),
	};

	return OPTIONS_PUT(to, group);
}

static struct option_def *sample_options(struct option_def *to, struct record_command *c)
{
	struct sonde_recorder_samples *o = &c->options.samples;
	struct sonde_recorder_chains *chains = &c->options.chains;
	const struct option_def group[] = {
	        OPTION_HEADING("Contents of a sample"),
	        OPTION_SWITCH('g', NULL, &chains->frame_pointers, "call chains by frame pointers"),
	        OPTION_WORD(0, "call-graph", &chains->mode, "MODE[,SIZE]", "fp dwarf unwind lbr",
	                "call chains: fp, dwarf (stack dumps), unwind or lbr"),
	        {.long_name = "call-graph-default",
	                .kind = OPTION_KIND_TEXT,
	                .arg = OPTION_REQUIRED,
	                .target = &c->chain_mode,
	                .config_only = true},
	        {.long_name = "dump-size-default",
	                .kind = OPTION_KIND_UINT,
	                .arg = OPTION_REQUIRED,
	                .target = &c->dump_size,
	                .config_only = true},
	        OPTION_SWITCH(0, "kernel-callchains", &chains->kernel_only,
	                "the kernel's part of call chains only"),
	        OPTION_SWITCH(0, "user-callchains", &chains->user_only,
	                "the user's part of call chains only"),
	        OPTION_SWITCH('d', "data", &o->addresses, "data addresses"),
	        OPTION_SWITCH(0, "phys-data", &o->phys_addresses, "physical data addresses"),
	        OPTION_SWITCH(0, "data-page-size", &o->data_page_sizes, "page sizes of data"),
	        OPTION_SWITCH(0, "code-page-size", &o->code_page_sizes, "page sizes of code"),
	        OPTION_CALL('T', "timestamp", OPTION_NONE, record_on_choice, &o->times, NULL,
	                "times (the default)"),
	        OPTION_CALL(
	                'P', "period", OPTION_NONE, record_on_choice, &o->periods, NULL, "periods"),
	        OPTION_SWITCH(0, "sample-cpu", &o->cpu, "cpus"),
	        OPTION_SWITCH(
	                0, "sample-identifier", &o->identifier, "the event's id at a fixed offset"),
	        OPTION_SWITCH('s', "stat", &o->thread_counts, "counts of each task as it ends"),
	        OPTION_SWITCH('n', "no-samples", &o->none, "no samples"),
	        OPTION_SWITCH('R', "raw-samples", &o->raw, "raw data"),
	        OPTION_SWITCH('W', "weight", &o->weights, "weights"),
	        OPTION_SWITCH(0, "transaction", &o->transactions, "transaction flags"),
	        OPTION_CALL('b', "branch-any", OPTION_NONE, record_on_branch_any, &o->branches,
	                NULL, "recent branches"),
	        OPTION_WORD('j', "branch-filter", &o->branches, "KIND[,KIND]",
	                "u k hv any any_call any_ret ind_call abort_tx in_tx no_tx cond stack "
	                "ind_jmp "
	                "call no_flags no_cycles save_type hw_index priv counter",
	                "recent branches of some kinds"),
	        OPTION_CALL('I', "intr-regs", OPTION_OPTIONAL, record_on_registers, &o->intr_regs,
	                "REGS", "registers; '?' lists them"),
	        OPTION_CALL(0, "user-regs", OPTION_OPTIONAL, record_on_registers, &o->user_regs,
	                "REGS", "user-space registers"),
	        OPTION_SWITCH(0, "running-time", &o->running_time, "how long counters ran"),
	        OPTION_CALL_WORD('k', "clockid", record_on_clock, c, "CLOCK",
	                "monotonic monotonic_raw realtime boottime tai", "clock for times"),
	};

	return OPTIONS_PUT(to, group);
}

static struct option_def *side_band_options(struct option_def *to, struct record_command *c)
{
	struct sonde_recorder_side_band *o = &c->options.side_band;
	const struct option_def group[] = {
	        OPTION_HEADING("Side-band"),
	        {.long_name = "switch-events",
	                .kind = OPTION_KIND_SWITCH,
	                .target = &o->switches,
	                .given = &c->switches_given,
	                .help = "context switches"},
	        OPTION_SWITCH(0, "latency", &o->switches, "the same, which report --latency needs"),
	        OPTION_SWITCH(0, "namespaces", &o->namespaces, "namespaces of tasks"),
	        OPTION_SWITCH(0, "all-cgroups", &o->cgroups, "cgroups of samples"),
	        OPTION_SWITCH(0, "no-bpf-event", &o->no_bpf,
	                "no records of BPF programs that are loaded"),
	        OPTION_WORD(0, "synth", &o->synthesis, "KIND[,KIND]", "task mmap cgroup all no",
	                "state at the beginning: task, mmap, cgroup, all or no"),
	        OPTION_SWITCH(0, "tail-synthesize", &o->tail_synthesis,
	                "write this state at the end, not at the beginning"),
	        OPTION_UINT(0, "num-thread-synthesize", &o->synth_threads, "N",
	                "threads that read this state"),
	        OPTION_UINT(0, "proc-map-timeout", &o->maps_limit_ms, "MS",
	                "time limit for reading the mappings of a process (default: 500)"),
	};

	return OPTIONS_PUT(to, group);
}

static struct option_def *trace_options(struct option_def *to, struct record_command *c)
{
	struct sonde_recorder_options *o = &c->options;
	const struct option_def group[] = {
	        OPTION_HEADING("Trace (an event with an AUX area, such as intel_pt//)"),
	        OPTION_SWITCH(0, "soft-pt", &c->soft_pt,
	                "intel_pt//u without the hardware: the program runs under ptrace"),
	        OPTION_SWITCH(0, "soft-pt-steps", &c->single_steps,
	                "the same, stopping at every instruction: slow, for comparison"),
	        OPTION_CALL('S', "snapshot", OPTION_OPTIONAL, record_on_snapshot, c, "[e]SIZE",
	                "keep only the trace before each SIGUSR2; e: and the end"),
	        OPTION_CALL(0, "aux-sample", OPTION_OPTIONAL, record_on_aux_sample, c, "BYTES",
	                "pieces of trace in samples of the other events of its group"),
	        OPTION_SWITCH(
	                0, "kcore", &o->output.kcore, "copy the kernel's code: writes a folder"),
	};

	return OPTIONS_PUT(to, group);
}

static struct option_def *output_options(struct option_def *to, struct record_command *c)
{
	struct sonde_recorder_options *all = &c->options;
	struct sonde_recorder_output *o = &all->output;
	struct sonde_recorder_build_ids *ids = &all->build_ids;
	const struct option_def group[] = {
	        OPTION_HEADING("Output"),
	        OPTION_TEXT('o', "output", &o->path, "FILE",
	                "output (default: perf.data); - is standard output, as a stream"),
	        OPTION_CALL('z', "compression-level", OPTION_OPTIONAL, record_on_compress, all,
	                "LEVEL", "compressed by zstd, 1 (the default) to 22"),
	        OPTION_CALL(0, "threads", OPTION_OPTIONAL, record_on_optional, &o->threads, "SPEC",
	                "write a folder, on threads: cpu, core, package, numa or "
	                "CPUS/AFFINITY:..."),
	        OPTION_CALL(0, "switch-output", OPTION_OPTIONAL, record_on_switch, all,
	                "signal|SIZE|TIME", "another file after SIGUSR2, 10M, 5s, ..."),
	        OPTION_EACH(0, "switch-output-event", record_on_trigger, c, "EVENT[,EVENT]",
	                "another file each time one of these events occurs"),
	        OPTION_UINT(
	                0, "switch-max-files", &all->switching.files, "N", "keep the last N files"),
	        OPTION_CALL(0, "max-size", OPTION_REQUIRED, record_on_bytes, &o->max_bytes, "SIZE",
	                "stop when this much is written"),
	        OPTION_SWITCH(
	                0, "timestamp-filename", &o->timestamps, "the time in the file's name"),
	        OPTION_SWITCH(0, "timestamp-boundary", &ids->sample_times,
	                "times of the first and last sample, also with -B"),
	        {.short_name = 'B',
	                .long_name = "no-buildid",
	                .kind = OPTION_KIND_SWITCH,
	                .target = &ids->none,
	                .given = &c->buildid_given,
	                .help = "no build ids in the file"},
	        OPTION_SWITCH(0, "buildid-all", &ids->all,
	                "build ids of all objects, not only of those that samples hit"),
	        OPTION_SWITCH(
	                0, "buildid-mmap", &ids->in_mappings, "build ids in records of mappings"),
	        {.long_name = "build-id-default",
	                .kind = OPTION_KIND_CALL,
	                .arg = OPTION_REQUIRED,
	                .call = record_on_build_id,
	                .target = c,
	                .config_only = true},
	        OPTION_SWITCH('N', "no-buildid-cache", &c->no_cache,
	                "do not copy objects that samples hit to ~/.debug"),
	        OPTION_CALL(0, "debuginfod", OPTION_OPTIONAL, record_on_optional, &c->debuginfod,
	                "URLS", "ignored with a warning: nothing is fetched"),
	};

	return OPTIONS_PUT(to, group);
}

static struct option_def *ring_options(struct option_def *to, struct record_command *c)
{
	struct sonde_recorder_options *o = &c->options;
	const struct option_def group[] = {
	        OPTION_HEADING("How"),
	        OPTION_CALL('m', "mmap-pages", OPTION_REQUIRED, record_on_pages, c,
	                "PAGES|SIZE[,AUX]", "size of a cpu's ring, and of its AUX area"),
	        OPTION_SWITCH(0, "overwrite", &o->buffers.overwrite,
	                "rings keep the newest records, written at the end"),
	        OPTION_CALL(0, "mmap-flush", OPTION_REQUIRED, record_on_bytes,
	                &o->buffers.flush_bytes, "SIZE", "read a ring when it has this much"),
	        OPTION_CALL(0, "aio", OPTION_OPTIONAL, record_on_optional, &c->aio, "N",
	                "write on a thread, N (1 to 4) blocks of 4 MiB ahead"),
	        OPTION_SWITCH(
	                0, "no-buffering", &o->buffers.no_buffering, "wake up for every sample"),
	        OPTION_UINT(
	                'r', "realtime", &c->realtime, "PRIO", "run with this SCHED_FIFO priority"),
	        OPTION_WORD(0, "affinity", &o->buffers.affinity, "MODE", "sys node cpu",
	                "cpus on which sonde reads a ring: sys, node or cpu"),
	        OPTION_TEXT('D', "delay", &o->control.delay, "MS|-1|FROM-TO,...",
	                "enable events after MS, or in ranges of ms; -1: by a command"),
	        OPTION_CALL(0, "control", OPTION_REQUIRED, record_on_control, c,
	                "fd:N[,N]|fifo:F[,F]",
	                "read commands from here, and acknowledge them there"),
	        OPTION_SWITCH(0, "dry-run", &o->dry_run, "check the options and stop"),
	        OPTION_SWITCH(0, "off-cpu", &c->off_cpu,
	                "ignored with a warning: time off the cpu is not recorded"),
	        OPTION_TEXT(0, "clang-path", &c->clang_path, "FILE",
	                "ignored with a warning: no BPF programs are compiled"),
	        OPTION_TEXT(0, "clang-opt", &c->clang_opt, "OPTIONS", "the same"),
	        OPTION_TEXT(0, "vmlinux", &c->vmlinux, "FILE", "the same"),
	};

	return OPTIONS_PUT(to, group);
}

void record_option_table(struct option_def *defs, struct record_command *c)
{
	const struct option_def last[] = {
	        OPTION_SWITCH('q', "quiet", &c->quiet, "errors only"),
	        OPTION_COUNT('v', "verbose", &c->verbose, "print more messages"),
	        OPTION_END,
	};
	struct option_def *to = defs;

	to = target_options(to, c);
	to = event_options(to, c);
	to = sample_options(to, c);
	to = side_band_options(to, c);
	to = trace_options(to, c);
	to = output_options(to, c);
	to = ring_options(to, c);
	to = OPTIONS_PUT(to, last);
	assert(to - defs <= RECORD_OPTIONS);
	(void)to;
}
