/* SPDX-License-Identifier: MIT */
/* Recorders of a played machine with two cpus and Intel PT, for the tests of trace. */
#ifndef SONDE_TESTS_PT_RECORDER_H
#define SONDE_TESTS_PT_RECORDER_H

#include "abi/abi.h"
#include "fake/fake.h"
#include "file/file.h"
#include "fixture.h"
#include "tap.h"

#include <stdlib.h>
#include <unistd.h>

#define PT_TYPE   10u
#define SPE_TYPE  11u
#define PT_CONFIG 0x300e601u
#define CPUS      2
#define PAGE      ((uint64_t)FAKE_PAGE)

static struct fixture machine;
static const char *keep; /* where recordings stay; NULL: nowhere */
static char said[8192];

static void on_message(void *arg, enum sonde_recorder_message kind, const char *text)
{
	size_t n = strlen(said);

	(void)arg;
	(void)kind;
	(void)snprintf(said + n, sizeof(said) - n, "%s\n", text);
}

static char output[256];
static const char *events[4];

static struct sonde_recorder_options options(const char *name)
{
	(void)snprintf(output, sizeof(output), "%s/%s", keep != NULL ? keep : machine.path, name);
	(void)unlink(output);
	events[0] = "intel_pt//u";
	return (struct sonde_recorder_options){.size = sizeof(struct sonde_recorder_options),
	        .targets.all_cpus = true,
	        .events.strings = events,
	        .events.n = 1,
	        .side_band.no_bpf = true,
	        .build_ids.none = true,
	        .output.path = output,
	        .message = on_message};
}

/* A recorder of the played machine. */
static struct sonde_recorder *begin(const struct sonde_recorder_options *o)
{
	struct sonde_recorder *r = sonde_recorder_new(o);

	if (r == NULL) {
		abort();
	}
	said[0] = '\0';
	r->kernel = fake_kernel();
	(void)close(r->root_fd);
	r->root_fd = dup(machine.fd);
	return r;
}

#endif
