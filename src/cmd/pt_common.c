/* SPDX-License-Identifier: MIT */
#include "cmd/pt_common.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int complain(const char *path)
{
	(void)fprintf(stderr, "Error: cannot read %s: %s\n", path, strerror(errno));
	return PT_EXIT_FILE;
}

/* Maps a file; false: it cannot be mapped. */
static bool map(struct pt_file *file, const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *p = MAP_FAILED;

	if (fd < 0) {
		return false;
	}
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
		p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	}
	(void)close(fd);
	if (p == MAP_FAILED) {
		return false;
	}
	*file = (struct pt_file){.data = p, .size = (size_t)st.st_size, .mapped = true};
	return true;
}

/* Files that cannot be mapped, such as pipes, are read to the end. */
int pt_file_read(struct pt_file *file, const char *path)
{
	FILE *in = fopen(path, "rb");
	size_t cap = 1u << 16;

	*file = (struct pt_file){.data = NULL, .size = 0};
	if (in == NULL) {
		return complain(path);
	}
	if (map(file, path)) {
		(void)fclose(in);
		return 0;
	}
	for (;;) {
		uint8_t *data = realloc(file->data, cap);
		size_t n;

		if (data == NULL) {
			errno = ENOMEM;
			break;
		}
		file->data = data;
		n = fread(data + file->size, 1, cap - file->size, in);
		file->size += n;
		if (file->size < cap) {
			break;
		}
		cap *= 2;
	}
	if (file->size == cap || ferror(in) != 0) {
		int rc = complain(path);

		(void)fclose(in);
		pt_file_free(file);
		return rc;
	}
	(void)fclose(in);
	return 0;
}

void pt_file_free(struct pt_file *file)
{
	if (file->mapped) {
		(void)munmap(file->data, file->size);
	} else {
		free(file->data);
	}
	*file = (struct pt_file){.data = NULL, .size = 0};
}

int pt_cpu_parse(const struct option_def *def, const char *arg, bool unset)
{
	struct pt_cpu_option *option = def->target;
	char family[16];
	const char *slash = arg != NULL ? strchr(arg, '/') : NULL;
	uint64_t f, m;

	option->given = !unset;
	option->cpu = (struct sonde_pt_cpu){0, 0};
	if (unset) {
		return 0;
	}
	if (slash == NULL || slash == arg || (size_t)(slash - arg) >= sizeof(family)) {
		(void)fprintf(stderr, "--cpu wants FAMILY/MODEL, not '%s'\n", arg);
		return -1;
	}
	memcpy(family, arg, (size_t)(slash - arg));
	family[slash - arg] = '\0';
	if (!options_number(family, &f) || !options_number(slash + 1, &m) || f > 0xffff ||
	        m > 255) {
		(void)fprintf(stderr, "--cpu wants FAMILY/MODEL, not '%s'\n", arg);
		return -1;
	}
	option->cpu = (struct sonde_pt_cpu){(uint16_t)f, (uint8_t)m};
	return 0;
}

struct sonde_pt_clock pt_clock_make(
        const struct pt_clock_options *options, const struct pt_cpu_option *cpu)
{
	return (struct sonde_pt_clock){
	        .cpu = cpu->cpu,
	        .tsc_ratio_numerator = (uint32_t)options->ebx,
	        .tsc_ratio_denominator = (uint32_t)options->eax,
	        .nominal_ratio = (uint32_t)options->nom_freq,
	        .mtc_shift = (uint8_t)(options->mtc_freq & 15),
	};
}
