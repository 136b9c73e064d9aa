/* SPDX-License-Identifier: MIT */
#include "export/page_file.h"

#include "export/page_bytes.h"

#include "core/status.h"

#include <errno.h>
#include <unistd.h>

#define LOCK_PAGE ((UINT32_C(1) << 30) / PAGES_SIZE + 1)
#define SIZE_AT   16u /* in the first page */
#define PAGES_AT  28u

uint32_t page_file_number(const struct page_file *f, uint32_t page)
{
	uint32_t n = f->old + 1 + page;

	return n + (f->old < LOCK_PAGE && n >= LOCK_PAGE);
}

bool page_file_write(const struct page_file *f, uint32_t number, const void *pages, size_t n)
{
	const uint8_t *bytes = pages;
	off_t at = (off_t)(number - 1) * PAGES_SIZE;

	for (size_t left = n * PAGES_SIZE; left != 0;) {
		ssize_t got = pwrite(f->fd, bytes, left, at);

		if (got < 0 && errno != EINTR) {
			return false;
		}
		got = got > 0 ? got : 0;
		bytes += got;
		at += got;
		left -= (size_t)got;
	}
	return true;
}

bool page_file_read(int fd, uint32_t number, void *pages, size_t n)
{
	uint8_t *bytes = pages;
	off_t at = (off_t)(number - 1) * PAGES_SIZE;

	for (size_t left = n * PAGES_SIZE; left != 0;) {
		ssize_t got = pread(fd, bytes, left, at);

		if (got == 0 || (got < 0 && errno != EINTR)) {
			errno = got == 0 ? 0 : errno;
			return false;
		}
		got = got > 0 ? got : 0;
		bytes += got;
		at += got;
		left -= (size_t)got;
	}
	return true;
}

int page_file_open(struct page_file *f, int fd)
{
	*f = (struct page_file){.fd = fd};
	if (!page_file_read(fd, 1, f->first, 1)) {
		return SONDE_EOUTPUT;
	}
	for (size_t i = 0; i < 4; i++) {
		f->old = f->old << 8 | f->first[PAGES_AT + i];
	}
	if ((f->first[SIZE_AT] << 8 | f->first[SIZE_AT + 1]) != PAGES_SIZE || f->old == 0) {
		errno = 0;
		return SONDE_EOUTPUT;
	}
	return 0;
}

int page_file_add(struct page_file *f, const uint8_t *page, uint32_t *number)
{
	*number = page_file_number(f, f->added++);
	return page_file_write(f, *number, page, 1) ? 0 : SONDE_EOUTPUT;
}

int page_file_end(struct page_file *f)
{
	if (f->added == 0) {
		return 0;
	}
	page_u32(f->first + PAGES_AT, page_file_number(f, f->added - 1));
	return page_file_write(f, 1, f->first, 1) ? 0 : SONDE_EOUTPUT;
}
