/* SPDX-License-Identifier: MIT */
/*
 * The stage that moves addresses, so that the recording does not show where the kernel and the programs
 * of a machine were loaded. The first pass collects all addresses as ranges of pages; between the passes
 * each range gets a place that depends on nothing but the order and the sizes of the ranges:
 *
 *	user space    one range after the other from USER_BASE on, the same for all processes
 *	the kernel    its code, modules and BPF programs together, by one distance
 *	its data      one range after the other from DATA_BASE on
 *
 * Objects keep their distances to the addresses in them, so everything resolves as before. In copies of
 * stacks, words that are addresses move; all others, which may be anything, become zero. Raw data may
 * have an address anywhere and is removed; for traces see refuse().
 */
#include "edit/inside.h"

#include "edit/ranges.h"
#include "edit/tracing.h"
#include "file/reader.h"
#include "record/feature.h"
#include "record/user_stack.h"

#include <stdlib.h>

#define LEAST_ADDRESS UINT64_C(0x10000) /* no program is mapped below: a small number */
#define USER_END      UINT64_C(0x200000000000000) /* of user space, on machines with most of it */
#define USER_BASE     UINT64_C(0x100000000000)
#define KERNEL_START  (UINT64_C(1) << 63)
#define DATA_BASE     UINT64_C(0xffff800000000000) /* where Linux on x86 has nothing */
#define CODE_BASE     UINT64_C(0xffffc00000000000) /* of kernels below IMAGE_START */
#define IMAGE_START   UINT64_C(0xffffffff80000000) /* of kernels for x86 */
#define VSYSCALL      UINT64_C(0xffffffffff600000) /* in the same place everywhere */
#define CODE_GRAIN    UINT64_C(0x200000) /* kernels are loaded at multiples of it */

#define ATTR_SAMPLE_TYPE 24u /* offsets in an attr */
#define ATTR_ADDRESS     56u /* of a breakpoint */
#define MMAP_PGOFF       24u /* offset in the body of a mapping */
#define UPDATE_TEXT      16u /* offset in the body of EVENT_UPDATE */
#define UPDATE_NAME      2u

struct edit_aslr {
	struct sonde_editor *e;
	struct ranges user, data;
	struct range code; /* of the kernel; end 0: none was mapped */
	bool swap;
	uint64_t stack; /* bytes of the largest copy of a stack */
};

/* ---- words ---- */

static bool is_user(uint64_t a)
{
	return a >= LEAST_ADDRESS && a < USER_END;
}

static bool is_kernel(uint64_t a)
{
	return a >= KERNEL_START && a < CALLCHAIN_MARKS && (a & ~(uint64_t)0xfff) != VSYSCALL;
}

static bool in_code(const struct edit_aslr *x, uint64_t a)
{
	return a >= x->code.start && a < x->code.end;
}

/* Adds [a, a + size), which is in one half. */
static int add(struct edit_aslr *x, uint64_t a, uint64_t size)
{
	uint64_t end = a + size < a ? UINT64_MAX : a + size;

	if (is_user(a)) {
		return ranges_add(&x->user, a, end < USER_END ? end : USER_END);
	}
	return is_kernel(a) ? ranges_add(&x->data, a, end) : 0;
}

/* Moves an address; what is none stays. False: an address that the first pass did not see. */
static bool move(const struct edit_aslr *x, uint64_t *a)
{
	if (is_user(*a)) {
		return ranges_move(&x->user, a);
	}
	if (!is_kernel(*a)) {
		return true;
	}
	if (in_code(x, *a)) {
		*a += x->code.to - x->code.start;
		return true;
	}
	return ranges_move(&x->data, a);
}

/* ---- fields ---- */

enum field_kind {
	FIELD_OTHER,
	FIELD_ADDRESS, /* words that are addresses */
	FIELD_REGISTERS,
	FIELD_STACK,
	FIELD_REST /* bytes that no field covers */
};

/* The fields of records with addresses, by their names in the layouts. */
static enum field_kind kind_of(const char *part, const struct layout_value *v)
{
	static const struct {
		const char *name;
		enum field_kind kind;
	} kinds[] = {
	        {"ip", FIELD_ADDRESS},
	        {"addr", FIELD_ADDRESS},
	        {"ips", FIELD_ADDRESS},
	        {"from", FIELD_ADDRESS},
	        {"to", FIELD_ADDRESS},
	        {"regs", FIELD_REGISTERS},
	        {"data", FIELD_STACK},
	};

	if (v->field == NULL) {
		return FIELD_REST;
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(v->field->name, kinds[i].name) == 0) {
			bool stack = strcmp(part, "stack_user") == 0;

			return kinds[i].kind != FIELD_STACK || stack ? kinds[i].kind : FIELD_OTHER;
		}
	}
	return FIELD_OTHER;
}

/* A walk over the fields of a record. */
struct fields {
	struct record_walk walk;
	struct layout_value v;
	enum field_kind kind; /* of v */
	const char *part; /* the name of the struct that v is in, "" for the record itself */
	uint64_t abi; /* of the user's registers */
	bool deferred; /* a call chain can end with a mark and a number: its last part comes later */
	struct span raw; /* the part with raw data, so far; n 0: none */
};

static const struct file_event *event_of(const struct file *f, const struct record *r)
{
	const struct file_event *e = r->type >= RECORD_USER_START ? NULL
	                             : r->type == RECORD_SAMPLE   ? file_sample_event(f, r)
	                                                          : file_record_event(f, r);

	return e == NULL && r->type != RECORD_SAMPLE && r->type < RECORD_USER_START &&
	                       f->nevents != 0
	               ? &f->events[0]
	               : e;
}

static void fields_begin(struct fields *it, const struct file *f, const struct record *r)
{
	const struct file_event *e = event_of(f, r);

	it->part = "";
	it->abi = 0;
	it->raw = (struct span){0};
	it->deferred = e != NULL && sonde_attr_has(&e->attr, SONDE_FLAG_DEFER_CALLCHAIN);
	record_walk_init(&it->walk, r, f->swap, e != NULL ? &e->plan : NULL, file_cpus(f));
}

static bool fields_next(struct fields *it)
{
	enum layout_event event;

	while ((event = record_walk_next(&it->walk, &it->v)) != LAYOUT_END) {
		const struct layout_value *v = &it->v;

		if (event == LAYOUT_ITEM || event == LAYOUT_ITEM_END) {
			it->part = event == LAYOUT_ITEM && v->field->name != NULL ? v->field->name
			                                                          : "";
		}
		if (event != LAYOUT_VALUE && event != LAYOUT_REST) {
			continue;
		}
		it->kind = kind_of(it->part, v);
		if (strcmp(it->part, "raw") == 0 && v->field != NULL) {
			it->raw.p = it->raw.n != 0 ? it->raw.p : v->bytes.p;
			it->raw.n += v->bytes.n;
		} else if (strcmp(it->part, "regs_user") == 0 && v->field != NULL &&
		           strcmp(v->field->name, "abi") == 0) {
			it->abi = v->number;
		}
		return true;
	}
	return false;
}

/* ---- the first pass ---- */

/* The mappings of the kernel, whose code moves as one. */
static int kernel_note(struct edit_aslr *x, uint64_t start, uint64_t size)
{
	uint64_t end = start + size < start ? UINT64_MAX : start + size;

	if (start < KERNEL_START) {
		return error_set(&x->e->error, SONDE_EUNSUPPORTED, NO_OFFSET,
		        "the kernel of the recording is at low addresses, as those of s390x are: "
		        "they cannot be told from the addresses of programs and would stay");
	}
	if (x->code.end == 0) {
		x->code = (struct range){.start = start, .end = end};
	}
	x->code.start = start < x->code.start ? start : x->code.start;
	x->code.end = end > x->code.end ? end : x->code.end;
	return 0;
}

static int mapping_note(struct edit_aslr *x, const struct record *r, bool swap)
{
	uint32_t mode = r->misc & MISC_CPUMODE_MASK;
	uint64_t start, size;

	if (r->body.n < 24) {
		return 0; /* it does not fit its fields, and is left out */
	}
	start = load_u64(r->body.p + 8, swap);
	size = load_u64(r->body.p + 16, swap);
	if (start != 0 && size != 0 && (mode == MISC_KERNEL || mode == MISC_GUEST_KERNEL)) {
		return kernel_note(x, start, size);
	}
	return add(x, start, size);
}

static bool is_mapping(uint32_t type)
{
	return type == RECORD_MMAP || type == RECORD_MMAP2;
}

/*
 * Traces have addresses in packets, some of them in part, which decoders take apart with the objects:
 * nothing short of decoding could change them.
 */
static int refuse(struct edit_aslr *x, uint64_t offset)
{
	return error_set(&x->e->error, SONDE_EUNSUPPORTED, offset,
	        "the recording has hardware traces, whose packets are made of addresses; replace "
	        "them by samples first: sonde inject --itrace -i IN | sonde inject --aslr -o OUT");
}

static bool is_of_traces(uint32_t type)
{
	return type == RECORD_AUXTRACE || type == RECORD_AUXTRACE_INFO || type == RECORD_AUX;
}

static int words_note(struct edit_aslr *x, const struct fields *it)
{
	uint64_t size =
	        it->kind == FIELD_REGISTERS ? x->stack + 1 : 1; /* one is that of the copy */

	for (size_t i = 0; i + 8 <= it->v.bytes.n; i += 8) {
		TRY(add(x, load_u64(it->v.bytes.p + i, x->swap), size));
	}
	return 0;
}

static int note(struct edit_aslr *x, const struct file *f, const struct record *r)
{
	struct fields it;

	if (is_mapping(r->type)) {
		return mapping_note(x, r, f->swap);
	}
	if (is_of_traces(r->type)) {
		return refuse(x, r->offset);
	}
	fields_begin(&it, f, r);
	while (fields_next(&it)) {
		if (it.kind == FIELD_ADDRESS || it.kind == FIELD_REGISTERS) {
			TRY(words_note(x, &it));
		}
	}
	return 0;
}

/* A copy of the kernel, which inject would put beside the output, has its addresses too. */
static int events_note(struct edit_aslr *x, const struct file *f)
{
	x->swap = f->swap;
	if (f->directory && (f->kallsyms != NULL || f->bundle != NULL)) {
		return error_set(&x->e->error, SONDE_EUNSUPPORTED, NO_OFFSET,
		        "%s has a copy of the kernel, which has its addresses; leave it out first: "
		        "sonde convert --to file -o OUT %s",
		        f->path, f->path);
	}
	for (size_t i = 0; i < f->nevents; i++) {
		const struct sonde_attr *attr = &f->events[i].attr;

		if ((attr->sample_type & SONDE_SAMPLE_AUX) != 0) {
			return refuse(x, NO_OFFSET);
		}
		if (attr->type == SONDE_TYPE_BREAKPOINT) {
			TRY(add(x, attr->config1, 1));
		}
		x->stack = (attr->sample_type & SONDE_SAMPLE_STACK_USER) != 0 &&
		                           attr->sample_stack_user > x->stack
		                   ? attr->sample_stack_user
		                   : x->stack;
	}
	return 0;
}

static int look(void *arg, struct sonde_rewriter *rw, const struct sonde_raw_record *raw)
{
	struct edit_aslr *x = arg;
	const struct file *f = reader_file(sonde_rewriter_file(rw));
	const struct record r = edit_view(raw);

	return edit_failed(x->e, rw, note(x, f, &r));
}

/* ---- between the passes ---- */

static int place(struct edit_aslr *x)
{
	struct range *code = &x->code;

	if (code->start >= IMAGE_START) {
		code->start -= code->start % CODE_GRAIN;
		code->end = VSYSCALL; /* modules and BPF programs, mapped or not */
		code->to = IMAGE_START;
	} else if (code->end != 0) {
		code->to = CODE_BASE + code->start % CODE_GRAIN;
	}
	return ranges_place(&x->user, USER_BASE, KERNEL_START) &&
	                       ranges_place(&x->data, DATA_BASE, CODE_BASE)
	               ? 0
	               : error_set(&x->e->error, SONDE_ELIMIT, NO_OFFSET,
	                         "the mappings of the recording are too large to be moved");
}

static int digit_of(char c)
{
	if (c >= '0' && c <= '9') {
		return c - '0';
	}
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads "0x" and up to 16 digits; returns the length, 0: it is something else. */
static size_t number_read(const char *s, size_t n, uint64_t *out)
{
	size_t at = 2;

	*out = 0;
	if (n < 3 || s[0] != '0' || (s[1] | 0x20) != 'x') {
		return 0;
	}
	while (at < n && at < 18 && digit_of(s[at]) >= 0) {
		*out = *out << 4 | (unsigned)digit_of(s[at++]);
	}
	return at > 2 ? at : 0;
}

/* Copies a text with other numbers for addresses, such as that in "mem:0x7ffe1000:w". */
static void text_move(const struct edit_aslr *x, struct text *out, const char *s, size_t n)
{
	for (size_t i = 0; i < n;) {
		uint64_t a;
		size_t length = number_read(s + i, n - i, &a);

		if (length != 0 && (is_user(a) || is_kernel(a)) && move(x, &a)) {
			text_0x(out, a);
			i += length;
		} else {
			text_char(out, s[i++]);
		}
	}
}

/* Returns the text with moved addresses, in the arena; NULL: out of memory. */
static const char *text_moved(struct edit_aslr *x, const char *s)
{
	struct text moved = {0};
	const char *out = NULL;

	text_move(x, &moved, s, strlen(s));
	if (!moved.failed) {
		out = arena_text(&x->e->arena, moved.p != NULL ? moved.p : "", moved.n);
	}
	text_fini(&moved);
	return out;
}

/* Events lose raw data; breakpoints move. */
static int event_change(struct edit_aslr *x, struct sonde_rewriter *rw, size_t i)
{
	const struct file_event *e = &reader_file(sonde_rewriter_file(rw))->events[i];
	struct sonde_rewriter_event changed = {.size = sizeof(changed), .attr_size = e->bytes.n};
	bool breakpoint = e->attr.type == SONDE_TYPE_BREAKPOINT;
	uint64_t address = e->attr.config1;
	uint8_t *bytes;

	if (!breakpoint && (e->attr.sample_type & SONDE_SAMPLE_RAW) == 0) {
		return 0;
	}
	bytes = arena_alloc(&x->e->arena, e->bytes.n);
	changed.attr = bytes;
	changed.name = text_moved(x, e->name);
	if (bytes == NULL || changed.name == NULL) {
		return edit_failed(x->e, rw, error_nomem(&x->e->error));
	}
	memcpy(bytes, e->bytes.p, e->bytes.n);
	store_u64(bytes + ATTR_SAMPLE_TYPE, e->attr.sample_type & ~(uint64_t)SONDE_SAMPLE_RAW,
	        x->swap);
	if (breakpoint && move(x, &address)) {
		store_u64(bytes + ATTR_ADDRESS, address, x->swap);
	}
	return sonde_rewriter_set_event(rw, i, &changed);
}

static int command_change(struct edit_aslr *x, void *value)
{
	struct feature_list *list = value;

	for (size_t i = 0; i < list->n; i++) {
		list->items[i].s = text_moved(x, list->items[i].s);
		list->items[i].raw = (struct span){0};
		TRY(list->items[i].s != NULL ? 0 : SONDE_ENOMEM);
	}
	return 0;
}

static int groups_change(struct edit_aslr *x, void *value)
{
	struct feature_groups *groups = value;

	for (size_t i = 0; i < groups->n; i++) {
		groups->items[i].name.s = text_moved(x, groups->items[i].name.s);
		groups->items[i].name.raw = (struct span){0};
		TRY(groups->items[i].name.s != NULL ? 0 : SONDE_ENOMEM);
	}
	return 0;
}

/* Features with texts in which events are named. */
static int texts_change(struct edit_aslr *x, struct sonde_rewriter *rw, const struct file *f,
        unsigned bit, int (*change)(struct edit_aslr *x, void *value))
{
	const struct feature_source source = {.bytes = file_feature(f, bit), .swap = f->swap};
	union {
		struct feature_list list;
		struct feature_groups groups;
	} value;
	struct text out = {0};
	struct span tail;
	int rc;

	if (!file_has_feature(f, bit)) {
		return 0;
	}
	rc = feature_decode(&source, bit, &x->e->arena, &value, feature_size(bit), &tail);
	if (rc == SONDE_EFORMAT) { /* nobody can read it */
		return sonde_rewriter_set_feature(rw, bit, NULL, 0);
	}
	rc = rc > 0 ? change(x, &value) : rc;
	if (rc < 0 || !feature_encode(&out, bit, &value, (struct span){0}, f->swap) || out.failed) {
		text_fini(&out);
		return edit_failed(x->e, rw, error_nomem(&x->e->error));
	}
	rc = sonde_rewriter_set_feature(rw, bit, out.p, out.n);
	text_fini(&out);
	return rc;
}

/* The digits at the start of each line become zeros: addresses of symbols and of print formats. */
static void lines_blank(char *p, size_t n)
{
	bool at_start = true;

	for (size_t i = 0; i < n; i++) {
		if (p[i] == '\n') {
			at_start = true;
		} else if (at_start && p[i] != 'x' && p[i] != ' ') {
			at_start = digit_of(p[i]) >= 0;
			if (at_start) {
				p[i] = '0';
			}
		}
	}
}

static int formats_change(struct edit_aslr *x, struct sonde_rewriter *rw, const struct file *f)
{
	const struct span all = file_feature(f, FEATURE_TRACING_DATA);
	struct edit_tracing parts;
	char *bytes;

	if (all.n == 0) {
		return 0;
	}
	bytes = arena_alloc(&x->e->arena, all.n);
	if (bytes == NULL) {
		return edit_failed(x->e, rw, error_nomem(&x->e->error));
	}
	memcpy(bytes, all.p, all.n);
	parts = edit_tracing_split(all);
	if (parts.symbols.n != 0) {
		lines_blank(bytes + (parts.symbols.p - all.p), parts.symbols.n);
	}
	if (parts.prints.n != 0) {
		lines_blank(bytes + (parts.prints.p - all.p), parts.prints.n);
	}
	return sonde_rewriter_set_feature(rw, FEATURE_TRACING_DATA, bytes, all.n);
}

static int features_change(struct edit_aslr *x, struct sonde_rewriter *rw, const struct file *f)
{
	TRY(texts_change(x, rw, f, FEATURE_CMDLINE, command_change));
	TRY(texts_change(x, rw, f, FEATURE_GROUP_DESC, groups_change));
	TRY(formats_change(x, rw, f));
	for (unsigned bit = 1; bit < FEATURE_BITS; bit++) {
		/* code of BPF programs has addresses of their data; newer features may have any */
		if (file_has_feature(f, bit) &&
		        (bit == FEATURE_BPF_PROG_INFO || bit >= FEATURE_LAST)) {
			TRY(sonde_rewriter_set_feature(rw, bit, NULL, 0));
		}
	}
	return 0;
}

static int begin(void *arg, struct sonde_rewriter *rw)
{
	struct edit_aslr *x = arg;
	const struct file *f = reader_file(sonde_rewriter_file(rw));

	TRY(edit_failed(x->e, rw, place(x)));
	for (size_t i = 0; i < f->nevents; i++) {
		TRY(event_change(x, rw, i));
	}
	return features_change(x, rw, f);
}

/* ---- the second pass ---- */

/* Words of the field that are addresses, in bytes: a number that joins two records is none. */
static size_t words_size(const struct edit_aslr *x, const struct fields *it)
{
	size_t n = it->v.bytes.n / 8 * 8;

	return it->deferred && n >= 16 && strcmp(it->part, "callchain") == 0 &&
	                       load_u64(it->v.bytes.p + n - 16, x->swap) == CALLCHAIN_DEFERRED
	               ? n - 8
	               : n;
}

/* Moves the words of a field; an address that the first pass did not see becomes zero. */
static void words_change(const struct edit_aslr *x, const struct fields *it, uint8_t *p)
{
	size_t n = words_size(x, it);

	for (size_t i = 0; i < n; i += 8) {
		uint64_t a = load_u64(p + i, x->swap);

		store_u64(p + i, move(x, &a) ? a : 0, x->swap);
	}
}

/* The words of 32-bit programs are too small for the addresses of the output. */
static void stack_change(const struct edit_aslr *x, const struct fields *it, uint8_t *p)
{
	size_t whole = it->abi == RECORD_REGS_ABI_64 ? it->v.bytes.n / 8 * 8 : 0;

	for (size_t i = 0; i < whole; i += 8) {
		uint64_t a = load_u64(p + i, x->swap);

		store_u64(p + i, (is_user(a) || is_kernel(a)) && move(x, &a) ? a : 0, x->swap);
	}
	memset(p + whole, 0, it->v.bytes.n - whole);
}

/* Changes the fields of a record in `bytes`. False: it does not fit its fields. */
static bool fields_change(const struct edit_aslr *x, const struct file *f, const struct record *r,
        uint8_t *bytes, struct span *raw)
{
	struct fields it;

	fields_begin(&it, f, r);
	while (fields_next(&it)) {
		uint8_t *p = bytes + RECORD_HEADER_SIZE + (it.v.bytes.p - r->body.p);

		switch (it.kind) {
		case FIELD_ADDRESS:
		case FIELD_REGISTERS: words_change(x, &it, p); break;
		case FIELD_STACK: stack_change(x, &it, p); break;
		case FIELD_REST: memset(p, 0, it.v.bytes.n); break;
		case FIELD_OTHER: break;
		}
	}
	*raw = it.raw;
	return !it.walk.bad;
}

/*
 * The offset in the file; of the kernel's code and of memory without a file it is an address, which
 * may be an older one of a mapping that was moved.
 */
static void mapping_change(const struct edit_aslr *x, const struct record *r, uint8_t *bytes)
{
	uint8_t *p = bytes + RECORD_HEADER_SIZE + MMAP_PGOFF;
	uint64_t a = load_u64(p, x->swap);
	struct record_mmap m;
	bool named;

	if (!record_mmap_decode(r, x->swap, &m)) {
		return;
	}
	named = m.name.n > 1 && m.name.p[0] == '/' && m.name.p[1] != '/';
	if (is_kernel(a) || (is_user(a) && !named)) {
		store_u64(p, move(x, &a) ? a : 0, x->swap);
	}
}

/* A name of an event: u64 type, u64 id, text. */
static int name_put(
        struct edit_aslr *x, struct sonde_rewriter *rw, const struct sonde_raw_record *raw)
{
	struct sonde_raw_record made = *raw;
	struct text out = {0};
	int rc;

	text_bytes(&out, raw->bytes, RECORD_HEADER_SIZE + UPDATE_TEXT);
	text_move(x, &out, (const char *)raw->bytes + out.n,
	        strnlen((const char *)raw->bytes + out.n, raw->size - out.n));
	text_fill(&out, '\0', 8 - out.n % 8);
	if (out.failed) {
		text_fini(&out);
		return edit_failed(x->e, rw, error_nomem(&x->e->error));
	}
	store_u16((uint8_t *)out.p + 6, (uint16_t)out.n, x->swap);
	made.bytes = out.p;
	made.size = out.n;
	rc = out.n <= UINT16_MAX ? sonde_rewriter_put(rw, &made) : 0;
	text_fini(&out);
	return rc;
}

static bool is_name(const struct record *r, bool swap)
{
	return r->type == RECORD_EVENT_UPDATE && r->body.n > UPDATE_TEXT &&
	       load_u64(r->body.p, swap) == UPDATE_NAME;
}

static int record(void *arg, struct sonde_rewriter *rw, const struct sonde_raw_record *raw)
{
	struct edit_aslr *x = arg;
	const struct file *f = reader_file(sonde_rewriter_file(rw));
	const struct record r = edit_view(raw);
	struct sonde_raw_record made = *raw;
	uint8_t *p = x->e->room;
	struct span cut;
	size_t from;

	if (is_name(&r, f->swap)) {
		return name_put(x, rw, raw);
	}
	memcpy(p, raw->bytes, raw->size);
	if (layout_of_record(r.type) == NULL || !fields_change(x, f, &r, p, &cut)) {
		diag_report(f->diags, SONDE_DIAG_DAMAGED, raw->position,
		        "a record of type %u, which may have addresses, is left out: it is unknown "
		        "or does not fit its fields",
		        r.type);
		return 0;
	}
	if (is_mapping(r.type)) {
		mapping_change(x, &r, p);
	}
	from = cut.n != 0 ? RECORD_HEADER_SIZE + (size_t)(cut.p - r.body.p) : raw->size;
	memmove(p + from, p + from + cut.n, raw->size - from - cut.n);
	made.bytes = p;
	made.size = raw->size - cut.n;
	store_u16(p + 6, (uint16_t)made.size, f->swap);
	return sonde_rewriter_put(rw, &made);
}

int edit_aslr_stage(struct sonde_editor *e, struct sonde_rewriter *rw)
{
	struct sonde_rewriter_stage stage = {
	        .size = sizeof(stage), .look = look, .begin = begin, .record = record};

	e->aslr = calloc(1, sizeof(*e->aslr));
	if (e->aslr == NULL) {
		return error_nomem(&e->error);
	}
	e->aslr->e = e;
	stage.arg = e->aslr;
	TRY(events_note(e->aslr, reader_file(sonde_rewriter_file(rw))));
	return sonde_rewriter_add(rw, &stage);
}

void edit_aslr_fini(struct sonde_editor *e)
{
	if (e->aslr != NULL) {
		ranges_fini(&e->aslr->user);
		ranges_fini(&e->aslr->data);
	}
	free(e->aslr);
}
