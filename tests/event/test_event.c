/* SPDX-License-Identifier: MIT */
/* Event strings: their meaning, and messages for invalid ones. */
#include "event/event.h"
#include "tap.h"

#include <stdlib.h>

static void test_good(void)
{
	struct event_list list = {0};
	struct error err = {0};

	ok(event_parse(&list, -1, "cpu-clock:u,faults,cycles:kpp", &err) == 0,
	        "a string of three events is parsed");
	eq_u64(list.n, 3, "the string has three events");
	eq_str(list.v[0].name, "cpu-clock:u", "a name keeps its modifier");
	ok(sonde_attr_has(&list.v[0].attr, SONDE_FLAG_EXCLUDE_KERNEL) &&
	                !sonde_attr_has(&list.v[0].attr, SONDE_FLAG_EXCLUDE_USER),
	        "cpu-clock:u excludes the kernel");
	eq_u64(list.v[1].attr.config, SONDE_SW_PAGE_FAULTS, "faults is page-faults");
	ok(list.v[2].hardware && sonde_attr_has(&list.v[2].attr, SONDE_FLAG_EXCLUDE_USER),
	        "cycles:k excludes user space");
	eq_u64(list.v[2].attr.flags >> SONDE_FLAG_PRECISE_IP & 3, 2, "pp is precision 2");
	(void)event_use_cpu_clock(&list, &list.v[2]);
	eq_str(list.v[2].name, "cpu-clock:kppH", "the stand-in of cycles:kpp has perf's name");
	ok(event_add_default(&list, &err) == 0, "the default event is added");
	(void)event_use_cpu_clock(&list, &list.v[3]);
	eq_str(list.v[3].name, "cpu-clock:ppp",
	        "the stand-in of the default event has perf's name");
	(void)event_exclude_kernel(&list, &list.v[3]);
	eq_str(list.v[3].name, "cpu-clock:uhppp",
	        "the default event without the kernel has perf's name");
	event_list_fini(&list);
}

/* Names and bits as perf 6.1 shows them with evlist -v for the same string. */
static void test_modifiers(void)
{
	enum {
		U = 1 << SONDE_FLAG_EXCLUDE_USER,
		K = 1 << SONDE_FLAG_EXCLUDE_KERNEL,
		HV = 1 << SONDE_FLAG_EXCLUDE_HV,
		HOST = 1 << SONDE_FLAG_EXCLUDE_HOST,
		GUEST = 1 << SONDE_FLAG_EXCLUDE_GUEST,
		IDLE = 1 << SONDE_FLAG_EXCLUDE_IDLE,
		PIN = 1 << SONDE_FLAG_PINNED,
		ALONE = 1 << SONDE_FLAG_EXCLUSIVE,
		P1 = 1 << SONDE_FLAG_PRECISE_IP,
		P2 = 2 << SONDE_FLAG_PRECISE_IP,
		P3 = 3 << SONDE_FLAG_PRECISE_IP
	};
	static const struct {
		const char *text, *stand_in;
		uint64_t flags;
	} cases[] = {
	        {"cycles", "cpu-clock", GUEST},
	        {"cycles:u", "cpu-clock:uH", K | HV | GUEST},
	        {"cycles:k", "cpu-clock:k", U | HV},
	        {"cycles:h", "cpu-clock:h", U | K},
	        {"cycles:uk", "cpu-clock:kuH", HV | GUEST},
	        {"cycles:uh", "cpu-clock:uhH", K | GUEST},
	        {"cycles:ukhp", "cpu-clock:pH", GUEST | P1},
	        {"cycles:hp", "cpu-clock:hpH", U | K | GUEST | P1},
	        {"cycles:pp", "cpu-clock:ppH", GUEST | P2},
	        {"cycles:P", "cpu-clock:ppp", P3},
	        {"cycles:uP", "cpu-clock:upppH", K | HV | GUEST | P3},
	        {"cycles:kP", "cpu-clock:kppp", U | HV | P3},
	        {"cycles:GP", "cpu-clock:pppG", HOST | P3},
	        {"cycles:H", "cpu-clock", GUEST},
	        {"cycles:G", "cpu-clock:G", HOST},
	        {"cycles:GH", "cpu-clock:HG", 0},
	        {"cycles:uG", "cpu-clock:uG", K | HV | HOST},
	        {"cycles:kH", "cpu-clock:kH", U | HV | GUEST},
	        {"cycles:kGH", "cpu-clock:k", U | HV},
	        {"cycles:pG", "cpu-clock:pG", HOST | P1},
	        {"cycles:pGH", "cpu-clock:p", P1},
	        {"cycles:I", "cpu-clock:HG", IDLE},
	        {"cycles:D", "cpu-clock:HG", PIN},
	        {"cycles:e", "cpu-clock:HG", ALONE},
	        {"cycles:uD", "cpu-clock:uH", K | HV | GUEST | PIN},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct event_list list = {0};
		struct error err = {0};

		ok(event_parse(&list, -1, cases[i].text, &err) == 0, cases[i].text);
		eq_u64(list.v[0].attr.flags, cases[i].flags, "the modifiers set these flags");
		(void)event_use_cpu_clock(&list, &list.v[0]);
		eq_str(list.v[0].name, cases[i].stand_in, "the stand-in has perf's name");
		event_list_fini(&list);
	}
}

/* perf 6.1's name if only user space may be recorded. */
static void test_user_only(void)
{
	static const char *const cases[][2] = {{"cpu-clock", "cpu-clock:u"},
	        {"page-faults", "page-faults:u"}, {"cpu-clock:pp", "cpu-clock:ppu"},
	        {"cpu-clock:G", "cpu-clock:Gu"}, {"cpu-clock:uk", "cpu-clock:uku"}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct event_list list = {0};
		struct error err = {0};

		ok(event_parse(&list, -1, cases[i][0], &err) == 0, cases[i][0]);
		(void)event_exclude_kernel(&list, &list.v[0]);
		eq_str(list.v[0].name, cases[i][1], "without the kernel the event has this name");
		ok(sonde_attr_has(&list.v[0].attr, SONDE_FLAG_EXCLUDE_KERNEL) &&
		                sonde_attr_has(&list.v[0].attr, SONDE_FLAG_EXCLUDE_HV),
		        "without the kernel, kernel and hypervisor are excluded");
		event_list_fini(&list);
	}
}

static void test_groups(void)
{
	struct event_list list = {0};
	struct error err = {0};

	ok(event_parse(&list, -1, "cs,{cpu-clock:u,faults}:k,hot{task-clock,cs}:S,{dummy}", &err) ==
	                0,
	        "a string with groups is parsed");
	eq_u64(list.n, 6, "the string with groups has six events");
	eq_u64(list.v[0].members, 1, "an event without a group has one member");
	eq_u64(list.v[1].members, 2, "a leader has the number of its members");
	eq_u64(list.v[2].leader, 1, "a member has the index of its leader");
	eq_u64(list.v[2].members, 0, "a member leads no group");
	eq_str(list.v[1].name, "cpu-clock:u", "a group's modifiers are not part of the names");
	ok(!sonde_attr_has(&list.v[1].attr, SONDE_FLAG_EXCLUDE_KERNEL) &&
	                sonde_attr_has(&list.v[1].attr, SONDE_FLAG_EXCLUDE_HV) &&
	                sonde_attr_has(&list.v[2].attr, SONDE_FLAG_EXCLUDE_USER),
	        "a group's modifiers are added to those of its events");
	eq_str(list.v[1].group_name, "", "a group without a name has an empty one");
	eq_str(list.v[3].group_name, "hot", "a group has its name");
	ok(list.v[3].leader_samples && list.v[4].leader_samples && !list.v[2].leader_samples,
	        "S applies to its group only");
	eq_u64(list.v[5].leader, 5, "a group of one event leads itself");
	event_list_fini(&list);
}

/* Prints a text of several lines as comments of TAP. */
static void puts_indented(const char *text)
{
	size_t n;

	for (; *text != '\0'; text += n + (text[n] != '\0')) {
		n = strcspn(text, "\n");
		printf("#   got %.*s\n", (int)n, text);
	}
}

static void test_bad(void)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
	        {"", "an event is missing here\n  \n  ^"},
	        {",", "an event is missing here\n  ,\n  ^"},
	        {"cpu-clock,", "an event is missing here\n  cpu-clock,\n            ^"},
	        {"cpu-clock,,faults", "an event is missing"},
	        {"no-such", "unknown event 'no-such'\n  no-such\n  ^^^^^^^\n  valid are"},
	        {"faults,cpu-cloc",
	                "\n  faults,cpu-cloc\n         ^^^^^^^^\n  did you mean 'cpu-clock'?"},
	        {"L1-dcache-lods", "did you mean 'L1-dcache-loads'"},
	        {"L1-dcache-foo", "unknown event"},
	        {"iTLB-stores", "unknown event"},
	        {"r", "unknown event"},
	        {"rxyz", "unknown event"},
	        {"r11112222333344445", "unknown event"},
	        {"cpu-clock:x", "bad modifier 'x'\n  cpu-clock:x\n            ^\n  valid are u"},
	        {"cpu-clock:u:k", "bad modifier"},
	        {"cpu-clock/u", "the terms of 'cpu-clock' do not end with '/'"},
	        {"cpu-clock/perid=1/",
	                "unknown term 'perid'\n  cpu-clock/perid=1/\n            ^^^^^\n"
	                "  did you mean 'period'?"},
	        {"cpu-clock/period=x/", "'period' wants a number"},
	        {"cpu-clock/period=0/", "value of 'period' out of range"},
	        {"cpu-clock/period=,time/", "the term 'period' has no value"},
	        {"cpu-clock/period=/", "do not end with '/'"},
	        {"cpu-clock/,/", "a term is missing"},
	        {"cpu-clock/time=2/", "valid are 0 to 1"},
	        {"cpu-clock/call-graph=foo/",
	                "bad value for 'call-graph'\n  cpu-clock/call-graph=foo/\n"
	                "                       ^^^\n  valid are: fp, dwarf, lbr, no"},
	        {"cpu-clock/name='x/", "do not end with '/'"},
	        {"mem:0x1000:rr", "each of r, w and x may occur once"},
	        {"mem:0x1000/x", "a breakpoint's length"},
	        {"mem:0x1000/0", "a breakpoint's length"},
	        {"mem:9999999999999999999999", "a breakpoint wants an address"},
	        {"nopmu/x=1/", "there is no PMU 'nopmu'"},
	        {"sched:sched_switch", "tracefs is not mounted"},
	        {"cycles:pppp", "bad modifier"},
	        {"cycles:uu", "bad modifier"},
	        {"cycles:DD", "bad modifier"},
	        {"cycles:\xff", "bad modifier"},
	        {"{cpu-clock", "the group '{cpu-clock' does not end with '}'"},
	        {"{cpu-clock,{faults}}", "an event is missing"},
	        {"{}", "an event is missing"},
	        {"{cpu-clock}x", "a ',' is missing before 'x'"},
	        {"{cpu-clock:pp}:pp", "bad modifier: with those of the event these are 4 steps"},
	        {"{cpu-clock},", "an event is missing"},
	        {":u", "an event is missing"},
	        {"faults,nope", "unknown event 'nope'"},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct event_list list = {0};
		struct error err = {0};

		eq_u64(event_parse(&list, -1, bad[i].text, &err), SONDE_EARG, bad[i].text);
		if (!ok(strstr(err.text, bad[i].says) != NULL,
		            "the message about the string has the reason")) {
			puts_indented(err.text);
		}
		event_list_fini(&list);
	}
}

static void test_names(void)
{
	static const char *const cases[][2] = {{" L1-dcache-loads:k ", "L1-dcache-loads:k"},
	        {"mem:0x1000/8:w", "mem:0x1000/8:w"}, {"mem:0x1000:x:u", "mem:0x1000:x:u"},
	        {"cycles/name=foo/u", "foo"}, {"cycles/name='a:b/c'/", "a:b/c"},
	        {"cpu-clock/period=5/u", "cpu-clock/period=5/u"}, {"r1a8:u", "r1a8:u"}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct event_list list = {0};
		struct error err = {0};

		ok(event_parse(&list, -1, cases[i][0], &err) == 0, cases[i][0]);
		eq_str(list.v[0].name, cases[i][1], "the event has the name of its string");
		event_list_fini(&list);
	}
}

static void test_long(void)
{
	struct event_list list = {0};
	struct error err = {0};
	char text[3000];

	memset(text, 'u', sizeof(text));
	memcpy(text, "cpu-clock:", 10);
	text[sizeof(text) - 1] = '\0';
	eq_u64(event_parse(&list, -1, text, &err), SONDE_EARG, "a name of 3000 bytes is refused");
	event_list_fini(&list);
}

int main(void)
{
	test_good();
	test_modifiers();
	test_user_only();
	test_groups();
	test_bad();
	test_names();
	test_long();
	return tap_done();
}
