/* SPDX-License-Identifier: MIT */
/* Posting and testing the messages of a batch: those that stand together in a line. */
#include "proxy_batch.h"

#include "comm.h"
#include "truth.h"

#include <errno.h>
#include <stdlib.h>

/* Steps in a pool for each channel: NCCL_SHARED_STEPS. */
enum { POOL_STEPS = 16 };

static int smaller(int a, int b)
{
	return a < b ? a : b;
}

/* How many steps each of a batch may have under way: all share the channel's. */
static int depth_of(const struct mini_proxy_batch *batch)
{
	return smaller(MINI_STEPS, POOL_STEPS / batch->count);
}

static struct mini_slot *slot_of(const struct mini_proxy_op *op, int step)
{
	return &op->flow->slots[(op->base + step) % MINI_STEPS];
}

static struct mini_net_region *region_of(const struct mini_proxy_op *op)
{
	return op->flow->regions[op->protocol];
}

/* Where a step lies in the pool: each channel has its own part, which its batch shares.
 */
static size_t place_in_pool(const struct mini_proxy_batch *batch, int which)
{
	const struct mini_proxy_op *op = batch->ops[which];
	int slot = op->posted % depth_of(batch) * batch->count + which;

	return (size_t) (op->channel * POOL_STEPS + slot) * op->whose.pool_step;
}

static void want(struct mini_proxy_op *op)
{
	if (!op->wanted_ns)
		op->wanted_ns = mini_truth_now();
}

static const char *name_of(enum mini_protocol protocol)
{
	static const char *const names[] = {
		[MINI_LL] = "LL",
		[MINI_LL128] = "LL128",
		[MINI_SIMPLE] = "Simple",
	};

	return names[protocol];
}

static void tell_truth(const struct mini_proxy_op *op, int step, size_t size,
		       const struct mini_way *way)
{
	const struct mini_whose *whose = &op->whose;
	struct mini_flow *flow = op->flow;
	const struct mini_truth_message told = {
		.comm = whose->comm,
		.comm_hash = whose->comm_hash,
		.rank = whose->rank,
		.proxy_rank = whose->proxy_rank,
		.op = whose->op,
		.name = whose->name,
		.channel = flow->channel,
		.index = flow->index,
		.step = step / op->slice_steps,
		.ordinal = flow->ordinal++,
		.is_send = flow->is_send,
		.peer = op->peer,
		.size = size,
		.protocol = name_of(op->protocol),
		.wanted_ns = op->wanted[step % MINI_STEPS],
		.way = way,
	};

	mini_truth_message(&told);
}

/* One sequence of delays for each connection of a rank. */
static bool is_late(struct mini_proxy_op *op)
{
	struct mini_flow *flow = op->flow;
	uint64_t stream =
		((uint64_t) flow->peer * MINI_MAX_CHANNELS + (uint64_t) flow->channel) *
			4 +
		(uint64_t) flow->index * 2 + flow->is_send;

	return !mini_delay_is_over(&flow->delay, op->whose.rank, stream);
}

/* Remembers since when the step was wanted; the next one is another one. */
static void begun(struct mini_proxy_op *op, int step)
{
	op->wanted[step % MINI_STEPS] = op->wanted_ns;
	op->wanted_ns = 0;
	mini_delay_next(&op->flow->delay);
}

/* A chunk begins where a chunk of its size may begin. */
static void start(struct mini_proxy_op *op)
{
	int64_t multiple = op->chunk_steps;

	op->base = (op->flow->proxy_step + multiple - 1) / multiple * multiple;
	op->flow->proxy_step = op->base + op->steps;
}

/* Receives that may share a request are brought side by side. */
static void group(struct mini_proxy_batch *batch)
{
	int size = 0;
	int i;
	int j;
	int k;

	for (i = 0; i < batch->count; i++) {
		const struct mini_connection *comm =
			size > 0 ? mini_connection_comm(
					   batch->ops[i - 1]->flow->connection)
				 : NULL;
		int most = size > 0 ? mini_connection_max_receives(
					      batch->ops[i - 1]->flow->connection)
				    : 1;
		struct mini_proxy_op *other;

		for (j = i; size > 0 && j < batch->count; j++) {
			if (mini_connection_comm(batch->ops[j]->flow->connection) == comm)
				break;
		}
		if (size >= most || j == batch->count)
			size = 0;
		if (size > 0) {
			other = batch->ops[j];
			batch->ops[j] = batch->ops[i];
			batch->ops[i] = other;
		}
		size++;
		for (k = 0; k < size; k++)
			batch->ops[i - k]->group = size;
	}
}

static int start_batch(struct mini_proxy_batch *batch)
{
	int err = 0;
	int i;

	if (batch->is_started)
		return 0;
	batch->is_started = true;
	for (i = 0; i < batch->count && !err; i++) {
		err = batch->ops[i]->flow->is_broken ? -EIO : 0;
		if (!err)
			start(batch->ops[i]);
	}
	if (!err && !batch->is_send)
		group(batch);
	for (i = 0; i < batch->count && !err; i++)
		MINI_PROFILE(op_progress(batch->ops[i]));
	return err;
}

static void finish_step(struct mini_proxy_batch *batch, struct mini_proxy_op *op)
{
	MINI_PROFILE(step_end(op, op->done));
	op->done += op->slice_steps;
	batch->done += op->done == op->steps;
}

/* Room for the device. */
static void post_to_send(struct mini_proxy_batch *batch, int which)
{
	struct mini_proxy_op *op = batch->ops[which];
	int step = op->posted;

	MINI_PROFILE(step_begin(op, step));
	if (mini_proxy_op_is_pooled(op))
		slot_of(op, op->posted)->offset = place_in_pool(batch, which);
	op->posted += op->slice_steps;
	if (mini_proxy_op_is_pooled(op))
		mini_flow_set_head(op->flow, op->base + op->posted - MINI_STEPS);
	MINI_PROFILE(step_state(op, step, MINI_STATE_SEND_GPU_WAIT));
}

static int transmit(struct mini_proxy_op *op, bool *moved)
{
	struct mini_flow *flow = op->flow;
	int step = op->transmitted;
	struct mini_slot *slot = slot_of(op, step);
	struct mini_net_request **request = &op->requests[(op->base + step) % MINI_STEPS];
	int err;

	if (slot->size < 0 || mini_flow_tail(flow) <= op->base + step)
		return 0;
	want(op);
	if (is_late(op))
		return 0;
	MINI_PROFILE(step_state(op, step, MINI_STATE_SEND_PEER_WAIT));
	/* The tag is the sender's rank in the top parent (NCCL 2.28.9,
	 * transport/net.cc:1322). */
	err = mini_connection_isend(flow->connection,
				    mini_flow_slot(flow, op->protocol, op->base + step),
				    (size_t) slot->size, op->whose.tag, region_of(op),
				    request);
	if (err || !*request)
		return err;
	begun(op, step);
	op->profile.bytes = (size_t) slot->size;
	op->transmitted += op->slice_steps;
	MINI_PROFILE(step_state(op, step, MINI_STATE_SEND_WAIT));
	*moved = true;
	return 0;
}

static int test_sent(struct mini_proxy_batch *batch, struct mini_proxy_op *op,
		     bool *moved)
{
	struct mini_net_request **request =
		&op->requests[(op->base + op->done) % MINI_STEPS];
	size_t sizes[MINI_MAX_RECEIVES] = {0};
	struct mini_way way = {.wr_id = 0};
	bool is_done = false;
	int err = mini_connection_test(op->flow->connection, *request, &is_done, sizes,
				       &way);

	if (err || !is_done)
		return err;
	*request = NULL;
	slot_of(op, op->done)->size = -1;
	tell_truth(op, op->done, sizes[0], &way);
	finish_step(batch, op);
	if (!mini_proxy_op_is_pooled(op))
		mini_flow_set_head(op->flow, op->base + op->done);
	*moved = true;
	return 0;
}

static int step_sends(struct mini_proxy_batch *batch, bool *moved)
{
	int depth = mini_proxy_op_is_pooled(batch->ops[0]) ? depth_of(batch) : MINI_STEPS;
	bool has_sent;
	int err = 0;
	int i;

	for (i = 0; i < batch->count && !err; i++) {
		struct mini_proxy_op *op = batch->ops[i];

		if (op->done == op->steps)
			continue;
		if (op->posted < op->steps && op->posted < op->done + depth) {
			post_to_send(batch, i);
			*moved = true;
			continue;
		}
		has_sent = false;
		if (op->transmitted < op->posted &&
		    op->transmitted < op->done + MINI_STEPS)
			err = transmit(op, &has_sent);
		if (!err && !has_sent && op->done < op->transmitted)
			err = test_sent(batch, op, moved);
		*moved = *moved || has_sent;
	}
	return err;
}

/* What one receive is for: of a group those that have a step left. */
struct receive {
	int count;
	void *data[MINI_MAX_RECEIVES];
	size_t sizes[MINI_MAX_RECEIVES];
	int tags[MINI_MAX_RECEIVES];
	struct mini_net_region *regions[MINI_MAX_RECEIVES];
};

static size_t most_bytes(const struct mini_proxy_op *op)
{
	size_t most;

	if (mini_proxy_op_is_pooled(op) && op->protocol == MINI_SIMPLE)
		most = op->whose.pool_step;
	else
		most = mini_flow_step_bytes(op->flow, op->protocol) *
		       (size_t) op->slice_steps;
	return op->bytes < most ? op->bytes : most;
}

/* False when one of them has no room yet: then all wait. */
static bool prepare(const struct mini_proxy_batch *batch, int first,
		    struct receive *receive)
{
	int depth = mini_proxy_op_is_pooled(batch->ops[0]) ? depth_of(batch) : MINI_STEPS;
	int i;

	receive->count = 0;
	for (i = first; i < first + batch->ops[first]->group; i++) {
		struct mini_proxy_op *op = batch->ops[i];
		int n = receive->count;

		if (op->posted >= op->steps)
			continue;
		if (op->posted >= op->done + depth)
			return false;
		want(op);
		if (is_late(op))
			return false;
		if (mini_proxy_op_is_pooled(op))
			slot_of(op, op->posted)->offset = place_in_pool(batch, i);
		receive->data[n] =
			mini_flow_slot(op->flow, op->protocol, op->base + op->posted);
		receive->sizes[n] = most_bytes(op);
		receive->tags[n] = op->flow->peer;
		receive->regions[n] = region_of(op);
		receive->count++;
	}
	return receive->count > 0;
}

/* NCCL's receiver is ahead of the data as far as there is room. */
static int post_receive(struct mini_proxy_batch *batch, int first, bool *moved)
{
	struct mini_proxy_op *op = batch->ops[first];
	struct mini_net_request **request;
	struct receive receive;
	int err;
	int i;

	if (!prepare(batch, first, &receive))
		return 0;
	for (i = 0; i < op->group; i++) {
		struct mini_proxy_op *other = batch->ops[first + i];

		if (other->posted < other->steps)
			MINI_PROFILE(step_begin(other, other->posted));
	}
	request = &op->requests[op->posted % MINI_STEPS];
	err = mini_connection_irecv(op->flow->connection, receive.count, receive.data,
				    receive.sizes, receive.tags, receive.regions,
				    request);
	if (err || !*request)
		return err;
	for (i = 0; i < op->group; i++) {
		struct mini_proxy_op *other = batch->ops[first + i];
		int step = other->posted;

		begun(other, step);
		other->posted += op->slice_steps;
		MINI_PROFILE(step_state(other, step, MINI_STATE_RECV_WAIT));
	}
	*moved = true;
	return 0;
}

/* A GPU may see what came only after a read from where it is. */
static int flush(const struct mini_proxy_batch *batch, int first, int step,
		 const size_t *sizes)
{
	struct mini_proxy_op *op = batch->ops[first];
	struct receive receive = {.count = 0};
	size_t total = 0;
	int i;

	for (i = first; i < first + op->group; i++) {
		struct mini_proxy_op *other = batch->ops[i];
		int n = receive.count;

		if (step >= other->steps)
			continue;
		receive.data[n] =
			mini_flow_slot(other->flow, other->protocol, other->base + step);
		receive.regions[n] = region_of(other);
		receive.sizes[n] = sizes[n];
		total += sizes[n];
		receive.count++;
	}
	if (total == 0 || op->protocol != MINI_SIMPLE)
		return 0;
	return mini_connection_iflush(op->flow->connection, receive.count, receive.data,
				      receive.sizes, receive.regions,
				      &op->requests[step % MINI_STEPS]);
}

static int test_received(struct mini_proxy_batch *batch, int first, bool *moved)
{
	struct mini_proxy_op *op = batch->ops[first];
	int step = op->received;
	struct mini_net_request **request = &op->requests[step % MINI_STEPS];
	size_t sizes[MINI_MAX_RECEIVES] = {0};
	struct mini_way way = {.wr_id = 0};
	bool is_done = false;
	int err = mini_connection_test(op->flow->connection, *request, &is_done, sizes,
				       &way);
	int n = 0;
	int i;

	if (err || !is_done)
		return err;
	*request = NULL;
	for (i = first; i < first + op->group; i++) {
		if (step < batch->ops[i]->steps)
			tell_truth(batch->ops[i], step, sizes[n++], &way);
		batch->ops[i]->received += op->slice_steps;
		/* By its place, as in NCCL: wrong where another one has no step left. */
		batch->ops[i]->profile.bytes = sizes[i - first];
		MINI_PROFILE(step_state(batch->ops[i], step, MINI_STATE_RECV_FLUSH_WAIT));
	}
	*moved = true;
	return flush(batch, first, step, sizes);
}

/* What has arrived is the device's. */
static int pass_on(struct mini_proxy_batch *batch, int first, bool *moved)
{
	struct mini_proxy_op *op = batch->ops[first];
	int step = op->transmitted;
	struct mini_net_request **request = &op->requests[step % MINI_STEPS];
	size_t sizes[MINI_MAX_RECEIVES] = {0};
	struct mini_way way = {.wr_id = 0};
	bool is_done = true;
	int err = 0;
	int i;

	if (*request)
		err = mini_connection_test(op->flow->connection, *request, &is_done,
					   sizes, &way);
	if (err || !is_done)
		return err;
	*request = NULL;
	for (i = first; i < first + op->group; i++) {
		struct mini_proxy_op *other = batch->ops[i];

		other->transmitted += op->slice_steps;
		MINI_PROFILE(step_state(other, step, MINI_STATE_RECV_GPU_WAIT));
		if (step < other->steps)
			mini_flow_set_tail(other->flow, other->base + other->transmitted);
	}
	*moved = true;
	return 0;
}

/* The device has taken it. */
static void take_back(struct mini_proxy_batch *batch, int first, bool *moved)
{
	int i;

	for (i = first; i < first + batch->ops[first]->group; i++) {
		struct mini_proxy_op *op = batch->ops[i];

		while (op->done < op->steps && op->transmitted > op->done &&
		       mini_flow_head(op->flow) > op->base + op->done) {
			finish_step(batch, op);
			*moved = true;
		}
	}
}

/* As in NCCL, what comes later waits until nothing of what comes first can be done. */
static int step_receives(struct mini_proxy_batch *batch, bool *moved)
{
	bool is_idle = true;
	int stage;
	int err = 0;
	int i;

	for (stage = 0; stage < 4 && is_idle && !err; stage++) {
		for (i = 0; i < batch->count && !err; i += batch->ops[i]->group) {
			struct mini_proxy_op *op = batch->ops[i];
			bool has_moved = false;

			if (stage == 0)
				err = post_receive(batch, i, &has_moved);
			else if (stage == 1 && op->posted > op->received)
				err = test_received(batch, i, &has_moved);
			else if (stage == 2 && op->received > op->transmitted)
				err = pass_on(batch, i, &has_moved);
			else if (stage == 3)
				take_back(batch, i, &has_moved);
			is_idle = is_idle && !has_moved;
		}
	}
	*moved = *moved || !is_idle;
	return err;
}

int mini_proxy_batch_step(struct mini_proxy_batch *batch, bool *moved)
{
	bool is_over;
	int err = start_batch(batch);
	int i;

	if (!err)
		err = batch->is_send ? step_sends(batch, moved)
				     : step_receives(batch, moved);
	is_over = !err && batch->done == batch->count;
	for (i = 0; i < batch->count && is_over; i++)
		MINI_PROFILE(op_end(batch->ops[i]));
	return err ? err : is_over;
}
