/* SPDX-License-Identifier: MIT */
/* Packets inside pt: a cursor that lives in the caller's struct. */
#ifndef SONDE_PT_PACKET_H
#define SONDE_PT_PACKET_H

#include <sonde/pt_packet.h>

struct pt_cursor {
	const uint8_t *begin, *p, *end;
	uint8_t bip_size; /* payload size in a block of BIPs (4 or 8 bytes); else 0 */
	uint8_t error; /* enum sonde_pt_error of the last failure */
	bool over_psb; /* a PSB that begins inside a packet does not cut the packet off */
	uint32_t errata; /* PT_ERRATUM_* */
};

struct pt_cursor pt_cursor_make(const uint8_t *data, size_t n);

/* As sonde_pt_packets_next and _sync. */
int pt_cursor_next(struct pt_cursor *c, struct sonde_pt_packet *out);
int pt_cursor_sync(struct pt_cursor *c);

/* Returns the first PSB in p..end, or NULL. */
const uint8_t *pt_find_psb(const uint8_t *p, const uint8_t *end);

/*
 * Passes all packets of a trace without reading their fields; faster than pt_cursor_next. Adds to
 * counts[SONDE_PT_KINDS]. Bytes that are no packet are skipped up to the next PSB; returns how many
 * were.
 */
uint64_t pt_packet_walk(const uint8_t *data, size_t n, uint64_t *counts);

#endif
