/* SPDX-License-Identifier: MIT */
/*
 * Reads damaged recordings (mutants) in every way of paths.c, as TAP: a result for each seed, and a
 * comment for each run that failed.
 *
 *	mutants [-n MUTANTS] [-j WORKERS] [-f FIRST] [-k FOLDER] [-s SYMFS] [-t ITRACE] SEED|FOLDER...
 *
 * Mutant K is number K / SEEDS of seed K % SEEDS, for any number of workers; number 0 is the
 * unchanged seed. `-f K -n 1` repeats one mutant. -k keeps it, or those that failed. A folder with
 * a file `data` is one seed, a directory recording; any other folder contains seeds. -s: folder of
 * objects; -t: letters of --itrace for sessions.
 *
 * Workers are processes: if one ends early, its mutant is counted as failed, and another worker
 * continues after this mutant. A run reads one mutant in one way. Its limits are CPU_MAX seconds of
 * CPU time, WALL_MAX seconds in case that it hangs, and a peak of RSS_MAX KiB of resident memory.
 */
#define _GNU_SOURCE
#include "mutate.h"
#include "paths.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CPU_MAX     5.0 /* seconds */
#define WALL_MAX    120.0 /* seconds; long, for machines that have other work */
#define RSS_MAX     (1024u << 10) /* KiB */
#define SEEDS_MAX   4096
#define WORKERS_MAX 64
#define FILES_MAX   16 /* in a directory recording */
#define SEED_MAX    (1u << 20) /* bytes of a file; longer ones are truncated */

/* Leaks are checked after each mutant, so that they are counted for the right one. */
int __lsan_do_recoverable_leak_check(void) __attribute__((weak));
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "quarantine_size_mb=8:allocator_may_return_null=1:hard_rss_limit_mb=4096:"
	       "handle_abort=1";
}

struct seed {
	char *path;
	const char *name; /* the last part of the path */
	size_t nfiles; /* 0: a file */
	char *files[FILES_MAX];
};

/* The state of a worker, shared with the parent. */
struct slot {
	_Atomic uint64_t mutant; /* current one, or UINT64_MAX */
	_Atomic uint32_t path;
	_Atomic uint64_t cpu; /* CPU time when the run began, in ns */
	_Atomic uint64_t wall;
	_Atomic uint64_t runs, slow, large;
	_Atomic uint64_t most_cpu; /* ns */
	_Atomic uint64_t most_rss; /* KiB */
	_Atomic uint64_t most_rss_at; /* its mutant */
	pid_t pid; /* 0: not running */
	uint64_t next; /* first mutant of the next process */
};

struct runner {
	struct seed seeds[SEEDS_MAX];
	size_t nseeds;
	uint64_t first, end; /* mutants */
	unsigned workers;
	const char *symfs, *itrace; /* see struct input */
	const char *keep;
	char folder[64];
	struct slot *slots; /* by worker */
	_Atomic uint32_t *failed; /* failed runs, by seed */
	unsigned crashed, hung;
};

static uint64_t now(clockid_t clock)
{
	struct timespec t = {0};

	(void)clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- seeds ---- */

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int visible(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

static char *join(const char *folder, const char *name)
{
	char *path = NULL;

	if (asprintf(&path, "%s/%s", folder, name) < 0) {
		abort();
	}
	return path;
}

static struct seed *seed_new(struct runner *r, const char *path)
{
	struct seed *seed = &r->seeds[r->nseeds];
	const char *slash;

	if (r->nseeds == SEEDS_MAX) {
		return NULL;
	}
	r->nseeds++;
	seed->path = strdup(path);
	slash = strrchr(seed->path, '/');
	seed->name = slash != NULL ? slash + 1 : seed->path;
	return seed;
}

static bool is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static void add_directory(struct runner *r, const char *path, struct dirent **entries, int n)
{
	struct seed *seed = seed_new(r, path);

	for (int i = 0; i < n && seed != NULL && seed->nfiles < FILES_MAX; i++) {
		char *file = join(path, entries[i]->d_name);

		if (!is_folder(file)) {
			seed->files[seed->nfiles++] = strdup(entries[i]->d_name);
		}
		free(file);
	}
}

/* Adds the seeds in a folder and its direct subfolders, in order of their names. */
static void add_folder(struct runner *r, const char *path, bool outer)
{
	struct dirent **entries = NULL;
	int n = scandir(path, &entries, visible, by_name);
	bool recording = false;

	for (int i = 0; i < n; i++) {
		recording |= strcmp(entries[i]->d_name, "data") == 0;
	}
	if (recording) {
		add_directory(r, path, entries, n);
	}
	for (int i = 0; i < n; i++) {
		char *file = join(path, entries[i]->d_name);

		if (!recording && !is_folder(file)) {
			(void)seed_new(r, file);
		} else if (!recording && outer) {
			add_folder(r, file, false);
		}
		free(file);
		free(entries[i]);
	}
	free(entries);
}

/* ---- a mutant ---- */

/* The file's first SEED_MAX bytes, with room for a mutant of them. */
static bool load(const char *path, struct mutant *m)
{
	FILE *f = fopen(path, "rb");

	m->room = mutant_room(SEED_MAX);
	m->n = f != NULL ? fread(m->bytes, 1, SEED_MAX, f) : 0;
	return f != NULL && fclose(f) == 0;
}

static void store(const char *path, const struct mutant *m)
{
	FILE *f = fopen(path, "wb");

	if (f == NULL || fwrite(m->bytes, 1, m->n, f) != m->n || fclose(f) != 0) {
		(void)fprintf(stderr, "mutants: cannot write %s: %s\n", path, strerror(errno));
		_exit(3);
	}
}

static void make_file(const char *from, const char *to, struct mutant *m, struct rng *rng)
{
	if (load(from, m) && rng != NULL) {
		mutate(m, rng);
	}
	store(to, m);
}

/* Writes mutant k to path: a file, or a folder in which one file is changed. */
static void make(const struct runner *r, uint64_t k, const char *path, struct mutant *m)
{
	const struct seed *seed = &r->seeds[k % r->nseeds];
	uint64_t number = k / r->nseeds;
	struct rng rng = rng_make(seed->name, number);
	size_t which;

	paths_remove(path); /* the last mutant may have been a folder */
	if (seed->nfiles == 0) {
		make_file(seed->path, path, m, number != 0 ? &rng : NULL);
		return;
	}
	which = (size_t)rng_below(&rng, seed->nfiles);
	(void)mkdir(path, 0700);
	for (size_t i = 0; i < seed->nfiles; i++) {
		char *from = join(seed->path, seed->files[i]), *to = join(path, seed->files[i]);

		make_file(from, to, m, number != 0 && i == which ? &rng : NULL);
		free(from);
		free(to);
	}
}

/* ---- workers ---- */

/* Peak of resident memory since the last call, in KiB. */
static uint64_t peak_rss(void)
{
	char text[4096];
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
	const char *line;
	uint64_t peak = 0;

	if (fd >= 0) {
		(void)close(fd);
	}
	text[n > 0 ? n : 0] = '\0';
	line = strstr(text, "VmHWM:");
	if (line != NULL) {
		peak = strtoull(line + 6, NULL, 10);
	}
	fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
	if (fd >= 0) {
		(void)!write(fd, "5", 1); /* resets the peak */
		(void)close(fd);
	}
	return peak;
}

static void run_path(struct runner *r, struct slot *slot, const struct input *in, uint64_t k)
{
	uint64_t cpu, rss;

	slot->cpu = now(CLOCK_PROCESS_CPUTIME_ID);
	slot->wall = now(CLOCK_MONOTONIC);
	paths[slot->path].run(in, paths[slot->path].mode);
	cpu = now(CLOCK_PROCESS_CPUTIME_ID) - slot->cpu;
	rss = peak_rss();
	slot->most_cpu = cpu > slot->most_cpu ? cpu : slot->most_cpu;
	if (rss > slot->most_rss) {
		slot->most_rss = rss;
		slot->most_rss_at = k;
	}
	slot->runs++;
	if ((double)cpu > CPU_MAX * 1e9 || rss > RSS_MAX) {
		r->failed[k % r->nseeds]++;
		slot->slow += (double)cpu > CPU_MAX * 1e9;
		slot->large += rss > RSS_MAX;
		printf("# mutant %" PRIu64 ", %s: %.2f s, %" PRIu64 " MiB\n", k,
		        paths[slot->path].name, (double)cpu / 1e9, rss >> 10);
		(void)fflush(stdout);
	}
}

static _Noreturn void work(struct runner *r, unsigned w)
{
	struct slot *slot = &r->slots[w];
	struct mutant m = {.bytes = malloc(mutant_room(SEED_MAX))};
	char input[96], output[96], log[96];
	struct input in = {.path = input, .output = output, .symfs = r->symfs, .itrace = r->itrace};

	(void)snprintf(input, sizeof(input), "%s/%u-in", r->folder, w);
	(void)snprintf(output, sizeof(output), "%s/%u-out", r->folder, w);
	(void)snprintf(log, sizeof(log), "%s/%u-log", r->folder, w);
	if (m.bytes == NULL || freopen(log, "w", stderr) == NULL) {
		_exit(3);
	}
	(void)setvbuf(stderr, NULL, _IONBF, 0);
	(void)peak_rss();
	for (uint64_t k = slot->next; k < r->end; k += r->workers) {
		slot->path = 0;
		slot->mutant = k;
		if (ftruncate(fileno(stderr), 0) == 0) {
			rewind(stderr); /* removes messages of earlier mutants */
		}
		make(r, k, input, &m);
		in.number = k / r->nseeds;
		for (slot->path = 0; slot->path < paths_n; slot->path++) {
			run_path(r, slot, &in, k);
		}
		if (__lsan_do_recoverable_leak_check != NULL &&
		        __lsan_do_recoverable_leak_check() != 0) {
			_exit(4);
		}
	}
	slot->mutant = UINT64_MAX;
	_exit(0);
}

static void spawn(struct runner *r, unsigned w)
{
	struct slot *slot = &r->slots[w];
	pid_t pid;

	if (slot->next >= r->end) {
		slot->pid = 0;
		return;
	}
	(void)fflush(stdout);
	slot->mutant = UINT64_MAX;
	slot->wall = now(CLOCK_MONOTONIC);
	pid = fork();
	if (pid == 0) {
		work(r, w);
	}
	if (pid < 0) {
		perror("fork");
		exit(2);
	}
	slot->pid = pid; /* only the parent sets it, as slots are shared */
}

/* ---- the parent ---- */

static void show_log(const struct runner *r, unsigned w)
{
	char path[96], line[512];
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/%u-log", r->folder, w);
	f = fopen(path, "r");
	for (int i = 0; f != NULL && i < 30 && fgets(line, sizeof(line), f) != NULL; i++) {
		printf("#   %s", line);
	}
	if (f != NULL) {
		(void)fclose(f);
	}
}

static void keep(const struct runner *r, uint64_t k)
{
	struct mutant m = {.bytes = malloc(mutant_room(SEED_MAX))};
	char *path = NULL;

	if (r->keep != NULL && m.bytes != NULL &&
	        asprintf(&path, "%s/%s-%" PRIu64, r->keep, r->seeds[k % r->nseeds].name,
	                k / r->nseeds) > 0) {
		make(r, k, path, &m);
	}
	free(path);
	free(m.bytes);
}

/* Counts the failure of a worker that ended early. */
static void on_crash(struct runner *r, unsigned w, int status, bool killed)
{
	struct slot *slot = &r->slots[w];
	uint64_t k = slot->mutant;
	uint32_t path = slot->path;

	if (k == UINT64_MAX || r->nseeds == 0) {
		(void)fprintf(stderr, "mutants: a worker could not start\n");
		show_log(r, w);
		exit(2);
	}
	r->failed[k % r->nseeds]++;
	r->crashed += !killed;
	r->hung += killed;
	printf("# mutant %" PRIu64 ", number %" PRIu64 " of %s, %s: ", k, k / r->nseeds,
	        r->seeds[k % r->nseeds].name, path < paths_n ? paths[path].name : "a leak");
	if (killed) {
		printf("did not end\n");
	} else if (WIFSIGNALED(status)) {
		printf("signal %d\n", WTERMSIG(status));
	} else {
		printf("status %d\n", WEXITSTATUS(status));
	}
	show_log(r, w);
	keep(r, k);
	slot->next = k + r->workers;
	spawn(r, w);
}

/* The worker may set its times while they are read, so differences can be negative. */
static bool is_over(const struct slot *slot)
{
	clockid_t clock;

	if (slot->mutant == UINT64_MAX || clock_getcpuclockid(slot->pid, &clock) != 0) {
		return false;
	}
	return (int64_t)(now(CLOCK_MONOTONIC) - slot->wall) > (int64_t)(WALL_MAX * 1e9) ||
	       (int64_t)(now(clock) - slot->cpu) > (int64_t)(4 * CPU_MAX * 1e9);
}

static unsigned look(struct runner *r)
{
	unsigned running = 0;

	for (unsigned w = 0; r->slots != NULL && w < r->workers; w++) {
		struct slot *slot = &r->slots[w];
		int status = 0;
		bool over;

		if (slot->pid == 0) {
			continue;
		}
		over = is_over(slot);
		if (over) {
			(void)kill(slot->pid, SIGKILL);
		}
		if (waitpid(slot->pid, &status, over ? 0 : WNOHANG) != slot->pid) {
			running++;
		} else if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
			slot->pid = 0;
		} else {
			on_crash(r, w, status, over);
			running += slot->pid != 0;
		}
	}
	return running;
}

static int tell(const struct runner *r)
{
	uint64_t runs = 0, cpu = 0, rss = 0, slow = r->hung, large = 0, failures = 0, at = 0;

	for (unsigned w = 0; w < r->workers; w++) {
		const struct slot *s = &r->slots[w];

		runs += s->runs;
		slow += s->slow;
		large += s->large;
		cpu = s->most_cpu > cpu ? s->most_cpu : cpu;
		at = s->most_rss > rss ? s->most_rss_at : at;
		rss = s->most_rss > rss ? s->most_rss : rss;
	}
	for (size_t i = 0; i < r->nseeds; i++) {
		uint64_t n = (r->end - r->first) / r->nseeds;

		printf("%sok %zu - %s: %" PRIu64 " mutants or one more\n",
		        r->failed[i] != 0 ? "not " : "", i + 1, r->seeds[i].name, n);
		failures += r->failed[i];
	}
	printf("# %" PRIu64 " mutants of %zu seeds, %" PRIu64 " runs: %u crashed, %" PRIu64
	       " over %.0f s, %" PRIu64 " over %u MiB\n",
	        r->end - r->first, r->nseeds, runs, r->crashed, slow, CPU_MAX, large,
	        RSS_MAX >> 10);
	printf("# at most %.2f s, and %" PRIu64 " MiB in mutant %" PRIu64 "\n", (double)cpu / 1e9,
	        rss >> 10, at);
	printf("1..%zu\n", r->nseeds);
	return failures != 0;
}

static void *shared(size_t n)
{
	void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED) {
		perror("mmap");
		exit(2);
	}
	return p;
}

static int run(struct runner *r)
{
	const struct timespec pause = {.tv_nsec = 20000000};
	const char *base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";

	(void)snprintf(r->folder, sizeof(r->folder), "%s/sonde-mutants-XXXXXX", base);
	if (mkdtemp(r->folder) == NULL) {
		perror(r->folder);
		return 2;
	}
	if (r->keep != NULL) {
		(void)mkdir(r->keep, 0777);
	}
	if (r->end - r->first == 1) {
		keep(r, r->first);
	}
	r->slots = shared(r->workers * sizeof(*r->slots));
	r->failed = shared(r->nseeds * sizeof(*r->failed));
	for (unsigned w = 0; w < r->workers; w++) {
		r->slots[w].next = r->first + w;
		spawn(r, w);
	}
	while (look(r) != 0) {
		(void)nanosleep(&pause, NULL);
	}
	/* directories first, then the other files */
	for (unsigned w = 0; w < r->workers; w++) {
		static const char *const parts[] = {"in", "out"};

		for (size_t i = 0; i < 2; i++) {
			char path[96];

			(void)snprintf(path, sizeof(path), "%s/%u-%s", r->folder, w, parts[i]);
			paths_remove(path);
		}
	}
	paths_remove(r->folder);
	return tell(r);
}

int main(int argc, char **argv)
{
	static struct runner r = {.workers = 2, .end = 2000};
	uint64_t n = 2000;
	int c;

	while ((c = getopt(argc, argv, "n:j:f:k:s:t:")) != -1) {
		switch (c) {
		case 'n': n = strtoull(optarg, NULL, 10); break;
		case 'j': r.workers = (unsigned)strtoul(optarg, NULL, 10); break;
		case 'f': r.first = strtoull(optarg, NULL, 10); break;
		case 'k': r.keep = optarg; break;
		case 's': r.symfs = optarg; break;
		case 't': r.itrace = optarg; break;
		default: return 2;
		}
	}
	for (int i = optind; i < argc; i++) {
		if (is_folder(argv[i])) {
			add_folder(&r, argv[i], true);
		} else if (seed_new(&r, argv[i]) == NULL) {
			break;
		}
	}
	if (r.nseeds == 0 || r.workers == 0 || r.workers > WORKERS_MAX) {
		(void)fprintf(stderr, "usage: mutants [-n MUTANTS] [-j WORKERS] [-f FIRST] "
		                      "[-k FOLDER] [-s SYMFS] [-t ITRACE] SEED|FOLDER...\n");
		return 2;
	}
	r.end = r.first + n;
	return run(&r);
}
