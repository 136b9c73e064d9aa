/* SPDX-License-Identifier: MIT */
#include "cmd/script_files.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WROTE "[ sonde script: Wrote "

struct script_file {
	char *path; /* NULL: the lines are in the file of `same` */
	size_t same;
	struct terminal_output out;
	uint64_t bytes, samples;
};

/* "perf.data.sched:sched_switch.dump": NULL without memory. */
static char *path_of(const char *input, const char *event)
{
	const char *base = input == NULL || strcmp(input, "-") == 0 ? "perf.data" : input;
	size_t n = strlen(base);
	size_t room = n + strlen(event) + sizeof("..dump");
	char *path = malloc(room);

	if (path == NULL) {
		return NULL;
	}
	while (n > 1 && base[n - 1] == '/') {
		n--; /* of a folder */
	}
	(void)snprintf(path, room, "%.*s.%s.dump", (int)n, base, event);
	for (char *c = path + n + 1; *c != '\0'; c++) {
		*c = (char)(*c == '/' || !isascii(*c) || iscntrl((unsigned char)*c) ? '_' : *c);
	}
	return path;
}

static size_t find_path(const struct script_files *f, const char *path)
{
	size_t i = 0;

	while (i < f->n && (f->files[i].path == NULL || strcmp(f->files[i].path, path) != 0)) {
		i++;
	}
	return i;
}

/* Takes the path; NULL: out of memory. */
static bool add_file(struct script_files *f, char *path)
{
	struct script_file *file = &f->files[f->n];
	size_t same;

	if (path == NULL) {
		(void)fputs("Error: out of memory\n", stderr);
		return false;
	}
	same = find_path(f, path);
	if (same < f->n) {
		*file = (struct script_file){.same = same};
		f->n++;
		free(path);
		return true;
	}
	*file = (struct script_file){.path = path, .same = f->n++};
	file->out.fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (file->out.fd < 0) {
		(void)fprintf(stderr, "Error: cannot create %s: %s\n", path, strerror(errno));
	}
	return file->out.fd >= 0;
}

bool script_files_open(
        struct script_files *f, const struct sonde_session *session, const char *input)
{
	size_t n = sonde_session_events(session);

	f->files = calloc(n + 1, sizeof(*f->files));
	if (f->files == NULL) {
		(void)fputs("Error: out of memory\n", stderr);
		return false;
	}
	for (size_t i = 0; i < n; i++) {
		if (!add_file(f, path_of(input, sonde_session_event_name(session, i)))) {
			return false;
		}
	}
	return true;
}

int script_files_write(
        struct script_files *f, size_t event, const char *text, size_t n, uint64_t samples)
{
	struct script_file *file = &f->files[f->files[event].same];

	if (terminal_output_write(&file->out, text, n) < 0) {
		(void)fprintf(stderr, "Error: cannot write %s: %s\n", file->path,
		        strerror(file->out.error));
		return -1;
	}
	file->bytes += n;
	file->samples += samples;
	return 0;
}

void script_files_print(const struct script_files *f, struct terminal_output *out)
{
	for (size_t i = 0; i < f->n; i++) {
		const struct script_file *file = &f->files[i];
		char size[64];
		int n;

		if (file->path == NULL) {
			continue;
		}
		n = snprintf(size, sizeof(size), "%.3f MB ", (double)file->bytes / (1 << 20));
		(void)terminal_output_write(out, WROTE, sizeof(WROTE) - 1);
		(void)terminal_output_write(out, size, (size_t)n);
		(void)terminal_output_write(out, file->path, strlen(file->path));
		n = snprintf(size, sizeof(size), " (%llu samples) ]\n",
		        (unsigned long long)file->samples);
		(void)terminal_output_write(out, size, (size_t)n);
	}
}

void script_files_close(struct script_files *f)
{
	for (size_t i = 0; i < f->n; i++) {
		if (f->files[i].path != NULL && f->files[i].out.fd >= 0) {
			close(f->files[i].out.fd);
		}
		free(f->files[i].path);
	}
	free(f->files);
}
