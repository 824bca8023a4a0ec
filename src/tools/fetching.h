/* SPDX-License-Identifier: MIT */
/*
 * Copies a folder of each of several hosts into one folder here, some hosts at a time.
 *
 * Hides rsync: its options, its processes, and what of its output is worth a line.
 */
#ifndef TAP_TOOLS_FETCHING_H
#define TAP_TOOLS_FETCHING_H

#include <stddef.h>
#include <stdint.h>

#include "tools/hosts.h"

struct tap_fetching {
	const struct tap_hosts *hosts;
	const char *source; /* a path there, where a host's name has none */
	const char *to;	    /* a folder, which exists */
	const char *rsh;    /* a command like ssh, NULL: ssh, without questions */
	unsigned at_once;   /* hosts */
	/* What came of it. */
	size_t failed;
	uint64_t bytes, files; /* copied now; what was here already is not copied again */
};

/*
 * Copies until no host is left; names each that failed, and why, on stderr. Returns 0, or
 * an exit status after a message when it cannot begin.
 */
int tap_fetching_run(struct tap_fetching *fetching);

#endif
