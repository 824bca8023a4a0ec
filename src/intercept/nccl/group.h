/* SPDX-License-Identifier: MIT */
/*
 * Numbers operations, for as long as the process lives and whether anybody records or
 * not.
 *
 * A collective's number is the same on all ranks of a communicator, since NCCL wants them
 * called in the same order; a send's is that of the receive which takes it.  It hides
 * which calls NCCL forgets: those that failed, and all of a group that did.
 *
 * What is inline is the hot path of every operation.  A program that lets two threads use
 * one communicator at once without order between them breaks NCCL's rules; then two
 * operations may have one number.
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

/* Only a call outside of all others is the program's own; ours are made inside one. */
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
 * False when it is not the program's own call: then nothing is to be ended.  Else the
 * thread is inside it, and last_comm is what it is on, until its end.
 */
bool tap_operation_begin(const char *name, ncclComm_t handle) tap_hidden;

/* The same when that needs nothing but a few instructions; false when it may need more.
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
 * What the fast ends below leave: the first in a group, or after one, and a call that
 * failed.  All return result.
 */
int tap_operation_failed(int result) tap_hidden;
int tap_collective_count(int result) tap_hidden;
int tap_p2p_count(int peer, bool is_recv, int result) tap_hidden;

/* Each returns result, so that it can be the last that a wrapper does. */
static inline int tap_collective_end(int result)
{
	struct tap_thread *t = &tap_thread;
	struct tap_comm *c = t->last_comm;

	__atomic_store_n(&t->inside, NULL, __ATOMIC_RELAXED);
	if (unlikely(!tap_call_counts(result)))
		return tap_operation_failed(result);
	if (unlikely(c->group_id != t->group_id))
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

/* The number of the operation that has begun, should it succeed; 0 when ranks cannot
 * agree. */
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

/* The group of this copy that the thread is in; NULL for none. */
const struct tap_group *tap_group_of(uintptr_t copy) tap_hidden;

/* Ends the call of a copy's ncclGroupStart(). */
void tap_group_start(int result, uintptr_t copy) tap_hidden;
/*
 * Ends the call that ends a group; is_simulated: nothing of it was done.  *ret_end says
 * that an outer one goes on, and is filled in if there is none.
 */
void tap_group_end(int result, uintptr_t copy, bool is_simulated, uint64_t call_id,
		   struct tap_group_end *ret_end) tap_hidden;
/* The thread's group has made c, or c is made outside of any. */
void tap_group_made(struct tap_comm *c) tap_hidden;

#endif
