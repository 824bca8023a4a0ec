/* SPDX-License-Identifier: MIT */
/* For each kind of part a table: the interface's names, and those of our spans. */
#include "join/views/tree_fields.h"

#include "join/model/profiler.h"

#include <string.h>

/* A field and what it is called in the span: first of its call, then of its return. */
struct known_as {
	const char *name, *ours;
};

static const struct known_as call_names[] = {{"count", "count"},
					     {"count", "sendcount"},
					     {"count", "recvcount"},
					     {"datatype", "datatype"},
					     {"root", "root"},
					     {"peer", "peer"},
					     {"stream", "stream"},
					     {"userTag", "config_userProfilerTag"},
					     {0}};
static const struct known_as coll_names[] = {{"sendBuff", "sendbuff"},
					     {"recvBuff", "recvbuff"},
					     {"recvBuff", "buff"},
					     {"count", "count"},
					     {"count", "sendcount"},
					     {"count", "recvcount"},
					     {"root", "root"},
					     {"datatype", "datatype"},
					     {"userTag", "config_userProfilerTag"},
					     {0}};
static const struct known_as p2p_names[] = {
	{"buff", "sendbuff"},	  {"buff", "recvbuff"}, {"count", "count"},
	{"datatype", "datatype"}, {"peer", "peer"},	{0}};
static const struct known_as kernel_names[] = {{"nChannels", "channels"},
					       {"algo", "algorithm"},
					       {"proto", "protocol"},
					       {0}};
static const struct known_as launch_names[] = {{"stream", "hStream"},
					       {"stream", "stream"},
					       {"numOps", "count"},
					       {"totalBytes", "sizes_bytes"},
					       {0}};
static const struct known_as run_names[] = {
	{"function", "function"}, {"device", "device"},	    {"stream", "stream"},
	{"channels", "channels"}, {"queue_ns", "queue_ns"}, {0}};
static const struct known_as proxy_names[] = {
	{"channelId", "channelId"}, {"peer", "peer"},
	{"nSteps", "nSteps"},	    {"chunkSize", "largest"},
	{"isSend", "isSend"},	    {"transSize", "transSize"},
	{"net_id", "net_id"},	    {0}};
static const struct known_as step_names[] = {{"transSize", "bytes"},
					     {"request", "request"},
					     {"parts", "parts"},
					     {"transport", "transport"},
					     {"SendPeerWait_max_ns", "wait_max_ns"},
					     {"SendPeerWait_known", "wait_known"},
					     {0}};
static const struct known_as request_names[] = {
	{"opcode", NULL},	  {"wr_id", "wr_id"},
	{"qpNum", "qp_num"},	  {"length", "bytes"},
	{"imm_data", "imm_data"}, {"remote_addr", "remote_addr"},
	{"rkey", "rkey"},	  {"net", "net"},
	{"status", "status"},	  {0}};

static void copy_field(struct tap_fields *to, const char *name,
		       const struct tap_fields *from, const struct tap_field *field)
{
	struct tap_field *copy;

	if (field->kind == TAP_FIELD_STRING) {
		tap_fields_add_text(to, name, tap_fields_string(from, field));
		return;
	}
	if (field->kind == TAP_FIELD_ARRAY)
		return;
	copy = tap_fields_add(to, name, field->kind);
	if (!copy)
		return;
	copy->label = field->label;
	copy->is_hex = field->is_hex;
	copy->value = field->value;
}

static void copy_all(struct tap_fields *to, const struct tap_span *span,
		     const struct known_as *names)
{
	const struct tap_field *field;

	for (; names->name; names++) {
		if (!names->ours)
			continue;
		field = tap_fields_find(&span->entry, names->ours);
		if (field) {
			copy_field(to, names->name, &span->entry, field);
			continue;
		}
		field = tap_fields_find(&span->exit, names->ours);
		if (field)
			copy_field(to, names->name, &span->exit, field);
	}
}

/* NCCL's name of a function, "AllReduce". */
static const char *function_of(const struct tap_span *span)
{
	const char *name = span->name->operation->name;

	return strncmp(name, "nccl", 4) ? name : name + 4;
}

/* capture is 0 for none, 1 for one, below 0 unknown. */
static void add_captured(struct tap_fields *to, const struct tap_span *span)
{
	int64_t capture;

	if (!tap_fields_get_signed(&span->entry, "capture", &capture) && capture >= 0)
		tap_fields_add_unsigned(to, "graphCaptured", capture > 0);
}

static const struct tap_tree_part *first_of(const struct tap_tree_part *part,
					    enum tap_tree_kind kind)
{
	const struct tap_tree_part *below = part->below.first;

	while (below && below->kind != kind)
		below = below->among.after;
	return below;
}

static void add_group(const struct tap_tree_part *part, struct tap_fields *fields)
{
	const struct tap_tree_part *call = first_of(part, TAP_TREE_CALL);

	if (!call)
		return;
	add_captured(fields, call->span);
	/* NCCL looks in the first call, which is a group of its own inside. */
	tap_fields_add_unsigned(fields, "groupDepth",
				tap_fields_number(&call->span->entry, "group_depth") + 1);
}

static void add_call(const struct tap_tree_part *part, struct tap_fields *fields)
{
	const struct tap_span *span = part->span;

	tap_fields_add_text(fields, "func", function_of(span));
	copy_all(fields, span, call_names);
	add_captured(fields, span);
	tap_fields_add_unsigned(fields, "op_number", span->operation.number);
}

static void add_kernel(const struct tap_tree_part *part, struct tap_fields *fields)
{
	const struct tap_tree_part *run = first_of(part, TAP_TREE_RUN);
	const char *kind;
	uint64_t block;

	if (!run)
		return;
	copy_all(fields, run->span, kernel_names);
	if (!tap_fields_get_unsigned(&run->span->entry, "blockX", &block) && block)
		tap_fields_add_unsigned(fields, "nWarps", block / 32);
	kind = tap_fields_get_string(&run->span->entry, "kernel_kind");
	if (kind)
		tap_fields_add_unsigned(fields, "isSymColl", !strcmp(kind, "symmetric"));
}

static void add_coll(const struct tap_tree_part *part, struct tap_fields *fields)
{
	if (part->span) {
		tap_fields_add_text(fields, "func", function_of(part->span));
		copy_all(fields, part->span,
			 part->span->name->kind == TAP_NAME_COLLECTIVE ? coll_names
								       : p2p_names);
	} else {
		tap_fields_add_unsigned(fields, "operations", part->calls);
	}
	add_kernel(part, fields);
}

/* Between spans of one process. */
static void add_since(struct tap_fields *fields, const char *name, int64_t from_ns,
		      int64_t to_ns)
{
	if (from_ns >= 0 && to_ns >= from_ns)
		tap_fields_add_unsigned(fields, name, (uint64_t) (to_ns - from_ns));
}

/* The states that a message passes through, as far as they can be had. */
static void add_step(const struct tap_tree_part *part, struct tap_fields *fields)
{
	const bool is_send = part->span && part->span->work.kind == TAP_WORK_NET_SEND;
	const int64_t begin_ns = tap_tree_begin_ns(part), end_ns = tap_tree_end_ns(part);

	if (part->parent)
		tap_fields_add_unsigned(fields, "step", part->place);
	if (!part->span)
		return;
	copy_all(fields, part->span, step_names);
	add_since(fields, is_send ? "SendWait_ns" : "RecvWait_ns", begin_ns, end_ns);
	if (part->flush)
		add_since(fields, "RecvFlushWait_ns", end_ns,
			  tap_tree_end_ns(part->flush));
}

void tap_tree_fields(const struct tap_tree_part *part, struct tap_fields *fields)
{
	switch (part->kind) {
	case TAP_TREE_GROUP:
		add_group(part, fields);
		return;
	case TAP_TREE_CALL:
		add_call(part, fields);
		return;
	case TAP_TREE_COLL:
		add_coll(part, fields);
		return;
	case TAP_TREE_LAUNCH:
		copy_all(fields, part->span, launch_names);
		return;
	case TAP_TREE_RUN:
		copy_all(fields, part->span, run_names);
		return;
	case TAP_TREE_PROXY_OP:
		if (part->process->pid >= 0)
			tap_fields_add_unsigned(fields, "pid",
						(uint64_t) part->process->pid);
		copy_all(fields, part->span, proxy_names);
		return;
	case TAP_TREE_STEP:
		add_step(part, fields);
		return;
	case TAP_TREE_REQUEST:
		if (!part->span)
			return;
		tap_fields_add_text(fields, "opcode", part->span->name->name);
		copy_all(fields, part->span, request_names);
		return;
	}
}

const char *tap_tree_event(const struct tap_tree_part *part)
{
	switch (part->kind) {
	case TAP_TREE_GROUP:
		return "GroupApi";
	case TAP_TREE_COLL:
		return part->is_messages ? "P2p" : "Coll";
	case TAP_TREE_STEP:
		return "ProxyStep";
	case TAP_TREE_REQUEST:
		return "NetPlugin";
	default:
		return tap_profiler_event(part->span);
	}
}
