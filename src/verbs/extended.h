/* SPDX-License-Identifier: MIT */
/*
 * Queues that are worked through pointers in the objects themselves (ibv_wr_start,
 * ibv_start_poll).
 *
 * It hides the functions that stand there in place of the provider's, and what is
 * gathered until a batch is posted or polled.
 */
#ifndef TAP_VERBS_EXTENDED_H
#define TAP_VERBS_EXTENDED_H

#include "verbs/objects.h"

/*
 * Follows a queue pair that was just made and is known: false when it is worked that way
 * and we cannot.
 */
bool tap_extended_qp_made(struct ibv_qp *qp,
			  const struct ibv_qp_init_attr_ex *attr) tap_hidden;
/* After a modification: the provider may have put other functions of its own there. */
void tap_extended_qp_modified(struct ibv_qp *qp) tap_hidden;
/*
 * Around the call that destroys one: puts the provider's functions back.  What begin()
 * gave, NULL when it is not followed, is for the other.
 */
void *tap_extended_qp_destroy_begin(struct ibv_qp *qp) tap_hidden;
void tap_extended_qp_destroy_end(void *followed, struct ibv_qp *qp,
				 bool is_gone) tap_hidden;

bool tap_extended_cq_made(struct ibv_cq_ex *cq, uint64_t wc_flags) tap_hidden;
void *tap_extended_cq_destroy_begin(struct ibv_cq *cq) tap_hidden;
void tap_extended_cq_destroy_end(void *followed, struct ibv_cq *cq,
				 bool is_gone) tap_hidden;
/*
 * A queue pair begins and ends to use a completion queue.  False: of its completions
 * nobody can say from now on whose they are.
 */
bool tap_extended_cq_joined(const struct ibv_cq *cq, uint32_t qp_num) tap_hidden;
void tap_extended_cq_left(const struct ibv_cq *cq) tap_hidden;

#endif
