/* SPDX-License-Identifier: MIT */
/*
 * What an embedder gets from one handle, on recordings that perf made (tests/recordings): the same from
 * a file, from memory, a descriptor and a pipe; side-band, filters, lists. argv: the folder.
 */
#include "core/text.h"
#include "tap.h"

#include <sonde/preview/session.h>

#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *folder;

static const char *path_of(const char *name)
{
	static char path[4096];

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static struct text read_all(const char *name)
{
	struct text t = {0};
	FILE *f = fopen(path_of(name), "rb");
	char part[4096];
	size_t n;

	if (f == NULL) {
		abort();
	}
	while ((n = fread(part, 1, sizeof(part), f)) != 0) {
		text_bytes(&t, part, n);
	}
	(void)fclose(f);
	return t;
}

static struct sonde_session *new_session(void)
{
	struct sonde_session_options o = {.size = sizeof(o), .jobs = 2};
	struct sonde_session *s = sonde_session_new(&o);

	if (s == NULL) {
		abort();
	}
	return s;
}

static struct sonde_session *open_path(const char *name)
{
	struct sonde_session *s = new_session();

	if (sonde_session_open(s, path_of(name)) < 0) {
		abort();
	}
	return s;
}

static void choose(struct sonde_session *s, uint32_t kinds, const char *comms, bool no_samples)
{
	const struct sonde_session_choice c = {.size = sizeof(c),
	        .kinds = kinds,
	        .no_samples = no_samples,
	        .filter = {.comms = comms}};

	if (sonde_session_choose(s, &c) < 0) {
		abort();
	}
}

/* One line for each event. */
static struct text events_of(struct sonde_session *s)
{
	const struct sonde_event *e;
	struct text t = {0};

	while (sonde_session_next(s, &e) > 0) {
		text_printf(&t, "%u %u %s %u/%u %llu %llx %llu\n", e->type, e->event,
		        e->thread.comm, e->thread.pid, e->thread.tid,
		        (unsigned long long)e->sample->time, (unsigned long long)e->sample->ip,
		        (unsigned long long)e->offset);
	}
	text_char(&t, '\0');
	return t;
}

static bool same(const struct text *a, const struct text *b)
{
	return a->n == b->n && a->n > 1 && memcmp(a->p, b->p, a->n) == 0;
}

static bool from_memory(const char *name, const struct text *want)
{
	struct text bytes = read_all(name);
	struct sonde_session *s = new_session();
	bool good = sonde_session_open_memory(s, bytes.p, bytes.n) == 0;
	struct text got = {0};

	if (good) {
		choose(s, SONDE_KINDS_TASKS | SONDE_KINDS_MMAPS, NULL, false);
		got = events_of(s);
		good = same(&got, want);
	}
	sonde_session_free(s);
	text_fini(&got);
	text_fini(&bytes);
	return good;
}

static bool from_fd(int fd, const struct text *want)
{
	struct sonde_session *s = new_session();
	bool good = sonde_session_open_fd(s, fd) == 0;
	struct text got = {0};

	(void)close(fd); /* it is not needed any more */
	if (good) {
		choose(s, SONDE_KINDS_TASKS | SONDE_KINDS_MMAPS, NULL, false);
		got = events_of(s);
		good = same(&got, want);
	}
	sonde_session_free(s);
	text_fini(&got);
	return good;
}

/* A descriptor from which a child writes the file. */
static int pipe_of(const char *name)
{
	struct text bytes = read_all(name);
	int fds[2];

	if (pipe(fds) != 0) {
		abort();
	}
	if (fork() == 0) {
		size_t at = 0;

		(void)close(fds[0]);
		while (at < bytes.n) {
			ssize_t n = write(fds[1], bytes.p + at, bytes.n - at);

			if (n <= 0) {
				_exit(1);
			}
			at += (size_t)n;
		}
		_exit(0);
	}
	(void)close(fds[1]);
	text_fini(&bytes);
	return fds[0];
}

static void test_opening(const char *name)
{
	struct sonde_session *s = open_path(name);
	struct text want;
	int fd = open(path_of(name), O_RDONLY);

	choose(s, SONDE_KINDS_TASKS | SONDE_KINDS_MMAPS, NULL, false);
	want = events_of(s);
	ok(want.n > 100, "a file has events");
	ok(from_memory(name, &want), "memory has the events of the file");
	ok(fd >= 0 && lseek(fd, 100, SEEK_SET) == 100 && from_fd(fd, &want),
	        "a descriptor has the events of the file, wherever it is");
	ok(from_fd(pipe_of(name), &want), "a pipe has the events of the file");
	(void)wait(NULL);
	sonde_session_free(s);
	text_fini(&want);
}

/* Lines of a golden text of perf with a word in them. */
static size_t lines_with(const char *name, const char *word)
{
	struct text t = read_all(name);
	size_t n = 0;

	text_char(&t, '\0');
	for (const char *p = t.p; (p = strstr(p, word)) != NULL; p++) {
		n++;
	}
	text_fini(&t);
	return n;
}

struct sums {
	uint64_t n[2][32]; /* by worker and type */
};

static int count(void *arg, unsigned worker, const struct sonde_event *e)
{
	((struct sums *)arg)->n[worker][e->type & 31]++;
	return 0;
}

static void test_side_band(void)
{
	static const struct {
		uint32_t type;
		const char *word;
	} kinds[] = {{SONDE_RECORD_COMM, "PERF_RECORD_COMM"},
	        {SONDE_RECORD_FORK, "PERF_RECORD_FORK"}, {SONDE_RECORD_EXIT, "PERF_RECORD_EXIT"},
	        {SONDE_RECORD_MMAP2, "PERF_RECORD_MMAP2"},
	        {SONDE_RECORD_SWITCH, "PERF_RECORD_SWITCH "}};
	struct sonde_session *s = open_path("switches.data");
	uint64_t n[32] = {0}, last = 0;
	const struct sonde_event *e;
	struct sums sums = {0};
	bool order = true;

	choose(s, SONDE_KINDS_TASKS | SONDE_KINDS_MMAPS | SONDE_KINDS_SWITCHES, NULL, false);
	while (sonde_session_next(s, &e) > 0) {
		n[e->type & 31]++;
		order &= e->sample->time >= last;
		last = e->sample->time;
	}
	ok(order, "side-band and samples come by time");
	eq_u64((uint64_t)sonde_session_map(s, count, &sums), 0, "a map over side-band and samples");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t want = lines_with("switches.records", kinds[i].word);

		ok(n[kinds[i].type] == want && want != 0, kinds[i].word);
		eq_u64(sums.n[0][kinds[i].type] + sums.n[1][kinds[i].type], want,
		        "the map gives as many");
	}
	eq_u64(n[SONDE_RECORD_SAMPLE], lines_with("switches.script", "cpu-clock:u:"),
	        "samples are those that perf prints");
	choose(s, SONDE_KIND(SONDE_RECORD_FORK), NULL, true);
	for (n[0] = 0; sonde_session_next(s, &e) > 0; n[0]++) {
		order &= e->type == SONDE_RECORD_FORK;
	}
	ok(order && n[0] == n[SONDE_RECORD_FORK], "next begins anew with another choice");
	eq_u64((uint64_t)(uint32_t)sonde_session_choose(s, NULL), 0, "no choice is all samples");
	for (n[0] = 0; sonde_session_next(s, &e) > 0; n[0]++) {
		order &= e->type == SONDE_RECORD_SAMPLE;
	}
	ok(order && n[0] == n[SONDE_RECORD_SAMPLE], "samples come without side-band again");
	sonde_session_free(s);
}

static void test_filter(void)
{
	struct sonde_session_choice bad = {.size = sizeof(bad), .filter = {.pids = "x"}};
	struct sonde_session_choice when = {.size = sizeof(when), .filter = {.time = "10%-60%"}};
	struct sonde_session *s = open_path("tasks.data");
	const struct sonde_event *e;
	struct sums sums = {0};
	uint64_t n = 0, all = 0, first = UINT64_MAX, last = 0, from = UINT64_MAX, to = 0;
	bool names = true;

	while (sonde_session_next(s, &e) > 0) {
		first = e->sample->time < first ? e->sample->time : first;
		last = e->sample->time > last ? e->sample->time : last;
		all++;
	}
	choose(s, 0, "child,spin", false);
	for (; sonde_session_next(s, &e) > 0; n++) {
		names &=
		        strcmp(e->thread.comm, "child") == 0 || strcmp(e->thread.comm, "spin") == 0;
	}
	eq_u64(n, lines_with("tasks.script", " child ") + lines_with("tasks.script", " spin "),
	        "a filter by names takes the lines that perf prints with them");
	ok(names && n != 0 && n < all, "the filter takes some samples");
	(void)sonde_session_map(s, count, &sums);
	eq_u64(sums.n[0][9] + sums.n[1][9], n, "a map uses the same filter");
	ok(sonde_session_choose(s, &when) == 0, "a range of time is chosen");
	for (n = 0; sonde_session_next(s, &e) > 0; n++) {
		from = e->sample->time < from ? e->sample->time : from;
		to = e->sample->time > to ? e->sample->time : to;
	}
	ok(n != 0 && from >= first + (last - first) / 10 &&
	                to <= first + (last - first) / 10 * 6 + 9,
	        "samples are within the range of time");
	ok(sonde_session_choose(s, &bad) == SONDE_EARG &&
	                strstr(sonde_session_error(s)->text, "process ids") != NULL,
	        "a filter that makes no sense is refused in words");
	for (n = 0; sonde_session_next(s, &e) > 0; n++) {
	}
	eq_u64(n, all, "after a refused filter all samples come");
	sonde_session_free(s);
}

static void test_lists(void)
{
	struct sonde_session *s = open_path("tasks.data");
	const struct sonde_process *p;
	const struct sonde_thread_life *t;
	const struct sonde_mapping *m;
	const struct sonde_object *o;
	bool parent = false, helper = false, spin = false, mapped = false;
	size_t at, n = 0;

	for (at = 0; sonde_session_next_process(s, &at, &p) > 0;) {
		parent |= p->pid == 24450 && p->ppid == 24431 && p->start / 1000 == 2296562318 &&
		          strcmp(p->comm, "child") == 0;
	}
	ok(parent, "a process has its parent and name, as in perf's FORK and COMM lines");
	for (at = 0; sonde_session_next_thread(s, &at, &t) > 0;) {
		helper |= t->pid == 24431 && t->tid == 24452 && strcmp(t->comm, "helper") == 0;
	}
	ok(helper, "a thread has its process and last name");
	for (at = 0; sonde_session_next_object(s, &at, &o) > 0;) {
		spin |= o->kind == SONDE_OBJECT_FILE && strcmp(o->name, "/mnt/spin") == 0;
	}
	ok(spin, "objects have the mapped files");
	for (at = 0; sonde_session_next_mapping(s, &at, &m) > 0;) {
		n += m->pid != UINT32_MAX;
		mapped |= m->pid == 24431 && m->start == 0x400000 && m->end == 0x401000 &&
		          strcmp(m->object->name, "/mnt/tasks") == 0;
	}
	ok(mapped, "a mapping has its process, addresses and object");
	eq_u64(n, lines_with("tasks.records", "PERF_RECORD_MMAP2"),
	        "mappings of processes are perf's MMAP2 lines");
	sonde_session_free(s);
}

static void test_misuse(void)
{
	struct sonde_session *s = new_session();
	const struct sonde_process *p;
	struct sonde_thread who;
	size_t at = 0;

	ok(sonde_session_choose(s, NULL) == SONDE_EARG && sonde_session_file(s) == NULL &&
	                sonde_session_next_process(s, &at, &p) == SONDE_EARG &&
	                sonde_session_running(s, 0, 0, &who) == SONDE_EARG,
	        "a session without a recording refuses lists and choices");
	ok(sonde_session_open_memory(s, "no recording", 12) == SONDE_EFORMAT,
	        "memory without a recording is a format error");
	sonde_session_free(s);
	s = new_session();
	ok(sonde_session_open_fd(s, -1) < 0 && strstr(sonde_session_error(s)->text, "descriptor"),
	        "a bad descriptor is an error in words");
	sonde_session_free(s);
}

int main(int argc, char **argv)
{
	folder = argc > 1 ? argv[1] : ".";
	test_opening("tasks.data");
	test_opening("pipe.data");
	test_opening("compressed.data");
	test_side_band();
	test_filter();
	test_lists();
	test_misuse();
	return tap_done();
}
