/* SPDX-License-Identifier: MIT */
/*
 * Numbers operations, from the start of the process and whether a session records or not.
 *
 * A collective has the same number on all ranks of a communicator, since NCCL requires
 * the same order of calls on each; a send has the number of its receive.  The module
 * hides which calls NCCL drops: those that fail, and all calls of a group that fails.
 *
 * The inline functions are the hot path of every operation.  If two threads use one
 * communicator at once without ordering, which NCCL forbids, two operations may have the
 * same number.
 */
#ifndef TAP_INTERCEPT_NCCL_GROUP_H
#define TAP_INTERCEPT_NCCL_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "calls/nccl_types.h"
#include "common/compiler.h"
#include "common/thread.h"
#include "intercept/nccl/comm.h"
#include "intercept/threads.h"

/*
 * Whether a call is the program's own: the calls of NCCL and of the tracer are inside
 * one.
 */
static inline bool tap_call_is_outer(struct tap_thread *t)
{
	if (t->inside)
		return false;
	if (unlikely(!t->tid))
		tap_thread_know();
	return true;
}

static inline bool tap_call_counts(int result)
{
	return result == 0 || result == 7; /* ncclSuccess, ncclInProgress */
}

/*
 * Returns false when the call is not the program's own: then the caller must not end it.
 * Otherwise the thread is inside the operation until its end, and last_comm is its
 * communicator.
 */
bool tap_operation_begin(const char *name, ncclComm_t handle) tap_hidden;

/*
 * The same in a few instructions; false also when tap_operation_begin() must be called.
 */
static inline bool tap_operation_begin_fast(const char *name, ncclComm_t handle)
{
	struct tap_thread *t = &tap_thread;

	if (unlikely(t->inside || !tap_comm_is(t->last_comm, handle)))
		return false;
	__atomic_store_n(&t->inside, name, __ATOMIC_RELAXED);
	return true;
}

/*
 * The same for a call that is counted, and of whose communicator the counters are known.
 * NULL too for a call that is to be timed: this path reads no clock.
 */
static inline struct tap_metrics_slot *
tap_operation_count_begin(const char *name, ncclComm_t handle, unsigned row)
{
	struct tap_thread *t = &tap_thread;
	struct tap_metrics_comm *room = t->last_comm->counts;
	uint64_t begun;

	if (unlikely(t->inside || !tap_comm_is(t->last_comm, handle) || !room))
		return NULL;
	begun = __atomic_load_n(&room->of[row].begun, __ATOMIC_RELAXED);
	if (unlikely(tap_metrics_is_timed(&room->of[row], begun)))
		return NULL;
	__atomic_store_n(&t->inside, name, __ATOMIC_RELAXED);
	__atomic_store_n(&room->of[row].begun, begun + 1, __ATOMIC_RELAXED);
	return &room->of[row];
}

/*
 * The slow cases of the two functions below: the first operation in a group or after one,
 * a call that goes on in a thread of NCCL's, and one that failed.  All return result.
 */
int tap_operation_failed(int result) tap_hidden;
int tap_collective_count(int result) tap_hidden;
int tap_p2p_count(int peer, bool is_recv, int result) tap_hidden;

/* Each returns result, so that a wrapper can end with it as a tail call. */
static inline int tap_collective_end(int result)
{
	struct tap_thread *t = &tap_thread;
	struct tap_comm *c = t->last_comm;

	__atomic_store_n(&t->inside, NULL, __ATOMIC_RELAXED);
	/* Of the results that count, only ncclSuccess is worth instructions here. */
	if (unlikely(result || c->group_id != t->group_id))
		return tap_collective_count(result);
	tap_comm_count(c);
	return result;
}

static inline int tap_p2p_end(int peer, bool is_recv, int result)
{
	__atomic_store_n(&tap_thread.inside, NULL, __ATOMIC_RELAXED);
	if (unlikely(!tap_call_counts(result)))
		return tap_operation_failed(result);
	return tap_p2p_count(peer, is_recv, result);
}

/*
 * The number that the begun operation has if it succeeds; 0 when ranks cannot agree on
 * one.
 */
static inline uint64_t tap_collective_number(void)
{
	const struct tap_comm *c = tap_thread.last_comm;

	return c->about.comm_key ? c->collectives + 1 : 0;
}

static inline uint64_t tap_p2p_number(int peer, bool is_recv)
{
	struct tap_comm *c = tap_thread.last_comm;
	const struct tap_peer *p = tap_comm_peer(c, peer, is_recv);

	return p && c->about.comm_key ? p->count + 1 : 0;
}

/* The thread's open group in this copy of NCCL; NULL for none. */
const struct tap_group *tap_group_of(uintptr_t copy) tap_hidden;

/* Ends a call of ncclGroupStart() in this copy. */
void tap_group_start(int result, uintptr_t copy) tap_hidden;
/*
 * Ends a call that ends a group; is_simulated: NCCL ran none of its operations.  While an
 * outer group is open *ret_end stays as it is; otherwise the function fills it in.
 */
void tap_group_end(int result, uintptr_t copy, bool is_simulated, uint64_t call_id,
		   struct tap_group_end *ret_end) tap_hidden;
/* The thread has made c, in its open group or outside of any. */
void tap_group_made(struct tap_comm *c) tap_hidden;

#endif
