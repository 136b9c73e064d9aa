/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "capture/sink/output.h"

#include "file/room.h"
#include "host/wait.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int cannot_create(const char *path, struct error *err)
{
	const char *hint = errno == EMFILE ? "; raise the limit with 'ulimit -n'" : "";

	(void)error_errno(err, status_of_errno(errno), errno, "cannot create '%s'", path);
	return error_append(err, "%s", hint);
}

int capture_output_open(struct capture_output *o, struct error *err)
{
	TRY(file_make_room(o->name, err));
	if (o->directory && mkdir(o->name, 0700) != 0) {
		return cannot_create(o->name, err);
	}
	free(o->path);
	o->path = NULL;
	if (asprintf(&o->path, "%s%s", o->name, o->directory ? "/data" : "") < 0) {
		o->path = NULL;
		return error_nomem(err);
	}
	o->fd = open(o->path, O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC, 0600);
	return o->fd < 0 ? cannot_create(o->path, err) : 0;
}

/* FILE.YYYYMMDDhhmmsscc, local time of hundredths of a second since 1970: perf's form. */
static char *stamped(const struct capture_output *o, uint64_t hundredths)
{
	time_t seconds = (time_t)(hundredths / 100);
	struct tm tm = {0};
	char text[32];
	char *name;

	(void)localtime_r(&seconds, &tm);
	(void)strftime(text, sizeof(text), "%Y%m%d%H%M%S", &tm);
	if (asprintf(&name, "%s.%s%02u", o->name, text, (unsigned)(hundredths % 100)) < 0) {
		return NULL;
	}
	return name;
}

/* An existing file is kept: the second file in the same hundredth gets the name of the next one. */
static int stamp(struct capture_output *o, char **name, struct error *err)
{
	uint64_t hundredths = host_now_ns(CLOCK_REALTIME) / 10000000;
	struct stat st;

	*name = stamped(o, hundredths);
	while (*name != NULL && lstat(*name, &st) == 0) {
		free(*name);
		*name = stamped(o, ++hundredths);
	}
	if (*name == NULL) {
		return error_nomem(err);
	}
	if (rename(o->name, *name) != 0) {
		return error_errno(err, status_of_errno(errno), errno, "cannot rename '%s' to '%s'",
		        o->name, *name);
	}
	return 0;
}

/* Remembers a complete file, and removes the oldest if there are too many. */
static int keep(struct capture_output *o, char *name, struct error *err)
{
	if (o->nkept == 0) {
		free(name);
		return 0;
	}
	if (o->kept == NULL) {
		o->kept = calloc(o->nkept, sizeof(*o->kept));
	}
	if (o->kept == NULL) {
		free(name);
		return error_nomem(err);
	}
	if (o->kept[o->next] != NULL) {
		(void)unlink(o->kept[o->next]);
		free(o->kept[o->next]);
	}
	o->kept[o->next] = name;
	o->next = (o->next + 1) % o->nkept;
	return 0;
}

int capture_output_stamp(struct capture_output *o, const struct capture_log *log, struct error *err)
{
	char *name = NULL;
	int rc = stamp(o, &name, err);

	if (rc < 0) {
		free(name);
		return rc;
	}
	capture_say(log, SONDE_RECORDER_NOTICE, "Dump %s", name);
	return keep(o, name, err);
}

void capture_output_close(struct capture_output *o)
{
	size_t i;

	capture_lane_close(&o->lane);
	capture_chains_free(o->chains);
	if (o->fd > STDOUT_FILENO) {
		(void)close(o->fd);
	}
	for (i = 0; o->kept != NULL && i < o->nkept; i++) {
		free(o->kept[i]);
	}
	free(o->kept);
	free(o->path);
	free(o->name);
	*o = (struct capture_output){.fd = -1};
}
