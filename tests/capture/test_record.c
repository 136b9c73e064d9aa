/* SPDX-License-Identifier: MIT */
/*
 * Whole recordings on a kernel that is played by this program: rings that wrap and fill up, and
 * what is done when the kernel refuses.
 */
#define _GNU_SOURCE
#include "abi/abi.h"
#include "capture/recorder.h"
#include "file/file.h"
#include "proc/proc.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE        4096u
#define RINGS_MAX   256
#define FIRST_FD    100000 /* no descriptor of this process */
#define SAMPLE_SIZE 40u

struct ring {
	int fd;
	uint8_t *page;
	uint64_t size;
	uint64_t lost; /* not reported yet */
};

static struct {
	int next_fd, open_fds;
	struct ring rings[RINGS_MAX];
	size_t nrings;
	unsigned polls, polls_max, samples_each;
	uint64_t sent, lost; /* samples in rings, samples that found no room */
	uint64_t lost_read; /* what read() says per descriptor of the first event */
	uint64_t refused_flags, refused_format; /* attrs with these bits get refuse_errno */
	int refuse_errno, refused;
	bool no_groups; /* members get EINVAL */
	uint32_t size_limit; /* larger attrs get E2BIG; 0: none */
	unsigned grouped; /* events that were opened as members of a group */
	unsigned precise_max; /* steps of precision that there are, with 0; 0: no limit */
	int open_limit; /* then EMFILE; 0: none */
	size_t map_limit; /* bytes; larger maps get EPERM; 0: none */
	size_t all_limit, mapped; /* bytes of all maps; what goes beyond gets EPERM; 0: none */
	const char *on_line; /* the list of cpus, from which cpu 1 vanishes when it is opened */
	char moved[256]; /* the cpus that the recorder went to, one list behind the other */
	bool gone; /* all threads have ended: ESRCH */
	bool all_rings; /* samples come from all of them */
	char said[4096];
} k;

static void write_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	if (f == NULL || fputs(text, f) < 0 || fclose(f) != 0) {
		abort();
	}
}

static int fake_open(
        const struct sonde_attr *attr, pid_t pid, int cpu, int group_fd, unsigned flags)
{
	(void)flags;
	(void)pid;
	if (k.gone) {
		errno = ESRCH;
		return -1;
	}
	if ((attr->flags & k.refused_flags) != 0 || (attr->read_format & k.refused_format) != 0) {
		k.refused++;
		errno = k.refuse_errno;
		return -1;
	}
	if (k.no_groups && group_fd >= FIRST_FD) {
		errno = EINVAL;
		return -1;
	}
	if (k.size_limit != 0 && attr->size > k.size_limit) {
		errno = E2BIG;
		return -1;
	}
	if (k.refuse_errno == EACCES && !sonde_attr_has(attr, SONDE_FLAG_EXCLUDE_KERNEL)) {
		errno = EACCES;
		return -1;
	}
	if (k.on_line != NULL && cpu == 1) {
		write_text(k.on_line, "0,2\n");
		errno = ENODEV;
		return -1;
	}
	if (k.open_limit != 0 && k.open_fds == k.open_limit) {
		errno = EMFILE;
		return -1;
	}
	if (k.precise_max != 0 && (attr->flags >> SONDE_FLAG_PRECISE_IP & 3) >= k.precise_max) {
		errno = EOPNOTSUPP;
		return -1;
	}
	k.grouped += group_fd >= FIRST_FD;
	k.open_fds++;
	return k.next_fd++;
}

static int fake_close(int fd)
{
	(void)fd;
	k.open_fds--;
	return 0;
}

static void *fake_map(int fd, size_t size, bool read_only)
{
	size_t pages = size / PAGE - 1;
	void *p;

	(void)read_only;
	if ((pages & (pages - 1)) != 0) {
		errno = EINVAL;
		return NULL;
	}
	if ((k.map_limit != 0 && size > k.map_limit) ||
	        (k.all_limit != 0 && k.mapped + size > k.all_limit)) {
		errno = EPERM;
		return NULL;
	}
	p = aligned_alloc(PAGE, size);
	if (p == NULL || k.nrings == RINGS_MAX) {
		abort();
	}
	memset(p, 0, size);
	k.mapped += size;
	k.rings[k.nrings++] = (struct ring){.fd = fd, .page = p, .size = size - PAGE};
	return p;
}

static void fake_unmap(void *map, size_t size)
{
	size_t i;

	for (i = 0; i < k.nrings && k.rings[i].page != map; i++) {
	}
	k.rings[i] = k.rings[--k.nrings];
	k.mapped -= size;
	free(map);
}

static int fake_id(int fd, uint64_t *id)
{
	*id = (uint64_t)fd;
	return 0;
}

static int fake_redirect(int fd, int ring_fd)
{
	(void)fd;
	(void)ring_fd;
	return 0;
}

static int fake_enable(int fd, bool on, bool group)
{
	(void)fd;
	(void)on;
	(void)group;
	return 0;
}

static ssize_t fake_read(int fd, void *buf, size_t size)
{
	uint64_t v[3] = {0, (uint64_t)fd, fd == FIRST_FD ? k.lost_read : 0};

	memcpy(buf, v, size < sizeof(v) ? size : sizeof(v));
	return (ssize_t)sizeof(v);
}

/* One record into a ring, as the kernel does it; false when it is full. */
static bool put(struct ring *r, const uint64_t *words, size_t n)
{
	uint64_t *head = (uint64_t *)(void *)(r->page + 1024);
	uint64_t *tail = (uint64_t *)(void *)(r->page + 1032);

	if (*head - *tail + n * 8 > r->size) {
		return false;
	}
	for (size_t i = 0; i < n; i++) {
		memcpy(r->page + PAGE + (*head & (r->size - 1)), &words[i], 8);
		*head += 8;
	}
	return true;
}

static uint64_t record_word(uint32_t type, uint16_t misc)
{
	uint64_t word;

	store_u32((uint8_t *)&word, type, false);
	store_u16((uint8_t *)&word + 4, misc, false);
	store_u16((uint8_t *)&word + 6, SAMPLE_SIZE, false);
	return word;
}

static void put_sample(struct ring *r)
{
	uint64_t time = 1000 + k.sent + k.lost;
	uint64_t lost[5] = {record_word(RECORD_LOST, 0), (uint64_t)r->fd, r->lost, 0, time};
	uint64_t sample[5] = {record_word(RECORD_SAMPLE, MISC_USER), 0x1000 + k.sent,
	        (uint64_t)getpid() << 32 | (uint64_t)getpid(), time, 1};

	if (r->lost != 0 && put(r, lost, 5)) {
		r->lost = 0;
	}
	if (r->lost == 0 && put(r, sample, 5)) {
		k.sent++;
		return;
	}
	r->lost++;
	k.lost++;
}

/* fds[0] is what sonde_recorder_stop uses. */
static int fake_poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
	(void)timeout_ms;
	for (nfds_t i = 0; i < n; i++) {
		fds[i].revents = fds[i].fd >= FIRST_FD ? POLLIN : 0;
	}
	if (k.polls++ == k.polls_max) {
		fds[0].revents = POLLIN;
		return 1;
	}
	for (unsigned i = 0; i < k.samples_each && k.nrings != 0; i++) {
		for (size_t ring = 0; ring < (k.all_rings ? k.nrings : 1); ring++) {
			put_sample(&k.rings[ring]);
		}
	}
	return 1;
}

static int fake_run_on(const pid_t *cpus, size_t n)
{
	size_t at;

	for (size_t i = 0; i < n; i++) {
		at = strlen(k.moved);
		(void)snprintf(k.moved + at, sizeof(k.moved) - at, "%s%d", i == 0 ? "" : ",",
		        (int)cpus[i]);
	}
	at = strlen(k.moved);
	(void)snprintf(k.moved + at, sizeof(k.moved) - at, ";");
	return 0;
}

static const struct host_kernel fake = {
        .open = fake_open,
        .close = fake_close,
        .map = fake_map,
        .unmap = fake_unmap,
        .id = fake_id,
        .redirect = fake_redirect,
        .enable = fake_enable,
        .read = fake_read,
        .poll = fake_poll,
        .run_on = fake_run_on,
};

static void said(void *arg, enum sonde_recorder_message kind, const char *text)
{
	size_t n = strlen(k.said);

	(void)arg;
	(void)kind;
	(void)snprintf(k.said + n, sizeof(k.said) - n, "%s\n", text);
}

static char pid_text[16];
static char folder[] = "/tmp/sonde-test-record-XXXXXX";
static char output[sizeof(folder) + sizeof("/perf.data.old")];

static struct sonde_recorder *begin(const char *event, size_t pages)
{
	static const char *events[1];
	struct sonde_recorder_options o = {.size = sizeof(o),
	        .events.strings = events,
	        .events.n = 1,
	        .targets.pids = pid_text,
	        .events.frequency = 1000,
	        .buffers.pages = pages,
	        .build_ids.none = true,
	        .output.path = output,
	        .message = said};
	struct sonde_recorder *r;

	events[0] = event;
	(void)unlink(output);
	(void)snprintf(pid_text, sizeof(pid_text), "%d", (int)getpid());
	r = sonde_recorder_new(&o);
	if (r == NULL) {
		abort();
	}
	r->kernel = &fake;
	return r;
}

static void reset(void)
{
	memset(&k, 0, sizeof(k));
	k.next_fd = FIRST_FD;
}

struct seen {
	uint64_t samples, lost, lost_samples, rounds;
	bool in_order;
};

static struct seen read_back(void)
{
	struct diag_sink diags = {0};
	struct file f = {.diags = &diags};
	struct seen seen = {.in_order = true};
	struct record r;
	uint64_t offset;

	ok(file_open(&f, output) >= 0, "the file opens");
	for (offset = f.data.offset; file_next(&f, &offset, &r, &diags) > 0;) {
		if (r.type == RECORD_SAMPLE) {
			seen.in_order &= load_u64(r.body.p, false) == 0x1000 + seen.samples;
			seen.samples++;
		}
		seen.lost += r.type == RECORD_LOST ? load_u64(r.body.p + 8, false) : 0;
		seen.lost_samples += r.type == RECORD_LOST_SAMPLES ? load_u64(r.body.p, false) : 0;
		seen.rounds += r.type == RECORD_FINISHED_ROUND;
	}
	eq_u64(diags.counts[SONDE_DIAG_TRUNCATED] + diags.counts[SONDE_DIAG_DAMAGED], 0,
	        "nothing in it is damaged");
	file_close(&f);
	return seen;
}

static struct seen record(unsigned polls, unsigned each)
{
	struct sonde_recorder *r = begin("cpu-clock", 1);
	struct seen seen;

	k.polls_max = polls;
	k.samples_each = each;
	ok(sonde_recorder_start(r) == 0 && sonde_recorder_run(r) == 0, "a recording");
	seen = read_back();
	eq_u64(seen.samples, k.sent, "every sample of the ring is in the file");
	ok(seen.in_order, "as it was, in its order");
	eq_u64(sonde_recorder_get_result(r)->samples, k.sent, "and counted");
	eq_u64(sonde_recorder_get_result(r)->lost, seen.lost, "losses are counted too");
	sonde_recorder_free(r);
	eq_u64(k.open_fds, 0, "all descriptors are closed");
	return seen;
}

static void test_wrap(void)
{
	struct seen seen;

	reset();
	seen = record(50, 30); /* 60000 bytes through 4096, which 40 does not divide */
	eq_u64(k.sent, 1500, "wrap: nothing was lost");
	eq_u64(seen.rounds, 50, "wrap: one mark a pass");
}

static void test_full(void)
{
	struct seen seen;

	reset();
	seen = record(3, 150);
	/* 102 records fit; the last pass's losses have no record behind them */
	eq_u64(k.sent, 102 + 101 + 101, "full: a full ring takes 102 records");
	eq_u64(seen.lost, 48 + 49, "full: LOST records are written through");
	reset();
	k.lost_read = 7;
	seen = record(1, 5);
	eq_u64(seen.lost_samples, 7, "losses that only the counter knows become LOST_SAMPLES");
}

static void test_weak_group(void)
{
	struct sonde_recorder *r;

	reset();
	k.no_groups = true;
	r = begin("{cpu-clock,page-faults}:W,cs", 1);
	ok(sonde_recorder_start(r) == 0, "a weak group that does not fit");
	eq_u64(r->plan.events.v[1].leader, 1, "is taken apart");
	eq_u64(r->plan.events.v[0].members, 1, "into single events");
	ok(sonde_attr_has(&r->plan.events.v[1].attr, SONDE_FLAG_DISABLED),
	        "that wait like the others");
	sonde_recorder_free(r);
	reset();
	k.no_groups = true;
	r = begin("{cpu-clock,page-faults}", 1);
	ok(sonde_recorder_start(r) < 0, "another group is not");
	sonde_recorder_free(r);
}

static void test_refusals(void)
{
	static const int errors[] = {E2BIG, EINVAL};

	for (size_t i = 0; i < 2; i++) {
		struct sonde_recorder *r;

		reset();
		k.refuse_errno = errors[i];
		k.refused_flags = 1ull << SONDE_FLAG_KSYMBOL | 1ull << SONDE_FLAG_BPF_EVENT;
		k.refused_format = SONDE_READ_LOST;
		r = begin("cpu-clock", 1);
		ok(sonde_recorder_start(r) == 0, "an older kernel: bits are dropped");
		eq_u64(k.refused, 4, "each is asked for alone once the event was refused");
		eq_u64(r->plan.events.v[0].attr.flags & k.refused_flags, 0, "all that it refused");
		ok(sonde_attr_has(&r->plan.events.v[0].attr, SONDE_FLAG_MMAP2) &&
		                sonde_attr_has(&r->plan.events.v[0].attr, SONDE_FLAG_COMM_EXEC),
		        "and no more");
		ok(strstr(k.said, "lost counts") != NULL && strstr(k.said, "ksymbol") != NULL,
		        "a curious user is told");
		sonde_recorder_free(r);
		eq_u64(k.open_fds, 0, "nothing stays open");
	}
	reset();
	k.size_limit = 104; /* Linux 3.19 */
	{
		struct sonde_recorder *r = begin("cpu-clock/max-stack=3/", 1);

		ok(sonde_recorder_start(r) == 0, "a kernel with smaller attrs");
		ok(strstr(k.said, "attrs of 128 bytes: going without sig_data") != NULL &&
		                strstr(k.said, "attrs of 112 bytes") != NULL,
		        "size by size, and it is said");
		eq_u64(r->plan.events.v[0].attr.sample_max_stack, 0, "what stood behind is gone");
		eq_u64(r->plan.events.v[0].attr.size, 128, "in the file all attrs have one size");
		sonde_recorder_free(r);
	}
	reset();
	k.refuse_errno = EINVAL;
	k.refused_format = SONDE_READ_ID;
	{
		struct sonde_recorder *r = begin("cpu-clock", 1);

		eq_u64(sonde_recorder_start(r), SONDE_EIO, "what is refused for good is an error");
		ok(strstr(sonde_recorder_error(r)->text, "cpu-clock") != NULL,
		        "that names the event");
		sonde_recorder_free(r);
	}
}

static void test_permission(void)
{
	struct sonde_recorder *r;

	reset();
	k.refuse_errno = EACCES;
	r = begin("cpu-clock", 1);
	ok(sonde_recorder_start(r) == 0, "without permission: user space only");
	eq_str(r->plan.events.v[0].name, "cpu-clock:u", "the event's name says so");
	ok(strstr(k.said, "perf_event_paranoid") != NULL, "and a warning names the sysctl");
	sonde_recorder_free(r);
	reset();
	k.refuse_errno = EACCES;
	r = begin("cpu-clock:k", 1);
	eq_u64(sonde_recorder_start(r), SONDE_EPERM, "kernel only: not allowed");
	ok(strstr(sonde_recorder_error(r)->text, "sysctl kernel.perf_event_paranoid") != NULL,
	        "the error says what to do");
	sonde_recorder_free(r);
}

static void test_groups(void)
{
	struct sonde_recorder *r;
	struct diag_sink diags = {0};
	struct file f = {.diags = &diags};

	reset();
	r = begin("page-faults,{cpu-clock,task-clock,cs}:S", 1);
	ok(sonde_recorder_start(r) == 0, "a group is opened");
	eq_u64(k.grouped, 2 * capture_cells(&r->rings),
	        "its members behind their leader, for each thread on each cpu");
	ok((r->plan.events.v[1].attr.read_format & SONDE_READ_GROUP) != 0 &&
	                (r->plan.events.v[1].attr.sample_type & SONDE_SAMPLE_READ) != 0,
	        ":S: the leader's samples hold all counts");
	eq_u64(r->plan.events.v[2].attr.sample_period, 0, "and the others do not sample");
	ok(sonde_attr_has(&r->plan.events.v[0].attr, SONDE_FLAG_INHERIT) &&
	                !sonde_attr_has(&r->plan.events.v[1].attr, SONDE_FLAG_INHERIT),
	        "nor does it hold for children");
	ok(sonde_attr_has(&r->plan.events.v[1].attr, SONDE_FLAG_DISABLED) &&
	                !sonde_attr_has(&r->plan.events.v[2].attr, SONDE_FLAG_DISABLED),
	        "the leader starts all");
	sonde_recorder_stop(r);
	ok(sonde_recorder_run(r) == 0, "and recorded");
	ok(file_open(&f, output) == 0, "the file opens");
	{
		struct span desc = file_feature(&f, FEATURE_GROUP_DESC);

		eq_u64(desc.n, 4 + 4 + 64 + 8, "GROUP_DESC has one group");
		eq_str((const char *)desc.p + 8, "{anon_group}", "with perf's name for none");
		eq_u64(load_u32(desc.p + 72, false), 1, "led by the second event");
		eq_u64(load_u32(desc.p + 76, false), 3, "of three");
	}
	file_close(&f);
	sonde_recorder_free(r);
	eq_u64(k.open_fds, 0, "all descriptors are closed");
}

static void test_precision(void)
{
	unsigned max;

	for (max = 1; max <= 4; max++) {
		struct sonde_recorder *r;

		reset();
		k.precise_max = max;
		r = begin("cycles:P", 1);
		ok(sonde_recorder_start(r) == 0, "cycles:P on hardware of some precision");
		eq_u64(r->plan.events.v[0].attr.flags >> SONDE_FLAG_PRECISE_IP & 3, max - 1,
		        "takes the most that there is");
		eq_str(r->plan.events.v[0].name, "cycles:P", "under its name");
		sonde_recorder_free(r);
	}
}

static void test_limits(void)
{
	struct sonde_recorder *r;

	reset();
	k.open_limit = 1;
	r = begin("cpu-clock,page-faults", 1);
	eq_u64(sonde_recorder_start(r), SONDE_ELIMIT, "too many files");
	ok(strstr(sonde_recorder_error(r)->text, "ulimit -n") != NULL,
	        "the error says what to raise");
	sonde_recorder_free(r);
	eq_u64(k.open_fds, 0, "nothing stays open");
	reset();
	k.map_limit = (size_t)9 * PAGE;
	r = begin("cpu-clock", 0);
	ok(sonde_recorder_start(r) == 0, "no -m: the ring shrinks to what is allowed");
	eq_u64(r->rings.pages, 8, "8 pages");
	sonde_recorder_free(r);
	reset();
	k.map_limit = (size_t)9 * PAGE;
	r = begin("cpu-clock", 16);
	eq_u64(sonde_recorder_start(r), SONDE_EPERM, "-m that is not allowed");
	ok(strstr(sonde_recorder_error(r)->text, "perf_event_mlock_kb") != NULL, "names the limit");
	sonde_recorder_free(r);
	reset();
	r = begin("cpu-clock", 3);
	eq_u64(sonde_recorder_start(r), SONDE_EARG, "3 pages are refused");
	ok(strstr(sonde_recorder_error(r)->text, "power of two") != NULL, "with the reason");
	sonde_recorder_free(r);
}

static const char *const folders[] = {"sys", "sys/devices", "sys/devices/system",
        "sys/devices/system/cpu", "sys/devices/system/node", "sys/devices/system/node/node0",
        "sys/devices/system/node/node1", "sys/bus", "sys/bus/event_source",
        "sys/bus/event_source/devices", "sys/bus/event_source/devices/mine"};
static const struct {
	const char *path, *text;
} machine_files[] = {{"sys/devices/system/cpu/online", "0-2\n"},
        {"sys/devices/system/node/online", "0-1\n"},
        {"sys/devices/system/node/node0/cpulist", "0-1\n"},
        {"sys/devices/system/node/node1/cpulist", "2\n"},
        {"sys/bus/event_source/devices/mine/type", "42\n"}};

#define FOLDERS (sizeof(folders) / sizeof(folders[0]))
#define FILES   (sizeof(machine_files) / sizeof(machine_files[0]))

/* A machine of three cpus, the first two in one node. */
static void make_machine(char *root)
{
	char path[128];

	if (mkdtemp(root) == NULL) {
		abort();
	}
	for (size_t i = 0; i < FOLDERS; i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", root, folders[i]);
		(void)mkdir(path, 0700);
	}
	for (size_t i = 0; i < FILES; i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", root, machine_files[i].path);
		write_text(path, machine_files[i].text);
	}
}

static void remove_machine(const char *root)
{
	char path[128];

	for (size_t i = 0; i < FILES; i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", root, machine_files[i].path);
		(void)unlink(path);
	}
	for (size_t i = FOLDERS; i-- > 0;) {
		(void)snprintf(path, sizeof(path), "%s/%s", root, folders[i]);
		(void)rmdir(path);
	}
	(void)rmdir(root);
}

static struct sonde_recorder *begin_all(const char *root, const char *affinity)
{
	struct sonde_recorder_options o = {.size = sizeof(o),
	        .targets.all_cpus = true,
	        .buffers.affinity = affinity,
	        .build_ids.none = true,
	        .output.path = output,
	        .message = said};
	struct sonde_recorder *r;

	(void)unlink(output);
	r = sonde_recorder_new(&o);
	if (r == NULL) {
		abort();
	}
	r->kernel = &fake;
	(void)close(r->root_fd);
	r->root_fd = proc_root_open(root);
	return r;
}

/* The limit is for all rings together: none takes what the last one needs. */
static void test_shared_limit(void)
{
	char root[] = "/tmp/sonde-test-cpus-XXXXXX";
	struct sonde_recorder *r;

	make_machine(root);
	reset();
	k.all_limit = (size_t)140 * PAGE; /* one ring of the default size, and 11 pages */
	k.all_rings = true;
	k.samples_each = 1;
	k.polls_max = 2;
	r = begin_all(root, NULL);
	ok(sonde_recorder_start(r) == 0, "rings share what may be locked");
	eq_u64(k.mapped, (size_t)3 * 33 * PAGE, "all are of the largest size that fits");
	ok(sonde_recorder_run(r) == 0 && k.sent >= 3, "and are read");
	sonde_recorder_free(r);
	eq_u64(k.mapped, 0, "nothing stays mapped");
	reset();
	k.all_limit = (size_t)5 * PAGE;
	r = begin_all(root, NULL);
	eq_u64(sonde_recorder_start(r), SONDE_EPERM, "too little for all of them");
	sonde_recorder_free(r);
	eq_u64(k.mapped, 0, "nothing stays mapped after that");
	remove_machine(root);
}

static void put_machine_file(const char *root, const char *name, const char *text)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/%s", root, name);
	write_text(path, text);
}

static void test_nodes(void)
{
	char root[] = "/tmp/sonde-test-cpus-XXXXXX";
	char path[128];
	struct sonde_recorder *r;

	make_machine(root);
	put_machine_file(root, "sys/devices/system/node/online", "1\n");
	put_machine_file(root, "sys/devices/system/node/node1/cpulist", "0-2\n");
	(void)snprintf(path, sizeof(path), "%s/sys/devices/system/node/node0/cpulist", root);
	(void)unlink(path);
	reset();
	r = begin_all(root, NULL);
	r->options.output.threads = "numa";
	r->rings.root = r->root_fd;
	r->plan.options = &r->options;
	r->plan.targets = CAPTURE_ALL;
	eq_u64(capture_find_targets(&r->rings, 0), 0, "a machine whose first node is no number 0");
	r->rings.n = 2 * r->rings.ncpus;
	r->rings.v = calloc(r->rings.n, sizeof(*r->rings.v));
	eq_u64(capture_streams_plan(&r->streams, &r->rings), 0, "--threads numa");
	eq_u64(r->streams.n, 1, "the nodes that there are");
	sonde_recorder_free(r);
	remove_machine(root);
}

static void *wait_for_end(void *arg)
{
	char byte;

	return read(*(int *)arg, &byte, 1) < 0 ? arg : NULL;
}

/* A process of two threads that ends while its events are opened: no empty recording. */
static void test_gone(void)
{
	struct sonde_recorder *r;
	pthread_t thread;
	int ends[2];

	reset();
	k.gone = true;
	if (pipe2(ends, O_CLOEXEC) != 0 ||
	        pthread_create(&thread, NULL, wait_for_end, &ends[0]) != 0) {
		abort();
	}
	r = begin("cpu-clock", 0);
	eq_u64(sonde_recorder_start(r), SONDE_ENOENT, "a process that ended");
	ok(r->rings.tasks.nthreads >= 2 &&
	                strstr(sonde_recorder_error(r)->text, "has ended") != NULL,
	        "with all its threads");
	sonde_recorder_free(r);
	(void)close(ends[1]);
	(void)pthread_join(thread, NULL);
	(void)close(ends[0]);
}

static void test_waits(void)
{
	eq_u64(host_timeout(0), 0, "no time");
	eq_u64(host_timeout(1), 1, "a wait is never too short");
	eq_u64(host_timeout(3000000000u * UINT64_C(1000000)), INT32_MAX,
	        "a wait of a month is not one without end, nor in the past");
}

static void test_off_line(void)
{
	char root[] = "/tmp/sonde-test-cpus-XXXXXX";
	char path[128];
	struct sonde_recorder *r;

	make_machine(root);
	(void)snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/online", root);
	reset();
	k.on_line = path;
	k.polls_max = 1;
	r = begin_all(root, NULL);
	ok(sonde_recorder_start(r) == 0, "a cpu goes off-line while events are opened");
	ok(strstr(k.said, "cpu 1 went off-line") != NULL, "it is told");
	ok(r->rings.v[0].page != NULL && r->rings.v[1].page == NULL, "and left out");
	ok(sonde_recorder_run(r) == 0, "the others are recorded");
	sonde_recorder_free(r);
	eq_u64(k.open_fds, 0, "all descriptors are closed");
	remove_machine(root);
}

static void affinity(const char *root, const char *mode, const char *moves)
{
	struct sonde_recorder *r;

	reset();
	k.all_rings = true;
	k.samples_each = 1;
	k.polls_max = 2;
	r = begin_all(root, mode);
	ok(sonde_recorder_start(r) == 0 && sonde_recorder_run(r) == 0, "--affinity");
	eq_str(k.moved, moves, mode != NULL ? mode : "no --affinity");
	sonde_recorder_free(r);
}

/* What the newest fields of an attr say is in the file, though perf 6.1 has no room for it. */
static void test_newer_fields(void)
{
	static const char *const events[] = {
	        "mine/config=1,config3=5/", "mine/config4=6/,cpu-clock"};
	char root[] = "/tmp/sonde-test-cpus-XXXXXX";
	struct diag_sink diags = {0};
	struct file f = {.diags = &diags};
	struct sonde_recorder *r;

	make_machine(root);
	reset();
	k.polls_max = 1;
	r = begin_all(root, NULL);
	r->options.events.strings = events;
	r->options.events.n = 2;
	ok(sonde_recorder_start(r) == 0 && sonde_recorder_run(r) == 0, "events with newer fields");
	sonde_recorder_free(r);
	ok(file_open(&f, output) >= 0 && f.nevents >= 3, "they are in the file");
	eq_u64(f.events[0].bytes.n, 128, "in attrs that perf 6.1 reads");
	eq_u64(f.events[0].attr.config3, 5, "config3");
	eq_u64(f.events[1].attr.config4, 6, "config4");
	eq_u64(f.events[2].attr.config3 | f.events[2].attr.config4, 0, "not where nobody asked");
	eq_str(f.events[0].name, events[0], "with their names");
	file_close(&f);
	remove_machine(root);
}

static void test_affinity(void)
{
	char root[] = "/tmp/sonde-test-cpus-XXXXXX";
	struct sonde_recorder *r;

	make_machine(root);
	affinity(root, NULL, "");
	affinity(root, "sys", "");
	affinity(root, "cpu", "0;1;2;0;1;2;"); /* two passes over three rings */
	affinity(root, "node", "0,1;2;0,1;2;");
	reset();
	k.all_rings = true;
	k.polls_max = 2;
	r = begin_all(root, "cpu");
	ok(sonde_recorder_start(r) == 0 && sonde_recorder_run(r) == 0, "nothing to read");
	eq_str(k.moved, "", "no reason to move");
	sonde_recorder_free(r);
	r = begin_all(root, "core");
	eq_u64(sonde_recorder_start(r), SONDE_EARG, "a mode that is none");
	sonde_recorder_free(r);
	remove_machine(root);
}

int main(void)
{
	if (mkdtemp(folder) == NULL) {
		abort();
	}
	(void)snprintf(output, sizeof(output), "%s/perf.data", folder);
	test_wrap();
	test_full();
	test_refusals();
	test_weak_group();
	test_permission();
	test_groups();
	test_precision();
	test_limits();
	test_shared_limit();
	test_gone();
	test_waits();
	test_nodes();
	test_off_line();
	test_affinity();
	test_newer_fields();
	(void)unlink(output);
	(void)snprintf(output, sizeof(output), "%s/perf.data.old", folder);
	(void)unlink(output);
	(void)rmdir(folder);
	return tap_done();
}
