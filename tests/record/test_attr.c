/* SPDX-License-Identifier: MIT */
/* Attrs of every size and in both byte orders. */
#include "abi/abi.h"
#include "record/attr_text.h"
#include "record/record.h"

#include "tap.h"

#include <stdlib.h>

static const size_t sizes[] = {64, 72, 80, 96, 104, 112, 120, 128, 136, 144};

/* Every field has its own value, so that no field can be mistaken for another. */
static struct sonde_attr full(void)
{
	return (struct sonde_attr){
	        .type = 1,
	        .size = 2,
	        .config = 3,
	        .sample_period = 4,
	        .sample_type = 5,
	        .read_format = 6,
	        .flags = UINT64_C(1) << SONDE_FLAG_INHERIT | UINT64_C(2) << SONDE_FLAG_PRECISE_IP |
	                 UINT64_C(1) << SONDE_FLAG_DEFER_OUTPUT,
	        .wakeup_events = 8,
	        .bp_type = 9,
	        .config1 = 10,
	        .config2 = 11,
	        .branch_sample_type = 12,
	        .sample_regs_user = 13,
	        .sample_stack_user = 14,
	        .clockid = -15,
	        .sample_regs_intr = 16,
	        .aux_watermark = 17,
	        .sample_max_stack = 18,
	        .reserved = 19,
	        .aux_sample_size = 20,
	        .aux_action = 21,
	        .sig_data = 22,
	        .config3 = 23,
	        .config4 = 24,
	};
}

/* The first n bytes of an attr are kept, the others are read as 0. */
static void test_sizes(bool swap)
{
	struct sonde_attr attr = full();
	struct sonde_attr got;
	uint8_t bytes[ATTR_SIZE_NOW], again[ATTR_SIZE_NOW];
	static const uint8_t zeros[ATTR_SIZE_NOW];
	char what[96];

	record_attr_encode_as(&attr, swap, bytes);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		size_t n = sizes[i];
		bool good;

		memset(&got, 0xff, sizeof(got));
		good = record_attr_decode((struct span){bytes, n}, swap, &got);
		record_attr_encode_as(&got, swap, again);
		good = good && memcmp(again, bytes, n) == 0 &&
		       memcmp(again + n, zeros, sizeof(again) - n) == 0;
		(void)snprintf(what, sizeof(what),
		        "an attr of %zu bytes%s is decoded and encoded again", n,
		        swap ? " in the other byte order" : "");
		ok(good, what);
	}
	ok(!record_attr_decode((struct span){bytes, 63}, swap, &got), "63 bytes are no attr");
}

static void test_tail(void)
{
	uint8_t bytes[ATTR_SIZE_NOW + 8] = {0};
	struct span tail;

	bytes[ATTR_SIZE_NOW + 7] = 9;
	tail = record_attr_tail((struct span){bytes, sizeof(bytes)});
	ok(tail.n == 8 && tail.p[7] == 9, "bytes after the known fields are the tail of an attr");
	eq_u64(record_attr_tail((struct span){bytes, ATTR_SIZE_NOW}).n, 0,
	        "an attr of the current size has no tail");
}

#if defined(__GNUC__) && !defined(__clang__)
/* The flags as a compiler for a big-endian machine lays them out. */
struct big_endian_flags {
	uint64_t disabled : 1, inherit : 1, pinned : 1, exclusive : 1, exclude_user : 1,
	        exclude_kernel : 1, exclude_hv : 1, exclude_idle : 1, mmap : 1, comm : 1, freq : 1,
	        inherit_stat : 1, enable_on_exec : 1, task : 1, watermark : 1, precise_ip : 2,
	        mmap_data : 1, sample_id_all : 1, exclude_host : 1, exclude_guest : 1,
	        exclude_callchain_kernel : 1, exclude_callchain_user : 1, mmap2 : 1, comm_exec : 1,
	        use_clockid : 1, context_switch : 1, write_backward : 1, namespaces : 1,
	        ksymbol : 1, bpf_event : 1, aux_output : 1, cgroup : 1, text_poke : 1, build_id : 1,
	        inherit_thread : 1, remove_on_exec : 1, sigtrap : 1, defer_callchain : 1,
	        defer_output : 1, reserved : 24;
} __attribute__((scalar_storage_order("big-endian")));

static uint64_t flags_of(struct big_endian_flags in)
{
	uint8_t bytes[64] = {0};
	struct sonde_attr attr;

	memcpy(bytes + 40, &in, sizeof(in));
	(void)record_attr_decode((struct span){bytes, sizeof(bytes)}, !HOST_BIG_ENDIAN, &attr);
	return attr.flags;
}

static void test_bit_fields(void)
{
	eq_u64(flags_of((struct big_endian_flags){.precise_ip = 1}), 1u << SONDE_FLAG_PRECISE_IP,
	        "precise_ip 1 of a big-endian writer is read");
	eq_u64(flags_of((struct big_endian_flags){.precise_ip = 2}), 2u << SONDE_FLAG_PRECISE_IP,
	        "precise_ip 2 of a big-endian writer is read");
	eq_u64(flags_of((struct big_endian_flags){.disabled = 1, .task = 1, .watermark = 1}),
	        1u << SONDE_FLAG_DISABLED | 1u << SONDE_FLAG_TASK | 1u << SONDE_FLAG_WATERMARK,
	        "flags of a big-endian writer before precise_ip are read");
	eq_u64(flags_of((struct big_endian_flags){.mmap_data = 1, .defer_output = 1}),
	        UINT64_C(1) << SONDE_FLAG_MMAP_DATA | UINT64_C(1) << SONDE_FLAG_DEFER_OUTPUT,
	        "flags of a big-endian writer after precise_ip are read");
}
#else
static void test_bit_fields(void)
{
	skip("this compiler cannot lay out bit-fields of the other byte order");
}
#endif

/* The lines that perf 6.1 prints with -vv for the same attr. */
static void test_text(void)
{
	struct sonde_attr attr = {.type = SONDE_TYPE_BREAKPOINT,
	        .size = 128,
	        .sample_period = 1,
	        .sample_type = SONDE_SAMPLE_IP | SONDE_SAMPLE_TID | SONDE_SAMPLE_TIME,
	        .read_format = SONDE_READ_ID | SONDE_READ_LOST,
	        .flags = 1u << SONDE_FLAG_DISABLED | 2u << SONDE_FLAG_PRECISE_IP,
	        .wakeup_events = 1,
	        .bp_type = 3,
	        .config1 = 0x1000,
	        .config2 = 8};
	struct text t = {0};

	record_attr_block(&t, &attr);
	text_char(&t, '\0');
	eq_str(t.p,
	        "------------------------------------------------------------\n"
	        "perf_event_attr:\n"
	        "  type                             5\n"
	        "  size                             128\n"
	        "  { sample_period, sample_freq }   1\n"
	        "  sample_type                      IP|TID|TIME\n"
	        "  read_format                      ID|LOST\n"
	        "  disabled                         1\n"
	        "  precise_ip                       2\n"
	        "  { wakeup_events, wakeup_watermark } 1\n"
	        "  bp_type                          3\n"
	        "  { bp_addr, config1 }             0x1000\n"
	        "  { bp_len, config2 }              0x8\n"
	        "------------------------------------------------------------\n",
	        "record_attr_block prints an attr as perf -vv does");
	text_fini(&t);
}

int main(void)
{
	test_text();
	test_sizes(false);
	test_sizes(true);
	test_tail();
	test_bit_fields();
	return tap_done();
}
