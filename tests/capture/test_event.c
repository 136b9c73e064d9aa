/* SPDX-License-Identifier: MIT */
/* Event strings: what they mean, and what is said about those that mean nothing. */
#include "event/event.h"
#include "tap.h"

#include <stdlib.h>

static void test_good(void)
{
	struct event_list list = {0};
	struct error err = {0};

	ok(event_parse(&list, "cpu-clock:u,faults,cycles:kpp", &err) == 0, "three events");
	eq_u64(list.n, 3, "are three");
	eq_str(list.v[0].name, "cpu-clock:u", "a name keeps its modifier");
	ok(sonde_attr_has(&list.v[0].attr, SONDE_FLAG_EXCLUDE_KERNEL) &&
	                !sonde_attr_has(&list.v[0].attr, SONDE_FLAG_EXCLUDE_USER),
	        ":u leaves the kernel out");
	eq_u64(list.v[1].attr.config, SONDE_SW_PAGE_FAULTS, "faults is page-faults");
	ok(list.v[2].hardware && sonde_attr_has(&list.v[2].attr, SONDE_FLAG_EXCLUDE_USER),
	        "cycles:k leaves user space out");
	eq_u64(list.v[2].attr.flags >> SONDE_FLAG_PRECISE_IP & 3, 2, "pp is precise 2");
	event_use_cpu_clock(&list.v[2]);
	eq_str(list.v[2].name, "cpu-clock:kppH", "the stand-in is called as perf calls it");
	ok(event_add_default(&list, &err) == 0, "the default event");
	event_use_cpu_clock(&list.v[3]);
	eq_str(list.v[3].name, "cpu-clock:ppp", "and its stand-in");
	event_exclude_kernel(&list.v[3]);
	eq_str(list.v[3].name, "cpu-clock:uhppp", "and that without the kernel");
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

		ok(event_parse(&list, cases[i].text, &err) == 0, cases[i].text);
		eq_u64(list.v[0].attr.flags, cases[i].flags, "means the same bits");
		event_use_cpu_clock(&list.v[0]);
		eq_str(list.v[0].name, cases[i].stand_in, "and the same name where there is none");
		event_list_fini(&list);
	}
}

/* What perf 6.1 makes of the name where only user space may be recorded. */
static void test_user_only(void)
{
	static const char *const cases[][2] = {{"cpu-clock", "cpu-clock:u"},
	        {"page-faults", "page-faults:u"}, {"cpu-clock:pp", "cpu-clock:ppu"},
	        {"cpu-clock:G", "cpu-clock:Gu"}, {"cpu-clock:uk", "cpu-clock:uku"}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct event_list list = {0};
		struct error err = {0};

		ok(event_parse(&list, cases[i][0], &err) == 0, cases[i][0]);
		event_exclude_kernel(&list.v[0]);
		eq_str(list.v[0].name, cases[i][1], "without the kernel");
		ok(sonde_attr_has(&list.v[0].attr, SONDE_FLAG_EXCLUDE_KERNEL) &&
		                sonde_attr_has(&list.v[0].attr, SONDE_FLAG_EXCLUDE_HV),
		        "leaves kernel and hypervisor out");
		event_list_fini(&list);
	}
}

static void test_groups(void)
{
	struct event_list list = {0};
	struct error err = {0};

	ok(event_parse(&list, "cs,{cpu-clock:u,faults}:k,hot{task-clock,cs}:S,{dummy}", &err) == 0,
	        "groups");
	eq_u64(list.n, 6, "and events");
	eq_u64(list.v[0].members, 1, "an event alone is a group of one");
	eq_u64(list.v[1].members, 2, "a leader knows how many follow");
	eq_u64(list.v[2].leader, 1, "a member knows its leader");
	eq_u64(list.v[2].members, 0, "and leads none");
	eq_str(list.v[1].name, "cpu-clock:u", "a group's modifiers are not in the names");
	ok(!sonde_attr_has(&list.v[1].attr, SONDE_FLAG_EXCLUDE_KERNEL) &&
	                sonde_attr_has(&list.v[1].attr, SONDE_FLAG_EXCLUDE_HV) &&
	                sonde_attr_has(&list.v[2].attr, SONDE_FLAG_EXCLUDE_USER),
	        "they come on top of the events' own");
	eq_str(list.v[1].group_name, "", "a group without a name");
	eq_str(list.v[3].group_name, "hot", "a group with a name");
	ok(list.v[3].leader_samples && list.v[4].leader_samples && !list.v[2].leader_samples,
	        "S holds for its group");
	eq_u64(list.v[5].leader, 5, "a group of one");
	event_list_fini(&list);
}

static void test_bad(void)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
	        {"", "unknown event ''"},
	        {",", "unknown event ''"},
	        {"cpu-clock,", "unknown event ''"},
	        {"cpu-clock,,faults", "unknown event ''"},
	        {"no-such", "unknown event 'no-such'; valid are: cpu-clock"},
	        {"cpu-cloc", "unknown event 'cpu-cloc'"},
	        {"cpu-clock:x", "bad modifier in event 'cpu-clock:x'; valid are u"},
	        {"cpu-clock:u:k", "bad modifier"},
	        {"cycles:pppp", "bad modifier"},
	        {"cycles:uu", "bad modifier"},
	        {"cycles:DD", "bad modifier"},
	        {"cycles:\xff", "bad modifier"},
	        {"{cpu-clock", "the group '{cpu-clock' does not end with '}'"},
	        {"{cpu-clock,{faults}}", "unknown event ''"},
	        {"{}", "unknown event ''"},
	        {"{cpu-clock}x", "unknown event 'x'"},
	        {"{cpu-clock:pp}:pp", "bad modifier in event '{cpu-clock:pp}:pp'"},
	        {"{cpu-clock},", "unknown event ''"},
	        {":u", "unknown event ''"},
	        {"faults,nope", "unknown event 'nope'"},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct event_list list = {0};
		struct error err = {0};

		eq_u64(event_parse(&list, bad[i].text, &err), SONDE_EARG, bad[i].text);
		if (!ok(strstr(err.text, bad[i].says) != NULL, bad[i].says)) {
			printf("#   got %s\n", err.text);
		}
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
	eq_u64(event_parse(&list, text, &err), SONDE_EARG, "a name of 3000 bytes");
	event_list_fini(&list);
}

int main(void)
{
	test_good();
	test_modifiers();
	test_user_only();
	test_groups();
	test_bad();
	test_long();
	return tap_done();
}
