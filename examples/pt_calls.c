/* SPDX-License-Identifier: MIT */
/* Prints a function trace from raw Intel PT, indented by depth: pt_calls TRACE CODE ADDRESS */
#include <sonde/pt.h>

#include <stdio.h>
#include <stdlib.h>

#define TRACE_MAX (64u << 20)

static void print(struct sonde_pt_flow *flow)
{
	const struct sonde_pt_step *step;
	int depth = 0;

	while (sonde_pt_flow_next(flow, &step) > 0) {
		if (step->kind == SONDE_PT_STEP_ERROR) {
			(void)printf("error at %llx: %s\n", (unsigned long long)step->offset,
			        sonde_pt_error_text(step->error));
		} else if (step->kind == SONDE_PT_STEP_INSN && step->calls) {
			(void)printf("%*s%llx\n", 2 * depth++, "", (unsigned long long)step->to);
		} else if (step->kind == SONDE_PT_STEP_INSN && step->returns && depth > 0) {
			depth--;
		}
	}
}

int main(int argc, char **argv)
{
	const struct sonde_pt_flow_options options = {
	        .size = sizeof(options), .want = SONDE_PT_WANT_CALLS | SONDE_PT_WANT_RETURNS};
	FILE *in = argc == 4 ? fopen(argv[1], "rb") : NULL;
	uint8_t *trace = calloc(1, TRACE_MAX);
	size_t size = in != NULL && trace != NULL ? fread(trace, 1, TRACE_MAX, in) : 0;
	struct sonde_pt_image *image = sonde_pt_image_new();
	struct sonde_pt_graph *graph = image != NULL ? sonde_pt_graph_new(image) : NULL;
	struct sonde_pt_flow *flow = NULL;

	if (size != 0 && graph != NULL &&
	        sonde_pt_image_add_file(
	                image, 0, strtoull(argv[3], NULL, 0), argv[2], 0, UINT64_MAX) == SONDE_OK) {
		flow = sonde_pt_flow_new(graph, trace, size, &options);
	}
	if (flow != NULL) {
		print(flow);
	}
	sonde_pt_flow_free(flow);
	sonde_pt_graph_free(graph);
	sonde_pt_image_free(image);
	free(trace);
	return flow == NULL || fclose(in) != 0;
}
