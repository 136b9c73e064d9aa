/* SPDX-License-Identifier: MIT */
/* Errors as a status plus causes in words, and a sink that counts diagnostics. */
#ifndef SONDE_CORE_STATUS_H
#define SONDE_CORE_STATUS_H

#include <sonde/base.h>

#include <stdarg.h>

#define ERROR_TEXT_MAX 1024
#define NO_OFFSET      UINT64_MAX

/* Returns a negative status to the caller. */
#define TRY(expr)                                                                                  \
	do {                                                                                       \
		int try_rc_ = (expr);                                                              \
		if (try_rc_ < 0) {                                                                 \
			return try_rc_;                                                            \
		}                                                                                  \
	} while (0)

/* The last failure of a handle; none when zero-initialised. */
struct error {
	int status;
	uint64_t offset;
	char text[ERROR_TEXT_MAX];
};

/* Starts a new failure; returns status, for `return error_set(...)`. */
int error_set(struct error *err, int status, uint64_t offset, const char *fmt, ...)
        __attribute__((format(printf, 4, 5)));

/* Prepends a wider cause to the text ("cannot report FILE: " ...). */
int error_wrap(struct error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

int error_nomem(struct error *err);

/* Sets the standard text of SONDE_ENOMEM or SONDE_EOUTPUT. Returns status. */
int error_plain(struct error *err, int status);

/* The status for the result of a caller's output function: any negative number is a failure. */
static inline int status_of_output(int rc)
{
	return rc < 0 ? SONDE_EOUTPUT : 0;
}

/* Counts diagnostics and passes them to the user's function; for one thread. */
struct diag_sink {
	sonde_diag_fn fn; /* may be NULL */
	void *arg;
	uint64_t counts[SONDE_DIAG_KINDS];
};

void diag_report(struct diag_sink *sink, enum sonde_diag_kind kind, uint64_t offset,
        const char *fmt, ...) __attribute__((format(printf, 4, 5)));

#endif
