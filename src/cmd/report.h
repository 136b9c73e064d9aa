/* SPDX-License-Identifier: MIT */
#ifndef SONDE_CMD_REPORT_H
#define SONDE_CMD_REPORT_H

/* Runs `sonde report`; argv[0] is the command's name. Returns the exit status. */
int cmd_report(int argc, char **argv);

#endif
