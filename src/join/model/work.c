/* SPDX-License-Identifier: MIT */
/* Spans of work, and how every view names them. */
#include "join/model/work.h"

#include "join/base/buffer.h"
#include "join/model/context.h"

#include <string.h>

struct tap_span *tap_work_make_span(struct tap_context *context,
				    const struct tap_process *process, const char *layer,
				    const char *name, int64_t tid)
{
	const struct tap_name *kept =
		tap_names_get(&context->names, layer, strlen(layer), name, strlen(name));
	struct tap_span *span =
		kept ? tap_pairs_make(&context->pairs, process, kept, tid) : NULL;

	if (!span)
		return NULL;
	span->state = TAP_SPAN_RUNNING;
	span->operation = TAP_OPERATION_NONE;
	return span;
}

void tap_work_add_status(struct tap_fields *fields, uint64_t status)
{
	struct tap_field *field = tap_fields_add(fields, "status", TAP_FIELD_UNSIGNED);

	if (!field)
		return;
	field->value.u = status;
	field->label = tap_wc_status_name(status);
}

void tap_work_add_id(struct tap_buffer *buffer, const struct tap_process *process,
		     const struct tap_work *work)
{
	static const char kinds[] = {[TAP_WORK_SEND] = 's',
				     [TAP_WORK_RECEIVE] = 'r',
				     [TAP_WORK_REFUSED] = 'f',
				     [TAP_WORK_NET_SEND] = 's',
				     [TAP_WORK_NET_RECEIVE] = 'r'};
	uint64_t srq_id;

	tap_buffer_add_unsigned(buffer, process->number);
	if (tap_work_is_run(work)) {
		tap_buffer_add_string(buffer, ".g");
		tap_buffer_add_unsigned(buffer, work->run.number);
		return;
	}
	if (tap_work_is_proxy(work)) {
		tap_buffer_add_string(buffer,
				      work->kind == TAP_WORK_PROXY_OP ? ".p" : ".c");
		tap_buffer_add_unsigned(buffer, work->proxy.number);
		return;
	}
	if (tap_work_is_message(work)) {
		tap_buffer_add_string(buffer, ".n");
		tap_buffer_add_unsigned(buffer, work->message.net_id);
		tap_buffer_add_char(buffer, '.');
		tap_buffer_add_char(buffer, kinds[work->kind]);
		tap_buffer_add_unsigned(buffer, work->message.number);
		return;
	}
	/* A receive has the number of the queue that it was posted to. */
	srq_id = work->request.srq_id;
	tap_buffer_add_string(buffer, srq_id ? ".srq" : ".q");
	tap_buffer_add_unsigned(buffer, tap_work_queue_id(work));
	tap_buffer_add_char(buffer, '.');
	tap_buffer_add_unsigned(buffer, srq_id ? 0 : work->request.generation);
	tap_buffer_add_char(buffer, '.');
	tap_buffer_add_char(buffer, kinds[work->kind]);
	tap_buffer_add_unsigned(buffer, work->request.seq);
}

void tap_work_add_row(struct tap_buffer *buffer, const struct tap_work *work)
{
	const char *kind = tap_work_is_shared(work) ? "srq " : "qp ";

	if (tap_work_is_run(work)) {
		tap_buffer_add_string(buffer, "gpu ");
		tap_buffer_add_unsigned(buffer, work->run.device);
		return;
	}
	if (work->kind == TAP_WORK_PROXY_CTRL) {
		tap_buffer_add_string(buffer, "thread ");
		tap_buffer_add_unsigned(buffer, work->proxy.id);
		return;
	}
	if (tap_work_is_message(work) || tap_work_is_proxy(work))
		kind = "net ";
	tap_buffer_add_string(buffer, kind);
	tap_buffer_add_unsigned(buffer, tap_work_queue_id(work));
	tap_buffer_add_string(buffer, tap_work_is_receive(work) ? " receive" : " send");
}
