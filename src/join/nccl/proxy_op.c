/* SPDX-License-Identifier: MIT */
/*
 * A ProxyOp is open until its kernels are over and no message of the connection waits to
 * be ascribed that may be of it.
 */
#include "join/nccl/proxy_op.h"

#include "common/vec.h"
#include "join/base/chain.h"
#include "join/base/time.h"
#include "join/model/process.h"
#include "join/model/work.h"

#include <errno.h>
#include <stdlib.h>

/*
 * So long after the end of the kernels a sender may see the completion of a message that
 * has arrived.
 */
#define COMPLETION_NS 100000000

/* How often the layer looks for those that are over. */
#define LOOK_NS 10000000

/* Most messages in one link. */
#define LINK_MAX 1024

struct op {
	const struct tap_net_route *route;
	const struct tap_process *process, *peer;
	const struct tap_member *member;
	const struct tap_name *operation, *message;
	struct tap_work kernel;
	uint64_t net_id, op_number;
	bool is_send;
	int64_t channel, peer_rank;
	int64_t begin_ns, end_ns, kernels_end_ns;
	enum tap_known known;
	uint64_t bytes, largest;
	TAP_VEC(uint64_t) steps; /* numbers of its messages */
	struct op *next;	 /* of the same end of the connection, the latest first */
	TAP_LIST_LINK(struct op) open;
};

struct tap_proxy_ops {
	struct tap_context *context; /* first: layer.h */
	struct tap_table by_end;     /* by (process and direction, net_id) */
	TAP_LIST(struct op) open;
	size_t held; /* messages */
	uint64_t count;
	int64_t min_begin_ns; /* of those that are open, unless one of them has gone */
	bool is_min_old;
	int64_t looked_ns;
};

/* ---- Output ---- */

static int emit_span(struct tap_proxy_ops *ops, const struct op *op,
		     struct tap_span **ret_span)
{
	struct tap_context *context = ops->context;
	struct tap_span *span =
		tap_work_make_span(context, op->process, "proxy", "ProxyOp", -1);
	struct tap_fields *fields;
	int ret;

	*ret_span = span;
	if (!span)
		return -ENOMEM;
	fields = &span->entry;
	span->begin_ns = op->begin_ns;
	span->end_ns = op->end_ns;
	span->work = (struct tap_work){.kind = TAP_WORK_PROXY_OP,
				       .proxy = {.id = op->net_id,
						 .number = ++ops->count,
						 .is_receive = !op->is_send}};
	span->member = (struct tap_member *) op->member;
	/* Of a rank that this one posts for, the communicator is another process's. */
	if (op->member->process == op->process)
		span->operation.comm_id = op->member->comm_id;
	span->operation.number = op->op_number;
	span->operation.peer = op->peer_rank;
	span->gpu.call = op->operation;
	if (op->channel >= 0)
		tap_fields_add_unsigned(fields, "channelId", (uint64_t) op->channel);
	if (op->peer_rank >= 0)
		tap_fields_add_unsigned(fields, "peer", (uint64_t) op->peer_rank);
	tap_fields_add_unsigned(fields, "nSteps", op->steps.count);
	tap_fields_add_unsigned(fields, "isSend", op->is_send);
	tap_fields_add_unsigned(fields, "transSize", op->bytes);
	tap_fields_add_unsigned(fields, "largest", op->largest);
	tap_fields_add_unsigned(fields, "net_id", op->net_id);
	tap_fields_add_unsigned(fields, "peer_process", op->peer->number);
	tap_fields_add_unsigned(fields, "kernel", op->kernel.run.number);
	tap_fields_add_text(fields, "known", tap_known_name(op->known));
	ret = tap_emit_begun(context, span);
	span->state = TAP_SPAN_COMPLETE;
	return ret ? ret : tap_emit_ended(context, span);
}

static struct tap_link_end end_of(const struct op *op, const struct tap_name *name,
				  struct tap_work work)
{
	return (struct tap_link_end){.process = op->process,
				     .member = op->member,
				     .name = name,
				     .work = work,
				     .rank = op->member->rank};
}

/* Emits the messages from `first` on, as many as a link has. */
static int emit_link(const struct tap_proxy_ops *ops, const struct op *op,
		     const struct tap_span *span, size_t first, struct tap_link_end *ends)
{
	const size_t left = op->steps.count - first;
	const size_t count = left < LINK_MAX ? left : LINK_MAX;
	const struct tap_link link = {.kind = TAP_LINK_PROXY_OP,
				      .known = op->known,
				      .is_complete = true,
				      .peer = -1,
				      .nranks = -1,
				      .operation = span->name,
				      .ends = ends,
				      .count = count + 1,
				      .begin_ns = op->begin_ns,
				      .end_ns = op->end_ns,
				      .bytes = op->bytes};
	size_t i;

	ends[0] = end_of(op, span->name, span->work);
	for (i = 0; i < count; i++)
		ends[i + 1] =
			end_of(op, op->message,
			       (struct tap_work){
				       .kind = op->is_send ? TAP_WORK_NET_SEND
							   : TAP_WORK_NET_RECEIVE,
				       .message = {.net_id = op->net_id,
						   .number =
							   op->steps.items[first + i]}});
	return tap_emit_link(ops->context, &link);
}

static int compare(const void *left, const void *right)
{
	const uint64_t a = *(const uint64_t *) left, b = *(const uint64_t *) right;

	return (a > b) - (a < b);
}

/* A message may be ascribed after a later one. */
static int emit_links(const struct tap_proxy_ops *ops, const struct op *op,
		      const struct tap_span *span)
{
	const size_t count = op->steps.count;
	struct tap_link_end *ends;
	size_t first;
	int ret = 0;

	if (!ops->context->consumer->link)
		return 0;
	qsort(op->steps.items, count, sizeof(*op->steps.items), compare);
	ends = calloc((count < LINK_MAX ? count : LINK_MAX) + 1, sizeof(*ends));
	if (!ends)
		return -ENOMEM;
	for (first = 0; !ret && first < count; first += LINK_MAX)
		ret = emit_link(ops, op, span, first, ends);
	free(ends);
	return ret;
}

/* ---- Those that are open ---- */

static uint64_t end_key(const struct tap_process *process, bool is_send)
{
	return (uint64_t) process->number << 1 | is_send;
}

static void drop(struct tap_proxy_ops *ops, struct op *op)
{
	tap_chain_remove(&ops->by_end, end_key(op->process, op->is_send), op->net_id, op,
			 next);
	tap_list_remove(&ops->open, op, open);
	ops->held -= op->steps.count;
	ops->is_min_old |= op->begin_ns <= ops->min_begin_ns;
	tap_vec_free(&op->steps);
	free(op);
}

static int close_op(struct tap_proxy_ops *ops, struct op *op)
{
	struct tap_span *span;
	int ret = emit_span(ops, op, &span);

	if (!ret)
		ret = emit_links(ops, op, span);
	if (span)
		tap_pairs_put(&ops->context->pairs, span);
	drop(ops, op);
	return ret;
}

/* Whether a message that waits to be ascribed, or is under way, may be of it. */
static bool may_grow(const struct tap_proxy_ops *ops, const struct op *op)
{
	const struct op *latest =
		tap_table_find(&ops->by_end, end_key(op->process, op->is_send),
			       op->net_id);
	const bool is_over =
		latest != op ||
		tap_since_ns(ops->context->last_ns, op->kernels_end_ns) > COMPLETION_NS;

	return op->route->messages.first || !is_over;
}

static int close_all(struct tap_proxy_ops *ops, bool is_end)
{
	struct op *op, *after;
	int ret = 0;

	for (op = ops->open.first; op && !ret; op = after) {
		after = op->open.after;
		if (is_end || !may_grow(ops, op))
			ret = close_op(ops, op);
	}
	return ret;
}

/* ---- Messages ---- */

/* The operation as the receiver calls it: a message has two names. */
static const struct tap_name *operation_of(struct tap_proxy_ops *ops,
					   const struct tap_link *link, bool is_send)
{
	if (is_send || link->operation->kind != TAP_NAME_SEND)
		return link->operation;
	return tap_names_get(&ops->context->names, "nccl", 4, "ncclRecv", 8);
}

static struct op *make_op(struct tap_proxy_ops *ops, const struct tap_net_route *route,
			  const struct tap_link *link, bool is_send)
{
	const struct tap_link_end *kernel = &link->ends[is_send ? 0 : 3];
	const struct tap_link_end *message = &link->ends[is_send ? 1 : 2];
	struct op *op = calloc(1, sizeof(*op));

	if (!op)
		return NULL;
	op->route = route;
	op->process = message->process;
	op->peer = link->ends[is_send ? 2 : 1].process;
	op->member = kernel->member;
	op->operation = operation_of(ops, link, is_send);
	op->message = message->name;
	op->kernel = kernel->work;
	op->net_id = message->work.message.net_id;
	op->op_number = link->op_number;
	op->is_send = is_send;
	op->channel = -1;
	op->peer_rank = link->ends[is_send ? 3 : 0].rank;
	op->known = link->known;
	op->begin_ns = INT64_MAX;
	op->end_ns = op->kernels_end_ns = INT64_MIN;
	if (!op->operation || tap_chain_push(&ops->by_end, end_key(op->process, is_send),
					     op->net_id, op, next)) {
		free(op);
		return NULL;
	}
	tap_list_append(&ops->open, op, open);
	return op;
}

static struct op *op_of(struct tap_proxy_ops *ops, const struct tap_net_route *route,
			const struct tap_link *link, bool is_send)
{
	const struct tap_link_end *message = &link->ends[is_send ? 1 : 2];
	const struct tap_link_end *kernel = &link->ends[is_send ? 0 : 3];
	struct op *op = tap_table_find(&ops->by_end, end_key(message->process, is_send),
				       message->work.message.net_id);

	while (op && (op->member != kernel->member ||
		      op->kernel.run.number != kernel->work.run.number))
		op = op->next;
	return op ? op : make_op(ops, route, link, is_send);
}

static int add_end(struct tap_proxy_ops *ops, const struct tap_net_route *route,
		   const struct tap_link *link, const struct tap_message_times *times,
		   bool is_send)
{
	struct op *op = op_of(ops, route, link, is_send);
	const int64_t begin_ns = is_send ? times->send_begin_ns : times->receive_begin_ns;
	const int64_t end_ns = is_send ? times->send_end_ns : times->receive_end_ns;

	if (!op ||
	    tap_vec_add(&op->steps, link->ends[is_send ? 1 : 2].work.message.number))
		return -ENOMEM;
	ops->held++;
	op->channel = link->channel;
	if (link->known > op->known)
		op->known = link->known;
	if (begin_ns < op->begin_ns)
		op->begin_ns = begin_ns;
	if (op->begin_ns < ops->min_begin_ns)
		ops->min_begin_ns = op->begin_ns;
	if (end_ns > op->end_ns)
		op->end_ns = end_ns;
	if (link->end_ns > op->kernels_end_ns)
		op->kernels_end_ns = link->end_ns;
	op->bytes += link->bytes;
	if (link->bytes > op->largest)
		op->largest = link->bytes;
	return 0;
}

/*
 * The messages of one communicator are in the order of its kernels: where none before
 * this one waits, nothing comes for earlier kernels any more.
 */
static int close_earlier(struct tap_proxy_ops *ops, const struct tap_net_route *route,
			 const struct tap_link *link, bool is_send)
{
	const struct tap_link_end *message = &link->ends[is_send ? 1 : 2];
	const uint64_t key = end_key(message->process, is_send),
		       net_id = message->work.message.net_id;
	struct op *latest = tap_table_find(&ops->by_end, key, net_id), *op, *next;
	int ret = 0;

	if (!latest || !latest->next ||
	    (route->messages.first && route->messages.first->receive.message.number <
					      message->work.message.number))
		return 0;
	for (op = latest->next; op && !ret; op = next) {
		next = op->next;
		if (op->member == latest->member)
			ret = close_op(ops, op);
	}
	return ret;
}

int tap_proxy_ops_add(struct tap_proxy_ops *ops, const struct tap_net_route *route,
		      const struct tap_link *link, const struct tap_message_times *times)
{
	int ret = add_end(ops, route, link, times, true);

	if (!ret)
		ret = add_end(ops, route, link, times, false);
	if (!ret)
		ret = close_earlier(ops, route, link, true);
	if (!ret)
		ret = close_earlier(ops, route, link, false);
	/* A longer one goes on as another. */
	while (!ret && ops->held > ops->context->bounds.held_operations)
		ret = close_op(ops, ops->open.first);
	return ret;
}

/* ---- The layer ---- */

static void begin(void *state)
{
	struct tap_proxy_ops *ops = state;

	ops->min_begin_ns = INT64_MAX;
}

/* Each event of the trace comes by here. */
static int advance(void *state, int64_t now_ns)
{
	struct tap_proxy_ops *ops = state;

	if (!ops->open.first || tap_since_ns(now_ns, ops->looked_ns) < LOOK_NS)
		return 0;
	ops->looked_ns = now_ns;
	return close_all(ops, false);
}

static void find_min_begin(struct tap_proxy_ops *ops)
{
	const struct op *op;

	ops->is_min_old = false;
	ops->min_begin_ns = INT64_MAX;
	for (op = ops->open.first; op; op = op->open.after)
		if (op->begin_ns < ops->min_begin_ns)
			ops->min_begin_ns = op->begin_ns;
}

/* The views ask often, and those that are open change rarely. */
static int64_t horizon(const void *state)
{
	struct tap_proxy_ops *ops = (struct tap_proxy_ops *) state;

	if (ops->is_min_old)
		find_min_begin(ops);
	return ops->min_begin_ns;
}

static int finish(void *state)
{
	return close_all(state, true);
}

static void free_all(void *state)
{
	struct tap_proxy_ops *ops = state;

	while (ops->open.first)
		drop(ops, ops->open.first);
	tap_table_free(&ops->by_end);
}

const struct tap_layer tap_proxy_ops_layer = {
	.name = "proxy-ops",
	.size = sizeof(struct tap_proxy_ops),
	.is_of_views = true,
	.begin = begin,
	.advance = advance,
	.horizon = horizon,
	.finish = finish,
	.free = free_all,
};
