/* SPDX-License-Identifier: MIT */
#include "cmd/caches.h"
#include "cmd/commands.h"
#include "cmd/options.h"

#include <inttypes.h>
#include <sonde/preview/cache.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

struct sum {
	uint64_t files, bytes;
	bool quiet;
};

static int add(void *arg, const char *name, uint64_t size, int64_t used)
{
	struct sum *sum = arg;
	time_t seconds = (time_t)(used / 1000000000);
	char day[32] = "?";
	struct tm tm;

	sum->files++;
	sum->bytes += size;
	if (!sum->quiet) {
		if (localtime_r(&seconds, &tm) != NULL) {
			(void)strftime(day, sizeof(day), "%Y-%m-%d %H:%M", &tm);
		}
		(void)printf("%12" PRIu64 "  %s  %s\n", size, day, name);
	}
	return 0;
}

static int show(const char *folder, bool size_only)
{
	struct sum sum = {.quiet = size_only};
	int rc = sonde_cache_list(folder, add, &sum);

	if (rc < 0) {
		(void)fprintf(stderr, "sonde cache: %s: %s\n", folder, sonde_status_text(rc));
		return 255;
	}
	(void)printf(
	        "%12" PRIu64 "  bytes in %" PRIu64 " files of %s\n", sum.bytes, sum.files, folder);
	return 0;
}

static int clear(const char *folder)
{
	int rc = sonde_cache_clear(folder);

	if (rc < 0) {
		(void)fprintf(stderr, "sonde cache: files of %s remain: %s\n", folder,
		        sonde_status_text(rc));
		return 255;
	}
	return 0;
}

int cmd_cache(int argc, char **argv)
{
	const struct option_def defs[] = {OPTION_END};
	const struct option_command command = {
	        .name = "cache",
	        .usage = "[list|size|clear]",
	        .about =
	                "Lists or removes the symbols and source lines that are kept between runs.",
	        .defs = defs,
	};
	struct sonde_session_options o = {.size = sizeof(o)};
	struct option_rest rest;
	struct caches caches;
	const char *word;
	int rc = options_parse(&command, argc, argv, &rest);

	if (rc != OPTIONS_RUN) {
		return rc;
	}
	word = rest.argc != 0 ? rest.argv[0] : "list";
	if (rest.argc > 1 || (strcmp(word, "list") != 0 && strcmp(word, "size") != 0 &&
	                             strcmp(word, "clear") != 0)) {
		(void)fprintf(stderr, "sonde cache: '%s' is not one of list, size and clear\n",
		        rest.argc > 1 ? rest.argv[1] : word);
		return OPTIONS_USAGE;
	}
	caches_set(&caches, &o);
	if (o.cache == NULL) {
		(void)fprintf(stderr, "sonde cache: nothing is kept: SONDE_CACHE is empty, or HOME "
		                      "is not set\n");
		return 0;
	}
	return strcmp(word, "clear") == 0 ? clear(o.cache) : show(o.cache, *word == 's');
}
