/* SPDX-License-Identifier: MIT */
/*
 * A session with two sources: a file, and one in memory that makes its records. Samples of both come
 * merged by (time, stream, sequence), as a plain sort of all of them gives it, for every number of
 * workers.
 */
#include "core/text.h"
#include "session/session.h"

#include "../file/make.h"
#include "tap.h"

#include <sonde/preview/script.h>

#include <unistd.h>

#define CPUS      3u
#define ROUNDS    5u
#define EACH      10000u /* samples of a cpu in a round */
#define MADE      30000u
#define MADE_SIZE 48u /* bytes of a record, header included */
#define MADE_PID  900u
#define CHUNK     1000u /* records */

static struct make m;
static char path[] = "/tmp/sonde-test-sources-XXXXXX";

/* One sample: what the order goes by. */
struct place {
	uint64_t time;
	uint32_t stream;
	uint64_t sequence;
};

static struct place *expected;
static size_t nexpected;

static void expect(uint64_t time, uint32_t stream, uint64_t sequence)
{
	expected[nexpected++] =
	        (struct place){.time = time, .stream = stream, .sequence = sequence};
}

static int by_place(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->time != y->time) {
		return x->time < y->time ? -1 : 1;
	}
	if (x->stream != y->stream) {
		return x->stream < y->stream ? -1 : 1;
	}
	return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

/* ---- the file: rounds of three cpus, whose times overlap with the next round's ---- */

static void make_file(void)
{
	make_begin(&m, 128, true);
	for (unsigned round = 0; round < ROUNDS; round++) {
		for (unsigned cpu = 0; cpu < CPUS; cpu++) {
			for (unsigned i = 0; i < EACH; i++) {
				uint64_t time = 1000 + (uint64_t)round * EACH * 2 +
				                (uint64_t)i * 2 + (i > EACH * 2 / 3 ? 9 : 0) +
				                (cpu == 2);

				expect(time, 0, m.n);
				make_sample(&m, 0x1000 + cpu, 100 + cpu, time);
			}
		}
		make_round(&m);
	}
	make_end(&m);
}

/* ---- the source in memory ---- */

struct made_source {
	struct session_source base;
	uint8_t *records; /* MADE + 1 of MADE_SIZE bytes; the first is a COMM */
	uint32_t event;
	size_t scanned;
	bool swap;
};

/* Two runs that overlap, with every third time that of a sample of the file. */
static uint64_t made_time(size_t i)
{
	return 1000 + (i % 2) * 7 + i * 3;
}

static uint64_t made_record_time(const struct made_source *src, size_t i)
{
	return i == 0 ? 0 : load_u64(src->records + i * MADE_SIZE + 24, src->swap);
}

static struct session_item made_item(const struct made_source *src, size_t i)
{
	return (struct session_item){.p = src->records + i * MADE_SIZE,
	        .sequence = i,
	        .time = made_record_time(src, i),
	        .event = src->event,
	        .size = MADE_SIZE - 8};
}

static int made_scan(struct session_source *base, struct session_item *out, size_t n)
{
	struct made_source *src = (struct made_source *)base;
	size_t i = 0;

	while (i < n && src->scanned <= MADE) {
		out[i++] = made_item(src, src->scanned++);
	}
	base->chunks = (MADE + 1 + CHUNK - 1) / CHUNK;
	return (int)i;
}

static int made_read(const struct session_source *base, size_t chunk, struct session_state *state,
        uint32_t kinds, struct session_item *out, size_t n)
{
	size_t i = state->at != 0 ? state->at : chunk * CHUNK;
	size_t end = (chunk + 1) * CHUNK < MADE + 1 ? (chunk + 1) * CHUNK : MADE + 1;
	size_t taken = 0;

	for (i += i == 0 && (kinds >> RECORD_COMM & 1) == 0; i < end && taken < n; i++) {
		out[taken++] = made_item((const struct made_source *)base, i);
	}
	state->at = i;
	return (int)taken;
}

static int made_gather(const struct session_source *base, const struct session_window *window,
        struct session_state *state, struct session_keys *keys)
{
	const struct made_source *src = (const struct made_source *)base;

	(void)state;
	for (size_t i = (window->kinds >> RECORD_COMM & 1) != 0 ? 0 : 1; i <= MADE; i++) {
		uint64_t time = made_record_time(src, i);

		if (time <= window->limit && (time > window->after || window->first) &&
		        !session_keys_add(keys, base, time, i)) {
			return SONDE_ENOMEM;
		}
	}
	return 0;
}

static void made_fetch(const struct session_source *base, struct session_state *state,
        const struct session_key *keys, size_t n, struct session_item *out)
{
	(void)state;
	for (size_t i = 0; i < n; i++) {
		out[i] = made_item((const struct made_source *)base,
		        (size_t)(keys[i].place & SESSION_SEQUENCE_MAX));
	}
}

static void made_free(struct session_source *base)
{
	free(((struct made_source *)base)->records);
	free(base);
}

static void make_comm(uint8_t *p, bool swap)
{
	store_u32(p, RECORD_COMM, swap);
	store_u16(p + 6, MADE_SIZE, swap);
	store_u32(p + 8, MADE_PID, swap);
	store_u32(p + 12, MADE_PID, swap);
	memcpy(p + 16, "maker", 6);
}

static void add_made(struct sonde_session *s, bool expecting)
{
	static const struct session_source_ops ops = {
	        made_scan, made_read, made_gather, made_fetch, NULL, made_free};
	struct session_event event = {.name = "made", .attr = session_events(s)[0].attr};
	struct made_source *src = calloc(1, sizeof(*src));
	uint8_t *p = calloc(MADE + 1, MADE_SIZE);

	if (src == NULL || p == NULL) {
		abort();
	}
	*src = (struct made_source){.base.ops = &ops, .records = p, .swap = session_swap(s)};
	record_plan_make(&event.plan, &event.attr);
	make_comm(p, src->swap);
	for (size_t i = 1; i <= MADE; i++) {
		p += MADE_SIZE;
		store_u32(p, RECORD_SAMPLE, src->swap);
		store_u16(p + 4, MISC_USER, src->swap);
		store_u16(p + 6, MADE_SIZE, src->swap);
		store_u64(p + 8, 0x2000 + i, src->swap);
		store_u32(p + 16, MADE_PID, src->swap);
		store_u32(p + 20, MADE_PID, src->swap);
		store_u64(p + 24, made_time(i), src->swap);
		store_u64(p + 32, 3, src->swap); /* period */
		if (expecting) {
			expect(made_time(i), 1, i);
		}
	}
	src->event = (uint32_t)session_add_event(s, &event);
	if (session_add_source(s, &src->base) != 1) {
		abort();
	}
}

static struct sonde_session *open_both(unsigned jobs, bool expecting)
{
	struct sonde_session_options o = {.size = sizeof(o), .jobs = jobs};
	struct sonde_session *s = sonde_session_new(&o);

	if (s == NULL || session_open_header(s, path) < 0) {
		abort();
	}
	add_made(s, expecting);
	if (session_open_records(s) < 0) {
		abort();
	}
	return s;
}

/* ---- tests ---- */

static void test_order(void)
{
	struct sonde_session *s = open_both(1, true);
	const struct sonde_event *e;
	bool order = true, names = true;
	size_t n = 0;

	qsort(expected, nexpected, sizeof(*expected), by_place);
	while (sonde_session_next(s, &e) > 0 && n < nexpected) {
		const struct place *want = &expected[n++];

		order &= e->sample->time == want->time && e->event == want->stream &&
		         e->offset == want->sequence;
		names &= e->event == 0 || strcmp(e->thread.comm, "maker") == 0;
	}
	ok(order && sonde_session_next(s, &e) == 0,
	        "samples of a file and of memory come by time, stream and sequence");
	eq_u64(n, (uint64_t)CPUS * ROUNDS * EACH + MADE, "each sample of both comes once");
	ok(names, "side-band of the source in memory names its threads");
	eq_u64(session_windows(s), ROUNDS + 1, "the windows are those of the file");
	eq_u64(sonde_session_events(s), 2, "the source's event is in the session's table");
	eq_u64(session_events(s)[1].count.samples, MADE, "samples are counted by their event");
	eq_u64(session_events(s)[1].count.period, 3 * MADE, "periods are summed by their event");
	sonde_session_free(s);
}

struct sums {
	uint64_t n[2][8]; /* by event and worker */
};

static int add(void *arg, unsigned worker, const struct sonde_event *e)
{
	((struct sums *)arg)->n[e->event][worker]++;
	return 0;
}

static int keep(void *arg, const char *text, size_t n)
{
	text_bytes(arg, text, n);
	return 0;
}

static void test_jobs(void)
{
	struct text first = {0};

	for (unsigned jobs = 1; jobs <= 4; jobs++) {
		struct sonde_script_options o = {.size = sizeof(o), .show_tasks = true};
		struct sonde_session *s = open_both(jobs, false);
		struct sums sums = {0};
		struct text text = {0};
		uint64_t n[2] = {0, 0};

		ok(sonde_session_map(s, add, &sums) == 0, "a map over both sources");
		for (unsigned w = 0; w < jobs; w++) {
			n[0] += sums.n[0][w];
			n[1] += sums.n[1][w];
		}
		eq_u64(n[0], (uint64_t)CPUS * ROUNDS * EACH, "all samples of the file are mapped");
		eq_u64(n[1], MADE, "all samples of memory are mapped");
		ok(sonde_script_print(s, &o, keep, jobs == 1 ? &first : &text) == 0,
		        "the script prints");
		ok(jobs == 1 || (text.n == first.n && memcmp(text.p, first.p, text.n) == 0),
		        "any number of workers prints the same bytes");
		text_fini(&text);
		sonde_session_free(s);
	}
	text_char(&first, '\0');
	ok(strstr(first.p, " made: ") != NULL &&
	                strstr(first.p, "PERF_RECORD_COMM: maker:900") != NULL,
	        "the text has samples and side-band of the source in memory");
	text_fini(&first);
}

int main(void)
{
	int fd = mkstemp(path);

	expected = calloc((size_t)CPUS * ROUNDS * EACH + MADE, sizeof(*expected));
	if (fd < 0 || expected == NULL) {
		abort();
	}
	for (int swap = 0; swap <= 1; swap++) {
		FILE *f = fopen(path, "wb");

		nexpected = 0;
		m.swap = swap != 0;
		make_file();
		if (f == NULL || fwrite(m.p, 1, m.n, f) != m.n || fclose(f) != 0) {
			abort();
		}
		test_order();
		test_jobs();
	}
	free(expected);
	(void)close(fd);
	(void)unlink(path);
	return tap_done();
}
