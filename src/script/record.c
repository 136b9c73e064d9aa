/* SPDX-License-Identifier: MIT */
/* Prints records that are no samples, as perf script --show-...-events. */
#include "script/script.h"

#include "abi/abi.h"

#define MAP_SHARED_BIT 1u

static void put_hex(struct text *out, uint64_t v)
{
	text_str(out, v != 0 ? "0x" : "0");
	if (v != 0) {
		text_hex(out, v, 0, ' ');
	}
}

static void put_mmap(struct text *out, const struct record *r, bool swap)
{
	struct record_mmap m;

	if (!record_mmap_decode(r, swap, &m)) {
		return;
	}
	text_printf(out, "PERF_RECORD_%s %d/%d: [", r->type == RECORD_MMAP ? "MMAP" : "MMAP2",
	        (int)m.pid, (int)m.tid);
	put_hex(out, m.start);
	text_char(out, '(');
	put_hex(out, m.len);
	text_str(out, ") @ ");
	put_hex(out, m.pgoff);
	if (r->type == RECORD_MMAP) {
		text_printf(out, "]: %c ", (r->misc & MISC_MMAP_DATA) != 0 ? 'r' : 'x');
	} else {
		if ((r->misc & MISC_MMAP_BUILD_ID) != 0) {
			text_str(out, " <");
			for (unsigned i = 0; i < m.build_id_size; i++) {
				text_hex(out, m.build_id[i], 2, '0');
			}
			text_str(out, ">]: ");
		} else {
			text_printf(out, " %02x:%02x %llu %llu]: ", m.maj, m.min,
			        (unsigned long long)m.ino, (unsigned long long)m.ino_generation);
		}
		text_char(out, (m.prot & 1) != 0 ? 'r' : '-');
		text_char(out, (m.prot & 2) != 0 ? 'w' : '-');
		text_char(out, (m.prot & 4) != 0 ? 'x' : '-');
		text_str(out, (m.flags & MAP_SHARED_BIT) != 0 ? "s " : "p ");
	}
	text_bytes(out, (const char *)m.name.p, m.name.n);
}

static void put_comm(struct text *out, const struct record *r, bool swap)
{
	struct record_comm comm;

	if (!record_comm_decode(r, swap, &comm)) {
		return;
	}
	text_str(out, comm.exec ? "PERF_RECORD_COMM exec: " : "PERF_RECORD_COMM: ");
	text_bytes(out, (const char *)comm.name.p, comm.name.n);
	text_printf(out, ":%d/%d", (int)comm.pid, (int)comm.tid);
}

static void put_task(struct text *out, const struct record *r, bool swap)
{
	struct record_task task;

	if (record_task_decode(r, swap, &task)) {
		text_printf(out, "PERF_RECORD_%s(%d:%d):(%d:%d)",
		        r->type == RECORD_FORK ? "FORK" : "EXIT", (int)task.pid, (int)task.tid,
		        (int)task.ppid, (int)task.ptid);
	}
}

static void put_switch(struct text *out, const struct record *r, bool swap)
{
	struct cursor c = cursor_make(r->body, swap);
	bool leaves = (r->misc & MISC_SWITCH_OUT) != 0;
	bool preempted = leaves && (r->misc & MISC_SWITCH_OUT_PREEMPT) != 0;
	const char *how = !leaves ? "IN         " : preempted ? "OUT preempt" : "OUT        ";
	uint32_t pid, tid;

	if (r->type == RECORD_SWITCH) {
		text_printf(out, "PERF_RECORD_SWITCH %s", how);
		return;
	}
	pid = cursor_u32(&c);
	tid = cursor_u32(&c);
	text_printf(out, "PERF_RECORD_SWITCH_CPU_WIDE %s  %s pid/tid: %5d/%-5d", how,
	        leaves ? "next" : "prev", (int)pid, (int)tid);
}

static void put_lost(struct text *out, const struct record *r, bool swap)
{
	struct cursor c = cursor_make(r->body, swap);

	(void)cursor_u64(&c); /* id */
	text_str(out, "PERF_RECORD_LOST lost ");
	text_u64(out, cursor_u64(&c), 0, ' ');
}

static void put_cgroup(struct text *out, const struct record *r, bool swap)
{
	struct cursor c = cursor_make(r->body, swap);
	struct span path;

	text_str(out, "PERF_RECORD_CGROUP cgroup: ");
	text_u64(out, cursor_u64(&c), 0, ' ');
	path = cursor_text(&c, cursor_left(&c));
	text_char(out, ' ');
	text_bytes(out, (const char *)path.p, path.n);
}

void script_record_text(struct text *out, const struct record *r, bool swap)
{
	switch (r->type) {
	case RECORD_MMAP:
	case RECORD_MMAP2: put_mmap(out, r, swap); break;
	case RECORD_COMM: put_comm(out, r, swap); break;
	case RECORD_FORK:
	case RECORD_EXIT: put_task(out, r, swap); break;
	case RECORD_SWITCH:
	case RECORD_SWITCH_CPU_WIDE: put_switch(out, r, swap); break;
	case RECORD_CGROUP: put_cgroup(out, r, swap); break;
	case RECORD_LOST: put_lost(out, r, swap); break;
	default: break;
	}
	text_char(out, '\n');
}
