/* SPDX-License-Identifier: MIT */
#include "symbol/location.h"

#include "core/array.h"

#include <stdlib.h>

int locations_begin(struct locations *l, size_t n)
{
	arena_fini(&l->texts);
	return array_reserve(&l->v, &l->cap, n, sizeof(*l->v)) ? 0 : SONDE_ENOMEM;
}

void locations_fini(struct locations *l)
{
	arena_fini(&l->texts);
	free(l->v);
	*l = (struct locations){0};
}

/* Sets *out to a function's name for output. SONDE_ENOMEM. */
static int name_make(struct arena *a, const char *name, bool demangle, const char **out)
{
	struct text shown = {0};
	int rc = demangle ? symbol_demangle(name, strlen(name), &shown) : 0;

	*out = rc == 0 ? name : NULL;
	if (rc > 0) {
		*out = arena_text(a, shown.p, shown.n);
		rc = *out != NULL ? 0 : SONDE_ENOMEM;
	}
	text_fini(&shown);
	return rc;
}

int location_functions(struct locations *l, struct sonde_location *at,
        const struct lines_place *place, const char *before, bool demangle)
{
	size_t n = place->n != 0 ? place->n : at->symbol != NULL;
	struct sonde_source *all = arena_zalloc(&l->texts, (n + 1) * sizeof(*all));

	if (all == NULL) {
		return SONDE_ENOMEM;
	}
	for (unsigned i = 0; i < place->n; i++) {
		const struct lines_frame *f = &place->frames[i];

		all[i].file = f->file;
		all[i].line = f->line;
		if (f->function != NULL) {
			TRY(name_make(&l->texts, f->function, demangle, &all[i].function));
		}
	}
	if (n != 0 &&
	        at->symbol != NULL) { /* debug information lacks ".cold", and some manglings */
		all[n - 1].function = at->symbol;
	} else if (n != 0 && all[n - 1].function == NULL) {
		all[n - 1].function = before;
	}
	at->functions = all;
	at->nfunctions = n;
	return 0;
}
