/* SPDX-License-Identifier: MIT */
#include "symbol/remote.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIBRARY "libdebuginfod.so.1"

/* Functions of libdebuginfod 0.180 or later, as debuginfod_find_debuginfo(3) describes them. */
struct client;
typedef int progress_fn(struct client *c, long done, long total);
struct library {
	struct client *(*begin)(void);
	void (*end)(struct client *c);
	int (*find_executable)(struct client *c, const unsigned char *id, int n, char **path);
	int (*find_debuginfo)(struct client *c, const unsigned char *id, int n, char **path);
	void (*set_progressfn)(struct client *c, progress_fn *fn);
	void (*set_user_data)(struct client *c, void *arg);
};

struct symbol_remote {
	pthread_mutex_t lock;
	struct library library;
	struct client *client; /* NULL: not yet */
	sonde_download_fn fn;
	void *arg;
	struct sonde_download now; /* what is being fetched */
	bool over; /* a server or the library failed: no more files are asked for */
};

struct symbol_remote *symbol_remote_new(sonde_download_fn fn, void *arg)
{
	struct symbol_remote *r = calloc(1, sizeof(*r));

	if (r != NULL) {
		pthread_mutex_init(&r->lock, NULL);
		r->fn = fn;
		r->arg = arg;
	}
	return r;
}

void symbol_remote_free(struct symbol_remote *r)
{
	if (r == NULL) {
		return;
	}
	if (r->client != NULL) {
		r->library.end(r->client);
	}
	pthread_mutex_destroy(&r->lock);
	free(r);
}

static void fail(struct symbol_remote *r, const char *why)
{
	r->over = true;
	r->now.failure = why;
	if (r->fn != NULL) {
		r->fn(r->arg, &r->now);
	}
}

/* ISO C has no conversion from void * to a pointer to a function; POSIX says that its bytes are one. */
static bool load_one(void *handle, const char *name, void *slot)
{
	void *p = dlsym(handle, name);

	memcpy(slot, &p, sizeof(p));
	return p != NULL;
}

static bool load(struct library *l)
{
	void *h = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);

	return h != NULL && load_one(h, "debuginfod_begin", &l->begin) &&
	       load_one(h, "debuginfod_end", &l->end) &&
	       load_one(h, "debuginfod_find_executable", &l->find_executable) &&
	       load_one(h, "debuginfod_find_debuginfo", &l->find_debuginfo) &&
	       load_one(h, "debuginfod_set_progressfn", &l->set_progressfn) &&
	       load_one(h, "debuginfod_set_user_data", &l->set_user_data);
}

/* The library passes nothing but the client, whose data is found by another function of it. */
static int on_progress(struct client *c, long done, long total)
{
	void *h = dlopen(LIBRARY, RTLD_NOW | RTLD_NOLOAD);
	void *(*data)(struct client * c);
	struct symbol_remote *r;

	if (h == NULL || !load_one(h, "debuginfod_get_user_data", &data)) {
		return 0;
	}
	(void)dlclose(h); /* it stays: RTLD_NODELETE */
	r = data(c);
	if (r->fn != NULL && done >= 0 && total > 0) {
		r->now.done = (uint64_t)done;
		r->now.total = (uint64_t)total;
		r->fn(r->arg, &r->now);
	}
	return 0;
}

static bool start(struct symbol_remote *r)
{
	if (r->client != NULL) {
		return true;
	}
	if (!load(&r->library)) {
		fail(r, "libdebuginfod is not installed");
		return false;
	}
	r->client = r->library.begin();
	if (r->client == NULL) {
		fail(r, "libdebuginfod cannot start");
		return false;
	}
	r->library.set_user_data(r->client, r);
	r->library.set_progressfn(r->client, on_progress);
	return true;
}

/* 0: found; else why not, as errno. */
static int fetch(struct symbol_remote *r, const struct image_build_id *id,
        enum symbol_remote_kind kind, char path[IMAGE_PATH_MAX])
{
	char *found = NULL;
	int n = (int)id->size;
	int fd = kind == SYMBOL_REMOTE_DEBUG
	                 ? r->library.find_debuginfo(r->client, id->bytes, n, &found)
	                 : r->library.find_executable(r->client, id->bytes, n, &found);
	bool named = fd >= 0 && found != NULL && strlen(found) < IMAGE_PATH_MAX;

	if (named) {
		(void)snprintf(path, IMAGE_PATH_MAX, "%s", found);
	}
	if (fd >= 0) {
		(void)close(fd);
	}
	free(found);
	return named ? 0 : fd < 0 ? -fd : ENAMETOOLONG;
}

static bool find(struct symbol_remote *r, const struct image_build_id *id,
        enum symbol_remote_kind kind, const char *object, char path[IMAGE_PATH_MAX])
{
	int rc;

	r->now = (struct sonde_download){
	        .object = object, .debug_file = kind == SYMBOL_REMOTE_DEBUG};
	if (r->over || !start(r)) {
		return false;
	}
	rc = fetch(r, id, kind, path);
	if (rc == ENOSYS) {
		fail(r, "DEBUGINFOD_URLS names no server");
	} else if (rc != 0 && rc != ENOENT) {
		fail(r, strerror(rc));
	}
	return rc == 0;
}

bool symbol_remote_find(struct symbol_remote *r, const struct image_build_id *id,
        enum symbol_remote_kind kind, const char *object, char path[IMAGE_PATH_MAX])
{
	bool found;

	pthread_mutex_lock(&r->lock);
	found = find(r, id, kind, object, path);
	pthread_mutex_unlock(&r->lock);
	return found;
}
