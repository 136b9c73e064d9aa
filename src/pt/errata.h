/* SPDX-License-Identifier: MIT */
/* Processor errata that change how a trace must be decoded. */
#ifndef SONDE_PT_ERRATA_H
#define SONDE_PT_ERRATA_H

#include <sonde/pt_packet.h>

/* Named after the first specification update that lists the erratum. */
#define PT_ERRATUM_BDM64  1u /* an aborted transaction's last TNT bit is wrong */
#define PT_ERRATUM_SKD007 2u /* the first byte of a CYC may be left, cut off, before an OVF */
#define PT_ERRATUM_SKD010 4u /* the FUP after an OVF may be missing */
#define PT_ERRATUM_SKL014 8u /* TIP.PGD lacks its IP where a branch leaves the filter */
#define PT_ERRATUM_SKL168 16u /* the first CYC after a PSB is wrong */
#define PT_ERRATUM_APL11  32u /* an OVF is followed by TIP.PGD */
#define PT_ERRATUM_SKD022 128u /* a FUP comes before the TIP.PGD of a VM entry */
#define PT_ERRATUM_SKZ84  256u /* in guests a TMA may be wrong and followed by a surplus byte */
#define PT_ERRATUM_APL12  64u /* an OVF is followed by a FUP although tracing is off */

/* Returns the errata of a processor; 0 for an unknown one. */
uint32_t pt_errata(const struct sonde_pt_cpu *cpu);

#endif
