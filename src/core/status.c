/* SPDX-License-Identifier: MIT */
#include "core/status.h"

#include "core/escape.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

const char *sonde_status_text(int status)
{
	static const char *const texts[] = {
	        "success",
	        "out of memory",
	        "input/output error",
	        "bad format",
	        "not supported here",
	        "limit passed",
	        "bad argument",
	        "interrupted",
	        "not permitted",
	        "does not exist",
	        "the output was not taken",
	};
	size_t i = status > 0 ? 0 : (size_t) - (long)status;

	return i < sizeof(texts) / sizeof(texts[0]) ? texts[i] : "unknown status";
}

const char *sonde_version(void)
{
	return SONDE_VERSION;
}

const struct sonde_error *error_show(const struct error *err)
{
	static const struct sonde_error nothing = {.offset = NO_OFFSET, .text = ""};

	return err->chain[0].text != NULL ? err->chain : &nothing;
}

/* Names from recordings are in these texts, which users see on a terminal. */
static void make_plain(char *text)
{
	escape_plain_lines(text, strlen(text));
}

/* A failure without a cause, whose words are in err->text. */
static int begin(struct error *err, int status, uint64_t offset)
{
	memset(err->chain, 0, sizeof(err->chain));
	err->chain[0] = (struct sonde_error){.status = status, .offset = offset, .text = err->text};
	return status;
}

static int __attribute__((format(printf, 2, 0)))
wrap(struct error *err, const char *fmt, va_list ap)
{
	struct sonde_error *chain = err->chain;
	char inner[ERROR_TEXT_MAX];
	int n;

	memcpy(inner, err->text, sizeof(inner));
	n = vsnprintf(err->text, sizeof(err->text), fmt, ap);
	make_plain(err->text);
	if (n < 0 || (size_t)n + 2 >= sizeof(err->text)) {
		return begin(err, chain->status, chain->offset); /* no room for the cause */
	}
	(void)snprintf(err->text + n, sizeof(err->text) - (size_t)n, ": %s", inner);
	memmove(chain + 1, chain, (ERROR_CHAIN_MAX - 1) * sizeof(*chain));
	chain[0].text = err->text;
	for (size_t i = 1; i < ERROR_CHAIN_MAX && chain[i].text != NULL; i++) {
		size_t at = (size_t)(chain[i].text - err->text) + (size_t)n + 2;

		chain[i].text = err->text + (at < sizeof(err->text) ? at : sizeof(err->text) - 1);
		chain[i].cause = NULL;
		chain[i - 1].cause = &chain[i];
	}
	return chain->status;
}

int error_set(struct error *err, int status, uint64_t offset, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	make_plain(err->text);
	return begin(err, status, offset);
}

int error_wrap(struct error *err, const char *fmt, ...)
{
	va_list ap;
	int status;

	va_start(ap, fmt);
	status = wrap(err, fmt, ap);
	va_end(ap);
	return status;
}

int error_errno(struct error *err, int status, int why, const char *fmt, ...)
{
	va_list ap;

	(void)error_set(err, status_of_errno(why), NO_OFFSET, "%s", strerror(why));
	va_start(ap, fmt);
	(void)wrap(err, fmt, ap);
	va_end(ap);
	return err->chain[0].status = status;
}

int error_append_v(struct error *err, const char *fmt, va_list ap)
{
	size_t n = strlen(err->text);

	(void)vsnprintf(err->text + n, sizeof(err->text) - n, fmt, ap);
	make_plain(err->text + n);
	return error_status(err);
}

int error_append(struct error *err, const char *fmt, ...)
{
	va_list ap;
	int status;

	va_start(ap, fmt);
	status = error_append_v(err, fmt, ap);
	va_end(ap);
	return status;
}

int error_take(struct error *err, const struct sonde_error *from)
{
	size_t n = strlen(from->text), left;

	memset(err->chain, 0, sizeof(err->chain));
	(void)snprintf(err->text, sizeof(err->text), "%s", from->text);
	for (size_t i = 0; from != NULL && i < ERROR_CHAIN_MAX; i++, from = from->cause) {
		left = strlen(from->text);
		err->chain[i] = (struct sonde_error){.status = from->status,
		        .offset = from->offset,
		        .text = err->text + (n - (left < n ? left : n))};
		if (i != 0) {
			err->chain[i - 1].cause = &err->chain[i];
		}
	}
	return error_status(err);
}

int status_of_errno(int why)
{
	switch (why) {
	case ENOMEM: return SONDE_ENOMEM;
	case EACCES:
	case EPERM:
	case EROFS: return SONDE_EPERM;
	case ENOENT:
	case ENOTDIR: return SONDE_ENOENT;
	case EMFILE:
	case ENFILE: return SONDE_ELIMIT;
	case EINVAL: return SONDE_EARG;
	case ENOSYS:
	case EOPNOTSUPP: return SONDE_EUNSUPPORTED;
	default: return SONDE_EIO;
	}
}

int error_nomem(struct error *err)
{
	return error_set(err, SONDE_ENOMEM, NO_OFFSET, "out of memory");
}

int error_ensure(struct error *err, int status)
{
	if (error_status(err) == status) {
		return status;
	}
	return error_set(err, status, NO_OFFSET, "%s", sonde_status_text(status));
}

int error_plain(struct error *err, int status)
{
	if (status == SONDE_ENOMEM || status == SONDE_EOUTPUT) {
		return error_set(err, status, NO_OFFSET, "%s", sonde_status_text(status));
	}
	return status;
}

void diag_report(
        struct diag_sink *sink, enum sonde_diag_kind kind, uint64_t offset, const char *fmt, ...)
{
	char text[512];
	struct sonde_diag diag = {.kind = kind, .offset = offset, .detail = text};
	va_list ap;

	sink->counts[kind]++;
	if (sink->fn == NULL) {
		return;
	}
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	escape_plain(text, strlen(text));
	sink->fn(sink->arg, &diag);
}
