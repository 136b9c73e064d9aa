/* SPDX-License-Identifier: MIT */
/* What the views of the Intel PT traces of one recording share: pt calls, pt cover. */
#ifndef SONDE_CMD_PT_VIEW_H
#define SONDE_CMD_PT_VIEW_H

#include "cmd/recording.h"

/* Prints a view, with its own options. 1: done; 0: there were no branches; negative: it failed. */
typedef int pt_view_write(
        struct sonde_session *s, const void *options, sonde_write_fn write, void *arg);

/*
 * Opens a recording, makes branches and errors of its traces, and prints a view of them to standard
 * output. failure: what could not be done, as "follow calls of". Returns the exit status.
 */
int pt_view_run(
        struct recording *from, const char *failure, pt_view_write *write, const void *options);

#endif
