/* SPDX-License-Identifier: MIT */
/* Reads branch bits ahead. */
#ifndef SONDE_PT_MORE_H
#define SONDE_PT_MORE_H

#include "pt/state.h"

/* Reads more branches after f->tnt.bits; false: no TNT comes next, or there is no room. */
bool pt_refill(struct sonde_pt_flow *f);
/*
 * At an indirect branch: whether the next TIP may belong to it although bits come before the TIP.
 */
bool pt_deferred(struct sonde_pt_flow *f);
/* Returns the offset where the packet of the next branch bit ends; *begin: where it begins. */
uint64_t pt_bits_offset(const struct sonde_pt_flow *f, uint64_t *begin);

#endif
