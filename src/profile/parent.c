/* SPDX-License-Identifier: MIT */
/*
 * The key `parent`: the first function of a sample's chain, in the order of graphs, that a regular
 * expression matches. Names are matched once per function, and replaced by their ranks.
 */
#include "profile/profile.h"

#include <stdlib.h>

static int name_order(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/*
 * Stores the matching functions' names by frame, NULL for the others; and all of them in order.
 * SONDE_ENOMEM.
 */
static int parents_find(struct profile *p, const char **by_frame)
{
	size_t n = 0;
	uint32_t kept = 0;

	for (size_t i = 0; i < p->counts.nframes; i++) {
		const struct profile_frame *f = &p->counts.frames[i];
		const char *name = profile_symbol(p, f->object, f->symbol);

		if (name == NULL && f->symbol != NULL) {
			return SONDE_ENOMEM;
		}
		if (f->same == i && name != NULL &&
		        regexec(p->options.parent, name, 0, NULL, 0) == 0) {
			by_frame[i] = name;
			p->parents[n++] = name;
		}
	}
	qsort(p->parents, n, sizeof(*p->parents), name_order);
	for (size_t i = 0; i < n; i++) {
		if (kept == 0 || strcmp(p->parents[i], p->parents[kept - 1]) != 0) {
			p->parents[kept++] = p->parents[i];
		}
	}
	p->parents[kept] = "[other]";
	p->nparents = kept + 1;
	return 0;
}

static uint32_t parent_of(
        const struct profile *p, const struct profile_chain *c, const char *const *by_frame)
{
	for (uint32_t step = 1; step <= c->n; step++) {
		const char *name = by_frame[p->counts.words[profile_chain_word(p, c, step)]];

		if (name != NULL) {
			const char **found = bsearch(&name, p->parents, p->nparents - 1,
			        sizeof(*p->parents), name_order);

			return (uint32_t)(found - p->parents);
		}
	}
	return p->nparents - 1;
}

int profile_parents_make(struct profile *p)
{
	const char **by_frame = calloc(p->counts.nframes + 1, sizeof(*by_frame));
	int rc = SONDE_ENOMEM;

	p->parents = calloc(p->counts.nframes + 1, sizeof(*p->parents));
	p->parent_of = malloc((p->counts.nchains + 1) * sizeof(*p->parent_of));
	if (by_frame != NULL && p->parents != NULL && p->parent_of != NULL) {
		rc = parents_find(p, by_frame);
	}
	for (size_t i = 0; rc >= 0 && i < p->counts.nchains; i++) {
		p->parent_of[i] = parent_of(p, &p->counts.chains[i], by_frame);
	}
	free(by_frame);
	return rc;
}
