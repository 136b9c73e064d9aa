/* SPDX-License-Identifier: MIT */
/* Parts of files as sections: mapped, so that pages that are never executed are never read. */
#define _GNU_SOURCE /* O_CLOEXEC */
#include "pt/graph.h"
#include "pt/image.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int status_of(int error)
{
	switch (error) {
	case ENOENT:
	case ENOTDIR: return SONDE_ENOENT;
	case EACCES:
	case EPERM: return SONDE_EPERM;
	case ENOMEM: return SONDE_ENOMEM;
	default: return SONDE_EIO;
	}
}

int sonde_pt_image_add_fd(struct sonde_pt_image *image, uint32_t space, uint64_t address, int fd,
        uint64_t offset, uint64_t n)
{
	uint64_t skip = offset % (uint64_t)sysconf(_SC_PAGESIZE);
	struct pt_mapping mapping;
	struct stat st;
	uint64_t size;

	if (fstat(fd, &st) != 0) {
		return status_of(errno);
	}
	size = st.st_size > 0 ? (uint64_t)st.st_size : 0;
	if (offset >= size) {
		return SONDE_OK;
	}
	n = n < size - offset ? n : size - offset;
	if (n == 0) {
		return SONDE_OK;
	}
	mapping.n = (size_t)(n + skip);
	mapping.p = mmap(NULL, mapping.n, PROT_READ, MAP_PRIVATE, fd, (off_t)(offset - skip));
	if (mapping.p == MAP_FAILED) {
		return status_of(errno);
	}
	if (!pt_image_keep(image, &mapping)) {
		(void)munmap(mapping.p, mapping.n);
		return SONDE_ENOMEM;
	}
	return sonde_pt_image_add(
	        image, space, address, (const uint8_t *)mapping.p + skip, (size_t)n);
}

int sonde_pt_image_add_file(struct sonde_pt_image *image, uint32_t space, uint64_t address,
        const char *path, uint64_t offset, uint64_t n)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int rc;

	if (fd < 0) {
		return status_of(errno);
	}
	rc = sonde_pt_image_add_fd(image, space, address, fd, offset, n);
	(void)close(fd);
	return rc;
}
