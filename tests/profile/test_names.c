/* SPDX-License-Identifier: MIT */
/*
 * Profiles by name: two recordings of random call chains, in which a function has different
 * addresses, events different numbers and threads different names. A profile is compared with plain
 * counting: sums over a list of the samples.
 */
#include "tap.h"

#include <sonde/preview/profile.h>
#include <sonde/write.h>

#include <stdlib.h>
#include <unistd.h>

#define BASE      UINT64_C(0xffffffff81000000)
#define FUNCTIONS 9u
#define UNKNOWN   FUNCTIONS /* "[unknown]": an address where nothing is mapped */
#define COMMS     3u
#define COMM      100u /* + number: a command in a list of steps */
#define EVENTS    2u
#define STEPS     16u
#define SAMPLES   400u

struct sample {
	unsigned event, comm, n;
	unsigned chain[STEPS]; /* leaf first */
	uint64_t period;
};

struct recording {
	char data[64], kallsyms[64];
	struct sample samples[SAMPLES];
	unsigned turned; /* functions and events have their numbers reversed */
};

static struct recording recordings[2];
static char folder[] = "/tmp/sonde-names-XXXXXX";
static uint64_t seed = 7;

static unsigned any(unsigned n)
{
	seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (unsigned)(seed >> 33) % n;
}

/* ---- recordings ---- */

static uint64_t function_at(const struct recording *r, unsigned f)
{
	return BASE + UINT64_C(0x1000) * (1 + (r->turned ? FUNCTIONS - 1 - f : f));
}

static void sample_make(struct sample *s)
{
	unsigned user = any(3);

	*s = (struct sample){.event = any(EVENTS), .comm = any(COMMS), .period = 1 + any(1000)};
	s->n = 1 + any(5);
	for (unsigned i = 0; i < s->n; i++) {
		s->chain[i] = any(any(2) + 1 == 1 ? 3 : FUNCTIONS);
	}
	for (; user > 0; user--) {
		s->chain[s->n++] = UNKNOWN;
	}
}

static void sample_write(struct sonde_writer *w, const struct recording *r, unsigned number)
{
	const struct sample *s = &r->samples[number];
	uint64_t words[2 + STEPS] = {(uint64_t)SONDE_CONTEXT_KERNEL};
	struct sonde_sample out = {.pid = 7,
	        .tid = 7 + s->comm,
	        .time = 1000 + number,
	        .period = s->period,
	        .callchain = words};
	size_t n = 1;

	for (unsigned i = 0; i < s->n; i++) {
		bool unknown = s->chain[i] == UNKNOWN;

		if (unknown && s->chain[i - 1] != UNKNOWN) {
			words[n++] = (uint64_t)SONDE_CONTEXT_USER;
		}
		words[n++] =
		        unknown ? 0x1000 + any(999) : function_at(r, s->chain[i]) + any(0x1000);
	}
	out.ip = words[1];
	out.callchain_len = n;
	if (sonde_writer_sample(w, (int)(r->turned ? 1 - s->event : s->event), &out) < 0) {
		abort();
	}
}

static void kernel_write(struct sonde_writer *w)
{
	struct {
		uint32_t type;
		uint16_t misc, size;
		uint32_t pid, tid;
		uint64_t start, len, pgoff;
		char name[32];
	} mmap = {
	        1, 1, sizeof(mmap), UINT32_MAX, 0, BASE, 0x100000, BASE, "[kernel.kallsyms]_stext"};

	if (sonde_writer_record(w, 0, &mmap, sizeof(mmap), NULL, 0) < 0) {
		abort();
	}
}

static void data_write(const struct recording *r)
{
	struct sonde_attr attr = {.type = SONDE_TYPE_SOFTWARE,
	        .sample_period = 1,
	        .sample_type = SONDE_SAMPLE_IDENTIFIER | SONDE_SAMPLE_IP | SONDE_SAMPLE_TID |
	                       SONDE_SAMPLE_TIME | SONDE_SAMPLE_PERIOD | SONDE_SAMPLE_CALLCHAIN};
	struct sonde_writer *w = sonde_writer_new(NULL);
	char name[16];

	for (unsigned i = 0; i < EVENTS; i++) {
		unsigned event = r->turned ? EVENTS - 1 - i : i;

		(void)snprintf(name, sizeof(name), "event%u", event);
		(void)sonde_writer_event(w, &attr, NULL, 0, name);
	}
	if (sonde_writer_open(w, r->data) < 0) {
		abort();
	}
	kernel_write(w);
	for (unsigned i = 0; i < COMMS; i++) {
		(void)snprintf(name, sizeof(name), "comm%u", i);
		(void)sonde_writer_comm(w, 7, 7 + i, name, 1);
	}
	for (unsigned i = 0; i < SAMPLES; i++) {
		sample_write(w, r, i);
	}
	if (sonde_writer_close(w) < 0) {
		abort();
	}
	sonde_writer_free(w);
}

static void kallsyms_write(const struct recording *r)
{
	FILE *f = fopen(r->kallsyms, "w");

	if (f == NULL) {
		abort();
	}
	(void)fprintf(f, "%llx T _stext\n", (unsigned long long)BASE);
	for (unsigned i = 0; i < FUNCTIONS; i++) {
		unsigned function = r->turned ? FUNCTIONS - 1 - i : i;

		(void)fprintf(
		        f, "%llx T fn%u\n", (unsigned long long)function_at(r, function), function);
	}
	(void)fprintf(f, "%llx T _etext\n",
	        (unsigned long long)(BASE + UINT64_C(0x1000) * (1 + FUNCTIONS)));
	if (fclose(f) != 0) {
		abort();
	}
}

static void recording_make(struct recording *r, unsigned number)
{
	(void)snprintf(r->data, sizeof(r->data), "%s/%u.data", folder, number);
	(void)snprintf(r->kallsyms, sizeof(r->kallsyms), "%s/%u.kallsyms", folder, number);
	r->turned = number;
	for (unsigned i = 0; i < SAMPLES; i++) {
		sample_make(&r->samples[i]);
	}
	data_write(r);
	kallsyms_write(r);
}

static void add(struct sonde_profile *p, const struct recording *r)
{
	struct sonde_session_options o = {.size = sizeof(o), .kallsyms = r->kallsyms, .jobs = 2};
	struct sonde_session *s = sonde_session_new(&o);

	if (s == NULL || sonde_session_open(s, r->data) < 0 || sonde_profile_add(p, s) < 0) {
		printf("# %s\n", sonde_profile_error(p)->text);
		abort();
	}
	sonde_session_free(s); /* a profile does not refer to its sessions */
}

static struct sonde_profile *profile_of(
        const struct sonde_profile_options *o, unsigned first, unsigned n)
{
	struct sonde_profile *p = sonde_profile_new(o);

	for (unsigned i = 0; i < n; i++) {
		add(p, &recordings[first + i]);
	}
	return p;
}

/* ---- numbers of names ---- */

static unsigned number_of(const char *name)
{
	if (strncmp(name, "fn", 2) == 0) {
		return (unsigned)atoi(name + 2);
	}
	if (strncmp(name, "comm", 4) == 0) {
		return COMM + (unsigned)atoi(name + 4);
	}
	return strcmp(name, "[unknown]") == 0 ? UNKNOWN : 999;
}

static unsigned event_of(const struct sonde_profile *p, size_t event)
{
	return (unsigned)atoi(sonde_profile_event(p, event)->name + 5);
}

/* ---- rows ---- */

struct sums {
	uint64_t samples, period, children;
};

#define TABLE (EVENTS * COMMS * (FUNCTIONS + 1))

typedef struct sums table[EVENTS][COMMS][FUNCTIONS + 1];

static void count_sample(const struct sample *s, table t)
{
	bool met[FUNCTIONS + 1] = {false};

	t[s->event][s->comm][s->chain[0]].samples++;
	t[s->event][s->comm][s->chain[0]].period += s->period;
	for (unsigned i = 0; i < s->n; i++) {
		t[s->event][s->comm][s->chain[i]].children += met[s->chain[i]] ? 0 : s->period;
		met[s->chain[i]] = true;
	}
}

static void count_all(unsigned first, unsigned n, table t)
{
	memset(t, 0, sizeof(table));
	for (unsigned r = first; r < first + n; r++) {
		for (unsigned i = 0; i < SAMPLES; i++) {
			count_sample(&recordings[r].samples[i], t);
		}
	}
}

static size_t rows_wanted(table t, bool children)
{
	const struct sums *s = (const struct sums *)t;
	size_t n = 0;

	for (unsigned i = 0; i < TABLE; i++) {
		n += children ? s[i].children != 0 : s[i].samples != 0;
	}
	return n;
}

static void check_rows(unsigned first, unsigned n, bool children, const char *what)
{
	struct sonde_profile_options o = {
	        .size = sizeof(o), .sort = "sym,comm", .children = children};
	struct sonde_profile *p = profile_of(&o, first, n);
	size_t wrong = 0, unordered = 0;
	char text[128];
	table t;

	count_all(first, n, t);
	for (size_t i = 0; i < sonde_profile_rows(p); i++) {
		const struct sonde_profile_row *row = sonde_profile_row(p, i);
		const struct sonde_profile_row *next = sonde_profile_row(p, i + 1);
		const struct sums *s = &t[event_of(p, row->event)][number_of(row->texts[1]) - COMM]
		                         [number_of(row->texts[0])];

		wrong += row->samples != s->samples || row->period != s->period ||
		         row->children != (children ? s->children : s->period) ||
		         row->number != i || (row->symbol == NULL) != (row->texts[0][0] == '[');
		unordered +=
		        next != NULL && next->event == row->event && next->children > row->children;
	}
	(void)snprintf(text, sizeof(text), "%s: number of rows as in plain counting", what);
	eq_u64(sonde_profile_rows(p), rows_wanted(t, children), text);
	(void)snprintf(text, sizeof(text), "%s: sums of rows as in plain counting", what);
	eq_u64(wrong, 0, text);
	(void)snprintf(text, sizeof(text), "%s: rows of an event are in descending order", what);
	eq_u64(unordered, 0, text);
	sonde_profile_free(p);
}

static void test_rows(void)
{
	check_rows(0, 1, false, "one recording");
	check_rows(0, 1, true, "one recording with children");
	check_rows(0, 2, false, "two recordings");
	check_rows(0, 2, true, "two recordings with children");
}

/* ---- trees ---- */

/* The path that a sample adds to a tree: the steps below the root. */
struct steps {
	unsigned n, step[STEPS + 1];
	uint64_t period;
};

struct tree_case {
	const char *what;
	bool one_row, children;
	enum sonde_profile_order order;
};

static struct steps steps[2 * SAMPLES];
static size_t nsteps;

static void steps_copy(struct steps *to, const struct sample *s, unsigned from, int by, unsigned n)
{
	for (; n > 0; n--) {
		to->step[to->n++] = s->chain[from];
		from += (unsigned)by;
	}
}

/* function: that of the row, or UINT32_MAX for the whole tree. */
static void steps_add(const struct sample *s, const struct tree_case *c, unsigned function)
{
	struct steps *to = &steps[nsteps];
	bool up = c->order == SONDE_PROFILE_CALLEE;
	unsigned inner = s->n, outer = 0;

	*to = (struct steps){.period = s->period};
	if (!c->one_row) {
		to->step[to->n++] = COMM + s->comm;
		steps_copy(to, s, up ? 0 : s->n - 1, up ? 1 : -1, s->n);
		nsteps++;
		return;
	}
	for (unsigned i = s->n; i-- > 0;) {
		if (s->chain[i] == function) {
			outer = inner == s->n ? i : outer;
			inner = i;
		}
	}
	if (inner == s->n || (!c->children && inner != 0)) {
		return;
	}
	if (up) {
		steps_copy(to, s, inner + 1, 1, s->n - 1 - inner);
	} else if (c->children) {
		steps_copy(to, s, outer - 1, -1, outer);
	} else {
		steps_copy(to, s, s->n - 1, -1, s->n);
	}
	nsteps++;
}

static void path_of(const struct sonde_profile_node *node, unsigned *path)
{
	for (; node->parent != NULL; node = node->parent) {
		path[node->depth - 1] = number_of(node->frame->name);
	}
}

/* Whether the sums of a node are those of the samples whose paths begin with its path. */
static bool node_right(const struct sonde_profile_node *node)
{
	unsigned path[STEPS + 1] = {0};
	uint64_t samples = 0, period = 0, self = 0;

	path_of(node, path);
	for (size_t i = 0; i < nsteps; i++) {
		if (steps[i].n >= node->depth &&
		        memcmp(steps[i].step, path, node->depth * sizeof(*path)) == 0) {
			samples++;
			period += steps[i].period;
			self += steps[i].n == node->depth ? steps[i].period : 0;
		}
	}
	return samples != 0 && node->samples == samples && node->period == period &&
	       node->self_period == self && node->more == (self != period);
}

/* Whether the children of an open node are in order and complete. */
static bool children_right(const struct sonde_profile_node *node)
{
	const struct sonde_profile_node *child = node->children;
	uint64_t sum = node->self_period;

	for (; child != NULL; child = child->next) {
		sum += child->period;
		if (child->parent != node ||
		        (child->next != NULL && child->next->period > child->period)) {
			return false;
		}
	}
	return sum == node->period;
}

/* Opens all nodes of a tree; returns the number of wrong nodes. */
static size_t walk(struct sonde_profile_tree *tree, bool closing, size_t *nodes)
{
	const struct sonde_profile_node *node = sonde_profile_tree_root(tree);
	size_t wrong = 0;

	*nodes = 0;
	while (node != NULL) {
		++*nodes;
		wrong += !node_right(node);
		if (sonde_profile_tree_open(tree, node) > 0) {
			wrong += !children_right(node);
			node = node->children;
			continue;
		}
		while (node != NULL && node->next == NULL) {
			node = node->parent;
			if (closing && node != NULL) {
				sonde_profile_tree_close(tree, node);
			}
		}
		node = node != NULL ? node->next : NULL;
	}
	return wrong;
}

static void check_tree(struct sonde_profile *p, const struct tree_case *c,
        const struct sonde_profile_row *row, size_t *wrong)
{
	struct sonde_profile_tree_options o = {
	        .size = sizeof(o), .event = 1, .row = row, .order = c->order};
	unsigned event = event_of(p, row != NULL ? row->event : 1);
	unsigned comm = row != NULL ? number_of(row->texts[0]) - COMM : 0;
	struct sonde_profile_tree *tree = sonde_profile_tree_new(p, &o);
	size_t nodes, again;

	nsteps = 0;
	for (unsigned r = 0; r < 2; r++) {
		for (unsigned i = 0; i < SAMPLES; i++) {
			const struct sample *s = &recordings[r].samples[i];

			if (s->event == event && (row == NULL || s->comm == comm)) {
				steps_add(s, c, row != NULL ? number_of(row->texts[1]) : 0);
			}
		}
	}
	*wrong += walk(tree, true, &nodes);
	*wrong += walk(tree, false, &again);
	*wrong += nodes != again || (row == NULL && nodes < 100);
	sonde_profile_tree_close(tree, sonde_profile_tree_root(tree));
	*wrong += walk(tree, false, &again);
	*wrong += nodes != again;
	sonde_profile_tree_free(tree);
}

static void test_trees(void)
{
	static const struct tree_case cases[] = {
	        {"the whole tree, callers first", false, false, SONDE_PROFILE_CALLER},
	        {"the whole tree, callees first", false, false, SONDE_PROFILE_CALLEE},
	        {"callers of sampled functions", true, false, SONDE_PROFILE_CALLEE},
	        {"paths to sampled functions", true, false, SONDE_PROFILE_CALLER},
	        {"callers of rows with children", true, true, SONDE_PROFILE_CALLEE},
	        {"callees of rows with children", true, true, SONDE_PROFILE_CALLER},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct tree_case *c = &cases[i];
		struct sonde_profile_options o = {
		        .size = sizeof(o), .sort = "comm,sym", .children = c->children};
		struct sonde_profile *p = profile_of(&o, 0, 2);
		size_t wrong = 0;

		for (size_t k = 0; k < (c->one_row ? sonde_profile_rows(p) : 1); k++) {
			check_tree(p, c, c->one_row ? sonde_profile_row(p, k) : NULL, &wrong);
		}
		eq_u64(wrong, 0, c->what);
		sonde_profile_free(p);
	}
}

/* ---- differences ---- */

static bool near(double x, double y)
{
	return x - y < 1e-9 && y - x < 1e-9;
}

static double share(table t, unsigned event, const struct sums *s)
{
	uint64_t total = 0;

	for (unsigned i = 0; i < TABLE / EVENTS; i++) {
		total += ((const struct sums *)t[event])[i].period;
	}
	return 100.0 * (double)s->period / (double)total;
}

static void test_diff(void)
{
	struct sonde_profile_options o = {.size = sizeof(o), .sort = "comm,sym"};
	struct sonde_profile *before = profile_of(&o, 0, 1), *after = profile_of(&o, 1, 1);
	struct sonde_profile_diff *d = sonde_profile_diff_new(before, after);
	size_t wrong = 0, wanted = 0, n = d != NULL ? sonde_profile_diff_pairs(d) : 0;
	table old, new;

	count_all(0, 1, old);
	count_all(1, 1, new);
	for (unsigned i = 0; i < TABLE; i++) {
		wanted += ((const struct sums *)old)[i].samples +
		                  ((const struct sums *)new)[i].samples !=
		          0;
	}
	for (size_t i = 0; i < n; i++) {
		const struct sonde_profile_pair *pair = sonde_profile_diff_pair(d, i);
		const struct sonde_profile_row *row =
		        pair->after != NULL ? pair->after : pair->before;
		unsigned e = event_of(row == pair->after ? after : before, row->event);
		unsigned comm = number_of(row->texts[0]) - COMM, f = number_of(row->texts[1]);

		wrong += !near(pair->share_before, share(old, e, &old[e][comm][f])) ||
		         !near(pair->share_after, share(new, e, &new[e][comm][f])) ||
		         (pair->before == NULL) != (old[e][comm][f].samples == 0) ||
		         (pair->after == NULL) != (new[e][comm][f].samples == 0);
	}
	eq_u64(n, wanted, "a pair for each row of either profile");
	eq_u64(wrong, 0, "shares of pairs as in plain counting");
	sonde_profile_diff_free(d);
	sonde_profile_free(before);
	o.sort = "sym";
	before = profile_of(&o, 0, 1);
	ok(sonde_profile_diff_new(before, after) == NULL &&
	                sonde_profile_error(after)->status == SONDE_EARG,
	        "profiles with different sort keys cannot be compared");
	sonde_profile_free(before);
	sonde_profile_free(after);
}

/* ---- options ---- */

static void test_options(void)
{
	struct sonde_profile_options o = {.size = sizeof(o), .sort = "comm"};
	struct sonde_profile *p;
	uint64_t period = 0, all = 0;

	for (unsigned i = 0; i < SAMPLES; i++) {
		const struct sample *s = &recordings[0].samples[i];

		period += s->event == 1 && s->comm == 2 ? s->period : 0;
		all += s->event == 1 ? s->period : 0;
	}
	o.one_event = true;
	o.event = 1;
	p = profile_of(&o, 0, 1);
	eq_u64(sonde_profile_event(p, 1)->period, all, "a profile of one event has its period");
	eq_u64(sonde_profile_event(p, 0)->samples, 0,
	        "a profile of one event has no samples of another event");
	sonde_profile_free(p);
	o.sort = "tid,cpu,comm";
	p = profile_of(&o, 0, 1);
	eq_str(sonde_profile_key(p, 0)->name, "tid", "the first key is the first sort key");
	ok(sonde_profile_key(p, 3) == NULL, "there are no other keys than the sort keys");
	eq_u64(sonde_profile_row(p, 0)->numbers[0],
	        7 + number_of(sonde_profile_row(p, 0)->texts[2]) - COMM,
	        "the number of a thread key is its tid");
	eq_u64(sonde_profile_row(p, 0)->numbers[1], UINT32_MAX,
	        "the number of a cpu that was not recorded");
	eq_str(sonde_profile_row(p, 0)->texts[1], "-1", "the text of a cpu that was not recorded");
	sonde_profile_free(p);
	o.sort = "comm";
	o.filter.comms = "comm2";
	p = profile_of(&o, 0, 1);
	eq_u64(sonde_profile_rows(p), 1, "a filter leaves one row");
	eq_u64(sonde_profile_event(p, 1)->period, period, "totals have only filtered samples");
	eq_u64(sonde_profile_row(p, 0)->period, period,
	        "the row has the period of the filtered samples");
	sonde_profile_free(p);
	o = (struct sonde_profile_options){.size = sizeof(o), .sort = "comm,nothing"};
	p = sonde_profile_new(&o);
	eq_u64(sonde_profile_error(p)->status, SONDE_EARG, "an unknown key is an error");
	eq_u64(sonde_profile_add(p, NULL), SONDE_EARG,
	        "no session can be added to a profile with an unknown key");
	ok(sonde_profile_tree_new(p, NULL) == NULL, "a profile with an unknown key has no tree");
	sonde_profile_free(p);
	o.sort = "comm,parent";
	p = sonde_profile_new(&o);
	eq_u64(sonde_profile_error(p)->status, SONDE_EARG, "a key of reports only is an error");
	sonde_profile_free(p);
}

/* Periods of 2^63: the sum of any two exceeds UINT64_MAX. */
static void test_sums_stop(void)
{
	struct sonde_profile_options o = {.size = sizeof(o), .sort = "comm,sym"};
	const uint64_t big = UINT64_C(1) << 63;
	struct sonde_profile *p;
	size_t wrong = 0;

	for (unsigned i = 0; i < SAMPLES; i++) {
		recordings[0].samples[i].period = big;
	}
	data_write(&recordings[0]);
	p = profile_of(&o, 0, 1);
	for (size_t i = 0; i < sonde_profile_rows(p); i++) {
		const struct sonde_profile_row *row = sonde_profile_row(p, i);

		wrong += row->period != (row->samples == 1 ? big : UINT64_MAX);
	}
	ok(wrong == 0 && sonde_profile_rows(p) > 20, "sums of rows stop at UINT64_MAX");
	eq_u64(sonde_profile_event(p, 1)->period, UINT64_MAX,
	        "the sum of an event stops at UINT64_MAX");
	sonde_profile_free(p);
}

int main(void)
{
	if (mkdtemp(folder) == NULL) {
		return 1;
	}
	recording_make(&recordings[0], 0);
	recording_make(&recordings[1], 1);
	test_rows();
	test_trees();
	test_diff();
	test_options();
	test_sums_stop();
	for (unsigned i = 0; i < 2; i++) {
		(void)unlink(recordings[i].data);
		(void)unlink(recordings[i].kallsyms);
	}
	(void)rmdir(folder);
	return tap_done();
}
