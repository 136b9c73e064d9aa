/* SPDX-License-Identifier: MIT */
/*
 * The copy of the kernel that --kcore stores with the data, in FOLDER/kcore_dir: kallsyms and
 * modules unchanged, and the code in /proc/kcore: an ELF core file of
 *
 *	0     ELF header (64 bytes)
 *	64    program headers (56 bytes each), PT_LOAD
 *	4096  the bytes of each, at multiples of 4096
 *
 * with the kernel's text as one segment, and all modules, from the start of the first to the end of
 * the last, as another, as far as segments of the original contain them.
 */
#define _GNU_SOURCE
#include "host/kcore.h"

#include "core/text.h"
#include "proc/proc.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PAGE         4096u
#define SEGMENTS_MAX 4096u /* in the original */
#define COPIES_MAX   16u
#define PIECE        (1u << 20) /* bytes copied at once */
#define CODE_MAX     ((uint64_t)4 << 30) /* larger than any kernel */

struct range {
	uint64_t start, end;
};

struct copy {
	uint64_t vaddr, size, from, to; /* offsets in the files */
	uint32_t flags;
};

struct kcore {
	const struct host_kcore_source *source;
	int from, to;
	Elf64_Ehdr head;
	Elf64_Phdr *segments;
	struct copy copies[COPIES_MAX];
	size_t ncopies;
};

static int cannot(struct error *err, const char *what, const char *name)
{
	return error_errno(err, errno == EACCES || errno == EPERM ? SONDE_EPERM : SONDE_EIO, errno,
	        "cannot %s %s", what, name);
}

/* Opens a file of the source as a stream; NULL with errno. */
static FILE *source_stream(const struct host_kcore_source *s, const char *leaf)
{
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%s/%s", s->folder, leaf);
	return proc_open_stream(s->root, path);
}

static bool read_at(int fd, void *buf, size_t n, uint64_t at)
{
	ssize_t got;
	size_t done = 0;

	while (done < n) {
		got = pread(fd, (char *)buf + done, n - done, (off_t)(at + done));
		if (got <= 0) {
			return false;
		}
		done += (size_t)got;
	}
	return true;
}

static bool write_at(int fd, const void *buf, size_t n, uint64_t at)
{
	ssize_t put;
	size_t done = 0;

	while (done < n) {
		put = pwrite(fd, (const char *)buf + done, n - done, (off_t)(at + done));
		if (put <= 0) {
			return false;
		}
		done += (size_t)put;
	}
	return true;
}

int host_kcore_check(int root, struct error *err)
{
	Elf64_Ehdr head;
	int fd = openat(root, "proc/kcore", O_RDONLY | O_CLOEXEC);
	bool good = fd >= 0 && read_at(fd, &head, sizeof(head), 0);

	if (fd >= 0) {
		(void)close(fd);
	}
	return good ? 0
	            : error_set(err, SONDE_EPERM, NO_OFFSET,
	                      "kcore is not readable: --kcore needs root, and a kernel with "
	                      "/proc/kcore");
}

/*
 * From the start of the first module to the end of the last. A line: NAME SIZE USES BY STATE
 * 0xADDRESS
 */
static struct range module_range(const struct host_kcore_source *s)
{
	struct range all = {UINT64_MAX, 0};
	unsigned long long size, at;
	FILE *f = source_stream(s, "modules");
	char line[1024];

	while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
		if (sscanf(line, "%*s %llu %*s %*s %*s %llx", &size, &at) != 2 || at == 0) {
			continue;
		}
		all.start = at < all.start ? at : all.start;
		all.end = at + size > all.end ? at + size : all.end;
	}
	if (f != NULL) {
		(void)fclose(f);
	}
	return all;
}

/* Adds a copy of the part of a range that the segment contains, in whole pages. */
static void add_copy(struct kcore *k, const Elf64_Phdr *segment, struct range range)
{
	uint64_t start = range.start / PAGE * PAGE;
	uint64_t end = (range.end + PAGE - 1) / PAGE * PAGE;
	uint64_t last = segment->p_vaddr + segment->p_memsz;
	uint64_t to = PAGE;
	size_t i;

	if (range.start >= range.end || last < segment->p_vaddr) {
		return;
	}
	start = start > segment->p_vaddr ? start : segment->p_vaddr;
	end = end < last ? end : last;
	if (start >= end || end - start > CODE_MAX || k->ncopies == COPIES_MAX) {
		return;
	}
	for (i = 0; i < k->ncopies; i++) {
		to = (k->copies[i].to + k->copies[i].size + PAGE - 1) / PAGE * PAGE;
	}
	k->copies[k->ncopies++] = (struct copy){.vaddr = start,
	        .size = end - start,
	        .from = segment->p_offset + (start - segment->p_vaddr),
	        .to = to,
	        .flags = segment->p_flags};
}

static int read_headers(struct error *err, struct kcore *k)
{
	const Elf64_Ehdr *h = &k->head;

	if (!read_at(k->from, &k->head, sizeof(k->head), 0) ||
	        memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 || h->e_ident[EI_CLASS] != ELFCLASS64 ||
	        h->e_phentsize != sizeof(Elf64_Phdr) || h->e_phnum == 0 ||
	        h->e_phnum > SEGMENTS_MAX) {
		return error_set(err, SONDE_EUNSUPPORTED, NO_OFFSET,
		        "%s/kcore is no ELF core file of 64 bits", k->source->folder);
	}
	k->segments = malloc(h->e_phnum * sizeof(*k->segments));
	if (k->segments == NULL) {
		return error_nomem(err);
	}
	if (!read_at(k->from, k->segments, h->e_phnum * sizeof(*k->segments), h->e_phoff)) {
		return error_set(err, SONDE_EIO, NO_OFFSET,
		        "cannot read the program headers of %s/kcore", k->source->folder);
	}
	return 0;
}

static void add_copies(struct kcore *k, struct range range)
{
	size_t i;

	for (i = 0; i < k->head.e_phnum; i++) {
		if (k->segments[i].p_type == PT_LOAD) {
			add_copy(k, &k->segments[i], range);
		}
	}
}

static int choose(struct error *err, struct kcore *k)
{
	struct proc_kernel text;

	if (!proc_kernel_text_in(k->source->root, k->source->folder, &text)) {
		return error_set(err, SONDE_EPERM, NO_OFFSET,
		        "%s/kallsyms hides where the kernel is: run as root, with "
		        "kernel.kptr_restrict below 2",
		        k->source->folder);
	}
	add_copies(k, (struct range){text.start, text.end});
	if (k->ncopies == 0) {
		return error_set(err, SONDE_EUNSUPPORTED, NO_OFFSET,
		        "%s/kcore does not hold the kernel's text at 0x%llx", k->source->folder,
		        (unsigned long long)text.start);
	}
	add_copies(k, module_range(k->source));
	return 0;
}

static int write_headers(struct error *err, struct kcore *k)
{
	Elf64_Phdr list[COPIES_MAX] = {0};
	Elf64_Ehdr h = k->head;
	size_t i;

	h.e_phoff = sizeof(h);
	h.e_phnum = (uint16_t)k->ncopies;
	h.e_shoff = 0;
	h.e_shnum = h.e_shentsize = h.e_shstrndx = 0;
	for (i = 0; i < k->ncopies; i++) {
		list[i] = (Elf64_Phdr){.p_type = PT_LOAD,
		        .p_flags = k->copies[i].flags,
		        .p_offset = k->copies[i].to,
		        .p_vaddr = k->copies[i].vaddr,
		        .p_filesz = k->copies[i].size,
		        .p_memsz = k->copies[i].size,
		        .p_align = PAGE};
	}
	if (!write_at(k->to, &h, sizeof(h), 0) ||
	        !write_at(k->to, list, k->ncopies * sizeof(list[0]), sizeof(h))) {
		return cannot(err, "write", "the copy of kcore");
	}
	return 0;
}

static bool all_zero(const char *p, size_t n)
{
	return p[0] == 0 && memcmp(p, p + 1, n - 1) == 0;
}

/* Pages without code, as between modules, become holes. */
static int copy_bytes(struct error *err, const struct kcore *k, const struct copy *c)
{
	char *piece = malloc(PIECE);
	uint64_t done = 0;
	size_t n;
	int rc = 0;

	if (piece == NULL) {
		return error_nomem(err);
	}
	for (; rc >= 0 && done < c->size; done += n) {
		n = c->size - done < PIECE ? (size_t)(c->size - done) : PIECE;
		if (!read_at(k->from, piece, n, c->from + done)) {
			rc = cannot(err, "read", "kcore");
		} else if (!all_zero(piece, n) && !write_at(k->to, piece, n, c->to + done)) {
			rc = cannot(err, "write", "the copy of kcore");
		}
	}
	free(piece);
	if (rc >= 0 && ftruncate(k->to, (off_t)(c->to + c->size)) < 0) {
		rc = cannot(err, "write", "the copy of kcore");
	}
	return rc;
}

static int copy_kcore(struct error *err, const struct host_kcore_source *s, int dir)
{
	struct kcore k = {.source = s, .to = -1};
	char path[PATH_MAX];
	size_t i;
	int rc;

	(void)snprintf(path, sizeof(path), "%s/kcore", s->folder);
	k.from = openat(s->root, path, O_RDONLY | O_CLOEXEC);
	rc = k.from >= 0 ? read_headers(err, &k) : cannot(err, "open", path);
	rc = rc < 0 ? rc : choose(err, &k);
	if (rc >= 0) {
		k.to = openat(dir, "kcore", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0400);
		rc = k.to >= 0 ? write_headers(err, &k)
		               : cannot(err, "create", "the copy of kcore");
	}
	for (i = 0; rc >= 0 && i < k.ncopies; i++) {
		rc = copy_bytes(err, &k, &k.copies[i]);
	}
	free(k.segments);
	if (k.from >= 0) {
		(void)close(k.from);
	}
	if (k.to >= 0 && close(k.to) < 0 && rc >= 0) {
		rc = cannot(err, "write", "the copy of kcore");
	}
	return rc;
}

/* Copies a text file of /proc, including files without a size. */
static int copy_text(struct error *err, const struct host_kcore_source *s, int dir, const char *to)
{
	struct text t = {0};
	char from[PATH_MAX];
	int fd, rc = 0;

	(void)snprintf(from, sizeof(from), "%s/%s", s->folder, to);
	if (!proc_read_file(s->root, from, &t) || t.failed) {
		rc = t.failed ? error_nomem(err) : cannot(err, "read", from);
	} else {
		fd = openat(dir, to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0400);
		if (fd < 0 || (t.n > 0 && !write_at(fd, t.p, t.n, 0))) {
			rc = cannot(err, "write", to);
		}
		if (fd >= 0) {
			(void)close(fd);
		}
	}
	text_fini(&t);
	return rc;
}

int host_kcore_copy_to(const struct host_kcore_source *source, int dir, struct error *err)
{
	TRY(copy_text(err, source, dir, "kallsyms"));
	TRY(copy_text(err, source, dir, "modules"));
	return copy_kcore(err, source, dir);
}

int host_kcore_copy(int root, const char *folder, struct error *err)
{
	const struct host_kcore_source source = {root, "proc"};
	int out, dir = -1, rc = 0;

	out = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (out < 0 || mkdirat(out, "kcore_dir", 0700) < 0 ||
	        (dir = openat(out, "kcore_dir", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0) {
		rc = cannot(err, "make kcore_dir in", folder);
	}
	rc = rc < 0 ? rc : host_kcore_copy_to(&source, dir, err);
	if (dir >= 0) {
		(void)close(dir);
	}
	if (out >= 0) {
		(void)close(out);
	}
	return rc;
}
