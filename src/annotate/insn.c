/* SPDX-License-Identifier: MIT */
/* The instructions of a function, with what is known of each. */
#include "annotate/inside.h"

void annotate_add(
        const struct annotate *a, const struct annotate_place *p, struct annotate_count *sums)
{
	const struct annotate_count *counts = annotate_counts(&a->table, p);

	for (size_t i = 0; i < a->nevents; i++) {
		sums[i].samples += counts[a->events[i]].samples;
		sums[i].period += counts[a->events[i]].period;
	}
}

double annotate_percent(const struct annotate *a, size_t i, const struct annotate_count *count)
{
	enum sonde_annotate_percent kind = a->options.percent;
	bool hits = kind == SONDE_ANNOTATE_LOCAL_HITS || kind == SONDE_ANNOTATE_GLOBAL_HITS;
	bool local = kind == SONDE_ANNOTATE_LOCAL_HITS || kind == SONDE_ANNOTATE_LOCAL_PERIOD;
	const struct annotate_count *of = local ? &a->sums[i] : &a->table.totals[a->events[i]];
	uint64_t part = hits ? count->samples : count->period;
	uint64_t whole = hits ? of->samples : of->period;

	return whole != 0 ? 100.0 * (double)part / (double)whole : 0.0;
}

const char *annotate_name(const struct annotate *a, const struct annotate_function *f)
{
	return frame_symbol_name(session_frames(a->session), f->object, f->symbol);
}

const char *annotate_object(const struct annotate *a, const struct annotate_function *f)
{
	const struct timeline *t = session_timeline(a->session);
	const struct timeline_object *o = timeline_object(t, f->object);

	return a->options.full_paths ? frame_object_name(t, o) : timeline_text(t, o->short_name);
}

/* Adds the counts of places in [insn->address, + size) from *next on, and their cycles. */
static void take_counts(const struct annotate *a, const struct annotate_function *f, size_t *next,
        struct annotate_insn *insn, struct annotate_count *counts)
{
	uint64_t cycles = 0, branches = 0;

	memset(counts, 0, a->nevents * sizeof(*counts));
	while (*next < f->n &&
	        a->table.places[f->first + *next].address < insn->address + insn->bytes.n) {
		const struct annotate_place *p = &a->table.places[f->first + (*next)++];

		annotate_add(a, p, counts);
		cycles += p->cycles;
		branches += p->branches;
	}
	insn->cycles = branches != 0 ? (double)cycles / (double)branches : 0.0;
}

/* Sets the function at the address that an instruction jumps to. */
static int set_target(const struct annotate *a, const struct annotate_function *f, uint64_t to,
        struct annotate_insn *insn)
{
	const struct frame_resolver *r = session_frames(a->session);
	const struct symbol_table *table = frame_symbols(r, f->object);
	const struct symbol *symbol = table != NULL ? symbol_table_find(table, to) : NULL;

	if (symbol == NULL) {
		return 0;
	}
	insn->target = frame_symbol_name(r, f->object, symbol);
	insn->target_offset = to - symbol->start;
	return insn->target != NULL ? 0 : SONDE_ENOMEM;
}

/* Decodes insn->bytes, of which those of the instruction remain. */
static int read_x86(struct annotate *a, const struct annotate_function *f,
        const struct frame_code_kind *kind, struct annotate_insn *insn)
{
	struct frame_insn decoded = frame_insn_decode(kind, insn->bytes);

	insn->bytes.n = decoded.size != 0 ? decoded.size : 1;
	if (decoded.size == 0 || !frame_insn_text_as(kind, a->options.intel, insn->shown,
	                                 insn->bytes, &a->insn_text)) {
		a->insn_text.n = 0;
		text_str(&a->insn_text, "(bad)");
	}
	return decoded.direct ? set_target(a, f,
	                                insn->address + decoded.size +
	                                        (uint64_t)(int64_t)decoded.displacement,
	                                insn)
	                      : 0;
}

static int read_other(
        struct annotate *a, const struct annotate_function *f, struct annotate_insn *insn)
{
	struct frame_disassembled decoded;

	if (!frame_disassembler_read(
	            a->disassembler, insn->shown, insn->bytes, &a->insn_text, &decoded)) {
		text_str(&a->insn_text, "(bad)");
	}
	insn->bytes.n = decoded.size;
	return decoded.direct ? set_target(a, f, decoded.target - insn->shown + insn->address, insn)
	                      : 0;
}

/* Whether code of this kind can be disassembled: 1, 0, or negative. */
static int can_read(struct annotate *a, const struct frame_code_kind *kind)
{
	if (frame_code_is_x86(kind)) {
		return 1;
	}
	if (a->kind.machine != kind->machine || a->kind.is64 != kind->is64) {
		frame_disassembler_free(a->disassembler);
		a->kind = *kind;
		TRY(frame_disassembler_new(kind, &a->disassembler));
	}
	return a->disassembler != NULL;
}

/* Reads the instruction at an address: 1, 0: there is no code, or negative. */
static int read_insn(struct annotate *a, const struct annotate_function *f, uint64_t address,
        struct annotate_insn *insn)
{
	const struct annotate_place *any = &a->table.places[f->first];
	struct frame_code_place place = {
	        .object = f->object, .address = address, .ip = any->ip - any->address + address};
	struct frame at = {.ip = place.ip, .address = address, .object = f->object};
	uint64_t left = f->symbol->end - address;
	struct frame_code_kind kind;
	int rc;

	TRY(frame_code_of(a->code, &place, left < FRAME_INSN_MAX ? (size_t)left : FRAME_INSN_MAX,
	        &kind, &insn->bytes));
	rc = insn->bytes.n != 0 ? can_read(a, &kind) : 0;
	if (rc <= 0) {
		return rc;
	}
	insn->address = address;
	insn->target = NULL;
	TRY(frame_lines(session_frames(a->session), &at, &insn->lines));
	insn->shown = insn->lines.address;
	a->insn_text.n = 0;
	TRY(frame_code_is_x86(&kind) ? read_x86(a, f, &kind, insn) : read_other(a, f, insn));
	text_char(&a->insn_text, '\0');
	insn->text = a->insn_text.p;
	return a->insn_text.failed ? SONDE_ENOMEM : 1;
}

static void report_no_code(struct annotate *a, const struct annotate_function *f)
{
	struct annotate_place *any = &a->table.places[f->first];
	struct frame_code_place place = {
	        .object = f->object, .address = f->symbol->start, .ip = any->ip};
	struct frame_code_kind kind = {0};
	struct span bytes = {NULL, 0};
	const char *name = annotate_name(a, f);

	(void)frame_code_of(a->code, &place, 1, &kind, &bytes);
	diag_report(session_diags(a->session), SONDE_DIAG_NOT_SHOWN, NO_OFFSET,
	        bytes.n != 0 ? "%s of %s is code of a processor that this build cannot "
	                       "disassemble ('sonde version -vv' lists its libraries)"
	                     : "%s of %s: its code is not here: the file was not found, or is "
	                       "another build (see --symfs)",
	        name != NULL ? name : "?", annotate_object(a, f));
}

int annotate_each(
        struct annotate *a, const struct annotate_function *f, annotate_insn_fn fn, void *arg)
{
	struct annotate_count *counts = a->sums + a->nevents;
	struct annotate_insn insn;
	uint64_t address = f->symbol->start;
	size_t next = 0;
	int rc = 0;

	while (address < f->symbol->end) {
		rc = read_insn(a, f, address, &insn);
		if (rc <= 0) {
			break;
		}
		take_counts(a, f, &next, &insn, counts);
		TRY(fn(arg, &insn, counts));
		address += insn.bytes.n;
	}
	if (rc == 0 && address == f->symbol->start) {
		report_no_code(a, f);
		return 0;
	}
	return rc < 0 ? rc : 1;
}
