/* SPDX-License-Identifier: MIT */
/*
 * Event strings to attrs (blanks are allowed around every part):
 *
 *	STRING    = ITEM {"," ITEM}
 *	ITEM      = EVENT | [NAME] "{" EVENT {"," EVENT} "}" [":" MODIFIERS]
 *	EVENT     = NAME ["/" [TERMS] "/"] [[":"] MODIFIERS]       cycles, r1a8, cpu-clock/period=1000/u
 *	          | PMU "/" [TERMS] "/" [[":"] MODIFIERS]          cpu/event=0x3c,umask=0x1/u, intel_pt//
 *	          | "mem:" ADDR ["/" LENGTH] [":" r w x] [":" MODIFIERS]
 *	          | SYSTEM ":" NAME ["/" TERMS "/"] [":" MODIFIERS]  a tracepoint, both may be globs
 *	TERMS     = TERM {"," TERM}
 *	TERM      = NAME ["=" VALUE]     the value may be quoted; without a value it is 1
 *	MODIFIERS = u k h (where it counts) G H (guest, host) I (not when idle) p pp ppp P (precise)
 *	            D (pinned) e (exclusive) W (weak) b (BPF) S (a group's leader samples for all)
 *
 * A NAME without PMU may also be an event of sysfs ("mem-loads") or one that libpfm4 knows.
 */
#ifndef SONDE_EVENT_EVENT_H
#define SONDE_EVENT_EVENT_H

#include "core/arena.h"
#include "core/status.h"

#include <sonde/attr.h>

#include <stdbool.h>

/* The terms of an event; a bit of `set` for each one that was given. */
enum event_term_bit {
	EVENT_TERM_PERIOD = 1 << 0,
	EVENT_TERM_FREQ = 1 << 1,
	EVENT_TERM_TIME = 1 << 2,
	EVENT_TERM_CALL_GRAPH = 1 << 3,
	EVENT_TERM_STACK_SIZE = 1 << 4,
	EVENT_TERM_INHERIT = 1 << 5,
	EVENT_TERM_MAX_STACK = 1 << 6,
	EVENT_TERM_NR = 1 << 7,
	EVENT_TERM_OVERWRITE = 1 << 8,
	EVENT_TERM_PERCORE = 1 << 9,
	EVENT_TERM_AUX_OUTPUT = 1 << 10,
	EVENT_TERM_AUX_SAMPLE_SIZE = 1 << 11,
	EVENT_TERM_AUX_ACTION = 1 << 12,
	EVENT_TERM_BRANCH_TYPE = 1 << 13,
	EVENT_TERM_NAME = 1 << 14,
	EVENT_TERM_DRIVER = 1 << 15,
	EVENT_TERM_METRIC_ID = 1 << 16
};

enum event_call_graph {
	EVENT_CALL_GRAPH_NO,
	EVENT_CALL_GRAPH_FP,
	EVENT_CALL_GRAPH_DWARF,
	EVENT_CALL_GRAPH_LBR
};

/* Events that the tool counts itself; the kernel gets a dummy event. */
enum event_tool {
	EVENT_TOOL_NONE,
	EVENT_TOOL_DURATION, /* from the beginning to the end of the measurement */
	EVENT_TOOL_USER, /* of the command, known when it was waited for */
	EVENT_TOOL_SYSTEM,
	EVENT_TOOLS
};

struct event_terms {
	uint32_t set; /* enum event_term_bit */
	uint64_t period; /* in events */
	uint64_t freq; /* in Hz */
	bool time;
	bool inherit;
	bool overwrite;
	bool percore;
	bool aux_output;
	enum event_call_graph call_graph;
	uint32_t stack_size; /* bytes of user stack in a sample */
	uint32_t max_stack; /* frames */
	uint64_t nr; /* number of samples after which the event is disabled */
	uint32_t aux_sample_size; /* bytes */
	uint32_t aux_action; /* bits of attr.aux_action */
	uint64_t branch_type; /* attr.branch_sample_type */
};

struct event {
	struct sonde_attr attr; /* type, configs, exclude bits, precise_ip; sample_type: fields
	                           that the event always needs */
	const char *name; /* as in the file, with modifiers; owned by the list */
	const char *group_name; /* of the group that it leads; "" if the group has no name */
	size_t leader; /* index of its group's leader; its own index without a group */
	size_t members; /* of the group that it leads, itself included; 0: not a leader */
	size_t instance; /* index among the PMUs that its string matched */
	uint64_t default_period; /* used if no rate is requested; 0: sample by frequency */
	struct event_terms terms;
	const char *pmu; /* NULL: not a PMU of sysfs */
	const char *cpus; /* cpus that can count it, as "0,2-3"; NULL: all */
	bool uncore; /* counts for a whole package: with pid -1, on `cpus` */
	const char *unit; /* unit of its counts, "" for events; NULL: unknown */
	double scale; /* counts times this are `unit`s; 1 by default */
	const char *filter; /* an expression for a tracepoint, or address filters; NULL: none */
	const char *driver_config; /* terms for the driver ("@sink"), joined by ","; NULL: none */
	bool aux; /* fills an AUX area */
	bool text_address; /* config1 is the address of a text in the list: meaningless in a file */
	uint64_t unasked; /* bits of config set by default that AUX sampling must clear: a long
	                     PSB period */
	enum event_tool tool; /* the tool counts it, in ns, not the kernel */
	bool clock; /* counts nanoseconds, shown as msec */
	bool hardware; /* needs a hardware PMU; cycles may fall back to cpu-clock */
	bool everywhere; /* for all tasks, whichever tasks are recorded: sched_switch with a
	                    trace */
	bool tracking; /* the dummy event added for system-wide recording */
	bool most_precise; /* P: the highest precision that the hardware has */
	bool stand_in; /* cpu-clock instead of cycles: its name is derived from its attr */
	bool by_default; /* not requested by name */
	bool leader_samples; /* S: samples of its leader contain its count */
	bool weak; /* W: may leave its group if the group cannot be scheduled */
};

/* Finds a tool event by its name in a file, with modifiers. */
enum event_tool event_tool_named(const char *name);
const char *event_tool_name(enum event_tool tool);

struct event_machine;

/* Empty when zero-initialised. */
struct event_list {
	struct event *v;
	size_t n;
	size_t cap;
	size_t last; /* index of the first event of the last word of a string */
	struct arena arena; /* owns the texts */
	struct event_machine *machine; /* what was read from sysfs; NULL: nothing yet */
};

void event_list_fini(struct event_list *list);

/* Adds an empty event; NULL: out of memory. Valid until the next one is added. */
struct event *event_list_add(struct event_list *list);

/* Sets the name to a copy owned by the list; false: out of memory. */
bool event_set_name(struct event_list *list, struct event *event, const char *name);

/*
 * Adds the events of one string. root: descriptor of the directory that contains sys, for PMUs and
 * tracepoints; -1: none. SONDE_EARG: the text shows the mistake and lists what is valid;
 * SONDE_EPERM, SONDE_EIO: tracepoints cannot be read; SONDE_ENOMEM.
 */
int event_parse(struct event_list *list, int root, const char *text, struct error *err);

/*
 * Adds a filter to the events of the last word of the last string; earlier filters still apply
 * ("(a) && (b)"). SONDE_EARG: they accept none; SONDE_ENOMEM.
 */
int event_set_filter(struct event_list *list, const char *filter, struct error *err);

/* Whether the machine has several kinds of cores, each with counters of its own. */
bool event_cores_differ(struct event_list *list, int root);

/* Adds the default event: cycles with the highest precision of the hardware. */
int event_add_default(struct event_list *list, struct error *err);

/* Replaces a cycles event by cpu-clock, with the name that perf uses for that. */
bool event_use_cpu_clock(struct event_list *list, struct event *event);

/* Sets the name of a stand-in, or of the tracking event, from its attr; false: out of memory. */
bool event_name_again(struct event_list *list, struct event *event);

/* Excludes the kernel, when only user space is allowed, and changes the name as perf does. */
bool event_exclude_kernel(struct event_list *list, struct event *event);

#endif
