/* SPDX-License-Identifier: MIT */
/*
 * Profiles: the samples of one recording or several, counted. A profile has rows, as a report has;
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
 * Everything goes by name: what has the same texts is one row, one frame and one event, whichever
 * recording, object or address it comes from. Periods are in the unit of their event (cycles, ns);
 * sums of periods stop at UINT64_MAX. Structs and texts belong to the library and live until the
 * next sonde_profile_add or sonde_profile_free. Preview: may change in any release.
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
	/* What makes rows different: keys of sonde-report(1), comma-separated; NULL: comm,dso,sym.
	 * Must live until sonde_profile_new returns. */
	const char *sort;
	struct sonde_filter filter; /* other samples are not counted */
	bool one_event; /* only samples of `event` are counted */
	size_t event; /* 0 .. sonde_session_events() - 1 */
	bool children; /* count a sample for its callers too */
	/* Addresses of one function are different frames, addresses without a symbol different
	 * rows; false: they go by the names of their function and object. */
	bool by_address;
	/* Frames of a call chain that count: with children the outermost, else those next to the
	 * sampled function. 0: all. */
	uint32_t max_stack;
	uint64_t time_quantum; /* ns that make one row of the key time; 0: 100 ms */
};

/*
 * A new, empty profile; options may be NULL. NULL: no memory. Options that make no sense are reported
 * by the first sonde_profile_add. Free with sonde_profile_free.
 */
SONDE_API struct sonde_profile *sonde_profile_new(const struct sonde_profile_options *options);
SONDE_API void sonde_profile_free(struct sonde_profile *p); /* NULL is fine */

/* The last failure; never NULL. */
SONDE_API const struct sonde_error *sonde_profile_error(const struct sonde_profile *p);

/*
 * Counts the samples of an open session, on its workers, and adds them to those that were counted
 * before: several recordings make one profile. The session may be freed afterwards; the texts of
 * the filter must live until then. The result does not depend on the number of workers.
 *
 * 0; SONDE_EARG: the session is not open, or the options make no sense; SONDE_ENOMEM; or what the
 * reading of samples says. After a failure the profile has no rows, and every later call fails.
 */
SONDE_API int sonde_profile_add(struct sonde_profile *p, struct sonde_session *s);

/* An event of the recordings. Those of the first one have the numbers they have in its session. */
struct sonde_profile_event {
	const char *name;
	uint64_t samples, period; /* counted */
};

/* The number of events. */
SONDE_API size_t sonde_profile_events(const struct sonde_profile *p);
/* NULL: there are fewer. */
SONDE_API const struct sonde_profile_event *sonde_profile_event(
        const struct sonde_profile *p, size_t event);

/* What a frame is. */
enum sonde_profile_kind {
	SONDE_PROFILE_ALL = 0, /* no frame: the root of a tree */
	SONDE_PROFILE_KEY, /* no frame: the value of a key, such as a command */
	SONDE_PROFILE_USER, /* a function */
	SONDE_PROFILE_KERNEL, /* a function of the kernel or of a module */
	SONDE_PROFILE_UNKNOWN /* code without a symbol */
};

/* A distinct frame of the profile. */
struct sonde_profile_frame {
	/* The function; "[libc.so.6]" for the code without symbols of an object; "[unknown]" where
	 * nothing is mapped; the text of a key; "all". */
	const char *name;
	const char *dso; /* path of the object; "": nothing is mapped there, or it is no frame */
	enum sonde_profile_kind kind;
	/* With by_address: as in struct sonde_frame; else 0. */
	uint64_t address;
	/* 0 .. sonde_profile_frames() - 1, in the order of names, paths, kinds and addresses. */
	uint32_t number;
};

/* The number of distinct frames. */
SONDE_API size_t sonde_profile_frames(const struct sonde_profile *p);

/* The keys that the profile is sorted by, in the order of `sort`, each once. */
SONDE_API size_t sonde_profile_keys(const struct sonde_profile *p);
/* A key: its word, title and type; static. NULL: there are fewer. */
SONDE_API const struct sonde_field_info *sonde_profile_key(
        const struct sonde_profile *p, size_t key);

struct sonde_profile_row {
	uint32_t event; /* number of the event */
	uint64_t samples, period; /* that were sampled here */
	/* Periods of all samples with this row anywhere in their call chain; `period` without the
	 * option children. */
	uint64_t children;
	/* The text of each key, as a report shows it, without blanks in front. Code without a symbol:
	 * its address with by_address, else the name of its object in brackets. */
	const char *const *texts;
	/* The value of each key: of the type of the key, an id as uint32_t (UINT32_MAX: none). 0 where
	 * it is a text; of a weight that of one sample. */
	const uint64_t *numbers;
	const char *symbol; /* the function; NULL: unknown, or rows are not by sym */
	const char *dso; /* short name of the object; NULL: unknown, or rows are not by dso */
	bool kernel; /* its first sample, or what called that, was in the kernel */
	size_t number; /* of the row: 0 .. sonde_profile_rows() - 1 */
};

/*
 * Rows in order: by event, then most first (`children`), then by the texts of their keys. NULL: there
 * are fewer.
 */
SONDE_API size_t sonde_profile_rows(const struct sonde_profile *p);
SONDE_API const struct sonde_profile_row *sonde_profile_row(
        const struct sonde_profile *p, size_t row);

struct sonde_profile_tree;

enum sonde_profile_order {
	/* From the outermost caller down to the sampled function; the tree of a row with the option
	 * children: from the row down. */
	SONDE_PROFILE_CALLER = 0,
	/* From the sampled function up to its callers; the tree of a row: from the row up. */
	SONDE_PROFILE_CALLEE
};

struct sonde_profile_tree_options {
	size_t size; /* sizeof(struct sonde_profile_tree_options) of the caller */
	size_t event; /* whose samples are in the tree */
	/* Only the samples that the row counts, its callers or callees below the root; `event` is
	 * not used. NULL: all samples, with a level below the root for each key that is not dso or
	 * sym, and the frames below that. */
	const struct sonde_profile_row *row;
	enum sonde_profile_order order;
	bool by_name; /* nodes in the order of their frames; false: most first */
};

/*
 * A part of the tree: a frame, reached over the frames above it. It lives until the node above it is
 * closed, or the tree freed.
 */
struct sonde_profile_node {
	const struct sonde_profile_frame *frame;
	const struct sonde_profile_node *parent; /* NULL: this is the root */
	const struct sonde_profile_node *children; /* the first one; NULL: closed, or none */
	const struct sonde_profile_node *next; /* of the same parent; NULL: this is the last one */
	uint64_t samples, period; /* of the node and all that is below it */
	uint64_t self_samples, self_period; /* of samples that end here */
	uint32_t depth; /* 0: the root */
	bool more; /* there is something below it, opened or not */
	void *inside; /* the library's */
};

/*
 * A tree of calls; options may be NULL. Only its root is there at first. A tree belongs to its profile
 * and is of no use after the next sonde_profile_add; several may be open at once. NULL: no such event
 * (SONDE_EARG) or no memory (SONDE_ENOMEM), see sonde_profile_error. Free with
 * sonde_profile_tree_free, before the profile.
 */
SONDE_API struct sonde_profile_tree *sonde_profile_tree_new(
        struct sonde_profile *p, const struct sonde_profile_tree_options *options);
SONDE_API void sonde_profile_tree_free(struct sonde_profile_tree *tree); /* NULL is fine */

/* The root, which has all samples of the tree. */
SONDE_API const struct sonde_profile_node *sonde_profile_tree_root(
        const struct sonde_profile_tree *tree);

/* Makes the children of a node, in order. 1: it has children, from node->children on; 0: none;
 * SONDE_ENOMEM: it stays closed. */
SONDE_API int sonde_profile_tree_open(
        struct sonde_profile_tree *tree, const struct sonde_profile_node *node);
/* Drops all nodes below a node, which may be opened again. */
SONDE_API void sonde_profile_tree_close(
        struct sonde_profile_tree *tree, const struct sonde_profile_node *node);

struct sonde_profile_diff;

/* Rows of two profiles that have the same texts and event. */
struct sonde_profile_pair {
	const struct sonde_profile_row *before, *after; /* NULL: that profile has no such row */
	/* The rows' `period` in percent of all periods of the event; 0 without a row */
	double share_before, share_after;
};

/*
 * Compares two profiles that are sorted by the same keys. It borrows both, and is of no use after the
 * next sonde_profile_add to either. NULL: the keys differ (SONDE_EARG) or no memory (SONDE_ENOMEM),
 * see sonde_profile_error(after). Free with sonde_profile_diff_free.
 */
SONDE_API struct sonde_profile_diff *sonde_profile_diff_new(
        const struct sonde_profile *before, struct sonde_profile *after);
SONDE_API void sonde_profile_diff_free(struct sonde_profile_diff *diff); /* NULL is fine */

/*
 * Each row of either profile once, in order: by event, then by how much the share has changed, most
 * first, then by texts. NULL: there are fewer.
 */
SONDE_API size_t sonde_profile_diff_pairs(const struct sonde_profile_diff *diff);
SONDE_API const struct sonde_profile_pair *sonde_profile_diff_pair(
        const struct sonde_profile_diff *diff, size_t pair);

#ifdef __cplusplus
}
#endif

#endif
