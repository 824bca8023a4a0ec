/* SPDX-License-Identifier: MIT */
/*
 * The parts of hooks that take more than a few instructions.
 */
#include "intercept/nccl/hooks.h"

#include <inttypes.h>
#include <stdio.h>

#include "calls/kinds.h"
#include "common/safe_read.h"
#include "intercept/cuda/capture.h"
#include "intercept/dl/libraries.h"
#include "intercept/guard.h"
#include "intercept/layer.h"
#include "intercept/recorder.h"

static const struct tap_comm *comm_of(ncclComm_t handle, bool is_meant)
{
	const struct tap_thread *t = &tap_thread;

	if (tap_comm_is(t->last_comm, handle))
		return t->last_comm;
	/* The handle was removed already, but the call that frees it goes on. */
	if (t->freeing && t->freeing->about.comm == (uintptr_t) handle)
		return t->freeing;
	return is_meant || !t->inside ? tap_comm_of(handle) : tap_comm_known(handle);
}

void tap_describe_comm(struct tap_call *call, ncclComm_t handle, bool is_meant)
{
	const struct tap_comm *c = comm_of(handle, is_meant);

	call->comm_id = c->id;
	call->comm_key = c->about.comm_key;
}

void tap_describe_group(struct tap_call *call, uintptr_t copy)
{
	const struct tap_group *group = tap_thread.group_id ? tap_group_of(copy) : NULL;

	call->group_id = group ? group->id : 0;
	call->group_depth = group ? (uint8_t) group->depth : 0;
}

void tap_describe_operation(struct tap_call *call, ncclComm_t handle, cudaStream_t stream,
			    uint64_t number)
{
	tap_describe_comm(call, handle, number != 0);
	tap_describe_group(call, tap_thread.last_comm->copy);
	call->op_number = number;
	call->not_counted = tap_thread.last_comm->not_counted;
	call->capture = (int8_t) tap_stream_capture(stream);
}

bool tap_change_begin(const char *name)
{
	struct tap_thread *t = &tap_thread;

	if (!tap_call_is_outer(t))
		return false;
	__atomic_store_n(&t->inside, name, __ATOMIC_RELAXED);
	return true;
}

bool tap_change_begin_freeing(const char *name, ncclComm_t handle,
			      struct tap_comm **ret_comm)
{
	if (!tap_change_begin(name))
		return false;
	tap_thread.freeing = *ret_comm = tap_comm_freeing(handle);
	return true;
}

void tap_change_end(void)
{
	tap_thread.freeing = NULL;
	__atomic_store_n(&tap_thread.inside, NULL, __ATOMIC_RELAXED);
}

/* Within a group NCCL only queues the call: the group's end does the work. */
static bool is_done(int result, const void *library)
{
	return result == 0 &&
	       (!tap_thread.group_depth || !tap_group_of(tap_library_base(library)));
}

/*
 * NCCL may write the handle of a split or a shrink later; a rank without color gets none.
 */
static bool is_pending(const struct tap_comm_made *made)
{
	return made->parent && (made->origin == TAP_COMM_SHRINK ||
				(made->origin == TAP_COMM_SPLIT && made->color >= 0));
}

void tap_change_end_made(ncclComm_t *newcomm, int result, struct tap_comm_made made)
{
	const struct tap_guard guard = tap_guard_set();

	if (made.origin == TAP_COMM_SPLIT && made.parent)
		tap_comm_was_split(tap_comm_of(made.parent));
	made.is_ready = is_done(result, made.library);
	made.handle = tap_safe_pointer((void **) newcomm);
	if (made.handle || (newcomm && is_pending(&made)))
		tap_group_made(tap_comm_made(newcomm, &made));
	TAP_LAYERS_CALL(comm_made);
	tap_change_end();
	tap_guard_clear(guard);
}

void tap_change_end_made_all(ncclComm_t *comms, int ndev, int result, const void *library,
			     uint64_t call_id)
{
	struct tap_comm_made made = {.origin = TAP_COMM_INIT_ALL,
				     .nranks = ndev,
				     .color = -1,
				     .library = library,
				     .call_id = call_id,
				     .hash = tap_thread.unique_id,
				     .is_ready = is_done(result, library)};
	const struct tap_guard guard = tap_guard_set();
	uint32_t i, nr = tap_list_length(comms, ndev);

	for (i = 0; tap_call_counts(result) && i < nr; i++) {
		made.rank = (int) i;
		made.handle = tap_safe_pointer((void **) &comms[i]);
		if (made.handle)
			tap_group_made(tap_comm_made(&comms[i], &made));
	}
	TAP_LAYERS_CALL(comm_made);
	tap_change_end();
	tap_guard_clear(guard);
}

void tap_change_end_phase(ncclComm_t handle, int result, enum tap_comm_phase phase,
			  uint64_t call_id)
{
	const struct tap_guard guard = tap_guard_set();

	if (tap_call_counts(result))
		tap_comm_set_phase(tap_comm_of(handle), phase, call_id);
	tap_change_end();
	tap_guard_clear(guard);
}

void tap_change_end_freed(struct tap_comm *c, ncclComm_t handle, int result,
			  enum tap_comm_phase phase, uint64_t call_id)
{
	const struct tap_guard guard = tap_guard_set();

	tap_comm_freed(c, handle, tap_call_counts(result), phase, call_id);
	tap_change_end();
	tap_guard_clear(guard);
}

void tap_unique_id_given(const ncclUniqueId *id, int result)
{
	tap_thread.unique_id = result == 0 ? tap_hash_of_id(id) : 0;
}

void tap_grow_id_given(ncclComm_t handle, const ncclUniqueId *id, int result)
{
	const uint64_t hash = result == 0 ? tap_hash_of_id(id) : 0;
	struct tap_guard guard;

	if (hash) {
		guard = tap_guard_set();
		tap_comm_set_grow_key(tap_comm_of(handle), hash);
		tap_guard_clear(guard);
	}
	tap_change_end();
}

static void ask_snapshot(int error, uint32_t comm_id)
{
	char why[64];

	snprintf(why, sizeof(why), "asynchronous error %d on communicator %" PRIu32,
		 error, comm_id);
	tap_recorder_ask_snapshot(why);
}

static void note_state(struct tap_comm *c, int reported, uint64_t call_id)
{
	const struct tap_guard guard = tap_guard_set();

	if (reported != 0 && tap_comm_set_error(c, reported, call_id))
		ask_snapshot(reported, c->id);
	else if (tap_comm_phase(c) == TAP_COMM_INITIALISING)
		tap_comm_ready(c, call_id);
	if (reported == 0)
		tap_comm_find_children(c, call_id);
	tap_guard_clear(guard);
}

/*
 * Watchdogs of frameworks call it many times a second, so the usual state takes a short
 * path.
 */
void tap_async_error_reported(ncclComm_t handle, const ncclResult_t *error, int result,
			      uint64_t call_id)
{
	struct tap_thread *t = &tap_thread;
	ncclResult_t read = 7; /* ncclInProgress */
	const int reported =
		result == 0 && tap_safe_read(&read, error, sizeof(read)) ? (int) read : 7;
	struct tap_comm *c = t->last_comm;

	if (!tap_comm_is(c, handle)) {
		c = tap_comm_of(handle);
		__atomic_store_n(&t->last_comm, c, __ATOMIC_RELAXED);
	}
	if (reported != 7 &&
	    (reported != 0 || tap_comm_phase(c) == TAP_COMM_INITIALISING ||
	     tap_comm_has_pending(c)))
		note_state(c, reported, call_id);
	tap_change_end();
}

uint64_t tap_hash_of_id(const ncclUniqueId *id)
{
	ncclUniqueId copy;

	return tap_nccl_hash(tap_safe_read(&copy, id, sizeof(copy)));
}

/* NCCL computes its own hash from the first identifier. */
uint64_t tap_hash_of_ids(const ncclUniqueId *ids, int nr)
{
	return tap_list_length(ids, nr) ? tap_hash_of_id(ids) : 0;
}

/* The hash does not depend on the order of the ranks. */
uint64_t tap_hash_of_ranks(const int *ranks, int nr)
{
	uint32_t i, length = tap_list_length(ranks, nr);
	uint64_t hash = length, x;
	int copy[64];

	for (i = 0; i < length; i++) {
		const uint32_t at = i % ARRAY_SIZE(copy), left = length - i;

		if (!at && !tap_safe_read(copy, ranks + i,
					  sizeof(*copy) * (left < ARRAY_SIZE(copy)
								   ? left
								   : ARRAY_SIZE(copy))))
			return 0;
		x = ((uint64_t) (uint32_t) copy[at] + 1) * 0x9e3779b97f4a7c15;
		x = (x ^ x >> 31) * 0xbf58476d1ce4e5b9;
		hash += x ^ x >> 29;
	}
	return hash;
}
