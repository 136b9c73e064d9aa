/* SPDX-License-Identifier: MIT */
/*
 * --kcore on a saved machine: `test_kcore MACHINE [FOLDER]`; keeps the recording in FOLDER/kcore.
 */
#define _GNU_SOURCE
#include "abi/abi.h"
#include "fake/fake.h"
#include "file/file.h"
#include "fixture.h"
#include "tap.h"

#include <elf.h>
#include <stdlib.h>
#include <unistd.h>

#define PAGE ((size_t)4096)

#define TEXT    0xffffffff81000000ull
#define MODULES 0xffffffffc0000000ull

static struct fixture machine;
static char output[256];
static uint8_t copy[1 << 20];

/* What a byte of the kernel's memory is. */
static uint8_t memory(uint64_t addr)
{
	if (addr >= MODULES && (addr < MODULES + 0x1000 || addr >= MODULES + 0x6000)) {
		return 0xee; /* nobody's: must not be copied */
	}
	return (uint8_t)(addr >> 12 ^ addr >> 3);
}

/* Four segments, as a kernel on x86-64 has them: of these two hold code. */
static void make_kcore(unsigned mode)
{
	static const uint64_t segments[][2] = {{0xffffc90000000000ull, 4 * PAGE},
	        {TEXT - PAGE, 16 * PAGE}, {0xffff888000000000ull, 2 * PAGE}, {MODULES, 32 * PAGE}};
	Elf64_Ehdr h = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
	        .e_type = ET_CORE,
	        .e_machine = EM_X86_64,
	        .e_version = 1,
	        .e_phoff = sizeof(h),
	        .e_ehsize = sizeof(h),
	        .e_phentsize = sizeof(Elf64_Phdr),
	        .e_phnum = 5};
	Elf64_Phdr list[5] = {{.p_type = PT_NOTE}};
	uint64_t at = PAGE, i, k;
	int fd;
	FILE *f;

	for (i = 0; i < 4; i++) {
		list[i + 1] = (Elf64_Phdr){.p_type = PT_LOAD,
		        .p_flags = 7,
		        .p_offset = at,
		        .p_vaddr = segments[i][0],
		        .p_filesz = segments[i][1],
		        .p_memsz = segments[i][1],
		        .p_align = PAGE};
		at += segments[i][1];
	}
	(void)unlinkat(machine.fd, "proc/kcore", 0);
	fd = openat(machine.fd, "proc/kcore", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	f = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (f == NULL) {
		abort();
	}
	if (mode == 1) {
		h.e_ident[EI_CLASS] = ELFCLASS32;
	} else if (mode == 2) {
		list[2].p_vaddr = 0;
	}
	(void)fwrite(&h, sizeof(h), 1, f);
	(void)fwrite(list, sizeof(list), 1, f);
	(void)fseek(f, PAGE, SEEK_SET);
	for (i = 0; i < 4; i++) {
		for (k = 0; k < segments[i][1]; k++) {
			(void)fputc(memory(segments[i][0] + k), f);
		}
	}
	(void)fclose(f);
}

static bool stop_at_once(void *arg)
{
	(void)arg;
	return false;
}

static struct sonde_recorder *begin(void)
{
	static const char *events[1] = {"cpu-clock"};
	struct sonde_recorder_options o = {.size = sizeof(o),
	        .events.strings = events,
	        .events.n = 1,
	        .targets.all_cpus = true,
	        .output.kcore = true,
	        .build_ids.none = true,
	        .output.path = output};
	struct sonde_recorder *r = sonde_recorder_new(&o);

	if (r == NULL) {
		abort();
	}
	fake_reset(&(struct fake_options){.ncpus = 2});
	fake_on_poll(stop_at_once, NULL);
	r->kernel = fake_kernel();
	(void)close(r->root_fd);
	r->root_fd = dup(machine.fd);
	return r;
}

static size_t read_copy(const char *name)
{
	char path[512];
	FILE *f;
	size_t n;

	(void)snprintf(path, sizeof(path), "%s/%s", output, name);
	f = fopen(path, "re");
	n = f != NULL ? fread(copy, 1, sizeof(copy), f) : 0;
	if (f != NULL) {
		(void)fclose(f);
	}
	return n;
}

static void check_segment(const Elf64_Phdr *p, uint64_t start, uint64_t size)
{
	uint64_t i, wrong = 0;

	eq_u64(p->p_type, PT_LOAD, "a segment");
	eq_u64(p->p_vaddr, start, "from the first page of it");
	eq_u64(p->p_filesz, size, "to the last");
	for (i = 0; i < size && p->p_offset + i < sizeof(copy); i++) {
		wrong += copy[p->p_offset + i] != memory(start + i);
	}
	eq_u64(wrong, 0, "with its bytes");
}

static void test_copy(void)
{
	struct sonde_recorder *r = begin();
	const struct sonde_attr *a;
	Elf64_Ehdr h;
	Elf64_Phdr p[2];
	size_t n;

	ok(sonde_recorder_start(r) == 0, "a recording with --kcore");
	eq_u64(r->plan.events.n, 3, "cpu-clock, the dummy, and one more");
	a = &r->plan.events.v[2].attr;
	ok(sonde_attr_has(a, SONDE_FLAG_TEXT_POKE) && sonde_attr_has(a, SONDE_FLAG_KSYMBOL),
	        "that tells of changes of the kernel's code");
	ok(!sonde_attr_has(&r->plan.events.v[1].attr, SONDE_FLAG_KSYMBOL),
	        "which the dummy does not");
	fake_run(0, 7, 7);
	ok(fake_sample(fake_find(SONDE_TYPE_SOFTWARE, 0, 0), TEXT + 0x2010),
	        "a sample in the kernel");
	ok(sonde_recorder_run(r) == 0, "it ends");
	sonde_recorder_free(r);
	ok(read_copy("data") > 104, "data stands in the folder");
	n = read_copy("kcore_dir/kallsyms");
	ok(n > 16 && memcmp(copy, "ffffffff81000000", 16) == 0, "kallsyms beside it");
	n = read_copy("kcore_dir/modules");
	ok(n > 6 && memcmp(copy, "first ", 6) == 0, "and modules");
	n = read_copy("kcore_dir/kcore");
	memcpy(&h, copy, sizeof(h));
	memcpy(p, copy + h.e_phoff, sizeof(p));
	eq_u64(h.e_phnum, 2, "kcore: the kernel and the modules");
	eq_u64(n, PAGE + 6 * PAGE + 5 * PAGE, "and no more");
	check_segment(&p[0], TEXT, 6 * PAGE);
	check_segment(&p[1], MODULES + 0x1000, 5 * PAGE);
}

static void refused(const char *why)
{
	struct sonde_recorder *r = begin();

	ok(sonde_recorder_start(r) < 0, "no copy, no recording");
	if (!ok(strstr(sonde_recorder_error(r)->text, why) != NULL, why)) {
		printf("# %s\n", sonde_recorder_error(r)->text);
	}
	sonde_recorder_free(r);
}

int main(int argc, char **argv)
{
	fixture_open(&machine, argv[1]);
	(void)snprintf(output, sizeof(output), "%s/kcore", argc > 2 ? argv[2] : machine.path);
	make_kcore(0);
	test_copy();
	(void)snprintf(output, sizeof(output), "%s/other", machine.path);
	make_kcore(1);
	refused("no ELF core file of 64 bits");
	(void)snprintf(output, sizeof(output), "%s/third", machine.path);
	make_kcore(2);
	refused("does not hold the kernel's text at 0xffffffff81000000");
	(void)unlinkat(machine.fd, "proc/kcore", 0);
	(void)snprintf(output, sizeof(output), "%s/fourth", machine.path);
	refused("kcore is not readable");
	ok(access(output, F_OK) != 0, "nothing is left of that");
	fake_end();
	fixture_close(&machine);
	return tap_done();
}
