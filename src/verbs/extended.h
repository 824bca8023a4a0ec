/* SPDX-License-Identifier: MIT */
/*
 * Queues that the program works through function pointers in the objects themselves
 * (ibv_wr_start, ibv_start_poll).
 *
 * It hides the functions that replace the provider's in an object, and what they gather
 * until the program posts or polls a batch.
 */
#ifndef TAP_VERBS_EXTENDED_H
#define TAP_VERBS_EXTENDED_H

#include "verbs/objects.h"

/*
 * Follows a known queue pair that was just made.  Returns false when the program can work
 * it through function pointers that the tracer cannot follow.
 */
bool tap_extended_qp_made(struct ibv_qp *qp,
			  const struct ibv_qp_init_attr_ex *attr) tap_hidden;
/* Patches again after a modification: the provider may have set other functions. */
void tap_extended_qp_modified(struct ibv_qp *qp) tap_hidden;
/*
 * Called around the call that destroys a queue: begin() puts the provider's functions
 * back and returns what end() needs; NULL when the tracer does not follow the queue.
 */
void *tap_extended_qp_destroy_begin(struct ibv_qp *qp) tap_hidden;
void tap_extended_qp_destroy_end(void *followed, struct ibv_qp *qp,
				 bool is_gone) tap_hidden;

bool tap_extended_cq_made(struct ibv_cq_ex *cq, uint64_t wc_flags) tap_hidden;
void *tap_extended_cq_destroy_begin(struct ibv_cq *cq) tap_hidden;
void tap_extended_cq_destroy_end(void *followed, struct ibv_cq *cq,
				 bool is_gone) tap_hidden;
/*
 * A queue pair starts and stops using a completion queue.  Returns false when the tracer
 * cannot tell any longer which queue pair a completion of the queue belongs to.
 */
bool tap_extended_cq_joined(const struct ibv_cq *cq, uint32_t qp_num) tap_hidden;
void tap_extended_cq_left(const struct ibv_cq *cq) tap_hidden;

#endif
