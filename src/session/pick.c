/* SPDX-License-Identifier: MIT */
#include "session/pick.h"

#include "core/array.h"
#include "record/feature.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_SEC    1000000000ull
#define CPUS_MAX      65536u
#define FILE_PREFIX   "file://"
#define LIST_FILE_MAX (16u << 20) /* bytes */

static int list_add(struct pick *p, struct pick_list *list, const char *word, size_t n)
{
	if (n == 0) {
		return 0;
	}
	if (!array_reserve(&list->words, &list->cap, list->n + 1, sizeof(*list->words))) {
		return SONDE_ENOMEM;
	}
	list->words[list->n] = arena_text(&p->arena, word, n);
	if (list->words[list->n] == NULL) {
		return SONDE_ENOMEM;
	}
	list->n++;
	return 0;
}

/* Reads a file with one name a line. */
static int list_file(struct pick *p, struct pick_list *list, const char *path, struct error *err)
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t size = 0, total = 0;
	ssize_t n;
	int rc = 0;

	if (file == NULL) {
		return error_errno(err, SONDE_EARG, errno, "cannot read %s", path);
	}
	while (rc == 0 && total < LIST_FILE_MAX && (n = getline(&line, &size, file)) >= 0) {
		total += (size_t)n;
		rc = list_add(p, list, line, strcspn(line, "\n"));
	}
	free(line);
	(void)fclose(file);
	return rc;
}

static int list_parse(struct pick *p, struct pick_list *list, const char *what, const char *text,
        struct error *err)
{
	for (size_t n; *text != 0; text += n + (text[n] == ',')) {
		size_t prefix = sizeof(FILE_PREFIX) - 1;

		n = strcspn(text, ",");
		if (n > prefix && memcmp(text, FILE_PREFIX, prefix) == 0) {
			const char *path = arena_text(&p->arena, text + prefix, n - prefix);

			if (path == NULL) {
				return SONDE_ENOMEM;
			}
			TRY(list_file(p, list, path, err));
		} else {
			TRY(list_add(p, list, text, n));
		}
	}
	if (list->n == 0) {
		return error_set(err, SONDE_EARG, NO_OFFSET, "the list of %s is empty", what);
	}
	return 0;
}

static const char *list_only(const struct pick_list *list)
{
	return list->n == 1 ? list->words[0] : NULL;
}

static bool list_has(const struct pick_list *list, const char *word)
{
	for (size_t i = 0; i < list->n; i++) {
		if (strcmp(list->words[i], word) == 0) {
			return true;
		}
	}
	return false;
}

static int parse_comms(struct pick *p, struct sonde_session *s, const char *text)
{
	const struct timeline *t = session_timeline(s);
	struct pick_list list = {0};
	int rc = list_parse(p, &list, "names of threads", text, session_error(s));

	p->comms = rc < 0 ? NULL : calloc(timeline_texts(t) + 1, sizeof(*p->comms));
	for (size_t i = 0; p->comms != NULL && i < timeline_texts(t); i++) {
		p->comms[i] = list_has(&list, timeline_text(t, (uint32_t)i));
	}
	p->only_comm = list_only(&list);
	free(list.words);
	return rc < 0 ? rc : p->comms != NULL ? 0 : SONDE_ENOMEM;
}

static int parse_dsos(struct pick *p, struct sonde_session *s, const char *text)
{
	const struct timeline *t = session_timeline(s);
	struct pick_list list = {0};
	int rc = list_parse(p, &list, "objects", text, session_error(s));

	p->dsos = rc < 0 ? NULL : calloc(timeline_objects(t) + 1, sizeof(*p->dsos));
	for (size_t i = 0; p->dsos != NULL && i < timeline_objects(t); i++) {
		const struct timeline_object *o = timeline_object(t, (uint32_t)i);

		p->dsos[i] = list_has(&list, timeline_text(t, o->name)) ||
		             list_has(&list, timeline_text(t, o->short_name));
	}
	p->only_dso = list_only(&list);
	free(list.words);
	return rc < 0 ? rc : p->dsos != NULL ? 0 : SONDE_ENOMEM;
}

static int number_add(struct pick_numbers *numbers, uint64_t value)
{
	if (!array_reserve(
	            &numbers->values, &numbers->cap, numbers->n + 1, sizeof(*numbers->values))) {
		return SONDE_ENOMEM;
	}
	numbers->values[numbers->n++] = value;
	return 0;
}

static int word_order(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int parse_symbols(struct pick *p, struct sonde_session *s, const char *text, uint64_t range)
{
	struct pick_list *list = &p->symbols;
	char *end;

	TRY(list_parse(p, list, "symbols", text, session_error(s)));
	p->only_symbol = list_only(list);
	p->by_symbol = true;
	p->address_range = range;
	for (size_t i = 0; i < list->n; i++) {
		uint64_t address = strtoull(list->words[i], &end, 16);

		if (strncmp(list->words[i], "0x", 2) == 0 && *end == 0) {
			TRY(number_add(&p->addresses, address));
		}
	}
	qsort(list->words, list->n, sizeof(*list->words), word_order);
	return 0;
}

bool pick_names_symbol(const struct pick *p, const char *symbol, uint64_t start, uint64_t ip)
{
	for (size_t i = 0; i < p->addresses.n; i++) {
		uint64_t address = p->addresses.values[i];

		if (ip == address || ip - address < p->address_range ||
		        (symbol != NULL && start == address)) {
			return true;
		}
	}
	return symbol != NULL && bsearch(&symbol, p->symbols.words, p->symbols.n,
	                                 sizeof(*p->symbols.words), word_order) != NULL;
}

/* Parses a decimal number up to max; advances *text past it. */
static bool take_number(const char **text, uint64_t max, uint64_t *value)
{
	uint64_t v = 0;
	const char *c = *text;

	for (; *c >= '0' && *c <= '9'; c++) {
		v = v * 10 + (uint64_t)(*c - '0');
		if (v > max) {
			return false;
		}
	}
	if (c == *text) {
		return false;
	}
	*text = c;
	*value = v;
	return true;
}

static int parse_numbers(
        struct pick_numbers *numbers, const char *what, const char *text, struct error *err)
{
	const char *c = text;
	uint64_t v;

	for (;;) {
		if (!take_number(&c, UINT32_MAX, &v) || (*c != 0 && *c != ',')) {
			return error_set(err, SONDE_EARG, NO_OFFSET,
			        "'%s' is no list of %s: write numbers with commas between", text,
			        what);
		}
		TRY(number_add(numbers, v));
		if (*c++ == 0) {
			return 0;
		}
	}
}

static int parse_cpus(struct pick *p, const char *text, struct error *err)
{
	const char *c = text;
	uint64_t first = 0, last;

	p->ncpus = CPUS_MAX;
	p->cpus = calloc(p->ncpus, sizeof(*p->cpus));
	if (p->cpus == NULL) {
		return SONDE_ENOMEM;
	}
	for (;;) {
		bool good = take_number(&c, CPUS_MAX - 1, &first);

		last = first;
		if (good && *c == '-') {
			c++;
			good = take_number(&c, CPUS_MAX - 1, &last) && last >= first;
		}
		if (!good || (*c != 0 && *c != ',')) {
			return error_set(err, SONDE_EARG, NO_OFFSET,
			        "'%s' is no list of processors: write it as 0,2-3", text);
		}
		memset(p->cpus + first, 1, last - first + 1);
		if (*c++ == 0) {
			return 0;
		}
	}
}

static int cpus_recorded(struct sonde_session *s)
{
	for (size_t i = 0; i < sonde_session_events(s); i++) {
		if ((sonde_session_event_attr(s, i)->sample_type & SONDE_SAMPLE_CPU) == 0) {
			return error_set(session_error(s), SONDE_EARG, NO_OFFSET,
			        "samples of '%s' do not say on which processor they were taken: "
			        "leave --cpu out, or record with --sample-cpu",
			        sonde_session_event_name(s, i));
		}
	}
	return 0;
}

/* "12.000000345" -> ns */
static bool take_seconds(const char **text, uint64_t *ns)
{
	uint64_t seconds, digit = NS_PER_SEC / 10;

	if (!take_number(text, UINT64_MAX / NS_PER_SEC - 1, &seconds)) {
		return false;
	}
	*ns = seconds * NS_PER_SEC;
	if (**text != '.') {
		return true;
	}
	for (++*text; **text >= '0' && **text <= '9'; ++*text) {
		if (digit == 0) {
			return false; /* more than nine digits: finer than 1 ns */
		}
		*ns += (uint64_t)(**text - '0') * digit;
		digit /= 10;
	}
	return true;
}

/* "START,END", "START,", ",END" */
static bool take_span(const char **text, struct pick_range *range)
{
	*range = (struct pick_range){0, UINT64_MAX};
	if (**text != ',' && !take_seconds(text, &range->start)) {
		return false;
	}
	if (**text != ',') {
		return false;
	}
	++*text;
	return **text == 0 || **text == ' ' ||
	       (take_seconds(text, &range->end) && range->end >= range->start);
}

static bool take_percent(const char **text, double *share)
{
	char *end;

	if (**text < '0' || **text > '9') {
		return false;
	}
	*share = strtod(*text, &end) / 100.0;
	if (*end != '%' || !(*share >= 0 && *share <= 1)) {
		return false;
	}
	*text = end + 1;
	return true;
}

/*
 * Parses "10%-20%", "10%/2" (the second tenth), "10%" (the first) of the time from first to last.
 */
static bool take_share(const char **text, uint64_t first, uint64_t last, struct pick_range *range)
{
	double total = (double)(last - first);
	double from, to;
	uint64_t n = 1;

	if (!take_percent(text, &from)) {
		return false;
	}
	if (**text == '-') {
		++*text;
		if (!take_percent(text, &to)) {
			return false;
		}
	} else {
		if (**text == '/' && (++*text, !take_number(text, UINT32_MAX, &n))) {
			return false;
		}
		if (n == 0 || from == 0) {
			return false;
		}
		to = from * (double)n;
		from = to - from;
	}
	if (from >= to || to > 1.0 + 1e-9) {
		return false;
	}
	range->start = first + (uint64_t)(from * total);
	range->end = to >= 1.0 ? last : first + (uint64_t)(to * total);
	return true;
}

static uint64_t time_after(uint64_t time, uint64_t first)
{
	return time > UINT64_MAX - first ? UINT64_MAX : time + first;
}

/* The whole time that shares are parts of: as in perf that of the header, if it has one. */
static struct pick_range whole_time(struct sonde_session *s)
{
	const struct session_counts *counts = session_counts(s);
	struct pick_range whole = {.start = counts->first_time, .end = counts->last_time};
	struct feature_times recorded;
	struct arena arena = {0};

	if (SESSION_FEATURE(s, FEATURE_SAMPLE_TIME, &arena, &recorded) > 0 && recorded.last != 0 &&
	        recorded.first <= recorded.last) {
		whole = (struct pick_range){.start = recorded.first, .end = recorded.last};
	}
	arena_fini(&arena);
	return whole;
}

static int parse_time(struct pick *p, struct sonde_session *s, const char *text, bool relative)
{
	bool shares = strchr(text, '%') != NULL;
	const struct pick_range whole = shares ? whole_time(s) : (struct pick_range){0};
	char between = (char)(shares ? ',' : ' ');
	uint64_t first = relative && !shares ? session_counts(s)->first_time : 0;
	const char *c = text;

	do {
		struct pick_range range;
		bool good = shares ? take_share(&c, whole.start, whole.end, &range)
		                   : take_span(&c, &range);

		if (!good || (*c != 0 && *c != between)) {
			return error_set(session_error(s), SONDE_EARG, NO_OFFSET,
			        "'%s' is no time: write START,END in seconds, 10%%-20%% or 10%%/2",
			        text);
		}
		if (!array_reserve(&p->ranges, &p->ranges_cap, p->nranges + 1, sizeof(range))) {
			return SONDE_ENOMEM;
		}
		range.start = time_after(range.start, first);
		range.end = time_after(range.end, first);
		p->ranges[p->nranges++] = range;
	} while (*c++ != 0);
	return 0;
}

static int parse(struct pick *p, struct sonde_session *s, const struct sonde_filter *f)
{
	struct error *err = session_error(s);

	if (f->comms != NULL) {
		TRY(parse_comms(p, s, f->comms));
	}
	if (f->dsos != NULL) {
		TRY(parse_dsos(p, s, f->dsos));
	}
	if (f->symbols != NULL) {
		TRY(parse_symbols(p, s, f->symbols, f->address_range));
	}
	if (f->pids != NULL) {
		TRY(parse_numbers(&p->pids, "process ids", f->pids, err));
	}
	if (f->tids != NULL) {
		TRY(parse_numbers(&p->tids, "thread ids", f->tids, err));
	}
	if (f->cpus != NULL) {
		TRY(cpus_recorded(s));
		TRY(parse_cpus(p, f->cpus, err));
	}
	return f->time != NULL ? parse_time(p, s, f->time, f->relative_time) : 0;
}

int pick_init(struct pick *p, struct sonde_session *s, const struct sonde_filter *f)
{
	int rc;

	*p = (struct pick){0};
	rc = parse(p, s, f);
	return rc < 0 ? error_ensure(session_error(s), rc) : 0;
}

void pick_fini(struct pick *p)
{
	free(p->symbols.words);
	free(p->addresses.values);
	free(p->pids.values);
	free(p->tids.values);
	free(p->comms);
	free(p->dsos);
	free(p->cpus);
	free(p->ranges);
	arena_fini(&p->arena);
	*p = (struct pick){0};
}

int pick_wanted(
        const struct pick *p, struct frame_reader *frames, const struct session_sample *sample)
{
	const struct frame *f;
	const char *name;

	if (!pick_takes(p, sample->s.cpu, sample->s.time) ||
	        !pick_thread(p, sample->view->pid, sample->view->tid) ||
	        !pick_comm(p, sample->view->comm)) {
		return 0;
	}
	if (p->dsos == NULL && !p->by_symbol) {
		return 1;
	}
	f = frame_find(frames, sample->view, sample->cpumode, sample->s.ip);
	if (f == NULL) {
		return SONDE_ENOMEM;
	}
	if (!pick_object(p, f->object)) {
		return 0;
	}
	if (f->symbol == NULL || !p->by_symbol) {
		return pick_symbol(p, NULL, 0, f->ip);
	}
	name = frame_symbol_name(frames->resolver, f->object, f->symbol);
	if (name == NULL) {
		return SONDE_ENOMEM;
	}
	return pick_symbol(p, name, f->ip - (f->address - f->symbol->start), f->ip);
}
