/* SPDX-License-Identifier: MIT */
/* sonde/preview/symbol.h: this program's own process and file, a recording of it, and what is refused. */
#include <sonde/preview/symbol.h>
#include <sonde/write.h>

#include "tap.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((noinline, used)) static int looked_for(int x)
{
	return x + 1;
}

static bool is_named(const struct sonde_location *l, const char *name)
{
	return l->symbol != NULL && strcmp(l->symbol, name) == 0 && l->nfunctions == 1 &&
	       l->functions[0].function != NULL && strcmp(l->functions[0].function, name) == 0;
}

/* Where code of this program is in its file. */
static uint64_t file_offset(uint64_t address)
{
	unsigned long long start, end, offset, found = 0;
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[8192];

	while (maps != NULL && fgets(line, sizeof(line), maps) != NULL) {
		if (sscanf(line, "%llx-%llx %*s %llx", &start, &end, &offset) == 3 &&
		        address >= start && address < end) {
			found = address - start + offset;
		}
	}
	if (maps != NULL) {
		(void)fclose(maps);
	}
	return found;
}

#define MAPPED UINT64_C(0x400000)

/* A recording of a process that maps this program at MAPPED at 1000 ns, and another file at 3000 ns. */
static bool recording_write(const char *path, const char *program)
{
	const struct sonde_attr attr = {
	        .type = SONDE_TYPE_SOFTWARE,
	        .config = SONDE_SW_DUMMY,
	        .sample_period = 1,
	        .sample_type = SONDE_SAMPLE_IP | SONDE_SAMPLE_TID | SONDE_SAMPLE_TIME,
	        .flags = 1u << SONDE_FLAG_SAMPLE_ID_ALL | 1u << SONDE_FLAG_MMAP2,
	};
	struct sonde_writer_mapping m = {.pid = 42,
	        .tid = 42,
	        .addr = MAPPED,
	        .len = 0x1000000,
	        .prot = 5,
	        .path = program,
	        .time = 1000};
	struct sonde_writer *w = sonde_writer_new(NULL);
	bool good = w != NULL && sonde_writer_event(w, &attr, NULL, 0, "dummy") >= 0 &&
	            sonde_writer_open(w, path) >= 0 && sonde_writer_mmap(w, &m) >= 0;

	m.path = "/no/such/object";
	m.time = 3000;
	good = good && sonde_writer_mmap(w, &m) >= 0 && sonde_writer_close(w) >= 0;
	sonde_writer_free(w);
	return good;
}

static void test_recording(uint64_t offset)
{
	char path[] = "/tmp/sonde-symbols-XXXXXX", program[4096] = "";
	uint64_t addresses[] = {MAPPED + offset, 16};
	const struct sonde_location *l = NULL;
	struct sonde_session *s = sonde_session_new(NULL);
	int fd = mkstemp(path);
	ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);

	eq_u64(sonde_session_locate(s, 42, 2000, addresses, 2, &l), SONDE_EARG,
	        "a session that is not open is refused");
	ok(n > 0 && fd >= 0 && recording_write(path, program), "a recording is written");
	eq_u64(sonde_session_open(s, path), 0, "it is opened");
	eq_u64(sonde_session_locate(s, 42, 2000, addresses, 2, &l), 0,
	        "addresses of a recording are looked up");
	ok(is_named(&l[0], "looked_for") && strcmp(l[0].object, program) == 0,
	        "a function has its name while its object is mapped");
	ok(l[1].object == NULL && l[1].nfunctions == 0, "nothing was mapped at a low address");
	eq_u64(sonde_session_locate(s, 42, 4000, addresses, 1, &l), 0, "a later time is looked up");
	ok(l[0].symbol == NULL && l[0].object != NULL &&
	                strcmp(l[0].object, "/no/such/object") == 0,
	        "another object is there after it was replaced");
	sonde_session_free(s);
	(void)unlink(path);
	(void)close(fd);
}

int main(void)
{
	const struct sonde_symbols_options newer = {.size = 0};
	struct sonde_symbols *s = sonde_symbols_new(NULL);
	const struct sonde_location *l;
	uint64_t addresses[] = {(uint64_t)(uintptr_t)looked_for, 16,
	        (uint64_t)(uintptr_t)looked_for + 1, (uint64_t)(uintptr_t)addresses};
	int process = sonde_symbols_add_process(s, (uint32_t)getpid()), object;

	ok(process >= 0, "a running process is added");
	eq_u64((uint64_t)sonde_symbols_find(s, process, addresses, 4, &l), 0,
	        "addresses of a process are looked up");
	ok(is_named(&l[0], "looked_for") && l[0].symbol_offset == 0,
	        "the start of a function has its name");
	ok(is_named(&l[2], "looked_for") && l[2].symbol_offset == 1,
	        "code inside of a function has its name");
	ok(l[1].object == NULL && l[1].symbol == NULL && l[1].nfunctions == 0,
	        "nothing is mapped at a low address");
	ok(l[3].object != NULL && l[3].symbol == NULL, "the stack has no symbols");
	addresses[0] = l[0].object_address;
	object = sonde_symbols_add_object(s, "/proc/self/exe");
	ok(object >= 0 && object != process, "an object is added");
	eq_u64((uint64_t)sonde_symbols_find(s, object, addresses, 2, &l), 0,
	        "addresses of an object are looked up");
	ok(is_named(&l[0], "looked_for") && l[0].address == addresses[0] &&
	                l[0].object_address == addresses[0],
	        "a virtual address of the object has the same name");
	eq_u64((uint64_t)sonde_symbols_find(s, process, addresses, 0, &l), 0,
	        "no addresses are no mistake");
	eq_u64(sonde_symbols_find(s, 2, addresses, 1, &l), SONDE_EARG,
	        "an unknown number is refused");
	ok(strstr(sonde_symbols_error(s)->text, "2 is no number") != NULL, "the error names it");
	eq_u64(sonde_symbols_add_object(s, "/no/such/file"), SONDE_ENOENT,
	        "an object that does not exist is refused");
	ok(strstr(sonde_symbols_error(s)->text, "/no/such/file") != NULL, "the error names it too");
	eq_u64(sonde_symbols_add_object(s, "/proc/self/status"), SONDE_EFORMAT,
	        "a file that is no object is refused");
	eq_u64(sonde_symbols_add_process(s, UINT32_MAX - 5), SONDE_ENOENT,
	        "a process that does not run is refused");
	sonde_symbols_free(s);
	s = sonde_symbols_new(&newer);
	eq_u64(sonde_symbols_add_process(s, (uint32_t)getpid()), SONDE_EARG,
	        "options without a size are refused");
	sonde_symbols_free(s);
	sonde_symbols_free(NULL);
	test_recording(file_offset((uint64_t)(uintptr_t)looked_for));
	return tap_done();
}
