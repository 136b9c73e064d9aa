/* SPDX-License-Identifier: MIT */
#include "cmd/caches.h"
#include "cmd/commands.h"
#include "cmd/options.h"
#include "cmd/recording.h"
#include "cmd/rewriting.h"
#include "cmd/vm_time.h"

#include <stdio.h>
#include <string.h>

struct inject {
	struct rewriting files;
	struct rewriting_messages messages;
	struct sonde_session_options session;
	struct symfs_list symfs;
	struct caches caches;
	const char *known;
	const char *itrace;
	const char *guest_data;
	const char *vm_time; /* NULL: not wanted */
	bool hit, all, mapped, ignore_vmlinux, strip, chains, sched_stat, jit, aslr;
	int verbose;
};

static enum sonde_edit_build_ids build_ids_of(const struct inject *i)
{
	return i->all   ? SONDE_EDIT_BUILD_IDS_ALL
	       : i->hit ? SONDE_EDIT_BUILD_IDS_HIT
	                : SONDE_EDIT_BUILD_IDS_KEEP;
}

static int on_itrace(const struct option_def *def, const char *arg, bool unset)
{
	struct inject *i = def->target;

	i->itrace = unset ? NULL : arg != NULL ? arg : "";
	return 0;
}

static int on_vm_time(const struct option_def *def, const char *arg, bool unset)
{
	struct inject *i = def->target;

	i->vm_time = unset ? NULL : arg != NULL ? arg : "";
	return 0;
}

/* Why the recording cannot be changed in place; NULL: it can. */
static const char *vm_time_mistake(const struct inject *i)
{
	if (strcmp(i->files.input, "-") == 0) {
		return "--vm-time-correlation changes the recording in place and needs -i FILE";
	}
	if (strcmp(i->files.output, "-") != 0) {
		return "--vm-time-correlation changes the recording in place, without -o";
	}
	if (build_ids_of(i) != SONDE_EDIT_BUILD_IDS_KEEP || i->mapped || i->itrace != NULL ||
	        i->chains || i->sched_stat || i->jit || i->aslr || i->guest_data != NULL) {
		return "--vm-time-correlation changes the recording in place: other changes are a "
		       "command of their own";
	}
	if (!i->files.force && !vm_time_is_dry(i->vm_time)) {
		return "--vm-time-correlation changes the recording in place, which -f must allow; "
		       "--vm-time-correlation=dry-run does not";
	}
	return NULL;
}

static int run(struct inject *i)
{
	struct sonde_rewriter_options o = {0};
	const struct sonde_editor_options eo = {.size = sizeof(eo),
	        .session = &i->session,
	        .build_ids = build_ids_of(i),
	        .mapped_build_ids = i->mapped,
	        .known_build_ids = i->known,
	        .itrace = i->itrace,
	        .convert_chains = i->chains,
	        .strip = i->strip,
	        .sched_stat = i->sched_stat,
	        .jit = i->jit,
	        .aslr = i->aslr,
	        .guest_data = i->guest_data};
	struct sonde_editor *editor;
	int rc;

	caches_set(&i->caches, &i->session);
	symfs_list_set(&i->symfs, &i->session);
	i->session.on_diag = rewriting_diag;
	i->session.diag_arg = &i->messages;
	i->files.messages = &i->messages;
	if (strcmp(i->files.output, "-") != 0 && strcmp(i->files.input, "-") == 0) {
		o.container = SONDE_CONTAINER_FILE; /* as perf makes files of streams */
	}
	editor = sonde_editor_new(&eo);
	if (editor == NULL) {
		(void)fprintf(stderr, "Error: %s\n", sonde_status_text(SONDE_ENOMEM));
		return 1;
	}
	i->files.count = i->verbose > 0;
	rc = rewriting_run(&i->files, &o, editor);
	sonde_editor_free(editor);
	return rc;
}

int cmd_inject(int argc, char **argv)
{
	struct inject i = {.files = {.input = "-", .output = "-"},
	        .session = {.size = sizeof(struct sonde_session_options)}};
	const struct option_def defs[] = {
	        OPTION_TEXT('i', "input", &i.files.input, "FILE",
	                "input file; '-' (default): standard input"),
	        OPTION_TEXT('o', "output", &i.files.output, "FILE",
	                "output file; '-' (default): standard output"),
	        OPTION_SWITCH(
	                'b', "build-ids", &i.hit, "list the build ids of objects that samples hit"),
	        OPTION_SWITCH(0, "buildid-all", &i.all, "list the build ids of all mapped objects"),
	        OPTION_SWITCH(0, "mmap2-buildid-all", &i.mapped,
	                "write the build ids of all mapped files into their mappings"),
	        OPTION_TEXT(0, "known-build-ids", &i.known, "LIST",
	                "with one of these: ids to use, 'ID PATH,ID PATH' or file://FILE"),
	        OPTION_SWITCH(0, "convert-callchain", &i.chains,
	                "replace copies of stacks by the call chains that they are unwound to"),
	        OPTION_SWITCH('j', "jit", &i.jit,
	                "write the code of jitdump files to ELF files and add their mappings"),
	        OPTION_TEXT(0, "guest-data", &i.guest_data, "PATH,PID[,OFFSET[,SCALE]]",
	                "add the processes of a virtual machine from a recording made in it"),
	        OPTION_CALL(0, "itrace", OPTION_OPTIONAL, on_itrace, &i, "LETTERS",
	                "replace Intel PT traces by samples: as in 'sonde script'; default: all"),
	        OPTION_CALL(0, "vm-time-correlation", OPTION_OPTIONAL, on_vm_time, &i, "OPTIONS",
	                "change the times of virtual machines in traces to the host's, in place"),
	        OPTION_SWITCH('s', "sched-stat", &i.sched_stat,
	                "merge sched_switch and sched_stat: where and how long tasks slept"),
	        OPTION_SWITCH(0, "strip", &i.strip, "with --itrace: omit the recorded samples"),
	        OPTION_SWITCH(0, "aslr", &i.aslr,
	                "move addresses, so that none shows where anything was loaded"),
	        RECORDING_SYMFS(&i.symfs),
	        OPTION_TEXT('k', "vmlinux", &i.session.vmlinux, "FILE",
	                "the kernel's ELF file with symbols"),
	        OPTION_SWITCH(0, "ignore-vmlinux", &i.ignore_vmlinux, "do not use -k"),
	        OPTION_TEXT(0, "kallsyms", &i.session.kallsyms, "FILE", "symbols of the kernel"),
	        OPTION_SWITCH('f', "force", &i.files.force, "read files of other users too"),
	        OPTION_COUNT('v', "verbose", &i.verbose, "print the number of written records"),
	        OPTION_END,
	};
	const struct option_command command = {
	        .name = "inject",
	        .usage = "[options]",
	        .about = "Adds information to a recording: records that nothing is added to stay "
	                 "as they are.",
	        .defs = defs,
	        .words = OPTION_NO_WORDS,
	};
	struct option_rest rest;
	int rc = options_parse(&command, argc, argv, &rest);

	if (rc != OPTIONS_RUN) {
		return rc;
	}
	if (i.known != NULL && !i.hit && !i.all && !i.mapped) {
		return options_mistake(&command, "--known-build-ids needs -b, --buildid-all or "
		                                 "--mmap2-buildid-all");
	}
	if (i.strip && i.itrace == NULL) {
		return options_mistake(&command, "--strip needs --itrace");
	}
	if (i.vm_time != NULL) {
		const char *mistake = vm_time_mistake(&i);

		if (mistake != NULL) {
			return options_mistake(&command, "%s", mistake);
		}
		i.files.messages = &i.messages;
		return vm_time_run(&i.files, i.vm_time);
	}
	if (i.ignore_vmlinux) {
		i.session.vmlinux = NULL;
	}
	return run(&i);
}
