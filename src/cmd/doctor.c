/* SPDX-License-Identifier: MIT */
#include "cmd/caches.h"
#include "cmd/commands.h"
#include "cmd/options.h"
#include "cmd/terminal.h"

#include <sonde/preview/doctor.h>

#include <stdio.h>
#include <stdlib.h>

int cmd_doctor(int argc, char **argv)
{
	struct sonde_doctor_options o = {.size = sizeof(o)};
	bool json = false;
	const struct option_def defs[] = {
	        OPTION_SWITCH(0, "json", &json, "everything as JSON"),
	        OPTION_TEXT(0, "root", &o.root, "DIR",
	                "check the machine whose proc and sys are in DIR"),
	        OPTION_END,
	};
	const struct option_command command = {
	        .name = "doctor",
	        .usage = "[options]",
	        .about = "Checks which profiling this machine allows, and how to allow more.",
	        .defs = defs,
	        .words = OPTION_NO_WORDS,
	};
	struct option_rest rest;
	char build_ids[CACHES_PATH];
	struct terminal_output out;
	struct sonde_doctor *d;
	int rc = options_parse(&command, argc, argv, &rest), status;

	if (rc != OPTIONS_RUN) {
		return rc;
	}
	o.build_ids = caches_build_ids(build_ids) ? build_ids : NULL;
	o.debuginfod_urls = getenv("DEBUGINFOD_URLS");
	terminal_output_open(&out, false);
	d = sonde_doctor_new(&o);
	rc = d != NULL ? sonde_doctor_print(d, json, terminal_output_write, &out) : SONDE_ENOMEM;
	terminal_output_close(&out);
	if (terminal_output_failed(&out, &status)) {
		rc = status;
	} else if (rc < 0) {
		(void)fprintf(stderr, "sonde doctor: %s\n",
		        d != NULL ? sonde_doctor_error(d)->text : sonde_status_text(rc));
		rc = 255;
	}
	sonde_doctor_free(d);
	return rc;
}
