/* SPDX-License-Identifier: MIT */
/*
 * Samples of one event added up by call chain: a tree whose root stands for everything, its
 * children for commands, and theirs for functions from the outermost caller to the leaf.
 *
 * The result does not depend on how many workers counted: children are sorted by frame, frames by
 * their texts.
 */
#ifndef SONDE_FLAMEGRAPH_TREE_H
#define SONDE_FLAMEGRAPH_TREE_H

#include "core/intern.h"
#include "session/session.h"

enum flame_kind {
	FLAME_ROOT,
	FLAME_COMM,
	FLAME_USER,
	FLAME_KERNEL,
	FLAME_UNRESOLVED /* no symbol; the name is that of the object, or "[unknown]" */
};

struct flame_frame {
	enum flame_kind kind;
	uint32_t name; /* text in flame_tree.texts */
	uint32_t dso; /* path of the object; "" when there is none */
};

struct flame_node {
	uint32_t frame; /* index */
	uint32_t depth; /* 0: the root */
	uint64_t weight; /* sum of periods of samples that end here; stops at UINT64_MAX */
	uint64_t samples; /* that end here */
};

/* Zero-initialised is valid and empty. */
struct flame_tree {
	struct intern texts;
	struct flame_frame *frames; /* sorted by name, object, kind */
	size_t nframes;
	struct flame_node *nodes; /* parents before children, in depth-first order; [0]: root */
	size_t nnodes;
	uint64_t samples;
};

/* Counts the samples of an event on all workers; negative: session_error says why. */
int flame_tree_build(struct flame_tree *tree, struct sonde_session *s, uint32_t event);
void flame_tree_fini(struct flame_tree *tree);

#endif
