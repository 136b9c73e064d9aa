/* SPDX-License-Identifier: MIT */
/* The fields in lines of `script`, as chosen by -F for each type of events. */
#ifndef SONDE_FIELD_CHOICE_H
#define SONDE_FIELD_CHOICE_H

#include "core/status.h"
#include "field/field.h"

/* The fields for events of each type. */
struct field_choice {
	uint64_t shown[FIELD_TYPE_COUNT]; /* bits by enum field_id */
	uint64_t wanted[FIELD_TYPE_COUNT]; /* requested by name: an error if absent */
	bool chosen[FIELD_TYPE_COUNT]; /* the fields are not only the default ones */
};

enum field_type field_type_of(const struct sonde_attr *attr);
/* Whether each sample is a branch, such as those of Intel BTS: lines have where it went. */
bool field_each_branch(const struct sonde_attr *attr);

/*
 * The default fields. chains: a tracepoint recorded call chains and they are not hidden; as in
 * perf, tracepoints then have address fields too.
 */
void field_choice_default(struct field_choice *c, bool chains);

/* Whether an argument of -F is about events of a type. */
bool field_choice_is_about(const char *spec, enum field_type type);

/*
 * Parses the argument of -F: "comm,ip", "+symoff,-dso", "sw:comm,ip". SONDE_EARG with a text in
 * err; may be called several times, for several types.
 */
int field_choice_parse(struct field_choice *c, const char *spec, struct error *err);

/* Returns all fields that samples of attr have. */
uint64_t field_choice_all(const struct sonde_attr *attr);

/*
 * Returns the fields of all events of a type: the chosen ones, without those that samples of attr
 * lack; attr is that of the first event of the type that is no dummy. SONDE_EARG if a requested
 * field is missing. traced: the file has a hardware trace.
 */
int field_choice_type(const struct field_choice *c, const struct sonde_attr *attr,
        const char *event_name, bool traced, uint64_t *fields, struct error *err);

#endif
