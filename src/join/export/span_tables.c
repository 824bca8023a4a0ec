/* SPDX-License-Identifier: MIT */
/* The tables whose rows are spans. */
#include "join/export/tables.h"

#include "join/model/comm.h"
#include "join/model/profiler.h"

#define VALUE(name_, type_, function) \
	{ \
		.name = (name_), .type = TAP_EXPORT_##type_, .value = (function) \
	}
/* An argument, or what the call or the work returned. */
#define FIELD(name_, type_, field_) \
	{ \
		.name = (name_), .type = TAP_EXPORT_##type_, .value = field, \
		.field = (field_) \
	}
#define END \
	{ \
		0 \
	}

/* What is known at both ends of a span has the value of its end. */
static struct tap_export_value field(const struct tap_export_column *column,
				     const void *row)
{
	const struct tap_span *span = row;
	const struct tap_field *result = tap_span_result(span);
	const struct tap_field *found = tap_fields_find(&span->exit, column->field);

	if (found && found != result)
		return tap_export_field(column, &span->exit, found);
	return tap_export_field(column, &span->entry,
				tap_fields_find(&span->entry, column->field));
}

/* The call or the completion says how it went. */
static struct tap_export_value result(const struct tap_export_column *column,
				      const void *row)
{
	const struct tap_span *span = row;

	return tap_export_field(column, &span->exit, tap_span_result(span));
}

#define SPAN(name_, expression) \
	static struct tap_export_value name_(const struct tap_export_column *column, \
					     const void *row) \
	{ \
		const struct tap_span *span = row; \
\
		(void) column; \
		return expression; \
	}

static bool is_ended(const struct tap_span *span)
{
	return span->state == TAP_SPAN_COMPLETE || span->state == TAP_SPAN_BEGIN_LOST;
}

SPAN(process, tap_export_number(span->process->number))
SPAN(call_id, tap_export_not_zero(span->call_id))
SPAN(parent_id, tap_export_not_zero(span->parent_id))
SPAN(layer, tap_export_text(span->name->layer))
SPAN(name, tap_export_text(span->name->name))
SPAN(nccl_event, tap_export_text(tap_profiler_event(span)))
SPAN(tid, tap_export_not_negative(span->tid))
SPAN(begin_ns, tap_export_number_if(span->state != TAP_SPAN_BEGIN_LOST, span->begin_ns))
SPAN(end_ns, tap_export_number_if(is_ended(span) && !span->is_end_bound, span->end_ns))
SPAN(end_max_ns, tap_export_number_if(is_ended(span) && span->is_end_bound, span->end_ns))
SPAN(state, tap_export_text(tap_span_state_name(span->state)))
SPAN(is_inner, tap_export_number(span->is_inner))
SPAN(is_from_nvtx, tap_export_number(span->is_from_nvtx))
SPAN(caller_library, tap_export_not_zero(span->caller_number))
SPAN(caller, tap_export_text(span->caller ? span->caller->base_name : NULL))
SPAN(caller_offset,
     tap_export_number_if(span->caller_number, (int64_t) span->caller_offset))
SPAN(work_kind, tap_export_text(tap_export_work_kind(&span->work)))
SPAN(number, tap_export_number((int64_t) tap_export_work_number(&span->work)))

/* ---- The operation ---- */

/* Work on a GPU has the operation of a call. */
static const struct tap_name *op_name(const struct tap_span *span)
{
	return span->gpu.call ? span->gpu.call : span->name;
}

static uint64_t comm_key_of(const struct tap_span *span)
{
	return span->member ? tap_member_comm(span->member)->key
			    : span->operation.comm_key;
}

static int64_t rank_of(const struct tap_span *span)
{
	return span->member ? span->member->rank : -1;
}

static int64_t sender_of(const struct tap_span *span)
{
	return tap_export_sender(op_name(span), rank_of(span), span->operation.peer);
}

static int64_t receiver_of(const struct tap_span *span)
{
	return tap_export_receiver(op_name(span), rank_of(span), span->operation.peer);
}

SPAN(comm_id, tap_export_not_zero(span->operation.comm_id))
SPAN(comm_key, tap_export_not_zero(comm_key_of(span)))
SPAN(rank, tap_export_not_negative(rank_of(span)))
SPAN(op_kind,
     tap_export_text(tap_export_op_kind(op_name(span), span->operation.number)))
SPAN(op_number, tap_export_not_zero(span->operation.number))
SPAN(sender_rank, tap_export_not_negative(sender_of(span)))
SPAN(receiver_rank, tap_export_not_negative(receiver_of(span)))
SPAN(group_id, tap_export_not_zero(span->operation.group_id))
SPAN(count_elements, tap_export_number_if(span->operation.has_count,
					  (int64_t) span->operation.count))
SPAN(datatype, tap_export_not_negative(span->operation.datatype))
SPAN(op_bytes, tap_export_not_negative(tap_operation_bytes(&span->operation)))

/* clang-format off */
#define OPERATION \
	VALUE("comm_id", INTEGER, comm_id), \
	VALUE("comm_key", INTEGER, comm_key), \
	VALUE("rank", INTEGER, rank), \
	VALUE("op_kind", TEXT, op_kind), \
	VALUE("op_number", INTEGER, op_number), \
	VALUE("sender_rank", INTEGER, sender_rank), \
	VALUE("receiver_rank", INTEGER, receiver_rank)

/* What a launch carries out, as far as its arguments or its kernel's name say it. */
#define CARRIED_OUT \
	FIELD("function", TEXT, "function"), \
	FIELD("kernel_kind", TEXT, "kernel_kind"), \
	FIELD("kernel_known", TEXT, "known"), \
	FIELD("collective", TEXT, "collective"), \
	FIELD("redop", TEXT, "op"), \
	FIELD("datatype", TEXT, "datatype"), \
	FIELD("algorithm", TEXT, "algorithm"), \
	FIELD("protocol", TEXT, "protocol"), \
	FIELD("channels", INTEGER, "channels"), \
	FIELD("channel_mask", INTEGER, "channel_mask"), \
	FIELD("device_comm", INTEGER, "device_comm"), \
	FIELD("nccl_version", INTEGER, "nccl_version")

/* ---- The tables ---- */

const struct tap_export_column tap_export_call[] = {
	VALUE("process", INTEGER, process),
	VALUE("call_id", INTEGER, call_id),
	VALUE("parent_id", INTEGER, parent_id),
	VALUE("layer", TEXT, layer),
	VALUE("name", TEXT, name),
	VALUE("nccl_event", TEXT, nccl_event),
	VALUE("tid", INTEGER, tid),
	VALUE("begin_ns", INTEGER, begin_ns),
	VALUE("end_ns", INTEGER, end_ns),
	VALUE("state", TEXT, state),
	VALUE("is_inner", BOOLEAN, is_inner),
	VALUE("is_from_nvtx", BOOLEAN, is_from_nvtx),
	VALUE("caller_library", INTEGER, caller_library),
	VALUE("caller", TEXT, caller),
	VALUE("caller_offset", INTEGER, caller_offset),
	OPERATION,
	VALUE("group_id", INTEGER, group_id),
	VALUE("count_elements", INTEGER, count_elements),
	VALUE("datatype", INTEGER, datatype),
	VALUE("bytes", INTEGER, op_bytes),
	VALUE("result", TEXT, result),
	END,
};

const struct tap_export_column tap_export_launch[] = {
	VALUE("process", INTEGER, process),
	VALUE("call_id", INTEGER, call_id),
	VALUE("parent_id", INTEGER, parent_id),
	VALUE("name", TEXT, name),
	VALUE("tid", INTEGER, tid),
	VALUE("begin_ns", INTEGER, begin_ns),
	VALUE("end_ns", INTEGER, end_ns),
	VALUE("state", TEXT, state),
	FIELD("correlation_id", INTEGER, "correlation_id"),
	FIELD("stream", INTEGER, "hStream"),
	FIELD("capture_id", INTEGER, "capture_id"),
	CARRIED_OUT,
	VALUE("result", TEXT, result),
	END,
};

const struct tap_export_column tap_export_kernel[] = {
	VALUE("process", INTEGER, process),
	VALUE("number", INTEGER, number),
	VALUE("name", TEXT, name),
	FIELD("device", INTEGER, "device"),
	FIELD("context", INTEGER, "context"),
	FIELD("stream", INTEGER, "stream"),
	VALUE("begin_ns", INTEGER, begin_ns),
	VALUE("end_ns", INTEGER, end_ns),
	VALUE("state", TEXT, state),
	FIELD("launch_call_id", INTEGER, "launch_call_id"),
	FIELD("captured_call_id", INTEGER, "captured_call_id"),
	FIELD("correlation_id", INTEGER, "correlation_id"),
	FIELD("graph", INTEGER, "graph"),
	FIELD("graph_node", INTEGER, "graph_node"),
	FIELD("queue_ns", INTEGER, "queue_ns"),
	FIELD("queue_min_ns", INTEGER, "queue_min_ns"),
	FIELD("bytes", INTEGER, "bytes"),
	OPERATION,
	CARRIED_OUT,
	END,
};

const struct tap_export_column tap_export_message[] = {
	VALUE("process", INTEGER, process),
	VALUE("kind", TEXT, work_kind),
	FIELD("net_id", INTEGER, "net_id"),
	VALUE("number", INTEGER, number),
	FIELD("transport", TEXT, "transport"),
	VALUE("tid", INTEGER, tid),
	VALUE("begin_ns", INTEGER, begin_ns),
	VALUE("end_ns", INTEGER, end_ns),
	VALUE("state", TEXT, state),
	FIELD("bytes", INTEGER, "bytes"),
	FIELD("requests", INTEGER, "requests"),
	FIELD("parts", INTEGER, "parts"),
	FIELD("peer_process", INTEGER, "peer_process"),
	FIELD("peer_net_id", INTEGER, "peer_net_id"),
	FIELD("channel", INTEGER, "channel"),
	FIELD("peer_rank", INTEGER, "peer_rank"),
	FIELD("connection_index", INTEGER, "connection_index"),
	FIELD("channel_known", TEXT, "channel_known"),
	FIELD("protocol", TEXT, "protocol"),
	FIELD("slot", INTEGER, "slot"),
	FIELD("buffer_known", TEXT, "buffer_known"),
	FIELD("cts_to_post_ns", INTEGER, "cts_to_post_ns"),
	FIELD("post_to_receive_ns", INTEGER, "post_to_receive_ns"),
	FIELD("wait_max_ns", INTEGER, "wait_max_ns"),
	FIELD("wait_known", TEXT, "wait_known"),
	FIELD("message_known", TEXT, "message_known"),
	VALUE("status", TEXT, result),
	END,
};

const struct tap_export_column tap_export_request[] = {
	VALUE("process", INTEGER, process),
	VALUE("kind", TEXT, work_kind),
	FIELD("qp_id", INTEGER, "qp_id"),
	FIELD("srq_id", INTEGER, "srq_id"),
	FIELD("generation", INTEGER, "generation"),
	VALUE("number", INTEGER, number),
	VALUE("opcode", TEXT, name),
	VALUE("tid", INTEGER, tid),
	VALUE("begin_ns", INTEGER, begin_ns),
	VALUE("end_ns", INTEGER, end_ns),
	VALUE("end_max_ns", INTEGER, end_max_ns),
	VALUE("state", TEXT, state),
	FIELD("bytes", INTEGER, "bytes"),
	FIELD("received_bytes", INTEGER, "byte_len"),
	FIELD("wr_id", INTEGER, "wr_id"),
	FIELD("qp_num", INTEGER, "qp_num"),
	FIELD("signaled_number", INTEGER, "signaled_seq"),
	FIELD("consuming_number", INTEGER, "consuming_seq"),
	FIELD("completed_by", INTEGER, "completed_by"),
	FIELD("imm_data", INTEGER, "imm_data"),
	FIELD("remote_process", INTEGER, "remote_process"),
	FIELD("remote_mr_id", INTEGER, "remote_mr_id"),
	FIELD("net", TEXT, "net"),
	FIELD("net_id", INTEGER, "net_id"),
	FIELD("message_number", INTEGER, "request"),
	VALUE("status", TEXT, result),
	END,
};

const struct tap_export_column tap_export_proxy[] = {
	VALUE("process", INTEGER, process),
	VALUE("kind", TEXT, work_kind),
	VALUE("number", INTEGER, number),
	VALUE("tid", INTEGER, tid),
	VALUE("begin_ns", INTEGER, begin_ns),
	VALUE("end_ns", INTEGER, end_ns),
	VALUE("state", TEXT, state),
	FIELD("thread_state", TEXT, "state"),
	FIELD("idle_turns", INTEGER, "idle_turns"),
	OPERATION,
	FIELD("channel", INTEGER, "channelId"),
	FIELD("peer_rank", INTEGER, "peer"),
	FIELD("is_send", BOOLEAN, "isSend"),
	FIELD("messages", INTEGER, "nSteps"),
	FIELD("bytes", INTEGER, "transSize"),
	FIELD("largest_bytes", INTEGER, "largest"),
	FIELD("net_id", INTEGER, "net_id"),
	FIELD("peer_process", INTEGER, "peer_process"),
	FIELD("kernel_number", INTEGER, "kernel"),
	FIELD("known", TEXT, "known"),
	END,
};
