/* SPDX-License-Identifier: MIT */
/* sonde/write.h: written recordings are read again; every field of a sample, every container. */
#include "make.h"
#include "tap.h"

#include <sonde/file.h>
#include <sonde/write.h>

#include <stdio.h>
#include <unistd.h>

static char path[] = "/tmp/sonde-write-XXXXXX";

static const uint64_t chain[] = {(uint64_t)-512, 0x1111, 0x2222};
static const uint64_t branch[] = {0x10, 0x20, 0};
static const uint64_t regs[] = {7, 8, 9};
static const struct sonde_record_read_value counts[] = {{1000, 77, 1}, {2000, 78, 2}};
static const uint64_t branch_counters[] = {0x1f};

static struct sonde_attr make_attr(void)
{
	return (struct sonde_attr){
	        .type = 1,
	        .sample_period = 1,
	        .sample_type = SONDE_SAMPLE_IDENTIFIER | SONDE_SAMPLE_IP | SONDE_SAMPLE_TID |
	                       SONDE_SAMPLE_TIME | SONDE_SAMPLE_CPU | SONDE_SAMPLE_PERIOD |
	                       SONDE_SAMPLE_CALLCHAIN | SONDE_SAMPLE_RAW |
	                       SONDE_SAMPLE_BRANCH_STACK | SONDE_SAMPLE_REGS_USER |
	                       SONDE_SAMPLE_REGS_INTR | SONDE_SAMPLE_PHYS_ADDR |
	                       SONDE_SAMPLE_STACK_USER | SONDE_SAMPLE_WEIGHT |
	                       SONDE_SAMPLE_CODE_PAGE_SIZE | SONDE_SAMPLE_READ | SONDE_SAMPLE_AUX,
	        .read_format = SONDE_READ_GROUP | SONDE_READ_ENABLED | SONDE_READ_RUNNING |
	                       SONDE_READ_ID | SONDE_READ_LOST,
	        .branch_sample_type = 1u << 17 | 1u << 19, /* HW_INDEX, COUNTERS */
	        .sample_regs_user = 0x7,
	        .sample_regs_intr = 0x3,
	        .flags = (uint64_t)1 << SONDE_FLAG_SAMPLE_ID_ALL | (uint64_t)1
	                                                                   << SONDE_FLAG_PRECISE_IP,
	};
}

static struct sonde_sample make_one(void)
{
	return (struct sonde_sample){
	        .ip = 0x1111,
	        .pid = 10,
	        .tid = 11,
	        .cpu = 3,
	        .period = 5,
	        .callchain = chain,
	        .callchain_len = 3,
	        .raw = "raw",
	        .raw_len = 3,
	        .branch_len = 1,
	        .branches = branch,
	        .intr_regs_abi = 1,
	        .intr_regs = regs,
	        .phys_addr = 0x99,
	        .user_regs_abi = 2,
	        .user_regs = regs,
	        .user_stack = "stack",
	        .user_stack_len = 5,
	        .weight = 99,
	        .code_page_size = 4096,
	        .read_len = 2,
	        .read_values = counts,
	        .read_enabled = 50,
	        .read_running = 40,
	        .branch_hw_index = 6,
	        .branch_counters = branch_counters,
	        .aux = "trace",
	        .aux_len = 5,
	};
}

static void write_some(const struct sonde_writer_options *options)
{
	static const uint64_t ids[] = {77, 78};
	struct sonde_writer *w = sonde_writer_new(options);
	struct sonde_attr attr = make_attr();
	struct sonde_writer_mapping map = {
	        .pid = 10, .tid = 11, .addr = 0x1000, .len = 0x2000, .path = "/a/b"};
	struct sonde_sample s = make_one();
	bool good;

	good = sonde_writer_event(w, &attr, ids, 2, "one") == 0 &&
	       sonde_writer_open(w, path) == 0 && sonde_writer_comm(w, 10, 11, "name", 1) == 0 &&
	       sonde_writer_mmap(w, &map) == 0;
	for (uint64_t i = 0; i < 3000 && good; i++) {
		s.time = i + 2;
		good = sonde_writer_sample(w, 0, &s) == 0;
	}
	ok(good && sonde_writer_close(w) == 0, "all records are written");
	ok(sonde_writer_close(w) < 0, "closing a writer twice fails");
	sonde_writer_free(w);
}

static struct sonde_file *open_file(const char *name)
{
	struct sonde_file *f = sonde_file_new(NULL);

	ok(sonde_file_open(f, name) == 0, "the output is opened again");
	return f;
}

static void check_sample(const struct sonde_raw_record *r, bool swap)
{
	struct sonde_attr attr = make_attr();
	struct record_plan plan;
	struct record_scratch scratch = {0};
	struct sonde_sample s;
	const uint8_t *p = r->bytes;
	int rc;

	record_plan_make(&plan, &attr);
	rc = record_sample_decode(&plan, (struct span){p + 8, r->size - 8}, swap, &scratch, &s);
	ok(rc == 1 && s.id == 77 && s.ip == 0x1111 && s.tid == 11 && s.cpu == 3 && s.period == 5 &&
	                s.callchain_len == 3 && s.callchain[2] == 0x2222 && s.raw_len == 4 &&
	                memcmp(s.raw, "raw", 4) == 0 && s.user_regs[2] == 9 &&
	                s.user_stack_len == 5 && memcmp(s.user_stack, "stack", 5) == 0 &&
	                s.branch_len == 1 && s.branches[1] == 0x20 && s.intr_regs[1] == 8 &&
	                s.phys_addr == 0x99 && s.weight == 99 && s.code_page_size == 4096,
	        "a sample has the fields that were written");
	ok(s.read_len == 2 && s.read_values[1].value == 2000 && s.read_values[1].id == 78 &&
	                s.read_values[0].lost == 1 && s.read_enabled == 50 && s.read_running == 40,
	        "a sample has the counts that were written");
	ok(s.branch_hw_index == 6 && s.branch_counters[0] == 0x1f && s.aux_len == 8 &&
	                memcmp(s.aux, "trace\0\0", 8) == 0,
	        "a sample has its branches and trace data");
	record_scratch_fini(&scratch);
}

static void check_some(const struct sonde_writer_options *options)
{
	static const uint32_t first[] = {RECORD_COMM, RECORD_MMAP2, RECORD_SAMPLE};
	struct sonde_file *f = open_file(path);
	const struct sonde_file_info *info = sonde_file_get_info(f);
	const struct sonde_raw_record *r;
	uint64_t records = 0;
	size_t n;

	ok(info->container == options->container &&
	                info->big_endian == (options->order == SONDE_ORDER_BIG),
	        "the output has the container and the byte order of the options");
	eq_str(sonde_file_event_name(f, 0), "one", "the event has its name");
	ok(sonde_file_event_ids(f, 0, &n) != NULL && n == 2, "the event has its two ids");
	eq_u64(sonde_file_event_attr(f, 0)->flags, make_attr().flags, "the event has its flags");
	while (sonde_file_next(f, &r) > 0) {
		if (r->type >= RECORD_USER_START) {
			continue;
		}
		if (records < 3) {
			eq_u64(r->type, first[records], "records are in the order of writing");
			ok(r->inflated == (options->compress != 0),
			        "records are compressed if the options say so");
		}
		if (records == 2) {
			check_sample(r, info->swapped);
		}
		records++;
	}
	eq_u64(records, 3002, "all 3002 records are in the output");
	ok(sonde_file_diags(f, SONDE_DIAG_TRUNCATED) + sonde_file_diags(f, SONDE_DIAG_DAMAGED) == 0,
	        "the output is not damaged");
	sonde_file_free(f);
}

static void test_mistakes(void)
{
	struct sonde_writer *w = sonde_writer_new(NULL);
	struct sonde_attr attr = {.sample_type = SONDE_SAMPLE_READ};
	struct sonde_sample s = {0};

	ok(sonde_writer_event(w, &attr, NULL, 0, NULL) == 0, "an event is added");
	ok(sonde_writer_open(w, "/nowhere/at/all") < 0 &&
	                strstr(sonde_writer_error(w)->text, "/nowhere/at/all") != NULL,
	        "an output that cannot be created is named");
	sonde_writer_free(w);
	w = sonde_writer_new(NULL);
	ok(sonde_writer_event(w, &attr, NULL, 0, NULL) == 0 && sonde_writer_open(w, path) == 0,
	        "an output is opened");
	ok(sonde_writer_sample(w, 0, &s) == SONDE_EARG, "an event without its count is refused");
	sonde_writer_free(w);
	w = sonde_writer_new(NULL);
	attr = make_attr();
	s.user_stack_len = UINT64_MAX;
	ok(sonde_writer_event(w, &attr, NULL, 0, NULL) == 0 && sonde_writer_open(w, path) == 0 &&
	                sonde_writer_sample(w, 0, &s) == SONDE_ELIMIT,
	        "a stack that does not fit into a record is refused");
	sonde_writer_free(w);
	sonde_writer_free(NULL);
}

int main(void)
{
	static const enum sonde_container containers[] = {
	        SONDE_CONTAINER_FILE, SONDE_CONTAINER_PIPE};
	static const enum sonde_byte_order orders[] = {SONDE_ORDER_LITTLE, SONDE_ORDER_BIG};
	int fd = mkstemp(path);

	if (fd < 0) {
		return 1;
	}
	(void)close(fd);
	for (size_t i = 0; i < 8; i++) {
		struct sonde_writer_options options = {.size = sizeof(options),
		        .container = containers[i & 1],
		        .order = orders[i >> 1 & 1],
		        .compress = i >> 2 != 0};

		write_some(&options);
		check_some(&options);
	}
	test_mistakes();
	(void)unlink(path);
	return tap_done();
}
