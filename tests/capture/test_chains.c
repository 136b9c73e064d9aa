/* SPDX-License-Identifier: MIT */
/*
 * Call chains made while recording: a sample with this process's own registers and stack, as the
 * kernel writes it, beside mappings from another ring.
 */
#define _GNU_SOURCE
#include "abi/abi.h"
#include "capture/sink/chains.h"
#include "record/user_stack.h"
#include "tap.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define ID    7u
#define STACK 8192u

static char path[] = "/tmp/sonde-test-chains-XXXXXX";

struct bytes {
	uint8_t v[1 << 20];
	size_t n;
};

static void put(struct bytes *b, uint64_t word)
{
	memcpy(b->v + b->n, &word, 8);
	b->n += 8;
}

/* Begins a record at *at; `end` sets its size. */
static size_t begin(struct bytes *b, uint32_t type, uint16_t misc)
{
	size_t at = b->n;

	put(b, type | (uint64_t)misc << 32);
	return at;
}

static void end(struct bytes *b, size_t at)
{
	store_u16(b->v + at + 6, (uint16_t)(b->n - at), false);
}

/* pid and tid, time, id */
static void put_trailer(struct bytes *b, uint64_t time)
{
	put(b, (uint64_t)getpid() << 32 | (uint32_t)getpid());
	put(b, time);
	put(b, ID);
}

/* MMAP2 records of the code of this process. */
static void put_mappings(struct bytes *b, uint64_t time)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long start, stop, offset, inode;
	char line[4096], prot[8], name[2048];
	size_t at, n;

	while (maps != NULL && fgets(line, sizeof(line), maps) != NULL) {
		name[0] = '\0';
		if (sscanf(line, "%lx-%lx %7s %lx %*s %lu %2047s", &start, &stop, prot, &offset,
		            &inode, name) < 5 ||
		        prot[2] != 'x') {
			continue;
		}
		at = begin(b, RECORD_MMAP2, MISC_USER);
		put(b, (uint64_t)getpid() << 32 | (uint32_t)getpid());
		put(b, start);
		put(b, stop - start);
		put(b, offset);
		put(b, 0); /* major and minor number: not compared */
		put(b, inode);
		put(b, 0);
		put(b, PROT_READ | PROT_EXEC);
		n = strlen(name) / 8 * 8 + 8;
		memset(b->v + b->n, 0, n);
		memcpy(b->v + b->n, name, strlen(name));
		b->n += n;
		put_trailer(b, time);
		end(b, at);
	}
	if (maps != NULL) {
		(void)fclose(maps);
	}
}

static void put_exec(struct bytes *b, uint64_t time)
{
	size_t at = begin(b, RECORD_COMM, MISC_COMM_EXEC);

	put(b, (uint64_t)getpid() << 32 | (uint32_t)getpid());
	put(b, 0x78); /* "x" */
	put_trailer(b, time);
	end(b, at);
}

#if defined(__x86_64__)
#define SUPPORTED 1
#define REGS      0xff0fffu /* all but the data segments */

static uint64_t register_of(const ucontext_t *c, unsigned bit)
{
	static const int registers[24] = {REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI,
	        REG_RBP, REG_RSP, REG_RIP, REG_EFL, 0, 0, 0, 0, 0, 0, REG_R8, REG_R9, REG_R10,
	        REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

	return bit == 10 || bit == 11 ? 0 : (uint64_t)c->uc_mcontext.gregs[registers[bit]];
}

static uint64_t stack_pointer(const ucontext_t *c)
{
	return (uint64_t)c->uc_mcontext.gregs[REG_RSP];
}

static uint64_t program_counter(const ucontext_t *c)
{
	return (uint64_t)c->uc_mcontext.gregs[REG_RIP];
}
#elif defined(__aarch64__)
#define SUPPORTED 1
#define REGS      0x1ffffffffu

static uint64_t register_of(const ucontext_t *c, unsigned bit)
{
	return bit < 31    ? c->uc_mcontext.regs[bit]
	       : bit == 31 ? c->uc_mcontext.sp
	                   : c->uc_mcontext.pc;
}

static uint64_t stack_pointer(const ucontext_t *c)
{
	return c->uc_mcontext.sp;
}

static uint64_t program_counter(const ucontext_t *c)
{
	return c->uc_mcontext.pc;
}
#else
#define SUPPORTED 0
#define REGS      0u

static uint64_t register_of(const ucontext_t *c, unsigned bit)
{
	(void)c;
	return bit;
}

static uint64_t stack_pointer(const ucontext_t *c)
{
	(void)c;
	return 0;
}

static uint64_t program_counter(const ucontext_t *c)
{
	(void)c;
	return 0;
}
#endif

static const struct sonde_attr attr = {
        .sample_type = SONDE_SAMPLE_IDENTIFIER | SONDE_SAMPLE_IP | SONDE_SAMPLE_TID |
                       SONDE_SAMPLE_TIME | SONDE_SAMPLE_CALLCHAIN | SONDE_SAMPLE_RAW |
                       SONDE_SAMPLE_REGS_USER | SONDE_SAMPLE_STACK_USER | SONDE_SAMPLE_WEIGHT,
        .flags = 1u << SONDE_FLAG_SAMPLE_ID_ALL,
        .sample_regs_user = REGS,
        .sample_stack_user = STACK,
};

/*
 * A sample of the caller: its chain has two words of the kernel, and a word of raw data and a
 * weight are around the registers and the stack.
 */
__attribute__((noinline, no_sanitize("address"))) static void put_sample(
        struct bytes *b, uint64_t time, uint64_t *caller)
{
	size_t at = begin(b, RECORD_SAMPLE, MISC_USER);
	const volatile uint8_t *stack;
	ucontext_t context;
	uintptr_t sp;

	(void)getcontext(&context);
	*caller = (uint64_t)(uintptr_t)__builtin_return_address(0);
	put(b, ID);
	put(b, program_counter(&context));
	put(b, (uint64_t)getpid() << 32 | (uint32_t)getpid());
	put(b, time);
	put(b, 2);
	put(b, CALLCHAIN_KERNEL);
	put(b, 0xffffffff81000000u | UINT64_C(0xffffffff) << 32);
	put(b, 4 | UINT64_C(0x55) << 32); /* raw data: its size, then 4 bytes */
	put(b, 2);
	for (unsigned bit = 0; bit < 64; bit++) {
		if ((attr.sample_regs_user >> bit & 1) != 0) {
			put(b, register_of(&context, bit));
		}
	}
	put(b, STACK);
	sp = stack_pointer(&context);
	memcpy(&stack, &sp, sizeof(stack));
	for (size_t i = 0; i < STACK; i++) {
		b->v[b->n++] = stack[i];
	}
	put(b, STACK);
	put(b, 99); /* weight */
	end(b, at);
}

/* Gives rings to a new stage, and reads back what it writes. */
static void pass(const struct bytes *rings, size_t n, size_t most, struct bytes *out,
        struct capture_chains_counts *counts)
{
	const uint64_t ids[] = {ID};
	const struct capture_chains_event event = {.attr = &attr, .ids = ids, .nids = 1};
	const struct capture_chains_options o = {.events = &event, .nevents = 1, .most = most};
	struct file_writer writer = {.fd = open(path, O_RDWR | O_TRUNC | O_CLOEXEC)};
	struct capture_lane lane = {.writer = &writer};
	struct capture_chains *chains;
	struct error error = {0};
	ssize_t got;

	if (capture_chains_new(&o, &lane.chains, &error) < 0 ||
	        capture_lane_open(capture_chains_lane(lane.chains), &writer, 0, 0, &error) < 0) {
		abort();
	}
	for (size_t i = 0; i < n; i++) {
		struct iovec iov[2] = {{.iov_len = rings[i].n / 16 * 8}};
		const uint8_t *bytes = rings[i].v;

		memcpy(&iov[0].iov_base, &bytes, sizeof(bytes)); /* iovec has no const */
		iov[1].iov_base = (uint8_t *)iov[0].iov_base + iov[0].iov_len;
		iov[1].iov_len = rings[i].n - iov[0].iov_len;
		ok(capture_lane_kernel(&lane, iov, 2, &error) == 0,
		        "bytes of a ring, in two pieces");
	}
	ok(capture_lane_drain(&lane, &error) == 0, "are written");
	*counts = capture_chains_count(lane.chains);
	got = pread(writer.fd, out->v, sizeof(out->v), 0);
	out->n = got > 0 ? (size_t)got : 0;
	chains = lane.chains;
	capture_lane_close(&lane);
	capture_chains_free(chains);
	(void)close(writer.fd);
}

static void free_chains(void)
{
	struct capture_chains *chains = NULL;
	struct error error = {0};
	const struct capture_chains_event event = {.attr = &attr};
	const struct capture_chains_options o = {.events = &event, .nevents = 1};

	ok(capture_chains_new(&o, &chains, &error) == 0, "a stage without a round");
	capture_chains_free(chains);
	capture_chains_free(NULL);
}

static void test_unwound(struct bytes rings[2], struct bytes *out)
{
	struct capture_chains_counts counts;
	const uint64_t *words;
	uint64_t caller = 0, n;
	size_t sample;

	rings[0].n = rings[1].n = 0;
	put_sample(&rings[0], 20, &caller);
	put_mappings(&rings[1], 10);
	put_exec(&rings[1], 30); /* after the sample: its mappings are those before */
	pass(rings, 2, 0, out, &counts);
	ok(counts.unwound == 1 && counts.copies == 0, "one sample is unwound");
	sample = load_u16(out->v + 6, false);
	ok(out->n - sample == rings[1].n && memcmp(out->v + sample, rings[1].v, rings[1].n) == 0,
	        "records of other types stay as they are, in their order");
	words = (const uint64_t *)(const void *)out->v;
	n = words[5];
	eq_u64(words[1], ID, "the sample keeps its id");
	ok(n >= 5 && sample == 8 * (6 + n + 2),
	        "its record has the chain, and neither registers nor stack");
	ok(words[6] == CALLCHAIN_KERNEL && words[8] == CALLCHAIN_USER,
	        "the user's part follows the kernel's");
	eq_u64(words[9], words[2], "it begins with the program counter");
	eq_u64(words[10], caller - 1, "its caller is at the last byte of the call");
	ok(words[6 + n] == (4 | UINT64_C(0x55) << 32) && words[7 + n] == 99,
	        "parts before and after the stack are kept");
}

static void test_copies(struct bytes rings[2], struct bytes *out)
{
	struct capture_chains_counts counts;
	uint64_t id;

	pass(rings, 2, 1, out, &counts);
	ok(counts.unwound == 0 && counts.copies == 1,
	        "with a queue of one byte nothing is unwound");
	ok(out->n == rings[0].n + rings[1].n, "and nothing is lost");
	id = load_u64(out->v + 8, false);
	eq_u64(id, ID | RECORD_STACK_COPY_ID, "a copied stack has the id of the second event");
	store_u64(out->v + 8, ID, false);
	ok(memcmp(out->v, rings[0].v, rings[0].n) == 0, "the rest of its record is as recorded");
}

/* Sizes and counts that do not fit: the record passes as it is. */
static void test_damaged(struct bytes rings[2], struct bytes *out)
{
	struct capture_chains_counts counts;
	size_t good = rings[0].n;

	store_u64(rings[0].v + 40, UINT64_MAX / 4, false); /* the number of words in the chain */
	pass(rings, 1, 0, out, &counts);
	ok(counts.copies == 1 && out->n == good,
	        "a chain longer than its record: the record is kept");
	rings[0].n = 24;
	store_u16(rings[0].v + 6, 24, false);
	pass(rings, 1, 0, out, &counts);
	ok(counts.unwound + counts.copies == 0 && out->n == 24,
	        "a sample without its fixed part is kept");
	store_u16(rings[0].v + 6, 4, false);
	pass(rings, 1, 0, out, &counts);
	ok(out->n == 24, "bytes that are no record are kept");
}

int main(void)
{
	struct bytes *rings = calloc(2, sizeof(*rings)), *out = calloc(1, sizeof(*out));
	volatile uint8_t room[2 * STACK]; /* so that there are STACK bytes above a callee */
	int fd = mkstemp(path);

	room[0] = 0;
	if (rings == NULL || out == NULL || fd < 0 || room[0] != 0) {
		abort();
	}
	(void)close(fd);
	free_chains();
	if (capture_chains_supported() && SUPPORTED) {
		test_unwound(rings, out);
		test_copies(rings, out);
		test_damaged(rings, out);
	} else {
		skip("stacks of this machine are not unwound");
	}
	(void)unlink(path);
	free(rings);
	free(out);
	return tap_done();
}
