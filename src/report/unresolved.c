/* SPDX-License-Identifier: MIT */
/* The last lines of a report of functions: how many samples are in code without symbols, where, why, and what to do. */
#include "report/report.h"

#include "core/escape.h"

#include <inttypes.h>
#include <stdlib.h>

#define OBJECTS_SHOWN 3

struct report_missing { /* samples in an object without symbols; object PROFILE_NONE: nowhere */
	uint64_t samples;
	uint32_t object;
};

static int missing_order(const void *a, const void *b)
{
	const struct report_missing *x = a, *y = b;

	if (x->samples != y->samples) {
		return x->samples > y->samples ? -1 : 1;
	}
	return x->object < y->object ? -1 : x->object > y->object;
}

/* What is known about the symbols of an object, by what its table lacks. */
static const char *const lacks[SYMBOL_LACKS] = {
        [SYMBOL_NO_FILE] = "the file is not here: name a folder with the recorded "
                           "system's files by --symfs, or use --debuginfod",
        [SYMBOL_NOT_ELF] = "the file here is no ELF object: name a folder with the recorded "
                           "system's files by --symfs",
        [SYMBOL_UNREADABLE] = "the file cannot be read: check its permissions, or run as root",
        [SYMBOL_OTHER_BUILD] =
                "the file here is another build (its build id differs): name a "
                "folder with the recorded system's files by --symfs, or use --debuginfod",
        [SYMBOL_STRIPPED] = "the file is stripped: install its debug symbols (the -dbgsym or -dbg "
                            "package), use --debuginfod, or name a folder with them by --symfs",
        [SYMBOL_OTHER_KERNEL] = "the running kernel is not the recorded one",
        [SYMBOL_HIDDEN] = "/proc/kallsyms hides addresses from this user: run as root, or set "
                          "kernel.kptr_restrict to 0",
        [SYMBOL_NO_MAP] = "no perf map is here: let the runtime write /tmp/perf-PID.map",
        [SYMBOL_FOREIGN_MAP] = "its perf map belongs to another user: run as that user or as root",
};

static const char *kernel_reason(enum symbol_lack lack, bool vmlinux)
{
	if (vmlinux) {
		return lack == SYMBOL_OTHER_BUILD
		               ? "the file that --vmlinux names is that of another kernel"
		               : "the file that --vmlinux names has no symbols";
	}
	return lack == SYMBOL_HIDDEN
	               ? lacks[lack]
	               : "the running kernel is not the recorded one: name the recorded "
	                 "kernel's ELF file by --vmlinux, or a copy of its "
	                 "/proc/kallsyms by --kallsyms";
}

/* Why code in an object has no symbols, and what the user can do. */
static const char *reason(const struct report *r, uint32_t object)
{
	const struct timeline *t = session_timeline(r->session);
	const struct frame_resolver *f = session_frames(r->session);
	const struct symbol_table *table = object != PROFILE_NONE ? frame_symbols(f, object) : NULL;
	enum symbol_lack lack = table != NULL ? symbol_table_lack(table) : SYMBOL_COMPLETE;

	if (object == PROFILE_NONE) {
		return "no mapping of these addresses was recorded";
	}
	if (table != NULL && symbol_table_count(table) != 0 && lack == SYMBOL_COMPLETE) {
		return "its symbols do not cover these addresses";
	}
	switch (timeline_object(t, object)->kind) {
	case TIMELINE_USER:
	case TIMELINE_ANON: return lacks[lack != SYMBOL_COMPLETE ? lack : SYMBOL_STRIPPED];
	case TIMELINE_KERNEL:
		return kernel_reason(
		        lack, f->options.vmlinux != NULL && f->options.kallsyms == NULL);
	case TIMELINE_MODULE:
		return lack == SYMBOL_HIDDEN
		               ? lacks[lack]
		               : "the running kernel has no such module of this build: name a copy "
		                 "of the recorded system's /proc/kallsyms by --kallsyms";
	case TIMELINE_VDSO:
		return "the running kernel has another one: record without -N, so that it is "
		       "stored in ~/.debug";
	case TIMELINE_JIT: return "the jitdump has no name for it";
	case TIMELINE_CODE: return "record as root, so that its name is known";
	case TIMELINE_NONE: break;
	}
	return "no code was mapped there";
}

/* Sums samples by object, with those outside of objects last. Returns the sum of all samples. */
static uint64_t missing_count(const struct profile *p, struct report_missing *list, size_t objects)
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

static void put_missing(
        struct report *r, const struct report_missing *list, uint64_t sum, uint64_t all)
{
	const struct timeline *t = session_timeline(r->session);
	uint64_t rest = sum;

	text_printf(&r->text,
	        "# (Tip: %" PRIu64 " of %" PRIu64 " samples are in code without symbols)\n", sum,
	        all);
	for (unsigned i = 0; i < OBJECTS_SHOWN && list[i].samples != 0; i++) {
		const char *name =
		        list[i].object == PROFILE_NONE
		                ? "[unknown]"
		                : timeline_text(t, timeline_object(t, list[i].object)->short_name);

		text_printf(&r->text, "# (Tip: %" PRIu64 " in ", list[i].samples);
		text_plain(&r->text, name);
		text_printf(&r->text, ": %s)\n", reason(r, list[i].object));
		rest -= list[i].samples;
	}
	if (rest != 0) {
		text_printf(&r->text, "# (Tip: %" PRIu64 " in others)\n", rest);
	}
}

int report_unresolved_count(struct report *r)
{
	size_t objects = timeline_objects(session_timeline(r->session));

	if (!r->profile.options.keys.chosen[FIELD_SYM]) {
		return 0;
	}
	r->tips.missing = calloc(objects + OBJECTS_SHOWN, /* at least as many as are shown */
	        sizeof(*r->tips.missing));
	if (r->tips.missing == NULL) {
		return SONDE_ENOMEM;
	}
	r->tips.samples = missing_count(&r->profile, r->tips.missing, objects);
	return 0;
}

bool report_unresolved(struct report *r)
{
	size_t objects = timeline_objects(session_timeline(r->session));
	struct report_missing *list = r->tips.missing;
	uint64_t sum = 0;

	for (size_t i = 0; i <= objects && list != NULL; i++) {
		sum += list[i].samples;
	}
	if (sum == 0) {
		return false;
	}
	qsort(list, objects + 1, sizeof(*list), missing_order);
	put_missing(r, list, sum, r->tips.samples);
	return true;
}
