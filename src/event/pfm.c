/* SPDX-License-Identifier: MIT */
/*
 * Names of libpfm4: UNHALTED_CORE_CYCLES, snb::INST_RETIRED:ANY_P:u. The library is loaded when a
 * name may be one of its own: it has a megabyte of tables with relocations, of which every linked
 * process would get a copy. Static programs link it.
 */
#include "event/parts.h"

#include <dlfcn.h>
#include <perfmon/pfmlib_perf_event.h>
#include <string.h>

struct pfm {
	__typeof__(&pfm_initialize) initialize;
	__typeof__(&pfm_get_os_event_encoding) encode;
};

#ifdef PFM_LINKED
static bool load(struct pfm *pfm)
{
	*pfm = (struct pfm){pfm_initialize, pfm_get_os_event_encoding};
	return true;
}
#else
/* Never unloaded: it initialises itself once. */
static bool load(struct pfm *pfm)
{
	void *library = dlopen("libpfm.so.4", RTLD_LAZY | RTLD_LOCAL);

	if (library == NULL) {
		return false;
	}
	pfm->initialize = (__typeof__(pfm->initialize))dlsym(library, "pfm_initialize");
	pfm->encode = (__typeof__(pfm->encode))dlsym(library, "pfm_get_os_event_encoding");
	return pfm->initialize != NULL && pfm->encode != NULL;
}
#endif

int pfm_parse(const struct parse *p, struct word name)
{
	struct perf_event_attr attr = {.size = 0};
	pfm_perf_encode_arg_t arg = {.attr = &attr, .size = sizeof(arg)};
	char text[256];
	struct event *event;
	struct pfm pfm;

	if (name.n >= sizeof(text) || !load(&pfm) || pfm.initialize() != PFM_SUCCESS) {
		return 0;
	}
	memcpy(text, name.p, name.n);
	text[name.n] = '\0';
	if (pfm.encode(text, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT_EXT, &arg) != PFM_SUCCESS) {
		return 0;
	}
	event = event_list_add(p->list);
	if (event == NULL) {
		return error_nomem(p->err);
	}
	event->attr.type = attr.type;
	event->attr.config = attr.config;
	event->attr.config1 = attr.config1;
	event->attr.config2 = attr.config2;
	event->attr.flags = (uint64_t)attr.exclude_user << SONDE_FLAG_EXCLUDE_USER |
	                    (uint64_t)attr.exclude_kernel << SONDE_FLAG_EXCLUDE_KERNEL |
	                    (uint64_t)attr.exclude_hv << SONDE_FLAG_EXCLUDE_HV |
	                    (uint64_t)attr.exclude_guest << SONDE_FLAG_EXCLUDE_GUEST |
	                    (uint64_t)attr.exclude_host << SONDE_FLAG_EXCLUDE_HOST |
	                    (uint64_t)attr.pinned << SONDE_FLAG_PINNED |
	                    (uint64_t)attr.precise_ip << SONDE_FLAG_PRECISE_IP;
	event->name = NULL;
	return 1;
}

const char *pfm_about(void)
{
	struct pfm pfm;

	return load(&pfm) ? "libpfm4" : NULL;
}
