/* SPDX-License-Identifier: MIT */
/*
 * A growing text buffer with fast formatting of numbers, used on the hot paths of script and
 * report. When out of memory the buffer keeps its contents, `failed` is set and further writes do
 * nothing, so that a writer checks once at the end. Not NUL-terminated.
 */
#ifndef SONDE_CORE_TEXT_H
#define SONDE_CORE_TEXT_H

#include <sonde/base.h>

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Empty when zero-initialised. */
struct text {
	char *p;
	size_t n;
	size_t cap;
	bool failed;
};

void text_fini(struct text *t);

/*
 * Passes the text to `write` and empties it, if there are more than `above` bytes. 0, SONDE_ENOMEM
 * if `failed` is set, SONDE_EOUTPUT.
 */
int text_flush(struct text *t, size_t above, sonde_write_fn write, void *arg);

bool text_grow(struct text *t, size_t more);

/* Returns room for `more` bytes after the end, or NULL. */
static inline char *text_room(struct text *t, size_t more)
{
	if ((t->cap - t->n < more || t->p == NULL) && !text_grow(t, more)) {
		return NULL;
	}
	return t->p + t->n;
}

static inline void text_bytes(struct text *t, const char *s, size_t n)
{
	char *p = n != 0 ? text_room(t, n) : NULL;

	if (p != NULL) {
		memcpy(p, s, n);
		t->n += n;
	}
}

static inline void text_str(struct text *t, const char *s)
{
	text_bytes(t, s, strlen(s));
}

static inline void text_char(struct text *t, char c)
{
	char *p = text_room(t, 1);

	if (p != NULL) {
		*p = c;
		t->n++;
	}
}

void text_fill(struct text *t, char c, size_t n);

/* As printf's %*s (right-aligned; left-aligned when width is negative). */
void text_padded(struct text *t, const char *s, int width);

/*
 * Decimal and hexadecimal, right-aligned in `width` with `pad` (' ' or '0'); width 0: no padding.
 */
void text_u64(struct text *t, uint64_t v, unsigned width, char pad);
void text_hex(struct text *t, uint64_t v, unsigned width, char pad);

/* Writes a hexadecimal number, right-aligned in 16 bytes; returns what is after it. */
char *text_put_hex16(char *p, uint64_t v);

static inline void text_hex16(struct text *t, uint64_t v)
{
	char *p = text_room(t, 16);

	if (p != NULL) {
		(void)text_put_hex16(p, v);
		t->n += 16;
	}
}

/* "0x" and the number. */
static inline void text_0x(struct text *t, uint64_t v)
{
	text_bytes(t, "0x", 2);
	text_hex(t, v, 0, '0');
}

/* Two digits for each byte. */
void text_hex_bytes(struct text *t, const void *bytes, size_t n);

/* As printf's %*.2f of 100 * part / total (0 when total is 0). */
void text_percent(struct text *t, uint64_t part, uint64_t total, unsigned width);

void text_printf(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void text_vprintf(struct text *t, const char *fmt, va_list ap)
        __attribute__((format(printf, 2, 0)));

#endif
