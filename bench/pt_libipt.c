/* SPDX-License-Identifier: MIT */
/*
 * Decodes a trace with libipt, for comparison: pt_libipt CODE ADDRESS TRACE [ips]. Prints the
 * numbers of instructions and blocks of its block decoder, or, with a fourth argument, the address
 * of each instruction of its instruction decoder.
 */
#include <intel-pt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static uint8_t *load(const char *path, size_t *n)
{
	FILE *in = fopen(path, "rb");
	uint8_t *data = malloc(1u << 30);

	*n = in != NULL && data != NULL ? fread(data, 1, 1u << 30, in) : 0;
	if (in != NULL) {
		(void)fclose(in);
	}
	return data;
}

static int take_events(struct pt_block_decoder *d, int status)
{
	while (status >= 0 && (status & pts_event_pending) != 0) {
		struct pt_event event;

		status = pt_blk_event(d, &event, sizeof(event));
	}
	return status;
}

static int print_ips(const struct pt_config *config, struct pt_image *image)
{
	struct pt_insn_decoder *d = pt_insn_alloc_decoder(config);
	int status;

	if (d == NULL || pt_insn_set_image(d, image) < 0) {
		return 1;
	}
	while ((status = pt_insn_sync_forward(d)) >= 0) {
		for (;;) {
			struct pt_insn insn;
			struct pt_event event;

			while (status >= 0 && (status & pts_event_pending) != 0) {
				status = pt_insn_event(d, &event, sizeof(event));
			}
			if (status < 0) {
				break;
			}
			status = pt_insn_next(d, &insn, sizeof(insn));
			if (status < 0) {
				break;
			}
			(void)printf("%016" PRIx64 "\n", insn.ip);
		}
		if (status != -pte_eos) {
			(void)printf("error\n");
		}
	}
	pt_insn_free_decoder(d);
	return 0;
}

static void print_counts(struct pt_block_decoder *d)
{
	unsigned long long insns = 0, blocks = 0, errors = 0;
	int status;

	while ((status = pt_blk_sync_forward(d)) >= 0) {
		for (;;) {
			struct pt_block block;

			status = take_events(d, status);
			if (status < 0) {
				break;
			}
			status = pt_blk_next(d, &block, sizeof(block));
			insns += block.ninsn;
			blocks += block.ninsn != 0;
			if (status < 0) {
				break;
			}
		}
		errors += status != -pte_eos;
	}
	(void)printf("insn:\t%llu\nblocks:\t%llu\nerrors:\t%llu\n", insns, blocks, errors);
}

int main(int argc, char **argv)
{
	struct pt_config config;
	struct pt_image_section_cache *cache = pt_iscache_alloc(NULL);
	struct pt_image *image = pt_image_alloc(NULL);
	struct pt_block_decoder *d;
	size_t n;
	uint8_t *trace = argc >= 4 ? load(argv[3], &n) : NULL;
	uint64_t address = argc >= 4 ? strtoull(argv[2], NULL, 0) : 0;
	int isid, rc = 0;

	if (trace == NULL) {
		return 1;
	}
	pt_config_init(&config);
	config.begin = trace;
	config.end = trace + n;
	d = pt_blk_alloc_decoder(&config);
	isid = pt_iscache_add_file(cache, argv[1], 0, UINT64_MAX >> 1, address);
	if (d == NULL || isid < 0 || pt_image_add_cached(image, cache, isid, NULL) < 0 ||
	        pt_blk_set_image(d, image) < 0) {
		return 1;
	}
	if (argc > 4) {
		rc = print_ips(&config, image);
	} else {
		print_counts(d);
	}
	pt_blk_free_decoder(d);
	pt_image_free(image);
	pt_iscache_free(cache);
	free(trace);
	return rc;
}
