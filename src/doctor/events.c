/* SPDX-License-Identifier: MIT */
/* Checks of events and traces. */
#include "doctor/doctor.h"
#include "proc/proc.h"

#include <stdio.h>
#include <stdlib.h>

#define PMUS     "sys/bus/event_source/devices"
#define PT       PMUS "/intel_pt"
#define PMUS_MAX 512

static int compare(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

void doctor_check_pmus(struct sonde_doctor *d)
{
	DIR *dir = proc_open_dir(d->root, PMUS);
	char *names[PMUS_MAX];
	const struct dirent *entry;
	size_t n = 0, i;

	while (n < PMUS_MAX && (entry = proc_next_entry(dir)) != NULL) {
		if ((names[n] = strdup(entry->d_name)) != NULL) {
			n++;
		}
	}
	proc_close_dir(dir);
	if (n == 0) {
		doctor_set(d, SONDE_DOCTOR_MISSING, "none: there is nothing in " PMUS);
		doctor_fix(d, "sudo mount -t sysfs nodev /sys");
		return;
	}
	qsort(names, n, sizeof(names[0]), compare);
	doctor_set(d, SONDE_DOCTOR_OK, "%zu: ", n);
	for (i = 0; i < n; i++) {
		char path[512];

		(void)snprintf(path, sizeof(path), PMUS "/%s/type", names[i]);
		doctor_more(d, "%s%s (%lld)", i > 0 ? ", " : "", names[i],
		        (long long)doctor_number(d, path, -1));
		free(names[i]);
	}
}

void doctor_check_hardware(struct sonde_doctor *d)
{
	char name[128] = "";

	(void)proc_read_line(d->root, PMUS "/cpu/caps/pmu_name", name, sizeof(name));
	if (d->hardware) {
		doctor_set(d, SONDE_DOCTOR_OK, "the processor's are there%s%s",
		        name[0] != '\0' ? ": " : "", name);
		return;
	}
	doctor_set(d, SONDE_DOCTOR_MISSING,
	        "none%s: cycles fall back to cpu-clock, other hardware events cannot be counted",
	        d->guest ? ", as in most virtual machines" : "");
	doctor_fix(d, "%s",
	        d->guest ? "give the virtual machine a virtual PMU on its host (QEMU: -cpu "
	                   "host,pmu=on)"
	                 : "boot a kernel with the driver of this processor's PMU, without "
	                   "perf_event=off");
}

void doctor_check_rdpmc(struct sonde_doctor *d)
{
	const char *file = doctor_exists(d, PMUS "/cpu_core/rdpmc") ? "cpu_core" : "cpu";
	char path[128];
	int64_t v;

	(void)snprintf(path, sizeof(path), PMUS "/%s/rdpmc", file);
	v = doctor_number(d, path, -1);
	if (v > 0) {
		doctor_set(d, SONDE_DOCTOR_OK, "programs may read their own counters by rdpmc");
		return;
	}
	doctor_set(d, SONDE_DOCTOR_LIMITED,
	        v == 0 ? "rdpmc is switched off: counters are read by system calls"
	               : "no rdpmc without hardware counters: counters are read by system calls");
	if (v == 0) {
		doctor_fix(d, "echo 1 | sudo tee /%s", path);
	}
}

void doctor_check_watchdog(struct sonde_doctor *d)
{
	int64_t on = doctor_number(d, "proc/sys/kernel/nmi_watchdog", 0);

	if (on == 0 || !d->hardware) {
		doctor_set(d, SONDE_DOCTOR_OK, "it holds no hardware counter");
		return;
	}
	doctor_set(d, SONDE_DOCTOR_LIMITED, "it holds one hardware counter on every cpu");
	doctor_fix(d, "sudo sysctl kernel.nmi_watchdog=0");
}

/* Returns the mount point of tracefs, or NULL. */
static const char *find_tracefs(const struct sonde_doctor *d)
{
	static const char *const places[] = {"sys/kernel/tracing", "sys/kernel/debug/tracing"};
	char path[128];
	size_t i;

	for (i = 0; i < 2; i++) {
		(void)snprintf(path, sizeof(path), "%s/events", places[i]);
		if (doctor_exists(d, path)) {
			return places[i];
		}
	}
	return NULL;
}

static bool tracefs_is_mounted(const struct sonde_doctor *d)
{
	FILE *in = proc_open_stream(d->root, "proc/mounts");
	char line[1024];
	bool found = false;

	while (in != NULL && fgets(line, sizeof(line), in) != NULL) {
		found |= strstr(line, " tracefs ") != NULL;
	}
	if (in != NULL) {
		(void)fclose(in);
	}
	return found;
}

void doctor_check_tracefs(struct sonde_doctor *d)
{
	const char *place = find_tracefs(d);
	char path[128];
	int64_t id;

	if (place == NULL && tracefs_is_mounted(d)) {
		doctor_set(
		        d, SONDE_DOCTOR_LIMITED, "tracefs is mounted, but not open to this user");
		doctor_fix(d, "sudo mount -o remount,mode=755 /sys/kernel/tracing");
		return;
	}
	if (place == NULL) {
		doctor_set(d, SONDE_DOCTOR_MISSING, "tracefs is not mounted");
		doctor_fix(d, "sudo mount -t tracefs nodev /sys/kernel/tracing");
		return;
	}
	(void)snprintf(path, sizeof(path), "%s/events/sched/sched_switch/id", place);
	if (!proc_read_number(d->root, path, &id)) {
		doctor_set(d, SONDE_DOCTOR_LIMITED,
		        "tracefs is at /%s, but its files cannot be read by this user", place);
		doctor_fix(d, "sudo chgrp -R \"$(id -gn)\" /%s && sudo chmod -R g+rX /%s", place,
		        place);
		return;
	}
	doctor_set(d, SONDE_DOCTOR_OK, "tracefs is at /%s", place);
}

void doctor_check_probes(struct sonde_doctor *d)
{
	bool kprobes = doctor_exists(d, PMUS "/kprobe"), uprobes = doctor_exists(d, PMUS "/uprobe");

	doctor_set(d,
	        kprobes && uprobes ? SONDE_DOCTOR_OK
	        : uprobes          ? SONDE_DOCTOR_LIMITED
	                           : SONDE_DOCTOR_MISSING,
	        "%s",
	        kprobes && uprobes ? "the kernel has both"
	        : uprobes          ? "uprobes only: the kernel was built without kprobes"
	        : kprobes          ? "kprobes only: the kernel was built without uprobes"
	                           : "the kernel was built without them");
	if (!kprobes || !uprobes) {
		doctor_fix(d, "boot a kernel with%s%s", kprobes ? "" : " CONFIG_KPROBE_EVENTS=y",
		        uprobes ? "" : " CONFIG_UPROBE_EVENTS=y");
	}
}

/* Adds the capabilities that are flags (files with 0 or 1), then those with numbers or masks. */
static void tell_pt_caps(struct sonde_doctor *d)
{
	static const char *const flags[] = {"psb_cyc", "mtc", "ip_filtering", "ptwrite",
	        "power_event_trace", "event_trace", "tnt_disable", "cr3_filtering", "topa_output",
	        "topa_multiple_entries", "single_range_output"};
	static const char *const masks[] = {
	        "mtc_periods", "cycle_thresholds", "psb_periods", "num_address_ranges"};
	char path[128], value[64];
	const char *before = ": ";
	size_t i;

	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		(void)snprintf(path, sizeof(path), PT "/caps/%s", flags[i]);
		if (doctor_number(d, path, 0) != 0) {
			doctor_more(d, "%s%s", before, flags[i]);
			before = ", ";
		}
	}
	for (i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
		(void)snprintf(path, sizeof(path), PT "/caps/%s", masks[i]);
		if (proc_read_line(d->root, path, value, sizeof(value))) {
			doctor_more(d, "%s%s=%s", before, masks[i], value);
			before = ", ";
		}
	}
}

void doctor_check_intel_pt(struct sonde_doctor *d)
{
	char flags[4096] = "";

	if (doctor_exists(d, PT)) {
		doctor_set(d, SONDE_DOCTOR_OK, "type %lld",
		        (long long)doctor_number(d, PT "/type", -1));
		tell_pt_caps(d);
		return;
	}
	(void)doctor_value(d, "proc/cpuinfo", "flags", flags, sizeof(flags));
	if (strstr(flags, " intel_pt") != NULL) {
		doctor_set(d, SONDE_DOCTOR_MISSING,
		        "the processor has it, the kernel does not offer it: a firmware setting, a "
		        "hypervisor, or CONFIG_PERF_EVENTS_INTEL_PT");
		doctor_fix(d, "boot a kernel with CONFIG_PERF_EVENTS_INTEL_PT=y, and enable Intel "
		              "Processor Trace in the firmware");
		return;
	}
	doctor_set(d, SONDE_DOCTOR_MISSING, "%s",
	        strcmp(d->vendor, "GenuineIntel") != 0
	                ? "this is no Intel processor: recordings of others can be read here"
	        : d->guest ? "the hypervisor does not pass it on"
	                   : "this processor is older than it (Broadwell has it, 2014)");
	if (strcmp(d->vendor, "GenuineIntel") == 0 && d->guest) {
		doctor_fix(d, "on the host: sudo modprobe -r kvm_intel && sudo modprobe kvm_intel "
		              "pt_mode=1, and QEMU's -cpu host,+intel-pt");
	}
}
