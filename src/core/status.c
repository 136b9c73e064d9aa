/* SPDX-License-Identifier: MIT */
#include "core/status.h"

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

int error_set(struct error *err, int status, uint64_t offset, const char *fmt, ...)
{
	va_list ap;

	err->status = status;
	err->offset = offset;
	va_start(ap, fmt);
	(void)vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	return status;
}

int error_wrap(struct error *err, const char *fmt, ...)
{
	char inner[ERROR_TEXT_MAX];
	va_list ap;
	int n;

	memcpy(inner, err->text, sizeof(inner));
	va_start(ap, fmt);
	n = vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < sizeof(err->text)) {
		(void)snprintf(err->text + n, sizeof(err->text) - (size_t)n, "%s", inner);
	}
	return err->status;
}

int error_nomem(struct error *err)
{
	return error_set(err, SONDE_ENOMEM, NO_OFFSET, "out of memory");
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
	sink->fn(sink->arg, &diag);
}
