/* SPDX-License-Identifier: MIT */
#include "cmd/terminal.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define EXIT_FILE     255 /* the file is missing or cannot be used */
#define EXIT_OUTPUT   1 /* standard output cannot be written */
#define NS_PER_S      1000000000ull
#define SHOW_AFTER_NS 500000000ull
#define DIAGS_MAX     20 /* printed diagnostics */
#define BAR_WIDTH     40

static bool paginated; /* set once, by main: standard output is a pipe to the pager */

int terminal_color(const char *when)
{
	const char *no_color = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	if (when != NULL && strcmp(when, "always") == 0) {
		return 1;
	}
	if (when != NULL && strcmp(when, "never") == 0) {
		return 0;
	}
	if (when != NULL && strcmp(when, "auto") != 0) {
		return -1;
	}
	return (isatty(STDOUT_FILENO) || paginated) && (no_color == NULL || *no_color == 0) &&
	       (term == NULL || strcmp(term, "dumb") != 0);
}

static const char *pager_command(void)
{
	static const char *const names[] = {"SONDE_PAGER", "PERF_PAGER", "PAGER"};
	const char *p = NULL;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && p == NULL; i++) {
		p = getenv(names[i]);
	}
	if (p == NULL && access("/usr/bin/pager", X_OK) == 0) {
		p = "/usr/bin/pager";
	}
	if (p == NULL) {
		p = "less";
	}
	return *p == 0 || strcmp(p, "cat") == 0 ? NULL : p;
}

static void pager_exec(const char *command, const int pipefd[2])
{
	(void)dup2(pipefd[0], STDIN_FILENO);
	close(pipefd[0]);
	close(pipefd[1]);
	setenv("LESS", "FRSX", 0);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

bool terminal_output_through(struct terminal_output *out, const char *command)
{
	int pipefd[2];

	*out = (struct terminal_output){.fd = STDOUT_FILENO};
	if (pipe(pipefd) != 0) {
		return false;
	}
	out->pager = fork();
	if (out->pager == 0) {
		pager_exec(command, pipefd);
	}
	close(pipefd[0]);
	if (out->pager < 0) {
		close(pipefd[1]);
		out->pager = 0;
		return false;
	}
	(void)signal(SIGPIPE, SIG_IGN); /* the user may leave the pager early */
	out->fd = pipefd[1];
	return true;
}

void terminal_output_open(struct terminal_output *out, bool pager)
{
	const char *command = pager && isatty(STDOUT_FILENO) ? pager_command() : NULL;

	*out = (struct terminal_output){.fd = STDOUT_FILENO};
	if (command != NULL) {
		(void)terminal_output_through(out, command);
	}
}

void terminal_paginate(struct terminal_output *out)
{
	terminal_output_open(out, true);
	if (out->pager > 0 && dup2(out->fd, STDOUT_FILENO) == STDOUT_FILENO) {
		close(out->fd);
		out->fd = STDOUT_FILENO;
		paginated = true;
	}
}

int terminal_output_write(void *arg, const char *text, size_t n)
{
	struct terminal_output *out = arg;

	while (n > 0) {
		ssize_t done = write(out->fd, text, n);

		if (done < 0 && errno == EINTR) {
			continue;
		}
		if (done < 0) {
			out->error = errno;
			return -1;
		}
		text += done;
		n -= (size_t)done;
	}
	return 0;
}

void terminal_output_close(struct terminal_output *out)
{
	if (out->pager > 0) {
		close(out->fd);
		while (waitpid(out->pager, NULL, 0) < 0 && errno == EINTR) {
		}
	}
	out->pager = 0;
}

bool terminal_output_failed(const struct terminal_output *out, int *status)
{
	if (out->error != 0) {
		*status = terminal_stdout_failed(out->error);
	}
	return out->error != 0;
}

int terminal_stdout_failed(int error)
{
	if (error == EPIPE) {
		return 0;
	}
	(void)fprintf(stderr, "Error: cannot write standard output%s%s\n", error != 0 ? ": " : "",
	        error != 0 ? strerror(error) : "");
	return EXIT_OUTPUT;
}

int terminal_stdout_finish(int status)
{
	bool failed = ferror(stdout) != 0;
	int rc;

	errno = 0;
	if (fflush(stdout) == 0 && !failed) {
		return status;
	}
	rc = terminal_stdout_failed(errno);
	return status != 0 ? status : rc;
}

int terminal_exit(const struct terminal_output *out, int rc, const char *input, const char *message)
{
	int status;

	if (terminal_output_failed(out, &status)) {
		return status;
	}
	if (rc < 0) {
		(void)fprintf(stderr, "Error: %s\n", message);
		return EXIT_FILE;
	}
	if (rc > 0) {
		(void)fprintf(stderr,
		        "Warning: part of %s was not read (see above); what is shown may not be "
		        "all\n",
		        input);
	}
	return rc > 0;
}

void terminal_diag_show(unsigned *shown, const struct sonde_diag *diag)
{
	const char *word = diag->kind == SONDE_DIAG_NOTE ? "Note" : "Warning";

	++*shown;
	if (*shown == DIAGS_MAX + 1) {
		(void)fputs("Warning: further warnings are suppressed\n", stderr);
	}
	if (*shown > DIAGS_MAX) {
		return;
	}
	if (diag->offset == UINT64_MAX) {
		(void)fprintf(stderr, "%s: %s\n", word, diag->detail);
	} else {
		(void)fprintf(
		        stderr, "%s: %s (at byte %" PRIu64 ")\n", word, diag->detail, diag->offset);
	}
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

/* ", 12 s left"; nothing in the first second of a step. */
static const char *time_left(char out[32], uint64_t elapsed, uint64_t done, uint64_t total)
{
	double left = (double)elapsed / NS_PER_S * (double)(total - done) / (double)done;

	out[0] = '\0';
	if (elapsed >= NS_PER_S && left < 60) {
		(void)snprintf(out, 32, ", %.0f s left", left < 1 ? 1 : left);
	} else if (elapsed >= NS_PER_S) {
		(void)snprintf(out, 32, ", %.0f min left", left / 60);
	}
	return out;
}

/* ", 120000 samples/s"; nothing in the first second. */
static const char *rate(char out[64], const struct terminal_progress *p, uint64_t now)
{
	double seconds = (double)(now - p->started) / NS_PER_S;

	out[0] = '\0';
	if (p->count != NULL && seconds >= 1) {
		(void)snprintf(out, 64, ", %.0f %s/s", (double)*p->count / seconds, p->unit);
	}
	return out;
}

void terminal_progress_show(void *arg, uint64_t done, uint64_t total)
{
	struct terminal_progress *p = arg;
	unsigned percent = total == 0 ? 0 : (unsigned)((double)done / (double)total * 100.0);
	int filled = (int)percent * BAR_WIDTH / 100;
	char left[32], per_second[64];
	uint64_t now;

	if (p->over || !isatty(STDERR_FILENO)) {
		return;
	}
	now = now_ns();
	p->started = p->started == 0 ? now : p->started;
	p->step = done == 0 ? now : p->step;
	if (done == 0 || percent > 100 || now - p->started < SHOW_AFTER_NS ||
	        (p->printed != 0 && p->percent == percent && now - p->printed < NS_PER_S)) {
		return;
	}
	(void)fprintf(stderr, "\rProcessing [%.*s%*s] %u%%%s%s\033[K", filled,
	        "########################################", BAR_WIDTH - filled, "", percent,
	        rate(per_second, p, now), time_left(left, now - p->step, done, total));
	p->printed = now;
	p->percent = percent;
}

void terminal_progress_end(struct terminal_progress *p)
{
	if (p->printed != 0) {
		(void)fputs("\r\033[K", stderr);
		p->printed = 0;
	}
}

void terminal_progress_yield(struct terminal_progress *p, const struct terminal_output *out)
{
	if (!p->over && (out->pager > 0 || isatty(out->fd))) {
		terminal_progress_end(p);
		p->over = true;
	}
}
