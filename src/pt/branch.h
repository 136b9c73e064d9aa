/* SPDX-License-Identifier: MIT */
/* Packets of branches and of the state of the processor. */
#ifndef SONDE_PT_BRANCH_H
#define SONDE_PT_BRANCH_H

#include "pt/state.h"

void pt_on_tnt(struct sonde_pt_flow *f, const struct sonde_pt_packet *p);
void pt_on_tip(struct sonde_pt_flow *f, const struct sonde_pt_packet *p);
void pt_on_pge(struct sonde_pt_flow *f, const struct sonde_pt_packet *p);
void pt_on_pgd(struct sonde_pt_flow *f, const struct sonde_pt_packet *p);
void pt_on_fup(struct sonde_pt_flow *f, const struct sonde_pt_packet *p);
void pt_on_mode_exec(struct sonde_pt_flow *f, const struct sonde_pt_packet *p);
void pt_on_mode_tsx(struct sonde_pt_flow *f, const struct sonde_pt_packet *p);
void pt_on_pip(struct sonde_pt_flow *f, const struct sonde_pt_packet *p);
void pt_on_vmcs(struct sonde_pt_flow *f, const struct sonde_pt_packet *p);

#endif
