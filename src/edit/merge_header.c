/* SPDX-License-Identifier: MIT */
/* The clocks and header features of several recordings. */
#include "edit/merge.h"

#include "file/reader.h"
#include "record/layout.h"

#define SECOND_NS       UINT64_C(1000000000)
#define CLOCK_DATA_SIZE 24u
#define DEFAULT_CLOCK   INT32_MIN /* the one of events without a clockid */

static struct span feature_of(const struct merge_input *in, enum abi_feature bit)
{
	return file_feature(in->f, bit);
}

static bool is_same(struct span a, struct span b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

/* ---- clocks ---- */

static int32_t clock_of(const struct merge_input *in)
{
	const struct sonde_attr *attr = &in->f->events[0].attr;

	return sonde_attr_has(attr, SONDE_FLAG_USE_CLOCKID) ? attr->clockid : DEFAULT_CLOCK;
}

/* Sets *offset to the time of day minus the time of the clock, modulo 2^64. */
static bool clock_offset(const struct merge_input *in, uint64_t *offset)
{
	struct span s = feature_of(in, FEATURE_CLOCK_DATA);

	if (s.n < CLOCK_DATA_SIZE || (int32_t)load_u32(s.p + 4, in->f->swap) != clock_of(in)) {
		return false;
	}
	*offset = load_u64(s.p + 8, in->f->swap) - load_u64(s.p + 16, in->f->swap);
	return true;
}

/* The text of HOSTNAME; n is 0: unknown. */
static struct span host_of(const struct merge_input *in)
{
	struct cursor c = cursor_make(feature_of(in, FEATURE_HOSTNAME), in->f->swap);
	uint32_t n = cursor_u32(&c);

	return cursor_text(&c, n <= cursor_left(&c) ? n : 0);
}

static bool is_other_host(const struct merge_input *a, const struct merge_input *b)
{
	struct span x = host_of(a), y = host_of(b);

	return x.n != 0 && y.n != 0 && !is_same(x, y);
}

/* Whether a difference is more than that of two readings of the same clocks. */
static bool is_far(uint64_t difference)
{
	return difference + SECOND_NS > 2 * SECOND_NS;
}

/* Times before the start of the first recording's clock would be negative. */
static int shift_check(struct edit_merge *m, const struct merge_input *in)
{
	struct span s = feature_of(in, FEATURE_CLOCK_DATA);
	uint64_t before = 0 - in->shift, start = load_u64(s.p + 16, in->f->swap);

	if ((int64_t)in->shift < 0 && start < before) {
		return error_set(&m->e->error, SONDE_EFORMAT, NO_OFFSET,
		        "%s was recorded before the clock of %s started; give it as the first one",
		        in->name, m->inputs[0].name);
	}
	return 0;
}

int merge_clock(struct edit_merge *m, struct merge_input *in)
{
	const struct merge_input *first = &m->inputs[0];
	bool other_host = is_other_host(first, in);
	bool other_clock = clock_of(first) != clock_of(in);
	uint64_t a, b;

	if (in == first) {
		return 0;
	}
	if (other_host) {
		struct span x = host_of(first), y = host_of(in);

		diag_report(first->f->diags, SONDE_DIAG_NOTE, NO_OFFSET,
		        "%s was recorded on %.*s and %s on %.*s: processes that have the same "
		        "number on both hosts are taken for one, as recordings know one host only",
		        first->name, (int)x.n, (const char *)x.p, in->name, (int)y.n,
		        (const char *)y.p);
	}
	if (clock_offset(first, &a) && clock_offset(in, &b)) {
		in->shift = other_host || other_clock || is_far(b - a) ? b - a : 0;
		return shift_check(m, in);
	}
	if (other_host || other_clock) {
		return error_set(&m->e->error, SONDE_EFORMAT, NO_OFFSET,
		        "the times of %s and %s are of different clocks, and cannot be aligned: "
		        "only recordings made with -k, such as 'record -k mono', note the time of "
		        "day too (CLOCK_DATA)",
		        first->name, in->name);
	}
	return 0;
}

/* ---- lists of build ids ---- */

/* Takes the next entry of a list; n is 0: no more. */
static struct span build_id_next(struct span *list, bool swap)
{
	size_t n = list->n >= RECORD_HEADER_SIZE ? load_u16(list->p + 6, swap) : 0;
	struct span entry = {list->p, n};

	if (n < RECORD_HEADER_SIZE || n > list->n) {
		return (struct span){0};
	}
	list->p += n;
	list->n -= n;
	return entry;
}

static bool has_build_id(struct span list, struct span entry, bool swap)
{
	struct span other;

	while ((other = build_id_next(&list, swap)).n != 0) {
		if (is_same(other, entry)) {
			return true;
		}
	}
	return false;
}

static int build_ids_merge(struct edit_merge *m, struct sonde_rewriter *rw)
{
	struct span first = feature_of(&m->inputs[0], FEATURE_BUILD_ID), entry;

	m->words.n = 0;
	text_bytes(&m->words, (const char *)first.p, first.n);
	for (size_t i = 1; i < m->ninputs; i++) {
		struct span list = feature_of(&m->inputs[i], FEATURE_BUILD_ID);

		while ((entry = build_id_next(&list, m->inputs[i].f->swap)).n != 0) {
			struct span so_far = {(const uint8_t *)m->words.p, m->words.n};

			if (!has_build_id(so_far, entry, m->inputs[i].f->swap)) {
				text_bytes(&m->words, (const char *)entry.p, entry.n);
			}
		}
	}
	if (m->words.failed) {
		return error_nomem(&m->e->error);
	}
	return m->words.n == first.n
	               ? 0
	               : sonde_rewriter_set_feature(rw, FEATURE_BUILD_ID, m->words.p, m->words.n);
}

/* ---- groups ---- */

/* Appends the groups of an input; returns how many. */
static uint32_t groups_append(struct text *out, const struct merge_input *in)
{
	struct cursor c = cursor_make(feature_of(in, FEATURE_GROUP_DESC), in->f->swap);
	uint32_t n = cursor_u32(&c), taken = 0;

	for (; taken < n && !c.bad; taken++) {
		const uint8_t *start = c.p;
		uint32_t room = cursor_u32(&c), leader;
		uint8_t numbers[8];

		(void)cursor_take(&c, room);
		leader = cursor_u32(&c);
		store_u32(numbers + 4, cursor_u32(&c), in->f->swap);
		if (c.bad || leader >= in->f->nevents) {
			break;
		}
		store_u32(numbers, in->events[leader], in->f->swap);
		text_bytes(out, (const char *)start, 4 + (size_t)room);
		text_bytes(out, (const char *)numbers, sizeof(numbers));
	}
	return taken;
}

static int groups_merge(struct edit_merge *m, struct sonde_rewriter *rw)
{
	uint32_t n = 0;

	m->words.n = 0;
	text_fill(&m->words, '\0', 4);
	for (size_t i = 0; i < m->ninputs; i++) {
		n += groups_append(&m->words, &m->inputs[i]);
	}
	if (m->words.failed) {
		return error_nomem(&m->e->error);
	}
	store_u32((uint8_t *)m->words.p, n, m->inputs[0].f->swap);
	return n == 0 ? 0
	              : sonde_rewriter_set_feature(rw, FEATURE_GROUP_DESC, m->words.p, m->words.n);
}

/* ---- the rest ---- */

/* The time from the first to the last sample is that of all; without it in one input, unknown. */
static int times_merge(struct edit_merge *m, struct sonde_rewriter *rw)
{
	uint64_t first = UINT64_MAX, last = 0;
	bool swap = m->inputs[0].f->swap;
	uint8_t times[16];

	if (!file_has_feature(m->inputs[0].f, FEATURE_SAMPLE_TIME)) {
		return 0;
	}
	for (size_t i = 0; i < m->ninputs; i++) {
		struct span s = feature_of(&m->inputs[i], FEATURE_SAMPLE_TIME);
		uint64_t shift = m->inputs[i].shift;

		if (s.n < sizeof(times)) {
			return sonde_rewriter_set_feature(rw, FEATURE_SAMPLE_TIME, NULL, 0);
		}
		if (load_u64(s.p + 8, swap) == 0) { /* no sample */
			continue;
		}
		first = load_u64(s.p, swap) + shift < first ? load_u64(s.p, swap) + shift : first;
		last = load_u64(s.p + 8, swap) + shift > last ? load_u64(s.p + 8, swap) + shift
		                                              : last;
	}
	store_u64(times, last != 0 ? first : 0, swap);
	store_u64(times + 8, last, swap);
	return sonde_rewriter_set_feature(rw, FEATURE_SAMPLE_TIME, times, sizeof(times));
}

enum merge_way { WAY_FIRST = 0, WAY_MERGED, WAY_MISSING };

/* What becomes of a feature of another input; WAY_MISSING: it is copied if the first has none. */
static enum merge_way way_of(unsigned bit)
{
	switch (bit) {
	case FEATURE_TRACING_DATA:
	case FEATURE_BUILD_ID:
	case FEATURE_EVENT_DESC:
	case FEATURE_GROUP_DESC:
	case FEATURE_SAMPLE_TIME:
	case FEATURE_CLOCKID:
	case FEATURE_CLOCK_DATA:
	case FEATURE_DIR_FORMAT:
	case FEATURE_COMPRESSED: return WAY_MERGED;
	case FEATURE_BRANCH_STACK:
	case FEATURE_BPF_PROG_INFO:
	case FEATURE_BPF_BTF: return WAY_MISSING;
	default: return WAY_FIRST;
	}
}

/* Copies what the first input lacks, and says what is not in the output. */
static int others_merge(struct edit_merge *m, struct sonde_rewriter *rw, struct merge_input *in)
{
	const struct merge_input *first = &m->inputs[0];
	const char *comma = "";

	m->words.n = 0;
	for (unsigned bit = 1; bit < FEATURE_BITS; bit++) {
		enum abi_feature f = (enum abi_feature)bit;
		const struct layout *layout = layout_of_feature(bit);
		struct span mine = feature_of(first, f), other = feature_of(in, f);

		if (!file_has_feature(in->f, f) || way_of(bit) == WAY_MERGED ||
		        (file_has_feature(first->f, f) && is_same(mine, other))) {
			continue;
		}
		if (way_of(bit) == WAY_MISSING && !file_has_feature(first->f, f)) {
			TRY(sonde_rewriter_set_feature(
			        rw, bit, other.p != NULL ? other.p : (const uint8_t *)"", other.n));
			continue;
		}
		text_printf(&m->words, "%s%s", comma, layout != NULL ? layout->name : "unknown");
		comma = ", ";
	}
	text_char(&m->words, '\0');
	if (m->words.failed) {
		return error_nomem(&m->e->error);
	}
	if (m->words.n > 1) {
		diag_report(first->f->diags, SONDE_DIAG_NOTE, NO_OFFSET,
		        "the header of the output has only what %s says about %s, not what %s does",
		        first->name, m->words.p, in->name);
	}
	return 0;
}

int merge_features(struct edit_merge *m, struct sonde_rewriter *rw)
{
	TRY(build_ids_merge(m, rw));
	TRY(merge_formats(m, rw));
	TRY(groups_merge(m, rw));
	TRY(times_merge(m, rw));
	for (size_t i = 1; i < m->ninputs; i++) {
		TRY(others_merge(m, rw, &m->inputs[i]));
	}
	return 0;
}
