/* SPDX-License-Identifier: MIT */
/*
 * Source lines of frames, read once after the counts of all workers were joined. They distinguish
 * rows (keys srcline, srcfile), and branches of call graphs (-g srcline). Until then each address
 * is a frame of its own; afterwards `alike` makes one branch of the frames of a function, or of a
 * line of it.
 */
#include "profile/profile.h"

#include "core/array.h"
#include "core/hash.h"
#include "core/text.h"

#include <inttypes.h>
#include <stdlib.h>

#define UNKNOWN_LINE "??:0"

struct source_reader {
	struct profile *p;
	struct text text;
	const struct lines_place *place;
	unsigned at; /* index in place->frames */
};

static bool has_keys(const struct profile *p)
{
	return p->options.keys.chosen[FIELD_SRCLINE] || p->options.keys.chosen[FIELD_SRCFILE];
}

static int keep(struct source_reader *r, uint32_t *id)
{
	struct text *t = &r->text;

	*id = t->failed ? INTERN_NONE
	                : intern_add(&r->p->source_texts, t->n != 0 ? t->p : "", t->n);
	t->n = 0;
	return *id != INTERN_NONE ? 0 : SONDE_ENOMEM;
}

static const char *file_of(const struct source_reader *r)
{
	const char *file = r->place->found != LINES_NONE ? r->place->frames[r->at].file : NULL;

	return file == NULL || r->p->options.source_path ? file : lines_file_name(file);
}

/* "FILE:LINE", or "??:0" for a function without line; false: nothing is known. */
static bool put_line(struct source_reader *r)
{
	const char *file = file_of(r);

	if (r->place->found == LINES_NONE) {
		return false;
	}
	if (file == NULL) {
		text_str(&r->text, UNKNOWN_LINE);
	} else {
		text_printf(&r->text, "%s:%" PRIu32, file, r->place->frames[r->at].line);
	}
	return true;
}

/* What a row has if nothing is known of its line: "FUNCTION+OFFSET", or "OBJECT[ADDRESS]". */
static void put_address(struct source_reader *r, const struct profile_frame *f)
{
	const struct timeline *t = session_timeline(r->p->session);

	if (f->object == PROFILE_NONE) {
		text_str(&r->text, UNKNOWN_LINE);
	} else if (f->symbol != NULL) {
		const char *name = profile_symbol(r->p, f->object, f->symbol);

		r->text.failed = r->text.failed || name == NULL;
		text_printf(&r->text, "%s+%" PRIu64, name != NULL ? name : "",
		        f->address - f->symbol->start);
	} else {
		text_printf(&r->text, "%s[%" PRIx64 "]",
		        timeline_text(t, timeline_object(t, f->object)->short_name),
		        r->place->address);
	}
}

/* Sets the texts of a row with this frame. */
static int row_source(
        struct source_reader *r, const struct profile_frame *f, struct profile_source *out)
{
	const char *file = file_of(r);

	text_str(&r->text, file != NULL ? file : "");
	TRY(keep(r, &out->file));
	if (!r->p->options.keys.chosen[FIELD_SRCLINE]) {
		out->row = out->file;
		return 0;
	}
	if (!put_line(r)) {
		put_address(r, f);
	}
	return keep(r, &out->row);
}

static int source_set(struct source_reader *r, uint32_t id)
{
	struct profile_source *out = &r->p->sources[id];

	*out = (struct profile_source){.line = PROFILE_NONE};
	if (put_line(r)) {
		TRY(keep(r, &out->line));
	}
	return has_keys(r->p) ? row_source(r, &r->p->counts.frames[id], out) : 0;
}

int profile_source_add(struct profile *p, uint32_t id, const struct lines_place *place, unsigned at)
{
	struct source_reader r = {.p = p, .place = place, .at = at};
	int rc = SONDE_ENOMEM;

	if (!profile_has_sources(&p->options)) {
		return 0;
	}
	if (array_reserve(&p->sources, &p->sources_cap, (size_t)id + 1, sizeof(*p->sources))) {
		rc = source_set(&r, id);
	}
	text_fini(&r.text);
	return rc;
}

static int source_read(struct profile *p, uint32_t id)
{
	const struct profile_frame *f = &p->counts.frames[id];
	struct frame at = {.ip = f->ip, .address = f->address, .object = f->object};
	struct lines_place place;

	TRY(frame_lines(session_frames(p->session), &at, &place));
	return profile_source_add(p, id, &place, 0);
}

int profile_location_line(struct profile *p, struct profile_location *at)
{
	struct profile_frame f = {
	        .ip = at->ip, .address = at->address, .object = at->object, .symbol = at->symbol};
	struct frame frame = {.ip = at->ip, .address = at->address, .object = at->object};
	struct lines_place place;
	struct source_reader r = {.p = p, .place = &place};
	int rc = frame_lines(session_frames(p->session), &frame, &place);

	if (rc >= 0 && !put_line(&r)) {
		put_address(&r, &f);
	}
	rc = rc < 0 ? rc : keep(&r, &at->line);
	text_fini(&r.text);
	return rc;
}

static struct profile_place place_of(const struct profile *p, size_t frame)
{
	const struct profile_counts *c = &p->counts;
	const struct profile_frame *f = &c->frames[frame];
	const bool *chosen = p->options.keys.chosen;

	return (struct profile_place){
	        .address = chosen[FIELD_SYMOFF] && f->symbol != NULL ? f->address : 0,
	        .ip = chosen[FIELD_CODE_ADDR] ? f->ip : 0,
	        .size = c->sizes != NULL ? c->sizes[frame] : 0};
}

static int place_add(struct profile *p, struct index *known, size_t *n, size_t frame)
{
	struct profile_place place = place_of(p, frame);
	uint32_t hash =
	        (uint32_t)hash_u64(hash_step(hash_step(place.ip, place.size), place.address));
	size_t at = hash;
	uint32_t id;

	TRY(index_room(known));
	while ((id = index_next(known, hash, &at)) != INDEX_NONE &&
	        memcmp(&p->places[id], &place, sizeof(place)) != 0) {
		at++;
	}
	if (id == INDEX_NONE) {
		id = (uint32_t)(*n)++;
		p->places[id] = place;
		index_put(known, hash, at, id);
	}
	p->place_of[frame] = id;
	return 0;
}

int profile_places_make(struct profile *p)
{
	struct index known = {0};
	size_t n = 0;
	int rc = 0;

	if (!profile_has_places(&p->options)) {
		return 0;
	}
	p->places = malloc((p->counts.nframes + 1) * sizeof(*p->places));
	p->place_of = malloc((p->counts.nframes + 1) * sizeof(*p->place_of));
	if (p->places == NULL || p->place_of == NULL) {
		return SONDE_ENOMEM;
	}
	for (size_t i = 0; i < p->counts.nframes && rc >= 0; i++) {
		rc = place_add(p, &known, &n, i);
	}
	index_fini(&known);
	return rc;
}

/* Frames with one line are one branch, as in perf even if they are in different functions. */
static uint32_t line_of(const struct profile *p, uint32_t id)
{
	return p->options.by_line ? p->sources[id].line : PROFILE_NONE;
}

/* Whether frames x and y are one branch of a graph. */
static bool is_alike(const struct profile *p, uint32_t x, uint32_t y)
{
	const struct profile_frame *a = &p->counts.frames[x], *b = &p->counts.frames[y];

	return line_of(p, x) == line_of(p, y) &&
	       (line_of(p, x) != PROFILE_NONE ||
	               (a->symbol == b->symbol && a->object == b->object));
}

/* The frame with the lowest address stands for all, whatever the order in which workers met them. */
static bool is_lower(const struct profile *p, uint32_t x, uint32_t y)
{
	const struct profile_frame *a = &p->counts.frames[x], *b = &p->counts.frames[y];

	if (a->address != b->address) {
		return a->address < b->address;
	}
	return a->ip != b->ip ? a->ip < b->ip : a->object < b->object;
}

static int alike_find(struct profile *p, struct index *known, uint32_t id)
{
	const struct profile_frame *f = &p->counts.frames[id];
	uint32_t line = line_of(p, id);
	uint32_t hash = (uint32_t)hash_u64(
	        line != PROFILE_NONE ? line : hash_step((uintptr_t)f->symbol, f->object));
	size_t at = hash;
	uint32_t other;

	p->alike[id] = id;
	if ((f->symbol == NULL && line == PROFILE_NONE) || f->same != id) {
		return 0;
	}
	TRY(index_room(known));
	for (; (other = index_next(known, hash, &at)) != INDEX_NONE; at++) {
		if (!is_alike(p, id, other)) {
			continue;
		}
		if (is_lower(p, id, other)) {
			p->alike[other] = id;
			index_replace(known, at, id);
		} else {
			p->alike[id] = other;
		}
		return 0;
	}
	index_put(known, hash, at, id);
	return 0;
}

static int graph_words_make(struct profile *p)
{
	p->graph_words = malloc((p->counts.nwords + 1) * sizeof(*p->graph_words));
	for (size_t i = 0; i < p->counts.nwords && p->graph_words != NULL; i++) {
		p->graph_words[i] = p->alike[p->counts.words[i]];
	}
	return p->graph_words != NULL ? 0 : SONDE_ENOMEM;
}

static int alike_make(struct profile *p)
{
	size_t n = p->counts.nframes;
	struct index known = {0};
	int rc = 0;

	p->alike = malloc((n + 1) * sizeof(*p->alike));
	if (p->alike == NULL) {
		return SONDE_ENOMEM;
	}
	for (uint32_t i = 0; i < n && rc >= 0; i++) {
		rc = alike_find(p, &known, i);
	}
	/* a frame that stood for others may have been replaced by a later one, again and again */
	for (size_t i = rc >= 0 ? n : 0; i-- > 0;) {
		if (p->alike[i] > i) {
			p->alike[i] = p->alike[p->alike[i]];
		}
	}
	for (size_t i = 0; i < n && rc >= 0; i++) {
		p->alike[i] = p->alike[p->alike[i]];
	}
	index_fini(&known);
	return rc < 0 ? rc : graph_words_make(p);
}

int profile_sources_read(struct profile *p)
{
	for (uint32_t i = 0; i < p->counts.nframes && profile_has_sources(&p->options); i++) {
		TRY(source_read(p, i));
	}
	return 0;
}

int profile_graph_words_make(struct profile *p)
{
	if (profile_by_place(&p->options) && !p->options.by_address) {
		return alike_make(p);
	}
	p->graph_words = p->counts.words;
	return 0;
}

void profile_sources_free(struct profile *p)
{
	intern_fini(&p->source_texts);
	free(p->sources);
	if (p->alike != NULL) {
		free(p->graph_words);
	}
	free(p->alike);
	free(p->places);
	free(p->place_of);
	arena_fini(&p->inlined);
}
