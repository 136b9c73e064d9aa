/* SPDX-License-Identifier: MIT */
/* The calls: what a recorder asks of the kernel. */
#define _GNU_SOURCE
#include "fake/fake_internal.h"
#include "record/record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

/* places in the control page: perf_event_open(2) */
#define AT_LOCK       8
#define AT_CAPS       40
#define AT_DATA_HEAD  1024
#define AT_DATA_TAIL  1032
#define AT_DATA_AT    1040
#define AT_DATA_SIZE  1048
#define AT_AUX_HEAD   1056
#define AT_AUX_OFFSET 1072
#define AT_AUX_SIZE   1080

struct fake_machine fake_machine;

void *fake_grow(void *list, size_t n, size_t item)
{
	void *grown = realloc(list, (n + 1) * item);

	if (grown == NULL) {
		abort();
	}
	memset((uint8_t *)grown + n * item, 0, item);
	return grown;
}

uint64_t *fake_word(const struct fake_ring *ring, size_t at)
{
	return (uint64_t *)(void *)(ring->map + at);
}

static struct fake_event *by_fd(int fd)
{
	size_t i = (size_t)(fd - FAKE_FIRST_FD);

	return fd >= FAKE_FIRST_FD && i < fake_machine.nevents ? &fake_machine.events[i] : NULL;
}

void fake_reset(const struct fake_options *options)
{
	fake_end();
	fake_machine.options = *options;
	fake_machine.now = 1000000;
	if (fake_machine.options.ncpus == 0) {
		fake_machine.options.ncpus = 1;
	}
	if (fake_machine.options.mlock_kb == 0) {
		fake_machine.options.mlock_kb = 516;
	}
}

void fake_end(void)
{
	size_t i;

	for (i = 0; i < fake_machine.nrings; i++) {
		free(fake_machine.rings[i]);
	}
	free(fake_machine.events);
	free(fake_machine.tasks);
	free(fake_machine.pieces);
	memset(&fake_machine, 0, sizeof(fake_machine));
}

void fake_on_poll(bool (*step)(void *arg), void *arg)
{
	fake_machine.step = step;
	fake_machine.step_arg = arg;
}

size_t fake_events(void)
{
	return fake_machine.nevents;
}

struct fake_event *fake_event(size_t i)
{
	return &fake_machine.events[i];
}

struct fake_event *fake_find(uint32_t type, uint64_t config, int cpu)
{
	struct fake_event *e;
	size_t i;

	for (i = 0; i < fake_machine.nevents; i++) {
		e = &fake_machine.events[i];
		if (e->open && e->attr.type == type && e->attr.config == config && e->cpu == cpu) {
			return e;
		}
	}
	return NULL;
}

unsigned fake_open_fds(void)
{
	return fake_machine.open_fds;
}

uint64_t fake_locked(void)
{
	return fake_machine.locked;
}

/* Not zero: the errno with which a kernel of this age refuses the attr. */
static int refuses_attr(const struct sonde_attr *attr)
{
	const struct fake_options *o = &fake_machine.options;
	uint8_t bytes[ATTR_SIZE_NOW];
	uint32_t i;

	record_attr_encode(attr, bytes);
	for (i = o->attr_size; o->attr_size != 0 && i < attr->size && i < ATTR_SIZE_NOW; i++) {
		if (bytes[i] != 0) {
			return E2BIG;
		}
	}
	if ((attr->flags & o->unknown_flags) != 0 ||
	        (attr->sample_type & o->unknown_samples) != 0 ||
	        (attr->read_format & o->unknown_reads) != 0) {
		return EINVAL;
	}
	return 0;
}

static int refuses(const struct sonde_attr *attr, pid_t pid, int cpu, int group_fd)
{
	const struct fake_options *o = &fake_machine.options;
	const struct fake_event *leader = by_fd(group_fd);
	int why = refuses_attr(attr);

	if (why != 0) {
		return why;
	}
	if (attr->type > SONDE_TYPE_BREAKPOINT && attr->type != o->aux_type &&
	        attr->type != o->known_type) {
		return ENOENT;
	}
	if (pid == -1 && cpu == -1) {
		return EINVAL;
	}
	if (cpu >= (int)o->ncpus || (cpu >= 0 && fake_machine.cpus[cpu].offline)) {
		return ENODEV;
	}
	if (group_fd >= 0 && (leader == NULL || !leader->open || leader->cpu != cpu)) {
		return EINVAL;
	}
	if (o->unprivileged && (pid == -1 || attr->type == SONDE_TYPE_TRACEPOINT)) {
		return EACCES;
	}
	if (o->open_limit != 0 && fake_machine.open_fds >= o->open_limit) {
		return EMFILE;
	}
	return 0;
}

static int fake_open(
        const struct sonde_attr *attr, pid_t pid, int cpu, int group_fd, unsigned flags)
{
	int why = refuses(attr, pid, cpu, group_fd);
	struct fake_event *e;

	(void)flags;
	if (why != 0) {
		errno = why;
		return -1;
	}
	fake_machine.events =
	        fake_grow(fake_machine.events, fake_machine.nevents, sizeof(*fake_machine.events));
	e = &fake_machine.events[fake_machine.nevents];
	*e = (struct fake_event){.attr = *attr,
	        .pid = pid,
	        .cpu = cpu,
	        .fd = FAKE_FIRST_FD + (int)fake_machine.nevents,
	        .id = 500 + fake_machine.nevents,
	        .group_fd = group_fd,
	        .open = true,
	        .enabled = !sonde_attr_has(attr, SONDE_FLAG_DISABLED)};
	fake_machine.nevents++;
	fake_machine.open_fds++;
	return e->fd;
}

static int fake_close(int fd)
{
	struct fake_event *e = by_fd(fd);

	if (e == NULL || !e->open) {
		errno = EBADF;
		return -1;
	}
	e->open = false;
	e->enabled = false;
	fake_machine.open_fds--;
	return 0;
}

/*
 * Locked memory: (perf_event_mlock_kb / page) pages for each cpu are free, what is above counts
 * against RLIMIT_MEMLOCK.
 */
static bool lock(size_t size)
{
	const struct fake_options *o = &fake_machine.options;
	uint64_t allowed = o->mlock_kb * 1024 * o->ncpus + o->memlock;

	if (o->unprivileged && fake_machine.locked + size > allowed) {
		errno = EPERM;
		return false;
	}
	fake_machine.locked += size;
	return true;
}

static void *shared(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED) {
		abort();
	}
	return p;
}

static void *fake_map(int fd, size_t size, bool read_only)
{
	size_t pages = size / FAKE_PAGE - 1;
	struct fake_event *e = by_fd(fd);
	struct fake_ring *ring;

	(void)read_only;
	if (e == NULL || size < FAKE_PAGE || size % FAKE_PAGE != 0 || (pages & (pages - 1)) != 0 ||
	        e->ring != NULL) {
		errno = EINVAL;
		return NULL;
	}
	if (!lock(size)) {
		return NULL;
	}
	ring = fake_grow(NULL, 0, sizeof(*ring));
	*ring = (struct fake_ring){.fd = fd, .map_size = size, .size = size - FAKE_PAGE};
	ring->map = shared(size);
	*fake_word(ring, AT_DATA_AT) = FAKE_PAGE;
	*fake_word(ring, AT_DATA_SIZE) = ring->size;
	if (fake_machine.options.page != NULL) {
		fake_page_write(ring->map, fake_machine.options.page);
	}
	if (fake_machine.nrings == sizeof(fake_machine.rings) / sizeof(fake_machine.rings[0])) {
		abort();
	}
	fake_machine.rings[fake_machine.nrings++] = ring;
	e->ring = ring;
	return ring->map;
}

static void *fake_map_aux(int fd, size_t size, uint64_t offset, bool overwrite)
{
	struct fake_event *e = by_fd(fd);
	struct fake_ring *ring = e != NULL ? e->ring : NULL;
	size_t pages = size / FAKE_PAGE;

	if (ring == NULL || e->attr.type != fake_machine.options.aux_type || pages == 0 ||
	        size % FAKE_PAGE != 0 || (pages & (pages - 1)) != 0 || ring->aux != NULL ||
	        *fake_word(ring, AT_AUX_OFFSET) != offset ||
	        *fake_word(ring, AT_AUX_SIZE) != size || offset < ring->map_size) {
		errno = EINVAL;
		return NULL;
	}
	if (!lock(size)) {
		return NULL;
	}
	ring->aux = shared(size);
	ring->aux_size = size;
	ring->aux_overwrite = overwrite;
	return ring->aux;
}

/* The ring itself is kept, without its memory: events still point at it. */
static void fake_unmap(void *map, size_t size)
{
	struct fake_ring *ring;
	size_t i;

	for (i = 0; i < fake_machine.nrings; i++) {
		ring = fake_machine.rings[i];
		if (ring->map == map) {
			ring->map = NULL;
		} else if (ring->aux == map) {
			ring->aux = NULL;
		} else {
			continue;
		}
		fake_machine.locked -= size;
		(void)munmap(map, size);
		return;
	}
	abort();
}

static int fake_id(int fd, uint64_t *id)
{
	*id = by_fd(fd)->id;
	return 0;
}

static int fake_redirect(int fd, int ring_fd)
{
	struct fake_event *e = by_fd(fd);
	struct fake_event *to = by_fd(ring_fd);

	if (e == NULL || to == NULL || to->ring == NULL || e->cpu != to->cpu ||
	        (e->ring != NULL && e->ring->fd == fd)) {
		errno = EINVAL;
		return -1;
	}
	e->ring = to->ring;
	return 0;
}

static int fake_enable(int fd, bool on, bool group)
{
	struct fake_event *e = by_fd(fd);
	bool aux;

	(void)group;
	if (e == NULL || !e->open) {
		errno = EBADF;
		return -1;
	}
	aux = e->ring != NULL && e->attr.type == fake_machine.options.aux_type && e->ring->aux;
	if (!on) {
		if (aux && e->enabled) {
			fake_aux_record(e->ring, e->cpu);
		}
		e->enabled = false;
		return 0;
	}
	e->enables++;
	if (fake_machine.options.ignore_enable && aux && e->ring->aux_stopped) {
		return 0;
	}
	e->enabled = true;
	if (aux) {
		fake_aux_started(e);
	}
	return 0;
}

static int fake_set_filter(int fd, const char *text)
{
	struct fake_event *e = by_fd(fd);

	if (e == NULL || strlen(text) >= sizeof(e->filter)) {
		errno = EINVAL;
		return -1;
	}
	(void)snprintf(e->filter, sizeof(e->filter), "%s", text);
	return 0;
}

/* value, [enabled], [running], [id], [lost]; with GROUP: n, [enabled], [running], and the rest. */
static ssize_t fake_read(int fd, void *buf, size_t size)
{
	const struct fake_event *e = by_fd(fd);
	uint64_t format = e->attr.read_format;
	bool group = (format & SONDE_READ_GROUP) != 0;
	uint64_t v[4 + 3 * 64];
	size_t i, n = 0, members = 0;

	n += group ? 1 : 0;
	if (!group) {
		v[n++] = e->count;
	}
	if ((format & SONDE_READ_ENABLED) != 0) {
		v[n++] = e->enabled_ns;
	}
	if ((format & SONDE_READ_RUNNING) != 0) {
		v[n++] = e->running_ns;
	}
	for (i = 0; i < fake_machine.nevents; i++) {
		const struct fake_event *m = &fake_machine.events[i];

		if ((m->fd != fd && (!group || m->group_fd != fd || !m->open)) || members == 64) {
			continue;
		}
		members++;
		if (group) {
			v[n++] = m->count;
		}
		if ((format & SONDE_READ_ID) != 0) {
			v[n++] = m->id;
		}
		if ((format & SONDE_READ_LOST) != 0) {
			v[n++] = m->lost;
		}
	}
	if (group) {
		v[0] = members;
	}
	if (n * sizeof(v[0]) > size) {
		errno = ENOSPC;
		return -1;
	}
	memcpy(buf, v, n * sizeof(v[0]));
	return (ssize_t)(n * sizeof(v[0]));
}

static short poll_one(int fd)
{
	struct fake_event *e = by_fd(fd);
	short got = 0;

	if (e == NULL) {
		return 0;
	}
	if (e->cpu >= 0 && fake_machine.cpus[e->cpu].offline) {
		got = POLLHUP;
	}
	if (e->ring != NULL && e->ring->wake_in > 0 && --e->ring->wake_in == 0) {
		got |= POLLIN;
	}
	return got;
}

/* Descriptors that are not ours are asked for real, without waiting. */
static int fake_poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
	bool more = fake_machine.step == NULL || fake_machine.step(fake_machine.step_arg);
	nfds_t i;
	int ready = 0;

	(void)timeout_ms;
	for (i = 0; i < n; i++) {
		if (fds[i].fd >= FAKE_FIRST_FD) {
			fds[i].revents = poll_one(fds[i].fd);
		} else if (fds[i].fd < 0 || poll(&fds[i], 1, 0) <= 0) {
			fds[i].revents = 0;
		}
	}
	if (!more) {
		fds[0].revents = POLLIN;
	}
	for (i = 0; i < n; i++) {
		ready += fds[i].revents != 0;
	}
	return ready;
}

static void fake_cpuid(uint32_t leaf, uint32_t subleaf, uint32_t out[4])
{
	static const uint32_t clocks[4] = {2, 246, 24000000, 0};

	(void)subleaf;
	memset(out, 0, 4 * sizeof(*out));
	if (leaf == 0) {
		out[0] = 0x15;
	} else if (leaf == 0x15) {
		memcpy(out, clocks, sizeof(clocks));
	}
}

static bool fake_privileged(void)
{
	return !fake_machine.options.unprivileged;
}

static uint64_t fake_memlock(void)
{
	return fake_machine.options.memlock;
}

static uint64_t fake_ticks(void)
{
	return fake_machine.now * 3;
}

const struct host_kernel *fake_kernel(void)
{
	static const struct host_kernel kernel = {
	        .open = fake_open,
	        .close = fake_close,
	        .map = fake_map,
	        .map_aux = fake_map_aux,
	        .unmap = fake_unmap,
	        .id = fake_id,
	        .redirect = fake_redirect,
	        .enable = fake_enable,
	        .set_filter = fake_set_filter,
	        .read = fake_read,
	        .poll = fake_poll,
	        .cpuid = fake_cpuid,
	        .privileged = fake_privileged,
	        .memlock = fake_memlock,
	        .ticks = fake_ticks,
	};

	return &kernel;
}

void fake_page_begin(void *map)
{
	uint32_t *lock_word = (uint32_t *)(void *)((uint8_t *)map + AT_LOCK);

	__atomic_store_n(lock_word, *lock_word + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void fake_page_end(void *map)
{
	uint32_t *lock_word = (uint32_t *)(void *)((uint8_t *)map + AT_LOCK);

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(lock_word, *lock_word + 1, __ATOMIC_RELAXED);
}

/* Word by word, so that a reader without the lock would see halves; width: bytes. */
static void page_store(void *map, size_t at, uint64_t v, size_t width)
{
	uint8_t *p = (uint8_t *)map + at;

	if (width == 8) {
		__atomic_store_n((uint64_t *)(void *)p, v, __ATOMIC_RELAXED);
	} else if (width == 4) {
		__atomic_store_n((uint32_t *)(void *)p, (uint32_t)v, __ATOMIC_RELAXED);
	} else {
		__atomic_store_n((uint16_t *)(void *)p, (uint16_t)v, __ATOMIC_RELAXED);
	}
}

void fake_page_write(void *map, const struct fake_page *v)
{
	fake_page_begin(map);
	page_store(map, 12, v->index, 4);
	page_store(map, 16, (uint64_t)v->offset, 8);
	page_store(map, 24, v->enabled, 8);
	page_store(map, 32, v->running, 8);
	page_store(map, AT_CAPS, v->caps, 8);
	page_store(map, 48, v->width, 2);
	page_store(map, 50, v->time_shift, 2);
	page_store(map, 52, v->time_mult, 4);
	page_store(map, 56, v->time_offset, 8);
	page_store(map, 64, v->time_zero, 8);
	page_store(map, 80, v->time_cycles, 8);
	page_store(map, 88, v->time_mask, 8);
	fake_page_end(map);
}
