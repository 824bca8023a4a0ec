/* SPDX-License-Identifier: MIT */
/*
 * The directory of a recording, DIR/<host>: made private, marked as ours, and removed
 * again only as far as it is ours.  Hides the marker and what LTTng puts beside it.
 */
#ifndef TAP_TOOLS_RECORD_OUTPUT_H
#define TAP_TOOLS_RECORD_OUTPUT_H

#include <stdbool.h>

struct tap_output {
	/* As the user would name it, for messages; and what a daemon must be told. */
	char *shown;
	char *absolute;
	/* Open while the recording lasts; the lock on the marker says that it does. */
	int base_fd;
	int marker_fd;
	const char *base;
	char host[256];
	bool made_base;
};

/*
 * Makes DIR/<host> below `base`, with mode 0700, and marks it with the session's name.
 * Where a recording is there already it is refused, or with `overwrite` removed; what
 * is not wholly a recording of ours, or is one that still goes on, is always refused.
 * No symbolic link is followed below `base`. `base` must outlive the structure.
 * Returns 0, or -errno once it has told the user why.
 */
int tap_output_make(struct tap_output *output, const char *base, bool overwrite,
		    const char *session);

/* Takes back what tap_output_make() made, and what was recorded in it since. */
void tap_output_discard(struct tap_output *output);

/* Ends the lock and frees what belongs to the structure. */
void tap_output_close(struct tap_output *output);

#endif
