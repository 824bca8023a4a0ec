/* SPDX-License-Identifier: MIT */
/* What `ccltap status`, start, stop, snapshot, end and readers ask of a supervisor. */
#ifndef TAP_TOOLS_REQUESTS_H
#define TAP_TOOLS_REQUESTS_H

#include "tools/control_socket.h"

struct tap_peer;
struct tap_peers;
struct tap_recording;

/*
 * Carries out any verb but JOIN and DONE. *ret_fd is set to a descriptor that belongs to
 * the answer and that the caller closes, or stays.
 */
void tap_requests_carry_out(struct tap_recording *recording,
			    const struct tap_peers *peers, struct tap_peer *peer,
			    const struct tap_question *question,
			    struct tap_answer *answer, int *ret_fd);

#endif
