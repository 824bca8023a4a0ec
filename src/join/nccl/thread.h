/* SPDX-License-Identifier: MIT */
/*
 * The layer of NCCL's own threads: the role of each, the call that it was created for,
 * and so its communicator.
 *
 * Hides how a role is found out: from who created the thread, in which call, with which
 * argument, and from what it does; never from names.  A call that does not block returns
 * while a thread that it created still works for it: the layer keeps such calls.
 */
#ifndef TAP_JOIN_NCCL_THREAD_H
#define TAP_JOIN_NCCL_THREAD_H

#include "join/model/layer.h"
#include "join/model/nccl_thread.h"

struct tap_threads;

extern const struct tap_layer tap_threads_layer;

/* The thread with this id, which NCCL created and which has not ended; NULL: none. */
const struct tap_nccl_thread *tap_threads_find(const struct tap_threads *threads,
					       const struct tap_process *process,
					       int64_t tid);

/* Whether the same call has other threads that do the same as this one, each for itself. */
bool tap_threads_is_of_several(const struct tap_threads *threads,
			       const struct tap_process *process, int64_t tid);

/*
 * The communicator that a thread which moves messages was made for; NULL: none, or not
 * known.  It may serve communicators that were split off, too.  *ret_known: how it is
 * known, if it is.
 */
const struct tap_member *tap_threads_serves(const struct tap_threads *threads,
					    const struct tap_process *process,
					    int64_t tid, enum tap_known *ret_known);

/*
 * The same of the thread that had this number latest, also of one that serves what moves
 * messages, and has ended.
 */
const struct tap_member *tap_threads_served(const struct tap_threads *threads,
					    const struct tap_process *process,
					    int64_t tid, enum tap_known *ret_known);

/*
 * Whether threads are known to have been made for this communicator alone: it does not
 * share those of the one that it was split off from.
 */
bool tap_threads_are_own(const struct tap_threads *threads,
			 const struct tap_member *member);
/* Grows whenever that may have changed. */
uint64_t tap_threads_changes(const struct tap_threads *threads);

/* The thread that ended with this event, TAP_EVENT_CCL_THREAD_END; NULL: unknown. */
const struct tap_nccl_thread *tap_threads_ended(const struct tap_threads *threads,
						const struct tap_process *process,
						const struct tap_event *event);

/*
 * The call that work which this thread launches belongs to: the one that it was created
 * for; 0: none.
 */
uint64_t tap_threads_call(const struct tap_threads *threads,
			  const struct tap_process *process, int64_t tid);

/* The call with this number, open, or one that returned while a thread works for it. */
const struct tap_span *tap_threads_span(const struct tap_threads *threads,
					const struct tap_process *process,
					uint64_t call_id);

/* Whether the call returned, and threads may work for it. */
bool tap_threads_is_kept(const struct tap_span *span);

#endif
