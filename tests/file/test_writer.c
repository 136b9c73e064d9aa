/* SPDX-License-Identifier: MIT */
/* A recorder can be killed between any two writes: the file must open with its events after each. */
#include "file/file.h"
#include "file/writer.h"
#include "tap.h"

#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NEVENTS 3

static unsigned nwrites, nreadable;

static bool is_readable(int fd)
{
	static uint8_t bytes[8192];
	ssize_t n = pread(fd, bytes, sizeof(bytes), 0);
	struct diag_sink diags = {0};
	struct file f = {.diags = &diags};
	bool good = n >= 0 && file_open_bytes(&f, (struct span){bytes, (size_t)n}, "part") >= 0 &&
	            f.nevents == NEVENTS;

	file_close(&f);
	return good;
}

/* Instead of the C library's: looks at the file after each write. */
/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): libc reserves its names */
ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)
{
	ssize_t got = syscall(SYS_pwrite64, fd, bytes, n, at);

	nwrites++;
	nreadable += is_readable(fd) ? 1 : 0;
	return got;
}

int main(void)
{
	static const struct sonde_attr attr = {.size = ATTR_SIZE_VER0, .type = 1, .sample_type = 1};
	static const uint64_t ids[] = {1, 2, 3, 4};
	struct file_writer_event events[NEVENTS] = {
	        {.attr = &attr, .ids = ids, .nids = 2},
	        {.attr = &attr, .ids = ids + 2, .nids = 1},
	        {.attr = &attr, .ids = ids + 3, .nids = 1},
	};
	struct file_writer w = {.marks = true};
	struct error error = {0};
	FILE *out = tmpfile();

	if (out == NULL) {
		printf("Bail out! no temporary file\n");
		return 1;
	}
	w.fd = fileno(out);
	ok(file_writer_start(&w, events, NEVENTS, &error) == 0, "a file is started");
	ok(nwrites > 0, "it was written with pwrite");
	eq_u64(nreadable, nwrites, "after each of these writes it opens with its events");
	file_writer_fini(&w);
	ok(fclose(out) == 0, "it is closed");
	return tap_done();
}
