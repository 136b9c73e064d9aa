/* SPDX-License-Identifier: MIT */
/* For a static binary, which cannot load shared objects. */
#include "script/dlfilter.h"
#include "script/script.h"

int script_filter_open(struct script *s, const struct sonde_script_options *o)
{
	if (o->dlfilter == NULL) {
		return 0;
	}
	return error_set(session_error(s->session), SONDE_EARG, NO_OFFSET,
	        "this static build cannot load the filter %s: use a dynamically linked sonde",
	        o->dlfilter);
}

void script_filter_close(struct script *s)
{
	(void)s;
}

int script_filter_keeps(
        struct script *s, struct script_worker *w, const struct session_sample *sample, bool early)
{
	(void)s, (void)w, (void)sample, (void)early;
	return 1;
}

int sonde_dlfilters(sonde_dlfilter_fn fn, void *arg)
{
	(void)fn, (void)arg;
	return SONDE_EUNSUPPORTED;
}
