/* SPDX-License-Identifier: MIT */
/*
 * The chain: a record of the input goes to the first stage, records that it passes on go to the
 * second, and so on; `at` is the current stage.
 *
 *	sonde_file_next -> stage 0 -> sonde_rewriter_put -> stage 1 -> ... -> output_record
 */
#include "rewrite/output.h"

#include "core/array.h"
#include "core/options.h"
#include "core/progress.h"
#include "file/reader.h"
#include "rewrite/kcore.h"
#include "rewrite/repair.h"

#include <stdlib.h>
#include <sys/stat.h>

enum phase { PHASE_NEW, PHASE_OPEN, PHASE_LOOK, PHASE_BEGIN, PHASE_RECORDS, PHASE_DONE };

struct rewriter_stage {
	struct sonde_rewriter_stage calls;
	struct sonde_file *view; /* a handle with the events that this stage changed; NULL: none */
};

struct sonde_rewriter {
	struct sonde_rewriter_options o;
	struct error error;
	int failure; /* status of the first one, which ends all that follows; 0: none */
	enum phase phase;
	struct sonde_file *in;
	char *path; /* of the input */
	struct rewriter_stage *stages;
	size_t nstages, stages_cap;
	size_t at; /* the current stage */
	const struct sonde_raw_record *record; /* its current record */
	struct repair repair;
	struct output out;
};

static int failed(struct sonde_rewriter *rw, int status)
{
	if (error_status(&rw->error) >= 0) { /* the stage set no error */
		(void)error_set(&rw->error, status, NO_OFFSET,
		        "a stage of the rewriting failed: %s", sonde_status_text(status));
	}
	rw->failure = status;
	return status;
}

static int misuse(struct sonde_rewriter *rw, const char *text)
{
	return error_set(&rw->error, SONDE_EARG, NO_OFFSET, "%s", text);
}

/* Public functions begin with it: after a failure all calls fail with its status. */
#define REWRITER_TRY(rw, expr)                                                                     \
	do {                                                                                       \
		int try_rc_ = (rw)->failure < 0 ? (rw)->failure : (expr);                          \
		if (try_rc_ < 0) {                                                                 \
			return failed((rw), try_rc_);                                              \
		}                                                                                  \
	} while (0)

static int stage_add(struct sonde_rewriter *rw, const struct sonde_rewriter_stage *stage)
{
	struct rewriter_stage copy = {0};

	if (rw->phase > PHASE_OPEN) {
		return misuse(rw, "stages must be added before anything is written");
	}
	if (!array_reserve(&rw->stages, &rw->stages_cap, rw->nstages + 1, sizeof(copy))) {
		return error_nomem(&rw->error);
	}
	TRY(options_copy(&copy.calls, sizeof(copy.calls), stage, &rw->error));
	rw->stages[rw->nstages++] = copy;
	return 0;
}

static int repair_begin(void *arg, struct sonde_rewriter *rw)
{
	(void)rw;
	repair_features(arg);
	return 0;
}

static int repair_record(void *arg, struct sonde_rewriter *rw, const struct sonde_raw_record *r)
{
	return repair_takes(arg, r) ? sonde_rewriter_put(rw, r) : 0;
}

struct sonde_rewriter *sonde_rewriter_new(const struct sonde_rewriter_options *options)
{
	struct sonde_rewriter *rw = calloc(1, sizeof(*rw));
	struct sonde_rewriter_stage repair = {
	        .size = sizeof(repair), .begin = repair_begin, .record = repair_record};

	if (rw == NULL) {
		return NULL;
	}
	rw->failure = options_copy(&rw->o, sizeof(rw->o), options, &rw->error);
	rw->out.error = &rw->error;
	rw->repair.output = &rw->out;
	repair.arg = &rw->repair;
	if (rw->o.whole && stage_add(rw, &repair) < 0) {
		sonde_rewriter_free(rw);
		return NULL;
	}
	return rw;
}

void sonde_rewriter_free(struct sonde_rewriter *rw)
{
	if (rw == NULL) {
		return;
	}
	output_fini(&rw->out);
	for (size_t i = rw->nstages; i > 0; i--) {
		sonde_file_free(rw->stages[i - 1].view);
	}
	sonde_file_free(rw->in);
	free(rw->stages);
	free(rw->path);
	free(rw);
}

const struct sonde_error *sonde_rewriter_error(const struct sonde_rewriter *rw)
{
	return error_show(&rw->error);
}

static int rewriter_open(struct sonde_rewriter *rw, const char *path)
{
	const struct sonde_file_options o = {
	        .size = sizeof(o), .on_diag = rw->o.on_diag, .diag_arg = rw->o.diag_arg};

	if (rw->phase != PHASE_NEW) {
		return misuse(rw, "this rewriter has an input already");
	}
	rw->in = sonde_file_new(&o);
	rw->path = strdup(path);
	if (rw->in == NULL || rw->path == NULL) {
		return error_nomem(&rw->error);
	}
	rw->out.in = reader_file(rw->in);
	rw->out.in->check_owner = rw->o.check_owner;
	rw->out.in->temp_dir = rw->o.temp_dir;
	if (sonde_file_open(rw->in, path) < 0) {
		return error_take(&rw->error, sonde_file_error(rw->in));
	}
	rw->phase = PHASE_OPEN;
	return 0;
}

int sonde_rewriter_open(struct sonde_rewriter *rw, const char *path)
{
	REWRITER_TRY(rw, rewriter_open(rw, path));
	return 0;
}

int sonde_rewriter_add(struct sonde_rewriter *rw, const struct sonde_rewriter_stage *stage)
{
	REWRITER_TRY(rw, stage_add(rw, stage));
	return 0;
}

/* ---- for stages ---- */

/* The recording as stage `at` sees it: with the events that the last stage before it changed. */
static struct sonde_file *file_of(struct sonde_rewriter *rw, size_t at)
{
	while (at > 0) {
		at--;
		if (rw->stages[at].view != NULL) {
			return rw->stages[at].view;
		}
	}
	return rw->in;
}

struct sonde_file *sonde_rewriter_file(struct sonde_rewriter *rw)
{
	return rw->phase == PHASE_NEW ? NULL : file_of(rw, rw->at);
}

/* Of a call of a stage: also the failure of a function whose status it did not look at. */
static int result_of(const struct sonde_rewriter *rw, int rc)
{
	return rw->failure < 0 ? rw->failure : rc;
}

/* To the stage whose turn it is, or to the output. */
static int hand_over(struct sonde_rewriter *rw, const struct sonde_raw_record *r)
{
	const struct sonde_rewriter_stage *stage;

	while (rw->at < rw->nstages && rw->stages[rw->at].calls.record == NULL) {
		rw->at++;
	}
	if (rw->at == rw->nstages) {
		return output_record(&rw->out, r);
	}
	rw->record = r;
	stage = &rw->stages[rw->at].calls;
	return result_of(rw, stage->record(stage->arg, rw, r));
}

static int record_put(struct sonde_rewriter *rw, const struct sonde_raw_record *r)
{
	bool swap = rw->out.in->swap;
	struct sonde_raw_record made;
	size_t at = rw->at;
	const struct sonde_raw_record *record = rw->record;
	int rc;

	if (rw->phase != PHASE_RECORDS || at == rw->nstages) {
		return misuse(rw, "records are passed on in a stage's record and end only");
	}
	if (r != record) { /* the stage's own: only what its bytes say is believed */
		const uint8_t *bytes = r->bytes;

		if (r->size < RECORD_HEADER_SIZE || load_u16(bytes + 6, swap) != r->size) {
			return misuse(rw, "a record's size must be that of its bytes, 8 or more");
		}
		made = *r;
		made.type = load_u32(bytes, swap);
		made.misc = load_u16(bytes + 4, swap);
		made.gap = NULL;
		r = &made;
	}
	rw->at++;
	rc = hand_over(rw, r);
	rw->at = at;
	rw->record = record;
	return rc;
}

int sonde_rewriter_put(struct sonde_rewriter *rw, const struct sonde_raw_record *r)
{
	REWRITER_TRY(rw, record_put(rw, r));
	return 0;
}

static int feature_set(struct sonde_rewriter *rw, unsigned bit, const void *bytes, size_t n)
{
	if (rw->phase != PHASE_BEGIN && rw->phase != PHASE_RECORDS) {
		return misuse(rw, "features are set in a stage's begin, record and end only");
	}
	return output_set_feature(&rw->out, bit, bytes, n);
}

int sonde_rewriter_set_feature(struct sonde_rewriter *rw, unsigned bit, const void *bytes, size_t n)
{
	REWRITER_TRY(rw, feature_set(rw, bit, bytes, n));
	return 0;
}

static int event_set(struct sonde_rewriter *rw, size_t event, const struct file_event *e)
{
	struct sonde_file **view;
	struct file *f;

	if (rw->phase != PHASE_BEGIN) {
		return misuse(rw, "events are set in a stage's begin only");
	}
	view = &rw->stages[rw->at].view;
	if (*view == NULL) {
		*view = reader_view(file_of(rw, rw->at));
		if (*view == NULL) {
			return error_nomem(&rw->error);
		}
	}
	f = reader_file(*view);
	if (event > f->nevents || e->bytes.n < ATTR_SIZE_VER0 || e->bytes.n > UINT16_MAX / 2 ||
	        (event == f->nevents && e->name == NULL)) {
		return misuse(rw, "an event has a number up to that of the events, an attr of 64 "
		                  "to 32,767 bytes, and a name when it is new");
	}
	if (file_set_event(f, event, e) < 0) {
		return error_nomem(&rw->error);
	}
	output_drop_feature(&rw->out, FEATURE_EVENT_DESC); /* made again of these events */
	return 0;
}

int sonde_rewriter_set_event(
        struct sonde_rewriter *rw, size_t event, const struct sonde_rewriter_event *e)
{
	struct sonde_rewriter_event own = {0};
	struct file_event set;

	REWRITER_TRY(rw, options_copy(&own, sizeof(own), e, &rw->error));
	set = (struct file_event){.bytes = {own.attr, own.attr_size},
	        .ids = own.ids,
	        .nids = own.ids != NULL ? own.nids : 0,
	        .name = own.name};
	REWRITER_TRY(rw, event_set(rw, event, &set));
	return 0;
}

int sonde_rewriter_fail(struct sonde_rewriter *rw, int status, const char *text)
{
	(void)error_set(&rw->error, status, NO_OFFSET, "%s", text);
	return failed(rw, status);
}

/* ---- all of it ---- */

/* Writing over the input would pull its bytes away while they are read. */
static int same_file(struct sonde_rewriter *rw, const struct output_target *target)
{
	const char *name = target->path != NULL ? target->path : "the descriptor";
	struct stat a, b;
	int rc = target->write != NULL  ? -1
	         : target->path != NULL ? stat(target->path, &b)
	                                : fstat(target->fd, &b);

	if (rc == 0 && stat(rw->path, &a) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino &&
	        !S_ISCHR(a.st_mode)) {
		return error_set(&rw->error, SONDE_EARG, NO_OFFSET,
		        "%s is the input itself; give another name for the output", name);
	}
	return 0;
}

static struct progress progress_of(const struct sonde_rewriter *rw)
{
	return progress_begin(rw->o.on_progress, rw->o.progress_arg, file_end(rw->out.in));
}

/* Shows the input to the stages that ask for it; its diagnostics come with the second pass. */
static int look(struct sonde_rewriter *rw)
{
	struct diag_sink *diags = rw->out.in->diags;
	const struct diag_sink kept = *diags;
	const struct sonde_raw_record *r;
	struct progress progress;
	bool wanted = false;
	int rc = 0;

	for (size_t i = 0; i < rw->nstages; i++) {
		wanted |= rw->stages[i].calls.look != NULL;
	}
	rw->phase = PHASE_LOOK;
	diags->fn = NULL;
	progress = progress_of(rw);
	while (wanted && rc >= 0 && (rc = sonde_file_next(rw->in, &r)) > 0) {
		progress_at(&progress, r->position);
		for (size_t i = 0; i < rw->nstages && rc >= 0; i++) {
			const struct sonde_rewriter_stage *stage = &rw->stages[i].calls;

			if (stage->look != NULL && !output_record_is_made(r->type)) {
				rc = result_of(rw, stage->look(stage->arg, rw, r));
			}
		}
	}
	*diags = kept;
	sonde_file_rewind(rw->in);
	return rc;
}

static int begin(struct sonde_rewriter *rw)
{
	rw->phase = PHASE_BEGIN;
	for (rw->at = 0; rw->at < rw->nstages; rw->at++) {
		const struct sonde_rewriter_stage *stage = &rw->stages[rw->at].calls;

		if (stage->begin != NULL) {
			TRY(result_of(rw, stage->begin(stage->arg, rw)));
		}
	}
	rw->out.events = reader_file(file_of(rw, rw->nstages));
	return 0;
}

static int records_pass(struct sonde_rewriter *rw)
{
	const struct sonde_raw_record *r;
	struct progress progress = progress_of(rw);
	int rc;

	rw->phase = PHASE_RECORDS;
	while ((rc = sonde_file_next(rw->in, &r)) > 0) {
		progress_at(&progress, r->position);
		if (output_record_is_made(r->type)) {
			continue;
		}
		rw->at = 0;
		TRY(rw->nstages == 0 ? output_record(&rw->out, r) : hand_over(rw, r));
	}
	rw->record = NULL;
	for (rw->at = 0; rw->at < rw->nstages && rc >= 0; rw->at++) {
		const struct sonde_rewriter_stage *stage = &rw->stages[rw->at].calls;

		rc = stage->end != NULL ? result_of(rw, stage->end(stage->arg, rw)) : 0;
	}
	return rc;
}

/* A folder keeps its copies of the kernel; nothing else has a place for them. */
static int kcore_keep(struct sonde_rewriter *rw, const char *output)
{
	const struct bundle *bundle = rw->out.in->bundle;

	if (!rw->out.in->directory ||
	        !(bundle != NULL ? kcore_bundled(bundle) : kcore_there(rw->path))) {
		return 0;
	}
	if (rw->out.to_directory) {
		return bundle != NULL ? kcore_unpack(bundle, output, &rw->error)
		                      : kcore_copy(rw->path, output, &rw->error);
	}
	diag_report(rw->out.in->diags, SONDE_DIAG_NOTE, NO_OFFSET,
	        "the copies of the kernel in %s stay there: only a directory can hold them",
	        rw->path);
	return 0;
}

static int write_all(struct sonde_rewriter *rw, const struct output_target *target)
{
	if (rw->phase != PHASE_OPEN) {
		return misuse(rw, rw->phase == PHASE_NEW ? "this rewriter has no input"
		                                         : "a rewriter writes once");
	}
	TRY(same_file(rw, target));
	TRY(output_plan(&rw->out, &rw->o, target));
	TRY(look(rw));
	TRY(begin(rw));
	TRY(output_open(&rw->out, target));
	TRY(records_pass(rw));
	TRY(output_end(&rw->out));
	TRY(kcore_keep(rw, target->path));
	rw->phase = PHASE_DONE;
	return output_close(&rw->out);
}

static int write_to(struct sonde_rewriter *rw, struct output_target target)
{
	REWRITER_TRY(rw, write_all(rw, &target));
	return sonde_file_diags(rw->in, SONDE_DIAG_TRUNCATED) != 0 ||
	       sonde_file_diags(rw->in, SONDE_DIAG_DAMAGED) != 0;
}

int sonde_rewriter_write(struct sonde_rewriter *rw, const char *path)
{
	return write_to(rw, (struct output_target){.path = path});
}

int sonde_rewriter_write_fd(struct sonde_rewriter *rw, int fd)
{
	return write_to(rw, (struct output_target){.fd = fd});
}

int sonde_rewriter_write_function(struct sonde_rewriter *rw, sonde_write_fn write, void *arg)
{
	return write_to(rw, (struct output_target){.write = write, .write_arg = arg});
}

uint64_t sonde_rewriter_written(const struct sonde_rewriter *rw)
{
	return rw->out.records;
}

uint64_t sonde_rewriter_left_out(const struct sonde_rewriter *rw)
{
	return rw->repair.left_out;
}
