/* SPDX-License-Identifier: MIT */
/* Prints records that are no samples, as perf script --show-...-events. */
#include "script/script.h"

#include "abi/abi.h"
#include "core/escape.h"

#define MAP_SHARED_BIT     1u
#define NAMESPACE_SIZE     16u /* device and inode */
#define NAMESPACES_IN_LINE 4u
#define CODE_IN_LINE       16u
#define TRACE_TEXT         64u

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
			text_hex_bytes(out, m.build_id, m.build_id_size);
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
	text_plain_bytes(out, m.name.p, m.name.n);
}

static void put_comm(struct text *out, const struct record *r, bool swap)
{
	struct record_comm comm;

	if (!record_comm_decode(r, swap, &comm)) {
		return;
	}
	text_str(out, comm.exec ? "PERF_RECORD_COMM exec: " : "PERF_RECORD_COMM: ");
	text_plain_bytes(out, comm.name.p, comm.name.n);
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
	text_plain_bytes(out, path.p, path.n);
}

static void put_namespaces(struct text *out, const struct record *r, bool swap)
{
	static const char *const names[] = {"net", "uts", "ipc", "pid", "user", "mnt", "cgroup"};
	struct cursor c = cursor_make(r->body, swap);
	uint32_t pid = cursor_u32(&c);
	uint32_t tid = cursor_u32(&c);
	uint64_t n = cursor_u64(&c);

	text_printf(out, "PERF_RECORD_NAMESPACES %d/%d - nr_namespaces: ", (int)pid, (int)tid);
	text_u64(out, n, 0, ' ');
	text_str(out, "\n\t\t[");
	for (uint64_t i = 0; i < n && cursor_left(&c) >= NAMESPACE_SIZE; i++) {
		const char *name = i < sizeof(names) / sizeof(names[0]) ? names[i] : "UNKNOWN";
		unsigned long long dev = cursor_u64(&c);
		unsigned long long inode = cursor_u64(&c);

		text_str(out, i == 0 ? "" : i % NAMESPACES_IN_LINE != 0 ? ", " : ", \n\t\t ");
		text_printf(out, "%u/%s: %llu/%#llx", (unsigned)i, name, dev, inode);
	}
	text_char(out, ']');
}

static void put_ksymbol(struct text *out, const struct record *r, bool swap)
{
	struct record_ksymbol k;

	if (record_ksymbol_decode(r, swap, &k)) {
		text_printf(out, "PERF_RECORD_KSYMBOL addr %llx len %u type %u flags 0x%x name ",
		        (unsigned long long)k.addr, k.len, k.type, k.flags);
		text_plain_bytes(out, k.name.p, k.name.n);
	}
}

static void put_bpf_event(struct text *out, const struct record *r, bool swap)
{
	struct cursor c = cursor_make(r->body, swap);
	unsigned type = cursor_u16(&c);
	unsigned flags = cursor_u16(&c);

	text_printf(
	        out, "PERF_RECORD_BPF_EVENT type %u, flags %u, id %u", type, flags, cursor_u32(&c));
}

/* Prints bytes in hexadecimal, up to 16 in a line. */
static void put_code(struct text *out, const char *title, struct span code)
{
	for (size_t i = 0; i < code.n; i++) {
		if (i % CODE_IN_LINE == 0) {
			text_printf(out, "\n            %s bytes:", title);
		}
		text_char(out, ' ');
		text_hex(out, code.p[i], 2, '0');
	}
}

static void put_text_poke(struct text *out, const struct record *r, bool swap)
{
	struct cursor c = cursor_make(r->body, swap);
	uint64_t address = cursor_u64(&c);
	unsigned before = cursor_u16(&c);
	unsigned after = cursor_u16(&c);

	text_printf(out, "PERF_RECORD_TEXT_POKE %llx  old len %u new len %u",
	        (unsigned long long)address, before, after);
	put_code(out, "Old", cursor_bytes(&c, before));
	put_code(out, "New", cursor_bytes(&c, after));
}

static void put_round(struct text *out, const struct record *r, bool swap)
{
	(void)r, (void)swap;
	text_str(out, "PERF_RECORD_FINISHED_ROUND");
}

static const char *put_unnamed(struct text *scratch, uint32_t tid)
{
	scratch->n = 0;
	text_printf(scratch, ":%d", (int)tid);
	text_char(scratch, '\0');
	return scratch->failed ? NULL : scratch->p;
}

/* As in perf, a fork is about the child, which has its parent's name, if that has one. */
static const char *put_forked(const struct record *r, bool swap,
        const struct session_sample *sample, const char *parent, struct text *scratch)
{
	const char *unnamed = put_unnamed(scratch, sample->view->tid);
	struct record_task task;
	bool named = sample->view->comm != TIMELINE_NO_NAME &&
	             (unnamed == NULL || strcmp(parent, unnamed) != 0);

	if (named || !record_task_decode(r, swap, &task)) {
		return parent;
	}
	return put_unnamed(scratch, task.tid);
}

const char *script_record_comm(const struct script *s, const struct record *r,
        const struct session_sample *sample, struct text *scratch)
{
	const char *known = timeline_text(session_timeline(s->session), sample->view->comm);
	bool swap = session_swap(s->session);
	const char *name = NULL;
	struct record_comm comm;

	if (r->type == RECORD_COMM && record_comm_decode(r, swap, &comm)) {
		text_bytes(scratch, (const char *)comm.name.p, comm.name.n);
		text_char(scratch, '\0');
		name = scratch->failed ? NULL : scratch->p;
	} else if (r->type == RECORD_FORK) {
		name = put_forked(r, swap, sample, known, scratch);
	} else if (sample->view->comm == TIMELINE_NO_NAME) {
		name = put_unnamed(scratch, sample->s.tid);
	}
	return name != NULL ? name : known;
}

typedef void (*put_fn)(struct text *out, const struct record *r, bool swap);

/*
 * AUXTRACE_ERROR: u32 type, code, cpu, pid, tid, fmt; u64 ip, time; 64 bytes of text; u32
 * machine_pid, vcpu
 */
static void put_trace_error(struct text *out, const struct record *r, bool swap)
{
	struct cursor c = cursor_make(r->body, swap);
	uint32_t words[6];
	unsigned long long ip, time;
	size_t n = 0;

	for (unsigned i = 0; i < 6; i++) {
		words[i] = cursor_u32(&c);
	}
	ip = cursor_u64(&c);
	time = cursor_u64(&c);
	if (c.bad) {
		return;
	}
	text_printf(out, " instruction trace error type %u", words[0]);
	if (time != 0) {
		text_printf(out, " time %llu.%09llu", time / 1000000000, time % 1000000000);
	} else {
		text_str(out, " time 0");
	}
	text_printf(out, " cpu %d pid %d tid %d ip ", (int)words[2], (int)words[3], (int)words[4]);
	put_hex(out, ip);
	text_printf(out, " code %u: ", words[1]);
	while (n < cursor_left(&c) && n < TRACE_TEXT && c.p[n] != 0) {
		n++;
	}
	text_plain_bytes(out, c.p, n);
}

void script_record_text(struct text *out, const struct record *r, bool swap)
{
	static const put_fn puts[RECORD_TYPE_MAX] = {
	        [RECORD_MMAP] = put_mmap,
	        [RECORD_MMAP2] = put_mmap,
	        [RECORD_COMM] = put_comm,
	        [RECORD_FORK] = put_task,
	        [RECORD_EXIT] = put_task,
	        [RECORD_SWITCH] = put_switch,
	        [RECORD_SWITCH_CPU_WIDE] = put_switch,
	        [RECORD_CGROUP] = put_cgroup,
	        [RECORD_LOST] = put_lost,
	        [RECORD_NAMESPACES] = put_namespaces,
	        [RECORD_KSYMBOL] = put_ksymbol,
	        [RECORD_BPF_EVENT] = put_bpf_event,
	        [RECORD_TEXT_POKE] = put_text_poke,
	        [RECORD_FINISHED_ROUND] = put_round,
	        [RECORD_AUXTRACE_ERROR] = put_trace_error,
	};

	if (r->type < RECORD_TYPE_MAX && puts[r->type] != NULL) {
		puts[r->type](out, r, swap);
	}
	text_char(out, '\n');
}
