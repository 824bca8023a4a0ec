/* SPDX-License-Identifier: MIT */
/*
 * A first reading of the traces of several hosts, from which the second learns how their
 * clocks convert.
 *
 * Hides the join and the decoder of that reading: nothing of it is left but the clocks.
 */
#ifndef TAP_JOIN_BT_FIRST_H
#define TAP_JOIN_BT_FIRST_H

#include "common/vec.h"
#include "join/bt/decode.h"

struct tap_first {
	struct tap_join *join;
	struct tap_decoder *decoder;
	struct tap_clock_observer *observer;
	bool is_known; /* the clocks convert as an earlier reading has found out */
	bool is_guess; /* which did not go to the end */
	TAP_VEC(int64_t) last; /* the latest event of each host, on its own clock */
};

/* For the same jobs, and with the same bounds, as the join.  Returns 0 or -ENOMEM. */
int tap_first_begin(struct tap_first *first, const struct tap_join *join);
void tap_first_free(struct tap_first *first);

/* Notes that a host has an event at this time of its own clock.  Returns 0 or -ENOMEM. */
int tap_first_see(struct tap_first *first, struct tap_clock *clock, int64_t host_ns);

/*
 * Call when each stream's first event has been seen: hosts whose first events are not
 * within seconds have no time in common, so theirs are counted from the first event.
 */
void tap_first_align(struct tap_first *first);

/* The same, but all hosts begin at one time. */
void tap_first_align_all(struct tap_first *first);

/* What a reading shows before its end. */
enum tap_first_look {
	TAP_FIRST_UNSURE, /* where some host is */
	TAP_FIRST_NEAR,	  /* hosts are about where they were taken to be */
	TAP_FIRST_OFF,	  /* some are not */
};

/*
 * Finds out what is known already, and fills in the join's clocks if that is where all
 * hosts are.  The reading may go on.  Returns 0 or -ENOMEM.
 */
int tap_first_look(struct tap_first *first, struct tap_join *join,
		   enum tap_first_look *ret_look);

/* The same as tap_first_align(), where an earlier reading knows the join's clocks.
 * Returns 0 or -ENOMEM. */
int tap_first_know(struct tap_first *first, struct tap_join *join);

/*
 * Call after the last event: fills in the join's clocks.  *is_off becomes true where some
 * host was so far from what was found that not everything on it was understood: messages
 * of NCCL are found only where they do not come long before what they rest on.  Hosts
 * that nothing connects then seem to end at one time, as ranks of a job do.  Returns 0 or
 * -errno.
 */
int tap_first_finish(struct tap_first *first, struct tap_join *join, bool *is_off);

#endif
