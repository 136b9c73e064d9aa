/* SPDX-License-Identifier: MIT */
#include "field/choice.h"
#include "field/data_src.h"
#include "field/line.h"
#include "record/record.h"

#include "tap.h"

static const struct sonde_attr clock_attr = {
        .type = SONDE_TYPE_SOFTWARE,
        .sample_type = SONDE_SAMPLE_IP | SONDE_SAMPLE_TID | SONDE_SAMPLE_TIME,
};

static uint64_t fields_of(const char *spec, int *rc)
{
	struct field_choice choice;
	struct error err = {0};
	uint64_t fields = 0;

	field_choice_default(&choice, false);
	*rc = spec != NULL ? field_choice_parse(&choice, spec, &err) : 0;
	if (*rc >= 0) {
		*rc = field_choice_type(&choice, &clock_attr, "cpu-clock", false, &fields, &err);
	}
	return fields;
}

#define BIT FIELD_BIT

static void test_choice(void)
{
	uint64_t usual = BIT(FIELD_COMM) | BIT(FIELD_TID) | BIT(FIELD_TIME) | BIT(FIELD_PERIOD) |
	                 BIT(FIELD_EVENT) | BIT(FIELD_IP) | BIT(FIELD_SYM) | BIT(FIELD_SYMOFF) |
	                 BIT(FIELD_DSO) | BIT(FIELD_BPF_OUTPUT);
	int rc;

	eq_u64(fields_of(NULL, &rc), usual, "default fields, without those that were not recorded");
	eq_u64(fields_of("comm,ip", &rc), BIT(FIELD_COMM) | BIT(FIELD_IP), "a plain list");
	eq_u64(fields_of("comm,", &rc), BIT(FIELD_COMM),
	        "a comma at the end of a list is accepted");
	eq_u64(fields_of("-ip,-sym", &rc), usual & ~(BIT(FIELD_IP) | BIT(FIELD_SYM)),
	        "-field removes a default field");
	eq_u64(fields_of("+pid", &rc), usual | BIT(FIELD_PID), "+field adds to the default fields");
	eq_u64(fields_of("sw:comm", &rc), BIT(FIELD_COMM),
	        "a list for this type of event replaces the fields");
	eq_u64(fields_of("hw:comm", &rc), usual,
	        "a list for another type of event changes nothing");
}

static void test_tracepoint_chains(void)
{
	static const struct sonde_attr attr = {
	        .type = SONDE_TYPE_TRACEPOINT,
	        .sample_type = SONDE_SAMPLE_IP | SONDE_SAMPLE_TID,
	};
	uint64_t who = BIT(FIELD_COMM) | BIT(FIELD_TID) | BIT(FIELD_EVENT) | BIT(FIELD_TRACE);
	uint64_t where = BIT(FIELD_IP) | BIT(FIELD_SYM) | BIT(FIELD_SYMOFF) | BIT(FIELD_DSO),
	         fields;
	struct field_choice choice;
	struct error err = {0};

	field_choice_default(&choice, false);
	eq_u64(field_choice_type(&choice, &attr, "tp", false, &fields, &err), 0, "tracepoint");
	eq_u64(fields, who, "a tracepoint without call chains shows no address");
	field_choice_default(&choice, true);
	eq_u64(field_choice_type(&choice, &attr, "tp", false, &fields, &err), 0, "tracepoint");
	eq_u64(fields, who | where, "a tracepoint with call chains shows them");
}

/* Whether another field has the name of f, the field at index own. */
static bool name_is_taken(const struct sonde_field_info *f, size_t own)
{
	const struct sonde_field_info *other;

	for (size_t i = 0; (other = sonde_field_at(i)) != NULL; i++) {
		if (i != own && (other->uses & f->uses) != 0 && strcmp(other->name, f->name) == 0) {
			return true;
		}
	}
	return false;
}

#define ANY_KEY (SONDE_FIELD_KEY | SONDE_FIELD_BRANCH_KEY | SONDE_FIELD_MEMORY_KEY)

/* A key is a value of samples or of frames; a field only of script is a value of samples. */
static bool has_value(enum field_id id)
{
	const struct field *f = field_at(id);
	bool key = (f->info.uses & ANY_KEY) != 0;

	if (f->total != NULL) {
		return (f->info.uses & SONDE_FIELD_TOTAL) != 0;
	}
	return key ? f->words == 0 || f->get != NULL : f->words == 0;
}

static void test_table(void)
{
	const struct sonde_field_info *f;
	size_t n = 0;

	for (; (f = sonde_field_at(n)) != NULL; n++) {
		const struct field *field = field_at(n);
		bool checked = (f->uses & SONDE_FIELD_OF_SCRIPT) == 0 || f->needs == 0 ||
		               field->attribute != NULL || field->optional;

		if (!ok(f->name != NULL && f->title != NULL && f->help != NULL && f->uses != 0 &&
		                    f->type != 0 && !name_is_taken(f, n) && checked &&
		                    ((f->uses & SONDE_FIELD_OF_SCRIPT) == 0 ||
		                            n < FIELD_SCRIPT_COUNT) &&
		                    has_value((enum field_id)n),
		            f->name != NULL ? f->name : "a field without a name")) {
			return;
		}
	}
	eq_u64(n, FIELD_COUNT, "all fields are listed");
	eq_str(sonde_field_sql_type(sonde_field_at(FIELD_COMM)), "TEXT", "a name is TEXT in SQL");
	eq_str(sonde_field_sql_type(sonde_field_at(FIELD_OVERHEAD)), "REAL", "a share is REAL");
	eq_str(sonde_field_sql_type(sonde_field_at(FIELD_TIME)), "INTEGER", "a time is INTEGER");
}

static void test_keys(void)
{
	static const struct timeline_view view = {.tid = UINT32_MAX};
	static const struct session_sample sample = {
	        .s.time = 0x1234567890, .s.cpu = 3, .view = &view};
	const struct field_source source = {.time_quantum = 1};
	struct field_key_choice keys = {0};
	uint32_t words[FIELD_KEY_WORDS_MAX];

	field_key_choose(&keys, FIELD_CPU);
	field_key_choose(&keys, FIELD_SYM);
	field_key_choose(&keys, FIELD_TIME);
	field_key_choose(&keys, FIELD_CPU);
	field_key_choose(&keys, FIELD_TID);
	eq_u64(keys.words, 4, "a key of 64 bits has two words, a key of frames none");
	field_keys_get(&keys, &source, &sample, words);
	eq_u64(field_number(field_at(FIELD_CPU), words + keys.at[FIELD_CPU]), 3,
	        "value of the key cpu");
	eq_u64(field_number(field_at(FIELD_TIME), words + keys.at[FIELD_TIME]), 0x1234567890,
	        "value of a time above 32 bits");
	eq_u64(field_number(field_at(FIELD_TID), words + keys.at[FIELD_TID]), UINT64_MAX,
	        "a thread without an id is -1");
	ok(field_rank(field_at(FIELD_TID), UINT64_MAX) < field_rank(field_at(FIELD_TID), 0),
	        "-1 is sorted before 0 in ids");
	ok(field_rank(field_at(FIELD_WEIGHT), 2) < field_rank(field_at(FIELD_WEIGHT), 1),
	        "the largest weight is sorted first");
	ok(field_rank(field_at(FIELD_TIME), 1) < field_rank(field_at(FIELD_TIME), 2),
	        "the earliest time is sorted first");
}

static void test_words(void)
{
	eq_u64(field_find(SONDE_FIELD_KEY, "pid", 3), FIELD_TID, "in report pid is the key tid");
	eq_u64(field_find(SONDE_FIELD_KEY, "tid", 3), FIELD_TID, "in report tid is the key tid");
	eq_u64(field_find(SONDE_FIELD_OF_SCRIPT, "pid", 3), FIELD_PID, "script has a field pid");
	eq_u64(field_find(SONDE_FIELD_KEY, "pid,", 4), FIELD_COUNT,
	        "a name with a comma is unknown");
	eq_u64(field_find(SONDE_FIELD_KEY, "ip", 2), FIELD_COUNT, "report has no key ip");
}

static void test_mistakes(void)
{
	static const char *const wrong[] = {
	        "", "foo", "+foo", "comm,+ip", "xx:comm", "cpu", "+addr", "symoff", ":"};
	int rc;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		(void)fields_of(wrong[i], &rc);
		eq_u64(rc, SONDE_EARG, wrong[i]);
	}
}

static void test_registers(void)
{
	const char *const *regs;
	size_t n;

	regs = record_reg_names("x86_64", &n);
	ok(n == 24 && strcmp(regs[8], "IP") == 0, "registers of x86-64");
	regs = record_reg_names("i686", &n);
	ok(n == 24 && regs != NULL, "registers of i686");
	regs = record_reg_names("aarch64", &n);
	ok(n == 33 && strcmp(regs[32], "pc") == 0, "registers of arm64");
	ok(record_reg_names("i", &n) == NULL && n == 0, "an unknown machine has no registers");
	ok(record_reg_names(NULL, &n) == NULL && n == 0, "NULL as machine has no registers");
}

static void check_data_src(uint64_t value, const char *want)
{
	struct text out = {0};

	data_src_text(&out, value);
	text_char(&out, '\0');
	eq_str(out.p, want, want);
	text_fini(&out);
}

/* Expected texts are those of perf 6.1. */
static void test_data_src(void)
{
	check_data_src(0, "|OP No|LVL N/A|SNP N/A|TLB N/A|LCK No|BLK  N/A");
	check_data_src(0x1e05080021, "|OP N/A|LVL N/A or N/A|SNP N/A|TLB N/A|LCK N/A|BLK  N/A");
	check_data_src(
	        0x6a100242, "|OP LOAD|LVL LFB/MAB hit|SNP None|TLB L1 or L2 hit|LCK Yes|BLK  N/A");
	check_data_src(
	        0x1600000182, "|OP LOAD|LVL L1 or Any cache miss|SNP N/A|TLB N/A|LCK No|BLK  N/A");
	check_data_src(0x103600000000,
	        "|OP No|LVL Remote node, same socket Any cache|SNP N/A|TLB N/A|LCK No|BLK  N/A");
	check_data_src(0x60000000010, "|OP EXEC|LVL N/A|SNP N/A|TLB N/A|LCK No|BLK  Data Addr");
	check_data_src(0x8000100004, "|OP STORE|LVL N/A|SNP None or Peer|TLB N/A|LCK No|BLK  N/A");
}

int main(void)
{
	test_data_src();
	test_choice();
	test_tracepoint_chains();
	test_mistakes();
	test_table();
	test_keys();
	test_words();
	test_registers();
	return tap_done();
}
