/* SPDX-License-Identifier: MIT */
/*
 * Whether what lies in a folder is all of a job: its recordings, or the tables that were
 * exported from them. Hides which of them there are, and who is asked about each.
 */
#ifndef TAP_TOOLS_COLLECTED_H
#define TAP_TOOLS_COLLECTED_H

#include <stdbool.h>

/*
 * Reports on standard output what is missing. is_read: the traces are read for that,
 * which takes as long as `ccltap check`. Returns an exit status: 1 if something is
 * missing.
 */
int tap_collected_check(const char *folder, bool is_read);

#endif
