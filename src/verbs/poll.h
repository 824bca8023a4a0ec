/* SPDX-License-Identifier: MIT */
/*
 * Completions that the program found by another interface than poll_cq.
 *
 * It hides how completions are counted and emitted: both interfaces of a queue share one
 * count.
 */
#ifndef TAP_VERBS_POLL_H
#define TAP_VERBS_POLL_H

#include "verbs/entry_point.h"
#include "verbs/objects.h"

/* Whether a session records any event of a poll. */
static inline bool tap_poll_is_wanted(void)
{
	return tap_verbs_wants(TAP_VERBS_poll) || tap_verbs_wants(TAP_VERBS_poll_sent) ||
	       tap_verbs_wants(TAP_VERBS_poll_detailed);
}

/*
 * Counts the completions and, if is_recorded, describes them.  All fields of each wc must
 * be valid if is_recorded, else qp_num, status, opcode and, if c is metered, byte_len.
 */
void tap_poll_found(struct tap_cq *c, const struct ibv_wc *wc, int found,
		    bool is_recorded) tap_hidden;

/* The queue pair with this number that uses c, NULL: it is not known. */
struct tap_qp *tap_cq_qp(struct tap_cq *c, uint32_t qp_num) tap_hidden;

#endif
