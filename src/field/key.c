/* SPDX-License-Identifier: MIT */
#include "field/key.h"

#define SIGNED(v) ((v) ^ 0x80000000u) /* so that -1 is before 0 */

static void get_comm(const struct field_source *f, const struct session_sample *s, uint32_t *words)
{
	(void)f;
	words[0] = s->view->row_comm;
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

static const struct field_key keys[] = {
        [FIELD_KEY_COMM] = {"comm", NULL, "Command", 1, .get = get_comm, .text = put_comm},
        [FIELD_KEY_DSO] = {"dso", NULL, "Shared Object", 0},
        [FIELD_KEY_SYM] = {"sym", "symbol", "Symbol", 0},
        {"pid", "tid", "    Pid:Command", 1, false, get_tid, rank_signed, put_tid},
        {"cpu", NULL, "CPU", 1, true, get_cpu, rank_signed, put_cpu},
};

_Static_assert(sizeof(keys) / sizeof(keys[0]) <= FIELD_KEYS_MAX, "FIELD_KEYS_MAX is too small");

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
}

void field_keys_get(const struct field_key_choice *c, const struct field_source *f,
        const struct session_sample *s, uint32_t *words)
{
	for (size_t i = 0; i < field_keys(); i++) {
		if (c->chosen[i] && keys[i].get != NULL) {
			keys[i].get(f, s, words + c->at[i]);
		}
	}
}
