/* SPDX-License-Identifier: MIT */
/* An attr, then bodies of records: samples, trailers and side-band, in both byte orders. */
#include "abi/abi.h"
#include "record/fields.h"
#include "record/typed.h"
#include "record/user_stack.h"

#include <stdlib.h>
#include <string.h>

#define ATTR_BYTES 128u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Arrays of a sample are inside the body or in scratch: reads all of them. */
static uint64_t touch(const uint64_t *words, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; words != NULL && i < n; i++) {
		uint64_t v;

		memcpy(&v, words + i, sizeof(v));
		sum += v;
	}
	return sum;
}

/* Values are inside the body, follow each other, and cover all of it. */
static void walk_fields(const struct record_plan *plan, const struct record *r, bool swap)
{
	struct sonde_fields *it = sonde_fields_new();
	const struct sonde_field_part *part;
	const struct sonde_field *v;
	const uint8_t *at = r->body.p;

	if (it == NULL) {
		return;
	}
	fields_begin_record(it, r, swap, plan, 4);
	while (sonde_fields_next(it, &v) > 0) {
		if (v->what != SONDE_FIELD_VALUE && v->what != SONDE_FIELD_REST) {
			continue;
		}
		if ((const uint8_t *)v->bytes != at || v->size > r->body.n ||
		        (v->kind == SONDE_KIND_TEXT && v->text_size > v->size)) {
			abort();
		}
		at += v->size;
		(void)sonde_fields_number(it, v->count);
		for (unsigned i = 0; sonde_fields_part(it, i, &part) > 0; i++) {
			if (part->value > part->mask) {
				abort();
			}
		}
	}
	if (at != r->body.p + r->body.n) {
		abort();
	}
	sonde_fields_free(it);
}

static void touch_list(const struct sonde_list *list)
{
	struct sonde_record_bpf_variable item; /* the largest item of a list */

	(void)sonde_list_number(list, 0);
	(void)sonde_list_number(list, list->count - 1);
	(void)sonde_list_get(list, 0, &item, sizeof(item));
	if (list->count != 0 && sonde_list_get(list, list->count - 1, &item, sizeof(item)) > 0) {
		(void)sonde_list_get(list, list->count, &item, sizeof(item));
	}
}

/* The timeline's decoder and the tables give the same values. */
static void compare_typed(const struct record *r, bool swap)
{
	struct sonde_typed_record t;
	struct record_mmap map;
	struct record_comm comm;
	struct record_task task;
	struct record_ksymbol ksymbol;
	bool same = true;

	memset(&t, 0, sizeof(t));
	(void)typed_decode(r, swap, NULL, &t);
	switch (r->type) {
	case RECORD_MMAP:
	case RECORD_MMAP2:
		same = !record_mmap_decode(r, swap, &map) ||
		       (map.pid == (uint32_t)t.mmap.pid && map.start == t.mmap.addr &&
		               map.len == t.mmap.len && map.pgoff == t.mmap.pgoff &&
		               map.ino == t.mmap.ino && map.flags == t.mmap.flags &&
		               map.name.n == t.mmap.filename.n);
		break;
	case RECORD_COMM:
		same = !record_comm_decode(r, swap, &comm) ||
		       (comm.tid == (uint32_t)t.comm.tid && comm.name.n == t.comm.comm.n);
		break;
	case RECORD_FORK:
	case RECORD_EXIT:
		same = !record_task_decode(r, swap, &task) ||
		       (task.pid == (uint32_t)t.task.pid && task.ptid == (uint32_t)t.task.ptid &&
		               task.time == t.task.time);
		break;
	case RECORD_KSYMBOL:
		same = !record_ksymbol_decode(r, swap, &ksymbol) ||
		       (ksymbol.addr == t.ksymbol.addr && ksymbol.len == t.ksymbol.len &&
		               ksymbol.flags == t.ksymbol.flags &&
		               ksymbol.name.n == t.ksymbol.name.n);
		break;
	default: break;
	}
	if (!same) {
		abort();
	}
}

static void try_typed(const struct record_plan *plan, const struct record *r, bool swap)
{
	struct sonde_typed_record t;

	memset(&t, 0, sizeof(t));
	if (!typed_knows(r->type, plan) || r->type == RECORD_SAMPLE) {
		return;
	}
	(void)typed_decode(r, swap, plan, &t);
	switch (r->type) {
	case RECORD_COMM:
		if (t.comm.comm.n > r->body.n) {
			abort();
		}
		break;
	case RECORD_READ: touch_list(&t.read.values); break;
	case RECORD_NAMESPACES: touch_list(&t.namespaces.links); break;
	case RECORD_CALLCHAIN_DEFERRED: touch_list(&t.deferred.ips); break;
	case RECORD_HEADER_ATTR: touch_list(&t.header_attr.ids); break;
	case RECORD_ID_INDEX:
		touch_list(&t.id_index.entries);
		touch_list(&t.id_index.machines);
		break;
	case RECORD_THREAD_MAP: touch_list(&t.thread_map.threads); break;
	case RECORD_CPU_MAP:
		touch_list(&t.cpu_map.cpus);
		touch_list(&t.cpu_map.mask);
		break;
	case RECORD_STAT_CONFIG: touch_list(&t.stat_config.data); break;
	case RECORD_BPF_METADATA: touch_list(&t.bpf_metadata.entries); break;
	default: break;
	}
}

/* The record without its copied stack has the words of its chain, and fits into its size. */
static void replace_stack(const struct record_plan *plan, const struct record *r, bool swap)
{
	static uint8_t out[65536];
	static const uint64_t words[8192];
	struct record_user_stack parts;
	size_t room;

	if (r->body.n > 65528 - 8 || !record_user_stack_find(plan, r->body, swap, &parts)) {
		return;
	}
	for (int keep = 0; keep < 2; keep++) {
		room = record_user_stack_room(&parts, r->body, keep != 0);
		if (record_user_stack_replace(&parts, r, swap, keep != 0,
		            (struct record_chain){words, room}, out) > 65528) {
			abort();
		}
	}
}

static void try_all(const struct record_plan *plan, const struct record *r, bool swap)
{
	struct record_scratch scratch = {0};
	struct sonde_sample sample;
	struct record_trailer trailer;
	struct record_mmap map;
	struct record_comm comm;
	struct record_task task;
	struct record_ksymbol ksymbol;

	memset(&sample, 0, sizeof(sample));
	if (record_sample_decode(plan, r->body, swap, &scratch, &sample) >= 0) {
		(void)touch(sample.callchain, sample.callchain_len);
	}
	record_scratch_fini(&scratch);
	replace_stack(plan, r, swap);
	(void)record_trailer_decode(plan, r->body, swap, &trailer);
	if (record_mmap_decode(r, swap, &map) && map.name.n > r->body.n) {
		abort();
	}
	if (record_comm_decode(r, swap, &comm) && comm.name.n > r->body.n) {
		abort();
	}
	(void)record_task_decode(r, swap, &task);
	(void)record_ksymbol_decode(r, swap, &ksymbol);
	walk_fields(plan, r, swap);
	try_typed(plan, r, swap);
	compare_typed(r, swap);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sonde_attr attr;
	struct record_plan plan;
	struct record r = {0};

	memset(&attr, 0, sizeof(attr));
	if (size < ATTR_BYTES + 8 ||
	        !record_attr_decode((struct span){data, ATTR_BYTES}, false, &attr)) {
		return 0;
	}
	record_plan_make(&plan, &attr);
	r.type = data[ATTR_BYTES];
	r.misc = (uint16_t)(data[ATTR_BYTES + 1] | data[ATTR_BYTES + 2] << 8);
	r.body = (struct span){data + ATTR_BYTES + 8, size - ATTR_BYTES - 8};
	r.size = (uint16_t)(r.body.n + 8);
	try_all(&plan, &r, false);
	try_all(&plan, &r, true);
	return 0;
}
