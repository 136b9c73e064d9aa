/* SPDX-License-Identifier: MIT */
/* Sections of code, sorted and without overlap, and a function for what they lack. */
#include "pt/image.h"

#include "core/array.h"

#include <stdlib.h>
#include <string.h>

struct section {
	uint64_t first, last; /* both inclusive */
	const uint8_t *data;
	uint32_t space;
};

struct sonde_pt_image {
	struct section *sections; /* by space, then address */
	size_t count, cap;
	sonde_pt_read_fn read;
	void *read_arg;
};

struct sonde_pt_image *sonde_pt_image_new(void)
{
	return calloc(1, sizeof(struct sonde_pt_image));
}

void sonde_pt_image_free(struct sonde_pt_image *image)
{
	if (image != NULL) {
		free(image->sections);
		free(image);
	}
}

void sonde_pt_image_set_reader(struct sonde_pt_image *image, sonde_pt_read_fn read, void *arg)
{
	image->read = read;
	image->read_arg = arg;
}

/* The first section that ends at or behind address. */
static size_t find(const struct sonde_pt_image *image, uint32_t space, uint64_t address)
{
	size_t low = 0;
	size_t high = image->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct section *s = &image->sections[middle];

		if (s->space < space || (s->space == space && s->last < address)) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

static void insert(struct sonde_pt_image *image, size_t at, const struct section *section)
{
	memmove(image->sections + at + 1, image->sections + at,
	        (image->count - at) * sizeof(*section));
	image->sections[at] = *section;
	image->count++;
}

/* Takes first..last out of what is there; a section that reaches over it becomes two. */
static void clear(struct sonde_pt_image *image, uint32_t space, uint64_t first, uint64_t last)
{
	size_t i = find(image, space, first);

	while (i < image->count && image->sections[i].space == space &&
	        image->sections[i].first <= last) {
		struct section *s = &image->sections[i];
		struct section behind = *s;

		if (s->last > last) {
			behind.data += last + 1 - behind.first;
			behind.first = last + 1;
			if (s->first >= first) {
				*s = behind;
				return;
			}
			s->last = first - 1;
			insert(image, i + 1, &behind);
			return;
		}
		if (s->first < first) {
			s->last = first - 1;
			i++;
			continue;
		}
		memmove(s, s + 1, (image->count - i - 1) * sizeof(*s));
		image->count--;
	}
}

int sonde_pt_image_add(
        struct sonde_pt_image *image, uint32_t space, uint64_t address, const void *data, size_t n)
{
	struct section section = {
	        .first = address, .last = address + n - 1, .data = data, .space = space};

	if (n == 0) {
		return SONDE_OK;
	}
	if (section.last < address || space > UINT32_MAX >> 2) {
		return SONDE_EARG;
	}
	if (!array_reserve(&image->sections, &image->cap, image->count + 2, sizeof(section))) {
		return SONDE_ENOMEM;
	}
	clear(image, space, section.first, section.last);
	insert(image, find(image, space, address), &section);
	return SONDE_OK;
}

/* Up to n bytes from sections that follow one another without a gap. */
static size_t gather(
        const struct sonde_pt_image *image, uint32_t space, uint64_t address, uint8_t *to, size_t n)
{
	size_t done = 0;

	for (size_t i = find(image, space, address); i < image->count && done < n; i++) {
		const struct section *s = &image->sections[i];
		uint64_t left = s->last - (address + done) + 1;
		size_t step = left != 0 && left < n - done ? (size_t)left : n - done;

		if (s->space != space || s->first > address + done) {
			break;
		}
		memcpy(to + done, s->data + (address + done - s->first), step);
		done += step;
	}
	if (done < n && image->read != NULL) {
		done += image->read(image->read_arg, space, address + done, to + done, n - done);
	}
	return done;
}

const uint8_t *pt_image_fetch(const struct sonde_pt_image *image, uint32_t space, uint64_t address,
        uint8_t room[PT_INSN_MAX], size_t *n)
{
	size_t i = find(image, space, address);

	if (i < image->count) {
		const struct section *s = &image->sections[i];

		if (s->space == space && s->first <= address &&
		        s->last - address >= PT_INSN_MAX - 1) {
			*n = PT_INSN_MAX;
			return s->data + (address - s->first);
		}
	}
	*n = gather(image, space, address, room, PT_INSN_MAX);
	return room;
}

int pt_image_insn(
        const struct sonde_pt_image *image, uint32_t context, uint64_t address, struct pt_insn *out)
{
	uint8_t room[PT_INSN_MAX];
	size_t n;
	const uint8_t *code = pt_image_fetch(image, context >> 2, address, room, &n);
	int rc;

	if (n == 0) {
		return SONDE_PT_ERROR_NO_MEMORY;
	}
	rc = pt_insn_decode(code, n, pt_context_mode(context), out);
	if (rc == PT_INSN_OK) {
		return SONDE_PT_ERROR_NONE;
	}
	return rc == PT_INSN_BAD ? SONDE_PT_ERROR_INSN : SONDE_PT_ERROR_NO_MEMORY;
}
