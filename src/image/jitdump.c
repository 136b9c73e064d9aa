/* SPDX-License-Identifier: MIT */
/*
 * Jitdump files, as the kernel's jitdump-specification.txt describes them. The byte order is that of
 * the machine that wrote the file; nothing is aligned.
 *
 *	header   0: u32 magic "JiTD" (0x4a695444)   4: u32 version 1   8: u32 size of the header, 40
 *	        12: u32 e_machine   16: u32 unused   20: u32 pid   24: u64 time   32: u64 flags
 *	record   0: u32 type   4: u32 size with this prefix   8: u64 time   16: body
 *
 *	LOAD       0: u32 pid, tid   8: u64 vma, address, size, index   40: name, NUL; code
 *	MOVE       0: u32 pid, tid   8: u64 vma, old address, new address, size, index
 *	LINES      0: u64 address of the code, count   16: entries:
 *	                 u64 address   u32 line, discriminator   file, NUL
 *	CLOSE      empty
 *	UNWINDING  0: u64 size, size of .eh_frame_hdr, bytes that are mapped   24: .eh_frame,
 *	           .eh_frame_hdr; padding
 *
 * LINES and UNWINDING belong to the next LOAD. The file name of a line may be "\xff": that of the
 * line before it (written by V8).
 */
#include "image/jitdump.h"

#define MAGIC       0x4a695444u
#define VERSION     1u
#define HEADER_SIZE 40u
#define PREFIX_SIZE 16u

int image_jitdump_open(struct image_jitdump *j, struct span bytes, struct error *err)
{
	struct cursor c = cursor_make(bytes, false);
	uint32_t version, size;

	*j = (struct image_jitdump){.bytes = bytes};
	if (bytes.n < HEADER_SIZE) {
		return error_set(
		        err, SONDE_EFORMAT, 0, "a jitdump has a header of %u bytes", HEADER_SIZE);
	}
	c.swap = load_u32(bytes.p, false) != MAGIC;
	j->swap = c.swap;
	if (cursor_u32(&c) != MAGIC) {
		return error_set(err, SONDE_EFORMAT, 0, "this is no jitdump");
	}
	version = cursor_u32(&c);
	if (version != VERSION) {
		return error_set(err, SONDE_EFORMAT, 4,
		        "a jitdump of version %u is not supported, only version %u", version,
		        VERSION);
	}
	size = cursor_u32(&c);
	if (size < HEADER_SIZE || size > bytes.n) {
		return error_set(err, SONDE_EFORMAT, 8,
		        "the header of a jitdump claims a size of %u bytes", size);
	}
	j->machine = cursor_u32(&c);
	(void)cursor_u32(&c);
	j->pid = cursor_u32(&c);
	j->time = cursor_u64(&c);
	j->flags = cursor_u64(&c);
	j->first = size;
	return SONDE_OK;
}

/* Takes a text with its NUL; NULL: it has no end. */
static const char *take_text(struct cursor *c)
{
	size_t left = cursor_left(c);
	size_t n = strnlen((const char *)c->p, left);

	return n < left ? (const char *)cursor_take(c, n + 1) : NULL;
}

static bool read_load(struct cursor *c, struct image_jit_record *out)
{
	out->pid = cursor_u32(c);
	out->tid = cursor_u32(c);
	(void)cursor_u64(c); /* vma */
	out->address = cursor_u64(c);
	out->size = cursor_u64(c);
	out->index = cursor_u64(c);
	out->name = take_text(c);
	if (out->name == NULL || out->size > cursor_left(c)) {
		return false;
	}
	out->code = cursor_bytes(c, (size_t)out->size);
	return true;
}

static bool read_move(struct cursor *c, struct image_jit_record *out)
{
	out->pid = cursor_u32(c);
	out->tid = cursor_u32(c);
	(void)cursor_u64(c); /* vma */
	out->from = cursor_u64(c);
	out->address = cursor_u64(c);
	out->size = cursor_u64(c);
	out->index = cursor_u64(c);
	return true;
}

static bool read_lines(struct cursor *c, struct image_jit_record *out)
{
	out->address = cursor_u64(c);
	out->count = cursor_u64(c);
	out->lines = cursor_bytes(c, cursor_left(c));
	return true;
}

static bool read_unwinding(struct cursor *c, struct image_jit_record *out)
{
	uint64_t size = cursor_u64(c), hdr = cursor_u64(c);

	out->mapped = cursor_u64(c);
	if (c->bad || hdr > size || size > cursor_left(c)) {
		return false;
	}
	out->eh_frame = cursor_bytes(c, (size_t)(size - hdr));
	out->eh_frame_hdr = cursor_bytes(c, (size_t)hdr);
	return true;
}

static bool read_body(struct cursor *c, struct image_jit_record *out)
{
	switch (out->type) {
	case IMAGE_JIT_LOAD: return read_load(c, out);
	case IMAGE_JIT_MOVE: return read_move(c, out);
	case IMAGE_JIT_LINES: return read_lines(c, out);
	case IMAGE_JIT_UNWINDING: return read_unwinding(c, out);
	default: return true;
	}
}

int image_jitdump_next(
        const struct image_jitdump *j, size_t *at, struct image_jit_record *out, struct error *err)
{
	size_t left = j->bytes.n - *at;
	struct cursor c = cursor_make((struct span){j->bytes.p + *at, left}, j->swap);
	uint32_t size;

	*out = (struct image_jit_record){.offset = *at};
	if (left == 0) {
		return 0;
	}
	out->type = cursor_u32(&c);
	size = cursor_u32(&c);
	out->time = cursor_u64(&c);
	if (c.bad || size < PREFIX_SIZE || size > left) {
		*at = j->bytes.n;
		return error_set(err, SONDE_EFORMAT, out->offset,
		        c.bad || size > left ? "the last record of a jitdump is cut short"
		                             : "a record of a jitdump claims a size of %u bytes",
		        size);
	}
	c.end = j->bytes.p + *at + size;
	*at += size;
	if (!read_body(&c, out) || c.bad) {
		return error_set(err, SONDE_EFORMAT, out->offset,
		        "a record of type %u of a jitdump is shorter than its contents", out->type);
	}
	return 1;
}

static bool is_repeated(const char *file)
{
	return (uint8_t)file[0] == 0xff && file[1] == '\0';
}

bool image_jit_line_next(const struct image_jitdump *j, struct span *rest,
        const struct image_jit_line *before, struct image_jit_line *out)
{
	struct cursor c = cursor_make(*rest, j->swap);

	*out = (struct image_jit_line){.address = cursor_u64(&c)};
	out->line = cursor_u32(&c);
	out->discriminator = cursor_u32(&c);
	out->file = c.bad ? NULL : take_text(&c);
	if (out->file == NULL) {
		return false;
	}
	if (is_repeated(out->file) && before != NULL) {
		out->file = before->file;
	}
	*rest = (struct span){c.p, cursor_left(&c)};
	return true;
}
