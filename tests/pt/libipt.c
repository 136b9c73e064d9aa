/* SPDX-License-Identifier: MIT */
/*
 * Generated programs, decoded by Sonde and by libipt's instruction decoder, as TAP: libipt [SEEDS
 * [FIRST]].
 *
 * The instructions of both must be those that were executed, with the same sizes and the same
 * transactions; events must be the same, with the same data, at the same addresses.
 *
 * libipt 2.0.5 cannot decode everything that Sonde can: where a direct branch leaves the filters it
 * needs an IP in TIP.PGD, and at an uncompressed return it leaves the call on its stack, which
 * Sonde and perf pop. Programs with one of these are compared only with what was executed.
 */
#include "tests/pt/program.h"
#include "tests/tap.h"

#include <intel-pt.h>
#include <sonde/pt.h>
#include <stdlib.h>

/* An instruction (kind 0, a: ip, b: size, c: speculative), or 1 + an event and its data. */
struct step {
	uint64_t a, b, c, d;
	unsigned kind;
};

#define ERROR_KIND 1000

struct steps {
	struct step *p;
	size_t n, cap;
};

/*
 * libipt reports each MODE.EXEC, Sonde those that change the mode, and the first after an overflow.
 */
static bool is_no_change(const struct steps *list, const struct step *step)
{
	uint64_t mode;
	size_t i = list->n;

	if (step->kind != 1 + SONDE_PT_EVENT_EXEC_MODE) {
		return false;
	}
	while (i > 0 && list->p[i - 1].kind != 0 && list->p[i - 1].kind != step->kind) {
		i--;
	}
	if (i == 0 || list->p[i - 1].kind != 0) {
		return i == 0 || list->p[i - 1].a == step->a;
	}
	mode = list->p[i - 1].a < 0x10000 ? 16 : list->p[i - 1].a < 0x10000000 ? 32 : 64;
	return step->a == mode;
}

static void add(struct steps *list, const struct step *step)
{
	if (is_no_change(list, step)) {
		return;
	}
	if (list->n == list->cap) {
		list->cap = list->cap * 2 + 1024;
		list->p = realloc(list->p, list->cap * sizeof(*list->p));
		if (list->p == NULL) {
			abort();
		}
	}
	list->p[list->n++] = *step;
}

static struct step our_event(const struct sonde_pt_event *e)
{
	struct step s = {.kind = 1u + e->kind};

	switch (e->kind) {
	case SONDE_PT_EVENT_ENABLED:
	case SONDE_PT_EVENT_ASYNC:
		s.a = e->ip;
		s.b = e->value;
		break;
	case SONDE_PT_EVENT_DISABLED:
		s.a = e->has_ip ? e->ip : 0;
		s.b = e->value;
		s.c = e->extra;
		break;
	case SONDE_PT_EVENT_OVERFLOW:
	case SONDE_PT_EVENT_TSX_BEGIN:
	case SONDE_PT_EVENT_TSX_COMMIT:
	case SONDE_PT_EVENT_TSX_ABORT:
	case SONDE_PT_EVENT_EXSTOP: s.a = e->has_ip ? e->ip : 0; break;
	case SONDE_PT_EVENT_PTWRITE:
		s.a = e->value;
		s.c = e->has_ip ? e->ip : 0;
		break;
	case SONDE_PT_EVENT_MWAIT: s.c = e->has_ip ? e->ip : 0; __attribute__((fallthrough));
	default:
		s.a = e->value;
		s.b = e->extra;
		s.d = e->count;
		break;
	}
	return s;
}

/* Totals of the same trace; false: they differ from those of the steps. */
static bool counts_same(const struct program *p, struct sonde_pt_graph *graph,
        const struct sonde_pt_flow_options *options, const struct steps *list)
{
	struct sonde_pt_flow *flow = sonde_pt_flow_new(graph, p->trace, p->trace_size, options);
	const struct sonde_pt_totals *totals;
	bool same;
	uint64_t insns = 0, events = 0;

	for (size_t i = 0; i < list->n; i++) {
		insns += list->p[i].kind == 0;
		events += list->p[i].kind != 0 && list->p[i].kind != ERROR_KIND;
	}
	same = flow != NULL && sonde_pt_flow_count(flow, &totals) == 0 && totals->insns == insns &&
	       totals->events >= events;
	sonde_pt_flow_free(flow);
	return same;
}

/* false: counting gives something else. */
static bool ours(const struct program *p, const struct sonde_pt_image *image, struct steps *list)
{
	struct sonde_pt_flow_options options = {.size = sizeof(options)};
	struct sonde_pt_graph *graph = sonde_pt_graph_new(image);
	struct sonde_pt_flow *flow;
	const struct sonde_pt_step *step;
	bool same;

	for (unsigned i = 0; i < p->filters; i++) {
		options.filter[i].first = p->filter[i].first;
		options.filter[i].last = p->filter[i].last;
	}
	options.filters = p->filters;
	flow = sonde_pt_flow_new(graph, p->trace, p->trace_size, &options);
	while (flow != NULL && sonde_pt_flow_next(flow, &step) > 0) {
		struct step s = {.kind = 0};

		if (step->kind == SONDE_PT_STEP_INSN) {
			s = (struct step){.a = step->ip, .b = step->size, .c = step->speculative};
			add(list, &s);
		} else if (step->kind == SONDE_PT_STEP_EVENT &&
		           step->event.kind != SONDE_PT_EVENT_IFLAG) { /* new since 2.0.5 */
			s = our_event(&step->event);
			add(list, &s);
		} else if (step->kind == SONDE_PT_STEP_ERROR) {
			s = (struct step){.kind = ERROR_KIND, .a = step->ip, .b = step->offset};
			add(list, &s);
		}
	}
	same = counts_same(p, graph, &options, list);
	sonde_pt_flow_free(flow);
	sonde_pt_graph_free(graph);
	return same;
}

/* The peer. */

static struct step their_power(const struct pt_event *e)
{
	struct step s = {.kind = 1};

	switch ((int)e->type) {
	case ptev_exstop:
		s.kind += SONDE_PT_EVENT_EXSTOP;
		s.a = e->ip_suppressed ? 0 : e->variant.exstop.ip;
		break;
	case ptev_mwait:
		s.kind += SONDE_PT_EVENT_MWAIT;
		s.a = e->variant.mwait.hints;
		s.b = e->variant.mwait.ext;
		s.c = e->ip_suppressed ? 0 : e->variant.mwait.ip;
		break;
	case ptev_pwre:
		s.kind += SONDE_PT_EVENT_PWRE;
		s.a = (e->variant.pwre.state + 1u) & 15; /* as written: minus one */
		s.b = (e->variant.pwre.sub_state + 1u) & 15;
		s.d = e->variant.pwre.hw;
		break;
	default:
		s.kind += SONDE_PT_EVENT_PWRX;
		s.a = (e->variant.pwrx.last + 1u) & 15;
		s.b = (e->variant.pwrx.deepest + 1u) & 15;
		s.d = (uint64_t)e->variant.pwrx.interrupt | (uint64_t)e->variant.pwrx.store << 2 |
		      (uint64_t)e->variant.pwrx.autonomous << 3;
		break;
	}
	return s;
}

static struct step their_state(const struct pt_event *e)
{
	static const uint8_t bits[] = {
	        [ptem_unknown] = 0, [ptem_16bit] = 16, [ptem_32bit] = 32, [ptem_64bit] = 64};
	struct step s = {.kind = 1};

	switch ((int)e->type) {
	case ptev_paging:
		s.kind += SONDE_PT_EVENT_PAGING;
		s.a = e->variant.paging.cr3;
		s.b = e->variant.paging.non_root;
		break;
	case ptev_async_paging:
		s.kind += SONDE_PT_EVENT_PAGING;
		s.a = e->variant.async_paging.cr3;
		s.b = e->variant.async_paging.non_root;
		break;
	case ptev_vmcs:
		s.kind += SONDE_PT_EVENT_VMCS;
		s.a = e->variant.vmcs.base;
		break;
	case ptev_async_vmcs:
		s.kind += SONDE_PT_EVENT_VMCS;
		s.a = e->variant.async_vmcs.base;
		break;
	case ptev_exec_mode:
		s.kind += SONDE_PT_EVENT_EXEC_MODE;
		s.a = bits[e->variant.exec_mode.mode];
		break;
	case ptev_tsx:
		s.kind += e->variant.tsx.aborted       ? SONDE_PT_EVENT_TSX_ABORT
		          : e->variant.tsx.speculative ? SONDE_PT_EVENT_TSX_BEGIN
		                                       : SONDE_PT_EVENT_TSX_COMMIT;
		s.a = e->ip_suppressed ? 0 : e->variant.tsx.ip;
		break;
	default: return their_power(e);
	}
	return s;
}

static struct step their_event(const struct pt_event *e)
{
	struct step s = {.kind = 1};

	switch ((int)e->type) {
	case ptev_enabled:
		s.kind += SONDE_PT_EVENT_ENABLED;
		s.a = e->variant.enabled.ip;
		s.b = e->variant.enabled.resumed;
		break;
	case ptev_disabled:
		s.kind += SONDE_PT_EVENT_DISABLED;
		s.a = e->ip_suppressed ? 0 : e->variant.disabled.ip;
		break;
	case ptev_async_disabled:
		s.kind += SONDE_PT_EVENT_DISABLED;
		s.a = e->variant.async_disabled.at;
		s.b = 1;
		s.c = e->ip_suppressed ? 0 : e->variant.async_disabled.ip;
		break;
	case ptev_async_branch:
		s.kind += SONDE_PT_EVENT_ASYNC;
		s.a = e->variant.async_branch.from;
		s.b = e->variant.async_branch.to;
		break;
	case ptev_overflow:
		s.kind += SONDE_PT_EVENT_OVERFLOW;
		s.a = e->ip_suppressed ? 0 : e->variant.overflow.ip;
		break;
	case ptev_stop: s.kind += SONDE_PT_EVENT_STOP; break;
	case ptev_ptwrite:
		s.kind += SONDE_PT_EVENT_PTWRITE;
		s.a = e->variant.ptwrite.payload;
		s.c = e->ip_suppressed ? 0 : e->variant.ptwrite.ip;
		break;
	case ptev_cbr:
		s.kind += SONDE_PT_EVENT_CBR;
		s.a = e->variant.cbr.ratio;
		break;
	case ptev_mnt:
		s.kind += SONDE_PT_EVENT_MNT;
		s.a = e->variant.mnt.payload;
		break;
	default: return their_state(e);
	}
	return s;
}

static int their_events(struct pt_insn_decoder *d, int status, struct steps *list)
{
	while (status >= 0 && (status & pts_event_pending) != 0) {
		struct pt_event event;
		struct step s;

		status = pt_insn_event(d, &event, sizeof(event));
		if (status < 0) {
			break;
		}
		s = their_event(&event);
		if (!event.status_update) { /* a PSB+ repeats the state */
			add(list, &s);
		}
	}
	return status;
}

static int their_run(struct pt_insn_decoder *d, int status, struct steps *list)
{
	for (;;) {
		struct pt_insn insn;
		struct step s;

		status = their_events(d, status, list);
		if (status < 0) {
			return status;
		}
		insn.iclass = ptic_error;
		status = pt_insn_next(d, &insn, sizeof(insn));
		if (insn.iclass != ptic_error) {
			s = (struct step){.a = insn.ip, .b = insn.size, .c = insn.speculative};
			add(list, &s);
		}
		if (status < 0) {
			return status;
		}
	}
}

static int read_code(
        uint8_t *buffer, size_t size, const struct pt_asid *asid, uint64_t ip, void *arg)
{
	const struct program *p = arg;

	(void)asid;
	for (unsigned i = 0; i < PROGRAM_REGIONS; i++) {
		uint64_t at = ip - p->regions[i].base;

		if (at < p->regions[i].size) {
			size_t n = p->regions[i].size - at < size ? p->regions[i].size - at : size;

			memcpy(buffer, p->regions[i].code + at, n);
			return (int)n;
		}
	}
	return -pte_nomap;
}

static void theirs(struct program *p, struct steps *list)
{
	struct pt_config config;
	struct pt_insn_decoder *d;
	int status;

	pt_config_init(&config);
	config.begin = p->trace;
	config.end = p->trace + p->trace_size;
	config.addr_filter.config.addr_cfg = 0;
	for (unsigned i = 0; i < p->filters; i++) {
		config.addr_filter.config.addr_cfg |= 1ULL << 4 * i;
	}
	config.addr_filter.addr0_a = p->filter[0].first;
	config.addr_filter.addr0_b = p->filter[0].last;
	config.addr_filter.addr1_a = p->filter[1].first;
	config.addr_filter.addr1_b = p->filter[1].last;
	config.addr_filter.addr2_a = p->filter[2].first;
	config.addr_filter.addr2_b = p->filter[2].last;
	config.addr_filter.addr3_a = p->filter[3].first;
	config.addr_filter.addr3_b = p->filter[3].last;
	d = pt_insn_alloc_decoder(&config);
	if (d == NULL || pt_image_set_callback(pt_insn_get_image(d), read_code, p) < 0) {
		abort();
	}
	while ((status = pt_insn_sync_forward(d)) >= 0) {
		struct step s = {.kind = ERROR_KIND};

		status = their_run(d, status, list);
		if (status == -pte_eos) {
			break;
		}
		(void)pt_insn_get_offset(d, &s.b);
		add(list, &s);
	}
	pt_insn_free_decoder(d);
}

/* Comparing. */

struct tally {
	unsigned wrong_way, differ, miscounted, errors, shown, ours_alone;
	uint64_t insns, events;
	unsigned packets[SONDE_PT_KINDS], compressions[8], modes[3];
};

static bool is_way(const struct program *p, const struct steps *list, size_t *at)
{
	size_t n = 0;

	for (size_t i = 0; i < list->n; i++) {
		*at = i;
		if (list->p[i].kind == 0) {
			if (n == p->way_size || p->way[n++] != list->p[i].a) {
				printf("# wanted %" PRIx64 " got %" PRIx64 "\n", p->way[n - 1],
				        list->p[i].a);
				return false;
			}
		}
	}
	return n == p->way_size;
}

static bool same(const struct steps *a, const struct steps *b, size_t *at)
{
	for (*at = 0; *at < a->n && *at < b->n; ++*at) {
		const struct step *x = &a->p[*at];
		const struct step *y = &b->p[*at];

		if (x->kind != y->kind || x->a != y->a || x->b != y->b || x->c != y->c ||
		        x->d != y->d) {
			return false;
		}
	}
	return a->n == b->n;
}

static void show(const char *who, const struct steps *list, size_t at)
{
	for (size_t i = at < 6 ? 0 : at - 6; i < at + 4 && i < list->n; i++) {
		const struct step *s = &list->p[i];

		printf("#   %s %s%zu: %u %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64 "\n", who,
		        i == at ? "> " : "", i, s->kind, s->a, s->b, s->c, s->d);
	}
}

static void count(struct tally *t, const struct program *p, const struct steps *list)
{
	for (unsigned i = 0; i < SONDE_PT_KINDS; i++) {
		t->packets[i] += p->packets[i];
	}
	for (unsigned i = 0; i < 8; i++) {
		t->compressions[i] += p->compressions[i];
	}
	for (unsigned i = 0; i < p->nfunctions; i++) {
		t->modes[p->functions[i].mode / 32]++;
	}
	for (size_t i = 0; i < list->n; i++) {
		t->insns += list->p[i].kind == 0;
		t->events += list->p[i].kind != 0;
		t->errors += list->p[i].kind == ERROR_KIND;
	}
}

/* Whether the programs had everything that libipt supports. */
static bool is_all(const struct tally *t)
{
	bool all = t->modes[0] != 0 && t->modes[1] != 0 && t->modes[2] != 0;

	for (unsigned i = 0; i < SONDE_PT_CFE; i++) {
		all = all && t->packets[i] != 0;
		if (t->packets[i] == 0) {
			printf("# no packet of kind %s\n", sonde_pt_kind_name((int)i));
		}
	}
	for (unsigned i = 0; i < 7; i++) {
		all = all && (i == 5 || t->compressions[i] != 0);
	}
	return all;
}

static void try_seed(struct program *p, uint64_t seed, struct tally *t)
{
	struct sonde_pt_image *image = sonde_pt_image_new();
	struct steps a = {.n = 0}, b = {.n = 0};
	size_t at = 0;

	program_make(p, seed, false);
	for (unsigned i = 0; i < PROGRAM_REGIONS; i++) {
		(void)sonde_pt_image_add(
		        image, 0, p->regions[i].base, p->regions[i].code, p->regions[i].size);
	}
	t->miscounted += !ours(p, image, &a);
	theirs(p, &b);
	count(t, p, &a);
	t->ours_alone += p->left_without_ip != 0 || p->pops_always;
	if (!is_way(p, &a, &at)) {
		t->wrong_way++;
		if (t->wrong_way < 5) {
			size_t k;

			printf("# seed %" PRIu64 ": not what was executed\n", seed);
			show("ours", &a, at);
			if (!same(&a, &b, &k)) {
				puts("# differs:");
				show("ours", &a, k);
				show("theirs", &b, k);
			}
		}
	} else if (p->left_without_ip == 0 && !p->pops_always && !same(&a, &b, &at)) {
		t->differ++;
		if (t->shown++ < 5) {
			printf("# seed %" PRIu64 ": not what libipt tells\n", seed);
			show("ours", &a, at);
			show("theirs", &b, at);
		}
	}
	free(a.p);
	free(b.p);
	sonde_pt_image_free(image);
}

int main(int argc, char **argv)
{
	uint64_t seeds = argc > 1 ? strtoull(argv[1], NULL, 0) : 300;
	uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	struct program *p = malloc(sizeof(*p));
	struct tally t = {0};

	for (uint64_t i = 0; p != NULL && i < seeds; i++) {
		try_seed(p, first + i, &t);
	}
	printf("# %" PRIu64 " programs, %" PRIu64 " instructions, %" PRIu64 " events\n", seeds,
	        t.insns, t.events);
	ok(seeds < 100 || is_all(&t), "all kinds of packets, IP compressions and modes occurred");
	eq_u64(t.errors, 0, "no trace has errors");
	eq_u64(t.wrong_way, 0, "the flow has the executed instructions");
	eq_u64(t.miscounted, 0, "counting has the same numbers");
	eq_u64(t.differ, 0, "libipt has the same instructions and events");
	free(p);
	return tap_done();
}
