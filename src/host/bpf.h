/* SPDX-License-Identifier: MIT */
/* BPF programs as records and as header features. */
#ifndef SONDE_HOST_BPF_H
#define SONDE_HOST_BPF_H

#include "core/text.h"

#include <sonde/attr.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HOST_BPF_INFO 232u /* bytes of a program's details that perf 6.1 knows */

struct host_bpf_program {
	uint32_t id;
	uint32_t info_size; /* bytes that the kernel filled */
	uint8_t info[HOST_BPF_INFO]; /* its pointers are offsets into data */
	uint8_t *data;
	size_t size; /* bytes, a multiple of 8 */
};

struct host_bpf_types {
	uint32_t id, size;
	uint8_t *data;
};

/* Empty when zero-initialised. */
struct host_bpf {
	struct host_bpf_program *programs;
	size_t n, cap;
	struct host_bpf_types *types;
	size_t ntypes, types_cap;
};

void host_bpf_fini(struct host_bpf *b);

/* Reads the details of a program; an unloaded one is skipped. */
void host_bpf_take(struct host_bpf *b, uint32_t id);

/* Reads the details of all loaded programs, and appends their records with the trailer of attr. */
void host_bpf_synth(struct host_bpf *b, const struct sonde_attr *attr, struct text *out);

/* Append the payloads of BPF_PROG_INFO and BPF_BTF. b NULL: no programs. */
void host_bpf_put_programs(const struct host_bpf *b, struct text *out);
void host_bpf_put_types(const struct host_bpf *b, struct text *out);

#endif
