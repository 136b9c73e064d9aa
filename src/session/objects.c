/* SPDX-License-Identifier: MIT */
/* Symbols of the objects of a recording, loaded once, when first asked for, by whichever worker
 * asks. */
#include "session/session.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct session_object {
	_Atomic(struct symbol_table *) table; /* NULL until loaded; then it never changes */
	pthread_mutex_t loading;
};

static char *joined(const char *folder, const char *below)
{
	size_t n = strlen(folder) + strlen(below) + 1;
	char *path = malloc(n);

	if (path != NULL) {
		(void)snprintf(path, n, "%s%s", folder, below);
	}
	return path;
}

/* SONDE_CACHE names the folder of what is kept between runs; empty: nothing is kept. */
static char *cache_folder(void)
{
	const char *own = getenv("SONDE_CACHE");
	const char *base = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");

	if (own != NULL) {
		return own[0] != 0 ? joined(own, "") : NULL;
	}
	if (base != NULL && base[0] == '/') { /* others are to be ignored, says its standard */
		return joined(base, "/sonde");
	}
	return home != NULL && home[0] == '/' ? joined(home, "/.cache/sonde") : NULL;
}

int session_objects_init(struct sonde_session *s)
{
	size_t n = timeline_objects(s->timeline);

	s->objects = calloc(n != 0 ? n : 1, sizeof(*s->objects));
	if (s->objects == NULL) {
		return SONDE_ENOMEM;
	}
	s->cache = cache_folder();
	for (size_t i = 0; i < n; i++) {
		pthread_mutex_init(&s->objects[i].loading, NULL);
	}
	return 0;
}

void session_objects_fini(struct sonde_session *s)
{
	size_t n = s->objects != NULL ? timeline_objects(s->timeline) : 0;

	for (size_t i = 0; i < n; i++) {
		symbol_table_free(atomic_load(&s->objects[i].table));
		pthread_mutex_destroy(&s->objects[i].loading);
	}
	free(s->objects);
	free(s->cache);
}

static enum symbol_object_kind symbol_kind(enum timeline_object_kind kind)
{
	static const enum symbol_object_kind kinds[] = {
	        [TIMELINE_USER] = SYMBOL_ELF,
	        [TIMELINE_KERNEL] = SYMBOL_KERNEL,
	        [TIMELINE_MODULE] = SYMBOL_MODULE,
	        [TIMELINE_VDSO] = SYMBOL_VDSO,
	        [TIMELINE_ANON] = SYMBOL_PERF_MAP,
	        [TIMELINE_NONE] = SYMBOL_PERF_MAP, /* not loaded */
	};

	return kinds[kind];
}

/* NULL only when there is no memory. */
static struct symbol_table *load(struct sonde_session *s, uint32_t object)
{
	const struct timeline_object *o = timeline_object(s->timeline, object);
	bool elsewhere = s->options.symfs != NULL && s->options.symfs[0] != 0;
	struct symbol_request req = {
	        .kind = symbol_kind(o->kind),
	        .path = timeline_text(s->timeline, o->name),
	        .pid = o->pid,
	        .base = o->base,
	        .reference = o->kind == TIMELINE_KERNEL && o->base != 0
	                             ? timeline_text(s->timeline, o->reference)
	                             : NULL,
	        .build_id = o->build_id_size != 0 ? o->build_id : NULL,
	        .build_id_size = o->build_id_size,
	        .demangle = s->options.no_demangle == 0,
	        .symfs = s->options.symfs,
	        .kallsyms = s->options.kallsyms,
	        .home = elsewhere ? NULL : getenv("HOME"),
	        .cache = s->cache,
	};
	struct symbol_table *table = NULL;
	struct error err = {0};
	bool none = o->kind == TIMELINE_NONE;

	/* the objects of another system: neither our caches nor our kernel know them, as in perf */
	if (elsewhere && req.kallsyms == NULL) {
		none = none || o->kind == TIMELINE_KERNEL || o->kind == TIMELINE_MODULE;
	}
	if (none || symbol_table_load(&req, &table, &err) < 0) {
		(void)symbol_table_from_perf_map((struct span){NULL, 0}, &table, &err);
	}
	return table;
}

const struct symbol_table *session_symbols(struct sonde_session *s, uint32_t object)
{
	struct session_object *o = &s->objects[object];
	struct symbol_table *table = atomic_load_explicit(&o->table, memory_order_acquire);

	if (table != NULL) {
		return table;
	}
	pthread_mutex_lock(&o->loading);
	table = atomic_load_explicit(&o->table, memory_order_relaxed);
	if (table == NULL) {
		table = load(s, object);
		atomic_store_explicit(&o->table, table, memory_order_release);
	}
	pthread_mutex_unlock(&o->loading);
	return table;
}
