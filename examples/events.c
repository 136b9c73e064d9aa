/* SPDX-License-Identifier: MIT */
/* Prints header, side-band and samples as perf script does: events FILE [FOLDER OF OBJECTS] */
#include <inttypes.h>
#include <sonde/preview/session.h>
#include <stdio.h>

static void print_header(struct sonde_file *f)
{
	const char *titles[] = {"hostname", "os release", "perf version", "arch"};
	struct sonde_fields *it = sonde_fields_new();
	const struct sonde_field *v;

	for (unsigned bit = 3; bit < 7; bit++) {
		if (sonde_file_feature_fields(f, bit, it) == 0 && sonde_fields_next(it, &v)) {
			(void)printf("# %s : %.*s\n", titles[bit - 3], (int)v->text_size, v->text);
		}
	}
	sonde_fields_free(it);
}

static void print_event(struct sonde_session *s, const struct sonde_event *e)
{
	const struct sonde_typed_record *r;
	const struct sonde_frame *f;

	(void)printf("%s %u %.6f: ", e->thread.comm, e->sample->tid,
	        (double)(e->sample->time - e->sample->time % 1000) / 1e9);
	if (sonde_session_record(s, e, &r) > 0 && r->type == SONDE_RECORD_COMM) {
		(void)printf("PERF_RECORD_COMM%s: %.*s:%d/%d\n", r->misc >> 13 & 1 ? " exec" : "",
		        (int)r->comm.comm.n, r->comm.comm.p, r->comm.pid, r->comm.tid);
	} else if (r->type != SONDE_RECORD_SAMPLE) {
		(void)printf("PERF_RECORD_%s(%d:%d):(%d:%d)\n", sonde_record_type_name(r->type),
		        r->task.pid, r->task.tid, r->task.ppid, r->task.ptid);
	} else if (sonde_session_resolve(s, e, e->cpumode, e->sample->ip, &f) > 0) {
		(void)printf("%" PRIu64 " %s: %" PRIx64 " %s+0x%" PRIx64 " (%s)\n",
		        e->sample->period, sonde_session_event_name(s, e->event), e->sample->ip,
		        f->symbol ? f->symbol : "?", f->symbol_offset, f->dso);
	}
}

int main(int argc, char **argv)
{
	const struct sonde_session_options o = {sizeof(o), .symfs = argc > 2 ? argv[2] : NULL};
	const struct sonde_session_choice tasks = {sizeof(tasks), .kinds = SONDE_KINDS_TASKS};
	struct sonde_session *s = sonde_session_new(&o);
	const struct sonde_event *e;
	int rc = s ? sonde_session_open(s, argc > 1 ? argv[1] : "perf.data") : SONDE_ENOMEM;

	if (rc >= 0 && (rc = sonde_session_choose(s, &tasks)) >= 0) {
		print_header(sonde_session_file(s));
	}
	while (rc >= 0 && (rc = sonde_session_next(s, &e)) > 0) {
		print_event(s, e);
	}
	if (rc < 0) {
		(void)fprintf(stderr, "%s\n", s ? sonde_session_error(s)->text : "no memory");
	}
	sonde_session_free(s);
	return rc < 0;
}
