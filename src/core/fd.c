/* SPDX-License-Identifier: MIT */
#include "core/fd.h"

#include <errno.h>
#include <unistd.h>

void fd_close(int *fd)
{
	if (*fd >= 0) {
		(void)close(*fd);
	}
	*fd = -1;
}

bool fd_write(int fd, const void *bytes, size_t n)
{
	const char *p = bytes;

	while (n != 0) {
		ssize_t done = write(fd, p, n);

		if (done < 0 && errno == EINTR) {
			continue;
		}
		if (done <= 0) {
			return false;
		}
		p += done;
		n -= (size_t)done;
	}
	return true;
}
