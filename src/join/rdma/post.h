/* SPDX-License-Identifier: MIT */
/*
 * Makes requests from the events of posts, of one request or of a list.
 *
 * Hides the layouts of these events, and which flow a request's message belongs to.
 */
#ifndef TAP_JOIN_RDMA_POST_H
#define TAP_JOIN_RDMA_POST_H

#include "join/rdma/completion.h"

/* The modules that posts use, set by the owner; posts keep no state. */
struct tap_posts {
	struct tap_context *context;
	const struct tap_rdma_observer *observer; /* NULL none */
	struct tap_qps *qps;
	struct tap_flows *flows;
	struct tap_requests *requests;
	struct tap_completions *completions;
};

/* Each takes an event of its kind, and returns 0 or -errno. */
int tap_posts_sends(const struct tap_posts *posts, const struct tap_process *process,
		    const struct tap_event *event, bool is_list);
int tap_posts_receives(const struct tap_posts *posts, const struct tap_process *process,
		       const struct tap_event *event, bool is_list);
int tap_posts_refused(const struct tap_posts *posts, const struct tap_process *process,
		      const struct tap_event *event);

#endif
