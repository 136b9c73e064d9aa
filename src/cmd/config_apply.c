/* SPDX-License-Identifier: MIT */
#include "cmd/config_apply.h"

#include "cmd/config_text.h"
#include "cmd/perf_only.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Parses the words that perf accepts for switches: 1, 0, -1: none of them. */
static int parse_switch(const char *word)
{
	static const struct {
		const char *word;
		int value;
	} words[] = {{"true", 1}, {"yes", 1}, {"on", 1}, {"1", 1}, {"false", 0}, {"no", 0},
	        {"off", 0}, {"0", 0}};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcasecmp(word, words[i].word) == 0) {
			return words[i].value;
		}
	}
	return -1;
}

static void warn(const struct config_entry *e, const char *what)
{
	(void)fprintf(stderr, "Warning: %s:%u: %s = %s is ignored: %s\n", e->file, e->line, e->key,
	        e->value, what);
}

static bool set_number(const struct option_def *def, const char *value)
{
	uint64_t number = 0;

	if (!options_number(value, &number)) {
		return false;
	}
	if (def->kind == OPTION_KIND_COUNT) {
		*(int *)def->target = number < 100 ? (int)number : 100;
	} else {
		*(uint64_t *)def->target = number;
	}
	return true;
}

/* Options without an argument, or with an optional one, can be switched on and off. */
static bool set_call(const struct option_def *def, const char *value, const char *prefix)
{
	char text[CONFIG_WORD_MAX + 8];
	int on = def->arg != OPTION_REQUIRED ? parse_switch(value) : -1;

	if (on >= 0) {
		return def->call(def, NULL, on == 0) >= 0;
	}
	(void)snprintf(text, sizeof(text), "%s%s", prefix, value);
	/* the option may keep its argument, which is valid as long as the configuration */
	return def->arg != OPTION_NONE &&
	       def->call(def, prefix[0] != '\0' ? text : value, false) >= 0;
}

static bool set_option(
        const struct option_def *def, const char *value, const char *prefix, bool inverted)
{
	int on = def->kind == OPTION_KIND_SWITCH || def->arg >= OPTION_OPTIONAL
	                 ? parse_switch(value)
	                 : -1;

	switch (def->kind) {
	case OPTION_KIND_SWITCH:
		*(bool *)def->target = on >= 0 ? (on != 0) != inverted : *(bool *)def->target;
		return on >= 0;
	case OPTION_KIND_TEXT:
		*(const char **)def->target = on < 0 ? value : on != 0 ? def->fallback : NULL;
		return true;
	case OPTION_KIND_COUNT:
	case OPTION_KIND_UINT: return set_number(def, value);
	case OPTION_KIND_CALL: return set_call(def, value, prefix);
	case OPTION_KIND_END:
	case OPTION_KIND_HEADING:
	case OPTION_KIND_PERF_ONLY: break;
	}
	return false;
}

/* Finds --NAME, or with *inverted the switch --no-NAME. */
static const struct option_def *find(const struct option_def *def, const char *name, bool *inverted)
{
	for (; def->kind != OPTION_KIND_END; def++) {
		*inverted = false;
		if (def->long_name == NULL) {
			continue;
		}
		if (strcasecmp(def->long_name, name) == 0) {
			return def;
		}
		*inverted = def->kind == OPTION_KIND_SWITCH;
		if (*inverted && strncmp(def->long_name, "no-", 3) == 0 &&
		        strcasecmp(def->long_name + 3, name) == 0) {
			return def;
		}
	}
	return NULL;
}

static void entry_apply(const struct config_entry *e, const struct option_command *command)
{
	struct config_option option = config_option_of(e, command->name);
	const struct option_def *def;
	bool inverted;

	if (option.name == NULL) {
		return;
	}
	def = find(command->defs, option.name, &inverted);
	if (def == NULL) {
		if (e->own &&
		        find(perf_only_options(command->name), option.name, &inverted) != NULL) {
			warn(e, "only perf has this option yet");
		} else if (e->own) {
			warn(e, "the command has no such option");
		}
	} else if (def->each) {
		warn(e, "this option can only be given on the command line");
	} else if (!set_option(def, e->value, option.prefix, inverted)) {
		warn(e, def->kind == OPTION_KIND_SWITCH ? "it is true or false"
		                                        : "the option does not accept this value");
	}
}

void config_apply(const struct config *config, const struct option_command *command)
{
	for (size_t i = 0; i < config->n; i++) {
		entry_apply(&config->entries[i], command);
	}
}
