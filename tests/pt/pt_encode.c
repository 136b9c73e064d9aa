/* SPDX-License-Identifier: MIT */
/*
 * Packets as text on standard input, their bytes on standard output; one packet a line:
 *
 *	psb | tnt !..! | tip 0x1000 | tip.pgd - | mtc 3 | tma 16 2 | ptw 1 0xabcd ip | raw c9 00
 *
 * Numbers are fields of struct sonde_pt_packet in the order of `forms` (v value, e extra, c count),
 * words are flags. IPs are compressed; `-` is no IP. A comment follows #.
 */
#include <sonde/pt_packet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 16

static const struct form {
	uint8_t kind;
	const char *fields;
} forms[] = {
        {SONDE_PT_PAD, ""},
        {SONDE_PT_PIP, "v"},
        {SONDE_PT_MODE_EXEC, "v"},
        {SONDE_PT_MODE_TSX, "v"},
        {SONDE_PT_STOP, ""},
        {SONDE_PT_CBR, "v"},
        {SONDE_PT_TSC, "v"},
        {SONDE_PT_TMA, "ve"},
        {SONDE_PT_MTC, "v"},
        {SONDE_PT_CYC, "v"},
        {SONDE_PT_VMCS, "v"},
        {SONDE_PT_OVF, ""},
        {SONDE_PT_PSB, ""},
        {SONDE_PT_PSBEND, ""},
        {SONDE_PT_MNT, "v"},
        {SONDE_PT_EXSTOP, ""},
        {SONDE_PT_MWAIT, "ve"},
        {SONDE_PT_PWRE, "ve"},
        {SONDE_PT_PWRX, "vec"},
        {SONDE_PT_PTW, "cv"},
        {SONDE_PT_CFE, "cv"},
        {SONDE_PT_EVD, "cv"},
        {SONDE_PT_TRIG, "ve"},
        {SONDE_PT_BBP, "cv"},
        {SONDE_PT_BIP, "cve"},
        {SONDE_PT_BEP, ""},
};

static const struct {
	const char *word;
	uint8_t flag;
} flags[] = {{"ip", SONDE_PT_F_IP}, {"hw", SONDE_PT_F_HW}, {"nr", SONDE_PT_F_NR},
        {"mult", SONDE_PT_F_MULT}, {"icnt", SONDE_PT_F_ICNT}};

static void set_field(struct sonde_pt_packet *p, char field, uint64_t number)
{
	if (field == 'v') {
		p->value = number;
	} else if (field == 'e') {
		p->extra = number;
	} else {
		p->count = (uint8_t)number;
	}
}

static bool set_flag(struct sonde_pt_packet *p, const char *word)
{
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		if (strcmp(flags[i].word, word) == 0) {
			p->flags |= flags[i].flag;
			return true;
		}
	}
	return false;
}

static bool write_form(
        struct sonde_pt_encoder *e, const struct form *form, char **words, unsigned n)
{
	struct sonde_pt_packet p = {.kind = form->kind};
	const char *field = form->fields;

	for (unsigned i = 1; i < n; i++) {
		if (words[i][0] >= '0' && words[i][0] <= '9' && *field != '\0') {
			set_field(&p, *field++, strtoull(words[i], NULL, 0));
		} else if (!set_flag(&p, words[i])) {
			return false;
		}
	}
	return sonde_pt_encoder_packet(e, &p) == 0;
}

static bool write_ip(struct sonde_pt_encoder *e, int kind, const char *word)
{
	const struct sonde_pt_packet none = {.kind = (uint8_t)kind};

	if (strcmp(word, "-") == 0) {
		return sonde_pt_encoder_packet(e, &none) == 0;
	}
	return sonde_pt_encoder_ip(e, kind, strtoull(word, NULL, 0)) == 0;
}

static bool write_line(struct sonde_pt_encoder *e, char **words, unsigned n)
{
	if (strcmp(words[0], "tnt") == 0 && n == 2) {
		for (const char *c = words[1]; *c != '\0'; c++) {
			if (sonde_pt_encoder_tnt(e, *c == '!') != 0) {
				return false;
			}
		}
		return true;
	}
	for (int kind = SONDE_PT_TIP; kind <= SONDE_PT_FUP; kind++) {
		if (strcmp(words[0], sonde_pt_kind_name(kind)) == 0) {
			return n == 2 && write_ip(e, kind, words[1]);
		}
	}
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (strcmp(words[0], sonde_pt_kind_name(forms[i].kind)) == 0) {
			return write_form(e, &forms[i], words, n);
		}
	}
	return false;
}

/* Bytes that are no packet: first writes what was encoded so far. */
static bool flush(struct sonde_pt_encoder *e, size_t *written)
{
	const uint8_t *bytes;
	size_t n;

	if (sonde_pt_encoder_bytes(e, &bytes, &n) != 0) {
		return false;
	}
	if (n > *written && fwrite(bytes + *written, 1, n - *written, stdout) != n - *written) {
		return false;
	}
	*written = n;
	return true;
}

static bool handle(struct sonde_pt_encoder *e, char *line, size_t *written)
{
	char *words[WORDS_MAX];
	char *rest = NULL;
	unsigned n = 0;

	line[strcspn(line, "#\n")] = '\0';
	for (char *w = strtok_r(line, " \t", &rest); w != NULL && n < WORDS_MAX;
	        w = strtok_r(NULL, " \t", &rest)) {
		words[n++] = w;
	}
	if (n == 0) {
		return true;
	}
	if (strcmp(words[0], "raw") != 0) {
		return write_line(e, words, n);
	}
	if (!flush(e, written)) {
		return false;
	}
	for (unsigned i = 1; i < n; i++) {
		(void)putchar((int)strtoul(words[i], NULL, 16));
	}
	return true;
}

int main(void)
{
	struct sonde_pt_encoder *e = sonde_pt_encoder_new(false);
	size_t written = 0;
	bool good = e != NULL;
	char line[256], copy[256];

	while (good && fgets(line, sizeof(line), stdin) != NULL) {
		memcpy(copy, line, sizeof(copy));
		good = handle(e, line, &written);
		if (!good) {
			(void)fprintf(stderr, "no packet: %s", copy);
		}
	}
	good = good && flush(e, &written);
	sonde_pt_encoder_free(e);
	return !good;
}
