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

	check(e, "", "\"\"", "an empty text is a pair of quotes");
	check(e, "main", "\"main\"", "plain text is not escaped");
	check(e, "a\"b\\c", "\"a\\\"b\\\\c\"", "quotes and backslashes are escaped");
	check(e, "\n\t\x01\x1f\x7f", "\"\\u000a\\u0009\\u0001\\u001f\\u007f\"",
	        "control characters are escaped");
	check_n(e, "a\0b", 3, "\"a\\u0000b\"", "a NUL inside a text is escaped");
	check(e, "</script>", "\"\\u003c/script\\u003e\"", "</script> cannot occur in a string");
	check(e, "<!--", "\"\\u003c!--\"", "<!-- cannot occur in a string");
	check(e, "a&b", "\"a\\u0026b\"", "an ampersand is escaped");
	check(e, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x94\xa5", "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x94\xa5\"",
	        "valid UTF-8 of 2, 3 and 4 bytes is kept");
	check(e, "\xe2\x80\xa8\xe2\x80\xa9", "\"\\u2028\\u2029\"",
	        "line separators are escaped in scripts");
}

#define BAD "\xef\xbf\xbd"

static void test_invalid(void)
{
	escape_fn e = script_json;

	check(e, "\x80", "\"" BAD "\"", "a continuation byte alone is replaced");
	check(e, "a\xff\xfe", "\"a" BAD BAD "\"", "bytes that UTF-8 never has are replaced");
	check(e, "\xc3", "\"" BAD "\"", "a character cut after one byte is replaced");
	check(e, "\xe2\x82", "\"" BAD BAD "\"", "a character cut after two bytes is replaced");
	check(e, "\xc3<", "\"" BAD "\\u003c\"", "markup after an incomplete character is escaped");
	check(e, "\xe2\x82\"", "\"" BAD BAD "\\\"\"",
	        "a quote after an incomplete character is escaped");
	check(e, "\xc0\xbc", "\"" BAD BAD "\"", "an overlong < is replaced");
	check(e, "\xe0\x80\xbc", "\"" BAD BAD BAD "\"",
	        "an overlong character of 3 bytes is replaced");
	check(e, "\xf0\x80\x80\xbc", "\"" BAD BAD BAD BAD "\"",
	        "an overlong character of 4 bytes is replaced");
	check(e, "\xed\xa0\x80", "\"" BAD BAD BAD "\"", "a surrogate is replaced");
	check(e, "\xf4\x90\x80\x80", "\"" BAD BAD BAD BAD "\"",
	        "a character above U+10FFFF is replaced");
	check(e, "\xf4\x8f\xbf\xbf", "\"\xf4\x8f\xbf\xbf\"", "U+10FFFF is kept");
	check(plain_json, "<a&b>\x7f\n\"", "\"<a&b>\x7f\\u000a\\\"\"",
	        "markup is not escaped outside of scripts");
	check(plain_json, "\xe2\x80\xa8", "\"\xe2\x80\xa8\"",
	        "line separators are not escaped outside of scripts");
	check(plain_json, "a\xff<", "\"a" BAD "<\"",
	        "invalid UTF-8 is replaced outside of scripts too");
}

static void test_html(void)
{
	escape_fn e = escape_html;

	check(e, "<b a=\"x\" c='y'>&amp;", "&lt;b a=&quot;x&quot; c=&#39;y&#39;&gt;&amp;amp;",
	        "markup is escaped in HTML");
	check(e, "</title><script>", "&lt;/title&gt;&lt;script&gt;",
	        "</title> cannot occur in HTML text");
	check(e, "\x01\xff", BAD BAD, "control characters and invalid UTF-8 are replaced in HTML");
	check(e, "\xf0\x9f\x94\xa5", "\xf0\x9f\x94\xa5", "a character of 4 bytes is kept in HTML");
}

int main(void)
{
	test_json();
	test_invalid();
	test_html();
	return tap_done();
}
