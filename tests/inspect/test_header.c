/* SPDX-License-Identifier: MIT */
/* The header's text over crafted features, whole and cut at every byte. */
#include "file/file.h"
#include "inspect/header.h"

#include "tap.h"

#include <stdlib.h>

#define DATA_AT 256u /* 104 header + 152 attr entry */

struct image {
	uint8_t bytes[2048];
	size_t n;
};

static void put(struct image *m, const void *p, size_t n)
{
	memcpy(m->bytes + m->n, p, n);
	m->n += n;
}

static void put_u32(struct image *m, uint32_t v)
{
	put(m, &v, 4);
}

static void put_u64(struct image *m, uint64_t v)
{
	put(m, &v, 8);
}

/* A file with one attr, one empty record and one feature. */
static void make(struct image *m, enum abi_feature bit, const void *payload, size_t n)
{
	struct sonde_attr attr = {
	        .type = SONDE_TYPE_SOFTWARE, .size = 136, .sample_type = SONDE_SAMPLE_IP};
	uint8_t raw[144];

	m->n = 0;
	put_u64(m, FILE_MAGIC2);
	put_u64(m, FILE_HEADER_SIZE);
	put_u64(m, 152);
	put_u64(m, 104);
	put_u64(m, 152);
	put_u64(m, DATA_AT);
	put_u64(m, 8);
	put_u64(m, 0);
	put_u64(m, 0);
	put_u64(m, UINT64_C(1) << (unsigned)bit);
	put_u64(m, 0);
	put_u64(m, 0);
	put_u64(m, 0);
	m->n = 104;
	record_attr_encode(&attr, raw);
	put(m, raw, 136);
	put_u64(m, 0);
	put_u64(m, 0);
	put_u32(m, RECORD_FINISHED_ROUND);
	put_u32(m, 8u << 16);
	put_u64(m, DATA_AT + 8 + 16);
	put_u64(m, n);
	put(m, payload, n);
}

/* The text of the whole header; the caller frees it. NULL: the file does not open. */
static char *header_of(const struct image *m)
{
	struct diag_sink diags = {0};
	struct file f = {.diags = &diags};
	struct text out = {0};

	if (file_open_bytes(&f, (struct span){m->bytes, m->n}, "crafted") < 0) {
		file_close(&f);
		return NULL;
	}
	inspect_header(&out, &f, true);
	text_char(&out, '\0');
	file_close(&f);
	return out.p;
}

static void expect(enum abi_feature bit, const struct image *payload, const char *line)
{
	struct image m;
	char *text;
	bool quiet = true;

	make(&m, bit, payload->bytes, payload->n);
	text = header_of(&m);
	ok(text != NULL && strstr(text, line) != NULL, "a complete feature is printed");
	free(text);
	for (size_t n = 0; n < payload->n; n++) {
		make(&m, bit, payload->bytes, n);
		text = header_of(&m);
		quiet = quiet && (text == NULL || strstr(text, line) == NULL || n > payload->n / 2);
		free(text);
	}
	ok(quiet, "a feature cut anywhere is reported as damaged and does not crash");
}

static void put_text(struct image *m, const char *s)
{
	char padded[64] = {0};

	strncpy(padded, s, sizeof(padded) - 1);
	put_u32(m, sizeof(padded));
	put(m, padded, sizeof(padded));
}

int main(void)
{
	struct image p = {.n = 0};

	put_text(&p, "somewhere");
	expect(FEATURE_HOSTNAME, &p, "# hostname : somewhere\n");
	p.n = 0;
	put_u32(&p, 2);
	put_u32(&p, 1);
	expect(FEATURE_NRCPUS, &p, "# nrcpus online : 1\n# nrcpus avail : 2\n");
	p.n = 0;
	put_u32(&p, 2);
	put_text(&p, "perf");
	put_text(&p, "it's");
	expect(FEATURE_CMDLINE, &p, "# cmdline : perf it\\'s \n");
	p.n = 0;
	put_u32(&p, 2);
	put_u32(&p, 1);
	put_text(&p, "software");
	put_u32(&p, 5);
	put_text(&p, "breakpoint");
	expect(FEATURE_PMU_MAPPINGS, &p, "# pmu mappings: software = 1, breakpoint = 5\n");
	p.n = 0;
	put_u64(&p, 1);
	put_u64(&p, 0x8000000);
	put_u64(&p, 1);
	put_u64(&p, 3);
	put_u64(&p, 5);
	put_u64(&p, 5);
	put_u64(&p, 0x17);
	expect(FEATURE_MEM_TOPOLOGY, &p, "#    3 [512M]: 0-2,4\n");
	p.n = 0;
	put_u64(&p, 1234567890);
	put_u64(&p, 99994567890123);
	expect(FEATURE_SAMPLE_TIME, &p, "# sample duration : 99993333.322 ms\n");
	p.n = 0;
	put_u32(&p, UINT32_MAX);
	expect(FEATURE_CMDLINE, &p,
	        "# CMDLINE cannot be read: its 4 bytes at offset 280 are damaged\n");
	return tap_done();
}
