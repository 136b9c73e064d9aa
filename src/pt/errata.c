/* SPDX-License-Identifier: MIT */
/* Errata by processor model. Source: Intel's specification updates, checked by the test vectors. */
#include "pt/errata.h"

#define BROADWELL PT_ERRATUM_BDM64
#define SKYLAKE                                                                                    \
	(PT_ERRATUM_SKD007 | PT_ERRATUM_SKD010 | PT_ERRATUM_SKD022 | PT_ERRATUM_SKL014 |           \
	        PT_ERRATUM_SKL168)
#define APOLLO (PT_ERRATUM_APL11 | PT_ERRATUM_APL12)

uint32_t pt_errata(const struct sonde_pt_cpu *cpu)
{
	static const uint16_t six[256] = {
	        [61] = BROADWELL,
	        [71] = BROADWELL,
	        [79] = BROADWELL,
	        [86] = BROADWELL,
	        [78] = SKYLAKE,
	        [94] = SKYLAKE,
	        [142] = SKYLAKE,
	        [158] = SKYLAKE,
	        [165] = SKYLAKE,
	        [166] = SKYLAKE,
	        [85] = PT_ERRATUM_SKL014 | PT_ERRATUM_SKZ84,
	        [102] = PT_ERRATUM_SKL014,
	        [106] = PT_ERRATUM_SKL014 | PT_ERRATUM_SKZ84,
	        [108] = PT_ERRATUM_SKL014 | PT_ERRATUM_SKZ84,
	        [125] = PT_ERRATUM_SKL014,
	        [126] = PT_ERRATUM_SKL014,
	        [143] = PT_ERRATUM_SKZ84,
	        [140] = PT_ERRATUM_SKL014,
	        [141] = PT_ERRATUM_SKL014,
	        [167] = PT_ERRATUM_SKL014,
	        [168] = PT_ERRATUM_SKL014,
	        [92] = APOLLO,
	        [95] = APOLLO,
	        [122] = PT_ERRATUM_APL11,
	        [134] = PT_ERRATUM_APL11,
	        [150] = PT_ERRATUM_APL11,
	        [151] = PT_ERRATUM_APL11,
	        [154] = PT_ERRATUM_APL11,
	        [156] = PT_ERRATUM_APL11,
	        [170] = PT_ERRATUM_APL11,
	        [172] = PT_ERRATUM_APL11,
	        [175] = PT_ERRATUM_APL11,
	        [181] = PT_ERRATUM_APL11,
	        [182] = PT_ERRATUM_APL11,
	        [183] = PT_ERRATUM_APL11,
	        [186] = PT_ERRATUM_APL11,
	        [189] = PT_ERRATUM_APL11,
	        [191] = PT_ERRATUM_APL11,
	        [197] = PT_ERRATUM_APL11,
	        [198] = PT_ERRATUM_APL11,
	        [204] = PT_ERRATUM_APL11,
	        [213] = PT_ERRATUM_APL11,
	        [221] = PT_ERRATUM_APL11,
	};

	if (cpu->family == 6) {
		return six[cpu->model];
	}
	return cpu->family == 18 && (cpu->model == 1 || cpu->model == 3) ? PT_ERRATUM_APL11 : 0;
}
