/* SPDX-License-Identifier: MIT */
/* What the files of this folder share: the parser's state, tables of names, PMUs of sysfs. */
#ifndef SONDE_EVENT_PARTS_H
#define SONDE_EVENT_PARTS_H

#include "core/text.h"
#include "event/event.h"
#include "record/event_name.h"

/* A piece of the string that is parsed. */
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

/* SONDE_EARG: a message, the string, and marks under the word that is wrong. */
int event_fail(const struct parse *p, struct word at, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));

/* One more line behind a message: what would be valid. Returns the error's status. */
int event_hint(struct error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

bool word_is(struct word w, const char *text);
struct word word_trim(struct word w);

/* Decimal, or hexadecimal behind 0x; false when it is no number or does not fit into 64 bits. */
bool word_number(struct word w, uint64_t *value);

/* The names that are nearest to a misspelt word, best first. */
#define NEAR_MAX 4
struct near {
	struct word word;
	struct word best[NEAR_MAX];
	unsigned distance[NEAR_MAX];
	size_t n;
};

void near_offer(struct near *near, const char *name); /* must live as long as `near` */
void near_hint(const struct near *near, struct error *err); /* "did you mean ...?" or nothing */

/* names.c: what has the same name on every machine */
const struct record_event_name *event_name_find(struct word w);
enum event_tool event_tool_find(struct word w);
bool event_cache_parse(struct word w, uint64_t *config);
bool event_raw_parse(struct word w, uint64_t *config); /* rNNN: up to 16 digits */

/* The usual name of the i-th combination of cache, operation and result; false behind the last. */
bool event_cache_name(size_t i, char out[32], uint64_t *config);

/* modifier.c; 0, or SONDE_EARG with a message. member: a group is pinned or exclusive by its leader. */
int event_modify(const struct parse *p, struct event *event, struct word letters, bool member);
bool event_is_modifiers(struct word w); /* nothing but letters that are modifiers */

/* term.c */
struct term {
	struct word name;
	struct word value; /* p NULL: none was given */
};

/* Takes the next term; 0 at the end. *at moves to behind it. */
int term_next(const struct parse *p, const char **at, const char *end, struct term *out);

/* The slash that ends the terms which begin at p; NULL: there is none. */
const char *term_close(const char *p);

/* Applies a term that every event can have: 1; 0: it is none of these; negative: wrong value. */
int term_apply(const struct parse *p, struct event *event, const struct term *term);
void term_list(struct text *out); /* their names */

/* A number in [least, most], with a message that says so; a term without a value is 1. */
int term_number(const struct parse *p, const struct term *term, uint64_t least, uint64_t most,
        uint64_t *value);

/* pmu.c */
enum { PMU_CONFIGS = 5 }; /* config, config1 .. config4 */

struct pmu_format {
	const char *name;
	unsigned config; /* 0: config, 1: config1, ... */
	uint64_t mask; /* its bits; a value's lowest bit stands at the lowest of them */
	const char *text; /* as sysfs has it: "config:0-7,32-35" */
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
	const char *cpus; /* of the files cpus or cpumask; NULL: neither is there */
	bool core; /* has a file cpus: the counters of some of the machine's cores */
	bool uncore; /* has a file cpumask: counts for what is outside of cores */
	bool aux; /* fills an AUX area */
	bool read; /* formats and aliases were */
	struct pmu_format *formats;
	size_t nformats;
	struct pmu_alias *aliases;
	size_t naliases;
};

struct event_machine {
	struct arena arena;
	struct event_pmu *pmus; /* by name, numbers in names by their value */
	size_t n;
	size_t ncores; /* PMUs with `core`; two or more: cores differ */
};

/* The PMUs of the machine; NULL: no memory. Without sysfs there are none. */
struct event_machine *pmu_machine(struct event_list *list, int root);
void pmu_machine_free(struct event_machine *m);
bool pmu_read(struct event_machine *m, int root, struct event_pmu *pmu); /* false: no memory */
const struct pmu_format *pmu_format_find(const struct event_pmu *pmu, struct word name);
const struct pmu_alias *pmu_alias_find(const struct event_pmu *pmu, struct word name);
bool pmu_matches(const struct event_pmu *pmu, struct word name, bool exact);
/* A hexadecimal number in a file of one of the PMU's folders. */
bool pmu_number(int root, const struct event_pmu *pmu, const char *folder, const char *file,
        uint64_t *value);
bool pmu_cap(int root, const struct event_pmu *pmu, const char *cap, uint64_t *value);
uint64_t pmu_deposit(uint64_t mask, uint64_t value);
uint64_t pmu_format_max(const struct pmu_format *format);
bool pmu_format_decode(const char *text, struct pmu_format *out); /* false: not understood */

/* pmu_event.c: PMU/TERMS/ as one event for each PMU that is meant, and NAME as an alias */
int pmu_event_parse(const struct parse *p, struct word name, struct word terms);
int pmu_alias_parse(const struct parse *p, struct word name); /* 1, or 0: none has it */

/*
 * Where cores differ, a counter that all machines know is one event for each kind of them. Returns
 * how many were added: 0 where they do not differ.
 */
int pmu_core_events(const struct parse *p, uint32_t type, uint64_t config);

/* intel_pt.c: what is on when nothing else is said, and what this processor's PMU cannot */
uint64_t intel_pt_default(int root, const struct event_pmu *pmu);
int intel_pt_check(
        const struct parse *p, const struct event_pmu *pmu, struct event *event, struct word terms);

/* probe.c: text terms of kprobe and uprobe: 1, 0: none of these */
int probe_term(const struct parse *p, struct event *event, const struct term *term);

/* Those of a PMU, for a list; "" for other PMUs. */
const char *probe_terms(const char *pmu);

/* breakpoint.c, tracepoint.c, pfm.c: *at moves to behind the event */
int breakpoint_parse(const struct parse *p, const char **at);
const char *tracepoint_place(int root); /* the folder of all; NULL: tracefs is not mounted */
/* Calls for each, sorted. 1; 0: tracefs cannot be read; SONDE_ENOMEM, also when the call gives false. */
int tracepoint_each(
        int root, bool (*call)(void *arg, const char *system, const char *name), void *arg);
bool tracepoint_has_system(int root, struct word system); /* or it is a glob */
int tracepoint_parse(const struct parse *p, struct word system, struct word name);
int pfm_parse(const struct parse *p, struct word name); /* 1, or 0: libpfm4 does not know it */
const char *pfm_about(void); /* "libpfm4", or NULL: it is not here */

#endif
