/* SPDX-License-Identifier: MIT */
#include "cmd/pt_common.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
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

bool pt_range_parse(char *text, uint64_t *from, uint64_t *to)
{
	char *dash = strchr(text, '-');

	if (dash != NULL) {
		*dash = '\0';
		if (!options_number(dash + 1, to)) {
			return false;
		}
	}
	return options_number(text, from);
}

/* Splits FILE:FROM-TO; without a range, or if a file has the whole name, that is the path. */
static bool split_range(char *text, uint64_t *from, uint64_t *to)
{
	char *colon = access(text, F_OK) != 0 ? strrchr(text, ':') : NULL;

	if (colon == NULL) {
		return true;
	}
	*colon = '\0';
	return pt_range_parse(colon + 1, from, to);
}

int pt_trace_read(struct pt_trace *trace, const char *arg)
{
	char path[4096];
	uint64_t from = 0;
	uint64_t to = UINT64_MAX;
	size_t n = strlen(arg);
	int rc;

	*trace = (struct pt_trace){.size = 0};
	if (n >= sizeof(path)) {
		errno = ENAMETOOLONG;
		return complain(arg);
	}
	memcpy(path, arg, n + 1);
	if (!split_range(path, &from, &to)) {
		errno = ENOENT;
		return complain(arg);
	}
	rc = pt_file_read(&trace->file, path);
	if (rc != 0) {
		return rc;
	}
	to = to < trace->file.size ? to : trace->file.size;
	if (from > to) {
		(void)fprintf(
		        stderr, "Error: %s has no bytes at offset %#" PRIx64 "\n", path, from);
		pt_trace_free(trace);
		return PT_EXIT_FILE;
	}
	trace->data = trace->file.size != 0 ? trace->file.data + from : NULL;
	trace->size = (size_t)(to - from);
	return 0;
}

void pt_trace_free(struct pt_trace *trace)
{
	pt_file_free(&trace->file);
	trace->size = 0;
}

/* The value of a line "name : value" of /proc/cpuinfo; NULL: the line has another name. */
static const char *cpuinfo_value(const char *line, const char *name)
{
	size_t n = strlen(name);
	const char *colon = strchr(line, ':');

	if (strncmp(line, name, n) != 0 || line[n] != '\t' || colon == NULL) {
		return NULL;
	}
	return colon + 1 + strspn(colon + 1, " ");
}

/* The processor of this machine; unknown if it is not one of Intel's. */
static struct sonde_pt_cpu this_cpu(void)
{
	FILE *in = fopen("/proc/cpuinfo", "re");
	struct sonde_pt_cpu cpu = {0, 0};
	bool intel = false;
	char line[4096]; /* the flags are long */

	while (in != NULL && fgets(line, sizeof(line), in) != NULL && line[0] != '\n') {
		const char *vendor = cpuinfo_value(line, "vendor_id");
		const char *family = cpuinfo_value(line, "cpu family");
		const char *model = cpuinfo_value(line, "model");

		intel = intel || (vendor != NULL && strncmp(vendor, "GenuineIntel", 12) == 0);
		cpu.family = family != NULL ? (uint16_t)strtoul(family, NULL, 10) : cpu.family;
		cpu.model = model != NULL ? (uint8_t)strtoul(model, NULL, 10) : cpu.model;
	}
	if (in != NULL) {
		(void)fclose(in);
	}
	return intel ? cpu : (struct sonde_pt_cpu){0, 0};
}

/* Parses FAMILY/MODEL[/STEPPING]; the stepping changes nothing. */
static bool parse_model(const char *arg, struct sonde_pt_cpu *cpu)
{
	uint64_t numbers[3] = {0, 0, 0};
	char text[64];
	unsigned n = 0;
	char *rest = text;
	char *word;

	if (strlen(arg) >= sizeof(text)) {
		return false;
	}
	memcpy(text, arg, strlen(arg) + 1);
	while ((word = strsep(&rest, "/")) != NULL) {
		if (n == 3 || !options_number(word, &numbers[n])) {
			return false;
		}
		n++;
	}
	*cpu = (struct sonde_pt_cpu){(uint16_t)numbers[0], (uint8_t)numbers[1]};
	return n >= 2 && numbers[0] <= 0xffff && numbers[1] <= 255;
}

int pt_cpu_parse(const struct option_def *def, const char *arg, bool unset)
{
	struct pt_cpu_option *option = def->target;

	*option = (struct pt_cpu_option){.given = false};
	if (unset || strcmp(arg, "none") == 0) {
		return 0;
	}
	if (strcmp(arg, "auto") == 0) {
		option->cpu = this_cpu();
		option->given = option->cpu.family != 0;
		return 0;
	}
	if (!parse_model(arg, &option->cpu)) {
		(void)fprintf(stderr, "--cpu wants none, auto or FAMILY/MODEL, not '%s'\n", arg);
		return -1;
	}
	option->given = true;
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
