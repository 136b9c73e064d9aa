/* SPDX-License-Identifier: MIT */
/* Events of Intel PT as text. */
#include "cmd/pt_event.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The text of an event. */
struct words {
	char *text; /* of PT_EVENT_TEXT bytes */
};

__attribute__((format(printf, 2, 3))) static void say(struct words *w, const char *fmt, ...)
{
	size_t n = strlen(w->text);
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(w->text + n, PT_EVENT_TEXT - n, fmt, ap);
	va_end(ap);
}

static void say_ip(const struct pt_event_words *o, const struct sonde_pt_event *e, const char *word,
        struct words *w)
{
	if (o->ip && e->has_ip) {
		say(w, ", %s: %016" PRIx64, word, e->ip);
	}
}

static void say_enabled(
        const struct pt_event_words *o, const struct sonde_pt_event *e, struct words *w)
{
	say(w, "%s", e->value ? "resumed" : "enabled");
	say_ip(o, e, "ip", w);
}

static void say_disabled(
        const struct pt_event_words *o, const struct sonde_pt_event *e, struct words *w)
{
	say(w, "disabled");
	say_ip(o, e, e->value ? "at" : "ip", w);
	if (o->ip && e->extra != 0) {
		say(w, ", ip: %016" PRIx64, e->extra);
	}
}

static void say_async(
        const struct pt_event_words *o, const struct sonde_pt_event *e, struct words *w)
{
	say(w, "interrupt");
	if (o->ip) {
		say_ip(o, e, "from", w);
		say(w, ", to: %016" PRIx64, e->value);
	}
}

static void say_exec(
        const struct pt_event_words *o, const struct sonde_pt_event *e, struct words *w)
{
	say(w, "exec mode: %" PRIu64 "-bit", e->value);
	say_ip(o, e, "ip", w);
}

static void say_iflag(
        const struct pt_event_words *o, const struct sonde_pt_event *e, struct words *w)
{
	if (o->iflags) {
		say(w, "interrupts %s", e->value ? "enabled" : "disabled");
		say_ip(o, e, "ip", w);
	}
}

static void say_paging(
        const struct pt_event_words *o, const struct sonde_pt_event *e, struct words *w)
{
	say(w, "paging, cr3: %016" PRIx64 "%s", e->value, e->extra ? ", nr" : "");
	say_ip(o, e, "ip", w);
}

static void say_vmcs(
        const struct pt_event_words *o, const struct sonde_pt_event *e, struct words *w)
{
	say(w, "vmcs, base: %016" PRIx64, e->value);
	say_ip(o, e, "ip", w);
}

static void say_mwait(
        const struct pt_event_words *o, const struct sonde_pt_event *e, struct words *w)
{
	say(w, "mwait %" PRIx64 " %" PRIx64, e->value, e->extra);
	say_ip(o, e, "ip", w);
}

static void say_pwre(
        const struct pt_event_words *o, const struct sonde_pt_event *e, struct words *w)
{
	(void)o;
	say(w, "pwre c%" PRIu64 ".%" PRIu64 "%s", e->value, e->extra, e->count ? " hw" : "");
}

static void say_pwrx(
        const struct pt_event_words *o, const struct sonde_pt_event *e, struct words *w)
{
	(void)o;
	say(w, "pwrx %s%s%sc%" PRIu64 " (c%" PRIu64 ")",
	        e->count & SONDE_PT_WAKE_INTERRUPT ? "int: " : "",
	        e->count & SONDE_PT_WAKE_STORE ? "st: " : "",
	        e->count & SONDE_PT_WAKE_HW ? "hw: " : "", e->value, e->extra);
}

static void say_ptwrite(
        const struct pt_event_words *o, const struct sonde_pt_event *e, struct words *w)
{
	say(w, "ptwrite: %" PRIx64, e->value);
	if (e->count) {
		say_ip(o, e, "ip", w);
	}
}

static void say_mnt(const struct pt_event_words *o, const struct sonde_pt_event *e, struct words *w)
{
	(void)o;
	say(w, "mnt: %" PRIx64, e->value);
}

static void say_cbr(const struct pt_event_words *o, const struct sonde_pt_event *e, struct words *w)
{
	(void)o;
	say(w, "cbr: %" PRIx64, e->value);
}

static void say_tick(
        const struct pt_event_words *o, const struct sonde_pt_event *e, struct words *w)
{
	if (o->ticks) {
		say(w, "tick");
		say_ip(o, e, "ip", w);
	}
}

static void say_trig(
        const struct pt_event_words *o, const struct sonde_pt_event *e, struct words *w)
{
	say(w, "trig %02" PRIx64 "%s", e->value, e->count ? ", mult" : "");
	say_ip(o, e, "ip", w);
}

/* Prints a CFE with its EVDs: type 0 is CR2, 1 the qualification of a VM exit, 2 its reason. */
static void say_cfe(const struct pt_event_words *o, const struct sonde_pt_event *e, struct words *w)
{
	const char *name = sonde_pt_cfe_name(e->count);

	if (e->count == PT_CFE_INTR) {
		name = "interrupt";
	} else if (e->count == PT_CFE_VMEXIT_INTR) {
		name = "vmexit, intr:";
	}
	say(w, "%s", name != NULL ? name : "unknown event");
	if (e->count == PT_CFE_SIPI) {
		say(w, ": %" PRIx64, e->value);
	} else if (sonde_pt_cfe_has_vector(e->count)) {
		say(w, " %" PRIu64, e->value);
	}
	if (e->extra & 1) {
		say(w, ", cr2: %016" PRIx64, e->data[0]);
	}
	if (e->extra & 4) {
		say(w, ", vmxr: %016" PRIx64, e->data[2]);
	}
	if (e->extra & 2) {
		say(w, ", vmxq: %016" PRIx64, e->data[1]);
	}
	say_ip(o, e, "ip", w);
}

static void say_block(
        const struct pt_event_words *o, const struct sonde_pt_event *e, struct words *w)
{
	(void)o;
	say(w, "pebs block %u, size: %" PRIu64, e->count, e->value);
}

static void say_item(
        const struct pt_event_words *o, const struct sonde_pt_event *e, struct words *w)
{
	(void)o;
	say(w, "pebs item %" PRIu64 ".%u: %" PRIx64, e->extra, e->count, e->value);
}

typedef void (*say_fn)(
        const struct pt_event_words *o, const struct sonde_pt_event *e, struct words *w);

/* By kind of event: a function, or a word that an IP may follow. */
static const struct {
	say_fn fn;
	const char *word;
} sayings[SONDE_PT_EVENTS] = {
        [SONDE_PT_EVENT_ENABLED] = {say_enabled, NULL},
        [SONDE_PT_EVENT_DISABLED] = {say_disabled, NULL},
        [SONDE_PT_EVENT_ASYNC] = {say_async, NULL},
        [SONDE_PT_EVENT_EXEC_MODE] = {say_exec, NULL},
        [SONDE_PT_EVENT_IFLAG] = {say_iflag, NULL},
        [SONDE_PT_EVENT_PAGING] = {say_paging, NULL},
        [SONDE_PT_EVENT_VMCS] = {say_vmcs, NULL},
        [SONDE_PT_EVENT_OVERFLOW] = {NULL, "overflow"},
        [SONDE_PT_EVENT_TSX_BEGIN] = {NULL, "begin transaction"},
        [SONDE_PT_EVENT_TSX_COMMIT] = {NULL, "committed"},
        [SONDE_PT_EVENT_TSX_ABORT] = {NULL, "aborted"},
        [SONDE_PT_EVENT_EXSTOP] = {NULL, "exstop"},
        [SONDE_PT_EVENT_MWAIT] = {say_mwait, NULL},
        [SONDE_PT_EVENT_PWRE] = {say_pwre, NULL},
        [SONDE_PT_EVENT_PWRX] = {say_pwrx, NULL},
        [SONDE_PT_EVENT_PTWRITE] = {say_ptwrite, NULL},
        [SONDE_PT_EVENT_MNT] = {say_mnt, NULL},
        [SONDE_PT_EVENT_CBR] = {say_cbr, NULL},
        [SONDE_PT_EVENT_TICK] = {say_tick, NULL},
        [SONDE_PT_EVENT_TRIG] = {say_trig, NULL},
        [SONDE_PT_EVENT_CFE] = {say_cfe, NULL},
        [SONDE_PT_EVENT_STOP] = {NULL, "stopped"},
        [SONDE_PT_EVENT_PEBS_BLOCK] = {say_block, NULL},
        [SONDE_PT_EVENT_PEBS_ITEM] = {say_item, NULL},
        [SONDE_PT_EVENT_PEBS_END] = {NULL, "pebs end"},
};

void pt_event_text(const struct pt_event_words *words, const struct sonde_pt_event *e,
        char text[PT_EVENT_TEXT])
{
	struct words w = {text};

	text[0] = '\0';
	if (sayings[e->kind].fn != NULL) {
		sayings[e->kind].fn(words, e, &w);
	} else {
		say(&w, "%s", sayings[e->kind].word);
		say_ip(words, e, "ip", &w);
	}
}
