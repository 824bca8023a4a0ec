/* SPDX-License-Identifier: MIT */
/*
 * The process that owns a recording. Its members are the recorders that run a program
 * each. They may be killed at any time, and their programs with or without them, so the
 * supervisor ends the recording: when the last program has ended and no member waits for
 * it.
 *
 * Hides the loop over connections, notes and signals. What is recorded is
 * tools/recording.h; who is recorded and who asks, tools/peers.h.
 */
#ifndef TAP_TOOLS_SUPERVISOR_H
#define TAP_TOOLS_SUPERVISOR_H

#include "tools/plan.h"

/*
 * Makes the recording and owns it until its end; `link` is the connection of the first
 * member, others connect to listen_fd, at `place`. Errors before the recording exists are
 * reported on stderr. The caller is a process of its own, which this function takes over
 * entirely.
 */
void tap_supervisor_run(const struct tap_plan *plan, const char *place, int listen_fd,
			int link) __attribute__((noreturn));

#endif
