/* SPDX-License-Identifier: MIT */
/* The letters of --itrace: what they select, and which are refused. */
#include "aux/itrace.h"

#include "tap.h"

static struct itrace parsed;
static struct error err;

static bool parse(const char *text)
{
	return itrace_parse(&parsed, text, &err) == 0;
}

static void test_kinds(void)
{
	ok(parse("be") && parsed.branches && parsed.errors && !parsed.instructions && !parsed.calls,
	        "be: branches and errors");
	ok(parse("c") && parsed.branches && parsed.calls && !parsed.returns, "c: only calls");
	ok(parse("cr") && parsed.calls && parsed.returns, "cr: calls and returns");
	ok(parse("w, p x") && parsed.ptwrites && parsed.power && parsed.transactions,
	        "commas and blanks between letters are ignored");
	ok(parse("") && parsed.instructions && parsed.branches && parsed.errors,
	        "no letters: all kinds");
	ok(parse("Ie") && parsed.events && !parsed.instructions, "Ie: Event Trace, and errors");
	ok(parse("bo") && parsed.outputs && parsed.branches, "bo: branches, and PEBS records");
	ok(parse("be") && !parsed.outputs, "be: no PEBS records");
	ok(parse("fbmMta") && parsed.branches && !parsed.instructions,
	        "f m M t a: accepted, and nothing is selected");
	ok(parse("e-o") && parsed.errors && parsed.no_overflow_errors && !parsed.no_lost_errors,
	        "e-o: errors other than overflows");
	ok(parse("e-o-l+l") && parsed.no_overflow_errors && !parsed.no_lost_errors,
	        "e-o-l+l: the last flag of a kind of error wins");
	ok(parse("e-ol") && parsed.no_overflow_errors && parsed.last == 64,
	        "e-ol: a sign has one flag, the next letter is branch stacks");
	ok(parse("y10us") && parsed.cycles && !parsed.instructions && parsed.period == 10000,
	        "y10us: cycles, every 10 us");
	ok(parse("AbT") && parsed.approximate && parsed.branches && parsed.ticks,
	        "AbT: cycles at each change of the time, ticks as times");
	ok(parse("s1000b") && parsed.skip == 1000, "s1000: events to skip");
}

static void test_periods(void)
{
	ok(parse("i"), "i: accepted");
	eq_u64(parsed.period, 100000, "i: every 100 us");
	ok(parse("i10us") && parsed.unit == ITRACE_NS, "i10us: by time");
	eq_u64(parsed.period, 10000, "i10us: the period in ns");
	ok(parse("i2ms") && parsed.period == 2000000, "i2ms: the period in ns");
	ok(parse("i0ns") && parsed.period == 0, "i0ns: each instruction");
	ok(parse("i1000i") && parsed.unit == ITRACE_INSNS && parsed.period == 1000,
	        "i1000i: by instructions");
	ok(parse("i100tb") && parsed.unit == ITRACE_TICKS && parsed.branches,
	        "i100tb: by ticks, and branches");
}

static void test_quick(void)
{
	ok(parse("qe") && parsed.quick == 1 && parsed.errors, "qe: quick");
	ok(parse("qqe") && parsed.quick == 2, "qqe: only PSB+");
	ok(parse("qqqe") && parsed.quick == 2, "qqqe: as qqe");
}

static void test_log(void)
{
	ok(parse("d") && parsed.log.wanted && !parsed.log.no_records && !parsed.log.on_errors &&
	                !parsed.log.to_output && !parsed.errors,
	        "d: a log with records, in a file");
	ok(parse("d+o-ae") && parsed.log.to_output && parsed.log.no_records && parsed.errors &&
	                !parsed.log.on_errors,
	        "d+o-ae: each sign has one flag, the next letter is errors");
	ok(!parse("d+") && !parse("d++a") && !parse("d+x"),
	        "signs without a flag, and unknown flags, are refused");
	eq_str(error_show(&err)->text,
	        "--itrace: 'd+x' is not a flag of 'd'; d-a: without records, d+e: only what leads "
	        "to errors, d+o: on standard output",
	        "the refusal of a flag names the others");
}

static void test_refusals(void)
{
	ok(parse("i10usg32l") && parsed.chain == 32 && parsed.last == 64,
	        "g32l: call chains of 32 entries, branch stacks of 64");
	ok(parse("G8L") && parsed.other_chain == 8 && parsed.other_last == 64 &&
	                parsed.chain == 0 && parsed.last == 0 && itrace_has_trails(&parsed),
	        "G8L: the same for samples of the recording");
	ok(!parse("g1025") && !parse("l0"), "more than 1024 entries, and none, are refused");
	ok(!parse("k"), "an unknown letter is refused");
	eq_str(error_show(&err)->text,
	        "--itrace: 'k' is not a kind of sample; the letters are i y b c r x w p o e I d g "
	        "G "
	        "l L s q A T Z",
	        "the refusal of a letter names those that there are");
	ok(!parse("i10"), "a period without a unit is refused");
	ok(!parse("i99999999999999999999ns") && !parse("i18446744073709551615ms"),
	        "a period above 2^64 is refused");
	ok(!parse("e-x"), "an unknown kind of error is refused");
}

int main(void)
{
	test_kinds();
	test_periods();
	test_quick();
	test_log();
	test_refusals();
	return tap_done();
}
