/* SPDX-License-Identifier: MIT */
/* The code for `sonde pt flow`: raw files and ELF files as sections of an image. */
#include "cmd/pt_image.h"

#include <elf.h>
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* FILE:BASE, FILE:FROM:BASE or FILE:FROM-TO:BASE, split at colons from the right. */
struct place {
	char path[4096];
	uint64_t from, to, base; /* to: UINT64_MAX: the end of the file */
};

static bool parse_place(const char *arg, struct place *place)
{
	size_t n = strlen(arg);
	char *colon;

	*place = (struct place){.to = UINT64_MAX};
	if (n >= sizeof(place->path)) {
		return false;
	}
	memcpy(place->path, arg, n + 1);
	colon = strrchr(place->path, ':');
	if (colon == NULL || !options_number(colon + 1, &place->base)) {
		return false;
	}
	*colon = '\0';
	colon = strrchr(place->path, ':');
	if (colon != NULL) {
		*colon = '\0';
		return pt_range_parse(colon + 1, &place->from, &place->to);
	}
	return true;
}

/* Returns the file, read when first needed; it is valid as long as the image. */
static struct pt_file *load(struct pt_code *code, const char *path)
{
	struct pt_file *file;

	if (code->count == PT_CODE_FILES) {
		(void)fprintf(stderr, "Error: more than %d files of code\n", PT_CODE_FILES);
		return NULL;
	}
	file = &code->files[code->count];
	if (pt_file_read(file, path) != 0) {
		return NULL;
	}
	code->count++;
	return file;
}

static bool same_space(const struct pt_code_space *a, const struct pt_code_space *b)
{
	return a->has_root == b->has_root && a->asid.has_cr3 == b->asid.has_cr3 &&
	       a->asid.has_vmcs == b->asid.has_vmcs && a->asid.cr3 == b->asid.cr3 &&
	       a->asid.vmcs == b->asid.vmcs && a->asid.non_root == b->asid.non_root;
}

/* Returns the number of the space for the next code; negative: too many spaces. */
static int next_space(struct pt_code *code)
{
	unsigned i = 0;

	code->nspaces += code->nspaces == 0; /* space 0 is for code of all processes */
	while (i < code->nspaces && !same_space(&code->spaces[i], &code->space)) {
		i++;
	}
	if (i == PT_CODE_SPACES) {
		return SONDE_ELIMIT;
	}
	if (i == code->nspaces) {
		code->spaces[code->nspaces++] = code->space;
		if (!code->space.asid.non_root) {
			int rc = sonde_pt_image_set_base(code->image, i, 0);

			return rc < 0 ? rc : (int)i;
		}
	}
	return (int)i;
}

static int change(
        struct pt_code *code, uint32_t space, uint64_t base, const uint8_t *data, size_t n)
{
	struct sonde_pt_move *move = &code->moves[code->nmoves];

	if (code->nmoves == PT_CODE_MOVES) {
		return SONDE_ELIMIT;
	}
	code->nmoves++;
	*move = code->from;
	move->keep_space = true;
	return sonde_pt_image_change(code->image, space, base, data, n, &move->generation);
}

static int add(struct pt_code *code, uint64_t base, const uint8_t *data, size_t n)
{
	int rc = next_space(code);

	if (rc >= 0 && code->has_from) {
		rc = change(code, (uint32_t)rc, base, data, n);
	} else if (rc >= 0) {
		rc = sonde_pt_image_add(code->image, (uint32_t)rc, base, data, n);
	}
	if (rc < 0) {
		(void)fprintf(stderr, "Error: cannot use the code: %s\n", sonde_status_text(rc));
	}
	return rc < 0 ? -1 : 0;
}

/* Parses a number, or "any" (or --no-...), which sets *has to false. */
static int parse_or_any(const char *arg, bool unset, uint64_t *value, bool *has)
{
	*has = !unset && strcmp(arg, "any") != 0;
	*value = 0;
	if (*has && !options_number(arg, value)) {
		(void)fprintf(stderr, "a number is wanted, or `any`\n");
		return -1;
	}
	return 0;
}

int pt_code_cr3(const struct option_def *def, const char *arg, bool unset)
{
	struct sonde_pt_asid *asid = &((struct pt_code *)def->target)->space.asid;

	return parse_or_any(arg, unset, &asid->cr3, &asid->has_cr3);
}

int pt_code_vmcs(const struct option_def *def, const char *arg, bool unset)
{
	struct sonde_pt_asid *asid = &((struct pt_code *)def->target)->space.asid;

	return parse_or_any(arg, unset, &asid->vmcs, &asid->has_vmcs);
}

int pt_code_root(const struct option_def *def, const char *arg, bool unset)
{
	struct pt_code_space *space = &((struct pt_code *)def->target)->space;

	space->has_root = !unset && strcmp(arg, "any") != 0;
	space->asid.non_root = space->has_root && strcmp(arg, "no") == 0;
	if (space->has_root && !space->asid.non_root && strcmp(arg, "yes") != 0) {
		(void)fprintf(stderr, "--root wants yes, no or any\n");
		return -1;
	}
	return 0;
}

static int parse_from(const struct option_def *def, const char *arg, bool unset, bool by_tsc)
{
	struct pt_code *code = def->target;

	code->from.by_tsc = by_tsc;
	return parse_or_any(arg, unset, &code->from.at, &code->has_from);
}

int pt_code_from(const struct option_def *def, const char *arg, bool unset)
{
	return parse_from(def, arg, unset, false);
}

int pt_code_from_tsc(const struct option_def *def, const char *arg, bool unset)
{
	return parse_from(def, arg, unset, true);
}

/* Of the matching spaces, chooses the one with most given properties. */
uint32_t pt_code_choose(void *arg, const struct sonde_pt_asid *asid)
{
	const struct pt_code *code = arg;
	uint32_t best = 0;
	unsigned best_given = 0;

	for (unsigned i = 0; i < code->nspaces; i++) {
		const struct pt_code_space *s = &code->spaces[i];
		unsigned given = (unsigned)s->asid.has_cr3 + (unsigned)s->asid.has_vmcs +
		                 (unsigned)s->has_root;

		if (given > best_given &&
		        (!s->asid.has_cr3 || (asid->has_cr3 && asid->cr3 == s->asid.cr3)) &&
		        (!s->asid.has_vmcs || (asid->has_vmcs && asid->vmcs == s->asid.vmcs)) &&
		        (!s->has_root || asid->non_root == s->asid.non_root)) {
			best = i;
			best_given = given;
		}
	}
	return best;
}

int pt_code_raw(const struct option_def *def, const char *arg, bool unset)
{
	struct pt_code *code = def->target;
	const struct pt_file *file;
	struct place place;

	if (unset || !parse_place(arg, &place)) {
		(void)fprintf(stderr, "--raw wants FILE[:FROM[-TO]]:ADDRESS\n");
		return -1;
	}
	file = load(code, place.path);
	if (file == NULL) {
		return -1;
	}
	place.to = place.to < file->size ? place.to : file->size;
	if (place.from > place.to) {
		(void)fprintf(stderr, "Error: %s is shorter than 0x%llx bytes\n", place.path,
		        (unsigned long long)place.from);
		return -1;
	}
	return add(code, place.base, file->data + place.from, (size_t)(place.to - place.from));
}

/* A loadable segment of a 32-bit or 64-bit little-endian ELF file. */
struct segment {
	uint64_t offset, address, size;
	bool load;
};

static bool read_segment(const struct pt_file *file, unsigned index, struct segment *out)
{
	Elf64_Ehdr e64;
	Elf32_Ehdr e32;
	Elf64_Phdr p64;
	Elf32_Phdr p32;
	bool wide = file->data[EI_CLASS] == ELFCLASS64;
	uint64_t at;

	if (file->size < (wide ? sizeof(e64) : sizeof(e32))) {
		return false;
	}
	if (wide) {
		memcpy(&e64, file->data, sizeof(e64));
		at = le64toh(e64.e_phoff) + (uint64_t)index * le16toh(e64.e_phentsize);
		if (index >= le16toh(e64.e_phnum) || at > file->size ||
		        file->size - at < sizeof(p64)) {
			return false;
		}
		memcpy(&p64, file->data + at, sizeof(p64));
		*out = (struct segment){le64toh(p64.p_offset), le64toh(p64.p_vaddr),
		        le64toh(p64.p_filesz), le32toh(p64.p_type) == PT_LOAD};
		return true;
	}
	memcpy(&e32, file->data, sizeof(e32));
	at = le32toh(e32.e_phoff) + (uint64_t)index * le16toh(e32.e_phentsize);
	if (index >= le16toh(e32.e_phnum) || at > file->size || file->size - at < sizeof(p32)) {
		return false;
	}
	memcpy(&p32, file->data + at, sizeof(p32));
	*out = (struct segment){le32toh(p32.p_offset), le32toh(p32.p_vaddr), le32toh(p32.p_filesz),
	        le32toh(p32.p_type) == PT_LOAD};
	return true;
}

int pt_code_elf(const struct option_def *def, const char *arg, bool unset)
{
	struct pt_code *code = def->target;
	struct place place;
	const struct pt_file *file;
	struct segment s;
	uint64_t low = UINT64_MAX;
	bool moved = !unset && parse_place(arg, &place);

	if (unset) {
		return -1;
	}
	file = load(code, moved ? place.path : arg);
	if (file == NULL) {
		return -1;
	}
	if (file->size < EI_NIDENT || memcmp(file->data, ELFMAG, SELFMAG) != 0 ||
	        file->data[EI_DATA] != ELFDATA2LSB) {
		(void)fprintf(stderr, "Error: %s is no little-endian ELF file\n", arg);
		return -1;
	}
	for (unsigned i = 0; read_segment(file, i, &s); i++) {
		low = s.load && s.address < low ? s.address : low;
	}
	for (unsigned i = 0; read_segment(file, i, &s); i++) {
		if (!s.load || s.offset > file->size || file->size - s.offset < s.size) {
			continue;
		}
		if (add(code, moved ? s.address - low + place.base : s.address,
		            file->data + s.offset, (size_t)s.size) != 0) {
			return -1;
		}
	}
	return 0;
}

void pt_code_free(struct pt_code *code)
{
	for (unsigned i = 0; i < code->count; i++) {
		pt_file_free(&code->files[i]);
	}
	sonde_pt_image_free(code->image);
}
