/* SPDX-License-Identifier: MIT */
/*
 * Completions that another interface than poll_cq found.
 *
 * It hides how completions are counted and told: both interfaces of a queue have one
 * count.
 */
#ifndef TAP_VERBS_POLL_H
#define TAP_VERBS_POLL_H

#include "verbs/objects.h"

/* Described when is_recorded: then all fields of each wc are right, else qp_num, status
 * and opcode. */
void tap_poll_found(struct tap_cq *c, const struct ibv_wc *wc, int found,
		    bool is_recorded) tap_hidden;

#endif
