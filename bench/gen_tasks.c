/* SPDX-License-Identifier: MIT */
/*
 * Writes a perf.data file with very many short processes, or with very many mappings of one process with many
 * threads. It is the same on every machine, and written as a stream, so that its size has no limit.
 *
 *  -n N   N processes, one every 60 ms (10 million are a week): fork, exec, two mappings, one or two samples, exit.
 *         64 of them live at a time; process ids are used again after 30,000.
 *  -m M   M mappings of one process with -t T threads (2000), at most 50,000 at a time: one is made, one is sampled.
 */
#include <getopt.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	ATTR_SIZE = 128, /* PERF_ATTR_SIZE_VER7 */
	HEADER_SIZE = 104,
	DATA_OFFSET = HEADER_SIZE + ATTR_SIZE + 16,
	ALIVE = 64, /* processes at a time */
	PIDS = 30000,
	PROGRAMS = 50,
	CPUS = 4,
	MAPPINGS_ALIVE = 50000,
	PERIOD = 100000, /* ns */
};

#define TASK_STEP    60000000ull /* ns from one process to the next */
#define T0           1000000000000ull
#define PROGRAM_BASE 0x555555554000ull
#define LIBC_BASE    0x7f0000000000ull
#define MAP_BASE     0x100000000ull
#define MAP_SIZE     0x10000u
#define PAGE         0x1000u

enum record_type { COMM = 3, EXIT = 4, FORK = 7, SAMPLE = 9, MMAP2 = 10, FINISHED_ROUND = 68 };
enum { MISC_USER = 2, MISC_COMM_EXEC = 1 << 13 };
/* IP, TID, TIME, CALLCHAIN, CPU, PERIOD */
enum { SAMPLE_TYPE = 1 | 2 | 4 | 32 | 128 | 256 };

/* One record that is being made. */
struct record {
	uint8_t bytes[512];
	size_t n;
};

struct gen {
	FILE *file;
	const char *path;
	uint64_t written; /* bytes of records */
	uint64_t rng;
};

static void die(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));

static void die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)fprintf(stderr, "sonde-gen-tasks: ");
	(void)vfprintf(stderr, fmt, ap);
	(void)fputc('\n', stderr);
	va_end(ap);
	exit(1);
}

/* splitmix64 */
static uint64_t next_random(struct gen *g)
{
	uint64_t z = g->rng += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

static void put(struct record *r, const void *data, size_t n)
{
	memcpy(r->bytes + r->n, data, n);
	r->n += n;
}

static void put64(struct record *r, uint64_t v)
{
	put(r, &v, 8);
}

static void put32(struct record *r, uint32_t v)
{
	put(r, &v, 4);
}

/* A text with its NUL, padded with NULs to a multiple of 8. */
static void put_text(struct record *r, const char *s)
{
	size_t n = strlen(s) + 1;

	put(r, s, n);
	memset(r->bytes + r->n, 0, (8 - n % 8) % 8);
	r->n += (8 - n % 8) % 8;
}

static void begin(struct record *r, enum record_type type, unsigned misc)
{
	r->n = 0;
	put32(r, type);
	put32(r, misc);
}

/* Sets the size of the record and writes it. */
static void finish(struct gen *g, struct record *r)
{
	uint16_t size = (uint16_t)r->n;

	memcpy(r->bytes + 6, &size, 2);
	if (fwrite(r->bytes, 1, r->n, g->file) != r->n) {
		die("cannot write %s", g->path);
	}
	g->written += r->n;
}

/* The trailer of records that are not samples (sample_id_all), and the record's end. */
static void finish_at(
        struct gen *g, struct record *r, uint32_t pid, uint32_t tid, uint64_t time, unsigned cpu)
{
	put32(r, pid);
	put32(r, tid);
	put64(r, time);
	put64(r, cpu);
	finish(g, r);
}

static void put_comm(
        struct gen *g, uint32_t pid, uint32_t tid, uint64_t time, unsigned misc, const char *comm)
{
	struct record r;

	begin(&r, COMM, misc);
	put32(&r, pid);
	put32(&r, tid);
	put_text(&r, comm);
	finish_at(g, &r, pid, tid, time, 0);
}

/* FORK and EXIT have the same body. */
static void put_task(struct gen *g, enum record_type type, uint32_t pid, uint32_t tid,
        uint32_t parent, uint64_t time)
{
	struct record r;

	begin(&r, type, 0);
	put32(&r, pid);
	put32(&r, parent);
	put32(&r, tid);
	put32(&r, parent);
	put64(&r, time);
	finish_at(g, &r, pid, tid, time, 0);
}

static void put_mmap2(
        struct gen *g, uint32_t pid, uint64_t start, uint64_t size, uint64_t time, const char *path)
{
	struct record r;

	begin(&r, MMAP2, MISC_USER);
	put32(&r, pid);
	put32(&r, pid);
	put64(&r, start);
	put64(&r, size);
	put64(&r, PAGE);
	put64(&r, 0); /* maj, min */
	put64(&r, 0); /* ino */
	put64(&r, 0); /* ino_generation */
	put32(&r, 5); /* PROT_READ | PROT_EXEC */
	put32(&r, 2); /* MAP_PRIVATE */
	put_text(&r, path);
	finish_at(g, &r, pid, pid, time, 0);
}

/* A sample with a chain of n addresses, innermost first. */
static void put_sample(
        struct gen *g, uint32_t pid, uint32_t tid, uint64_t time, const uint64_t *ips, unsigned n)
{
	struct record r;

	begin(&r, SAMPLE, MISC_USER);
	put64(&r, ips[0]);
	put32(&r, pid);
	put32(&r, tid);
	put64(&r, time);
	put64(&r, pid % CPUS);
	put64(&r, PERIOD);
	put64(&r, n + 1);
	put64(&r, (uint64_t)-512); /* PERF_CONTEXT_USER */
	put(&r, ips, n * sizeof(ips[0]));
	finish(g, &r);
}

static void put_round(struct gen *g)
{
	struct record r;

	begin(&r, FINISHED_ROUND, 0);
	finish(g, &r);
}

static uint32_t pid_of(uint64_t process)
{
	return (uint32_t)(2 + process % PIDS);
}

static void start_process(struct gen *g, uint64_t process, uint64_t time)
{
	uint32_t pid = pid_of(process);
	char text[32];

	put_task(g, FORK, pid, pid, 1, time);
	(void)snprintf(text, sizeof(text), "tool%u", (unsigned)(process % PROGRAMS));
	put_comm(g, pid, pid, time + 1000, MISC_COMM_EXEC, text);
	(void)snprintf(text, sizeof(text), "/nowhere/bin/tool%u", (unsigned)(process % PROGRAMS));
	put_mmap2(g, pid, PROGRAM_BASE, 16ull * PAGE, time + 2000, text);
	put_mmap2(g, pid, LIBC_BASE + pid % 16 * 0x1000000ull, 256ull * PAGE, time + 3000,
	        "/nowhere/lib/libc.so.6");
}

static void sample_process(struct gen *g, uint64_t process, uint64_t time)
{
	uint32_t pid = pid_of(process);
	uint64_t libc = LIBC_BASE + pid % 16 * 0x1000000ull, ips[4];

	ips[0] = libc + next_random(g) % 8 * 0x100;
	ips[1] = PROGRAM_BASE + 0x800 + next_random(g) % 4 * 0x40;
	ips[2] = PROGRAM_BASE + 0x400;
	ips[3] = libc + 0x8000;
	put_sample(g, pid, pid, time, ips, 4);
}

static void short_processes(struct gen *g, uint64_t n)
{
	put_comm(g, 1, 1, 0, 0, "init");
	for (uint64_t i = 0; i < n + ALIVE; i++) {
		uint64_t time = T0 + i * TASK_STEP;

		if (i < n) {
			start_process(g, i, time);
			sample_process(g, i, time + 4000);
		}
		if (i >= ALIVE) { /* the oldest ends */
			if (i % 2 == 0) {
				sample_process(g, i - ALIVE, time + 5000);
			}
			put_task(g, EXIT, pid_of(i - ALIVE), pid_of(i - ALIVE), 1, time + 6000);
		}
		if (i % ALIVE == 0) {
			put_round(g);
		}
	}
}

static void many_mappings(struct gen *g, uint64_t n, uint32_t threads)
{
	const uint32_t pid = 1000;
	char text[64];

	put_comm(g, pid, pid, 0, 0, "server");
	for (uint32_t t = 1; t < threads; t++) {
		put_task(g, FORK, pid, pid + t, pid, T0 + t);
		put_comm(g, pid, pid + t, T0 + t, 0, "worker");
	}
	for (uint64_t i = 0; i < n; i++) {
		uint64_t time = T0 + threads + i * PERIOD, ips[2];
		uint64_t recent = i < MAPPINGS_ALIVE ? i : MAPPINGS_ALIVE - 1;
		uint64_t at = (i - next_random(g) % (recent + 1)) % MAPPINGS_ALIVE;

		(void)snprintf(
		        text, sizeof(text), "/nowhere/lib/plugin%u.so", (unsigned)(i % 1000));
		put_mmap2(g, pid, MAP_BASE + i % MAPPINGS_ALIVE * MAP_SIZE, MAP_SIZE, time, text);
		ips[0] = MAP_BASE + at * MAP_SIZE + next_random(g) % 16 * 64;
		ips[1] = MAP_BASE + i % MAPPINGS_ALIVE * MAP_SIZE + 0x100;
		put_sample(g, pid, pid + (uint32_t)(next_random(g) % threads), time + 1000, ips, 2);
		if (i % ALIVE == 0) {
			put_round(g);
		}
	}
}

/* The list of build ids, with that of one library, after its entry in the table of features. */
static void put_build_ids(struct gen *g)
{
	uint64_t at = DATA_OFFSET + g->written + 16;
	struct record r = {.n = 16}; /* offset and size, below */

	put32(&r, 0); /* type */
	put32(&r, MISC_USER); /* size below */
	put32(&r, UINT32_MAX); /* pid */
	for (unsigned i = 0; i < 24; i++) { /* 20 bytes, padded */
		put(&r, &(uint8_t){i < 20 ? (uint8_t)(i + 1) : 0}, 1);
	}
	put_text(&r, "/nowhere/lib/libc.so.6");
	memcpy(r.bytes, &at, 8);
	memcpy(r.bytes + 8, &(uint64_t){r.n - 16}, 8);
	memcpy(r.bytes + 16 + 6, &(uint16_t){(uint16_t)(r.n - 16)}, 2);
	if (fwrite(r.bytes, 1, r.n, g->file) != r.n) {
		die("cannot write %s", g->path);
	}
}

/* The header, and one attr: cpu-clock, 10,000 samples a second, side-band of processes and mappings. */
static void put_header(struct gen *g)
{
	static const uint64_t flags = 1u << 1 | 1u << 8 | 1u << 9 | 1u << 10 | 1u << 13 | 1u << 18 |
	                              1u << 20 | 1u << 23 | 1u << 24;
	struct record r = {.n = 0};

	put(&r, "PERFILE2", 8);
	put64(&r, HEADER_SIZE);
	put64(&r, ATTR_SIZE + 16);
	put64(&r, HEADER_SIZE); /* attrs */
	put64(&r, ATTR_SIZE + 16);
	put64(&r, DATA_OFFSET);
	put64(&r, g->written);
	memset(r.bytes + r.n, 0, HEADER_SIZE - r.n); /* event types, features */
	r.bytes[72] = 1 << 2; /* BUILD_ID */
	r.n = HEADER_SIZE;
	put32(&r, 1); /* PERF_TYPE_SOFTWARE */
	put32(&r, ATTR_SIZE);
	put64(&r, 0); /* PERF_COUNT_SW_CPU_CLOCK */
	put64(&r, 1000000000 / PERIOD);
	put64(&r, SAMPLE_TYPE);
	put64(&r, 4); /* read_format: ID */
	put64(&r, flags);
	memset(r.bytes + r.n, 0, DATA_OFFSET - r.n); /* and no ids */
	if (fseek(g->file, 0, SEEK_SET) != 0 ||
	        fwrite(r.bytes, 1, DATA_OFFSET, g->file) != DATA_OFFSET) {
		die("cannot write %s", g->path);
	}
}

static uint64_t number(const char *s, uint64_t max)
{
	char *end;
	unsigned long long v = strtoull(s, &end, 10);

	if (end == s || *end != '\0' || v < 1 || v > max) {
		die("%s: a number from 1 to %llu is wanted", s, (unsigned long long)max);
	}
	return v;
}

int main(int argc, char **argv)
{
	struct gen g = {.path = "perf.data"};
	uint64_t processes = 0, mappings = 0;
	uint32_t threads = 2000;
	int c;

	while ((c = getopt(argc, argv, "o:n:m:t:")) != -1) {
		switch (c) {
		case 'o': g.path = optarg; break;
		case 'n': processes = number(optarg, 1u << 30); break;
		case 'm': mappings = number(optarg, 1u << 30); break;
		case 't': threads = (uint32_t)number(optarg, 100000); break;
		default:
			die("usage: sonde-gen-tasks [-o FILE] -n PROCESSES | -m MAPPINGS [-t "
			    "THREADS]");
		}
	}
	if (optind != argc || (processes != 0) == (mappings != 0)) {
		die("either -n PROCESSES or -m MAPPINGS is wanted");
	}
	g.file = fopen(g.path, "wb");
	if (g.file == NULL) {
		die("cannot open %s", g.path);
	}
	put_header(&g); /* again at the end, with the size */
	if (processes != 0) {
		short_processes(&g, processes);
	} else {
		many_mappings(&g, mappings, threads);
	}
	put_build_ids(&g);
	put_header(&g);
	if (fclose(g.file) != 0) {
		die("cannot write %s", g.path);
	}
	return 0;
}
