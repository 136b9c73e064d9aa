/* SPDX-License-Identifier: MIT */
/*
 * Raw and typed records. A plan is made once per attr; with it, decoding a sample or a trailer
 * takes a few loads.
 */
#ifndef SONDE_RECORD_H
#define SONDE_RECORD_H

#include "core/span.h"

#include <sonde/attr.h>
#include <sonde/sample.h>

/* A record as it is in the input; body is everything after the 8-byte header. */
struct record {
	uint32_t type;
	uint16_t misc;
	uint16_t size; /* bytes, header included */
	uint64_t offset; /* of the header in the file, in bytes */
	struct span body;
};

/*
 * Decodes an attr of bytes.n bytes, 64 or more; missing fields are zero, a longer tail is ignored.
 * The flag word is normalised to bits counted from the lowest, whatever the writer's byte order.
 * Returns false for fewer than 64 bytes.
 */
bool record_attr_decode(struct span bytes, bool swap, struct sonde_attr *attr);

static inline void record_attr_set(struct sonde_attr *attr, enum sonde_attr_flag flag, bool on)
{
	attr->flags = (attr->flags & ~(1ull << flag)) | (uint64_t)on << flag;
}

/* The two bits of precise_ip. */
static inline unsigned record_attr_precision(const struct sonde_attr *attr)
{
	return (unsigned)(attr->flags >> SONDE_FLAG_PRECISE_IP & 3);
}

static inline void record_attr_set_precision(struct sonde_attr *attr, unsigned precision)
{
	attr->flags = (attr->flags & ~(3ull << SONDE_FLAG_PRECISE_IP)) |
	              (uint64_t)precision << SONDE_FLAG_PRECISE_IP;
}

/* The bytes after the known fields in a larger attr; else empty. */
struct span record_attr_tail(struct span bytes);

/* Writes ATTR_SIZE_NOW bytes in host byte order; attr->size is not changed. */
void record_attr_encode(const struct sonde_attr *attr, uint8_t out[144]);

/* As record_attr_encode; with `swap` in the other byte order. Every decoded bit is written. */
void record_attr_encode_as(const struct sonde_attr *attr, bool swap, uint8_t out[144]);

/* Register names by bit for a machine name as in uname -m; NULL: unknown machine. */
const char *const *record_reg_names(const char *machine, size_t *n);

/*
 * Where the fields of the records of one attr are. Offsets are in bytes, in samples from the start
 * of the body, in the trailer of other records from its end; NOT_THERE: the field is not recorded.
 */
#define RECORD_NOT_THERE 0xff

struct record_plan {
	uint64_t sample_type;
	uint64_t read_format;
	uint64_t branch_sample_type;
	unsigned user_regs; /* number of registers when abi is not 0 */
	unsigned intr_regs;
	uint8_t sample_id; /* of IDENTIFIER or ID in samples */
	uint8_t fixed_size; /* bytes of a sample's fixed part (up to PERIOD) */
	uint8_t ip, tid, time, addr, id, stream_id, cpu, period; /* in samples */
	uint8_t trailer_size; /* 0 without sample_id_all */
	uint8_t trailer_tid, trailer_time, trailer_id, trailer_stream_id,
	        trailer_cpu; /* from the end */
};

void record_plan_make(struct record_plan *plan, const struct sonde_attr *attr);

/*
 * Decodes the body of a SAMPLE record. Call chains and other arrays of u64 point into the body if
 * the input is in host order and aligned, else into scratch (owned by the caller, grown as needed,
 * reused). Returns 1; 0: the body is too short or a count does not fit (fields read so far are
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
 * As record_sample_decode, into the *out of a successful decoding with the same sample_type: fields
 * that are not recorded are not cleared again.
 */
int record_sample_decode_over(const struct record_plan *plan, struct span body, bool swap,
        struct record_scratch *scratch, struct sonde_sample *out);
void record_scratch_fini(struct record_scratch *scratch);

/*
 * Iterates over the counts in the READ part of a sample. False: no counts, or they do not fit into
 * the body.
 */
struct record_counts {
	struct cursor c;
	uint64_t left; /* not read yet */
	uint64_t format; /* bits of read_format */
	uint64_t enabled, running; /* ns; 0 when not recorded */
};

bool record_counts_begin(
        const struct record_plan *plan, struct span body, bool swap, struct record_counts *out);
/* The same for the bytes that read(2) of an event returned, in host order. */
bool record_counts_read(uint64_t read_format, struct span bytes, struct record_counts *out);
/* False: no more. *out includes the times `enabled` and `running`. */
bool record_counts_next(struct record_counts *counts, struct sonde_record_read_value *out);

/* Decodes the trailer of a record that is not a sample; absent fields are 0. False: too short. */
struct record_trailer {
	uint32_t pid, tid;
	uint64_t time; /* ns; 0 when not recorded */
	uint64_t id;
	uint64_t stream_id;
	uint32_t cpu; /* UINT32_MAX when not recorded */
};

bool record_trailer_decode(
        const struct record_plan *plan, struct span body, bool swap, struct record_trailer *out);

/*
 * Typed views of side-band records; texts point into the body. False: too short or not terminated.
 */
struct record_mmap {
	uint32_t pid, tid;
	uint64_t start, len, pgoff;
	uint32_t maj, min;
	uint64_t ino, ino_generation;
	uint32_t prot,
	        flags; /* 0 for MMAP (1), whose prot is executable unless misc has MISC_MMAP_DATA */
	uint8_t build_id[20];
	uint8_t build_id_size; /* 0: the record has none */
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

/* Name of a record type as perf prints it in --stats ("MMAP2", "FINISHED_ROUND"); NULL: unknown. */
const char *record_type_name(uint32_t type);

#endif
