/* SPDX-License-Identifier: MIT */
#include "core/index.h"

#include "core/array.h"
#include "core/status.h"

#define LARGE ((size_t)1 << 18) /* slots: above this, memory matters more than moves */

void index_fini(struct index *x)
{
	array_unmap(x->slots, x->nslots * sizeof(*x->slots));
	*x = (struct index){0};
}

int index_grow(struct index *x)
{
	/* by 4, each element is moved less than once */
	size_t n = x->nslots == 0 ? 64 : x->nslots * (x->nslots < LARGE ? 4 : 2);
	struct index_slot *slots = array_map(n * sizeof(*slots));

	if (slots == NULL) {
		return SONDE_ENOMEM;
	}
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
	array_unmap(x->slots, x->nslots * sizeof(*x->slots));
	x->slots = slots;
	x->nslots = n;
	return 0;
}
