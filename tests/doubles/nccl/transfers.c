/* SPDX-License-Identifier: MIT */
/*
 * The sends and receives of a plan, one transfer each, on the progress thread.  Where
 * the network can receive several messages at once, those from one peer go together.
 */
#include "comm.h"
#include "reduce.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

struct transfer {
	const struct mini_op *op;
	/* The next one on the same connection. */
	struct transfer *next;
	size_t total;
	/* Of these bytes messages were begun. */
	size_t begun;
	int steps;
};

/*
 * The transfers of one connection.  As many as the network can receive at once go on
 * together, each with one message in turn.
 */
struct lane {
	struct mini_flow *flow;
	struct transfer *first;
	struct transfer *last;
	/* What comes next of those that go on together. */
	struct transfer *turn;
	bool is_done;
};

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* The k-th send to itself meets the k-th receive. */
static void copy_to_self(const struct ncclComm *comm, const struct mini_op *ops)
{
	const struct mini_op *receive = ops;
	const struct mini_op *send;

	for (send = ops; send; send = send->next) {
		if (send->function != MINI_SEND || send->root != comm->rank)
			continue;
		while (receive &&
		       (receive->function != MINI_RECV || receive->root != comm->rank))
			receive = receive->next;
		if (!receive)
			return;
		memmove(receive->recv, send->send,
			smaller(send->count * mini_type_size(send->type),
				receive->count * mini_type_size(receive->type)));
		receive = receive->next;
	}
}

/* How many of a lane go on together, and whether `t` is one of those. */
static bool is_of_turn(const struct lane *lane, const struct transfer *t, int most)
{
	const struct transfer *other = lane->first;

	for (; most > 0 && other && other != t; other = other->next)
		most--;
	return most > 0 && other;
}

/* The next that has something left, from `t` on and then from the first. */
static struct transfer *with_rest(const struct lane *lane, struct transfer *t, int most)
{
	/* A transfer of nothing is one message. */
	while (t && is_of_turn(lane, t, most) && t->begun == t->total && t->steps > 0)
		t = t->next;
	return t && is_of_turn(lane, t, most) ? t : NULL;
}

static void take_turn(struct lane *lane, int most)
{
	int i;

	lane->turn = with_rest(lane, lane->turn, most);
	if (!lane->turn)
		lane->turn = with_rest(lane, lane->first, most);
	if (lane->turn || !lane->first)
		return;
	/* All of these have begun their last message. */
	for (i = 0; i < most && lane->first; i++)
		lane->first = lane->first->next;
	lane->turn = lane->first;
}

static struct mini_message part_of(const struct transfer *t)
{
	const char *data = t->op->function == MINI_SEND ? t->op->send : t->op->recv;

	return (struct mini_message){
		.op = t->op,
		.step = t->steps,
		.data = (char *) (uintptr_t) data + t->begun,
		.size = smaller(MINI_STEP_BYTES, t->total - t->begun),
	};
}

static void begin_part(struct transfer *t)
{
	t->begun += smaller(MINI_STEP_BYTES, t->total - t->begun);
	t->steps++;
}

static int send_part(struct lane *lane)
{
	struct mini_message message = part_of(lane->turn);
	int begun = mini_flow_send(lane->flow, &message);

	if (begun > 0) {
		begin_part(lane->turn);
		lane->turn = lane->turn->next;
	}
	return begun;
}

/* One message of each that has something left. */
static int receive_parts(struct lane *lane, int most)
{
	struct mini_message messages[MINI_MAX_RECEIVES] = {{.step = 0}};
	struct transfer *parts[MINI_MAX_RECEIVES];
	struct transfer *t;
	int count = 0;
	int begun;
	int i;

	for (t = with_rest(lane, lane->first, most); t;
	     t = with_rest(lane, t->next, most)) {
		parts[count] = t;
		messages[count++] = part_of(t);
	}
	begun = mini_flow_receive(lane->flow, messages, count);
	for (i = 0; begun > 0 && i < count; i++)
		begin_part(parts[i]);
	lane->turn = lane->first;
	return begun;
}

static int go_on_with_lane(struct ncclComm *comm, struct lane *lane)
{
	int most = comm->proxy.transport->max_receives;
	int begun = 1;
	int done = 1;

	while (begun > 0) {
		take_turn(lane, most);
		if (!lane->turn)
			break;
		begun = lane->flow->is_send ? send_part(lane) : receive_parts(lane, most);
	}
	while (begun >= 0 && done > 0)
		done = mini_flow_test(lane->flow);
	lane->is_done = !lane->turn && lane->flow->count == 0;
	return begun < 0 ? begun : done;
}

static int add_to_lane(struct ncclComm *comm, struct lane *lanes, size_t *count,
		       struct transfer *t)
{
	bool is_send = t->op->function == MINI_SEND;
	struct mini_end end = {
		.peer = t->op->root,
		.channel = __builtin_ctzll(mini_op_channels(comm, t->op)),
		.index = 1,
		.is_send = is_send,
	};
	struct mini_flow *flow = mini_proxy_flow(&comm->proxy, &end);
	size_t i = 0;

	while (i < *count && lanes[i].flow != flow)
		i++;
	if (i < *count) {
		lanes[i].last->next = t;
		lanes[i].last = t;
		return 0;
	}
	lanes[i] = (struct lane){.flow = flow, .first = t, .last = t, .turn = t};
	++*count;
	return flow->count > 0 ? -EIO : 0;
}

static int run_lanes(struct ncclComm *comm, struct lane *lanes, size_t count)
{
	size_t done = 0;
	size_t i;
	int err = 0;

	while (done < count && err >= 0) {
		done = 0;
		for (i = 0; i < count && err >= 0; i++) {
			if (!lanes[i].is_done)
				err = go_on_with_lane(comm, &lanes[i]);
			done += lanes[i].is_done;
		}
		if (err >= 0 && done < count && atomic_load(&comm->aborted))
			err = -ECANCELED;
		if (done < count)
			sched_yield();
	}
	return err < 0 ? err : 0;
}

int mini_transfers_run(struct ncclComm *comm, const struct mini_op *ops)
{
	const struct mini_op *op;
	struct transfer *transfers;
	struct lane *lanes;
	size_t count = 0;
	size_t lane_count = 0;
	int err = 0;

	for (op = ops; op; op = op->next)
		count++;
	transfers = calloc(count + 1, sizeof(*transfers));
	lanes = calloc(count + 1, sizeof(*lanes));
	if (!transfers || !lanes)
		err = -ENOMEM;
	if (!err)
		copy_to_self(comm, ops);
	count = 0;
	for (op = ops; op && !err; op = op->next) {
		if (op->root == comm->rank)
			continue;
		transfers[count].op = op;
		transfers[count].total = op->count * mini_type_size(op->type);
		err = add_to_lane(comm, lanes, &lane_count, &transfers[count]);
		count++;
	}
	if (!err)
		err = run_lanes(comm, lanes, lane_count);
	free(lanes);
	free(transfers);
	return err;
}
