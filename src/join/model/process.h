/* SPDX-License-Identifier: MIT */
/*
 * The processes of a trace and the libraries that each has loaded.
 *
 * Hides that a process may be known only by its number, that a process may describe
 * itself late, and that numbers of processes and libraries are reused.
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

/* The process of an event, made when new.  NULL when memory is short. */
struct tap_process *tap_processes_of(struct tap_processes *processes,
				     const struct tap_event *event);

/* Makes the next process with the number of this one.  NULL when memory is short. */
struct tap_process *tap_processes_succeed(struct tap_processes *processes,
					  const struct tap_process *process);

/*
 * Whether this event shows that another process has the number from now on: the system
 * reused the number, or the process has executed another program.
 */
bool tap_process_is_replaced(const struct tap_process *process,
			     const struct tap_event *event);

/*
 * Whether the process that describes itself by this event is of one of these jobs, one in
 * each line.
 */
bool tap_process_is_of_job(const char *jobs, const struct tap_event *event);

/*
 * Whether a state dump, which may precede the process's own description, said all that
 * this event says.
 */
bool tap_process_is_known(const struct tap_process *process,
			  const struct tap_event *event);

/* Takes a tap:process or tap:statedump_process event, and its fields. */
void tap_process_describe(struct tap_process *process, struct tap_event *event);

/*
 * Takes a tap:library event; *library becomes the library that it describes.  Returns 0,
 * -EINVAL when the event describes none, or -ENOMEM.
 */
int tap_process_add_library(struct tap_process *process, const struct tap_event *event,
			    const struct tap_library **library);

/*
 * Takes a tap:stack or tap:statedump_stack event.  Returns 0, -EINVAL when the event
 * describes no stack, or -ENOMEM.
 */
int tap_process_add_stack(struct tap_process *process, const struct tap_event *event);

/* The stack that has this number at present, or NULL. */
const struct tap_stack *tap_process_stack(const struct tap_process *process,
					  uint64_t number);

/* The library that has this number at present, or NULL. */
const struct tap_library *tap_process_library(const struct tap_process *process,
					      uint64_t number);

void tap_processes_free(struct tap_processes *processes);

#endif
