/* SPDX-License-Identifier: MIT */
#include "rewrite/repair.h"

#include "record/layout.h"

/* Types from here on are unused. */
#define UNKNOWN_TYPE_MAX 0x10000u

/* The list of names is damaged if its ids cannot be read, even if other fields fit. */
static bool feature_is_good(const struct output *o, unsigned bit)
{
	return output_feature_fits(o, bit) && !(bit == FEATURE_EVENT_DESC && o->in->names_cut);
}

void repair_features(struct repair *repair)
{
	struct output *o = repair->output;

	for (unsigned bit = 1; bit < FEATURE_BITS; bit++) {
		if (output_takes_feature(o, bit) && !feature_is_good(o, bit)) {
			diag_report(o->in->diags, SONDE_DIAG_DAMAGED, o->in->features[bit].offset,
			        "header feature %u does not fit its fields and is left out", bit);
			output_drop_feature(o, bit);
			repair->left_out++;
		}
	}
}

/*
 * Whether a record has all its fields, and a reader that searches for records after damage would
 * accept it: the kernel's records have a multiple of 8 bytes.
 */
static bool record_fits(const struct output *o, const struct record *r)
{
	const struct file_event *e = NULL;
	struct record_walk w;
	struct layout_value v;

	if (r->type < RECORD_USER_START) {
		e = r->type == RECORD_SAMPLE ? file_sample_event(o->in, r)
		                             : file_record_event(o->in, r);
	}
	if ((r->type == RECORD_SAMPLE && e == NULL) || r->type >= UNKNOWN_TYPE_MAX ||
	        (r->type < RECORD_USER_START && r->size % 8 != 0)) {
		return false;
	}
	record_walk_init(&w, r, o->in->swap, e != NULL ? &e->plan : NULL, o->cpus);
	while (record_walk_next(&w, &v) != LAYOUT_END) {
	}
	return !w.bad;
}

bool repair_takes(struct repair *repair, const struct sonde_raw_record *raw)
{
	const struct output *o = repair->output;
	const struct record r = output_record_of(raw);

	if (record_fits(o, &r)) {
		return true;
	}
	diag_report(o->in->diags, SONDE_DIAG_DAMAGED, raw->offset,
	        "a record of type %u and %zu bytes does not fit its fields and is left out",
	        raw->type, raw->size);
	repair->left_out++;
	return false;
}
