/* SPDX-License-Identifier: MIT */
/* sonde db: questions about the calls and branches of an exported recording. */
#include "cmd/commands.h"
#include "cmd/options.h"
#include "cmd/terminal.h"

#include <sonde/preview/db.h>

#include <stdio.h>
#include <string.h>

#define EXIT_FAILED 255 /* no answer */
#define SECOND      UINT64_C(1000000000) /* ns */
#define SLOWEST     10u /* calls that `slow` lists without --limit */

static const struct question {
	const char *name, *words;
	enum sonde_db_question question;
	int functions;
	const char *help;
} questions[] = {
        {"top", "", SONDE_DB_TOP, 0, "functions, with the number and time of their calls"},
        {"graph", "", SONDE_DB_GRAPH, 0, "call paths as a tree, with the same"},
        {"tree", "", SONDE_DB_TREE, 0, "each call, as a tree by thread, with its times"},
        {"slow", " FUNCTION", SONDE_DB_SLOW, 1, "the calls of a function that took longest"},
        {"between", " A B", SONDE_DB_BETWEEN, 2,
                "times from each entry of function A to the next one of B"},
        {"branches", " FUNCTION", SONDE_DB_BRANCHES, 1,
                "branches that arrive in a function from elsewhere"},
};

struct db_command {
	const char *input, *time, *least, *sort;
	bool sql, has_limit;
	struct sonde_db_options o;
};

static void print_questions(void)
{
	(void)printf("\nQuestions:\n");
	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
		char words[32];

		(void)snprintf(words, sizeof(words), "%s%s", questions[i].name, questions[i].words);
		(void)printf("    %-19s %s\n", words, questions[i].help);
	}
}

/* Reads decimal seconds of at most nanoseconds; *text moves after them. */
static bool read_seconds(const char **text, uint64_t *ns)
{
	const char *p = *text;
	uint64_t whole = 0, fraction = 0, unit = SECOND;
	size_t digits = strspn(p, "0123456789");

	for (; *p >= '0' && *p <= '9'; p++) {
		if (whole > UINT64_MAX / SECOND / 20) {
			return false;
		}
		whole = 10 * whole + (uint64_t)(*p - '0');
	}
	if (*p == '.') {
		for (p++; *p >= '0' && *p <= '9' && unit > 1; p++, digits++) {
			unit /= 10;
			fraction += unit * (uint64_t)(*p - '0');
		}
	}
	*ns = whole * SECOND + fraction;
	*text = p;
	return digits != 0;
}

/* "START,END"; either may be omitted. */
static bool read_span(const char *text, uint64_t *start, uint64_t *end)
{
	if (*text != ',' && !read_seconds(&text, start)) {
		return false;
	}
	if (*text++ != ',') {
		return false;
	}
	if (*text == '\0') {
		return true;
	}
	return read_seconds(&text, end) && *text == '\0' && *end != 0 && *start <= *end;
}

/* A number with ns (or nothing), us, ms or s. */
static bool read_duration(const char *text, uint64_t *ns)
{
	static const struct {
		const char *name;
		uint64_t ns; /* 1 */
	} units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", SECOND}, {"", 1}};
	char number[24] = "";
	size_t n = strspn(text, "0123456789");

	if (n == 0 || n >= sizeof(number)) {
		return false;
	}
	memcpy(number, text, n);
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(text + n, units[i].name) == 0) {
			return options_number(number, ns) &&
			       !__builtin_mul_overflow(*ns, units[i].ns, ns);
		}
	}
	return false;
}

static bool read_sort(const char *text, enum sonde_db_sort *sort)
{
	static const char *const names[] = {[SONDE_DB_BY_TOTAL] = "total",
	        [SONDE_DB_BY_SELF] = "self",
	        [SONDE_DB_BY_CALLS] = "calls",
	        [SONDE_DB_BY_MAX] = "max"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(text, names[i]) == 0) {
			*sort = (enum sonde_db_sort)i;
			return true;
		}
	}
	return false;
}

/* The question and its functions. */
static int read_words(
        struct db_command *c, const struct option_command *command, const struct option_rest *rest)
{
	const struct question *q = NULL;

	for (size_t i = 0; rest->argc > 0 && i < sizeof(questions) / sizeof(questions[0]); i++) {
		if (strcmp(rest->argv[0], questions[i].name) == 0) {
			q = &questions[i];
		}
	}
	if (q == NULL) {
		return options_mistake(command,
		        rest->argc == 0 ? "a question is missing: %stop, graph, tree, slow, "
		                          "between or branches"
		                        : "unexpected question '%s': top, graph, tree, slow, "
		                          "between and branches are known",
		        rest->argc == 0 ? "" : rest->argv[0]);
	}
	if (rest->argc - 1 != q->functions) {
		return options_mistake(command, "usage of this question: %s%s", q->name, q->words);
	}
	c->o.question = q->question;
	c->o.function = q->functions > 0 ? rest->argv[1] : NULL;
	c->o.to = q->functions > 1 ? rest->argv[2] : NULL;
	if (q->question == SONDE_DB_SLOW && !c->has_limit) {
		c->o.limit = SLOWEST;
	}
	return OPTIONS_RUN;
}

/* Converts options that are texts. */
static int settle(struct db_command *c, const struct option_command *command)
{
	if (c->input == NULL) {
		return options_mistake(command, "-i wants a database");
	}
	if (c->time != NULL && !read_span(c->time, &c->o.start, &c->o.end)) {
		return options_mistake(
		        command, "--time '%s' is no span: START,END in seconds", c->time);
	}
	if (c->least != NULL && !read_duration(c->least, &c->o.min_time)) {
		return options_mistake(
		        command, "--time-filter '%s' is no time, as 500, 10us or 2ms", c->least);
	}
	if (c->sort != NULL && !read_sort(c->sort, &c->o.sort)) {
		return options_mistake(
		        command, "--sort is total, self, calls or max, not '%s'", c->sort);
	}
	if (c->sort != NULL && c->o.question != SONDE_DB_TOP) {
		return options_mistake(command, "--sort is for the question 'top'");
	}
	if (c->o.depth != 0 && c->o.question != SONDE_DB_GRAPH && c->o.question != SONDE_DB_TREE) {
		return options_mistake(command, "--depth is for the questions 'graph' and 'tree'");
	}
	if (c->o.min_time != 0 && c->o.question == SONDE_DB_BRANCHES) {
		return options_mistake(command, "branches take no time: leave out --time-filter");
	}
	return OPTIONS_RUN;
}

static int answer(const struct db_command *c, struct sonde_db *d)
{
	struct terminal_output out;
	int rc = c->sql ? 0 : sonde_db_open(d, c->input), status;

	if (rc < 0) {
		(void)fprintf(stderr, "Error: %s\n", sonde_db_error(d)->text);
		return EXIT_FAILED;
	}
	terminal_output_open(&out, true);
	rc = c->sql ? sonde_db_write_sql(d, &c->o, terminal_output_write, &out)
	            : sonde_db_write(d, &c->o, terminal_output_write, &out);
	terminal_output_close(&out);
	if (terminal_output_failed(&out, &status)) {
		return status;
	}
	if (rc < 0) {
		(void)fprintf(stderr, "Error: %s\n", sonde_db_error(d)->text);
		return EXIT_FAILED;
	}
	if (rc == 0 && !c->sql) {
		(void)fprintf(stderr, "Warning: %s has nothing that fits\n", c->input);
	}
	return 0;
}

static int run(const struct db_command *c)
{
	struct sonde_db *d = sonde_db_new();
	int rc;

	if (d == NULL) {
		(void)fprintf(stderr, "Error: %s\n", sonde_status_text(SONDE_ENOMEM));
		return EXIT_FAILED;
	}
	rc = answer(c, d);
	sonde_db_free(d);
	return rc;
}

int cmd_db(int argc, char **argv)
{
	struct db_command c = {.input = "perf.db", .o = {.size = sizeof(c.o)}};
	const struct option_def defs[] = {
	        OPTION_TEXT('i', "input", &c.input, "DB",
	                "the database (perf.db): a file, or dbname=... of PostgreSQL"),
	        OPTION_HEADING("Selection"),
	        {.long_name = "tid",
	                .kind = OPTION_KIND_UINT,
	                .arg = OPTION_REQUIRED,
	                .target = &c.o.tid,
	                .given = &c.o.has_tid,
	                .arg_name = "TID",
	                .help = "only this thread"},
	        {.long_name = "pid",
	                .kind = OPTION_KIND_UINT,
	                .arg = OPTION_REQUIRED,
	                .target = &c.o.pid,
	                .given = &c.o.has_pid,
	                .arg_name = "PID",
	                .help = "only threads of this process"},
	        OPTION_TEXT(0, "comm", &c.o.comm, "NAME",
	                "only threads of this name, or of a process of this name"),
	        OPTION_TEXT(0, "time", &c.time, "START,END",
	                "only calls and branches in this span of the recording's clock, in "
	                "seconds"),
	        OPTION_TEXT('t', "time-filter", &c.least, "TIME",
	                "only calls that take at least so long, as 500, 10us or 2ms"),
	        OPTION_UINT('D', "depth", &c.o.depth, "N", "at most N levels of a tree"),
	        {.short_name = 'n',
	                .long_name = "limit",
	                .kind = OPTION_KIND_UINT,
	                .arg = OPTION_REQUIRED,
	                .target = &c.o.limit,
	                .given = &c.has_limit,
	                .arg_name = "N",
	                .help = "at most N rows; 0: all (default; slow: 10)"},
	        OPTION_HEADING("Output"),
	        OPTION_WORD('s', "sort", &c.sort, "KEY", "total self calls max",
	                "order of top: total (default), self, calls or max"),
	        OPTION_SWITCH(0, "json", &c.o.json, "print JSON"),
	        OPTION_SWITCH(0, "sql", &c.sql, "print the SQL in place of the answer"),
	        OPTION_END,
	};
	const struct option_command command = {
	        .name = "db",
	        .usage = "[options] QUESTION",
	        .about = "Answers questions about the calls and branches in a database of 'sonde "
	                 "export'.",
	        .defs = defs,
	        .more = print_questions,
	        .anywhere = true,
	};
	struct option_rest rest;
	int rc = options_parse(&command, argc, argv, &rest);

	rc = rc == OPTIONS_RUN ? read_words(&c, &command, &rest) : rc;
	rc = rc == OPTIONS_RUN ? settle(&c, &command) : rc;
	return rc == OPTIONS_RUN ? run(&c) : rc;
}
