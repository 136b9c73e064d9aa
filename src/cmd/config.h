/* SPDX-License-Identifier: MIT */
/*
 * Configuration files: defaults of options.
 *
 *	perf's      /etc/perfconfig and ~/.perfconfig, or instead the file that $PERF_CONFIG names
 *	Sonde's     /etc/sonde/config and $XDG_CONFIG_HOME/sonde/config (~/.config/sonde/config), or
 *	            instead the file that $SONDE_CONFIG names
 *
 * They are read in this order; the last value of a key counts. report.percent-limit sets the option
 * --percent-limit of `report`, and so for each long option of each command; some keys of perf have
 * other names. Options on the command line take precedence.
 */
#ifndef SONDE_CMD_CONFIG_H
#define SONDE_CMD_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

enum config_level {
	CONFIG_SYSTEM = 1, /* of the machine */
	CONFIG_USER = 2 /* of the user, or named in the environment */
};

struct config_entry {
	char *key, *value;
	const char *file;
	unsigned line;
	enum config_level level;
	bool own; /* from a file of Sonde */
};

struct config {
	struct config_entry *entries; /* in the order of the files */
	size_t n, cap;
	char *files[4];
	size_t nfiles;
};

/*
 * Reads the files. Warnings on standard error: a file that cannot be read or belongs to another
 * user, and a line with a mistake, which ends that file. Returns whether there was none.
 */
bool config_read(struct config *c);
void config_fini(struct config *c);

/* The option that a variable sets, if it is one of a command: NULL if it is not. */
struct config_option {
	const char *name; /* long name, without dashes */
	const char *prefix; /* text before the value in the option's argument */
};

struct config_option config_option_of(const struct config_entry *entry, const char *command);

/*
 * Sonde's file of a level, which may not exist: the caller frees it. NULL: out of memory, or no home
 * directory is known.
 */
char *config_own_file(enum config_level level);

/* Reads a whole file of at most 1 MiB: 1, 0: there is none, -1 with errno. The caller frees it. */
int config_load(const char *path, char **text, size_t *n);

#endif
