/* SPDX-License-Identifier: MIT */
/*
 * Bodies of the side-band records that the timeline needs (a trailer may follow each):
 *
 *	MMAP    u32 pid, tid; u64 start, len, pgoff; char name[]
 *	MMAP2   the same up to pgoff; u32 maj, min; u64 ino, generation (or with misc bit 14: u8
 *	        size, 3 bytes, u8 build_id[20]); u32 prot, flags; char name[]
 *	COMM    u32 pid, tid; char name[]
 *	FORK, EXIT  u32 pid, ppid, tid, ptid; u64 time
 *	KSYMBOL u64 addr; u32 len; u16 type, flags; char name[]
 *
 * Names end with a NUL. Source: perf_event_open(2).
 *
 * typed.c decodes the same records by the tables of fields. The timeline uses this file because it
 * is faster: on a recording that is nearly all side-band (180,000 MMAP2, 2,000 samples) `report`
 * takes 1.17 times the processor time with the tables; with 400,000 samples there is no difference.
 * The fuzzer and test_typed compare both.
 */
#include "record/record.h"

#include "abi/abi.h"

#define PROT_EXECUTE 4u

static bool take_name(struct cursor *c, struct span *name)
{
	size_t left = cursor_left(c);

	*name = cursor_text(c, left);
	return !c->bad && name->n < left;
}

bool record_mmap_decode(const struct record *r, bool swap, struct record_mmap *out)
{
	struct cursor c = cursor_make(r->body, swap);

	*out = (struct record_mmap){0};
	out->pid = cursor_u32(&c);
	out->tid = cursor_u32(&c);
	out->start = cursor_u64(&c);
	out->len = cursor_u64(&c);
	out->pgoff = cursor_u64(&c);
	if (r->type == RECORD_MMAP) {
		out->prot = (r->misc & MISC_MMAP_DATA) != 0 ? 0 : PROT_EXECUTE;
		return take_name(&c, &out->name);
	}
	if ((r->misc & MISC_MMAP_BUILD_ID) != 0) {
		uint8_t size = cursor_u8(&c);
		struct span id;

		(void)cursor_bytes(&c, 3);
		id = cursor_bytes(&c, BUILD_ID_MAX);
		if (id.n == BUILD_ID_MAX) {
			memcpy(out->build_id, id.p, BUILD_ID_MAX);
			out->build_id_size = size <= BUILD_ID_MAX ? size : BUILD_ID_MAX;
		}
	} else {
		out->maj = cursor_u32(&c);
		out->min = cursor_u32(&c);
		out->ino = cursor_u64(&c);
		out->ino_generation = cursor_u64(&c);
	}
	out->prot = cursor_u32(&c);
	out->flags = cursor_u32(&c);
	return take_name(&c, &out->name);
}

bool record_comm_decode(const struct record *r, bool swap, struct record_comm *out)
{
	struct cursor c = cursor_make(r->body, swap);

	out->pid = cursor_u32(&c);
	out->tid = cursor_u32(&c);
	out->exec = (r->misc & MISC_COMM_EXEC) != 0;
	return take_name(&c, &out->name);
}

bool record_task_decode(const struct record *r, bool swap, struct record_task *out)
{
	struct cursor c = cursor_make(r->body, swap);

	out->pid = cursor_u32(&c);
	out->ppid = cursor_u32(&c);
	out->tid = cursor_u32(&c);
	out->ptid = cursor_u32(&c);
	out->time = cursor_u64(&c);
	return !c.bad;
}

bool record_ksymbol_decode(const struct record *r, bool swap, struct record_ksymbol *out)
{
	struct cursor c = cursor_make(r->body, swap);

	out->addr = cursor_u64(&c);
	out->len = cursor_u32(&c);
	out->type = cursor_u16(&c);
	out->flags = cursor_u16(&c);
	return take_name(&c, &out->name);
}
