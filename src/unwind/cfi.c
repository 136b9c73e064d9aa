/* SPDX-License-Identifier: MIT */
/*
 * Entries of .eh_frame and .debug_frame (DWARF 5, section 6.4.1; Linux Standard Base 5.0, chapter
 * "Exception Frames"):
 *
 *	u32 length (0xffffffff: u64 follows)
 *	u32 id     a CIE: 0 in .eh_frame, all ones in .debug_frame
 *	           a function: its CIE, as a distance from this field back, or as an offset
 */
#include "unwind/cfi.h"

#define LONG_LENGTH 0xffffffffu

/* DW_EH_PE: the lower half is the format, the upper half the base. */
#define PE_ABSPTR   0x00u
#define PE_ULEB128  0x01u
#define PE_UDATA2   0x02u
#define PE_UDATA4   0x03u
#define PE_UDATA8   0x04u
#define PE_SLEB128  0x09u
#define PE_SDATA2   0x0au
#define PE_SDATA4   0x0bu
#define PE_SDATA8   0x0cu
#define PE_PCREL    0x10u
#define PE_TEXTREL  0x20u
#define PE_DATAREL  0x30u
#define PE_INDIRECT 0x80u

uint64_t cfi_uleb(struct cursor *c)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t byte = cursor_u8(c);

		value |= (uint64_t)(byte & 0x7f) << shift;
		if ((byte & 0x80) == 0) {
			return value;
		}
	}
	c->bad = true;
	return 0;
}

int64_t cfi_sleb(struct cursor *c)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t byte = cursor_u8(c);

		value |= (uint64_t)(byte & 0x7f) << shift;
		if ((byte & 0x80) == 0) {
			if ((byte & 0x40) != 0 && shift < 57) {
				value |= ~UINT64_C(0) << (shift + 7);
			}
			return (int64_t)value;
		}
	}
	c->bad = true;
	return 0;
}

/* The number of a pointer, before its base is added. */
static uint64_t pointer_number(struct cursor *c, unsigned format, unsigned address_size)
{
	switch (format) {
	case PE_ABSPTR: return address_size == 4 ? cursor_u32(c) : cursor_u64(c);
	case PE_ULEB128: return cfi_uleb(c);
	case PE_UDATA2: return cursor_u16(c);
	case PE_UDATA4: return cursor_u32(c);
	case PE_UDATA8:
	case PE_SDATA8: return cursor_u64(c);
	case PE_SLEB128: return (uint64_t)cfi_sleb(c);
	case PE_SDATA2: return (uint64_t)(int64_t)(int16_t)cursor_u16(c);
	case PE_SDATA4: return (uint64_t)(int64_t)(int32_t)cursor_u32(c);
	default: c->bad = true; return 0;
	}
}

uint64_t cfi_pointer(
        struct cursor *c, const struct cfi_section *s, unsigned encoding, unsigned address_size)
{
	uint64_t here = s->address + (uint64_t)(c->p - s->bytes.p);
	uint64_t value = pointer_number(c, encoding & 0x0f, address_size);

	switch (encoding & 0x70) {
	case 0: return value;
	case PE_PCREL: return value + here;
	case PE_TEXTREL: return value + s->text;
	case PE_DATAREL: return value + s->data;
	default: c->bad = true; return 0;
	}
}

/* An entry's bytes after its length, and its id. */
struct entry {
	struct cursor c; /* after the id */
	uint64_t id, id_offset;
	bool is64;
	uint64_t next;
};

/* 1; 0: the end; -1: it is damaged, and nothing after it can be read. */
static int entry_read(const struct cfi_section *s, uint64_t offset, struct entry *e)
{
	struct cursor c;
	uint64_t length;

	if (offset >= s->bytes.n) {
		return 0;
	}
	c = cursor_make((struct span){s->bytes.p + offset, s->bytes.n - (size_t)offset}, s->swap);
	length = cursor_u32(&c);
	e->is64 = length == LONG_LENGTH;
	if (e->is64) {
		length = cursor_u64(&c);
	}
	if (length == 0 && !s->debug) {
		return 0;
	}
	if (c.bad || length > cursor_left(&c)) {
		return -1;
	}
	e->c = cursor_make((struct span){c.p, (size_t)length}, s->swap);
	e->id_offset = (uint64_t)(c.p - s->bytes.p);
	e->next = e->id_offset + length;
	e->id = e->is64 && s->debug ? cursor_u64(&e->c) : cursor_u32(&e->c);
	return e->c.bad ? -1 : 1;
}

static bool is_cie(const struct cfi_section *s, const struct entry *e)
{
	return e->id == (!s->debug ? 0 : e->is64 ? UINT64_MAX : LONG_LENGTH);
}

/* Reads the augmentation data that the letters after 'z' announce. */
static void augmentation_read(
        struct cursor *c, const struct cfi_section *s, struct span letters, struct cfi_cie *cie)
{
	uint64_t size = cfi_uleb(c);
	struct cursor data;

	if (size > cursor_left(c)) {
		c->bad = true;
		return;
	}
	data = cursor_make(cursor_bytes(c, (size_t)size), s->swap);
	for (size_t i = 0; i < letters.n && !data.bad; i++) {
		switch (letters.p[i]) {
		case 'R': cie->encoding = cursor_u8(&data); break;
		case 'L': (void)cursor_u8(&data); break;
		case 'P': {
			unsigned encoding = cursor_u8(&data);

			(void)cfi_pointer(&data, s, encoding & ~PE_INDIRECT, cie->address_size);
			break;
		}
		case 'S': cie->signal = true; break;
		case 'B': /* the key that signs return addresses */
		case 'G': break; /* the stack has memory tags */
		default: return; /* what follows has an unknown size */
		}
	}
	c->bad = c->bad || data.bad;
}

static bool cie_read(const struct cfi_section *s, uint64_t offset, struct cfi_cie *cie)
{
	struct entry e;
	struct span letters;
	uint8_t version;

	if (entry_read(s, offset, &e) <= 0 || !is_cie(s, &e)) {
		return false;
	}
	*cie = (struct cfi_cie){.address_size = 8};
	version = cursor_u8(&e.c);
	letters.p = e.c.p;
	letters.n = strnlen((const char *)e.c.p, cursor_left(&e.c));
	(void)cursor_take(&e.c, letters.n + 1);
	if (e.c.bad || (version != 1 && version != 3 && version != 4)) {
		return false;
	}
	if (version == 4) {
		cie->address_size = cursor_u8(&e.c);
		cie->segment_size = cursor_u8(&e.c);
	}
	cie->code_align = cfi_uleb(&e.c);
	cie->data_align = cfi_sleb(&e.c);
	cie->return_reg = version == 1 ? cursor_u8(&e.c) : cfi_uleb(&e.c);
	if (letters.n != 0 && letters.p[0] == 'z') {
		cie->sized = true;
		augmentation_read(&e.c, s, (struct span){letters.p + 1, letters.n - 1}, cie);
	} else if (letters.n != 0) {
		return false; /* unknown, and of unknown size */
	}
	cie->program = (struct span){e.c.p, cursor_left(&e.c)};
	return !e.c.bad && (cie->address_size == 8 || cie->address_size == 4) &&
	       cie->segment_size <= 8;
}

static bool fde_read(const struct cfi_section *s, struct entry *e, struct cfi_fde *fde)
{
	uint64_t cie = s->debug ? e->id : e->id_offset - e->id;
	unsigned encoding;
	uint64_t size;

	if ((!s->debug && e->id > e->id_offset) || !cie_read(s, cie, &fde->cie)) {
		return false;
	}
	encoding = fde->cie.encoding;
	(void)cursor_take(&e->c, fde->cie.segment_size);
	fde->start = cfi_pointer(&e->c, s, encoding, fde->cie.address_size);
	size = pointer_number(&e->c, encoding & 0x0f, fde->cie.address_size);
	fde->end = fde->start + size;
	if (fde->cie.sized) {
		uint64_t skip = cfi_uleb(&e->c);

		if (skip > cursor_left(&e->c)) {
			return false;
		}
		(void)cursor_take(&e->c, (size_t)skip);
	}
	fde->program = (struct span){e->c.p, cursor_left(&e->c)};
	return !e->c.bad && size != 0 && fde->end > fde->start;
}

enum cfi_entry cfi_read(const struct cfi_section *s, uint64_t *offset, struct cfi_fde *fde)
{
	struct entry e;

	if (entry_read(s, *offset, &e) <= 0) {
		return CFI_END;
	}
	*offset = e.next;
	return !is_cie(s, &e) && fde_read(s, &e, fde) ? CFI_FDE : CFI_OTHER;
}
