/* SPDX-License-Identifier: MIT */
/*
 * The worker's queue is a list of chunks. A chunk has segments, each with a kind and its bytes. The
 * recorder fills the last chunk of the list; the worker removes the first one and returns it after
 * writing. When all chunks are in use the recorder waits: the rings fill up, and the kernel counts
 * records for which they have no room.
 */
#include "capture/sink/lane.h"

#include "abi/abi.h"
#include "capture/sink/chains.h"
#include "core/span.h"

#include <pthread.h>
#include <stdlib.h>

#define CHUNK_BYTES  PACKER_PUT_MAX
#define SEGMENTS_MAX 32u

enum kind { KIND_KERNEL, KIND_OTHER, KIND_MARK };

struct chunk {
	struct chunk *next;
	size_t n; /* bytes */
	size_t nsegments;
	struct {
		enum kind kind;
		size_t n;
	} segments[SEGMENTS_MAX];
	uint8_t bytes[CHUNK_BYTES];
};

struct lane_worker {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t more; /* for the worker: a chunk is ready, or the end */
	pthread_cond_t room; /* for the recorder: a chunk was returned */
	struct chunk *first, *last; /* filled */
	struct chunk *spare;
	size_t chunks, chunks_max; /* number of chunks; its limit */
	bool busy; /* with a chunk that is not in the list */
	bool ending;
	int rc; /* the first failure; afterwards nothing is written */
	struct error error;
	uint64_t written; /* bytes in the file */
};

static int to_writer(void *arg, const void *bytes, size_t n, struct error *err)
{
	struct iovec iov = {.iov_len = n};

	memcpy(&iov.iov_base, &bytes, sizeof(bytes)); /* iovec has no const; the bytes are not
	                                                 changed */
	return file_writer_append(arg, &iov, 1, err);
}

/* ---- whole records of scattered pieces ---- */

struct pieces {
	const struct iovec *iov;
	int n, i;
	size_t at; /* in piece i */
};

static size_t pieces_left(const struct pieces *p)
{
	size_t left = 0;
	int i;

	for (i = p->i; i < p->n; i++) {
		left += p->iov[i].iov_len;
	}
	return left - p->at;
}

/* Never stays at the end of a piece, or at an empty one. */
static void pieces_skip(struct pieces *p)
{
	while (p->i < p->n && p->at == p->iov[p->i].iov_len) {
		p->i++;
		p->at = 0;
	}
}

static struct pieces pieces_make(const struct iovec *iov, int n)
{
	struct pieces p = {.iov = iov, .n = n};

	pieces_skip(&p);
	return p;
}

/* Advances by n bytes, which must be there; copies them to `to`, unless that is NULL. */
static void pieces_move(struct pieces *p, size_t n, uint8_t *to)
{
	size_t part;

	while (n > 0) {
		part = p->iov[p->i].iov_len - p->at;
		part = part < n ? part : n;
		if (to != NULL) {
			memcpy(to, (const uint8_t *)p->iov[p->i].iov_base + p->at, part);
			to += part;
		}
		p->at += part;
		n -= part;
		pieces_skip(p);
	}
}

/*
 * Number of bytes of complete records that fit into `room`. A header is never split: records and
 * pieces are multiples of 8 bytes. Bytes that are no record are accepted as they are.
 */
static size_t pieces_fit(const struct pieces *p, size_t room)
{
	struct pieces walk = *p;
	size_t left = pieces_left(p), n = 0, size;

	while (n < left) {
		size = load_u16((const uint8_t *)walk.iov[walk.i].iov_base + walk.at + 6, false);
		if (size < RECORD_HEADER_SIZE || size > left - n) {
			return left < room ? left : room;
		}
		if (size > room - n) {
			break;
		}
		pieces_move(&walk, size, NULL);
		n += size;
	}
	return n;
}

/* ---- on the writing thread ---- */

static int write_kernel(struct capture_lane *lane, struct iovec *iov, int n, struct error *err)
{
	struct packer_out to = {.put = to_writer, .arg = lane->writer};
	struct pieces p = pieces_make(iov, n);
	size_t fit, part;

	if (lane->packer == NULL) {
		return file_writer_append(lane->writer, iov, n, err);
	}
	while (p.i < p.n) {
		fit = pieces_fit(&p, packer_room(lane->packer));
		if (fit == 0) {
			TRY(packer_flush(lane->packer, &to, err));
			continue;
		}
		for (; fit > 0; fit -= part) {
			part = iov[p.i].iov_len - p.at;
			part = part < fit ? part : fit;
			TRY(packer_put(lane->packer, (const uint8_t *)iov[p.i].iov_base + p.at,
			        part, &to, err));
			pieces_move(&p, part, NULL);
		}
	}
	return 0;
}

static int write_held_back(struct capture_lane *lane, struct error *err)
{
	struct packer_out to = {.put = to_writer, .arg = lane->writer};

	return lane->packer != NULL ? packer_flush(lane->packer, &to, err) : 0;
}

static int write_other(struct capture_lane *lane, struct iovec *iov, int n, struct error *err)
{
	TRY(write_held_back(lane, err));
	return file_writer_append(lane->writer, iov, n, err);
}

static int write_chunk(struct capture_lane *lane, struct chunk *c, struct error *err)
{
	struct iovec iov;
	size_t i, at = 0;

	for (i = 0; i < c->nsegments; i++) {
		iov = (struct iovec){.iov_base = c->bytes + at, .iov_len = c->segments[i].n};
		at += c->segments[i].n;
		switch (c->segments[i].kind) {
		case KIND_KERNEL: TRY(write_kernel(lane, &iov, 1, err)); break;
		case KIND_OTHER: TRY(write_other(lane, &iov, 1, err)); break;
		case KIND_MARK:
			TRY(write_held_back(lane, err));
			TRY(file_writer_mark(lane->writer, err));
			break;
		}
	}
	return 0;
}

static void *work(void *arg)
{
	struct capture_lane *lane = arg;
	struct lane_worker *w = lane->worker;
	struct error error = {0};
	struct chunk *c;
	int rc;

	(void)pthread_mutex_lock(&w->lock);
	for (;;) {
		while (w->first == NULL && !w->ending) {
			(void)pthread_cond_wait(&w->more, &w->lock);
		}
		c = w->first;
		if (c == NULL) {
			break;
		}
		w->first = c->next;
		w->last = w->first != NULL ? w->last : NULL;
		w->busy = true;
		rc = w->rc;
		(void)pthread_mutex_unlock(&w->lock);
		rc = rc == 0 ? write_chunk(lane, c, &error) : rc;
		(void)pthread_mutex_lock(&w->lock);
		if (rc < 0 && w->rc == 0) {
			w->rc = rc;
			(void)error_take(&w->error, error_show(&error));
		}
		w->written = lane->writer->data_size;
		w->busy = false;
		c->next = w->spare;
		w->spare = c;
		(void)pthread_cond_signal(&w->room);
	}
	(void)pthread_mutex_unlock(&w->lock);
	return NULL;
}

/* ---- on the recorder's thread; the caller holds the lock ---- */

static struct chunk *new_chunk(struct lane_worker *w)
{
	struct chunk *c;

	for (;;) {
		c = w->spare;
		if (c != NULL) {
			w->spare = c->next;
			break;
		}
		c = w->chunks < w->chunks_max ? malloc(sizeof(*c)) : NULL;
		if (c != NULL) {
			w->chunks++;
			break;
		}
		if (w->chunks == 0) {
			return NULL;
		}
		/* one call may fill all chunks before its end signals the worker */
		(void)pthread_cond_signal(&w->more);
		(void)pthread_cond_wait(&w->room, &w->lock);
	}
	c->next = NULL;
	c->n = 0;
	c->nsegments = 0;
	if (w->last != NULL) {
		w->last->next = c;
	} else {
		w->first = c;
	}
	w->last = c;
	return c;
}

/* Returns the last chunk, if it has room for a segment of this kind; else a new one. */
static struct chunk *chunk_for(struct lane_worker *w, enum kind kind)
{
	struct chunk *c = w->last;

	if (c != NULL &&
	        (c->nsegments < SEGMENTS_MAX || c->segments[c->nsegments - 1].kind == kind)) {
		return c;
	}
	return new_chunk(w);
}

/* Returns the address for n more bytes of this kind, for which there is room. */
static uint8_t *add(struct chunk *c, enum kind kind, size_t n)
{
	uint8_t *to = c->bytes + c->n;

	if (c->nsegments == 0 || c->segments[c->nsegments - 1].kind != kind) {
		c->segments[c->nsegments].kind = kind;
		c->segments[c->nsegments++].n = 0;
	}
	c->segments[c->nsegments - 1].n += n;
	c->n += n;
	return to;
}

static int failed(struct lane_worker *w, struct error *err)
{
	if (w->rc < 0) {
		(void)error_take(err, error_show(&w->error));
	}
	return w->rc;
}

static size_t least_of(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* The caller holds the lock. */
static int queue_pieces(struct lane_worker *w, enum kind kind, struct pieces *p, struct error *err)
{
	struct chunk *c;
	size_t n;

	while (p->i < p->n) {
		c = chunk_for(w, kind);
		n = c == NULL             ? 0
		    : kind == KIND_KERNEL ? pieces_fit(p, CHUNK_BYTES - c->n)
		                          : least_of(pieces_left(p), CHUNK_BYTES - c->n);
		if (c != NULL && n == 0) {
			c = new_chunk(w);
			n = c == NULL             ? 0
			    : kind == KIND_KERNEL ? pieces_fit(p, CHUNK_BYTES)
			                          : least_of(pieces_left(p), CHUNK_BYTES);
		}
		if (c == NULL) {
			return error_nomem(err);
		}
		pieces_move(p, n, add(c, kind, n));
	}
	return 0;
}

static int queue(
        struct lane_worker *w, enum kind kind, const struct iovec *iov, int n, struct error *err)
{
	struct pieces p = pieces_make(iov, n);
	struct chunk *c;
	int rc;

	(void)pthread_mutex_lock(&w->lock);
	rc = queue_pieces(w, kind, &p, err);
	if (kind == KIND_MARK && rc >= 0) {
		c = chunk_for(w, kind);
		if (c != NULL) {
			(void)add(c, kind, 0);
		}
	}
	rc = rc < 0 ? rc : failed(w, err);
	(void)pthread_cond_signal(&w->more);
	(void)pthread_mutex_unlock(&w->lock);
	return rc;
}

/* ---- the lane ---- */

static int start_worker(struct capture_lane *lane, unsigned blocks, struct error *err)
{
	struct lane_worker *w = calloc(1, sizeof(*w));

	if (w == NULL) {
		return error_nomem(err);
	}
	(void)pthread_mutex_init(&w->lock, NULL);
	(void)pthread_cond_init(&w->more, NULL);
	(void)pthread_cond_init(&w->room, NULL);
	w->chunks_max = blocks * (LANE_BLOCK / CHUNK_BYTES);
	lane->worker = w;
	if (pthread_create(&w->thread, NULL, work, lane) != 0) {
		free(w);
		lane->worker = NULL;
		return error_set(err, SONDE_ELIMIT, NO_OFFSET,
		        "cannot start a thread for the output; see 'ulimit -u'");
	}
	return 0;
}

int capture_lane_open(struct capture_lane *lane, struct file_writer *writer, int level,
        unsigned blocks, struct error *err)
{
	*lane = (struct capture_lane){.writer = writer};
	if (level != 0) {
		TRY(packer_new(&lane->packer, level, false, err));
	}
	return blocks != 0 ? start_worker(lane, blocks, err) : 0;
}

void capture_lane_close(struct capture_lane *lane)
{
	struct lane_worker *w = lane->worker;
	struct chunk *c;

	if (lane->chains != NULL) {
		capture_chains_stop(lane->chains);
		capture_lane_close(capture_chains_lane(lane->chains));
	}
	if (w != NULL) {
		(void)pthread_mutex_lock(&w->lock);
		w->ending = true;
		(void)pthread_cond_signal(&w->more);
		(void)pthread_mutex_unlock(&w->lock);
		(void)pthread_join(w->thread, NULL);
		while ((c = w->spare) != NULL) {
			w->spare = c->next;
			free(c);
		}
		(void)pthread_mutex_destroy(&w->lock);
		(void)pthread_cond_destroy(&w->more);
		(void)pthread_cond_destroy(&w->room);
		free(w);
	}
	packer_free(lane->packer);
	*lane = (struct capture_lane){0};
}

int capture_lane_kernel(struct capture_lane *lane, struct iovec *iov, int n, struct error *err)
{
	if (lane->chains != NULL) {
		return capture_chains_put(lane->chains, CAPTURE_CHAINS_KERNEL, iov, n, err);
	}
	return lane->worker != NULL ? queue(lane->worker, KIND_KERNEL, iov, n, err)
	                            : write_kernel(lane, iov, n, err);
}

int capture_lane_other(struct capture_lane *lane, struct iovec *iov, int n, struct error *err)
{
	if (lane->chains != NULL) {
		return capture_chains_put(lane->chains, CAPTURE_CHAINS_OTHER, iov, n, err);
	}
	return lane->worker != NULL ? queue(lane->worker, KIND_OTHER, iov, n, err)
	                            : write_other(lane, iov, n, err);
}

int capture_lane_mark(struct capture_lane *lane, struct error *err)
{
	if (lane->chains != NULL) {
		return capture_chains_mark(lane->chains, err);
	}
	if (lane->worker != NULL) {
		return queue(lane->worker, KIND_MARK, NULL, 0, err);
	}
	TRY(write_held_back(lane, err));
	return file_writer_mark(lane->writer, err);
}

int capture_lane_drain(struct capture_lane *lane, struct error *err)
{
	struct lane_worker *w = lane->worker;
	int rc;

	TRY(capture_lane_mark(lane, err));
	if (lane->chains != NULL) {
		return capture_chains_drain(lane->chains, err);
	}
	if (w == NULL) {
		return 0;
	}
	(void)pthread_mutex_lock(&w->lock);
	while (w->first != NULL || w->busy) {
		(void)pthread_cond_wait(&w->room, &w->lock);
	}
	rc = failed(w, err);
	(void)pthread_mutex_unlock(&w->lock);
	return rc;
}

uint64_t capture_lane_written(const struct capture_lane *lane)
{
	uint64_t n;

	if (lane->chains != NULL) {
		return capture_chains_written(lane->chains);
	}
	if (lane->worker == NULL) {
		return lane->writer != NULL ? lane->writer->data_size : 0;
	}
	(void)pthread_mutex_lock(&lane->worker->lock);
	n = lane->worker->written;
	(void)pthread_mutex_unlock(&lane->worker->lock);
	return n;
}

void capture_lane_counts(const struct capture_lane *lane, uint64_t *in, uint64_t *out)
{
	lane = lane->chains != NULL ? capture_chains_lane(lane->chains) : lane;
	if (lane->packer != NULL) {
		packer_counts(lane->packer, in, out);
	}
}
