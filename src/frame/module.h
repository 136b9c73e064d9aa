/* SPDX-License-Identifier: MIT */
/*
 * The code of a kernel module from its file, which is relocatable: its section .text, as the kernel puts
 * it at the start of the module. Calls within it and to the kernel lead where they did at run time; calls
 * to the kernel's hook for tracing are NOPs, which the kernel makes of them.
 */
#ifndef SONDE_FRAME_MODULE_H
#define SONDE_FRAME_MODULE_H

#include "frame/frame.h"

/* Empty when zero-initialised, and if no file was found. */
struct frame_module {
	uint8_t *text;
	size_t size;
};

/* Reads the file of a module's object. 0, or SONDE_ENOMEM. */
int frame_module_open(struct frame_module *m, const struct frame_resolver *r, uint32_t object);

#endif
