/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* asprintf */
#include "fail.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Atomic uint64_t count, wanted;
static _Atomic int64_t live;
static atomic_bool hit, tracing;

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__real_aligned_alloc(size_t alignment, size_t n);
void __real_free(void *p);
char *__real_strdup(const char *s);
char *__real_strndup(const char *s, size_t n);
char *__real_realpath(const char *path, char *out);
ssize_t __real_getline(char **line, size_t *n, FILE *f);

void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
void *__wrap_aligned_alloc(size_t alignment, size_t n);
void __wrap_free(void *p);
char *__wrap_strdup(const char *s);
char *__wrap_strndup(const char *s, size_t n);
char *__wrap_realpath(const char *path, char *out);
ssize_t __wrap_getline(char **line, size_t *n, FILE *f);
int __wrap_asprintf(char **out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

void __sanitizer_print_stack_trace(void) __attribute__((weak));

void fail_at(uint64_t nth, bool trace)
{
	atomic_store(&count, 0);
	atomic_store(&wanted, nth);
	atomic_store(&tracing, trace);
	atomic_store(&hit, false);
}

bool fail_end(void)
{
	atomic_store(&wanted, 0);
	return atomic_load(&hit);
}

uint64_t fail_count(void)
{
	return atomic_load(&count);
}

int64_t fail_live(void)
{
	return atomic_load(&live);
}

static bool fails(void)
{
	uint64_t number = atomic_fetch_add(&count, 1) + 1;

	if (number != atomic_load(&wanted)) {
		return false;
	}
	atomic_store(&hit, true);
	if (atomic_load(&tracing) && __sanitizer_print_stack_trace != NULL) {
		__sanitizer_print_stack_trace();
	}
	errno = ENOMEM;
	return true;
}

static void *counted(void *p)
{
	atomic_fetch_add(&live, p != NULL);
	return p;
}

void *__wrap_malloc(size_t n)
{
	return fails() ? NULL : counted(__real_malloc(n));
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : counted(__real_calloc(n, size));
}

void *__wrap_realloc(void *p, size_t n)
{
	if (fails()) {
		return NULL;
	}
	return p != NULL ? __real_realloc(p, n) : counted(__real_realloc(p, n));
}

void *__wrap_aligned_alloc(size_t alignment, size_t n)
{
	return fails() ? NULL : counted(__real_aligned_alloc(alignment, n));
}

void __wrap_free(void *p)
{
	atomic_fetch_sub(&live, p != NULL);
	__real_free(p);
}

char *__wrap_strdup(const char *s)
{
	return fails() ? NULL : counted(__real_strdup(s));
}

char *__wrap_realpath(const char *path, char *out)
{
	if (out != NULL) {
		return __real_realpath(path, out);
	}
	return fails() ? NULL : counted(__real_realpath(path, NULL));
}

char *__wrap_strndup(const char *s, size_t n)
{
	return fails() ? NULL : counted(__real_strndup(s, n));
}

int __wrap_asprintf(char **out, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (fails()) {
		return -1;
	}
	va_start(ap, fmt);
	n = vasprintf(out, fmt, ap);
	va_end(ap);
	atomic_fetch_add(&live, n >= 0);
	return n;
}

/* The line is a block of libc's that the caller frees. */
ssize_t __wrap_getline(char **line, size_t *n, FILE *f)
{
	const char *before = *line;
	ssize_t got;

	if (before == NULL && fails()) {
		return -1;
	}
	got = __real_getline(line, n, f);
	atomic_fetch_add(&live, before == NULL && *line != NULL);
	return got;
}
