/* SPDX-License-Identifier: MIT */
#include "core/escape.h"

#include "tests/tap.h"

static void script_json(struct text *t, const char *s, size_t n)
{
	escape_json(t, s, n, true);
}

static void plain_json(struct text *t, const char *s, size_t n)
{
	escape_json(t, s, n, false);
}

typedef void (*escape_fn)(struct text *t, const char *s, size_t n);

static void check_n(escape_fn escape, const char *in, size_t n, const char *want, const char *what)
{
	struct text t = {0};

	escape(&t, in, n);
	text_char(&t, '\0');
	eq_str(t.failed ? NULL : t.p, want, what);
	text_fini(&t);
}

static void check(escape_fn escape, const char *in, const char *want, const char *what)
{
	check_n(escape, in, strlen(in), want, what);
}

static void test_json(void)
{
	escape_fn e = script_json;

	check(e, "", "\"\"", "empty");
	check(e, "main", "\"main\"", "plain");
	check(e, "a\"b\\c", "\"a\\\"b\\\\c\"", "quote and backslash");
	check(e, "\n\t\x01\x1f\x7f", "\"\\u000a\\u0009\\u0001\\u001f\\u007f\"", "control");
	check_n(e, "a\0b", 3, "\"a\\u0000b\"", "NUL inside");
	check(e, "</script>", "\"\\u003c/script\\u003e\"", "end of script");
	check(e, "<!--", "\"\\u003c!--\"", "start of comment");
	check(e, "a&b", "\"a\\u0026b\"", "ampersand");
	check(e, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x94\xa5", "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x94\xa5\"",
	        "2, 3 and 4 bytes");
	check(e, "\xe2\x80\xa8\xe2\x80\xa9", "\"\\u2028\\u2029\"", "line separators");
}

#define BAD "\xef\xbf\xbd"

static void test_invalid(void)
{
	escape_fn e = script_json;

	check(e, "\x80", "\"" BAD "\"", "continuation alone");
	check(e, "a\xff\xfe", "\"a" BAD BAD "\"", "bytes that never occur");
	check(e, "\xc3", "\"" BAD "\"", "cut after one byte");
	check(e, "\xe2\x82", "\"" BAD BAD "\"", "cut after two bytes");
	check(e, "\xc3<", "\"" BAD "\\u003c\"", "markup behind a broken start is seen");
	check(e, "\xe2\x82\"", "\"" BAD BAD "\\\"\"", "quote behind a broken start is seen");
	check(e, "\xc0\xbc", "\"" BAD BAD "\"", "overlong form of <");
	check(e, "\xe0\x80\xbc", "\"" BAD BAD BAD "\"", "overlong, 3 bytes");
	check(e, "\xf0\x80\x80\xbc", "\"" BAD BAD BAD BAD "\"", "overlong, 4 bytes");
	check(e, "\xed\xa0\x80", "\"" BAD BAD BAD "\"", "surrogate");
	check(e, "\xf4\x90\x80\x80", "\"" BAD BAD BAD BAD "\"", "above U+10FFFF");
	check(e, "\xf4\x8f\xbf\xbf", "\"\xf4\x8f\xbf\xbf\"", "U+10FFFF");
	check(plain_json, "<a&b>\x7f\n\"", "\"<a&b>\x7f\\u000a\\\"\"",
	        "outside of scripts markup stays");
	check(plain_json, "\xe2\x80\xa8", "\"\xe2\x80\xa8\"", "outside of scripts separators stay");
	check(plain_json, "a\xff<", "\"a" BAD "<\"", "outside of scripts UTF-8 is repaired too");
}

static void test_html(void)
{
	escape_fn e = escape_html;

	check(e, "<b a=\"x\" c='y'>&amp;", "&lt;b a=&quot;x&quot; c=&#39;y&#39;&gt;&amp;amp;",
	        "markup");
	check(e, "</title><script>", "&lt;/title&gt;&lt;script&gt;", "end of title");
	check(e, "\x01\xff", BAD BAD, "control and invalid");
	check(e, "\xf0\x9f\x94\xa5", "\xf0\x9f\x94\xa5", "4 bytes");
}

int main(void)
{
	test_json();
	test_invalid();
	test_html();
	return tap_done();
}
