/* SPDX-License-Identifier: MIT */
/* Prints a recording as CSV, each row after the name of its table: ./example-rows perf.data [TABLE] */
#include <sonde/preview/export.h>
#include <stdio.h>
#include <string.h>

static void print_text(const char *text)
{
	putchar('"');
	for (; *text != '\0'; text++) {
		if (*text == '"') {
			putchar('"');
		}
		putchar(*text);
	}
	putchar('"');
}

/* arg: the only table to print, or NULL */
static int on_row(
        void *arg, const struct sonde_export_table *table, const struct sonde_export_value *values)
{
	const char *only = arg;

	if (only != NULL && strcmp(only, table->name) != 0) {
		return 0;
	}
	printf("%s", table->name);
	for (size_t i = 0; i < table->ncolumns; i++) {
		putchar(',');
		if (table->columns[i].type == SONDE_EXPORT_TEXT) {
			print_text(values[i].text);
		} else {
			printf("%lld", (long long)values[i].number);
		}
	}
	return putchar('\n') == '\n' ? 0 : SONDE_EOUTPUT;
}

int main(int argc, char **argv)
{
	struct sonde_session_options options = {.size = sizeof(options), .itrace = "bep"};
	struct sonde_export_options all = {.size = sizeof(all), .calls = true, .callchains = true};
	struct sonde_export_sink csv = {
	        .size = sizeof(csv), .arg = argc > 2 ? argv[2] : NULL, .row = on_row};
	struct sonde_session *s = sonde_session_new(&options);
	int rc = s != NULL ? sonde_session_open(s, argc > 1 ? argv[1] : "perf.data") : SONDE_ENOMEM;

	if (rc >= 0) {
		rc = sonde_export_rows(s, &all, &csv);
	}
	if (rc < 0) {
		(void)fprintf(
		        stderr, "%s\n", s != NULL ? sonde_session_error(s)->text : "out of memory");
	}
	sonde_session_free(s);
	return rc < 0;
}
