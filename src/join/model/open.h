/* SPDX-License-Identifier: MIT */
/*
 * Where each process stood when its part of the trace ended: the calls that had not
 * returned, or what returned last.
 *
 * Hides that a call may be known by its entry, or only by what the tracer told of the
 * thread that is in it, since the entry was not recorded or is overwritten; and which of
 * the two is right when they differ.
 */
#ifndef TAP_JOIN_MODEL_OPEN_H
#define TAP_JOIN_MODEL_OPEN_H

#include "join/model/event.h"
#include "join/model/process.h"

struct tap_stand; /* of one process */

/* All zero is no process. */
struct tap_opens {
	struct tap_stand **all; /* by number of the process */
	size_t room;
	struct tap_table told;	/* by (process, thread) */
	struct tap_table open;	/* whose calls are there, the same; numbers from 1 */
	struct tap_table asked; /* the last operation by (process, stream) */
};

/* Each returns 0 or -ENOMEM. */

/* An event of the process; before whatever else is made of it. */
int tap_opens_event(struct tap_opens *opens, const struct tap_process *process,
		    const struct tap_event *event);
/* A span is over, or its process or the trace is. */
int tap_opens_span(struct tap_opens *opens, const struct tap_span *span);
/* The tracer told what a thread is in; with no name, that it is in a group alone. */
int tap_opens_told(struct tap_opens *opens, const struct tap_thread_state *thread,
		   bool is_state);
/* No more of the process: why. */
int tap_opens_ended(struct tap_opens *opens, const struct tap_process *process,
		    enum tap_end end, int64_t time_ns);

/*
 * The process begins to tell its state; and has told what every thread is in, of so many
 * that are in something: whether all that is in the trace.
 */
int tap_opens_state_begins(struct tap_opens *opens, const struct tap_process *process,
			   int64_t time_ns);
bool tap_opens_state_ends(struct tap_opens *opens, const struct tap_process *process,
			  uint64_t thread_count);
/* If so, calls that it did not tell have returned; whether this is one of them. */
bool tap_opens_is_returned(const struct tap_opens *opens, const struct tap_span *span);

/* Gives each process to consumer, by rank and then in order of appearance. */
int tap_opens_finish(struct tap_opens *opens, const struct tap_processes *processes,
		     const struct tap_consumer *consumer, void *data);

void tap_opens_free(struct tap_opens *opens);

#endif
