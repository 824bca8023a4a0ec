/* SPDX-License-Identifier: MIT */
/*
 * Runs the reading of traces in a child process, since babeltrace2 may die of a trace or
 * hang on it. Hides how the child's last words are kept off the terminal, and that a
 * signal to either of the two processes ends both.
 */
#ifndef TAP_TOOLS_CHILD_H
#define TAP_TOOLS_CHILD_H

#include <stdbool.h>

#include "tools/watch.h"

enum tap_child_end {
	TAP_CHILD_DONE,	  /* it exited by itself; its stderr was shown */
	TAP_CHILD_DIED,	  /* by an assertion or a bad access; its stderr was dropped */
	TAP_CHILD_LATE,	  /* babeltrace2 hung, so the parent ended the child */
	TAP_CHILD_KILLED, /* by a signal that is meant for this process too */
};

/*
 * Standard output that is read while it is written: the parent relays the child's output,
 * so that it does not repeat what an earlier child wrote before it died.
 */
struct tap_relay {
	uint64_t passed; /* bytes */
	bool is_paged;	 /* through the pager, which begins with the first byte */
	/* A user who leaves the pager wants no more: the child ends, with status 0. */
	bool ends_with_pager;
};

/* The work that the child does. */
struct tap_child_work {
	int (*run)(void *data); /* returns the exit status */
	void *data;
	struct tap_watch *watch; /* tells whether babeltrace2 hangs; NULL: never */
	struct tap_relay
		*relay; /* of standard output; NULL: the child writes to it directly */
	bool shows_percent; /* how much is read, on standard error */
	/* Whether to end the child; called often. NULL: only signals end it. */
	bool (*must_end)(void);
};

/*
 * Runs work in a child. Returns how the child ended and sets *status to its exit status
 * or signal; or returns -errno, and the work did not run.
 */
int tap_child_run(const struct tap_child_work *work, int *status);

/*
 * Opens /dev/null, in a mode that cannot be written, for each standard stream that is
 * closed, so that no file that is opened later becomes a standard stream.
 */
void tap_child_fill_standard(void);

/* Ends this process by the signal that ended the child. */
_Noreturn void tap_child_follow(int signal);

#endif
