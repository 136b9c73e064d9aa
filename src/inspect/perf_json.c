/* SPDX-License-Identifier: MIT */
/*
 * A recording as JSON in the layout of `perf data convert --to-json` (observed: perf 6.1). Samples
 * are in order of time, each with its call chain, or its address as the only entry.
 */
#include "core/json.h"
#include "file/feature.h"
#include "session/file.h"
#include "session/session.h"

#include <sonde/preview/inspect.h>
#include <stdio.h>
#include <time.h>

#define FLUSH_ABOVE ((size_t)256 << 10) /* bytes */
#define VERSION     1u

struct perf_json {
	struct json j;
	struct text out;
	struct sonde_session *s;
	const struct file *f;
	struct arena arena;
	uint64_t samples;
};

static int put_text(struct perf_json *p, const char *key, enum abi_feature bit)
{
	struct layout_text value = {0};
	int rc = FEATURE_READ(p->f, bit, &p->arena, &value);

	if (rc > 0 && value.s != NULL) {
		json_text(&p->j, key, value.s);
	}
	return rc == SONDE_ENOMEM ? rc : 0;
}

static int put_cpus(struct perf_json *p)
{
	struct feature_cpus cpus = {0};
	int rc = FEATURE_READ(p->f, FEATURE_NRCPUS, &p->arena, &cpus);

	if (rc > 0) {
		json_u64(&p->j, "nrcpus-online", cpus.online);
		json_u64(&p->j, "nrcpus-avail", cpus.available);
	}
	return rc == SONDE_ENOMEM ? rc : 0;
}

static int put_cmdline(struct perf_json *p)
{
	struct feature_list list = {0};
	int rc = FEATURE_READ(p->f, FEATURE_CMDLINE, &p->arena, &list);

	if (rc > 0) {
		json_array(&p->j, "cmdline");
		for (size_t i = 0; i < list.n; i++) {
			json_text(&p->j, NULL, list.items[i].s);
		}
		json_close(&p->j);
	}
	return rc == SONDE_ENOMEM ? rc : 0;
}

static void put_file(struct perf_json *p)
{
	time_t modified = (time_t)p->f->modified;
	char text[32];
	struct tm tm;

	json_u64(&p->j, "header-version", VERSION);
	if (gmtime_r(&modified, &tm) != NULL &&
	        strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm) != 0) {
		json_text(&p->j, "captured-on", text);
	}
	json_u64(&p->j, "data-offset", p->f->data.offset);
	json_u64(&p->j, "data-size", p->f->data.size);
	json_u64(&p->j, "feat-offset", p->f->data.offset + p->f->data.size);
}

static int put_headers(struct perf_json *p)
{
	json_object(&p->j, "headers");
	put_file(p);
	TRY(put_text(p, "hostname", FEATURE_HOSTNAME));
	TRY(put_text(p, "os-release", FEATURE_OSRELEASE));
	TRY(put_text(p, "arch", FEATURE_ARCH));
	TRY(put_text(p, "cpu-desc", FEATURE_CPUDESC));
	TRY(put_text(p, "cpuid", FEATURE_CPUID));
	TRY(put_cpus(p));
	TRY(put_text(p, "perf-version", FEATURE_VERSION));
	TRY(put_cmdline(p));
	json_close(&p->j);
	return 0;
}

/* As in perf, the object is named only where the function is known. */
static void put_frame(struct perf_json *p, const struct sonde_frame *frame)
{
	json_object(&p->j, NULL);
	json_printf(&p->j, "ip", "\"0x%llx\"", (unsigned long long)frame->ip);
	if (frame->symbol != NULL) {
		const char *dso = frame->dso != NULL ? frame->dso : "[unknown]";
		const char *slash = dso[0] == '/' ? strrchr(dso, '/') : NULL;

		json_text(&p->j, "symbol", frame->symbol);
		json_text(&p->j, "dso", slash != NULL ? slash + 1 : dso);
	}
	json_close(&p->j);
}

static int put_sample(struct perf_json *p, const struct sonde_event *e)
{
	const struct sonde_frame *frame;

	TRY(sonde_session_frames(p->s, e, &frame));
	json_object(&p->j, NULL);
	json_u64(&p->j, "timestamp", e->sample->time);
	json_s64(&p->j, "pid", (int32_t)e->thread.pid);
	json_s64(&p->j, "tid", (int32_t)e->thread.tid);
	if ((e->sample->present & SONDE_SAMPLE_CPU) != 0) {
		json_u64(&p->j, "cpu", e->sample->cpu);
	}
	json_text(&p->j, "comm", e->thread.comm);
	json_array(&p->j, "callchain");
	for (; frame != NULL; frame = frame->caller) {
		put_frame(p, frame);
	}
	json_close(&p->j);
	json_close(&p->j);
	p->samples++;
	return 0;
}

static int put_all(struct perf_json *p, sonde_write_fn write, void *arg)
{
	const struct sonde_event *e;
	int rc;

	json_object(&p->j, NULL);
	json_u64(&p->j, "linux-perf-json-version", VERSION);
	TRY(put_headers(p));
	json_array(&p->j, "samples");
	while ((rc = sonde_session_next(p->s, &e)) > 0) {
		TRY(put_sample(p, e));
		TRY(text_flush(&p->out, FLUSH_ABOVE, write, arg));
	}
	TRY(rc);
	json_end(&p->j);
	return text_flush(&p->out, 0, write, arg);
}

int sonde_perf_json_print(
        struct sonde_session *s, uint64_t *samples, sonde_write_fn write, void *arg)
{
	struct perf_json p = {.j = {.tabs = true}, .s = s};
	int rc;

	p.j.out = &p.out;
	TRY(session_ready(s));
	p.f = session_file(s);
	rc = put_all(&p, write, arg);
	*samples = p.samples;
	text_fini(&p.out);
	arena_fini(&p.arena);
	return error_plain(session_error(s), rc);
}
