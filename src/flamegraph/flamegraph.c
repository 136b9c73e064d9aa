/* SPDX-License-Identifier: MIT */
/*
 * Writes a flame graph as one HTML page: page.html with the title and this JSON in it:
 *
 *	title, command, event, unit  texts; unit is "ns" when weights are times, else ""
 *	samples, total_samples  of the event; of all events
 *	lost                    events and samples that were lost, according to the recording
 *	damaged                 number of diagnostics about damaged input
 *	duration                from the first sample of the recording to the last, in ns
 *	strings                 texts
 *	frames                  three numbers for each: name, object (both in strings), kind as in
 *	                        enum sonde_profile_kind
 *	frame, up, self         arrays with one number for each node, in depth-first order: its
 *	                        frame; number of levels from the node before it up to its parent (0:
 *	                        its parent is the node before it; absent for the root); number of
 *	                        samples that end in it
 *	period                  weight of a sample, if all samples have the same
 *	weight                  else: sum of periods of the samples that end in each node
 */
#include <sonde/preview/flamegraph.h>
#include <sonde/preview/profile.h>

#include "core/array.h"
#include "core/escape.h"
#include "core/intern.h"
#include "core/json.h"
#include "core/options.h"
#include "flamegraph/page.h"
#include "record/feature.h"
#include "session/session.h"

#include <stdlib.h>
#include <string.h>

#define PIECE ((size_t)64 * 1024) /* size of a piece of output, in bytes */

struct flame_node {
	uint32_t frame; /* index */
	uint32_t depth; /* 0: the root */
	uint64_t weight, samples; /* sums of samples that end here */
};

/* The tree of an event, as stored in the page. Empty when zero-initialised. */
struct flame {
	struct sonde_profile_frame *frames; /* by number; name NULL: not in the tree */
	size_t nframes;
	struct flame_node *nodes; /* in depth-first order; [0]: the root */
	size_t nnodes, nodes_cap;
	uint64_t samples;
};

struct page {
	struct sonde_session *session;
	struct flame flame;
	const char *title;
	uint32_t event;
	struct text out;
	struct json json; /* writes to out */
	sonde_write_fn write;
	void *arg;
};

static int flush(struct page *p, size_t above)
{
	return error_plain(session_error(p->session), text_flush(&p->out, above, p->write, p->arg));
}

static void put_named_number(struct page *p, const char *name, uint64_t v)
{
	json_line(&p->json);
	json_u64(&p->json, name, v);
}

static void put_named_text(struct page *p, const char *name, const char *s, size_t n)
{
	json_line(&p->json);
	json_string(&p->json, name, s, n);
}

static void put_named_array(struct page *p, const char *name)
{
	json_line(&p->json);
	json_array(&p->json, name);
}

/* Prints the recorded command, with blanks between its words. */
static void put_command(struct page *p)
{
	struct arena arena = {0};
	struct text words = {0};
	struct feature_list list;

	if (SESSION_FEATURE(p->session, FEATURE_CMDLINE, &arena, &list) == SONDE_ENOMEM) {
		p->out.failed = true;
	}
	for (size_t i = 0; i < list.n; i++) {
		text_str(&words, i != 0 ? " " : "");
		text_str(&words, list.items[i].s);
	}
	put_named_text(p, "command", words.n != 0 ? words.p : "", words.n);
	p->out.failed = p->out.failed || words.failed;
	text_fini(&words);
	arena_fini(&arena);
}

/* Whether an event is a clock, whose periods are in ns. */
static bool is_clock(const struct sonde_attr *attr)
{
	return attr->type == SONDE_TYPE_SOFTWARE &&
	       (attr->config == SONDE_SW_CPU_CLOCK || attr->config == SONDE_SW_TASK_CLOCK);
}

static void put_summary(struct page *p)
{
	struct sonde_session *s = p->session;
	const struct session_counts *counts = session_counts(s);
	const struct session_event *events = session_events(s);
	const char *name = sonde_session_event_name(s, p->event);
	uint64_t total = 0;
	size_t i;

	for (i = 0; i < sonde_session_events(s); i++) {
		total += events[i].count.samples;
	}
	json_object(&p->json, NULL);
	json_u64(&p->json, "version", 1);
	put_named_text(p, "title", p->title, strlen(p->title));
	put_command(p);
	put_named_text(p, "event", name, strlen(name));
	put_named_text(p, "unit", "ns", is_clock(sonde_session_event_attr(s, p->event)) ? 2 : 0);
	put_named_number(p, "samples", p->flame.samples);
	put_named_number(p, "total_samples", total);
	put_named_number(p, "lost", counts->lost);
	put_named_number(p, "damaged",
	        sonde_session_diags(s, SONDE_DIAG_TRUNCATED) +
	                sonde_session_diags(s, SONDE_DIAG_DAMAGED));
	put_named_number(p, "duration",
	        counts->last_time > counts->first_time ? counts->last_time - counts->first_time
	                                               : 0);
}

/* Strings are numbered in the order of their first use by the sorted frames. */
static int put_frames(struct page *p)
{
	const struct flame *flame = &p->flame;
	struct intern numbers = {0};
	const char *pair[2];
	uint32_t id;
	size_t i;
	int rc = 0;

	put_named_array(p, "frames");
	for (i = 0; i < 2 * flame->nframes && rc >= 0; i++) {
		pair[0] = flame->frames[i / 2].name;
		pair[1] = flame->frames[i / 2].dso;
		id = intern_add(&numbers, pair[i % 2], strlen(pair[i % 2]));
		json_u64(&p->json, NULL, id);
		if (i % 2 == 1) {
			json_u64(&p->json, NULL, (uint64_t)flame->frames[i / 2].kind);
		}
		rc = id == INTERN_NONE ? error_nomem(session_error(p->session)) : flush(p, PIECE);
	}
	json_close(&p->json);
	put_named_array(p, "strings");
	for (i = 0; i < numbers.count && rc >= 0; i++) {
		json_text(&p->json, NULL, intern_text(&numbers, (uint32_t)i));
		rc = flush(p, PIECE);
	}
	json_close(&p->json);
	intern_fini(&numbers);
	return rc;
}

static uint64_t node_frame(const struct flame_node *n)
{
	return n->frame;
}

static uint64_t node_up(const struct flame_node *n)
{
	return n[-1].depth + 1 - n->depth;
}

static uint64_t node_self(const struct flame_node *n)
{
	return n->samples;
}

static uint64_t node_weight(const struct flame_node *n)
{
	return n->weight;
}

/* Prints an array with one number for each node, from node `first` on. */
static int put_nodes(
        struct page *p, const char *name, size_t first, uint64_t (*get)(const struct flame_node *n))
{
	size_t i;

	put_named_array(p, name);
	for (i = first; i < p->flame.nnodes; i++) {
		json_u64(&p->json, NULL, get(&p->flame.nodes[i]));
		TRY(flush(p, PIECE));
	}
	json_close(&p->json);
	return 0;
}

/* Returns the period of all samples; 0: they differ. */
static uint64_t common_period(const struct flame *flame)
{
	const struct flame_node *n;
	uint64_t period = 0, product;
	size_t i;

	for (i = 0; i < flame->nnodes; i++) {
		n = &flame->nodes[i];
		if (n->samples == 0) {
			continue;
		}
		if (period == 0) {
			period = n->weight / n->samples;
		}
		if (period == 0 || __builtin_mul_overflow(period, n->samples, &product) ||
		        product != n->weight) {
			return 0;
		}
	}
	return period;
}

static int put_data(struct page *p)
{
	uint64_t period = common_period(&p->flame);

	put_summary(p);
	TRY(put_frames(p));
	TRY(put_nodes(p, "frame", 0, node_frame));
	TRY(put_nodes(p, "up", 1, node_up));
	TRY(put_nodes(p, "self", 0, node_self));
	if (period == 0) {
		TRY(put_nodes(p, "weight", 0, node_weight));
	} else {
		put_named_number(p, "period", period);
	}
	json_end(&p->json);
	return flush(p, PIECE);
}

/* Writes the page from *at to the mark, and moves *at past the mark. */
static void put_page_until(struct page *p, const char **at, const char *mark)
{
	const char *end = strstr(*at, mark);

	if (end != NULL) {
		text_bytes(&p->out, *at, (size_t)(end - *at));
		*at = end + strlen(mark);
	}
}

static int put_page(struct page *p)
{
	const char *at = (const char *)flamegraph_page;

	put_page_until(p, &at, FLAMEGRAPH_TITLE_MARK);
	escape_html(&p->out, p->title, strlen(p->title));
	put_page_until(p, &at, FLAMEGRAPH_DATA_MARK);
	TRY(put_data(p));
	text_str(&p->out, at);
	return flush(p, 0);
}

static size_t first_event(const struct sonde_session *s)
{
	const struct session_event *events = session_events(s);
	size_t i;

	for (i = 0; i < sonde_session_events(s); i++) {
		if (events[i].count.samples != 0) {
			return i;
		}
	}
	return 0;
}

static int node_add(struct flame *f, const struct sonde_profile_node *n)
{
	if (!array_reserve(&f->nodes, &f->nodes_cap, f->nnodes + 1, sizeof(*f->nodes))) {
		return SONDE_ENOMEM;
	}
	f->nodes[f->nnodes++] = (struct flame_node){.frame = n->frame->number,
	        .depth = n->depth,
	        .weight = n->self_period,
	        .samples = n->self_samples};
	f->frames[n->frame->number] = *n->frame;
	return 0;
}

/* Opens nodes on the way down and closes them on the way up, so that only one path is in memory. */
static int nodes_make(struct flame *f, struct sonde_profile_tree *tree)
{
	const struct sonde_profile_node *n = sonde_profile_tree_root(tree);

	f->samples = n->samples;
	while (n != NULL) {
		TRY(node_add(f, n));
		TRY(sonde_profile_tree_open(tree, n));
		if (n->children != NULL) {
			n = n->children;
			continue;
		}
		while (n != NULL && n->next == NULL) {
			n = n->parent;
			if (n != NULL) {
				sonde_profile_tree_close(tree, n);
			}
		}
		n = n != NULL ? n->next : NULL;
	}
	return 0;
}

/* Numbers the frames of call chains. */
static int frames_number(struct flame *f, size_t frames)
{
	uint32_t *numbers = calloc(frames, sizeof(*numbers));

	if (numbers == NULL) {
		return SONDE_ENOMEM;
	}
	for (size_t i = 0; i < frames; i++) {
		if (f->frames[i].name != NULL) {
			numbers[i] = (uint32_t)f->nframes;
			f->frames[f->nframes++] = f->frames[i];
		}
	}
	for (size_t i = 0; i < f->nnodes; i++) {
		f->nodes[i].frame = numbers[f->nodes[i].frame];
	}
	free(numbers);
	return 0;
}

static int flame_make(struct flame *f, struct sonde_profile *p, size_t event)
{
	const struct sonde_profile_tree_options o = {
	        .size = sizeof(o), .event = event, .by_name = true};
	struct sonde_profile_tree *tree = sonde_profile_tree_new(p, &o);
	size_t n = sonde_profile_frames(p);
	int rc = tree == NULL ? sonde_profile_error(p)->status : 0;

	f->frames = calloc(n, sizeof(*f->frames));
	if (rc >= 0) {
		rc = f->frames != NULL ? nodes_make(f, tree) : SONDE_ENOMEM;
	}
	sonde_profile_tree_free(tree);
	return rc < 0 ? rc : frames_number(f, n);
}

static int page_make(struct page *page, size_t event)
{
	const struct sonde_profile_options o = {
	        .size = sizeof(o), .sort = "comm", .one_event = true, .event = event};
	struct sonde_profile *p = sonde_profile_new(&o);
	int rc = p != NULL ? sonde_profile_add(p, page->session) : SONDE_ENOMEM;

	if (rc >= 0) {
		rc = flame_make(&page->flame, p, event);
	}
	(void)error_plain(session_error(page->session), rc);
	if (rc >= 0) {
		rc = put_page(page);
	}
	if (rc >= 0) {
		rc = page->flame.samples != 0;
	}
	free(page->flame.frames);
	free(page->flame.nodes);
	sonde_profile_free(p);
	return rc;
}

int sonde_flamegraph_write(struct sonde_session *s, const struct sonde_flamegraph_options *options,
        sonde_write_fn write, void *arg)
{
	struct sonde_flamegraph_options o = {.event = SONDE_FLAMEGRAPH_FIRST_EVENT};
	struct page page = {.session = s, .write = write, .arg = arg};
	size_t event;
	int rc;

	TRY(session_ready(s));
	TRY(options_copy(&o, sizeof(o), options, session_error(s)));
	page.title = o.title != NULL ? o.title : "Flame graph";
	event = o.event == SONDE_FLAMEGRAPH_FIRST_EVENT ? first_event(s) : o.event;
	page.json.out = &page.out;
	if (event >= sonde_session_events(s)) {
		return error_set(session_error(s), SONDE_EARG, NO_OFFSET,
		        "there is no event %zu: the recording has %zu", event,
		        sonde_session_events(s));
	}
	page.event = (uint32_t)event;
	session_report_not_shown(
	        s, SESSION_USER_STACKS | SESSION_TRACES | SESSION_STAT, "perf report");
	rc = page_make(&page, event);
	if (rc >= 0 && session_report_unwound(s) < 0) {
		rc = error_nomem(session_error(s));
	}
	text_fini(&page.out);
	return rc;
}
