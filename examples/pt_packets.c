/* SPDX-License-Identifier: MIT */
/* Prints the packets of a raw Intel PT trace: pt_packets TRACE */
#include <sonde/pt.h>

#include <stdio.h>
#include <stdlib.h>

#define TRACE_MAX (64u << 20)

int main(int argc, char **argv)
{
	FILE *in = argc > 1 ? fopen(argv[1], "rb") : NULL;
	uint8_t *data = calloc(1, TRACE_MAX);
	size_t size = in != NULL && data != NULL ? fread(data, 1, TRACE_MAX, in) : 0;
	struct sonde_pt_packets *packets = sonde_pt_packets_new(data, size, NULL);
	struct sonde_pt_packet packet;
	uint64_t last_ip = 0;
	int rc = packets != NULL ? sonde_pt_packets_sync(packets) : 0;

	while (rc != 0) {
		rc = sonde_pt_packets_next(packets, &packet);
		if (rc < 0) { /* no packet: continue at the next PSB */
			uint64_t at = sonde_pt_packets_offset(packets);

			(void)printf("%8llx  %s\n", (unsigned long long)at,
			        sonde_pt_error_text(sonde_pt_packets_error(packets)));
			rc = sonde_pt_packets_sync(packets);
			continue;
		}
		if (rc == 0) {
			break;
		}
		(void)printf("%8llx  %s", (unsigned long long)packet.offset,
		        sonde_pt_kind_name(packet.kind));
		if (packet.kind == SONDE_PT_PSB) {
			last_ip = 0;
		}
		if (packet.kind >= SONDE_PT_TIP && packet.kind <= SONDE_PT_FUP &&
		        sonde_pt_packet_ip(&packet, &last_ip)) {
			(void)printf(" %llx", (unsigned long long)last_ip);
		}
		(void)printf("\n");
	}
	sonde_pt_packets_free(packets);
	free(data);
	return in == NULL || fclose(in) != 0;
}
