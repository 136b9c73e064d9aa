/* SPDX-License-Identifier: MIT */
#include "cmd/options.h"

#include "cmd/config_apply.h"
#include "cmd/perf_only.h"
#include "cmd/suggest.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HELP_COLUMN 26 /* where the help texts start */

struct parser {
	const struct option_command *command;
	int argc;
	char **argv;
	int next; /* index of the next word to look at */
};

struct match {
	const struct option_def *def;
	const struct option_def *other; /* a second match of an ambiguous word */
	bool unset;
	bool other_unset;
	bool exact;
};

static const struct config *configured; /* set once, by main */

void options_use_config(const struct config *config)
{
	configured = config;
}

static void print_usage(FILE *out, const struct option_command *command)
{
	(void)fprintf(out, "Usage: sonde %s %s\n", command->name, command->usage);
}

int options_mistake(const struct option_command *command, const char *fmt, ...)
{
	va_list ap;

	(void)fprintf(stderr, "sonde %s: ", command->name);
	va_start(ap, fmt);
	(void)vfprintf(stderr, fmt, ap);
	va_end(ap);
	(void)fputc('\n', stderr);
	print_usage(stderr, command);
	(void)fprintf(stderr, "'sonde %s --help' lists the options.\n", command->name);
	return OPTIONS_USAGE;
}

static int help_left(const struct option_def *def, char *buf, size_t size)
{
	const char *arg = def->arg_name != NULL ? def->arg_name : "ARG";
	const char *head = def->arg >= OPTION_OPTIONAL   ? (def->long_name != NULL ? "[=" : "[")
	                   : def->arg == OPTION_REQUIRED ? " "
	                                                 : "";
	const char *tail = def->arg >= OPTION_OPTIONAL ? "]" : "";
	char first[4] = "";

	if (def->arg == OPTION_NONE) {
		arg = "";
	}
	if (def->short_name != 0) {
		(void)snprintf(first, sizeof(first), "-%c", def->short_name);
	}
	return snprintf(buf, size, "%4s%s%s%s%s%s%s", first,
	        def->long_name == NULL ? ""
	        : def->short_name != 0 ? ", "
	                               : "  ",
	        def->long_name != NULL ? "--" : "", def->long_name != NULL ? def->long_name : "",
	        head, arg, tail);
}

static void print_help(const struct option_command *command)
{
	const struct option_def *def;
	char left[128];
	int n;

	print_usage(stdout, command);
	if (command->about != NULL) {
		printf("%s\n", command->about);
	}
	if (command->defs[0].kind != OPTION_KIND_HEADING) {
		printf("\n");
	}
	for (def = command->defs; def->kind != OPTION_KIND_END; def++) {
		if (def->help == NULL) {
			continue;
		}
		if (def->kind == OPTION_KIND_HEADING) {
			printf("\n%s\n", def->help);
			continue;
		}
		n = help_left(def, left, sizeof(left));
		if (n < HELP_COLUMN) {
			printf("%-*s%s\n", HELP_COLUMN, left, def->help);
		} else {
			printf("%s\n%*s%s\n", left, HELP_COLUMN, "", def->help);
		}
	}
	printf("%-*s%s\n", HELP_COLUMN, "  -h, --help", "show this help");
	if (command->more != NULL) {
		command->more();
	}
}

static bool starts_with(const char *text, const char *start, size_t n)
{
	return strncmp(text, start, n) == 0;
}

/*
 * Adds a candidate; an exact match takes precedence over abbreviations, and abbreviations of perf's
 * options over those of options that perf does not have.
 */
static void match_add(
        struct match *m, const struct option_def *def, const char *name, size_t n, bool unset)
{
	bool exact = name[n] == '\0';

	if ((m->exact || (m->def != NULL && def->yields)) && !exact) {
		return;
	}
	if (m->def == NULL || (exact && !m->exact) || m->def->yields) {
		*m = (struct match){.def = def, .unset = unset, .exact = exact};
		return;
	}
	if (m->def != def || m->unset != unset) {
		m->other = def;
		m->other_unset = unset;
	}
}

static void match_negated(struct match *m, const struct option_def *def, const char *name, size_t n)
{
	if (def->no_negation) {
		return;
	}
	if (starts_with(def->long_name, "no-", 3)) {
		if (n <= strlen(def->long_name) - 3 && starts_with(def->long_name + 3, name, n)) {
			match_add(m, def, def->long_name + 3, n, true);
		}
		return;
	}
	if (n > 3 && starts_with(name, "no-", 3) && starts_with(def->long_name, name + 3, n - 3)) {
		match_add(m, def, def->long_name, n - 3, true);
	}
}

static void match_table(struct match *m, const struct option_def *def, const char *name, size_t n)
{
	for (; def->kind != OPTION_KIND_END; def++) {
		if (def->long_name == NULL || def->config_only) {
			continue;
		}
		if (starts_with(def->long_name, name, n)) {
			match_add(m, def, def->long_name, n, false);
		}
		match_negated(m, def, name, n);
	}
}

static struct match match_long(const struct option_command *command, const char *name, size_t n)
{
	struct match m = {0};

	match_table(&m, command->defs, name, n);
	match_table(&m, perf_only_options(command->name), name, n);
	return m;
}

static const char *def_name(const struct option_def *def, char buf[64])
{
	if (def->long_name != NULL) {
		(void)snprintf(buf, 64, "--%s", def->long_name);
	} else {
		(void)snprintf(buf, 64, "-%c", def->short_name);
	}
	return buf;
}

static int set_number(const struct parser *p, const struct option_def *def, const char *arg)
{
	uint64_t *number = def->target;
	char name[64];

	if (arg == NULL) {
		*number = 0;
		return OPTIONS_RUN;
	}
	return options_number(arg, number)
	               ? OPTIONS_RUN
	               : options_mistake(p->command, "%s wants a whole number, not '%s'",
	                         def_name(def, name), arg);
}

static int set_call(
        const struct parser *p, const struct option_def *def, const char *arg, bool unset)
{
	if (def->call(def, arg, unset) >= 0) {
		return OPTIONS_RUN;
	}
	print_usage(stderr, p->command);
	return OPTIONS_USAGE;
}

/* arg: NULL if unset, or without an optional argument. */
static int set_option(
        const struct parser *p, const struct option_def *def, const char *arg, bool unset)
{
	if (def->given != NULL) {
		*def->given = true;
	}
	switch (def->kind) {
	case OPTION_KIND_SWITCH: *(bool *)def->target = !unset; return OPTIONS_RUN;
	case OPTION_KIND_COUNT:
		*(int *)def->target = unset ? 0 : *(int *)def->target + 1;
		return OPTIONS_RUN;
	case OPTION_KIND_TEXT:
		*(const char **)def->target = unset || arg != NULL ? arg : def->fallback;
		return OPTIONS_RUN;
	case OPTION_KIND_UINT: return set_number(p, def, arg);
	case OPTION_KIND_CALL: return set_call(p, def, arg, unset);
	case OPTION_KIND_END:
	case OPTION_KIND_HEADING:
	case OPTION_KIND_PERF_ONLY: break;
	}
	return OPTIONS_RUN;
}

/* Returns the next word if it is the argument of this option, else NULL. */
static const char *take_word(struct parser *p, const struct option_def *def)
{
	bool taken = p->next < p->argc &&
	             (def->arg == OPTION_REQUIRED ||
	                     (def->arg == OPTION_APART && p->argv[p->next][0] != '-'));

	return taken ? p->argv[p->next++] : NULL;
}

/* Reports an unknown option, with the one whose name is nearest. */
static int unknown_long(const struct parser *p, const char *word, size_t n)
{
	const struct option_def *near = NULL;
	bool negated = n > 3 && starts_with(word, "no-", 3), near_negated = false;
	unsigned best = n < 4 ? 2 : SUGGEST_NEAR;

	for (const struct option_def *def = p->command->defs; def->kind != OPTION_KIND_END; def++) {
		for (size_t without = 0;
		        def->help != NULL && def->long_name != NULL && without <= negated;
		        without++) {
			unsigned d = suggest_distance(
			        word + without * 3, n - without * 3, def->long_name);

			if (d < best) {
				best = d;
				near = def;
				near_negated = without != 0;
			}
		}
	}
	return near == NULL
	               ? options_mistake(p->command, "unknown option --%.*s", (int)n, word)
	               : options_mistake(p->command, "unknown option --%.*s; did you mean --%s%s?",
	                         (int)n, word, near_negated ? "no-" : "", near->long_name);
}

static int parse_long(struct parser *p, const char *word)
{
	const char *equals = strchr(word, '=');
	const char *arg = equals != NULL ? equals + 1 : NULL;
	size_t n = equals != NULL ? (size_t)(equals - word) : strlen(word);
	struct match m = match_long(p->command, word, n);
	char written[64];

	if (m.def == NULL) {
		return unknown_long(p, word, n);
	}
	if (m.other != NULL) {
		return options_mistake(p->command, "--%.*s is short for several: --%s%s and --%s%s",
		        (int)n, word, m.unset ? "no-" : "", m.def->long_name,
		        m.other_unset ? "no-" : "", m.other->long_name);
	}
	if (m.def->kind == OPTION_KIND_PERF_ONLY) {
		(void)snprintf(written, sizeof(written), "--%.*s", (int)n, word);
		return perf_only_option(p->command->name, m.def, written);
	}
	if (arg != NULL && (m.unset || m.def->arg == OPTION_NONE)) {
		return options_mistake(p->command, "--%.*s takes no value", (int)n, word);
	}
	arg = arg == NULL && !m.unset ? take_word(p, m.def) : arg;
	if (arg == NULL && !m.unset && m.def->arg == OPTION_REQUIRED) {
		return options_mistake(
		        p->command, "--%s wants a value: %s", m.def->long_name, m.def->arg_name);
	}
	return set_option(p, m.def, arg, m.unset);
}

static const struct option_def *find_short(const struct option_def *def, char c)
{
	for (; def->kind != OPTION_KIND_END; def++) {
		if (def->short_name == c && c != 0) {
			return def;
		}
	}
	return NULL;
}

static int unknown_short(const struct parser *p, char c)
{
	const struct option_def *def = find_short(perf_only_options(p->command->name), c);

	if (def == NULL) {
		return options_mistake(p->command, "unknown option -%c", c);
	}
	return perf_only_option(p->command->name, def, (const char[]){'-', c, '\0'});
}

/* word: the text after the '-'. */
static int parse_short(struct parser *p, const char *word)
{
	const struct option_def *def;
	const char *arg;
	int rc = OPTIONS_RUN;

	for (; rc == OPTIONS_RUN && *word != '\0'; word++) {
		def = find_short(p->command->defs, *word);
		if (def == NULL && *word == 'h') {
			print_help(p->command);
			return 0;
		}
		if (def == NULL) {
			return unknown_short(p, *word);
		}
		if (def->arg == OPTION_NONE) {
			rc = set_option(p, def, NULL, false);
			continue;
		}
		arg = word[1] != '\0' ? word + 1 : take_word(p, def);
		if (arg == NULL && def->arg == OPTION_REQUIRED) {
			return options_mistake(
			        p->command, "-%c wants a value: %s", *word, def->arg_name);
		}
		return set_option(p, def, arg, false);
	}
	return rc;
}

/* For completion: prints the values of the option that the next word names, one a line. */
static int list_values(const struct parser *p)
{
	const char *word = p->next < p->argc ? p->argv[p->next] : "";
	const struct option_def *def = p->command->defs;

	for (; def->kind != OPTION_KIND_END; def++) {
		bool is_long = def->long_name != NULL && strncmp(word, "--", 2) == 0 &&
		               strcmp(def->long_name, word + 2) == 0;
		bool is_short = def->short_name != 0 && word[0] == '-' &&
		                word[1] == def->short_name && word[2] == '\0';

		for (const char *v = is_long || is_short ? def->values : NULL;
		        v != NULL && *v != '\0';) {
			size_t n = strcspn(v, " ");

			(void)printf("%.*s\n", (int)n, v);
			v += n + (v[n] != '\0');
		}
	}
	return 0;
}

static int parse_word(struct parser *p, const char *word)
{
	if (strcmp(word, "--list-values") == 0) {
		return list_values(p);
	}
	if (word[1] != '-') {
		return parse_short(p, word + 1);
	}
	if (strcmp(word, "--help") == 0) {
		print_help(p->command);
		return 0;
	}
	return parse_long(p, word + 2);
}

static int parse_words(
        const struct option_command *command, int argc, char **argv, struct option_rest *rest)
{
	struct parser p = {.command = command, .argc = argc, .argv = argv, .next = 1};
	char *word;
	int kept = 1; /* words that are no options are moved to argv[1..kept) */
	int rc;

	if (configured != NULL) {
		config_apply(configured, command);
	}
	while (p.next < argc) {
		word = argv[p.next];
		if (strcmp(word, "--") == 0) {
			p.next++;
			break;
		}
		if (word[0] != '-' || word[1] == '\0') {
			if (!command->anywhere) {
				break;
			}
			argv[kept++] = word;
			p.next++;
			continue;
		}
		p.next++;
		rc = parse_word(&p, word);
		if (rc != OPTIONS_RUN) {
			return rc;
		}
	}
	if (kept == 1) { /* the end of argv is NULL already */
		*rest = (struct option_rest){.argc = argc - p.next, .argv = argv + p.next};
		return OPTIONS_RUN;
	}
	while (p.next < argc) {
		argv[kept++] = argv[p.next++];
	}
	argv[kept] = NULL;
	*rest = (struct option_rest){.argc = kept - 1, .argv = argv + 1};
	return OPTIONS_RUN;
}

int options_parse(
        const struct option_command *command, int argc, char **argv, struct option_rest *rest)
{
	int most = command->words == OPTION_NO_WORDS ? 0 : 1;
	int rc = parse_words(command, argc, argv, rest);

	if (rc == OPTIONS_RUN && command->words != OPTION_ANY_WORDS && rest->argc > most) {
		return options_mistake(command, "unexpected word '%s'", rest->argv[most]);
	}
	return rc;
}

const char *options_input(void)
{
	struct stat st;

	return fstat(STDIN_FILENO, &st) == 0 && S_ISFIFO(st.st_mode) ? "-" : "perf.data";
}
