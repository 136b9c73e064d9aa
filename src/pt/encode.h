/* SPDX-License-Identifier: MIT */
#ifndef SONDE_PT_ENCODE_H
#define SONDE_PT_ENCODE_H

#include <sonde/pt_packet.h>

/* Removes the bytes so far; they stay valid until the next packet. The last IP is kept. */
void pt_encoder_clear(struct sonde_pt_encoder *encoder);

#endif
