/* SPDX-License-Identifier: MIT */
/*
 * Which directories below a recording are to be read: LTTng makes one for each chunk and
 * for each snapshot.
 *
 * Hides their names, and that a recording which goes on is asked to complete what it has,
 * so that it can be read without ending it.
 */
#ifndef TAP_TOOLS_PARTS_H
#define TAP_TOOLS_PARTS_H

#include <stdbool.h>

struct tap_parts {
	/* What its supervisor still writes to, or NULL when it has ended. */
	char *growing;
};

/*
 * Looks whether what is in `folder` goes on, and then has it completed until now.
 * Returns 0, or an exit status after one line on stderr.
 */
int tap_parts_complete(struct tap_parts *parts, const char *folder);

/*
 * Whether a directory, `base` the place of its last name in `path`, is to be left out: a
 * chunk that is being written, or a snapshot that has a newer one beside it, which has
 * most of the same events.  To be asked of what is below a folder that the user named,
 * and not of that itself.
 */
bool tap_parts_skip(const struct tap_parts *parts, const char *path, int base);

void tap_parts_free(struct tap_parts *parts);

#endif
