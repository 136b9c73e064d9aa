/* SPDX-License-Identifier: MIT */
/* The last line of a report of functions: how many samples are in code without symbols, and what to do. */
#include "report/report.h"

#include "core/escape.h"

#include <inttypes.h>
#include <stdlib.h>

#define OBJECTS_SHOWN 3

struct missing { /* samples in an object without symbols; object PROFILE_NONE: nowhere */
	uint64_t samples;
	uint32_t object;
};

static int missing_order(const void *a, const void *b)
{
	const struct missing *x = a, *y = b;

	if (x->samples != y->samples) {
		return x->samples > y->samples ? -1 : 1;
	}
	return x->object < y->object ? -1 : x->object > y->object;
}

/* What the user can do about code without symbols in an object. */
static const char *advice(const struct report *r, uint32_t object)
{
	static const char *const texts[] = {
	        [TIMELINE_USER] = "install their debug symbols, or name a folder with the files "
	                          "by --symfs",
	        [TIMELINE_KERNEL] = "name the recorded kernel's ELF file by --vmlinux, or a copy "
	                            "of its /proc/kallsyms by --kallsyms",
	        [TIMELINE_MODULE] = "name a copy of the recorded system's /proc/kallsyms by "
	                            "--kallsyms",
	        [TIMELINE_VDSO] = "record without -N, so that it is stored in ~/.debug",
	        [TIMELINE_ANON] = "let the runtime write /tmp/perf-PID.map",
	        [TIMELINE_CODE] = "record as root, so that its name is known",
	        [TIMELINE_NONE] = "no code was mapped there",
	};
	const struct timeline *t = session_timeline(r->session);
	const struct frame_options *frames = &session_frames(r->session)->options;
	bool kernel = object != PROFILE_NONE && timeline_object(t, object)->kind == TIMELINE_KERNEL;

	if (kernel && frames->vmlinux != NULL && frames->kallsyms == NULL) {
		return "the file that --vmlinux names is that of another kernel, or has no "
		       "symbols";
	}
	return object == PROFILE_NONE ? "no mapping of these addresses was recorded"
	                              : texts[timeline_object(t, object)->kind];
}

/* Sums samples by object, with those outside of objects last. Returns the sum of all samples. */
static uint64_t missing_count(const struct profile *p, struct missing *list, size_t objects)
{
	uint64_t all = 0;

	for (size_t i = 0; i <= objects; i++) {
		list[i].object = i < objects ? (uint32_t)i : PROFILE_NONE;
	}
	for (size_t i = 0; i < p->counts.nchains; i++) {
		const struct profile_chain *c = &p->counts.chains[i];
		const struct profile_frame *f = &p->counts.frames[c->leaf];

		if (c->hidden) {
			continue;
		}
		all += c->samples;
		if (f->symbol == NULL) {
			list[f->object != PROFILE_NONE ? f->object : objects].samples += c->samples;
		}
	}
	return all;
}

static void put_missing(struct report *r, const struct missing *list, uint64_t sum, uint64_t all)
{
	const struct timeline *t = session_timeline(r->session);
	uint64_t rest = sum;

	text_printf(&r->text,
	        "#\n# (Tip: %" PRIu64 " of %" PRIu64 " samples are in code without symbols:", sum,
	        all);
	for (unsigned i = 0; i < OBJECTS_SHOWN && list[i].samples != 0; i++) {
		const char *name =
		        list[i].object == PROFILE_NONE
		                ? "[unknown]"
		                : timeline_text(t, timeline_object(t, list[i].object)->short_name);

		text_str(&r->text, i != 0 ? ", " : " ");
		text_plain(&r->text, name);
		text_printf(&r->text, " %" PRIu64, list[i].samples);
		rest -= list[i].samples;
	}
	if (rest != 0) {
		text_printf(&r->text, ", others %" PRIu64, rest);
	}
	text_printf(&r->text, "; %s)\n#\n", advice(r, list[0].object));
}

int report_unresolved(struct report *r, bool *printed)
{
	size_t objects = timeline_objects(session_timeline(r->session));
	struct missing *list;
	uint64_t all, sum = 0;

	*printed = false;
	if (!r->profile.options.keys.chosen[FIELD_SYM]) {
		return 0;
	}
	list = calloc(objects + OBJECTS_SHOWN, sizeof(*list)); /* at least as many as are shown */
	if (list == NULL) {
		return SONDE_ENOMEM;
	}
	all = missing_count(&r->profile, list, objects);
	for (size_t i = 0; i <= objects; i++) {
		sum += list[i].samples;
	}
	if (sum != 0) {
		qsort(list, objects + 1, sizeof(*list), missing_order);
		put_missing(r, list, sum, all);
		*printed = true;
	}
	free(list);
	return 0;
}
