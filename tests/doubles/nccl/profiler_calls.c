/* SPDX-License-Identifier: MIT */
/*
 * Calls of the API, and groups of them, which are told with the first operation in them
 * (NCCL 2.28.9, plugin/profiler.cc:212-305, enqueue.cc:2388-2493, 2630,
 * group.cc:662-754).
 */
#include "profiler.h"

#include "comm.h"
#include "plan.h"

enum {
	/* All that a group is told for: whatever there is but control events. */
	GROUP_KINDS = 0xfff & ~MINI_EVENT_PROXY_CONTROL,
	BELOW_TASKS = MINI_EVENT_PROXY_OP | MINI_EVENT_PROXY_STEP |
		      MINI_EVENT_KERNEL_CHANNEL | MINI_EVENT_NET,
	P2P_KINDS = MINI_EVENT_P2P_CALL | MINI_EVENT_P2P | BELOW_TASKS,
	COLL_KINDS = MINI_EVENT_COLL_CALL | MINI_EVENT_COLL | BELOW_TASKS
};

/* Of the group's start and end, which are told of once. */
enum state { NOTHING, STARTED, COLLECTING };

/*
 * As NCCL counts: a group that is opened by the program after the first operation is not
 * counted when it begins, but when it ends.
 */
static __thread struct {
	int depth;
	int mask;
	enum state state;
	void *group;
	void *p2p;
	/* That of the last collective, even when it is over. */
	void *coll;
} calls;

const char *mini_profiler_type(ncclDataType_t type)
{
	static const char *const names[] = {
		[ncclInt8] = "ncclInt8",
		[ncclInt32] = "ncclInt32",
		[ncclUint32] = "ncclUint32",
		[ncclInt64] = "ncclInt64",
		[ncclUint64] = "ncclUint64",
		[ncclFloat16] = "ncclFloat16",
		[ncclFloat32] = "ncclFloat32",
		[ncclFloat64] = "ncclFloat64",
		[ncclBfloat16] = "ncclBfloat16",
		[ncclFloat8e4m3] = "ncclFloat8e4m3",
		[ncclFloat8e5m2] = "ncclFloat8e5m2",
	};
	const char *name = type < ncclNumTypes ? names[type] : NULL;

	/* So is ncclUint8 in NCCL. */
	return name ? name : "Unknown";
}

void mini_profile_enter(void)
{
	if (calls.depth > 0)
		calls.depth++;
}

static void record(enum mini_event_state state)
{
	if (calls.group)
		mini_profiler_record(calls.group, state,
				     (union mini_event_argument){.data = NULL});
}

static void begin_group(const struct ncclComm *comm, bool is_captured, int depth)
{
	struct mini_event event = {
		.kind = MINI_EVENT_GROUP_CALL,
		.group_call = {is_captured, depth},
	};

	calls.mask = mini_profiler_mask();
	if (!(calls.mask & GROUP_KINDS) || calls.depth > 0)
		return;
	mini_profiler_start(comm->profile.context, &calls.group, &event);
	calls.depth = depth;
	calls.state = STARTED;
}

static void begin_p2p(const struct ncclComm *comm, const struct mini_op *op,
		      bool is_captured)
{
	struct mini_event event = {
		.kind = MINI_EVENT_P2P_CALL,
		.parent = calls.group,
		.p2p_call = {op->function == MINI_SEND ? "Send" : "Recv", op->count,
			     mini_profiler_type(op->type), op->stream, is_captured},
	};

	if (calls.mask & P2P_KINDS)
		mini_profiler_start(comm->profile.context, &calls.p2p, &event);
}

static void begin_coll(const struct ncclComm *comm, const struct mini_op *op,
		       bool is_captured)
{
	struct mini_event event = {
		.kind = MINI_EVENT_COLL_CALL,
		.parent = calls.group,
		.coll_call = {op->name, op->count, mini_profiler_type(op->type), op->root,
			      op->stream, is_captured},
	};

	if (calls.mask & COLL_KINDS)
		mini_profiler_start(comm->profile.context, &calls.coll, &event);
}

static bool is_captured(const struct ncclComm *comm, const struct mini_op *op)
{
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
	CUcontext before = NULL;

	mini_driver.CtxGetCurrent(&before);
	mini_driver.CtxSetCurrent(comm->context);
	mini_driver.StreamIsCapturing(op->stream, &status);
	mini_driver.CtxSetCurrent(before);
	return status == CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

void mini_profile_call_begin(struct ncclComm *comm, struct mini_op *op, int depth)
{
	bool captured;

	/* Copy engines have no events of their own before 2.29. */
	if (op->is_by_copies)
		return;
	captured = is_captured(comm, op);
	begin_group(comm, captured, depth);
	if (calls.state == STARTED) {
		calls.state = COLLECTING;
		record(MINI_STATE_GROUP_START_STOP);
	}
	if (mini_op_is_p2p(op))
		begin_p2p(comm, op, captured);
	else
		begin_coll(comm, op, captured);
	op->profile.mask = calls.mask;
	op->profile.group_call = calls.group;
	op->profile.call = mini_op_is_p2p(op) ? calls.p2p : calls.coll;
}

void mini_profile_call_end(const struct mini_op *op)
{
	if (op->is_by_copies)
		return;
	if (mini_op_is_p2p(op)) {
		if (calls.p2p)
			mini_profiler_stop(calls.p2p);
		calls.p2p = NULL;
	} else if (calls.coll) {
		mini_profiler_stop(calls.coll);
	}
}

void mini_profile_group_end(void)
{
	if (calls.depth > 0)
		calls.depth--;
	if (calls.depth > 0 || calls.state != COLLECTING)
		return;
	calls.state = NOTHING;
	record(MINI_STATE_GROUP_END_START);
}

void mini_profile_group_over(void)
{
	if (!calls.group || calls.depth > 0)
		return;
	mini_profiler_stop(calls.group);
	calls.group = NULL;
}
