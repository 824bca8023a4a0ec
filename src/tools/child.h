/* SPDX-License-Identifier: MIT */
/*
 * Reading in a process of its own, which may die or come to no end.  Hides what keeps the
 * terminal clean of its last words, and that a signal to one of the two ends both.
 */
#ifndef TAP_TOOLS_CHILD_H
#define TAP_TOOLS_CHILD_H

#include "tools/watch.h"

enum tap_child_end {
	TAP_CHILD_DONE,	  /* it has ended by itself; what it said is on stderr */
	TAP_CHILD_DIED,	  /* of an assertion or a bad access; what it said is gone */
	TAP_CHILD_LATE,	  /* babeltrace2 came to no end, so it was ended */
	TAP_CHILD_KILLED, /* by a signal that is meant for us as well */
};

/*
 * Standard output that somebody reads while it is written: the child's goes through us,
 * so that what an earlier child wrote before it died is not written again.
 */
struct tap_relay {
	uint64_t passed; /* bytes */
};

/* What is done in the child. */
struct tap_child_work {
	int (*run)(void *data); /* returns the exit status */
	void *data;
	struct tap_watch *watch; /* says whether babeltrace2 is late; NULL: it never is */
	struct tap_relay
		*relay; /* of standard output; NULL: the child writes it itself */
	/* Whether the child is to be ended, looked at often; NULL: only signals end it.
	 */
	bool (*must_end)(void);
};

/*
 * Runs work in a child.  Returns how that ended, *status is its exit status or its
 * signal; or -errno, and nothing has run.
 */
int tap_child_run(const struct tap_child_work *work, int *status);

/*
 * Standard streams that are closed become /dev/null, which cannot be written, so that no
 * file of ours is taken for one.
 */
void tap_child_fill_standard(void);

/* Ends this process by the signal that ended the child. */
_Noreturn void tap_child_follow(int signal);

#endif
