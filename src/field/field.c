/* SPDX-License-Identifier: MIT */
#include "field/field.h"

#include "core/escape.h"
#include "core/search.h"
#include "field/address.h"
#include "field/branch.h"
#include "field/data_src.h"

#include <inttypes.h>
#include <strings.h>

#define NS_PER_SEC    1000000000u
#define TIME_WIDTH_NS 16u /* perf's */
#define TIME_QUANTUM  100000000u /* ns, perf's */

/* For samples without data source: every part is "N/A". */
#define DATA_SRC_NONE 0x5080021u

/* Values of samples. */

/* Ids are signed: the kernel uses -1 for none. */
static uint64_t id_of(uint32_t id)
{
	return (uint64_t)(int64_t)(int32_t)id;
}

static bool weight_has_parts(const struct session_sample *s)
{
	return (s->s.present & SONDE_SAMPLE_WEIGHT_STRUCT) != 0;
}

static uint64_t socket_of(const struct feature_topology *t, uint32_t cpu)
{
	return id_of(cpu < t->cpus.n ? (uint32_t)t->cpus.items[cpu].socket : UINT32_MAX);
}

uint32_t field_parallelism(const struct field_steps *s, uint64_t time)
{
	size_t i = SEARCH_LAST(s->steps, s->n, time, time);
	bool begun = s->n != 0 && s->steps[i].time <= time;
	int32_t count = s->first + (begun ? s->steps[i].count : 0);

	return count > 1 ? (uint32_t)count : 1;
}

/* The last namespace that a thread entered until a time. */
static uint32_t namespace_at(const struct field_namespaces *s, uint32_t tid, uint64_t time)
{
	size_t low = 0, high = s->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct field_entered *e = &s->entered[mid];

		if (e->tid < tid || (e->tid == tid && e->time <= time)) {
			low = mid + 1;
		} else {
			high = mid;
		}
	}
	return low != 0 && s->entered[low - 1].tid == tid ? s->entered[low - 1].space : 0;
}

#define GETTER(name, value)                                                                        \
	static uint64_t get_##name(const struct field_source *f, const struct session_sample *s)   \
	{                                                                                          \
		(void)f;                                                                           \
		return (value);                                                                    \
	}

GETTER(comm, f->comm_of_sample ? s->view->comm : s->view->row_comm)
GETTER(comm_nodigit, f->plain_of[f->comm_of_sample ? s->view->comm : s->view->row_comm])
GETTER(machine_pid, id_of((uint32_t)session_guest(f->session, s->s.id).machine_pid))
GETTER(vcpu, id_of((uint32_t)session_guest(f->session, s->s.id).vcpu))
GETTER(pid, id_of(s->s.pid))
GETTER(tid, id_of(s->view->tid))
GETTER(cpu, id_of(s->s.cpu))
GETTER(socket, socket_of(&f->topology, s->s.cpu))
GETTER(misc, s->misc)
GETTER(time, s->s.time - s->s.time % f->time_quantum)
GETTER(tod, s->s.time - f->tod_clock + f->tod_wall)
GETTER(period, s->s.period)
GETTER(event, s->event)
GETTER(addr, s->s.addr)
/* samples of traces have 0 without it, as in perf */
GETTER(data_src, s->extra != NULL || (s->s.present & SONDE_SAMPLE_DATA_SRC) != 0 ? s->s.data_src
                                                                                 : DATA_SRC_NONE)
GETTER(weight, weight_has_parts(s) ? (uint32_t)s->s.weight : s->s.weight)
/* The second part of a weight with parts: processor cycles of the instruction. */
GETTER(ins_lat, weight_has_parts(s) ? s->s.weight >> 32 & 0xffff : 0)
/* The third part, whose meaning depends on the architecture. */
GETTER(stage, weight_has_parts(s) ? s->s.weight >> 48 : 0)
GETTER(ip, s->s.ip)
GETTER(cgroup, s->s.cgroup)
GETTER(parallelism, field_parallelism(f->steps, s->s.time))
GETTER(cgroup_id, namespace_at(f->namespaces, s->view->tid, s->s.time))
GETTER(transaction, s->s.transaction)
GETTER(phys_addr, s->s.phys_addr)
GETTER(data_page_size, s->s.data_page_size)
GETTER(trace, field_texts_trace(f->texts, s))
GETTER(trace_fields, field_texts_fields(f->texts, s))
GETTER(code_page_size, s->s.code_page_size)

/* A part of the data source: its value and its text. */
#define DATA_SRC_FIELD(name, part)                                                                 \
	GETTER(name, data_src_key(part, get_data_src(f, s)))                                       \
	static void put_##name(                                                                    \
	        const struct field_source *f, const struct field_value *v, struct text *out)       \
	{                                                                                          \
		(void)f;                                                                           \
		data_src_key_text(out, part, v->number);                                           \
	}

DATA_SRC_FIELD(mem, DATA_SRC_LEVEL)
DATA_SRC_FIELD(tlb, DATA_SRC_TLB)
DATA_SRC_FIELD(snoop, DATA_SRC_SNOOP)
DATA_SRC_FIELD(locked, DATA_SRC_LOCK)
DATA_SRC_FIELD(blocked, DATA_SRC_BLOCKED)

/* Values of branches: of the newest branch of a sample that has one. */

GETTER(from, branch_at(s, 0).from)
GETTER(to, branch_at(s, 0).to)
GETTER(mispredicted, branch_at(s, 0).mispredicted)
GETTER(in_tx, branch_at(s, 0).in_tx)
GETTER(aborted, branch_at(s, 0).aborted)
GETTER(cycles, branch_at(s, 0).cycles)

/* Sums of rows. */

#define SUM(name, value)                                                                           \
	static uint64_t total_##name(                                                              \
	        uint64_t samples, uint64_t period, uint64_t children, const uint64_t *modes)       \
	{                                                                                          \
		(void)samples, (void)period, (void)children, (void)modes;                          \
		return (value);                                                                    \
	}

SUM(children, children)
SUM(period, period)
SUM(samples, samples)
SUM(sys, modes[SONDE_CPUMODE_KERNEL])
SUM(us, modes[SONDE_CPUMODE_USER])
SUM(guest_sys, modes[SONDE_CPUMODE_GUEST_KERNEL])
SUM(guest_us, modes[SONDE_CPUMODE_GUEST_USER])
SUM(latency, modes[FIELD_MODE_LATENCY])

/* Texts. */

static const char *text_of_comm(const struct field_source *f, uint64_t id)
{
	return timeline_text(session_timeline(f->session), (uint32_t)id);
}

static const char *text_of_plain(const struct field_source *f, uint64_t id)
{
	return f->plain[id];
}

static const char *text_of_event(const struct field_source *f, uint64_t id)
{
	return sonde_session_event_name(f->session, (size_t)id);
}

static const char *text_of_trace(const struct field_source *f, uint64_t id)
{
	return intern_text(&f->texts->texts, (uint32_t)id);
}

static const char *text_of_trace_fields(const struct field_source *f, uint64_t id)
{
	return field_trace_key_cells(text_of_trace(f, id));
}

static const char *text_of_cgroup(const struct field_source *f, uint64_t id)
{
	return session_cgroup(f->session, id);
}

static const char *text_of_mispredict(const struct field_source *f, uint64_t id)
{
	(void)f;
	return id != 0 ? "Y" : "N";
}

static const char *text_of_in_tx(const struct field_source *f, uint64_t id)
{
	(void)f;
	return id != 0 ? "T" : ".";
}

static const char *text_of_abort(const struct field_source *f, uint64_t id)
{
	(void)f;
	return id != 0 ? "A" : ".";
}

static void put_cycles(const struct field_source *f, const struct field_value *v, struct text *out)
{
	(void)f;
	if (v->number == 0) {
		text_char(out, '-');
	} else {
		text_u64(out, v->number, 0, ' ');
	}
}

/* As in perf, with the task's last name, whatever its name at the sample. */
static void put_tid(const struct field_source *f, const struct field_value *v, struct text *out)
{
	text_printf(out, "%7d:%s", (int)v->number,
	        timeline_text(session_timeline(f->session), v->comm));
}

/* Padded to the width of the column. */
static void put_cpu(const struct field_source *f, const struct field_value *v, struct text *out)
{
	(void)f;
	text_printf(out, "%.*d", v->width, (int)v->number);
}

static void put_socket(const struct field_source *f, const struct field_value *v, struct text *out)
{
	(void)f;
	text_printf(out, "%*.*d", v->width, v->width - 3, (int)v->number);
}

/* Right-aligned; the title is as wide as the column. */
static void put_bytes(const struct field_source *f, const struct field_value *v, struct text *out)
{
	(void)f;
	if (v->number == 0) {
		text_printf(out, "%*s", v->width, "unknown");
	} else {
		text_printf(out, "%*" PRIu64, v->width, v->number);
	}
}

static void put_code_addr(
        const struct field_source *f, const struct field_value *v, struct text *out)
{
	(void)f;
	text_0x(out, v->number);
}

static void put_cgroup_id(
        const struct field_source *f, const struct field_value *v, struct text *out)
{
	const struct field_namespace *space = &f->namespaces->spaces[v->number];

	text_printf(out, "%" PRIu64 "/0x%" PRIx64, space->dev, space->inode);
}

/* The flags of PERF_SAMPLE_TRANSACTION by bit, and the code of an abort in the upper half. */
static void put_transaction(
        const struct field_source *f, const struct field_value *v, struct text *out)
{
	static const char *const flags[] = {
	        "EL ", "TX ", "SYNC ", "ASYNC ", "RETRY ", "CON ", "CAP-WRITE ", "CAP-READ "};
	const uint64_t sync = 4, async = 8;

	(void)f;
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		text_str(out, (v->number >> i & 1) != 0 ? flags[i] : "");
	}
	text_str(out, v->number != 0 && (v->number & (sync | async)) == 0 ? "NEITHER " : "");
	if (v->number >> 32 != 0) {
		text_char(out, ':');
		text_hex(out, v->number >> 32, 0, ' ');
	}
}

static void put_time(uint64_t time, bool ns, struct text *out)
{
	text_u64(out, time / NS_PER_SEC, 0, ' ');
	text_char(out, '.');
	text_u64(out, ns ? time % NS_PER_SEC : time % NS_PER_SEC / 1000, ns ? 9 : 6, '0');
}

static void put_phys_daddr(
        const struct field_source *f, const struct field_value *v, struct text *out)
{
	(void)f;
	text_str(out, v->number != 0 ? "0x" : "");
	text_hex(out, v->number, 16, '0');
}

/* "4K", "2M"; as in perf "1024M", because a larger unit is used from above 1024 of the smaller. */
static void put_size(uint64_t size, struct text *out)
{
	static const char units[] = "BKMGTPE";
	unsigned unit = 0;

	if (size == 0) {
		text_str(out, "N/A");
		return;
	}
	for (; size > 1024 && size % 1024 == 0; size /= 1024) {
		unit++;
	}
	text_u64(out, size, 0, ' ');
	text_char(out, units[unit]);
}

#define IN_SCRIPT            SONDE_FIELD_OF_SCRIPT
#define KEY                  SONDE_FIELD_KEY
#define BRANCH_KEY           SONDE_FIELD_BRANCH_KEY
#define MEMORY_KEY           SONDE_FIELD_MEMORY_KEY
#define TOTAL                SONDE_FIELD_TOTAL
#define IN_BOTH              (SONDE_FIELD_OF_SCRIPT | SONDE_FIELD_KEY)
#define TEXT                 (FIELD_GROWS | FIELD_CUT)
#define TYPE_BIT(t)          (1u << FIELD_TYPE_##t)
#define EVERY_TYPE           (FIELD_IF_CHAINS - 1)
#define CODE_TYPES           (EVERY_TYPE & ~TYPE_BIT(TRACE))
#define ANY_WEIGHT           ((uint64_t)SONDE_SAMPLE_WEIGHT | SONDE_SAMPLE_WEIGHT_STRUCT)
#define FIELD(id, line, ...) [FIELD_##id] = {__VA_ARGS__},

const struct field field_table[FIELD_COUNT] = {
#include "field/fields.inc"
};

_Static_assert(FIELD_SCRIPT_COUNT <= 64, "FIELD_BIT has no bit for the last fields of script");

int field_source_init(struct field_source *f, struct sonde_session *s)
{
	int rc;

	*f = (struct field_source){.session = s, .time_quantum = TIME_QUANTUM};
	rc = SESSION_FEATURE(s, FEATURE_CPU_TOPOLOGY, &f->arena, &f->topology);
	return rc == SONDE_ENOMEM ? rc : 0; /* damage was reported already */
}

void field_source_fini(struct field_source *f)
{
	arena_fini(&f->arena);
}

static const char *other_name(const struct field *f, unsigned uses)
{
	return (uses & ~(unsigned)SONDE_FIELD_OF_SCRIPT) != 0 ? f->info.other_name : NULL;
}

enum field_id field_find(unsigned uses, const char *word, size_t n)
{
	unsigned id = 0;

	for (; id < FIELD_COUNT; id++) {
		const struct field *f = field_at(id);
		const char *other = other_name(f, uses);

		if ((f->info.uses & uses) != 0 &&
		        (bytes_are(word, n, f->info.name) ||
		                (other != NULL && bytes_are(word, n, other)))) {
			break;
		}
	}
	return (enum field_id)id;
}

static bool starts_with(const char *name, const char *word, size_t n)
{
	return strncasecmp(name, word, n) == 0;
}

enum field_id field_find_start(unsigned uses, const char *word, size_t n)
{
	const char *name = NULL;
	unsigned found = FIELD_COUNT;
	bool several = false;

	for (unsigned id = 0; n != 0 && id < FIELD_COUNT; id++) {
		const struct field *f = field_at(id);
		const char *names[] = {f->info.name, other_name(f, uses)};

		for (size_t i = 0; (f->info.uses & uses) != 0 && i < 2 && names[i] != NULL; i++) {
			if (!starts_with(names[i], word, n)) {
				continue;
			}
			if (name != NULL && starts_with(names[i], name, strlen(name))) {
				continue; /* a longer one, such as comm_nodigit for comm */
			}
			several = name != NULL && found != id &&
			          (several || !starts_with(name, names[i], strlen(names[i])));
			name = names[i];
			found = id;
		}
	}
	return several ? FIELD_COUNT : (enum field_id)found;
}

void field_offer(unsigned uses, struct near *near)
{
	for (unsigned id = 0; id < FIELD_COUNT; id++) {
		const struct field *f = field_at(id);

		if ((f->info.uses & uses) != 0) {
			near_offer_text(near, f->info.name);
			if (other_name(f, uses) != NULL) {
				near_offer_text(near, other_name(f, uses));
			}
		}
	}
}

void field_names(unsigned uses, struct text *out)
{
	const char *between = "";

	for (unsigned id = 0; id < FIELD_COUNT; id++) {
		const struct field *f = field_at(id);
		const char *other = other_name(f, uses);

		if ((f->info.uses & uses) != 0) {
			text_str(out, between);
			text_str(out, f->info.name);
			text_str(out, other != NULL ? ", " : "");
			text_str(out, other != NULL ? other : "");
			between = ", ";
		}
	}
}

unsigned field_width(const struct field *f, const struct field_source *source)
{
	return f->info.type == SONDE_FIELD_TIME && source->ns ? TIME_WIDTH_NS : f->width;
}

uint64_t field_rank(const struct field *f, uint64_t number)
{
	bool is_signed =
	        f->info.type == SONDE_FIELD_ID || (f->style & (FIELD_FALLS | FIELD_SIGNED)) != 0;
	uint64_t rank = is_signed ? number ^ UINT64_C(1) << 63 : number;

	return (f->style & FIELD_FALLS) != 0 ? ~rank : rank;
}

void field_text(const struct field *f, const struct field_source *source,
        const struct field_value *v, struct text *out)
{
	if (v->text != NULL) {
		text_plain(out, v->text);
	} else if (f->put != NULL) {
		f->put(source, v, out);
	} else if (f->info.type == SONDE_FIELD_TEXT) {
		text_str(out, v->number == 0 ? "N/A" : "unknown");
	} else if (f->info.type == SONDE_FIELD_TIME) {
		put_time(v->number, source->ns, out);
	} else if (f->info.type == SONDE_FIELD_SIZE) {
		put_size(v->number, out);
	} else {
		text_u64(out, v->number, 0, ' ');
	}
}

/* In percent, with four decimals. */
static void json_share(struct json *out, const char *key, uint64_t part, uint64_t whole)
{
	uint64_t v = whole != 0 ? (uint64_t)((unsigned __int128)part * 1000000 / whole) : 0;

	json_printf(out, key, "%" PRIu64 ".%04" PRIu64, v / 10000, v % 10000);
}

/* A text of a value. */
static void json_put(const struct field *f, const struct field_source *source,
        const struct field_value *v, struct json *out)
{
	struct text text = {0};
	size_t blanks = 0;

	f->put(source, v, &text);
	text_char(&text, '\0');
	while (!text.failed && text.p[blanks] == ' ') {
		blanks++;
	}
	out->out->failed = out->out->failed || text.failed;
	json_text(out, f->info.name, text.failed ? NULL : text.p + blanks);
	text_fini(&text);
}

void field_json(const struct field *f, const struct field_source *source,
        const struct field_value *v, struct json *out)
{
	const char *key = f->info.name;

	if (f->info.type == SONDE_FIELD_TEXT && v->text == NULL && f->put != NULL) {
		json_put(f, source, v, out);
	} else if (f->info.type == SONDE_FIELD_TEXT) {
		json_text(out, key, v->text);
	} else if (f->info.type == SONDE_FIELD_ID) {
		json_s64(out, key, (int64_t)v->number);
	} else if (f->info.type == SONDE_FIELD_SHARE) {
		json_share(out, key, v->number, v->whole);
	} else {
		json_u64(out, key, v->number);
	}
}

void field_key_choose(struct field_key_choice *c, size_t id)
{
	if (c->chosen[id]) {
		return;
	}
	c->chosen[id] = true;
	c->at[id] = (uint8_t)c->words;
	c->words += field_at(id)->words;
	c->texts = c->texts || (field_at(id)->style & FIELD_OF_TEXTS) != 0;
	if (field_at(id)->words != 0) {
		c->got[c->ngot++] = (uint8_t)id;
	}
	if (field_at(id)->location != FIELD_NO_LOCATION) {
		c->located[c->nlocated++] = (uint8_t)id;
	}
}

void field_keys_get(const struct field_key_choice *c, const struct field_source *f,
        const struct session_sample *s, uint32_t *words)
{
	for (unsigned i = 0; i < c->ngot; i++) {
		const struct field *field = field_at(c->got[i]);
		uint64_t number = field->get(f, s);

		if (field->words == 2) {
			*words++ = (uint32_t)(number >> 32);
		}
		*words++ = (uint32_t)number;
	}
}

const struct sonde_field_info *sonde_field_at(size_t index)
{
	return index < FIELD_COUNT ? &field_at(index)->info : NULL;
}

const char *sonde_field_sql_type(const struct sonde_field_info *f)
{
	switch (f->type) {
	case SONDE_FIELD_TEXT:
	case SONDE_FIELD_REGISTERS: return "TEXT";
	case SONDE_FIELD_SHARE: return "REAL";
	case SONDE_FIELD_ID:
	case SONDE_FIELD_NUMBER:
	case SONDE_FIELD_ADDRESS:
	case SONDE_FIELD_TIME:
	case SONDE_FIELD_SIZE:
	case SONDE_FIELD_FLAGS: break;
	}
	return "INTEGER";
}
