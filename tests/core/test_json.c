/* SPDX-License-Identifier: MIT */
#include "core/json.h"
#include "tests/tap.h"

static void check(struct json *j, const char *want, const char *what)
{
	text_char(j->out, '\0');
	eq_str(j->out->failed ? NULL : j->out->p, want, what);
	text_fini(j->out);
}

static void test_values(void)
{
	const uint8_t bytes[] = {0x00, 0xa9, 0xff};
	struct text t = {0};
	struct json j = {.out = &t};

	json_begin(&j, "test", 3);
	json_u64(&j, "most", UINT64_MAX);
	json_s64(&j, "least", INT64_MIN);
	json_bool(&j, "yes", true);
	json_bool(&j, "no", false);
	json_text(&j, "none", NULL);
	json_text(&j, "key \"1\"", "a<b");
	json_string(&j, "part", "whole", 2);
	json_hex(&j, "hex", (struct span){bytes, sizeof(bytes)});
	json_printf(&j, "real", "%.2f", 0.5);
	json_raw(&j, "raw", "[1]", 3);
	json_end(&j);
	check(&j,
	        "{\"schema\":\"sonde-test\",\"version\":3,\"most\":18446744073709551615,"
	        "\"least\":-9223372036854775808,\"yes\":true,\"no\":false,\"none\":null,"
	        "\"key \\\"1\\\"\":\"a\\u003cb\",\"part\":\"wh\",\"hex\":\"00a9ff\",\"real\":0.50,"
	        "\"raw\":[1]}\n",
	        "a document with a value of each kind");
}

static void test_nesting(void)
{
	struct text t = {0};
	struct json j = {.out = &t};

	json_object(&j, NULL);
	json_array(&j, "a");
	json_line(&j);
	json_u64(&j, NULL, 1);
	json_line(&j);
	json_array(&j, NULL);
	json_close(&j);
	json_object(&j, NULL);
	json_u64(&j, "b", 2);
	json_close(&j);
	json_line(&j);
	json_close(&j);
	json_line(&j);
	json_object(&j, "c");
	json_end(&j);
	check(&j, "{\"a\":[\n1,\n[],{\"b\":2}\n],\n\"c\":{}}\n",
	        "nested objects and arrays, with line breaks where json_line asks for them");
}

static void test_as_perf(void)
{
	struct text t = {0};
	struct json j = {.out = &t, .as_perf = true};

	json_object(&j, NULL);
	json_text(&j, "value", "<not counted>");
	json_text(&j, "text", "a\"b\\c\n");
	json_u64(&j, "n", 1);
	json_end(&j);
	check(&j, "{\"value\" : \"<not counted>\", \"text\" : \"a\\\"b\\\\c\\u000a\", \"n\" : 1}\n",
	        "perf stat's spaces and escapes");
}

static void test_depth(void)
{
	struct text t = {0};
	struct json j = {.out = &t};

	for (unsigned i = 0; i <= JSON_DEPTH; i++) {
		json_array(&j, NULL);
	}
	ok(t.failed, "JSON_DEPTH + 1 levels are an error");
	text_fini(&t);
}

int main(void)
{
	test_values();
	test_nesting();
	test_as_perf();
	test_depth();
	return tap_done();
}
