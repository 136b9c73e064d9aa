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
	eq_str(list.v[2].name, "cpu-clock:kpp", "the stand-in keeps modifiers");
	ok(event_add_default(&list, &err) == 0, "the default event");
	event_use_cpu_clock(&list.v[3]);
	eq_str(list.v[3].name, "cpu-clock:ppp", "its stand-in is called as perf calls it");
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
	test_bad();
	test_long();
	return tap_done();
}
