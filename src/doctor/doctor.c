/* SPDX-License-Identifier: MIT */
/* The list of checks, and how it is printed. */
#include "doctor/doctor.h"

#include "core/json.h"
#include "core/options.h"
#include "proc/proc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const struct check {
	const char *name, *title;
	void (*look)(struct sonde_doctor *d);
} checks[] = {
        {"perf-events", "perf events", doctor_check_perf},
        {"paranoid", "paranoid level", doctor_check_paranoid},
        {"capabilities", "capabilities", doctor_check_caps},
        {"seccomp", "seccomp filter", doctor_check_seccomp},
        {"ptrace", "other processes", doctor_check_ptrace},
        {"mlock", "memory for rings", doctor_check_mlock},
        {"open-files", "open files", doctor_check_files},
        {"sample-rate", "sample rate", doctor_check_rate},
        {"call-chains", "whole call chains", doctor_check_chains},
        {"pmus", "PMUs", doctor_check_pmus},
        {"hardware", "hardware counters", doctor_check_hardware},
        {"rdpmc", "user-space reading", doctor_check_rdpmc},
        {"nmi-watchdog", "NMI watchdog", doctor_check_watchdog},
        {"intel-pt", "Intel PT", doctor_check_intel_pt},
        {"tracefs", "tracepoints", doctor_check_tracefs},
        {"probes", "kprobes, uprobes", doctor_check_probes},
        {"kptr", "kernel addresses", doctor_check_kptr},
        {"kallsyms", "kernel symbols", doctor_check_kallsyms},
        {"kcore", "kernel code", doctor_check_kcore},
        {"build-ids", "build-id cache", doctor_check_build_ids},
        {"debuginfod", "debuginfod", doctor_check_debuginfod},
};

#define CHECKS (sizeof(checks) / sizeof(checks[0]))

static void read_machine(struct sonde_doctor *d)
{
	char line[4096];
	pid_t *cpus = NULL;
	size_t n = 0;

	d->caps = doctor_value(d, "proc/self/status", "CapEff", line, sizeof(line))
	                  ? strtoull(line, NULL, 16)
	                  : 0;
	d->uid = doctor_value(d, "proc/self/status", "Uid", line, sizeof(line))
	                 ? strtoll(line, NULL, 10)
	                 : -1;
	d->paranoid = doctor_number(d, "proc/sys/kernel/perf_event_paranoid", INT64_MIN);
	if (proc_read_cpus(d->root, "sys/devices/system/cpu/online", &cpus, &n) < 0) {
		n = 1;
	}
	free(cpus);
	d->ncpus = (int64_t)n;
	d->page_size = sysconf(_SC_PAGESIZE);
	d->guest = doctor_value(d, "proc/cpuinfo", "flags", line, sizeof(line)) &&
	           strstr(line, " hypervisor") != NULL;
	d->hardware = doctor_exists(d, "sys/bus/event_source/devices/cpu") ||
	              doctor_exists(d, "sys/bus/event_source/devices/cpu_core") ||
	              doctor_exists(d, "sys/bus/event_source/devices/armv8_pmuv3_0") ||
	              doctor_exists(d, "sys/bus/event_source/devices/armv8_pmuv3");
	if (!doctor_value(d, "proc/cpuinfo", "vendor_id", d->vendor, sizeof(d->vendor))) {
		d->vendor[0] = '\0';
	}
}

struct sonde_doctor *sonde_doctor_new(const struct sonde_doctor_options *options)
{
	struct sonde_doctor *d = calloc(1, sizeof(*d));
	const char *root;

	if (d == NULL) {
		return NULL;
	}
	d->root = -1;
	if (options_copy(&d->options, sizeof(d->options), options, &d->error) < 0) {
		return d;
	}
	root = d->options.root != NULL ? d->options.root : "/";
	d->root = proc_root_open(root);
	if (d->root >= 0) {
		read_machine(d);
	} else {
		(void)error_errno(
		        &d->error, SONDE_ENOENT, errno, "cannot open the folder %s", root);
	}
	return d;
}

const struct sonde_error *sonde_doctor_error(const struct sonde_doctor *d)
{
	return error_show(&d->error);
}

void sonde_doctor_free(struct sonde_doctor *d)
{
	if (d == NULL) {
		return;
	}
	if (d->root >= 0) {
		(void)close(d->root);
	}
	text_fini(&d->found);
	text_fini(&d->fix);
	free(d);
}

int sonde_doctor_next(struct sonde_doctor *d, const struct sonde_doctor_check **check)
{
	*check = NULL;
	if (d->root < 0) {
		return error_status(&d->error);
	}
	if (d->next == CHECKS) {
		return 0;
	}
	d->check = (struct sonde_doctor_check){
	        .name = checks[d->next].name, .title = checks[d->next].title};
	d->found.n = d->fix.n = 0;
	checks[d->next++].look(d);
	text_char(&d->found, '\0');
	text_char(&d->fix, '\0');
	if (d->found.failed || d->fix.failed) {
		return error_nomem(&d->error);
	}
	d->check.found = d->found.p;
	d->check.fix = d->fix.p[0] != '\0' ? d->fix.p : NULL;
	*check = &d->check;
	return 1;
}

static const char *const states[] = {"ok", "limited", "missing"};

static void print_check(const struct sonde_doctor_check *c, struct json *json, struct text *out)
{
	if (json == NULL) {
		text_printf(out, "%-20s%-9s%s\n", c->title, states[c->state], c->found);
		if (c->fix != NULL) {
			text_printf(out, "%29sto change it: %s\n", "", c->fix);
		}
		return;
	}
	json_object(json, NULL);
	json_text(json, "check", c->name);
	json_text(json, "state", states[c->state]);
	json_text(json, "found", c->found);
	json_text(json, "fix", c->fix);
	json_close(json);
}

int sonde_doctor_print(struct sonde_doctor *d, bool json, sonde_write_fn write, void *arg)
{
	const struct sonde_doctor_check *check;
	struct text out = {0};
	struct json j = {.out = &out};
	int rc;

	if (json) {
		json_begin(&j, "doctor", 1);
		json_array(&j, "checks");
	}
	d->next = 0;
	while ((rc = sonde_doctor_next(d, &check)) > 0) {
		print_check(&d->check, json ? &j : NULL, &out);
	}
	if (json) {
		json_end(&j);
	}
	if (rc == 0) {
		rc = error_plain(&d->error, text_flush(&out, 0, write, arg));
	}
	text_fini(&out);
	return rc;
}
