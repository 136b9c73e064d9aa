/* SPDX-License-Identifier: MIT */
/*
 * Every allocation of the library fails once, as TAP: allocation [--long] FOLDER PROGRAM [CASE].
 *
 * Each case runs with its first allocation failing, then its second, and so on until none is left
 * (without --long with growing steps after the first STEP_FROM). Each run must end with
 * SONDE_ENOMEM and, where the handle keeps an error, that error; or, where the library can do
 * without what it wanted to allocate, with exactly the result of a run in which nothing failed. No
 * run may leave a block or a file descriptor.
 */
#include "cases.h"
#include "fail.h"
#include "tap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define STEP_FROM 192u
#define SHOWN     5u /* failures of a case that are described */

int outcome_add(void *outcome, const char *bytes, size_t n)
{
	struct outcome *out = outcome;

	for (size_t i = 0; i < n; i++) { /* FNV-1a */
		out->digest = (out->digest ^ (uint8_t)bytes[i]) * 0x100000001b3u;
	}
	out->bytes += n;
	return 0;
}

void outcome_number(struct outcome *out, uint64_t number)
{
	(void)outcome_add(out, (const char *)&number, sizeof(number));
}

int outcome_error(struct outcome *out, int rc, const struct sonde_error *error)
{
	if (rc < 0) {
		out->error = *error;
		(void)snprintf(out->text, sizeof(out->text), "%s", error->text);
		out->error.text = out->text;
	}
	return rc;
}

void outcome_diag(void *outcome, const struct sonde_diag *diag)
{
	outcome_number(outcome, (uint64_t)diag->kind);
	(void)outcome_add(outcome, diag->detail, strlen(diag->detail));
}

void outcome_file(struct outcome *out, const char *path)
{
	FILE *f = fopen(path, "rbe");
	char bytes[4096];
	size_t n;

	while (f != NULL && (n = fread(bytes, 1, sizeof(bytes), f)) != 0) {
		(void)outcome_add(out, bytes, n);
	}
	if (f != NULL) {
		(void)fclose(f);
	}
}

/* ---- one run ---- */

struct state {
	const struct input *in;
	bool every; /* allocation fails, not only one of several */
	const char *only; /* a case; NULL: all */
};

/* The lowest free descriptor: a higher one than before means that a run left some open. */
static int next_fd(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	(void)close(fd);
	return fd;
}

static const char *judge(
        const struct alloc_case *c, const struct outcome *base, const struct outcome *out)
{
	if (out->rc == SONDE_ENOMEM) {
		if (out->status_only) {
			return NULL;
		}
		if (out->error.text != NULL && out->error.status != SONDE_ENOMEM) {
			return "the handle's error has another status";
		}
		return out->error.text != NULL && out->error.text[0] == '\0'
		               ? "an error without text"
		               : NULL;
	}
	if (out->rc != base->rc) {
		return "another status than SONDE_ENOMEM";
	}
	return c->varies || (out->digest == base->digest && out->bytes == base->bytes)
	               ? NULL
	               : "a good status, but another result";
}

/* Runs the case with allocation `nth` failing. NULL: all as it must be. */
static const char *run(const struct alloc_case *c, const struct state *st, uint64_t nth,
        const struct outcome *base, bool trace, bool *hit)
{
	int64_t live = fail_live();
	int fd = next_fd();
	struct outcome out = {.digest = 0xcbf29ce484222325u};
	const char *wrong;

	fail_at(nth, trace);
	out.rc = c->run(&out, st->in);
	*hit = fail_end();
	wrong = judge(c, base, &out);
	if (wrong == NULL && fail_live() != live) {
		wrong = "blocks of memory stay";
	}
	if (wrong == NULL && next_fd() != fd) {
		wrong = "a file stays open";
	}
	if (wrong != NULL && trace) {
		printf("#   %s: status %d \"%s\"; blocks %+" PRId64 "\n", wrong, out.rc, out.text,
		        fail_live() - live);
	}
	return wrong;
}

/* ---- all runs of a case ---- */

/*
 * A live recording can differ by chance, for example in the records that a busy machine loses; what
 * a failed allocation does is the same again.
 */
static bool loop(
        const struct alloc_case *c, const struct state *st, const struct outcome *base, bool live)
{
	unsigned wrong = 0, runs = 0;
	bool hit = true;
	uint64_t nth;

	for (nth = 1; hit; nth += st->every ? 1 : 1 + nth / STEP_FROM) {
		const char *why = run(c, st, nth, base, false, &hit), *again;

		runs++;
		if (why != NULL && wrong < SHOWN) {
			printf("# allocation %" PRIu64 ": %s\n", nth, why);
			(void)fflush(stdout);
			again = run(c, st, nth, base, true, &hit);
			wrong += !live || again != NULL;
			hit = true;
		}
	}
	printf("# %u runs\n", runs);
	return wrong == 0 && nth > 1;
}

static void test_case(const struct alloc_case *c, const struct state *st, bool live)
{
	struct outcome base = {.digest = 0xcbf29ce484222325u};
	struct outcome first = base;
	char what[160];
	bool hit;

	(void)c->run(&first, st->in); /* what is allocated once in a process is there afterwards */
	fail_at(0, false);
	base.rc = c->run(&base, st->in);
	(void)snprintf(what, sizeof(what),
	        "%s: each failed allocation is SONDE_ENOMEM or changes nothing", c->name);
	if (live && (base.rc == SONDE_EPERM || base.rc == SONDE_EUNSUPPORTED ||
	                    base.rc == SONDE_ENOENT)) {
		skip(base.text[0] != '\0' ? base.text : sonde_status_text(base.rc));
		return;
	}
	printf("# %s: %" PRIu64 " allocations, status %d, %" PRIu64 " bytes %s\n", c->name,
	        fail_count(), base.rc, base.bytes, base.text);
	if (base.rc < 0 || run(c, st, 0, &base, true, &hit) != NULL) {
		ok(false, what);
		return;
	}
	ok(loop(c, st, &base, live), what);
	(void)fflush(stdout);
}

static void test_cases(const struct alloc_case *c, const struct state *st, bool live)
{
	for (; c->name != NULL; c++) {
		if (st->only == NULL || strcmp(st->only, c->name) == 0) {
			test_case(c, st, live);
		}
	}
}

static void below(char *path, size_t n, const char *folder, const char *name)
{
	(void)snprintf(path, n, "%s/%s", folder, name);
}

int main(int argc, char **argv)
{
	static char containers[4][256];
	static const char *const names[] = {"stream", "folder", "packed", "damaged"};
	bool every = argc > 1 && strcmp(argv[1], "--long") == 0;
	struct input in = {.folder = NULL};
	struct state st = {.in = &in, .every = every};

	argv += every;
	argc -= every;
	if (argc < 3) {
		return 2;
	}
	in.folder = argv[1];
	in.program = argv[2];
	st.only = argc > 3 ? argv[3] : NULL;
	below(in.made, sizeof(in.made), in.folder, "made");
	below(in.branches, sizeof(in.branches), in.folder, "branches");
	below(in.tracepoints, sizeof(in.tracepoints), in.folder, "tracepoints");
	below(in.sched, sizeof(in.sched), in.folder, "sched");
	below(in.jit, sizeof(in.jit), in.folder, "jit");
	below(in.counts, sizeof(in.counts), in.folder, "counts");
	below(in.host, sizeof(in.host), in.folder, "host");
	below(in.kallsyms, sizeof(in.kallsyms), in.folder, "kallsyms");
	below(in.code, sizeof(in.code), in.folder, "code");
	below(in.trace, sizeof(in.trace), in.folder, "trace");
	below(in.vm, sizeof(in.vm), in.folder, "guests.data");
	below(in.traced, sizeof(in.traced), in.folder, "others.data");
	below(in.symfs, sizeof(in.symfs), in.folder, "symfs");
	below(in.out, sizeof(in.out), in.folder, "out");
	for (size_t i = 0; i < 4; i++) {
		below(containers[i], sizeof(containers[i]), in.folder, names[i]);
		in.containers[i] = containers[i];
	}
	test_cases(read_cases, &st, false);
	test_cases(write_cases, &st, false);
	test_cases(pt_cases, &st, false);
	test_cases(traces_cases, &st, false);
	test_cases(edit_cases, &st, false);
	test_cases(record_cases, &st, true);
	test_cases(count_cases, &st, true);
	return tap_done();
}
