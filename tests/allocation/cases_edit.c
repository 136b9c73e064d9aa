/* SPDX-License-Identifier: MIT */
/* Stages of an editor. */
#include "cases.h"

#include <sonde/preview/edit.h>

#include <stdio.h>
#include <unistd.h>

static int edit_with(struct outcome *out, const struct input *in, const char *path,
        struct sonde_editor_options eo)
{
	const struct sonde_rewriter_options o = {
	        .size = sizeof(o), .on_diag = outcome_diag, .diag_arg = out};
	struct sonde_rewriter *rw = sonde_rewriter_new(&o);
	struct sonde_editor *e;
	int rc = rw != NULL ? 0 : SONDE_ENOMEM;

	(void)unlink(in->out);
	eo.size = sizeof(eo);
	e = sonde_editor_new(&eo);
	rc = e != NULL ? rc : SONDE_ENOMEM;
	rc = rc >= 0 ? sonde_rewriter_open(rw, path) : rc;
	rc = rc >= 0 ? sonde_editor_add(e, rw) : rc;
	rc = rc >= 0 ? sonde_rewriter_write(rw, in->out) : rc;
	if (rw != NULL && e != NULL) {
		outcome_error(out, rc, sonde_rewriter_error(rw));
	}
	sonde_rewriter_free(rw);
	sonde_editor_free(e);
	if (rc >= 0) {
		outcome_file(out, in->out);
	}
	return rc;
}

static int case_merge(struct outcome *out, const struct input *in)
{
	const char *const others[] = {in->branches, in->made};

	return edit_with(
	        out, in, in->made, (struct sonde_editor_options){.merge = others, .nmerge = 2});
}

static int case_redact(struct outcome *out, const struct input *in)
{
	return edit_with(out, in, in->tracepoints, (struct sonde_editor_options){.redact = "key"});
}

static int case_aslr(struct outcome *out, const struct input *in)
{
	return edit_with(out, in, in->tracepoints, (struct sonde_editor_options){.aslr = true});
}

static int case_guest(struct outcome *out, const struct input *in)
{
	char option[300];

	(void)snprintf(option, sizeof(option), "%s,80,5,2", in->made);
	return edit_with(out, in, in->host, (struct sonde_editor_options){.guest_data = option});
}

static void vm_time_found(void *arg, const struct sonde_vm_time_offset *o)
{
	(void)outcome_add(arg, (const char *)&o->offset, sizeof(o->offset));
}

/* Without writing: the next run needs the same input. */
static int case_vm_time(struct outcome *out, const struct input *in)
{
	const struct sonde_vm_time_options o = {.size = sizeof(o),
	        .offsets = "0x10 0x20:1,2",
	        .dry_run = true,
	        .on_offset = vm_time_found,
	        .offset_arg = out,
	        .on_diag = outcome_diag,
	        .diag_arg = out};
	struct sonde_vm_time *v = sonde_vm_time_new(&o);
	int rc = v != NULL ? sonde_vm_time_change(v, in->vm) : SONDE_ENOMEM;

	if (v != NULL) {
		outcome_error(out, rc, sonde_vm_time_error(v));
	}
	sonde_vm_time_free(v);
	return rc;
}

static int case_chains(struct outcome *out, const struct input *in)
{
	return edit_with(out, in, in->jit, (struct sonde_editor_options){.convert_chains = true});
}

static int case_itrace(struct outcome *out, const struct input *in)
{
	const struct sonde_session_options session = {.size = sizeof(session), .symfs = in->symfs};

	return edit_with(out, in, in->traced,
	        (struct sonde_editor_options){.session = &session, .itrace = "i1000nsg"});
}

static int case_keep(struct outcome *out, const struct input *in)
{
	const struct sonde_filter keep = {.time = "10%-60%"};

	return edit_with(
	        out, in, in->made, (struct sonde_editor_options){.keep = &keep, .one_in = 2});
}

static int case_build_ids(struct outcome *out, const struct input *in)
{
	return edit_with(out, in, in->made,
	        (struct sonde_editor_options){
	                .build_ids = SONDE_EDIT_BUILD_IDS_ALL, .mapped_build_ids = true});
}

static int case_known(struct outcome *out, const struct input *in)
{
	char ids[1024];

	(void)snprintf(ids, sizeof(ids),
	        "0123456789abcdef0123456789abcdef01234567 %s/mangled,00112233 /nowhere/second",
	        in->folder);
	return edit_with(out, in, in->made,
	        (struct sonde_editor_options){.build_ids = SONDE_EDIT_BUILD_IDS_ALL,
	                .mapped_build_ids = true,
	                .known_build_ids = ids});
}

static int case_sched(struct outcome *out, const struct input *in)
{
	return edit_with(out, in, in->sched, (struct sonde_editor_options){.sched_stat = true});
}

static int case_jit(struct outcome *out, const struct input *in)
{
	return edit_with(out, in, in->jit, (struct sonde_editor_options){.jit = true});
}

const struct alloc_case edit_cases[] = {
        {"keep", case_keep, false},
        {"build ids", case_build_ids, false},
        {"merge", case_merge, false},
        {"redact", case_redact, false},
        {"aslr", case_aslr, false},
        {"chains", case_chains, false},
        {"guest", case_guest, false},
        {"times of guests", case_vm_time, false},
        {"itrace", case_itrace, false},
        {"known build ids", case_known, false},
        {"sched-stat", case_sched, false},
        {"jit", case_jit, true},
        {NULL, NULL, false},
};
