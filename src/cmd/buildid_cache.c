/* SPDX-License-Identifier: MIT */
#include "cmd/caches.h"
#include "cmd/commands.h"
#include "cmd/inspect.h"
#include "cmd/options.h"
#include "cmd/recording.h"

#include <sonde/preview/object_cache.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_SIZE 4096u

struct buildid_cache {
	const char *add, *remove, *purge, *update, *missing, *kcore;
	bool list, purge_all, force, debuginfod;
	uint64_t process; /* of --target-ns */
	int verbose;
	struct sonde_object_cache *cache;
	bool failed;
};

/* Something to do with a file; the result is that of the library. */
struct action {
	const char *doing; /* "Adding" */
	const char *verb; /* "add" */
	int (*run)(struct sonde_object_cache *c, const char *path);
	bool none_is_failure; /* result 0 means that there was no such object */
};

static int add_one(struct sonde_object_cache *c, const char *path)
{
	return sonde_object_cache_add(c, path, 0);
}

static int update_one(struct sonde_object_cache *c, const char *path)
{
	return sonde_object_cache_add(c, path, SONDE_OBJECT_CACHE_REPLACE);
}

static const struct action adding = {"Adding", "add", add_one, false};
static const struct action updating = {"Updating", "update", update_one, false};
static const struct action removing = {"Removing", "remove", sonde_object_cache_remove, true};
static const struct action purging = {"Purging", "purge", sonde_object_cache_purge, true};

static void file_do(struct buildid_cache *b, const struct action *a, const char *path)
{
	const char *id;
	int rc = a->run(b->cache, path);

	if (rc < 0) {
		(void)fprintf(stderr, "Error: cannot %s %s: %s\n", a->verb, path,
		        sonde_object_cache_error(b->cache)->text);
		b->failed = true;
		return;
	}
	id = sonde_object_cache_last_id(b->cache);
	if (b->verbose > 0) {
		(void)fprintf(stderr, "%s %s%s%s: %s\n", a->doing, a == &purging ? "" : id,
		        a == &purging ? "" : " ", path,
		        rc == 0 && a->none_is_failure ? "not in the cache" : "Ok");
	}
}

/* The files of an option, with commas between them. */
static void files_do(struct buildid_cache *b, const struct action *a, const char *list)
{
	char path[PATH_SIZE];

	while (list != NULL && *list != '\0') {
		size_t n = strcspn(list, ",");

		if (n >= sizeof(path)) {
			(void)fprintf(stderr, "Error: cannot %s %.40s...: the path is too long\n",
			        a->verb, list);
			b->failed = true;
		} else if (n != 0) {
			memcpy(path, list, n);
			path[n] = '\0';
			file_do(b, a, path);
		}
		list += n + (list[n] == ',');
	}
}

static int print_object(void *arg, const char *hex, const char *path)
{
	(void)arg;
	return printf("%s %s\n", hex, path) < 0 ? SONDE_EOUTPUT : 0;
}

static void list_print(struct buildid_cache *b)
{
	int rc = sonde_object_cache_list(b->cache, print_object, NULL);

	if (rc < 0 && rc != SONDE_EOUTPUT) { /* the command checks standard output at its end */
		(void)fprintf(stderr, "Error: %s\n", sonde_object_cache_error(b->cache)->text);
		b->failed = true;
	}
}

static void purge_all(struct buildid_cache *b)
{
	int rc = sonde_object_cache_purge_all(b->cache);

	if (rc < 0) {
		(void)fprintf(stderr, "Error: %s\n", sonde_object_cache_error(b->cache)->text);
		b->failed = true;
	} else if (b->verbose > 0) {
		(void)fprintf(stderr, "Purged all: Ok\n");
	}
}

/* The path is one name, also with commas in it. */
static void kcore_add(struct buildid_cache *b)
{
	int rc = sonde_object_cache_add_kcore(
	        b->cache, b->kcore, b->force ? SONDE_OBJECT_CACHE_REPLACE : 0);

	if (rc < 0) {
		(void)fprintf(stderr, "Error: cannot add %s: %s\n", b->kcore,
		        sonde_object_cache_error(b->cache)->text);
		b->failed = true;
	} else if (b->verbose > 0) {
		(void)fprintf(stderr, "%s %s\n",
		        rc == 0 ? "same kcore found in" : "kcore added to build-id cache directory",
		        sonde_object_cache_last_folder(b->cache));
	}
}

static int on_debuginfod(const struct option_def *def, const char *arg, bool unset)
{
	struct buildid_cache *b = def->target;

	b->debuginfod = !unset;
	return recording_debuginfod_urls(unset ? NULL : arg);
}

static void on_download(void *arg, const struct sonde_download *d)
{
	(void)arg;
	recording_download_print(d);
}

/* Lists the objects of a recording that the cache lacks. */
static int missing_print(const struct buildid_cache *b, const char *folder)
{
	const struct sonde_build_ids_options o = {.size = sizeof(o), .missing_in = folder};
	struct inspect i = {0};
	int rc = SONDE_ENOMEM;

	if (inspect_begin(&i, false, b->force, false)) {
		rc = sonde_inspector_build_ids(i.in, b->missing, &o, inspect_write, &i);
	}
	return inspect_end(&i, rc, b->missing);
}

static int run(struct buildid_cache *b, const char *folder)
{
	b->cache = sonde_object_cache_new(folder);
	if (b->cache == NULL) {
		(void)fprintf(stderr, "Error: %s\n", sonde_status_text(SONDE_ENOMEM));
		return 1;
	}
	if (sonde_object_cache_namespace(b->cache, (int)b->process) < 0 ||
	        (b->debuginfod && sonde_object_cache_debuginfod(b->cache, on_download, NULL) < 0)) {
		(void)fprintf(stderr, "Error: %s\n", sonde_object_cache_error(b->cache)->text);
		sonde_object_cache_free(b->cache);
		return 1;
	}
	if (b->list) {
		list_print(b);
	}
	files_do(b, &adding, b->add);
	files_do(b, &removing, b->remove);
	files_do(b, &purging, b->purge);
	if (b->purge_all) {
		purge_all(b);
	}
	files_do(b, &updating, b->update);
	if (b->kcore != NULL) {
		kcore_add(b);
	}
	sonde_object_cache_free(b->cache);
	if (b->missing != NULL) {
		int rc = missing_print(b, folder);

		return rc != 0 ? rc : b->failed;
	}
	return b->failed;
}

int cmd_buildid_cache(int argc, char **argv)
{
	struct buildid_cache b = {0};
	const struct option_def defs[] = {
	        OPTION_TEXT('a', "add", &b.add, "FILES", "add files, with commas between them"),
	        OPTION_TEXT('r', "remove", &b.remove, "FILES",
	                "remove the objects with the build ids of files"),
	        OPTION_TEXT('p', "purge", &b.purge, "FILES",
	                "remove all objects of these paths, of any build id"),
	        OPTION_SWITCH('P', "purge-all", &b.purge_all, "remove all objects"),
	        OPTION_TEXT('u', "update", &b.update, "FILES",
	                "add files, also if their build ids are there"),
	        OPTION_SWITCH('l', "list", &b.list, "list all objects"),
	        OPTION_TEXT('k', "kcore", &b.kcore, "FILE",
	                "add a copy of the kernel's code, such as /proc/kcore"),
	        OPTION_TEXT('M', "missing", &b.missing, "FILE",
	                "list the objects of a recording that the cache lacks"),
	        OPTION_CALL(0, "debuginfod", OPTION_OPTIONAL, on_debuginfod, &b, "URLS",
	                "fetch debug files of added objects from debuginfod servers"),
	        OPTION_UINT(0, "target-ns", &b.process, "PID",
	                "files are those of the mount namespace of a process"),
	        OPTION_SWITCH('f', "force", &b.force,
	                "read recordings of other users too; with -k, copy again"),
	        OPTION_COUNT('v', "verbose", &b.verbose, "print what is done with each file"),
	        OPTION_END,
	};
	const struct option_command command = {
	        .name = "buildid-cache",
	        .usage = "[options]",
	        .about = "Lists, adds and removes the objects that recordings need later.",
	        .defs = defs,
	        .words = OPTION_NO_WORDS,
	};
	struct option_rest rest;
	char folder[CACHES_PATH];
	int rc = options_parse(&command, argc, argv, &rest);

	if (rc != OPTIONS_RUN) {
		return rc;
	}
	if (b.add == NULL && b.remove == NULL && b.purge == NULL && b.update == NULL &&
	        b.missing == NULL && b.kcore == NULL && !b.list && !b.purge_all) {
		return options_mistake(
		        &command, "say what to do: -l, -a, -r, -p, -P, -u, -k or -M");
	}
	if (!caches_build_ids(folder)) {
		(void)fprintf(stderr, "Error: there is no cache: set HOME, or name a folder with "
		                      "'sonde --buildid-dir DIR'\n");
		return 1;
	}
	if (b.process > INT32_MAX) {
		return options_mistake(&command, "--target-ns takes the number of a process");
	}
	return run(&b, folder);
}
