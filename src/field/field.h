/* SPDX-License-Identifier: MIT */
/*
 * Every output field once: its name, what a sample must carry for it, and how it looks as text.
 * The choice of fields (-F) and the printing of samples both come from this table.
 */
#ifndef SONDE_FIELD_H
#define SONDE_FIELD_H

#include "core/status.h"
#include "core/text.h"
#include "session/session.h"

/* In the order in which a line of text shows them. */
enum field_id {
	FIELD_COMM,
	FIELD_PID,
	FIELD_TID,
	FIELD_CPU,
	FIELD_MISC,
	FIELD_TIME,
	FIELD_TOD,
	FIELD_PERIOD,
	FIELD_EVENT,
	FIELD_TRACE,
	FIELD_ADDR,
	FIELD_DATA_SRC,
	FIELD_WEIGHT,
	FIELD_INS_LAT,
	FIELD_IP,
	FIELD_SYM,
	FIELD_SYMOFF,
	FIELD_DSO,
	FIELD_DSOFF,
	FIELD_IREGS,
	FIELD_UREGS,
	FIELD_PHYS_ADDR,
	FIELD_DATA_PAGE_SIZE,
	FIELD_CODE_PAGE_SIZE,
	FIELD_COUNT
};

#define FIELD_BIT(id) (UINT64_C(1) << (unsigned)(id))

/* Groups of events for which fields are chosen together: what stands before the ':' in -F. */
enum field_type {
	FIELD_TYPE_HW,
	FIELD_TYPE_SW,
	FIELD_TYPE_TRACE,
	FIELD_TYPE_CACHE,
	FIELD_TYPE_RAW,
	FIELD_TYPE_BREAK,
	FIELD_TYPE_OTHER,
	FIELD_TYPE_COUNT
};

struct field_def {
	const char *name;
	uint64_t needs; /* bits of enum sonde_sample_bit, one of them is enough; 0: none */
	const char *attribute; /* name of that bit in messages */
	bool traced; /* may be asked for without it when the file has a hardware trace, as in perf */
};

const struct field_def *field_def(enum field_id id);

/* Which fields are shown for the events of each type. */
struct field_choice {
	uint64_t shown[FIELD_TYPE_COUNT]; /* bits by enum field_id */
	uint64_t wanted[FIELD_TYPE_COUNT]; /* asked for by name: it is an error when they are absent
	                                    */
};

enum field_type field_type_of(const struct sonde_attr *attr);

/*
 * The usual fields. chains: some tracepoint recorded call chains and they are not hidden, so
 * tracepoints show where they were hit too, as in perf.
 */
void field_choice_default(struct field_choice *c, bool chains);

/*
 * Takes what stands behind -F: "comm,ip", "+symoff,-dso", "sw:comm,ip". SONDE_EARG with words in
 * err; may be called several times, for several types.
 */
int field_choice_parse(struct field_choice *c, const char *spec, struct error *err);

/*
 * The fields of all events of a type: what was chosen for it less what the samples of attr do not
 * have; attr is that of the first event of the type that is no dummy. SONDE_EARG when something was
 * asked for by name that is not there. traced: the file has a hardware trace.
 */
int field_choice_type(const struct field_choice *c, const struct sonde_attr *attr,
        const char *event_name, bool traced, uint64_t *fields, struct error *err);

#endif
