/* SPDX-License-Identifier: MIT */
/* Every way of reading a recording through the public functions of the library. */
#ifndef PATHS_H
#define PATHS_H

#include <stddef.h>
#include <stdint.h>

struct input {
	const char *path;
	const char *output; /* a name that is free, for what is written */
	uint64_t number; /* of the mutant: chooses among ways that are too many for one run */
};

/* Ends the program when the library says something about the recording that cannot be. */
struct path {
	const char *name;
	void (*run)(const struct input *in, int mode);
	int mode;
};

extern const struct path paths[];
extern const size_t paths_n;

/* Removes a file, or a folder with files in it; fine when there is none. */
void paths_remove(const char *path);

#endif
