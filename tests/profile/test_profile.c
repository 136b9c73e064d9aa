/* SPDX-License-Identifier: MIT */
/* Folding, callers, percentages, filters and graphs of a small recording with known results. */
#include "chains.h"
#include "profile/profile.h"
#include "tap.h"

#include <sonde/preview/profile.h>

static struct chains chains;
static const struct pick everything;

static void run(struct profile *p, struct sonde_session *s, const struct profile_options *o)
{
	profile_init(p, s, o);
	if (profile_run(p) < 0) {
		abort();
	}
}

static const struct profile_row *row_of(const struct profile *p, const char *symbol)
{
	for (size_t i = 0; i < p->nrows; i++) {
		const char *name = profile_row_name(p, &p->rows[i]);

		if (name != NULL && strcmp(name, symbol) == 0) {
			return &p->rows[i];
		}
	}
	return NULL;
}

static void check_row(
        const struct profile *p, const char *symbol, uint64_t samples, uint64_t self, uint64_t all)
{
	const struct profile_row *row = row_of(p, symbol);
	char what[64];

	(void)snprintf(what, sizeof(what), "%s: samples", symbol);
	eq_u64(row != NULL ? row->samples : UINT64_MAX, samples, what);
	(void)snprintf(what, sizeof(what), "%s: self period", symbol);
	eq_u64(row != NULL ? row->period : UINT64_MAX, self, what);
	(void)snprintf(what, sizeof(what), "%s: period with callees", symbol);
	eq_u64(row != NULL ? row->children : UINT64_MAX, all, what);
}

static struct profile_options by_symbol(void)
{
	return (struct profile_options){
	        .keys.chosen[FIELD_SYM] = true, .max_stack = 127, .pick = &everything};
}

static void test_rows(unsigned jobs)
{
	struct sonde_session *s = chains_open(&chains, jobs);
	struct profile_options o = by_symbol();
	struct profile p;

	run(&p, s, &o);
	eq_u64(p.totals[0], CHAINS_TOTAL, "total period of the event");
	eq_u64(p.samples[0], 6, "samples of the event");
	eq_u64(p.nrows, 3, "a row for each sampled function");
	profile_fini(&p);
	o.children = true;
	o.caller = true;
	run(&p, s, &o);
	eq_u64(p.nrows, 4, "with children, callers have rows too");
	check_row(&p, "main", 0, 0, 150);
	check_row(&p, "f", 3, 140, 170);
	check_row(&p, "g", 1, 20, 20);
	check_row(&p, "h", 2, 50, 50);
	profile_fini(&p);
	sonde_session_free(s);
}

/* Rows of threads do not need frames: their samples are counted by thread alone. */
static void test_owners(unsigned jobs)
{
	struct sonde_session *s = chains_open(&chains, jobs);
	struct profile_options o = {.max_stack = 127, .pick = &everything};
	struct pick no_object = {.dsos = (bool[8]){false}};
	struct profile p;

	field_key_choose(&o.keys, FIELD_COMM);
	run(&p, s, &o);
	ok(p.nrows == 1 && p.rows[0].samples == 6 && p.rows[0].period == CHAINS_TOTAL,
	        "all samples of a thread are in its row");
	ok(p.counts.nchains == 1 && p.counts.nframes == 1 &&
	                p.counts.frames[0].object == PROFILE_NONE,
	        "no address was looked up for rows of threads");
	profile_fini(&p);
	o.pick = &no_object;
	run(&p, s, &o);
	ok(p.nrows == 1 && p.rows[0].hidden && p.counts.nframes > 1,
	        "a filter of objects looks up the addresses of samples");
	profile_fini(&p);
	o.pick = &everything;
	o.children = true;
	run(&p, s, &o);
	ok(p.nrows == 1 && p.rows[0].children == CHAINS_TOTAL && p.counts.nframes > 1,
	        "callers need frames");
	profile_fini(&p);
	sonde_session_free(s);
}

/* Whether both have the same rows of objects, and the same of them begin without a symbol. */
static bool objects_same(const struct profile *a, const struct profile *b)
{
	bool same = a->nrows == b->nrows && a->nrows != 0;

	for (size_t i = 0; i < a->nrows && same; i++) {
		const struct profile_row *x = &a->rows[i], *y = &b->rows[i];

		same = x->dso == y->dso && x->key == y->key && x->samples == y->samples &&
		       x->period == y->period && x->kernel == y->kernel &&
		       profile_row_unknown(a, x) == profile_row_unknown(b, y);
	}
	return same;
}

/* Rows of objects do not need addresses: compared with rows that are made from addresses. */
static void test_objects(unsigned jobs)
{
	struct sonde_session *s = chains_open(&chains, jobs);
	struct profile_options o = {.max_stack = 127, .pick = &everything};
	struct profile by_object, by_address;

	field_key_choose(&o.keys, FIELD_COMM);
	o.keys.chosen[FIELD_DSO] = true;
	run(&by_object, s, &o);
	o.keys.chosen[FIELD_SYMOFF] = true;
	run(&by_address, s, &o);
	ok(by_object.by_object && !by_address.by_object, "rows of objects have objects as frames");
	ok(by_object.counts.nframes < by_address.counts.nframes,
	        "several addresses of an object are one frame");
	profile_fini(&by_address);
	o.keys.chosen[FIELD_SYMOFF] = false;
	o.graph = true; /* needs chains */
	run(&by_address, s, &o);
	ok(!by_address.by_object && objects_same(&by_object, &by_address),
	        "rows of objects are those that are made from addresses");
	profile_fini(&by_object);
	profile_fini(&by_address);
	sonde_session_free(s);
}

/* A row, summed up sample by sample. */
struct plain_row {
	char name[24];
	uint64_t samples, period, children;
};

enum { PLAIN_ROWS = 128 };

static struct plain_row *plain_row(struct plain_row *rows, const char *name)
{
	struct plain_row *r = rows;

	while (r->name[0] != 0 && strcmp(r->name, name) != 0) {
		r++;
	}
	(void)snprintf(r->name, sizeof(r->name), "%s", name);
	return r;
}

static void plain_add(
        struct plain_row *rows, const struct sonde_event *e, const struct sonde_frame *leaf)
{
	struct plain_row *counted[16];
	size_t n = 0;

	for (const struct sonde_frame *f = leaf; f != NULL; f = f->caller) {
		char name[24];
		struct plain_row *r;
		size_t i = 0;

		(void)snprintf(name, sizeof(name), "0x%" PRIx64, f->address);
		r = plain_row(rows, f->symbol != NULL ? f->symbol : name);
		r->samples += f == leaf;
		r->period += f == leaf ? e->sample->period : 0;
		while (i < n && counted[i] != r) {
			i++;
		}
		if (i == n) {
			r->children += e->sample->period;
			counted[n++] = r;
		}
	}
}

/* Returns the number of rows that differ from plain; *rows is the expected number of rows. */
static size_t rows_wrong(const struct profile *p, struct plain_row *plain, size_t *rows)
{
	size_t wrong = 0;

	for (size_t i = 0; i < p->nrows; i++) {
		const struct profile_row *r = &p->rows[i];
		const char *symbol = profile_row_name(p, r);
		const struct plain_row *want;
		char name[24];

		(void)snprintf(name, sizeof(name), "0x%" PRIx64, profile_row_address(r));
		want = plain_row(plain, symbol != NULL ? symbol : name);
		wrong += r->samples != want->samples || r->period != want->period ||
		         r->children != want->children;
	}
	for (*rows = 0; plain[*rows].name[0] != 0;) {
		++*rows;
	}
	return wrong;
}

/* Rows of random chains must equal those of a plain count, without workers, chains or indexes. */
static void test_plain(void)
{
	static const unsigned jobs[] = {1, 2, 3, 8};
	static struct plain_row plain[PLAIN_ROWS];
	static struct chains many;
	struct sonde_session *s;
	const struct sonde_event *e;
	size_t rows;

	chains_begin_with(&many, 30000);
	s = chains_open(&many, 1);
	while (sonde_session_next(s, &e) > 0) {
		const struct sonde_frame *leaf;

		if (sonde_session_frames(s, e, &leaf) > 0) {
			plain_add(plain, e, leaf);
		}
	}
	sonde_session_free(s);
	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		struct profile_options o = by_symbol();
		struct profile p;
		char what[64];

		o.children = o.graph = o.caller = true;
		s = chains_open(&many, jobs[i]);
		run(&p, s, &o);
		(void)snprintf(what, sizeof(what), "random chains, jobs %u: sums", jobs[i]);
		eq_u64(rows_wrong(&p, plain, &rows), 0, what);
		(void)snprintf(what, sizeof(what), "random chains, jobs %u: rows", jobs[i]);
		eq_u64(p.nrows, rows, what);
		profile_fini(&p);
		sonde_session_free(s);
	}
	ok(rows > 30, "random chains have rows with and without symbols");
	chains_end(&many);
}

/* max_stack keeps the outermost frames if graphs begin at the caller, else those at the leaf. */
static void test_max_stack(void)
{
	struct sonde_session *s = chains_open(&chains, 1);
	struct profile_options o = by_symbol();
	struct profile p;

	o.children = o.caller = true;
	o.max_stack = 1;
	run(&p, s, &o);
	check_row(&p, "main", 0, 0, 150);
	check_row(&p, "f", 3, 140, 140);
	profile_fini(&p);
	o.caller = false;
	run(&p, s, &o);
	ok(row_of(&p, "main") == NULL, "frames that are not next to a leaf are left out");
	check_row(&p, "f", 3, 140, 140);
	profile_fini(&p);
	sonde_session_free(s);
}

static void test_filters(void)
{
	struct sonde_session *s = chains_open(&chains, 1);
	struct profile_options o = by_symbol();
	struct sonde_filter filter = {.symbols = "h"};
	struct pick pick;
	struct profile p;

	eq_u64(pick_init(&pick, s, &filter), 0, "a filter of one symbol");
	eq_str(pick.only_symbol, "h", "the symbol is the only one of the filter");
	o.pick = &pick;
	o.relative = true;
	run(&p, s, &o);
	ok(!row_of(&p, "h")->hidden && row_of(&p, "f")->hidden && row_of(&p, "g")->hidden,
	        "rows of other symbols are hidden");
	eq_u64(p.totals[0], CHAINS_TOTAL, "hidden rows are in the total");
	eq_u64(p.shown_totals[0], 50, "hidden rows are not in the shown total");
	profile_fini(&p);
	pick_fini(&pick);
	filter = (struct sonde_filter){.time = "0.00000103,0.00000105"};
	eq_u64(pick_init(&pick, s, &filter), 0, "a filter by time");
	run(&p, s, &o);
	eq_u64(p.totals[0], 30 + 40 + 50,
	        "a range of time includes both ends, other samples are left out");
	profile_fini(&p);
	pick_fini(&pick);
	filter = (struct sonde_filter){.tids = "8"};
	eq_u64(pick_init(&pick, s, &filter), 0, "a filter by a thread without samples");
	run(&p, s, &o);
	eq_u64(p.shown_samples[0], 0, "no sample is shown");
	profile_fini(&p);
	pick_fini(&pick);
	o.pick = &everything;
	o.modes = true;
	run(&p, s, &o);
	eq_u64(p.modes[(size_t)(row_of(&p, "f") - p.rows) * PROFILE_MODES + MISC_KERNEL], 140,
	        "period in the kernel");
	profile_fini(&p);
	sonde_session_free(s);
}

static const char *node_name(const struct profile *p, const struct profile_node *node, uint32_t at)
{
	const struct profile_frame *f = profile_graph_frame(p, node, node->depth + at);

	return profile_symbol(p, f->object, f->symbol);
}

static void test_graph(void)
{
	struct sonde_session *s = chains_open(&chains, 1);
	struct profile_options o = by_symbol();
	struct profile_nodes nodes = {0};
	struct profile_node root, main_node;
	struct profile p;

	o.children = o.graph = o.caller = true;
	o.graph_limit = 10;
	run(&p, s, &o);
	root = profile_graph_root(&p, row_of(&p, "main"));
	eq_u64(root.sum, 150, "the root has the chains with main");
	eq_u64(profile_graph_samples(&p, &root), 5, "the root has five samples");
	eq_u64(profile_graph_expand(&p, 0, &root, &nodes), 0, "the root is expanded");
	eq_u64(nodes.n, 1, "the root has one child");
	main_node = nodes.p[0];
	eq_str(node_name(&p, &main_node, 0), "main", "the child of the root is main");
	eq_u64(profile_graph_expand(&p, 0, &main_node, &nodes), 0, "main is expanded");
	eq_u64(nodes.n, 3, "main has two children");
	eq_str(node_name(&p, &nodes.p[1], 0), "f", "the first child of main is f");
	eq_u64(nodes.p[1].sum, 110, "period of f with its callees");
	eq_str(node_name(&p, &nodes.p[2], 0), "h", "the second child of main is h");
	eq_u64(nodes.p[2].sum, 40, "period of h called by main directly");
	root = nodes.p[1];
	eq_u64(profile_graph_expand(&p, 0, &root, &nodes), 0, "f is expanded");
	eq_u64(nodes.n, 4, "one of the branches 10, 20 and 50 is not below a tenth of 210");
	eq_u64(root.below, 80, "sum of the branches below the limit");
	eq_str(node_name(&p, &nodes.p[3], 0), "f", "f calls itself");
	profile_nodes_fini(&nodes);
	profile_fini(&p);
	sonde_session_free(s);
}

static const struct sonde_profile_node *child_of(
        struct sonde_profile_tree *t, const struct sonde_profile_node *node, const char *name)
{
	(void)sonde_profile_tree_open(t, node);
	for (node = node->children; node != NULL; node = node->next) {
		if (strcmp(node->frame->name, name) == 0) {
			return node;
		}
	}
	return NULL;
}

static void test_tree(void)
{
	struct sonde_profile_options o = {.size = sizeof(o), .sort = "comm"};
	struct sonde_session *s = chains_open(&chains, 1);
	struct sonde_profile *p = sonde_profile_new(&o);
	const struct sonde_profile_node *root, *comm, *f;
	struct sonde_profile_tree *t;

	eq_u64(sonde_profile_add(p, s), 0, "a session is added to a profile");
	t = sonde_profile_tree_new(p, NULL);
	root = sonde_profile_tree_root(t);
	eq_u64(root->period, CHAINS_TOTAL, "the root has the total period");
	comm = child_of(t, root, ":7");
	eq_u64(comm != NULL ? comm->period : 0, CHAINS_TOTAL, "a thread without a name is :TID");
	f = comm != NULL ? child_of(t, comm, "f") : NULL;
	eq_u64(f != NULL ? f->self_period : 0, 60,
	        "an unknown context mark drops the callers of a sample");
	eq_u64(f != NULL ? f->frame->kind : 0, SONDE_PROFILE_KERNEL, "f is a kernel function");
	sonde_profile_tree_free(t);
	sonde_profile_free(p);
	sonde_session_free(s);
}

/* Chains are sorted by time and thread; `period` is their number, 3 of 20 have no samples. */
static void test_sorted(unsigned jobs)
{
	struct profile_chain *c = calloc(20, sizeof(*c));
	struct profile_counts counts = {.chains = c, .nchains = 20, .chains_cap = 20};
	bool sorted = true, stable = true;

	for (uint32_t i = 0; c != NULL && i < 20; i++) {
		c[i] = (struct profile_chain){.samples = i % 8 != 3,
		        .period = i,
		        .time = i * 7 % 5,
		        .first_tid = i * 11 % 3};
	}
	eq_u64(profile_chains_sort(&counts, jobs), 0, "chains can be sorted");
	c = counts.chains;
	eq_u64(counts.nchains, 17, "chains without samples are removed");
	for (size_t i = 1; i < counts.nchains; i++) {
		uint64_t before = c[i - 1].time << 8 | c[i - 1].first_tid;
		uint64_t key = c[i].time << 8 | c[i].first_tid;

		sorted = sorted && before <= key;
		stable = stable && (before != key || c[i - 1].period < c[i].period);
	}
	ok(sorted, "chains are in the order of time, then of threads");
	ok(stable, "chains of one time and thread keep their order");
	free(c);
}

int main(void)
{
	chains_begin(&chains);
	test_rows(1);
	test_rows(4);
	test_owners(1);
	test_objects(1);
	test_owners(4);
	test_objects(4);
	test_plain();
	test_max_stack();
	test_filters();
	test_graph();
	test_tree();
	test_sorted(1);
	test_sorted(2);
	chains_end(&chains);
	return tap_done();
}
