/* SPDX-License-Identifier: MIT */
#include "field/choice.h"

#include "frame/code.h"

#include <string.h>

static const char *const type_names[FIELD_TYPE_COUNT] = {
        [FIELD_TYPE_HW] = "hw",
        [FIELD_TYPE_SW] = "sw",
        [FIELD_TYPE_TRACE] = "trace",
        [FIELD_TYPE_CACHE] = "cache",
        [FIELD_TYPE_RAW] = "raw",
        [FIELD_TYPE_BREAK] = "break",
        [FIELD_TYPE_SYNTH] = "synth",
        [FIELD_TYPE_OTHER] = "other",
};

#define BIT         FIELD_BIT
#define HW_BRANCHES 4u /* PERF_COUNT_HW_BRANCH_INSTRUCTIONS */
#define TYPE_SYNTH  0x80000000u /* in attrs that perf inject makes */
/* Fields that need IP. */
#define ADDRESS_FIELDS (BIT(FIELD_SYM) | BIT(FIELD_SYMOFF) | BIT(FIELD_DSO) | BIT(FIELD_DSOFF))

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

	if (attr->type == TYPE_SYNTH) {
		return FIELD_TYPE_SYNTH;
	}
	return attr->type <= SONDE_TYPE_BREAKPOINT ? types[attr->type] : FIELD_TYPE_OTHER;
}

bool field_each_branch(const struct sonde_attr *attr)
{
	return attr->type == SONDE_TYPE_HARDWARE && attr->config == HW_BRANCHES &&
	       attr->sample_period == 1;
}

void field_choice_default(struct field_choice *c, bool chains)
{
	*c = (struct field_choice){0};
	for (unsigned i = 0; i < FIELD_SCRIPT_COUNT; i++) {
		unsigned usual = field_at(i)->usual;

		for (unsigned type = 0; type < FIELD_TYPE_COUNT; type++) {
			c->shown[type] |= (usual >> type & 1) != 0 ? BIT(i) : 0;
		}
		if (chains && (usual & FIELD_IF_CHAINS) != 0) {
			c->shown[FIELD_TYPE_TRACE] |= BIT(i);
		}
	}
}

/* Parses the types before a ':', and advances *spec past it. Without ':' all types. */
static int parse_types(const char **spec, unsigned *first, unsigned *last, struct error *err)
{
	const char *colon = strchr(*spec, ':');

	*first = 0;
	*last = FIELD_TYPE_COUNT - 1;
	if (colon == NULL) {
		return 0;
	}
	for (unsigned i = 0; i < FIELD_TYPE_COUNT; i++) {
		if (bytes_are(*spec, (size_t)(colon - *spec), type_names[i])) {
			*first = *last = i;
			*spec = colon + 1;
			return 0;
		}
	}
	return error_set(err, SONDE_EARG, NO_OFFSET,
	        "'%.*s' is not a type of events: choose hw, sw, trace, cache, raw, break, synth or "
	        "other",
	        (int)(colon - *spec), *spec);
}

bool field_choice_is_about(const char *spec, enum field_type type)
{
	struct error err = {0};
	unsigned first, last;

	return parse_types(&spec, &first, &last, &err) < 0 || (first <= type && type <= last);
}

struct field_change {
	uint64_t add, remove;
	bool relative; /* only +field and -field */
	bool absolute;
};

/* Fields of perf script that Sonde does not print, and what to do instead. */
static const struct {
	const char *name, *instead;
} not_printed[] = {
        {"brcntr", "counters of branches are not read yet; brstack prints the branches"},
};

static int unknown_field(const char *word, size_t n, struct error *err)
{
	struct near near = {.word = word, .size = n};
	struct text list = {0};
	int rc;

	for (size_t i = 0; i < sizeof(not_printed) / sizeof(not_printed[0]); i++) {
		if (bytes_are(word, n, not_printed[i].name)) {
			return error_set(err, SONDE_EARG, NO_OFFSET,
			        "'%s' is a field of perf that Sonde does not print: %s",
			        not_printed[i].name, not_printed[i].instead);
		}
	}
	field_offer(SONDE_FIELD_OF_SCRIPT, &near);
	near_question(&near, &list);
	text_str(&list, "; fields are: ");
	field_names(SONDE_FIELD_OF_SCRIPT, &list);
	rc = error_set(err, SONDE_EARG, NO_OFFSET, "'%.*s' is not a field%.*s", (int)n, word,
	        (int)list.n, list.p);
	text_fini(&list);
	return rc;
}

static int parse_word(const char *word, size_t n, struct field_change *change, struct error *err)
{
	char sign = (char)(*word == '+' || *word == '-' ? *word : '\0');
	enum field_id id;

	word += sign != 0;
	n -= sign != 0;
	id = field_find(SONDE_FIELD_OF_SCRIPT, word, n);
	if (id == FIELD_COUNT) {
		return unknown_field(word, n, err);
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

/* Fields that only events of one type can have. */
static const struct {
	enum field_id id;
	enum field_type type;
} only[] = {{FIELD_TRACE, FIELD_TYPE_TRACE}, {FIELD_BPF_OUTPUT, FIELD_TYPE_SW}};

/*
 * Removes the fields that events of a type cannot have. SONDE_EARG if the user chose them for this
 * type alone.
 */
static int keep_valid(uint64_t *fields, unsigned type, bool alone, struct error *err)
{
	for (size_t i = 0; i < sizeof(only) / sizeof(only[0]); i++) {
		if ((*fields & BIT(only[i].id)) == 0 || only[i].type == type) {
			continue;
		}
		if (alone) {
			return error_set(err, SONDE_EARG, NO_OFFSET,
			        "events of type %s have no field '%s', only those of type %s",
			        type_names[type], field_at(only[i].id)->info.name,
			        type_names[only[i].type]);
		}
		*fields &= ~BIT(only[i].id);
	}
	return 0;
}

static int check_offset(const struct field_choice *c, unsigned type, struct error *err)
{
	if ((c->wanted[type] & BIT(FIELD_SYMOFF)) != 0 && (c->shown[type] & BIT(FIELD_SYM)) == 0) {
		return error_set(err, SONDE_EARG, NO_OFFSET,
		        "symoff is the offset from a symbol: ask for sym too");
	}
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
		uint64_t add = change.add;

		TRY(keep_valid(&add, i, first == last, err));
		/* as in perf, adding the kind of a branch keeps its target */
		c->chosen[i] = c->chosen[i] || !change.relative || change.remove != 0 ||
		               change.add != BIT(FIELD_FLAGS);
		c->shown[i] = change.relative ? (c->shown[i] | add) & ~change.remove : add;
		c->wanted[i] = (change.relative ? c->wanted[i] & ~change.remove : 0) | add;
		if (!change.relative) {
			TRY(check_offset(c, i, err));
		}
	}
	return 0;
}

/* As in perf, a source line needs the address that it is printed after. */
static int check_source(uint64_t fields, struct error *err)
{
	const char *name = (fields & BIT(FIELD_SRCLINE)) != 0 ? "srcline" : "srccode";

	if ((fields & (BIT(FIELD_SRCLINE) | BIT(FIELD_SRCCODE))) == 0) {
		return 0;
	}
	if ((fields & BIT(FIELD_IP)) == 0) {
		return error_set(err, SONDE_EARG, NO_OFFSET,
		        "%s is the source line of the sampled address: ask for ip too", name);
	}
	if (!lines_supported()) {
		return error_set(err, SONDE_EARG, NO_OFFSET,
		        "this build of sonde cannot read source lines: it was built without libdw; "
		        "leave %s out",
		        name);
	}
	return 0;
}

static int check_texts(uint64_t fields, struct error *err)
{
	if ((fields & (BIT(FIELD_DISASM) | BIT(FIELD_BRSTACKDISASM))) != 0 &&
	        !frame_insn_text_supported()) {
		return error_set(err, SONDE_EARG, NO_OFFSET,
		        "this build of sonde cannot print instructions as text: it was built "
		        "without Zydis; insn and brstackinsn print their bytes");
	}
	return 0;
}

int field_choice_type(const struct field_choice *c, const struct sonde_attr *attr,
        const char *event_name, bool traced, uint64_t *fields, struct error *err)
{
	enum field_type type = field_type_of(attr);

	*fields = 0;
	for (unsigned i = 0; i < FIELD_SCRIPT_COUNT; i++) {
		const struct field *f = field_at(i);

		if ((c->shown[type] & BIT(i)) == 0) {
			continue;
		}
		if (f->info.needs == 0 || (attr->sample_type & f->info.needs) != 0) {
			*fields |= BIT(i);
			continue;
		}
		if ((c->wanted[type] & BIT(i)) == 0 || f->optional) {
			continue;
		}
		if (!traced || !f->traced) {
			return error_set(err, SONDE_EARG, NO_OFFSET,
			        "samples of '%s' do not have %s, which the field '%s' needs: "
			        "record it, or leave the field out",
			        event_name, f->attribute, f->info.name);
		}
		*fields |= BIT(i);
	}
	TRY(check_offset(c, type, err));
	TRY(check_texts(*fields, err));
	return check_source(*fields, err);
}

uint64_t field_choice_all(const struct sonde_attr *attr)
{
	uint64_t fields = 0;

	for (unsigned i = 0; i < FIELD_SCRIPT_COUNT; i++) {
		const struct sonde_field_info *info = &field_at(i)->info;
		bool recorded = (field_at(i)->style & FIELD_ASKED) == 0 &&
		                (info->needs == 0 || (attr->sample_type & info->needs) != 0);

		if ((info->uses & SONDE_FIELD_OF_SCRIPT) != 0 && recorded) {
			fields |= BIT(i);
		}
	}
	return (fields & BIT(FIELD_IP)) != 0 ? fields : fields & ~ADDRESS_FIELDS;
}
