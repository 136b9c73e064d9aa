/* SPDX-License-Identifier: MIT */
/* Private to edit: the handle and its stages. */
#ifndef SONDE_EDIT_INSIDE_H
#define SONDE_EDIT_INSIDE_H

#include "core/arena.h"
#include "core/index.h"
#include "core/status.h"
#include "file/file.h"
#include "session/session.h"

#include <sonde/preview/edit.h>

/* A build id that the user gave for a path. */
struct edit_known_id {
	const char *path;
	uint8_t id[BUILD_ID_MAX];
	uint8_t size; /* bytes */
};

struct edit_known_ids {
	struct edit_known_id
	        *items; /* sorted by path; of a path that comes twice, either may be used */
	size_t n, cap;
};

#define EDIT_NO_OBJECT UINT32_MAX

/* The build ids of mapped files, by name. */
struct edit_name_id {
	const char *name;
	uint32_t object; /* of the session's timeline, or EDIT_NO_OBJECT */
	bool known; /* the id was looked up */
	uint8_t size; /* bytes; 0: no id */
	uint8_t id[BUILD_ID_MAX];
};

struct edit_name_ids {
	struct edit_name_id *items;
	size_t n, cap;
	struct index index;
};

struct edit_aslr; /* private to aslr.c */
struct edit_guest; /* private to guest.c */
struct edit_jit; /* private to jit.c */
struct edit_itrace; /* private to itrace.c */
struct edit_chains; /* private to chains.c */
struct edit_keep; /* private to keep.c */
struct edit_merge; /* private to merge.h */
struct edit_redact; /* private to redact.c */
struct edit_sched; /* private to sched.c */

struct sonde_editor {
	struct sonde_editor_options o;
	struct error error;
	int failure; /* of the options; 0: none */
	struct arena arena;
	struct sonde_session *session; /* the input, opened again; NULL: not yet */
	struct edit_known_ids known;
	struct edit_name_ids mapped;
	struct edit_itrace *traces; /* NULL: they stay */
	struct edit_aslr *aslr; /* NULL: addresses stay */
	struct edit_guest *guest; /* NULL: no data of a guest */
	struct edit_jit *jit; /* NULL: jitdump files stay */
	struct edit_chains *chains; /* NULL: copies of stacks stay */
	struct edit_keep *keep; /* NULL: all samples stay */
	struct edit_merge *merge; /* NULL: one recording */
	struct edit_redact *redact; /* NULL: names stay */
	struct edit_sched *sched; /* NULL: samples of the scheduler stay */
	uint8_t room[UINT16_MAX + 1]; /* a changed record */
};

/* Passes the editor's failure to the rewriter. Returns rc. */
int edit_failed(struct sonde_editor *e, struct sonde_rewriter *rw, int rc);

/* Opens the rewriter's input as a session, if that was not done yet. */
int edit_open(struct sonde_editor *e, struct sonde_rewriter *rw);

/* Converts the record for functions of lower layers. */
static inline struct record edit_view(const struct sonde_raw_record *r)
{
	return (struct record){.type = r->type,
	        .misc = r->misc,
	        .size = (uint16_t)r->size,
	        .offset = r->position,
	        .body = {(const uint8_t *)r->bytes + RECORD_HEADER_SIZE,
	                r->size - RECORD_HEADER_SIZE}};
}

/* Returns the time of a record of the kernel in ns, or `newest` if that is later. */
uint64_t edit_newer(const struct file *f, const struct sonde_raw_record *r, uint64_t newest);

/* Adds the stage that moves addresses; the input is open. */
int edit_aslr_stage(struct sonde_editor *e, struct sonde_rewriter *rw);
void edit_aslr_fini(struct sonde_editor *e);

/* Adds the stage that adds data of a guest. */
int edit_guest_stage(struct sonde_editor *e, struct sonde_rewriter *rw);
void edit_guest_fini(struct sonde_editor *e);

/* Adds the stage that writes JIT-compiled code to ELF files. */
int edit_jit_stage(struct sonde_editor *e, struct sonde_rewriter *rw);
void edit_jit_fini(struct sonde_editor *e);

/* Adds the stage that replaces traces. */
int edit_itrace_stage(struct sonde_editor *e, struct sonde_rewriter *rw);
void edit_itrace_fini(struct sonde_editor *e);

/* Adds the stage that makes call chains of copied stacks. */
int edit_chains_stage(struct sonde_editor *e, struct sonde_rewriter *rw);
void edit_chains_fini(struct sonde_editor *e);

/* Adds the stage that keeps some of the samples. */
int edit_keep_stage(struct sonde_editor *e, struct sonde_rewriter *rw);
void edit_keep_fini(struct sonde_editor *e);

/* Adds the stage that appends other recordings. */
int edit_merge_stage(struct sonde_editor *e, struct sonde_rewriter *rw);
void edit_merge_fini(struct sonde_editor *e);

/* Adds the stage that replaces names. */
int edit_redact_stage(struct sonde_editor *e, struct sonde_rewriter *rw);
void edit_redact_fini(struct sonde_editor *e);

/* Adds the stage that merges samples of the scheduler. */
int edit_sched_stage(struct sonde_editor *e, struct sonde_rewriter *rw);
void edit_sched_fini(struct sonde_editor *e);

/* Reads `known_build_ids`. SONDE_EARG, SONDE_ENOENT, SONDE_ENOMEM. */
int edit_known_read(struct sonde_editor *e, const char *list);
/* Returns the build id for a path; NULL: none was given. */
const struct edit_known_id *edit_known_find(const struct edit_known_ids *known, const char *path);

/* The stage of build ids. */
struct sonde_rewriter_stage edit_build_ids_stage(struct sonde_editor *e);
void edit_build_ids_fini(struct sonde_editor *e);

#endif
