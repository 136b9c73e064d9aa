/* SPDX-License-Identifier: MIT */
#include "file/event_name.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const hardware[] = {"cycles", "instructions", "cache-references", "cache-misses",
        "branches", "branch-misses", "bus-cycles", "stalled-cycles-frontend",
        "stalled-cycles-backend", "ref-cycles"};

static const char *const software[SONDE_SW_COUNT] = {
        [SONDE_SW_CPU_CLOCK] = "cpu-clock",
        [SONDE_SW_TASK_CLOCK] = "task-clock",
        [SONDE_SW_PAGE_FAULTS] = "page-faults",
        [SONDE_SW_CONTEXT_SWITCHES] = "context-switches",
        [SONDE_SW_CPU_MIGRATIONS] = "cpu-migrations",
        [SONDE_SW_PAGE_FAULTS_MIN] = "minor-faults",
        [SONDE_SW_PAGE_FAULTS_MAJ] = "major-faults",
        [SONDE_SW_ALIGNMENT_FAULTS] = "alignment-faults",
        [SONDE_SW_EMULATION_FAULTS] = "emulation-faults",
        [SONDE_SW_DUMMY] = "dummy",
        [SONDE_SW_BPF_OUTPUT] = "bpf-output",
        [SONDE_SW_CGROUP_SWITCHES] = "cgroup-switches",
};

static void add_modifiers(char *out, const struct sonde_attr *a)
{
	unsigned precise = (unsigned)(a->flags >> SONDE_FLAG_PRECISE_IP & 3);
	int user = !sonde_attr_has(a, SONDE_FLAG_EXCLUDE_USER);
	int kernel = !sonde_attr_has(a, SONDE_FLAG_EXCLUDE_KERNEL);

	if ((user && kernel && precise == 0) || (!user && !kernel)) {
		return;
	}
	*out++ = ':';
	if (user != kernel) {
		*out++ = user ? 'u' : 'k';
	}
	while (precise-- > 0) {
		*out++ = 'p';
	}
	*out = '\0';
}

const char *file_event_name(struct arena *arena, const struct sonde_attr *attr)
{
	char text[96];
	size_t n;

	if (attr->type == SONDE_TYPE_SOFTWARE && attr->config < SONDE_SW_COUNT) {
		(void)snprintf(text, sizeof(text), "%s", software[attr->config]);
	} else if (attr->type == SONDE_TYPE_HARDWARE &&
	           attr->config < sizeof(hardware) / sizeof(hardware[0])) {
		(void)snprintf(text, sizeof(text), "%s", hardware[attr->config]);
	} else if (attr->type == SONDE_TYPE_RAW) {
		(void)snprintf(text, sizeof(text), "raw 0x%" PRIx64, attr->config);
	} else {
		(void)snprintf(text, sizeof(text), "unknown attr type: %" PRIu32, attr->type);
		return arena_text(arena, text, strlen(text));
	}
	n = strlen(text);
	add_modifiers(text + n, attr);
	return arena_text(arena, text, strlen(text));
}
