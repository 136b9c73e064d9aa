/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "core/json.h"
#include "event/catalogue.h"
#include "inspect/inspector.h"
#include "proc/proc.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <unistd.h>

#define NAME_WIDTH 50 /* columns */
#define TRACED     (1u << CATALOGUE_TRACEPOINT | 1u << CATALOGUE_SDT)

static const struct kind {
	const char *words[4]; /* words for the kind; the first is its name in JSON */
	const char *title;
} kinds[CATALOGUE_KINDS] = {
        [CATALOGUE_HARDWARE] = {{"hardware", "hw"}, "Hardware event"},
        [CATALOGUE_SOFTWARE] = {{"software", "sw"}, "Software event"},
        [CATALOGUE_TOOL] = {{"tool"}, "Tool event"},
        [CATALOGUE_CACHE] = {{"cache", "hwcache"}, "Hardware cache event"},
        [CATALOGUE_PMU] = {{"pmu"}, "Kernel PMU event"},
        [CATALOGUE_RAW] = {{"raw"}, "Raw event descriptor"},
        [CATALOGUE_BREAKPOINT] = {{"breakpoint", "mem"}, "Hardware breakpoint"},
        [CATALOGUE_TRACEPOINT] = {{"tracepoint"}, "Tracepoint event"},
        [CATALOGUE_SDT] = {{"sdt"}, "SDT event"},
};

/* Metrics of perf need tables of processor models, which Sonde does not have. */
static const char *const no_kinds[] = {"metric", "metrics", "metricgroup", "metricgroups"};

struct list {
	const struct sonde_list_options *options;
	struct catalogue catalogue;
	unsigned kinds; /* kinds named by the user */
	bool globs; /* some words are not kinds */
	struct text out;
	bool json;
	struct diag_sink diags;
};

/* -1: the word is not a kind. */
static int kind_of(const char *word)
{
	int kind;
	size_t i;

	for (kind = 0; kind < CATALOGUE_KINDS; kind++) {
		for (i = 0; i < 4 && kinds[kind].words[i] != NULL; i++) {
			if (strcmp(kinds[kind].words[i], word) == 0) {
				return kind;
			}
		}
	}
	return -1;
}

static bool is_no_kind(const char *word)
{
	size_t i;

	for (i = 0; i < sizeof(no_kinds) / sizeof(no_kinds[0]); i++) {
		if (strcmp(no_kinds[i], word) == 0) {
			return true;
		}
	}
	return false;
}

static bool glob_matches(const struct catalogue_entry *e, const char *glob)
{
	return fnmatch(glob, e->name, 0) == 0 ||
	       (e->alias != NULL && fnmatch(glob, e->alias, 0) == 0) ||
	       (e->pmu != NULL && fnmatch(glob, e->pmu, 0) == 0);
}

/* A word that matches nothing as a glob is searched inside names. */
static bool part_matches(const struct catalogue_entry *e, const char *part)
{
	return strcasestr(e->name, part) != NULL ||
	       (e->alias != NULL && strcasestr(e->alias, part) != NULL);
}

/* Marks the entries that a word selects; false: none. */
static bool mark(const struct list *l, const char *word, bool *wanted)
{
	bool (*const matches[])(const struct catalogue_entry *, const char *) = {
	        glob_matches, part_matches};
	bool any = false;
	size_t i, k;

	for (k = 0; !any && k < 2; k++) {
		for (i = 0; i < l->catalogue.n; i++) {
			if (matches[k](&l->catalogue.v[i], word)) {
				wanted[i] = true;
				any = true;
			}
		}
	}
	return any;
}

static void put_details(struct text *t, const struct catalogue_entry *e)
{
	if (e->terms != NULL) {
		text_printf(t, "      %s\n", e->terms);
	}
	if (e->unit != NULL) {
		text_printf(t, "      in %s: counts times %g\n", e->unit, e->scale);
	}
	if (e->cpus != NULL) {
		text_printf(t, "      on cpus %s\n", e->cpus);
	}
}

static void put_line(struct list *l, const struct catalogue_entry *e)
{
	struct text *t = &l->out;
	size_t begin = t->n;

	text_printf(t, "  %s", e->name);
	if (e->alias != NULL) {
		text_printf(t, " OR %s", e->alias);
	}
	if (t->n - begin < NAME_WIDTH + 2) {
		text_fill(t, ' ', NAME_WIDTH + 2 - (t->n - begin));
	}
	text_printf(t, " [%s%s]\n", kinds[e->kind].title,
	        e->available ? "" : "; not counted here: this machine shows no hardware counters");
	if (l->options->details) {
		put_details(t, e);
	}
}

static void put_json(struct json *j, const struct catalogue_entry *e)
{
	char scale[32];

	json_object(j, NULL);
	json_text(j, "name", e->name);
	json_text(j, "alias", e->alias);
	json_text(j, "kind", kinds[e->kind].words[0]);
	json_bool(j, "available", e->available);
	json_text(j, "pmu", e->pmu);
	json_text(j, "terms", e->terms);
	json_text(j, "cpus", e->cpus);
	json_text(j, "unit", e->unit);
	(void)snprintf(scale, sizeof(scale), "%.17g", e->scale);
	json_text(j, "scale", scale);
	json_close(j);
}

static void put_all(struct list *l, const bool *wanted)
{
	struct json j = {.out = &l->out};
	int last = -1;
	size_t i;

	if (l->json) {
		json_begin(&j, "list", 1);
		json_array(&j, "events");
	}
	for (i = 0; i < l->catalogue.n; i++) {
		const struct catalogue_entry *e = &l->catalogue.v[i];

		if (!wanted[i]) {
			continue;
		}
		if (l->json) {
			put_json(&j, e);
		} else if (l->options->names_only) {
			text_str(&l->out, last < 0 ? "" : " ");
			text_str(&l->out, e->name);
		} else {
			if (last >= 0 && last != (int)e->kind) {
				text_char(&l->out, '\n');
			}
			put_line(l, e);
		}
		last = (int)e->kind;
	}
	if (l->json) {
		json_end(&j);
	} else if (l->options->names_only) {
		text_char(&l->out, '\n');
	}
}

static void read_words(struct list *l)
{
	const struct sonde_list_options *o = l->options;
	size_t i;
	int kind;

	for (i = 0; i < o->nwords; i++) {
		kind = kind_of(o->words[i]);
		if (kind >= 0) {
			l->kinds |= 1u << kind;
		} else {
			l->globs |= !is_no_kind(o->words[i]);
		}
	}
	if (o->nwords == 0) {
		l->kinds = (1u << CATALOGUE_KINDS) - 1;
	}
}

/* Reports words without a match. Returns 0 or 1. */
static int choose(struct list *l, bool *wanted)
{
	const struct sonde_list_options *o = l->options;
	const char *word;
	size_t i;

	for (i = 0; i < l->catalogue.n; i++) {
		/* without a word for its kind, an event that cannot be counted is omitted */
		wanted[i] = (l->kinds >> l->catalogue.v[i].kind & 1) != 0 &&
		            (o->nwords != 0 || l->catalogue.v[i].available);
	}
	for (i = 0; i < o->nwords; i++) {
		word = o->words[i];
		if (kind_of(word) >= 0) {
			continue;
		}
		if (is_no_kind(word)) {
			diag_report(&l->diags, SONDE_DIAG_NOTE, NO_OFFSET,
			        "sonde knows no metrics: '%s' lists nothing", word);
		} else if (!mark(l, word, wanted)) {
			diag_report(&l->diags, SONDE_DIAG_NOTE, NO_OFFSET, "no event matches '%s'",
			        word);
		}
	}
	if (l->catalogue.no_tracefs &&
	        ((l->kinds & TRACED) != 0 || l->diags.counts[SONDE_DIAG_NOTE] != 0)) {
		diag_report(&l->diags, SONDE_DIAG_NOTE, NO_OFFSET,
		        "tracepoints cannot be read; as root run 'mount -t tracefs nodev "
		        "/sys/kernel/tracing', or list as root");
	}
	return l->diags.counts[SONDE_DIAG_NOTE] != 0;
}

static int run(struct list *l, int root)
{
	struct text marks = {0};
	bool *wanted;
	int rc;

	read_words(l);
	if (!catalogue_read(
	            &l->catalogue, root, l->globs ? (1u << CATALOGUE_KINDS) - 1 : l->kinds)) {
		return SONDE_ENOMEM;
	}
	text_fill(&marks, 0, l->catalogue.n + 1);
	if (marks.failed) {
		return SONDE_ENOMEM;
	}
	wanted = (bool *)(void *)marks.p;
	rc = choose(l, wanted);
	put_all(l, wanted);
	text_fini(&marks);
	return rc;
}

int sonde_inspector_list(struct sonde_inspector *in, const struct sonde_list_options *options,
        sonde_write_fn write, void *arg)
{
	struct sonde_list_options o = {0};
	struct list l = {.options = &o};
	int root, rc, rc_write;

	TRY(inspector_begin(in, &o, sizeof(o), options));
	l.json = in->options.json;
	l.diags = (struct diag_sink){.fn = in->options.on_diag, .arg = in->options.diag_arg};
	root = proc_root_open(o.root != NULL ? o.root : "/");
	if (root < 0) {
		return error_errno(&in->error, SONDE_EIO, errno, "cannot open the folder %s",
		        o.root != NULL ? o.root : "/");
	}
	rc = run(&l, root);
	l.out.failed = l.out.failed || rc < 0;
	rc_write = l.out.n != 0 || l.out.failed ? inspector_write(in, &l.out, write, arg) : 0;
	catalogue_fini(&l.catalogue);
	text_fini(&l.out);
	(void)close(root);
	return rc_write < 0 ? rc_write : rc;
}
