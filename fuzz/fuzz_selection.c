/* SPDX-License-Identifier: MIT */
/*
 * What users write to select samples and fields: the arguments of -F, --time, -c, -S, --pid and -C
 * of script, each ended by a NUL, for a recording of a hundred samples. The lines that script
 * prints are as many as the samples that the session returns with the same filter.
 */
#include <sonde/preview/script.h>
#include <sonde/preview/session.h>
#include <sonde/write.h>

#include <stdlib.h>
#include <string.h>

#define SAMPLES    100u
#define FILE_BYTES 65536u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct buffer {
	uint8_t bytes[FILE_BYTES];
	size_t n;
};

static int keep(void *arg, const char *text, size_t n)
{
	struct buffer *b = arg;

	if (n > sizeof(b->bytes) - b->n) {
		return -1;
	}
	memcpy(b->bytes + b->n, text, n);
	b->n += n;
	return 0;
}

static void write_recording(struct buffer *b)
{
	const struct sonde_attr attr = {.type = SONDE_TYPE_SOFTWARE,
	        .config = SONDE_SW_CPU_CLOCK,
	        .sample_period = 1,
	        .sample_type = SONDE_SAMPLE_IP | SONDE_SAMPLE_TID | SONDE_SAMPLE_TIME |
	                       SONDE_SAMPLE_CPU | SONDE_SAMPLE_PERIOD,
	        .flags = 1u << SONDE_FLAG_SAMPLE_ID_ALL};
	const struct sonde_writer_options stream = {
	        .size = sizeof(stream), .container = SONDE_CONTAINER_PIPE};
	struct sonde_writer *w = sonde_writer_new(&stream);

	if (w == NULL || sonde_writer_event(w, &attr, NULL, 0, "clock") < 0 ||
	        sonde_writer_open_function(w, keep, b) < 0 ||
	        sonde_writer_comm(w, 42, 42, "engine", 1000) < 0) {
		abort();
	}
	for (unsigned i = 0; i < SAMPLES; i++) {
		const struct sonde_sample s = {.ip = 0x401000 + i,
		        .pid = 42,
		        .tid = 42 + i % 3,
		        .cpu = i % 4,
		        .time = UINT64_C(1000000000) + i * UINT64_C(10000000),
		        .period = i};

		if (sonde_writer_sample(w, 0, &s) < 0) {
			abort();
		}
	}
	if (sonde_writer_close(w) < 0) {
		abort();
	}
	sonde_writer_free(w);
}

static struct sonde_session *open_recording(void)
{
	const struct sonde_session_options options = {.size = sizeof(options),
	        .jobs = 1,
	        .symfs = "/nonexistent",
	        .kallsyms = "/dev/null"};
	struct sonde_session *s = sonde_session_new(&options);
	static struct buffer b;

	write_recording(&b);
	if (s == NULL || sonde_session_open_memory(s, b.bytes, b.n) < 0) {
		abort();
	}
	return s;
}

static int count_lines(void *arg, const char *text, size_t n)
{
	size_t *lines = arg;

	for (size_t i = 0; i < n; i++) {
		*lines += text[i] == '\n';
	}
	return 0;
}

static void print(struct sonde_session *s, const struct sonde_filter *filter, const char *fields)
{
	const struct sonde_session_choice choice = {.size = sizeof(choice), .filter = *filter};
	const struct sonde_script_options script = {.size = sizeof(script),
	        .fields = &fields,
	        .nfields = fields != NULL,
	        .filter = *filter};
	size_t samples = 0, lines = 0;
	const struct sonde_event *e;
	int chosen = sonde_session_choose(s, &choice);
	int printed = sonde_script_print(s, &script, count_lines, &lines);

	if (printed < 0 && (printed != SONDE_EARG || sonde_session_error(s)->text[0] == '\0')) {
		abort(); /* nothing but the arguments can be wrong, and a message says what */
	}
	if (chosen < 0 && printed >= 0) {
		abort();
	}
	while (chosen >= 0 && sonde_session_next(s, &e) > 0) {
		samples++;
	}
	/* an empty list of fields, as in `-F sw:`, prints no lines */
	if (printed >= 0 && ((lines != samples && lines != 0) || samples > SAMPLES)) {
		abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct sonde_session *session;
	char *copy = malloc(size + 1);
	const char *texts[6] = {NULL};
	struct sonde_filter filter;
	char *at = copy;

	if (copy == NULL) {
		return 0;
	}
	memcpy(copy, data, size);
	copy[size] = '\0';
	for (size_t i = 0; i < 6 && at <= copy + size; i++) {
		texts[i] =
		        *at != '\0' && strstr(at, "file:") == NULL ? at : NULL; /* read no files */
		at += strlen(at) + 1;
	}
	session = session != NULL ? session : open_recording();
	filter = (struct sonde_filter){.comms = texts[2],
	        .symbols = texts[3],
	        .pids = texts[4],
	        .cpus = texts[5],
	        .time = texts[1],
	        .address_range = size,
	        .relative_time = size % 2 != 0};
	print(session, &filter, texts[0]);
	free(copy);
	return 0;
}
