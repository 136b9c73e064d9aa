/* SPDX-License-Identifier: MIT */
/*
 * Profiles: counts of the samples of one or several recordings. A profile has rows, as in a report;
 * trees of calls, whose nodes are made when they are opened; and differences to another profile.
 *
 *	struct sonde_profile *p = sonde_profile_new(NULL);
 *	int rc = p ? sonde_profile_add(p, session) : SONDE_ENOMEM;
 *
 *	for (size_t i = 0; rc >= 0 && i < sonde_profile_rows(p); i++) {
 *		const struct sonde_profile_row *row = sonde_profile_row(p, i);
 *		... row->period, row->texts[0] ...
 *	}
 *	sonde_profile_free(p);
 *
 * Rows, frames and events are identified by their texts: equal texts are one row, frame or event,
 * even from different recordings, objects or addresses. Periods are in the unit of their event
 * (cycles, ns); sums of periods stop at UINT64_MAX. The library owns structs and texts, which are
 * valid until the next sonde_profile_add or sonde_profile_free. Preview: may change in any release.
 */
#ifndef SONDE_PREVIEW_PROFILE_H
#define SONDE_PREVIEW_PROFILE_H

#include <sonde/preview/field.h>
#include <sonde/preview/filter.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sonde_profile;

struct sonde_profile_options {
	size_t size; /* sizeof(struct sonde_profile_options) of the caller */
	/* Keys that distinguish rows, as in sonde-report(1), comma-separated; NULL: comm,dso,sym.
	 * Needed only during sonde_profile_new. */
	const char *sort;
	struct sonde_filter filter; /* other samples are not counted */
	bool one_event; /* only samples of `event` are counted */
	size_t event; /* 0 .. sonde_session_events() - 1 */
	bool children; /* count a sample for its callers too */
	/* Different addresses of one function are different frames, and different addresses without
	 * a symbol different rows; false: only names of functions and objects count. */
	bool by_address;
	/* Maximum number of frames of a call chain: with `children` the outermost frames are kept,
	 * else those next to the sampled function. 0: all. */
	uint32_t max_stack;
	uint64_t time_quantum; /* ns per row of the key time; 0: 100 ms */
};

/*
 * Returns a new, empty profile; options may be NULL. NULL: out of memory. The first
 * sonde_profile_add reports invalid options. Free with sonde_profile_free.
 */
SONDE_API struct sonde_profile *sonde_profile_new(const struct sonde_profile_options *options);
SONDE_API void sonde_profile_free(struct sonde_profile *p); /* NULL is fine */

/* The last failure; never NULL. */
SONDE_API const struct sonde_error *sonde_profile_error(const struct sonde_profile *p);

/*
 * Counts the samples of an open session, on its workers, and adds them to the samples counted so
 * far: several recordings make one profile. The session may be freed afterwards; the texts of the
 * filter must be valid for every call. The result does not depend on the number of workers.
 *
 * 0; SONDE_EARG: the session is not open, or the options are invalid; SONDE_ENOMEM; or the status
 * of reading samples. After a failure the profile has no rows, and every later call fails.
 */
SONDE_API int sonde_profile_add(struct sonde_profile *p, struct sonde_session *s);

/* An event of the recordings. Events of the first one have the same numbers as in its session. */
struct sonde_profile_event {
	const char *name;
	uint64_t samples, period; /* sums of the counted samples */
};

/* The number of events. */
SONDE_API size_t sonde_profile_events(const struct sonde_profile *p);
/* Returns event number `event`, from 0; NULL: no such event. */
SONDE_API const struct sonde_profile_event *sonde_profile_event(
        const struct sonde_profile *p, size_t event);

/* Kinds of frames. */
enum sonde_profile_kind {
	SONDE_PROFILE_ALL = 0, /* no frame: the root of a tree */
	SONDE_PROFILE_KEY, /* no frame: the value of a key, such as a command */
	SONDE_PROFILE_USER, /* a function */
	SONDE_PROFILE_KERNEL, /* a function of the kernel or of a module */
	SONDE_PROFILE_UNKNOWN /* code without a symbol */
};

/* A distinct frame of the profile. */
struct sonde_profile_frame {
	/* The function; "[libc.so.6]" for code of an object without a symbol; "[unknown]" without a
	 * mapping; the text of a key; "all". */
	const char *name;
	const char *dso; /* path of the object; "": no mapping, or no frame (see `kind`) */
	enum sonde_profile_kind kind;
	/* With by_address: the address as in struct sonde_frame; else 0. */
	uint64_t address;
	/* 0 .. sonde_profile_frames() - 1, sorted by names, paths, kinds and addresses. */
	uint32_t number;
};

/* The number of distinct frames. */
SONDE_API size_t sonde_profile_frames(const struct sonde_profile *p);

/* The number of sort keys: the words of `sort`, each once, in this order. */
SONDE_API size_t sonde_profile_keys(const struct sonde_profile *p);
/* Returns the word, title and type of key number `key`, from 0; static. NULL: no such key. */
SONDE_API const struct sonde_field_info *sonde_profile_key(
        const struct sonde_profile *p, size_t key);

struct sonde_profile_row {
	uint32_t event; /* number of the event */
	uint64_t samples, period; /* of samples in this row itself */
	/* Periods of all samples with this row anywhere in their call chain; `period` without the
	 * option children. */
	uint64_t children;
	/* The text of each key, as in a report, without leading blanks. Of sym without a symbol:
	 * the address with by_address, else the name of the object in brackets. */
	const char *const *texts;
	/* The value of each key, by the type of the key: an id is a uint32_t (UINT32_MAX: none), a
	 * text is 0, and a weight that of one sample. */
	const uint64_t *numbers;
	const char *symbol; /* the function; NULL: unknown, or sym is not a key */
	const char *dso; /* short name of the object; NULL: unknown, or dso is not a key */
	bool kernel; /* the row's frame in its first sample was in the kernel */
	size_t number; /* of the row: 0 .. sonde_profile_rows() - 1 */
};

/*
 * The number of rows, and a row by number; NULL: no such row. Rows are sorted by event, then by
 * `children`, the largest first, then by the texts of their keys.
 */
SONDE_API size_t sonde_profile_rows(const struct sonde_profile *p);
SONDE_API const struct sonde_profile_row *sonde_profile_row(
        const struct sonde_profile *p, size_t row);

struct sonde_profile_tree;

enum sonde_profile_order {
	/* From the outermost caller down to the sampled function; in the tree of a row, with the
	 * option children: from the row down. */
	SONDE_PROFILE_CALLER = 0,
	/* From the sampled function up to its callers; in the tree of a row: from the row up. */
	SONDE_PROFILE_CALLEE
};

struct sonde_profile_tree_options {
	size_t size; /* sizeof(struct sonde_profile_tree_options) of the caller */
	size_t event; /* number of the event whose samples are in the tree */
	/* The tree has only the samples of this row, with its callers or callees below the root;
	 * `event` is not used. NULL: all samples of the event, with a level below the root for each
	 * key other than dso and sym, and then the frames. */
	const struct sonde_profile_row *row;
	enum sonde_profile_order order;
	bool by_name; /* sort nodes by frame; false: by period, the largest first */
};

/*
 * A node of a tree: a frame that was reached through the frames above it. It is valid until its
 * parent is closed, or the tree is freed.
 */
struct sonde_profile_node {
	const struct sonde_profile_frame *frame;
	const struct sonde_profile_node *parent; /* NULL: this is the root */
	const struct sonde_profile_node *children; /* the first child; NULL: closed, or none */
	const struct sonde_profile_node *next; /* next child of the parent; NULL: the last one */
	uint64_t samples, period; /* sums of the node and all nodes below it */
	uint64_t self_samples, self_period; /* sums of samples that end here */
	uint32_t depth; /* 0: the root */
	bool more; /* the node has children, even if it is closed */
	void *inside; /* private to the library */
};

/*
 * Returns a tree of calls with its root only; options may be NULL. The tree borrows the profile,
 * and must not be used after the next sonde_profile_add; a profile may have several trees. NULL: no
 * such event (SONDE_EARG) or out of memory (SONDE_ENOMEM), see sonde_profile_error. Free with
 * sonde_profile_tree_free, before the profile.
 */
SONDE_API struct sonde_profile_tree *sonde_profile_tree_new(
        struct sonde_profile *p, const struct sonde_profile_tree_options *options);
SONDE_API void sonde_profile_tree_free(struct sonde_profile_tree *tree); /* NULL is fine */

/* Returns the root, which has all samples of the tree. */
SONDE_API const struct sonde_profile_node *sonde_profile_tree_root(
        const struct sonde_profile_tree *tree);

/* Makes the children of a node, sorted. 1: node->children is the first child; 0: no children;
 * SONDE_ENOMEM: the node stays closed. */
SONDE_API int sonde_profile_tree_open(
        struct sonde_profile_tree *tree, const struct sonde_profile_node *node);
/* Frees all nodes below a node. The node may be opened again. */
SONDE_API void sonde_profile_tree_close(
        struct sonde_profile_tree *tree, const struct sonde_profile_node *node);

struct sonde_profile_diff;

/* Rows of two profiles that have the same texts and event. */
struct sonde_profile_pair {
	const struct sonde_profile_row *before, *after; /* NULL: that profile has no such row */
	/* The rows' `period` in percent of all periods of the event; 0: no row */
	double share_before, share_after;
};

/*
 * Compares two profiles with the same sort keys. The result borrows both, and must not be used
 * after the next sonde_profile_add to either. NULL: the keys differ (SONDE_EARG) or out of memory
 * (SONDE_ENOMEM), see sonde_profile_error(after). Free with sonde_profile_diff_free.
 */
SONDE_API struct sonde_profile_diff *sonde_profile_diff_new(
        const struct sonde_profile *before, struct sonde_profile *after);
SONDE_API void sonde_profile_diff_free(struct sonde_profile_diff *diff); /* NULL is fine */

/*
 * The number of pairs, and a pair by number, from 0; NULL: no such pair. Each row of either profile
 * is in one pair. Pairs are sorted by event, then by the change of the share, the largest first,
 * then by texts.
 */
SONDE_API size_t sonde_profile_diff_pairs(const struct sonde_profile_diff *diff);
SONDE_API const struct sonde_profile_pair *sonde_profile_diff_pair(
        const struct sonde_profile_diff *diff, size_t pair);

#ifdef __cplusplus
}
#endif

#endif
