/* SPDX-License-Identifier: MIT */
/* Order in time over rounds, kept and broken promises, maps over workers, files without TIME. */
#include "session/session.h"

#include "../file/make.h"
#include "tap.h"

#include <sonde/session.h>

#include <unistd.h>

#define CPUS     5u
#define ROUNDS   5u
#define EACH     6000u /* samples of a cpu in a round */
#define JOBS_MAX 8u

static struct make m;
static char path[] = "/tmp/sonde-test-session-XXXXXX";

static void save(void)
{
	FILE *f = fopen(path, "wb");

	if (f == NULL || fwrite(m.p, 1, m.n, f) != m.n || fclose(f) != 0) {
		abort();
	}
}

static struct sonde_session *open_made(unsigned jobs)
{
	struct sonde_session_options o = {.size = sizeof(o), .jobs = jobs};
	struct sonde_session *s = sonde_session_new(&o);

	if (s == NULL || sonde_session_open(s, path) < 0) {
		abort();
	}
	return s;
}

/* True when all `want` samples come, by time and, at the same time, by offset. */
static bool sorted(uint64_t want, bool timed, size_t windows)
{
	struct sonde_session *s = open_made(1);
	const struct sonde_event *e;
	uint64_t n = 0;
	uint64_t time = 0;
	uint64_t offset = 0;
	uint64_t ips = 0;
	bool good = true;

	while (sonde_session_next(s, &e) > 0) {
		if (timed) {
			good &= e->sample->time > time ||
			        (e->sample->time == time && e->offset > offset);
			time = e->sample->time;
		} else {
			good &= e->offset > offset;
		}
		offset = e->offset;
		ips += e->sample->ip;
		n++;
	}
	eq_u64(session_windows(s), windows, "the recording has this number of windows");
	sonde_session_free(s);
	if (n != want || ips != want * (want + 1) / 2) {
		printf("#   %" PRIu64 " samples, sum of ips %" PRIu64 "\n", n, ips);
		return false;
	}
	return good;
}

/*
 * Every round has one run for each cpu; the last third of a run is newer than the start of the next
 * round, and several cpus have samples of the same time. Rounds are large, so that they make
 * windows.
 */
static uint64_t make_rounds(bool timed)
{
	uint64_t n = 0;

	make_begin(&m, 128, timed);
	for (unsigned round = 0; round < ROUNDS; round++) {
		for (unsigned cpu = 0; cpu < CPUS; cpu++) {
			for (unsigned i = 0; i < EACH; i++) {
				n++;
				make_sample(&m, n, 100 + cpu,
				        1000 + round * EACH * 2 + i * 2 +
				                (i > EACH * 2 / 3 ? 9 : 0) + (cpu == 2));
			}
		}
		make_round(&m);
	}
	make_end(&m);
	save();
	return n;
}

static void test_order(void)
{
	uint64_t n = make_rounds(true);

	ok(sorted(n, true, ROUNDS + 1),
	        "samples of several cpus and rounds are sorted by time, then offset");
	n = make_rounds(false);
	ok(sorted(n, false, (ROUNDS + 1) / 2), "without TIME samples are in file order");
	make_begin(&m, 128, true);
	for (n = 0; n < 3000; n++) {
		make_sample(&m, n + 1, 1, 5000 - n);
	}
	make_end(&m);
	save();
	ok(sorted(n, true, 1), "without rounds, samples in reverse order are sorted");
}

/* Enough of bytes between marks that every mark counts; then one sample that is far too old. */
static void test_broken_promise(void)
{
	uint64_t n = 0;

	make_begin(&m, 128, true);
	for (unsigned round = 0; round < 5; round++) {
		for (unsigned i = 0; i < 30000; i++) {
			n++;
			make_sample(&m, n, 1, 100000 + n);
		}
		make_round(&m);
	}
	make_sample(&m, ++n, 1, 7);
	make_end(&m);
	save();
	ok(sorted(n, true, 1), "a sample older than its round is sorted into its place");
}

struct count {
	uint64_t n[JOBS_MAX];
	uint64_t period[JOBS_MAX];
	uint64_t by_tid[JOBS_MAX][CPUS];
};

static int add(void *arg, unsigned worker, const struct sonde_event *e)
{
	struct count *c = arg;

	c->n[worker]++;
	c->period[worker] += e->sample->ip;
	if (e->thread.tid >= 100 && e->thread.tid < 100 + CPUS) {
		c->by_tid[worker][e->thread.tid - 100]++;
	}
	return 0;
}

static int stop(void *arg, unsigned worker, const struct sonde_event *e)
{
	(void)arg;
	(void)worker;
	return e->sample->ip == 77 ? -1234 : 0;
}

static void test_map(void)
{
	uint64_t n = make_rounds(true);

	for (unsigned jobs = 1; jobs <= JOBS_MAX; jobs++) {
		struct sonde_session *s = open_made(jobs);
		struct count c = {0};
		uint64_t sum = 0;
		uint64_t ips = 0;
		bool tids = true;

		eq_u64(sonde_session_jobs(s), jobs,
		        "the session uses the requested number of workers");
		ok(sonde_session_map(s, add, &c) == 0, "a map over all samples succeeds");
		for (unsigned w = 0; w < jobs; w++) {
			sum += c.n[w];
			ips += c.period[w];
		}
		for (unsigned cpu = 0; cpu < CPUS; cpu++) {
			uint64_t of_tid = 0;

			for (unsigned w = 0; w < jobs; w++) {
				of_tid += c.by_tid[w][cpu];
			}
			tids &= of_tid == (uint64_t)ROUNDS * EACH;
		}
		eq_u64(sum, n, "the map visits each sample once");
		ok(ips == n * (n + 1) / 2 && tids, "sums are equal for every number of workers");
		eq_u64(sonde_session_map(s, stop, NULL), -1234,
		        "a negative result of a function stops the map and is returned");
		sonde_session_free(s);
	}
}

static void test_misuse(void)
{
	struct sonde_session *s;

	(void)make_rounds(true);
	s = open_made(1);
	eq_u64(sonde_session_open(s, path), SONDE_EARG,
	        "a second open on the same handle is refused");
	ok(sonde_session_event_name(s, 1) == NULL && sonde_session_event_attr(s, 1) == NULL,
	        "an event that does not exist has no name and no attr");
	sonde_session_free(s);
	sonde_session_free(NULL);
	s = sonde_session_new(NULL);
	eq_u64(sonde_session_open(s, "/no/such/file"), SONDE_ENOENT,
	        "opening a file that does not exist fails");
	sonde_session_free(s);
}

int main(void)
{
	int fd = mkstemp(path);

	if (fd < 0) {
		abort();
	}
	(void)close(fd);
	for (int swap = 0; swap <= 1; swap++) {
		m.swap = swap != 0;
		test_order();
		test_broken_promise();
		test_map();
	}
	test_misuse();
	(void)unlink(path);
	return tap_done();
}
