/* SPDX-License-Identifier: MIT */
/* Adds the counts of a session to a profile by name. */
#include "profile/public.h"

#include "core/array.h"

#include <stdio.h>
#include <stdlib.h>

#define CPU_DIGITS 1 /* minimum, in the text of a processor */

/* An object of the session, filled in at its first use. */
struct adder_object {
	bool known;
	uint32_t path, bracketed; /* texts: "/lib/libc.so.6" and "[libc.so.6]" */
};

struct adder {
	struct sonde_profile *to;
	struct sonde_session *session;
	struct pick pick;
	struct profile from;
	struct text text;
	uint32_t nothing, nowhere; /* texts: "" and "[unknown]" */
	uint32_t *events; /* in `to`, by number in the session */
	struct adder_object *objects;
	/* in `to`, by number in `from` */
	uint32_t *frames; /* only of frames that chains contain, see profile_frame.same */
	uint32_t *keys; /* nabove frames for each vector of words */
	uint32_t *groups; /* of who */
	uint32_t *rows;
	uint32_t *firsts; /* by vector: number of the row with its first sample, + 1 */
	struct index chains; /* of `to`, from this session */
};

static int text_add(struct adder *a, const char *s, size_t n, uint32_t *id)
{
	*id = intern_add(&a->to->texts, s, n);
	return *id == INTERN_NONE ? SONDE_ENOMEM : 0;
}

/* s NULL: out of memory. */
static int string_add(struct adder *a, const char *s, uint32_t *id)
{
	return s == NULL ? SONDE_ENOMEM : text_add(a, s, strlen(s), id);
}

/* ---- events: those with equal names are matched in their order ---- */

static bool event_taken(const struct adder *a, size_t n, size_t event)
{
	for (size_t i = 0; i < n; i++) {
		if (a->events[i] == event) {
			return true;
		}
	}
	return false;
}

static int event_add(struct adder *a, size_t event)
{
	struct sonde_profile *p = a->to;
	const char *name = sonde_session_event_name(a->session, event);
	uint32_t text;
	size_t i = 0;

	while (i < p->nevents &&
	        (strcmp(p->events[i].name, name) != 0 || event_taken(a, event, i))) {
		i++;
	}
	if (i == p->nevents) {
		TRY(string_add(a, name, &text));
		if (!array_reserve(&p->events, &p->events_cap, i + 1, sizeof(*p->events))) {
			return SONDE_ENOMEM;
		}
		p->events[p->nevents++] =
		        (struct sonde_profile_event){.name = intern_text(&p->texts, text)};
	}
	a->events[event] = (uint32_t)i;
	return 0;
}

/* ---- frames of code ---- */

/* Adds the texts of an object; code without a symbol is named after its object: "[libc.so.6]". */
static int object_add(struct adder *a, uint32_t object)
{
	const struct timeline *t = session_timeline(a->session);
	const char *path = timeline_text(t, timeline_object(t, object)->name);
	const char *slash = strrchr(path, '/');
	const char *base = slash != NULL ? slash + 1 : path;
	bool plain = base[0] != '[';

	a->text.n = 0;
	text_str(&a->text, plain ? "[" : "");
	text_str(&a->text, base);
	text_str(&a->text, plain ? "]" : "");
	if (a->text.failed) {
		return SONDE_ENOMEM;
	}
	TRY(string_add(a, path, &a->objects[object].path));
	a->objects[object].known = true;
	return text_add(a, a->text.p, a->text.n, &a->objects[object].bracketed);
}

static int frame_add(struct adder *a, const struct profile_frame *f, uint32_t *id)
{
	struct profile_named_frame key = {.name = a->nowhere, .dso = a->nothing};

	key.shown.kind = SONDE_PROFILE_UNKNOWN;
	if (f->object != PROFILE_NONE) {
		if (!a->objects[f->object].known) {
			TRY(object_add(a, f->object));
		}
		key.name = a->objects[f->object].bracketed;
		key.dso = a->objects[f->object].path;
	}
	if (f->symbol != NULL) {
		TRY(string_add(a, profile_symbol(&a->from, f->object, f->symbol), &key.name));
		key.shown.kind = profile_is_kernel(&a->from, f->object) ? SONDE_PROFILE_KERNEL
		                                                        : SONDE_PROFILE_USER;
	}
	if (a->to->options.by_address) {
		key.shown.address = key.detail = f->address;
	}
	return profile_named_frame_add(a->to, &key, id);
}

static int frames_add(struct adder *a)
{
	const struct profile_counts *c = &a->from.counts;

	for (size_t i = 0; i < c->nframes; i++) {
		if (c->frames[i].same == i) {
			TRY(frame_add(a, &c->frames[i], &a->frames[i]));
		}
	}
	return 0;
}

/* ---- groups: frames of keys ---- */

/* Adds the text of a key's words, as in the row of their first sample. */
static int key_add(struct adder *a, const uint32_t *words, uint8_t id,
        const struct profile_row *first, struct profile_named_frame *frame)
{
	const struct field *key = field_at(id);
	uint64_t number = field_number(key, words);
	struct field_value value = {.number = number,
	        .text = key->text_of != NULL ? key->text_of(&a->from.source, number) : NULL,
	        .comm = profile_row_first(&a->from, first)->first_comm,
	        .width = CPU_DIGITS};
	bool is_text = key->info.type == SONDE_FIELD_TEXT;
	size_t blanks = 0;

	a->text.n = 0;
	field_text(key, &a->from.source, &value, &a->text);
	text_char(&a->text, '\0');
	if (a->text.failed) {
		return SONDE_ENOMEM;
	}
	while (!is_text && a->text.p[blanks] == ' ') { /* numbers are right-aligned */
		blanks++;
	}
	*frame = (struct profile_named_frame){.dso = a->nothing, .detail = id};
	frame->shown.kind = SONDE_PROFILE_KEY;
	if (!is_text) {
		frame->value = key->words == 1 ? (uint32_t)number : number;
	}
	return string_add(a, a->text.p + blanks, &frame->name);
}

static void firsts_find(struct adder *a)
{
	const struct profile_row *rows = a->from.rows;

	for (size_t i = 0; i < a->from.nrows; i++) {
		uint32_t *at = &a->firsts[rows[i].key];
		const struct profile_row *first = *at != 0 ? &rows[*at - 1] : NULL;

		if (first == NULL || rows[i].first_chain < first->first_chain) {
			*at = (uint32_t)i + 1;
		}
	}
}

static int keys_add(struct adder *a)
{
	const struct profile *from = &a->from;
	size_t n = a->to->nabove, vectors = from->options.keys.words != 0 ? from->counts.nkeys : 1;

	firsts_find(a);
	for (size_t v = 0; v < vectors; v++) {
		const struct profile_row *first =
		        a->firsts[v] != 0 ? &from->rows[a->firsts[v] - 1] : NULL;

		for (size_t k = 0; k < n && first != NULL; k++) { /* NULL: of hidden samples only */
			uint8_t id = a->to->above[k];
			struct profile_named_frame frame;

			TRY(key_add(a, profile_row_words(from, first, id), id, first, &frame));
			TRY(profile_named_frame_add(a->to, &frame, &a->keys[v * n + k]));
		}
	}
	return 0;
}

static int group_add(struct adder *a, uint32_t event, uint32_t key, uint32_t *id)
{
	uint32_t vector[1 + FIELD_COUNT] = {a->events[event]};
	size_t n = a->to->nabove;

	memcpy(vector + 1, a->keys + key * n, n * sizeof(*vector));
	return profile_group_add(a->to, vector, id);
}

static int groups_add(struct adder *a)
{
	const struct profile_counts *c = &a->from.counts;

	for (size_t i = 0; i < c->nwho; i++) {
		if (a->firsts[c->who[i].key] != 0) {
			TRY(group_add(a, c->who[i].event, c->who[i].key, &a->groups[i]));
		}
	}
	return 0;
}

/* ---- rows ---- */

/* Adds the text of the key sym for a row without a symbol. */
static int unknown_add(struct adder *a, const struct profile_row *row, uint32_t *id)
{
	uint32_t object = a->from.counts.frames[row->first_frame].object;
	char text[32];

	if (a->to->options.by_address) {
		int n = snprintf(text, sizeof(text), "0x%016llx",
		        (unsigned long long)profile_row_address(row));

		return text_add(a, text, (size_t)n, id);
	}
	if (object == PROFILE_NONE) {
		*id = a->nowhere;
		return 0;
	}
	if (!a->objects[object].known) {
		TRY(object_add(a, object));
	}
	*id = a->objects[object].bracketed;
	return 0;
}

static int row_add(struct adder *a, const struct profile_row *row, uint32_t *id)
{
	struct sonde_profile *p = a->to;
	struct profile_named_row key = {.dso = PROFILE_NONE, .symbol = PROFILE_NONE};
	const struct profile_chain *first = profile_row_first(&a->from, row);
	struct profile_named_row *named;

	TRY(group_add(a, row->event, row->key, &key.group));
	if (p->choice.chosen[FIELD_DSO]) {
		TRY(string_add(a, intern_text(&a->from.names, row->dso), &key.dso));
	}
	if (p->choice.chosen[FIELD_SYM]) {
		key.known = row->has_symbol;
		TRY(key.known ? string_add(a, profile_row_name(&a->from, row), &key.symbol)
		              : unknown_add(a, row, &key.symbol));
	}
	TRY(profile_row_add(p, &key, id));
	named = &p->rows[*id];
	if (first->time < named->time ||
	        (first->time == named->time && first->first_tid < named->first_tid)) {
		named->time = first->time;
		named->first_tid = first->first_tid;
		named->shown.kernel = row->kernel;
	}
	if (key.dso != PROFILE_NONE && row->dso != a->from.unknown) {
		named->shown.dso = intern_text(&p->texts, key.dso);
	}
	return 0;
}

static int rows_add(struct adder *a)
{
	for (size_t i = 0; i < a->from.nrows; i++) {
		TRY(row_add(a, &a->from.rows[i], &a->rows[i]));
	}
	return 0;
}

/* ---- chains ---- */

/* Appends `more` items to the n items of *to; if there are none yet, takes over the memory. */
static bool items_take(void *to, size_t *cap, size_t n, void *from, size_t more, size_t size)
{
	void **mine = to, **theirs = from;

	if (n == 0) {
		free(*mine);
		*mine = *theirs;
		*theirs = NULL;
		*cap = more;
		return true;
	}
	if (!array_reserve(to, cap, n + more, size)) {
		return false;
	}
	if (more != 0) {
		memcpy((char *)*mine + n * size, *theirs, more * size);
	}
	return true;
}

/* Counts a chain in its rows and its event. */
static void chain_count(struct sonde_profile *p, const struct profile_chain *c, uint32_t mark)
{
	uint64_t period = profile_chain_period(c);
	struct sonde_profile_event *event = &p->events[profile_group(p, c->who)[0]];
	struct profile_named_row *row = &p->rows[c->row];

	event->samples += c->samples;
	event->period = profile_sum(event->period, period);
	row->shown.samples += c->samples;
	row->shown.period = profile_sum(row->shown.period, period);
	row->shown.children = profile_sum(row->shown.children, period);
	row->mark = mark;
	for (uint32_t i = 0; i < c->n && p->rows_of != NULL; i++) {
		row = &p->rows[p->rows_of[c->first + i]];
		if (row->mark != mark) {
			row->shown.children = profile_sum(row->shown.children, period);
			row->mark = mark;
		}
	}
}

static void chain_rename(const struct adder *a, struct profile_chain *c, size_t first)
{
	struct sonde_profile *p = a->to;

	c->first += first;
	c->who = a->groups[c->who];
	c->leaf = a->frames[c->leaf];
	c->row = a->rows[c->row];
	for (size_t i = c->first; i < c->first + c->n; i++) {
		p->words[i] = a->frames[p->words[i]];
		if (p->rows_of != NULL) {
			p->rows_of[i] = a->rows[p->rows_of[i]];
		}
	}
}

/* Whether two chains with equal hashes differ only in their counts. */
static bool chain_same(
        const struct sonde_profile *p, const struct profile_chain *x, const struct profile_chain *y)
{
	size_t size = x->n * sizeof(*p->words);

	return x->n == y->n && x->leaf == y->leaf && x->who == y->who && x->row == y->row &&
	       (size == 0 || memcmp(p->words + x->first, p->words + y->first, size) == 0) &&
	       (size == 0 || p->rows_of == NULL ||
	               memcmp(p->rows_of + x->first, p->rows_of + y->first, size) == 0);
}

/*
 * Adds chain number `id` to an earlier one whose frames have the same names, as their addresses
 * differ: trees have fewer paths then. 1: added; 0: there is none; SONDE_ENOMEM.
 */
static int chain_join(struct adder *a, uint32_t id)
{
	struct sonde_profile *p = a->to;
	struct profile_chain *c = &p->chains[id];
	const uint32_t *words = c->n != 0 ? p->words + c->first : NULL;
	uint32_t hash = profile_chain_hash(c, words), old;
	size_t at = hash;

	TRY(index_room(&a->chains));
	while ((old = index_next(&a->chains, hash, &at)) != INDEX_NONE) {
		struct profile_chain *same = &p->chains[old];

		if (chain_same(p, same, c)) {
			same->samples += c->samples;
			same->over = profile_sum(profile_chain_period(same),
			                     profile_chain_period(c)) == UINT64_MAX;
			same->period += c->period;
			return 1;
		}
		at++;
	}
	index_put(&a->chains, hash, at, id);
	return 0;
}

static int chains_add(struct adder *a)
{
	struct sonde_profile *p = a->to;
	struct profile *from = &a->from;
	struct profile_counts *c = &from->counts;
	size_t first = p->nwords, at = p->nchains, n = at + c->nchains;

	if (n >= PROFILE_NONE ||
	        !items_take(&p->chains, &p->chains_cap, at, &c->chains, c->nchains,
	                sizeof(*p->chains)) ||
	        !items_take(
	                &p->words, &p->words_cap, first, &c->words, c->nwords, sizeof(*p->words)) ||
	        (p->options.children && !items_take(&p->rows_of, &p->rows_of_cap, first,
	                                        &from->rows_of, c->nwords, sizeof(*p->rows_of)))) {
		return SONDE_ENOMEM;
	}
	p->nwords += c->nwords;
	for (size_t i = at; i < n; i++) {
		int joined = 1;

		if (!p->chains[i].hidden) {
			p->chains[at] = p->chains[i];
			chain_rename(a, &p->chains[at], first);
			chain_count(p, &p->chains[at], ++p->nmarks);
			joined = chain_join(a, (uint32_t)at);
		}
		TRY(joined);
		at += joined == 0;
	}
	p->nchains = at;
	return 0;
}

/* ---- the whole session ---- */

static int count(struct adder *a)
{
	struct sonde_profile *p = a->to;
	const struct sonde_profile_options *o = &p->options;
	struct profile_options po = {.keys = p->choice,
	        .children = o->children,
	        .caller = o->children,
	        .named = true,
	        .by_address = o->by_address,
	        .max_stack = o->max_stack != 0 ? o->max_stack : UINT32_MAX,
	        .pick = &a->pick,
	        .one_event = o->one_event ? (uint32_t)o->event + 1 : 0,
	        .time_quantum = o->time_quantum};

	if (o->one_event && o->event >= sonde_session_events(a->session)) {
		return error_set(session_error(a->session), SONDE_EARG, NO_OFFSET,
		        "there is no event %zu: the recording has %zu", o->event,
		        sonde_session_events(a->session));
	}
	if (po.keys.chosen[FIELD_SYM] && !o->by_address) {
		field_key_choose(&po.keys, FIELD_DSO); /* names code without a symbol */
	}
	profile_init(&a->from, a->session, &po);
	TRY(pick_init(&a->pick, a->session, &o->filter));
	return profile_run(&a->from);
}

static int tables_make(struct adder *a)
{
	const struct profile_counts *c = &a->from.counts;

	a->events = calloc(sonde_session_events(a->session) + 1, sizeof(*a->events));
	a->objects =
	        calloc(timeline_objects(session_timeline(a->session)) + 1, sizeof(*a->objects));
	a->frames = calloc(c->nframes + 1, sizeof(*a->frames));
	a->keys = calloc((c->nkeys + 1) * (a->to->nabove + 1), sizeof(*a->keys));
	a->firsts = calloc(c->nkeys + 1, sizeof(*a->firsts));
	a->groups = calloc(c->nwho + 1, sizeof(*a->groups));
	a->rows = calloc(a->from.nrows + 1, sizeof(*a->rows));
	return a->events != NULL && a->objects != NULL && a->frames != NULL && a->keys != NULL &&
	                       a->firsts != NULL && a->groups != NULL && a->rows != NULL
	               ? 0
	               : SONDE_ENOMEM;
}

static int add(struct adder *a)
{
	TRY(session_ready(a->session));
	TRY(count(a));
	TRY(tables_make(a));
	TRY(string_add(a, "", &a->nothing));
	TRY(string_add(a, "[unknown]", &a->nowhere));
	for (size_t i = 0; i < sonde_session_events(a->session); i++) {
		TRY(event_add(a, i));
	}
	TRY(frames_add(a));
	TRY(keys_add(a));
	TRY(groups_add(a));
	TRY(rows_add(a));
	return chains_add(a);
}

int profile_add(struct sonde_profile *p, struct sonde_session *s)
{
	struct adder *a = calloc(1, sizeof(*a));
	int rc = SONDE_ENOMEM;

	if (a != NULL) {
		a->to = p;
		a->session = s;
		rc = add(a);
		profile_fini(&a->from);
		pick_fini(&a->pick);
		text_fini(&a->text);
		free(a->events);
		free(a->objects);
		free(a->frames);
		free(a->keys);
		free(a->firsts);
		index_fini(&a->chains);
		free(a->groups);
		free(a->rows);
		free(a);
	}
	return rc;
}
