/* SPDX-License-Identifier: MIT */
/* The machine code of BPF programs, which the header of a recording has. */
#include "core/array.h"
#include "frame/frame.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "bpf_prog_" /* of the kernel's name of such code: 16 digits of the tag follow */

int frame_program_add(struct frame_resolver *f, const struct frame_program *program)
{
	if (!array_reserve(
	            &f->programs, &f->programs_cap, f->nprograms + 1, sizeof(*f->programs))) {
		return SONDE_ENOMEM;
	}
	f->programs[f->nprograms++] = *program;
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct frame_program *p = (const struct frame_program *)a;
	const struct frame_program *q = (const struct frame_program *)b;

	return (p->start > q->start) - (p->start < q->start);
}

void frame_programs_sort(struct frame_resolver *f)
{
	if (f->nprograms != 0) {
		qsort(f->programs, f->nprograms, sizeof(*f->programs), compare);
	}
}

/* Whether code of this name has the tag; a name without a tag fits any. */
static bool has_tag(const char *name, uint64_t tag)
{
	char text[17];

	if (strncmp(name, PREFIX, strlen(PREFIX)) != 0) {
		return true;
	}
	(void)snprintf(text, sizeof(text), "%016llx", (unsigned long long)tag);
	return strncmp(name + strlen(PREFIX), text, 16) == 0;
}

struct span frame_program_code(const struct frame_resolver *f, const char *name, uint64_t start)
{
	size_t low = 0, high = f->nprograms;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (f->programs[middle].start < start) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	for (; low < f->nprograms && f->programs[low].start == start; low++) {
		if (has_tag(name, f->programs[low].tag)) {
			return f->programs[low].code;
		}
	}
	return (struct span){NULL, 0};
}
