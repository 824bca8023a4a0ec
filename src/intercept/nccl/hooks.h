/* SPDX-License-Identifier: MIT */
/*
 * The effects of a call beyond being recorded: the column "hook" of a row.
 *
 * A hook H is seven macros, used inside the wrappers (nccl_wrap.h), where tap_args holds
 * the arguments, tap_result the result and tap_call_id the call's number, 0 when the call
 * is not recorded.  TAP_BEFORE_H(name) and TAP_AFTER_H run before and after the real
 * call, recorded or not; TAP_AFTER_H runs only if TAP_BEFORE_H(name) is true.
 * TAP_DESCRIBE_H completes tap_call for the entry event, TAP_FINISH_H for the exit event;
 * TAP_LOCALS_H declares the variables that they share.
 * TAP_PASS_H is the path of a call that is not recorded; calls/kinds.h has the fields that
 * the hook adds to the events.  TAP_COUNTED_H says what --metrics counts of it (nccl_wrap.h):
 * OP, an operation on a communicator; OTHER, a call that is counted for the process; NONE.
 *
 * Hooks act on the program's own calls only, not on calls that NCCL makes inside another.
 */
#ifndef TAP_INTERCEPT_NCCL_HOOKS_H
#define TAP_INTERCEPT_NCCL_HOOKS_H

#include "intercept/dl/libraries.h"
#include "intercept/nccl/comm.h"
#include "intercept/nccl/group.h"
#include "intercept/recorder.h"
#include "tracepoints/events.h"

/*
 * Fills in the communicator's fields of call.  A call that NCCL makes itself may use a
 * communicator that is not known yet, or not any more; such a call does not add it.
 */
void tap_describe_comm(struct tap_call *call, ncclComm_t handle, bool is_meant) tap_hidden;
/* Fills in the group's fields of call; copy is the NCCL library that holds the group. */
void tap_describe_group(struct tap_call *call, uintptr_t copy) tap_hidden;
/*
 * The same as both, and the stream and the number that the operation has if it succeeds.
 */
void tap_describe_operation(struct tap_call *call, ncclComm_t handle, cudaStream_t stream,
			    uint64_t number) tap_hidden;

/*
 * Begins a call that makes, changes or ends a communicator; false when the call is not
 * the program's own.  Each tap_change_end*() function ends the call and keeps errno.
 */
bool tap_change_begin(const char *name) tap_hidden;
bool tap_change_begin_freeing(const char *name, ncclComm_t handle,
			      struct tap_comm **ret_comm) tap_hidden;
void tap_change_end(void) tap_hidden;
/* For a call that NCCL has accepted. */
void tap_change_end_made(ncclComm_t *newcomm, int result, struct tap_comm_made made) tap_hidden;
void tap_change_end_made_all(ncclComm_t *comms, int ndev, int result, const void *library,
			     uint64_t call_id) tap_hidden;
void tap_change_end_phase(ncclComm_t handle, int result, enum tap_comm_phase phase,
			  uint64_t call_id) tap_hidden;
void tap_change_end_freed(struct tap_comm *c, ncclComm_t handle, int result,
			  enum tap_comm_phase phase, uint64_t call_id) tap_hidden;

/* ncclGetUniqueId() has returned an identifier, also to ncclCommInitAll(). */
void tap_unique_id_given(const ncclUniqueId *id, int result) tap_hidden;
void tap_grow_id_given(ncclComm_t handle, const ncclUniqueId *id, int result) tap_hidden;
/* ncclCommGetAsyncError() has reported the state of the communicator. */
void tap_async_error_reported(ncclComm_t handle, const ncclResult_t *error, int result,
			      uint64_t call_id) tap_hidden;

/* The hashes that make a communicator's key; 0 where memory cannot be read. */
uint64_t tap_hash_of_id(const ncclUniqueId *id) tap_hidden;
uint64_t tap_hash_of_ids(const ncclUniqueId *ids, int nr) tap_hidden;
uint64_t tap_hash_of_ranks(const int *ranks, int nr) tap_hidden;

/* clang-format off */

/*
 * How a call goes through that is not recorded: at once, where nothing stands around it,
 * asking who calls (PLAIN) or not, since a call on a communicator comes from where that was
 * made (ON_COMM); else by a function of its own (SLOWLY), unless it is hot.
 */
#define TAP_PASS_SLOWLY(fn, e, is_linked, ...) \
	return fn##_passed(TAP_REAL_FOR_CALLER(fn, e, is_linked) TAP_MORE(__VA_ARGS__));

#define TAP_PASS_PLAIN(fn, e, is_linked, ...) \
	return TAP_REAL_FOR_CALLER(fn, e, is_linked)(NAMES(__VA_ARGS__));
#define TAP_COUNTED_PLAIN NONE
#define TAP_LOCALS_PLAIN
#define TAP_BEFORE_PLAIN(name) false
#define TAP_DESCRIBE_PLAIN
#define TAP_AFTER_PLAIN
#define TAP_FINISH_PLAIN

#define TAP_PASS_ON_COMM(fn, e, is_linked, ...) return TAP_REAL(fn, e)(NAMES(__VA_ARGS__));
#define TAP_COUNTED_ON_COMM NONE
#define TAP_LOCALS_ON_COMM
#define TAP_BEFORE_ON_COMM(name) false
#define TAP_DESCRIBE_ON_COMM \
	tap_describe_comm(&tap_call, tap_args.comm, tap_is_meant);
#define TAP_AFTER_ON_COMM
#define TAP_FINISH_ON_COMM

/* Operations are counted when the call returns, in a few instructions. */
#define TAP_PASS_COLLECTIVE(fn, e, is_linked, ...) \
	if (unlikely(!tap_operation_begin_fast(#fn, comm))) \
		return fn##_passed(TAP_REAL(fn, e) TAP_MORE(__VA_ARGS__)); \
	return tap_collective_end(TAP_REAL(fn, e)(NAMES(__VA_ARGS__)));
#define TAP_COUNTED_COLLECTIVE OP
#define TAP_LOCALS_COLLECTIVE
#define TAP_BEFORE_COLLECTIVE(name) tap_operation_begin(name, tap_args.comm)
#define TAP_DESCRIBE_COLLECTIVE \
	tap_describe_operation(&tap_call, tap_args.comm, tap_args.stream, \
			       tap_is_meant ? tap_collective_number() : 0);
#define TAP_AFTER_COLLECTIVE tap_collective_end((int) tap_result);
#define TAP_FINISH_COLLECTIVE

#define TAP_P2P_NUMBER(is_recv) \
	tap_describe_operation(&tap_call, tap_args.comm, tap_args.stream, \
			       tap_is_meant ? tap_p2p_number(tap_args.peer, is_recv) : 0);
#define TAP_PASS_P2P(fn, e, is_recv, ...) \
	if (unlikely(!tap_operation_begin_fast(#fn, comm))) \
		return fn##_passed(TAP_REAL(fn, e) TAP_MORE(__VA_ARGS__)); \
	return tap_p2p_end(peer, is_recv, TAP_REAL(fn, e)(NAMES(__VA_ARGS__)));
#define TAP_PASS_SEND(fn, e, is_linked, ...) TAP_PASS_P2P(fn, e, false, ##__VA_ARGS__)
#define TAP_COUNTED_SEND OP
#define TAP_LOCALS_SEND
#define TAP_BEFORE_SEND(name) tap_operation_begin(name, tap_args.comm)
#define TAP_DESCRIBE_SEND TAP_P2P_NUMBER(false)
#define TAP_AFTER_SEND tap_p2p_end(tap_args.peer, false, (int) tap_result);
#define TAP_FINISH_SEND

#define TAP_PASS_RECV(fn, e, is_linked, ...) TAP_PASS_P2P(fn, e, true, ##__VA_ARGS__)
#define TAP_COUNTED_RECV OP
#define TAP_LOCALS_RECV
#define TAP_BEFORE_RECV(name) tap_operation_begin(name, tap_args.comm)
#define TAP_DESCRIBE_RECV TAP_P2P_NUMBER(true)
#define TAP_AFTER_RECV tap_p2p_end(tap_args.peer, true, (int) tap_result);
#define TAP_FINISH_RECV

/* The other rank makes no matching call: one-sided operations have no number. */
#define TAP_PASS_ONE_SIDED TAP_PASS_ON_COMM
#define TAP_COUNTED_ONE_SIDED NONE
#define TAP_LOCALS_ONE_SIDED
#define TAP_BEFORE_ONE_SIDED(name) false
#define TAP_DESCRIBE_ONE_SIDED \
	tap_describe_operation(&tap_call, tap_args.comm, tap_args.stream, 0);
#define TAP_AFTER_ONE_SIDED
#define TAP_FINISH_ONE_SIDED

#define TAP_PASS_GROUP_START TAP_PASS_SLOWLY
#define TAP_COUNTED_GROUP_START NONE
#define TAP_LOCALS_GROUP_START
#define TAP_BEFORE_GROUP_START(name) tap_change_begin(name)
#define TAP_COPY_OF_CALL tap_library_base((const void *) tap_real)
#define TAP_DESCRIBE_GROUP_START tap_describe_group(&tap_call, TAP_COPY_OF_CALL);
#define TAP_AFTER_GROUP_START tap_group_start((int) tap_result, TAP_COPY_OF_CALL);
#define TAP_FINISH_GROUP_START

/* NCCL's own call of ncclGroupEnd() does not end the program's group. */
#define TAP_PASS_GROUP_END TAP_PASS_SLOWLY
#define TAP_COUNTED_GROUP_END OTHER
#define TAP_LOCALS_GROUP_END \
	struct tap_group_end tap_group; \
	tap_group.outcome = TAP_GROUP_INNER; \
	tap_group.nr_comms = tap_group.nr_listed = 0;
#define TAP_BEFORE_GROUP_END(name) tap_change_begin(name)
#define TAP_DESCRIBE_GROUP_END tap_describe_group(&tap_call, TAP_COPY_OF_CALL);
#define TAP_AFTER_GROUP_END \
	tap_group_end((int) tap_result, TAP_COPY_OF_CALL, false, tap_call_id, &tap_group);
#define TAP_FINISH_GROUP_END tap_call.group = &tap_group;

/*
 * NCCL simulates only a group that it can run at once, and only if simInfo is not NULL.
 */
#define TAP_PASS_GROUP_SIMULATE TAP_PASS_SLOWLY
#define TAP_COUNTED_GROUP_SIMULATE NONE
#define TAP_LOCALS_GROUP_SIMULATE TAP_LOCALS_GROUP_END
#define TAP_BEFORE_GROUP_SIMULATE(name) tap_change_begin(name)
#define TAP_DESCRIBE_GROUP_SIMULATE TAP_DESCRIBE_GROUP_END
#define TAP_AFTER_GROUP_SIMULATE \
	tap_group_end((int) tap_result, TAP_COPY_OF_CALL, tap_result == 0 && tap_args.simInfo, \
		      tap_call_id, &tap_group);
#define TAP_FINISH_GROUP_SIMULATE TAP_FINISH_GROUP_END

#define TAP_PASS_ASYNC_ERROR TAP_PASS_SLOWLY
#define TAP_COUNTED_ASYNC_ERROR NONE
#define TAP_LOCALS_ASYNC_ERROR
#define TAP_BEFORE_ASYNC_ERROR(name) tap_change_begin(name)
#define TAP_DESCRIBE_ASYNC_ERROR TAP_DESCRIBE_ON_COMM
#define TAP_AFTER_ASYNC_ERROR \
	tap_async_error_reported(tap_args.comm, tap_args.asyncError, (int) tap_result, tap_call_id);
#define TAP_FINISH_ASYNC_ERROR

/* Also run for a call from ncclCommInitAll(). */
#define TAP_PASS_UNIQUE_ID TAP_PASS_SLOWLY
#define TAP_COUNTED_UNIQUE_ID NONE
#define TAP_LOCALS_UNIQUE_ID
#define TAP_BEFORE_UNIQUE_ID(name) true
#define TAP_DESCRIBE_UNIQUE_ID
#define TAP_AFTER_UNIQUE_ID tap_unique_id_given(tap_args.uniqueId, (int) tap_result);
#define TAP_FINISH_UNIQUE_ID

#define TAP_PASS_GROW_ID TAP_PASS_SLOWLY
#define TAP_COUNTED_GROW_ID NONE
#define TAP_LOCALS_GROW_ID
#define TAP_BEFORE_GROW_ID(name) tap_change_begin(name)
#define TAP_DESCRIBE_GROW_ID TAP_DESCRIBE_ON_COMM
#define TAP_AFTER_GROW_ID \
	tap_grow_id_given(tap_args.comm, tap_args.uniqueId, (int) tap_result);
#define TAP_FINISH_GROW_ID

/* Calls that make communicators.  A call that NCCL refused has made none. */
#define TAP_MADE(newcomm, ...) \
	if (tap_call_counts((int) tap_result)) \
		tap_change_end_made(newcomm, (int) tap_result, \
			(struct tap_comm_made) {.library = (const void *) tap_real, \
				.call_id = tap_call_id, __VA_ARGS__}); \
	else \
		tap_change_end();

#define TAP_PASS_INIT_RANK TAP_PASS_SLOWLY
#define TAP_COUNTED_INIT_RANK OTHER
#define TAP_LOCALS_INIT_RANK
#define TAP_BEFORE_INIT_RANK(name) tap_change_begin(name)
#define TAP_DESCRIBE_INIT_RANK
#define TAP_AFTER_INIT_RANK \
	TAP_MADE(tap_args.comm, .origin = TAP_COMM_INIT, .nranks = tap_args.nranks, \
		.rank = tap_args.rank, .hash = tap_hash_of_id(&tap_args.commId), .color = -1)
#define TAP_FINISH_INIT_RANK

#define TAP_PASS_INIT_CONFIG TAP_PASS_SLOWLY
#define TAP_COUNTED_INIT_CONFIG OTHER
#define TAP_LOCALS_INIT_CONFIG
#define TAP_BEFORE_INIT_CONFIG(name) tap_change_begin(name)
#define TAP_DESCRIBE_INIT_CONFIG
#define TAP_AFTER_INIT_CONFIG \
	TAP_MADE(tap_args.comm, .origin = TAP_COMM_INIT, .nranks = tap_args.nranks, \
		.rank = tap_args.rank, .hash = tap_hash_of_id(&tap_args.commId), .color = -1, \
		.config = tap_args.config)
#define TAP_FINISH_INIT_CONFIG

#define TAP_PASS_INIT_SCALABLE TAP_PASS_SLOWLY
#define TAP_COUNTED_INIT_SCALABLE OTHER
#define TAP_LOCALS_INIT_SCALABLE
#define TAP_BEFORE_INIT_SCALABLE(name) tap_change_begin(name)
#define TAP_DESCRIBE_INIT_SCALABLE
#define TAP_AFTER_INIT_SCALABLE \
	TAP_MADE(tap_args.newcomm, .origin = TAP_COMM_INIT, .nranks = tap_args.nranks, \
		.rank = tap_args.myrank, .color = -1, .config = tap_args.config, \
		.hash = tap_hash_of_ids(tap_args.commIds, tap_args.nId))
#define TAP_FINISH_INIT_SCALABLE

#define TAP_PASS_INIT_ALL TAP_PASS_SLOWLY
#define TAP_COUNTED_INIT_ALL OTHER
#define TAP_LOCALS_INIT_ALL
#define TAP_BEFORE_INIT_ALL(name) \
	(tap_thread.unique_id = 0, /* set again only by this call */ \
	 tap_change_begin(name))
#define TAP_DESCRIBE_INIT_ALL
#define TAP_AFTER_INIT_ALL \
	tap_change_end_made_all(tap_args.comm, tap_args.ndev, (int) tap_result, \
				(const void *) tap_real, tap_call_id);
#define TAP_FINISH_INIT_ALL

#define TAP_PASS_SPLIT TAP_PASS_SLOWLY
#define TAP_COUNTED_SPLIT OTHER
#define TAP_LOCALS_SPLIT
#define TAP_BEFORE_SPLIT(name) tap_change_begin(name)
#define TAP_DESCRIBE_SPLIT TAP_DESCRIBE_ON_COMM
#define TAP_AFTER_SPLIT \
	TAP_MADE(tap_args.newcomm, .origin = TAP_COMM_SPLIT, .parent = tap_args.comm, \
		.nranks = -1, .rank = -1, .color = tap_args.color, .split_key = tap_args.key, \
		.config = tap_args.config)
#define TAP_FINISH_SPLIT

#define TAP_PASS_SHRINK TAP_PASS_SLOWLY
#define TAP_COUNTED_SHRINK OTHER
#define TAP_LOCALS_SHRINK
#define TAP_BEFORE_SHRINK(name) tap_change_begin(name)
#define TAP_DESCRIBE_SHRINK TAP_DESCRIBE_ON_COMM
#define TAP_AFTER_SHRINK \
	TAP_MADE(tap_args.newcomm, .origin = TAP_COMM_SHRINK, .parent = tap_args.comm, \
		.nranks = -1, .rank = -1, .color = -1, .config = tap_args.config, \
		.hash = tap_hash_of_ranks(tap_args.excludeRanksList, \
					  tap_args.excludeRanksCount))
#define TAP_FINISH_SHRINK

#define TAP_PASS_GROW TAP_PASS_SLOWLY
#define TAP_COUNTED_GROW OTHER
#define TAP_LOCALS_GROW
#define TAP_BEFORE_GROW(name) tap_change_begin(name)
#define TAP_DESCRIBE_GROW TAP_DESCRIBE_ON_COMM
#define TAP_AFTER_GROW \
	TAP_MADE(tap_args.newcomm, .origin = TAP_COMM_GROW, .parent = tap_args.comm, \
		.nranks = tap_args.nRanks, .rank = tap_args.comm ? -1 : tap_args.rank, \
		.color = -1, .config = tap_args.config, \
		.hash = tap_hash_of_id(tap_args.uniqueId))
#define TAP_FINISH_GROW

/* Calls that change a communicator's phase. */
#define TAP_AFTER_PHASE(phase) \
	tap_change_end_phase(tap_args.comm, (int) tap_result, phase, tap_call_id);

#define TAP_PASS_FINALIZE TAP_PASS_SLOWLY
#define TAP_COUNTED_FINALIZE OTHER
#define TAP_LOCALS_FINALIZE
#define TAP_BEFORE_FINALIZE(name) tap_change_begin(name)
#define TAP_DESCRIBE_FINALIZE TAP_DESCRIBE_ON_COMM
#define TAP_AFTER_FINALIZE TAP_AFTER_PHASE(TAP_COMM_FINALIZING)
#define TAP_FINISH_FINALIZE

#define TAP_PASS_REVOKE TAP_PASS_SLOWLY
#define TAP_COUNTED_REVOKE OTHER
#define TAP_LOCALS_REVOKE
#define TAP_BEFORE_REVOKE(name) tap_change_begin(name)
#define TAP_DESCRIBE_REVOKE TAP_DESCRIBE_ON_COMM
#define TAP_AFTER_REVOKE TAP_AFTER_PHASE(TAP_COMM_REVOKED)
#define TAP_FINISH_REVOKE

#define TAP_PASS_SUSPEND TAP_PASS_SLOWLY
#define TAP_COUNTED_SUSPEND OTHER
#define TAP_LOCALS_SUSPEND
#define TAP_BEFORE_SUSPEND(name) tap_change_begin(name)
#define TAP_DESCRIBE_SUSPEND TAP_DESCRIBE_ON_COMM
/* Without the flag NCCL does nothing. */
#define TAP_AFTER_SUSPEND \
	if (tap_args.flags & 1) /* NCCL_SUSPEND_MEM */ \
		TAP_AFTER_PHASE(TAP_COMM_SUSPENDED) \
	else \
		tap_change_end();
#define TAP_FINISH_SUSPEND

#define TAP_PASS_RESUME TAP_PASS_SLOWLY
#define TAP_COUNTED_RESUME OTHER
#define TAP_LOCALS_RESUME
#define TAP_BEFORE_RESUME(name) tap_change_begin(name)
#define TAP_DESCRIBE_RESUME TAP_DESCRIBE_ON_COMM
#define TAP_AFTER_RESUME TAP_AFTER_PHASE(TAP_COMM_READY)
#define TAP_FINISH_RESUME

#define TAP_PASS_DESTROY TAP_PASS_SLOWLY
#define TAP_COUNTED_DESTROY OTHER
#define TAP_LOCALS_DESTROY struct tap_comm *tap_freed = NULL;
#define TAP_BEFORE_DESTROY(name) \
	tap_change_begin_freeing(name, tap_args.comm, &tap_freed)
#define TAP_DESCRIBE_DESTROY TAP_DESCRIBE_ON_COMM
#define TAP_AFTER_DESTROY \
	tap_change_end_freed(tap_freed, tap_args.comm, (int) tap_result, TAP_COMM_DESTROYED, \
			     tap_call_id);
#define TAP_FINISH_DESTROY

#define TAP_PASS_ABORT TAP_PASS_SLOWLY
#define TAP_COUNTED_ABORT OTHER
#define TAP_LOCALS_ABORT TAP_LOCALS_DESTROY
#define TAP_BEFORE_ABORT(name) TAP_BEFORE_DESTROY(name)
/* The buffers now hold what led to the abort. */
#define TAP_DESCRIBE_ABORT \
	TAP_DESCRIBE_DESTROY \
	if (tap_is_meant) \
		tap_recorder_ask_snapshot("ncclCommAbort");
#define TAP_AFTER_ABORT \
	tap_change_end_freed(tap_freed, tap_args.comm, (int) tap_result, TAP_COMM_ABORTED, \
			     tap_call_id);
#define TAP_FINISH_ABORT

#endif
