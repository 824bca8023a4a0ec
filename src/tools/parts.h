/* SPDX-License-Identifier: MIT */
/*
 * Which directories below a recording to read: LTTng makes one for each chunk and for
 * each snapshot.
 *
 * Hides their names, and that the supervisor of a running recording is asked to complete
 * what it has, so that a reader does not have to end the recording.
 */
#ifndef TAP_TOOLS_PARTS_H
#define TAP_TOOLS_PARTS_H

#include <stdbool.h>

struct tap_parts {
	/* The recording that its supervisor still writes to; NULL when it has ended. */
	char *growing;
};

/*
 * Checks whether the recording in `folder` is running, and if so has its supervisor
 * complete it up to now. Returns 0, or an exit status after one line on stderr.
 */
int tap_parts_complete(struct tap_parts *parts, const char *folder);

/*
 * Whether to leave a directory out: a chunk that is being written, or a snapshot with a
 * newer one beside it, which holds most of the same events. `base` is where its last name
 * begins in `path`. For directories below a folder that the user named, not for that
 * folder.
 */
bool tap_parts_skip(const struct tap_parts *parts, const char *path, int base);

void tap_parts_free(struct tap_parts *parts);

#endif
