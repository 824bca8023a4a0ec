/* SPDX-License-Identifier: MIT */
/*
 * The view for programs: one JSON object per line, as ccltap-jsonl(5) describes.
 *
 * Spans are written when they end, so that none is held.  The first line has the losses,
 * which are known last: a file keeps room for it; where somebody reads while it is
 * written, the first line lacks them, and comes once more at the end.
 */
#include "join/model/comm.h"
#include "join/model/link.h"
#include "join/model/nccl_connection.h"
#include "join/model/nccl_thread.h"
#include "join/model/profiler.h"
#include "join/model/work.h"
#include "join/views/filtered.h"
#include "join/views/stack.h"
#include "join/views/view.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Counts in the first line; each may grow from one digit to twenty. */
#define LOSS_COUNTS 19
#define FILTER_COUNTS 2

/* The prefix of the fields of a communicator's configuration. */
#define CONFIG "config_"

struct jsonl {
	struct tap_view view;
	struct tap_json json;
	bool has_begun;
};

/* loss NULL: it is not known yet. */
static void add_trace_line(struct jsonl *jsonl, const struct tap_loss *loss)
{
	struct tap_json *json = &jsonl->json;

	tap_json_open(json, NULL, '{');
	tap_json_string(json, "type", "trace");
	tap_json_unsigned(json, "schema", TAP_VIEW_SCHEMA);
	tap_view_add_hosts_json(json, jsonl->view.context);
	tap_json_string(json, "time_base", "unix-epoch-ns");
	tap_view_add_snapshots_json(json, jsonl->view.context);
	/* In a pipe, what the end shows is in the last line. */
	if (loss) {
		tap_filtered_add_json(json, &jsonl->view);
		tap_view_add_loss_json(json, loss, false);
	} else {
		tap_json_null(json, "loss");
	}
	tap_json_end_line(json, &jsonl->view.line);
}

/*
 * Writes the first line.  Every trace is known before the first event, except from a live
 * source; so the line can grow only by the digits of its counts.
 */
static int begin(struct jsonl *jsonl)
{
	static const struct tap_loss none;
	struct tap_view *view = &jsonl->view;
	struct tap_buffer *line = &view->line;
	size_t room;

	if (jsonl->has_begun)
		return 0;
	jsonl->has_begun = true;
	if (tap_outfile_is_streamed(view->output)) {
		tap_outfile_begin_headless(view->output);
		add_trace_line(jsonl, NULL);
		return tap_outfile_write(view->output, line);
	}
	add_trace_line(jsonl, &none);
	room = line->used + LOSS_COUNTS * 20;
	if (view->filters)
		room += FILTER_COUNTS * 20;
	if (line->is_short)
		return -ENOMEM;
	line->used = 0;
	return tap_outfile_begin(view->output, room, true);
}

static void add_who(struct tap_json *json, const struct tap_process *process)
{
	tap_json_unsigned(json, "process", process->number);
	tap_json_string(json, "host", process->host);
	tap_json_not_negative(json, "pid", process->pid);
}

static int start_line(struct jsonl *jsonl, const char *type)
{
	int ret = begin(jsonl);

	if (ret)
		return ret;
	tap_json_open(&jsonl->json, NULL, '{');
	tap_json_string(&jsonl->json, "type", type);
	return 0;
}

static int end_line(struct jsonl *jsonl)
{
	struct tap_view *view = &jsonl->view;

	tap_json_end_line(&jsonl->json, &view->line);
	return tap_outfile_write(view->output, &view->line);
}

/* The id of a call, which no other span of the trace has, except in a damaged trace. */
static void add_id(struct tap_json *json, const char *name,
		   const struct tap_process *process, uint64_t call_id)
{
	tap_buffer_add_unsigned(&json->text, process->number);
	tap_buffer_add_char(&json->text, '.');
	tap_buffer_add_unsigned(&json->text, call_id);
	tap_json_text(json, name);
}

/* The id of a span, which may be a work request. */
static void add_span_id(struct tap_json *json, const char *name,
			const struct tap_process *process, const struct tap_work *work,
			uint64_t call_id)
{
	if (!work->kind) {
		add_id(json, name, process, call_id);
		return;
	}
	tap_work_add_id(&json->text, process, work);
	tap_json_text(json, name);
}

static void add_row(struct tap_json *json, const struct tap_span *span)
{
	const int64_t tid = span->tid;

	if (span->work.kind) {
		tap_work_add_row(&json->text, &span->work);
		tap_json_text(json, "row");
		return;
	}
	tap_buffer_add_string(&json->text, "thread ");
	if (tid < 0)
		tap_buffer_add_char(&json->text, '?');
	else
		tap_buffer_add_signed(&json->text, tid);
	tap_json_text(json, "row");
}

static void add_number(struct tap_json *json, const char *name, uint64_t number)
{
	if (number)
		tap_json_unsigned(json, name, number);
	else
		tap_json_null(json, name);
}

/*
 * The operation: its number, what the number counts, and a key that no other operation
 * has.
 */
static void add_op(struct tap_json *json, const struct tap_name *name,
		   const struct tap_member *member, int64_t peer, uint64_t number)
{
	add_number(json, "op_number", number);
	if (!number)
		return;
	tap_json_string(json, "op_kind", tap_operation_kind(name));
	tap_operation_add_key(&json->text, name, member ? member->rank : -1, peer,
			      number);
	if (json->text.used)
		tap_json_text(json, "op_key");
	else
		tap_json_null(json, "op_key");
}

/* An open call: the call, its thread, and its operation. */
static void add_open_call(struct tap_json *json, const struct tap_open_call *call)
{
	const struct tap_member *member = call->member;

	tap_json_not_negative(json, "tid", call->tid);
	tap_json_string(json, "name", call->name->name);
	if (call->call_id)
		add_id(json, "id", call->process, call->call_id);
	else
		tap_json_null(json, "id");
	add_number(json, "call_id", call->call_id);
	add_number(json, "comm_id", call->comm_id);
	tap_json_key(json, "comm_key",
		     member ? tap_member_comm(member)->key : call->comm_key);
	tap_json_not_negative(json, "comm_rank", member ? member->rank : -1);
	add_op(json, call->name, member, call->peer, call->op_number);
}

static void add_end_state(struct tap_json *json, const struct tap_end_state *end_state)
{
	static const char *const ends[] = {
		[TAP_END_EXIT] = "exit", [TAP_END_REPLACED] = "replaced"};

	tap_json_open(json, "end", '{');
	tap_json_string(json, "seen", ends[end_state->end]);
	if (end_state->end == TAP_END_NOT_SEEN)
		tap_json_null(json, "end_ns");
	else
		tap_json_signed(json, "end_ns", end_state->end_ns);
	tap_json_signed(json, "last_seen_ns", end_state->seen_ns);
	tap_json_unsigned(json, "open_calls", end_state->count);
	if (end_state->last.name) {
		tap_json_open(json, "last_call", '{');
		add_open_call(json, &end_state->last);
		tap_json_signed(json, "end_ns", end_state->last.end_ns);
		tap_json_close(json);
	} else {
		tap_json_null(json, "last_call");
	}
	tap_json_close(json);
}

static int write_about(struct jsonl *jsonl, const struct tap_process *process,
		       const struct tap_end_state *end_state)
{
	/* Fields written separately, so that they are always present. */
	static const char *const done[] = {"host",    "pid",	 "rank", "world_size",
					   "command", "process", "type", "end"};
	struct tap_json *json = &jsonl->json;
	const struct tap_fields *about = &process->about;
	int64_t world_size = -1;
	size_t i, j;
	int ret;

	ret = start_line(jsonl, "process");
	if (ret)
		return ret;
	add_who(json, process);
	tap_json_not_negative(json, "rank", process->rank);
	tap_fields_get_signed(about, "world_size", &world_size);
	tap_json_not_negative(json, "world_size", world_size);
	tap_json_string(json, "command", tap_fields_get_string(about, "command"));
	for (i = 0; i < about->count; i++) {
		const struct tap_field *field = &about->list[i];

		for (j = 0; j < sizeof(done) / sizeof(done[0]); j++)
			if (!strcmp(field->name, done[j]))
				break;
		if (j < sizeof(done) / sizeof(done[0]))
			continue;
		if (!strcmp(field->name, "local_rank") && field->kind == TAP_FIELD_SIGNED)
			tap_json_not_negative(json, field->name, field->value.i);
		else
			tap_json_field(json, about, field);
	}
	if (end_state)
		add_end_state(json, end_state);
	return end_line(jsonl);
}

static int write_process(void *data, const struct tap_process *process)
{
	return write_about(data, process, NULL);
}

static int write_open(struct jsonl *jsonl, const struct tap_open_call *call,
		      int64_t seen_ns)
{
	struct tap_json *json = &jsonl->json;
	int ret;

	ret = start_line(jsonl, "open");
	if (ret)
		return ret;
	add_who(json, call->process);
	tap_json_not_negative(json, "rank", call->process->rank);
	add_open_call(json, call);
	tap_json_bool(json, "begun_before", call->is_begun_before);
	if (call->is_begun_before)
		tap_json_null(json, "begin_ns");
	else
		tap_json_signed(json, "begin_ns", call->begin_ns);
	tap_json_signed(json, "min_ns", call->min_ns);
	tap_json_signed(json, "last_seen_ns", seen_ns);
	return end_line(jsonl);
}

/* Repeats the description of the process, now that its end is known. */
static int write_end_state(void *data, const struct tap_end_state *end_state)
{
	struct jsonl *jsonl = data;
	size_t i;
	int ret = write_about(jsonl, end_state->process, end_state);

	for (i = 0; !ret && i < end_state->count; i++)
		ret = write_open(jsonl, &end_state->calls[i], end_state->seen_ns);
	return ret;
}

static int write_library(void *data, const struct tap_process *process,
			 const struct tap_library *library)
{
	struct jsonl *jsonl = data;
	struct tap_json *json = &jsonl->json;
	int ret;

	ret = start_line(jsonl, "library");
	if (ret)
		return ret;
	add_who(json, process);
	tap_json_unsigned(json, "library_id", library->number);
	tap_json_string(json, "path", library->path);
	tap_json_hex(json, "base", library->base);
	tap_json_string(json, "build_id", library->build_id);
	tap_json_string(json, "layer", library->layer);
	return end_line(jsonl);
}

static int write_problem(void *data, const struct tap_problem *problem)
{
	struct jsonl *jsonl = data;
	struct tap_json *json = &jsonl->json;
	int ret;

	ret = start_line(jsonl, "problem");
	if (ret)
		return ret;
	add_who(json, problem->process);
	tap_json_signed(json, "time_ns", problem->time_ns);
	tap_json_string(json, "what", problem->what);
	tap_json_string(json, "detail", problem->detail);
	tap_json_unsigned(json, "count", problem->count);
	return end_line(jsonl);
}

/* "counters":[{"name":"link_downed","value":3,"growth":1}] */
static void add_counters(struct tap_json *json, const struct tap_sampled *sample)
{
	const char *name = sample->names;
	size_t i, length;

	tap_json_open(json, "counters", '[');
	for (i = 0; i < sample->count; i++, name += length + (name[length] == ',')) {
		length = strcspn(name, ",");
		tap_json_open(json, NULL, '{');
		tap_buffer_add(&json->text, name, length);
		tap_json_text(json, "name");
		tap_json_unsigned(json, "value", sample->values[i]);
		tap_json_unsigned(json, "growth", sample->growth[i]);
		tap_json_close(json);
	}
	tap_json_close(json);
}

static int write_sample(void *data, const struct tap_sampled *sample)
{
	struct jsonl *jsonl = data;
	struct tap_json *json = &jsonl->json;
	int ret;

	ret = start_line(jsonl, "sample");
	if (ret)
		return ret;
	add_who(json, sample->process);
	tap_json_signed(json, "time_ns", sample->time_ns);
	tap_json_string(json, "source", sample->source);
	tap_json_string(json, "subject", sample->subject);
	tap_json_string(json, "state", sample->state);
	tap_json_not_negative(json, "tid", sample->tid);
	if (sample->interval_ns)
		tap_json_unsigned(json, "interval_ns", sample->interval_ns);
	else
		tap_json_null(json, "interval_ns");
	add_counters(json, sample);
	return end_line(jsonl);
}

/* The values of a communicator's configuration that the program set. */
static void add_config(struct tap_json *json, const struct tap_fields *about)
{
	size_t i;

	tap_json_open(json, "config", '{');
	for (i = 0; i < about->count; i++) {
		struct tap_field field = about->list[i];

		if (strncmp(field.name, CONFIG, strlen(CONFIG)))
			continue;
		field.name += strlen(CONFIG);
		if (field.kind == TAP_FIELD_STRING ? !field.value.data.length
						   : field.value.i == INT_MIN)
			continue;
		tap_json_field(json, about, &field);
	}
	tap_json_close(json);
}

static int write_communicator(void *data, const struct tap_member *member)
{
	/* Values that may be unknown: a number from 1, a key, a number from 0. */
	static const struct {
		const char *name;
		enum { FROM_ONE, KEY, FROM_ZERO } kind;
	} known[] = {
		{"comm_key", KEY},
		{"alias_key", KEY},
		{"call_id", FROM_ONE},
		{"library_id", FROM_ONE},
		{"parent_comm_id", FROM_ONE},
		{"ordinal", FROM_ONE},
		{"color", FROM_ZERO},
		{"nranks", FROM_ZERO},
		{"rank", FROM_ZERO},
		{"device", FROM_ZERO},
	};
	struct jsonl *jsonl = data;
	struct tap_json *json = &jsonl->json;
	const struct tap_fields *about = &member->about;
	size_t i, j, count = sizeof(known) / sizeof(known[0]);
	int ret;

	ret = start_line(jsonl, "communicator");
	if (ret)
		return ret;
	add_who(json, member->process);
	for (i = 0; i < about->count; i++) {
		const struct tap_field *field = &about->list[i];

		if (!strncmp(field->name, CONFIG, strlen(CONFIG)))
			continue;
		for (j = 0; j < count && strcmp(field->name, known[j].name); j++)
			;
		if (j < count &&
		    (known[j].kind == FROM_ZERO
			     ? field->kind == TAP_FIELD_SIGNED && field->value.i < 0
			     : !field->value.u))
			tap_json_null(json, field->name);
		else if (strcmp(field->name, "process") && strcmp(field->name, "host") &&
			 strcmp(field->name, "pid") && strcmp(field->name, "type"))
			tap_json_field(json, about, field);
	}
	add_config(json, about);
	return end_line(jsonl);
}

static int write_thread(void *data, const struct tap_thread_state *thread)
{
	const struct tap_member *member = thread->member;
	struct jsonl *jsonl = data;
	struct tap_json *json = &jsonl->json;
	int ret;

	ret = start_line(jsonl, "thread");
	if (ret)
		return ret;
	add_who(json, thread->process);
	tap_json_not_negative(json, "tid", thread->tid);
	tap_json_signed(json, "time_ns", thread->time_ns);
	tap_json_string(json, "name", thread->name->name);
	add_number(json, "call_id", thread->call_id);
	add_number(json, "group_id", thread->group_id);
	add_number(json, "comm_id", thread->comm_id);
	tap_json_key(json, "comm_key",
		     member ? tap_member_comm(member)->key : thread->comm_key);
	tap_json_not_negative(json, "comm_rank", member ? member->rank : -1);
	add_op(json, thread->name, member, -1, thread->op_number);
	tap_json_signed(json, "min_ns", thread->min_ns);
	return end_line(jsonl);
}

/* The end of a span, or of a link's effect; or its upper bound. */
static void add_end(struct tap_json *json, bool is_known, bool is_bound, int64_t end_ns)
{
	if (is_known && !is_bound)
		tap_json_signed(json, "end_ns", end_ns);
	else
		tap_json_null(json, "end_ns");
	if (is_known && is_bound)
		tap_json_signed(json, "end_max_ns", end_ns);
}

static void add_known(struct tap_json *json, const char *name, bool is_known,
		      enum tap_known known)
{
	if (is_known)
		tap_json_string(json, name, tap_known_name(known));
	else
		tap_json_null(json, name);
}

/* A thread that NCCL made for itself, when it has ended or the trace has. */
static int write_nccl_thread(void *data, const struct tap_nccl_thread *thread)
{
	const struct tap_member *member = thread->member;
	struct jsonl *jsonl = data;
	struct tap_json *json = &jsonl->json;
	int ret;

	ret = start_line(jsonl, "nccl_thread");
	if (ret)
		return ret;
	add_who(json, thread->process);
	tap_json_not_negative(json, "tid", thread->tid);
	tap_json_string(json, "role", tap_thread_role_name(thread->role));
	if (thread->how) {
		tap_json_string(json, "known",
				tap_known_name(tap_thread_known(thread->how)));
		tap_json_string(json, "how", tap_thread_how_name(thread->how));
	} else {
		tap_json_null(json, "known");
		tap_json_null(json, "how");
	}
	tap_json_signed(json, "begin_ns", thread->begin_ns);
	tap_json_bool(json, "is_begun_before", thread->is_late);
	add_end(json, thread->is_over, false, thread->end_ns);
	tap_json_not_negative(json, "creator_tid", thread->creator);
	tap_json_bool(json, "creator_is_nccls", thread->creator_is_nccls);
	if (thread->call_id)
		add_id(json, "call", thread->process, thread->call_id);
	else
		tap_json_null(json, "call");
	if (thread->call)
		tap_json_string(json, "function", thread->call->name);
	else
		tap_json_null(json, "function");
	add_number(json, "comm_id", thread->comm_id);
	tap_json_key(json, "comm_key", member ? tap_member_comm(member)->key : 0);
	tap_json_not_negative(json, "comm_rank", member ? member->rank : -1);
	add_known(json, "comm_known", thread->comm_id, thread->comm_known);
	tap_json_unsigned(json, "comms_of_call", thread->comm_count);
	add_number(json, "routine_library", thread->routine_library);
	tap_json_unsigned(json, "routine_offset", thread->routine_offset);
	tap_json_key(json, "argument", thread->argument);
	tap_json_bool(json, "asleep", thread->is_asleep);
	tap_json_unsigned(json, "sleeps", thread->sleeps);
	tap_json_signed(json, "asleep_ns", thread->asleep_ns);
	tap_json_unsigned(json, "yields", thread->yields);
	return end_line(jsonl);
}

/* One end of a connection of NCCL's. */
static int write_connection(void *data, const struct tap_nccl_connection *connection)
{
	const struct tap_member *member = connection->member;
	struct jsonl *jsonl = data;
	struct tap_json *json = &jsonl->json;
	const bool is_known = connection->channel >= 0 || connection->peer_rank >= 0 ||
			      connection->index >= 0;
	int ret;

	ret = start_line(jsonl, "connection");
	if (ret)
		return ret;
	add_who(json, connection->process);
	add_number(json, "net_id", connection->net_id);
	tap_json_string(json, "transport",
			tap_nccl_transport_name(connection->transport));
	tap_json_string(json, "direction", connection->is_send ? "send" : "receive");
	tap_json_not_negative(json, "peer_process",
			      connection->peer ? (int64_t) connection->peer->number : -1);
	add_number(json, "peer_net_id", connection->peer_net_id);
	add_number(json, "comm_id", member ? member->comm_id : 0);
	tap_json_key(json, "comm_key", member ? tap_member_comm(member)->key : 0);
	add_known(json, "comm_known", member, connection->member_known);
	tap_json_not_negative(json, "rank", connection->rank);
	tap_json_not_negative(json, "peer_rank", connection->peer_rank);
	tap_json_not_negative(json, "channel", connection->channel);
	tap_json_not_negative(json, "connection_index", connection->index);
	add_known(json, "known", is_known, connection->known);
	if (connection->why)
		tap_json_string(json, "why", tap_why_name(connection->why));
	tap_json_unsigned(json, "messages", connection->messages);
	return end_line(jsonl);
}

/*
 * A link without communicator: of work requests, from the cause's beginning to when the
 * effect was read; of a launch, to the launch's beginning.
 */
/* Of a link between hosts, how far its times can be compared; null: not at all. */
static void add_uncertainty(struct tap_json *json, const struct tap_link *link)
{
	const int64_t uncertainty_ns = tap_link_uncertainty_ns(link);

	if (uncertainty_ns)
		tap_json_not_negative(json, "uncertainty_ns", uncertainty_ns);
}

/* The operation of the kernels that a message served, unless they have several. */
static void add_served(struct tap_json *json, const struct tap_link *link)
{
	tap_json_key(json, "comm_key", tap_link_comm_key(link));
	if (link->op_number) {
		tap_json_unsigned(json, "op_number", link->op_number);
		tap_link_add_op_key(&json->text, link);
		tap_json_text(json, "op_key");
	}
	tap_json_unsigned(json, "bytes", link->bytes);
	tap_json_not_negative(json, "channel", link->channel);
	tap_json_not_negative(json, "step", link->step);
}

static int write_work_link(struct jsonl *jsonl, const struct tap_link *link)
{
	struct tap_json *json = &jsonl->json;
	size_t i;

	if (link->why)
		tap_json_string(json, "why", tap_why_name(link->why));
	tap_json_string(json, "name", link->operation->name);
	tap_json_signed(json, "begin_ns", link->begin_ns);
	add_end(json, true, link->is_end_bound, link->end_ns);
	if (link->kind == TAP_LINK_MESSAGE_KERNEL)
		add_served(json, link);
	tap_json_open(json, "spans", '[');
	for (i = 0; i < link->count; i++)
		add_span_id(json, NULL, link->ends[i].process, &link->ends[i].work,
			    link->ends[i].call_id);
	tap_json_close(json);
	return end_line(jsonl);
}

static int write_link(void *data, const struct tap_link *link)
{
	struct jsonl *jsonl = data;
	struct tap_json *json = &jsonl->json;
	size_t i;
	int ret;

	ret = start_line(jsonl, "link");
	if (ret)
		return ret;
	tap_json_string(json, "kind", tap_link_kind_name(link->kind));
	tap_json_string(json, "known", tap_known_name(link->known));
	tap_json_bool(json, "directed",
		      link->kind != TAP_LINK_COLLECTIVE_RANKS &&
			      link->kind != TAP_LINK_KERNEL_COLLECTIVE);
	add_uncertainty(json, link);
	if (!link->comm)
		return write_work_link(jsonl, link);
	tap_json_key(json, "comm_key", link->comm->key);
	tap_json_unsigned(json, "op_number", link->op_number);
	tap_link_add_op_key(&json->text, link);
	tap_json_text(json, "op_key");
	tap_json_string(json, "name", link->operation ? link->operation->name : NULL);
	if (link->is_mismatch)
		tap_json_bool(json, "mismatch", true);
	tap_json_not_negative(json, "nranks", link->nranks);
	tap_json_open(json, "spans", '[');
	for (i = 0; i < link->count; i++)
		add_id(json, NULL, link->ends[i].process, link->ends[i].call_id);
	tap_json_close(json);
	tap_json_open(json, "ranks", '[');
	for (i = 0; i < link->count; i++)
		tap_json_not_negative(json, NULL, link->ends[i].rank);
	tap_json_close(json);
	return end_line(jsonl);
}

static void add_operation(struct tap_json *json, const struct tap_span *span)
{
	const struct tap_operation *operation = &span->operation;
	const struct tap_member *member = span->member;

	add_number(json, "comm_id", operation->comm_id);
	tap_json_key(json, "comm_key",
		     member ? tap_member_comm(member)->key : operation->comm_key);
	tap_json_not_negative(json, "comm_rank", member ? member->rank : -1);
	/* Work on a GPU has the operation of a call. */
	add_op(json, span->gpu.call ? span->gpu.call : span->name, member,
	       operation->peer, operation->number);
	add_number(json, "group_id", operation->group_id);
}

/* The result is a member of its own: an argument may have the same name. */
static void add_fields(struct tap_json *json, const struct tap_span *span,
		       const struct tap_field *result)
{
	const struct tap_fields *entry = &span->entry, *exit = &span->exit;
	size_t i;

	tap_json_open(json, "fields", '{');
	for (i = 0; i < entry->count; i++) {
		const struct tap_field *after =
			tap_fields_find_headed(exit, entry->list[i].name,
					       entry->list[i].head);

		if (!after || after == result)
			tap_json_field(json, entry, &entry->list[i]);
	}
	for (i = 0; i < exit->count; i++)
		if (&exit->list[i] != result)
			tap_json_field(json, exit, &exit->list[i]);
	tap_json_close(json);
}

static int write_span(void *data, struct tap_span *span)
{
	struct jsonl *jsonl = data;
	const struct tap_field *result = tap_span_result(span);
	struct tap_json *json = &jsonl->json;
	bool has_end =
		span->state == TAP_SPAN_COMPLETE || span->state == TAP_SPAN_BEGIN_LOST;
	int ret;

	ret = start_line(jsonl, "span");
	if (ret)
		return ret;
	add_span_id(json, "id", span->process, &span->work, span->call_id);
	if (span->parent_id)
		add_id(json, "parent", span->process, span->parent_id);
	else
		tap_json_null(json, "parent");
	tap_json_string(json, "layer", span->name->layer);
	tap_json_string(json, "name", span->name->name);
	if (tap_profiler_event(span))
		tap_json_string(json, "nccl_event", tap_profiler_event(span));
	add_who(json, span->process);
	tap_json_not_negative(json, "tid", span->tid);
	add_row(json, span);
	if (span->state == TAP_SPAN_BEGIN_LOST)
		tap_json_null(json, "begin_ns");
	else
		tap_json_signed(json, "begin_ns", span->begin_ns);
	add_end(json, has_end, span->is_end_bound, span->end_ns);
	tap_json_string(json, "state", tap_span_state_name(span->state));
	if (span->caller_number) {
		tap_view_add_caller(&json->text, span->caller, span->caller_number,
				    span->caller_offset);
		tap_json_text(json, "caller");
	} else {
		tap_json_null(json, "caller");
	}
	tap_json_unsigned(json, "caller_library", span->caller_number);
	tap_json_bool(json, "inner", span->is_inner);
	if (span->is_from_nvtx)
		tap_json_string(json, "known_by", "nvtx");
	if (span->work.kind)
		tap_json_null(json, "call_id");
	else
		tap_json_unsigned(json, "call_id", span->call_id);
	if (jsonl->view.symbols) {
		ret = tap_stack_add_json(json, jsonl->view.symbols, span->process,
					 span->stack);
		if (ret)
			return ret;
	}
	add_operation(json, span);
	if (result) {
		struct tap_field renamed = *result;

		renamed.name = "result";
		tap_json_field(json, &span->exit, &renamed);
	} else {
		tap_json_null(json, "result");
	}
	add_fields(json, span, result);
	return end_line(jsonl);
}

/* Writes the modules, which are known when all places have been looked up. */
static int write_modules(struct jsonl *jsonl)
{
	const struct tap_module *module;
	int ret = 0;

	if (!jsonl->view.symbols)
		return 0;
	for (module = tap_symbols_modules(jsonl->view.symbols); !ret && module;
	     module = module->next) {
		ret = start_line(jsonl, "module");
		if (ret)
			break;
		tap_stack_add_module_json(&jsonl->json, module);
		ret = end_line(jsonl);
	}
	return ret;
}

static int finish(void *data, const struct tap_loss *loss)
{
	struct jsonl *jsonl = data;
	struct tap_view *view = &jsonl->view;
	int ret = begin(jsonl);

	if (!ret)
		ret = write_modules(jsonl);
	if (ret)
		return ret;
	add_trace_line(jsonl, loss);
	return tap_outfile_finish(view->output, &view->line);
}

static void destroy(struct tap_view *view)
{
	struct jsonl *jsonl = (struct jsonl *) view;

	tap_json_free(&jsonl->json);
	tap_buffer_free(&view->line);
	free(jsonl);
}

static const struct tap_consumer consumer = {
	.process = write_process,
	.library = write_library,
	.problem = write_problem,
	.sample = write_sample,
	.thread = write_thread,
	.nccl_thread = write_nccl_thread,
	.connection = write_connection,
	.communicator = write_communicator,
	.span_ended = write_span,
	.link = write_link,
	.end_state = write_end_state,
	.finish = finish,
};

struct tap_view *tap_jsonl_create(void)
{
	struct jsonl *jsonl = calloc(1, sizeof(*jsonl));

	if (!jsonl)
		return NULL;
	jsonl->view.consumer = &consumer;
	jsonl->view.destroy = destroy;
	return &jsonl->view;
}
