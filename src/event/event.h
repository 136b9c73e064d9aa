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
 *	TERM      = NAME ["=" VALUE]     the value may stand in quotes; without one it is 1
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

/* What the terms of one event ask for; a bit of `set` for each that was given. */
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

/* What a tool that counts knows by itself: in the kernel these are dummies. */
enum event_tool {
	EVENT_TOOL_NONE,
	EVENT_TOOL_DURATION, /* from the beginning to the end of counting */
	EVENT_TOOL_USER, /* of the command, when it was waited for */
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
	uint64_t nr; /* samples, then it is enough */
	uint32_t aux_sample_size; /* bytes */
	uint32_t aux_action; /* bits of attr.aux_action */
	uint64_t branch_type; /* attr.branch_sample_type */
};

struct event {
	struct sonde_attr attr; /* type, configs, exclude bits, precise_ip; sample_type: what it
	                           needs whatever is asked for */
	const char *name; /* as the file names it: with its modifiers; the list's */
	const char *group_name; /* of the group that it leads; "" when that has none */
	size_t leader; /* index of the event that leads its group: its own when it is alone */
	size_t members; /* of the group that it leads, with itself; 0 for the others */
	size_t instance; /* which of the PMUs that its string stands for */
	uint64_t default_period; /* when no rate is asked for; 0: by frequency */
	struct event_terms terms;
	const char *pmu; /* NULL: none of sysfs */
	const char *cpus; /* where it can be counted, as "0,2-3"; NULL: everywhere */
	bool uncore; /* counts for a whole package: with pid -1, on `cpus` */
	const char *unit; /* of what it counts, "" for events; NULL: not said */
	double scale; /* counts times this are `unit`s; 1 when not said */
	const char *filter; /* an expression for its tracepoint, or address filters; NULL: none */
	const char *driver_config; /* terms for the driver ("@sink"), joined by ","; NULL: none */
	bool aux; /* fills an AUX area */
	bool text_address; /* config1 is where a text of the list stands: of no use in a file */
	uint64_t unasked; /* bits of config that nobody asked for and that AUX sampling is better
	                     without: a long PSB period */
	enum event_tool tool; /* its count, in ns, is not the kernel's */
	bool clock; /* counts nanoseconds, shown as msec */
	bool hardware; /* needs a hardware PMU; cycles may fall back to cpu-clock */
	bool everywhere; /* of all tasks whoever is recorded: sched_switch beside a trace */
	bool tracking; /* the added dummy event of system-wide recording */
	bool most_precise; /* P: as precise as the hardware can */
	bool stand_in; /* cpu-clock for cycles: its name follows from its attr */
	bool by_default; /* nobody asked for it by name */
	bool leader_samples; /* S: samples of its leader hold its count */
	bool weak; /* W: may leave its group when that cannot be scheduled */
};

/* Of an event's name as files have it, with its modifiers. */
enum event_tool event_tool_named(const char *name);
const char *event_tool_name(enum event_tool tool);

struct event_machine;

/* Zero-initialised is a valid empty list. */
struct event_list {
	struct event *v;
	size_t n;
	size_t cap;
	size_t last; /* index of the first event that the last word of a string stood for */
	struct arena arena; /* of the texts */
	struct event_machine *machine; /* what was read of sysfs; NULL: nothing yet */
};

void event_list_fini(struct event_list *list);

/* Adds an empty event; NULL: no memory. Valid until the next one is added. */
struct event *event_list_add(struct event_list *list);

/* Gives it a name that the list keeps; false: no memory. */
bool event_set_name(struct event_list *list, struct event *event, const char *name);

/*
 * Adds the events of one string. root: the directory with sys in it, for PMUs and tracepoints; -1:
 * none are known. SONDE_EARG: the text shows the place and lists what is valid; SONDE_EPERM,
 * SONDE_EIO: tracepoints cannot be read; SONDE_ENOMEM.
 */
int event_parse(struct event_list *list, int root, const char *text, struct error *err);

/*
 * Gives the events that the last word of the last string stood for a filter; those that they have
 * hold too ("(a) && (b)"). SONDE_EARG: they take none; SONDE_ENOMEM.
 */
int event_set_filter(struct event_list *list, const char *filter, struct error *err);

/* Has the machine cores of several kinds, each with counters of its own? */
bool event_cores_differ(struct event_list *list, int root);

/* Adds what is recorded when nothing is asked for: cycles as precise as the hardware can. */
int event_add_default(struct event_list *list, struct error *err);

/* Turns a cycles event into the cpu-clock that stands in for it, with perf's name for that. */
bool event_use_cpu_clock(struct event_list *list, struct event *event);

/* Names a stand-in, or the event added for tracking, by what its attr leaves out; false: no memory.
 */
bool event_name_again(struct event_list *list, struct event *event);

/* Leaves the kernel out, as when only user space is allowed; the name says so in perf's way. */
bool event_exclude_kernel(struct event_list *list, struct event *event);

#endif
