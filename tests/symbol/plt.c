/* SPDX-License-Identifier: MIT */
/* Calls functions of the C library, of which one is called and has its address taken: .plt.got. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *(*volatile taken)(size_t) = malloc;

int main(int argc, char **argv)
{
	void *(*volatile local)(size_t) = malloc;
	void *memory = malloc((size_t)argc + 3);

	printf("%p %p\n", memory, (void *)(size_t)local);
	free(memory);
	puts(getenv("HOME"));
	return write(1, "x", 1) < 0 ? abs(argc) + (int)strlen(argv[0]) : rand();
}
