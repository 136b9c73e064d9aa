/* SPDX-License-Identifier: MIT */
/*
 * Parses the letters of --itrace:
 *
 *	i[NUMBER[i|t|ms|us|ns]]  instructions     b branches   c calls   r returns
 *	x transactions   w ptwrite   p power   I Event Trace      e[+-LETTER].. errors   sNUMBER skip events
 *	o PEBS records in the trace
 *	y cycles, by the period of i   d[+-LETTER].. a log of the decoder
 *	q quick: without code    qq only PSB+
 *	Z ignore times   T ticks as times   A cycles at each change of the time
 *	g[NUMBER] call chains   l[NUMBER] branch stacks, of at most so many entries
 *	G[NUMBER], L[NUMBER] the same for the samples of the recording
 *
 * f m M t a select samples of caches, memory, TLBs and remote accesses, which no Intel PT trace has.
 *
 * Commas and blanks may separate them.
 */
#include "aux/itrace.h"

#include <ctype.h>
#include <string.h>

#define USUAL_PERIOD 100000u /* ns */
#define USUAL_CHAIN  16u
#define USUAL_LAST   64u
#define ENTRIES_MAX  1024u

static int refuse(const char *p, struct error *err)
{
	return error_set(err, SONDE_EARG, NO_OFFSET,
	        "--itrace: '%c' is not a kind of sample; the letters are i y b c r x w p o e I d g "
	        "G l L s q A T Z",
	        *p);
}

/* Parses a number; false: it does not fit. Without digits *out is not set. */
static bool take_number(const char **p, uint64_t *out)
{
	uint64_t n = 0;
	bool any = false;

	while (isdigit((unsigned char)**p)) {
		unsigned digit = (unsigned)(*(*p)++ - '0');

		if (n > (UINT64_MAX - digit) / 10) {
			return false;
		}
		n = n * 10 + digit;
		any = true;
	}
	if (any) {
		*out = n;
	}
	return true;
}

static int take_period(struct itrace *to, const char **p, struct error *err)
{
	static const struct {
		const char *name;
		enum itrace_unit unit;
		uint64_t times;
	} units[] = {{"ms", ITRACE_NS, 1000000}, {"us", ITRACE_NS, 1000}, {"ns", ITRACE_NS, 1},
	        {"i", ITRACE_INSNS, 1}, {"t", ITRACE_TICKS, 1}};
	const char *from = *p;
	bool good = take_number(p, &to->period);

	if (*p == from) {
		return 0;
	}
	while (isblank((unsigned char)**p)) {
		(*p)++;
	}
	to->unit = ITRACE_NS;
	for (size_t i = 0; good && i < sizeof(units) / sizeof(units[0]); i++) {
		size_t n = strlen(units[i].name);

		if (strncmp(*p, units[i].name, n) == 0) {
			good = to->period <= UINT64_MAX / units[i].times;
			to->period *= units[i].times;
			to->unit = units[i].unit;
			*p += n;
			return good ? 0
			            : error_set(err, SONDE_EARG, NO_OFFSET,
			                      "--itrace: the period '%s' is too large", from);
		}
	}
	return error_set(err, SONDE_EARG, NO_OFFSET,
	        good ? "--itrace: the period '%s' needs a unit: i, t, ms, us or ns"
	             : "--itrace: the period '%s' is too large",
	        from);
}

/* Parses the number of entries after g or l. */
static int take_entries(unsigned *to, unsigned usual, const char **p, struct error *err)
{
	const char *from = *p;
	uint64_t n = usual;

	if (!take_number(p, &n) || n == 0 || n > ENTRIES_MAX) {
		return error_set(err, SONDE_EARG, NO_OFFSET,
		        "--itrace: '%s' is not a number of entries from 1 to %u", from,
		        ENTRIES_MAX);
	}
	*to = (unsigned)n;
	return 0;
}

/* Parses what follows a letter of call chains or branch stacks. */
static int take_size(struct itrace *to, char letter, const char **p, struct error *err)
{
	switch (letter) {
	case 'g': return take_entries(&to->chain, USUAL_CHAIN, p, err);
	case 'G': return take_entries(&to->other_chain, USUAL_CHAIN, p, err);
	case 'l': return take_entries(&to->last, USUAL_LAST, p, err);
	default: return take_entries(&to->other_last, USUAL_LAST, p, err);
	}
}

/* A flag of the letters e and d: +LETTER sets it to false or true, -LETTER to the other. */
struct flag {
	char letter;
	bool *set;
	bool by_plus; /* the value of +LETTER */
};

/* Parses +LETTER and -LETTER after the letter `of`, one or more; flags ends with letter 0. */
static int take_flags(
        const char **p, char of, const struct flag *flags, const char *known, struct error *err)
{
	while (**p == '+' || **p == '-') {
		char sign = *(*p)++;
		const struct flag *f = flags;

		while (f->letter != 0 && f->letter != **p) {
			f++;
		}
		if (f->letter == 0) {
			return error_set(err, SONDE_EARG, NO_OFFSET,
			        "--itrace: '%c%c%.1s' is not a flag of '%c'; %s", of, sign, *p, of,
			        known);
		}
		*f->set = (sign == '+') == f->by_plus;
		(*p)++;
	}
	return 0;
}

/* Parses the letters after e: which errors are, or are not, reported. */
static int take_errors(struct itrace *to, const char **p, struct error *err)
{
	const struct flag flags[] = {{'o', &to->no_overflow_errors, false},
	        {'l', &to->no_lost_errors, false}, {0, NULL, false}};

	to->errors = true;
	return take_flags(p, 'e', flags, "e+o, e-o: overflows, e+l, e-l: lost traces", err);
}

/* Parses the letters after d: what the log has, and where it goes. */
static int take_log(struct itrace *to, const char **p, struct error *err)
{
	const struct flag flags[] = {{'a', &to->log.no_records, false},
	        {'e', &to->log.on_errors, true}, {'o', &to->log.to_output, true}, {0, NULL, false}};

	to->log.wanted = true;
	return take_flags(p, 'd', flags,
	        "d-a: without records, d+e: only what leads to errors, d+o: on standard output",
	        err);
}

static int take_letter(struct itrace *to, const char **p, struct error *err)
{
	const struct {
		char letter;
		bool *set;
	} plain[] = {{'b', &to->branches}, {'x', &to->transactions}, {'w', &to->ptwrites},
	        {'p', &to->power}, {'Z', &to->timeless}, {'c', &to->calls}, {'r', &to->returns},
	        {'i', &to->instructions}, {'I', &to->events}, {'y', &to->cycles},
	        {'A', &to->approximate}, {'T', &to->ticks}, {'o', &to->outputs}};
	char letter = **p;

	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
		if (plain[i].letter == letter) {
			*plain[i].set = true;
			(*p)++;
			to->branches = to->branches || to->calls || to->returns;
			return letter == 'i' || letter == 'y' ? take_period(to, p, err) : 0;
		}
	}
	if (strchr("fmMta", letter) != NULL) { /* samples of other processors' traces */
		(*p)++;
		return 0;
	}
	if (letter == 'q') {
		(*p)++;
		to->quick += to->quick < 2;
		return 0;
	}
	if (letter == 'e' || letter == 'd') {
		(*p)++;
		return letter == 'e' ? take_errors(to, p, err) : take_log(to, p, err);
	}
	if (strchr("gGlL", letter) != NULL) {
		(*p)++;
		return take_size(to, letter, p, err);
	}
	if (letter != 's') {
		return refuse(*p, err);
	}
	(*p)++;
	return take_number(p, &to->skip) ? 0
	                                 : error_set(err, SONDE_EARG, NO_OFFSET,
	                                           "--itrace: the number after 's' is too large");
}

int itrace_parse(struct itrace *out, const char *text, struct error *err)
{
	const char *p = text;

	*out = (struct itrace){.period = USUAL_PERIOD};
	while (*p != '\0') {
		if (*p == ',' || isblank((unsigned char)*p)) {
			p++;
			continue;
		}
		TRY(take_letter(out, &p, err));
	}
	if (text[0] == '\0') {
		out->instructions = out->branches = out->transactions = true;
		out->ptwrites = out->power = out->errors = out->events = out->outputs = true;
	}
	return 0;
}
