/* SPDX-License-Identifier: MIT */
/*
 * Payloads of header features; they are not aligned and in the writer's byte order.
 *
 *	text: u32 size; char bytes[size], padded with NULs     list: u32 n; text[n]
 *
 * HOSTNAME OSRELEASE VERSION ARCH CPUDESC CPUID   text
 * NRCPUS           u32 available, online
 * TOTAL_MEM CLOCKID DIR_FORMAT   u64
 * CMDLINE          list: path of the recorder, then its arguments
 * EVENT_DESC       u32 n, attr_size; {attr; u32 nids; text name; u64 ids[nids]}[n]
 * CPU_TOPOLOGY     list cores; list threads; {u32 core, socket}[available];
 *                  then, in newer files, list dies; u32 die[available]
 * NUMA_TOPOLOGY    u32 n; {u32 node; u64 total, free (kB); text cpus}[n]
 * PMU_MAPPINGS     u32 n; {u32 type; text name}[n]
 * GROUP_DESC       u32 n; {text name; u32 leader, members}[n]
 * CACHE            u32 version, n; {u32 level, line, sets, ways; text type, size, cpus}[n]
 * SAMPLE_TIME      u64 first, last
 * MEM_TOPOLOGY     u64 version, block_size, n; {u64 node, size, bits; u64 words[bits / 64 rounded
 *up]}[n] BPF_PROG_INFO    u32 n; {u32 info_len, data_len; u64 arrays; info[info_len];
 *data[data_len]}[n] BPF_BTF          u32 n; {u32 id, size; data[size]}[n] COMPRESSED       u32
 *version, type, level, ratio, mmap_len CPU_PMU_CAPS     u32 n; {text name, value}[n] CLOCK_DATA u32
 *version, clockid; u64 wall, clock HYBRID_TOPOLOGY  u32 n; {text pmu, cpus}[n] PMU_CAPS         u32
 *n; {u32 m; {text name, value}[m]; text pmu}[n]
 */
#include "file/feature.h"

/* A cursor over a feature; 0 when it is absent. */
static int start(const struct file *f, enum abi_feature bit, struct cursor *c)
{
	if (!file_has_feature(f, bit)) {
		return 0;
	}
	*c = cursor_make(file_feature(f, bit), f->swap);
	return 1;
}

static const char *take_text(struct cursor *c, struct arena *a)
{
	uint32_t size = cursor_u32(c);
	struct span s = cursor_text(c, size);

	return c->bad ? NULL : arena_text(a, (const char *)s.p, s.n);
}

/*
 * An array for n elements, each at least `least` bytes in the input: what is left of it bounds the
 * memory. NULL with c->bad set when they cannot fit, NULL without when there is no memory.
 */
static void *take_array(struct cursor *c, struct arena *a, uint64_t n, size_t least, size_t size)
{
	if (c->bad || n > cursor_left(c) / least) {
		c->bad = true;
		return NULL;
	}
	return arena_zalloc(a, (size_t)n * size + 1);
}

static int done(const struct cursor *c, const void *last)
{
	if (c->bad) {
		return SONDE_EFORMAT;
	}
	return last != NULL ? 1 : SONDE_ENOMEM;
}

static int take_list(struct cursor *c, struct arena *a, struct feature_list *out)
{
	uint32_t n = cursor_u32(c);
	const char **items = take_array(c, a, n, 4, sizeof(*items));

	*out = (struct feature_list){0};
	for (uint32_t i = 0; items != NULL && i < n; i++) {
		items[i] = take_text(c, a);
		if (items[i] == NULL) {
			return done(c, NULL);
		}
	}
	if (items != NULL) {
		*out = (struct feature_list){items, n};
	}
	return done(c, items);
}

int feature_text(const struct file *f, enum abi_feature bit, struct arena *a, const char **out)
{
	struct cursor c;

	*out = NULL;
	if (start(f, bit, &c) == 0) {
		return 0;
	}
	*out = take_text(&c, a);
	return done(&c, *out);
}

int feature_number(const struct file *f, enum abi_feature bit, uint64_t *out)
{
	struct cursor c;

	*out = 0;
	if (start(f, bit, &c) == 0) {
		return 0;
	}
	*out = cursor_u64(&c);
	return done(&c, out);
}

int feature_nrcpus(const struct file *f, struct feature_cpus *out)
{
	struct cursor c;

	*out = (struct feature_cpus){0};
	if (start(f, FEATURE_NRCPUS, &c) == 0) {
		return 0;
	}
	out->available = cursor_u32(&c);
	out->online = cursor_u32(&c);
	return done(&c, out);
}

int feature_cmdline(const struct file *f, struct arena *a, struct feature_list *out)
{
	struct cursor c;

	*out = (struct feature_list){0};
	return start(f, FEATURE_CMDLINE, &c) == 0 ? 0 : take_list(&c, a, out);
}

static int take_dies(struct cursor *c, struct arena *a, struct feature_topology *out)
{
	if (cursor_left(c) < 4) {
		return 1;
	}
	TRY(take_list(c, a, &out->dies));
	for (size_t i = 0; i < out->n; i++) {
		out->cpus[i].die = (int32_t)cursor_u32(c);
	}
	out->has_dies = !c->bad;
	return done(c, out);
}

int feature_topology(const struct file *f, struct arena *a, struct feature_topology *out)
{
	struct feature_cpus cpus;
	struct cursor c;

	*out = (struct feature_topology){0};
	if (start(f, FEATURE_CPU_TOPOLOGY, &c) == 0) {
		return 0;
	}
	TRY(take_list(&c, a, &out->cores));
	TRY(take_list(&c, a, &out->threads));
	TRY(feature_nrcpus(f, &cpus));
	if (cpus.available == 0 || cursor_left(&c) < (uint64_t)cpus.available * 8) {
		return 1;
	}
	out->cpus = take_array(&c, a, cpus.available, 8, sizeof(*out->cpus));
	if (out->cpus == NULL) {
		return done(&c, NULL);
	}
	out->n = cpus.available;
	for (size_t i = 0; i < out->n; i++) {
		out->cpus[i].core = (int32_t)cursor_u32(&c);
		out->cpus[i].socket = (int32_t)cursor_u32(&c);
	}
	return take_dies(&c, a, out);
}

int feature_numa(const struct file *f, struct arena *a, struct feature_numa *out)
{
	struct feature_numa_node *node;
	struct cursor c;
	uint32_t n;

	*out = (struct feature_numa){0};
	if (start(f, FEATURE_NUMA_TOPOLOGY, &c) == 0) {
		return 0;
	}
	n = cursor_u32(&c);
	out->nodes = take_array(&c, a, n, 24, sizeof(*out->nodes));
	for (; out->nodes != NULL && out->n < n; out->n++) {
		node = &out->nodes[out->n];
		node->node = cursor_u32(&c);
		node->total = cursor_u64(&c);
		node->free = cursor_u64(&c);
		node->cpus = take_text(&c, a);
		if (node->cpus == NULL) {
			return done(&c, NULL);
		}
	}
	return done(&c, out->nodes);
}

int feature_pmus(const struct file *f, struct arena *a, struct feature_pmus *out)
{
	struct cursor c;
	uint32_t n;

	*out = (struct feature_pmus){0};
	if (start(f, FEATURE_PMU_MAPPINGS, &c) == 0) {
		return 0;
	}
	n = cursor_u32(&c);
	out->items = take_array(&c, a, n, 8, sizeof(*out->items));
	for (; out->items != NULL && out->n < n; out->n++) {
		out->items[out->n].type = cursor_u32(&c);
		out->items[out->n].name = take_text(&c, a);
		if (out->items[out->n].name == NULL) {
			return done(&c, NULL);
		}
	}
	return done(&c, out->items);
}

int feature_groups(const struct file *f, struct arena *a, struct feature_groups *out)
{
	struct feature_group *group;
	struct cursor c;
	uint32_t n;

	*out = (struct feature_groups){0};
	if (start(f, FEATURE_GROUP_DESC, &c) == 0) {
		return 0;
	}
	n = cursor_u32(&c);
	out->items = take_array(&c, a, n, 12, sizeof(*out->items));
	for (; out->items != NULL && out->n < n; out->n++) {
		group = &out->items[out->n];
		group->name = take_text(&c, a);
		group->leader = cursor_u32(&c);
		group->members = cursor_u32(&c);
		if (group->name == NULL || c.bad) {
			return done(&c, NULL);
		}
	}
	return done(&c, out->items);
}

int feature_cache(const struct file *f, struct arena *a, struct feature_cache *out)
{
	struct feature_cache_level *level;
	struct cursor c;
	uint32_t n;

	*out = (struct feature_cache){0};
	if (start(f, FEATURE_CACHE, &c) == 0) {
		return 0;
	}
	(void)cursor_u32(&c); /* version */
	n = cursor_u32(&c);
	out->items = take_array(&c, a, n, 28, sizeof(*out->items));
	for (; out->items != NULL && out->n < n; out->n++) {
		level = &out->items[out->n];
		level->level = cursor_u32(&c);
		level->line = cursor_u32(&c);
		level->sets = cursor_u32(&c);
		level->ways = cursor_u32(&c);
		level->type = take_text(&c, a);
		level->size = take_text(&c, a);
		level->cpus = take_text(&c, a);
		if (level->type == NULL || level->size == NULL || level->cpus == NULL) {
			return done(&c, NULL);
		}
	}
	return done(&c, out->items);
}

int feature_sample_time(const struct file *f, struct feature_times *out)
{
	struct cursor c;

	*out = (struct feature_times){0};
	if (start(f, FEATURE_SAMPLE_TIME, &c) == 0) {
		return 0;
	}
	out->first = cursor_u64(&c);
	out->last = cursor_u64(&c);
	return done(&c, out);
}

static int take_memory_node(struct cursor *c, struct arena *a, struct feature_memory_node *node)
{
	uint64_t nwords;
	uint64_t *words;

	node->node = cursor_u64(c);
	(void)cursor_u64(c); /* size, in blocks; the bitmap says the same */
	node->bits = cursor_u64(c);
	nwords = node->bits / 64 + (node->bits % 64 != 0);
	words = take_array(c, a, nwords, 8, 8);
	if (words == NULL) {
		return done(c, NULL);
	}
	for (uint64_t i = 0; i < nwords; i++) {
		words[i] = cursor_u64(c);
	}
	node->words = words;
	return 1;
}

int feature_memory(const struct file *f, struct arena *a, struct feature_memory *out)
{
	struct cursor c;
	uint64_t n;

	*out = (struct feature_memory){0};
	if (start(f, FEATURE_MEM_TOPOLOGY, &c) == 0) {
		return 0;
	}
	(void)cursor_u64(&c); /* version */
	out->block_size = cursor_u64(&c);
	n = cursor_u64(&c);
	out->nodes = take_array(&c, a, n, 24, sizeof(*out->nodes));
	for (; out->nodes != NULL && out->n < n; out->n++) {
		TRY(take_memory_node(&c, a, &out->nodes[out->n]));
	}
	return done(&c, out->nodes);
}

int feature_compression(const struct file *f, struct feature_compression *out)
{
	struct cursor c;

	*out = (struct feature_compression){0};
	if (start(f, FEATURE_COMPRESSED, &c) == 0) {
		return 0;
	}
	out->version = cursor_u32(&c);
	out->type = cursor_u32(&c);
	out->level = cursor_u32(&c);
	out->ratio = cursor_u32(&c);
	out->mmap_len = cursor_u32(&c);
	return done(&c, out);
}

int feature_clock_data(const struct file *f, struct feature_clock *out)
{
	struct cursor c;
	uint32_t version;

	*out = (struct feature_clock){0};
	if (start(f, FEATURE_CLOCK_DATA, &c) == 0) {
		return 0;
	}
	version = cursor_u32(&c);
	out->clockid = cursor_u32(&c);
	out->wall_ns = cursor_u64(&c);
	out->clock_ns = cursor_u64(&c);
	return version != 1 ? SONDE_EFORMAT : done(&c, out);
}

/* u32 n; {text name, value}[n] */
static int take_pairs(struct cursor *c, struct arena *a, struct feature_caps *out)
{
	uint32_t n = cursor_u32(c);

	out->items = take_array(c, a, n, 8, sizeof(*out->items));
	for (; out->items != NULL && out->n < n; out->n++) {
		out->items[out->n].name = take_text(c, a);
		out->items[out->n].value = take_text(c, a);
		if (out->items[out->n].name == NULL || out->items[out->n].value == NULL) {
			return done(c, NULL);
		}
	}
	return done(c, out->items);
}

int feature_hybrid(const struct file *f, struct arena *a, struct feature_caps *out)
{
	struct cursor c;

	*out = (struct feature_caps){0};
	return start(f, FEATURE_HYBRID_TOPOLOGY, &c) == 0 ? 0 : take_pairs(&c, a, out);
}

int feature_cpu_pmu_caps(const struct file *f, struct arena *a, struct feature_caps *out)
{
	struct cursor c;

	*out = (struct feature_caps){.pmu = "cpu"};
	return start(f, FEATURE_CPU_PMU_CAPS, &c) == 0 ? 0 : take_pairs(&c, a, out);
}

int feature_pmu_caps(const struct file *f, struct arena *a, struct feature_all_caps *out)
{
	struct cursor c;
	uint32_t n;

	*out = (struct feature_all_caps){0};
	if (start(f, FEATURE_PMU_CAPS, &c) == 0) {
		return 0;
	}
	n = cursor_u32(&c);
	out->pmus = take_array(&c, a, n, 8, sizeof(*out->pmus));
	for (; out->pmus != NULL && out->n < n; out->n++) {
		TRY(take_pairs(&c, a, &out->pmus[out->n]));
		out->pmus[out->n].pmu = take_text(&c, a);
		if (out->pmus[out->n].pmu == NULL) {
			return done(&c, NULL);
		}
	}
	return done(&c, out->pmus);
}

/* One entry; the id of a program stands in its info: u32 type, id. */
static uint32_t take_bpf_id(struct cursor *c, enum abi_feature bit)
{
	uint32_t first = cursor_u32(c);
	uint32_t second = cursor_u32(c);
	struct cursor info;

	if (bit == FEATURE_BPF_BTF) {
		(void)cursor_bytes(c, second);
		return first;
	}
	(void)cursor_u64(c);
	info = cursor_make(cursor_bytes(c, first), c->swap);
	(void)cursor_bytes(c, second);
	(void)cursor_u32(&info);
	return cursor_u32(&info);
}

int feature_bpf_ids(
        const struct file *f, enum abi_feature bit, struct arena *a, struct feature_ids *out)
{
	struct cursor c;
	uint32_t n;

	*out = (struct feature_ids){0};
	if (start(f, bit, &c) == 0) {
		return 0;
	}
	n = cursor_u32(&c);
	out->ids = take_array(&c, a, n, 8, sizeof(*out->ids));
	for (; out->ids != NULL && out->n < n && !c.bad; out->n++) {
		out->ids[out->n] = take_bpf_id(&c, bit);
	}
	return done(&c, out->ids);
}

static int take_event(
        struct cursor *c, struct arena *a, uint32_t attr_size, struct feature_event *out)
{
	struct span attr = cursor_bytes(c, attr_size);
	uint32_t nids = cursor_u32(c);
	uint64_t *ids;

	out->name = take_text(c, a);
	if (out->name == NULL) {
		return done(c, NULL);
	}
	if (!record_attr_decode(attr, c->swap, &out->attr)) {
		return SONDE_EFORMAT;
	}
	ids = take_array(c, a, nids, 8, 8);
	for (; ids != NULL && out->nids < nids; out->nids++) {
		ids[out->nids] = cursor_u64(c);
	}
	out->ids = ids;
	return done(c, ids);
}

int feature_events(const struct file *f, struct arena *a, struct feature_events *out)
{
	struct cursor c;
	uint32_t n, attr_size;

	*out = (struct feature_events){0};
	if (start(f, FEATURE_EVENT_DESC, &c) == 0) {
		return 0;
	}
	n = cursor_u32(&c);
	attr_size = cursor_u32(&c);
	out->items = take_array(&c, a, n, 72, sizeof(*out->items));
	for (; out->items != NULL && out->n < n; out->n++) {
		TRY(take_event(&c, a, attr_size, &out->items[out->n]));
	}
	return done(&c, out->items);
}
