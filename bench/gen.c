/* SPDX-License-Identifier: MIT */
/*
 * Writes a perf.data file: samples with call chains of threads of several processes on several CPUs, in
 * rounds whose records are not in order of time. It is the same on every machine, but with -l it has this
 * machine's name and kernel.
 *
 * Without -x, processes map objects that do not exist, and samples have many different addresses,
 * which cannot be resolved. With -x ELF, every process runs that program, and all addresses are in
 * its functions.
 */
#include <elf.h>
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

enum {
	ATTR_SIZE = 128, /* PERF_ATTR_SIZE_VER7 */
	DEPTH_MAX = 24,
	EVENTS_MAX = 4,
	CPUS_MAX = 64,
	ROUND = 64, /* samples of each CPU in a round */
	STEP = 100000, /* ns from one sample to the next */
};

#define T0          1000000000000ull
#define KERNEL_BASE 0xffffffff81000000ull
#define PIE_BASE    0x555555554000ull
#define DSO_BASE    0x7f0000000000ull
#define DSO_STRIDE  0x10000000ull
#define DSO_LEN     0x200000u

enum record_type {
	MMAP = 1,
	COMM = 3,
	EXIT = 4,
	FORK = 7,
	SAMPLE = 9,
	MMAP2 = 10,
	FINISHED_ROUND = 68
};
enum { MISC_KERNEL = 1, MISC_USER = 2, MISC_COMM_EXEC = 1 << 13 };
enum {
	S_IP = 1,
	S_TID = 2,
	S_TIME = 4,
	S_CHAIN = 32,
	S_CPU = 128,
	S_PERIOD = 256,
	S_IDENTIFIER = 65536
};

struct buf {
	uint8_t *p;
	size_t n;
	size_t cap;
};

struct function {
	uint64_t address; /* in the object */
	uint64_t size;
};

struct gen {
	const char *out;
	const char *elf; /* -x; NULL: addresses cannot be resolved */
	bool local; /* -l: named as recorded on this machine, so that its kernel has symbols */
	uint64_t samples;
	unsigned processes, threads, cpus, dsos, events, kernel_percent;
	uint64_t rng;
	struct function *functions;
	size_t nfunctions;
	uint64_t map_start, map_len, map_pgoff, bias;
	struct buf data;
	struct buf cpu[CPUS_MAX];
	size_t last_record[CPUS_MAX]; /* offset of the newest record of a CPU */
	unsigned thread[CPUS_MAX]; /* running on a CPU: process * threads + thread */
};

static void die(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));

static void die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)fprintf(stderr, "sonde-gen: ");
	(void)vfprintf(stderr, fmt, ap);
	(void)fputc('\n', stderr);
	va_end(ap);
	exit(1);
}

static void put(struct buf *b, const void *data, size_t n)
{
	if (b->cap - b->n < n) {
		b->cap = (b->cap + n) * 2;
		b->p = realloc(b->p, b->cap);
		if (b->p == NULL) {
			die("no memory");
		}
	}
	memcpy(b->p + b->n, data, n);
	b->n += n;
}

static void put64(struct buf *b, uint64_t v)
{
	put(b, &v, 8);
}

static void put32(struct buf *b, uint32_t v)
{
	put(b, &v, 4);
}

/* A text with its NUL, padded with NULs to a multiple of `align`. */
static void put_text(struct buf *b, const char *s, size_t align)
{
	static const uint8_t zeros[64];
	size_t n = strlen(s) + 1;

	put(b, s, n);
	put(b, zeros, (align - n % align) % align);
}

/* Starts a record; end_record sets its size. */
static size_t begin_record(struct buf *b, enum record_type type, unsigned misc)
{
	put32(b, type);
	put32(b, misc);
	return b->n - 8;
}

static void end_record(struct buf *b, size_t start)
{
	uint16_t size = (uint16_t)(b->n - start);

	memcpy(b->p + start + 6, &size, 2);
}

/* splitmix64 */
static uint64_t next_random(struct gen *g)
{
	uint64_t z = g->rng += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

/* Returns a number from 0 to n - 1, small ones much more often than large ones. */
static uint64_t skewed(struct gen *g, uint64_t n)
{
	uint64_t x = next_random(g) % 4096;

	return x * x / 4096 * x / 4096 * n / 4096;
}

static uint64_t sample_type(const struct gen *g)
{
	uint64_t t = S_IP | S_TID | S_TIME | S_CHAIN | S_CPU | S_PERIOD;

	return g->events > 1 ? t | S_IDENTIFIER : t;
}

static uint64_t event_id(const struct gen *g, unsigned event, unsigned cpu)
{
	return 100 + event * g->cpus + cpu;
}

static uint32_t pid_of(unsigned process)
{
	return 1000 + process * 100;
}

/* Appends the trailer of records that are not samples (sample_id_all). */
static void put_sample_id(
        struct gen *g, struct buf *b, unsigned process, unsigned thread, uint64_t time)
{
	put32(b, pid_of(process));
	put32(b, pid_of(process) + thread);
	put64(b, time);
	put64(b, 0); /* cpu 0, reserved */
	if (g->events > 1) {
		put64(b, event_id(g, 0, 0));
	}
}

static void put_comm(struct gen *g, struct buf *b, unsigned process, unsigned thread, uint64_t time)
{
	size_t r = begin_record(b, COMM, time != 0 && thread == 0 ? MISC_COMM_EXEC : 0);
	char comm[16];

	if (thread == 0) {
		(void)snprintf(comm, sizeof(comm), "job%u", process);
	} else {
		(void)snprintf(comm, sizeof(comm), "job%u-%u", process, thread % 4);
	}
	put32(b, pid_of(process));
	put32(b, pid_of(process) + thread);
	put_text(b, comm, 8);
	put_sample_id(g, b, process, thread, time);
	end_record(b, r);
}

/* FORK and EXIT have the same body. */
static void put_task(struct gen *g, struct buf *b, enum record_type type, unsigned process,
        unsigned thread, uint64_t time)
{
	size_t r = begin_record(b, type, 0);
	uint32_t parent = thread != 0 || process == 0 ? pid_of(process) : pid_of(0);

	if (process == 0 && thread == 0) {
		parent = 1;
	}
	put32(b, pid_of(process));
	put32(b, parent);
	put32(b, pid_of(process) + thread);
	put32(b, parent);
	put64(b, time);
	put_sample_id(g, b, process, thread, time);
	end_record(b, r);
}

static void put_mmap2(struct gen *g, struct buf *b, unsigned process, uint64_t time, unsigned dso)
{
	size_t r = begin_record(b, MMAP2, MISC_USER);
	char path[64];

	(void)snprintf(path, sizeof(path), "/nowhere/lib/libpart%u.so", dso);
	put32(b, pid_of(process));
	put32(b, pid_of(process));
	put64(b, g->elf ? g->map_start : DSO_BASE + dso * DSO_STRIDE);
	put64(b, g->elf ? g->map_len : DSO_LEN);
	put64(b, g->elf ? g->map_pgoff : 0x1000);
	put64(b, 0); /* maj, min */
	put64(b, 0); /* ino */
	put64(b, 0); /* ino_generation */
	put32(b, 5); /* PROT_READ | PROT_EXEC */
	put32(b, 2); /* MAP_PRIVATE */
	put_text(b, g->elf ? g->elf : path, 8);
	put_sample_id(g, b, process, 0, time);
	end_record(b, r);
}

static void put_kernel_map(struct gen *g)
{
	size_t r = begin_record(&g->data, MMAP, MISC_KERNEL);

	put32(&g->data, UINT32_MAX);
	put32(&g->data, 0);
	put64(&g->data, KERNEL_BASE);
	put64(&g->data, 0x1000000);
	put64(&g->data, KERNEL_BASE);
	put_text(&g->data, "[kernel.kallsyms]_text", 8);
	put64(&g->data, 0); /* pid, tid */
	put64(&g->data, 0);
	put64(&g->data, 0);
	if (g->events > 1) {
		put64(&g->data, 0);
	}
	end_record(&g->data, r);
}

static void put_process(struct gen *g, struct buf *b, unsigned process, uint64_t time)
{
	put_task(g, b, FORK, process, 0, time);
	put_comm(g, b, process, 0, time);
	for (unsigned i = 0; i < (g->elf ? 1 : g->dsos); i++) {
		put_mmap2(g, b, process, time, i);
	}
	for (unsigned t = 1; t < g->threads; t++) {
		put_task(g, b, FORK, process, t, time);
		put_comm(g, b, process, t, time);
	}
}

/* Even processes exist from the start; the others only during a part of the recording. */
static uint64_t birth(const struct gen *g, unsigned process)
{
	return process % 2 == 0 ? 0 : g->samples / (g->processes + 1u) * process;
}

static uint64_t death(const struct gen *g, unsigned process)
{
	return process % 2 == 0 ? UINT64_MAX : birth(g, process) + g->samples / 4 + 1;
}

static void births_and_deaths(struct gen *g, uint64_t from, uint64_t to)
{
	for (unsigned p = 1; p < g->processes; p += 2) {
		if (birth(g, p) >= from && birth(g, p) < to) {
			put_process(g, &g->cpu[0], p, T0 + from * STEP);
		}
		if (death(g, p) >= from && death(g, p) < to) {
			for (unsigned t = g->threads; t-- > 0;) {
				put_task(g, &g->cpu[0], EXIT, p, t, T0 + from * STEP);
			}
		}
	}
}

/* Chooses the next thread for a CPU, one that exists during the whole round. */
static void schedule(struct gen *g, unsigned cpu, uint64_t from, uint64_t to)
{
	unsigned p = (unsigned)skewed(g, g->processes);

	if (birth(g, p) >= from || death(g, p) < to) {
		p = 0;
	}
	g->thread[cpu] = p * g->threads + (unsigned)(next_random(g) % g->threads);
}

/* An address in code node `node`, near its start if it is a caller. */
static uint64_t address_of(struct gen *g, uint64_t node, bool leaf)
{
	uint64_t n = (node * 0x9e3779b97f4a7c15ull) >> 20;

	if (g->elf != NULL) {
		const struct function *f = &g->functions[n % g->nfunctions];
		uint64_t span = leaf || f->size < 8 ? f->size : f->size / 4;

		return g->bias + f->address + (leaf ? next_random(g) % span : node % span);
	}
	return DSO_BASE + n % g->dsos * DSO_STRIDE + 0x1000 + (n >> 8) % 4000 * 256 +
	       (leaf ? skewed(g, 256) : node % 16 * 16);
}

/* Makes a chain by a random path down a call tree, innermost frame first. */
static unsigned make_chain(struct gen *g, unsigned process, uint64_t *ips)
{
	unsigned depth = 5 + (unsigned)(next_random(g) % (DEPTH_MAX - 12));
	uint64_t node = 1 + (g->elf ? 0 : process * 7919u);

	for (unsigned i = 0; i < depth; i++) {
		node = node * 5 + skewed(g, 5);
		ips[depth - 1 - i] = address_of(g, node, i == depth - 1);
	}
	return depth;
}

static void put_sample(struct gen *g, unsigned cpu, uint64_t time)
{
	struct buf *b = &g->cpu[cpu];
	unsigned process = g->thread[cpu] / g->threads;
	bool kernel = next_random(g) % 100 < g->kernel_percent;
	uint64_t kernel_ip = KERNEL_BASE + 0x1000 + skewed(g, 0xe00000);
	uint64_t ips[DEPTH_MAX];
	unsigned depth = make_chain(g, process, ips);
	size_t r;

	g->last_record[cpu] = b->n;
	r = begin_record(b, SAMPLE, kernel ? MISC_KERNEL : MISC_USER);
	if (g->events > 1) {
		put64(b, event_id(g, (unsigned)skewed(g, g->events), cpu));
	}
	put64(b, kernel ? kernel_ip : ips[0]);
	put32(b, pid_of(process));
	put32(b, pid_of(process) + g->thread[cpu] % g->threads);
	put64(b, time);
	put64(b, cpu);
	put64(b, STEP);
	put64(b, depth + (kernel ? 3u : 1u));
	if (kernel) {
		put64(b, (uint64_t)-128); /* PERF_CONTEXT_KERNEL */
		put64(b, kernel_ip);
	}
	put64(b, (uint64_t)-512); /* PERF_CONTEXT_USER */
	put(b, ips, depth * sizeof(ips[0]));
	end_record(b, r);
}

/* Writes the records of all CPUs, sometimes without a CPU's newest sample, which then is in the
 * next round. */
static void finish_round(struct gen *g, bool all)
{
	for (unsigned c = 0; c < g->cpus; c++) {
		struct buf *b = &g->cpu[c];
		size_t n = !all && next_random(g) % 3 == 0 ? g->last_record[c] : b->n;

		put(&g->data, b->p, n);
		memmove(b->p, b->p + n, b->n - n);
		b->n -= n;
	}
	end_record(&g->data, begin_record(&g->data, FINISHED_ROUND, 0));
}

static void make_records(struct gen *g)
{
	uint64_t round = (uint64_t)ROUND * g->cpus;

	if (g->kernel_percent != 0) {
		put_kernel_map(g);
	}
	for (unsigned p = 0; p < g->processes; p += 2) {
		put_process(g, &g->data, p, 0);
	}
	for (uint64_t from = 0; from < g->samples; from += round) {
		uint64_t to = from + round < g->samples ? from + round : g->samples;

		births_and_deaths(g, from, to);
		for (uint64_t i = from; i < to; i++) {
			unsigned cpu = (unsigned)(i % g->cpus);

			if (i < from + g->cpus || next_random(g) % 16 == 0) {
				schedule(g, cpu, from, to);
			}
			put_sample(g, cpu, T0 + i * STEP + 1 + next_random(g) % (STEP - 1));
		}
		finish_round(g, to == g->samples);
	}
}

static void put_attr(const struct gen *g, struct buf *b, unsigned event)
{
	static const uint64_t configs[EVENTS_MAX] = {
	        0, 1, 2, 3}; /* cpu-clock, task-clock, faults, switches */
	size_t start = b->n;
	/* inherit, mmap, comm, task, sample_id_all, exclude_guest, mmap2, comm_exec; freq for
	 * clocks */
	uint64_t flags =
	        1u << 1 | 1u << 8 | 1u << 9 | 1u << 13 | 1u << 18 | 1u << 20 | 1u << 23 | 1u << 24;

	put32(b, 1); /* PERF_TYPE_SOFTWARE */
	put32(b, ATTR_SIZE);
	put64(b, configs[event]);
	put64(b, event < 2 ? 1000000000 / STEP : 1);
	put64(b, sample_type(g));
	put64(b, 4); /* read_format: ID */
	put64(b, event < 2 ? flags | 1u << 10 : flags);
	while (b->n - start < ATTR_SIZE) {
		put64(b, 0);
	}
}

static void put_header_text(struct buf *b, const char *s)
{
	size_t at = b->n;
	uint32_t n;

	put32(b, 0);
	put_text(b, s, 64);
	n = (uint32_t)(b->n - at - 4);
	memcpy(b->p + at, &n, 4);
}

static const char *event_name(unsigned event)
{
	static const char *const names[EVENTS_MAX] = {
	        "cpu-clock", "task-clock", "page-faults", "context-switches"};

	return names[event];
}

static void put_feature(const struct gen *g, struct buf *b, unsigned feature)
{
	struct utsname here;

	if (uname(&here) != 0) {
		die("uname: %s", strerror(errno));
	}
	switch (feature) {
	case 3: put_header_text(b, g->local ? here.nodename : "generated"); return; /* HOSTNAME */
	case 4: put_header_text(b, g->local ? here.release : "6.1.0"); return; /* OSRELEASE */
	case 5: put_header_text(b, "sonde-gen"); return; /* VERSION */
	case 6: put_header_text(b, "x86_64"); return; /* ARCH */
	case 7: /* NRCPUS */
		put32(b, g->cpus);
		put32(b, g->cpus);
		return;
	case 12: /* EVENT_DESC */
		put32(b, g->events);
		put32(b, ATTR_SIZE);
		for (unsigned e = 0; e < g->events; e++) {
			put_attr(g, b, e);
			put32(b, g->cpus);
			put_header_text(b, event_name(e));
			for (unsigned c = 0; c < g->cpus; c++) {
				put64(b, event_id(g, e, c));
			}
		}
		return;
	default: die("feature %u", feature);
	}
}

static void put_section(struct buf *b, size_t at, uint64_t offset, uint64_t size)
{
	memcpy(b->p + at, &offset, 8);
	memcpy(b->p + at + 8, &size, 8);
}

/* Writes header, ids, attrs, data, the table of features, and their payloads. */
static void make_file(struct gen *g, struct buf *head, struct buf *tail)
{
	static const unsigned features[] = {3, 4, 5, 6, 7, 12};
	const size_t nfeatures = sizeof(features) / sizeof(features[0]);
	uint64_t mask = 0, data_offset, tail_offset;

	for (size_t i = 0; i < nfeatures; i++) {
		mask |= 1ull << features[i];
	}
	put(head, "PERFILE2", 8);
	put64(head, 104);
	put64(head, ATTR_SIZE + 16);
	for (int i = 0; i < 6; i++) {
		put64(head, 0); /* the sections, below */
	}
	put64(head, mask);
	for (int i = 0; i < 3; i++) {
		put64(head, 0);
	}
	for (unsigned e = 0; e < g->events; e++) {
		for (unsigned c = 0; c < g->cpus; c++) {
			put64(head, event_id(g, e, c));
		}
	}
	put_section(head, 24, head->n, g->events * (ATTR_SIZE + 16ull));
	for (unsigned e = 0; e < g->events; e++) {
		put_attr(g, head, e);
		put64(head, 104 + 8ull * e * g->cpus);
		put64(head, 8ull * g->cpus);
	}
	data_offset = head->n;
	put_section(head, 40, data_offset, g->data.n);
	tail_offset = data_offset + g->data.n;
	for (size_t i = 0; i < 2 * nfeatures; i++) {
		put64(tail, 0);
	}
	for (size_t i = 0; i < nfeatures; i++) {
		size_t start = tail->n;

		put_feature(g, tail, features[i]);
		put_section(tail, 16 * i, tail_offset + start, tail->n - start);
	}
}

static void write_file(const char *path, const struct buf *parts, size_t n)
{
	FILE *f = fopen(path, "wb");

	for (size_t i = 0; f != NULL && i < n; i++) {
		if (fwrite(parts[i].p, 1, parts[i].n, f) != parts[i].n) {
			die("cannot write %s", path);
		}
	}
	if (f == NULL || fclose(f) != 0) {
		die("cannot write %s", path);
	}
}

static void read_whole(const char *path, struct buf *b)
{
	FILE *f = fopen(path, "rb");
	uint8_t block[65536];
	size_t n;

	if (f == NULL) {
		die("cannot open %s", path);
	}
	while ((n = fread(block, 1, sizeof(block), f)) > 0) {
		put(b, block, n);
	}
	(void)fclose(f);
}

static void take_functions(struct gen *g, const struct buf *b, const Elf64_Shdr *table)
{
	size_t n = table->sh_size / sizeof(Elf64_Sym);

	if (table->sh_offset > b->n || table->sh_size > b->n - table->sh_offset) {
		die("%s: its symbol table is outside of the file", g->elf);
	}
	g->functions = calloc(n, sizeof(*g->functions));
	for (size_t i = 0; g->functions != NULL && i < n; i++) {
		Elf64_Sym sym;

		memcpy(&sym, b->p + table->sh_offset + i * sizeof(sym), sizeof(sym));
		if (ELF64_ST_TYPE(sym.st_info) == STT_FUNC && sym.st_size != 0) {
			g->functions[g->nfunctions].address = sym.st_value;
			g->functions[g->nfunctions].size = sym.st_size;
			g->nfunctions++;
		}
	}
}

/* Reads the program of -x: the addresses of its code and its functions. The file is trusted, unlike
 * in a reader. */
static void read_program(struct gen *g)
{
	struct buf b = {0};
	Elf64_Ehdr eh;

	read_whole(g->elf, &b);
	if (b.n < sizeof(eh) || memcmp(b.p, ELFMAG, SELFMAG) != 0 || b.p[EI_CLASS] != ELFCLASS64) {
		die("%s is not a 64-bit ELF file", g->elf);
	}
	memcpy(&eh, b.p, sizeof(eh));
	g->bias = eh.e_type == ET_DYN ? PIE_BASE : 0;
	for (unsigned i = 0; i < eh.e_phnum && eh.e_phoff + (i + 1u) * sizeof(Elf64_Phdr) <= b.n;
	        i++) {
		Elf64_Phdr ph;

		memcpy(&ph, b.p + eh.e_phoff + i * sizeof(ph), sizeof(ph));
		if (ph.p_type == PT_LOAD && (ph.p_flags & PF_X) != 0) {
			g->map_start = g->bias + (ph.p_vaddr & ~0xfffull);
			g->map_len = (ph.p_vaddr % 4096 + ph.p_filesz + 4095) & ~0xfffull;
			g->map_pgoff = ph.p_offset & ~0xfffull;
		}
	}
	for (unsigned i = 0; i < eh.e_shnum && eh.e_shoff + (i + 1u) * sizeof(Elf64_Shdr) <= b.n;
	        i++) {
		Elf64_Shdr sh;

		memcpy(&sh, b.p + eh.e_shoff + i * sizeof(sh), sizeof(sh));
		if (sh.sh_type == SHT_SYMTAB && g->functions == NULL) {
			take_functions(g, &b, &sh);
		}
	}
	free(b.p);
	if (g->nfunctions == 0) {
		die("%s has no symbols of functions", g->elf);
	}
}

/* -z N: writes N random bytes instead of a recording. */
static void make_noise(struct gen *g, uint64_t n)
{
	struct buf b = {0};

	while (b.n < n) {
		put64(&b, next_random(g));
	}
	b.n = n;
	write_file(g->out, &b, 1);
	free(b.p);
}

static unsigned number(const char *s, unsigned min, unsigned max)
{
	char *end;
	unsigned long v = strtoul(s, &end, 10);

	if (end == s || *end != '\0' || v < min || v > max) {
		die("%s: a number from %u to %u is wanted", s, min, max);
	}
	return (unsigned)v;
}

static void parse_options(struct gen *g, int argc, char **argv, unsigned *noise)
{
	int c;

	while ((c = getopt(argc, argv, "o:n:p:t:c:d:e:k:lx:s:z:")) != -1) {
		switch (c) {
		case 'o': g->out = optarg; break;
		case 'n': g->samples = number(optarg, 1, 1u << 30); break;
		case 'p': g->processes = number(optarg, 1, 10000); break;
		case 't': g->threads = number(optarg, 1, 99); break;
		case 'c': g->cpus = number(optarg, 1, CPUS_MAX); break;
		case 'd': g->dsos = number(optarg, 1, 200); break;
		case 'e': g->events = number(optarg, 1, EVENTS_MAX); break;
		case 'k': g->kernel_percent = number(optarg, 0, 100); break;
		case 'l': g->local = true; break;
		case 'x': g->elf = optarg; break;
		case 's': g->rng = number(optarg, 0, UINT32_MAX); break;
		case 'z': *noise = number(optarg, 1, 1u << 30); break;
		default:
			die("usage: sonde-gen [-o FILE] [-n SAMPLES] [-p PROCESSES] [-t THREADS] "
			    "[-c CPUS] [-d DSOS]\n"
			    "  [-e EVENTS] [-k PERCENT of samples in the kernel] [-l: recorded "
			    "here] "
			    "[-x ELF] [-s SEED]\n"
			    "  [-z BYTES of noise]");
		}
	}
	if (optind != argc) {
		die("%s: unexpected", argv[optind]);
	}
}

int main(int argc, char **argv)
{
	struct gen g = {.out = "perf.data",
	        .samples = 10000,
	        .processes = 6,
	        .threads = 4,
	        .cpus = 4,
	        .dsos = 8,
	        .events = 1};
	struct buf parts[3] = {0};
	unsigned noise = 0;

	parse_options(&g, argc, argv, &noise);
	if (noise != 0) {
		make_noise(&g, noise);
		return 0;
	}
	if (g.elf != NULL) {
		read_program(&g);
	}
	make_records(&g);
	make_file(&g, &parts[0], &parts[2]);
	parts[1] = g.data;
	write_file(g.out, parts, 3);
	for (size_t i = 0; i < 3; i++) {
		free(parts[i].p);
	}
	for (unsigned c = 0; c < g.cpus; c++) {
		free(g.cpu[c].p);
	}
	free(g.functions);
	return 0;
}
