/* SPDX-License-Identifier: MIT */
/* Samples with counts: a sample for each count, periods from earlier counts, on any worker. */
#include "session/session.h"

#include "../file/make.h"
#include "tap.h"

#include <sonde/session.h>

#include <unistd.h>

#define EVENTS 2u
#define IDS    104u /* two ids an event: 1 and 11, 2 and 12 */
#define ATTRS  (IDS + EVENTS * 16)
#define DATA   (ATTRS + EVENTS * 144)
#define NOBODY 77u /* an unknown id */

static struct make m;
static char path[] = "/tmp/sonde-test-reads-XXXXXX";
static uint64_t formats; /* read_format of the current recording */

static void begin(uint64_t read_format, uint64_t flags)
{
	struct sonde_attr attr = {.type = 1,
	        .size = 128,
	        .sample_period = 5,
	        .sample_type = SONDE_SAMPLE_IP | SONDE_SAMPLE_TID | SONDE_SAMPLE_TIME |
	                       SONDE_SAMPLE_ID | SONDE_SAMPLE_PERIOD | SONDE_SAMPLE_READ,
	        .read_format = read_format,
	        .flags = flags};

	memset(&m, 0, sizeof(m));
	formats = read_format;
	m.data = m.n = DATA;
	make_at(&m, 0, FILE_MAGIC2);
	make_at(&m, 8, 104);
	make_at(&m, 16, 144);
	make_at(&m, 24, ATTRS);
	make_at(&m, 32, (uint64_t)EVENTS * 144);
	make_at(&m, 40, DATA);
	for (uint64_t e = 0; e < EVENTS; e++) {
		uint8_t bytes[144];

		attr.config = e * 2;
		record_attr_encode(&attr, bytes);
		memcpy(m.p + ATTRS + e * 144, bytes, 128);
		make_at(&m, ATTRS + e * 144 + 128, IDS + e * 16);
		make_at(&m, ATTRS + e * 144 + 136, 16);
		make_at(&m, IDS + e * 16, e + 1);
		make_at(&m, IDS + e * 16 + 8, e + 11);
	}
}

/* A sample up to the READ part, followed by `words` words. */
static void head(uint64_t id, uint32_t tid, uint64_t time, unsigned words)
{
	make_record(&m, RECORD_SAMPLE, MISC_USER, (uint16_t)(48 + words * 8));
	make_u64(&m, 0x1000);
	make_u32s(&m, 9, tid);
	make_u64(&m, time);
	make_u64(&m, id);
	make_u64(&m, 5);
}

static void value(uint64_t count, uint64_t id)
{
	make_u64(&m, count);
	if ((formats & SONDE_READ_ID) != 0) {
		make_u64(&m, id);
	}
	if ((formats & SONDE_READ_LOST) != 0) {
		make_u64(&m, 3);
	}
}

/* A sample of the group: counts of two ids. */
static void pair(uint64_t time, uint64_t a, uint64_t id_a, uint64_t b, uint64_t id_b)
{
	unsigned per = 1u + ((formats & SONDE_READ_ID) != 0) + ((formats & SONDE_READ_LOST) != 0);
	unsigned times = (unsigned)((formats & SONDE_READ_ENABLED) != 0) +
	                 ((formats & SONDE_READ_RUNNING) != 0);

	head(id_a, 9, time, 1 + times + 2 * per);
	make_u64(&m, 2);
	for (unsigned i = 0; i < times; i++) {
		make_u64(&m, 1000 + i);
	}
	value(a, id_a);
	value(b, id_b);
}

static struct sonde_session *open_made(unsigned jobs)
{
	struct sonde_session_options o = {.size = sizeof(o), .jobs = jobs};
	struct sonde_session *s = sonde_session_new(&o);
	FILE *f = fopen(path, "wb");

	make_end(&m);
	if (f == NULL || fwrite(m.p, 1, m.n, f) != m.n || fclose(f) != 0 || s == NULL ||
	        sonde_session_open(s, path) < 0) {
		abort();
	}
	return s;
}

struct want {
	uint64_t time, event, id, period;
};

/* The recording has these samples, in this order, and its counts by event match. */
static void samples(const struct want *want, size_t n, const char *what)
{
	struct sonde_session *s = open_made(1);
	uint64_t number[EVENTS] = {0};
	uint64_t period[EVENTS] = {0};
	const struct sonde_event *e;
	size_t i = 0;
	bool good = true;

	while (sonde_session_next(s, &e) > 0) {
		if (i < n) {
			good &= e->sample->time == want[i].time && e->event == want[i].event &&
			        e->sample->id == want[i].id &&
			        e->sample->period == want[i].period && e->sample->ip == 0x1000 &&
			        e->sample->pid == 9;
		}
		if (i >= n || !good) {
			printf("#   %zu: time %" PRIu64 " event %u id %" PRIu64 " period %" PRIu64
			       "\n",
			        i, e->sample->time, e->event, e->sample->id, e->sample->period);
		}
		number[e->event]++;
		period[e->event] += e->sample->period;
		i++;
	}
	ok(good, what);
	eq_u64(i, n, "there are no other samples");
	for (size_t k = 0; k < EVENTS; k++) {
		good &= session_events(s)[k].count.samples == number[k] &&
		        session_events(s)[k].count.period == period[k];
	}
	ok(good, "counts by event are those of the samples");
	sonde_session_free(s);
}

#define SAMPLES(what, ...)                                                                         \
	samples((const struct want[]){__VA_ARGS__},                                                \
	        sizeof((const struct want[]){__VA_ARGS__}) / sizeof(struct want), what)

static void test_group(void)
{
	const uint64_t layouts[] = {0, SONDE_READ_LOST, SONDE_READ_ENABLED,
	        SONDE_READ_ENABLED | SONDE_READ_RUNNING | SONDE_READ_LOST};

	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		begin(SONDE_READ_GROUP | SONDE_READ_ID | layouts[i], 0);
		pair(100, 7, 1, 0, 2);
		pair(200, 30, 1, 4, 2);
		pair(300, 30, 1, 9, 2);
		pair(400, 30, 1, 9, 2);
		pair(500, 50, 1, 9, 2);
		SAMPLES("a sample for each count that changed, with the difference", {100, 0, 1, 7},
		        {200, 0, 1, 23}, {200, 1, 2, 4}, {300, 1, 2, 5}, {500, 0, 1, 20});
	}
}

static void test_instances(void)
{
	begin(SONDE_READ_GROUP | SONDE_READ_ID, 0);
	pair(100, 10, 1, 1, 2);
	pair(200, 1000, 11, 100, 12);
	pair(300, 15, 1, 3, 2);
	pair(400, 1001, 11, 101, 12);
	SAMPLES("each instance counts for itself", {100, 0, 1, 10}, {100, 1, 2, 1},
	        {200, 0, 11, 1000}, {200, 1, 12, 100}, {300, 0, 1, 5}, {300, 1, 2, 2},
	        {400, 0, 11, 1}, {400, 1, 12, 1});
	begin(SONDE_READ_GROUP | SONDE_READ_ID, 0);
	pair(100, 10, 1, 1, NOBODY);
	pair(200, 12, 1, 5, NOBODY);
	SAMPLES("a count of an unknown id makes no sample", {100, 0, 1, 10}, {200, 0, 1, 2});
	begin(SONDE_READ_GROUP | SONDE_READ_ID, 0);
	pair(100, 5, 1, 8, 1);
	pair(200, 9, 1, 3, 2);
	SAMPLES("an id twice in a sample", {100, 0, 1, 5}, {100, 0, 1, 3}, {200, 0, 1, 1},
	        {200, 1, 2, 3});
	begin(SONDE_READ_GROUP | SONDE_READ_ID, 0);
	pair(100, 50, 1, 1, 2);
	pair(200, 20, 1, 2, 2);
	SAMPLES("a count that went down began anew", {100, 0, 1, 50}, {100, 1, 2, 1},
	        {200, 0, 1, 20}, {200, 1, 2, 1});
	begin(SONDE_READ_GROUP | SONDE_READ_ID, 0);
	pair(300, 30, 1, 9, 2);
	pair(200, 30, 1, 4, 2);
	pair(100, 7, 1, 0, 2);
	SAMPLES("backwards in the file", {100, 0, 1, 7}, {200, 0, 1, 23}, {200, 1, 2, 4},
	        {300, 1, 2, 5});
}

/* A count of an event without a group. */
static void one(uint32_t tid, uint64_t time, uint64_t id, uint64_t count)
{
	unsigned per = 1u + ((formats & SONDE_READ_ID) != 0) + ((formats & SONDE_READ_LOST) != 0);
	bool enabled = (formats & SONDE_READ_ENABLED) != 0;

	head(id, tid, time, per + (enabled ? 1 : 0));
	if (!enabled) {
		value(count, id);
		return;
	}
	make_u64(&m, count);
	make_u64(&m, 999);
	make_u64(&m, id);
	make_u64(&m, 3);
}

static void test_alone(void)
{
	begin(SONDE_READ_ID | SONDE_READ_ENABLED | SONDE_READ_LOST, 0);
	one(9, 100, 1, 10);
	one(9, 200, 2, 6);
	one(10, 300, 1, 25);
	one(9, 400, 2, 6);
	SAMPLES("events alone in their samples", {100, 0, 1, 10}, {200, 1, 2, 6}, {300, 0, 1, 15});
	begin(SONDE_READ_ID, (uint64_t)1 << SONDE_FLAG_INHERIT);
	one(9, 100, 1, 10);
	one(10, 200, 1, 4);
	one(9, 300, 1, 25);
	one(10, 400, 1, 9);
	SAMPLES("an inherited event counts each thread for itself", {100, 0, 1, 10}, {200, 0, 1, 4},
	        {300, 0, 1, 15}, {400, 0, 1, 5});
	begin(0, 0);
	one(9, 100, 1, 10);
	one(9, 200, 2, 25);
	SAMPLES("without ids: as recorded", {100, 0, 1, 5}, {200, 1, 2, 5});
	begin(SONDE_READ_GROUP, 0);
	pair(100, 10, 1, 4, 2);
	SAMPLES("a group without ids: as recorded", {100, 0, 1, 5});
}

static void test_damaged(void)
{
	struct sonde_session *s;

	begin(SONDE_READ_GROUP | SONDE_READ_ID, 0);
	pair(100, 10, 1, 4, 2);
	head(1, 9, 200, 1);
	make_u64(&m, 0);
	head(1, 9, 300, 3);
	make_u64(&m, UINT64_MAX / 8);
	make_u64(&m, 5);
	make_u64(&m, 1);
	pair(400, 12, 1, 4, 2);
	SAMPLES("counts that are not there: that sample stays as recorded", {100, 0, 1, 10},
	        {100, 1, 2, 4}, {200, 0, 1, 5}, {300, 0, 1, 5}, {400, 0, 1, 2});
	s = open_made(1);
	eq_u64(sonde_session_diags(s, SONDE_DIAG_DAMAGED), 2, "malformed counts are reported");
	sonde_session_free(s);
}

struct sum {
	uint64_t n[8][EVENTS], period[8][EVENTS];
};

static int add(void *arg, unsigned worker, const struct sonde_event *e)
{
	struct sum *sum = arg;

	sum->n[worker][e->event]++;
	sum->period[worker][e->event] += e->sample->period;
	return e->sample->read_len == 2 && e->sample->read_values[1].lost == 3 ? 0 : -1;
}

static void test_map(void)
{
	begin(SONDE_READ_GROUP | SONDE_READ_ID | SONDE_READ_LOST, 0);
	for (uint64_t i = 1; i <= 40000; i++) {
		uint64_t cpu = i % 2 * 10;

		pair(i, i * 3, 1 + cpu, i / 8, 2 + cpu);
	}
	for (unsigned jobs = 1; jobs <= 8; jobs++) {
		struct sonde_session *s = open_made(jobs);
		uint64_t n[EVENTS] = {0};
		uint64_t period[EVENTS] = {0};
		struct sum sum = {0};

		ok(sonde_session_map(s, add, &sum) == 0, "a map over samples with counts succeeds");
		for (unsigned w = 0; w < jobs; w++) {
			for (unsigned e = 0; e < EVENTS; e++) {
				n[e] += sum.n[w][e];
				period[e] += sum.period[w][e];
			}
		}
		ok(n[0] == 40000 && period[0] == UINT64_C(3) * (40000 + 39999),
		        "the map visits each sample of the leader once");
		ok(n[1] == 5000 + 4999 && period[1] == 5000 + 4999,
		        "the map visits each sample of the member once");
		sonde_session_free(s);
	}
}

int main(void)
{
	int fd = mkstemp(path);

	if (fd < 0) {
		abort();
	}
	(void)close(fd);
	test_group();
	test_instances();
	test_alone();
	test_damaged();
	test_map();
	(void)unlink(path);
	return tap_done();
}
