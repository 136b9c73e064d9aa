/* SPDX-License-Identifier: MIT */
/*
 * Prints the instructions that libipt's decoder finds in a trace, an address a line, and `error`
 * for an error: libipt_ips [-e] TRACE FILE:FROM-TO:ADDRESS... (code; numbers as in C)
 *
 * -e: events too, as `sonde pt flow --event:ip` does, except the mode of the processor.
 */
#include <intel-pt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint8_t *load(const char *path, size_t *n)
{
	FILE *in = fopen(path, "rb");
	long size = in != NULL && fseek(in, 0, SEEK_END) == 0 ? ftell(in) : -1;
	uint8_t *data = size >= 0 ? malloc((size_t)size + 1) : NULL;

	*n = 0;
	if (data != NULL && fseek(in, 0, SEEK_SET) == 0) {
		*n = fread(data, 1, (size_t)size, in);
	}
	if (in != NULL) {
		(void)fclose(in);
	}
	return data;
}

static int add_code(struct pt_image *image, char *text)
{
	char *at = strrchr(text, ':');
	char *range;
	uint64_t from, to;

	if (at == NULL) {
		return -1;
	}
	*at++ = '\0';
	range = strrchr(text, ':');
	if (range == NULL) {
		return -1;
	}
	*range++ = '\0';
	from = strtoull(range, &range, 0);
	to = strtoull(range + 1, NULL, 0);
	return pt_image_add_file(image, text, from, to - from, NULL, strtoull(at, NULL, 0));
}

static void put_ip(const struct pt_event *e, const char *word, uint64_t ip)
{
	if (!e->ip_suppressed) {
		(void)printf(", %s: %016" PRIx64, word, ip);
	}
}

static void put_power(const struct pt_event *e)
{
	switch ((int)e->type) {
	case ptev_exstop:
		(void)printf("[exstop");
		put_ip(e, "ip", e->variant.exstop.ip);
		break;
	case ptev_pwre:
		(void)printf("[pwre c%u.%u%s", (e->variant.pwre.state + 1u) & 15,
		        (e->variant.pwre.sub_state + 1u) & 15, e->variant.pwre.hw ? " hw" : "");
		break;
	case ptev_pwrx:
		(void)printf("[pwrx %s%s%sc%u (c%u)", e->variant.pwrx.interrupt ? "int: " : "",
		        e->variant.pwrx.store ? "st: " : "",
		        e->variant.pwrx.autonomous ? "hw: " : "", (e->variant.pwrx.last + 1u) & 15,
		        (e->variant.pwrx.deepest + 1u) & 15);
		break;
	case ptev_cbr: (void)printf("[cbr: %x", e->variant.cbr.ratio); break;
	case ptev_mnt: (void)printf("[mnt: %" PRIx64, e->variant.mnt.payload); break;
	case ptev_stop: (void)printf("[stopped"); break;
	default: (void)printf("[unknown event %d", (int)e->type); break;
	}
}

static void put_state(const struct pt_event *e)
{
	switch ((int)e->type) {
	case ptev_paging: (void)printf("[paging, cr3: %016" PRIx64, e->variant.paging.cr3); break;
	case ptev_async_paging:
		(void)printf("[paging, cr3: %016" PRIx64, e->variant.async_paging.cr3);
		put_ip(e, "ip", e->variant.async_paging.ip);
		break;
	case ptev_vmcs: (void)printf("[vmcs, base: %016" PRIx64, e->variant.vmcs.base); break;
	case ptev_async_vmcs:
		(void)printf("[vmcs, base: %016" PRIx64, e->variant.async_vmcs.base);
		put_ip(e, "ip", e->variant.async_vmcs.ip);
		break;
	case ptev_tsx:
		(void)printf(e->variant.tsx.aborted       ? "[aborted"
		             : e->variant.tsx.speculative ? "[begin transaction"
		                                          : "[committed");
		put_ip(e, "ip", e->variant.tsx.ip);
		break;
	default: put_power(e); break;
	}
}

static void put_event(const struct pt_event *e)
{
	switch ((int)e->type) {
	case ptev_exec_mode: return;
	case ptev_enabled:
		(void)printf(e->variant.enabled.resumed ? "[resumed" : "[enabled");
		put_ip(e, "ip", e->variant.enabled.ip);
		break;
	case ptev_disabled:
		(void)printf("[disabled");
		put_ip(e, "ip", e->variant.disabled.ip);
		break;
	case ptev_async_disabled:
		(void)printf("[disabled, at: %016" PRIx64, e->variant.async_disabled.at);
		put_ip(e, "ip", e->variant.async_disabled.ip);
		break;
	case ptev_async_branch:
		(void)printf("[interrupt, from: %016" PRIx64, e->variant.async_branch.from);
		put_ip(e, "to", e->variant.async_branch.to);
		break;
	case ptev_overflow:
		(void)printf("[overflow");
		put_ip(e, "ip", e->variant.overflow.ip);
		break;
	default: put_state(e); break;
	}
	(void)printf("]\n");
}

static int go_on(struct pt_insn_decoder *d, int status, bool events)
{
	struct pt_insn insn = {.iclass = ptic_error};

	while (status >= 0 && (status & pts_event_pending) != 0) {
		struct pt_event event;

		status = pt_insn_event(d, &event, sizeof(event));
		if (status >= 0 && events && !event.status_update) {
			put_event(&event);
		}
	}
	if (status < 0) {
		return status;
	}
	status = pt_insn_next(d, &insn, sizeof(insn));
	if (insn.iclass != ptic_error) {
		(void)printf("%s%016" PRIx64 "\n", events && insn.speculative ? "? " : "", insn.ip);
	}
	return status;
}

int main(int argc, char **argv)
{
	struct pt_config config;
	struct pt_insn_decoder *d;
	bool events = argc > 1 && strcmp(argv[1], "-e") == 0;
	int first = events ? 2 : 1;
	size_t n = 0;
	uint8_t *trace = argc > first ? load(argv[first], &n) : NULL;
	int status;

	pt_config_init(&config);
	config.begin = trace;
	config.end = trace + n;
	config.errata.bdm70 = 1; /* a PSB+ that says tracing is on may come before TIP.PGE */
	d = trace != NULL ? pt_insn_alloc_decoder(&config) : NULL;
	if (d == NULL) {
		free(trace);
		return 1;
	}
	for (int i = first + 1; i < argc; i++) {
		if (add_code(pt_insn_get_image(d), argv[i]) < 0) {
			(void)fprintf(stderr, "no code: %s\n", argv[i]);
			return 1;
		}
	}
	while ((status = pt_insn_sync_forward(d)) >= 0) {
		do {
			status = go_on(d, status, events);
		} while (status >= 0);
		if (status != -pte_eos) {
			(void)printf("error\n");
		}
	}
	pt_insn_free_decoder(d);
	free(trace);
	return 0;
}
