/* SPDX-License-Identifier: MIT */
#include "field/key.h"

#define SIGNED(v)    ((v) ^ 0x80000000u) /* so that -1 is before 0 */
#define NS_PER_SEC   1000000000u
#define TIME_QUANTUM 100000000u /* ns, perf's */

static void get_comm(const struct field_source *f, const struct session_sample *s, uint32_t *words)
{
	words[0] = f->comm_of_sample ? s->view->comm : s->view->row_comm;
}

static void put_comm(const struct field_source *f, const struct field_value *v, struct text *out)
{
	text_str(out, timeline_text(session_timeline(f->session), v->words[0]));
}

static void get_tid(const struct field_source *f, const struct session_sample *s, uint32_t *words)
{
	(void)f;
	words[0] = s->view->tid;
}

/* With the task's last name, whatever it was at the sample, as in perf. */
static void put_tid(const struct field_source *f, const struct field_value *v, struct text *out)
{
	const struct timeline *t = session_timeline(f->session);
	const struct timeline_view *view = timeline_at(t, v->cursor, v->pid, v->words[0], v->time);

	text_printf(out, "%7d:%s", (int)v->words[0], timeline_text(t, view->last_comm));
}

static void get_cpu(const struct field_source *f, const struct session_sample *s, uint32_t *words)
{
	(void)f;
	words[0] = s->s.cpu;
}

static void put_cpu(const struct field_source *f, const struct field_value *v, struct text *out)
{
	(void)f;
	text_printf(out, "%.*d", v->width, (int)v->words[0]);
}

static uint64_t rank_signed(const uint32_t *words)
{
	return SIGNED(words[0]);
}

/* A 64-bit value in two words. */
static void put_words(uint32_t *words, uint64_t value)
{
	words[0] = (uint32_t)(value >> 32);
	words[1] = (uint32_t)value;
}

static uint64_t value_of(const uint32_t *words)
{
	return (uint64_t)words[0] << 32 | words[1];
}

static void get_socket(
        const struct field_source *f, const struct session_sample *s, uint32_t *words)
{
	bool known = s->s.cpu < f->topology.cpus.n;

	words[0] = known ? (uint32_t)f->topology.cpus.items[s->s.cpu].socket : UINT32_MAX;
}

static void put_socket(const struct field_source *f, const struct field_value *v, struct text *out)
{
	(void)f;
	text_printf(out, "%*.*d", v->width, v->width - 3, (int)v->words[0]);
}

static void get_time(const struct field_source *f, const struct session_sample *s, uint32_t *words)
{
	put_words(words, s->s.time - s->s.time % f->time_quantum);
}

static void put_time(const struct field_source *f, const struct field_value *v, struct text *out)
{
	uint64_t time = value_of(v->words);

	(void)f;
	text_u64(out, time / NS_PER_SEC, 0, ' ');
	text_char(out, '.');
	text_u64(out, time % NS_PER_SEC / 1000, 6, '0');
}

static void get_cgroup(
        const struct field_source *f, const struct session_sample *s, uint32_t *words)
{
	(void)f;
	put_words(words, s->s.cgroup);
}

static void put_cgroup(const struct field_source *f, const struct field_value *v, struct text *out)
{
	uint64_t id = value_of(v->words);
	const char *path = session_cgroup(f->session, id);

	text_str(out, path != NULL ? path : id == 0 ? "N/A" : "unknown");
}

static void get_weight(
        const struct field_source *f, const struct session_sample *s, uint32_t *words)
{
	bool parts = (s->s.present & SONDE_SAMPLE_WEIGHT_STRUCT) != 0;

	(void)f;
	put_words(words, parts ? (uint32_t)s->s.weight : s->s.weight);
}

/* Of all samples of the row. */
static void put_weight(const struct field_source *f, const struct field_value *v, struct text *out)
{
	(void)f;
	text_u64(out, value_of(v->words) * v->samples, 0, ' ');
}

static void put_local_weight(
        const struct field_source *f, const struct field_value *v, struct text *out)
{
	(void)f;
	text_u64(out, value_of(v->words), 0, ' ');
}

static void get_type(const struct field_source *f, const struct session_sample *s, uint32_t *words)
{
	(void)f;
	words[0] = s->event;
}

static void put_type(const struct field_source *f, const struct field_value *v, struct text *out)
{
	text_str(out, sonde_session_event_name(f->session, v->words[0]));
}

static uint64_t rank_value(const uint32_t *words)
{
	return value_of(words);
}

/* The heaviest first, as signed numbers. */
static uint64_t rank_falling(const uint32_t *words)
{
	return ~(value_of(words) ^ UINT64_C(1) << 63);
}

#define TEXT   (FIELD_KEY_GROWS | FIELD_KEY_CUT)
#define GROWS  FIELD_KEY_GROWS
#define CUT    FIELD_KEY_CUT
#define RAGGED FIELD_KEY_RAGGED

static const struct field_key keys[] = {
        [FIELD_KEY_COMM] = {"comm", NULL, "Command", 1, TEXT, 0, get_comm, NULL, put_comm},
        [FIELD_KEY_DSO] = {"dso", NULL, "Shared Object", 0, TEXT},
        [FIELD_KEY_SYM] = {"sym", "symbol", "Symbol", 0, TEXT | RAGGED},
        {"pid", "tid", "    Pid:Command", 1, TEXT, 0, get_tid, rank_signed, put_tid},
        {"cpu", NULL, "CPU", 1, 0, 0, get_cpu, rank_signed, put_cpu},
        {"socket", NULL, "Socket", 1, 0, 0, get_socket, rank_signed, put_socket},
        {"time", NULL, "Time", 2, CUT | RAGGED, 12, get_time, rank_value, put_time},
        {"cgroup", NULL, "Cgroup", 2, GROWS | RAGGED, 0, get_cgroup, rank_value, put_cgroup},
        {"weight", NULL, "Weight", 2, 0, 12, get_weight, rank_falling, put_weight},
        {"local_weight", NULL, "Local Weight", 2, 0, 0, get_weight, rank_falling, put_local_weight},
        {"type", NULL, "Event", 1, TEXT, 0, get_type, rank_signed, put_type},
};

_Static_assert(sizeof(keys) / sizeof(keys[0]) <= FIELD_KEYS_MAX, "FIELD_KEYS_MAX is too small");

int field_source_init(struct field_source *f, struct sonde_session *s)
{
	int rc;

	*f = (struct field_source){.session = s, .time_quantum = TIME_QUANTUM};
	rc = SESSION_FEATURE(s, FEATURE_CPU_TOPOLOGY, &f->arena, &f->topology);
	return rc == SONDE_ENOMEM ? rc : 0; /* one that is damaged was reported */
}

void field_source_fini(struct field_source *f)
{
	arena_fini(&f->arena);
}

size_t field_keys(void)
{
	return sizeof(keys) / sizeof(keys[0]);
}

const struct field_key *field_key(size_t id)
{
	return &keys[id];
}

void field_key_choose(struct field_key_choice *c, size_t id)
{
	if (c->chosen[id]) {
		return;
	}
	c->chosen[id] = true;
	c->at[id] = (uint8_t)c->words;
	c->words += keys[id].words;
	if (keys[id].get != NULL) {
		c->got[c->ngot++] = (uint8_t)id;
	}
}

void field_keys_get(const struct field_key_choice *c, const struct field_source *f,
        const struct session_sample *s, uint32_t *words)
{
	for (unsigned i = 0; i < c->ngot; i++) {
		keys[c->got[i]].get(f, s, words + c->at[c->got[i]]);
	}
}
