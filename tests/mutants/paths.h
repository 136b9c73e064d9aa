/* SPDX-License-Identifier: MIT */
/* All ways of reading a recording with the public functions of the library. */
#ifndef PATHS_H
#define PATHS_H

#include <stddef.h>
#include <stdint.h>

struct input {
	const char *path;
	const char *output; /* an unused path for output */
	const char *symfs; /* where objects are; NULL: nowhere */
	const char *itrace; /* samples that are made of hardware traces; NULL: none */
	uint64_t number; /* of the mutant: selects options, as one run cannot try all */
};

/* run() aborts if the library returns something impossible. */
struct path {
	const char *name;
	void (*run)(const struct input *in, int mode);
	int mode;
};

extern const struct path paths[];
extern const size_t paths_n;

/* Removes a file, or a folder with files; it need not exist. */
void paths_remove(const char *path);

#endif
