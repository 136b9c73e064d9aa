/* SPDX-License-Identifier: MIT */
/* Options of `sonde record` whose arguments need parsing. */
#include "cmd/record.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

int record_on_event(const struct option_def *def, const char *arg, bool unset)
{
	struct record_command *c = def->target;

	if (unset) {
		c->options.events.n = 0;
		return 0;
	}
	c->events[c->options.events.n++] = arg;
	return 0;
}

int record_on_frequency(const struct option_def *def, const char *arg, bool unset)
{
	struct record_command *c = def->target;

	c->options.events.frequency = 0;
	if (unset) {
		return 0;
	}
	if (strcmp(arg, "max") == 0) {
		c->options.events.frequency = UINT64_MAX;
		return 0;
	}
	if (!options_number(arg, &c->options.events.frequency) ||
	        c->options.events.frequency == 0) {
		(void)fprintf(stderr,
		        "sonde record: -F wants a frequency in Hz or 'max', not '%s'\n", arg);
		return -1;
	}
	return 0;
}

/* Parses pages, or bytes with a suffix B, K, M or G; rounds up to a power of two of pages. */
static bool parse_pages(const char *arg, size_t n, size_t *out)
{
	static const char units[] = "BKMG";
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const char *unit;
	unsigned long long v;
	size_t pages = 1;
	char *end;

	v = strtoull(arg, &end, 10);
	if (end == arg || v == 0 || v > (1ull << 30) || end > arg + n || end + 1 < arg + n) {
		return false;
	}
	if (end < arg + n) {
		unit = strchr(units, toupper((unsigned char)*end));
		if (unit == NULL) {
			return false;
		}
		v = ((v << (unit - units) * 10) + page - 1) / page;
	}
	while (pages < v) {
		pages *= 2;
	}
	if (pages != v) {
		(void)fprintf(stderr, "rounding mmap pages size to %zuK (%zu pages)\n",
		        pages * page / 1024, pages);
	}
	*out = pages;
	return true;
}

/* "RINGS", "RINGS,AREAS" or ",AREAS" */
int record_on_pages(const struct option_def *def, const char *arg, bool unset)
{
	struct record_command *c = def->target;
	size_t n;

	c->options.buffers.pages = 0;
	c->options.aux.pages = 0;
	if (unset) {
		return 0;
	}
	n = strcspn(arg, ",");
	if ((n > 0 || arg[n] != ',') && !parse_pages(arg, n, &c->options.buffers.pages)) {
		(void)fprintf(stderr,
		        "sonde record: -m wants pages, or a size such as 512K, not '%s'\n", arg);
		return -1;
	}
	if (arg[n] == ',' &&
	        !parse_pages(arg + n + 1, strlen(arg + n + 1), &c->options.aux.pages)) {
		(void)fprintf(stderr,
		        "sonde record: -m wants pages, or a size such as 512K, for AUX areas "
		        "after the comma, not '%s'\n",
		        arg + n + 1);
		return -1;
	}
	return 0;
}

/* "", "e", "SIZE", "eSIZE" or "SIZEe"; in bytes, decimal or 0x. */
int record_on_snapshot(const struct option_def *def, const char *arg, bool unset)
{
	struct record_command *c = def->target;
	const char *p = arg != NULL ? arg : "";
	char *end = NULL;

	c->options.aux.snapshot = !unset;
	c->options.aux.snapshot_size = 0;
	c->options.aux.snapshot_on_exit = !unset && *p == 'e';
	p += *p == 'e';
	if (*p == '\0') {
		return 0;
	}
	if (isdigit((unsigned char)*p)) {
		c->options.aux.snapshot_size = strtoull(p, &end, 0);
		if (*end == 'e' && !c->options.aux.snapshot_on_exit) {
			c->options.aux.snapshot_on_exit = true;
			end++;
		}
	}
	if (end == NULL || *end != '\0') {
		(void)fprintf(stderr,
		        "sonde record: -S wants e, a size in bytes such as 0x100000, or both, "
		        "not '%s'\n",
		        arg);
		return -1;
	}
	return 0;
}

int record_on_aux_sample(const struct option_def *def, const char *arg, bool unset)
{
	struct record_command *c = def->target;

	c->options.aux.sample = !unset;
	c->options.aux.sample_size = 0;
	if (!unset && arg != NULL && !options_number(arg, &c->options.aux.sample_size)) {
		(void)fprintf(stderr,
		        "sonde record: bad AUX area sampling option: '%s'; it wants a size in "
		        "bytes\n",
		        arg);
		return -1;
	}
	return 0;
}

int record_on_filter(const struct option_def *def, const char *arg, bool unset)
{
	struct record_command *c = def->target;

	if (unset) {
		c->options.events.nfilters = 0;
		return 0;
	}
	c->filters[c->options.events.nfilters++] =
	        (struct sonde_recorder_filter){.text = arg, .nevents = c->options.events.n};
	return 0;
}

int record_on_exclude_perf(const struct option_def *def, const char *arg, bool unset)
{
	struct record_command *c = def->target;

	(void)arg;
	(void)snprintf(c->exclude_self, sizeof(c->exclude_self), "common_pid != %d", (int)getpid());
	return unset ? 0 : record_on_filter(def, c->exclude_self, false);
}

int record_on_clock(const struct option_def *def, const char *arg, bool unset)
{
	static const struct {
		const char *name;
		int id;
	} clocks[] = {{"monotonic", CLOCK_MONOTONIC}, {"mono", CLOCK_MONOTONIC},
	        {"monotonic_raw", CLOCK_MONOTONIC_RAW}, {"raw", CLOCK_MONOTONIC_RAW},
	        {"realtime", CLOCK_REALTIME}, {"real", CLOCK_REALTIME},
	        {"boottime", CLOCK_BOOTTIME}, {"boot", CLOCK_BOOTTIME}, {"tai", CLOCK_TAI}};
	struct record_command *c = def->target;
	const char *name = arg;
	uint64_t number;
	size_t i;

	c->options.events.use_clock = !unset;
	if (unset) {
		return 0;
	}
	if (options_number(arg, &number) && number < 12) {
		c->options.events.clockid = (int)number;
		return 0;
	}
	name += strncasecmp(name, "CLOCK_", 6) == 0 ? 6 : 0;
	for (i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
		if (strcasecmp(name, clocks[i].name) == 0) {
			c->options.events.clockid = clocks[i].id;
			return 0;
		}
	}
	(void)fprintf(stderr,
	        "sonde record: -k does not know the clock '%s'; valid are monotonic, "
	        "monotonic_raw, "
	        "realtime, boottime, tai\n",
	        arg);
	return -1;
}

/* --no-x of these options sets SONDE_RECORDER_NO, not the default. */
int record_on_choice(const struct option_def *def, const char *arg, bool unset)
{
	(void)arg;
	*(enum sonde_recorder_choice *)def->target = unset ? SONDE_RECORDER_NO : SONDE_RECORDER_YES;
	return 0;
}

int record_on_branch_any(const struct option_def *def, const char *arg, bool unset)
{
	(void)arg;
	*(const char **)def->target = unset ? NULL : "any";
	return 0;
}

int record_on_registers(const struct option_def *def, const char *arg, bool unset)
{
	if (!unset && arg != NULL && strcmp(arg, "?") == 0) {
		(void)fprintf(stderr, "available registers: %s\n", sonde_recorder_registers());
		return -1;
	}
	*(const char **)def->target = unset ? NULL : arg != NULL ? arg : "";
	return 0;
}

int record_on_cgroups(const struct option_def *def, const char *arg, bool unset)
{
	struct record_command *c = def->target;

	if (unset) {
		c->options.targets.ncgroups = 0;
		return 0;
	}
	c->cgroups[c->options.targets.ncgroups++] =
	        (struct sonde_recorder_cgroup_filter){.names = arg, .nevents = c->options.events.n};
	return 0;
}

int record_on_compress(const struct option_def *def, const char *arg, bool unset)
{
	struct sonde_recorder_options *o = def->target;
	uint64_t level = 1;

	if (!unset && arg != NULL && !options_number(arg, &level)) {
		(void)fprintf(
		        stderr, "sonde record: -z wants a level from 1 to 22, not '%s'\n", arg);
		return -1;
	}
	level = level < 1 ? 1 : level > 22 ? 22 : level; /* as in perf: the nearest valid level */
	o->output.compress = unset ? 0 : (int)level;
	return 0;
}

/* Parses a whole number and one of the letters, and multiplies by the factor of that letter. */
static bool parse_scaled(const char *arg, const char *letters, const uint64_t *factors, uint64_t *v)
{
	unsigned long long n;
	const char *at;
	char *end;

	if (!isdigit((unsigned char)*arg)) {
		return false;
	}
	n = strtoull(arg, &end, 10);
	at = *end != '\0' && end[1] == '\0' ? strchr(letters, *end) : NULL;
	if (at == NULL || n == 0 || n > UINT64_MAX / factors[at - letters]) {
		return false;
	}
	*v = n * factors[at - letters];
	return true;
}

static bool parse_bytes(const char *arg, uint64_t *v)
{
	static const uint64_t factors[] = {
	        1, 1, 1 << 10, 1 << 10, 1 << 20, 1 << 20, 1 << 30, 1 << 30};

	return parse_scaled(arg, "BbKkMmGg", factors, v);
}

int record_on_bytes(const struct option_def *def, const char *arg, bool unset)
{
	if (unset) {
		*(uint64_t *)def->target = 0;
		return 0;
	}
	if (!parse_bytes(arg, def->target)) {
		(void)fprintf(stderr,
		        "sonde record: --%s wants a size such as 64K, with B, K, M or G, not "
		        "'%s'\n",
		        def->long_name, arg);
		return -1;
	}
	return 0;
}

int record_on_switch(const struct option_def *def, const char *arg, bool unset)
{
	static const uint64_t factors[] = {
	        1000000000ull, 60 * 1000000000ull, 3600 * 1000000000ull, 86400 * 1000000000ull};
	struct sonde_recorder_options *o = def->target;

	o->switching.on_request = !unset;
	o->switching.bytes = o->switching.ns = 0;
	if (unset || arg == NULL || strcmp(arg, "signal") == 0 ||
	        parse_scaled(arg, "smhd", factors, &o->switching.ns) ||
	        parse_bytes(arg, &o->switching.bytes)) {
		return 0;
	}
	(void)fprintf(stderr,
	        "sonde record: --switch-output wants signal, a size such as 10M, or a time such as "
	        "30s, not '%s'\n",
	        arg);
	return -1;
}

int record_on_trigger(const struct option_def *def, const char *arg, bool unset)
{
	struct record_command *c = def->target;

	if (unset) {
		c->options.switching.ntriggers = 0;
		return 0;
	}
	c->options.switching.on_request = true;
	c->triggers[c->options.switching.ntriggers++] = arg;
	return 0;
}

/* record.build-id of configuration files */
int record_on_build_id(const struct option_def *def, const char *arg, bool unset)
{
	struct record_command *c = def->target;

	(void)unset;
	if (strcmp(arg, "mmap") == 0) {
		c->options.build_ids.in_mappings = true;
	} else if (strcmp(arg, "skip") == 0) {
		c->options.build_ids.none = true;
	} else if (strcmp(arg, "no-cache") == 0) {
		c->no_cache = true;
	} else if (strcmp(arg, "cache") != 0) {
		(void)fprintf(stderr,
		        "sonde record: build ids are cache, no-cache, skip or mmap, not '%s'\n",
		        arg);
		return -1;
	}
	return 0;
}

int record_on_optional(const struct option_def *def, const char *arg, bool unset)
{
	*(const char **)def->target = unset ? NULL : arg != NULL ? arg : "";
	return 0;
}

int record_on_control(const struct option_def *def, const char *arg, bool unset)
{
	struct record_command *c = def->target;
	struct sonde_recorder_options *o = &c->options;

	o->control.commands = !unset;
	return options_control("record", unset ? NULL : arg, &o->control.fd, &o->control.ack_fd);
}
