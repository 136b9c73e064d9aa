/* SPDX-License-Identifier: MIT */
/* Reads what was recorded back: times, counts, and which objects samples fell into. */
#include "abi/abi.h"
#include "capture/capture.h"
#include "core/array.h"
#include "core/hash.h"
#include "core/intern.h"
#include "file/feature_write.h"
#include "image/image.h"
#include "record/record.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct map {
	uint64_t start, end;
	uint32_t pid; /* UINT32_MAX: kernel */
	uint32_t name;
};

struct scan {
	struct map *maps;
	size_t n, cap;
	struct intern names;
	bool *hit; /* by name */
	size_t nhit;
	uint64_t seen[8192]; /* (pid, page) that were looked up already */
	bool kernel_hit;
};

static bool mark_name(struct scan *s, uint32_t name)
{
	size_t old = s->nhit;

	if (!array_reserve(&s->hit, &s->nhit, (size_t)name + 1, sizeof(bool))) {
		return false;
	}
	memset(s->hit + old, 0, s->nhit - old);
	s->hit[name] = true;
	return true;
}

/* Marks every object that was ever mapped there: which one it was at the time does not matter. */
static void mark_hit(struct scan *s, uint32_t pid, uint64_t ip)
{
	uint64_t key = hash_step(hash_u64(ip >> 12), pid) | 1;
	uint64_t *slot = &s->seen[key >> 51];
	size_t i;

	if (*slot == key) {
		return;
	}
	*slot = key;
	for (i = 0; i < s->n; i++) {
		if (ip >= s->maps[i].start && ip < s->maps[i].end &&
		        (s->maps[i].pid == pid || s->maps[i].pid == UINT32_MAX)) {
			(void)mark_name(s, s->maps[i].name);
		}
	}
}

static void add_map(struct scan *s, const struct record *rec)
{
	struct record_mmap m;
	uint32_t name;

	if (!record_mmap_decode(rec, false, &m)) {
		return;
	}
	name = intern_add(&s->names, (const char *)m.name.p, m.name.n);
	if (name == INTERN_NONE || !array_reserve(&s->maps, &s->cap, s->n + 1, sizeof(*s->maps))) {
		return;
	}
	s->maps[s->n++] =
	        (struct map){.start = m.start, .end = m.start + m.len, .pid = m.pid, .name = name};
	memset(s->seen, 0, sizeof(s->seen));
}

static void put_id(
        struct capture_scan *out, uint16_t misc, const uint8_t *id, int n, const char *name)
{
	if (n > 0) {
		feature_put_build_id(&out->build_ids, misc, id, (size_t)n, name);
	}
}

static void put_build_ids(const struct scan *s, struct capture_scan *out)
{
	uint8_t id[IMAGE_BUILD_ID_MAX] = {0};
	const char *name;
	char module[128];
	uint32_t i;

	for (i = 0; i < s->names.count && i < s->nhit; i++) {
		name = intern_text(&s->names, i);
		if (!s->hit[i]) {
			continue;
		}
		if (strncmp(name, "[kernel.kallsyms]", 17) == 0) {
			put_id(out, MISC_KERNEL, id, image_build_id_of_kernel(id),
			        "[kernel.kallsyms]");
		} else if (strcmp(name, "[vdso]") == 0) {
			put_id(out, MISC_USER, id, image_build_id_of_vdso(id), name);
		} else if (name[0] == '[' && strlen(name) < sizeof(module) && strlen(name) > 2) {
			(void)memcpy(module, name + 1, strlen(name) - 2);
			module[strlen(name) - 2] = '\0';
			put_id(out, MISC_KERNEL, id, image_build_id_of_module(module, id), name);
		} else if (name[0] == '/' && name[1] != '/') {
			put_id(out, MISC_USER, id, image_build_id_of_file(name, id), name);
		}
	}
}

static const struct record_plan *find_plan(
        const struct sonde_record *r, const struct record_plan *plans, struct span body)
{
	uint64_t id;
	size_t e, k;

	if (r->events.n == 1 || plans[0].sample_id == RECORD_NOT_THERE ||
	        (size_t)plans[0].sample_id + 8 > body.n) {
		return &plans[0];
	}
	id = load_u64(body.p + plans[0].sample_id, false);
	for (e = 0; e < r->events.n; e++) {
		for (k = 0; k < r->opened[e].nids; k++) {
			if (r->opened[e].ids[k] == id) {
				return &plans[e];
			}
		}
	}
	return &plans[0];
}

static void scan_sample(const struct sonde_record *r, const struct record_plan *plans,
        struct scan *s, const struct record *rec, struct capture_scan *out)
{
	const struct record_plan *plan = find_plan(r, plans, rec->body);
	uint64_t time;

	out->samples++;
	if (plan->fixed_size > rec->body.n || plan->time == RECORD_NOT_THERE ||
	        plan->ip == RECORD_NOT_THERE || plan->tid == RECORD_NOT_THERE) {
		return;
	}
	time = load_u64(rec->body.p + plan->time, false);
	out->first = out->first == 0 || time < out->first ? time : out->first;
	out->last = time > out->last ? time : out->last;
	if (!r->options.no_build_ids) {
		mark_hit(s, load_u32(rec->body.p + plan->tid, false),
		        load_u64(rec->body.p + plan->ip, false));
	}
}

static void scan_records(const struct sonde_record *r, const struct record_plan *plans,
        struct scan *s, struct span data, struct capture_scan *out, bool maps)
{
	struct record rec;
	size_t at;

	for (at = 0; data.n - at >= RECORD_HEADER_SIZE; at += rec.size) {
		rec.type = load_u32(data.p + at, false);
		rec.misc = load_u16(data.p + at + 4, false);
		rec.size = load_u16(data.p + at + 6, false);
		rec.offset = at;
		if (rec.size < RECORD_HEADER_SIZE || rec.size > data.n - at) {
			return;
		}
		rec.body = (struct span){.p = data.p + at + 8, .n = rec.size - 8u};
		if (maps) {
			if (rec.type == RECORD_MMAP || rec.type == RECORD_MMAP2) {
				add_map(s, &rec);
			}
		} else if (rec.type == RECORD_SAMPLE) {
			scan_sample(r, plans, s, &rec, out);
		} else if (rec.type == RECORD_LOST && rec.body.n >= 16) {
			out->lost += load_u64(rec.body.p + 8, false);
		}
	}
}

int capture_scan_file(struct sonde_record *r, struct capture_scan *out)
{
	size_t size = (size_t)(r->writer.data_at + r->writer.data_size);
	struct scan *s = calloc(1, sizeof(*s));
	struct record_plan *plans = calloc(r->events.n, sizeof(*plans));
	struct span data;
	void *p = MAP_FAILED;
	size_t i;

	if (s != NULL && plans != NULL) {
		p = mmap(NULL, size, PROT_READ, MAP_PRIVATE, r->out_fd, 0);
	}
	if (p != MAP_FAILED) {
		for (i = 0; i < r->events.n; i++) {
			record_plan_make(&plans[i], &r->events.v[i].attr);
		}
		data = (struct span){.p = (const uint8_t *)p + r->writer.data_at,
		        .n = (size_t)r->writer.data_size};
		scan_records(r, plans, s, data, out, true);
		scan_records(r, plans, s, data, out, false);
		put_build_ids(s, out);
		(void)munmap(p, size);
	}
	if (s != NULL) {
		free(s->maps);
		free(s->hit);
		intern_fini(&s->names);
	}
	free(s);
	free(plans);
	return 0;
}
