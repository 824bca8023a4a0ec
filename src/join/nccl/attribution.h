/* SPDX-License-Identifier: MIT */
/*
 * The layer that ascribes messages of NCCL's network code to the kernels that they
 * served, on both ranks: by times (candidate.h), and by their order and number
 * (net_served.h).
 *
 * Hides which communicators a connection may serve, and what waits until GPUs have
 * reported their kernels, which they do late; its number is bounded.  A message for which
 * several kernels remain is ascribed to none, and counted with the reason.
 */
#ifndef TAP_JOIN_NCCL_ATTRIBUTION_H
#define TAP_JOIN_NCCL_ATTRIBUTION_H

#include "join/model/layer.h"
#include "join/nccl/net_route.h"

struct tap_attribution;
struct tap_attribution_kernel; /* kernel_ops.h */
struct tap_graph_launch;       /* graph_ops.h */

extern const struct tap_layer tap_attribution_layer;

/* Each returns 0 or -errno. */
int tap_attribution_message(struct tap_attribution *attribution,
			    const struct tap_net_passed *message);
/* Counts a message whose ends may not be of one message. */
void tap_attribution_doubtful(struct tap_attribution *attribution, enum tap_why why);
int tap_attribution_kernel(struct tap_attribution *attribution,
			   const struct tap_attribution_kernel *kernel);
/* Copy engines carried out the operation of a call: it has no kernel and no messages. */
void tap_attribution_copied(struct tap_attribution *attribution,
			    const struct tap_name *name, const struct tap_member *member,
			    uint64_t number);
/* Takes the launch of a graph that repeats operations, before any that is later. */
int tap_attribution_graph(struct tap_attribution *attribution,
			  const struct tap_graph_launch *launch);
/*
 * Of which operations the messages of a connection are, by its receiving end: what NCCL
 * says, or else their times.
 */
enum tap_series tap_attribution_series(const struct tap_attribution *attribution,
				       const struct tap_process *process,
				       uint64_t net_id);
/* From now on a graph may repeat in this process what is not known. */
int tap_attribution_unknown(struct tap_attribution *attribution,
			    const struct tap_process *process);

#endif
