/* SPDX-License-Identifier: MIT */
/*
 * The events of ccltap-trace(5) as babeltrace2's messages, one trace for each host.
 *
 * Hides the layout of the events, and that a host's trace keeps the environment and the
 * clock of the trace that LTTng recorded there, so that other tools treat it as LTTng's.
 */
#ifndef TAP_JOIN_BT_CTF_H
#define TAP_JOIN_BT_CTF_H

#include "join/bt/decode.h"
#include "join/views/derived.h"

struct tap_ctf;

/* Returns NULL when memory is short. */
struct tap_ctf *tap_ctf_create(bt_self_message_iterator *iterator,
			       const struct tap_decoder *decoder);
void tap_ctf_destroy(struct tap_ctf *ctf);

/* Appends the message of an event.  Returns 0 or -ENOMEM. */
int tap_ctf_add(struct tap_ctf *ctf, const struct tap_mark *mark);

/*
 * Appends the messages that end all traces; hosts without events have traces, too.
 * Returns 0 or -ENOMEM.
 */
int tap_ctf_end(struct tap_ctf *ctf, const struct tap_context *context);

/* The number of messages that can be taken. */
size_t tap_ctf_count(const struct tap_ctf *ctf);

/* Takes up to count messages, the oldest first.  Returns how many. */
uint64_t tap_ctf_take(struct tap_ctf *ctf, bt_message_array_const messages,
		      uint64_t count);

#endif
