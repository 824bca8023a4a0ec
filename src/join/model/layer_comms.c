/* SPDX-License-Identifier: MIT */
/* Descriptions of communicators, and the member of each span. */
#include "join/model/layer.h"
#include "join/model/layers.h"

#include <errno.h>

static int take(void *state, struct tap_process *process, struct tap_event *event)
{
	struct tap_context *context = ((struct tap_layer_state *) state)->context;
	struct tap_member *member;
	int ret;

	ret = tap_comms_describe(&context->comms, process, event,
				 event->kind == TAP_EVENT_STATEDUMP_COMM, &member);
	if (ret == -EINVAL) {
		context->loss.malformed_events++;
		return 0;
	}
	if (!ret && member && context->consumer->communicator)
		ret = context->consumer->communicator(context->data, member);
	return ret;
}

static int span_begun(void *state, struct tap_span *span, const struct tap_event *event)
{
	struct tap_context *context = ((struct tap_layer_state *) state)->context;
	const struct tap_operation *operation = &span->operation;

	(void) event;
	if (!operation->comm_id)
		return 0;
	span->member = tap_comms_member(&context->comms, span->process,
					operation->comm_id, operation->comm_key);
	return span->member ? 0 : -ENOMEM;
}

static void free_all(void *state)
{
	struct tap_layer_state *layer = state;

	tap_comms_free(&layer->context->comms);
}

const struct tap_layer tap_comms_layer = {
	.name = "communicators",
	.size = sizeof(struct tap_layer_state),
	.events = TAP_TAKES(TAP_EVENT_COMM) | TAP_TAKES(TAP_EVENT_STATEDUMP_COMM),
	.take = take,
	.span_begun = span_begun,
	.free = free_all,
};
