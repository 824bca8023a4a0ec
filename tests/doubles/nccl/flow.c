/* SPDX-License-Identifier: MIT */
/* Begins, tests and reports the messages of a connection. */
#include "flow.h"

#include "comm.h"
#include "truth.h"

static struct mini_pending *next(struct mini_flow *flow)
{
	if (flow->count == MINI_STEPS)
		return NULL;
	if (!flow->wanted_ns)
		flow->wanted_ns = mini_truth_now();
	return &flow->pending[(flow->first + flow->count) % MINI_STEPS];
}

static int begun(struct mini_flow *flow, struct mini_pending *pending,
		 const struct mini_message *messages, int count)
{
	int i;

	if (!pending->request)
		return 0;
	for (i = 0; i < count; i++)
		pending->messages[i] = messages[i];
	pending->count = count;
	pending->wanted_ns = flow->wanted_ns;
	flow->wanted_ns = 0;
	flow->count++;
	return 1;
}

int mini_flow_send(struct mini_flow *flow, const struct mini_message *message)
{
	struct mini_pending *pending = next(flow);
	int err;

	if (!pending)
		return 0;
	/* NCCL 2.28.9, transport/net.cc:1322: the tag is the sender's rank. */
	err = flow->comm->proxy.transport->isend(flow->connection, message->data,
						 message->size, flow->comm->rank,
						 &pending->request);
	return err ? err : begun(flow, pending, message, 1);
}

int mini_flow_receive(struct mini_flow *flow, const struct mini_message *messages,
		      int count)
{
	struct mini_pending *pending = next(flow);
	void *data[MINI_MAX_RECEIVES];
	size_t sizes[MINI_MAX_RECEIVES];
	int err;
	int i;

	if (!pending)
		return 0;
	for (i = 0; i < count; i++) {
		data[i] = messages[i].data;
		sizes[i] = messages[i].size;
	}
	err = flow->comm->proxy.transport->irecv(flow->connection, count, data, sizes,
						 flow->peer, &pending->request);
	return err ? err : begun(flow, pending, messages, count);
}

int mini_flow_test(struct mini_flow *flow)
{
	struct mini_pending *pending = &flow->pending[flow->first];
	size_t sizes[MINI_MAX_RECEIVES];
	struct mini_way way = {.wr_id = 0};
	bool is_done;
	int err;
	int i;

	if (flow->count == 0)
		return 0;
	err = flow->comm->proxy.transport->test(pending->request, &is_done, sizes, &way);
	if (err || !is_done)
		return err;
	for (i = 0; i < pending->count; i++)
		mini_truth_write(flow, &pending->messages[i], sizes[i],
				 pending->wanted_ns, &way);
	flow->first = (flow->first + 1) % MINI_STEPS;
	flow->count--;
	return 1;
}
