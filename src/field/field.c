/* SPDX-License-Identifier: MIT */
#include "field/field.h"

#include <string.h>

static const struct field_def defs[FIELD_COUNT] = {
        [FIELD_COMM] = {"comm", SONDE_SAMPLE_TID, "TID"},
        [FIELD_PID] = {"pid", SONDE_SAMPLE_TID, "TID"},
        [FIELD_TID] = {"tid", SONDE_SAMPLE_TID, "TID"},
        [FIELD_CPU] = {"cpu", SONDE_SAMPLE_CPU, "CPU", true},
        [FIELD_MISC] = {"misc", 0, NULL},
        [FIELD_TIME] = {"time", SONDE_SAMPLE_TIME, "TIME"},
        [FIELD_TOD] = {"tod", SONDE_SAMPLE_TIME, "TIME"},
        [FIELD_PERIOD] = {"period", 0, NULL},
        [FIELD_EVENT] = {"event", 0, NULL},
        [FIELD_TRACE] = {"trace", 0, NULL},
        [FIELD_ADDR] = {"addr", SONDE_SAMPLE_ADDR, "ADDR", true},
        [FIELD_DATA_SRC] = {"data_src", SONDE_SAMPLE_DATA_SRC, "DATA_SRC", true},
        [FIELD_WEIGHT] = {"weight", (uint64_t)SONDE_SAMPLE_WEIGHT | SONDE_SAMPLE_WEIGHT_STRUCT,
                "WEIGHT", true},
        [FIELD_INS_LAT] = {"ins_lat", SONDE_SAMPLE_WEIGHT_STRUCT, "WEIGHT_STRUCT"},
        [FIELD_IP] = {"ip", SONDE_SAMPLE_IP, "IP"},
        [FIELD_SYM] = {"sym", 0, NULL},
        [FIELD_SYMOFF] = {"symoff", 0, NULL},
        [FIELD_DSO] = {"dso", 0, NULL},
        [FIELD_DSOFF] = {"dsoff", 0, NULL},
        [FIELD_IREGS] = {"iregs", SONDE_SAMPLE_REGS_INTR, "IREGS", true},
        [FIELD_UREGS] = {"uregs", SONDE_SAMPLE_REGS_USER, "UREGS"},
        [FIELD_PHYS_ADDR] = {"phys_addr", SONDE_SAMPLE_PHYS_ADDR, "PHYS_ADDR", true},
        [FIELD_DATA_PAGE_SIZE] = {"data_page_size", SONDE_SAMPLE_DATA_PAGE_SIZE, "DATA_PAGE_SIZE"},
        [FIELD_CODE_PAGE_SIZE] = {"code_page_size", SONDE_SAMPLE_CODE_PAGE_SIZE, "CODE_PAGE_SIZE"},
};

static const char *const type_names[FIELD_TYPE_COUNT] = {
        [FIELD_TYPE_HW] = "hw",
        [FIELD_TYPE_SW] = "sw",
        [FIELD_TYPE_TRACE] = "trace",
        [FIELD_TYPE_CACHE] = "cache",
        [FIELD_TYPE_RAW] = "raw",
        [FIELD_TYPE_BREAK] = "break",
        [FIELD_TYPE_OTHER] = "other",
};

#define BIT FIELD_BIT

#define FIELDS_WHO                                                                                 \
	(BIT(FIELD_COMM) | BIT(FIELD_TID) | BIT(FIELD_CPU) | BIT(FIELD_TIME) | BIT(FIELD_EVENT))
#define FIELDS_WHERE (BIT(FIELD_IP) | BIT(FIELD_SYM) | BIT(FIELD_SYMOFF) | BIT(FIELD_DSO))
#define FIELDS_MEMORY                                                                              \
	(BIT(FIELD_ADDR) | BIT(FIELD_DATA_SRC) | BIT(FIELD_WEIGHT) | BIT(FIELD_INS_LAT) |          \
	        BIT(FIELD_PHYS_ADDR) | BIT(FIELD_DATA_PAGE_SIZE) | BIT(FIELD_CODE_PAGE_SIZE))

/* What a type shows when nobody chose. */
static const uint64_t defaults[FIELD_TYPE_COUNT] = {
        [FIELD_TYPE_HW] = FIELDS_WHO | FIELDS_WHERE | BIT(FIELD_PERIOD),
        [FIELD_TYPE_SW] = FIELDS_WHO | FIELDS_WHERE | BIT(FIELD_PERIOD),
        [FIELD_TYPE_TRACE] = FIELDS_WHO | BIT(FIELD_TRACE),
        [FIELD_TYPE_CACHE] = FIELDS_WHO | FIELDS_WHERE | BIT(FIELD_PERIOD),
        [FIELD_TYPE_RAW] = FIELDS_WHO | FIELDS_WHERE | BIT(FIELD_PERIOD) | FIELDS_MEMORY,
        [FIELD_TYPE_BREAK] = FIELDS_WHO | FIELDS_WHERE | BIT(FIELD_PERIOD),
        [FIELD_TYPE_OTHER] = FIELDS_WHO | FIELDS_WHERE | BIT(FIELD_PERIOD),
};

const struct field_def *field_def(enum field_id id)
{
	return &defs[id];
}

enum field_type field_type_of(const struct sonde_attr *attr)
{
	static const enum field_type types[] = {
	        [SONDE_TYPE_HARDWARE] = FIELD_TYPE_HW,
	        [SONDE_TYPE_SOFTWARE] = FIELD_TYPE_SW,
	        [SONDE_TYPE_TRACEPOINT] = FIELD_TYPE_TRACE,
	        [SONDE_TYPE_HW_CACHE] = FIELD_TYPE_CACHE,
	        [SONDE_TYPE_RAW] = FIELD_TYPE_RAW,
	        [SONDE_TYPE_BREAKPOINT] = FIELD_TYPE_BREAK,
	};

	return attr->type <= SONDE_TYPE_BREAKPOINT ? types[attr->type] : FIELD_TYPE_OTHER;
}

void field_choice_default(struct field_choice *c, bool chains)
{
	*c = (struct field_choice){0};
	memcpy(c->shown, defaults, sizeof(c->shown));
	if (chains) {
		c->shown[FIELD_TYPE_TRACE] |= FIELDS_WHERE;
	}
}

static bool word_is(const char *text, size_t n, const char *word)
{
	return strlen(word) == n && memcmp(text, word, n) == 0;
}

static int find_field(const char *text, size_t n, enum field_id *id)
{
	for (unsigned i = 0; i < FIELD_COUNT; i++) {
		if (word_is(text, n, defs[i].name)) {
			*id = (enum field_id)i;
			return 0;
		}
	}
	return SONDE_EARG;
}

/* The types that stand before a ':'; *spec moves behind it. All types when there is none. */
static int parse_types(const char **spec, unsigned *first, unsigned *last, struct error *err)
{
	const char *colon = strchr(*spec, ':');

	*first = 0;
	*last = FIELD_TYPE_COUNT - 1;
	if (colon == NULL) {
		return 0;
	}
	for (unsigned i = 0; i < FIELD_TYPE_COUNT; i++) {
		if (word_is(*spec, (size_t)(colon - *spec), type_names[i])) {
			*first = *last = i;
			*spec = colon + 1;
			return 0;
		}
	}
	return error_set(err, SONDE_EARG, NO_OFFSET,
	        "'%.*s' is not a type of events: choose hw, sw, trace, cache, raw, break or other",
	        (int)(colon - *spec), *spec);
}

struct field_change {
	uint64_t add, remove;
	bool relative; /* made of +field and -field */
	bool absolute;
};

/* Fields of perf script that are not printed here. */
static const char *const later[] = {"srcline", "srccode", "brstack", "brstacksym", "brstackoff",
        "brstackinsn", "brstackinsnlen", "flags", "callindent", "insn", "insnlen", "synth",
        "bpf-output", "metric", "ipc", "machine_pid", "vcpu"};

static int unknown_field(const char *word, size_t n, struct error *err)
{
	const char *what = "is not a field";
	struct text list = {0};
	int rc;

	for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++) {
		if (word_is(word, n, later[i])) {
			what = "is a field that this version does not print";
		}
	}
	for (unsigned i = 0; i < FIELD_COUNT; i++) {
		text_str(&list, i == 0 ? "" : ", ");
		text_str(&list, defs[i].name);
	}
	text_char(&list, '\0');
	rc = error_set(err, SONDE_EARG, NO_OFFSET, "'%.*s' %s; fields are: %s", (int)n, word, what,
	        list.failed ? "" : list.p);
	text_fini(&list);
	return rc;
}

static int parse_word(const char *word, size_t n, struct field_change *change, struct error *err)
{
	char sign = (char)(*word == '+' || *word == '-' ? *word : '\0');
	enum field_id id;

	if (find_field(word + (sign != 0), n - (sign != 0), &id) < 0) {
		return unknown_field(word + (sign != 0), n - (sign != 0), err);
	}
	if (sign == '-') {
		change->remove |= BIT(id);
		change->add &= ~BIT(id);
	} else {
		change->add |= BIT(id);
		change->remove &= ~BIT(id);
	}
	change->relative = change->relative || sign != 0;
	change->absolute = change->absolute || sign == 0;
	return 0;
}

int field_choice_parse(struct field_choice *c, const char *spec, struct error *err)
{
	struct field_change change = {0};
	unsigned first, last;
	size_t n;

	TRY(parse_types(&spec, &first, &last, err));
	for (; *spec != '\0'; spec += n + (spec[n] == ',')) {
		n = strcspn(spec, ",");
		if (n != 0) {
			TRY(parse_word(spec, n, &change, err));
		}
	}
	if (change.relative && change.absolute) {
		return error_set(err, SONDE_EARG, NO_OFFSET,
		        "+field and -field change the usual fields: do not mix them with plain "
		        "names");
	}
	if (!change.relative && change.add == 0 && first != last) {
		return error_set(err, SONDE_EARG, NO_OFFSET, "the list of fields is empty");
	}
	for (unsigned i = first; i <= last; i++) {
		c->shown[i] =
		        change.relative ? (c->shown[i] | change.add) & ~change.remove : change.add;
		c->wanted[i] = (change.relative ? c->wanted[i] & ~change.remove : 0) | change.add;
		if ((change.add & BIT(FIELD_SYMOFF)) != 0 && (c->shown[i] & BIT(FIELD_SYM)) == 0 &&
		        !change.relative) {
			return error_set(err, SONDE_EARG, NO_OFFSET,
			        "symoff is the offset from a symbol: ask for sym too");
		}
	}
	return 0;
}

int field_choice_type(const struct field_choice *c, const struct sonde_attr *attr,
        const char *event_name, bool traced, uint64_t *fields, struct error *err)
{
	enum field_type type = field_type_of(attr);

	*fields = 0;
	for (unsigned i = 0; i < FIELD_COUNT; i++) {
		if ((c->shown[type] & BIT(i)) == 0) {
			continue;
		}
		if (defs[i].needs == 0 || (attr->sample_type & defs[i].needs) != 0) {
			*fields |= BIT(i);
			continue;
		}
		if ((c->wanted[type] & BIT(i)) == 0) {
			continue;
		}
		if (!traced || !defs[i].traced) {
			return error_set(err, SONDE_EARG, NO_OFFSET,
			        "samples of '%s' do not have %s, which the field '%s' needs: "
			        "record it, "
			        "or leave the field out",
			        event_name, defs[i].attribute, defs[i].name);
		}
		*fields |= BIT(i);
	}
	return 0;
}
