/* SPDX-License-Identifier: MIT */
#include "bundler/inside.h"

#include "core/options.h"
#include "file/file.h"
#include "session/file.h"

#include <stdlib.h>
#include <sys/stat.h>

struct sonde_bundler *sonde_bundler_new(const struct sonde_bundler_options *options)
{
	struct sonde_bundler *b = calloc(1, sizeof(*b));

	if (b == NULL) {
		return NULL;
	}
	b->output.fd = -1;
	b->failure = options_copy(&b->o, sizeof(b->o), options, &b->error);
	b->session = sonde_session_new(b->o.session);
	if (b->session == NULL) {
		free(b);
		return NULL;
	}
	return b;
}

void sonde_bundler_free(struct sonde_bundler *b)
{
	if (b != NULL) {
		bundler_output_close(&b->output);
		sonde_session_free(b->session);
		intern_fini(&b->names);
		free(b);
	}
}

const struct sonde_error *sonde_bundler_error(const struct sonde_bundler *b)
{
	return error_show(&b->error);
}

uint64_t sonde_bundler_size(const struct sonde_bundler *b)
{
	return b->writer.written;
}

int bundler_put(struct sonde_bundler *b, const char *path, const char *name, struct span bytes)
{
	const struct sonde_bundle_file file = {.path = path, .member = name, .size = bytes.n};
	size_t n = strlen(name);

	if (intern_find(&b->names, name, n) != INTERN_NONE) {
		return 0;
	}
	if (intern_add(&b->names, name, n) == INTERN_NONE) {
		return error_nomem(&b->error);
	}
	if (b->o.on_file != NULL) {
		b->o.on_file(b->o.file_arg, &file);
	}
	return bundle_put(&b->writer, name, bytes, &b->error);
}

void bundler_lack(struct sonde_bundler *b, const char *path, const char *reason)
{
	const struct sonde_bundle_file file = {.path = path, .reason = reason};

	if (b->o.on_file != NULL) {
		b->o.on_file(b->o.file_arg, &file);
	}
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static int write_all(struct sonde_bundler *b, const char *input, const char *output)
{
	if (is_same_file(input, output)) {
		return error_set(&b->error, SONDE_EARG, NO_OFFSET,
		        "%s is the input itself; give another name for the output", output);
	}
	TRY(bundler_output_open(&b->output, output, &b->error));
	b->writer.fd = b->output.fd;
	TRY(bundle_put_mark(&b->writer, &b->error));
	TRY(bundler_put_recording(b, input));
	TRY(bundler_put_objects(b));
	if (b->o.sources) {
		TRY(bundler_put_sources(b));
	}
	TRY(bundle_put_end(&b->writer, &b->error));
	return bundler_output_finish(&b->output, &b->error);
}

int sonde_bundler_write(struct sonde_bundler *b, const char *input, const char *output)
{
	const struct diag_sink *diags = session_diags(b->session);
	int rc;

	TRY(b->failure);
	b->failure = error_set(&b->error, SONDE_EARG, NO_OFFSET, "a bundler writes once");
	b->error = (struct error){0};
	if (sonde_session_open(b->session, input) < 0) {
		return error_take(&b->error, sonde_session_error(b->session));
	}
	rc = write_all(b, input, output);
	bundler_output_close(&b->output);
	if (rc < 0) {
		return rc;
	}
	return diags->counts[SONDE_DIAG_TRUNCATED] != 0 || diags->counts[SONDE_DIAG_DAMAGED] != 0;
}
