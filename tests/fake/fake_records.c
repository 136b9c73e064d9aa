/* SPDX-License-Identifier: MIT */
/* The records that events yield for what happens on the machine. */
#include "fake/fake_internal.h"

#include <stdlib.h>

#define AT_DATA_HEAD 1024
#define AT_DATA_TAIL 1032
#define NS_STEP      1000 /* between two things that happen */

static void put_u32(struct text *t, uint32_t v)
{
	text_bytes(t, (const char *)&v, sizeof(v));
}

static void put_u64(struct text *t, uint64_t v)
{
	text_bytes(t, (const char *)&v, sizeof(v));
}

static void put_name(struct text *t, const char *name)
{
	text_bytes(t, name, strlen(name) + 1);
	text_fill(t, '\0', (8 - t->n % 8) % 8);
}

void fake_record_begin(struct text *t, uint32_t type, uint16_t misc)
{
	uint32_t head[2] = {type, misc};

	t->n = 0;
	text_bytes(t, (const char *)head, sizeof(head));
}

static void record_size(struct text *t)
{
	uint16_t size = (uint16_t)t->n;

	if (t->failed || t->p == NULL || t->n > UINT16_MAX) {
		abort();
	}
	memcpy(t->p + 6, &size, sizeof(size));
}

static void put_trailer(struct text *t, const struct fake_event *e, int cpu, pid_t pid, pid_t tid)
{
	uint64_t type = e->attr.sample_type;

	if (!sonde_attr_has(&e->attr, SONDE_FLAG_SAMPLE_ID_ALL)) {
		return;
	}
	if ((type & SONDE_SAMPLE_TID) != 0) {
		put_u32(t, (uint32_t)pid);
		put_u32(t, (uint32_t)tid);
	}
	if ((type & SONDE_SAMPLE_TIME) != 0) {
		put_u64(t, fake_machine.now);
	}
	if ((type & SONDE_SAMPLE_ID) != 0) {
		put_u64(t, e->id);
	}
	if ((type & SONDE_SAMPLE_STREAM_ID) != 0) {
		put_u64(t, e->id);
	}
	if ((type & SONDE_SAMPLE_CPU) != 0) {
		put_u64(t, (uint64_t)cpu);
	}
	if ((type & SONDE_SAMPLE_IDENTIFIER) != 0) {
		put_u64(t, e->id);
	}
}

void fake_ring_wake(struct fake_ring *ring)
{
	if (ring->wake_in == 0) {
		ring->wake_in = fake_machine.options.late + 1;
	}
}

/* Raw bytes into the ring; false when there is no room for all of them. */
static bool ring_write(struct fake_ring *ring, const struct text *t)
{
	uint64_t *head = fake_word(ring, AT_DATA_HEAD);
	uint64_t tail = __atomic_load_n(fake_word(ring, AT_DATA_TAIL), __ATOMIC_ACQUIRE);
	size_t i;

	if (*head - tail + t->n > ring->size) {
		return false;
	}
	for (i = 0; i < t->n; i++) {
		ring->map[FAKE_PAGE + ((*head + i) & (ring->size - 1))] = (uint8_t)t->p[i];
	}
	__atomic_store_n(head, *head + t->n, __ATOMIC_RELEASE);
	if (*head - tail >= fake_machine.options.watermark) {
		fake_ring_wake(ring);
	}
	ring->sent++;
	return true;
}

static void ring_tell_lost(struct fake_ring *ring)
{
	struct fake_event *e = &fake_machine.events[ring->fd - FAKE_FIRST_FD];
	struct text t = {0};

	fake_record_begin(&t, RECORD_LOST, 0);
	put_u64(&t, ring->lost_id);
	put_u64(&t, ring->lost);
	put_trailer(&t, e, e->cpu, 0, 0);
	record_size(&t);
	if (ring_write(ring, &t)) {
		ring->lost = 0;
	}
	text_fini(&t);
}

bool fake_ring_put(struct fake_ring *ring, const struct text *t, uint64_t id)
{
	if (ring == NULL || ring->map == NULL || ring->size == 0) {
		return false;
	}
	if (ring->lost > 0) {
		ring_tell_lost(ring);
	}
	if (ring->lost == 0 && ring_write(ring, t)) {
		return true;
	}
	ring->lost++;
	ring->lost_id = id;
	ring->dropped++;
	return false;
}

bool fake_record_put(struct fake_event *e, struct text *t, int cpu, pid_t pid, pid_t tid)
{
	put_trailer(t, e, cpu, pid, tid);
	record_size(t);
	return fake_ring_put(e->ring, t, e->id);
}

static const struct fake_task *task_find(pid_t pid)
{
	size_t i;

	for (i = 0; i < fake_machine.ntasks; i++) {
		if (fake_machine.tasks[i].pid == pid) {
			return &fake_machine.tasks[i];
		}
	}
	return NULL;
}

bool fake_sees(const struct fake_event *e, int cpu, pid_t pid)
{
	const struct fake_task *task;
	size_t deep;

	if (!e->open || (e->cpu != -1 && e->cpu != cpu) || fake_machine.cpus[cpu].offline) {
		return false;
	}
	if (e->pid == -1 || e->pid == pid) {
		return true;
	}
	task = sonde_attr_has(&e->attr, SONDE_FLAG_INHERIT) ? task_find(pid) : NULL;
	for (deep = 0; task != NULL && deep < fake_machine.ntasks; deep++) {
		if (task->parent == e->pid) {
			return true;
		}
		task = task_find(task->parent);
	}
	return false;
}

int fake_cpu_of(pid_t pid)
{
	unsigned cpu;

	for (cpu = 0; cpu < fake_machine.options.ncpus; cpu++) {
		if (fake_machine.cpus[cpu].pid == pid) {
			return (int)cpu;
		}
	}
	return 0;
}

static bool is_dummy(const struct fake_event *e)
{
	return e->attr.type == SONDE_TYPE_SOFTWARE && e->attr.config == SONDE_SW_DUMMY;
}

/* Gives a record to each event that is enabled, has the flag and sees the task. */
static void tell(const struct text *body, enum sonde_attr_flag flag, int cpu, pid_t pid)
{
	struct fake_event *e;
	struct text t = {0};
	size_t i;

	fake_machine.now += NS_STEP;
	for (i = 0; i < fake_machine.nevents; i++) {
		e = &fake_machine.events[i];
		if (!e->enabled || !sonde_attr_has(&e->attr, flag) || !fake_sees(e, cpu, pid) ||
		        (is_dummy(e) && fake_machine.options.ignore_dummy)) {
			continue;
		}
		t.n = 0;
		text_bytes(&t, body->p, body->n);
		(void)fake_record_put(e, &t, cpu, pid, pid);
	}
	text_fini(&t);
}

static void tell_switch(int cpu, pid_t pid, pid_t other, bool out)
{
	struct fake_event *e;
	struct text t = {0};
	size_t i;

	fake_machine.now += NS_STEP;
	for (i = 0; i < fake_machine.nevents; i++) {
		e = &fake_machine.events[i];
		if (!e->enabled || !sonde_attr_has(&e->attr, SONDE_FLAG_CONTEXT_SWITCH) ||
		        !fake_sees(e, cpu, pid) ||
		        (is_dummy(e) && fake_machine.options.ignore_dummy)) {
			continue;
		}
		fake_record_begin(&t, e->pid == -1 ? RECORD_SWITCH_CPU_WIDE : RECORD_SWITCH,
		        out ? MISC_SWITCH_OUT : 0);
		if (e->pid == -1) {
			put_u32(&t, (uint32_t)other);
			put_u32(&t, (uint32_t)other);
		}
		(void)fake_record_put(e, &t, cpu, pid, pid);
	}
	text_fini(&t);
}

void fake_run(int cpu, pid_t pid, pid_t tid)
{
	struct fake_cpu *c = &fake_machine.cpus[cpu];
	pid_t before = c->pid;
	struct fake_event *e;
	size_t i;

	if (before != 0) {
		fake_aux_flush(cpu);
		tell_switch(cpu, before, pid, true);
	}
	c->pid = pid;
	c->tid = tid;
	if (pid == 0) {
		return;
	}
	tell_switch(cpu, pid, before, false);
	for (i = 0; i < fake_machine.nevents; i++) {
		e = &fake_machine.events[i];
		if (e->enabled && e->ring != NULL && e->ring->aux != NULL && e->ring->fd == e->fd) {
			fake_aux_started(e);
		}
	}
}

static void put_task(uint32_t type, pid_t pid, pid_t parent, enum sonde_attr_flag flag)
{
	struct text t = {0};

	fake_record_begin(&t, type, 0);
	put_u32(&t, (uint32_t)pid);
	put_u32(&t, (uint32_t)parent);
	put_u32(&t, (uint32_t)pid);
	put_u32(&t, (uint32_t)parent);
	put_u64(&t, fake_machine.now + NS_STEP);
	tell(&t, flag, fake_cpu_of(type == RECORD_FORK ? parent : pid),
	        type == RECORD_FORK ? parent : pid);
	text_fini(&t);
}

void fake_fork(pid_t parent, pid_t child)
{
	fake_machine.tasks =
	        fake_grow(fake_machine.tasks, fake_machine.ntasks, sizeof(*fake_machine.tasks));
	fake_machine.tasks[fake_machine.ntasks++] =
	        (struct fake_task){.pid = child, .parent = parent};
	put_task(RECORD_FORK, child, parent, SONDE_FLAG_TASK);
}

void fake_exit(pid_t pid)
{
	const struct fake_task *task = task_find(pid);

	put_task(RECORD_EXIT, pid, task != NULL ? task->parent : 1, SONDE_FLAG_TASK);
}

static void put_comm(pid_t pid, const char *comm, uint16_t misc)
{
	struct text t = {0};

	fake_record_begin(&t, RECORD_COMM, misc);
	put_u32(&t, (uint32_t)pid);
	put_u32(&t, (uint32_t)pid);
	put_name(&t, comm);
	tell(&t, SONDE_FLAG_COMM, fake_cpu_of(pid), pid);
	text_fini(&t);
}

void fake_comm(pid_t pid, const char *comm)
{
	put_comm(pid, comm, 0);
}

void fake_exec(pid_t pid, const char *comm)
{
	struct fake_event *e;
	size_t i;

	for (i = 0; i < fake_machine.nevents; i++) {
		e = &fake_machine.events[i];
		if (!e->open || e->pid == -1 || e->enabled ||
		        !sonde_attr_has(&e->attr, SONDE_FLAG_ENABLE_ON_EXEC) ||
		        !fake_sees(e, e->cpu >= 0 ? e->cpu : 0, pid)) {
			continue;
		}
		e->enabled = true;
		if (e->ring != NULL && e->ring->aux != NULL && e->ring->fd == e->fd) {
			fake_aux_started(e);
		}
	}
	put_comm(pid, comm, MISC_COMM_EXEC);
}

void fake_mmap(pid_t pid, uint64_t addr, uint64_t size, const char *file)
{
	struct text t = {0};

	fake_record_begin(&t, RECORD_MMAP2, MISC_USER);
	put_u32(&t, (uint32_t)pid);
	put_u32(&t, (uint32_t)pid);
	put_u64(&t, addr);
	put_u64(&t, size);
	put_u64(&t, 0); /* offset in the file */
	put_u64(&t, 0); /* device */
	put_u64(&t, 1); /* inode */
	put_u64(&t, 0);
	put_u32(&t, 5); /* readable, executable */
	put_u32(&t, 2); /* private */
	put_name(&t, file);
	tell(&t, SONDE_FLAG_MMAP2, fake_cpu_of(pid), pid);
	text_fini(&t);
}

void fake_offline(int cpu)
{
	size_t i;

	fake_aux_flush(cpu);
	for (i = 0; i < fake_machine.nevents; i++) {
		if (fake_machine.events[i].cpu == cpu) {
			fake_machine.events[i].enabled = false;
		}
	}
	fake_machine.cpus[cpu].offline = true;
	fake_machine.cpus[cpu].pid = 0;
}

static void put_sample_head(
        struct text *t, const struct fake_event *e, uint64_t ip, const struct fake_cpu *c)
{
	uint64_t type = e->attr.sample_type;

	if ((type & SONDE_SAMPLE_IDENTIFIER) != 0) {
		put_u64(t, e->id);
	}
	if ((type & SONDE_SAMPLE_IP) != 0) {
		put_u64(t, ip);
	}
	if ((type & SONDE_SAMPLE_TID) != 0) {
		put_u32(t, (uint32_t)c->pid);
		put_u32(t, (uint32_t)c->tid);
	}
	if ((type & SONDE_SAMPLE_TIME) != 0) {
		put_u64(t, fake_machine.now);
	}
	if ((type & SONDE_SAMPLE_ADDR) != 0) {
		put_u64(t, 0);
	}
	if ((type & SONDE_SAMPLE_ID) != 0) {
		put_u64(t, e->id);
	}
}

bool fake_sample(struct fake_event *e, uint64_t ip)
{
	int cpu = e->cpu >= 0 ? e->cpu : fake_cpu_of(e->pid);
	const struct fake_cpu *c = &fake_machine.cpus[cpu];
	uint64_t type = e->attr.sample_type;
	struct text t = {0};
	struct text aux = {0};
	bool sent;

	fake_machine.now += NS_STEP;
	e->count++;
	if (!e->enabled) {
		return false;
	}
	fake_record_begin(&t, RECORD_SAMPLE, ip >> 63 != 0 ? MISC_KERNEL : MISC_USER);
	put_sample_head(&t, e, ip, c);
	if ((type & SONDE_SAMPLE_CPU) != 0) {
		put_u64(&t, (uint64_t)cpu);
	}
	if ((type & SONDE_SAMPLE_PERIOD) != 0) {
		put_u64(&t, 1);
	}
	if ((type & SONDE_SAMPLE_CALLCHAIN) != 0) {
		put_u64(&t, 1);
		put_u64(&t, ip);
	}
	if ((type & SONDE_SAMPLE_RAW) != 0) {
		put_u32(&t, 4);
		put_u32(&t, 0);
	}
	if ((type & SONDE_SAMPLE_AUX) != 0) {
		if (e->ring != NULL && e->ring->aux != NULL) {
			fake_aux_bytes(e->ring, e->ring->aux_head, e->attr.aux_sample_size, &aux);
		}
		put_u64(&t, aux.n);
		text_bytes(&t, aux.p, aux.n);
	}
	record_size(&t);
	sent = fake_ring_put(e->ring, &t, e->id);
	e->lost += !sent;
	text_fini(&t);
	text_fini(&aux);
	return sent;
}
