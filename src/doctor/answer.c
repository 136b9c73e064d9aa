/* SPDX-License-Identifier: MIT */
/* What checks read of a machine, and their answers. */
#include "doctor/doctor.h"

#include "proc/proc.h"

#include <stdarg.h>
#include <stdio.h>

void doctor_set(struct sonde_doctor *d, enum sonde_doctor_state state, const char *fmt, ...)
{
	va_list args;

	d->check.state = state;
	d->found.n = 0;
	va_start(args, fmt);
	text_vprintf(&d->found, fmt, args);
	va_end(args);
}

void doctor_more(struct sonde_doctor *d, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	text_vprintf(&d->found, fmt, args);
	va_end(args);
}

void doctor_fix(struct sonde_doctor *d, const char *fmt, ...)
{
	va_list args;

	d->fix.n = 0;
	va_start(args, fmt);
	text_vprintf(&d->fix, fmt, args);
	va_end(args);
}

bool doctor_exists(const struct sonde_doctor *d, const char *path)
{
	struct stat st;

	return proc_stat(d->root, path, &st);
}

int64_t doctor_number(const struct sonde_doctor *d, const char *path, int64_t none)
{
	int64_t v;

	return proc_read_number(d->root, path, &v) ? v : none;
}

bool doctor_value(
        const struct sonde_doctor *d, const char *path, const char *key, char *buf, size_t size)
{
	FILE *in = proc_open_stream(d->root, path);
	char line[4096];
	bool found = false;
	size_t n = strlen(key);

	while (in != NULL && !found && fgets(line, sizeof(line), in) != NULL) {
		if (strncmp(line, key, n) == 0) {
			const char *p = line + n + strspn(line + n, " \t:");

			(void)snprintf(buf, size, "%.*s", (int)strcspn(p, "\n"), p);
			found = true;
		}
	}
	if (in != NULL) {
		(void)fclose(in);
	}
	return found;
}
