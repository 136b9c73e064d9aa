/* SPDX-License-Identifier: MIT */
/*
 * A recording on a saved machine with a kernel that sends nothing: what its header and its start
 * state say. test_machine machine.txt
 */
#define _GNU_SOURCE
#include "abi/abi.h"
#include "capture/recorder.h"
#include "file/file.h"
#include "fixture.h"
#include "tap.h"

#include <sonde/preview/inspect.h>

#include <errno.h>

#define FIRST_FD 100000

static int next_fd;
static int64_t refuse; /* not 0: user space only is allowed */

static int fake_open(
        const struct sonde_attr *attr, pid_t pid, int cpu, int group_fd, unsigned flags)
{
	(void)flags;
	(void)pid;
	(void)cpu;
	(void)group_fd;
	if (refuse != 0 && !sonde_attr_has(attr, SONDE_FLAG_EXCLUDE_KERNEL)) {
		errno = EACCES;
		return -1;
	}
	return next_fd++;
}

static int fake_close(int fd)
{
	(void)fd;
	return 0;
}

static void *fake_map(int fd, size_t size, bool read_only)
{
	void *p = aligned_alloc(4096, size);

	(void)fd;
	(void)read_only;
	return p != NULL ? memset(p, 0, size) : NULL;
}

static void fake_unmap(void *map, size_t size)
{
	(void)size;
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
	(void)fd;
	memset(buf, 0, size);
	return 24;
}

static int fake_poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
	(void)n;
	(void)timeout_ms;
	fds[0].revents = POLLIN; /* as sonde_recorder_stop */
	return 1;
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
};

static char output[128];

static struct sonde_recorder *begin(const struct fixture *f, struct sonde_recorder_options *o)
{
	struct sonde_recorder *r;

	o->size = sizeof(*o);
	o->output.path = output;
	next_fd = FIRST_FD;
	r = sonde_recorder_new(o);
	if (r == NULL) {
		abort();
	}
	(void)close(r->root_fd);
	r->root_fd = dup(f->fd);
	r->kernel = &fake;
	return r;
}

static int keep(void *arg, const char *text, size_t n)
{
	text_bytes(arg, text, n);
	return 0;
}

static void has_line(const struct text *t, const char *line)
{
	const char *p = strstr(t->p, line);

	ok(p != NULL && p[strlen(line)] == '\n', line);
}

static void test_header(const struct fixture *f)
{
	static const char *const lines[] = {
	        "# nrcpus online : 3",
	        "# nrcpus avail : 4",
	        "# cpudesc : Model Processor @ 2.50GHz",
	        "# cpuid : GenuineIntel,6,85,7",
	        "# total memory : 8000000 kB",
	        "# sibling sockets : 0-1",
	        "# sibling sockets : 3",
	        "# sibling dies    : 3",
	        "# sibling threads : 0-1",
	        "# CPU 3: Core ID 1, Die ID 0, Socket ID 1",
	        "# node1 meminfo  : total = 4000000 kB, free = 234567 kB",
	        "# node1 cpu list : 2-3",
	        "#  L1 Instruction          32K [0-1]",
	        "#  L2 Unified            1024K [3]",
	        "#  L3 Unified           36608K [3]",
	        "#    0 [512M]: 0-3",
	        "#    1 [256M]: 64-65",
	};
	static const char *const events[] = {"{cpu-clock,page-faults}"};
	struct sonde_recorder_options o = {
	        .events.strings = events, .events.n = 1, .targets.all_cpus = true};
	struct sonde_recorder *r = begin(f, &o);
	struct sonde_header_options h = {.size = sizeof(h), .full = true};
	struct sonde_inspector *in = sonde_inspector_new(NULL);
	struct text t = {0};

	ok(sonde_recorder_start(r) == 0 && sonde_recorder_run(r) == 0, "a recording of all cpus");
	ok(r->rings.ncpus == 3 && r->rings.cpus[2] == 3, "has the cpus of the saved machine");
	eq_u64(r->plan.events.v[0].attr.sample_period, 4000, "and a frequency it allows");
	sonde_recorder_free(r);
	ok(sonde_inspector_header(in, output, &h, keep, &t) == 0, "its header");
	sonde_inspector_free(in);
	text_char(&t, '\0');
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		has_line(&t, lines[i]);
	}
	ok(strstr(t.p, "cpu = 4") != NULL && strstr(t.p, "tracepoint = 2") != NULL, "pmus");
	text_fini(&t);
}

static void test_state(const struct fixture *f)
{
	static const char *const maps[] = {"[kernel.kallsyms]_text", "[ext4]", "[sd_mod]",
	        "/opt/worker", "//anon", "/tmp/a b (deleted)", "[vdso]"};
	struct sonde_recorder_options o = {.targets.pids = "4242", .build_ids.none = true};
	struct sonde_recorder *r = begin(f, &o);
	struct diag_sink diags = {0};
	struct file file = {.diags = &diags};
	struct record_mmap m;
	struct record_comm c;
	struct record rec;
	size_t nmaps = 0, ncomms = 0;
	uint64_t offset;

	ok(sonde_recorder_start(r) == 0 && sonde_recorder_run(r) == 0, "a recording of a process");
	eq_u64(r->rings.tasks.nthreads, 2, "of two threads");
	sonde_recorder_free(r);
	ok(file_open(&file, output) >= 0, "the file opens");
	for (offset = file.data.offset; file_next(&file, &offset, &rec, &diags) > 0;) {
		if (rec.type == RECORD_MMAP || rec.type == RECORD_MMAP2) {
			ok(nmaps < 7 && record_mmap_decode(&rec, false, &m) &&
			                strcmp((const char *)m.name.p, maps[nmaps]) == 0,
			        nmaps < 7 ? maps[nmaps] : "one mapping too many");
			nmaps++;
		}
		ncomms += rec.type == RECORD_COMM && record_comm_decode(&rec, false, &c) &&
		          c.pid == 4242 && c.tid == 4242 + ncomms;
	}
	eq_u64(nmaps, 7, "all that is executable and nothing else");
	eq_u64(ncomms, 2, "both names");
	file_close(&file);
}

/* The text of an error names what really stands in the way. */
static void test_permission(const struct fixture *f, int64_t paranoid, const char *says)
{
	struct sonde_recorder_options o = {.targets.all_cpus = true};
	struct sonde_recorder *r = begin(f, &o);
	char path[] = "proc/sys/kernel/perf_event_paranoid";
	FILE *p = fixture_file(f, path);

	if (p != NULL) {
		(void)fprintf(p, "%lld\n", (long long)paranoid);
		(void)fclose(p);
	}
	refuse = 1;
	eq_u64(sonde_recorder_start(r), SONDE_EPERM, "not allowed");
	if (!ok(strstr(sonde_recorder_error(r)->text, says) != NULL, says)) {
		printf("#   got %s\n", sonde_recorder_error(r)->text);
	}
	ok(sonde_recorder_error(r)->cause != NULL &&
	                strstr(sonde_recorder_error(r)->cause->text, "not allowed") == NULL,
	        "what stands in the way is the cause");
	refuse = 0;
	sonde_recorder_free(r);
}

int main(int argc, char **argv)
{
	struct fixture f;

	if (argc != 2) {
		return 2;
	}
	fixture_open(&f, argv[1]);
	(void)snprintf(output, sizeof(output), "%s/perf.data", f.path);
	test_header(&f);
	test_state(&f);
	test_permission(&f, 2,
	        "on all cpus: kernel.perf_event_paranoid is 2; as root run "
	        "'sysctl kernel.perf_event_paranoid=0', or give sonde the "
	        "capability CAP_PERFMON");
	test_permission(&f, -1, "a security module or a container's filter");
	fixture_close(&f);
	return tap_done();
}
