/* SPDX-License-Identifier: MIT */
/*
 * Completions that the program found by another interface than poll_cq.
 *
 * It hides how completions are counted and emitted: both interfaces of a queue share one
 * count.
 */
#ifndef TAP_VERBS_POLL_H
#define TAP_VERBS_POLL_H

#include "verbs/objects.h"

/*
 * Counts the completions and, if is_recorded, describes them.  All fields of each wc must
 * be valid if is_recorded, else qp_num, status and opcode.
 */
void tap_poll_found(struct tap_cq *c, const struct ibv_wc *wc, int found,
		    bool is_recorded) tap_hidden;

#endif
