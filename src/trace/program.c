/* SPDX-License-Identifier: MIT */
#include "trace/program.h"

#include "trace/print.h"
#include "trace/value.h"

#include <assert.h>

/* A value on the stack: a number, or a text that is made when it is printed. */
struct value {
	uint64_t number; /* or bytes of a text, or elements of an array */
	const uint8_t *p; /* of a text or array */
	const struct names *names; /* NULL: none */
	uint8_t kind; /* DO_TEXT: up to a NUL; DO_FLAGS, DO_SYMBOL, DO_HEX, DO_NUMBERS */
	uint8_t size; /* of elements */
};

struct machine {
	const struct trace_set *set;
	const struct trace_text_options *options;
	struct text *out;
	struct span data;
	bool swap;
	bool missing; /* bytes of the data */
	struct value *top; /* the next free one */
	struct value stack[STACK_MAX];
};

uint64_t trace_operate(unsigned operation, uint64_t a, uint64_t b)
{
	switch (operation) {
	case DO_NOT: return a == 0;
	case DO_INVERT: return ~a;
	case DO_MULTIPLY: return a * b;
	case DO_DIVIDE: return b != 0 ? a / b : 0;
	case DO_REMAINDER: return b != 0 ? a % b : 0;
	case DO_ADD: return a + b;
	case DO_SUBTRACT: return a - b;
	case DO_LEFT: return a << (b & 63);
	case DO_RIGHT: return a >> (b & 63);
	case DO_LESS: return a < b;
	case DO_LESS_EQUAL: return a <= b;
	case DO_GREATER: return a > b;
	case DO_GREATER_EQUAL: return a >= b;
	case DO_EQUAL: return a == b;
	case DO_UNEQUAL: return a != b;
	case DO_BITS_AND: return a & b;
	case DO_BITS_OR: return a | b;
	case DO_AND: return a != 0 && b != 0;
	case DO_OR: return a != 0 || b != 0;
	default: return 0;
	}
}

static uint64_t load(const uint8_t *p, unsigned size, bool swap)
{
	switch (size) {
	case 1: return *p;
	case 2: return load_u16(p, swap);
	case 4: return load_u32(p, swap);
	default: return load_u64(p, swap);
	}
}

/* The value at the top, or `below` it; the compiler has counted them. */
static struct value *value_at(struct machine *m, unsigned below)
{
	assert(m->top - m->stack > (ptrdiff_t)below);
	return m->top - 1 - below;
}

static void push_number(struct machine *m, uint64_t number)
{
	*m->top++ = (struct value){.number = number};
}

static void push_text(struct machine *m, const void *p, size_t n)
{
	*m->top++ = (struct value){.kind = DO_TEXT, .p = p, .number = n};
}

/* The bytes that a dynamic field refers to: a text ends with a NUL, not with its size. */
static void push_dynamic(struct machine *m, const struct instruction *i)
{
	uint64_t where = load_u32(m->data.p + i->at, m->swap), offset = where & 0xffff;

	offset += i->size != 0 ? i->at + 4 : 0;
	if (offset > m->data.n) {
		m->missing = true;
		offset = m->data.n;
	}
	push_text(m, m->data.p + offset, where >> 16 != 0 ? m->data.n - (size_t)offset : 0);
}

static void put_element(struct machine *m, const struct instruction *i)
{
	struct value *index = value_at(m, 0);
	uint64_t offset = index->number * i->size;

	if (index->number >= i->number || offset + i->size > i->number) {
		m->missing = true;
		index->number = 0;
		return;
	}
	index->number = load(m->data.p + i->at + offset, i->size, m->swap);
}

/* Pops a length, and leaves the bytes as a text of that many elements. */
static void make_array(struct machine *m, const struct instruction *i)
{
	struct value *bytes = value_at(m, 1);

	assert(bytes->p != NULL);
	bytes->number = value_at(m, 0)->number;
	bytes->kind = i->operation;
	bytes->size = i->size;
	m->top--;
}

static void put_flags(struct text *out, struct style style, const struct value *v, size_t limit)
{
	const struct names *names = v->names;
	uint64_t left = v->number;
	bool any = false;

	for (size_t i = 0; i < names->n; i++) {
		const struct name *name = &names->list[i];
		size_t n = name->n < limit ? name->n : limit;

		if (name->value > INT64_MAX) { /* not known, or negative: the name of no bits */
			if (left == 0) {
				print_padded(out, style, name->text, n);
				return;
			}
		} else if (name->value != 0 && (left & name->value) == name->value) {
			if (any) {
				text_bytes(
				        out, (const char *)names->delimiter.p, names->delimiter.n);
			}
			print_padded(out, style, name->text, n);
			any = true;
			left &= ~name->value;
		}
	}
	if (left != 0) {
		if (any) {
			text_bytes(out, (const char *)names->delimiter.p, names->delimiter.n);
		}
		text_0x(out, left);
	}
}

static void put_symbol(struct text *out, struct style style, const struct value *v, size_t limit)
{
	for (size_t i = 0; i < v->names->n; i++) {
		const struct name *name = &v->names->list[i];

		if (name->value == v->number) {
			print_padded(out, style, name->text, name->n < limit ? name->n : limit);
			return;
		}
	}
	text_0x(out, v->number);
}

static void put_hex(struct machine *m, const struct value *v)
{
	size_t left = (size_t)(m->data.p + m->data.n - v->p);

	if (v->number > left) {
		m->missing = true;
		return;
	}
	for (size_t i = 0; i < v->number; i++) {
		text_str(m->out, i != 0 && v->kind == DO_HEX ? " " : "");
		text_hex(m->out, v->p[i], 2, '0');
	}
}

static void put_numbers(struct machine *m, const struct value *v)
{
	size_t left = (size_t)(m->data.p + m->data.n - v->p);

	if (v->number > left / v->size) {
		m->missing = true;
		return;
	}
	for (size_t i = 0; i < v->number; i++) {
		text_str(m->out, i != 0 ? " " : "");
		text_u64(m->out, load(v->p + i * v->size, v->size, m->swap), 0, ' ');
	}
}

static void put_constant(struct machine *m, uint64_t address)
{
	struct span text = trace_set_constant(m->set, address);

	if (text.p != NULL) {
		text_bytes(m->out, (const char *)text.p, text.n);
	} else {
		text_hex(m->out, address, 0, ' ');
	}
}

static void put_string(struct machine *m, struct style style, const struct value *v, size_t limit)
{
	size_t n;

	switch (v->kind) {
	case DO_FLAGS: put_flags(m->out, style, v, limit); break;
	case DO_SYMBOL: put_symbol(m->out, style, v, limit); break;
	case DO_CONSTANT: put_constant(m, v->number); break;
	case DO_NOTHING: break;
	case DO_HEX:
	case DO_HEX_JOINED: put_hex(m, v); break;
	case DO_NUMBERS: put_numbers(m, v); break;
	default:
		assert(v->p != NULL);
		n = v->number < limit ? (size_t)v->number : limit;
		print_padded(m->out, style, v->p, strnlen((const char *)v->p, n));
	}
}

/* A text up to a length, which is an int. */
static void put_prefix(
        struct machine *m, struct style style, uint64_t length, const struct value *text)
{
	int32_t limit = (int32_t)length;

	if (limit < 0) {
		m->missing = true;
	} else {
		put_string(m, style, text, (size_t)limit);
	}
}

static void put_function(struct machine *m, uint64_t address, bool offset)
{
	struct trace_symbol symbol;

	if (m->options->find == NULL || !m->options->find(m->options->arg, address, &symbol)) {
		text_0x(m->out, address);
		return;
	}
	text_str(m->out, symbol.name);
	if (offset) {
		text_str(m->out, "+");
		text_0x(m->out, address - symbol.start);
	}
}

/* Copies 8 bytes, of which `at` are the text: that takes one store. */
static void put_short(struct text *out, const struct instruction *i)
{
	char *p = text_room(out, sizeof(i->letters));

	if (p != NULL) {
		memcpy(p, i->letters, sizeof(i->letters));
		out->n += i->at;
	}
}

/* Instructions that print. */
static void put(struct machine *m, const struct instruction *i)
{
	const struct value *v;

	switch (i->operation) {
	case DO_PUT_TEXT: text_bytes(m->out, i->text, i->at); return;
	case DO_PUT_SHORT: put_short(m->out, i); return;
	case DO_PUT_FIELD:
		print_number(m->out, i->style, load(m->data.p + i->at, i->size, m->swap));
		return;
	default: v = value_at(m, 0);
	}
	switch (i->operation) {
	case DO_PUT_NUMBER: print_number(m->out, i->style, v->number); break;
	case DO_PUT_STRING: put_string(m, i->style, v, SIZE_MAX); break;
	case DO_PUT_PREFIX:
		put_prefix(m, i->style, value_at(m, 1)->number, v);
		m->top--;
		break;
	case DO_PUT_POINTER: print_pointer(m->out, v->number); break;
	case DO_PUT_FUNCTION: put_function(m, v->number, i->size != 0); break;
	case DO_PUT_UUID: print_uuid(m->out, v->p); break;
	case DO_PUT_IPV4: print_ipv4(m->out, v->p); break;
	default: print_ipv6(m->out, v->p);
	}
	m->top--;
}

static uint64_t lower(uint64_t v, unsigned bytes)
{
	return v & (UINT64_MAX >> (64 - 8 * bytes));
}

static void step(struct machine *m, const struct instruction *i)
{
	struct value *v;

	switch (i->operation) {
	case DO_NUMBER: push_number(m, i->number); break;
	case DO_FIELD: push_number(m, load(m->data.p + i->at, i->size, m->swap)); break;
	case DO_LENGTH: push_number(m, load_u32(m->data.p + i->at, m->swap) >> 16); break;
	case DO_TEXT: push_text(m, i->text, i->at); break;
	case DO_NOTHING: *m->top++ = (struct value){.kind = DO_NOTHING}; break;
	case DO_ARRAY: push_text(m, m->data.p + i->at, (size_t)i->number); break;
	case DO_DYNAMIC:
	case DO_STRING: push_dynamic(m, i); break;
	case DO_ELEMENT: put_element(m, i); break;
	case DO_CAST: value_at(m, 0)->number = lower(value_at(m, 0)->number, i->size); break;
	case DO_NOT:
	case DO_INVERT:
		v = value_at(m, 0);
		v->number = trace_operate(i->operation, v->number, 0);
		break;
	case DO_SELECT:
		v = value_at(m, 2);
		*v = v->number != 0 ? v[1] : v[2];
		m->top -= 2;
		break;
	case DO_FLAGS:
	case DO_SYMBOL:
		value_at(m, 0)->kind = i->operation;
		value_at(m, 0)->names = i->names;
		break;
	case DO_CONSTANT: value_at(m, 0)->kind = DO_CONSTANT; break;
	case DO_HEX:
	case DO_HEX_JOINED:
	case DO_NUMBERS: make_array(m, i); break;
	default:
		v = value_at(m, 1);
		v->number = trace_operate(i->operation, v->number, v[1].number);
		m->top--;
	}
}

bool trace_program_put(const struct trace_program *p, const struct trace_set *s, struct span data,
        const struct trace_text_options *o, struct text *out)
{
	const size_t n = out->n;
	struct machine m;

	if (data.n < p->extent) {
		return false;
	}
	m.set = s;
	m.options = o;
	m.out = out;
	m.data = data;
	m.swap = s->big_endian != HOST_BIG_ENDIAN;
	m.missing = false;
	m.top = m.stack;
	for (uint32_t i = 0; i < p->n; i++) {
		if (p->code[i].operation >= DO_PUT_TEXT) {
			put(&m, &p->code[i]);
		} else {
			step(&m, &p->code[i]);
		}
	}
	out->n = m.missing ? n : out->n;
	return !m.missing;
}
