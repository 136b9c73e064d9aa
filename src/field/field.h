/* SPDX-License-Identifier: MIT */
/*
 * The table of fields, which samples or rows of samples have values of. `script -F`, `report
 * --sort` and `--fields`, row keys, columns, JSON, help, completion and the check of the man pages
 * use it.
 *
 *	sample --get--> number or id of a text --> a row's words --> rank, text, JSON
 *	row ---total--> number                 ------------------> rank, text, JSON
 *
 * A new field is a getter in field.c and an entry in fields.inc. A row's key is a vector of 32-bit
 * words that the chosen keys fill, one after the other:
 *
 *	--sort comm,time,sym:   words  [ comm | time, time ]   and the frame of the row: its symbol
 */
#ifndef SONDE_FIELD_H
#define SONDE_FIELD_H

#include "core/arena.h"
#include "core/json.h"
#include "core/near.h"
#include "field/trace_texts.h"
#include "record/feature.h"
#include "session/session.h"

#include <sonde/preview/field.h>

#define FIELD(id, ...) FIELD_##id,
enum field_id {
#include "field/fields.inc"
	FIELD_COUNT
};
#undef FIELD

/* Fields of `script` come first, so that 64 bits are a set of them. */
#define FIELD_SCRIPT_COUNT  (FIELD_CGROUP + 1)
#define FIELD_BIT(id)       (UINT64_C(1) << (unsigned)(id))
#define FIELD_KEY_WORDS_MAX (2 * FIELD_COUNT)
#define FIELD_IF_CHAINS     (1u << FIELD_TYPE_COUNT) /* tracepoints that have call chains */

/* Groups of events for which `script` selects fields together: the type before ':' in -F. */
enum field_type {
	FIELD_TYPE_HW,
	FIELD_TYPE_SW,
	FIELD_TYPE_TRACE,
	FIELD_TYPE_CACHE,
	FIELD_TYPE_RAW,
	FIELD_TYPE_BREAK,
	FIELD_TYPE_SYNTH, /* made from a trace, by perf inject */
	FIELD_TYPE_OTHER,
	FIELD_TYPE_COUNT
};

/* Number of threads that ran from `time` (ns) on, relative to field_steps.first. */
struct field_step {
	uint64_t time;
	int32_t count;
};

struct field_steps {
	struct field_step *steps; /* in order of time */
	size_t n;
	int32_t first; /* number before the first step */
};

/* A cgroup namespace, and when a thread entered one. */
struct field_namespace {
	uint64_t dev, inode;
};

struct field_entered {
	uint64_t time; /* ns */
	uint32_t tid;
	uint32_t space; /* index in field_namespaces.spaces */
};

struct field_namespaces {
	struct field_namespace *spaces; /* distinct, by device and inode; the first is 0/0 */
	struct field_entered *entered; /* [n], by thread and time */
	size_t n;
};

/* Data of a recording that getters need: made once, read by all workers. */
struct field_source {
	struct sonde_session *session;
	uint64_t time_quantum; /* ns; times of the same quantum are equal */
	bool ns; /* times of rows have nine decimals; false: six */
	bool comm_of_sample; /* ':TID' before a thread's first name; false: that name, as in perf report */
	uint64_t tod_wall, tod_clock; /* CLOCK_DATA: wall clock = time - tod_clock + tod_wall, ns */
	uint32_t *
	        plain_of; /* by interned name: index in plain; NULL without field_plain_names_make */
	const struct field_namespaces *namespaces; /* for the key cgroup_id; else NULL */
	const struct field_steps *steps; /* for the key parallelism and for latency; else NULL */
	struct field_texts *texts; /* of the worker, for fields with FIELD_OF_TEXTS; else NULL */
	const char **plain; /* names of threads with "<N>" for numbers */
	struct arena arena;
	struct feature_topology topology; /* empty where the header has none */
};

/* Makes it for an open session. SONDE_ENOMEM; call field_source_fini in any case. */
int field_source_init(struct field_source *f, struct sonde_session *s);
void field_source_fini(struct field_source *f);
/* Number of threads that ran at a time, at least 1: that of the sample. */
uint32_t field_parallelism(const struct field_steps *s, uint64_t time);
/* Prepares the key comm_nodigit. SONDE_ENOMEM. */
int field_plain_names_make(struct field_source *f);

/* A row's value of a field, and what its text may need beside that. */
struct field_value {
	uint64_t number; /* of a text: its id */
	const char *text; /* SONDE_FIELD_TEXT; NULL: unknown */
	uint64_t whole; /* SONDE_FIELD_SHARE: the total that number is a share of */
	uint32_t comm; /* interned: the last name of the thread of the row's first sample */
	int width; /* of the column */
};

enum field_style {
	FIELD_GROWS = 1, /* the column is as wide as its texts */
	FIELD_CUT = 2, /* texts longer than the column are cut */
	FIELD_RAGGED = 4, /* not padded in the last column */
	FIELD_FALLS = 8, /* rows with larger signed numbers come first */
	FIELD_SUMS = 16, /* the text is the key's number times the row's samples */
	FIELD_BY_MODE = 32, /* needs periods by cpumode */
	FIELD_OF_ROW = 64, /* a key of the row's frame or chain, known to profile and report only */
	FIELD_LEVEL = 128, /* the level of the row, such as "[k]", precedes the text */
	FIELD_OF_TEXTS = 512, /* the number is that of a text in field_source.texts */
	FIELD_SIGNED = 1024, /* negative numbers come first */
	FIELD_OF_THREAD = 2048, /* depends only on the sample's event and timeline_view */
	FIELD_ASKED = 256 /* not among all fields of a sample: only if it is asked for by name */
};

/* Index in the periods by cpumode: each divided by the parallelism, of all cpumodes. */
#define FIELD_MODE_LATENCY 8

/*
 * What distinguishes the values of a key that is a location in code or data. The getter of such a
 * key returns the run-time address, the word in a row's key is a number that the profile assigns.
 */
enum field_location {
	FIELD_NO_LOCATION,
	FIELD_LOCATION_SYMBOL, /* the symbol; the address if there is none */
	FIELD_LOCATION_OBJECT,
	FIELD_LOCATION_ADDRESS, /* the object and the address */
	FIELD_LOCATION_IP, /* the run-time address */
	/* The line of the cache: its address in the object, and in memory of one process that process. */
	FIELD_LOCATION_LINE,
	FIELD_LOCATION_SOURCE /* file and line of the source */
};

struct field {
	struct sonde_field_info info;
	const char *attribute; /* name of info.needs in messages; NULL: not used by script */
	bool traced; /* as in perf, script accepts it without info.needs if the file has a
	                hardware trace */
	bool optional; /* as in perf, script accepts it without info.needs, and prints nothing then */
	unsigned usual; /* bits by enum field_type: script shows it for these by default */
	unsigned style; /* bits of enum field_style */
	unsigned width; /* minimum of the column */
	unsigned part; /* part of an address in a line: enum address_part */
	enum field_location location;
	unsigned words; /* in a row's key; 0: part of the row's frame, or no key */
	uint64_t (*get)(const struct field_source *f, const struct session_sample *s);
	const char *(*text_of)(const struct field_source *f, uint64_t id); /* NULL: unknown */
	/* A sum over a row's samples. children: periods of samples that have the row anywhere in
	 * their chain; modes: periods by cpumode, for FIELD_BY_MODE. */
	uint64_t (*total)(
	        uint64_t samples, uint64_t period, uint64_t children, const uint64_t *modes);
	/* The text of a row's value where that of its type is not right. */
	void (*put)(const struct field_source *f, const struct field_value *v, struct text *out);
} __attribute__((aligned(128))); /* so that an entry is found by a shift */

extern const struct field field_table[FIELD_COUNT];

static inline const struct field *field_at(size_t id)
{
	return &field_table[id];
}

/* Whether rows of `report` can be distinguished by it; not a sum over a row's samples. */
static inline bool field_is_key(size_t id)
{
	return field_at(id)->total == NULL;
}

/*
 * Finds the field with a name of n bytes among those with any of the uses (bits of enum
 * sonde_field_use); FIELD_COUNT: none. Other names are words of `report` only.
 */
enum field_id field_find(unsigned uses, const char *word, size_t n);
/*
 * The same for the first letters of a name, in any case. FIELD_COUNT also if several fields begin
 * with them, except if the names of all others begin with the name of one.
 */
enum field_id field_find_start(unsigned uses, const char *word, size_t n);
/* Offers the names of these fields as corrections of a mistyped word. */
void field_offer(unsigned uses, struct near *near);
/* Appends the names of these fields, separated by ", ". */
void field_names(unsigned uses, struct text *out);

/* The number in the words of a key. */
static inline uint64_t field_number(const struct field *f, const uint32_t *words)
{
	if (f->words == 2) {
		return (uint64_t)words[0] << 32 | words[1];
	}
	return f->info.type == SONDE_FIELD_ID ? (uint64_t)(int64_t)(int32_t)words[0] : words[0];
}
/* The smallest width of its column. */
unsigned field_width(const struct field *f, const struct field_source *source);
/* Rows with a lower rank come first. */
uint64_t field_rank(const struct field *f, uint64_t number);
void field_text(const struct field *f, const struct field_source *source,
        const struct field_value *v, struct text *out);
/* Prints a member with the field's name. */
void field_json(const struct field *f, const struct field_source *source,
        const struct field_value *v, struct json *out);

/* The chosen keys of a row. */
struct field_key_choice {
	uint8_t at[FIELD_COUNT]; /* index of a key's first word in the row's vector */
	bool chosen[FIELD_COUNT];
	uint8_t got[FIELD_COUNT]; /* chosen keys that depend on the sample */
	unsigned ngot;
	uint8_t located[FIELD_COUNT]; /* those of `got` that are locations */
	unsigned nlocated;
	bool texts; /* some have FIELD_OF_TEXTS */
	unsigned words;
};

void field_key_choose(struct field_key_choice *c, size_t id);
/* Fills words[0..c->words), those of locations with any number. */
void field_keys_get(const struct field_key_choice *c, const struct field_source *f,
        const struct session_sample *s, uint32_t *words);

#endif
