/* SPDX-License-Identifier: MIT */
/* Any bytes: packets follow each other, and encoding a decoded packet gives the same packet. */
#include "pt/packet.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_packet(const struct sonde_pt_packet *p)
{
	uint8_t bytes[SONDE_PT_PACKET_MAX];
	size_t n = sonde_pt_packet_encode(p, bytes);
	struct pt_cursor c = pt_cursor_make(bytes, n);
	struct sonde_pt_packet again;

	c.bip_size = p->kind == SONDE_PT_BIP ? (uint8_t)p->extra : 0;
	if (n == 0 || pt_cursor_next(&c, &again) != 1 || again.kind != p->kind ||
	        again.value != p->value || again.extra != p->extra || again.count != p->count ||
	        again.flags != p->flags) {
		abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct sonde_pt_clock clock = {{0, 0}, 84, 2, 20, 3, false, false};
	uint64_t counts[SONDE_PT_KINDS] = {0};
	uint64_t walked[SONDE_PT_KINDS] = {0};
	struct pt_cursor c = pt_cursor_make(data, size);
	struct sonde_pt_packet p;
	struct sonde_pt_time time;
	uint64_t skipped = 0;
	int rc;

	sonde_pt_time_init(&time, &clock);
	while ((rc = pt_cursor_next(&c, &p)) != 0) {
		if (rc < 0) {
			const uint8_t *before = c.p++;

			(void)pt_cursor_sync(&c);
			skipped += (uint64_t)(c.p - before);
			continue;
		}
		counts[p.kind]++;
		if (data + p.offset + p.size != c.p) {
			abort();
		}
		check_packet(&p);
		(void)sonde_pt_time_packet(&time, &p);
	}
	if (pt_packet_walk(data, size, walked) != skipped ||
	        memcmp(counts, walked, sizeof(counts)) != 0) {
		abort();
	}
	return 0;
}
