/* SPDX-License-Identifier: MIT */
/*
 * Who runs: the processes of a trace and the libraries that each has loaded.
 *
 * Hides that a process may be known only by its number, that it may describe
 * itself late, and that a number, of a process or of a library, is used again.
 */
#ifndef TAP_JOIN_MODEL_PROCESS_H
#define TAP_JOIN_MODEL_PROCESS_H

#include "join/model/event.h"

struct tap_layer;

/* All zero is no process. */
struct tap_processes {
	struct tap_table by_pid;
	struct tap_process **all; /* in order of appearance, also those that are over */
	size_t count;
	size_t room;
};

/* The process that an event is of, made when new.  NULL when memory is short. */
struct tap_process *tap_processes_of(struct tap_processes *processes,
				     const struct tap_event *event);

/* The next process under the number of this one.  NULL when memory is short. */
struct tap_process *tap_processes_succeed(struct tap_processes *processes,
					  const struct tap_process *process);

/*
 * Whether this event says that another process has the number from now on: it was used
 * again, or the process has executed another program.
 */
bool tap_process_is_replaced(const struct tap_process *process,
			     const struct tap_event *event);

/* Whether a process that describes itself is of a job among these, one in each line. */
bool tap_process_is_of_job(const char *jobs, const struct tap_event *event);

/* The stack that has this number now, or NULL. */
const struct tap_stack *tap_process_stack(const struct tap_process *process,
					  uint64_t number);

/* The library that has this number now, or NULL. */
const struct tap_library *tap_process_library(const struct tap_process *process,
					      uint64_t number);

/* Takes what processes say of themselves, their libraries, stacks and problems. */
extern const struct tap_layer tap_processes_layer;

#endif
