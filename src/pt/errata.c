/* SPDX-License-Identifier: MIT */
/* Errata by processor model. Source: Intel's specification updates, checked by the test vectors. */
#include "pt/errata.h"

#include <stddef.h>

#define MODELS_MAX 40

/* Models of processors that have the errata; a 0 ends a list. */
static const struct {
	uint32_t errata;
	uint16_t family;
	uint8_t models[MODELS_MAX];
} table[] = {
        {PT_ERRATUM_APL11, 6,
                {92, 95, 122, 134, 150, 151, 154, 156, 170, 172, 175, 181, 182, 183, 186, 189, 191,
                        197, 198, 204, 213, 221}},
        {PT_ERRATUM_APL11, 18, {1, 3}},
        {PT_ERRATUM_APL12, 6, {92, 95}},
        {PT_ERRATUM_BDM64, 6, {61, 71, 79, 86}},
        {PT_ERRATUM_SKD007 | PT_ERRATUM_SKD010 | PT_ERRATUM_SKL168, 6,
                {78, 94, 142, 158, 165, 166}},
        {PT_ERRATUM_SKD022, 6,
                {78, 85, 94, 102, 106, 108, 125, 126, 140, 141, 142, 143, 151, 154, 158, 165, 166,
                        167, 168, 170, 172, 173, 174, 181, 183, 186, 189, 191, 197, 198, 204, 207,
                        213}},
        {PT_ERRATUM_SKD022, 18, {1, 3}},
        {PT_ERRATUM_SKD022, 19, {1}},
        {PT_ERRATUM_SKL014, 6,
                {78, 85, 94, 102, 106, 108, 125, 126, 140, 141, 142, 158, 165, 166, 167, 168}},
        {PT_ERRATUM_SKZ84, 6, {85, 106, 108, 143, 173, 174, 207}},
        {PT_ERRATUM_SKZ84, 19, {1}},
};

uint32_t pt_errata(const struct sonde_pt_cpu *cpu)
{
	uint32_t errata = 0;

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		for (unsigned m = 0; table[i].family == cpu->family && table[i].models[m] != 0;
		        m++) {
			errata |= table[i].models[m] == cpu->model ? table[i].errata : 0;
		}
	}
	return errata;
}
