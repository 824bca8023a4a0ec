/* SPDX-License-Identifier: MIT */
/*
 * Which directories below a folder that the user named are read: of a recording that goes
 * on those that are complete, of a flight recorder one snapshot. Hides how a running
 * recording is completed up to now, so that a reader does not have to end it.
 */
#ifndef TAP_TOOLS_PARTS_H
#define TAP_TOOLS_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/vec.h"

/* A recording that its supervisor still writes to. */
struct tap_part {
	char *path;
	/*
	 * The connection to the supervisor, open while the recording is read: what a killed
	 * reader asked for is removed when it closes.
	 */
	int link;
	char *look;   /* the folder of what a flight recorder held just now, or NULL */
	char *oldest; /* the first chunk that is read, NULL: from the beginning */
};

struct tap_parts {
	TAP_VEC(struct tap_part) growing;
	unsigned left_out; /* older chunks that are not read */
};

/* What a verb asks of running recordings, before it reads. */
struct tap_parts_wish {
	/* What a flight recorder holds now, and not its newest snapshot. */
	bool wants_look;
	/* Bytes of the newest chunks that are enough; 0: all. */
	uint64_t newest_bytes;
};
void tap_parts_wish(const struct tap_parts_wish *wish);

/*
 * Looks for running recordings in a folder, on this host, and has the supervisor of each
 * complete it up to now. Returns 0, or an exit status after one line on stderr.
 */
int tap_parts_complete(struct tap_parts *parts, const char *folder);

/*
 * Whether there is a running recording in a folder; on another host, as far as that can be
 * seen from here.
 */
bool tap_parts_is_running(const char *folder);

/*
 * Whether to leave a directory out: a chunk that is being written or that is too old, or a
 * snapshot that is not chosen (snapshots.h). `base` is where its last name begins in
 * `path`. For directories below a folder that the user named, not for that folder.
 */
bool tap_parts_skip(const struct tap_parts *parts, const char *path, int base);

/* Once everything is read. */
void tap_parts_free(struct tap_parts *parts);

#endif
