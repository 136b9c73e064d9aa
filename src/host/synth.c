/* SPDX-License-Identifier: MIT */
/* Building records, and the records of the kernel's own mappings. */
#include "host/synth.h"

#include "abi/abi.h"
#include "image/image.h"
#include "proc/proc.h"
#include "record/feature_write.h"

#include <stdio.h>

size_t host_record_begin(struct text *t, uint32_t type, uint16_t misc)
{
	const uint16_t rest[2] = {misc}; /* and the size, which host_record_end sets */
	size_t at = t->n;

	feature_put_u32(t, type);
	text_bytes(t, (const char *)rest, sizeof(rest));
	return at;
}

/* Appends the sample_id of a record; zeros except for the id. */
static void put_trailer(struct text *t, const struct sonde_attr *attr, uint64_t id)
{
	static const uint64_t order[] = {SONDE_SAMPLE_TID, SONDE_SAMPLE_TIME, SONDE_SAMPLE_ID,
	        SONDE_SAMPLE_STREAM_ID, SONDE_SAMPLE_CPU, SONDE_SAMPLE_IDENTIFIER};
	size_t i;

	for (i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		if ((attr->sample_type & order[i]) != 0) {
			feature_put_u64(t,
			        (order[i] & (SONDE_SAMPLE_ID | SONDE_SAMPLE_IDENTIFIER)) ? id : 0);
		}
	}
}

void host_record_end(struct text *t, size_t at, const struct sonde_attr *attr, uint64_t id)
{
	uint16_t size;

	text_fill(t, '\0', (8 - (t->n - at) % 8) % 8);
	if (attr != NULL) {
		put_trailer(t, attr, id);
	}
	size = (uint16_t)(t->n - at);
	if (!t->failed) {
		memcpy(t->p + at + 6, &size, sizeof(size));
	}
}

void host_put_build_id(struct text *t, const uint8_t *id, int n)
{
	text_char(t, (char)n);
	text_fill(t, '\0', 3);
	text_bytes(t, (const char *)id, (size_t)n);
	text_fill(t, '\0', 20 - (size_t)n);
}

struct kernel_map {
	uint64_t start, size, pgoff;
};

/* n: size of the build id; 0: none, with the short form of the record. */
static void put_kernel_map(const struct host_synth *s, struct text *t, const char *name,
        struct kernel_map m, const uint8_t *id, int n)
{
	size_t at = host_record_begin(t, n > 0 ? RECORD_MMAP2 : RECORD_MMAP,
	        n > 0 ? MISC_KERNEL | MISC_MMAP_BUILD_ID : MISC_KERNEL);

	feature_put_u32(t, UINT32_MAX);
	feature_put_u32(t, 0);
	feature_put_u64(t, m.start);
	feature_put_u64(t, m.size);
	feature_put_u64(t, m.pgoff);
	if (n > 0) {
		host_put_build_id(t, id, n);
		feature_put_u64(t, 0); /* protection and flags */
	}
	text_bytes(t, name, strlen(name) + 1);
	host_record_end(t, at, s->attr, 0);
}

void host_synth_kernel(const struct host_synth *s, struct text *t)
{
	uint8_t id[IMAGE_BUILD_ID_MAX] = {0};
	struct proc_kernel kernel;
	char name[64];
	int n;

	if (!proc_kernel_text(s->root, &kernel)) {
		return;
	}
	(void)snprintf(name, sizeof(name), "[kernel.kallsyms]%s", kernel.name);
	n = s->build_ids ? image_build_id_of_kernel(id) : 0;
	put_kernel_map(s, t, name,
	        (struct kernel_map){kernel.start, kernel.end - kernel.start, kernel.start}, id, n);
}

/* Parses /proc/modules, lines: NAME SIZE USES DEPENDENTS STATE 0xADDRESS */
void host_synth_modules(const struct host_synth *s, struct text *t)
{
	unsigned long long size, addr;
	char line[1024], name[128], path[512];
	uint8_t id[IMAGE_BUILD_ID_MAX] = {0};
	FILE *f = proc_open_stream(s->root, "proc/modules");
	int n;

	while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
		if (sscanf(line, "%127s %llu %*s %*s %*s %llx", name, &size, &addr) != 3 ||
		        addr == 0) {
			continue;
		}
		(void)snprintf(path, sizeof(path), "[%s]", name);
		n = s->build_ids ? image_build_id_of_module(name, id) : 0;
		put_kernel_map(s, t, path, (struct kernel_map){addr, size, 0}, id, n);
	}
	if (f != NULL) {
		(void)fclose(f);
	}
}
