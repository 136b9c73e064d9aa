/* SPDX-License-Identifier: MIT */
/* Which texts of formats libtraceevent gets: those that are as the kernel writes them. */
#include "trace/sound.h"

#include "core/text.h"
#include "tap.h"

#define HEAD                                                                                       \
	"name: sched_switch\nID: 316\nformat:\n\tfield:unsigned short "                            \
	"common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
#define TAIL "\nprint fmt: \"%s\", REC->comm\n"

static void check(bool sound, const char *text, const char *what)
{
	ok(trace_format_is_sound((struct span){(const uint8_t *)text, strlen(text)}) == sound,
	        what);
}

static void check_field(bool sound, const char *field)
{
	struct text t = {0};

	text_str(&t, HEAD "\tfield:");
	text_str(&t, field);
	text_str(&t, ";\toffset:8;\tsize:16;\tsigned:0;\n" TAIL);
	text_char(&t, '\0');
	check(sound, t.p, strchr(field, '\n') != NULL ? "a declaration of two lines" : field);
	text_fini(&t);
}

static void check_print(bool sound, const char *print)
{
	struct text t = {0};

	text_str(&t, HEAD "\nprint fmt: ");
	text_str(&t, print);
	text_str(&t, "\n");
	for (int i = 0; i < 70 && strcmp(print, "deep") == 0; i++) {
		text_char(&t, '(');
	}
	for (int i = 0; i < 70 && strcmp(print, "deep") == 0; i++) {
		text_char(&t, ')');
	}
	text_char(&t, '\0');
	check(sound, t.p, strchr(print, '\n') != NULL ? "a print format of two lines" : print);
	text_fini(&t);
}

static void check_plain(bool plain, const char *text, const char *what)
{
	ok(trace_format_is_sound((struct span){(const uint8_t *)text, strlen(text)}), what);
	ok(trace_format_is_plain((struct span){(const uint8_t *)text, strlen(text)}) == plain,
	        plain ? "it has nothing else" : "it has something else");
}

static void check_declaration(bool plain, const char *field)
{
	struct text t = {0};

	text_str(&t, HEAD "\tfield:");
	text_str(&t, field);
	text_str(&t, ";\toffset:8;\tsize:16;\tsigned:0;\n" TAIL);
	text_char(&t, '\0');
	check_plain(plain, t.p, field);
	text_fini(&t);
}

static void test_plain(void)
{
	check_declaration(true, "char comm[16]");
	check_declaration(true, "__data_loc unsigned long[] name");
	check_declaration(true, "const char *const * name");
	check_declaration(false, "unsigned long args[6 * (2 + 1)]");
	check_declaration(false, "char comm[010]");
	check_declaration(false, "char comm[]");
	check_declaration(false, "unsigned int(u8) name");
	check_declaration(false, "*int name");
	check_declaration(false, "__data_loc [] name");
	check_declaration(false, "__data_loc char name");
	check_plain(false, HEAD "print fmt: \"%s\", REC->comm\n", "one empty line");
	check_plain(false, HEAD "\n" TAIL, "three empty lines");
	check_plain(false, HEAD TAIL "\n", "an empty line after the print format");
	check_plain(false, HEAD TAIL "more", "another line after the print format");
	check_plain(false, HEAD "\nprint fmt: \"plain\"", "a last line without its end");
	check_plain(true, HEAD "\nprint fmt: \"plain\"\n", "no fields of its own");
}

int main(void)
{
	check_field(true, "char comm[16]");
	check_field(true, "__data_loc char[] name");
	check_field(true, "const char * name");
	check_field(true, "unsigned long args[6 * (2 + 1)]");
	check_field(false, "char comm[\nworker");
	check_field(false, "char comm[16");
	check_field(false, "comm");
	check_field(false, "char comm]");
	check_field(false, "char \"comm");
	check_field(false, "char comm *");
	check_print(true, "\"%s\\\" (\", REC->comm");
	check_print(true, "\"two\nlines\", ((REC->a) & (1 << 2)), { 1, \"x\" }");
	check_print(false, "\"%s, REC->comm");
	check_print(false, "\"%s\", (REC->comm");
	check_print(false, "\"%s\", (REC->comm]");
	check_print(false, "\"%s\"\001");
	check_print(false, "deep");
	check_print(
	        true, "\"100%\", (REC->a / 250), REC->b % 1000L, REC->c / sizeof(unsigned int)");
	check_print(false, "\"%d\", REC->a / REC->b");
	check_print(false, "\"%d\", REC->a % 0");
	check_print(false, "\"%d\", REC->a / 1 / 2");
	check_print(false, "\"%d\", REC->a / (1)");
	check(false, "", "an empty text");
	check(false, HEAD, "a format without a print format");
	check(false, "name: a\nID: x\nformat:\n" TAIL, "an ID without a number");
	check(false, "name: a b\nID: 1\nformat:\n" TAIL, "two words as a name");
	check(false, "name: a\nID: 1\n" TAIL, "no fields");
	test_plain();
	return tap_done();
}
