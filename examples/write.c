/* SPDX-License-Identifier: MIT */
/* Writes a recording: an event, a program and its mappings, and samples. */
#include <sonde/write.h>

#include <stdio.h>

static int failed(struct sonde_writer *w)
{
	(void)fprintf(stderr, "%s\n", w != NULL ? sonde_writer_error(w)->text : "out of memory");
	sonde_writer_free(w);
	return 1;
}

int main(int argc, char **argv)
{
	const struct sonde_attr attr = {
	        .type = SONDE_TYPE_SOFTWARE,
	        .config = SONDE_SW_DUMMY,
	        .sample_period = 1,
	        .sample_type = SONDE_SAMPLE_IP | SONDE_SAMPLE_TID | SONDE_SAMPLE_TIME |
	                       SONDE_SAMPLE_PERIOD | SONDE_SAMPLE_CALLCHAIN,
	        .flags = 1u << SONDE_FLAG_SAMPLE_ID_ALL | 1u << SONDE_FLAG_MMAP2,
	};
	const struct sonde_writer_mapping code = {.pid = 42,
	        .tid = 42,
	        .addr = 0x400000,
	        .len = 0x10000,
	        .prot = 5,
	        .path = "/opt/game/engine",
	        .time = 1000};
	struct sonde_writer *w = sonde_writer_new(NULL);

	if (argc != 2 || w == NULL || sonde_writer_event(w, &attr, NULL, 0, "frames") < 0 ||
	        sonde_writer_open(w, argv[1]) < 0 ||
	        sonde_writer_comm(w, 42, 42, "engine", 1000) < 0 ||
	        sonde_writer_mmap(w, &code) < 0) {
		return failed(w);
	}
	for (uint64_t i = 0; i < 100; i++) {
		const uint64_t chain[] = {(uint64_t)-512, 0x401000 + i % 10 * 16, 0x402000};
		const struct sonde_sample s = {.ip = chain[1],
		        .pid = 42,
		        .tid = 42,
		        .time = 2000 + i * 1000,
		        .period = 16,
		        .callchain_len = 3,
		        .callchain = chain};

		if (sonde_writer_sample(w, 0, &s) < 0) {
			return failed(w);
		}
	}
	if (sonde_writer_close(w) < 0) {
		return failed(w);
	}
	sonde_writer_free(w);
	return 0;
}
