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
	check(plain_json, "<a&b>\x7f\n\"\xc2\x9b", "\"<a&b>\\u007f\\u000a\\\"\\u009b\"",
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
	check(e, "\x01\xff\xc2\x9b", BAD BAD BAD,
	        "control characters and invalid UTF-8 are replaced in HTML");
	check(e, "\xf0\x9f\x94\xa5", "\xf0\x9f\x94\xa5", "a character of 4 bytes is kept in HTML");
}

static void plain(struct text *t, const char *s, size_t n)
{
	text_str(t, "\t"); /* before what is made plain */
	text_bytes(t, s, n);
	escape_plain_from(t, 1);
}

static void plain_lines(struct text *t, const char *s, size_t n)
{
	text_bytes(t, s, n);
	escape_plain_lines(t->p, t->n);
}

static void test_plain(void)
{
	char long_text[100], wanted[101];
	unsigned wrong = 0;

	check(plain, "", "\t", "an empty text is plain");
	check(plain, "worker~ caf\xc3\xa9 \xe2\x82\xac", "\tworker~ caf\xc3\xa9 \xe2\x82\xac",
	        "printable text is plain");
	check(plain, "\x1b[2J\t\n\r\x7f", "\t?[2J????", "control characters become question marks");
	check_n(plain, "a\0b", 3, "\ta?b", "a NUL inside a text becomes a question mark");
	check(plain,
	        "\xc2\x9b"
	        "31m",
	        "\t??31m", "control characters of two bytes become two");
	check(plain, "\xff\xe2\x82", "\t???", "invalid UTF-8 becomes question marks");
	check(plain, "\xef\xbf\xbd", "\t\xef\xbf\xbd", "the replacement character is plain");
	check(plain_lines, "\ta\n\x1b\r", "\ta\n??", "newlines and tabs are kept in lines");
	for (size_t n = 1; n < sizeof(long_text); n++) {
		for (size_t at = 0; at < n; at++) {
			memset(long_text, 'x', n);
			long_text[at] = '\x1b';
			escape_plain(long_text, n);
			memset(wanted, 'x', n);
			wanted[at] = '?';
			wrong += memcmp(long_text, wanted, n) != 0;
		}
	}
	ok(wrong == 0, "one control character is found anywhere in texts of up to 99 bytes");
}

int main(void)
{
	test_json();
	test_invalid();
	test_html();
	test_plain();
	return tap_done();
}
