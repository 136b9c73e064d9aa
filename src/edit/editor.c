/* SPDX-License-Identifier: MIT */
#include "edit/inside.h"

#include "core/options.h"
#include "file/reader.h"

#include <stdlib.h>

struct sonde_editor *sonde_editor_new(const struct sonde_editor_options *options)
{
	struct sonde_editor *e = calloc(1, sizeof(*e));

	if (e != NULL) {
		e->failure = options_copy(&e->o, sizeof(e->o), options, &e->error);
	}
	return e;
}

void sonde_editor_free(struct sonde_editor *e)
{
	if (e == NULL) {
		return;
	}
	edit_aslr_fini(e);
	edit_build_ids_fini(e);
	edit_guest_fini(e);
	edit_itrace_fini(e);
	edit_jit_fini(e);
	edit_chains_fini(e);
	edit_keep_fini(e);
	edit_merge_fini(e);
	edit_redact_fini(e);
	edit_sched_fini(e);
	sonde_session_free(e->session);
	free(e->known.items);
	arena_fini(&e->arena);
	free(e);
}

int edit_failed(struct sonde_editor *e, struct sonde_rewriter *rw, int rc)
{
	if (rc >= 0) {
		return rc;
	}
	(void)error_ensure(&e->error, rc);
	return sonde_rewriter_fail(rw, rc, error_show(&e->error)->text);
}

/* The rewriter reports damage of the input; only what decoding loses is new. */
static void on_diag(void *arg, const struct sonde_diag *diag)
{
	const struct sonde_session_options *o = ((struct sonde_editor *)arg)->o.session;

	if (diag->kind == SONDE_DIAG_LOST && o != NULL && o->on_diag != NULL) {
		o->on_diag(o->diag_arg, diag);
	}
}

/*
 * The rewriter has read the input: a pipe cannot be read again, but its bytes are still there. A
 * directory is opened by its name, as it has several files, unless it is in a bundle.
 */
int edit_open(struct sonde_editor *e, struct sonde_rewriter *rw)
{
	const struct file *f = reader_file(sonde_rewriter_file(rw));
	struct sonde_session_options o = {.size = sizeof(o)};
	int rc;

	if (e->session != NULL) {
		return 0;
	}
	if (e->o.session != NULL) {
		TRY(options_copy(&o, sizeof(o), e->o.session, &e->error));
		o.size = sizeof(o);
	}
	o.itrace = e->o.itrace;
	o.on_diag = on_diag;
	o.diag_arg = e;
	e->session = sonde_session_new(&o);
	if (e->session == NULL) {
		return error_nomem(&e->error);
	}
	if (e->o.build_ids == SONDE_EDIT_BUILD_IDS_HIT) {
		session_want_hits(e->session);
	}
	if (f->bundle != NULL) {
		rc = sonde_session_open_memory(e->session, f->archive.p, f->archive.n);
	} else {
		rc = f->directory ? sonde_session_open(e->session, f->path)
		                  : sonde_session_open_memory(e->session, f->bytes.p, f->bytes.n);
	}
	return rc < 0 ? error_take(&e->error, sonde_session_error(e->session)) : 0;
}

uint64_t edit_newer(const struct file *f, const struct sonde_raw_record *r, uint64_t newest)
{
	const struct record view = edit_view(r);
	const struct file_event *event = r->type == RECORD_SAMPLE ? file_sample_event(f, &view)
	                                                          : file_record_event(f, &view);
	struct record_trailer trailer;
	uint64_t time = 0;

	if (event == NULL) {
		return newest;
	}
	if (r->type != RECORD_SAMPLE) {
		time = record_trailer_decode(&event->plan, view.body, f->swap, &trailer)
		               ? trailer.time
		               : 0;
	} else if (event->plan.time != RECORD_NOT_THERE &&
	           view.body.n >= (size_t)event->plan.time + 8) {
		time = load_u64(view.body.p + event->plan.time, f->swap);
	}
	return time > newest && time != UINT64_MAX ? time : newest;
}

static bool has_other_stages(const struct sonde_editor_options *o)
{
	return o->keep != NULL || o->keep_events != NULL || o->one_in > 1 ||
	       o->build_ids != SONDE_EDIT_BUILD_IDS_KEEP || o->mapped_build_ids || o->jit ||
	       o->convert_chains || o->sched_stat || o->itrace != NULL || o->aslr ||
	       o->redact != NULL;
}

/* The other stages look things up in the input, which is only the first recording. */
static int merge_add(struct sonde_editor *e, struct sonde_rewriter *rw)
{
	if (has_other_stages(&e->o)) {
		return error_set(&e->error, SONDE_EARG, NO_OFFSET,
		        "recordings can only be merged as they are; change the merged one "
		        "afterwards");
	}
	return edit_merge_stage(e, rw);
}

/* The guest's records are not in the input, which the first pass of other stages reads. */
static int guest_add(struct sonde_editor *e, struct sonde_rewriter *rw)
{
	if (has_other_stages(&e->o) || e->o.nmerge != 0) {
		return error_set(&e->error, SONDE_EARG, NO_OFFSET,
		        "data of a guest can only be added to a recording as it is; change the "
		        "output afterwards: sonde inject --guest-data=... -i IN | sonde inject "
		        "...");
	}
	return edit_guest_stage(e, rw);
}

/* Addresses that another stage makes are not in the input, which the first pass reads. */
static int aslr_add(struct sonde_editor *e, struct sonde_rewriter *rw)
{
	const struct sonde_editor_options *o = &e->o;

	if (o->itrace != NULL || o->jit || o->convert_chains) {
		return error_set(&e->error, SONDE_EARG, NO_OFFSET,
		        "addresses can only be moved that are in the recording; move those of the "
		        "output afterwards: sonde inject ... -i IN | sonde inject --aslr -o OUT");
	}
	return edit_aslr_stage(e, rw);
}

static int stages_add(struct sonde_editor *e, struct sonde_rewriter *rw)
{
	const struct sonde_editor_options *o = &e->o;

	TRY(e->failure);
	if (o->guest_data != NULL) {
		return guest_add(e, rw);
	}
	if (o->nmerge != 0) {
		return merge_add(e, rw);
	}
	if (o->known_build_ids != NULL) {
		TRY(edit_known_read(e, o->known_build_ids));
	}
	if (o->keep != NULL || o->keep_events != NULL || o->one_in > 1) {
		TRY(edit_keep_stage(e, rw));
	}
	if (o->build_ids != SONDE_EDIT_BUILD_IDS_KEEP || o->mapped_build_ids) {
		const struct sonde_rewriter_stage stage = edit_build_ids_stage(e);

		TRY(sonde_rewriter_add(rw, &stage));
	}
	if (o->jit) {
		TRY(edit_jit_stage(e, rw));
	}
	if (o->convert_chains) {
		TRY(edit_chains_stage(e, rw));
	}
	if (o->sched_stat) {
		TRY(edit_sched_stage(e, rw));
	}
	if (o->itrace != NULL) {
		TRY(edit_itrace_stage(e, rw));
	}
	if (o->aslr) {
		TRY(aslr_add(e, rw));
	}
	return o->redact != NULL ? edit_redact_stage(e, rw) : 0;
}

int sonde_editor_add(struct sonde_editor *e, struct sonde_rewriter *rw)
{
	return edit_failed(e, rw, stages_add(e, rw));
}
