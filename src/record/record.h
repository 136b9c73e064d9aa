/* SPDX-License-Identifier: MIT */
/*
 * Raw records and typed ones. A plan is made once per attr; with it a sample or a trailer costs a
 * few loads.
 */
#ifndef SONDE_RECORD_H
#define SONDE_RECORD_H

#include "core/span.h"

#include <sonde/attr.h>
#include <sonde/sample.h>

/* One record as it stands in the input; body is what follows the 8-byte header. */
struct record {
	uint32_t type;
	uint16_t misc;
	uint16_t size; /* header included */
	uint64_t offset; /* of the header in the file, in bytes */
	struct span body;
};

/*
 * Reads an attr of bytes.n bytes (64 or more; what is missing reads as zero, a longer tail is
 * ignored). The flag word is normalised to bits counted from the lowest, whatever the byte order of
 * the writer. Returns false when fewer than 64 bytes are there.
 */
bool record_attr_decode(struct span bytes, bool swap, struct sonde_attr *attr);

static inline void record_attr_set(struct sonde_attr *attr, enum sonde_attr_flag flag, bool on)
{
	attr->flags = (attr->flags & ~(1ull << flag)) | (uint64_t)on << flag;
}

/* What stands behind the fields we know, in an attr that is larger; empty otherwise. */
struct span record_attr_tail(struct span bytes);

/* Writes ATTR_SIZE_NOW bytes in host byte order; attr->size is written as it is. */
void record_attr_encode(const struct sonde_attr *attr, uint8_t out[144]);

/* The same in the other byte order with `swap`; every bit that was decoded is written. */
void record_attr_encode_as(const struct sonde_attr *attr, bool swap, uint8_t out[144]);

/* Register names by their bits for what uname -m says; NULL: none known. */
const char *const *record_reg_names(const char *machine, size_t *n);

/*
 * Where things stand in the records of one attr. Offsets are in bytes from the body's start for
 * samples, from its end for the trailer of other records; NOT_THERE when the bit is not set.
 */
#define RECORD_NOT_THERE 0xff

struct record_plan {
	uint64_t sample_type;
	uint64_t read_format;
	uint64_t branch_sample_type;
	unsigned user_regs; /* number of registers when abi is not 0 */
	unsigned intr_regs;
	uint8_t sample_id; /* of IDENTIFIER or ID in samples */
	uint8_t fixed_size; /* bytes of the part of a sample that has a fixed layout (up to PERIOD)
	                     */
	uint8_t ip, tid, time, addr, id, stream_id, cpu, period; /* in samples */
	uint8_t trailer_size; /* 0 without sample_id_all */
	uint8_t trailer_tid, trailer_time, trailer_id, trailer_stream_id,
	        trailer_cpu; /* from the end */
};

void record_plan_make(struct record_plan *plan, const struct sonde_attr *attr);

/*
 * Decodes the body of a SAMPLE record. Call chains and other arrays of u64 point into the body when
 * the input is in host order and aligned, else into scratch (grown as needed, the caller's,
 * reused). Returns 1; 0 when the body is too short or a count does not fit (what was read so far is
 * valid, the rest is zero); SONDE_ENOMEM.
 */
struct record_scratch {
	uint64_t *words;
	size_t cap;
	struct sonde_record_read_value *reads;
	size_t reads_cap;
};

int record_sample_decode(const struct record_plan *plan, struct span body, bool swap,
        struct record_scratch *scratch, struct sonde_sample *out);
/*
 * The same over a *out that the last decoding with this sample_type left as it was, and that was
 * good: what is not present is not cleared again.
 */
int record_sample_decode_over(const struct record_plan *plan, struct span body, bool swap,
        struct record_scratch *scratch, struct sonde_sample *out);
void record_scratch_fini(struct record_scratch *scratch);

/*
 * The counts in the READ part of a sample, one after the other. False: the sample has none, or they
 * do not fit into its body.
 */
struct record_counts {
	struct cursor c;
	uint64_t left; /* not taken yet */
	uint64_t format; /* bits of read_format */
	uint64_t enabled, running; /* ns; 0 when not recorded */
};

bool record_counts_begin(
        const struct record_plan *plan, struct span body, bool swap, struct record_counts *out);
/* The same of what read(2) of an event returned, in host order. */
bool record_counts_read(uint64_t read_format, struct span bytes, struct record_counts *out);
/* False: there are no more. `enabled` and `running` are those of the value. */
bool record_counts_next(struct record_counts *counts, struct sonde_record_read_value *out);

/* The trailer of a record that is not a sample; fields that are not there are 0. False: too short.
 */
struct record_trailer {
	uint32_t pid, tid;
	uint64_t time; /* ns; 0 also when there is none */
	uint64_t id;
	uint64_t stream_id;
	uint32_t cpu; /* UINT32_MAX when there is none */
};

bool record_trailer_decode(
        const struct record_plan *plan, struct span body, bool swap, struct record_trailer *out);

/* Typed views of side-band records; texts point into the body. False: too short or not terminated.
 */
struct record_mmap {
	uint32_t pid, tid;
	uint64_t start, len, pgoff;
	uint32_t maj, min;
	uint64_t ino, ino_generation;
	uint32_t prot,
	        flags; /* 0 for MMAP (1) but prot says executable unless misc has MISC_MMAP_DATA */
	uint8_t build_id[20];
	uint8_t build_id_size; /* 0: none in the record */
	struct span name;
};

struct record_comm {
	uint32_t pid, tid;
	bool exec;
	struct span name;
};

struct record_task { /* FORK and EXIT */
	uint32_t pid, ppid, tid, ptid;
	uint64_t time; /* ns */
};

struct record_ksymbol {
	uint64_t addr;
	uint32_t len;
	uint16_t type, flags;
	struct span name;
};

bool record_mmap_decode(const struct record *r, bool swap, struct record_mmap *out); /* 1 and 10 */
bool record_comm_decode(const struct record *r, bool swap, struct record_comm *out);
bool record_task_decode(const struct record *r, bool swap, struct record_task *out);
bool record_ksymbol_decode(const struct record *r, bool swap, struct record_ksymbol *out);

/* The record type's name as perf prints it in --stats ("MMAP2", "FINISHED_ROUND"); NULL when
 * unknown. */
const char *record_type_name(uint32_t type);

#endif
