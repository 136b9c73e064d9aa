/* SPDX-License-Identifier: MIT */
/* Errata by processor model: the first and the last model of each list, and models next to them. */
#include "pt/errata.h"
#include "tests/tap.h"

#define ATOM    PT_ERRATUM_APL11
#define SKYLAKE (PT_ERRATUM_SKD007 | PT_ERRATUM_SKD010 | PT_ERRATUM_SKL168)

int main(void)
{
	static const struct {
		struct sonde_pt_cpu cpu;
		uint32_t errata;
		const char *what;
	} cases[] = {
	        {{6, 61}, PT_ERRATUM_BDM64, "6/61, Broadwell, has BDM64"},
	        {{6, 86}, PT_ERRATUM_BDM64, "6/86, Broadwell, has BDM64"},
	        {{6, 78}, SKYLAKE | PT_ERRATUM_SKD022 | PT_ERRATUM_SKL014,
	                "6/78, Skylake, has SKD022 and SKL014"},
	        {{6, 166}, SKYLAKE | PT_ERRATUM_SKD022 | PT_ERRATUM_SKL014,
	                "6/166, Comet Lake, has the errata of Skylake"},
	        {{6, 85}, PT_ERRATUM_SKD022 | PT_ERRATUM_SKL014 | PT_ERRATUM_SKZ84,
	                "6/85, Skylake server, has SKZ84"},
	        {{6, 92}, ATOM | PT_ERRATUM_APL12, "6/92, Goldmont, has APL11 and APL12"},
	        {{6, 122}, ATOM, "6/122, Goldmont Plus, has APL11"},
	        {{6, 151}, ATOM | PT_ERRATUM_SKD022, "6/151, Alder Lake, has APL11 and SKD022"},
	        {{6, 207}, PT_ERRATUM_SKD022 | PT_ERRATUM_SKZ84, "6/207 has SKD022 and SKZ84"},
	        {{6, 221}, ATOM, "6/221 has APL11"},
	        {{18, 1}, ATOM | PT_ERRATUM_SKD022, "18/1 has APL11 and SKD022"},
	        {{18, 3}, ATOM | PT_ERRATUM_SKD022, "18/3 has APL11 and SKD022"},
	        {{19, 1}, PT_ERRATUM_SKD022 | PT_ERRATUM_SKZ84, "19/1 has SKD022 and SKZ84"},
	        {{6, 60}, 0, "6/60, Haswell, has none"},
	        {{18, 2}, 0, "18/2 has none"},
	        {{19, 85}, 0, "models of another family do not count"},
	        {{0, 0}, 0, "an unknown processor has none"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		eq_u64(pt_errata(&cases[i].cpu), cases[i].errata, cases[i].what);
	}
	return tap_done();
}
