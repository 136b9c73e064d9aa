/* SPDX-License-Identifier: MIT */
/* The code of the objects of a recording, opened when first read, by any worker. */
#include "frame/code.h"

#include "frame/jit.h"
#include "frame/kernel.h"
#include "frame/module.h"
#include "frame/search.h"
#include "pt/insn.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define EM_386    3u
#define EM_X86_64 62u

_Static_assert(FRAME_INSN_MAX == PT_INSN_MAX, "the longest instruction");

struct code_object {
	_Atomic(bool) tried;
	struct symbol_file file; /* closed: no file was found */
	struct frame_kernel kernel; /* TIMELINE_KERNEL without a kcore */
	struct frame_module module; /* TIMELINE_MODULE without a kcore */
	struct frame_code_kind kind;
};

struct frame_code {
	const struct frame_resolver *resolver;
	struct code_object *objects; /* by object of the timeline */
	struct code_core {
		_Atomic(bool) tried;
		struct frame_kernel kernel;
	} cores[2]; /* of the kernel and its modules; of those of guests */
	pthread_mutex_t opening;
};

struct frame_code *frame_code_new(const struct frame_resolver *r)
{
	struct frame_code *c = calloc(1, sizeof(*c));
	size_t n = timeline_objects(r->timeline);

	if (c == NULL) {
		return NULL;
	}
	c->resolver = r;
	c->objects = calloc(n != 0 ? n : 1, sizeof(*c->objects));
	if (c->objects == NULL) {
		free(c);
		return NULL;
	}
	pthread_mutex_init(&c->opening, NULL);
	return c;
}

void frame_code_free(struct frame_code *c)
{
	if (c == NULL) {
		return;
	}
	for (size_t i = 0; i < timeline_objects(c->resolver->timeline); i++) {
		symbol_file_close(&c->objects[i].file);
		frame_kernel_close(&c->objects[i].kernel);
		free(c->objects[i].module.text);
	}
	frame_kernel_close(&c->cores[0].kernel);
	frame_kernel_close(&c->cores[1].kernel);
	pthread_mutex_destroy(&c->opening);
	free(c->objects);
	free(c);
}

static struct frame_code_kind kind_of(const struct image_elf *elf)
{
	return (struct frame_code_kind){.machine = elf->machine, .is64 = elf->is64};
}

/* 0, or SONDE_ENOMEM. */
static int open_object(const struct frame_resolver *r, uint32_t object, struct code_object *code)
{
	const struct timeline_object *o = timeline_object(r->timeline, object);
	bool elsewhere = r->options.roots.n != 0;
	struct symbol_search search;
	bool found;
	int rc;

	if (o->kind == TIMELINE_KERNEL) {
		rc = frame_kernel_open(&code->kernel, r, o);
		code->kind = kind_of(&code->kernel.elf);
		return rc;
	}
	if (o->kind == TIMELINE_MODULE) {
		code->kind = (struct frame_code_kind){.machine = EM_X86_64, .is64 = true};
		return frame_module_open(&code->module, r, object);
	}
	if (o->kind != TIMELINE_USER && o->kind != TIMELINE_VDSO) {
		return 0;
	}
	frame_search_init(r, object, &search);
	/* code of another vdso would not be what was executed */
	found = o->kind == TIMELINE_VDSO ? symbol_file_open_vdso(&search,
	                                           !elsewhere && o->build_id_size != 0, &code->file)
	                                 : symbol_file_open_object(&search, &code->file);
	code->kind = found ? kind_of(&code->file.elf) : code->kind;
	return search.failed ? SONDE_ENOMEM : 0;
}

/* NULL: out of memory. */
static const struct code_object *code_of(struct frame_code *c, uint32_t object)
{
	struct code_object *code = &c->objects[object];
	int rc = 0;

	if (!atomic_load_explicit(&code->tried, memory_order_acquire)) {
		pthread_mutex_lock(&c->opening);
		if (!atomic_load_explicit(&code->tried, memory_order_relaxed)) {
			rc = open_object(c->resolver, object, code);
			atomic_store_explicit(&code->tried, rc >= 0, memory_order_release);
		}
		pthread_mutex_unlock(&c->opening);
	}
	return rc < 0 ? NULL : code;
}

/* The kcore beside a file, or of the bundle; NULL: out of memory. */
static const struct frame_kernel *core_of(
        struct frame_code *c, struct code_core *core, const char *kallsyms)
{
	int rc = 0;

	if (!atomic_load_explicit(&core->tried, memory_order_acquire)) {
		pthread_mutex_lock(&c->opening);
		if (!atomic_load_explicit(&core->tried, memory_order_relaxed)) {
			rc = kallsyms != NULL ? frame_kernel_open_core(&core->kernel, kallsyms)
			                      : frame_kernel_open_bundled(
			                                &core->kernel, c->resolver->options.bundle);
			atomic_store_explicit(&core->tried, rc >= 0, memory_order_release);
		}
		pthread_mutex_unlock(&c->opening);
	}
	return rc < 0 ? NULL : &core->kernel;
}

/* Sets up to n bytes from an offset on. */
static void part_of(struct span bytes, uint64_t at, size_t n, struct span *out)
{
	if (bytes.p != NULL && at < bytes.n) {
		uint64_t left = bytes.n - at;

		*out = (struct span){bytes.p + at, left < n ? (size_t)left : n};
	}
}

/* Sets the bytes of kernel code, which has run-time addresses. */
static int kernel_code_at(struct frame_code *c, const struct frame_code_place *place, size_t n,
        struct frame_code_kind *kind, struct span *out)
{
	const struct frame_options *o = &c->resolver->options;
	bool guest = timeline_object(c->resolver->timeline, place->object)->guest;
	const char *kallsyms = guest ? o->guest_kallsyms : o->kallsyms;
	const struct frame_kernel *core;
	const struct code_object *code;

	if (kallsyms != NULL || (!guest && frame_kernel_is_bundled(o->bundle))) {
		core = core_of(c, &c->cores[guest], kallsyms);
		if (core == NULL) {
			return SONDE_ENOMEM;
		}
		*kind = kind_of(&core->elf);
		*out = frame_kernel_bytes(core, place->ip, n);
		image_file_keep(&core->file, *out);
		return 0;
	}
	code = code_of(c, place->object);
	if (code == NULL) {
		return SONDE_ENOMEM;
	}
	*kind = code->kind;
	*out = frame_kernel_bytes(&code->kernel, place->ip, n);
	image_file_keep(&code->kernel.file, *out);
	part_of((struct span){code->module.text, code->module.size}, place->address, n, out);
	return 0;
}

static void jit_code_at(struct frame_code *c, const struct frame_code_place *place, size_t n,
        struct frame_code_kind *kind, struct span *out)
{
	struct frame_jit_code code = frame_jit_code(c->resolver, place->object);

	*kind = code.kind;
	if (place->address >= FRAME_JIT_START) {
		part_of(code.bytes, place->address - FRAME_JIT_START, n, out);
	}
}

/* Of code that is in no ELF file. */
static struct frame_code_kind made_kind(const struct frame_resolver *r)
{
	bool x86 = !r->options.machine_known || r->options.machine == UNWIND_X86_64;

	return (struct frame_code_kind){.machine = x86 ? EM_X86_64 : 0, .is64 = true};
}

/* Sets the bytes of code that the kernel made; false: the recording does not have them. */
static bool made_code_at(const struct frame_code *c, const struct frame_code_place *place, size_t n,
        struct frame_code_kind *kind, struct span *out)
{
	const struct timeline *t = c->resolver->timeline;
	const struct timeline_object *o = timeline_object(t, place->object);
	struct span code = {NULL, 0};

	if (o->kind == TIMELINE_CODE) {
		code = frame_program_code(
		        c->resolver, timeline_text(t, o->name), place->ip - place->address);
	}
	*kind = made_kind(c->resolver);
	part_of(code, place->address, n, out);
	return code.n != 0;
}

static bool is_kernel(const struct frame_code *c, uint32_t object)
{
	enum timeline_object_kind kind = timeline_object(c->resolver->timeline, object)->kind;

	return kind == TIMELINE_KERNEL || kind == TIMELINE_MODULE || kind == TIMELINE_CODE;
}

int frame_code_of(struct frame_code *c, const struct frame_code_place *place, size_t n,
        struct frame_code_kind *kind, struct span *out)
{
	const struct code_object *code;

	*kind = (struct frame_code_kind){0};
	*out = (struct span){NULL, 0};
	if (place->object == FRAME_NOWHERE) {
		return 0;
	}
	if (made_code_at(c, place, n, kind, out)) {
		return 0;
	}
	if (is_kernel(c, place->object)) {
		return kernel_code_at(c, place, n, kind, out);
	}
	if (timeline_object(c->resolver->timeline, place->object)->kind == TIMELINE_JIT) {
		jit_code_at(c, place, n, kind, out);
		return 0;
	}
	code = code_of(c, place->object);
	if (code == NULL) {
		return SONDE_ENOMEM;
	}
	*kind = code->kind;
	part_of(code->file.file.bytes, place->address, n, out);
	image_file_keep(&code->file.file, *out);
	return 0;
}

int frame_code_at(struct frame_code *c, const struct frame *f, size_t n,
        struct frame_code_kind *kind, struct span *out)
{
	const struct frame_code_place place = {
	        .object = f->mapping != NULL ? f->object : FRAME_NOWHERE,
	        .address = f->address,
	        .ip = f->ip};

	return frame_code_of(c, &place, n, kind, out);
}

int frame_code_then(struct frame_code *c, const struct frame *f, const struct frame_then *then,
        struct frame_code_kind *kind, struct span *out)
{
	const struct frame_pokes *pokes = &c->resolver->pokes;
	size_t known;

	TRY(frame_code_at(c, f, then->n, kind, out));
	if (pokes->n == 0 || f->mapping == NULL || !is_kernel(c, f->object) ||
	        timeline_object(c->resolver->timeline, f->object)->guest) {
		return 0;
	}
	known = out->n;
	if (known != 0) {
		memcpy(then->own, out->p, known);
	} else {
		*kind = made_kind(c->resolver);
	}
	known = frame_pokes_apply(
	        pokes, frame_pokes_until(pokes, then->time), f->ip, then->own, then->n, known);
	*out = (struct span){known != 0 ? then->own : NULL, known};
	return 0;
}

bool frame_code_is_x86(const struct frame_code_kind *kind)
{
	return kind->machine == EM_X86_64 || kind->machine == EM_386;
}

struct frame_insn frame_insn_decode(const struct frame_code_kind *kind, struct span code)
{
	enum pt_mode mode = kind->is64 ? PT_MODE_64 : PT_MODE_32;
	struct pt_insn insn;

	if (code.n == 0 || pt_insn_decode(code.p, code.n, mode, &insn) != PT_INSN_OK) {
		return (struct frame_insn){0};
	}
	return (struct frame_insn){.size = insn.size,
	        .direct = insn.class == PT_CLASS_COND || insn.class == PT_CLASS_JUMP ||
	                  insn.class == PT_CLASS_CALL,
	        .displacement = insn.disp,
	        .leaves = insn.class != PT_CLASS_OTHER};
}

int frame_insn_at(
        struct frame_code *c, const struct frame *f, uint64_t time, struct frame_insn_bytes *out)
{
	const struct frame_then then = {.time = time, .own = out->own, .n = sizeof(out->own)};

	TRY(frame_code_then(c, f, &then, &out->kind, &out->code));
	out->code.n =
	        frame_code_is_x86(&out->kind) ? frame_insn_decode(&out->kind, out->code).size : 0;
	return 0;
}
