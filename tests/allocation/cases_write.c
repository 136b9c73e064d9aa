/* SPDX-License-Identifier: MIT */
/* Writing: recordings from nothing, and from other recordings. */
#include "cases.h"

#include <sonde/preview/rewrite.h>

#include <string.h>
#include <unistd.h>

static int write_all(struct sonde_writer *w, const char *path)
{
	const struct sonde_attr attr = {.type = SONDE_TYPE_SOFTWARE,
	        .config = SONDE_SW_DUMMY,
	        .sample_period = 1,
	        .sample_type = SONDE_SAMPLE_IP | SONDE_SAMPLE_TID | SONDE_SAMPLE_TIME |
	                       SONDE_SAMPLE_CALLCHAIN,
	        .flags = 1u << SONDE_FLAG_SAMPLE_ID_ALL | 1u << SONDE_FLAG_MMAP2};
	const struct sonde_writer_mapping code = {
	        .pid = 42, .tid = 42, .addr = 0x400000, .len = 0x10000, .prot = 5, .path = "/a"};
	const uint64_t chain[] = {(uint64_t)-512, 0x401000, 0x402000};
	const struct sonde_sample s = {.ip = chain[1],
	        .pid = 42,
	        .tid = 42,
	        .time = 2000,
	        .callchain_len = 3,
	        .callchain = chain};
	int rc = sonde_writer_event(w, &attr, NULL, 0, "frames");

	rc = rc >= 0 ? sonde_writer_event(w, &attr, NULL, 0, "others") : rc;
	rc = rc >= 0 ? sonde_writer_feature(w, 3, "\4\0\0\0abc", 8) : rc;
	rc = rc >= 0 ? sonde_writer_open(w, path) : rc;
	rc = rc >= 0 ? sonde_writer_comm(w, 42, 42, "engine", 1000) : rc;
	rc = rc >= 0 ? sonde_writer_mmap(w, &code) : rc;
	for (int i = 0; rc >= 0 && i < 300; i++) {
		rc = sonde_writer_sample(w, i % 2, &s);
	}
	return rc >= 0 ? sonde_writer_close(w) : rc;
}

static int write_as(struct outcome *out, const struct input *in, struct sonde_writer_options o)
{
	struct sonde_writer *w;
	int rc;

	(void)unlink(in->out);
	o.size = sizeof(o);
	w = sonde_writer_new(&o);
	rc = w != NULL ? write_all(w, in->out) : SONDE_ENOMEM;
	if (w != NULL) {
		outcome_error(out, rc, sonde_writer_error(w));
	}
	sonde_writer_free(w);
	if (rc >= 0) {
		outcome_file(out, in->out);
	}
	return rc;
}

static int case_write(struct outcome *out, const struct input *in)
{
	return write_as(out, in, (struct sonde_writer_options){.compress = 1});
}

static int case_write_stream(struct outcome *out, const struct input *in)
{
	return write_as(out, in,
	        (struct sonde_writer_options){
	                .container = SONDE_CONTAINER_PIPE, .order = SONDE_ORDER_BIG});
}

static int convert_to(struct outcome *out, const struct input *in, const char *path,
        struct sonde_rewriter_options o)
{
	struct sonde_rewriter *rw;
	int rc;

	(void)unlink(in->out);
	o.size = sizeof(o);
	o.on_diag = outcome_diag;
	o.diag_arg = out;
	rw = sonde_rewriter_new(&o);
	rc = rw != NULL ? sonde_rewriter_open(rw, path) : SONDE_ENOMEM;
	rc = rc >= 0 ? sonde_rewriter_write(rw, in->out) : rc;
	if (rw != NULL) {
		outcome_error(out, rc, sonde_rewriter_error(rw));
	}
	sonde_rewriter_free(rw);
	if (rc >= 0) {
		outcome_file(out, in->out);
	}
	return rc;
}

static int case_convert(struct outcome *out, const struct input *in)
{
	return convert_to(out, in, in->made, (struct sonde_rewriter_options){.compress = 1});
}

static int case_convert_stream(struct outcome *out, const struct input *in)
{
	return convert_to(out, in, in->counts,
	        (struct sonde_rewriter_options){
	                .container = SONDE_CONTAINER_PIPE, .order = SONDE_ORDER_BIG});
}

static int case_repair(struct outcome *out, const struct input *in)
{
	struct sonde_rewriter_options o = {.container = SONDE_CONTAINER_FILE, .whole = true};
	int rc = 0;

	for (size_t i = 0; rc >= 0 && in->containers[i] != NULL; i++) {
		rc = convert_to(out, in, in->containers[i], o);
	}
	return rc;
}

const struct alloc_case write_cases[] = {
        {"a recording from nothing", case_write, false},
        {"a stream from nothing", case_write_stream, false},
        {"convert", case_convert, false},
        {"convert to a stream of the other byte order", case_convert_stream, false},
        {"repair", case_repair, false},
        {NULL, NULL, false},
};
