/* SPDX-License-Identifier: MIT */
/* BPF programs: what the kernel says about each, as records and as header features. */
#ifndef SONDE_HOST_BPF_H
#define SONDE_HOST_BPF_H

#include "core/text.h"

#include <sonde/attr.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HOST_BPF_INFO 232u /* bytes of a program's information that perf 6.1 knows */

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

/* Zero-initialised knows none. */
struct host_bpf {
	struct host_bpf_program *programs;
	size_t n, cap;
	struct host_bpf_types *types;
	size_t ntypes, types_cap;
};

void host_bpf_fini(struct host_bpf *b);

/* Keeps what is known of a program; one that has gone is left out. */
void host_bpf_take(struct host_bpf *b, uint32_t id);

/* Keeps all programs that are loaded, and appends their records with the trailer of attr. */
void host_bpf_synth(struct host_bpf *b, const struct sonde_attr *attr, struct text *out);

/* The payloads of BPF_PROG_INFO and BPF_BTF. b NULL: of no program. */
void host_bpf_put_programs(const struct host_bpf *b, struct text *out);
void host_bpf_put_types(const struct host_bpf *b, struct text *out);

#endif
