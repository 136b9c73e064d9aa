/* SPDX-License-Identifier: MIT */
/* Private to event: the parser's state, tables of names, PMUs of sysfs. */
#ifndef SONDE_EVENT_PARTS_H
#define SONDE_EVENT_PARTS_H

#include "core/near.h"
#include "core/text.h"
#include "event/event.h"
#include "record/event_name.h"
#include "record/record.h"

/* A part of the parsed string. */
struct word {
	const char *p;
	size_t n;
};

struct parse {
	struct event_list *list;
	struct error *err;
	const char *text; /* the whole string */
	int root; /* -1: no sysfs */
};

/* Returns SONDE_EARG with a message: the text, the string, and marks under the wrong word. */
int event_fail(const struct parse *p, struct word at, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));

/* Adds a line to a message, such as the valid values. Returns the error's status. */
int event_hint(struct error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

bool word_is(struct word w, const char *text);
struct word word_trim(struct word w);

/* Decimal, or hexadecimal after 0x; false: no number, or more than 64 bits. */
bool word_number(struct word w, uint64_t *value);

/* Appends "did you mean 'a' or 'b'?" to the message, if there are similar names. */
void near_hint(const struct near *near, struct error *err);

/* names.c: names that every machine has */
const struct record_event_name *event_name_find(struct word w);
enum event_tool event_tool_find(struct word w);
bool event_cache_parse(struct word w, uint64_t *config);
bool event_raw_parse(struct word w, uint64_t *config); /* rNNN: up to 16 digits */

/* Usual name of the i-th combination of cache, operation and result; false: i is past the last. */
bool event_cache_name(size_t i, char out[32], uint64_t *config);

/*
 * modifier.c; 0, or SONDE_EARG with a message. member: pinned and exclusive are set on the leader.
 */
int event_modify(const struct parse *p, struct event *event, struct word letters, bool member);
bool event_is_modifiers(struct word w); /* only letters that are modifiers */

/* term.c */
struct term {
	struct word name;
	struct word value; /* p NULL: no value */
};

/* Reads the next term and advances *at past it; 0 at the end. */
int term_next(const struct parse *p, const char **at, const char *end, struct term *out);

/* Returns the slash that ends the terms beginning at p, or NULL. */
const char *term_close(const char *p);

/* Applies a term that all events accept: 1; 0: not such a term; negative: invalid value. */
int term_apply(const struct parse *p, struct event *event, const struct term *term);
void term_list(struct text *out); /* appends their names */

/* Reads a number in [least, most], or fails with a message; without a value it is 1. */
int term_number(const struct parse *p, const struct term *term, uint64_t least, uint64_t most,
        uint64_t *value);

/* pmu.c */
enum { PMU_CONFIGS = 5 }; /* config, config1 .. config4 */

struct pmu_format {
	const char *name;
	unsigned config; /* 0: config, 1: config1, ... */
	uint64_t mask; /* its bits; bit 0 of a value goes to the lowest of them */
	const char *text; /* as in sysfs: "config:0-7,32-35" */
};

struct pmu_alias {
	const char *name;
	const char *terms; /* "event=0x3c,umask=0x1" */
	const char *unit; /* NULL: none */
	double scale;
};

struct event_pmu {
	const char *name;
	uint32_t type;
	const char *cpus; /* from the files cpus or cpumask; NULL: neither exists */
	bool core; /* has a file cpus: counters of some of the machine's cores */
	bool uncore; /* has a file cpumask: counts something outside of cores */
	bool aux; /* fills an AUX area */
	bool read; /* formats and aliases were read */
	struct pmu_format *formats;
	size_t nformats;
	struct pmu_alias *aliases;
	size_t naliases;
};

struct event_machine {
	struct arena arena;
	struct event_pmu *pmus; /* by name, with numbers in names compared by value */
	size_t n;
	size_t ncores; /* PMUs with `core`; two or more: several kinds of cores */
};

/* Returns the PMUs of the machine (none without sysfs); NULL: out of memory. */
struct event_machine *pmu_machine(struct event_list *list, int root);
void pmu_machine_free(struct event_machine *m);
bool pmu_read(struct event_machine *m, int root, struct event_pmu *pmu); /* false: out of memory */
const struct pmu_format *pmu_format_find(const struct event_pmu *pmu, struct word name);
const struct pmu_alias *pmu_alias_find(const struct event_pmu *pmu, struct word name);
bool pmu_matches(const struct event_pmu *pmu, struct word name, bool exact);
/* Reads a hexadecimal number from a file in one of the PMU's folders. */
bool pmu_number(int root, const struct event_pmu *pmu, const char *folder, const char *file,
        uint64_t *value);
bool pmu_cap(int root, const struct event_pmu *pmu, const char *cap, uint64_t *value);
uint64_t pmu_deposit(uint64_t mask, uint64_t value);
uint64_t pmu_format_max(const struct pmu_format *format);
bool pmu_format_decode(const char *text, struct pmu_format *out); /* false: unknown format */

/* pmu_event.c: PMU/TERMS/ as one event for each matching PMU, and NAME as an alias */
int pmu_event_parse(const struct parse *p, struct word name, struct word terms);
int pmu_alias_parse(const struct parse *p, struct word name); /* 1, or 0: no PMU has it */

/*
 * On a machine with several kinds of cores, adds a generic counter as one event for each kind.
 * Returns the number of added events: 0 if there is one kind.
 */
int pmu_core_events(const struct parse *p, uint32_t type, uint64_t config);

/* intel_pt.c: defaults, and settings that this processor's PMU does not support */
uint64_t intel_pt_default(int root, const struct event_pmu *pmu);
int intel_pt_check(
        const struct parse *p, const struct event_pmu *pmu, struct event *event, struct word terms);

/* probe.c: text terms of kprobe and uprobe: 1, 0: another term */
int probe_term(const struct parse *p, struct event *event, const struct term *term);

/* Terms for a list; "" for other PMUs. */
const char *probe_terms(const char *pmu);

/* breakpoint.c, tracepoint.c, pfm.c: advance *at past the event */
int breakpoint_parse(const struct parse *p, const char **at);
/*
 * Calls a function for each, sorted. 1; 0: tracefs cannot be read; SONDE_ENOMEM, or the function
 * returned false.
 */
int tracepoint_each(
        int root, bool (*call)(void *arg, const char *system, const char *name), void *arg);
bool tracepoint_has_system(int root, struct word system); /* true for a glob too */
int tracepoint_parse(const struct parse *p, struct word system, struct word name);
int pfm_parse(const struct parse *p, struct word name); /* 1, or 0: unknown to libpfm4 */
const char *pfm_about(void); /* "libpfm4", or NULL: not available */

#endif
