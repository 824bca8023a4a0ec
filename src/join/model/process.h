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

/*
 * Whether its state, which may be written before it describes itself, said all of this
 * event.
 */
bool tap_process_is_known(const struct tap_process *process,
			  const struct tap_event *event);

/* Takes what a tap:process or tap:statedump_process event says, its fields too. */
void tap_process_describe(struct tap_process *process, struct tap_event *event);

/*
 * Takes a tap:library event; *library becomes what it describes.
 * Returns 0, -EINVAL when the event does not describe one, or -ENOMEM.
 */
int tap_process_add_library(struct tap_process *process, const struct tap_event *event,
			    const struct tap_library **library);

/*
 * Takes a tap:stack or tap:statedump_stack event.  Returns 0, -EINVAL when the event does
 * not describe one, or -ENOMEM.
 */
int tap_process_add_stack(struct tap_process *process, const struct tap_event *event);

/* The stack that has this number now, or NULL. */
const struct tap_stack *tap_process_stack(const struct tap_process *process,
					  uint64_t number);

/* The library that has this number now, or NULL. */
const struct tap_library *tap_process_library(const struct tap_process *process,
					      uint64_t number);

void tap_processes_free(struct tap_processes *processes);

#endif
