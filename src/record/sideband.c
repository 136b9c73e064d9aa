/* SPDX-License-Identifier: MIT */
/*
 * Bodies of the side-band records that the timeline needs (a trailer may follow each):
 *
 *	MMAP    u32 pid, tid; u64 start, len, pgoff; char name[]
 *	MMAP2   the same up to pgoff; u32 maj, min; u64 ino, generation (or with misc bit 14: u8
 *size, 3 bytes, u8 build_id[20]); u32 prot, flags; char name[] COMM    u32 pid, tid; char name[]
 *	FORK, EXIT  u32 pid, ppid, tid, ptid; u64 time
 *	KSYMBOL u64 addr; u32 len; u16 type, flags; char name[]
 *
 * Names end at their NUL. Source: perf_event_open(2).
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

const char *record_type_name(uint32_t type)
{
	static const char *const names[RECORD_TYPE_MAX] = {
	        [RECORD_MMAP] = "MMAP",
	        [RECORD_LOST] = "LOST",
	        [RECORD_COMM] = "COMM",
	        [RECORD_EXIT] = "EXIT",
	        [RECORD_THROTTLE] = "THROTTLE",
	        [RECORD_UNTHROTTLE] = "UNTHROTTLE",
	        [RECORD_FORK] = "FORK",
	        [RECORD_READ] = "READ",
	        [RECORD_SAMPLE] = "SAMPLE",
	        [RECORD_MMAP2] = "MMAP2",
	        [RECORD_AUX] = "AUX",
	        [RECORD_ITRACE_START] = "ITRACE_START",
	        [RECORD_LOST_SAMPLES] = "LOST_SAMPLES",
	        [RECORD_SWITCH] = "SWITCH",
	        [RECORD_SWITCH_CPU_WIDE] = "SWITCH_CPU_WIDE",
	        [RECORD_NAMESPACES] = "NAMESPACES",
	        [RECORD_KSYMBOL] = "KSYMBOL",
	        [RECORD_BPF_EVENT] = "BPF_EVENT",
	        [RECORD_CGROUP] = "CGROUP",
	        [RECORD_TEXT_POKE] = "TEXT_POKE",
	        [RECORD_AUX_OUTPUT_HW_ID] = "AUX_OUTPUT_HW_ID",
	        [RECORD_CALLCHAIN_DEFERRED] = "CALLCHAIN_DEFERRED",
	        [RECORD_HEADER_ATTR] = "ATTR",
	        [RECORD_HEADER_EVENT_TYPE] = "EVENT_TYPE",
	        [RECORD_TRACING_DATA] = "TRACING_DATA",
	        [RECORD_BUILD_ID] = "BUILD_ID",
	        [RECORD_FINISHED_ROUND] = "FINISHED_ROUND",
	        [RECORD_ID_INDEX] = "ID_INDEX",
	        [RECORD_AUXTRACE_INFO] = "AUXTRACE_INFO",
	        [RECORD_AUXTRACE] = "AUXTRACE",
	        [RECORD_AUXTRACE_ERROR] = "AUXTRACE_ERROR",
	        [RECORD_THREAD_MAP] = "THREAD_MAP",
	        [RECORD_CPU_MAP] = "CPU_MAP",
	        [RECORD_STAT_CONFIG] = "STAT_CONFIG",
	        [RECORD_STAT] = "STAT",
	        [RECORD_STAT_ROUND] = "STAT_ROUND",
	        [RECORD_EVENT_UPDATE] = "EVENT_UPDATE",
	        [RECORD_TIME_CONV] = "TIME_CONV",
	        [RECORD_HEADER_FEATURE] = "FEATURE",
	        [RECORD_COMPRESSED] = "COMPRESSED",
	        [RECORD_FINISHED_INIT] = "FINISHED_INIT",
	        [RECORD_COMPRESSED2] = "COMPRESSED2",
	        [RECORD_BPF_METADATA] = "BPF_METADATA",
	        [RECORD_SCHEDSTAT_CPU] = "SCHEDSTAT_CPU",
	        [RECORD_SCHEDSTAT_DOMAIN] = "SCHEDSTAT_DOMAIN",
	};

	return type < RECORD_TYPE_MAX ? names[type] : NULL;
}
