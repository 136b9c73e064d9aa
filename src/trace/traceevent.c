/* SPDX-License-Identifier: MIT */
/* Texts of tracepoints by libtraceevent. */
#include "trace/library.h"
#include "trace/sound.h"

#include "core/status.h"

#include <event-parse.h>
#include <event-utils.h>
#include <inttypes.h>
#include <stdlib.h>
#include <trace-seq.h>

struct trace_library {
	struct tep_handle *tep;
	struct tep_plugin_list *plugins;
	struct trace_seq seq;
	trace_symbol_fn find;
	void *arg;
	struct text symbol, module; /* of the last address: libtraceevent's texts are not const */
};

bool trace_library_present(void)
{
	return true;
}

static char *keep(struct text *t, const char *s)
{
	t->n = 0;
	text_bytes(t, s, strlen(s) + 1);
	return t->failed ? NULL : t->p;
}

static char *resolve(void *arg, unsigned long long *address, char **module)
{
	struct trace_library *l = arg;
	struct trace_symbol symbol;

	if (!l->find(l->arg, *address, &symbol)) {
		return NULL;
	}
	*address = symbol.start;
	*module = symbol.module != NULL ? keep(&l->module, symbol.module) : NULL;
	return keep(&l->symbol, symbol.name);
}

/*
 * As in perf, only the user's plugins and those of $TRACEEVENT_PLUGIN_DIR are loaded: the text of
 * sched_switch by the distribution's plugin is not that of its print format. Static programs cannot
 * load any.
 */
static void load_plugins(struct trace_library *l, const char *home)
{
	if (PLUGINS && home != NULL) {
		tep_set_flag(l->tep, TEP_DISABLE_SYS_PLUGINS);
		l->plugins = tep_load_plugins(l->tep);
	}
}

/* Whether the library has to know an event: plugins may print those that have a program, too. */
static bool is_needed(const struct trace_library *l, const struct trace_event *e)
{
	return e->program == NULL || l->plugins != NULL;
}

/*
 * The library reads outside of lines that are not as the kernel writes them, and of texts of less
 * than two bytes. It drops a line break at the end of a text, so that all get one.
 */
static void put_constants(const struct trace_set *s, struct text *out)
{
	for (size_t i = 0; i < s->nconstants; i++) {
		const struct trace_constant *c = &s->constants[i];

		if (memchr(c->text.p, '\0', c->text.n) != NULL) {
			continue;
		}
		text_printf(out, "0x%" PRIx64 " : \"", c->address);
		text_bytes(out, (const char *)c->text.p, c->text.n);
		text_str(out, "\\n\"\n");
	}
	text_char(out, '\0');
}

static int add_events(struct trace_library *l, const struct trace_set *s)
{
	struct text system = {0}, printk = {0};

	for (size_t i = 0; i < s->nevents && !system.failed; i++) {
		const struct trace_format *f = &s->events[i].format;

		if (!is_needed(l, &s->events[i]) || !trace_format_is_sound(f->text)) {
			continue;
		}
		system.n = 0;
		text_bytes(&system, (const char *)f->system.p, f->system.n);
		text_char(&system, '\0');
		if (!system.failed) { /* a format that cannot be parsed prints its fields */
			(void)tep_parse_event(l->tep, (const char *)f->text.p, f->text.n, system.p);
		}
	}
	put_constants(s, &printk);
	if (!printk.failed) {
		(void)tep_parse_printk_formats(l->tep, printk.p);
	}
	text_fini(&printk);
	text_fini(&system);
	return printk.failed || system.failed ? SONDE_ENOMEM : 0;
}

static bool is_any_needed(const struct trace_library *l, const struct trace_set *s)
{
	for (size_t i = 0; i < s->nevents; i++) {
		if (is_needed(l, &s->events[i])) {
			return true;
		}
	}
	return false;
}

int trace_library_new(
        struct trace_library **out, const struct trace_set *s, const struct trace_text_options *o)
{
	struct trace_library *l = calloc(1, sizeof(*l));

	*out = l;
	if (l == NULL) {
		return SONDE_ENOMEM;
	}
	l->find = o->find;
	l->arg = o->arg;
	trace_seq_init(&l->seq);
	tep_set_loglevel(TEP_LOG_NONE);
	l->tep = tep_alloc();
	if (l->tep == NULL) {
		return SONDE_ENOMEM;
	}
	tep_set_file_bigendian(l->tep, s->big_endian ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	tep_set_local_bigendian(l->tep, HOST_BIG_ENDIAN ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	tep_set_long_size(l->tep, s->long_size);
	if (l->find != NULL && tep_set_function_resolver(l->tep, resolve, l) != 0) {
		return SONDE_ENOMEM;
	}
	load_plugins(l, o->home);
	if (!is_any_needed(l, s)) {
		trace_library_free(l);
		*out = NULL;
		return 0;
	}
	return add_events(l, s);
}

void trace_library_free(struct trace_library *l)
{
	if (l == NULL) {
		return;
	}
	if (l->tep != NULL) {
		tep_unload_plugins(l->plugins, l->tep);
		tep_free(l->tep);
	}
	trace_seq_destroy(&l->seq);
	text_fini(&l->symbol);
	text_fini(&l->module);
	free(l);
}

bool trace_library_handles(struct trace_library *l, const struct trace_event *e)
{
	const struct tep_event *event = tep_find_event(l->tep, (int)e->format.id);

	return event != NULL && event->handler != NULL;
}

void trace_library_put(struct trace_library *l, struct span data, uint32_t cpu, struct text *out)
{
	struct tep_record record = {.cpu = (int)cpu, .size = (int)data.n};

	memcpy(&record.data, &data.p, sizeof(record.data)); /* the library does not change it */
	trace_seq_reset(&l->seq);
	tep_print_event(l->tep, &l->seq, &record, "%s", TEP_PRINT_INFO);
	if (l->seq.state != TRACE_SEQ__GOOD) {
		out->failed = true;
		return;
	}
	text_bytes(out, l->seq.buffer, l->seq.len);
}
