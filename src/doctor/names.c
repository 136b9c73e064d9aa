/* SPDX-License-Identifier: MIT */
/* Checks of the sources of names: kallsyms, debug files, caches. */
#include "doctor/doctor.h"
#include "proc/proc.h"

#include <stdio.h>
#include <stdlib.h>

void doctor_check_kallsyms(struct sonde_doctor *d)
{
	char line[256] = "", release[128] = "", path[512];
	struct proc_kernel kernel;

	if (!proc_read_line(d->root, "proc/kallsyms", line, sizeof(line))) {
		doctor_set(d, SONDE_DOCTOR_MISSING, "proc/kallsyms is not there");
		doctor_fix(d, "boot a kernel with CONFIG_KALLSYMS=y");
		return;
	}
	(void)doctor_value(d, "proc/sys/kernel/osrelease", "", release, sizeof(release));
	(void)snprintf(path, sizeof(path), "usr/lib/debug/boot/vmlinux-%s", release);
	if (!proc_kernel_text(d->root, &kernel)) {
		doctor_set(
		        d, SONDE_DOCTOR_LIMITED, "proc/kallsyms shows no addresses to this user");
		doctor_fix(d, "sudo sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1");
		return;
	}
	doctor_set(d, SONDE_DOCTOR_OK, "kallsyms can be read%s",
	        doctor_exists(d, path) ? ", and there is a vmlinux with debug information" : "");
}

void doctor_check_kcore(struct sonde_doctor *d)
{
	if (!doctor_exists(d, "proc/kcore")) {
		doctor_set(d, SONDE_DOCTOR_MISSING,
		        "no proc/kcore: the kernel's running code cannot be copied (--kcore)");
		doctor_fix(d, "boot a kernel with CONFIG_PROC_KCORE=y");
		return;
	}
	if (d->uid != 0 && !doctor_can(d, CAP_SYS_ADMIN)) {
		doctor_set(d, SONDE_DOCTOR_LIMITED, "only root reads proc/kcore (--kcore)");
		doctor_fix(d, "sudo sonde record --kcore ...");
		return;
	}
	doctor_set(d, SONDE_DOCTOR_OK, "proc/kcore is there");
}

void doctor_check_build_ids(struct sonde_doctor *d)
{
	char path[4096];
	const char *folder = d->options.build_ids;
	size_t n = 0;
	DIR *dir;

	if (folder == NULL) {
		doctor_set(d, SONDE_DOCTOR_LIMITED,
		        "there is no place for it: HOME is not set, or buildid.dir is /dev/null");
		doctor_fix(d, "export HOME=/path/of/your/home");
		return;
	}
	(void)snprintf(path, sizeof(path), "%s/.build-id", folder + strspn(folder, "/"));
	dir = proc_open_dir(d->root, path);
	while (proc_next_entry(dir) != NULL) {
		n++;
	}
	proc_close_dir(dir);
	if (n == 0) {
		doctor_set(d, SONDE_DOCTOR_LIMITED,
		        "%s is empty: programs are looked for where they ran, and have no names "
		        "once they were built anew",
		        folder);
		doctor_fix(d, "record without -N and -B: sonde record -g -- COMMAND");
		return;
	}
	doctor_set(
	        d, SONDE_DOCTOR_OK, "%s holds build ids with %zu different beginnings", folder, n);
}

void doctor_check_debuginfod(struct sonde_doctor *d)
{
	const char *urls = d->options.debuginfod_urls;

	if (urls != NULL && urls[0] != '\0') {
		doctor_set(d, SONDE_DOCTOR_OK,
		        "--debuginfod asks the servers of DEBUGINFOD_URLS for missing files");
		return;
	}
	doctor_set(d, SONDE_DOCTOR_LIMITED,
	        "DEBUGINFOD_URLS is not set: debug files are looked for on this machine only");
	doctor_fix(d, "install the debug files of the package (NAME-dbgsym or NAME-debuginfo), or "
	              "'sonde report --debuginfod=URLS'");
}
