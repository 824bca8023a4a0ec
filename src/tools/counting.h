/* SPDX-License-Identifier: MIT */
/*
 * The supervisors of this user on this host that count calls (`record --metrics`), for
 * the verbs that need one. Hides how they are asked, and what a user may call one by.
 */
#ifndef TAP_TOOLS_COUNTING_H
#define TAP_TOOLS_COUNTING_H

#include <limits.h>

#include "common/vec.h"
#include "tools/control_socket.h"

struct tap_counting {
	char place[TAP_LINK_PLACE_SIZE];
	char session[NAME_MAX];
	char recorder[NAME_MAX]; /* for CCLTAP_RECORDER */
	char job[NAME_MAX];	 /* for CCLTAP_JOB */
	char lttng_home[NAME_MAX]; /* for LTTNG_HOME, "" as it is */
};

struct tap_countings {
	TAP_VEC(struct tap_counting) of; /* freed by the caller */
	int error;			 /* 0, or the errno for which some are missing */
	unsigned silent;		 /* supervisors that did not answer */
};

/*
 * Those that `wanted` names: a session, a file of metrics or a folder; NULL: all. Tells
 * the user of supervisors that do not answer, unless what is wanted was found.
 */
void tap_countings_find(struct tap_countings *found, const char *wanted);

/*
 * Returns 0 if exactly one was found, else an exit status after a message to the user;
 * `how` says how to name one of several.
 */
int tap_countings_check(const struct tap_countings *found, const char *wanted,
			const char *how);

#endif
