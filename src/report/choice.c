/* SPDX-License-Identifier: MIT */
/*
 * The words of --sort and --fields, which choose the columns of a report and the order of its rows.
 *
 * Without --fields, or with "+...": overheads, samples and periods as switched on, the added
 * fields, then the words of --sort; rows are ordered by overhead first. With --fields: its words,
 * then the words of --sort that --fields lacks; rows are ordered by --sort, then by the fields that
 * --sort lacks. As in perf.
 */
#include "report/report.h"

#include <stdlib.h>

#define SORT_USUAL    "comm,dso,sym"
#define SORT_TRACES   "trace"
#define SORT_RAW      "trace_fields"
#define SORT_BRANCHES "comm,dso_from,symbol_from,symbol_to,cycles"

#define SORT_HISTORY "srcline,sym,dso"
#define SORT_BLOCKS  "addr_to,addr_from,dso_to"
#define SORT_MEMORY                                                                                \
	"local_weight,mem,sym,dso,symbol_daddr,dso_daddr,snoop,tlb,locked,blocked,local_ins_lat"

/* Fields that --sort and --fields accept. */
static unsigned uses(const struct report *r)
{
	unsigned samples = SONDE_FIELD_KEY | SONDE_FIELD_TOTAL;

	return r->profile.options.branches ? samples | SONDE_FIELD_BRANCH_KEY
	       : r->options.memory         ? samples | SONDE_FIELD_MEMORY_KEY
	                                   : samples;
}

static bool only_tracepoints(const struct report *r)
{
	size_t events = sonde_session_events(r->session);

	for (size_t e = 0; e < events; e++) {
		if (sonde_session_event_attr(r->session, e)->type != SONDE_TYPE_TRACEPOINT) {
			return false;
		}
	}
	return events != 0;
}

/* The keys without --sort. As in perf, rows of tracepoints alone are their texts. */
static const char *sort_usual(const struct report *r)
{
	return r->options.total_cycles       ? SORT_BLOCKS
	       : r->profile.options.branches ? SORT_BRANCHES
	       : r->options.branch_history   ? SORT_HISTORY
	       : r->options.memory           ? SORT_MEMORY
	       : !only_tracepoints(r)        ? SORT_USUAL
	       : r->options.raw_trace        ? SORT_RAW
	                                     : SORT_TRACES;
}

void report_columns_sort(struct report *r)
{
	const char *sort = r->options.sort;

	if (sort == NULL || *sort == '+') {
		text_str(&r->text, sort_usual(r));
		/* as in perf: the last key, which has a column on powerpc only */
		text_str(&r->text, r->options.memory ? ",local_p_stage_cyc" : "");
		text_str(&r->text, sort != NULL ? "," : "");
	}
	text_str(&r->text, sort == NULL ? "" : sort + (*sort == '+'));
}

/* Keys of newer releases of perf that Sonde lacks, and why. */
static const char *later_key(const char *word, size_t n)
{
	static const struct {
		const char *key, *why;
	} keys[] = {
	        {"callchain_branch_abort", "use --branch-history, whose call graphs have it"},
	        {"callchain_branch_cycles", "use --branch-history, whose call graphs have it"},
	        {"callchain_branch_predicted", "use --branch-history, whose call graphs have it"},
	        {"simd", "only decoded traces of Arm SPE have it, and traces are not decoded yet"},
	        {"typecln", "types of data are not read from debug information yet"},
	        {"typeoff", "types of data are not read from debug information yet"},
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (bytes_are(word, n, keys[i].key)) {
			return keys[i].why;
		}
	}
	return NULL;
}

/* SONDE_EARG with the valid words. */
static int list_wrong(struct report *r, const char *option, const char *word, size_t n)
{
	struct error *err = session_error(r->session);
	const char *dot = memchr(word, '.', n); /* EVENT.FIELD */
	struct near near = {.word = word, .size = n};
	struct text known = {0};
	int rc;

	if (n != 0 && dot != NULL) {
		near = (struct near){.word = dot + 1, .size = n - (size_t)(dot + 1 - word)};
	} else if (n != 0) {
		field_offer(uses(r), &near);
	}
	if (n != 0) {
		field_trace_keys_offer(&r->profile.trace_keys, &near);
	}
	near_question(&near, &known);
	text_str(&known, "; fields are: ");
	field_names(uses(r), &known);
	if (later_key(word, n) != NULL) {
		rc = error_set(err, SONDE_EARG, NO_OFFSET,
		        "%s: '%.*s' is a key of newer releases of perf: %s", option, (int)n, word,
		        later_key(word, n));
	} else if (known.failed) {
		rc = SONDE_ENOMEM;
	} else if (n != 0 && field_find(SONDE_FIELD_BRANCH_KEY, word, n) != FIELD_COUNT) {
		rc = error_set(err, SONDE_EARG, NO_OFFSET,
		        "%s: '%.*s' is a key of branches: record with `sonde record -b`, or use "
		        "--branch-stack",
		        option, (int)n, word);
	} else if (n != 0 && field_find(SONDE_FIELD_MEMORY_KEY, word, n) != FIELD_COUNT) {
		rc = error_set(err, SONDE_EARG, NO_OFFSET,
		        "%s: '%.*s' is a key of memory accesses: use --mem-mode", option, (int)n,
		        word);
	} else if (n != 0) {
		rc = error_set(err, SONDE_EARG, NO_OFFSET, "%s: '%.*s' is not a field%.*s", option,
		        (int)n, word, (int)known.n, known.p);
	} else {
		rc = error_set(err, SONDE_EARG, NO_OFFSET, "%s: the list of fields is empty%.*s",
		        option, (int)known.n, known.p);
	}
	text_fini(&known);
	return rc;
}

static void list_add(struct report_list *list, unsigned id)
{
	for (unsigned i = 0; i < list->n; i++) {
		if (list->id[i] == id) {
			return;
		}
	}
	if (list->n < FIELD_COUNT) { /* always true: no id is added twice */
		list->id[list->n++] = (uint8_t)id;
	}
}

static void list_join(struct report_list *list, const struct report_list *more)
{
	for (unsigned i = 0; i < more->n; i++) {
		list_add(list, more->id[i]);
	}
}

/* A word for fields of tracepoints: all of them are one column, which is added to the list last. */
static int trace_word(struct report *r, const char *option, const char *word, size_t n,
        const struct report_list *list)
{
	struct error *err = session_error(r->session);
	int rc;

	if (!report_trace_choose(r, word, n, &rc)) {
		return list_wrong(r, option, word, n);
	}
	if (rc >= 0 && r->options.hierarchy) {
		return error_set(err, SONDE_EARG, NO_OFFSET,
		        "--hierarchy cannot be used with fields of tracepoints ('%.*s')", (int)n,
		        word);
	}
	for (unsigned i = 0; rc > 0 && i + 1 < list->n; i++) {
		if (list->id[i] == FIELD_TRACE_FIELDS) {
			return error_set(err, SONDE_EARG, NO_OFFSET,
			        "%s: '%.*s': write the fields of tracepoints one after the other, "
			        "without other keys between them",
			        option, (int)n, word);
		}
	}
	return rc;
}

static bool is_trace_word(unsigned id)
{
	return id == FIELD_COUNT || id == FIELD_TRACE_FIELDS;
}

/* As in perf, the beginning of a name is enough; it takes precedence over fields of tracepoints. */
static unsigned word_find(const struct report *r, const char *word, size_t n)
{
	unsigned id = field_find(uses(r), word, n);

	return id != FIELD_COUNT ? id : field_find_start(uses(r), word, n);
}

static int fields_parse(struct report *r, const char *words, struct report_list *list)
{
	for (size_t n; *words != 0; words += n + (words[n] != 0)) {
		unsigned id;

		n = strcspn(words, ", ");
		id = word_find(r, words, n);
		if (n != 0 && is_trace_word(id)) {
			TRY(trace_word(r, "--fields", words, n, list));
			id = FIELD_TRACE_FIELDS;
		}
		if (n != 0) {
			list_add(list, id);
		}
	}
	return list->n != 0 ? 0 : list_wrong(r, "--fields", "", 0);
}

/* Adds a key of --sort, as a new level unless it joins the last one. */
static int sort_add(struct report *r, struct report_list *sort, unsigned id, bool join)
{
	unsigned n = sort->n;

	if (r->options.hierarchy && !field_is_key(id)) {
		return error_set(session_error(r->session), SONDE_EARG, NO_OFFSET,
		        "--hierarchy: '%s' is a sum over the samples of a row, which cannot be a "
		        "level: leave it out of --sort",
		        field_at(id)->info.name);
	}
	list_add(sort, id);
	if (sort->n != n) {
		r->nlevels += join ? 0 : 1;
		list_add(&r->levels[r->nlevels - 1], id);
	}
	return 0;
}

/* Parses --sort: keys, of which those between braces are one level of --hierarchy. */
static int sort_parse(struct report *r, const char *words, struct report_list *sort)
{
	const char *all = words;
	bool open = false, first = true; /* in braces; the first key there */

	while (*words != 0) {
		size_t n = strcspn(words, ", {}");
		unsigned id = word_find(r, words, n);

		if (n == 0 && (*words == '{' || *words == '}')) {
			if (open != (*words == '}')) {
				break;
			}
			open = *words == '{';
			first = true;
		} else if (n != 0) {
			unsigned levels = r->nlevels;

			if (is_trace_word(id)) {
				TRY(trace_word(r, "--sort", words, n, sort));
				id = FIELD_TRACE_FIELDS;
			}
			TRY(sort_add(r, sort, id, open && !first));
			first = first && levels == r->nlevels;
		}
		words += n != 0 ? n : 1;
	}
	if (open || *words != 0) {
		return error_set(session_error(r->session), SONDE_EARG, NO_OFFSET,
		        "--sort: braces in '%s' do not match: write {KEY,KEY} for keys of one "
		        "level",
		        all);
	}
	return sort->n != 0 ? 0 : list_wrong(r, "--sort", "", 0);
}

static void columns_usual(
        struct report *r, const struct report_list *sort, const struct report_list *added)
{
	const char *given = r->options.sort;
	bool children = r->profile.options.children;

	if (children) {
		list_add(&r->columns, FIELD_OVERHEAD_CHILDREN);
	}
	if (r->options.latency) {
		list_add(&r->columns, FIELD_LATENCY);
	}
	list_add(&r->columns, FIELD_OVERHEAD);
	r->sorts = r->columns;
	if (given != NULL && strstr(given, "overhead") != NULL) { /* as in perf */
		r->sorts.n = children && strstr(given, "overhead_children") == NULL;
	}
	if (r->options.show_modes) {
		list_add(&r->columns, FIELD_OVERHEAD_SYS);
		list_add(&r->columns, FIELD_OVERHEAD_US);
	}
	if (r->options.show_samples || r->options.total_cycles) {
		list_add(&r->columns, FIELD_SAMPLE);
	}
	if (r->options.show_period || r->options.total_cycles) {
		list_add(&r->columns, FIELD_PERIOD);
	}
	list_join(&r->columns, added);
	for (unsigned i = 0; i < sort->n; i++) {
		/* as in perf: no column without call chains */
		if (sort->id[i] != FIELD_OVERHEAD_CHILDREN || r->profile.options.branches) {
			list_add(&r->columns, sort->id[i]);
		}
	}
	list_join(&r->sorts, sort);
	list_join(&r->sorts, added);
	list_join(&r->sorts, &r->columns); /* numbers that are only shown decide last */
}

/* Whether a column with the same value in every row is printed above the rows instead. */
static bool column_elided(const struct report *r, unsigned id)
{
	return (id == FIELD_COMM && r->pick.only_comm != NULL) ||
	       (id == FIELD_DSO && r->pick.only_dso != NULL) ||
	       (id == FIELD_SYM && r->pick.only_symbol != NULL);
}

unsigned report_columns_find(const struct report *r, unsigned id)
{
	unsigned i = 0;

	while (i < r->columns.n && r->columns.id[i] != id) {
		i++;
	}
	return i;
}

bool report_columns_left_out(const struct report *r, unsigned id)
{
	return report_columns_find(r, id) == r->columns.n &&
	       memchr(r->elided, (int)id, r->nelided) != NULL;
}

/* Rows with offsets in functions are ordered by function first. */
static void sorts_complete(struct report_list *sorts)
{
	const struct report_list given = *sorts;

	sorts->n = 0;
	for (unsigned i = 0; i < given.n; i++) {
		if (given.id[i] == FIELD_SYMOFF) {
			list_add(sorts, FIELD_SYM);
		}
		list_add(sorts, given.id[i]);
	}
}

static void columns_elide(struct report *r)
{
	struct report_list all = r->columns;
	bool any = false; /* there is a key that is not elided */

	for (unsigned i = 0; i < all.n; i++) {
		any = any || (field_is_key(all.id[i]) && !column_elided(r, all.id[i]));
	}
	r->columns.n = 0;
	for (unsigned i = 0; i < all.n; i++) {
		unsigned id = all.id[i];

		if (field_is_key(id)) {
			field_key_choose(&r->profile.options.keys, id);
		}
		/* as in perf, a row for each function */
		if (id == FIELD_SYMBOL_SIZE || id == FIELD_SYMOFF) {
			field_key_choose(&r->profile.options.keys, FIELD_SYM);
		}
		if ((field_at(id)->style & FIELD_BY_MODE) != 0) {
			r->profile.options.modes = true;
		}
		if (id == FIELD_LATENCY) {
			r->profile.options.latency = true;
		}
		if (column_elided(r, id)) {
			r->elided[r->nelided++] = (uint8_t)id;
		}
		if (!any || !column_elided(r, id) || r->options.json || r->options.hierarchy) {
			list_add(&r->columns, id);
		}
	}
}

static int widths_parse(struct report *r)
{
	const char *text = r->options.widths;
	char *end;

	for (unsigned i = 0; text != NULL && *text != 0; i++) {
		unsigned long width = strtoul(text, &end, 10);

		if (*text < '0' || *text > '9' || (*end != 0 && *end != ',') ||
		        width > UINT16_MAX) {
			return error_set(session_error(r->session), SONDE_EARG, NO_OFFSET,
			        "'%s' is no list of column widths: write numbers with commas "
			        "between",
			        r->options.widths);
		}
		if (i < r->columns.n) {
			r->forced[i] = (int)width;
		}
		text = end + (*end == ',');
	}
	return 0;
}

/* Makes one level of all keys, for groups of events. */
static void levels_join(struct report *r)
{
	r->nlevels = 1;
	r->levels[0].n = 0;
	for (unsigned id = 0; id < FIELD_COUNT; id++) {
		if (r->profile.options.keys.chosen[id]) {
			list_add(&r->levels[0], id);
		}
	}
}

/* SONDE_EARG with a text if rows cannot be ordered by latency. */
static int latency_check(const struct report *r)
{
	const struct sonde_report_options *o = &r->options;
	const char *other = o->fields != NULL && *o->fields != '+'
	                            ? "--fields, which chooses the columns: add latency to them"
	                    : o->total_cycles ? "--total-cycles, whose rows are ordered by cycles"
	                    : o->memory       ? "--mem-mode, whose rows are ordered by weight"
	                                      : NULL;

	if (!o->latency || other == NULL) {
		return 0;
	}
	return error_set(session_error(r->session), SONDE_EARG, NO_OFFSET,
	        "--latency cannot be used with %s", other);
}

/* SONDE_EARG with a text if options are used together that exclude each other. */
static int options_check(const struct report *r)
{
	const struct sonde_report_options *o = &r->options;
	const struct {
		bool given;
		const char *option, *why;
	} without[] = {{o->fields != NULL, "--fields", "its columns are no levels"},
	        {o->widths != NULL, "--column-widths", "levels are as wide as needed"},
	        {o->json, "--json", "its rows have all keys"}};

	for (size_t i = 0; i < sizeof(without) / sizeof(without[0]) && o->hierarchy; i++) {
		if (without[i].given) {
			return error_set(session_error(r->session), SONDE_EARG, NO_OFFSET,
			        "--hierarchy cannot be used with %s: %s", without[i].option,
			        without[i].why);
		}
	}
	return 0;
}

int report_columns_init(struct report *r)
{
	const char *usual = sort_usual(r);
	const char *words = r->options.sort != NULL ? r->options.sort : usual;
	const char *fields = r->options.fields;
	struct report_list sort = {0}, added = {0};

	TRY(options_check(r));
	TRY(latency_check(r));
	TRY(r->options.raw_trace ? profile_traces_init(&r->profile, true) : 0);
	words += *words == '+'; /* added to the default columns, which are there already */
	if (r->options.sort != NULL && r->options.sort[0] == '+') {
		TRY(sort_parse(r, usual, &sort));
	}
	if (fields == NULL || *fields == '+' || r->options.sort != NULL) {
		TRY(sort_parse(r, words, &sort));
	}
	if (r->options.parent != NULL && sort.n != 0) { /* else it would have no effect */
		TRY(sort_add(r, &sort, FIELD_PARENT, false));
	}
	if (fields != NULL) {
		TRY(fields_parse(r, fields + (*fields == '+'), &added));
	}
	if (fields == NULL || *fields == '+') {
		columns_usual(r, &sort, &added);
	} else {
		r->strict = true;
		r->columns = r->sorts = added;
		if (sort.n != 0) {
			r->sorts = sort;
		}
		list_join(&r->columns, &sort);
		list_join(&r->sorts, &added);
	}
	r->symbol_first = fields == NULL && r->options.sort != NULL &&
	                  strncmp(r->options.sort, "sym", 3) == 0; /* as in perf */
	columns_elide(r);
	sorts_complete(&r->sorts);
	if (!r->options.hierarchy) {
		levels_join(r);
	}
	return widths_parse(r);
}

void report_columns_sort_level(struct report *r, uint32_t level)
{
	r->sorts.n = 0;
	list_add(&r->sorts, r->options.latency ? FIELD_LATENCY : FIELD_OVERHEAD);
	list_join(&r->sorts, &r->levels[level]);
	for (unsigned i = 0; i < r->columns.n; i++) {
		if (!field_is_key(r->columns.id[i])) {
			list_add(&r->sorts, r->columns.id[i]);
		}
	}
}
