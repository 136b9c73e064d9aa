/* SPDX-License-Identifier: MIT */
/*
 * Damage in good traces, as TAP: damage CODE ADDRESS TRACE [SEEDS [PROGRAMS]].
 *
 * For each seed some bytes of the trace are changed, removed or inserted. Then
 *
 *	- the branches that packets before the damage decide are those of the good trace, and
 *	  no other branch comes before them;
 *	- after the next PSB everything is as in the good trace;
 *	- each error is followed by its gap, which ends at a PSB or at the end of the trace.
 *	  Gaps are in order, and each piece between two gaps, decoded alone, gives the same
 *	  branches: all bytes that were used are outside of gaps, and all others are reported;
 *	- totals have the same gaps, and parts on three threads give the same counts and steps.
 */
#include "tests/pt/program.h"
#include "tests/tap.h"

#include <sonde/pt_flow.h>
#include <stdlib.h>

#define FILE_MAX (16u << 20)

struct bytes {
	uint8_t *p;
	size_t n;
};

struct pairs {
	/*
	 * From and to; of a branch whether it is direct, of a gap the number of branches before it.
	 */
	uint64_t (*p)[3];
	size_t n, cap;
};

/* Output of a decoder: branches, and the ranges of skipped packets. */
struct told {
	struct pairs branches, gaps;
	uint64_t gap_bytes;
	unsigned errors;
	bool untold; /* something came between an error and its gap */
};

/* Code, and the traced ranges of it. */
struct subject {
	struct sonde_pt_graph *graph;
	struct sonde_pt_flow_options options;
};

static const uint8_t psb[16] = {
        2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82};

static struct bytes load(const char *path)
{
	FILE *in = fopen(path, "rb");
	struct bytes b = {calloc(1, FILE_MAX), 0};

	b.n = in != NULL && b.p != NULL ? fread(b.p, 1, FILE_MAX, in) : 0;
	if (in != NULL) {
		(void)fclose(in);
	}
	return b;
}

static void add(struct pairs *list, uint64_t from, uint64_t to, uint64_t more)
{
	if (list->n == list->cap) {
		list->cap = list->cap * 2 + 1024;
		list->p = realloc(list->p, list->cap * sizeof(*list->p));
		if (list->p == NULL) {
			abort();
		}
	}
	list->p[list->n][0] = from;
	list->p[list->n][1] = to;
	list->p[list->n++][2] = more;
}

static void take(struct told *told, const struct sonde_pt_step *step, bool *open)
{
	if (step->kind == SONDE_PT_STEP_ERROR) {
		told->errors++;
		*open = true;
		return;
	}
	if (step->kind == SONDE_PT_STEP_GAP) {
		add(&told->gaps, step->offset, step->end, told->branches.n);
		told->gap_bytes += step->end - step->offset;
		*open = false;
		return;
	}
	told->untold = told->untold || *open;
	if (step->kind == SONDE_PT_STEP_INSN && step->to != 0) {
		add(&told->branches, step->ip, step->to, step->call || step->jump);
	}
}

/* Adds another run, with this many threads. */
static void decode_by(const struct subject *subject, const uint8_t *trace, size_t n,
        struct told *told, unsigned jobs)
{
	struct sonde_pt_flow_options options = subject->options;
	struct sonde_pt_flow *flow;
	const struct sonde_pt_step *step;
	bool open = false;

	options.want = SONDE_PT_WANT_TAKEN | SONDE_PT_WANT_NOT_TAKEN;
	options.jobs = jobs;
	options.part = 300;
	flow = sonde_pt_flow_new(subject->graph, trace, n, &options);
	while (flow != NULL && sonde_pt_flow_next(flow, &step) > 0) {
		take(told, step, &open);
	}
	told->untold = told->untold || open;
	sonde_pt_flow_free(flow);
}

static void decode(const struct subject *subject, const uint8_t *trace, size_t n, struct told *told)
{
	decode_by(subject, trace, n, told, 1);
}

static void told_free(struct told *told)
{
	free(told->branches.p);
	free(told->gaps.p);
}

static struct sonde_pt_totals count(
        const struct subject *subject, const uint8_t *trace, size_t n, unsigned jobs)
{
	struct sonde_pt_flow_options options = subject->options;
	struct sonde_pt_flow *flow;
	const struct sonde_pt_totals *counted;
	struct sonde_pt_totals totals;

	options.jobs = jobs;
	options.part = 300;
	flow = sonde_pt_flow_new(subject->graph, trace, n, &options);
	if (flow == NULL || sonde_pt_flow_count(flow, &counted) != 0) {
		abort();
	}
	totals = *counted;
	totals.nodes = 0;
	sonde_pt_flow_free(flow);
	return totals;
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state >> 11;
}

/*
 * Makes the damaged copy; *at: where the damage begins, *behind: what follows it in the original.
 */
static struct bytes damage(const struct bytes *trace, uint64_t *random, size_t *at, size_t *behind)
{
	size_t length = 1 + next_random(random) % 16;
	unsigned how = (unsigned)(next_random(random) % 3); /* change, remove, insert */
	struct bytes out = {malloc(trace->n + 16), 0};

	*at = 64 + next_random(random) % (trace->n - 128);
	*behind = *at + (how == 2 ? 0 : length);
	if (out.p == NULL) {
		abort();
	}
	memcpy(out.p, trace->p, *at);
	out.n = *at;
	for (size_t i = 0; how != 1 && i < length; i++) {
		out.p[out.n++] = (uint8_t)next_random(random);
	}
	memcpy(out.p + out.n, trace->p + *behind, trace->n - *behind);
	out.n += trace->n - *behind;
	return out;
}

struct tally {
	unsigned before, behind, jobs, steps, errors, gaps, pieces;
	uint64_t all_gaps, all_bytes;
};

static bool starts_with(const struct pairs *list, const struct pairs *start)
{
	return start->n <= list->n &&
	       (start->n == 0 || memcmp(start->p, list->p, start->n * sizeof(*list->p)) == 0);
}

static bool ends_with(const struct pairs *list, const struct pairs *end)
{
	return end->n <= list->n && (end->n == 0 || memcmp(end->p, list->p + list->n - end->n,
	                                                    end->n * sizeof(*list->p)) == 0);
}

static bool good_gaps(const struct told *told, const struct bytes *trace)
{
	uint64_t last = 0;

	for (size_t i = 0; i < told->gaps.n; i++) {
		uint64_t from = told->gaps.p[i][0];
		uint64_t to = told->gaps.p[i][1];

		if (from < last || to < from || to > trace->n) {
			return false;
		}
		if (to != trace->n && (trace->n - to < 16 || memcmp(trace->p + to, psb, 16) != 0)) {
			return false;
		}
		last = to;
	}
	return !told->untold && (told->errors == 0 || told->gaps.n != 0);
}

/* Whether a gap begins with a TNT, of which some bits may have been used. */
static bool begins_with_bits(const struct bytes *trace, uint64_t from, uint64_t to)
{
	struct sonde_pt_packets *packets = sonde_pt_packets_new(trace->p, to, NULL);
	struct sonde_pt_packet packet = {.kind = SONDE_PT_PAD};

	sonde_pt_packets_seek(packets, from);
	if (sonde_pt_packets_next(packets, &packet) <= 0) {
		packet.kind = SONDE_PT_PAD;
	}
	sonde_pt_packets_free(packets);
	return packet.kind == SONDE_PT_TNT8 || packet.kind == SONDE_PT_TNT64;
}

/*
 * Whether the bytes from..to between two gaps, decoded alone, give the branches first..last of all;
 * except for those that the first packet of the next gap decided before it failed, and those that
 * no packet decides, on the way to the address that it names.
 */
static bool is_piece(const struct subject *subject, const struct bytes *trace,
        const uint64_t range[2], const struct pairs *all, const uint64_t branches[2])
{
	struct told piece = {.errors = 0};
	const struct pairs want = {
	        .p = all->p != NULL ? all->p + branches[0] : NULL, .n = branches[1] - branches[0]};
	bool same;

	decode(subject, trace->p + range[0], range[1] - range[0], &piece);
	same = starts_with(&want, &piece.branches);
	for (size_t i = piece.branches.n; same && i < want.n; i++) {
		same = want.p[i][2] != 0 || begins_with_bits(trace, range[1], trace->n);
	}
	told_free(&piece);
	return same;
}

static bool same_in_pieces(
        const struct subject *subject, const struct bytes *trace, const struct told *told)
{
	uint64_t from[2] = {0, 0};

	for (size_t i = 0; i <= told->gaps.n; i++) {
		const uint64_t end[3] = {trace->n, trace->n, told->branches.n};
		const uint64_t *gap = i < told->gaps.n ? told->gaps.p[i] : end;
		const uint64_t range[2] = {from[0], gap[0]};
		const uint64_t branches[2] = {from[1], gap[2]};

		if (!is_piece(subject, trace, range, &told->branches, branches)) {
			return false;
		}
		from[0] = gap[1];
		from[1] = gap[2];
	}
	return true;
}

static bool same_totals(const struct subject *subject, const struct bytes *trace,
        const struct told *told, unsigned jobs)
{
	struct sonde_pt_totals one = count(subject, trace->p, trace->n, 1);
	struct sonde_pt_totals many = count(subject, trace->p, trace->n, jobs);

	return memcmp(&one, &many, sizeof(one)) == 0 && one.errors == told->errors &&
	       one.gaps == told->gaps.n && one.gap_bytes == told->gap_bytes;
}

/* Steps by many threads are equal. */
static bool same_steps(const struct subject *subject, const struct bytes *trace,
        const struct told *told, unsigned jobs)
{
	struct told many = {.errors = 0};
	bool same;

	decode_by(subject, trace->p, trace->n, &many, jobs);
	same = many.branches.n == told->branches.n && many.gaps.n == told->gaps.n &&
	       starts_with(&many.branches, &told->branches) &&
	       starts_with(&many.gaps, &told->gaps) && many.errors == told->errors;
	told_free(&many);
	return same;
}

static void try_seed(const struct subject *subject, const struct bytes *trace,
        const struct told *good, uint64_t *random, struct tally *bad)
{
	struct told got = {.errors = 0}, before = {.errors = 0}, after = {.errors = 0};
	size_t at, behind;
	struct bytes broken = damage(trace, random, &at, &behind);

	decode(subject, broken.p, broken.n, &got);
	decode(subject, broken.p, at, &before);
	while (behind + 16 < trace->n && memcmp(trace->p + behind, psb, 16) != 0) {
		behind++;
	}
	decode(subject, trace->p + behind, trace->n - behind, &after);
	bad->before += !starts_with(&got.branches, &before.branches) ||
	               !starts_with(&good->branches, &before.branches);
	bad->behind += !ends_with(&got.branches, &after.branches);
	bad->gaps += !good_gaps(&got, &broken);
	bad->pieces += !same_in_pieces(subject, &broken, &got);
	bad->jobs += !same_totals(subject, &broken, &got, 3);
	bad->steps += !same_steps(subject, &broken, &got, 3);
	bad->errors += got.errors != 0;
	bad->all_gaps += got.gaps.n;
	bad->all_bytes += got.gap_bytes;
	told_free(&got);
	told_free(&before);
	told_free(&after);
	free(broken.p);
}

/* The same for traces with packets of every kind, each damaged once. */
static void try_program(struct program *p, uint64_t seed, uint64_t *random, struct tally *bad)
{
	struct sonde_pt_image *image = sonde_pt_image_new();
	struct subject subject = {sonde_pt_graph_new(image), {.size = sizeof(subject.options)}};
	const struct bytes trace = {p->trace, 0};
	struct bytes whole = trace;
	struct told good = {.errors = 0};

	program_make(p, seed, false);
	for (unsigned i = 0; i < PROGRAM_REGIONS; i++) {
		(void)sonde_pt_image_add(
		        image, 0, p->regions[i].base, p->regions[i].code, p->regions[i].size);
	}
	for (unsigned i = 0; i < p->filters; i++) {
		subject.options.filter[i].first = p->filter[i].first;
		subject.options.filter[i].last = p->filter[i].last;
	}
	subject.options.filters = p->filters;
	whole.n = p->trace_size;
	decode(&subject, whole.p, whole.n, &good);
	if (whole.n > 256) {
		try_seed(&subject, &whole, &good, random, bad);
	}
	told_free(&good);
	sonde_pt_graph_free(subject.graph);
	sonde_pt_image_free(image);
}

static void tell(const struct tally *bad, unsigned seeds)
{
	printf("# %u seeds, %u with an error, %" PRIu64 " gaps of %" PRIu64 " bytes\n", seeds,
	        bad->errors, bad->all_gaps, bad->all_bytes);
	ok(bad->errors > seeds / 2, "most damaged traces have an error");
	eq_u64(bad->before, 0, "branches before the damage are the original ones");
	eq_u64(bad->behind, 0, "branches after the next PSB are the original ones");
	eq_u64(bad->gaps, 0, "each error has a gap up to a PSB or the end");
	eq_u64(bad->pieces, 0, "bytes inside gaps are not used, all other bytes are");
	eq_u64(bad->jobs, 0, "totals have the same gaps, also with three threads");
	eq_u64(bad->steps, 0, "three threads give the same steps");
}

static void try_programs(unsigned n)
{
	struct program *p = malloc(sizeof(*p));
	uint64_t random = 88172645463325252ULL;
	struct tally bad = {0};

	for (unsigned i = 0; p != NULL && i < n; i++) {
		try_program(p, i + 1, &random, &bad);
	}
	if (n != 0) {
		tell(&bad, n);
	}
	free(p);
}

int main(int argc, char **argv)
{
	struct bytes code = argc > 3 ? load(argv[1]) : (struct bytes){NULL, 0};
	struct bytes trace = argc > 3 ? load(argv[3]) : (struct bytes){NULL, 0};
	unsigned seeds = argc > 4 ? (unsigned)strtoul(argv[4], NULL, 10) : 1000;
	struct sonde_pt_image *image = sonde_pt_image_new();
	struct subject subject = {sonde_pt_graph_new(image), {.size = sizeof(subject.options)}};
	uint64_t random = 88172645463325252ULL;
	struct tally bad = {0};
	struct told good = {.errors = 0};

	ok(trace.n >= 1024 && sonde_pt_image_add(
	                              image, 0, strtoull(argv[2], NULL, 0), code.p, code.n) == 0,
	        "the trace and its code are loaded");
	decode(&subject, trace.p, trace.n, &good);
	ok(good.errors == 0 && good.gaps.n == 0 && good.branches.n > 1000,
	        "the original trace has no errors");
	for (unsigned i = 0; i < seeds && trace.n >= 1024; i++) {
		try_seed(&subject, &trace, &good, &random, &bad);
	}
	tell(&bad, seeds);
	try_programs(argc > 5 ? (unsigned)strtoul(argv[5], NULL, 10) : 0);
	told_free(&good);
	sonde_pt_graph_free(subject.graph);
	sonde_pt_image_free(image);
	free(code.p);
	free(trace.p);
	return tap_done();
}
