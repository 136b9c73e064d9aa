/* SPDX-License-Identifier: MIT */
/*
 * PMUs of sysfs: one folder each in sys/bus/event_source/devices, with these files (kernel ABI
 * notes in Documentation/ABI/testing/sysfs-bus-event_source-devices-*):
 *
 *	type			"8"; attr.type
 *	format/NAME		"config:0-7,32-35"; the bits for the value of a term
 *	events/NAME		"event=0x3c,umask=0x1"; an alias for terms
 *	events/NAME.scale	"2.5e-10"
 *	events/NAME.unit	"Joules"
 *	caps/NAME		"3f"; abilities of the hardware, for some PMUs in hex
 *	cpumask, cpus		"0,8"; one cpu of each package it counts for; its cores
 */
#define _GNU_SOURCE
#include "core/array.h"
#include "event/parts.h"
#include "proc/proc.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

#define DEVICES   "sys/bus/event_source/devices"
#define FILE_MOST 512 /* bytes that are read of a file */
#define MOST      65536 /* entries of a folder */

static const char *copy(struct event_machine *m, const char *s)
{
	return arena_text(&m->arena, s, strlen(s));
}

static int by_name(const void *a, const void *b)
{
	return strverscmp(*(const char *const *)a, *(const char *const *)b);
}

/* Names in a folder, sorted; empty if there is no such folder. The caller frees *list. */
static bool list_names(
        struct event_machine *m, int root, const char *path, const char ***list, size_t *n)
{
	DIR *dir = proc_open_dir(root, path);
	const struct dirent *entry;
	size_t cap = 0;
	bool ok = true;

	*list = NULL;
	*n = 0;
	if (dir == NULL) {
		return true;
	}
	while (ok && *n < MOST && (entry = proc_next_entry(dir)) != NULL) {
		ok = array_reserve(list, &cap, *n + 1, sizeof(**list)) &&
		     ((*list)[*n] = copy(m, entry->d_name)) != NULL;
		*n += ok;
	}
	(void)closedir(dir);
	if (*n > 0) {
		qsort(*list, *n, sizeof(**list), by_name);
	}
	return ok;
}

static bool read_line(int root, const char *pmu, const char *file, char buf[FILE_MOST])
{
	char path[1024];
	int n = snprintf(path, sizeof(path), DEVICES "/%s/%s", pmu, file);

	return n > 0 && (size_t)n < sizeof(path) && proc_read_line(root, path, buf, FILE_MOST);
}

static bool is_aux(const char *name)
{
	static const char *const aux[] = {
	        "intel_pt", "intel_bts", "arm_spe", "cs_etm", "hisi_ptt", "s390_sf"};
	size_t i;

	for (i = 0; i < sizeof(aux) / sizeof(aux[0]); i++) {
		if (strncmp(name, aux[i], strlen(aux[i])) == 0) {
			return true;
		}
	}
	return false;
}

/* False: out of memory. Folders without a number in `type` are ignored. */
static bool add_pmu(struct event_machine *m, int root, const char *name, size_t *cap)
{
	struct event_pmu pmu = {.name = name, .aux = is_aux(name)};
	char buf[FILE_MOST];
	uint64_t type;

	if (!read_line(root, name, "type", buf) ||
	        !word_number(word_trim((struct word){buf, strlen(buf)}), &type) ||
	        type > UINT32_MAX) {
		return true;
	}
	pmu.type = (uint32_t)type;
	if (read_line(root, name, "cpus", buf) && buf[0] != '\0') {
		pmu.core = true;
	} else if (read_line(root, name, "cpumask", buf) && buf[0] != '\0') {
		/* in tracing PMUs the file lists the cpus that have one; they are part of cores */
		pmu.uncore = !pmu.aux;
	} else {
		buf[0] = '\0';
	}
	pmu.cpus = buf[0] != '\0' ? copy(m, buf) : NULL;
	if ((buf[0] != '\0' && pmu.cpus == NULL) ||
	        !array_reserve(&m->pmus, cap, m->n + 1, sizeof(*m->pmus))) {
		return false;
	}
	m->ncores += pmu.core;
	m->pmus[m->n++] = pmu;
	return true;
}

struct event_machine *pmu_machine(struct event_list *list, int root)
{
	struct event_machine *m = list->machine;
	const char **found = NULL;
	size_t n = 0;
	size_t cap = 0;
	size_t i;
	bool ok = true;

	if (m != NULL) {
		return m;
	}
	m = calloc(1, sizeof(*m));
	if (m != NULL && root >= 0) {
		ok = list_names(m, root, DEVICES, &found, &n);
		for (i = 0; ok && i < n; i++) {
			ok = add_pmu(m, root, found[i], &cap);
		}
		free(found);
	}
	if (!ok) {
		pmu_machine_free(m);
		m = NULL;
	}
	list->machine = m;
	return m;
}

bool event_cores_differ(struct event_list *list, int root)
{
	const struct event_machine *m = pmu_machine(list, root);

	return m != NULL && m->ncores > 1;
}

void pmu_machine_free(struct event_machine *m)
{
	size_t i;

	if (m == NULL) {
		return;
	}
	for (i = 0; i < m->n; i++) {
		free(m->pmus[i].formats);
		free(m->pmus[i].aliases);
	}
	free(m->pmus);
	arena_fini(&m->arena);
	free(m);
}

/* Converts "0-7,32-35" to a mask; false: another format. */
static bool decode_ranges(struct word w, uint64_t *mask)
{
	uint64_t from, to;
	size_t n, dash;

	*mask = 0;
	do {
		for (n = 0; n < w.n && w.p[n] != ','; n++) {
		}
		for (dash = 0; dash < n && w.p[dash] != '-'; dash++) {
		}
		if (!word_number((struct word){w.p, dash}, &from)) {
			return false;
		}
		to = from;
		if (dash < n && !word_number((struct word){w.p + dash + 1, n - dash - 1}, &to)) {
			return false;
		}
		if (to > 63 || from > to) {
			return false;
		}
		*mask |= (to - from == 63 ? UINT64_MAX : (UINT64_C(1) << (to - from + 1)) - 1)
		         << from;
		n += n < w.n;
		w.p += n;
		w.n -= n;
	} while (w.n > 0);
	return true;
}

bool pmu_format_decode(const char *text, struct pmu_format *out)
{
	static const char *const configs[PMU_CONFIGS] = {
	        "config", "config1", "config2", "config3", "config4"};
	const char *colon = strchr(text, ':');
	struct word w;

	if (colon == NULL) {
		return false;
	}
	for (out->config = 0; out->config < PMU_CONFIGS; out->config++) {
		if (word_is((struct word){text, (size_t)(colon - text)}, configs[out->config])) {
			break;
		}
	}
	w = word_trim((struct word){colon + 1, strlen(colon + 1)});
	return out->config < PMU_CONFIGS && w.n > 0 && decode_ranges(w, &out->mask);
}

static bool read_formats(struct event_machine *m, int root, struct event_pmu *pmu,
        const char *const *names, size_t n)
{
	char file[300];
	char buf[FILE_MOST];
	size_t i;

	pmu->formats = calloc(n + 1, sizeof(*pmu->formats));
	for (i = 0; pmu->formats != NULL && i < n; i++) {
		struct pmu_format *f = &pmu->formats[pmu->nformats];

		(void)snprintf(file, sizeof(file), "format/%s", names[i]);
		if (!read_line(root, pmu->name, file, buf) || !pmu_format_decode(buf, f)) {
			continue; /* an unknown kind of format: not a term */
		}
		f->name = names[i];
		f->text = copy(m, buf);
		if (f->text == NULL) {
			return false;
		}
		pmu->nformats++;
	}
	return pmu->formats != NULL;
}

static bool read_alias(
        struct event_machine *m, int root, const struct event_pmu *pmu, struct pmu_alias *a)
{
	char file[300];
	char buf[FILE_MOST];
	char *end;

	(void)snprintf(file, sizeof(file), "events/%s.scale", a->name);
	a->scale = read_line(root, pmu->name, file, buf) ? strtod(buf, &end) : 1;
	(void)snprintf(file, sizeof(file), "events/%s.unit", a->name);
	if (read_line(root, pmu->name, file, buf)) {
		a->unit = copy(m, buf);
		return a->unit != NULL;
	}
	return true;
}

static bool read_aliases(struct event_machine *m, int root, struct event_pmu *pmu,
        const char *const *names, size_t n)
{
	char file[300];
	char buf[FILE_MOST];
	size_t i;

	pmu->aliases = calloc(n + 1, sizeof(*pmu->aliases));
	for (i = 0; pmu->aliases != NULL && i < n; i++) {
		struct pmu_alias *a = &pmu->aliases[pmu->naliases];

		(void)snprintf(file, sizeof(file), "events/%s", names[i]);
		if (strchr(names[i], '.') != NULL || !read_line(root, pmu->name, file, buf)) {
			continue; /* .scale, .unit, .snapshot, .per-pkg of another event */
		}
		a->name = names[i];
		a->terms = copy(m, buf);
		if (a->terms == NULL || !read_alias(m, root, pmu, a)) {
			return false;
		}
		pmu->naliases++;
	}
	return pmu->aliases != NULL;
}

bool pmu_read(struct event_machine *m, int root, struct event_pmu *pmu)
{
	char path[600];
	const char **names;
	size_t n;
	bool ok;

	if (pmu->read) {
		return true;
	}
	pmu->read = true;
	(void)snprintf(path, sizeof(path), DEVICES "/%s/format", pmu->name);
	ok = list_names(m, root, path, &names, &n) && read_formats(m, root, pmu, names, n);
	free(names);
	if (!ok) {
		return false;
	}
	(void)snprintf(path, sizeof(path), DEVICES "/%s/events", pmu->name);
	ok = list_names(m, root, path, &names, &n) && read_aliases(m, root, pmu, names, n);
	free(names);
	return ok;
}

const struct pmu_format *pmu_format_find(const struct event_pmu *pmu, struct word name)
{
	size_t i;

	for (i = 0; i < pmu->nformats; i++) {
		if (word_is(name, pmu->formats[i].name)) {
			return &pmu->formats[i];
		}
	}
	return NULL;
}

const struct pmu_alias *pmu_alias_find(const struct event_pmu *pmu, struct word name)
{
	size_t i;

	for (i = 0; i < pmu->naliases; i++) {
		if (word_is(name, pmu->aliases[i].name)) {
			return &pmu->aliases[i];
		}
	}
	return NULL;
}

/*
 * exact: the PMU's name, where "uncore_" may be omitted. Else a glob or a prefix: one of many
 * devices is called uncore_imc_0, and "imc" means all.
 */
bool pmu_matches(const struct event_pmu *pmu, struct word name, bool exact)
{
	const char *names[2] = {pmu->name, NULL};
	char glob[128];
	size_t i;

	if (strncmp(pmu->name, "uncore_", 7) == 0) {
		names[1] = pmu->name + 7;
	}
	if (name.n == 0 || name.n >= sizeof(glob)) {
		return false;
	}
	memcpy(glob, name.p, name.n);
	glob[name.n] = '\0';
	for (i = 0; i < 2 && names[i] != NULL; i++) {
		if (exact ? strcmp(names[i], glob) == 0
		          : fnmatch(glob, names[i], 0) == 0 ||
		                        strncmp(names[i], glob, name.n) == 0) {
			return true;
		}
	}
	return false;
}

bool pmu_number(int root, const struct event_pmu *pmu, const char *folder, const char *file,
        uint64_t *value)
{
	char path[300];
	char buf[FILE_MOST];
	char *end;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, file);
	if (strchr(file, '/') != NULL || !read_line(root, pmu->name, path, buf)) {
		return false;
	}
	errno = 0;
	*value = strtoull(buf, &end, 16);
	return end != buf && errno == 0;
}

bool pmu_cap(int root, const struct event_pmu *pmu, const char *cap, uint64_t *value)
{
	return pmu_number(root, pmu, "caps", cap, value);
}

uint64_t pmu_deposit(uint64_t mask, uint64_t value)
{
	uint64_t out = 0;
	unsigned bit;

	for (bit = 0; bit < 64; bit++) {
		if ((mask >> bit & 1) != 0) {
			out |= (value & 1) << bit;
			value >>= 1;
		}
	}
	return out;
}

uint64_t pmu_format_max(const struct pmu_format *format)
{
	unsigned bits = (unsigned)__builtin_popcountll(format->mask);

	return bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}
