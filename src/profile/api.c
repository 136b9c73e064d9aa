/* SPDX-License-Identifier: MIT */
#include "profile/public.h"

#include "core/options.h"

#include <stdlib.h>

#define SORT_USUAL "comm,dso,sym"

static int key_choose(struct sonde_profile *p, const char *word, size_t n)
{
	unsigned id = field_find(SONDE_FIELD_KEY, word, n);

	if (id == FIELD_COUNT) {
		return error_set(&p->error, SONDE_EARG, NO_OFFSET,
		        "'%.*s' is no key that a profile can be sorted by: see --sort in "
		        "sonde-report(1)",
		        (int)n, word);
	}
	if ((field_at(id)->style & FIELD_OF_ROW) != 0) {
		return error_set(&p->error, SONDE_EARG, NO_OFFSET,
		        "'%.*s' is a key of sonde-report(1) only", (int)n, word);
	}
	if (!p->choice.chosen[id]) {
		p->keys[p->nkeys++] = (uint8_t)id;
		field_key_choose(&p->choice, id);
		if (id != FIELD_DSO && id != FIELD_SYM) {
			p->above[p->nabove++] = (uint8_t)id;
		}
	}
	return 0;
}

static int keys_choose(struct sonde_profile *p)
{
	const char *words = p->options.sort != NULL ? p->options.sort : SORT_USUAL;

	for (size_t n; *words != 0; words += n + (words[n] != 0)) {
		n = strcspn(words, ", ");
		if (n != 0) {
			TRY(key_choose(p, words, n));
		}
	}
	return p->nkeys != 0 ? 0
	                     : error_set(&p->error, SONDE_EARG, NO_OFFSET,
	                               "a profile must be sorted by at least one key");
}

static int root_name(struct sonde_profile *p)
{
	struct profile_named_frame all = {
	        .name = intern_add(&p->texts, "all", 3), .dso = intern_add(&p->texts, "", 0)};
	uint32_t id;

	all.shown.kind = SONDE_PROFILE_ALL;
	return all.name != INTERN_NONE && all.dso != INTERN_NONE
	               ? profile_named_frame_add(p, &all, &id)
	               : SONDE_ENOMEM;
}

struct sonde_profile *sonde_profile_new(const struct sonde_profile_options *options)
{
	struct sonde_profile *p = calloc(1, sizeof(*p));
	int rc;

	if (p == NULL) {
		return NULL;
	}
	if (root_name(p) < 0) {
		sonde_profile_free(p);
		return NULL;
	}
	rc = options_copy(&p->options, sizeof(p->options), options, &p->error);
	if (rc >= 0) {
		rc = keys_choose(p);
	}
	if (rc < 0) {
		p->failed = error_ensure(&p->error, rc);
	}
	return p;
}

void sonde_profile_free(struct sonde_profile *p)
{
	if (p == NULL) {
		return;
	}
	intern_fini(&p->texts);
	arena_fini(&p->arena);
	index_fini(&p->frame_ids);
	index_fini(&p->group_ids);
	index_fini(&p->row_ids);
	free(p->frames);
	free(p->events);
	free(p->groups);
	free(p->chains);
	free(p->words);
	free(p->rows_of);
	free(p->rows);
	free(p->order);
	free(p);
}

const struct sonde_error *sonde_profile_error(const struct sonde_profile *p)
{
	return error_show(&p->error);
}

/* Copies the error of a session to the profile. */
static int add_failed(struct sonde_profile *p, const struct sonde_session *s, int rc)
{
	const struct sonde_error *e = sonde_session_error(s);

	if (e->status == rc) {
		(void)error_take(&p->error, e);
	}
	p->failed = error_ensure(&p->error, rc);
	return p->failed;
}

int sonde_profile_add(struct sonde_profile *p, struct sonde_session *s)
{
	int rc;

	if (p->failed < 0) {
		return p->failed;
	}
	rc = profile_add(p, s);
	if (rc >= 0) {
		rc = profile_names_sort(p);
	}
	return rc < 0 ? add_failed(p, s, rc) : 0;
}

size_t sonde_profile_events(const struct sonde_profile *p)
{
	return p->failed < 0 ? 0 : p->nevents;
}

const struct sonde_profile_event *sonde_profile_event(const struct sonde_profile *p, size_t event)
{
	return event < sonde_profile_events(p) ? &p->events[event] : NULL;
}

size_t sonde_profile_frames(const struct sonde_profile *p)
{
	return p->failed < 0 ? 0 : p->nframes;
}

size_t sonde_profile_keys(const struct sonde_profile *p)
{
	return p->nkeys;
}

const struct sonde_field_info *sonde_profile_key(const struct sonde_profile *p, size_t key)
{
	return key < p->nkeys ? &field_at(p->keys[key])->info : NULL;
}

size_t sonde_profile_rows(const struct sonde_profile *p)
{
	return p->failed < 0 ? 0 : p->nrows;
}

const struct sonde_profile_row *sonde_profile_row(const struct sonde_profile *p, size_t row)
{
	return row < sonde_profile_rows(p) ? &p->rows[p->order[row]].shown : NULL;
}
