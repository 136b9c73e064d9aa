/* SPDX-License-Identifier: MIT */
/*
 * The code that ran between the branches of a sample, in lines of `script`. The code from the
 * target of a branch to the source of the next one is a block. As observed with perf 6.1:
 *
 *	FUNCTION+OFFSET:                                     where the function changes
 *	ADDRESS  insn: BYTES                                 an instruction
 *	ADDRESS  insn: BYTES  # PRED 8 cycles [23] 0.50 IPC  the last one of a block, a branch
 *
 * First comes the oldest branch, last the block up to the sampled address. Cycles are those since
 * the branch before, in brackets their sum. A block that cannot be read is left out.
 */
#include "field/branch.h"

#include "field/address.h"
#include "field/srccode.h"

#include <inttypes.h>

#define READ_MAX     16384u /* bytes of a block and of an instruction after it */
#define SCAN_MAX     128u /* bytes after the last branch if the sampled address is before them */
#define BRANCH_WIDTH 30 /* of the bytes of a branch */

struct printer {
	struct text *out;
	struct address_cache *addresses;
	const struct session_sample *sample;
	const struct brcode_style *style;
	const struct symbol *function; /* the last one that was printed; NULL: none */
	uint64_t cycles; /* of all printed branches */
};

struct block {
	uint64_t start, end; /* end: the address of the last instruction */
	struct span code; /* and bytes after it; may be `own` */
	uint8_t own[READ_MAX];
	struct frame_code_kind kind;
};

enum found { FOUND, NOT_FOUND, OTHER_MODE };

/* OTHER_MODE: the block begins in the kernel and ends in user space, or the other way round. */
static enum found find_block(struct printer *p, uint64_t start, uint64_t end, struct block *b)
{
	const struct session_sample *s = p->sample;
	struct frame_reader *frames = &p->addresses->frames;
	uint32_t mode = frame_mode_of(frames, s->view, s->cpumode, start);
	const struct frame *at;
	struct frame_then then;

	b->start = start;
	b->end = end;
	b->code = (struct span){NULL, 0};
	if (start == 0 || end == 0) {
		return NOT_FOUND;
	}
	if (mode != frame_mode_of(frames, s->view, s->cpumode, end)) {
		return OTHER_MODE;
	}
	if (end - start > READ_MAX - FRAME_INSN_MAX) {
		return NOT_FOUND;
	}
	then = (struct frame_then){.time = session_sample_then(s),
	        .own = b->own,
	        .n = (size_t)(end - start) + FRAME_INSN_MAX};
	at = frame_find(frames, s->view, mode, start);
	if (at == NULL || frame_code_then(p->style->code, at, &then, &b->kind, &b->code) < 0) {
		p->out->failed = true;
		return NOT_FOUND;
	}
	return b->code.n != 0 && frame_code_is_x86(&b->kind) ? FOUND : NOT_FOUND;
}

static void put_source(struct printer *p, const struct frame *at)
{
	const struct frame_resolver *r = p->addresses->frames.resolver;
	const char *file;
	struct lines_place place;

	if ((p->style->parts & ADDRESS_SOURCE) == 0) {
		return;
	}
	if (frame_lines(r, at, &place) < 0) {
		p->out->failed = true;
		return;
	}
	if (place.found == LINES_NONE) {
		text_char(p->out, '\t');
		address_unknown_source(p->out, r->timeline, at, &place);
		return;
	}
	file = place.frames[0].file;
	if (file != NULL) {
		file = (p->style->parts & ADDRESS_SOURCE_PATH) != 0 ? file : lines_file_name(file);
		text_printf(p->out, "\t%s:%" PRIu32, file, place.frames[0].line);
	}
}

/* Prints the function at an address if it is not the last printed one. */
static void put_function(struct printer *p, uint64_t ip)
{
	const struct session_sample *s = p->sample;
	struct frame_reader *frames = &p->addresses->frames;
	uint32_t mode = frame_mode_of(frames, s->view, s->cpumode, ip);
	const struct frame *at = frame_find(frames, s->view, mode, ip);
	const char *name;

	if (at == NULL) {
		p->out->failed = true;
		return;
	}
	if (at->symbol == NULL || at->symbol == p->function) {
		return;
	}
	p->function = at->symbol;
	name = frame_symbol_name(frames->resolver, at->object, at->symbol);
	if (name == NULL) {
		p->out->failed = true;
		return;
	}
	text_char(p->out, '\t');
	text_str(p->out, name);
	if (at->address != at->symbol->start) {
		text_char(p->out, '+');
		text_u64(p->out, at->address - at->symbol->start, 0, ' ');
	}
	text_char(p->out, ':');
	put_source(p, at);
	text_char(p->out, '\n');
}

static struct span rest_of(const struct block *b, uint64_t offset)
{
	size_t at = offset < b->code.n ? (size_t)offset : b->code.n;

	return (struct span){b->code.p + at, b->code.n - at};
}

static void put_bytes(struct text *out, const uint8_t *bytes, size_t n)
{
	text_str(out, "insn: ");
	for (size_t i = 0; i < n; i++) {
		text_hex(out, bytes[i], 2, '0');
		text_char(out, ' ');
	}
}

/* Prints an instruction, padded to a width, without the end of its line. */
static struct frame_insn put_insn(
        struct printer *p, const struct block *b, uint64_t offset, size_t width)
{
	struct span code = rest_of(b, offset);
	struct frame_insn insn = frame_insn_decode(&b->kind, code);
	size_t start;

	text_char(p->out, '\t');
	text_hex(p->out, b->start + offset, 16, '0');
	text_char(p->out, '\t');
	start = p->out->n;
	if (insn.size == 0) {
		text_str(p->out, "<bad>");
	} else if (p->style->texts) {
		code.n = insn.size;
		(void)frame_insn_text(&b->kind, b->start + offset, code, p->out);
	} else {
		put_bytes(p->out, code.p, insn.size);
	}
	if (p->out->n - start < width) {
		text_fill(p->out, ' ', width - (p->out->n - start));
	}
	if (p->style->lengths) {
		text_printf(p->out, "\tilen: %u", insn.size);
	}
	return insn;
}

static void put_source_code(struct printer *p, const struct block *b, uint64_t offset)
{
	const struct session_sample *s = p->sample;
	struct frame_reader *frames = &p->addresses->frames;
	uint64_t ip = b->start + offset;
	uint32_t mode;
	const struct frame *at;

	if (p->style->source_code == NULL) {
		return;
	}
	mode = frame_mode_of(frames, s->view, s->cpumode, ip);
	at = frame_find(frames, s->view, mode, ip);
	if (at == NULL) {
		p->out->failed = true;
		return;
	}
	srccode_text(p->style->source_code, frames->resolver, at, s->s.tid, p->out);
}

/* Ends the line of the instruction that branched, the n-th one of its block. */
static void put_branch(struct printer *p, const struct branch_entry *b, unsigned n)
{
	text_str(p->out, "\t#");
	text_str(p->out, b->predicted ? " PRED" : "");
	text_str(p->out, b->mispredicted ? " MISPRED" : "");
	text_str(p->out, b->in_tx ? " INTX" : "");
	text_str(p->out, b->aborted ? " ABORT" : "");
	if (b->cycles != 0) {
		p->cycles += b->cycles;
		text_printf(p->out, " %u cycles [%" PRIu64 "]", b->cycles, p->cycles);
		if (n != 0) {
			text_printf(p->out, " %.2f IPC", (double)((float)n / (float)b->cycles));
		}
	}
	text_char(p->out, '\n');
}

/* Prints a block that ends with a branch. */
static void put_block(struct printer *p, const struct block *b, const struct branch_entry *branch)
{
	uint64_t offset = 0;
	unsigned n = 0;

	while (offset < b->code.n) {
		struct frame_insn insn;

		put_function(p, b->start + offset);
		n++;
		if (offset == b->end - b->start) {
			(void)put_insn(p, b, offset, BRANCH_WIDTH);
			put_branch(p, branch, n);
			put_source_code(p, b, offset);
			return;
		}
		insn = put_insn(p, b, offset, 0);
		text_char(p->out, '\n');
		if (insn.size == 0) {
			break;
		}
		put_source_code(p, b, offset);
		offset += insn.size;
	}
	text_str(p->out, "\tmismatch of LBR data and executable\n");
}

/* Prints the branch that left code which is not known. */
static void put_oldest(struct printer *p, const struct branch_entry *branch)
{
	struct block b;

	if (find_block(p, branch->from, branch->from, &b) == FOUND) {
		put_function(p, b.start);
		(void)put_insn(p, &b, 0, BRANCH_WIDTH);
		put_branch(p, branch, 0);
		put_source_code(p, &b, 0);
	}
}

/* Prints the code from the target of the newest branch to the sampled address. */
static void put_last(struct printer *p, uint64_t start)
{
	uint64_t ip = p->sample->s.ip;
	struct frame_insn insn;
	struct block b;

	put_function(p, start);
	if (find_block(p, start, ip < start ? start + SCAN_MAX : ip, &b) != FOUND &&
	        find_block(p, ip, ip, &b) != FOUND) {
		return;
	}
	for (uint64_t offset = 0; offset <= b.end - b.start; offset += insn.size) {
		insn = put_insn(p, &b, offset, 0);
		text_char(p->out, '\n');
		if (insn.size == 0) {
			return;
		}
		if (insn.leaves && b.start + offset != ip) {
			text_str(p->out, "\t... not reaching sample ...\n");
			return;
		}
		put_source_code(p, &b, offset);
	}
}

void brcode_text(struct text *out, struct address_cache *c, const struct session_sample *s,
        const struct brcode_style *style)
{
	struct printer p = {.out = out, .addresses = c, .sample = s, .style = style};
	uint64_t n = s->s.branch_len;
	struct branch_entry newer;
	struct block b;

	if (n == 0) {
		return;
	}
	text_char(out, '\n');
	n = style->max_blocks != 0 && n > style->max_blocks ? style->max_blocks + 1 : n;
	newer = branch_at(s, n - 1);
	put_oldest(&p, &newer);
	for (uint64_t i = n - 1; i > 0 && !out->failed; i--) {
		uint64_t start = branch_at(s, i).to;
		enum found found;

		newer = branch_at(s, i - 1);
		found = find_block(&p, start, newer.from, &b);
		if (found == OTHER_MODE && i > 1) { /* the way to it was not recorded */
			i--;
			newer = branch_at(s, i - 1);
			found = find_block(&p, start, newer.from, &b);
		}
		if (found == FOUND) {
			put_block(&p, &b, &newer);
		}
	}
	newer = branch_at(s, 0);
	if (!newer.aborted) {
		put_last(&p, newer.to);
	}
}
