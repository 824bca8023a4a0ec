/* SPDX-License-Identifier: MIT */
/* The tables whose rows are no spans, and the list of all. */
#include "join/export/tables.h"

#include "join/model/nccl_connection.h"
#include "join/rdma/qp.h"

#define VALUE(name_, type_, function) \
	{ \
		.name = (name_), .type = TAP_EXPORT_##type_, .value = (function) \
	}
/* What a process or a member says of itself; a number less than `least_` is unknown. */
#define FIELD(name_, type_, function, field_, least_) \
	{ \
		.name = (name_), .type = TAP_EXPORT_##type_, .value = (function), \
		.field = (field_), .has_least = true, .least = (least_) \
	}
#define END \
	{ \
		0 \
	}

/* A function that has the row, under its name and with its type, and returns a value. */
#define ROW(function, type_, row_, expression) \
	static struct tap_export_value function(const struct tap_export_column *column, \
						const void *data) \
	{ \
		const type_ *row_ = data; \
\
		(void) column; \
		return expression; \
	}

/* ---- What several tables have ---- */

const char *tap_export_work_kind(const struct tap_work *work)
{
	static const char *const kinds[] = {[TAP_WORK_SEND] = "send",
					    [TAP_WORK_RECEIVE] = "receive",
					    [TAP_WORK_REFUSED] = "refused",
					    [TAP_WORK_NET_SEND] = "net-send",
					    [TAP_WORK_NET_RECEIVE] = "net-receive",
					    [TAP_WORK_GPU] = "gpu",
					    [TAP_WORK_PROXY_OP] = "proxy-op",
					    [TAP_WORK_PROXY_CTRL] = "proxy-ctrl"};

	return kinds[work->kind];
}

struct tap_export_value tap_export_work_queue(const struct tap_work *work)
{
	return tap_export_number_if(tap_work_is_request(work) ||
					    tap_work_is_message(work),
				    work->kind && !tap_work_is_run(work)
					    ? (int64_t) tap_work_queue_id(work)
					    : 0);
}

uint64_t tap_export_work_number(const struct tap_work *work)
{
	if (tap_work_is_run(work))
		return work->run.number;
	if (tap_work_is_proxy(work))
		return work->proxy.number;
	return tap_work_is_message(work) ? work->message.number : work->request.seq;
}

const char *tap_export_op_kind(const struct tap_name *name, uint64_t number)
{
	return number ? tap_operation_kind(name) : NULL;
}

int64_t tap_export_sender(const struct tap_name *name, int64_t rank, int64_t peer)
{
	if (name->kind == TAP_NAME_RECEIVE)
		return peer;
	return name->kind == TAP_NAME_SEND ? rank : -1;
}

int64_t tap_export_receiver(const struct tap_name *name, int64_t rank, int64_t peer)
{
	if (name->kind == TAP_NAME_RECEIVE)
		return rank;
	return name->kind == TAP_NAME_SEND ? peer : -1;
}

/* A field of a description; in a damaged trace a text may be a number. */
static struct tap_export_value about_field(const struct tap_export_column *column,
					   const struct tap_fields *about)
{
	const struct tap_field *field = tap_fields_find(about, column->field);
	const struct tap_export_value value = tap_export_field(column, about, field);

	return column->type == TAP_EXPORT_TEXT && !value.text ? tap_export_text(NULL)
							      : value;
}

/* ---- Processes ---- */

static struct tap_export_value process_field(const struct tap_export_column *column,
					     const void *row)
{
	const struct tap_export_process *at = row;

	return about_field(column, &at->end_state->process->about);
}

static const char *end_seen(enum tap_end end)
{
	static const char *const names[] = {
		[TAP_END_EXIT] = "exit", [TAP_END_REPLACED] = "replaced"};

	return names[end];
}

/* Of several hosts, the clock of the process's; NULL: there is one. */
static const struct tap_clock *clock_of(const struct tap_export_process *at)
{
	const struct tap_trace *trace = at->end_state->process->trace;

	return at->context->clocks.count > 1 && trace ? trace->clock : NULL;
}

/* The host whose clock the times are on. */
static const char *clock_host(const struct tap_export_process *at)
{
	return clock_of(at) ? clock_of(at)->reference->host
			    : at->end_state->process->host;
}

/* Whether the clock is converted, or others are converted to it. */
static bool is_placed(const struct tap_clock *clock)
{
	return clock && (clock->reference != clock || clock->how == TAP_CLOCK_REFERENCE);
}

#define PROCESS(function, expression) \
	ROW(function, struct tap_export_process, at, expression)
PROCESS(process_number, tap_export_number(at->end_state->process->number))
PROCESS(process_pid, tap_export_not_negative(at->end_state->process->pid))
PROCESS(process_namespace, tap_export_not_zero(at->end_state->process->pid_namespace))
PROCESS(process_rank, tap_export_not_negative(tap_process_rank(at->end_state->process)))
PROCESS(process_end, tap_export_text(end_seen(at->end_state->end)))
PROCESS(process_end_ns, tap_export_number_if(at->end_state->end != TAP_END_NOT_SEEN,
					     at->end_state->end_ns))
PROCESS(process_seen_ns, tap_export_number(at->end_state->seen_ns))
PROCESS(process_open, tap_export_number((int64_t) at->end_state->count))
PROCESS(process_clock,
	tap_export_text(tap_clock_how_name(clock_of(at) ? clock_of(at)->how
							: TAP_CLOCK_REFERENCE)))
PROCESS(process_clock_host, tap_export_text(clock_host(at)))
PROCESS(process_clock_offset,
	tap_export_number_if(is_placed(clock_of(at)),
			     is_placed(clock_of(at)) ? clock_of(at)->offset_ns : 0))
PROCESS(process_clock_drift,
	tap_export_number_if(is_placed(clock_of(at)),
			     is_placed(clock_of(at)) ? clock_of(at)->drift_ppb : 0))
PROCESS(process_clock_uncertainty,
	tap_export_number_if(is_placed(clock_of(at)),
			     is_placed(clock_of(at)) ? clock_of(at)->uncertainty_ns : 0))

static const struct tap_export_column process_columns[] = {
	VALUE("process", INTEGER, process_number),
	VALUE("pid", INTEGER, process_pid),
	VALUE("pid_namespace", INTEGER, process_namespace),
	VALUE("rank", INTEGER, process_rank),
	FIELD("world_size", INTEGER, process_field, "world_size", 0),
	FIELD("local_rank", INTEGER, process_field, "local_rank", 0),
	FIELD("job_id", TEXT, process_field, "job_id", 0),
	FIELD("command", TEXT, process_field, "command", 0),
	FIELD("executable", TEXT, process_field, "executable", 0),
	FIELD("boot_id", TEXT, process_field, "boot_id", 0),
	FIELD("tracer_version", TEXT, process_field, "version", 0),
	VALUE("end_seen", TEXT, process_end),
	VALUE("end_ns", INTEGER, process_end_ns),
	VALUE("last_seen_ns", INTEGER, process_seen_ns),
	VALUE("open_calls", INTEGER, process_open),
	VALUE("clock", TEXT, process_clock),
	VALUE("clock_of", TEXT, process_clock_host),
	VALUE("clock_offset_ns", INTEGER, process_clock_offset),
	VALUE("clock_drift_ppb", INTEGER, process_clock_drift),
	VALUE("clock_uncertainty_ns", INTEGER, process_clock_uncertainty),
	END,
};

/* ---- Communicators ---- */

static struct tap_export_value member_field(const struct tap_export_column *column,
					    const void *row)
{
	const struct tap_member *member = row;

	return about_field(column, &member->about);
}

static struct tap_export_value member_alias(const struct tap_export_column *column,
					    const void *row)
{
	const struct tap_member *member = row;
	uint64_t key = 0;

	(void) column;
	tap_fields_get_unsigned(&member->about, "alias_key", &key);
	return tap_export_not_zero(key);
}

#define MEMBER(function, expression) ROW(function, struct tap_member, member, expression)
MEMBER(member_process, tap_export_number(member->process->number))
MEMBER(member_id, tap_export_not_zero(member->comm_id))
MEMBER(member_key, tap_export_not_zero(tap_member_comm(member)->key))
MEMBER(member_rank, tap_export_not_negative(member->rank))
MEMBER(member_nranks, tap_export_not_negative(tap_member_comm(member)->nranks))
MEMBER(member_device, tap_export_not_negative(member->device))

static const struct tap_export_column communicator_columns[] = {
	VALUE("process", INTEGER, member_process),
	VALUE("comm_id", INTEGER, member_id),
	VALUE("comm_key", INTEGER, member_key),
	VALUE("alias_key", INTEGER, member_alias),
	VALUE("rank", INTEGER, member_rank),
	VALUE("nranks", INTEGER, member_nranks),
	VALUE("device", INTEGER, member_device),
	FIELD("origin", TEXT, member_field, "origin", 0),
	FIELD("parent_comm_id", INTEGER, member_field, "parent_comm_id", 1),
	FIELD("ordinal", INTEGER, member_field, "ordinal", 1),
	FIELD("color", INTEGER, member_field, "color", 0),
	FIELD("name", TEXT, member_field, "config_commName", 0),
	FIELD("phase", TEXT, member_field, "phase", 0),
	FIELD("async_error", TEXT, member_field, "async_error", 0),
	FIELD("collectives", INTEGER, member_field, "collectives", 0),
	END,
};

/* ---- Connections ---- */

#define CONNECTION(function, expression) \
	ROW(function, struct tap_nccl_connection, at, expression)
CONNECTION(connection_process, tap_export_number(at->process->number))
CONNECTION(connection_id, tap_export_not_zero(at->net_id))
CONNECTION(connection_transport, tap_export_text(tap_nccl_transport_name(at->transport)))
CONNECTION(connection_is_send, tap_export_number(at->is_send))
CONNECTION(connection_peer,
	   tap_export_number_if(at->peer, at->peer ? at->peer->number : 0))
CONNECTION(connection_peer_id, tap_export_not_zero(at->peer_net_id))
CONNECTION(connection_comm_id, tap_export_not_zero(at->member ? at->member->comm_id : 0))
CONNECTION(connection_key,
	   tap_export_not_zero(at->member ? tap_member_comm(at->member)->key : 0))
CONNECTION(connection_rank, tap_export_not_negative(at->rank))
CONNECTION(connection_peer_rank, tap_export_not_negative(at->peer_rank))
CONNECTION(connection_channel, tap_export_not_negative(at->channel))
CONNECTION(connection_index, tap_export_not_negative(at->index))
CONNECTION(connection_known,
	   tap_export_text(at->channel >= 0 || at->peer_rank >= 0 || at->index >= 0
				   ? tap_known_name(at->known)
				   : NULL))
CONNECTION(connection_messages, tap_export_number((int64_t) at->messages))

static const struct tap_export_column connection_columns[] = {
	VALUE("process", INTEGER, connection_process),
	VALUE("net_id", INTEGER, connection_id),
	VALUE("transport", TEXT, connection_transport),
	VALUE("is_send", BOOLEAN, connection_is_send),
	VALUE("peer_process", INTEGER, connection_peer),
	VALUE("peer_net_id", INTEGER, connection_peer_id),
	VALUE("comm_id", INTEGER, connection_comm_id),
	VALUE("comm_key", INTEGER, connection_key),
	VALUE("rank", INTEGER, connection_rank),
	VALUE("peer_rank", INTEGER, connection_peer_rank),
	VALUE("channel", INTEGER, connection_channel),
	VALUE("connection_index", INTEGER, connection_index),
	VALUE("known", TEXT, connection_known),
	VALUE("messages", INTEGER, connection_messages),
	END,
};

/* ---- Operations: the ends of links of calls ---- */

#define AT(function, expression) ROW(function, struct tap_export_end, at, expression)
#define ASKED at->end->facts.operation
AT(end_process, tap_export_number(at->end->process->number))
AT(end_call_id, tap_export_not_zero(at->end->call_id))
AT(end_comm_id, tap_export_not_zero(at->end->member ? at->end->member->comm_id : 0))
AT(end_rank, tap_export_not_negative(at->end->rank))
AT(end_name, tap_export_text(at->end->name->name))
AT(end_tid, tap_export_not_negative(at->end->facts.tid))
AT(end_group, tap_export_not_zero(at->end->facts.group_id))
AT(end_count, tap_export_number_if(ASKED.has_count, (int64_t) ASKED.count))
AT(end_datatype, tap_export_not_negative(ASKED.datatype))
AT(end_redop, tap_export_not_negative(ASKED.redop))
AT(end_root, tap_export_not_negative(ASKED.root))
AT(end_bytes, tap_export_not_negative(tap_operation_bytes(&ASKED)))
AT(end_begin_ns, tap_export_not_negative(at->end->facts.begin_ns))
AT(end_end_ns, tap_export_not_negative(at->end->facts.end_ns))
AT(end_caller,
   tap_export_text(at->end->facts.caller ? at->end->facts.caller->base_name : NULL))
AT(end_caller_offset, tap_export_number_if(at->end->facts.caller_number,
					   (int64_t) at->end->facts.caller_offset))
AT(operation_name, tap_export_text(at->end->name->operation->name))
AT(operation_kind, tap_export_text(tap_operation_kind(at->end->name)))
AT(operation_key, tap_export_not_zero(at->link->comm->key))
AT(operation_number, tap_export_not_zero(at->link->op_number))
AT(operation_sender,
   tap_export_not_negative(tap_export_sender(at->end->name, at->end->rank, ASKED.peer)))
AT(operation_receiver,
   tap_export_not_negative(tap_export_receiver(at->end->name, at->end->rank, ASKED.peer)))
AT(operation_nranks, tap_export_not_negative(at->link->comm->nranks))
AT(operation_here, tap_export_number((int64_t) at->link->count))
AT(operation_mismatch, tap_export_text(tap_mismatch_name(at->link->mismatch)))
AT(link_known, tap_export_text(tap_known_name(at->link->known)))

static const struct tap_export_column operation_columns[] = {
	VALUE("process", INTEGER, end_process),
	VALUE("call_id", INTEGER, end_call_id),
	VALUE("comm_id", INTEGER, end_comm_id),
	VALUE("comm_key", INTEGER, operation_key),
	VALUE("op_kind", TEXT, operation_kind),
	VALUE("op_number", INTEGER, operation_number),
	VALUE("sender_rank", INTEGER, operation_sender),
	VALUE("receiver_rank", INTEGER, operation_receiver),
	VALUE("rank", INTEGER, end_rank),
	VALUE("nranks", INTEGER, operation_nranks),
	VALUE("ranks_here", INTEGER, operation_here),
	VALUE("name", TEXT, operation_name),
	VALUE("function", TEXT, end_name),
	VALUE("tid", INTEGER, end_tid),
	VALUE("group_id", INTEGER, end_group),
	VALUE("count_elements", INTEGER, end_count),
	VALUE("datatype", INTEGER, end_datatype),
	VALUE("redop", INTEGER, end_redop),
	VALUE("root", INTEGER, end_root),
	VALUE("bytes", INTEGER, end_bytes),
	VALUE("begin_ns", INTEGER, end_begin_ns),
	VALUE("end_ns", INTEGER, end_end_ns),
	VALUE("known", TEXT, link_known),
	VALUE("mismatch", TEXT, operation_mismatch),
	VALUE("caller", TEXT, end_caller),
	VALUE("caller_offset", INTEGER, end_caller_offset),
	END,
};

/* ---- Links, and halves of them ---- */

/* The operation of a link between kernels and messages, unless it has several. */
static const struct tap_name *served(const struct tap_link *link)
{
	return link->op_number ? link->operation : NULL;
}

static const char *why_name(const struct tap_link *link)
{
	return link->why ? tap_why_name(link->why) : NULL;
}

static bool is_directed(const struct tap_link *link)
{
	return link->kind != TAP_LINK_KERNEL_COLLECTIVE;
}

static struct tap_export_value uncertainty(const struct tap_link *link)
{
	const int64_t ns = tap_link_uncertainty_ns(link);

	return tap_export_not_negative(ns);
}

static const char *end_kind(const struct tap_link_end *end)
{
	return end->work.kind ? tap_export_work_kind(&end->work) : "call";
}

static uint64_t generation_of(const struct tap_work *work)
{
	return tap_work_is_request(work) && !tap_work_is_shared(work)
		       ? work->request.generation
		       : 0;
}

static bool is_shared(const struct tap_work *work)
{
	return tap_work_is_request(work) && work->request.srq_id;
}

AT(link_number, tap_export_number((int64_t) at->number))
AT(link_place, tap_export_number((int64_t) at->place))
AT(link_kind, tap_export_text(tap_link_kind_name(at->link->kind)))
AT(link_why, tap_export_text(why_name(at->link)))
AT(link_is_directed, tap_export_number(is_directed(at->link)))
AT(link_is_half, tap_export_number(!!at->half))
AT(link_name, tap_export_text(at->link->operation ? at->link->operation->name : NULL))
AT(link_begin_ns,
   tap_export_number_if(!at->half || !at->half->is_receive, at->link->begin_ns))
AT(link_end_ns,
   tap_export_number_if((!at->half || at->half->is_receive) && !at->link->is_end_bound,
			at->link->end_ns))
AT(link_end_max_ns, tap_export_number_if(at->link->is_end_bound, at->link->end_ns))
/* How far the times of a half and of its other end can be compared is not known. */
AT(link_uncertainty, at->half ? tap_export_number_if(false, 0) : uncertainty(at->link))
AT(link_end_host, tap_export_text(at->end->process->host))
AT(link_span_kind, tap_export_text(end_kind(at->end)))
AT(link_queue, tap_export_work_queue(&at->end->work))
AT(link_is_shared, tap_export_number(is_shared(&at->end->work)))
AT(link_generation, tap_export_not_zero(generation_of(&at->end->work)))
AT(link_end_number,
   tap_export_not_zero(at->end->work.kind ? tap_export_work_number(&at->end->work)
					  : at->end->call_id))
AT(link_comm_key, tap_export_not_zero(tap_link_comm_key(at->link)))
AT(link_op_kind,
   tap_export_text(served(at->link) ? tap_operation_kind(served(at->link)) : NULL))
AT(link_op_number, tap_export_not_zero(at->link->op_number))
AT(link_channel, tap_export_number_if(at->link->kind == TAP_LINK_MESSAGE_KERNEL &&
					      at->link->channel >= 0,
				      at->link->channel))
AT(link_step,
   tap_export_number_if(at->link->kind == TAP_LINK_MESSAGE_KERNEL && at->link->step >= 0,
			at->link->step))
/* What both ends must agree about. */
AT(link_bytes,
   tap_export_number_if(at->half ? at->half->has_bytes
				 : at->link->kind == TAP_LINK_SEND_RECEIVE ||
					   at->link->kind == TAP_LINK_SOCKET_MESSAGE ||
					   at->link->kind == TAP_LINK_MESSAGE_KERNEL,
			(int64_t) at->link->bytes))
AT(half_imm_data,
   tap_export_number_if(at->half && at->half->has_imm, at->half ? at->half->imm_data : 0))
AT(half_is_unread, tap_export_number_if(at->half, at->half && at->half->is_unread))
AT(half_ordinal,
   tap_export_number_if(at->half, at->half ? (int64_t) at->half->ordinal : 0))

/* The queue pair of a half and its peer, NULL: it is no message between queue pairs. */
static const struct tap_generation *pair_of(const struct tap_export_end *at)
{
	return at->half ? at->half->generation : NULL;
}

#define PAIR(function, number) \
	static struct tap_export_value function(const struct tap_export_column *column, \
						const void *row) \
	{ \
		const struct tap_generation *pair = pair_of(row); \
\
		(void) column; \
		return tap_export_number_if(pair, pair ? (int64_t) (number) : 0); \
	}
PAIR(half_type, pair->qp->type)
PAIR(half_local_gid_hi, pair->is_global ? pair->local.gid_hi : 0)
PAIR(half_local_gid_lo, pair->is_global ? pair->local.gid_lo : 0)
PAIR(half_local_lid, pair->is_global ? 0 : pair->local.lid)
PAIR(half_local_qp, pair->qp->qp_num)
PAIR(half_remote_gid_hi, pair->is_global ? pair->remote.gid_hi : 0)
PAIR(half_remote_gid_lo, pair->is_global ? pair->remote.gid_lo : 0)
PAIR(half_remote_lid, pair->is_global ? 0 : pair->remote.lid)
PAIR(half_remote_qp, pair->dest_qp_num)
PAIR(half_pair, pair->ordinal)
PAIR(half_is_resumed, pair->is_from_statedump)

/* Of the 24 bits that travel, those of the first packet each way. */
#define PSN_BITS 0xffffff
AT(half_local_psn, tap_export_number_if(pair_of(at) && pair_of(at)->has_sq_psn,
					pair_of(at) ? pair_of(at)->sq_psn &PSN_BITS : 0))
AT(half_remote_psn, tap_export_number_if(pair_of(at) && pair_of(at)->has_rq_psn,
					 pair_of(at) ? pair_of(at)->rq_psn &PSN_BITS : 0))
AT(half_listener, tap_export_text(at->half ? at->half->listener : NULL))
AT(half_offset, tap_export_number_if(at->half && at->half->listener,
				     at->half ? (int64_t) at->half->offset : 0))

static const struct tap_export_column link_columns[] = {
	VALUE("link", INTEGER, link_number),
	VALUE("place", INTEGER, link_place),
	VALUE("kind", TEXT, link_kind),
	VALUE("known", TEXT, link_known),
	VALUE("why", TEXT, link_why),
	VALUE("is_directed", BOOLEAN, link_is_directed),
	VALUE("is_half", BOOLEAN, link_is_half),
	VALUE("name", TEXT, link_name),
	VALUE("begin_ns", INTEGER, link_begin_ns),
	VALUE("end_ns", INTEGER, link_end_ns),
	VALUE("end_max_ns", INTEGER, link_end_max_ns),
	VALUE("uncertainty_ns", INTEGER, link_uncertainty),
	VALUE("end_host", TEXT, link_end_host),
	VALUE("process", INTEGER, end_process),
	VALUE("span_kind", TEXT, link_span_kind),
	VALUE("queue", INTEGER, link_queue),
	VALUE("is_shared_queue", BOOLEAN, link_is_shared),
	VALUE("generation", INTEGER, link_generation),
	VALUE("number", INTEGER, link_end_number),
	VALUE("comm_key", INTEGER, link_comm_key),
	VALUE("op_kind", TEXT, link_op_kind),
	VALUE("op_number", INTEGER, link_op_number),
	VALUE("channel", INTEGER, link_channel),
	VALUE("step", INTEGER, link_step),
	VALUE("bytes", INTEGER, link_bytes),
	VALUE("imm_data", INTEGER, half_imm_data),
	VALUE("is_unread", BOOLEAN, half_is_unread),
	VALUE("ordinal", INTEGER, half_ordinal),
	VALUE("qp_type", INTEGER, half_type),
	VALUE("local_gid_hi", INTEGER, half_local_gid_hi),
	VALUE("local_gid_lo", INTEGER, half_local_gid_lo),
	VALUE("local_lid", INTEGER, half_local_lid),
	VALUE("local_qp_num", INTEGER, half_local_qp),
	VALUE("remote_gid_hi", INTEGER, half_remote_gid_hi),
	VALUE("remote_gid_lo", INTEGER, half_remote_gid_lo),
	VALUE("remote_lid", INTEGER, half_remote_lid),
	VALUE("remote_qp_num", INTEGER, half_remote_qp),
	VALUE("pair_ordinal", INTEGER, half_pair),
	VALUE("is_begun_before", BOOLEAN, half_is_resumed),
	VALUE("local_psn", INTEGER, half_local_psn),
	VALUE("remote_psn", INTEGER, half_remote_psn),
	VALUE("listener", TEXT, half_listener),
	VALUE("stream_offset_bytes", INTEGER, half_offset),
	END,
};

/* ---- Samples, findings, losses ---- */

#define COUNTER(function, expression) \
	ROW(function, struct tap_export_counter, at, expression)
COUNTER(sample_process, tap_export_number(at->sample->process->number))
COUNTER(sample_time_ns, tap_export_number(at->sample->time_ns))
COUNTER(sample_source, tap_export_text(at->sample->source))
COUNTER(sample_subject, tap_export_text(at->sample->subject))
COUNTER(sample_state, tap_export_text(at->sample->state))
COUNTER(sample_tid, tap_export_not_negative(at->sample->tid))
COUNTER(sample_interval_ns, tap_export_not_zero(at->sample->interval_ns))
COUNTER(sample_counter, tap_export_text(at->name))
COUNTER(sample_value, tap_export_number_if(at->name, (int64_t) at->value))
COUNTER(sample_growth, tap_export_number_if(at->name, (int64_t) at->growth))

static const struct tap_export_column sample_columns[] = {
	VALUE("process", INTEGER, sample_process),
	VALUE("time_ns", INTEGER, sample_time_ns),
	VALUE("source", TEXT, sample_source),
	VALUE("subject", TEXT, sample_subject),
	VALUE("state", TEXT, sample_state),
	VALUE("tid", INTEGER, sample_tid),
	VALUE("interval_ns", INTEGER, sample_interval_ns),
	VALUE("counter", TEXT, sample_counter),
	VALUE("value", INTEGER, sample_value),
	VALUE("growth", INTEGER, sample_growth),
	END,
};

#define ITEM(function, expression) ROW(function, struct tap_export_item, at, expression)
ITEM(finding_number, tap_export_number((int64_t) at->number))
ITEM(finding_item, tap_export_text(at->item))
ITEM(finding_kind, tap_export_text(tap_finding_kind_name(at->finding->kind)))
ITEM(finding_severity, tap_export_text(tap_severity_name(at->finding->severity)))
ITEM(finding_time_ns, tap_export_not_negative(at->finding->time_ns))
ITEM(finding_cost_ns, tap_export_not_zero((uint64_t) at->finding->cost_ns))
ITEM(finding_comm_key, tap_export_not_zero(at->finding->comm ? at->finding->comm->key
							     : at->finding->comm_key))
ITEM(finding_operation,
     tap_export_text(at->finding->operation ? at->finding->operation->name : NULL))
ITEM(finding_op_number, tap_export_not_zero(at->finding->op_number))
ITEM(finding_rank, tap_export_not_negative(at->rank))
ITEM(finding_evidence, tap_export_text(at->evidence ? at->evidence->name : NULL))
ITEM(finding_value,
     tap_export_number_if(at->evidence, at->evidence ? at->evidence->value : 0))
ITEM(finding_known,
     tap_export_text(at->evidence ? tap_known_name(at->evidence->known) : NULL))
ITEM(finding_headline, tap_export_text(at->headline))
ITEM(finding_detail, tap_export_text(at->detail))
ITEM(finding_rules_out, tap_export_text(at->rules_out))
ITEM(finding_next, tap_export_text(at->next))

static const struct tap_export_column finding_columns[] = {
	VALUE("finding", INTEGER, finding_number),
	VALUE("item", TEXT, finding_item),
	VALUE("kind", TEXT, finding_kind),
	VALUE("severity", TEXT, finding_severity),
	VALUE("time_ns", INTEGER, finding_time_ns),
	VALUE("cost_ns", INTEGER, finding_cost_ns),
	VALUE("comm_key", INTEGER, finding_comm_key),
	VALUE("name", TEXT, finding_operation),
	VALUE("op_number", INTEGER, finding_op_number),
	VALUE("rank", INTEGER, finding_rank),
	VALUE("evidence", TEXT, finding_evidence),
	VALUE("value", INTEGER, finding_value),
	VALUE("known", TEXT, finding_known),
	VALUE("headline", TEXT, finding_headline),
	VALUE("detail", TEXT, finding_detail),
	VALUE("rules_out", TEXT, finding_rules_out),
	VALUE("next", TEXT, finding_next),
	END,
};

#define LOSS(function, expression) ROW(function, struct tap_export_loss, at, expression)
LOSS(loss_counter, tap_export_text(at->counter))
LOSS(loss_stream, tap_export_text(at->stream))
LOSS(loss_value, tap_export_number(at->value))

static const struct tap_export_column loss_columns[] = {
	VALUE("counter", TEXT, loss_counter),
	VALUE("stream", TEXT, loss_stream),
	VALUE("value", INTEGER, loss_value),
	END,
};

const struct tap_export_table tap_export_tables[TAP_EXPORT_TABLES] = {
	[TAP_EXPORT_PROCESS] = {"process", process_columns},
	[TAP_EXPORT_COMMUNICATOR] = {"communicator", communicator_columns},
	[TAP_EXPORT_CONNECTION] = {"connection", connection_columns},
	[TAP_EXPORT_OPERATION] = {"operation", operation_columns},
	[TAP_EXPORT_CALL] = {"call", tap_export_call},
	[TAP_EXPORT_LAUNCH] = {"launch", tap_export_launch},
	[TAP_EXPORT_KERNEL] = {"kernel", tap_export_kernel},
	[TAP_EXPORT_MESSAGE] = {"message", tap_export_message},
	[TAP_EXPORT_REQUEST] = {"request", tap_export_request},
	[TAP_EXPORT_PROXY] = {"proxy", tap_export_proxy},
	[TAP_EXPORT_LINK] = {"link", link_columns},
	[TAP_EXPORT_SAMPLE] = {"sample", sample_columns},
	[TAP_EXPORT_FINDING] = {"finding", finding_columns},
	[TAP_EXPORT_LOSS] = {"loss", loss_columns},
};
