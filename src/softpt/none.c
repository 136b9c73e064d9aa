/* SPDX-License-Identifier: MIT */
/* Software PT on machines whose programs it cannot follow. */
#include "core/status.h"

#include <sonde/preview/softpt.h>
#include <stdlib.h>

struct sonde_softpt {
	struct sonde_softpt_result result;
	struct error error;
};

struct sonde_softpt *sonde_softpt_new(const struct sonde_softpt_options *options)
{
	struct sonde_softpt *s = calloc(1, sizeof(*s));

	(void)options;
	if (s != NULL) {
		s->result.size = sizeof(s->result);
		s->result.workload_status = -1;
	}
	return s;
}

void sonde_softpt_free(struct sonde_softpt *s)
{
	free(s);
}

int sonde_softpt_start(struct sonde_softpt *s)
{
	return error_set(&s->error, SONDE_EUNSUPPORTED, NO_OFFSET,
	        "--soft-pt traces programs of x86-64 Linux only");
}

int sonde_softpt_run(struct sonde_softpt *s)
{
	return sonde_softpt_start(s);
}

void sonde_softpt_stop(struct sonde_softpt *s)
{
	(void)s;
}

void sonde_softpt_snapshot(struct sonde_softpt *s)
{
	(void)s;
}

const struct sonde_softpt_result *sonde_softpt_get_result(const struct sonde_softpt *s)
{
	return &s->result;
}

const struct sonde_error *sonde_softpt_error(const struct sonde_softpt *s)
{
	return error_show(&s->error);
}
