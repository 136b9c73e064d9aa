/* SPDX-License-Identifier: MIT */
/*
 * The log of the decoder of traces, in the layout of perf's intel_pt.log:
 *
 *	TSC frequency 2016000000                          the clock
 *	event 12: cpu 0 time 999 tsc 0x7f PERF_RECORD_..  records of the recording
 *	queue 0 decoding cpu -1 pid 1000 tid 1000
 *	  0000003e:  86                    TNT NNNNTT (6) packets, as they are read
 *	Setting timestamp to 0x1d562f6c000                the time that they led to
 *	          00401050:  53                     Other instructions that they decide
 *	ERROR: Overflow packet
 *
 * perf prints the records between packets, by time; here they are first, and queues follow one
 * another.
 */
#include "aux/aux.h"
#include "inspect/aux_text.h"
#include "pt/insn.h"
#include "script/script.h"

#include <stdlib.h>

/* Records that decide which code runs, and when. */
#define RECORDS                                                                                    \
	(1u << RECORD_MMAP | 1u << RECORD_MMAP2 | 1u << RECORD_COMM | 1u << RECORD_FORK |          \
	        1u << RECORD_EXIT | 1u << RECORD_AUX | 1u << RECORD_ITRACE_START |                 \
	        1u << RECORD_SWITCH | 1u << RECORD_SWITCH_CPU_WIDE | 1u << RECORD_KSYMBOL |        \
	        1u << RECORD_TEXT_POKE)
#define PIECE    (64u << 10) /* bytes of text that are written at once */
#define KEPT     16384u /* bytes before an error, as perf's default */
#define BYTES_AT 16u /* bytes that an instruction has room for */

struct trace_log {
	struct sonde_session *session;
	const struct aux *aux;
	const struct itrace *itrace;
	struct text out;
	struct pt_text *packets;
	uint64_t tsc; /* the last time */
	sonde_write_fn write;
	void *arg;
};

/* Writes text, except that a log of errors keeps the last lines for the next error. */
static int pass(struct trace_log *l)
{
	const char *cut;
	size_t from;

	if (l->out.failed) {
		return SONDE_ENOMEM;
	}
	if (!l->itrace->log.on_errors) {
		return text_flush(&l->out, PIECE, l->write, l->arg);
	}
	if (l->out.n <= PIECE) {
		return 0;
	}
	from = l->out.n - KEPT;
	cut = memchr(l->out.p + from - 1, '\n', KEPT);
	from = cut != NULL ? (size_t)(cut - l->out.p) + 1 : from;
	memmove(l->out.p, l->out.p + from, l->out.n - from);
	l->out.n -= from;
	return 0;
}

static int put_record(void *arg, const struct record *r, const struct session_sample *sample)
{
	struct trace_log *l = arg;
	bool swap = session_swap(l->session);

	uint64_t has = session_events(l->session)[sample->event].attr.sample_type;
	uint64_t time = (has & SONDE_SAMPLE_TIME) != 0 ? sample->s.time : UINT64_MAX;

	text_printf(&l->out, "event %u: cpu %d time %llu tsc ", r->type,
	        (has & SONDE_SAMPLE_CPU) != 0 ? (int)sample->s.cpu : -1, (unsigned long long)time);
	if (time != UINT64_MAX) {
		text_0x(&l->out, aux_time_tsc(l->aux, time));
	} else {
		text_char(&l->out, '0');
	}
	text_str(&l->out, " ");
	if (r->type == RECORD_AUX || r->type == RECORD_ITRACE_START) {
		text_str(&l->out, "PERF_RECORD_");
		(void)aux_text_line(&l->out, r, swap);
	} else {
		script_record_text(&l->out, r, swap);
	}
	return pass(l);
}

static void put_clock(struct trace_log *l)
{
	struct aux_watched_clock c = aux_watched_clock(l->aux);

	text_printf(&l->out, "TSC frequency %llu\nMaximum non-turbo ratio %llu\n",
	        (unsigned long long)c.hz, (unsigned long long)c.max_nonturbo_ratio);
	text_printf(&l->out,
	        "timestamp: mtc_shift %u\ntimestamp: tsc_ctc_ratio_n %u\ntimestamp: "
	        "tsc_ctc_ratio_d %u\n",
	        c.mtc_shift, c.tsc_ctc_n, c.tsc_ctc_d);
}

static int on_begin(void *arg, const struct aux_watched_queue *q)
{
	struct trace_log *l = arg;

	text_printf(&l->out, "queue %u decoding cpu %d pid %d tid %d\n", q->number, (int)q->cpu,
	        (int)q->pid, (int)q->tid);
	pt_text_begin(l->packets, q->bytes);
	(void)pt_cursor_sync(&l->packets->cursor);
	l->tsc = 0;
	return pass(l);
}

static int on_packets(void *arg, uint64_t end)
{
	struct trace_log *l = arg;

	pt_text_until(l->packets, &l->out, end);
	return pass(l);
}

static int on_time(void *arg, uint64_t tsc)
{
	struct trace_log *l = arg;

	if (tsc != l->tsc) {
		text_str(&l->out, "Setting timestamp to ");
		text_0x(&l->out, tsc);
		text_char(&l->out, '\n');
	}
	l->tsc = tsc;
	return pass(l);
}

static void put_class(struct text *out, const struct aux_watched_insn *insn)
{
	static const char *const names[PT_CLASSES] = {
	        [PT_CLASS_OTHER] = "Other",
	        [PT_CLASS_COND] = "Jcc",
	        [PT_CLASS_JUMP] = "Jmp",
	        [PT_CLASS_CALL] = "Call",
	        [PT_CLASS_JUMP_IND] = "Jmp",
	        [PT_CLASS_CALL_IND] = "Call",
	        [PT_CLASS_RET] = "Ret",
	        [PT_CLASS_FAR_CALL] = "Syscall",
	        [PT_CLASS_FAR_RET] = "Sysret",
	        [PT_CLASS_FAR_JUMP] = "Jmp",
	};
	static const char *const special[] = {
	        [PT_SPECIAL_IRET] = "Iret",
	        [PT_SPECIAL_VM] = "VMentry",
	        [PT_SPECIAL_INT] = "Int",
	};
	size_t n = sizeof(special) / sizeof(special[0]);
	const char *name = insn->special < n ? special[insn->special] : NULL;

	text_str(out, name != NULL ? name : names[insn->class]);
	if (insn->class == PT_CLASS_COND || insn->class == PT_CLASS_JUMP ||
	        insn->class == PT_CLASS_CALL) {
		text_printf(out, insn->disp != 0 ? " %+d" : " %d", (int)insn->disp);
	}
}

static int on_insn(void *arg, const struct aux_watched_insn *insn)
{
	struct trace_log *l = arg;

	text_fill(&l->out, ' ', 10);
	text_hex(&l->out, insn->ip, 8, '0');
	text_char(&l->out, ':');
	text_char(&l->out, ' ');
	for (uint32_t i = 0; i < insn->size; i++) {
		text_char(&l->out, ' ');
		text_hex(&l->out, insn->bytes[i], 2, '0');
	}
	text_fill(&l->out, ' ', 3 * (size_t)(BYTES_AT - insn->size) + 1);
	put_class(&l->out, insn);
	text_char(&l->out, '\n');
	return pass(l);
}

static int on_error(void *arg, const struct aux_watched_error *e)
{
	struct trace_log *l = arg;
	unsigned long long time = e->time;

	text_printf(&l->out, "ERROR: %s\n", e->text);
	if (!l->itrace->errors) {
		return 0;
	}
	text_str(&l->out, " instruction trace error type 1 time ");
	text_printf(
	        &l->out, time != 0 ? "%llu.%09llu" : "%llu", time / 1000000000, time % 1000000000);
	text_printf(&l->out, " cpu %d pid %d tid %d ip ", (int)e->cpu, (int)e->pid, (int)e->tid);
	text_str(&l->out, e->ip != 0 ? "0x" : "");
	text_hex(&l->out, e->ip, 0, '0');
	text_printf(&l->out, " code %u: %s\n", e->code, e->text);
	return 0;
}

/* An error after at most KEPT bytes of what led to it. */
static int on_last_error(void *arg, const struct aux_watched_error *e)
{
	static const char head[] = "Dumping debug log buffer\n",
	                  tail[] = "End of debug log buffer dump\n";
	struct trace_log *l = arg;
	size_t from = 0;
	int rc;

	(void)on_error(l, e);
	text_str(&l->out, tail);
	if (l->out.failed) {
		return SONDE_ENOMEM;
	}
	if (l->out.n > KEPT) {
		const char *line = memchr(l->out.p + l->out.n - KEPT, '\n', KEPT);

		from = line != NULL ? (size_t)(line - l->out.p) + 1 : 0;
	}
	rc = l->write(l->arg, head, sizeof(head) - 1);
	rc = rc < 0 ? rc : l->write(l->arg, l->out.p + from, l->out.n - from);
	l->out.n = 0;
	return rc < 0 ? SONDE_EOUTPUT : 0;
}

static int write_log(struct trace_log *l)
{
	const struct aux_watcher w = {.arg = l,
	        .begin = on_begin,
	        .packets = on_packets,
	        .time = on_time,
	        .insn = on_insn,
	        .error = l->itrace->log.on_errors ? on_last_error : on_error};

	put_clock(l);
	if (!l->itrace->log.no_records) {
		TRY(session_each_record(l->session, RECORDS, put_record, l));
	}
	for (size_t i = 0; i < aux_queue_count(l->aux); i++) {
		TRY(aux_watch(l->aux, i, &w));
	}
	return l->itrace->log.on_errors ? 0 : text_flush(&l->out, 0, l->write, l->arg);
}

int sonde_trace_log_write(struct sonde_session *s, sonde_write_fn write, void *arg)
{
	struct trace_log l = {.session = s,
	        .aux = session_aux(s),
	        .itrace = session_itrace(s),
	        .write = write,
	        .arg = arg};
	int rc;

	if (l.aux == NULL) {
		return 0;
	}
	l.packets = malloc(sizeof(*l.packets));
	if (l.packets == NULL) {
		return SONDE_ENOMEM;
	}
	rc = write_log(&l);
	text_fini(&l.out);
	free(l.packets);
	return rc;
}

enum sonde_trace_log sonde_trace_log(const struct sonde_session *s)
{
	const struct itrace *w = session_itrace(s);

	if (!w->log.wanted || session_aux(s) == NULL) {
		return SONDE_TRACE_LOG_NONE;
	}
	return w->log.to_output ? SONDE_TRACE_LOG_OUTPUT : SONDE_TRACE_LOG_FILE;
}
