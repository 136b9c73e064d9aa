/* SPDX-License-Identifier: MIT */
/*
 * A filter is loaded with dlopen and called for each sample, in order of time, by the only worker.
 * While it runs, the tool's functions answer for the current sample.
 */
#include "script/dlfilter.h"

#include "abi/abi.h"
#include "frame/code.h"
#include "script/script.h"

#include <sonde/preview/dlfilter.h>

#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ATTR_BYTES 144u
#define PATH_BYTES 4096u

struct script_filter {
	struct script *script;
	const char *path; /* as the user wrote it */
	void *handle;
	void *data; /* the filter's */
	struct frame_insn_bytes insn; /* of the sample, while the filter sees it */
	int (*stop)(void *data, void *ctx);
	int (*late)(void *data, const struct perf_dlfilter_sample *sample, void *ctx);
	int (*early)(void *data, const struct perf_dlfilter_sample *sample, void *ctx);
	char **args;
	int nargs;
	struct frame_code *code;
	/* the current sample; NULL: none */
	const struct session_sample *sample;
	struct script_worker *worker;
	struct perf_dlfilter_al ip, addr;
	union {
		uint8_t bytes[ATTR_BYTES];
		uint64_t aligned;
	} attr;
	bool failed; /* out of memory */
};

static const char *const folders[] = {
        "/usr/lib/perf-core/dlfilters", "/usr/libexec/perf-core/dlfilters"};

#define FOLDERS (sizeof(folders) / sizeof(folders[0]))

static const struct session_event *event_of(const struct script_filter *f)
{
	return &session_events(f->script->session)[f->sample->event];
}

static struct frame_reader *frames_of(const struct script_filter *f)
{
	return &f->worker->line.addresses.frames;
}

/* The mode of an address of any kind: the kernel accesses user memory too. */
static uint32_t mode_of(const struct script_filter *f, uint64_t address)
{
	const struct session_sample *s = f->sample;
	uint32_t other = s->cpumode == MISC_KERNEL ? MISC_USER : MISC_KERNEL;

	if (frame_mapping(frames_of(f), s->view, s->cpumode, address) == NULL &&
	        frame_mapping(frames_of(f), s->view, other, address) != NULL) {
		return other;
	}
	return s->cpumode;
}

static const struct frame *find_frame(struct script_filter *f, uint32_t mode, uint64_t address)
{
	const struct frame *frame = frame_find(frames_of(f), f->sample->view, mode, address);

	f->failed = f->failed || frame == NULL;
	return frame;
}

static void fill_object(
        struct script_filter *f, const struct frame *frame, struct perf_dlfilter_al *al)
{
	const struct timeline *t = session_timeline(f->script->session);
	const struct timeline_object *o = timeline_object(t, frame->object);
	const uint8_t *id = o->build_id;
	struct frame_code_kind kind = {0};
	struct span none;

	f->failed = f->failed || frame_code_at(f->code, frame, 0, &kind, &none) < 0;
	al->dso = frame_object_name(t, o);
	al->is_64_bit = kind.machine == 0 || kind.is64;
	al->buildid_size = o->build_id_size;
	if (o->build_id_size != 0) {
		memcpy(&al->buildid, &id, sizeof(id)); /* the interface has no const */
	}
}

/* False: out of memory. */
static bool fill_al(
        struct script_filter *f, uint32_t mode, uint64_t address, struct perf_dlfilter_al *al)
{
	const struct frame *frame = find_frame(f, mode, address);

	if (frame == NULL) {
		return false;
	}
	*al = (struct perf_dlfilter_al){
	        .size = sizeof(*al), .addr = frame->address, .is_kernel_ip = address >> 63 != 0};
	if (frame->symbol != NULL) {
		al->sym = frame_symbol_name(frames_of(f)->resolver, frame->object, frame->symbol);
		f->failed = f->failed || al->sym == NULL;
		al->sym_start = frame->symbol->start;
		al->sym_end = frame->symbol->end;
		al->symoff = (uint32_t)(frame->address - frame->symbol->start);
		al->sym_binding = frame->symbol->binding;
	}
	if (frame->mapping != NULL) {
		fill_object(f, frame, al);
	}
	return true;
}

/* Whether the address of data has a name: as in perf, that of page faults. */
static bool names_addr(const struct script_filter *f)
{
	return f->script->plans[f->sample->event].names_addr &&
	       (f->sample->s.present & SONDE_SAMPLE_ADDR) != 0;
}

/* The functions that a filter calls. */

static const struct perf_dlfilter_al *resolve_ip(void *ctx)
{
	struct script_filter *f = ctx;
	const struct session_sample *s = f->sample;
	int wanted;

	if (s == NULL || !fill_al(f, s->cpumode, s->s.ip, &f->ip)) {
		return NULL;
	}
	wanted = pick_wanted(&f->script->pick, frames_of(f), s);
	f->failed = f->failed || wanted < 0;
	f->ip.filtered = wanted == 0;
	f->ip.comm = timeline_text(session_timeline(f->script->session), s->view->comm);
	return &f->ip;
}

static const struct perf_dlfilter_al *resolve_addr(void *ctx)
{
	struct script_filter *f = ctx;

	if (f->sample == NULL || !names_addr(f) ||
	        !fill_al(f, mode_of(f, f->sample->s.addr), f->sample->s.addr, &f->addr)) {
		return NULL;
	}
	return &f->addr;
}

static char **args(void *ctx, int *n)
{
	struct script_filter *f = ctx;

	*n = f->nargs;
	return f->args;
}

static int32_t resolve_address(void *ctx, uint64_t address, struct perf_dlfilter_al *out)
{
	struct script_filter *f = ctx;
	struct perf_dlfilter_al al;
	uint32_t size = out->size < sizeof(al) ? out->size : (uint32_t)sizeof(al);

	if (f->sample == NULL || !fill_al(f, mode_of(f, address), address, &al)) {
		return -1;
	}
	al.size = out->size;
	memcpy(out, &al, size);
	return 0;
}

static const uint8_t *insn(void *ctx, uint32_t *length)
{
	struct script_filter *f = ctx;
	const struct frame *frame;

	f->insn.code = (struct span){NULL, 0};
	frame = f->sample != NULL ? find_frame(f, f->sample->cpumode, f->sample->s.ip) : NULL;
	if (frame != NULL &&
	        frame_insn_at(f->code, frame, session_sample_then(f->sample), &f->insn) < 0) {
		f->failed = true;
	}
	*length = (uint32_t)f->insn.code.n;
	return f->insn.code.p;
}

static const char *srcline(void *ctx, uint32_t *line)
{
	struct script_filter *f = ctx;
	const struct frame *frame;
	struct lines_place place;

	*line = 0;
	frame = f->sample != NULL ? find_frame(f, f->sample->cpumode, f->sample->s.ip) : NULL;
	if (frame == NULL) {
		return NULL;
	}
	if (frame_lines(frames_of(f)->resolver, frame, &place) < 0) {
		f->failed = true;
		return NULL;
	}
	if (place.found != LINES_LINE) {
		return NULL;
	}
	*line = place.frames[0].line;
	return place.frames[0].file;
}

static struct perf_event_attr *attr(void *ctx)
{
	struct script_filter *f = ctx;

	if (f->sample == NULL) {
		return NULL;
	}
	record_attr_encode(&event_of(f)->attr, f->attr.bytes);
	return (struct perf_event_attr *)(void *)f->attr.bytes;
}

static int32_t object_code(void *ctx, uint64_t ip, void *out, uint32_t n)
{
	struct script_filter *f = ctx;
	const struct frame *frame;
	struct frame_code_kind kind;
	struct span code = {NULL, 0};
	struct frame_then then;

	if (f->sample == NULL) {
		return -1;
	}
	then = (struct frame_then){.time = session_sample_then(f->sample),
	        .own = out,
	        .n = n < INT32_MAX ? n : INT32_MAX};
	frame = find_frame(f, mode_of(f, ip), ip);
	if (frame != NULL && frame_code_then(f->code, frame, &then, &kind, &code) < 0) {
		f->failed = true;
	}
	if (code.n == 0) {
		return -1;
	}
	if (code.p != out) {
		memcpy(out, code.p, code.n);
	}
	return (int32_t)code.n;
}

/* All that an al refers to lives as long as the session. */
static void al_cleanup(void *ctx, struct perf_dlfilter_al *al)
{
	(void)ctx, (void)al;
}

static const struct perf_dlfilter_fns functions = {
        .resolve_ip = resolve_ip,
        .resolve_addr = resolve_addr,
        .args = args,
        .resolve_address = resolve_address,
        .insn = insn,
        .srcline = srcline,
        .attr = attr,
        .object_code = object_code,
        .al_cleanup = al_cleanup,
};

/* Samples. */

static uint64_t value_of(const struct script_filter *f, enum field_id id)
{
	return field_at(id)->get(&f->script->style.source, f->sample);
}

static uint64_t recorded(const struct session_sample *s, uint64_t bits, uint64_t value)
{
	return (s->s.present & bits) != 0 ? value : UINT64_MAX;
}

static struct perf_dlfilter_sample make_sample(const struct script_filter *f)
{
	const struct session_sample *in = f->sample;
	const struct sonde_sample *s = &in->s;
	const struct session_guest guest = session_guest(f->script->session, s->id);
	bool parts = (s->present & SONDE_SAMPLE_WEIGHT_STRUCT) != 0;

	return (struct perf_dlfilter_sample){
	        .size = sizeof(struct perf_dlfilter_sample),
	        .ins_lat = (uint16_t)value_of(f, FIELD_INS_LAT),
	        .p_stage_cyc = (uint16_t)(parts ? s->weight >> 48 : 0),
	        .ip = s->ip,
	        .pid = (int32_t)s->pid,
	        .tid = (int32_t)s->tid,
	        .time = recorded(in, SONDE_SAMPLE_TIME, s->time),
	        .addr = s->addr,
	        .id = recorded(in, SONDE_SAMPLE_ID | SONDE_SAMPLE_IDENTIFIER, s->id),
	        .stream_id = recorded(in, SONDE_SAMPLE_STREAM_ID, s->stream_id),
	        .period = s->period,
	        .weight = value_of(f, FIELD_WEIGHT),
	        .transaction = s->transaction,
	        .cpu = (int32_t)s->cpu,
	        .data_src = value_of(f, FIELD_DATA_SRC),
	        .phys_addr = s->phys_addr,
	        .data_page_size = s->data_page_size,
	        .code_page_size = s->code_page_size,
	        .cgroup = s->cgroup,
	        .cpumode = (uint8_t)in->cpumode,
	        .addr_correlates_sym = names_addr(f),
	        .misc = in->misc,
	        .raw_size = s->raw_len,
	        .raw_data = s->raw,
	        .brstack_nr = s->branch_len,
	        .brstack = (const struct perf_branch_entry *)(const void *)s->branches,
	        .raw_callchain_nr = s->callchain_len,
	        .raw_callchain = s->callchain,
	        .event = event_of(f)->name,
	        .machine_pid = guest.machine_pid,
	        .vcpu = guest.vcpu,
	};
}

static int failure(struct script_filter *f, const char *function, int rc)
{
	struct error *err = session_error(f->script->session);

	if (f->failed) {
		return error_nomem(err);
	}
	return error_set(err, SONDE_EIO, NO_OFFSET,
	        "the filter %s ended the run: its %s returned %d", f->path, function, rc);
}

int script_filter_keeps(
        struct script *s, struct script_worker *w, const struct session_sample *sample, bool early)
{
	struct script_filter *f = s->filter;
	struct perf_dlfilter_sample out;
	int rc;

	if (f == NULL || (early ? f->early : f->late) == NULL) {
		return 1;
	}
	f->sample = sample;
	f->worker = w;
	out = make_sample(f);
	rc = (early ? f->early : f->late)(f->data, &out, f);
	f->sample = NULL;
	if (rc < 0 || f->failed) {
		return failure(f, early ? "filter_event_early" : "filter_event", rc);
	}
	return rc == 0;
}

/* Loading. */

/* Returns the address of a function or variable of the filter; NULL: it has none. */
static void *symbol_of(const struct script_filter *f, const char *name)
{
	return dlsym(f->handle, name);
}

/* ISO C has no cast from an object's address to a function's. */
#define FUNCTION_OF(f, name, to)                                                                   \
	do {                                                                                       \
		void *address_ = symbol_of((f), (name));                                           \
		memcpy((to), &address_, sizeof(address_));                                         \
	} while (0)

/* A name without '/' is searched in this folder, in those of perf, and by the dynamic linker. */
static void *load(const char *path)
{
	char name[PATH_BYTES];

	if (strchr(path, '/') != NULL) {
		return dlopen(path, RTLD_NOW);
	}
	(void)snprintf(name, sizeof(name), "./%s", path);
	for (size_t i = 0; i < FOLDERS && access(name, R_OK) != 0; i++) {
		(void)snprintf(name, sizeof(name), "%s/%s", folders[i], path);
	}
	return dlopen(access(name, R_OK) == 0 ? name : path, RTLD_NOW);
}

static int copy_args(struct script_filter *f, const struct sonde_script_options *o)
{
	f->args = calloc(o->ndlargs + 1, sizeof(*f->args));
	if (f->args == NULL) {
		return SONDE_ENOMEM;
	}
	for (size_t i = 0; i < o->ndlargs; i++) {
		f->args[i] = strdup(o->dlargs[i]);
		if (f->args[i] == NULL) {
			return SONDE_ENOMEM;
		}
		f->nargs++;
	}
	return 0;
}

static int start_filter(struct script_filter *f)
{
	int (*begin)(void **data, void *ctx);
	void *variable = symbol_of(f, "perf_dlfilter_fns");
	int rc;

	if (variable != NULL) {
		memcpy(variable, &functions, sizeof(functions));
	}
	FUNCTION_OF(f, "start", &begin);
	FUNCTION_OF(f, "stop", &f->stop);
	FUNCTION_OF(f, "filter_event", &f->late);
	FUNCTION_OF(f, "filter_event_early", &f->early);
	rc = begin != NULL ? begin(&f->data, f) : 0;
	if (rc != 0) {
		f->stop = NULL;
		return failure(f, "start", rc);
	}
	return 0;
}

int script_filter_open(struct script *s, const struct sonde_script_options *o)
{
	struct error *err = session_error(s->session);
	struct script_filter *f;

	if (o->dlfilter == NULL) {
		return 0;
	}
	s->filter = f = calloc(1, sizeof(*f));
	if (f == NULL) {
		return error_nomem(err);
	}
	f->script = s;
	f->path = o->dlfilter;
	f->code = frame_code_new(session_frames(s->session));
	if (f->code == NULL || copy_args(f, o) < 0) {
		return error_nomem(err);
	}
	f->handle = load(f->path);
	if (f->handle == NULL) {
		return error_set(err, SONDE_EARG, NO_OFFSET, "cannot load the filter %s: %s",
		        f->path, dlerror());
	}
	return start_filter(f);
}

void script_filter_close(struct script *s)
{
	struct script_filter *f = s->filter;

	if (f == NULL) {
		return;
	}
	if (f->stop != NULL) {
		(void)f->stop(f->data, f); /* as in perf, its result does not count */
	}
	if (f->handle != NULL) {
		(void)dlclose(f->handle);
	}
	for (int i = 0; i < f->nargs; i++) {
		free(f->args[i]);
	}
	free(f->args);
	frame_code_free(f->code);
	free(f);
	s->filter = NULL;
}

/* The list of installed filters. */

static void describe(const char *folder, const char *name, sonde_dlfilter_fn fn, void *arg)
{
	struct script_filter f = {0};
	const char *(*description)(const char **more);
	const char *text = NULL, *more = NULL;
	char path[PATH_BYTES];

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	f.handle = dlopen(path, RTLD_NOW);
	if (f.handle == NULL) {
		return;
	}
	FUNCTION_OF(&f, "filter_description", &description);
	if (description != NULL) {
		text = description(&more);
	}
	fn(arg, name, text != NULL ? text : "", more != NULL ? more : "");
	(void)dlclose(f.handle);
}

int sonde_dlfilters(sonde_dlfilter_fn fn, void *arg)
{
	for (size_t i = 0; i < FOLDERS; i++) {
		struct dirent **names;
		int n = scandir(folders[i], &names, NULL, alphasort);

		for (int k = 0; k < n; k++) {
			size_t length = strlen(names[k]->d_name);

			if (length > 3 && strcmp(names[k]->d_name + length - 3, ".so") == 0) {
				describe(folders[i], names[k]->d_name, fn, arg);
			}
			free(names[k]);
		}
		if (n >= 0) {
			free(names);
		}
	}
	return 0;
}
