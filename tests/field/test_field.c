/* SPDX-License-Identifier: MIT */
#include "field/field.h"
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
	                 BIT(FIELD_DSO);
	int rc;

	eq_u64(fields_of(NULL, &rc), usual, "usual fields, without those that were not recorded");
	eq_u64(fields_of("comm,ip", &rc), BIT(FIELD_COMM) | BIT(FIELD_IP), "a plain list");
	eq_u64(fields_of("comm,", &rc), BIT(FIELD_COMM), "a comma at the end");
	eq_u64(fields_of("-ip,-sym", &rc), usual & ~(BIT(FIELD_IP) | BIT(FIELD_SYM)), "-field");
	eq_u64(fields_of("+pid", &rc), usual | BIT(FIELD_PID), "+field");
	eq_u64(fields_of("sw:comm", &rc), BIT(FIELD_COMM), "fields of this type of event");
	eq_u64(fields_of("hw:comm", &rc), usual, "fields of another type");
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

static void test_names(void)
{
	const char *const *regs;
	bool good = true;
	size_t n;

	for (unsigned i = 0; i < FIELD_COUNT; i++) {
		good = good && field_def((enum field_id)i)->name != NULL;
	}
	ok(good, "every field has a name");
	regs = record_reg_names("x86_64", &n);
	ok(n == 24 && strcmp(regs[8], "IP") == 0, "registers of x86-64");
	regs = record_reg_names("i686", &n);
	ok(n == 24 && regs != NULL, "registers of i686");
	regs = record_reg_names("aarch64", &n);
	ok(n == 33 && strcmp(regs[32], "pc") == 0, "registers of arm64");
	ok(record_reg_names("i", &n) == NULL && n == 0, "an unknown machine");
	ok(record_reg_names(NULL, &n) == NULL && n == 0, "no machine");
}

static void check_data_src(uint64_t value, const char *want)
{
	struct text out = {0};

	line_data_src(&out, value);
	text_char(&out, '\0');
	eq_str(out.p, want, want);
	text_fini(&out);
}

/* As perf 6.1 prints these values. */
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
	test_names();
	return tap_done();
}
