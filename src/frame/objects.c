/* SPDX-License-Identifier: MIT */
/* Symbols and source lines of the objects of a recording, loaded when first needed, by any worker. */
#include "frame/frame.h"

#include "core/text.h"
#include "frame/jit.h"
#include "frame/search.h"
#include "image/image.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* The table for unwinding from code of an object, and the files that it reads. */
struct unwind_object {
	struct symbol_file object, debug; /* closed: not found, or not needed */
	uint8_t *jit; /* bytes of a view of JIT-compiled code */
	struct unwind_table *table; /* NULL: the object was not found */
};

struct frame_object {
	_Atomic(struct symbol_table *) table; /* NULL until loaded; then it never changes */
	_Atomic(struct lines *) lines; /* NULL until opened */
	_Atomic(struct unwind_object *) unwind; /* NULL until opened */
	pthread_mutex_t loading;
};

int frame_resolver_seal(struct frame_resolver *f, const struct timeline *t)
{
	size_t n = timeline_objects(t);

	frame_deferred_sort(f);
	frame_programs_sort(f);
	TRY(frame_pokes_sort(&f->pokes));
	f->ends = frame_ends_new();
	f->objects = calloc(n != 0 ? n : 1, sizeof(*f->objects));
	if (f->options.debuginfod) {
		f->remote = symbol_remote_new(f->options.on_download, f->options.download_arg);
	}
	if (f->objects == NULL || f->ends == NULL || (f->options.debuginfod && f->remote == NULL)) {
		free(f->objects);
		f->objects = NULL;
		return SONDE_ENOMEM;
	}
	f->timeline = t;
	for (size_t i = 0; i < n; i++) {
		pthread_mutex_init(&f->objects[i].loading, NULL);
	}
	return 0;
}

static void unwind_object_free(struct unwind_object *u)
{
	if (u != NULL) {
		unwind_table_free(u->table);
		symbol_file_close(&u->debug);
		symbol_file_close(&u->object);
		free(u->jit);
		free(u);
	}
}

void frame_resolver_fini(struct frame_resolver *f)
{
	size_t n = f->objects != NULL ? timeline_objects(f->timeline) : 0;

	for (size_t i = 0; i < n; i++) {
		symbol_table_free(atomic_load(&f->objects[i].table));
		lines_free(atomic_load(&f->objects[i].lines));
		unwind_object_free(atomic_load(&f->objects[i].unwind));
		pthread_mutex_destroy(&f->objects[i].loading);
	}
	free(f->objects);
	free(f->ends);
	free(f->deferred);
	free(f->programs);
	free(f->pokes.items);
	symbol_remote_free(f->remote);
	frame_jit_free(f->jit);
}

static enum symbol_object_kind symbol_kind(enum timeline_object_kind kind)
{
	static const enum symbol_object_kind kinds[] = {
	        [TIMELINE_USER] = SYMBOL_ELF,
	        [TIMELINE_KERNEL] = SYMBOL_KERNEL,
	        [TIMELINE_MODULE] = SYMBOL_MODULE,
	        [TIMELINE_VDSO] = SYMBOL_VDSO,
	        [TIMELINE_ANON] = SYMBOL_PERF_MAP,
	        [TIMELINE_CODE] = SYMBOL_PERF_MAP, /* not loaded: load_one */
	        [TIMELINE_JIT] = SYMBOL_PERF_MAP, /* not loaded: load_one */
	        [TIMELINE_NONE] = SYMBOL_PERF_MAP, /* not loaded */
	};

	return kinds[kind];
}

/* Makes a table of one symbol, through a line of a perf map. NULL: out of memory. */
static struct symbol_table *load_one(uint64_t start, uint64_t size, const char *name)
{
	struct symbol_table *table = NULL;
	struct text line = {0};
	struct error err = {0};

	text_printf(&line, "%llx %llx ", (unsigned long long)start, (unsigned long long)size);
	for (; *name != '\0'; name++) { /* a line of a map cannot contain the end of one */
		text_char(&line, (char)(*name == '\n' ? ' ' : *name));
	}
	text_char(&line, '\n');
	if (!line.failed) {
		(void)symbol_table_from_perf_map(
		        (struct span){(const uint8_t *)line.p, line.n}, &table, &err);
	}
	text_fini(&line);
	return table;
}

/* NULL: out of memory. */
static struct symbol_table *load_jit(const struct frame_resolver *f, uint32_t object)
{
	struct frame_jit_code code = frame_jit_code(f, object);
	size_t n = strlen(code.name);
	struct symbol_table *table = NULL;
	struct text shown = {0};
	int rc = 0;

	if (f->options.demangle) {
		rc = symbol_demangle(code.name, n, &shown);
	}
	text_char(&shown, '\0');
	if (rc >= 0 && !shown.failed) {
		table = load_one(FRAME_JIT_START, code.bytes.n, rc > 0 ? shown.p : code.name);
	}
	text_fini(&shown);
	return table;
}

bool frame_is_running_kernel(const char *release, const char *host)
{
	return image_is_running_kernel(release, host);
}

/* Whether the objects are those of another system. */
static bool is_elsewhere(const struct frame_resolver *f)
{
	return f->options.roots.n != 0;
}

static struct symbol_request request_of(
        const struct frame_resolver *f, const struct timeline_object *o)
{
	return (struct symbol_request){
	        .kind = symbol_kind(o->kind),
	        .path = timeline_text(f->timeline, o->name),
	        .pid = o->pid,
	        .base = o->base,
	        .reference = o->kind == TIMELINE_KERNEL && o->base != 0
	                             ? timeline_text(f->timeline, o->reference)
	                             : NULL,
	        .build_id = o->build_id_size != 0 ? o->build_id : NULL,
	        .build_id_size = o->build_id_size,
	        .demangle = f->options.demangle,
	        .roots = f->options.roots,
	        .kallsyms = o->guest ? f->options.guest_kallsyms : f->options.kallsyms,
	        .vmlinux = o->guest ? f->options.guest_vmlinux : f->options.vmlinux,
	        .demangle_kernel = f->options.demangle_kernel,
	        .build_ids = is_elsewhere(f) ? NULL : f->options.build_ids,
	        .cache = f->options.cache,
	        .bundle = f->options.bundle,
	        .remote = f->remote,
	        .jobs = f->options.jobs,
	        .running_kernel = f->options.running_kernel,
	};
}

/* NULL: out of memory. */
static struct symbol_table *load(const struct frame_resolver *f, uint32_t object)
{
	const struct timeline_object *o = timeline_object(f->timeline, object);
	struct symbol_request req = request_of(f, o);
	struct symbol_table *table = NULL;
	struct error err = {0};
	bool none = o->kind == TIMELINE_NONE;
	int rc;

	if (o->kind == TIMELINE_CODE) {
		return load_one(0, o->length, timeline_text(f->timeline, o->name));
	}
	if (o->kind == TIMELINE_JIT) {
		return load_jit(f, object);
	}
	/* as in perf: for another system, neither caches nor this kernel are used */
	if (((is_elsewhere(f) && req.bundle == NULL) || o->guest) && req.kallsyms == NULL) {
		none = none || (o->kind == TIMELINE_KERNEL && req.vmlinux == NULL) ||
		       o->kind == TIMELINE_MODULE;
	}
	rc = none ? SONDE_ENOENT : symbol_table_load(&req, &table, &err);
	if (rc < 0 && rc != SONDE_ENOMEM) {
		(void)symbol_table_from_perf_map((struct span){NULL, 0}, &table, &err);
	}
	return table;
}

const struct symbol_table *frame_symbols(const struct frame_resolver *f, uint32_t object)
{
	struct frame_object *o = &f->objects[object];
	struct symbol_table *table = atomic_load_explicit(&o->table, memory_order_acquire);

	if (table != NULL) {
		return table;
	}
	pthread_mutex_lock(&o->loading);
	table = atomic_load_explicit(&o->table, memory_order_relaxed);
	if (table == NULL) {
		table = load(f, object);
		atomic_store_explicit(&o->table, table, memory_order_release);
	}
	pthread_mutex_unlock(&o->loading);
	return table;
}

/* NULL: out of memory. */
static struct lines *lines_of(const struct frame_resolver *f, uint32_t object)
{
	struct frame_object *o = &f->objects[object];
	struct lines *lines = atomic_load_explicit(&o->lines, memory_order_acquire);

	if (lines != NULL) {
		return lines;
	}
	pthread_mutex_lock(&o->loading);
	lines = atomic_load_explicit(&o->lines, memory_order_relaxed);
	if (lines == NULL) {
		struct symbol_request req = request_of(f, timeline_object(f->timeline, object));

		(void)lines_open(&req, &lines);
		atomic_store_explicit(&o->lines, lines, memory_order_release);
	}
	pthread_mutex_unlock(&o->loading);
	return lines;
}

void frame_search_init(
        const struct frame_resolver *f, uint32_t object, struct symbol_search *search)
{
	const struct symbol_request req = request_of(f, timeline_object(f->timeline, object));

	symbol_search_init(search, &req);
}

int frame_text_read(const struct frame_resolver *f, uint32_t object, struct symbol_text *out)
{
	const struct symbol_request req = request_of(f, timeline_object(f->timeline, object));

	return symbol_text_read(&req, out);
}

/* NULL: out of memory. */
static struct unwind_object *unwind_open(const struct frame_resolver *f, uint32_t object)
{
	const struct timeline_object *o = timeline_object(f->timeline, object);
	struct unwind_object *u = calloc(1, sizeof(*u));
	struct unwind_source source;
	struct symbol_search search;
	int rc = 0;

	if (u == NULL) {
		return NULL;
	}
	frame_search_init(f, object, &search);
	if (o->kind == TIMELINE_JIT) {
		rc = frame_jit_elf(f, object, &u->object.elf, &u->jit);
	} else if (o->kind == TIMELINE_VDSO) {
		(void)symbol_file_open_vdso(&search, !is_elsewhere(f), &u->object);
	} else if (symbol_file_open_object(&search, &u->object) &&
	           image_elf_section(&u->object.elf, ".eh_frame") == NULL) {
		(void)symbol_file_open_debug(&search, &u->object.elf, &u->debug);
	}
	if (rc == 0 && u->object.elf.bytes.p != NULL) {
		source = (struct unwind_source){.object = &u->object.elf,
		        .debug = u->debug.elf.bytes.p != NULL ? &u->debug.elf : NULL};
		rc = unwind_table_new(&source, &u->table);
	}
	if (rc < 0 || search.failed) {
		unwind_object_free(u);
		return NULL;
	}
	return u;
}

int frame_unwind_table(
        const struct frame_resolver *f, uint32_t object, const struct unwind_table **out)
{
	struct frame_object *o = &f->objects[object];
	struct unwind_object *u = atomic_load_explicit(&o->unwind, memory_order_acquire);

	if (u == NULL) {
		pthread_mutex_lock(&o->loading);
		u = atomic_load_explicit(&o->unwind, memory_order_relaxed);
		if (u == NULL) {
			u = unwind_open(f, object);
			atomic_store_explicit(&o->unwind, u, memory_order_release);
		}
		pthread_mutex_unlock(&o->loading);
	}
	*out = u != NULL ? u->table : NULL;
	return u != NULL ? 0 : SONDE_ENOMEM;
}

int frame_lines(const struct frame_resolver *f, const struct frame *frame, struct lines_place *out)
{
	struct lines *lines;

	out->found = LINES_NONE;
	out->address = frame->address;
	out->n = 0;
	if (frame->object == FRAME_NOWHERE) {
		return 0;
	}
	if (timeline_object(f->timeline, frame->object)->kind == TIMELINE_JIT) {
		frame_jit_line(f, frame->object, frame->address, out);
		return 0;
	}
	lines = lines_of(f, frame->object);
	return lines != NULL ? lines_find(lines, frame->address, out) : SONDE_ENOMEM;
}

int frame_function_before(
        const struct frame_resolver *f, const struct frame *frame, const char **name)
{
	struct lines *lines;

	*name = NULL;
	if (frame->object == FRAME_NOWHERE ||
	        timeline_object(f->timeline, frame->object)->kind == TIMELINE_JIT) {
		return 0;
	}
	lines = lines_of(f, frame->object);
	return lines != NULL ? lines_function_before(lines, frame->address, name) : SONDE_ENOMEM;
}

int frame_rows(const struct frame_resolver *f, uint32_t object, lines_row_fn fn, void *arg)
{
	struct lines *lines;

	if (timeline_object(f->timeline, object)->kind == TIMELINE_JIT) {
		return 0; /* no client needs them */
	}
	lines = lines_of(f, object);
	return lines != NULL ? lines_rows(lines, fn, arg) : SONDE_ENOMEM;
}

int frame_inlined(const struct frame_resolver *f, const struct frame *frame, bool caller,
        struct lines_place *out)
{
	struct frame at = *frame;

	if (at.symbol == NULL) { /* as in perf */
		out->found = LINES_NONE;
		out->n = 0;
		return 0;
	}
	if (caller && at.address > at.symbol->start) {
		at.address--;
	}
	return frame_lines(f, &at, out);
}

int frame_function_text(const struct frame_resolver *f, const char *function, struct text *out)
{
	int rc = 0;

	if (function == NULL) {
		text_str(out, "[unknown]");
	} else if (f->options.demangle) {
		rc = symbol_demangle(function, strlen(function), out);
	}
	if (function != NULL && rc == 0) { /* it is not mangled */
		text_str(out, function);
	}
	return rc < 0 || out->failed ? SONDE_ENOMEM : 0;
}
