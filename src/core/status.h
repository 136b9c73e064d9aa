/* SPDX-License-Identifier: MIT */
/* Errors as a status plus causes in words, and a sink that counts diagnostics. */
#ifndef SONDE_CORE_STATUS_H
#define SONDE_CORE_STATUS_H

#include <sonde/base.h>

#include <stdarg.h>

#define ERROR_TEXT_MAX  1024
#define ERROR_CHAIN_MAX 4
#define NO_OFFSET       UINT64_MAX

/* Returns a negative status to the caller. */
#define TRY(expr)                                                                                  \
	do {                                                                                       \
		int try_rc_ = (expr);                                                              \
		if (try_rc_ < 0) {                                                                 \
			return try_rc_;                                                            \
		}                                                                                  \
	} while (0)

/*
 * The last failure of a handle with its causes; none when zero-initialised. It holds pointers into
 * itself: copy it with error_take only.
 */
struct error {
	struct sonde_error chain[ERROR_CHAIN_MAX]; /* the failure, its cause, the cause of that */
	char text[ERROR_TEXT_MAX]; /* "FAILURE: CAUSE: CAUSE"; the text of each cause is its end */
};

/* What a handle returns to its user; never NULL, lives as long as err. */
const struct sonde_error *error_show(const struct error *err);

static inline int error_status(const struct error *err)
{
	return err->chain[0].status;
}

/* Starts a new failure; returns status, for `return error_set(...)`. */
int error_set(struct error *err, int status, uint64_t offset, const char *fmt, ...)
        __attribute__((format(printf, 4, 5)));

/* The same for a system call that failed with errno `why`, which becomes the cause. */
int error_errno(struct error *err, int status, int why, const char *fmt, ...)
        __attribute__((format(printf, 4, 5)));

/*
 * Makes the failure in err the cause of a wider one: these words, ": " and the text so far, with the
 * same status and offset.
 */
int error_wrap(struct error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Appends to the text, and so to that of every cause: what to do about it. */
int error_append(struct error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int error_append_v(struct error *err, const char *fmt, va_list ap)
        __attribute__((format(printf, 2, 0)));

/* Copies a failure with its causes, of any handle; returns its status. */
int error_take(struct error *err, const struct sonde_error *from);

int error_nomem(struct error *err);

/* Sets the standard text of a failed call's status unless err is of that status; returns status. */
int error_ensure(struct error *err, int status);

/* Sets the standard text of SONDE_ENOMEM or SONDE_EOUTPUT. Returns status. */
int error_plain(struct error *err, int status);

/* The status that fits an errno best. */
int status_of_errno(int why);

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
