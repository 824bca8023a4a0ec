/* SPDX-License-Identifier: MIT */
/*
 * What who reads a running recording gets: a trace whose last chunk is closed, or what a
 * flight recorder holds. Hides that chunks which were made for readers are joined.
 */
#ifndef TAP_TOOLS_READERS_H
#define TAP_TOOLS_READERS_H

#include <stdbool.h>

#include "tools/control_socket.h"

struct tap_peer;
struct tap_peers;
struct tap_recording;

/* All zero: nobody has read. */
struct tap_readers {
	char *chunk;	  /* the last that was made for a reader, NULL: there is none */
	bool lacks_state; /* the chunk that is being written has no state dump yet */
	unsigned looks;
};

/* Closes the chunk that is being written; `peer` asks. */
void tap_readers_rotate(struct tap_recording *recording, const struct tap_peers *peers,
			const struct tap_peer *peer, struct tap_answer *answer);
/*
 * Has the flight recorder write what it holds, for this peer alone; of another recording
 * it is tap_readers_rotate().
 */
void tap_readers_look(struct tap_recording *recording, const struct tap_peers *peers,
		      struct tap_peer *peer, struct tap_answer *answer);
/* Writes the state dump that the new chunk lacks, if any. */
void tap_readers_add_state(struct tap_recording *recording);

#endif
