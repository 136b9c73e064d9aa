/* SPDX-License-Identifier: MIT */
/* Writes tar archives: no times, owners or modes of the files, so that the same input makes the same bytes. */
#include "bundle/bundle.h"
#include "bundle/tar.h"
#include "core/fd.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

static int put(struct bundle_writer *w, const void *bytes, size_t n, struct error *err)
{
	if (!fd_write(w->fd, bytes, n)) {
		return error_errno(err, SONDE_EOUTPUT, errno, "cannot write the bundle");
	}
	w->written += n;
	return 0;
}

/* Fills the last block of a member. */
static int pad(struct bundle_writer *w, size_t n, struct error *err)
{
	static const uint8_t zero[TAR_BLOCK];

	return put(w, zero, (TAR_BLOCK - n % TAR_BLOCK) % TAR_BLOCK, err);
}

/*
 * Returns the length of the prefix of a name that does not fit the field for names; 0: it does, or
 * cannot be divided.
 */
static size_t prefix_of(const char *name)
{
	size_t n = strlen(name);
	const char *slash = n > TAR_NAME_SIZE ? strchr(name + n - TAR_NAME_SIZE - 1, '/') : NULL;

	return slash != NULL && (size_t)(slash - name) <= TAR_PREFIX_SIZE ? (size_t)(slash - name)
	                                                                  : 0;
}

static bool fits(const char *name, uint64_t size)
{
	return size <= TAR_OCTAL_MAX && (strlen(name) <= TAR_NAME_SIZE || prefix_of(name) != 0);
}

static int header_put(
        struct bundle_writer *w, const char *name, uint64_t size, char type, struct error *err)
{
	uint8_t h[TAR_BLOCK + 1] = {0}; /* snprintf ends texts with a NUL */
	size_t prefix = prefix_of(name);
	const char *rest = prefix != 0 ? name + prefix + 1 : name;
	size_t n = strlen(rest);
	unsigned sum = 0;

	memcpy(h + TAR_NAME, rest, n < TAR_NAME_SIZE ? n : TAR_NAME_SIZE);
	memcpy(h + TAR_PREFIX, name, prefix);
	(void)snprintf((char *)h + TAR_MODE, 8, "0000644");
	(void)snprintf((char *)h + TAR_UID, 8, "0000000");
	(void)snprintf((char *)h + TAR_GID, 8, "0000000");
	(void)snprintf((char *)h + TAR_SIZE, TAR_SIZE_SIZE, "%011" PRIo64,
	        size <= TAR_OCTAL_MAX ? size : 0);
	(void)snprintf((char *)h + TAR_MTIME, 12, "00000000000");
	memcpy(h + TAR_MAGIC, "ustar", 6);
	memcpy(h + TAR_VERSION, "00", 2);
	h[TAR_TYPE] = (uint8_t)type;
	memset(h + TAR_SUM, ' ', TAR_SUM_SIZE);
	for (size_t i = 0; i < TAR_BLOCK; i++) {
		sum += h[i];
	}
	(void)snprintf((char *)h + TAR_SUM, TAR_SUM_SIZE, "%06o", sum & 0777777u);
	return put(w, h, TAR_BLOCK, err);
}

/* Appends a record "SIZE KEY=VALUE\n"; the size counts its own digits. */
static size_t record_put(char *out, size_t room, const char *key, const char *value)
{
	size_t rest = strlen(key) + strlen(value) + 3, size = rest + 1;
	char digits[24];

	while (size != rest + (size_t)snprintf(digits, sizeof(digits), "%zu", size)) {
		size = rest + strlen(digits);
	}
	(void)snprintf(out, room, "%zu %s=%s\n", size, key, value);
	return size;
}

static int extension_put(
        struct bundle_writer *w, const char *name, uint64_t size, struct error *err)
{
	char records[BUNDLE_NAME_MAX + 128], digits[24];
	size_t n = 0;

	if (strlen(name) > TAR_NAME_SIZE) {
		n = record_put(records, sizeof(records), "path", name);
	}
	if (size > TAR_OCTAL_MAX) {
		(void)snprintf(digits, sizeof(digits), "%" PRIu64, size);
		n += record_put(records + n, sizeof(records) - n, "size", digits);
	}
	TRY(header_put(w, "sonde-bundle.names", n, 'x', err));
	TRY(put(w, records, n, err));
	return pad(w, n, err);
}

int bundle_put(struct bundle_writer *w, const char *name, struct span bytes, struct error *err)
{
	if (!fits(name, bytes.n)) {
		TRY(extension_put(w, name, bytes.n, err));
	}
	TRY(header_put(w, name, bytes.n, '0', err));
	if (bytes.n != 0) {
		TRY(put(w, bytes.p, bytes.n, err));
	}
	return pad(w, bytes.n, err);
}

int bundle_put_mark(struct bundle_writer *w, struct error *err)
{
	char text[512];
	int n = snprintf(text, sizeof(text),
	        BUNDLE_MARK
	        " %d\n"
	        "A perf.data recording with the files that it needs. Sonde reads it as it is:\n"
	        "\tsonde report -i FILE\n"
	        "For other tools, unpack it with tar:\n"
	        "\tperf --buildid-dir debug report -i perf.data --symfs root\n",
	        BUNDLE_VERSION);

	return bundle_put(w, BUNDLE_MARK, (struct span){(const uint8_t *)text, (size_t)n}, err);
}

int bundle_put_end(struct bundle_writer *w, struct error *err)
{
	static const uint8_t zero[2 * TAR_BLOCK];

	return put(w, zero, sizeof(zero), err);
}
