/* SPDX-License-Identifier: MIT */
/*
 * The objects of a recording as an archive for the cache of another machine, as `perf archive` makes
 * it: FILE.tar.bz2 with links .build-id/xx/REST and the folders that they lead to. tar(1) writes it,
 * with the names of its members from a pipe.
 */
#define _GNU_SOURCE
#include "cmd/caches.h"
#include "cmd/commands.h"
#include "cmd/inspect.h"
#include "cmd/options.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sonde/preview/object_cache.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATH_SIZE 4096u
#define ID_DIGITS 40u /* of the longest build id */
#define TRIES     3u /* of tar */

struct ids {
	char (*items)[ID_DIGITS + 1]; /* sorted */
	size_t n, cap;
};

static int id_compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

static int id_add(void *arg, const struct sonde_build_id *object)
{
	struct ids *ids = arg;

	if (object->id_size < 2 || object->id_size * 2 > ID_DIGITS) {
		return 0; /* an object without a build id */
	}
	if (ids->n == ids->cap) {
		size_t cap = ids->cap != 0 ? 2 * ids->cap : 64;
		void *more = realloc(ids->items, cap * sizeof(*ids->items));

		if (more == NULL) {
			return SONDE_ENOMEM;
		}
		ids->items = more;
		ids->cap = cap;
	}
	for (size_t i = 0; i < object->id_size; i++) {
		(void)snprintf(ids->items[ids->n] + 2 * i, 3, "%02x", object->id[i]);
	}
	ids->n++;
	return 0;
}

static int ids_read(struct ids *ids, const char *input, bool force)
{
	const struct sonde_build_ids_options o = {.size = sizeof(o), .with_hits = true};
	struct inspect i = {0};
	int rc = SONDE_ENOMEM;

	if (inspect_begin(&i, false, force, false)) {
		rc = sonde_inspector_list_build_ids(i.in, input, &o, id_add, ids);
	}
	if (ids->n != 0) {
		qsort(ids->items, ids->n, sizeof(*ids->items), id_compare);
	}
	return inspect_end(&i, rc, input);
}

/* What goes into the archive. */
struct members {
	const struct ids *ids;
	FILE *names; /* to tar, each with a NUL; NULL: they are only counted */
	size_t n;
};

static int member_take(void *arg, const char *hex, const char *path)
{
	struct members *m = arg;

	if (m->ids->n == 0 || bsearch(hex, m->ids->items, m->ids->n, sizeof(*m->ids->items),
	                              id_compare) == NULL) {
		return 0;
	}
	m->n++;
	if (m->names != NULL) {
		(void)fprintf(m->names, ".build-id/%.2s/%s%c%s/%s%c", hex, hex + 2, '\0',
		        path + (path[0] == '/'), hex, '\0');
	}
	return 0;
}

/* Starts tar, which reads names from *names; -1: it cannot be started. */
static pid_t tar_start(const char *folder, const char *output, FILE **names)
{
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) != 0) {
		return -1;
	}
	pid = fork();
	if (pid == 0) {
		(void)dup2(fds[0], STDIN_FILENO);
		(void)execlp("tar", "tar", "--create", "--bzip2", "--file", output, "--directory",
		        folder, "--null", "--verbatim-files-from", "--files-from", "-",
		        (char *)NULL);
		(void)fprintf(stderr, "Error: cannot run tar: %s\n", strerror(errno));
		_exit(127);
	}
	(void)close(fds[0]);
	*names = pid > 0 ? fdopen(fds[1], "w") : NULL;
	if (*names == NULL) {
		(void)close(fds[1]);
	}
	return pid;
}

/* Writes the archive under a temporary name; returns tar's status, or -1. */
static int tar_write(
        struct sonde_object_cache *c, const struct ids *ids, const char *folder, const char *output)
{
	struct members m = {.ids = ids};
	pid_t pid = tar_start(folder, output, &m.names);
	int status = -1;
	bool good = m.names != NULL && sonde_object_cache_list(c, member_take, &m) >= 0;

	if (m.names != NULL) {
		good = fclose(m.names) == 0 && good;
	}
	if (pid > 0) {
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
		}
	}
	return good && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/*
 * Status 1 of GNU tar: a file changed while it was read. Another program that links a file of the cache,
 * or removes a link, changes no more than its number of links, but tar cannot know that.
 */
static bool write_whole(
        struct sonde_object_cache *c, const struct ids *ids, const char *folder, const char *output)
{
	int status = 1;

	for (unsigned i = 0; i < TRIES && status == 1; i++) {
		status = tar_write(c, ids, folder, output);
	}
	return status == 0;
}

static int write_archive(
        struct sonde_object_cache *c, const struct ids *ids, const char *folder, const char *input)
{
	char output[PATH_SIZE], temporary[PATH_SIZE + 16];
	int n = snprintf(output, sizeof(output), "%s.tar.bz2", input);

	if (n < 0 || (size_t)n >= sizeof(output)) {
		(void)fprintf(stderr, "Error: %s: the path is too long\n", input);
		return 1;
	}
	(void)snprintf(temporary, sizeof(temporary), "%s.%ld", output, (long)getpid());
	if (!write_whole(c, ids, folder, temporary) || rename(temporary, output) != 0) {
		(void)unlink(temporary);
		(void)fprintf(stderr, "Error: cannot write %s\n", output);
		return 1;
	}
	(void)printf("Now please run:\n\n$ tar xvf %s -C ~/.debug\n\nwherever you need to run "
	             "'sonde report' or 'perf report' on.\n",
	        output);
	return 0;
}

static int run(const char *input, bool force)
{
	struct ids ids = {0};
	struct sonde_object_cache *c;
	struct members m = {.ids = &ids};
	char folder[CACHES_PATH];
	int rc = ids_read(&ids, input, force);

	if (rc != 0 || !caches_build_ids(folder)) {
		free(ids.items);
		return rc != 0 ? rc : 1;
	}
	c = sonde_object_cache_new(folder);
	rc = c == NULL || sonde_object_cache_list(c, member_take, &m) < 0;
	if (rc == 0 && m.n == 0) {
		(void)fprintf(stderr,
		        "Error: the cache %s has none of the %zu objects with a build id; 'sonde "
		        "buildid-cache -a FILE' adds one\n",
		        folder, ids.n);
		rc = 1;
	} else if (rc == 0) {
		if (m.n < ids.n) {
			(void)fprintf(stderr,
			        "Warning: the cache lacks %zu of %zu objects; 'sonde "
			        "buildid-cache -M %s' lists them\n",
			        ids.n - m.n, ids.n, input);
		}
		rc = write_archive(c, &ids, folder, input);
	} else {
		(void)fprintf(stderr, "Error: %s\n",
		        c != NULL ? sonde_object_cache_error(c)->text
		                  : sonde_status_text(SONDE_ENOMEM));
	}
	sonde_object_cache_free(c);
	free(ids.items);
	return rc;
}

int cmd_archive(int argc, char **argv)
{
	bool force = false;
	const struct option_def defs[] = {
	        OPTION_SWITCH('f', "force", &force, "read files of other users too"),
	        OPTION_END,
	};
	const struct option_command command = {
	        .name = "archive",
	        .usage = "[options] [FILE]",
	        .about = "Writes the objects of a recording to FILE.tar.bz2, for the cache of "
	                 "another machine.",
	        .defs = defs,
	        .words = OPTION_ONE_WORD,
	        .anywhere = true,
	};
	struct option_rest rest;
	int rc = options_parse(&command, argc, argv, &rest);

	if (rc != OPTIONS_RUN) {
		return rc;
	}
	(void)signal(SIGPIPE, SIG_IGN); /* tar may end early */
	return run(rest.argc == 1 ? rest.argv[0] : "perf.data", force);
}
