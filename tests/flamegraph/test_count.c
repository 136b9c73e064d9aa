/* SPDX-License-Identifier: MIT */
/* Chains to nodes of the flame graph, on the recording of tests/profile. */
#include "flamegraph/count.h"

#include "../profile/chains.h"
#include "tap.h"

static const char *name_of(const struct flame_worker *w, uint32_t node)
{
	const struct flame_place *place = &w->places[w->nodes[node].place];

	return place->symbol != NULL ? place->symbol : "";
}

int main(void)
{
	struct chains chains;
	struct sonde_session *s;
	struct flame_worker w;
	uint64_t weight = 0, alone = 0;

	chains_begin(&chains);
	s = chains_open(&chains, 1);
	eq_u64(flame_worker_init(&w, s, 0), 0, "a worker");
	for (size_t i = 0; i < session_chunks(s); i++) {
		eq_u64(flame_worker_count(&w, i), 0, "counts a piece");
	}
	for (uint32_t i = 1; i < w.nnodes; i++) {
		weight += w.nodes[i].weight;
	}
	eq_u64(weight, CHAINS_TOTAL, "every period once");
	for (uint32_t i = 1; i < w.nnodes; i++) {
		uint32_t parent = w.nodes[i].parent;

		if (parent != 0 && w.places[w.nodes[parent].place].kind == FLAME_COMM &&
		        strcmp(name_of(&w, i), "f") == 0) {
			alone += w.nodes[i].weight;
		}
	}
	eq_u64(alone, 60, "an unknown mark leaves the sample's own function, without callers");
	flame_worker_fini(&w);
	sonde_session_free(s);
	chains_end(&chains);
	return tap_done();
}
