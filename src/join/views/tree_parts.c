/* SPDX-License-Identifier: MIT */
/*
 * A call makes a tree, a group or the link of an operation unites trees, and whatever
 * else comes is put below a part that is there, or waits for one.
 */
#include "join/views/tree_parts.h"

#include "join/model/profiler.h"
#include "join/views/known.h"

#include <errno.h>
#include <string.h>

/* Places in the table that no span has. */
#define GROUP_PLACE (UINT64_C(1) << 62)
#define COLL_PLACE (UINT64_C(1) << 61)
#define START_PLACE (UINT64_C(1) << 60)

/* ---- Calls ---- */

/* The group that a call with a group_id is in. */
static struct tap_tree_part *group_of(struct tap_trees *trees,
				      const struct tap_span *span)
{
	const struct tap_process *process = span->process;
	const uint64_t a = process->number | GROUP_PLACE;
	const uint64_t group_id = span->operation.group_id;
	struct tap_tree_part *group = tap_trees_find(trees, a, group_id), *start;

	if (group)
		return group;
	group = tap_trees_make(trees, TAP_TREE_GROUP, process, NULL, a, group_id);
	if (!group || tap_trees_put_first(trees, group))
		return NULL;
	start = tap_trees_find(trees, process->number | START_PLACE,
			       (uint64_t) span->tid);
	if (start) {
		group->span = start->span;
		start->span = NULL;
	}
	return group;
}

/*
 * A group gets its number from the first call in it.  Of groups inside one another the
 * interface has the outermost.
 */
static int begin_group(struct tap_trees *trees, struct tap_span *span)
{
	const uint64_t a = span->process->number | START_PLACE;
	struct tap_tree_part *start;

	if (tap_fields_number(&span->entry, "group_depth"))
		return 0;
	start = tap_trees_find(trees, a, (uint64_t) span->tid);
	if (!start)
		return tap_trees_make(trees, TAP_TREE_GROUP, span->process, span, a,
				      (uint64_t) span->tid)
			       ? 0
			       : -ENOMEM;
	if (start->span)
		tap_span_put(start->span);
	start->span = tap_span_get(span);
	return 0;
}

static int end_group(struct tap_trees *trees, struct tap_span *span)
{
	struct tap_tree_part *group = group_of(trees, span);

	if (!group)
		return -ENOMEM;
	tap_trees_drop_second(trees, group);
	group->second = tap_span_get(span);
	/* What is launched by the call that ends the group is found by that call. */
	return tap_trees_find_call(trees, span->process, span->call_id)
		       ? 0
		       : tap_table_set(&trees->parts, span->process->number,
				       span->call_id, group);
}

static int add_operation(struct tap_tree *tree, const struct tap_span *span)
{
	const bool is_message = span->name->kind != TAP_NAME_COLLECTIVE;
	const bool is_send = span->name->kind == TAP_NAME_SEND;
	const int64_t rank = span->member ? span->member->rank : -1;
	const struct tap_tree_operation operation = {
		.comm = span->member ? tap_member_comm(span->member) : NULL,
		.name = span->name->operation,
		.number = span->operation.number,
		.nranks = span->member ? tap_member_comm(span->member)->nranks : -1,
		.sender = !is_message ? -1
			  : is_send   ? rank
				      : span->operation.peer,
		.receiver = !is_message ? -1
			    : is_send	? span->operation.peer
					: rank,
		.ranks = 1};

	return tap_vec_add(&tree->operations, operation);
}

static int begin_call(struct tap_trees *trees, struct tap_span *span)
{
	struct tap_tree_part *group = NULL, *call;
	int ret = 0;

	if (span->operation.group_id) {
		group = group_of(trees, span);
		if (!group)
			return -ENOMEM;
	}
	if (tap_trees_find_call(trees, span->process, span->call_id))
		return 0;
	call = tap_trees_make_span(trees, TAP_TREE_CALL, span);
	if (!call)
		return -ENOMEM;
	if (group)
		tap_trees_put_below(trees, group, call, TAP_KNOWN_EXACT);
	else
		ret = tap_trees_put_first(trees, call);
	return ret ? ret : add_operation(call->tree, span);
}

int tap_trees_begun(struct tap_trees *trees, struct tap_span *span)
{
	int ret;

	if (span->work.kind || span->name->cuda || !span->name->is_nccl ||
	    span->is_inner || span->is_from_nvtx || span->is_range)
		return 0;
	if (span->name->kind == TAP_NAME_GROUP_START)
		ret = begin_group(trees, span);
	else if (span->name->kind == TAP_NAME_GROUP_END)
		ret = span->operation.group_id ? end_group(trees, span) : 0;
	else
		ret = span->operation.number ? begin_call(trees, span) : 0;
	return ret ? ret : tap_trees_make_room(trees);
}

/* ---- What is below calls ---- */

static bool is_end_of_send(const struct tap_span *request)
{
	return !strncmp(tap_fields_get_string(&request->exit, "net"), "data", 4) ||
	       !strcmp(tap_fields_get_string(&request->exit, "net"), "sizes");
}

/* The message that a work request is of, made when new: it may come later. */
static struct tap_tree_part *step_of(struct tap_trees *trees,
				     const struct tap_span *request)
{
	const struct tap_work work = {
		.kind = is_end_of_send(request) ? TAP_WORK_NET_SEND
						: TAP_WORK_NET_RECEIVE,
		.message = {.net_id = tap_fields_number(&request->exit, "net_id"),
			    .number = tap_fields_number(&request->exit, "request")}};
	const struct tap_known_id id = tap_known_span(request->process, &work, 0);
	struct tap_tree_part *step = tap_trees_find(trees, id.process, id.number);

	return step ? step
		    : tap_trees_make(trees, TAP_TREE_STEP, request->process, NULL,
				     id.process, id.number);
}

static int add_request(struct tap_trees *trees, struct tap_span *span)
{
	const struct tap_known_id id = tap_known_span(span->process, &span->work, 0);
	struct tap_tree_part *request = tap_trees_find(trees, id.process, id.number),
			     *step;

	if (request && !request->span)
		request->span = tap_span_get(span);
	else
		request = tap_trees_make_span(trees, TAP_TREE_REQUEST, span);
	if (!request)
		return -ENOMEM;
	if (!tap_fields_find(&span->exit, "request"))
		return 0;
	step = step_of(trees, span);
	if (!step)
		return -ENOMEM;
	tap_trees_put_below(trees, step, request, step->wire);
	return 0;
}

static int add_step(struct tap_trees *trees, struct tap_span *span)
{
	const struct tap_known_id id = tap_known_span(span->process, &span->work, 0);
	struct tap_tree_part *step = tap_trees_find(trees, id.process, id.number);

	if (!step)
		return tap_trees_make_span(trees, TAP_TREE_STEP, span) ? 0 : -ENOMEM;
	if (!step->span)
		step->span = tap_span_get(span);
	return 0;
}

/* What a kernel does: one of several ProxyOps may come before the next. */
static int add_proxy_op(struct tap_trees *trees, struct tap_span *span)
{
	const struct tap_work kernel = {.kind = TAP_WORK_GPU,
					.run = {.number = tap_fields_number(&span->entry,
									    "kernel")}};
	const struct tap_known_id id = tap_known_span(span->process, &kernel, 0);
	struct tap_tree_part *run = tap_trees_find(trees, id.process, id.number), *op;
	const char *known = tap_fields_get_string(&span->entry, "known");

	op = tap_trees_make_span(trees, TAP_TREE_PROXY_OP, span);
	if (!op)
		return -ENOMEM;
	if (run && run->parent)
		tap_trees_put_below(trees, run->parent, op,
				    !strcmp(known, "decoded") ? TAP_KNOWN_DECODED
							      : TAP_KNOWN_INFERRED);
	return 0;
}

int tap_trees_ended(struct tap_trees *trees, struct tap_span *span)
{
	const char *event = tap_profiler_event(span);
	int ret = 0;

	if (!event)
		return 0;
	if (tap_work_is_message(&span->work))
		ret = add_step(trees, span);
	else if (span->work.kind == TAP_WORK_PROXY_OP)
		ret = add_proxy_op(trees, span);
	else if (tap_work_is_request(&span->work))
		ret = add_request(trees, span);
	else if (tap_work_is_run(&span->work))
		ret = tap_trees_make_span(trees, TAP_TREE_RUN, span) ? 0 : -ENOMEM;
	else if (span->name->cuda)
		ret = tap_trees_make_span(trees, TAP_TREE_LAUNCH, span) ? 0 : -ENOMEM;
	return ret ? ret : tap_trees_make_room(trees);
}

/* ---- Links ---- */

static bool is_same(const struct tap_tree_operation *operation,
		    const struct tap_link *link)
{
	const bool is_message = link->kind == TAP_LINK_SEND_RECV;

	if (operation->comm && link->comm &&
	    tap_comm_root((struct tap_comm *) operation->comm) !=
		    tap_comm_root((struct tap_comm *) link->comm))
		return false;
	if (operation->number != link->op_number ||
	    (operation->sender >= 0) != is_message)
		return false;
	return !is_message || (operation->sender == link->ends[0].rank &&
			       operation->receiver == link->ends[1].rank);
}

/* Leaves one entry of an operation that several ranks called. */
static void settle_operation(struct tap_tree *tree, const struct tap_link *link)
{
	struct tap_tree_operation *operations = tree->operations.items, *first = NULL;
	size_t i, kept = 0;

	for (i = 0; i < tree->operations.count; i++) {
		if (is_same(&operations[i], link) && first)
			continue;
		operations[kept] = operations[i];
		if (is_same(&operations[kept], link))
			first = &operations[kept];
		kept++;
	}
	tree->operations.count = kept;
	if (!first)
		return;
	first->is_linked = true;
	first->known = link->known;
	first->name = link->operation;
	first->ranks = link->count;
	first->nranks = link->nranks;
	first->comm = link->comm;
}

static int link_calls(struct tap_trees *trees, const struct tap_link *link)
{
	struct tap_tree *tree = NULL;
	size_t i;

	for (i = 0; i < link->count; i++) {
		const struct tap_tree_part *call =
			tap_trees_find_end(trees, &link->ends[i]);

		if (!call || !call->tree)
			continue;
		tree = tree ? tap_trees_unite(trees, tree, call->tree) : call->tree;
		if (!tree)
			return -ENOMEM;
	}
	if (!tree)
		return 0;
	tree->touched_ns = trees->context->last_ns;
	settle_operation(tree, link);
	return 0;
}

/* A launch is below the group that it ends, or the call that asks for it. */
static void link_launch(struct tap_trees *trees, const struct tap_link *link)
{
	struct tap_tree_part *call = tap_trees_find_end(trees, &link->ends[0]);
	struct tap_tree_part *launch = tap_trees_find_end(trees, &link->ends[1]);

	if (call && launch && launch->kind == TAP_TREE_LAUNCH)
		tap_trees_put_below(trees, call, launch, link->known);
}

static bool is_of_messages(const struct tap_link *link)
{
	size_t i;

	for (i = 1; i < link->count; i++)
		if (link->ends[i].name->kind == TAP_NAME_COLLECTIVE)
			return false;
	return true;
}

/*
 * The part for what a kernel does: of one operation, below its call; of several, below
 * their group.
 */
static struct tap_tree_part *coll_of(struct tap_trees *trees, const struct tap_link *link)
{
	struct tap_tree_part *call = tap_trees_find_end(trees, &link->ends[1]), *coll;
	const bool is_shared = link->count > 2;
	const uint64_t a = link->ends[0].process->number | COLL_PLACE;
	const uint64_t b = is_shared ? UINT64_C(1) << 63 | link->ends[0].work.run.number
				     : link->ends[1].call_id;

	if (!call || !call->tree)
		return NULL;
	if (is_shared && call->parent)
		call = call->parent;
	coll = tap_trees_find(trees, a, b);
	if (coll)
		return coll;
	coll = tap_trees_make(trees, TAP_TREE_COLL, link->ends[0].process, NULL, a, b);
	if (!coll)
		return NULL;
	coll->calls = link->count - 1;
	coll->is_messages = is_of_messages(link);
	coll->span =
		is_shared ? NULL
			  : tap_span_get(tap_trees_find_end(trees, &link->ends[1])->span);
	tap_trees_put_below(trees, call, coll, link->known);
	return coll;
}

static int link_kernel(struct tap_trees *trees, const struct tap_link *link)
{
	struct tap_tree_part *run = tap_trees_find_end(trees, &link->ends[0]);
	struct tap_tree_part *coll = run ? coll_of(trees, link) : NULL;

	if (coll)
		tap_trees_put_below(trees, coll, run, TAP_KNOWN_EXACT);
	return 0;
}

static void link_steps(struct tap_trees *trees, const struct tap_link *link)
{
	struct tap_tree_part *op = tap_trees_find_end(trees, &link->ends[0]), *step;
	size_t i;

	for (i = 1; op && i < link->count; i++) {
		step = tap_trees_find_end(trees, &link->ends[i]);
		if (step)
			tap_trees_put_below(trees, op, step, link->known);
	}
}

static void set_wire(struct tap_tree_part *step, enum tap_known known)
{
	struct tap_tree_part *request;

	step->wire = known;
	for (request = step->below.first; request; request = request->among.after)
		if (request != step->flush)
			request->known = known;
}

static void link_request(struct tap_trees *trees, const struct tap_link_end *message,
			 const struct tap_link_end *end, enum tap_known known)
{
	struct tap_tree_part *step = tap_trees_find_end(trees, message);
	struct tap_tree_part *request = tap_trees_find_end(trees, end);

	/* In a damaged trace anything may have the number of either. */
	if (step && request && step->kind == TAP_TREE_STEP &&
	    request->kind == TAP_TREE_REQUEST)
		tap_trees_put_below(trees, step, request, known);
}

/*
 * The CTS, and the pieces of its message: those that ended before their message was known
 * wait for this link.
 */
static void link_requests(struct tap_trees *trees, const struct tap_link *link)
{
	size_t i;

	link_request(trees, &link->ends[2], &link->ends[0], link->known);
	for (i = 3; i < link->count; i++)
		link_request(trees, &link->ends[1], &link->ends[i], link->known);
}

/* A part knows one other, which knows it, also where a damaged trace says otherwise. */
static void pair(struct tap_tree_part *send, struct tap_tree_part *receive)
{
	if (send->other)
		send->other->other = NULL;
	if (receive->other)
		receive->other->other = NULL;
	send->other = receive;
	receive->other = send;
}

/* Ends of one message know each other. */
static void link_message(struct tap_trees *trees, const struct tap_link *link,
			 size_t first)
{
	struct tap_tree_part *send = tap_trees_find_end(trees, &link->ends[first]);
	struct tap_tree_part *receive = tap_trees_find_end(trees, &link->ends[first + 1]);

	if (!send || !receive)
		return;
	pair(send, receive);
	set_wire(send, link->known);
	set_wire(receive, link->known);
}

/* The flush has been posted; its span comes when it is over. */
static int link_flush(struct tap_trees *trees, const struct tap_link *link)
{
	const struct tap_known_id id =
		tap_known_span(link->ends[1].process, &link->ends[1].work, 0);
	struct tap_tree_part *step = tap_trees_find_end(trees, &link->ends[0]);
	struct tap_tree_part *flush = tap_trees_find(trees, id.process, id.number);

	if (!step)
		return 0;
	if (!flush)
		flush = tap_trees_make(trees, TAP_TREE_REQUEST, link->ends[1].process,
				       NULL, id.process, id.number);
	if (!flush)
		return -ENOMEM;
	tap_trees_put_below(trees, step, flush, link->known);
	step->flush = flush;
	return 0;
}

int tap_trees_link(struct tap_trees *trees, const struct tap_link *link)
{
	switch (link->kind) {
	case TAP_LINK_COLLECTIVE_RANKS:
	case TAP_LINK_SEND_RECV:
		return link_calls(trees, link);
	case TAP_LINK_API_LAUNCH:
		link_launch(trees, link);
		return 0;
	case TAP_LINK_KERNEL_COLLECTIVE:
		return link_kernel(trees, link);
	case TAP_LINK_CTS_MESSAGE:
		link_message(trees, link, 1);
		link_requests(trees, link);
		return 0;
	case TAP_LINK_SOCKET_MESSAGE:
		link_message(trees, link, 0);
		return 0;
	case TAP_LINK_FLUSH_MESSAGE:
		return link_flush(trees, link);
	case TAP_LINK_PROXY_OP:
		link_steps(trees, link);
		return 0;
	default:
		return 0;
	}
}
