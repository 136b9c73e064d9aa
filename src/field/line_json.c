/* SPDX-License-Identifier: MIT */
/* A sample as a JSON object: a member for each field, with the name and type of the field table. */
#include "field/branch.h"
#include "field/data_src.h"
#include "field/line.h"

#include <sonde/record.h>
#include <stdio.h>

struct json_context {
	struct json *j;
	const struct line_plan *plan;
	const struct line_style *style;
	struct line_worker *worker;
	const struct session_sample *sample;
	const struct field *field; /* the field to print */
	const struct frame *place; /* of the address to print */
};

typedef void (*json_fn)(const struct json_context *c);

static const char *name_of(const struct json_context *c)
{
	return c->field->info.name;
}

static void json_time(const struct json_context *c)
{
	if (c->plan->timed) {
		json_u64(c->j, name_of(c), c->sample->s.time);
	} else {
		json_text(c->j, name_of(c), NULL);
	}
}

static void json_misc(const struct json_context *c)
{
	const struct session_sample *s = c->sample;
	const char *bit;

	json_u64(c->j, "misc", s->misc);
	json_array(c->j, "misc_is");
	for (unsigned i = 0; (bit = sonde_record_misc_name(s->type, s->misc, i)) != NULL; i++) {
		json_text(c->j, NULL, bit);
	}
	json_close(c->j);
}

static void json_data_src(const struct json_context *c)
{
	uint64_t value = c->field->get(&c->style->source, c->sample);
	struct text meaning = {0};

	data_src_text(&meaning, value);
	json_u64(c->j, "data_src", value);
	json_string(c->j, "data_src_is", meaning.p, meaning.n);
	c->j->out->failed = c->j->out->failed || meaning.failed;
	text_fini(&meaning);
}

static void json_regs(
        const struct json_context *c, uint64_t abi, const uint64_t *regs, uint64_t mask)
{
	char number[8];
	size_t i = 0;

	if (abi == 0 || regs == NULL) {
		json_text(c->j, name_of(c), NULL);
		return;
	}
	json_object(c->j, name_of(c));
	for (unsigned bit = 0; bit < 64; bit++) {
		const char *name = bit < c->style->nregs ? c->style->regs[bit] : NULL;

		if ((mask >> bit & 1) != 0) {
			(void)snprintf(number, sizeof(number), "r%u", bit);
			json_u64(c->j, name != NULL ? name : number, regs[i++]);
		}
	}
	json_close(c->j);
}

static void json_iregs(const struct json_context *c)
{
	json_regs(c, c->sample->s.intr_regs_abi, c->sample->s.intr_regs,
	        c->plan->attr->sample_regs_intr);
}

static void json_uregs(const struct json_context *c)
{
	json_regs(c, c->sample->s.user_regs_abi, c->sample->s.user_regs,
	        c->plan->attr->sample_regs_user);
}

/* A member with the name of a frame's symbol; null: unknown. */
static void put_symbol(const struct json_context *c, const char *key, const struct frame *f)
{
	const struct frame_resolver *r = c->worker->addresses.frames.resolver;
	const char *name = frame_symbol_name(r, f->object, f->symbol);

	json_text(c->j, key, name);
	c->j->out->failed = c->j->out->failed || (name == NULL && f->symbol != NULL);
}

static void json_sym(const struct json_context *c)
{
	put_symbol(c, "sym", c->place);
}

static void json_symoff(const struct json_context *c)
{
	const struct frame *f = c->place;

	if (f->symbol != NULL) {
		json_u64(c->j, "symoff", f->address - f->symbol->start);
	} else {
		json_text(c->j, "symoff", NULL);
	}
}

static void json_dso(const struct json_context *c)
{
	const struct timeline *t = session_timeline(c->style->source.session);
	const struct timeline_object *o =
	        c->place->mapping != NULL ? timeline_object(t, c->place->object) : NULL;

	json_text(c->j, "dso",
	        o == NULL               ? NULL
	        : c->style->kernel_path ? timeline_text(t, o->name)
	                                : frame_object_name(t, o));
}

static void json_dsoff(const struct json_context *c)
{
	const struct timeline_mapping *m = c->place->mapping;

	if (m != NULL) {
		json_u64(c->j, "dsoff", c->place->ip - m->start + m->pgoff);
	} else {
		json_text(c->j, "dsoff", NULL);
	}
}

/* The members PREFIX, PREFIX_sym and PREFIX_symoff of an end of a branch. */
static void put_branch_end(
        const struct json_context *c, const char *prefix, enum brstack_form form, uint64_t ip)
{
	struct frame_reader *frames = &c->worker->addresses.frames;
	const struct session_sample *s = c->sample;
	uint32_t mode = frame_mode_of(frames, s->view, s->cpumode, ip);
	const struct frame *at = frame_find(frames, s->view, mode, ip);
	char key[16];

	if (at == NULL) {
		c->j->out->failed = true;
		return;
	}
	json_u64(c->j, prefix, form == BRSTACK_OFFSETS ? at->address : ip);
	if (form != BRSTACK_SYMBOLS) {
		return;
	}
	(void)snprintf(key, sizeof(key), "%s_sym", prefix);
	put_symbol(c, key, at);
	if (at->symbol != NULL) {
		(void)snprintf(key, sizeof(key), "%s_symoff", prefix);
		json_u64(c->j, key, at->address - at->symbol->start);
	}
}

static void json_branches(const struct json_context *c, enum brstack_form form)
{
	json_array(c->j, name_of(c));
	for (uint64_t i = 0; i < c->sample->s.branch_len && !c->j->out->failed; i++) {
		struct branch_entry b = branch_at(c->sample, i);

		json_object(c->j, NULL);
		put_branch_end(c, "from", form, b.from);
		put_branch_end(c, "to", form, b.to);
		json_bool(c->j, "predicted", b.predicted);
		json_bool(c->j, "mispredicted", b.mispredicted);
		json_bool(c->j, "in_tx", b.in_tx);
		json_bool(c->j, "abort", b.aborted);
		json_u64(c->j, "cycles", b.cycles);
		json_text(c->j, "kind", branch_kind_name(b.kind));
		json_close(c->j);
	}
	json_close(c->j);
}

static void json_brstack(const struct json_context *c)
{
	json_branches(c, BRSTACK_ADDRESSES);
}

static void json_brstacksym(const struct json_context *c)
{
	json_branches(c, BRSTACK_SYMBOLS);
}

static void json_brstackoff(const struct json_context *c)
{
	json_branches(c, BRSTACK_OFFSETS);
}

static void json_bpf_output(const struct json_context *c)
{
	json_hex(c->j, name_of(c), (struct span){c->sample->s.raw, c->sample->s.raw_len});
}

static void json_synth(const struct json_context *c)
{
	const struct sonde_sample *s = &c->sample->s;
	struct text out = {0};
	size_t from = 0;

	synth_text(&out, c->plan->attr->config, (struct span){s->raw, s->raw_len},
	        session_swap(c->style->source.session));
	for (; out.n != 0 && out.p[out.n - 1] == ' '; out.n--) {
	}
	for (; from < out.n && out.p[from] == ' '; from++) {
	}
	if (from < out.n) {
		json_string(c->j, name_of(c), out.p + from, out.n - from);
	} else {
		json_text(c->j, name_of(c), NULL);
	}
	c->j->out->failed = c->j->out->failed || out.failed;
	text_fini(&out);
}

/* The bytes of the sampled instruction; empty: unknown. */
static const struct span *insn_of(const struct json_context *c, struct frame_insn_bytes *out)
{
	const struct session_sample *s = c->sample;
	const struct frame *f =
	        frame_find(&c->worker->addresses.frames, s->view, s->cpumode, s->s.ip);

	out->code = (struct span){NULL, 0};
	if (f == NULL || frame_insn_at(c->style->code, f, session_sample_then(s), out) < 0) {
		c->j->out->failed = true;
	}
	return &out->code;
}

static void json_insn(const struct json_context *c)
{
	struct frame_insn_bytes bytes;
	const struct span *insn = insn_of(c, &bytes);

	if (insn->n != 0) {
		json_hex(c->j, name_of(c), *insn);
	} else {
		json_text(c->j, name_of(c), NULL);
	}
}

static void json_disasm(const struct json_context *c)
{
	struct frame_insn_bytes bytes;
	const struct span *insn = insn_of(c, &bytes);
	struct text text = {0};

	if (insn->n != 0 && frame_insn_text(&bytes.kind, c->sample->s.ip, *insn, &text)) {
		json_string(c->j, name_of(c), text.p, text.n);
	} else {
		json_text(c->j, name_of(c), NULL);
	}
	c->j->out->failed = c->j->out->failed || text.failed;
	text_fini(&text);
}

static void json_insnlen(const struct json_context *c)
{
	const struct aux_extra *e = c->sample->extra;
	struct frame_insn_bytes bytes;

	json_u64(c->j, name_of(c),
	        e != NULL && e->insn_size != 0 ? e->insn_size : insn_of(c, &bytes)->n);
}

/* "FILE:LINE" of the place; null: unknown. */
static void json_srcline(const struct json_context *c)
{
	struct lines_place place;
	struct text out = {0};

	if (frame_lines(c->worker->addresses.frames.resolver, c->place, &place) < 0) {
		c->j->out->failed = true;
		return;
	}
	if (place.found != LINES_LINE || place.frames[0].file == NULL) {
		json_text(c->j, "srcline", NULL);
		return;
	}
	text_printf(&out, "%s:%u", place.frames[0].file, (unsigned)place.frames[0].line);
	json_string(c->j, "srcline", out.p, out.n);
	c->j->out->failed = c->j->out->failed || out.failed;
	text_fini(&out);
}

/* The text of that line; null: unknown. */
static void json_srccode(const struct json_context *c)
{
	struct span code;
	int rc = srccode_find(
	        c->worker->source_code, c->worker->addresses.frames.resolver, c->place, &code);

	if (rc > 0) {
		json_string(c->j, name_of(c), (const char *)code.p, code.n);
	} else {
		json_text(c->j, name_of(c), NULL);
	}
	c->j->out->failed = c->j->out->failed || rc < 0;
}

static void json_trace(const struct json_context *c)
{
	struct text text = {0};

	if (c->plan->attr->type != SONDE_TYPE_TRACEPOINT) {
		return;
	}
	if (c->plan->trace == NULL) {
		json_text(c->j, name_of(c), NULL);
		return;
	}
	field_tracer_put(&c->worker->tracer, c->plan->trace, c->sample, &text);
	json_string(c->j, name_of(c), text.p, text.n);
	c->j->out->failed = c->j->out->failed || text.failed;
	text_fini(&text);
}

/* Fields whose value is no number or text of the field's getter. */
static const json_fn printers[FIELD_COUNT] = {
        [FIELD_TIME] = json_time,
        [FIELD_MISC] = json_misc,
        [FIELD_DATA_SRC] = json_data_src,
        [FIELD_SYNTH] = json_synth,
        [FIELD_TRACE] = json_trace,
        [FIELD_BPF_OUTPUT] = json_bpf_output,
        [FIELD_INSN] = json_insn,
        [FIELD_INSNLEN] = json_insnlen,
        [FIELD_DISASM] = json_disasm,
        [FIELD_IREGS] = json_iregs,
        [FIELD_UREGS] = json_uregs,
        [FIELD_BRSTACK] = json_brstack,
        [FIELD_BRSTACKSYM] = json_brstacksym,
        [FIELD_BRSTACKOFF] = json_brstackoff,
        [FIELD_SYM] = json_sym,
        [FIELD_SYMOFF] = json_symoff,
        [FIELD_DSO] = json_dso,
        [FIELD_DSOFF] = json_dsoff,
        [FIELD_SRCLINE] = json_srcline,
        [FIELD_SRCCODE] = json_srccode,
};

bool line_json_has(size_t id)
{
	return printers[id] != NULL || field_at(id)->get != NULL;
}

static void put_value(const struct json_context *c)
{
	const struct field_source *source = &c->style->source;
	struct field_value v = {.number = c->field->get(source, c->sample)};

	if (c->field->text_of != NULL) {
		v.text = c->field->text_of(source, v.number);
	}
	field_json(c->field, source, &v, c->j);
}

static void put_fields(struct json_context *c, uint64_t fields)
{
	for (; fields != 0; fields &= fields - 1) {
		unsigned id = (unsigned)__builtin_ctzll(fields);

		c->field = field_at(id);
		if (printers[id] != NULL) {
			printers[id](c);
		} else if (c->field->get != NULL) {
			put_value(c);
		}
	}
}

/* Finds the place of an address; false: out of memory. */
static bool find_place(struct json_context *c, uint32_t mode, uint64_t ip)
{
	c->place = frame_find(&c->worker->addresses.frames, c->sample->view, mode, ip);
	c->j->out->failed = c->j->out->failed || c->place == NULL;
	return c->place != NULL;
}

/* Whether the whole chain is ignored, as in line_text. */
static bool chain_is_ignored(struct frame_chain chain)
{
	uint64_t ip;
	int rc;

	do {
		rc = frame_chain_next(&chain, &ip);
	} while (rc > 0);
	return rc < 0;
}

static void put_chain(struct json_context *c)
{
	struct frame_reader *frames = &c->worker->addresses.frames;
	struct frame_chain chain = {0};
	uint64_t max, ip;
	int stop = 0;

	json_array(c->j, "callchain");
	if (frame_chain_open(frames, &c->sample->s, c->sample->view, c->sample->cpumode,
	            c->plan->attr, &chain) < 0) {
		c->j->out->failed = true;
	}
	max = chain_is_ignored(chain) ? 0 : c->style->max_stack;
	while (stop == 0 && frame_chain_next_of(&chain, max, &ip) > 0) {
		json_object(c->j, NULL);
		json_u64(c->j, "ip", ip);
		if (c->plan->address_parts != 0 && find_place(c, chain.mode, ip)) {
			put_fields(c, c->plan->fields & LINE_PLACE_FIELDS);
		}
		json_bool(c->j, "kernel", chain.mode == MISC_KERNEL);
		json_close(c->j);
		stop = line_stops(c->style, c->worker, c->sample, chain.mode, ip);
	}
	c->j->out->failed = c->j->out->failed || stop < 0;
	json_close(c->j);
}

void line_json(struct text *out, const struct line_plan *plan, const struct line_style *style,
        struct line_worker *worker, const struct session_sample *sample)
{
	struct json j = {.out = out};
	struct json_context c = {&j, plan, style, worker, sample, NULL, NULL};
	uint64_t fields = plan->fields;

	json_object(&j, NULL);
	json_text(&j, "type", "SAMPLE");
	if ((fields & (LINE_PLACE_FIELDS | FIELD_BIT(FIELD_SRCCODE))) != 0 &&
	        !find_place(&c, sample->cpumode, sample->s.ip)) {
		return;
	}
	put_fields(&c, fields);
	if (line_has_chain(plan, sample)) {
		put_chain(&c);
	}
	json_close(&j);
	text_char(out, '\n');
}
