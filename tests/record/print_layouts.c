/* SPDX-License-Identifier: MIT */
/* Prints the tables of fields as Markdown: the generated part of doc/format.md. */
#include "abi/abi.h"
#include "record/layout.h"

#include <stdio.h>

static const char *const kinds[] = {
        [LAYOUT_U8] = "u8",
        [LAYOUT_U16] = "u16",
        [LAYOUT_U32] = "u32",
        [LAYOUT_U64] = "u64",
        [LAYOUT_S32] = "s32",
        [LAYOUT_S64] = "s64",
        [LAYOUT_F64] = "double",
        [LAYOUT_BITS] = "u64 of bits",
        [LAYOUT_MIRRORED] = "u64 of bit-fields",
        [LAYOUT_CHARS] = "char",
        [LAYOUT_TEXT] = "text to the end",
        [LAYOUT_STRING] = "str",
        [LAYOUT_CSTRING] = "text up to its NUL",
        [LAYOUT_BYTES] = "byte",
        [LAYOUT_STRUCT] = "",
};

/* The last field that was kept in each slot. */
struct page {
	const char *kept[SLOTS];
	char path[256];
};

static const char *flag_name(const struct layout_name *names, uint64_t mask)
{
	for (; names->name != NULL; names++) {
		if (names->value == mask) {
			return names->name;
		}
	}
	return "?";
}

/* Names of bits in the attr's own table. */
static const struct layout_name *attr_names(const char *field)
{
	const struct layout *attr = layout_of_attr();

	for (unsigned i = 0; i < attr->nfields; i++) {
		if (strcmp(attr->fields[i].name, field) == 0) {
			return attr->fields[i].names;
		}
	}
	return NULL;
}

static unsigned bit_of(uint64_t mask)
{
	return (unsigned)__builtin_ctzll(mask);
}

static void print_when(const struct page *p, const struct layout_field *f)
{
	unsigned long long value = f->when.value;
	const char *slot = p->kept[f->when.slot];

	switch (f->when.is) {
	case WHEN_ALWAYS: return;
	case WHEN_MISC: printf("misc bit %u", bit_of(value)); return;
	case WHEN_NOT_MISC: printf("misc bit %u is 0", bit_of(value)); return;
	case WHEN_IS: printf("%s = %llu", slot, value); return;
	case WHEN_NOT: printf("%s is not %llu", slot, value); return;
	case WHEN_MIN: printf("%s from %llu", slot, value); return;
	case WHEN_LEFT: printf("%llu bytes are left", value); return;
	case WHEN_LEFT_EACH: printf("%llu bytes for each of %s are left", value, slot); return;
	case WHEN_LEFT_ODD: printf("what is left is no multiple of %llu", value); return;
	case WHEN_SAMPLE:
		printf("sample_type %s", flag_name(attr_names("sample_type"), value));
		return;
	case WHEN_READ:
		printf("read_format %s", flag_name(attr_names("read_format"), value));
		return;
	case WHEN_NOT_READ:
		printf("not read_format %s", flag_name(attr_names("read_format"), value));
		return;
	case WHEN_BRANCH:
		printf("branch_sample_type %s", flag_name(attr_names("branch_sample_type"), value));
		return;
	}
}

static void print_count(const struct page *p, const struct layout_field *f)
{
	switch (f->count.is) {
	case COUNT_ONE: return;
	case COUNT_FIXED: printf("[%u]", f->count.n); return;
	case COUNT_SLOT: printf("[%s]", p->kept[f->count.n]); return;
	case COUNT_REST: printf("[to the end]"); return;
	case COUNT_USER_REGS: printf("[bits of sample_regs_user]"); return;
	case COUNT_INTR_REGS: printf("[bits of sample_regs_intr]"); return;
	case COUNT_WORDS: printf("[words for %s]", p->kept[f->count.n]); return;
	case COUNT_STRUCT_REST: printf("[up to %s]", p->kept[f->count.n]); return;
	case COUNT_ALIGN: printf("[to a multiple of 8]"); return;
	}
}

static void print_names(const struct layout_field *f)
{
	bool parts = f->kind == LAYOUT_BITS || f->kind == LAYOUT_MIRRORED;

	if (f->names == NULL) {
		return;
	}
	for (const struct layout_name *n = f->names; n->name != NULL; n++) {
		printf("%s%s ", n == f->names ? ": " : ", ", n->name);
		printf("%llu", (unsigned long long)n->value);
		if (parts && n->width > 1) {
			printf("-%llu", (unsigned long long)n->value + n->width - 1);
		}
	}
}

static void print_field(const struct page *p, const struct layout_field *f)
{
	if (f->name == NULL && f->when.is == WHEN_ALWAYS) {
		return;
	}
	printf("| %s%s | %s", p->path, f->name != NULL ? f->name : "", kinds[f->kind]);
	print_count(p, f);
	printf(" | ");
	print_when(p, f);
	printf(" | %s%s%s", f->note != NULL ? f->note : "the fields below",
	        f->unit != NULL ? ", in " : "", f->unit != NULL ? f->unit : "");
	print_names(f);
	printf(" |\n");
}

static void print_fields(struct page *p, const struct layout *l)
{
	size_t n = strlen(p->path);

	for (unsigned i = 0; i < l->nfields; i++) {
		const struct layout_field *f = &l->fields[i];
		const char *brackets =
		        f->kind == LAYOUT_STRUCT && f->count.is != COUNT_ONE ? "[]" : "";

		print_field(p, f);
		if (f->keep != SLOT_NONE) {
			p->kept[f->keep] = f->name;
		}
		if (f->sub == NULL || f->sub->fields == layout_of_attr()->fields) {
			continue;
		}
		if (f->name != NULL) {
			(void)snprintf(
			        p->path + n, sizeof(p->path) - n, "%s%s.", f->name, brackets);
		}
		print_fields(p, f->sub);
		p->path[n] = '\0';
	}
}

static void print_layout(const struct layout *l, long number)
{
	struct page p = {.kept = {[SLOT_CPUS] = "NRCPUS available"}};

	if (number >= 0) {
		printf("\n#### %ld %s\n\n", number, l->name);
	} else {
		printf("\n#### %s\n\n", l->name);
	}
	if (l->nfields == 0) {
		printf("No body.\n");
		return;
	}
	printf("| field | type | there when | meaning |\n|---|---|---|---|\n");
	print_fields(&p, l);
}

int main(void)
{
	printf("\n### Records\n");
	for (uint32_t t = 0; t < RECORD_TYPE_MAX; t++) {
		if (layout_of_record(t) != NULL) {
			print_layout(layout_of_record(t), (long)t);
		}
	}
	printf("\n### Trailer of records of types 1 to 22 except SAMPLE, with sample_id_all\n");
	print_layout(layout_of_trailer(), -1);
	printf("\n### The attr\n");
	print_layout(layout_of_attr(), -1);
	printf("\n### Payloads of features\n");
	for (uint32_t i = 1; i < FEATURE_BITS; i++) {
		if (layout_of_feature(i) != NULL) {
			print_layout(layout_of_feature(i), (long)i);
		}
	}
	return 0;
}
