/* SPDX-License-Identifier: MIT */
/* `sonde config`: shows and changes the defaults of options. */
#include "cmd/commands.h"
#include "cmd/config.h"
#include "cmd/config_text.h"
#include "cmd/options.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXIT_FAILED 255

struct config_command {
	bool list, user, system, origin;
};

static void print_entry(const struct config_command *c, const struct config_entry *e)
{
	if (c->origin) {
		printf("%s:%u\t", e->file, e->line);
	}
	printf("%s=%s\n", e->key, e->value);
}

/* Prints the last value of each key, or that of one key, in the order of the first ones. */
static void print_config(
        const struct config_command *c, const struct config *config, const char *key)
{
	unsigned levels = c->user     ? (unsigned)CONFIG_USER
	                  : c->system ? (unsigned)CONFIG_SYSTEM
	                              : CONFIG_USER | CONFIG_SYSTEM;

	for (size_t i = 0; i < config->n; i++) {
		const struct config_entry *e = &config->entries[i], *last = NULL;
		bool first = true;

		for (size_t k = 0; k < config->n; k++) {
			if ((config->entries[k].level & levels) != 0 &&
			        strcasecmp(config->entries[k].key, e->key) == 0) {
				first = first && k >= i;
				last = &config->entries[k];
			}
		}
		if (last != NULL && first && (e->level & levels) != 0 &&
		        (key == NULL || strcasecmp(key, e->key) == 0)) {
			print_entry(c, last);
		}
	}
}

static int failed(const char *what, const char *path)
{
	(void)fprintf(stderr, "Error: cannot %s %s: %s\n", what, path, strerror(errno));
	return EXIT_FAILED;
}

/* Makes the folders of a path. */
static void make_folders(const char *path)
{
	char folder[PATH_MAX];

	if ((size_t)snprintf(folder, sizeof(folder), "%s", path) >= sizeof(folder)) {
		return;
	}
	for (char *p = strchr(folder + 1, '/'); p != NULL; p = strchr(p + 1, '/')) {
		*p = '\0';
		(void)mkdir(folder, 0777);
		*p = '/';
	}
}

/* Replaces a file, or the one that a link names: its readers see the old text or the new one. */
static int replace(const char *path, const char *text)
{
	char temporary[PATH_MAX], target[PATH_MAX];
	size_t n = strlen(text);
	struct stat st;
	FILE *f;
	int fd, rc;

	make_folders(path);
	if (stat(path, &st) == 0) {
		if (!S_ISREG(st.st_mode)) {
			(void)fprintf(stderr,
			        "Error: %s is not a regular file: nothing is written to it\n",
			        path);
			return EXIT_FAILED;
		}
		if (realpath(path, target) == NULL) {
			return failed("write", path);
		}
		path = target;
	}
	if ((size_t)snprintf(temporary, sizeof(temporary), "%s.XXXXXX", path) >=
	        sizeof(temporary)) {
		errno = ENAMETOOLONG;
		return failed("write", path);
	}
	fd = mkstemp(temporary);
	f = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (f == NULL) {
		return failed("write", temporary);
	}
	(void)fchmod(fd, stat(path, &st) == 0 ? st.st_mode & 07777u : 0644);
	rc = fwrite(text, 1, n, f) == n ? 0 : failed("write", temporary);
	if (fclose(f) != 0 && rc == 0) {
		rc = failed("write", temporary);
	}
	if (rc == 0 && rename(temporary, path) != 0) {
		rc = failed("write", path);
	}
	if (rc != 0) {
		(void)unlink(temporary);
	}
	return rc;
}

static int first_mistake(const char *text, size_t n)
{
	struct config_parser parser;
	int rc;

	config_parse_begin(&parser, text, n);
	while ((rc = config_parse_next(&parser)) > 0) {
	}
	return rc < 0 ? (int)parser.line : 0;
}

static int set_in(const char *path, const char *key, const char *value)
{
	char *text = NULL, *changed;
	size_t n = 0;
	int rc = config_load(path, &text, &n), line;

	if (rc < 0) {
		return failed("read", path);
	}
	line = rc > 0 ? first_mistake(text, n) : 0;
	if (line > 0) {
		(void)fprintf(stderr,
		        "Error: %s:%d has a mistake, after which nothing is read: correct it "
		        "first\n",
		        path, line);
		free(text);
		return EXIT_FAILED;
	}
	changed = config_text_set(text != NULL ? text : "", n, key, value);
	free(text);
	if (changed == NULL) {
		errno = ENOMEM;
		return failed("change", path);
	}
	rc = replace(path, changed);
	free(changed);
	return rc;
}

static int set_word(const struct config_command *c, char *word, char *equals)
{
	char *path = config_own_file(c->system ? CONFIG_SYSTEM : CONFIG_USER);
	int rc;

	*equals = '\0';
	if (path == NULL) {
		(void)fprintf(stderr, "Error: no home directory: set HOME or SONDE_CONFIG\n");
		return EXIT_FAILED;
	}
	if (equals[1] == '\0') {
		(void)fprintf(stderr, "Error: %s= has no value\n", word);
		rc = EXIT_FAILED;
	} else if (strlen(equals + 1) >= CONFIG_WORD_MAX) {
		(void)fprintf(stderr, "Error: the value of %s is longer than %d bytes\n", word,
		        CONFIG_WORD_MAX - 1);
		rc = EXIT_FAILED;
	} else {
		rc = set_in(path, word, equals + 1);
	}
	free(path);
	return rc;
}

/* Handles KEY or KEY=VALUE. */
static int handle(const struct config_command *c, const struct config *config, char *word)
{
	char *equals = strchr(word, '=');
	size_t n = equals != NULL ? (size_t)(equals - word) : strlen(word);
	char key[CONFIG_WORD_MAX];

	if (n < sizeof(key)) {
		memcpy(key, word, n);
		key[n] = '\0';
	}
	if (n >= sizeof(key) || !config_key_good(key)) {
		(void)fprintf(stderr,
		        "Error: '%.*s' is no key: it is written SECTION.NAME, as report.children\n",
		        (int)n, word);
		return EXIT_FAILED;
	}
	if (equals != NULL) {
		return set_word(c, word, equals);
	}
	print_config(c, config, key);
	return 0;
}

static void print_more(void)
{
	printf("\nreport.percent-limit=1 is the default of `sonde report --percent-limit`, and so "
	       "for each long option\nof each command. Files, the last one counts: "
	       "/etc/perfconfig, ~/.perfconfig, /etc/sonde/config,\n~/.config/sonde/config. Only "
	       "the last two are changed.\n");
}

int cmd_config(int argc, char **argv)
{
	struct config_command c = {0};
	const struct option_def defs[] = {
	        OPTION_SWITCH('l', "list", &c.list, "list all keys and values"),
	        OPTION_SWITCH(0, "user", &c.user, "only files of the user; change the user's"),
	        OPTION_SWITCH(
	                0, "system", &c.system, "only files of the machine; change the machine's"),
	        OPTION_SWITCH(0, "show-origin", &c.origin, "show file and line of each value"),
	        OPTION_END,
	};
	const struct option_command command = {.name = "config",
	        .usage = "[options] [KEY[=VALUE]...]",
	        .about = "Shows and sets the defaults of options.",
	        .defs = defs,
	        .more = print_more,
	        .anywhere = true};
	struct option_rest rest;
	struct config config;
	int rc = options_parse(&command, argc, argv, &rest);

	if (rc != OPTIONS_RUN) {
		return rc;
	}
	if (c.user && c.system) {
		return options_mistake(&command, "--user and --system exclude each other");
	}
	if (c.list && rest.argc > 0) {
		return options_mistake(&command, "--list takes no keys");
	}
	rc = config_read(&config) ? 0 : EXIT_FAILED;
	if (rest.argc == 0) {
		print_config(&c, &config, NULL);
	}
	for (int i = 0; i < rest.argc && (i == 0 || rc == 0); i++) {
		rc = handle(&c, &config, rest.argv[i]);
	}
	config_fini(&config);
	return rc;
}
