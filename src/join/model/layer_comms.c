/* SPDX-License-Identifier: MIT */
/* Descriptions of communicators, and the member of each span. */
#include "join/model/layer.h"
#include "join/model/layers.h"

#include <errno.h>

/* What a process has for comm_rank that is several ranks. */
#define SEVERAL (-2)

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

/* The communicator of which a rank is one of the job; NULL where several are as large. */
static const struct tap_comm *largest(const struct tap_comms *comms)
{
	const struct tap_comm *comm, *found = NULL;
	bool is_alone = false;
	size_t i;

	for (i = 0; i < comms->count; i++) {
		comm = comms->all[i];
		if (comm->united || !comm->members || comm->nranks < 1)
			continue;
		is_alone = !found || comm->nranks > found->nranks ||
			   (is_alone && comm->nranks < found->nranks);
		if (!found || comm->nranks > found->nranks)
			found = comm;
	}
	return is_alone ? found : NULL;
}

/* Gives each process its rank in the largest communicator. */
static int finish(void *state)
{
	struct tap_context *context = ((struct tap_layer_state *) state)->context;
	const struct tap_comm *comm = largest(&context->comms);
	const struct tap_member *member = comm ? comm->members : NULL;
	struct tap_process *process;

	for (; member; member = member->next) {
		process = context->processes.all[member->process->number];
		if (process->comm_rank == -1 || process->comm_rank == member->rank)
			process->comm_rank = member->rank;
		else
			process->comm_rank = SEVERAL;
	}
	return 0;
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
	.finish = finish,
	.free = free_all,
};
