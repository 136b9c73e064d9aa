/* SPDX-License-Identifier: MIT */
/* Rows of call frame information made by hand: .eh_frame with and without a header, .debug_frame. */
#include "made.h"

#include "tap.h"

/* At a function's start on x86-64: the CFA is rsp + 8, the return address below it. */
#define X86_START "\x0c\x07\x08\x90\x01"
/* push %rbp; mov %rsp,%rbp at 1 and 4; pop at 0x20. */
#define X86_FRAME     "\x41\x0e\x10\x86\x02\x43\x0d\x06\x5c\x0c\x07\x08"
#define PROGRAM(text) (text), sizeof(text) - 1

static const struct unwind_saved *saved_of(const struct unwind_row *row, uint8_t reg)
{
	for (unsigned i = 0; i < row->n; i++) {
		if (row->saved[i].reg == reg) {
			return &row->saved[i];
		}
	}
	return NULL;
}

/* Whether the row at an address has this CFA and keeps rbp at the CFA plus `rbp` (0: unchanged). */
static bool row_is(
        const struct unwind_table *t, uint64_t address, uint8_t reg, int32_t offset, int32_t rbp)
{
	struct unwind_row row;
	const struct unwind_saved *saved;

	if (!unwind_table_row(t, address, &row)) {
		return false;
	}
	saved = saved_of(&row, 6);
	return !row.cfa_expression && row.cfa_reg == reg && row.cfa_value == offset &&
	       (rbp == 0 ? saved == NULL
	                 : saved != NULL && saved->rule == UNWIND_OFFSET && saved->value == rbp);
}

static void check_frame(const struct unwind_table *t, const char *what)
{
	char name[128];

	(void)snprintf(name, sizeof(name), "%s: rows change after push, mov and pop", what);
	ok(row_is(t, CODE, 7, 8, 0) && row_is(t, CODE + 1, 7, 16, -16) &&
	                row_is(t, CODE + 4, 6, 16, -16) && row_is(t, CODE + 0x1f, 6, 16, -16) &&
	                row_is(t, CODE + 0x20, 7, 8, -16),
	        name);
	(void)snprintf(name, sizeof(name), "%s: no row before and after a function", what);
	ok(!row_is(t, CODE - 1, 7, 8, 0) && !row_is(t, CODE + 0x40, 7, 8, 0), name);
	(void)snprintf(name, sizeof(name), "%s: the second function has its own rows", what);
	ok(row_is(t, CODE + 0x50, 7, 8, 0) && !row_is(t, CODE + 0x60, 7, 8, 0), name);
}

static void two_functions(struct made *m, const char *letters, uint32_t pairs[4])
{
	made_cie(m, letters, 16, PROGRAM(X86_START));
	pairs[2] = CODE + 0x50;
	pairs[3] = (uint32_t)m->n;
	made_fde(m, CODE + 0x50, 0x10, "", 0);
	pairs[0] = CODE;
	pairs[1] = (uint32_t)m->n;
	made_fde(m, CODE, 0x40, PROGRAM(X86_FRAME));
}

static void test_sections(void)
{
	static struct made m;
	uint32_t pairs[4];
	struct unwind_table *t;

	two_functions(&m, "zR", pairs);
	t = made_table(&m, X86_64);
	check_frame(t, ".eh_frame without a header");
	unwind_table_free(t);
	made_header(&m, pairs, 2);
	t = made_table(&m, X86_64);
	check_frame(t, ".eh_frame with a header");
	unwind_table_free(t);
	pairs[1] = UINT32_MAX - 7; /* entries far outside of the section */
	pairs[3] = 1u << 30;
	made_header(&m, pairs, 2);
	t = made_table(&m, X86_64);
	ok(!row_is(t, CODE, 7, 8, 0) && !row_is(t, CODE + 0x50, 7, 8, 0),
	        "a header with entries outside of .eh_frame has no rows");
	unwind_table_free(t);
	t = made_table(&m, 8);
	ok(unwind_table_machine(t) == UNWIND_OTHER && !row_is(t, CODE, 7, 8, 0),
	        "an object for another machine has no rows");
	unwind_table_free(t);
	m = (struct made){.debug = true};
	two_functions(&m, "", pairs);
	t = made_table(&m, X86_64);
	check_frame(t, ".debug_frame");
	unwind_table_free(t);
}

static void test_addresses(void)
{
	static struct made m;
	struct unwind_table *t = made_table(&m, X86_64);
	uint64_t address = 0;

	ok(unwind_table_address(t, 0x234, &address) && address == CODE + 0x34,
	        "an offset in the file is converted to an address by its segment");
	ok(!unwind_table_address(t, 0x1ff, &address) && !unwind_table_address(t, 0x1200, &address),
	        "offsets outside of segments have no address");
	unwind_table_free(t);
}

/* Runs a program of a function with the frame above as its CIE's state; false: it is damaged. */
static bool run(const char *program, size_t n, struct unwind_row *row)
{
	static struct made m;
	struct unwind_table *t;
	bool found;

	m = (struct made){0};
	made_cie(&m, "zR", 16, PROGRAM(X86_START));
	made_fde(&m, CODE, 0x40, program, n);
	t = made_table(&m, X86_64);
	found = unwind_table_row(t, CODE + 0x30, row);
	unwind_table_free(t);
	return found;
}

static void test_programs(void)
{
	static const struct {
		const char *name, *program;
		size_t n;
		uint8_t reg, rule; /* of the register; UNWIND_SAME: no rule */
		int32_t value;
	} cases[] = {
#define CASE(name, text, ...) {name, text, sizeof(text) - 1, __VA_ARGS__}
	        CASE("offset_extended", "\x05\x03\x04", 3, UNWIND_OFFSET, -32),
	        CASE("offset_extended_sf", "\x11\x03\x7c", 3, UNWIND_OFFSET, 32),
	        CASE("GNU_negative_offset_extended", "\x2f\x03\x02", 3, UNWIND_OFFSET, 16),
	        CASE("val_offset", "\x14\x03\x02", 3, UNWIND_VAL_OFFSET, -16),
	        CASE("val_offset_sf", "\x15\x03\x7e", 3, UNWIND_VAL_OFFSET, 16),
	        CASE("register", "\x09\x03\x0c", 3, UNWIND_REGISTER, 12),
	        CASE("undefined", "\x07\x10", 16, UNWIND_UNDEFINED, 0),
	        CASE("same_value", "\x83\x02\x08\x03", 3, UNWIND_SAME, 0),
	        CASE("restore", "\x90\x05\xd0", 16, UNWIND_OFFSET, -8),
	        CASE("restore_extended", "\x90\x05\x06\x10", 16, UNWIND_OFFSET, -8),
	        CASE("remember_state and restore_state", "\x0a\x83\x02\x0b", 3, UNWIND_SAME, 0),
	        CASE("advance_loc1 past the address", "\x02\x31\x83\x02", 3, UNWIND_SAME, 0),
	        CASE("advance_loc2 up to the address", "\x03\x30\x00\x83\x02", 3, UNWIND_OFFSET,
	                -16),
	        CASE("advance_loc4 past the address", "\x04\xff\xff\xff\x7f\x83\x02", 3,
	                UNWIND_SAME, 0),
	        CASE("a register of vectors is ignored", "\x05\x60\x04", 3, UNWIND_SAME, 0),
	        CASE("GNU_args_size", "\x2e\x10\x83\x02", 3, UNWIND_OFFSET, -16),
#undef CASE
	};
	struct unwind_row row;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool found = run(cases[i].program, cases[i].n, &row);
		const struct unwind_saved *saved = found ? saved_of(&row, cases[i].reg) : NULL;

		ok(found && (saved == NULL ? cases[i].rule == UNWIND_SAME
		                           : saved->rule == cases[i].rule &&
		                                     saved->value == cases[i].value),
		        cases[i].name);
	}
	ok(run(PROGRAM("\x12\x06\x7e"), &row) && row.cfa_reg == 6 && row.cfa_value == 16,
	        "def_cfa_sf");
	ok(run(PROGRAM("\x13\x7e"), &row) && row.cfa_reg == 7 && row.cfa_value == 16,
	        "def_cfa_offset_sf");
	ok(run(PROGRAM("\x0f\x02\x77\x08"), &row) && row.cfa_expression, "def_cfa_expression");
}

static void test_damage(void)
{
	static const struct {
		const char *name, *program;
		size_t n;
	} cases[] = {
#define CASE(name, text) {name, text, sizeof(text) - 1}
	        CASE("an unknown instruction makes no row", "\x3f"),
	        CASE("restore_state without remember_state makes no row", "\x0b"),
	        CASE("too many remembered states make no row",
	                "\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a"),
	        CASE("an operand that is cut off makes no row", "\x05\x03"),
	        CASE("an expression that is cut off makes no row", "\x10\x03\x7f\x30"),
	        CASE("a number of more than 64 bits makes no row",
	                "\x0e\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
	        CASE("an offset of more than 32 bits makes no row", "\x0e\xff\xff\xff\xff\xff\x01"),
	        CASE("a CFA of an unknown register makes no row", "\x0c\x7f\x08"),
	        CASE("a signed return address makes no row on x86-64", "\x2d"),
	        CASE("def_cfa_offset of an expression makes no row", "\x0f\x02\x77\x08\x0e\x08"),
#undef CASE
	};
	static struct made m;
	struct unwind_row row;
	size_t size;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ok(!run(cases[i].program, cases[i].n, &row), cases[i].name);
	}
	m = (struct made){0};
	made_cie(&m, "zR", 16, PROGRAM(X86_START));
	size = m.n;
	made_fde(&m, CODE, 0x40, PROGRAM(X86_FRAME));
	for (size_t n = m.n - 1; n > 0; n--) {
		struct made cut = m;
		struct unwind_table *t;

		cut.n = n;
		t = made_table(&cut, X86_64);
		if (unwind_table_row(t, CODE, &row)) {
			ok(false, "a section that is cut off has no row");
		}
		unwind_table_free(t);
	}
	ok(size != 0, "a section that is cut off has no row");
}

static void test_kinds_of_frames(void)
{
	static struct made m;
	struct unwind_table *t;
	struct unwind_row row = {0};

	made_cie(&m, "zRS", 16, PROGRAM(X86_START));
	made_fde(&m, CODE, 0x40, "", 0);
	t = made_table(&m, X86_64);
	ok(unwind_table_row(t, CODE, &row) && row.signal,
	        "the letter S marks the frame of a signal");
	unwind_table_free(t);
	m = (struct made){0};
	made_cie(&m, "zRB", 30, PROGRAM("\x0c\x1f\x00"));
	made_fde(&m, CODE, 0x40, PROGRAM("\x44\x2d\x44\x2d"));
	t = made_table(&m, AARCH64);
	ok(unwind_table_row(t, CODE + 3, &row) && !row.signed_return &&
	                unwind_table_row(t, CODE + 4, &row) && row.signed_return &&
	                unwind_table_row(t, CODE + 8, &row) && !row.signed_return,
	        "aarch64: negate_ra_state signs the return address, and ends it");
	unwind_table_free(t);
}

int main(void)
{
	test_sections();
	test_addresses();
	test_programs();
	test_damage();
	test_kinds_of_frames();
	return tap_done();
}
