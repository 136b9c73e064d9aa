/* SPDX-License-Identifier: MIT */
/*
 * The machine code of BPF programs, from the feature BPF_PROG_INFO: the code of a program and of the
 * functions that it calls one after the other, with the address and the length of each.
 */
#include "record/feature.h"
#include "session/inside.h"

#define JITED_INSNS     (1u << 0) /* arrays that the data of a program has */
#define JITED_KSYMS     (1u << 3)
#define JITED_FUNC_LENS (1u << 4)
#define PROG_TAGS       (1u << 8)
#define TAG_SIZE        8u

/* An array of n elements in the data of a program; empty if it is not there or cut short. */
static struct span array_of(
        const struct feature_program *p, uint32_t bit, uint64_t at, uint64_t n, size_t size)
{
	if ((p->arrays & bit) == 0 || at > p->data.n || n > (p->data.n - at) / size) {
		return (struct span){NULL, 0};
	}
	return (struct span){p->data.p + at, (size_t)n * size};
}

/* The number whose digits are the tag's. */
static uint64_t tag_at(struct span tags, size_t i)
{
	uint64_t tag = 0;

	for (size_t b = 0; b < TAG_SIZE && (i + 1) * TAG_SIZE <= tags.n; b++) {
		tag = tag << 8 | tags.p[i * TAG_SIZE + b];
	}
	return tag;
}

static int add_program(struct sonde_session *s, const struct feature_program *p)
{
	const struct feature_bpf_info *info = &p->info;
	struct span code =
	        array_of(p, JITED_INSNS, info->jited_prog_insns, info->jited_prog_len, 1);
	struct span starts = array_of(p, JITED_KSYMS, info->jited_ksyms, info->nr_jited_ksyms, 8);
	struct span sizes =
	        array_of(p, JITED_FUNC_LENS, info->jited_func_lens, info->nr_jited_func_lens, 4);
	struct span tags = array_of(p, PROG_TAGS, info->prog_tags, info->nr_prog_tags, TAG_SIZE);
	size_t at = 0;

	for (size_t i = 0; i < starts.n / 8 && at < code.n; i++) {
		size_t left = code.n - at;
		size_t size = i < sizes.n / 4 ? load_u32(sizes.p + 4 * i, s->swap) : left;
		struct frame_program program = {.start = load_u64(starts.p + 8 * i, s->swap),
		        .tag = tags.n != 0 ? tag_at(tags, i) : tag_at(info->tag, 0)};

		size = size < left ? size : left;
		program.code = (struct span){code.p + at, size};
		TRY(frame_program_add(&s->frames, &program));
		at += size;
	}
	return 0;
}

int session_programs_add(struct sonde_session *s)
{
	struct feature_programs programs = {0};

	if (SESSION_FEATURE(s, FEATURE_BPF_PROG_INFO, &s->header, &programs) == SONDE_ENOMEM) {
		return SONDE_ENOMEM;
	}
	for (size_t i = 0; i < programs.n; i++) {
		TRY(add_program(s, &programs.items[i]));
	}
	return 0;
}
