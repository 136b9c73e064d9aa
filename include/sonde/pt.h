/* SPDX-License-Identifier: MIT */
/*
 * Intel Processor Trace, from raw bytes: packets, time, and the flow of instructions.
 *
 *	struct sonde_pt_image *image = sonde_pt_image_new();
 *	struct sonde_pt_graph *graph = sonde_pt_graph_new(image);
 *	struct sonde_pt_flow *flow = sonde_pt_flow_new(graph, trace, size, NULL);
 *	const struct sonde_pt_step *step;
 *
 *	sonde_pt_image_add(image, 0, address, code, code_size);
 *	while (sonde_pt_flow_next(flow, &step) > 0) {
 *		... step->kind, step->ip ...
 *	}
 */
#ifndef SONDE_INCLUDE_PT_H
#define SONDE_INCLUDE_PT_H

#include <sonde/pt_flow.h> /* instructions, branches, events, counts */
#include <sonde/pt_image.h> /* the code */
#include <sonde/pt_packet.h> /* packets, read and written; time */

#endif
