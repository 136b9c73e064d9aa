/* SPDX-License-Identifier: MIT */
/* A function trace from raw Intel PT, indented by depth: pt_calls TRACE CODE ADDRESS */
#include <sonde/pt.h>

#include <stdio.h>
#include <stdlib.h>

#define FILE_MAX (64u << 20)

static uint8_t *load(const char *path, size_t *size)
{
	FILE *in = fopen(path, "rb");
	uint8_t *data = calloc(1, FILE_MAX);

	*size = in != NULL && data != NULL ? fread(data, 1, FILE_MAX, in) : 0;
	if (in != NULL) {
		(void)fclose(in);
	}
	return data;
}

int main(int argc, char **argv)
{
	const struct sonde_pt_flow_options options = {
	        .size = sizeof(options), .want = SONDE_PT_WANT_CALLS | SONDE_PT_WANT_RETURNS};
	size_t size = 0, code_size = 0;
	uint8_t *trace = argc == 4 ? load(argv[1], &size) : NULL;
	uint8_t *code = argc == 4 ? load(argv[2], &code_size) : NULL;
	struct sonde_pt_image *image = sonde_pt_image_new();
	struct sonde_pt_graph *graph = image != NULL ? sonde_pt_graph_new(image) : NULL;
	struct sonde_pt_flow *flow = NULL;
	const struct sonde_pt_step *step;
	int depth = 0;

	if (code != NULL && graph != NULL &&
	        sonde_pt_image_add(image, 0, strtoull(argv[3], NULL, 0), code, code_size) == 0) {
		flow = sonde_pt_flow_new(graph, trace, size, &options);
	}
	while (flow != NULL && sonde_pt_flow_next(flow, &step) > 0) {
		if (step->kind == SONDE_PT_STEP_ERROR) {
			(void)printf("error: %s\n", sonde_pt_error_text(step->error));
		} else if (step->kind == SONDE_PT_STEP_INSN && step->calls) {
			(void)printf("%*s%llx\n", 2 * depth++, "", (unsigned long long)step->to);
		} else if (step->kind == SONDE_PT_STEP_INSN && step->returns && depth > 0) {
			depth--;
		}
	}
	sonde_pt_flow_free(flow);
	sonde_pt_graph_free(graph);
	sonde_pt_image_free(image);
	free(trace);
	free(code);
	return flow == NULL;
}
