/* SPDX-License-Identifier: MIT */
/*
 * The verbs of the ccltap command. Each verb is a program of its own that shares an
 * executable with the others: its main function gets the arguments with "ccltap VERB" as
 * argv[0] and returns the exit status. The code of a verb stays in its own files.
 */
#ifndef TAP_TOOLS_COMMANDS_H
#define TAP_TOOLS_COMMANDS_H

int tap_record_main(int argc, char **argv);
int tap_env_main(int argc, char **argv);
int tap_timeline_main(int argc, char **argv);
int tap_view_main(int argc, char **argv);
int tap_report_main(int argc, char **argv);
int tap_why_main(int argc, char **argv);
int tap_check_main(int argc, char **argv);
int tap_audit_main(int argc, char **argv);
int tap_doctor_main(int argc, char **argv);
int tap_collect_main(int argc, char **argv);
int tap_export_main(int argc, char **argv);
int tap_query_main(int argc, char **argv);
int tap_start_main(int argc, char **argv);
int tap_stop_main(int argc, char **argv);
int tap_status_main(int argc, char **argv);
int tap_snapshot_main(int argc, char **argv);
int tap_top_main(int argc, char **argv);
int tap_end_main(int argc, char **argv);
int tap_help_main(int argc, char **argv);

#endif
