/* SPDX-License-Identifier: MIT */
/* Decodes blocks of code. */
#include "core/array.h"
#include "softpt/space.h"

#include <string.h>

#define INSNS_MAX 65536u /* of a block: direct jumps may form an endless loop */
#define CALLS_MAX 64u

/* A block that is being decoded. */
struct building {
	struct space *space;
	struct block block;
	uint64_t calls[CALLS_MAX];
	const struct space_map *map; /* of the instruction */
	unsigned inside; /* what the filters say about the start */
};

static bool in_map(struct building *b, uint64_t at)
{
	if (b->map == NULL || at < b->map->start || at >= b->map->end) {
		b->map = space_map_of(b->space, at);
	}
	return b->map != NULL;
}

static enum block_end end_of(const struct pt_insn *insn, const uint8_t *bytes)
{
	if (insn->class == PT_CLASS_FAR_CALL && bytes[0] == 0x0f && bytes[1] == 0x05) {
		return BLOCK_SYSCALL;
	}
	return insn->class <= PT_CLASS_RET ? BLOCK_BRANCH : BLOCK_STEP;
}

static bool finish(struct building *b, uint64_t at, enum block_end how)
{
	b->block.end = at;
	b->block.how = (uint8_t)how;
	return false;
}

/* Decodes the instruction at *at, and sets *at to the next one; false: the block ends with it. */
static bool take(struct building *b, uint64_t *at)
{
	struct pt_insn *insn = &b->block.last;

	if (!in_map(b, *at) || b->map->steps || b->map->vdso != b->block.reads_clock) {
		/* another kind of code: whatever is there begins a block of its own */
		return finish(b, *at, b->block.insns != 0 ? BLOCK_CUT : BLOCK_STEP);
	}
	if (b->block.insns != 0 && (b->block.insns == INSNS_MAX || b->block.ncalls == CALLS_MAX ||
	                                   filter_at(&b->space->places, *at) != b->inside)) {
		return finish(b, *at, BLOCK_CUT);
	}
	if (!space_insn(b->space, *at, false, insn, b->block.bytes)) {
		return finish(b, *at, BLOCK_STEP);
	}
	switch (insn->class) {
	case PT_CLASS_OTHER: *at += insn->size; break;
	case PT_CLASS_CALL:
		if (insn->disp != 0) {
			b->calls[b->block.ncalls++] = *at + insn->size;
		}
		*at = pt_insn_target(insn, *at, PT_MODE_64);
		break;
	case PT_CLASS_JUMP: *at = pt_insn_target(insn, *at, PT_MODE_64); break;
	default: return finish(b, *at, end_of(insn, b->block.bytes));
	}
	b->block.insns++;
	return true;
}

static struct block *store(struct building *b)
{
	struct space *space = b->space;
	struct block *block = arena_alloc(&space->arena, sizeof(*block));
	uint64_t *calls = arena_alloc(&space->arena, b->block.ncalls * sizeof(*calls) + 1);

	if (block == NULL || calls == NULL ||
	        !array_reserve(&space->blocks, &space->blocks_cap, space->nblocks + 1,
	                sizeof(struct block *))) {
		return NULL;
	}
	memcpy(calls, b->calls, b->block.ncalls * sizeof(*calls));
	*block = b->block;
	block->calls = calls;
	return block;
}

const struct block *space_block(struct space *space, uint64_t at)
{
	struct building b = {.space = space, .block = {.start = at}};
	uint32_t id, hash = (uint32_t)hash_u64(at);
	size_t slot = hash;
	struct block *block;
	uint64_t ip = at;

	if (index_room(&space->block_index) < 0) {
		return NULL;
	}
	while ((id = index_next(&space->block_index, hash, &slot)) != INDEX_NONE) {
		if (space->blocks[id]->start == at) {
			return space->blocks[id];
		}
		slot++;
	}
	b.inside = filter_at(&space->places, at);
	b.block.patchable = space->wide && in_map(&b, at) && !b.map->steps;
	b.block.reads_clock = b.map != NULL && b.map->vdso;
	if (!b.block.patchable) {
		(void)finish(&b, at, BLOCK_STEP);
	} else {
		while (take(&b, &ip)) {
		}
	}
	block = store(&b);
	if (block != NULL) {
		index_put(&space->block_index, hash, slot, (uint32_t)space->nblocks);
		space->blocks[space->nblocks++] = block;
	}
	return block;
}
