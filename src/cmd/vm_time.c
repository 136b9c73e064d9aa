/* SPDX-License-Identifier: MIT */
#include "cmd/vm_time.h"

#include <stdio.h>
#include <string.h>

#define DRY_RUN     "dry-run"
#define EXIT_FAILED 255 /* as for other inputs that cannot be used */

static const char *after_blanks(const char *words)
{
	return words + strspn(words, " ");
}

bool vm_time_is_dry(const char *words)
{
	size_t n = sizeof(DRY_RUN) - 1;

	words = after_blanks(words);
	return strncmp(words, DRY_RUN, n) == 0 && (words[n] == '\0' || words[n] == ' ');
}

/* As perf writes it. */
static void on_offset(void *arg, const struct sonde_vm_time_offset *o)
{
	(void)arg;
	if (!o->has_vmcs) {
		(void)fprintf(stderr, "ERROR: Unknown VMCS\n");
	} else if (!o->known) {
		(void)fprintf(stderr, "ERROR: Unknown TSC Offset for VMCS %#llx\n",
		        (unsigned long long)o->vmcs);
	} else {
		(void)fprintf(stderr, "VMCS: %#llx  TSC Offset %#llx\n",
		        (unsigned long long)o->vmcs, (unsigned long long)o->offset);
	}
}

int vm_time_run(const struct rewriting *files, const char *words)
{
	struct rewriting_messages *m = files->messages;
	bool dry = vm_time_is_dry(words);
	const struct sonde_vm_time_options o = {.size = sizeof(o),
	        .offsets = dry ? after_blanks(words) + sizeof(DRY_RUN) - 1 : words,
	        .dry_run = dry,
	        .any_owner = files->force,
	        .on_offset = on_offset,
	        .on_diag = rewriting_diag,
	        .diag_arg = m};
	struct sonde_vm_time *v = sonde_vm_time_new(&o);
	int rc;

	if (v == NULL) {
		(void)fprintf(stderr, "Error: %s\n", sonde_status_text(SONDE_ENOMEM));
		return 1;
	}
	rc = sonde_vm_time_change(v, files->input);
	if (rc < 0) {
		(void)fprintf(stderr, "Error: %s\n", sonde_vm_time_error(v)->text);
	}
	sonde_vm_time_free(v);
	return rc < 0 ? EXIT_FAILED : rc;
}
