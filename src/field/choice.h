/* SPDX-License-Identifier: MIT */
/* The fields that lines of `script` show: what -F chooses, for each type of events. */
#ifndef SONDE_FIELD_CHOICE_H
#define SONDE_FIELD_CHOICE_H

#include "core/status.h"
#include "field/field.h"

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
 * Takes the argument of -F: "comm,ip", "+symoff,-dso", "sw:comm,ip". SONDE_EARG with words in
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
