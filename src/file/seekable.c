/* SPDX-License-Identifier: MIT */
/*
 * A seekable perf.data file ("PERFILE2"), offsets in bytes:
 *
 *	0   u64 magic "PERFILE2"       8   u64 header size (104)
 *	16  u64 size of one attr entry (attr + 16)
 *	24  section attrs              40  section data
 *	56  section event types (empty today)
 *	72  u64 x 4 feature bits       104 (end)
 *	section = u64 offset, u64 size
 *
 * attrs: { attr (entry size - 16 bytes), section ids }, ids: u64 each; before or after the data.
 * After the data section: one section for each feature bit that is set, in rising order, then the
 * features. A recorder that was killed leaves data size 0, or one that is too small and no
 * features: then data extends to the end of the file, and its last record may be incomplete.
 * Sonde's recorder also leaves a mark (FILE_UNFINISHED).
 *
 * Version 1 ("PERFFILE") has the same structure; not its magic but the size of an attr entry shows
 * the byte order. Its event types name events (event.c). Its header may end before the feature
 * bits. The bits were written as the writer's longs: a 32-bit writer of the other byte order
 * exchanges the halves of every u64, which the bit of HOSTNAME (3) shows, as every recorder sets
 * it.
 *
 * Source: format document of perf.data, checked against files that perf 6.1 writes and, for version
 * 1, against one real file.
 */
#include "file/parts.h"

#include <inttypes.h>

#define SECTION_SIZE 16u
#define OLD_HEADER   72u /* size up to the feature bits */
#define HEADER_ATTRS 24u
#define HEADER_DATA  40u
#define HEADER_TYPES 56u
#define HEADER_BITS  72u

static struct file_section take_section(struct cursor *c)
{
	struct file_section s;

	s.offset = cursor_u64(c);
	s.size = cursor_u64(c);
	return s;
}

static struct file_section section_at(const struct file *f, uint64_t offset)
{
	struct cursor c = cursor_make(file_span(f, offset, SECTION_SIZE), f->swap);

	return take_section(&c);
}

static bool is_unfinished(const struct file *f)
{
	struct file_section types = section_at(f, HEADER_TYPES);

	return !f->old && types.offset == FILE_UNFINISHED && types.size == 0;
}

/*
 * Sonde's recorder updates the data size now and then. If it is too small, because the recorder was
 * killed, the bytes after the data are neither features nor attrs.
 */
static bool size_is_too_small(const struct file *f)
{
	uint64_t left = f->bytes.n - f->data.offset;

	return !file_has_features(f) && !f->old && f->header_size >= FILE_HEADER_SIZE &&
	       f->data.size < left && section_at(f, HEADER_ATTRS).offset < f->data.offset &&
	       section_at(f, HEADER_TYPES).size == 0;
}

static void read_feature_bits(struct file *f)
{
	const uint64_t hostname = (uint64_t)1 << FEATURE_HOSTNAME;
	struct cursor c =
	        cursor_make(file_span(f, HEADER_BITS, FILE_HEADER_SIZE - HEADER_BITS), f->swap);

	if (f->header_size < FILE_HEADER_SIZE) {
		return;
	}
	for (size_t i = 0; i < FEATURE_BITS / 64; i++) {
		f->feature_bits[i] = cursor_u64(&c);
	}
	if (f->swap == HOST_BIG_ENDIAN || (f->feature_bits[0] & hostname) != 0 ||
	        (f->feature_bits[0] >> 32 & hostname) == 0) {
		return;
	}
	for (size_t i = 0; i < FEATURE_BITS / 64; i++) {
		f->feature_bits[i] = f->feature_bits[i] >> 32 | f->feature_bits[i] << 32;
	}
}

int file_read_header(struct file *f)
{
	struct file_section types;

	if (f->header_size < OLD_HEADER || f->bytes.n < OLD_HEADER ||
	        (f->header_size >= FILE_HEADER_SIZE && f->bytes.n < FILE_HEADER_SIZE)) {
		return file_bad_format(f, 8, "the header is cut short");
	}
	f->attr_size = load_u64(f->bytes.p + 16, f->swap);
	f->data = section_at(f, HEADER_DATA);
	types = section_at(f, HEADER_TYPES);
	f->event_types = file_span(f, types.offset, types.size);
	read_feature_bits(f);
	if (f->data.offset > f->bytes.n) {
		diag_report(f->diags, SONDE_DIAG_TRUNCATED, HEADER_DATA,
		        "the data section begins at %" PRIu64
		        ", past the end of the file (%zu bytes)",
		        f->data.offset, f->bytes.n);
		f->truncated = true;
		f->data = (struct file_section){f->bytes.n, 0};
		return 0;
	}
	f->interrupted = is_unfinished(f);
	if (f->data.size == 0 || size_is_too_small(f)) {
		f->data.size = f->bytes.n - f->data.offset;
		/* nothing follows the header, not even the features that a completed file has */
		f->interrupted |= f->data.size != 0 || f->header_size >= FILE_HEADER_SIZE;
		memset(f->feature_bits, 0, sizeof(f->feature_bits));
		return 0;
	}
	if (f->data.size > f->bytes.n - f->data.offset) {
		diag_report(f->diags, SONDE_DIAG_TRUNCATED, f->bytes.n,
		        "the file ends %" PRIu64 " bytes before its data does",
		        f->data.size - (f->bytes.n - f->data.offset));
		f->truncated = true;
		f->data.size = f->bytes.n - f->data.offset;
	}
	return 0;
}

int file_read_attrs(struct file *f)
{
	struct file_section s = section_at(f, HEADER_ATTRS);
	struct span bytes = file_span(f, s.offset, s.size);
	struct cursor c;

	if (f->attr_size < ATTR_SIZE_VER0 + SECTION_SIZE || f->attr_size > ATTR_ENTRY_MAX) {
		return file_bad_format(f, 16, "the size of an event description makes no sense");
	}
	if (bytes.p == NULL) {
		return file_bad_format(
		        f, HEADER_ATTRS, "the event descriptions are past the end of the file");
	}
	if (bytes.n < f->attr_size) {
		return file_bad_format(f, HEADER_ATTRS, "the file describes no event");
	}
	c = cursor_make(bytes, f->swap);
	while (cursor_left(&c) >= f->attr_size) {
		struct span attr = cursor_bytes(&c, (size_t)f->attr_size - SECTION_SIZE);
		struct file_section at = take_section(&c);
		struct span ids = file_span(f, at.offset, at.size);

		if (at.size != 0 && ids.p == NULL) {
			diag_report(f->diags, SONDE_DIAG_DAMAGED, at.offset,
			        "the ids of an event are past the end of the file");
		}
		TRY(file_add_event(f, attr, ids));
	}
	return 0;
}

static void drop_features_from(struct file *f, unsigned bit)
{
	f->feature_bits[bit / 64] &= ((uint64_t)1 << (bit % 64)) - 1;
	for (size_t i = bit / 64 + 1; i < FEATURE_BITS / 64; i++) {
		f->feature_bits[i] = 0;
	}
}

void file_read_feature_table(struct file *f)
{
	uint64_t at = f->data.offset + f->data.size;

	if (f->truncated) {
		memset(f->feature_bits, 0, sizeof(f->feature_bits));
		return;
	}
	for (unsigned bit = 0; bit < FEATURE_BITS; bit++) {
		struct span entry;
		struct cursor c;
		struct file_section s;

		if (!file_has_feature(f, (enum abi_feature)bit)) {
			continue;
		}
		entry = file_span(f, at, SECTION_SIZE);
		if (entry.p == NULL) {
			diag_report(f->diags, SONDE_DIAG_TRUNCATED, at,
			        "the table of header features is cut off");
			f->truncated = true;
			drop_features_from(f, bit);
			return;
		}
		at += SECTION_SIZE;
		c = cursor_make(entry, f->swap);
		s = take_section(&c);
		if (s.size != 0 && file_span(f, s.offset, s.size).p == NULL) {
			diag_report(f->diags, SONDE_DIAG_DAMAGED, at - SECTION_SIZE,
			        "header feature %u is past the end of the file", bit);
			f->feature_bits[bit / 64] &= ~((uint64_t)1 << (bit % 64));
			continue;
		}
		f->features[bit] = s;
	}
}
