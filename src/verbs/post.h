/* SPDX-License-Identifier: MIT */
/*
 * Posts of both interfaces: what they count and how they are emitted.
 *
 * It hides the records, and that no lock is held while the provider posts.
 */
#ifndef TAP_VERBS_POST_H
#define TAP_VERBS_POST_H

#include "verbs/metered.h"
#include "verbs/request.h"

/*
 * Counts the accepted requests; *ret_first gets the counts before them.  bytes: theirs,
 * for a queue pair that is metered.  Returns whether the post is concurrent with another
 * one.
 */
static inline bool tap_sends_accepted(struct tap_qp *q, struct tap_visit *visit,
				      const struct tap_sends *accepted, uint64_t bytes,
				      struct tap_sends *ret_first)
{
	const bool is_plain = tap_owner_counter_count(&q->send_counter, visit);

	ret_first->nr = tap_owner_counter_add(is_plain, &q->counts.sent, accepted->nr);
	ret_first->signaled =
		tap_owner_counter_add(is_plain, &q->counts.signaled, accepted->signaled);
	ret_first->consuming = tap_owner_counter_add(is_plain, &q->counts.consuming,
						     accepted->consuming);
	if (unlikely(tap_metered(q)))
		tap_metered_sent(q, is_plain, accepted->nr, bytes);
	tap_owner_counter_end(visit);
	return visit->concurrent;
}

/*
 * Posts a list by `post`, counts what it accepts and, if events are wanted, describes it.
 */
int tap_post_sends(struct tap_qp *q, tap_post_send post, struct ibv_qp *qp,
		   struct ibv_send_wr *wr, struct ibv_send_wr **bad) tap_hidden;

/*
 * accepted: the number of requests before that of wr_id, which have events of their own.
 */
void tap_emit_failed(const struct tap_object *qp, const struct tap_object *srq,
		     bool is_recv, int ret, uint32_t accepted, uint64_t wr_id) tap_hidden;

#endif
