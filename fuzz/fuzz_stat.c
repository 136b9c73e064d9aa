/* SPDX-License-Identifier: MIT */
/* Recordings of counts, printed in every form and with every sum. */
#define _GNU_SOURCE
#include <sonde/preview/stat.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define TEXT_MAX (4u << 20) /* bytes; longer texts find nothing new */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Text consists of complete lines without NUL. */
static int look(void *arg, const char *text, size_t n)
{
	size_t *room = arg;

	if (n > 0 && (text[n - 1] != '\n' || memchr(text, '\0', n) != NULL)) {
		abort();
	}
	if (n > *room) {
		return -1000;
	}
	*room -= n;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum sonde_stat_by by[] = {SONDE_STAT_BY_RECORDED, SONDE_STAT_BY_CPU,
	        SONDE_STAT_BY_CORE, SONDE_STAT_BY_THREAD, SONDE_STAT_BY_NODE};
	int fd = memfd_create("recording", MFD_CLOEXEC);
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd >= 0 && write(fd, data, size) == (ssize_t)size) {
		for (size_t i = 0; i < sizeof(by) / sizeof(by[0]); i++) {
			struct sonde_stat_options o = {.size = sizeof(o),
			        .by = by[i],
			        .format = (enum sonde_stat_format)(i % 3),
			        .separator = ";"};
			struct sonde_stat *s = sonde_stat_new(&o);
			size_t room = TEXT_MAX;

			(void)sonde_stat_report(s, path, look, &room);
			sonde_stat_free(s);
		}
	}
	if (fd >= 0) {
		(void)close(fd);
	}
	return 0;
}
