/* SPDX-License-Identifier: MIT */
#include "inspect/inspector.h"

#include <stdlib.h>

struct sonde_inspector *sonde_inspector_new(const struct sonde_inspector_options *options)
{
	struct sonde_inspector *in = calloc(1, sizeof(*in));

	if (in != NULL) {
		in->status = options_copy(&in->options, sizeof(in->options), options, &in->error);
	}
	return in;
}

void sonde_inspector_free(struct sonde_inspector *in)
{
	free(in);
}

const struct sonde_error *sonde_inspector_error(const struct sonde_inspector *in)
{
	return error_show(&in->error);
}

int inspector_begin(struct sonde_inspector *in, void *own, size_t n, const void *given)
{
	TRY(in->status);
	in->error = (struct error){0};
	return options_copy(own, n, given, &in->error);
}

void inspector_file_init(const struct sonde_inspector *in, struct file *f, struct diag_sink *diags)
{
	diags->fn = in->options.on_diag;
	diags->arg = in->options.diag_arg;
	f->diags = diags;
	f->check_owner = in->options.check_owner;
	f->temp_dir = in->options.temp_dir;
}

int inspector_failed(struct sonde_inspector *in, int rc, const struct error *error)
{
	if (rc < 0 && error_status(&in->error) != rc) {
		(void)error_take(&in->error, error_show(error));
		(void)error_ensure(&in->error, rc);
	}
	return rc;
}

int inspector_part_missing(const struct diag_sink *diags)
{
	return diags->counts[SONDE_DIAG_TRUNCATED] + diags->counts[SONDE_DIAG_DAMAGED] != 0;
}

int inspector_write(struct sonde_inspector *in, struct text *out, sonde_write_fn write, void *arg)
{
	int rc = out->failed ? SONDE_ENOMEM : status_of_output(write(arg, out->p, out->n));

	text_fini(out);
	return error_plain(&in->error, rc);
}

int inspector_print(struct sonde_inspector *in, const char *path,
        void (*put)(struct text *out, const struct file *f, const void *options),
        const void *options, sonde_write_fn write, void *arg)
{
	struct diag_sink diags = {0};
	struct file f = {0};
	struct text out = {0};
	int rc;

	inspector_file_init(in, &f, &diags);
	rc = inspector_failed(in, file_open(&f, path), &f.error);
	if (rc >= 0) {
		put(&out, &f, options);
		rc = inspector_write(in, &out, write, arg);
	}
	file_close(&f);
	return rc < 0 ? rc : inspector_part_missing(&diags);
}
