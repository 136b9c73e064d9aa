/* SPDX-License-Identifier: MIT */
/*
 * The frames of a sample: the entries of its call chain with their mappings and symbols. Only this
 * code reads the marks of call chains and converts addresses to mappings and symbols.
 *
 *	sample -> frame_chain_open -> frame_chain_next ...   addresses, each with its mode
 *	               |                    |
 *	     deferred chains, LBR     frame_locate: mapping, object, address in the object
 *	     call stacks and unwound  frame_find:   the same and the symbol, remembered
 *	     stacks are joined here
 *
 * A resolver belongs to a recording and is read-only once it is sealed; each worker has its own
 * reader.
 */
#ifndef SONDE_FRAME_H
#define SONDE_FRAME_H

#include "abi/abi.h"
#include "core/hash.h"
#include "core/text.h"
#include "frame/pokes.h"
#include "image/image.h"
#include "symbol/lines.h"
#include "symbol/symbol.h"
#include "timeline/timeline.h"
#include "unwind/unwind.h"

#include <sonde/session.h>

#define FRAME_NOWHERE UINT32_MAX /* object of an address without a mapping */
#define FRAME_NO_MODE UINT32_MAX

/* A code location that was running, or that called it. */
struct frame {
	uint64_t ip; /* run-time address */
	uint64_t address; /* in the object, see timeline_object_address; ip if nothing is mapped */
	const struct timeline_mapping *mapping; /* NULL: nothing is mapped */
	const struct symbol *symbol; /* NULL: unknown */
	uint32_t object; /* index in the timeline, or FRAME_NOWHERE */
	uint32_t mode; /* MISC_KERNEL, MISC_USER, ... */
	uint32_t inline_depth; /* functions that this one was inlined into at its address */
};

struct frame_options {
	struct image_roots roots; /* folders with the objects of another system */
	const char *kallsyms; /* symbols of the kernel; NULL: /proc/kallsyms */
	const char *vmlinux; /* the kernel's ELF file, for its symbols; NULL: none */
	const char *guest_kallsyms; /* of the kernel of guests; NULL: none */
	const char *guest_vmlinux;
	const char *home; /* of the user; NULL: unknown */
	const char *build_ids; /* folder of objects by build id, ~/.debug; NULL: none */
	const char *cache; /* folder of the symbol cache; NULL: none */
	const struct bundle *bundle; /* files of the recorded machine, which are used first: of
	                                this machine only what has the recorded build id; NULL: none */
	bool debuginfod; /* ask its servers for missing files */
	sonde_download_fn on_download;
	void *download_arg;
	unsigned jobs; /* threads that read debug information */
	bool running_kernel; /* kernels without a build id can be the running one */
	bool demangle;
	bool demangle_kernel; /* also symbols of the kernel */
	uint32_t
	        stitch_slots; /* of the processor's branch stack: LBR call stacks are completed by those
	                          of earlier samples (stitch.h); 0: they are not */
	bool machine_known; /* the recording says which machine it is of */
	enum unwind_machine machine; /* whose stacks were copied */
};

struct bundle;
struct frame_object;
struct frame_stitch;
struct frame_unwinder;
struct frame_ends;
struct frame_jit;

/* A CALLCHAIN_DEFERRED record: the user part of chains that end with its cookie. */
struct frame_deferred {
	uint64_t cookie, time; /* ns; the offset in the file if records have no time */
	uint32_t tid, n;
	const uint8_t *words; /* in the input, in its byte order; possibly unaligned */
};

/* Code of a BPF program, or of a function that it calls. */
struct frame_program {
	uint64_t start; /* run-time address */
	uint64_t tag; /* as the kernel prints it in the name of the code */
	struct span code; /* in memory that lives as long as the resolver */
};

/* The state for resolving the frames of a recording. */
struct frame_resolver {
	struct frame_options options; /* texts must live as long as the resolver */
	const struct timeline *timeline;
	struct frame_object *objects; /* symbols, by object of the timeline */
	struct frame_deferred *deferred; /* sorted by thread, cookie and time when sealed */
	size_t ndeferred, deferred_cap;
	struct frame_program *programs; /* sorted by address when sealed */
	size_t nprograms, programs_cap;
	struct frame_pokes pokes; /* sorted by time when sealed */
	struct frame_jit *jit; /* jit.h; NULL: no jitdump files */
	struct symbol_remote *remote; /* NULL: no servers are asked */
	struct frame_ends *ends; /* of unwound chains, counted by all workers */
	bool swap; /* the input has the other byte order */
};

/* Number of unwound chains that ended so. */
uint64_t frame_ends_count(const struct frame_resolver *f, enum unwind_end end);

/*
 * Adds a CALLCHAIN_DEFERRED record of thread `tid`; its bytes must remain valid. Call before
 * sealing. Returns 1; 0: the record is cut short; SONDE_ENOMEM.
 */
int frame_deferred_add(
        struct frame_resolver *f, const struct record *r, uint32_t tid, uint64_t time);

/* Adds code of a BPF program before sealing. SONDE_ENOMEM. */
int frame_program_add(struct frame_resolver *f, const struct frame_program *program);
/* Private to frame: sorts them for sealing. */
void frame_programs_sort(struct frame_resolver *f);
/* The code of the object `name` that begins at an address; empty: unknown. */
struct span frame_program_code(const struct frame_resolver *f, const char *name, uint64_t start);

/* Call after the timeline was sealed; SONDE_ENOMEM. Call frame_resolver_fini in any case. */
int frame_resolver_seal(struct frame_resolver *f, const struct timeline *t);
void frame_resolver_fini(struct frame_resolver *f);

/* Private to frame: sorts the deferred chains for sealing. */
void frame_deferred_sort(struct frame_resolver *f);

/* Whether a recording with this release and host name in its header, or NULL, can be of the running kernel. */
bool frame_is_running_kernel(const char *release, const char *host);

/*
 * Returns the symbols of an object, loaded when first needed, by any worker; empty if none are
 * found; NULL: out of memory.
 */
const struct symbol_table *frame_symbols(const struct frame_resolver *f, uint32_t object);

/*
 * Finds the source line of a located frame, and the functions inlined there. The files of an object
 * are opened when first needed, by any worker. SONDE_ENOMEM.
 */
int frame_lines(const struct frame_resolver *f, const struct frame *frame, struct lines_place *out);

/* Finds the function before a located frame without a symbol; *name: NULL if there is none. SONDE_ENOMEM. */
int frame_function_before(
        const struct frame_resolver *f, const struct frame *frame, const char **name);

/*
 * Reads the build id of the file that an object without one is on this machine, or in the bundle; the
 * size in bytes, 0: unknown, SONDE_ENOMEM.
 */
int frame_object_build_id(
        const struct frame_resolver *f, const struct timeline_object *o, uint8_t id[BUILD_ID_MAX]);
/* The same for the file of a name; roots: folders with the files of another system. */
int frame_file_build_id(
        const struct image_roots *roots, const char *name, uint8_t id[BUILD_ID_MAX]);

/* Calls fn for each row of the line tables of an object, as lines_rows. */
int frame_rows(const struct frame_resolver *f, uint32_t object, lines_row_fn fn, void *arg);

/*
 * As frame_lines, for the functions inlined at a frame; caller: its address is the one after a call,
 * which may already be in another function. out->n is at most 1 if nothing was inlined.
 */
int frame_inlined(const struct frame_resolver *f, const struct frame *frame, bool caller,
        struct lines_place *out);

/* Appends the name of an inlined function for output, demangled if requested. SONDE_ENOMEM. */
int frame_function_text(const struct frame_resolver *f, const char *function, struct text *out);

/* The name of a frame's symbol; NULL: symbol is NULL, or out of memory. */
const char *frame_symbol_name(
        const struct frame_resolver *f, uint32_t object, const struct symbol *symbol);

/*
 * The name of an object for output: its path; for a module whose path no list of build ids has, the
 * module's name.
 */
const char *frame_object_name(const struct timeline *t, const struct timeline_object *o);

/*
 * Sets *out to the table for unwinding from code of an object, made when first needed, by any
 * worker; NULL: its file was not found. SONDE_ENOMEM.
 */
int frame_unwind_table(
        const struct frame_resolver *f, uint32_t object, const struct unwind_table **out);

/* Caches of a worker. Both are direct-mapped: their size does not depend on the input. */
#define FRAME_RANGES 4096u
#define FRAME_FRAMES 4096u

struct frame_range { /* part of an address space that one mapping covers */
	struct timeline_range range;
	uint32_t root, mode;
	const struct timeline_mapping *mapping;
};

struct frame_slot {
	struct frame frame;
	uint32_t root, later_root;
	bool used;
};

struct frame_reader {
	const struct frame_resolver *resolver;
	struct frame_range *ranges; /* [FRAME_RANGES] */
	struct frame_range last; /* the one that was found last: callers are often in it too */
	struct frame_slot *slots; /* [FRAME_FRAMES]; NULL until frame_find is called */
	struct frame_stitch *stitch; /* NULL until needed */
	struct frame_unwinder *unwinder; /* NULL until needed */
	uint64_t *joined; /* a chain with its deferred or unwound part */
	size_t joined_cap;
	uint32_t epoch; /* of the timeline: mappings of other epochs may be gone */
};

int frame_reader_init(struct frame_reader *r, const struct frame_resolver *f); /* SONDE_ENOMEM */
void frame_reader_fini(struct frame_reader *r);

/* Private to frame: empties the caches for another epoch of the timeline. */
void frame_reader_turn(struct frame_reader *r, uint32_t epoch);

/* A call chain and the current position in it. */
struct frame_chain {
	const uint64_t *
	        words; /* addresses and marks; the sample's, or the reader's until its next chain */
	size_t n, next;
	size_t unwound; /* words from here on are of an unwound stack; 0: none are */
	bool deferred; /* the event's chains can end with the mark and cookie of a deferred part */
	uint64_t taken; /* addresses of the current part, by frame_chain_next_of */
	uint32_t mode; /* of the last address from frame_chain_next */
};

/*
 * Whether the last address from frame_chain_next is of an unwound stack: that of a caller is in its
 * call instruction, not after it.
 */
static inline bool frame_chain_is_unwound(const struct frame_chain *chain)
{
	return chain->unwound != 0 && chain->next > chain->unwound;
}

/* Appends the deferred part to a chain that ends with its cookie, or removes the cookie. */
int frame_chain_join(
        struct frame_reader *r, const struct sonde_sample *s, struct frame_chain *chain);

/* Replaces the user part of a chain with the calls in the sample's branch stack. */
int frame_chain_branches(
        struct frame_reader *r, const struct sonde_sample *s, struct frame_chain *chain);

/* Private to frame: counts of ends, all zero; NULL: out of memory. */
struct frame_ends *frame_ends_new(void);
/* Private to frame: frees what frame_chain_unwind made; accepts NULL. */
void frame_unwinder_free(struct frame_unwinder *u);

/* Whether stacks of the recording can be unwound with these registers, a mask of sample_regs_user. */
bool frame_can_unwind(const struct frame_resolver *f, uint64_t mask);

/* Appends the calls that a copy of the user stack shows; mask: of the recorded registers. */
int frame_chain_unwind(struct frame_reader *r, const struct sonde_sample *s,
        const struct timeline_view *v, uint64_t mask, struct frame_chain *chain);

#define FRAME_REGS_ABI_64 2u /* PERF_SAMPLE_REGS_ABI_64 */
#define FRAME_COPIES      (SONDE_SAMPLE_REGS_USER | SONDE_SAMPLE_STACK_USER)

/* Whether samples of the event have copies of the user stack and the registers to unwind it. */
static inline bool frame_stack_copies(const struct sonde_attr *attr)
{
	return (attr->sample_type & FRAME_COPIES) == FRAME_COPIES;
}

#define FRAME_BRANCH_CALL_STACK (UINT64_C(1) << 11) /* PERF_SAMPLE_BRANCH_CALL_STACK */

/* Whether branch stacks of the event are call stacks: those of record --call-graph lbr. */
static inline bool frame_call_stacks(const struct sonde_attr *attr)
{
	return (attr->branch_sample_type & FRAME_BRANCH_CALL_STACK) != 0;
}

/* Starts at the leaf; attr: of the sample's event; mode: the sample's. Returns 0, or SONDE_ENOMEM. */
static inline int frame_chain_open(struct frame_reader *r, const struct sonde_sample *s,
        const struct timeline_view *v, uint32_t mode, const struct sonde_attr *attr,
        struct frame_chain *chain)
{
	/* a local copy is passed to the call below, so that *chain can stay in registers */
	struct frame_chain own = {.words = s->callchain,
	        .n = (size_t)s->callchain_len,
	        .deferred = sonde_attr_has(attr, SONDE_FLAG_DEFER_CALLCHAIN) != 0,
	        .mode = mode};

	if (frame_call_stacks(attr)) {
		TRY(frame_chain_branches(r, s, &own));
	} else if (frame_stack_copies(attr)) {
		TRY(frame_chain_unwind(r, s, v, attr->sample_regs_user, &own));
	} else if (own.deferred && own.n >= 2 && own.words[own.n - 2] == CALLCHAIN_DEFERRED) {
		TRY(frame_chain_join(r, s, &own));
	}
	*chain = own;
	return 0;
}

/* Mode of the addresses after a mark; FRAME_NO_MODE: the kernel never writes such a mark. */
static inline uint32_t frame_mark_mode(uint64_t mark)
{
	return mark == CALLCHAIN_KERNEL ? MISC_KERNEL
	       : mark == CALLCHAIN_USER ? MISC_USER
	       : mark == CALLCHAIN_HV   ? MISC_HYPERVISOR
	                                : FRAME_NO_MODE;
}

/*
 * Returns the next address, with its mode in chain->mode: 1, or 0 at the end. SONDE_EFORMAT: a mark
 * that the kernel never writes. The unwinder ran into data, and the whole chain must be ignored, as
 * in perf.
 */
static inline int frame_chain_next(struct frame_chain *chain, uint64_t *ip)
{
	while (chain->next < chain->n) {
		uint64_t word = chain->words[chain->next++];

		if (word < CALLCHAIN_MARKS) {
			*ip = word;
			return 1;
		}
		if (word == CALLCHAIN_DEFERRED && chain->deferred) { /* its part was not recorded */
			break;
		}
		chain->mode = frame_mark_mode(word);
		if (chain->mode == FRAME_NO_MODE) {
			return SONDE_EFORMAT;
		}
	}
	return 0;
}

/*
 * As frame_chain_next, for at most `max` addresses. As in perf, that is the maximum of each of two
 * parts, the recorded one and that of an unwound stack.
 */
static inline int frame_chain_next_of(struct frame_chain *chain, uint64_t max, uint64_t *ip)
{
	int rc;

	if (chain->taken == max && chain->next < chain->unwound) {
		chain->next = chain->unwound;
		chain->mode = MISC_USER;
		chain->taken = 0;
	}
	if (chain->taken == max) {
		return 0;
	}
	rc = frame_chain_next(chain, ip);
	if (rc > 0) {
		chain->taken = chain->next == chain->unwound + 1 && chain->unwound != 0
		                       ? 1
		                       : chain->taken + 1;
	}
	return rc;
}

/* The address space for addresses of a mode. */
static inline uint32_t frame_root(const struct timeline_view *v, uint32_t mode)
{
	return mode == (v->guest ? MISC_GUEST_KERNEL : MISC_KERNEL) ? v->kernel_root : v->root;
}

/* Returns the mapping of an address, or NULL. */
static inline const struct timeline_mapping *frame_mapping(
        struct frame_reader *r, const struct timeline_view *v, uint32_t mode, uint64_t ip)
{
	uint32_t root = frame_root(v, mode);
	uint64_t hash = hash_u64(ip >> 12 ^ (uint64_t)root << 40);
	struct frame_range *near = &r->ranges[hash & (FRAME_RANGES - 1)];

	if (v->epoch != r->epoch) {
		frame_reader_turn(r, v->epoch);
	}
	if (ip < near->range.start || ip >= near->range.end || near->root != root ||
	        near->mode != mode) {
		struct frame_range *last = &r->last;

		if (ip < last->range.start || ip >= last->range.end || last->root != root ||
		        last->mode != mode) {
			last->mapping = timeline_find(v, mode, ip, &last->range);
			last->root = root;
			last->mode = mode;
		}
		*near = *last;
	}
	return near->mapping;
}

/*
 * Returns the mode of an address that code in `mode` jumped to, came from or accessed: `mode`, or
 * if nothing is mapped there, the other one of kernel and user.
 */
static inline uint32_t frame_mode_of(
        struct frame_reader *r, const struct timeline_view *v, uint32_t mode, uint64_t ip)
{
	uint32_t other = mode == MISC_KERNEL ? MISC_USER : MISC_KERNEL;

	if (v->guest) {
		return ip >> 63 != 0 ? MISC_GUEST_KERNEL : MISC_GUEST_USER;
	}
	if (frame_mapping(r, v, mode, ip) == NULL && frame_mapping(r, v, other, ip) != NULL) {
		return other;
	}
	return mode;
}

/* Sets hit[object] for the object of an address, if any. */
static inline void frame_hit(struct frame_reader *r, const struct timeline_view *v, uint32_t mode,
        uint64_t ip, bool *hit)
{
	const struct timeline_mapping *m = frame_mapping(r, v, mode, ip);

	if (m != NULL) {
		hit[m->object] = true;
	}
}

static inline struct frame frame_at(const struct frame_resolver *f,
        const struct timeline_mapping *m, uint32_t mode, uint64_t ip)
{
	struct frame at = {
	        .ip = ip, .address = ip, .mapping = m, .object = FRAME_NOWHERE, .mode = mode};

	if (m != NULL) {
		at.object = m->object;
		at.address = timeline_object_address(f->timeline, m, ip);
	}
	return at;
}

/* Locates an address, without its symbol. */
static inline struct frame frame_locate(
        struct frame_reader *r, const struct timeline_view *v, uint32_t mode, uint64_t ip)
{
	return frame_at(r->resolver, frame_mapping(r, v, mode, ip), mode, ip);
}

/* frame_locate for callers with a cache of addresses: does not use the cache of mappings. */
static inline struct frame frame_locate_new(
        const struct frame_resolver *f, const struct timeline_view *v, uint32_t mode, uint64_t ip)
{
	struct timeline_range range;

	return frame_at(f, timeline_find(v, mode, ip, &range), mode, ip);
}

/* Finds the symbol of a located frame. SONDE_ENOMEM. */
static inline int frame_name(const struct frame_resolver *f, struct frame *frame)
{
	const struct symbol_table *table;

	if (frame->object == FRAME_NOWHERE) {
		return 0;
	}
	table = frame_symbols(f, frame->object);
	if (table == NULL) {
		return SONDE_ENOMEM;
	}
	frame->symbol = symbol_table_find(table, frame->address);
	return 0;
}

/*
 * Locates an address and finds its symbol; valid until the reader's next frame_find. Inlined
 * functions would be expanded here. NULL: out of memory.
 */
const struct frame *frame_find(
        struct frame_reader *r, const struct timeline_view *v, uint32_t mode, uint64_t ip);

#endif
