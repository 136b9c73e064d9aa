/* SPDX-License-Identifier: MIT */
/*
 * Code in units, as TAP: units [SEEDS [FIRST]]. The code of generated programs is cut at random into
 * units, other ones in each of two spaces between which the flow moves, and some of it is in none. For
 * several kinds of steps, those of the whole and of a damaged trace must equal those of an image
 * without units, whose code is read by address.
 */
#include "pt/image.h"
#include "pt/step.h"
#include "tests/pt/program.h"
#include "tests/pt/steps.h"
#include "tests/tap.h"

#include <sonde/pt.h>

#define SPACES 2
#define CUTS   64 /* ranges of a region, at most */
#define MOVES  6

/* What is at first..last; the unit's addresses are those of the program - bias. */
struct range {
	uint64_t first, last, bias;
	uint32_t unit;
	bool none;
};

struct world {
	struct program *p;
	struct range ranges[SPACES][PROGRAM_REGIONS * CUTS];
	unsigned n[SPACES];
	struct range units[SPACES * PROGRAM_REGIONS * CUTS];
	uint32_t nunits;
	uint64_t moves[MOVES]; /* offsets at which the space changes */
	uint64_t random;
};

struct kind {
	const char *what;
	struct sonde_pt_flow_options options;
	bool batch;
	bool unnumbered; /* instructions have no numbers there */
};

static size_t read_region(const struct program *p, uint64_t address, uint8_t *to, size_t n)
{
	for (unsigned i = 0; i < PROGRAM_REGIONS; i++) {
		uint64_t at = address - p->regions[i].base;

		if (at < PROGRAM_CODE) {
			n = n < PROGRAM_CODE - at ? n : (size_t)(PROGRAM_CODE - at);
			memcpy(to, p->regions[i].code + at, n);
			return n;
		}
	}
	return 0;
}

static size_t read_space(void *arg, uint32_t space, uint64_t address, uint8_t *to, size_t n)
{
	const struct world *w = arg;

	(void)space;
	return read_region(w->p, address, to, n);
}

static size_t read_unit(void *arg, uint32_t unit, uint64_t address, uint8_t *to, size_t n)
{
	const struct world *w = arg;

	return read_region(w->p, address + w->units[unit].bias, to, n);
}

static bool find_unit(void *arg, uint32_t space, uint64_t address, struct pt_unit_at *out)
{
	const struct world *w = arg;

	for (unsigned i = 0; i < w->n[space]; i++) {
		const struct range *r = &w->ranges[space][i];

		if (address >= r->first && address <= r->last) {
			*out = (struct pt_unit_at){r->first, r->last, r->bias, r->unit};
			return !r->none;
		}
	}
	return false;
}

static void cut_region(struct world *w, unsigned space, unsigned region)
{
	uint64_t first = w->p->regions[region].base;
	uint64_t last = first + PROGRAM_CODE - 1;
	uint64_t used = first + w->p->regions[region].size;
	unsigned few = 1 + (unsigned)pick(&w->random, CUTS - 1);

	for (unsigned i = 0; i < few && first <= last; i++) {
		bool end = i + 1 == few || first >= used;
		struct range *r = &w->ranges[space][w->n[space]++];

		*r = (struct range){.first = first,
		        .last = end ? last : first + pick(&w->random, used - first),
		        .bias = pick(&w->random, 1u << 30) << (pick(&w->random, 2) * 12),
		        .unit = w->nunits,
		        .none = pick(&w->random, 8) == 0};
		if (!r->none) {
			w->units[w->nunits++] = *r;
		}
		first = r->last + 1;
	}
}

static void make_world(struct world *w, uint64_t seed)
{
	w->random = seed * 0x9e3779b97f4a7c15ULL + 1;
	w->nunits = 0;
	for (unsigned space = 0; space < SPACES; space++) {
		w->n[space] = 0;
		for (unsigned i = 0; i < PROGRAM_REGIONS; i++) {
			cut_region(w, space, i);
		}
	}
	for (unsigned i = 0; i < MOVES; i++) {
		w->moves[i] = pick(&w->random, w->p->trace_size + 1);
	}
}

/* A block that no branch ends goes on in the next one: where a unit ends. */
static bool goes_on(const struct steps *list, const struct sonde_pt_step *s)
{
	const struct sonde_pt_step *last = list->n != 0 ? &list->p[list->n - 1] : NULL;

	return last != NULL && last->kind == SONDE_PT_STEP_BLOCK && !last->branch &&
	       s->kind == SONDE_PT_STEP_BLOCK && s->ip == last->last + last->size &&
	       s->insns == last->insns + s->count && !s->first;
}

static void join(struct sonde_pt_step *block, const struct sonde_pt_step *s)
{
	struct sonde_pt_step whole = *s;

	whole.ip = block->ip;
	whole.first = block->first;
	whole.count += block->count;
	*block = whole;
}

/* What is known of a branch, however many are in its step. */
static void keep_branch(
        struct steps *list, const struct sonde_pt_step *s, const struct pt_branch *b)
{
	const struct sonde_pt_step one = {.kind = SONDE_PT_STEP_INSN,
	        .ip = b->from,
	        .to = b->to,
	        .size = b->size,
	        .count = b->class,
	        .tsc = s->tsc,
	        .exact_tsc = s->exact_tsc,
	        .space = s->space,
	        .speculative = s->speculative};

	add(list, &one);
}

/* Appends a step of a kind, or one for each branch of many. */
static void keep(struct steps *list, const struct kind *kind, const struct sonde_pt_flow *flow,
        const struct sonde_pt_step *s)
{
	struct sonde_pt_step step = *s;

	if (goes_on(list, s)) {
		join(&list->p[list->n - 1], s);
		return;
	}
	if (s->kind == PT_STEP_BRANCHES) {
		for (size_t i = 0; i < flow->batch.ngiven; i++) {
			keep_branch(list, s, &flow->batch.given[i]);
		}
	} else if (s->kind == SONDE_PT_STEP_INSN && kind->batch) {
		const struct pt_branch b = {
		        .from = s->ip, .to = s->to, .size = s->size, .class = flow->given.class};

		keep_branch(list, s, &b);
	} else {
		if (s->cycle_insns != s->insns) {
			step.cycle_insns = step.cycles = 0; /* known elsewhere in the same code */
		}
		step.first = s->first && kind->options.want == 0;
		step.insns = kind->unnumbered ? 0 : s->insns;
		add(list, &step);
	}
}

static struct steps follow(struct sonde_pt_graph *graph, const struct world *w,
        const struct bytes *trace, const struct sonde_pt_flow_options *options,
        const struct kind *kind, bool has_units)
{
	struct sonde_pt_flow *flow = sonde_pt_flow_new(graph, trace->p, trace->n, options);
	struct steps list = {NULL, 0, 0};
	const struct sonde_pt_step *step;

	for (unsigned i = 0; i < MOVES; i++) {
		const struct sonde_pt_move move = {.at = w->moves[i], .space = (i + 1) % SPACES};

		if (sonde_pt_flow_move(flow, &move) != 0) {
			abort();
		}
	}
	flow->wanted.unnumbered = kind->unnumbered && has_units;
	if (kind->batch && !pt_batch_start(flow)) {
		abort();
	}
	while (sonde_pt_flow_next(flow, &step) > 0) {
		keep(&list, kind, flow, step);
	}
	sonde_pt_flow_free(flow);
	return list;
}

static const struct kind kinds[] = {
        {.what = "instructions and events", .options = {.want = 0}},
        {.what = "each 7th, with the time",
                .options = {.want = SONDE_PT_WANT_INSNS, .every = 7, .time = true}},
        {.what = "each 500th", .options = {.want = SONDE_PT_WANT_INSNS, .every = 500}},
        {.what = "blocks, at the next IP after an error",
                .options = {.want = SONDE_PT_WANT_BLOCKS | SONDE_PT_WANT_EVENTS,
                        .keep_position = true}},
        {.what = "taken branches, many at once, at the next IP after an error",
                .options = {.want = SONDE_PT_WANT_TAKEN | SONDE_PT_WANT_EVENTS,
                        .time = true,
                        .keep_position = true},
                .batch = true},
        {.what = "calls", .options = {.want = SONDE_PT_WANT_CALLS}},
        {.what = "errors only", .options = {.want = SONDE_PT_WANT_NOTHING}},
        {.what = "events, without numbers of instructions",
                .options = {.want = SONDE_PT_WANT_EVENTS},
                .unnumbered = true},
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* Whether code comes back without a decision; then an error may be found anywhere in the circle. */
static bool is_circle(const struct sonde_pt_image *image, uint64_t ip)
{
	uint32_t context = pt_context(pt_image_view(image, 0, 0), PT_MODE_64);
	struct pt_insn insn;

	for (unsigned i = 0; i < PROGRAM_INSNS; i++) {
		if (pt_image_insn(image, context, ip, &insn) != 0 ||
		        (insn.class != PT_CLASS_OTHER && insn.class != PT_CLASS_JUMP &&
		                insn.class != PT_CLASS_CALL)) {
			return false;
		}
		ip = insn.class == PT_CLASS_OTHER ? ip + insn.size
		                                  : pt_insn_target(&insn, ip, PT_MODE_64);
	}
	return true;
}

static bool has_circle(const struct sonde_pt_image *image, const struct steps *list)
{
	for (size_t i = 0; i < list->n; i++) {
		if (list->p[i].kind == SONDE_PT_STEP_ERROR && is_circle(image, list->p[i].ip)) {
			return true;
		}
	}
	return false;
}

struct tally {
	unsigned bad[KINDS];
	uint64_t steps;
	uint32_t units, circles;
};

/* Compares the steps of one trace, each kind twice: the second time the graph has been built. */
static void compare(struct sonde_pt_graph *graphs[2], const struct world *w,
        const struct bytes *trace, uint64_t seed, struct tally *t)
{
	for (size_t k = 0; k < 2 * KINDS; k++) {
		const struct kind *kind = &kinds[k % KINDS];
		struct sonde_pt_flow_options o = kind->options;
		struct steps want, got;
		size_t place;

		o.size = sizeof(o);
		o.clock = (struct sonde_pt_clock){.tsc_ratio_numerator = 84,
		        .tsc_ratio_denominator = 1,
		        .nominal_ratio = 20,
		        .mtc_shift = 3};
		o.filters = w->p->filters;
		for (unsigned i = 0; i < o.filters; i++) {
			o.filter[i].first = w->p->filter[i].first;
			o.filter[i].last = w->p->filter[i].last;
		}
		want = follow(graphs[0], w, trace, &o, kind, false);
		got = follow(graphs[1], w, trace, &o, kind, true);
		place = difference(&want, &got);
		if (has_circle(graphs[0]->image, &want)) {
			place = SIZE_MAX;
			t->circles++;
		}
		if (place != SIZE_MAX) {
			printf("# seed %" PRIu64 ", %s: step %zu of %zu and %zu, at %" PRIx64
			       " and %" PRIx64 "\n",
			        seed, kind->what, place, want.n, got.n,
			        place < want.n ? want.p[place].ip : 0,
			        place < got.n ? got.p[place].ip : 0);
			t->bad[k % KINDS]++;
		}
		t->steps += want.n;
		free(want.p);
		free(got.p);
	}
}

static void try_seed(struct world *w, uint64_t seed, struct tally *t)
{
	struct sonde_pt_image *images[2] = {sonde_pt_image_new(), sonde_pt_image_new()};
	struct sonde_pt_graph *graphs[2];
	struct bytes trace = {calloc(1, PROGRAM_TRACE + 4096), 0};

	program_make(w->p, seed, false);
	make_world(w, seed);
	for (unsigned i = 0; i < 2; i++) {
		sonde_pt_image_set_reader(images[i], read_space, w);
		graphs[i] = sonde_pt_graph_new(images[i]);
	}
	pt_image_set_units(images[1], find_unit, read_unit, w);
	if (trace.p == NULL || graphs[0] == NULL || graphs[1] == NULL) {
		abort();
	}
	trace.n = w->p->trace_size;
	memcpy(trace.p, w->p->trace, trace.n);
	for (unsigned times = 0; times < 3; times++) {
		compare(graphs, w, &trace, seed, t);
		damage(&trace, &w->random);
	}
	t->units += w->nunits;
	for (unsigned i = 0; i < 2; i++) {
		sonde_pt_graph_free(graphs[i]);
		sonde_pt_image_free(images[i]);
	}
	free(trace.p);
}

int main(int argc, char **argv)
{
	uint64_t seeds = argc > 1 ? strtoull(argv[1], NULL, 0) : 40;
	uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	struct world *w = calloc(1, sizeof(*w));
	struct tally t = {0};

	w->p = malloc(sizeof(*w->p));
	for (uint64_t i = 0; i < seeds; i++) {
		try_seed(w, first + i, &t);
	}
	printf("# %" PRIu64 " programs in %" PRIu32 " units, %" PRIu64 " steps\n", seeds, t.units,
	        t.steps);
	for (size_t k = 0; k < KINDS; k++) {
		eq_u64(t.bad[k], 0, kinds[k].what);
	}
	/* of 3 traces a seed, each followed twice in KINDS ways; compilers make other programs of a seed */
	ok(t.circles <= 2 * seeds, "few traces are left out since code circles in them");
	ok(t.steps > seeds * 1000, "there were enough steps");
	free(w->p);
	free(w);
	return tap_done();
}
