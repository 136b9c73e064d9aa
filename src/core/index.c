/* SPDX-License-Identifier: MIT */
#include "core/index.h"

#include "core/array.h"
#include "core/status.h"

#include <stdlib.h>

void index_fini(struct index *x)
{
	free(x->slots);
	*x = (struct index){0};
}

int index_grow(struct index *x)
{
	size_t n = x->nslots == 0 ? 64 : x->nslots * 4; /* each element is moved less than once */
	struct index_slot *slots = calloc(n, sizeof(*slots));

	if (slots == NULL) {
		return SONDE_ENOMEM;
	}
	array_spread(slots, n * sizeof(*slots));
	for (size_t i = 0; i < x->nslots; i++) {
		size_t at = x->slots[i].hash & (n - 1);

		if (x->slots[i].id == 0) {
			continue;
		}
		while (slots[at].id != 0) {
			at = (at + 1) & (n - 1);
		}
		slots[at] = x->slots[i];
	}
	free(x->slots);
	x->slots = slots;
	x->nslots = n;
	return 0;
}
