/* SPDX-License-Identifier: MIT */
#include "cmd/commands.h"
#include "cmd/recording.h"
#include "cmd/target.h"
#include "cmd/terminal.h"

#include <errno.h>
#include <sonde/preview/inspect.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct data {
	struct recording r;
	const char *json;
	int verbose;
};

static int write_file(void *arg, const char *text, size_t n)
{
	return fwrite(text, 1, n, arg) == n ? 0 : -1;
}

static int print_to(struct data *d, struct sonde_session *s, FILE *f, uint64_t *samples)
{
	int rc = sonde_perf_json_print(s, samples, write_file, f);

	if (rc >= 0 && fflush(f) != 0) {
		rc = SONDE_EOUTPUT;
	}
	if (rc < 0) {
		(void)fprintf(stderr, "Error: cannot write %s: %s\n", d->json,
		        rc == SONDE_EOUTPUT ? strerror(errno) : sonde_session_error(s)->text);
	}
	return rc;
}

/* Opens the output; NULL: it was reported why not. */
static FILE *open_json(struct data *d, struct target *t)
{
	bool exists = strcmp(d->json, "-") != 0 && access(d->json, F_OK) == 0;
	int rc = exists && !d->r.force ? -EEXIST : target_open(t, d->json);
	FILE *f = rc == 0 ? fdopen(t->fd, "w") : NULL;

	if (f == NULL) {
		rc = rc == 0 ? -errno : rc;
		(void)fprintf(stderr, "Error: cannot write %s: %s%s\n", d->json, strerror(-rc),
		        rc == -EEXIST ? "; replace it with --force" : "");
	}
	return f;
}

static int write_json(struct data *d, struct sonde_session *s)
{
	struct target t = {.fd = -1};
	FILE *f = open_json(d, &t);
	uint64_t samples = 0;
	int rc, closed;

	if (f == NULL) {
		(void)target_close(&t, false);
		return 1;
	}
	rc = print_to(d, s, f, &samples);
	if (t.fd != STDOUT_FILENO) {
		t.fd = -1;
		(void)fclose(f);
	}
	closed = target_close(&t, rc >= 0);
	if (rc >= 0 && closed < 0) {
		(void)fprintf(stderr, "Error: cannot write %s: %s\n", d->json, strerror(-closed));
	}
	if (rc < 0 || closed < 0) {
		return 1;
	}
	if (strcmp(d->json, "-") != 0) {
		(void)fprintf(stderr, "[ sonde data convert: wrote %llu samples of %s to %s ]\n",
		        (unsigned long long)samples, d->r.input, d->json);
	}
	return recording_damaged(&d->r, s);
}

/* Options of perf for its other format. */
static int on_refused(const struct option_def *def, const char *arg, bool unset)
{
	(void)arg;
	(void)unset;
	(void)fprintf(stderr,
	        "Error: --%s is about the format CTF, which Sonde does not write; 'perf data "
	        "convert' does\n",
	        def->long_name);
	return -1;
}

static int run_convert(int argc, char **argv)
{
	struct data d = {.r = RECORDING};
	const struct option_def defs[] = {
	        OPTION_TEXT(0, "to-json", &d.json, "FILE",
	                "write the samples as JSON; '-': standard output"),
	        OPTION_TEXT(
	                'i', "input", &d.r.input, "FILE", "input file; perf.data when not given"),
	        OPTION_SWITCH('f', "force", &d.r.force,
	                "replace the output file; read files of other users too"),
	        OPTION_COUNT('v', "verbose", &d.verbose, "changes nothing"),
	        OPTION_CALL(0, "to-ctf", OPTION_REQUIRED, on_refused, NULL, "FOLDER", NULL),
	        OPTION_CALL(0, "tod", OPTION_NONE, on_refused, NULL, NULL, NULL),
	        OPTION_CALL(0, "all", OPTION_NONE, on_refused, NULL, NULL, NULL),
	        OPTION_END,
	};
	const struct option_command command = {
	        .name = "data convert",
	        .usage = "--to-json FILE [options]",
	        .about = "Writes the samples of a recording in the form of 'perf data convert'.",
	        .defs = defs,
	        .words = OPTION_NO_WORDS,
	};
	struct option_rest rest;
	struct sonde_session *s;
	int rc = options_parse(&command, argc, argv, &rest);

	if (rc != OPTIONS_RUN) {
		return rc;
	}
	if (d.json == NULL) {
		return options_mistake(&command, "say what to write: --to-json FILE");
	}
	s = recording_open(&d.r);
	rc = s != NULL ? write_json(&d, s) : RECORDING_FAILED;
	sonde_session_free(s);
	return rc;
}

int cmd_data(int argc, char **argv)
{
	char flag[] = "--help";
	char *help[] = {argv[0], flag, NULL};

	if (argc > 1 && strcmp(argv[1], "convert") == 0) {
		return run_convert(argc - 1, argv + 1);
	}
	if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
		return run_convert(2, help);
	}
	(void)fprintf(stderr, "sonde data: %s; the only one is 'sonde data convert'\n",
	        argc < 2 ? "name a command" : "there is no such command");
	return OPTIONS_USAGE;
}
