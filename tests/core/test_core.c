/* SPDX-License-Identifier: MIT */
#include "core/arena.h"
#include "core/array.h"
#include "core/intern.h"
#include "core/options.h"
#include "core/pool.h"
#include "core/sort.h"
#include "core/span.h"
#include "core/status.h"
#include "core/text.h"
#include "tests/tap.h"

#include <errno.h>
#include <stdlib.h>

static void test_cursor(void)
{
	const uint8_t bytes[] = {1, 2, 3, 4, 5, 6, 7};
	struct cursor c = cursor_make((struct span){bytes, sizeof(bytes)}, HOST_BIG_ENDIAN);

	eq_u64(cursor_u32(&c), 0x04030201, "a little-endian word is read in host byte order");
	eq_u64(cursor_u64(&c), 0, "a read past the end is 0");
	ok(c.bad, "a read past the end sets bad");
	c = cursor_make((struct span){bytes, sizeof(bytes)}, !HOST_BIG_ENDIAN);
	eq_u64(cursor_u16(&c), 0x0102, "a big-endian half word is read in host byte order");
}

/* Numbers around powers of two and of ten, which have one digit more or less. */
static void test_digits(void)
{
	struct text t = {0};
	bool decimal = true, hex = true, hex16 = true;
	char wanted[64];

	for (uint64_t power = 1, i = 0; i < 84; i++) {
		power = i < 64 ? (uint64_t)1 << i : i == 64 ? 1 : power * 10;
		for (uint64_t v = power - 1; v != power + 2; v++) {
			t.n = 0;
			text_u64(&t, v, 12, ' ');
			(void)snprintf(wanted, sizeof(wanted), "%12" PRIu64, v);
			decimal = decimal && t.n == strlen(wanted) && memcmp(t.p, wanted, t.n) == 0;
			t.n = 0;
			text_hex(&t, v, 9, '0');
			(void)snprintf(wanted, sizeof(wanted), "%09" PRIx64, v);
			hex = hex && t.n == strlen(wanted) && memcmp(t.p, wanted, t.n) == 0;
			t.n = 0;
			text_hex16(&t, v);
			(void)snprintf(wanted, sizeof(wanted), "%16" PRIx64, v);
			hex16 = hex16 && t.n == 16 && memcmp(t.p, wanted, t.n) == 0;
		}
	}
	ok(decimal, "decimal numbers are printf's");
	ok(hex, "hexadecimal numbers are printf's");
	ok(hex16, "hexadecimal numbers of 16 columns are printf's");
	text_fini(&t);
}

static void test_text(void)
{
	struct text t = {0};

	text_u64(&t, 0, 0, ' ');
	text_u64(&t, UINT64_MAX, 0, ' ');
	text_u64(&t, 42, 6, '0');
	text_hex(&t, 0xdeadbeef, 10, ' ');
	text_padded(&t, "ab", 4);
	text_padded(&t, "ab", -4);
	text_printf(&t, "%d|", 7);
	text_char(&t, '\0');
	eq_str(t.p, "018446744073709551615000042  deadbeef  abab  7|",
	        "numbers are printed with padding");
	text_fini(&t);
}

/* The fast function must print what printf prints. */
static void test_percent(void)
{
	uint64_t seed = 7;
	bool same = true;

	for (unsigned i = 0; i < 200000; i++) {
		char want[64];
		struct text t = {0};
		uint64_t total;
		uint64_t part;

		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		total = 1 + (seed >> 33) % 20000;
		part = (seed >> 13) % (total + 1);
		(void)snprintf(want, sizeof(want), "%7.2f", 100.0 * (double)part / (double)total);
		text_percent(&t, part, total, 7);
		same &= t.n == strlen(want) && memcmp(t.p, want, t.n) == 0;
		text_fini(&t);
	}
	ok(same, "percents are printed as by printf");
}

static void test_intern(void)
{
	struct intern in = {0};
	char name[16];
	bool same = true;

	for (unsigned i = 0; i < 5000; i++) {
		int n = snprintf(name, sizeof(name), "n%u", i % 1000);

		same &= intern_add(&in, name, (size_t)n) == i % 1000;
	}
	ok(same, "intern ids count up, and equal texts share one");
	eq_str(intern_text(&in, 999), "n999", "an interned text is found by its id");
	eq_u64(intern_add(&in, "n1\0junk", 7), 1, "an interned text ends at its NUL");
	intern_fini(&in);
}

struct order {
	size_t next;
	bool good;
	size_t sum;
};

static int work(void *arg, unsigned worker, size_t task)
{
	(void)arg;
	(void)worker;
	return task == 70 ? SONDE_EIO : 0;
}

static int emit(void *arg, unsigned worker, size_t task)
{
	struct order *o = arg;

	(void)worker;
	o->good &= task == o->next++;
	return 0;
}

#define TEAM_MAX 5u

struct team_sums {
	unsigned steps[TEAM_MAX]; /* of each worker */
	bool good;
};

/* In each step, all workers see that all others ended the step before. */
static int team_work(void *arg, unsigned worker, unsigned size, struct pool_team *team)
{
	struct team_sums *t = arg;
	bool good = size >= 1 && size <= TEAM_MAX;

	for (unsigned step = 1; step <= 50; step++) {
		t->steps[worker] = step;
		pool_team_wait(team);
		for (unsigned i = 0; i < size; i++) {
			good = good && t->steps[i] == step;
		}
		pool_team_wait(team);
	}
	if (worker == 0) {
		t->good = good;
	}
	return good ? 0 : SONDE_EIO;
}

static int team_fail(void *arg, unsigned worker, unsigned size, struct pool_team *team)
{
	(void)arg;
	pool_team_wait(team);
	return worker + 1 == size ? SONDE_EIO : 0;
}

static void test_team(void)
{
	bool good = true;

	for (unsigned jobs = 1; jobs <= TEAM_MAX; jobs++) {
		struct team_sums t = {0};

		good = pool_team_run(jobs, team_work, &t) == 0 && t.good && good;
	}
	ok(good, "1 to 5 workers of a team wait for each other");
	ok(pool_team_run(3, team_fail, NULL) == SONDE_EIO,
	        "a team returns the status of a worker that failed");
}

static void test_pool(void)
{
	struct order o = {.good = true};

	ok(pool_run_ordered(4, 60, work, emit, &o) == 0 && o.good && o.next == 60,
	        "pool_run_ordered emits tasks in order");
	o = (struct order){.good = true};
	ok(pool_run_ordered(3, 100, work, emit, &o) == SONDE_EIO && o.good && o.next <= 70,
	        "a failed emit stops the pool at its task");
	ok(pool_run(2, 0, work, NULL) == 0, "a pool without tasks succeeds");
	ok(pool_default_jobs() >= 1, "there is at least one processor");
}

/* Five failures: the text has all of them, the chain the first four. */
static void test_error_chain(void)
{
	struct error e = {0}, copy = {0};
	const struct sonde_error *last;
	char long_words[2 * ERROR_TEXT_MAX];
	unsigned n = 1;

	ok(error_errno(&e, SONDE_EIO, EACCES, "cannot open %s", "x") == SONDE_EIO,
	        "error_errno returns the status that it was given");
	eq_str(error_show(&e)->text, "cannot open x: Permission denied",
	        "the text of error_errno ends with that of the errno");
	ok(error_show(&e)->cause->status == SONDE_EPERM,
	        "the cause that error_errno sets has the status of the errno");
	(void)error_append(&e, "; run as %s", "root");
	eq_str(error_show(&e)->cause->text, "Permission denied; run as root",
	        "error_append adds to the text of the cause, too");
	(void)error_wrap(&e, "c");
	(void)error_wrap(&e, "d");
	(void)error_wrap(&e, "e");
	eq_str(error_show(&e)->text, "e: d: c: cannot open x: Permission denied; run as root",
	        "the text has more causes than the chain");
	for (last = error_show(&e); last->cause != NULL; last = last->cause) {
		n++;
	}
	eq_u64(n, ERROR_CHAIN_MAX, "the chain has at most ERROR_CHAIN_MAX failures");
	eq_str(last->text, "cannot open x: Permission denied; run as root",
	        "the last failure of a full chain has the texts of all that led to it");
	ok(error_take(&copy, error_show(&e)) == SONDE_EIO, "error_take returns the status");
	(void)error_set(&e, SONDE_EARG, NO_OFFSET, "other");
	eq_str(error_show(&copy)->text, "e: d: c: cannot open x: Permission denied; run as root",
	        "a failure that error_take copied stays when the other one changes");
	eq_str(error_show(&copy)->cause->cause->text,
	        "c: cannot open x: Permission denied; run as root", "error_take copies causes");
	memset(long_words, 'x', sizeof(long_words));
	long_words[sizeof(long_words) - 1] = '\0';
	(void)error_wrap(&copy, "%.*s", ERROR_TEXT_MAX - 20, long_words);
	eq_u64(strlen(error_show(&copy)->text), ERROR_TEXT_MAX - 1,
	        "a long text is cut at ERROR_TEXT_MAX");
	eq_str(error_show(&copy)->cause->text, "e: d: c: cannot o",
	        "the text of a cause is cut with the text that it ends");
	eq_str(error_show(&copy)->cause->cause->cause->text, "c: cannot o",
	        "the text of every cause is cut");
	(void)error_wrap(&copy, "%s", long_words);
	ok(error_show(&copy)->cause == NULL, "words that fill the text leave no cause");
}

static void test_error(void)
{
	struct error e = {0}, none = {0};

	eq_u64(error_set(&e, SONDE_EIO, 5, "cannot read %s", "x") == SONDE_EIO, 1,
	        "error_set returns the status");
	ok(error_show(&e)->cause == NULL, "error_set makes a failure without a cause");
	ok(error_wrap(&e, "report %d failed", 1) == SONDE_EIO, "error_wrap keeps the status");
	eq_str(error_show(&e)->text, "report 1 failed: cannot read x",
	        "error_wrap puts its words in front of the text");
	ok(error_show(&e)->offset == 5, "error_wrap keeps the offset");
	eq_str(error_show(&e)->cause->text, "cannot read x",
	        "error_wrap makes the failure so far the cause");
	eq_u64(error_set(&e, SONDE_EARG, NO_OFFSET, "wrong") == SONDE_EARG &&
	                error_show(&e)->cause == NULL,
	        1, "error_set forgets the causes of the failure before");
	ok(error_show(&none)->status == 0 && error_show(&none)->text[0] == '\0',
	        "an error where nothing failed has status 0 and an empty text");
	eq_str(sonde_status_text(SONDE_ENOENT), "does not exist", "a status has a text");
	eq_str(sonde_status_text(-1000), "unknown status", "an unknown status has a text");
}

static void test_options(void)
{
	struct known {
		size_t size;
		uint64_t first, second;
	} own = {.first = 1, .second = 2};
	struct newer {
		struct known known;
		uint8_t third[5];
	} newer = {.known = {.size = sizeof(newer), .first = 7}};
	struct error e = {0};

	ok(options_copy(&own, sizeof(own), NULL, &e) == 0 && own.first == 1,
	        "options NULL: the defaults are kept");
	ok(options_copy(&own, sizeof(own), &newer, &e) == 0 && own.first == 7 && own.second == 0 &&
	                own.size == sizeof(own),
	        "options of a newer caller are copied if the new members are zero");
	newer.third[4] = 1;
	ok(options_copy(&own, sizeof(own), &newer, &e) == SONDE_EARG,
	        "options with a new member that is set are refused");
	ok(strstr(e.text, "does not know") != NULL, "refused options: the text names the reason");
	own.second = 2;
	newer.known =
	        (struct known){.size = offsetof(struct known, second), .first = 8, .second = 9};
	ok(options_copy(&own, sizeof(own), &newer, &e) == 0 && own.first == 8 && own.second == 2,
	        "options of an older caller: members that it lacks keep their defaults");
	newer.known.size = 0;
	ok(options_copy(&own, sizeof(own), &newer, &e) == SONDE_EARG,
	        "options of size 0 are refused");
}

static void test_arena(void)
{
	struct arena a = {0};
	char *big = arena_alloc(&a, 1000000);

	ok(big != NULL && ((uintptr_t)arena_alloc(&a, 3) & 7) == 0,
	        "an arena allocates big blocks, and aligns small ones");
	ok(arena_alloc(&a, SIZE_MAX) == NULL, "an arena returns NULL for an impossible size");
	eq_str(arena_text(&a, "hello", 4), "hell", "arena_text copies n bytes and appends a NUL");
	arena_fini(&a);
}

static void test_sort(void)
{
	enum { N = 3000 };
	static uint64_t keys[N], spare[2 * N];
	static uint32_t order[N];
	uint64_t x = 1;
	bool good = true;

	for (size_t i = 0; i < N; i++) { /* few keys, of all sizes, all sorted first */
		x = x * 6364136223846793005u + 1442695040888963407u;
		keys[i] = i % 3 == 0 ? x : i % 3 == 1 ? x >> 60 : (x >> 63) << 33;
		order[i] = (uint32_t)(N - 1 - i);
	}
	sort_order(keys, order, spare, N);
	for (size_t i = 1; i < N; i++) {
		uint64_t a = keys[order[i - 1]], b = keys[order[i]];

		good = good && (a < b || (a == b && order[i - 1] > order[i]));
	}
	ok(good, "sort_order sorts by rising keys and keeps the order of equal ones");
	sort_order(keys, order, spare, 0);
	sort_order(keys, order, spare, 1);
	ok(order[0] < N, "sort_order of no elements does nothing");
}

static void test_sort_jobs(void)
{
	enum { N = 70001 };
	static uint64_t keys[N], spare[2 * N];
	static uint32_t order[N], shared[N];
	uint64_t x = 1;
	bool same = true;

	for (unsigned jobs = 1; jobs <= 5; jobs++) {
		for (size_t i = 0; i < N; i++) {
			x = x * 6364136223846793005u + 1442695040888963407u;
			keys[i] = jobs == 2 ? x >> 50 : i % 3 == 0 ? x : (x >> 60) << 31;
			order[i] = shared[i] = (uint32_t)(N - 1 - i);
		}
		sort_order(keys, order, spare, N);
		same = sort_order_jobs(keys, shared, spare, N, jobs) == 0 && same;
		same = memcmp(order, shared, sizeof(order)) == 0 && same;
	}
	ok(same, "sort_order_jobs gives the same order as sort_order");
}

/* Two arrays grow in turn, past the size from which they are put on large pages. */
static void test_array(void)
{
	enum { NUMBERS = 3 << 19 };
	uint64_t *arrays[2] = {NULL, NULL};
	size_t caps[2] = {0, 0};
	bool good = true, impossible;

	for (size_t i = 0; i < NUMBERS && good; i++) {
		for (unsigned k = 0; k < 2 && good; k++) {
			good = array_reserve(&arrays[k], &caps[k], i + 1, sizeof(*arrays[k]));
			if (good) {
				arrays[k][i] = i * 2 + k;
			}
		}
	}
	for (size_t i = 0; i < NUMBERS && good; i++) {
		good = arrays[0][i] == i * 2 && arrays[1][i] == i * 2 + 1;
	}
	ok(good, "arrays of 12 MiB keep their elements while they grow");
	impossible = array_reserve(&arrays[0], &caps[0], SIZE_MAX / 8, sizeof(*arrays[0]));
	ok(!impossible && arrays[0] != NULL && arrays[0][1] == 2,
	        "an array that cannot grow is as it was");
	array_fit(&arrays[1], &caps[1], 2, sizeof(*arrays[1]));
	ok(caps[1] == 2 && arrays[1][0] == 1 && arrays[1][1] == 3,
	        "an array of 12 MiB is shortened to two elements");
	free(arrays[0]);
	free(arrays[1]);
}

static void test_map(void)
{
	bool zeros = true, aligned = true;

	for (size_t size = 64; size <= (size_t)8 << 20; size *= 2) {
		uint8_t *p = array_map(size);

		zeros = zeros && p != NULL && p[0] == 0 && p[size / 2] == 0 && p[size - 1] == 0;
		aligned = aligned && (size < (size_t)2 << 20 || (uintptr_t)p % (2 << 20) == 0);
		if (p != NULL) {
			memset(p, 1, size);
		}
		array_unmap(p, size);
	}
	ok(zeros, "mapped memory of any size is zero, and can be written");
	ok(aligned, "mapped memory of 2 MiB and more begins with a large page");
	array_unmap(NULL, 0);
}

int main(void)
{
	test_cursor();
	test_text();
	test_digits();
	test_percent();
	test_intern();
	test_pool();
	test_team();
	test_error();
	test_error_chain();
	test_options();
	test_arena();
	test_array();
	test_map();
	test_sort();
	test_sort_jobs();
	return tap_done();
}
