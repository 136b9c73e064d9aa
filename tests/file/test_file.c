/* SPDX-License-Identifier: MIT */
/* Opening: attrs of every size, ids, the table of features, names, and recorders that were killed.
 */
#include "file/next.h"
#include "make.h"
#include "tap.h"

static struct make m;

struct opened {
	struct file f;
	struct diag_sink diags;
	int rc;
};

static void reopen(struct opened *o)
{
	memset(o, 0, sizeof(*o));
	o->f.diags = &o->diags;
	o->rc = file_open_bytes(&o->f, (struct span){m.p, m.n}, "made");
}

static uint64_t loss(const struct opened *o)
{
	return o->diags.counts[SONDE_DIAG_TRUNCATED] + o->diags.counts[SONDE_DIAG_DAMAGED];
}

static size_t records(struct opened *o)
{
	uint64_t offset = o->f.data.offset;
	struct record r;
	size_t n = 0;

	while (file_next(&o->f, &offset, &r, &o->diags) > 0) {
		n++;
	}
	return n;
}

static void test_attr_sizes(void)
{
	static const size_t sizes[] = {64, 72, 80, 96, 104, 112, 120, 128, 136, 144, 152, 200};
	struct opened o;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		bool good;

		make_begin(&m, sizes[i], true);
		make_sample(&m, 1, 2, 3);
		make_end(&m);
		reopen(&o);
		good = o.rc == 0 && o.f.nevents == 1 && o.f.events[0].nids == 2 &&
		       o.f.events[0].ids[1] == 6 && records(&o) == 1 && loss(&o) == 0;
		if (!ok(good, "a file with attrs of 64 to 200 bytes is read")) {
			printf("#   size %zu\n", sizes[i]);
		}
		eq_u64(o.f.events[0].attr.config3, sizes[i] >= 136 ? 77 : 0,
		        "fields missing in a short attr are 0");
		file_close(&o.f);
	}
	make_begin(&m, 128, true);
	make_at(&m, 16, 56 + 16);
	reopen(&o);
	eq_u64(o.rc, SONDE_EFORMAT, "attrs of 56 bytes are refused");
	ok(strstr(o.f.error.text, "at byte 16") != NULL,
	        "the error about attrs of 56 bytes has the offset");
	file_close(&o.f);
}

static void test_ids(void)
{
	struct opened o;

	make_begin(&m, 128, true);
	make_end(&m);
	reopen(&o);
	ok(file_event_by_id(&o.f, 5) == &o.f.events[0], "an id finds its event");
	ok(file_event_by_id(&o.f, 7) == NULL, "an unknown id finds no event");
	eq_str(o.f.events[0].name, "cpu-clock:HG",
	        "an event without a name gets one derived from its attr");
	file_close(&o.f);
	make_at(&m, MAKE_ATTRS + 128, 1ull << 60);
	reopen(&o);
	ok(o.rc == 0 && o.f.events[0].nids == 0,
	        "ids past the end of the file are ignored, everything else is read");
	eq_u64(loss(&o), 1, "ids past the end of the file are reported");
	file_close(&o.f);
	make_at(&m, MAKE_ATTRS + 128, MAKE_IDS);
	make_at(&m, MAKE_ATTRS + 136, UINT64_MAX);
	reopen(&o);
	ok(o.rc == 0 && o.f.events[0].nids == 0, "2^64 - 1 bytes of ids are not allocated");
	file_close(&o.f);
}

/* HOSTNAME (3) and EVENT_DESC (12) after one sample; EVENT_DESC names id 6 "named". */
static void with_features(void)
{
	size_t table;
	size_t host;
	size_t desc;

	make_begin(&m, 128, true);
	make_sample(&m, 1, 2, 3);
	make_end(&m);
	make_at(&m, 72, 1u << 3 | 1u << 12);
	table = m.n;
	host = table + 32;
	desc = host + 16;
	make_u64(&m, host);
	make_u64(&m, 12);
	make_u64(&m, desc);
	make_u64(&m, 8 + 128 + 8 + 8 + 8);
	make_u32s(&m, 8, 0);
	m.p[m.n - 4] = 'h';
	make_u64(&m, 0);
	make_u32s(&m, 1, 128);
	m.n += 128;
	make_u32s(&m, 1, 8);
	memcpy(m.p + m.n, "named\0\0", 8);
	m.n += 8;
	make_u64(&m, 6);
}

static void test_features(void)
{
	size_t table;
	size_t whole;
	struct opened o;

	with_features();
	table = m.data + 40;
	whole = m.n;
	reopen(&o);
	ok(o.rc == 0 && loss(&o) == 0, "a file with two features is read without loss");
	eq_str(o.f.events[0].name, "named", "EVENT_DESC names the event by its id");
	eq_u64(file_feature(&o.f, (enum abi_feature)3).n, 12, "HOSTNAME has 12 bytes");
	eq_u64(file_feature(&o.f, (enum abi_feature)4).n, 0, "OSRELEASE is absent");
	file_close(&o.f);
	for (size_t n = table; n < whole; n++) {
		bool good;

		m.n = n;
		reopen(&o);
		good = o.rc == 0 && loss(&o) != 0 && records(&o) == 1 && o.f.events[0].name != NULL;
		if (!good || n == whole - 1) {
			ok(good, "features cut anywhere: the records are read and the loss is "
			         "reported");
		}
		file_close(&o.f);
	}
}

static void test_killed(void)
{
	struct opened o;

	make_begin(&m, 128, true);
	make_sample(&m, 1, 2, 3);
	make_sample(&m, 1, 2, 4);
	make_sample(&m, 1, 2, 5);
	for (size_t cut = 0; cut < 40; cut++) {
		m.n = m.data + 120 - cut;
		reopen(&o);
		if (o.rc != 0 || !o.f.interrupted || records(&o) != (cut == 0 ? 3 : 2) ||
		        loss(&o) != 0) {
			ok(false, "data size 0: a file cut in its last record is read");
			printf("#   %zu bytes cut\n", cut);
		}
		file_close(&o.f);
	}
	ok(true, "data size 0: complete records are read, an incomplete one is no loss");
	m.n = m.data + 120;
	make_at(&m, 48, 40);
	reopen(&o);
	ok(o.f.interrupted && records(&o) == 3, "a data size that is too small, without features: "
	                                        "all records are read, interrupted");
	eq_u64(o.diags.counts[SONDE_DIAG_NOTE], 1, "a data size that is too small is noted");
	file_close(&o.f);
	make_at(&m, 48, 120);
	reopen(&o);
	ok(!o.f.interrupted && records(&o) == 3,
	        "a complete file without features is not interrupted");
	eq_u64(o.diags.counts[SONDE_DIAG_NOTE], 0,
	        "for a complete file without features there is no note");
	file_close(&o.f);
	make_at(&m, 56, FILE_UNFINISHED);
	reopen(&o);
	ok(o.f.interrupted && records(&o) == 3,
	        "a file with the mark of an unfinished file is interrupted");
	eq_u64(o.diags.counts[SONDE_DIAG_NOTE], 1, "the mark of an unfinished file is noted");
	file_close(&o.f);
	make_at(&m, 64, 8);
	reopen(&o);
	ok(!o.f.interrupted, "the mark is ignored if there are event types");
	file_close(&o.f);
	make_at(&m, 64, 0);
	make_at(&m, 56, 0);
	make_at(&m, 48, 1ull << 63);
	reopen(&o);
	ok(o.rc == 0 && records(&o) == 3 && loss(&o) == 1,
	        "a data size past the end of the file: the records are read, a loss is reported");
	file_close(&o.f);
	with_features();
	make_at(&m, 56, FILE_UNFINISHED);
	reopen(&o);
	ok(o.f.interrupted && file_has_feature(&o.f, FEATURE_HOSTNAME) && records(&o) == 1,
	        "the features of an unfinished file are read");
	file_close(&o.f);
}

/* A stream with FINISHED_ROUNDs before an event, before a sample, and at the end. */
static bool stream_is_interrupted(unsigned first, unsigned middle, unsigned last)
{
	struct sonde_attr attr = {.type = 1,
	        .size = 128,
	        .sample_period = 1,
	        .sample_type = SONDE_SAMPLE_IP | SONDE_SAMPLE_TID | SONDE_SAMPLE_PERIOD};
	uint8_t bytes[144];
	struct opened o;
	bool interrupted;

	memset(&m, 0, sizeof(m));
	make_u64(&m, FILE_MAGIC2);
	make_u64(&m, 16);
	for (unsigned i = 0; i < first; i++) {
		make_record(&m, RECORD_FINISHED_ROUND, 0, 8);
	}
	record_attr_encode(&attr, bytes);
	make_record(&m, RECORD_HEADER_ATTR, 0, 8 + 128);
	memcpy(m.p + m.n, bytes, 128);
	m.n += 128;
	for (unsigned i = 0; i < middle; i++) {
		make_record(&m, RECORD_FINISHED_ROUND, 0, 8);
	}
	make_sample(&m, 1, 2, 3);
	for (unsigned i = 0; i < last; i++) {
		make_record(&m, RECORD_FINISHED_ROUND, 0, 8);
	}
	reopen(&o);
	interrupted = o.rc == 0 && o.f.interrupted;
	file_close(&o.f);
	return interrupted;
}

static void test_killed_stream(void)
{
	ok(!stream_is_interrupted(0, 0, 0) && !stream_is_interrupted(0, 1, 1) &&
	                !stream_is_interrupted(1, 1, 0),
	        "a stream without two rounds before the records is never interrupted");
	ok(stream_is_interrupted(2, 0, 0) && stream_is_interrupted(0, 2, 1),
	        "a stream with two rounds before the records, but not at its end, is interrupted");
	ok(stream_is_interrupted(2, 0, 1) && !stream_is_interrupted(2, 0, 3) &&
	                !stream_is_interrupted(4, 0, 2),
	        "rounds before the records do not count as those of the end");
	ok(!stream_is_interrupted(2, 0, 2) && !stream_is_interrupted(0, 2, 2),
	        "a stream with two rounds at its end is complete");
}

/*
 * Two events whose samples have their ids at different offsets: after TIME (ID), and first
 * (IDENTIFIER).
 */
static void test_mixed(void)
{
	struct sonde_attr attr = {.type = 1, .size = 128, .sample_period = 1};
	uint8_t bytes[144];
	struct opened o;
	struct record r;
	uint64_t position;

	make_begin(&m, 128, true);
	m.data = MAKE_ATTRS + 2 * 144;
	make_at(&m, 32, 288);
	make_at(&m, 40, m.data);
	for (size_t i = 0; i < 2; i++) {
		attr.sample_type = SONDE_SAMPLE_IP | SONDE_SAMPLE_TIME |
		                   (i == 0 ? SONDE_SAMPLE_ID : SONDE_SAMPLE_IDENTIFIER);
		record_attr_encode_as(&attr, m.swap, bytes);
		memcpy(m.p + MAKE_ATTRS + i * 144, bytes, 128);
		make_at(&m, MAKE_ATTRS + i * 144 + 128, MAKE_IDS + 8 * i);
		make_at(&m, MAKE_ATTRS + i * 144 + 136, 8);
	}
	m.n = m.data;
	for (size_t i = 0; i < 2; i++) {
		make_record(&m, RECORD_SAMPLE, MISC_USER, 32);
		make_u64(&m, i == 0 ? 111 : 6);
		make_u64(&m, i == 0 ? 222 : 111);
		make_u64(&m, i == 0 ? 5 : 222);
	}
	make_end(&m);
	reopen(&o);
	position = file_begin(&o.f);
	ok(file_next(&o.f, &position, &r, NULL) == 1 &&
	                file_sample_event(&o.f, &r) == &o.f.events[0],
	        "the event of a sample with ID is found");
	ok(file_next(&o.f, &position, &r, NULL) == 1 &&
	                file_sample_event(&o.f, &r) == &o.f.events[1],
	        "the event of a sample with IDENTIFIER is found");
	file_close(&o.f);
}

/*
 * Two events with the ids a and b, and samples with the ids of `ids`: returns the events of the
 * samples as digits, 0 for none, and 9 if the two ways to find them differ.
 */
static unsigned events_of(uint64_t a, uint64_t b, const uint64_t *ids, size_t n)
{
	struct sonde_attr attr = {
	        .type = 1, .size = 128, .sample_type = SONDE_SAMPLE_IDENTIFIER | SONDE_SAMPLE_TIME};
	struct opened o;
	uint8_t bytes[144];
	struct record r;
	uint64_t position;
	unsigned found = 0;

	make_begin(&m, 128, true);
	m.data = MAKE_ATTRS + 2 * 144;
	make_at(&m, 32, 288);
	make_at(&m, 40, m.data);
	make_at(&m, MAKE_IDS, a);
	make_at(&m, MAKE_IDS + 8, b);
	record_attr_encode_as(&attr, m.swap, bytes);
	for (size_t i = 0; i < 2; i++) {
		memcpy(m.p + MAKE_ATTRS + i * 144, bytes, 128);
		make_at(&m, MAKE_ATTRS + i * 144 + 128, MAKE_IDS + 8 * i);
		make_at(&m, MAKE_ATTRS + i * 144 + 136, 8);
	}
	m.n = m.data;
	for (size_t i = 0; i < n; i++) {
		make_record(&m, RECORD_SAMPLE, MISC_USER, 24);
		make_u64(&m, ids[i]);
		make_u64(&m, 100 + i);
	}
	make_end(&m);
	reopen(&o);
	position = file_begin(&o.f);
	while (file_next(&o.f, &position, &r, NULL) == 1) {
		const struct file_event *e = file_sample_event(&o.f, &r);

		found = found * 10 + (e != NULL ? (unsigned)(e - o.f.events) + 1 : 0);
		found = e == file_sample_event_in(&o.f, &r) ? found : 9;
	}
	file_close(&o.f);
	return found;
}

/* Ids that follow each other are looked up in an array, others by their hashes. */
static void test_sample_ids(void)
{
	const uint64_t near[] = {7, 5, 6, 4, 8, 0, 5}, far[] = {7, 5, UINT64_MAX, 6, 0, UINT64_MAX};

	eq_u64(events_of(5, 7, near, 7), 2100011, "ids near each other find their events");
	eq_u64(events_of(5, UINT64_MAX, far, 6), 12012, "ids far from each other do");
	eq_u64(events_of(0, 1, (const uint64_t[]){1, 0, 2}, 3), 210,
	        "a sample with id 0 is of the first event");
	eq_u64(events_of(5, 5, near, 7), 100011, "two events with one id: it is the first one's");
}

/* A big-endian 32-bit writer leaves the feature bits as pairs of u32, low half first. */
static void test_halves(void)
{
	struct opened o;
	size_t table;

	m.swap = !HOST_BIG_ENDIAN;
	make_begin(&m, 128, true);
	make_round(&m);
	make_end(&m);
	make_at_u32s(&m, 72, 1u << FEATURE_HOSTNAME, 0);
	table = m.n;
	make_u64(&m, table + 16);
	make_u64(&m, 12);
	make_u32s(&m, 8, 0);
	m.p[m.n - 4] = 'h';
	make_u64(&m, 0);
	reopen(&o);
	ok(o.rc == 0 && o.f.swap == m.swap && loss(&o) == 0, "a big-endian file is read");
	eq_u64(o.f.feature_bits[0], 1u << FEATURE_HOSTNAME,
	        "exchanged halves of the feature bits are corrected");
	eq_u64(file_feature(&o.f, FEATURE_HOSTNAME).n, 12,
	        "a feature with exchanged halves of the bits is found");
	file_close(&o.f);
}

/* Version 1 has names of events by number in a section: { u64 event, char name[64] }. */
static void test_old(void)
{
	struct opened o;
	size_t types;

	make_begin(&m, 72, true);
	memcpy(m.p, "PERFFILE", 8);
	make_at_u32s(&m, MAKE_ATTRS, 2, 72); /* a tracepoint, */
	make_at(&m, MAKE_ATTRS + 8, 77); /* number 77 */
	make_sample(&m, 1, 2, 3);
	make_end(&m);
	types = m.n;
	make_u64(&m, 76);
	m.n += 64;
	make_u64(&m, 77);
	memcpy(m.p + m.n, "sched:sched_switch", 18);
	m.n += 64;
	make_at(&m, 56, types);
	make_at(&m, 64, 144);
	reopen(&o);
	ok(o.rc == 0 && o.f.old && o.f.swap == m.swap && records(&o) == 1,
	        "a file of version 1 is read");
	eq_str(o.f.events[0].name, "sched:sched_switch",
	        "version 1: the event has its name from the event types");
	file_close(&o.f);
	make_at_u32s(&m, MAKE_ATTRS, 1, 72);
	make_at(&m, MAKE_ATTRS + 8, 0);
	make_at(&m, types, 0);
	memcpy(m.p + types + 8, "cycles", 6);
	reopen(&o);
	eq_str(o.f.events[0].name, "cpu-clock:HG",
	        "version 1: an attr that identifies itself names the event");
	file_close(&o.f);
	make_at(&m, 8, 72); /* a header without feature bits */
	reopen(&o);
	ok(o.rc == 0 && records(&o) == 1 && !o.f.interrupted,
	        "version 1: a header that ends before the feature bits is read");
	file_close(&o.f);
}

int main(void)
{
	for (int swap = 0; swap <= 1; swap++) {
		m.swap = swap != 0;
		test_old();
		test_mixed();
		test_sample_ids();
		test_attr_sizes();
		test_ids();
		test_features();
		test_killed();
		test_killed_stream();
	}
	test_halves();
	return tap_done();
}
