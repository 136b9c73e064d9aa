/* SPDX-License-Identifier: MIT */
/*
 * Prints the instructions that libipt's decoder finds in a trace, an address a line, and `error`
 * for an error: libipt_ips TRACE FILE:FROM-TO:ADDRESS... (code; numbers as in C)
 */
#include <intel-pt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRACE_MAX (64u << 20)

static uint8_t *load(const char *path, size_t *n)
{
	FILE *in = fopen(path, "rb");
	uint8_t *data = malloc(TRACE_MAX);

	*n = in != NULL && data != NULL ? fread(data, 1, TRACE_MAX, in) : 0;
	if (in != NULL) {
		(void)fclose(in);
	}
	return data;
}

static int add_code(struct pt_image *image, char *text)
{
	char *at = strrchr(text, ':');
	char *range;
	uint64_t from, to;

	if (at == NULL) {
		return -1;
	}
	*at++ = '\0';
	range = strrchr(text, ':');
	if (range == NULL) {
		return -1;
	}
	*range++ = '\0';
	from = strtoull(range, &range, 0);
	to = strtoull(range + 1, NULL, 0);
	return pt_image_add_file(image, text, from, to - from, NULL, strtoull(at, NULL, 0));
}

static int go_on(struct pt_insn_decoder *d, int status)
{
	struct pt_insn insn = {.iclass = ptic_error};

	while (status >= 0 && (status & pts_event_pending) != 0) {
		struct pt_event event;

		status = pt_insn_event(d, &event, sizeof(event));
	}
	if (status < 0) {
		return status;
	}
	status = pt_insn_next(d, &insn, sizeof(insn));
	if (insn.iclass != ptic_error) {
		(void)printf("%016" PRIx64 "\n", insn.ip);
	}
	return status;
}

int main(int argc, char **argv)
{
	struct pt_config config;
	struct pt_insn_decoder *d;
	size_t n = 0;
	uint8_t *trace = argc > 1 ? load(argv[1], &n) : NULL;
	int status;

	pt_config_init(&config);
	config.begin = trace;
	config.end = trace + n;
	config.errata.bdm70 = 1; /* a PSB+ that says tracing is on may come before TIP.PGE */
	d = trace != NULL ? pt_insn_alloc_decoder(&config) : NULL;
	if (d == NULL) {
		free(trace);
		return 1;
	}
	for (int i = 2; i < argc; i++) {
		if (add_code(pt_insn_get_image(d), argv[i]) < 0) {
			(void)fprintf(stderr, "no code: %s\n", argv[i]);
			return 1;
		}
	}
	while ((status = pt_insn_sync_forward(d)) >= 0) {
		do {
			status = go_on(d, status);
		} while (status >= 0);
		if (status != -pte_eos) {
			(void)printf("error\n");
		}
	}
	pt_insn_free_decoder(d);
	free(trace);
	return 0;
}
