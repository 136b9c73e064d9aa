/* SPDX-License-Identifier: MIT */
/*
 * AUXTRACE, with `size` bytes of trace after it:
 *
 *	8   u64 size, offset (in the trace), reference
 *	32  u32 index, tid, cpu, reserved
 *
 * AUX: u64 offset, size, flags. Records of tasks end with u32 pid, tid, u64 time, u32 cpu, 0, u64 id;
 * without time and cpu when the trace has no TSC.
 */
#include "softpt/tape.h"

#include "abi/abi.h"
#include "host/synth.h"
#include "record/feature_write.h"

#include <string.h>

#define ROUND_RECORDS  (1u << 20) /* bytes of records after which a round ends */
#define AUX_OVERWRITE  2u
#define AUXTRACE_BYTES 48u

static void put_trailer(struct tape *tape, size_t at, const struct tape_task *task, unsigned id)
{
	struct flow *flow = &task->track->flow;
	struct text *t = &tape->records;
	uint16_t size;

	text_fill(t, '\0', (8 - (t->n - at) % 8) % 8);
	feature_put_u32(t, (uint32_t)task->pid);
	feature_put_u32(t, (uint32_t)task->tid);
	if (tape->per_cpu) {
		tape->last_time = flow_stamp(flow);
		feature_put_u64(t, tape->last_time);
		feature_put_u64(t, 0);
	}
	feature_put_u64(t, id);
	size = (uint16_t)(t->n - at);
	if (!t->failed) {
		memcpy(t->p + at + 6, &size, sizeof(size));
	}
}

void tape_comm(struct tape *tape, const struct tape_task *task, const char *name, bool exec)
{
	struct text *t = &tape->records;
	size_t at = host_record_begin(t, RECORD_COMM, exec ? MISC_COMM_EXEC : 0);

	feature_put_u32(t, (uint32_t)task->pid);
	feature_put_u32(t, (uint32_t)task->tid);
	text_bytes(t, name, strlen(name) + 1);
	put_trailer(tape, at, task, TAPE_TASKS_ID);
}

void tape_map(struct tape *tape, const struct tape_task *task, const struct space_map *map)
{
	struct text *t = &tape->records;
	size_t at;

	if (strlen(map->name) >= 4096) {
		return;
	}
	at = host_record_begin(t, RECORD_MMAP2, MISC_USER);
	feature_put_u32(t, (uint32_t)task->pid);
	feature_put_u32(t, (uint32_t)task->tid);
	feature_put_u64(t, map->start);
	feature_put_u64(t, map->end - map->start);
	feature_put_u64(t, map->pgoff);
	feature_put_u32(t, map->maj);
	feature_put_u32(t, map->min);
	feature_put_u64(t, map->ino);
	feature_put_u64(t, 0);
	feature_put_u32(t, map->prot);
	feature_put_u32(t, map->flags);
	text_bytes(t, map->name, strlen(map->name) + 1);
	put_trailer(tape, at, task, TAPE_TASKS_ID);
}

static void put_kinship(
        struct tape *tape, uint32_t type, const struct tape_task *task, pid_t ppid, pid_t ptid)
{
	struct text *t = &tape->records;
	size_t at = host_record_begin(t, type, 0);
	uint64_t time = task->track->flow.tsc + 2; /* that of the trailer */

	feature_put_u32(t, (uint32_t)task->pid);
	feature_put_u32(t, (uint32_t)ppid);
	feature_put_u32(t, (uint32_t)task->tid);
	feature_put_u32(t, (uint32_t)ptid);
	feature_put_u64(t, time);
	put_trailer(tape, at, task, TAPE_TASKS_ID);
}

void tape_fork(struct tape *tape, const struct tape_task *task, pid_t ppid, pid_t ptid)
{
	put_kinship(tape, RECORD_FORK, task, ppid, ptid);
}

void tape_exit(struct tape *tape, const struct tape_task *task, pid_t ppid, pid_t ptid)
{
	put_kinship(tape, RECORD_EXIT, task, ppid, ptid);
}

void tape_switch(struct tape *tape, const struct tape_task *task, bool out)
{
	if (tape->per_cpu) {
		put_trailer(tape,
		        host_record_begin(&tape->records, RECORD_SWITCH, out ? MISC_SWITCH_OUT : 0),
		        task, TAPE_TASKS_ID);
	}
}

void tape_begin_task(struct tape *tape, const struct tape_task *task)
{
	struct text *t = &tape->records;
	size_t at = host_record_begin(t, RECORD_ITRACE_START, 0);

	feature_put_u32(t, (uint32_t)task->pid);
	feature_put_u32(t, (uint32_t)task->tid);
	put_trailer(tape, at, task, TAPE_TRACE_ID);
}

/* ---- rounds ---- */

static int append(struct tape *tape, const char *bytes, size_t n)
{
	if (n == 0) {
		return 0;
	}
	TRY(file_writer_put(&tape->writer, bytes, n, tape->err));
	return file_writer_flush(&tape->writer, tape->err);
}

/* Writes trace, and its AUX record to the round. */
static int put_trace(struct tape *tape, struct tape_track *track, const void *bytes, size_t n)
{
	uint64_t at = tape->writer.data_at + tape->writer.data_size;
	const struct tape_task task = {track, track->tid < 0 ? 0 : track->tid, track->tid};
	struct text t = {0}, *aux = &tape->records;
	size_t pad = (8 - n % 8) % 8, start;
	int rc;

	start = host_record_begin(&t, RECORD_AUXTRACE, 0);
	feature_put_u64(&t, n + pad);
	feature_put_u64(&t, track->end - n);
	feature_put_u64(&t, track->flow.tsc);
	feature_put_u32(&t, track->index);
	feature_put_u32(&t, (uint32_t)track->tid);
	feature_put_u32(&t, track->tid < 0 ? 0 : UINT32_MAX);
	feature_put_u32(&t, 0);
	host_record_end(&t, start, NULL, 0);
	text_bytes(&t, bytes, n);
	text_fill(&t, '\0', pad); /* PAD packets */
	rc = t.failed ? error_nomem(tape->err) : append(tape, t.p, t.n);
	text_fini(&t);
	TRY(rc);
	feature_put_u64(&tape->index, at);
	feature_put_u64(&tape->index, AUXTRACE_BYTES);
	tape->trace_bytes += n;
	start = host_record_begin(aux, RECORD_AUX, 0);
	feature_put_u64(aux, track->end - n);
	feature_put_u64(aux, n);
	feature_put_u64(aux, tape->options.snapshot ? AUX_OVERWRITE : 0);
	put_trailer(tape, start, &task, TAPE_TRACE_ID);
	return 0;
}

int tape_put_records(struct tape *tape)
{
	struct text *t = &tape->records;
	int rc = t->failed ? error_nomem(tape->err) : append(tape, t->p, t->n);

	t->n = 0;
	return rc;
}

static int put_round(struct tape *tape)
{
	struct text *t = &tape->records;

	if (t->n == 0) {
		return 0;
	}
	host_record_end(t, host_record_begin(t, RECORD_FINISHED_ROUND, 0), NULL, 0);
	TRY(tape_put_records(tape));
	return tape->writer.stream ? 0 : file_writer_mark(&tape->writer, tape->err);
}

/* Moves the packets so far to the bytes that a snapshot keeps. */
static int keep(struct tape *tape, struct tape_track *track)
{
	struct text *t = &track->kept;
	const uint8_t *bytes;
	size_t n, most = (size_t)tape->options.keep;

	if (flow_take(&track->flow, &bytes, &n) < 0) {
		return error_nomem(tape->err);
	}
	track->end += n;
	text_bytes(t, (const char *)bytes, n);
	if (t->n > 2 * most && !t->failed) {
		memmove(t->p, t->p + (t->n - most), most);
		t->n = most;
	}
	return t->failed ? error_nomem(tape->err) : 0;
}

int tape_snapshot(struct tape *tape, struct tape_track *track)
{
	uint64_t n;

	TRY(keep(tape, track));
	n = track->end - track->begin; /* what an earlier snapshot has is not written again */
	n = n < tape->options.keep ? n : tape->options.keep;
	track->begin = track->end;
	if (n > 0) {
		TRY(put_trace(tape, track, track->kept.p + (track->kept.n - n), (size_t)n));
	}
	return put_round(tape);
}

int tape_pass(struct tape *tape, struct tape_track *track, bool all)
{
	size_t pending = flow_pending(&track->flow), n;
	uint64_t most = tape->options.max_bytes;
	const uint8_t *bytes;

	all |= most != 0 && !tape->options.snapshot &&
	       tape->writer.data_size + pending + tape->records.n >= most;
	if (!all && pending < tape->options.round && tape->records.n < ROUND_RECORDS) {
		return 0;
	}
	if (tape->options.snapshot) {
		TRY(keep(tape, track));
	} else {
		if (flow_take(&track->flow, &bytes, &n) < 0) {
			return error_nomem(tape->err);
		}
		track->end += n;
		if (n > 0) {
			TRY(put_trace(tape, track, bytes, n));
		}
	}
	TRY(put_round(tape));
	return most != 0 && tape->writer.data_size >= most;
}

int tape_track_init(struct tape *tape, struct tape_track *track, uint32_t index, pid_t tid)
{
	uint64_t now = tape->last_time > tape->begun ? tape->last_time : tape->begun;

	*track = (struct tape_track){.index = index, .tid = tid};
	return flow_init(&track->flow, &tape->options.terms, now) < 0 ? error_nomem(tape->err) : 0;
}

void tape_track_fini(struct tape_track *track)
{
	flow_fini(&track->flow);
	text_fini(&track->kept);
}
