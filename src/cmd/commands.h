/* SPDX-License-Identifier: MIT */
/* The subcommands: argv[0] is the name of the subcommand; each returns the exit status. */
#ifndef SONDE_CMD_COMMANDS_H
#define SONDE_CMD_COMMANDS_H

int cmd_annotate(int argc, char **argv);
int cmd_archive(int argc, char **argv);
int cmd_config(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_repair(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_script(int argc, char **argv);
int cmd_stat(int argc, char **argv);
int cmd_test(int argc, char **argv);
int cmd_cache(int argc, char **argv);
int cmd_buildid_cache(int argc, char **argv);
int cmd_bundle(int argc, char **argv);
int cmd_buildid_list(int argc, char **argv);
int cmd_evlist(int argc, char **argv);
int cmd_db(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_convert(int argc, char **argv);
int cmd_data(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_dump(int argc, char **argv);
int cmd_inject(int argc, char **argv);
int cmd_flamegraph(int argc, char **argv);
int cmd_pt(int argc, char **argv);
int cmd_pt_calls(int argc, char **argv);
int cmd_pt_cover(int argc, char **argv);
int cmd_pt_diff(int argc, char **argv);
int cmd_pt_dump(int argc, char **argv);
int cmd_pt_flow(int argc, char **argv);
int cmd_version(int argc, char **argv);

/* For `sonde -v` and `sonde -vv`. */
void version_print(void);
void version_print_build_options(void);

#endif
