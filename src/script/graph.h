/* SPDX-License-Identifier: MIT */
/* Selects the calls of some functions, and what these call, from the samples of traces. */
#ifndef SONDE_SCRIPT_GRAPH_H
#define SONDE_SCRIPT_GRAPH_H

#include "core/index.h"
#include "session/pick.h"

#include <sonde/preview/script.h>

struct script;
struct script_worker;
struct script_graph_thread;

/* Selects everything when zero-initialised. Samples must come in order, from one worker. */
struct script_graph {
	bool on;
	struct pick names; /* of the functions */
	struct script_graph_thread *threads;
	size_t n, cap;
	struct index by_tid;
};

/* SONDE_EARG with a text in the session's error, SONDE_ENOMEM. Call script_graph_close in any case. */
int script_graph_open(struct script *s, const struct sonde_script_options *o);
void script_graph_close(struct script *s);

/* Whether a sample is printed: 1, 0, SONDE_ENOMEM. */
int script_graph_passes(
        struct script *s, struct script_worker *w, const struct session_sample *sample);

#endif
