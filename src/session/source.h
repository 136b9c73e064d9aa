/* SPDX-License-Identifier: MIT */
/*
 * Sources of samples and side-band. A source returns records as bytes; the session decodes them by
 * its table of events and orders the records of all sources by (time, stream, sequence). The stream
 * is the number of the source, the sequence is a number within it.
 *
 *	opening          scan    every record once, in sequence: timeline, counts, chunks, limits
 *	in any order     read    the records of a chunk
 *	in time order    gather  keys of a window's records; the session sorts those of all sources
 *	                 fetch   the records of some keys
 *
 * All functions but scan are pure and may run on several threads at once. They handle many records
 * in a call, so that a source costs one indirect call for a batch. Records have the session's byte
 * order (session_swap). Their bytes are valid until the worker opens another chunk or window; those
 * of `scan`, and side-band, until the source is freed.
 */
#ifndef SONDE_SESSION_SOURCE_H
#define SONDE_SESSION_SOURCE_H

#include "core/array.h"
#include "core/span.h"
#include "record/record.h"

struct sonde_session;
struct session_source;

#define SESSION_BATCH        32u
#define SESSION_NO_EVENT     UINT32_MAX
#define SESSION_STREAMS      256u
#define SESSION_KINDS        32u /* types of records that `kinds` can select */
#define SESSION_ROUNDS       1u /* bit of `kinds`: FINISHED_ROUND, in any order only */
#define SESSION_TRACE_ERRORS (1u << 31) /* bit of `kinds`: AUXTRACE_ERROR of traces */
#define SESSION_SEQUENCE     56u /* bits of a place; the stream is above them */
#define SESSION_SEQUENCE_MAX (((uint64_t)1 << SESSION_SEQUENCE) - 1)

/* A record of a source. */
struct session_item {
	const uint8_t *p; /* its header; the body follows */
	uint64_t sequence; /* in a file: the offset; of a trace: with the bit SESSION_MADE */
	uint64_t time; /* scan only: ns; the sequence if its event records no time */
	uint32_t event; /* number in the session's table; SESSION_NO_EVENT: unknown */
	uint32_t size; /* bytes of the body */
};

/* A record that was made of a trace: a struct aux_extra follows it. */
#define SESSION_MADE (UINT64_C(1) << (SESSION_SEQUENCE - 1))

static inline bool session_item_is_made(const struct session_item *item)
{
	return (item->sequence & SESSION_MADE) != 0;
}

/* The order of records. */
struct session_key {
	uint64_t time; /* ns; the sequence if its event records no time */
	uint64_t place; /* stream and sequence */
};

struct session_keys {
	struct session_key *p;
	size_t n, cap;
};

/*
 * A window has the records with after < time <= limit; the first one also those at `after`: valid
 * samples of known events, and the records that `kinds` selects.
 */
struct session_window {
	uint64_t after, limit; /* ns */
	bool first;
	bool no_samples;
	uint32_t kinds; /* bits by record type: records wanted besides samples */
	/* Samples without times: only the chunks from slice to slice_end of their source. 0: none */
	size_t slice, slice_end;
	/*
	 * Where a chunk of a trace ends at `after` or `limit`: its number plus 1, and then chunks of
	 * its source are before or after it as a whole, whatever their times are. 0: none does.
	 */
	size_t after_chunk, limit_chunk;
};

/* What a worker keeps for a source. */
struct session_state {
	uint64_t at; /* position in the chunk, for `read`; 0 at first */
	void *own; /* memory of the source for this worker; NULL at first */
};

struct session_source_ops {
	/*
	 * Returns the number of next records, up to n; 0 at the end, or a negative status. After
	 * the end chunks and limits of the source are set.
	 */
	int (*scan)(struct session_source *src, struct session_item *out, size_t n);
	/*
	 * Returns the number of next records of a chunk, up to n: samples, and records that `kinds`
	 * selects; see struct session_window. 0 at the end, SONDE_ENOMEM.
	 */
	int (*read)(const struct session_source *src, size_t chunk, struct session_state *state,
	        uint32_t kinds, struct session_item *out, size_t n);
	/* Adds the keys of the records in a window. 0 or SONDE_ENOMEM. */
	int (*gather)(const struct session_source *src, const struct session_window *window,
	        struct session_state *state, struct session_keys *keys);
	/* Fetches the records of n keys, all of this source. */
	void (*fetch)(const struct session_source *src, struct session_state *state,
	        const struct session_key *keys, size_t n, struct session_item *out);
	void (*forget)(void *own); /* frees a worker's memory; NULL: the source has none */
	void (*free)(struct session_source *src);
};

/* The first member of every source. */
struct session_source {
	const struct session_source_ops *ops;
	uint32_t stream; /* set by session_add_source */
	size_t chunks; /* parts for `read` */
	/*
	 * Times at which the records can be cut into windows, rising, UINT64_MAX at the end. Those
	 * of the first source define the session's windows.
	 */
	uint64_t *limits;
	size_t nlimits, limits_cap;
	bool late; /* records are older than promised: there is one window */
};

/*
 * Adds a source, between session_open_header and session_open_records. The session frees it, even
 * after a failure. Returns the stream number, or SONDE_ELIMIT: too many.
 */
int session_add_source(struct sonde_session *s, struct session_source *src);

/*
 * Adds an event, between session_open_header and session_open_records; its texts and ids must be
 * valid as long as the source. Returns its number, or SONDE_ENOMEM.
 */
struct session_event;
int session_add_event(struct sonde_session *s, const struct session_event *event);

static inline uint64_t session_place(const struct session_source *src, uint64_t sequence)
{
	return (uint64_t)src->stream << SESSION_SEQUENCE | sequence;
}

static inline struct record session_item_record(const struct session_item *item, bool swap)
{
	return (struct record){.type = load_u32(item->p, swap),
	        .misc = load_u16(item->p + 4, swap),
	        .size = load_u16(item->p + 6, swap),
	        .offset = item->sequence,
	        .body = {item->p + 8, item->size}};
}

/* Adds a key; false: out of memory. */
static inline bool session_keys_add(struct session_keys *keys, const struct session_source *src,
        uint64_t time, uint64_t sequence)
{
	if (keys->n == keys->cap &&
	        !array_reserve(&keys->p, &keys->cap, keys->n + 1, sizeof(*keys->p))) {
		return false;
	}
	keys->p[keys->n++] =
	        (struct session_key){.time = time, .place = session_place(src, sequence)};
	return true;
}

#endif
