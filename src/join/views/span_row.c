/* SPDX-License-Identifier: MIT */
/* Kinds of rows, and what is known of threads and connections. */
#include "join/views/span_row.h"

#include "join/model/work.h"

/* ---- Which row ---- */

static enum tap_span_row_kind kind_of(const struct tap_span *span)
{
	const struct tap_work *work = &span->work;

	if (tap_work_is_run(work))
		return TAP_ROW_STREAM;
	if (work->kind == TAP_WORK_PROXY_CTRL)
		return TAP_ROW_CTRL;
	if (work->kind == TAP_WORK_PROXY_OP)
		return TAP_ROW_OPS;
	if (tap_work_is_message(work))
		return TAP_ROW_MESSAGES;
	if (work->kind)
		return TAP_ROW_REQUESTS;
	return span->is_range ? TAP_ROW_RANGES : TAP_ROW_CALLS;
}

static uint64_t number_of(const struct tap_span *span, enum tap_span_row_kind kind)
{
	const struct tap_work *work = &span->work;

	switch (kind) {
	case TAP_ROW_CALLS:
	case TAP_ROW_RANGES:
		return (uint64_t) span->tid;
	case TAP_ROW_CTRL:
		return work->proxy.id;
	case TAP_ROW_STREAM:
		return work->run.device << 32 | (work->run.stream & UINT32_MAX);
	case TAP_ROW_OPS:
		return work->proxy.id << 1 | work->proxy.is_receive;
	case TAP_ROW_MESSAGES:
	case TAP_ROW_REQUESTS:
		break;
	}
	return tap_work_queue_id(work) << 2 | tap_work_is_shared(work) << 1 |
	       tap_work_is_receive(work);
}

static struct tap_span_row_key key_of(const struct tap_process *process,
				      enum tap_span_row_kind kind, uint64_t number)
{
	return (struct tap_span_row_key){(uint64_t) kind << 32 | process->number, number};
}

struct tap_span_row_key tap_span_row_key(const struct tap_span *span)
{
	const enum tap_span_row_kind kind = kind_of(span);

	return key_of(span->process, kind, number_of(span, kind));
}

struct tap_span_row tap_span_row_of(const struct tap_span *span)
{
	const enum tap_span_row_kind kind = kind_of(span);

	return (struct tap_span_row){.kind = kind,
				     .process = span->process,
				     .number = number_of(span, kind),
				     .work = span->work,
				     .about = {.channel = -1, .peer_rank = -1}};
}

void tap_span_row_keys_of_thread(const struct tap_nccl_thread *thread,
				 struct tap_span_row_key *keys)
{
	static const enum tap_span_row_kind kinds[TAP_SPAN_ROWS_OF_THREAD] = {
		TAP_ROW_CALLS, TAP_ROW_RANGES, TAP_ROW_CTRL};
	size_t i;

	for (i = 0; i < TAP_SPAN_ROWS_OF_THREAD; i++)
		keys[i] = key_of(thread->process, kinds[i], (uint64_t) thread->tid);
}

void tap_span_row_keys_of_connection(const struct tap_nccl_connection *connection,
				     struct tap_span_row_key *keys)
{
	const uint64_t id = connection->net_id, is_receive = !connection->is_send;

	keys[0] = key_of(connection->process, TAP_ROW_MESSAGES, id << 2 | is_receive);
	keys[1] = key_of(connection->process, TAP_ROW_OPS, id << 1 | is_receive);
}

/* ---- Names ---- */

static void add_thread(struct tap_buffer *name, const struct tap_span_row *row)
{
	tap_buffer_add_string(name, "thread ");
	if ((int64_t) row->number < 0)
		tap_buffer_add_char(name, '?');
	else
		tap_buffer_add_unsigned(name, row->number);
	if (row->role) {
		tap_buffer_add_string(name, " (NCCL ");
		tap_buffer_add_string(name, tap_thread_role_name(row->role));
		tap_buffer_add_char(name, ')');
	}
	if (row->kind == TAP_ROW_RANGES)
		tap_buffer_add_string(name, ": ranges");
	if (row->kind == TAP_ROW_CTRL)
		tap_buffer_add_string(name, ": asleep or awake");
}

static void add_connection(struct tap_buffer *name, const struct tap_span_row *row)
{
	const struct tap_nccl_connection *about = &row->about;

	tap_work_add_row(name, &row->work);
	if (about->process && about->transport) {
		tap_buffer_add_string(name, ", ");
		tap_buffer_add_string(name, tap_nccl_transport_name(about->transport));
	}
	if (about->channel >= 0) {
		tap_buffer_add_string(name, ", channel ");
		tap_buffer_add_signed(name, about->channel);
	}
	if (about->peer_rank >= 0) {
		tap_buffer_add_string(name,
				      about->is_send ? ", to rank " : ", from rank ");
		tap_buffer_add_signed(name, about->peer_rank);
	}
	if (row->kind == TAP_ROW_OPS)
		tap_buffer_add_string(name, ": ProxyOps");
}

void tap_span_row_add_name(struct tap_buffer *name, const struct tap_span_row *row)
{
	switch (row->kind) {
	case TAP_ROW_CALLS:
	case TAP_ROW_RANGES:
	case TAP_ROW_CTRL:
		add_thread(name, row);
		break;
	case TAP_ROW_STREAM:
		tap_buffer_add_string(name, "GPU ");
		tap_buffer_add_unsigned(name, row->work.run.device);
		tap_buffer_add_string(name, ", stream ");
		tap_buffer_add_unsigned(name, row->work.run.stream);
		break;
	case TAP_ROW_OPS:
	case TAP_ROW_MESSAGES:
		add_connection(name, row);
		break;
	case TAP_ROW_REQUESTS:
		tap_work_add_row(name, &row->work);
		break;
	}
}

int64_t tap_span_row_place(const struct tap_span_row *row)
{
	enum { GROUP = 100000000, PROGRAM = 1, STREAMS, NCCL, CONNECTIONS, QUEUES };
	const int64_t number = (int64_t) (row->number % (GROUP / 4));

	switch (row->kind) {
	case TAP_ROW_CALLS:
	case TAP_ROW_RANGES:
	case TAP_ROW_CTRL:
		return (row->role ? NCCL : PROGRAM) * (int64_t) GROUP + number * 3 +
		       row->kind;
	case TAP_ROW_STREAM:
		return STREAMS * (int64_t) GROUP + number;
	case TAP_ROW_OPS:
		return CONNECTIONS * (int64_t) GROUP + (number >> 1) * 4 +
		       (number & 1) * 2;
	case TAP_ROW_MESSAGES:
		return CONNECTIONS * (int64_t) GROUP + (number >> 2) * 4 +
		       (number & 1) * 2 + 1;
	case TAP_ROW_REQUESTS:
		break;
	}
	return QUEUES * (int64_t) GROUP + number;
}
