/* SPDX-License-Identifier: MIT */
/* Packets of events, and events that wait for their address. */
#ifndef SONDE_PT_EVENT_H
#define SONDE_PT_EVENT_H

#include "pt/state.h"

/* Events wait for their address, or are dropped. */
void pt_waiting_add(
        struct sonde_pt_flow *f, struct pt_waiting *w, const struct sonde_pt_event *event);
void pt_waiting_emit(struct sonde_pt_flow *f, struct pt_waiting *w);
bool pt_waiting_has(const struct pt_waiting *w, unsigned kind);
void pt_waiting_give_up(struct sonde_pt_flow *f); /* drops events whose address never came */
void pt_on_ptw(struct sonde_pt_flow *f, const struct sonde_pt_packet *p);
void pt_on_exstop(struct sonde_pt_flow *f, const struct sonde_pt_packet *p);
void pt_on_mwait(struct sonde_pt_flow *f, const struct sonde_pt_packet *p);
void pt_on_pwre(struct sonde_pt_flow *f, const struct sonde_pt_packet *p);
void pt_on_pwrx(struct sonde_pt_flow *f, const struct sonde_pt_packet *p);
void pt_on_mnt(struct sonde_pt_flow *f, const struct sonde_pt_packet *p);
void pt_on_cbr(struct sonde_pt_flow *f, const struct sonde_pt_packet *p);
void pt_on_evd(struct sonde_pt_flow *f, const struct sonde_pt_packet *p);
void pt_on_cfe(struct sonde_pt_flow *f, const struct sonde_pt_packet *p);
void pt_on_trig(struct sonde_pt_flow *f, const struct sonde_pt_packet *p);
void pt_on_stop(struct sonde_pt_flow *f, const struct sonde_pt_packet *p);
void pt_on_bbp(struct sonde_pt_flow *f, const struct sonde_pt_packet *p);
void pt_on_bip(struct sonde_pt_flow *f, const struct sonde_pt_packet *p);
void pt_on_bep(struct sonde_pt_flow *f, const struct sonde_pt_packet *p);
/* Handles the FUP after a BEP, if there was a BEP. */
void pt_end_block(struct sonde_pt_flow *f, uint64_t ip);

#endif
