/* SPDX-License-Identifier: MIT */
/*
 * Makes functions at run time and describes them in a jitdump: jit DIR [rwx]. rwx: the code stays
 * writable, and each function replaces the one before it; otherwise it becomes executable with mprotect.
 *
 * jitdump: u32 magic "JiTD", version 1, header size 40, machine, 0, pid; u64 time, flags. A record: u32
 * 0 (load), size; u64 time; u32 pid, tid; u64 vma, address, size, index; name with NUL; the code.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static uint64_t now(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static FILE *start_dump(const char *folder)
{
	const uint32_t words[] = {0x4a695444, 1, 40, EM_X86_64, 0, (uint32_t)getpid()};
	const uint64_t rest[] = {now(), 0};
	char path[512];
	void *mark;
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/jit-%d.dump", folder, (int)getpid());
	f = fopen(path, "w+");
	if (f == NULL) {
		return NULL;
	}
	/* perf finds the file by this mapping */
	mark = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(f), 0);
	(void)fwrite(words, sizeof(words), 1, f);
	(void)fwrite(rest, sizeof(rest), 1, f);
	return mark != MAP_FAILED ? f : NULL;
}

static void dump(FILE *f, const char *name, const uint8_t *code, size_t n, uint64_t index)
{
	const uint32_t head[] = {0, (uint32_t)(56 + strlen(name) + 1 + n)};
	const uint64_t time = now(), at = (uint64_t)(uintptr_t)code;
	const uint32_t ids[] = {(uint32_t)getpid(), (uint32_t)getpid()};
	const uint64_t rest[] = {at, at, n, index};

	(void)fwrite(head, sizeof(head), 1, f);
	(void)fwrite(&time, sizeof(time), 1, f);
	(void)fwrite(ids, sizeof(ids), 1, f);
	(void)fwrite(rest, sizeof(rest), 1, f);
	(void)fwrite(name, strlen(name) + 1, 1, f);
	(void)fwrite(code, n, 1, f);
	(void)fflush(f);
}

/* int f(int n): adds `step` n times. */
static size_t make(uint8_t *p, uint8_t step)
{
	const uint8_t code[] = {0x31, 0xc0, /* xor eax, eax */
	        0x85, 0xff, /* test edi, edi */
	        0x74, 0x07, /* jz end */
	        0x83, 0xc0, step, /* loop: add eax, step */
	        0xff, 0xcf, /* dec edi */
	        0x75, 0xf9, /* jnz loop */
	        0xc3}; /* end: ret */

	memcpy(p, code, sizeof(code));
	return sizeof(code);
}

int main(int argc, char **argv)
{
	int prot = PROT_READ | PROT_WRITE, sum = 0, i;
	int changing = argc > 2 && strcmp(argv[2], "rwx") == 0;
	FILE *f = argc > 1 ? start_dump(argv[1]) : NULL;
	uint8_t *code = mmap(NULL, 65536, changing ? prot | PROT_EXEC : prot,
	        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int (*function)(int);
	size_t n;

	if (f == NULL || code == MAP_FAILED) {
		return 1;
	}
	for (i = 0; i < 8; i++) {
		uint8_t *p = code + (changing ? 0 : 4096 * i);
		char name[16];

		(void)snprintf(name, sizeof(name), "made_%d", i);
		n = make(p, (uint8_t)(i + 1));
		if (!changing && mprotect(p, 4096, PROT_READ | PROT_EXEC) != 0) {
			return 1;
		}
		dump(f, name, p, n, (uint64_t)i);
		memcpy(&function, &p, sizeof(p));
		sum += function(100 + i);
	}
	(void)fclose(f);
	return sum == 3768 ? 0 : 1;
}
