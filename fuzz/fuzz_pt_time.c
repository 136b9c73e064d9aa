/* SPDX-License-Identifier: MIT */
/*
 * Time, in two ways. First, packets of any kind and order: a TSC packet sets the time, nothing
 * overflows. Second, packets of a simulated machine with a known clock, with MTCs lost now and
 * then: an exact time is at most one crystal tick away from the clock. If the machine writes CYC
 * packets, they show how often MTCs wrapped, so more MTCs may be lost in a row than MTC has
 * numbers.
 */
#include "pt/packet.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void any_packets(const struct sonde_pt_clock *clock, const uint8_t *data, size_t size)
{
	struct pt_cursor c = pt_cursor_make(data, size);
	struct sonde_pt_packet p;
	struct sonde_pt_time time;
	int rc;

	sonde_pt_time_init(&time, clock);
	while ((rc = pt_cursor_next(&c, &p)) != 0) {
		uint64_t cycles = time.cycles;
		uint64_t exact = time.exact;
		bool told = time.has_cyc;

		if (rc < 0) {
			c.p++;
			continue;
		}
		(void)sonde_pt_time_packet(&time, &p);
		if (p.kind == SONDE_PT_TSC && (time.tsc != p.value || time.exact != p.value)) {
			abort();
		}
		if (p.kind == SONDE_PT_CYC
		                ? time.exact != exact || time.cycles != cycles + p.value
		                : time.cycles != cycles && (told || time.exact == exact)) {
			abort();
		}
	}
}

/* A machine. TSC ticks count from its power-on, as crystal ticks do. */
struct machine {
	struct sonde_pt_clock clock;
	struct sonde_pt_time time;
	uint64_t tsc, ctc;
	unsigned lost; /* MTCs since the last one that was written */
	bool mtc_seen; /* since TMA, which has 16 bits of the clock at most */
	bool writes_cycles; /* a CYC before each MTC and CBR */
	bool told; /* the speed was written */
	bool timed; /* cycles have been converted to time since the last MTC */
	unsigned ratio; /* cycles per bus clock; a bus clock has NOMINAL ticks */
	uint64_t cycled; /* TSC up to which cycles were written */
	uint64_t rest; /* rest of a cycle that had begun then, in units of 1/NOMINAL */
};

#define NOMINAL 24

static void give(struct machine *m, uint8_t kind, uint64_t value, uint64_t extra)
{
	const struct sonde_pt_packet p = {.kind = kind, .value = value, .extra = extra};

	(void)sonde_pt_time_packet(&m->time, &p);
}

static uint64_t to_ctc(const struct machine *m, uint64_t tsc)
{
	return tsc * m->clock.tsc_ratio_denominator / m->clock.tsc_ratio_numerator;
}

/* Converts crystal ticks to TSC ticks. */
static uint64_t to_tsc(const struct machine *m, uint64_t ctc)
{
	return ctc * m->clock.tsc_ratio_numerator / m->clock.tsc_ratio_denominator;
}

static void give_cycles(struct machine *m, uint64_t tsc)
{
	uint64_t parts = (tsc - m->cycled) * m->ratio + m->rest;

	if (m->writes_cycles) {
		give(m, SONDE_PT_CYC, parts / NOMINAL, 0);
	}
	m->rest = parts % NOMINAL;
	m->cycled = tsc;
}

static void change_speed(struct machine *m, unsigned ratio)
{
	give_cycles(m, m->tsc);
	m->ratio = ratio;
	m->told = m->clock.nominal_ratio != 0;
	give(m, SONDE_PT_CBR, ratio, 0);
}

/*
 * Up to 254 lost MTCs in a row can be distinguished from none; with cycles many more, if there are
 * enough cycles between two MTCs to know the speed.
 */
static bool may_lose(const struct machine *m)
{
	uint64_t cycles = (to_tsc(m, 1ULL << m->clock.mtc_shift) * m->ratio) / NOMINAL;

	if (!m->mtc_seen && ((uint64_t)m->lost + 2) << m->clock.mtc_shift >= 0xffff) {
		return false;
	}
	return m->lost < (m->writes_cycles && m->timed && m->mtc_seen && cycles > 64 ? 1000 : 200);
}

static void sync(struct machine *m)
{
	uint64_t ctc = to_ctc(m, m->tsc);

	give_cycles(m, m->tsc);
	m->mtc_seen = false;
	give(m, SONDE_PT_TSC, m->tsc, 0);
	give(m, SONDE_PT_TMA, ctc & 0xffff, m->tsc - to_tsc(m, ctc));
	m->ctc = ctc;
	m->lost = 0;
}

/* Advances the machine; each MTC meanwhile is written, or lost. */
static void run(struct machine *m, uint64_t ticks, bool lose)
{
	unsigned shift = m->clock.mtc_shift;
	uint64_t tick = to_tsc(m, 1) + 1;
	uint64_t to;

	m->tsc += ticks;
	to = to_ctc(m, m->tsc);
	for (uint64_t next = ((m->ctc >> shift) + 1) << shift; next <= to; next += 1ULL << shift) {
		uint64_t now = to_tsc(m, next);

		if (lose && may_lose(m)) {
			m->lost++;
			continue;
		}
		give_cycles(m, now);
		give(m, SONDE_PT_MTC, next >> shift & 0xff, 0);
		m->lost = 0;
		m->mtc_seen = true;
		m->timed = m->told;
		if (m->time.exact > now + tick || m->time.exact + tick < now ||
		        m->time.tsc != m->time.exact) {
			abort();
		}
	}
	m->ctc = to;
}

/*
 * After an overflow the speed is known once it is written; how often MTCs wrapped before is
 * unknown.
 */
static void overflow(struct machine *m)
{
	if (m->lost > 200) {
		return;
	}
	give(m, SONDE_PT_OVF, 0, 0);
	m->told = false;
	m->timed = false;
}

static void known_machine(const uint8_t *data, size_t size)
{
	static const uint32_t ratios[][2] = {
	        {84, 2}, {1, 1}, {176, 2}, {302, 4}, {250, 3}, {100, 7}};
	const uint32_t *ratio = ratios[data[0] % 6];
	struct machine m = {.clock = {.tsc_ratio_numerator = ratio[0],
	                            .tsc_ratio_denominator = ratio[1],
	                            .nominal_ratio = data[1] & 1 ? NOMINAL : 0,
	                            .mtc_shift = data[1] >> 1 & 15},
	        .tsc = (uint64_t)data[2] << 20 | data[3],
	        .writes_cycles = data[1] & 32,
	        .ratio = NOMINAL};

	m.cycled = m.tsc;
	sonde_pt_time_init(&m.time, &m.clock);
	sync(&m);
	for (size_t i = 4; i + 1 < size; i += 2) {
		uint64_t n = data[i + 1];

		switch (data[i] & 7) {
		case 0: sync(&m); break;
		case 1: change_speed(&m, 4 + (unsigned)(n % 60)); break;
		case 4: overflow(&m); break;
		default: run(&m, n << (data[i] >> 3 & 7), data[i] >> 6 == 3); break;
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sonde_pt_clock clock = {.cpu = {6, 78}};

	if (size < 6) {
		return 0;
	}
	known_machine(data, size);
	clock.tsc_ratio_numerator = data[0];
	clock.tsc_ratio_denominator = data[1];
	clock.nominal_ratio = data[2];
	clock.mtc_shift = data[3];
	clock.keep_calibration = data[4] & 1;
	clock.no_calibration = data[4] & 2;
	any_packets(&clock, data + 5, size - 5);
	return 0;
}
