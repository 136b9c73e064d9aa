/* SPDX-License-Identifier: MIT */
#include "cmd/config.h"

#include "cmd/config_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MOST ((size_t)1 << 20) /* bytes */

/* Keys of perf that are not called COMMAND.OPTION. */
static const struct {
	const char *key, *command, *option, *prefix;
} renamed[] = {
        {"report.sort_order", "report", "sort", ""},
        {"report.sort-order", "report", "sort", ""},
        {"hist.percentage", "report", "percentage", ""},
        {"call-graph.print-type", "report", "call-graph", ""},
        {"call-graph.order", "report", "call-graph", ""},
        {"call-graph.sort-key", "report", "call-graph", ""},
        {"call-graph.threshold", "report", "call-graph", ""},
        {"call-graph.print-limit", "report", "call-graph", ","},
        {"call-graph.record-mode", "record", "call-graph-default", ""},
        {"record.call-graph", "record", "call-graph-default", ""},
        {"call-graph.dump-size", "record", "dump-size-default", ""},
        {"record.build-id", "record", "build-id-default", ""},
        {"core.proc-map-timeout", "record", "proc-map-timeout", ""},
        {"pager.report", "report", "pager", ""},
        {"pager.script", "script", "pager", ""},
        {"pager.list", "list", "pager", ""},
        {"pager.buildid-list", "buildid-list", "pager", ""},
};

int config_load(const char *path, char **text, size_t *n)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t got = 1;
	int error;

	if (fd < 0) {
		return errno == ENOENT || errno == ENOTDIR ? 0 : -1;
	}
	*n = 0;
	*text = malloc(FILE_MOST + 1);
	while (*text != NULL && *n <= FILE_MOST && got > 0) {
		got = read(fd, *text + *n, FILE_MOST + 1 - *n);
		if (got < 0 && errno == EINTR) {
			got = 1;
			continue;
		}
		*n += got > 0 ? (size_t)got : 0;
	}
	error = *text == NULL ? ENOMEM : *n > FILE_MOST ? EFBIG : got < 0 ? errno : 0;
	(void)close(fd);
	if (error != 0) {
		free(*text);
		errno = error;
		return -1;
	}
	return 1;
}

/* As in perf: what another user wrote is not trusted. */
static bool owner_good(const char *path)
{
	struct stat st;

	if (stat(path, &st) != 0 || st.st_uid == 0 || st.st_uid == geteuid() ||
	        S_ISCHR(st.st_mode)) {
		return true;
	}
	(void)fprintf(stderr, "Warning: %s is ignored: it belongs to another user\n", path);
	return false;
}

static bool entry_add(struct config *c, const struct config_variable *v, const char *file,
        enum config_level level, bool own)
{
	struct config_entry *p;

	if (c->n == c->cap) {
		p = realloc(c->entries, (c->cap * 2 + 16) * sizeof(*p));
		if (p == NULL) {
			return false;
		}
		c->entries = p;
		c->cap = c->cap * 2 + 16;
	}
	p = &c->entries[c->n];
	*p = (struct config_entry){.key = strdup(v->key),
	        .value = strdup(v->value),
	        .file = file,
	        .line = v->line,
	        .level = level,
	        .own = own};
	c->n += p->key != NULL && p->value != NULL;
	if (p->key == NULL || p->value == NULL) {
		free(p->key);
		free(p->value);
		return false;
	}
	return true;
}

static bool text_add(struct config *c, const char *text, size_t n, const char *path,
        enum config_level level, bool own)
{
	struct config_parser parser;
	int rc;

	config_parse_begin(&parser, text, n);
	while ((rc = config_parse_next(&parser)) > 0) {
		if (!entry_add(c, &parser.variable, path, level, own)) {
			(void)fprintf(stderr, "Warning: out of memory while reading %s\n", path);
			return false;
		}
	}
	if (rc < 0) {
		(void)fprintf(stderr,
		        "Warning: %s:%u: a section in brackets or a line name = value was "
		        "expected; the rest of the file is ignored\n",
		        path, parser.line);
	}
	return rc == 0;
}

/* Reads a file, whose name c owns from now on. */
static bool file_add(struct config *c, char *path, enum config_level level, bool own)
{
	char *text;
	size_t n;
	int rc;
	bool good;

	if (path == NULL) {
		return true;
	}
	c->files[c->nfiles++] = path;
	rc = config_load(path, &text, &n);
	if (rc < 0) {
		(void)fprintf(stderr, "Warning: cannot read %s: %s\n", path, strerror(errno));
	}
	if (rc <= 0) {
		return rc == 0;
	}
	good = owner_good(path) && text_add(c, text, n, path, level, own);
	free(text);
	return good;
}

static char *join(const char *folder, const char *name)
{
	size_t room;
	char *path;

	if (folder == NULL || folder[0] != '/') {
		return NULL;
	}
	room = strlen(folder) + strlen(name) + 2;
	path = malloc(room);
	if (path != NULL) {
		(void)snprintf(path, room, "%s/%s", folder, name);
	}
	return path;
}

char *config_own_file(enum config_level level)
{
	const char *named = getenv("SONDE_CONFIG");
	const char *base = getenv("XDG_CONFIG_HOME");

	if (level == CONFIG_SYSTEM) {
		return strdup("/etc/sonde/config");
	}
	if (named != NULL) {
		return strdup(named);
	}
	return base != NULL && base[0] == '/' ? join(base, "sonde/config")
	                                      : join(getenv("HOME"), ".config/sonde/config");
}

bool config_read(struct config *c)
{
	const char *perf = getenv("PERF_CONFIG");
	bool good = true;

	*c = (struct config){0};
	if (perf != NULL) {
		good = file_add(c, strdup(perf), CONFIG_USER, false);
	} else {
		good = file_add(c, strdup("/etc/perfconfig"), CONFIG_SYSTEM, false) && good;
		good = file_add(c, join(getenv("HOME"), ".perfconfig"), CONFIG_USER, false) && good;
	}
	if (getenv("SONDE_CONFIG") == NULL) {
		good = file_add(c, config_own_file(CONFIG_SYSTEM), CONFIG_SYSTEM, true) && good;
	}
	return file_add(c, config_own_file(CONFIG_USER), CONFIG_USER, true) && good;
}

void config_fini(struct config *c)
{
	for (size_t i = 0; i < c->n; i++) {
		free(c->entries[i].key);
		free(c->entries[i].value);
	}
	for (size_t i = 0; i < c->nfiles; i++) {
		free(c->files[i]);
	}
	free(c->entries);
	*c = (struct config){0};
}

struct config_option config_option_of(const struct config_entry *entry, const char *command)
{
	size_t n = strlen(command);

	for (size_t i = 0; i < sizeof(renamed) / sizeof(renamed[0]); i++) {
		if (strcasecmp(entry->key, renamed[i].key) == 0 &&
		        strcmp(command, renamed[i].command) == 0) {
			return (struct config_option){renamed[i].option, renamed[i].prefix};
		}
	}
	if (strncasecmp(entry->key, command, n) == 0 && entry->key[n] == '.') {
		return (struct config_option){entry->key + n + 1, ""};
	}
	return (struct config_option){NULL, ""};
}
