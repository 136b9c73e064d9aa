/* SPDX-License-Identifier: MIT */
/*
 * Filters of samples: lists of names and numbers, parsed once, as fast predicates. Samples on other
 * processors or at other times are ignored; as in perf, the other lists hide a sample but keep it
 * in the totals.
 */
#ifndef SONDE_SESSION_PICK_H
#define SONDE_SESSION_PICK_H

#include "core/arena.h"
#include "session/session.h"

#include <sonde/preview/filter.h>

struct pick_range { /* ns, both ends included */
	uint64_t start, end;
};

struct pick_list {
	char **words;
	size_t n, cap;
};

struct pick_numbers {
	uint64_t *values;
	size_t n, cap;
};

/* Selects everything when zero-initialised. Read-only after pick_init: safe from all workers. */
struct pick {
	struct arena arena;
	struct pick_list symbols;
	struct pick_numbers addresses; /* of the list of symbols */
	uint64_t address_range; /* bytes from each of them */
	struct pick_numbers pids, tids;
	bool *comms; /* by interned name; NULL: all */
	bool *dsos; /* by object of the timeline; NULL: all */
	uint8_t *cpus; /* by number; NULL: all */
	size_t ncpus;
	struct pick_range *ranges; /* NULL: any time */
	size_t nranges, ranges_cap;
	const char *only_comm, *only_dso, *only_symbol; /* the name, if the list has one; else
	                                                   NULL */
	bool by_symbol;
};

/* SONDE_EARG or SONDE_ENOMEM, with a text in the session's error. Call pick_fini in any case. */
int pick_init(struct pick *p, struct sonde_session *s, const struct sonde_filter *f);
void pick_fini(struct pick *p);

bool pick_names_symbol(const struct pick *p, const char *symbol, uint64_t start, uint64_t ip);

static inline bool pick_has_number(const struct pick_numbers *numbers, uint64_t value)
{
	for (size_t i = 0; i < numbers->n; i++) {
		if (numbers->values[i] == value) {
			return true;
		}
	}
	return false;
}

static inline bool pick_cpu(const struct pick *p, uint32_t cpu)
{
	return p->cpus == NULL || (cpu < p->ncpus && p->cpus[cpu] != 0);
}

static inline bool pick_time(const struct pick *p, uint64_t time)
{
	bool in = p->nranges == 0;

	for (size_t i = 0; i < p->nranges && !in; i++) {
		in = time >= p->ranges[i].start && time <= p->ranges[i].end;
	}
	return in;
}

/* Whether the filters of processor and time select the sample; otherwise it is ignored. */
static inline bool pick_takes(const struct pick *p, uint32_t cpu, uint64_t time)
{
	return pick_cpu(p, cpu) && pick_time(p, time);
}

static inline bool pick_thread(const struct pick *p, uint32_t pid, uint32_t tid)
{
	return (p->pids.n == 0 || pick_has_number(&p->pids, pid)) &&
	       (p->tids.n == 0 || pick_has_number(&p->tids, tid));
}

static inline bool pick_comm(const struct pick *p, uint32_t comm)
{
	return p->comms == NULL || p->comms[comm];
}

/* object UINT32_MAX: no mapping. */
static inline bool pick_object(const struct pick *p, uint32_t object)
{
	return p->dsos == NULL || (object != UINT32_MAX && p->dsos[object]);
}

/* Whether the list of symbols selects an address; name NULL: no symbol. */
static inline bool pick_symbol(const struct pick *p, const char *name, uint64_t start, uint64_t ip)
{
	return !p->by_symbol || pick_names_symbol(p, name, start, ip);
}

/* Whether all lists select a sample: 1, 0, SONDE_ENOMEM. */
int pick_wanted(
        const struct pick *p, struct frame_reader *frames, const struct session_sample *sample);

#endif
