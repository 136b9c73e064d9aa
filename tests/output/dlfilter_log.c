/* SPDX-License-Identifier: MIT */
/*
 * A filter that writes all that the tool reports to the file of its first argument, to compare
 * tools. The second argument is what filter_event returns, the third what start returns; with a
 * fourth the log has source lines.
 */
#include <sonde/preview/dlfilter.h>

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CODE_BYTES 20
#define AL_OF_6_1  80u /* bytes of struct perf_dlfilter_al, to which later versions add */

struct perf_dlfilter_fns perf_dlfilter_fns;

static FILE *log_file;
static int result, started;
static bool asks_lines;

static void put(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void put(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vfprintf(log_file, fmt, ap);
	va_end(ap);
}

static void put_hex(const char *what, const void *bytes, uint32_t n)
{
	const uint8_t *p = bytes;

	put(" %s=%u:", what, n);
	for (uint32_t i = 0; p != NULL && i < n; i++) {
		put("%02x", p[i]);
	}
}

static void put_al(const char *what, const struct perf_dlfilter_al *al, int rc)
{
	put(" %s", what);
	if (al == NULL || rc != 0) {
		put("=none(%d)", rc);
		return;
	}
	put("={%d %s+%x %llx %llx-%llx %s %u %u %u", al->size >= AL_OF_6_1,
	        al->sym != NULL ? al->sym : "?", al->symoff, (unsigned long long)al->addr,
	        (unsigned long long)al->sym_start, (unsigned long long)al->sym_end,
	        al->dso != NULL ? al->dso : "?", al->sym_binding, al->is_64_bit, al->is_kernel_ip);
	put_hex("id", al->buildid, al->buildid_size);
	put(" %u %s}", al->filtered, al->comm != NULL ? al->comm : "?");
}

static void put_numbers(const struct perf_dlfilter_sample *s)
{
	const uint64_t words[] = {s->size, s->ins_lat, s->p_stage_cyc, s->ip, s->time, s->addr,
	        s->id, s->stream_id, s->period, s->weight, s->transaction, s->insn_cnt, s->cyc_cnt,
	        s->flags, s->data_src, s->phys_addr, s->data_page_size, s->code_page_size,
	        s->cgroup, s->cpumode, s->addr_correlates_sym, s->misc};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		put(" %llx", (unsigned long long)words[i]);
	}
	put(" %d %d %d %d %d %s", s->pid, s->tid, s->cpu, s->machine_pid, s->vcpu, s->event);
	put_hex("raw", s->raw_data, s->raw_size);
	put_hex("branches", s->brstack, (uint32_t)s->brstack_nr * 24);
	put_hex("chain", s->raw_callchain, (uint32_t)s->raw_callchain_nr * 8);
}

static void put_code(void *ctx, uint64_t ip)
{
	uint8_t code[CODE_BYTES];
	int32_t n = perf_dlfilter_fns.object_code(ctx, ip, code, sizeof(code));

	if (n < 0) {
		put(" code=none(%d)", n);
	} else {
		put_hex("code", code, (uint32_t)n);
	}
}

static void put_all(
        const char *what, void *data, const struct perf_dlfilter_sample *sample, void *ctx)
{
	struct perf_dlfilter_al al = {.size = AL_OF_6_1}, cut = {.size = 16};
	uint32_t length = 99;
	const uint8_t *insn;
	const void *attr;

	put("%s %d", what, data == &result);
	put_numbers(sample);
	put_al("ip", perf_dlfilter_fns.resolve_ip(ctx), 0);
	put_al("addr", perf_dlfilter_fns.resolve_addr(ctx), 0);
	put_al("next", &al, perf_dlfilter_fns.resolve_address(ctx, sample->ip + 1, &al));
	if (perf_dlfilter_fns.al_cleanup != NULL) {
		perf_dlfilter_fns.al_cleanup(ctx, &al);
	}
	al.size = AL_OF_6_1;
	put_al("low", &al, perf_dlfilter_fns.resolve_address(ctx, 0x10, &al));
	(void)perf_dlfilter_fns.resolve_address(ctx, sample->ip, &cut);
	put(" cut=%u,%d,%llx", cut.size, cut.sym != NULL, (unsigned long long)cut.addr);
	insn = perf_dlfilter_fns.insn(ctx, &length);
	put_hex("insn", insn, length);
	attr = perf_dlfilter_fns.attr(ctx);
	put_hex("attr", attr, attr != NULL ? 64 : 0);
	put_code(ctx, sample->ip);
	put_code(ctx, sample->ip + 3);
	put_code(ctx, 0x10);
	if (asks_lines) {
		const char *file = perf_dlfilter_fns.srcline(ctx, &length);

		put(" line=%s:%u", file != NULL ? file : "?", length);
	}
	put("\n");
}

int start(void **data, void *ctx)
{
	int n = 0;
	char **args = perf_dlfilter_fns.args(ctx, &n);

	log_file = n > 0 ? fopen(args[0], "w") : NULL;
	result = n > 1 ? (int)strtol(args[1], NULL, 10) : 0;
	started = n > 2 ? (int)strtol(args[2], NULL, 10) : 0;
	asks_lines = n > 3;
	if (log_file == NULL) {
		return -1;
	}
	*data = &result;
	put("start %d %d %d\n", n, perf_dlfilter_fns.resolve_ip(ctx) == NULL,
	        perf_dlfilter_fns.attr(ctx) == NULL);
	return started;
}

int stop(void *data, void *ctx)
{
	put("stop %d %d\n", data == &result, perf_dlfilter_fns.resolve_ip(ctx) == NULL);
	(void)fclose(log_file);
	return 0;
}

int filter_event_early(void *data, const struct perf_dlfilter_sample *sample, void *ctx)
{
	put_all("early", data, sample, ctx);
	return sample->ip % 16 == 13;
}

int filter_event(void *data, const struct perf_dlfilter_sample *sample, void *ctx)
{
	put_all("event", data, sample, ctx);
	(void)printf("sample at %llx\n", (unsigned long long)sample->ip);
	return result != 0 ? result : (int)(sample->ip & 1);
}
