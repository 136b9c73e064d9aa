/* SPDX-License-Identifier: MIT */
/* sonde pt dump: prints a line for each packet. */
#include "cmd/commands.h"
#include "cmd/pt_common.h"
#include "cmd/pt_event.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct dump {
	struct pt_clock_options clock;
	struct pt_cpu_option cpu;
	bool offset, raw, sync, time, delta, calibration, show_calibration, wall_clock, cyc;
	bool keep_calibration, quiet, pad, timing, last_ip, exec_mode;
	const struct pt_trace *trace;
	struct sonde_pt_time now;
	uint64_t ip; /* the last one */
	uint64_t shown_tsc, shown_speed;
	bool failed;
};

/* The columns of a line. */
struct line {
	char payload[64];
	char track[64];
};

__attribute__((format(printf, 3, 4))) static void complain(
        struct dump *d, uint64_t offset, const char *fmt, ...)
{
	va_list ap;

	d->failed = true;
	(void)printf("[%" PRIx64 ": ", offset);
	va_start(ap, fmt);
	(void)vprintf(fmt, ap);
	va_end(ap);
	(void)printf("]\n");
}

__attribute__((format(printf, 3, 4))) static void put(char *to, size_t size, const char *fmt, ...)
{
	size_t n = strnlen(to, size);
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(to + n, size - n, fmt, ap);
	va_end(ap);
}

#define PAYLOAD(...) put(line->payload, sizeof(line->payload), __VA_ARGS__)
#define TRACK(...)   put(line->track, sizeof(line->track), __VA_ARGS__)

static void show_tnt(const struct sonde_pt_packet *p, struct line *line)
{
	for (unsigned i = p->count; i-- > 0;) {
		PAYLOAD("%c", p->value >> i & 1 ? '!' : '.');
	}
}

static void show_ip(const struct sonde_pt_packet *p, struct line *line)
{
	static const uint8_t digits[8] = {0, 4, 8, 16, 12, 0, 16, 0};
	int known = digits[p->count & 7];
	uint64_t ip = 0;

	(void)sonde_pt_packet_ip(p, &ip);
	PAYLOAD("%u: %.*s", p->count, 16 - known, "????????????????");
	if (known != 0) {
		PAYLOAD("%0*" PRIx64, known, ip);
	}
}

static void show_exec(const struct sonde_pt_packet *p, struct line *line)
{
	PAYLOAD("%s%s%s%s", p->value & SONDE_PT_EXEC_CS_D ? "cs.d" : "",
	        p->value & SONDE_PT_EXEC_CS_L ? "cs.l" : "",
	        p->value > SONDE_PT_EXEC_IF ? ", " : "", p->value & SONDE_PT_EXEC_IF ? "if" : "");
}

static void show_tsx(const struct sonde_pt_packet *p, struct line *line)
{
	PAYLOAD("%s%s%s", p->value & SONDE_PT_TSX_IN ? "intx" : "", p->value == 3 ? ", " : "",
	        p->value & SONDE_PT_TSX_ABORT ? "abrt" : "");
}

static void show_pip(const struct sonde_pt_packet *p, struct line *line)
{
	PAYLOAD("%" PRIx64 "%s", p->value, p->flags & SONDE_PT_F_NR ? ", nr" : "");
	TRACK("cr3 %016" PRIx64, p->value);
}

static void show_vmcs(const struct sonde_pt_packet *p, struct line *line)
{
	PAYLOAD("%" PRIx64, p->value);
	TRACK("vmcs %016" PRIx64, p->value);
}

static void show_value(const struct sonde_pt_packet *p, struct line *line)
{
	PAYLOAD("%" PRIx64, p->value);
}

static void show_tma(const struct sonde_pt_packet *p, struct line *line)
{
	if ((p->flags & SONDE_PT_F_BAD) == 0) {
		PAYLOAD("%" PRIx64 ", %" PRIx64, p->value, p->extra);
	}
}

static void show_ip_flag(const struct sonde_pt_packet *p, struct line *line)
{
	PAYLOAD("%s", p->flags & SONDE_PT_F_IP ? "ip" : "");
}

static void show_mwait(const struct sonde_pt_packet *p, struct line *line)
{
	PAYLOAD("%08" PRIx64 ", %08" PRIx64, p->value, p->extra);
}

static void show_pwre(const struct sonde_pt_packet *p, struct line *line)
{
	PAYLOAD("c%" PRIu64 ".%" PRIu64 "%s", p->value, p->extra,
	        p->flags & SONDE_PT_F_HW ? ", hw" : "");
}

static void show_pwrx(const struct sonde_pt_packet *p, struct line *line)
{
	if (p->count & SONDE_PT_WAKE_INTERRUPT) {
		PAYLOAD("int: ");
	}
	if (p->count & SONDE_PT_WAKE_STORE) {
		PAYLOAD("st: ");
	}
	if (p->count & SONDE_PT_WAKE_HW) {
		PAYLOAD("hw: ");
	}
	PAYLOAD("c%" PRIu64 ", c%" PRIu64, p->value, p->extra);
}

static void show_ptw(const struct sonde_pt_packet *p, struct line *line)
{
	PAYLOAD("%u: %" PRIx64 "%s", p->count, p->value, p->flags & SONDE_PT_F_IP ? ", ip" : "");
}

static void show_cfe(const struct sonde_pt_packet *p, struct line *line)
{
	const char *type = sonde_pt_cfe_name(p->count);

	PAYLOAD("%u", p->count);
	if (p->count == PT_CFE_SIPI) {
		PAYLOAD(": %" PRIx64, p->value);
	} else if (sonde_pt_cfe_has_vector(p->count)) {
		PAYLOAD(": %" PRIu64, p->value);
	}
	PAYLOAD("%s", p->flags & SONDE_PT_F_IP ? ", ip" : "");
	TRACK("type %s", type != NULL ? type : "unknown");
}

static void show_evd(const struct sonde_pt_packet *p, struct line *line)
{
	const char *type = sonde_pt_evd_name(p->count);

	PAYLOAD("%u: %" PRIx64, p->count, p->value);
	TRACK("type %s", type != NULL ? type : "unknown");
}

static void show_trig(const struct sonde_pt_packet *p, struct line *line)
{
	PAYLOAD("%02" PRIx64 "%s%s", p->value, p->flags & SONDE_PT_F_IP ? ", ip" : "",
	        p->flags & SONDE_PT_F_MULT ? ", mult" : "");
	if (p->flags & SONDE_PT_F_ICNT) {
		PAYLOAD(", icnt: %" PRIu64, p->extra);
	}
}

static void show_bbp(const struct sonde_pt_packet *p, struct line *line)
{
	PAYLOAD("%u, size: %" PRIu64, p->count, p->value);
}

static void show_bip(const struct sonde_pt_packet *p, struct line *line)
{
	PAYLOAD("%u: %" PRIx64, p->count, p->value);
}

typedef void (*show_fn)(const struct sonde_pt_packet *p, struct line *line);

static const show_fn shows[SONDE_PT_KINDS] = {
        [SONDE_PT_TNT8] = show_tnt,
        [SONDE_PT_TNT64] = show_tnt,
        [SONDE_PT_TIP] = show_ip,
        [SONDE_PT_TIP_PGE] = show_ip,
        [SONDE_PT_TIP_PGD] = show_ip,
        [SONDE_PT_FUP] = show_ip,
        [SONDE_PT_PIP] = show_pip,
        [SONDE_PT_MODE_EXEC] = show_exec,
        [SONDE_PT_MODE_TSX] = show_tsx,
        [SONDE_PT_CBR] = show_value,
        [SONDE_PT_TSC] = show_value,
        [SONDE_PT_TMA] = show_tma,
        [SONDE_PT_MTC] = show_value,
        [SONDE_PT_CYC] = show_value,
        [SONDE_PT_VMCS] = show_vmcs,
        [SONDE_PT_MNT] = show_value,
        [SONDE_PT_EXSTOP] = show_ip_flag,
        [SONDE_PT_MWAIT] = show_mwait,
        [SONDE_PT_PWRE] = show_pwre,
        [SONDE_PT_PWRX] = show_pwrx,
        [SONDE_PT_PTW] = show_ptw,
        [SONDE_PT_CFE] = show_cfe,
        [SONDE_PT_EVD] = show_evd,
        [SONDE_PT_TRIG] = show_trig,
        [SONDE_PT_BBP] = show_bbp,
        [SONDE_PT_BIP] = show_bip,
        [SONDE_PT_BEP] = show_ip_flag,
};

static void show_time(struct dump *d, const struct sonde_pt_packet *p, struct line *line)
{
	if (d->wall_clock && !d->now.has_tsc) {
		complain(d, p->offset, "error printing time: %s",
		        sonde_pt_error_text(SONDE_PT_ERROR_NO_TIME));
		TRACK("tsc <unavailable>");
		return;
	}
	if (d->delta) {
		int64_t step = (int64_t)(d->now.tsc - d->shown_tsc);

		TRACK("tsc %c%" PRIx64, step < 0 ? '-' : '+', (uint64_t)(step < 0 ? -step : step));
	} else {
		TRACK("tsc %016" PRIx64, d->now.tsc);
	}
	d->shown_tsc = d->now.tsc;
}

/* Prints TSC ticks per cycle. */
static void show_speed(struct dump *d, const struct sonde_pt_packet *p, struct line *line)
{
	double speed = (double)d->now.speed / 65536;

	if (d->now.speed == 0) {
		complain(d, p->offset, "error printing time: %s",
		        sonde_pt_error_text(SONDE_PT_ERROR_NO_TIME));
		TRACK("fcr <unavailable>");
		return;
	}
	if (d->delta) {
		TRACK("fcr %+.3f", speed - (double)d->shown_speed / 65536);
	} else {
		TRACK("fcr %.3f", speed);
	}
	d->shown_speed = d->now.speed;
}

static bool tells_time(unsigned kind)
{
	return kind == SONDE_PT_TSC || kind == SONDE_PT_TMA || kind == SONDE_PT_MTC ||
	       kind == SONDE_PT_CYC;
}

static void track_time(struct dump *d, const struct sonde_pt_packet *p, struct line *line)
{
	int error = sonde_pt_time_packet(&d->now, p);

	if (error != 0) {
		if (d->calibration) {
			complain(d, p->offset, "calibration error: %s",
			        sonde_pt_error_text(SONDE_PT_ERROR_NO_TIME));
		}
		complain(d, p->offset, "error updating time: %s", sonde_pt_error_text(error));
	}
	if (d->time && tells_time(p->kind)) {
		show_time(d, p, line);
	} else if (d->show_calibration && p->kind == SONDE_PT_MTC) {
		show_speed(d, p, line);
	}
}

static const char *mode_text(uint64_t exec)
{
	if (exec & SONDE_PT_EXEC_CS_L) {
		return "64-bit";
	}
	return exec & SONDE_PT_EXEC_CS_D ? "32-bit" : "16-bit";
}

/* Tracks the last IP, and adds the state that the options want. */
static void track_state(struct dump *d, const struct sonde_pt_packet *p, struct line *line)
{
	switch (p->kind) {
	case SONDE_PT_PSB:
	case SONDE_PT_OVF: d->ip = 0; break;
	case SONDE_PT_TIP:
	case SONDE_PT_TIP_PGE:
	case SONDE_PT_TIP_PGD:
	case SONDE_PT_FUP:
		if (!sonde_pt_packet_ip(p, &d->ip) && d->last_ip) {
			TRACK("ip <suppressed>");
		} else if (d->last_ip) {
			TRACK("ip %016" PRIx64, d->ip);
		}
		break;
	case SONDE_PT_MODE_EXEC:
		if (d->exec_mode) {
			TRACK("em %s", mode_text(p->value));
		}
		break;
	default: break;
	}
}

static bool is_shown(const struct dump *d, unsigned kind)
{
	if (kind == SONDE_PT_PAD) {
		return d->pad && !d->quiet;
	}
	return !d->quiet && (d->timing || (kind != SONDE_PT_CBR && !tells_time(kind)));
}

static void print_columns(const char *name, const struct line *line)
{
	if (line->payload[0] == '\0' && line->track[0] == '\0') {
		(void)printf("%s\n", name);
	} else if (line->track[0] == '\0') {
		(void)printf("%-9s  %s\n", name, line->payload);
	} else {
		(void)printf("%-9s  %-19s  %s\n", name, line->payload, line->track);
	}
}

static void show(struct dump *d, const struct sonde_pt_packet *p)
{
	struct line line = {"", ""};

	if (p->kind == SONDE_PT_CYC && !d->cyc) {
		return;
	}
	if (shows[p->kind] != NULL) {
		shows[p->kind](p, &line);
	}
	if (d->time || d->show_calibration) {
		track_time(d, p, &line);
	}
	track_state(d, p, &line);
	if (!is_shown(d, p->kind)) {
		return;
	}
	if (d->offset) {
		(void)printf("%016" PRIx64 "  ", p->offset);
	}
	if (d->raw) {
		for (unsigned i = 0; i < SONDE_PT_PACKET_MAX; i++) {
			(void)(i < p->size ? printf("%02x", d->trace->data[p->offset + i])
			                   : printf("  "));
		}
		(void)printf("  ");
	}
	print_columns(p->flags & SONDE_PT_F_BAD ? "<invalid>" : sonde_pt_kind_name(p->kind), &line);
}

static int dump_file(struct dump *d)
{
	struct sonde_pt_packets *packets =
	        sonde_pt_packets_new(d->trace->data, d->trace->size, &d->cpu.cpu);
	struct sonde_pt_clock clock = pt_clock_make(&d->clock, &d->cpu);
	struct sonde_pt_packet packet;
	int rc = 1;

	if (packets == NULL) {
		(void)fprintf(stderr, "Error: out of memory\n");
		return PT_EXIT_FILE;
	}
	clock.no_calibration = !d->calibration;
	clock.keep_calibration = d->keep_calibration;
	sonde_pt_time_init(&d->now, &clock);
	if (d->cpu.given && d->cpu.cpu.family == 0) {
		complain(d, 0, "failed to determine errata: %s",
		        sonde_pt_error_text(SONDE_PT_ERROR_UNKNOWN_CPU));
	}
	if (d->sync) {
		rc = sonde_pt_packets_sync(packets);
	}
	while (rc != 0) {
		rc = sonde_pt_packets_next(packets, &packet);
		if (rc > 0) {
			show(d, &packet);
		} else if (rc < 0) {
			uint64_t at = sonde_pt_packets_offset(packets);

			complain(d, at, "error decoding packet: %s",
			        sonde_pt_error_text(sonde_pt_packets_error(packets)));
			rc = sonde_pt_packets_sync(packets);
		}
	}
	sonde_pt_packets_free(packets);
	return d->failed;
}

static int on_tcal(const struct option_def *def, const char *arg, bool unset)
{
	struct dump *d = def->target;

	(void)arg;
	d->calibration = !unset;
	d->show_calibration = !unset;
	return 0;
}

int cmd_pt_dump(int argc, char **argv)
{
	struct dump d = {.offset = true,
	        .sync = true,
	        .calibration = true,
	        .wall_clock = true,
	        .cyc = true,
	        .pad = true,
	        .timing = true};
	const struct option_def defs[] = {
	        OPTION_SWITCH(0, "offset", &d.offset, "show the offset of each packet (default)"),
	        OPTION_SWITCH(0, "raw", &d.raw, "show the bytes of each packet"),
	        OPTION_SWITCH(0, "sync", &d.sync, "begin at the first PSB (default)"),
	        OPTION_SWITCH(0, "quiet", &d.quiet, "show only errors"),
	        OPTION_SWITCH(0, "pad", &d.pad, "show PAD packets (default)"),
	        OPTION_SWITCH(0, "timing", &d.timing, "show packets of time (default)"),
	        OPTION_SWITCH(0, "lastip", &d.last_ip, "show the whole IP after each IP packet"),
	        OPTION_SWITCH(0, "exec-mode", &d.exec_mode, "show the mode after each MODE.EXEC"),
	        OPTION_CALL(0, "cpu", OPTION_REQUIRED, pt_cpu_parse, &d.cpu,
	                "none|auto|FAMILY/MODEL", "the processor, whose errata are worked around"),
	        OPTION_SWITCH(0, "time", &d.time, "show the time, in TSC ticks"),
	        OPTION_SWITCH(0, "time-delta", &d.delta, "show the difference to the time before"),
	        OPTION_CALL(0, "tcal", OPTION_NONE, on_tcal, &d, NULL,
	                "show the calibration of cycles by MTC; --no-tcal: have none"),
	        OPTION_SWITCH(0, "keep-tcal-on-ovf", &d.keep_calibration,
	                "keep the calibration after lost packets"),
	        OPTION_SWITCH(0, "wall-clock", &d.wall_clock,
	                "show no time before the first TSC (default)"),
	        OPTION_SWITCH(0, "cyc", &d.cyc, "read CYC packets (default)"),
	        PT_CLOCK_OPTIONS(&d.clock),
	        OPTION_END,
	};
	const struct option_command command = {
	        .name = "pt dump",
	        .usage = "[options] FILE.pt[:FROM[-TO]]",
	        .about = "Lists the packets of a raw Intel PT trace.",
	        .defs = defs,
	        .anywhere = true,
	};
	struct option_rest rest;
	struct pt_trace trace;
	int rc = options_parse(&command, argc, argv, &rest);

	if (rc != OPTIONS_RUN) {
		return rc;
	}
	if (rest.argc != 1) {
		return options_mistake(&command, "one trace is wanted");
	}
	rc = pt_trace_read(&trace, rest.argv[0]);
	if (rc != 0) {
		return rc;
	}
	d.trace = &trace;
	rc = dump_file(&d);
	pt_trace_free(&trace);
	return rc;
}
