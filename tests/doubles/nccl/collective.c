/* SPDX-License-Identifier: MIT */
/*
 * What a plan does on the progress thread: rings for collectives, one transfer
 * per send or receive.  Messages have at most the size of a step of NCCL's
 * SIMPLE protocol, and messages of no bytes are sent as well, so that all ranks
 * agree on how many there are.
 */
#include "comm.h"
#include "reduce.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* An eighth of NCCL's default buffer of 4 MiB. */
#define STEP_BYTES ((size_t) 512 << 10)

/* One collective on one rank. */
struct ring {
	struct ncclComm *comm;
	const struct mini_op *op;
	struct mini_connection *to_next;
	struct mini_connection *from_previous;
	/* STEP_BYTES of room for what arrives and is to be reduced. */
	char *arrived;
	size_t type_size;
	/* The part of the data that is under way: elements, and where it begins. */
	size_t begin;
	size_t chunk;
	/* Where the data of one rank or of all ends. */
	size_t end;
};

struct transfer {
	const struct mini_op *op;
	struct mini_connection *connection;
	/* The one before on the same connection, which has to be over first. */
	const struct transfer *previous;
	struct mini_request *request;
	size_t moved;
	size_t total;
	/* Of the message under way. */
	size_t part;
	bool is_done;
};

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/*
 * Sends and receives at once; a direction whose data is NULL is left out.
 * Yields while there is nothing to do, as NCCL's progress thread does.
 */
static int exchange(struct ring *ring, const void *out, size_t out_count, void *in,
		    size_t in_count)
{
	const struct mini_transport *transport = ring->comm->proxy.transport;
	struct mini_request *send = NULL;
	struct mini_request *receive = NULL;
	bool is_sent = !out;
	bool is_received = !in;
	int err = 0;

	if (in)
		err = transport->irecv(ring->from_previous, in,
				       in_count * ring->type_size, &receive);
	if (!err && out)
		err = transport->isend(ring->to_next, out, out_count * ring->type_size,
				       &send);
	/* A transfer that an abort cut off is still in the way. */
	if (!err && ((in && !receive) || (out && !send)))
		err = -EIO;
	while (!err && !(is_sent && is_received)) {
		if (atomic_load(&ring->comm->aborted))
			return -ECANCELED;
		if (!is_received)
			err = transport->test(receive, &is_received);
		if (!err && !is_sent)
			err = transport->test(send, &is_sent);
		if (!(is_sent && is_received))
			sched_yield();
	}
	return err;
}

static const char *send_at(const struct ring *ring, size_t element)
{
	return (const char *) ring->op->send + element * ring->type_size;
}

static char *recv_at(const struct ring *ring, size_t element)
{
	return (char *) ring->op->recv + element * ring->type_size;
}

static void copy(const struct ring *ring, void *to, const void *from, size_t count)
{
	if (to != from && count)
		memmove(to, from, count * ring->type_size);
}

static int modulo(int a, int n)
{
	return ((a % n) + n) % n;
}

/* Elements of part `i` of the loop of an all-reduce: where, and how many. */
static size_t part_begin(const struct ring *ring, int i)
{
	return smaller(ring->begin + (size_t) i * ring->chunk, ring->end);
}

static size_t part_count(const struct ring *ring, int i)
{
	return part_begin(ring, i + 1) - part_begin(ring, i);
}

static int all_reduce_loop(struct ring *ring)
{
	int rank = ring->comm->rank;
	int n = ring->comm->nranks;
	int step;
	int err;

	for (step = 0; step < n - 1; step++) {
		int out = modulo(rank - step, n);
		int in = modulo(rank - step - 1, n);
		size_t out_at = part_begin(ring, out);
		size_t in_at = part_begin(ring, in);
		size_t count = part_count(ring, in);
		const char *from =
			step == 0 ? send_at(ring, out_at) : recv_at(ring, out_at);

		err = exchange(ring, from, part_count(ring, out), ring->arrived, count);
		if (err)
			return err;
		copy(ring, recv_at(ring, in_at), send_at(ring, in_at), count);
		mini_reduce(recv_at(ring, in_at), ring->arrived, count, ring->op->type,
			    ring->op->op);
		if (step == n - 2 && ring->op->op == ncclAvg)
			mini_reduce_divide(recv_at(ring, in_at), count, ring->op->type,
					   n);
	}
	for (step = 0; step < n - 1; step++) {
		int out = modulo(rank + 1 - step, n);
		int in = modulo(rank - step, n);

		err = exchange(ring, recv_at(ring, part_begin(ring, out)),
			       part_count(ring, out), recv_at(ring, part_begin(ring, in)),
			       part_count(ring, in));
		if (err)
			return err;
	}
	return 0;
}

static int reduce_scatter_loop(struct ring *ring)
{
	const struct mini_op *op = ring->op;
	int rank = ring->comm->rank;
	int n = ring->comm->nranks;
	size_t count = smaller(ring->chunk, ring->end - ring->begin);
	char *sum = ring->arrived + STEP_BYTES;
	const char *out =
		send_at(ring, (size_t) modulo(rank - 1, n) * op->count + ring->begin);
	int step;
	int err;

	for (step = 0; step < n - 1; step++) {
		size_t block = (size_t) modulo(rank - 2 - step, n);

		err = exchange(ring, out, count, ring->arrived, count);
		if (err)
			return err;
		copy(ring, sum, send_at(ring, block * op->count + ring->begin), count);
		mini_reduce(sum, ring->arrived, count, op->type, op->op);
		out = sum;
	}
	if (op->op == ncclAvg)
		mini_reduce_divide(sum, count, op->type, n);
	copy(ring, recv_at(ring, ring->begin), sum, count);
	return 0;
}

static int all_gather_loop(struct ring *ring)
{
	const struct mini_op *op = ring->op;
	int rank = ring->comm->rank;
	int n = ring->comm->nranks;
	size_t count = smaller(ring->chunk, ring->end - ring->begin);
	int step;
	int err;

	copy(ring, recv_at(ring, (size_t) rank * op->count + ring->begin),
	     send_at(ring, ring->begin), count);
	for (step = 0; step < n - 1; step++) {
		size_t out = (size_t) modulo(rank - step, n) * op->count + ring->begin;
		size_t in = (size_t) modulo(rank - step - 1, n) * op->count + ring->begin;

		err = exchange(ring, recv_at(ring, out), count, recv_at(ring, in), count);
		if (err)
			return err;
	}
	return 0;
}

static int broadcast_loop(struct ring *ring)
{
	const struct mini_op *op = ring->op;
	int n = ring->comm->nranks;
	size_t count = smaller(ring->chunk, ring->end - ring->begin);
	char *data = recv_at(ring, ring->begin);
	int err = 0;

	if (ring->comm->rank == op->root)
		copy(ring, data, send_at(ring, ring->begin), count);
	else
		err = exchange(ring, NULL, 0, data, count);
	if (!err && modulo(ring->comm->rank + 1, n) != op->root)
		err = exchange(ring, data, count, NULL, 0);
	return err;
}

/* The chain begins after the root and ends at it. */
static int reduce_loop(struct ring *ring)
{
	const struct mini_op *op = ring->op;
	int n = ring->comm->nranks;
	size_t count = smaller(ring->chunk, ring->end - ring->begin);
	const char *own = send_at(ring, ring->begin);
	int err;

	if (ring->comm->rank == modulo(op->root + 1, n))
		return exchange(ring, own, count, NULL, 0);
	err = exchange(ring, NULL, 0, ring->arrived, count);
	if (err)
		return err;
	mini_reduce(ring->arrived, own, count, op->type, op->op);
	if (ring->comm->rank != op->root)
		return exchange(ring, ring->arrived, count, NULL, 0);
	if (op->op == ncclAvg)
		mini_reduce_divide(ring->arrived, count, op->type, n);
	copy(ring, recv_at(ring, ring->begin), ring->arrived, count);
	return 0;
}

static int run_collective(struct ncclComm *comm, const struct mini_op *op)
{
	int (*const loops[])(struct ring *) = {
		[MINI_BROADCAST] = broadcast_loop,
		[MINI_REDUCE] = reduce_loop,
		[MINI_ALL_GATHER] = all_gather_loop,
		[MINI_REDUCE_SCATTER] = reduce_scatter_loop,
		[MINI_ALL_REDUCE] = all_reduce_loop,
	};
	size_t parts = op->function == MINI_ALL_REDUCE ? (size_t) comm->nranks : 1;
	struct ring ring = {
		.comm = comm,
		.op = op,
		.to_next = mini_proxy_connection(&comm->proxy,
						 modulo(comm->rank + 1, comm->nranks), 0,
						 true),
		.from_previous = mini_proxy_connection(
			&comm->proxy, modulo(comm->rank - 1, comm->nranks), 0, false),
		.type_size = mini_type_size(op->type),
		.end = op->count,
	};
	int err = 0;

	ring.arrived = malloc(2 * STEP_BYTES);
	if (!ring.arrived)
		return -ENOMEM;
	for (; ring.begin < ring.end && !err; ring.begin += parts * ring.chunk) {
		/* The last loop shares what is left among the parts. */
		ring.chunk = smaller(STEP_BYTES / ring.type_size,
				     (ring.end - ring.begin + parts - 1) / parts);
		err = loops[op->function](&ring);
	}
	free(ring.arrived);
	return err;
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

static int go_on(struct ncclComm *comm, struct transfer *t)
{
	const struct mini_transport *transport = comm->proxy.transport;
	bool is_sent;
	int err = 0;

	if (t->previous && !t->previous->is_done)
		return 0;
	if (!t->request) {
		t->part = smaller(STEP_BYTES, t->total - t->moved);
		if (t->op->function == MINI_SEND)
			err = transport->isend(t->connection,
					       (const char *) t->op->send + t->moved,
					       t->part, &t->request);
		else
			err = transport->irecv(t->connection,
					       (char *) t->op->recv + t->moved, t->part,
					       &t->request);
	}
	if (err || !t->request)
		return err;
	err = transport->test(t->request, &is_sent);
	if (err || !is_sent)
		return err;
	t->request = NULL;
	t->moved += t->part;
	t->is_done = t->moved == t->total;
	return 0;
}

static size_t collect_transfers(struct ncclComm *comm, const struct mini_op *ops,
				struct transfer *transfers)
{
	const struct mini_op *op;
	size_t count = 0;
	size_t i;

	for (op = ops; op; op = op->next) {
		struct transfer *t = &transfers[count];

		if (!mini_op_is_p2p(op) || op->root == comm->rank)
			continue;
		t->op = op;
		t->connection = mini_proxy_connection(&comm->proxy, op->root, 1,
						      op->function == MINI_SEND);
		t->total = op->count * mini_type_size(op->type);
		for (i = 0; i < count; i++) {
			if (transfers[i].connection == t->connection)
				t->previous = &transfers[i];
		}
		count++;
	}
	return count;
}

static int run_transfers(struct ncclComm *comm, const struct mini_op *ops)
{
	const struct mini_op *op;
	struct transfer *transfers;
	size_t count = 0;
	size_t done = 0;
	size_t i;
	int err = 0;

	for (op = ops; op; op = op->next)
		count++;
	transfers = calloc(count + 1, sizeof(*transfers));
	if (!transfers)
		return -ENOMEM;
	copy_to_self(comm, ops);
	count = collect_transfers(comm, ops, transfers);
	while (done < count && !err) {
		done = 0;
		for (i = 0; i < count && !err; i++) {
			if (!transfers[i].is_done)
				err = go_on(comm, &transfers[i]);
			done += transfers[i].is_done;
		}
		if (!err && atomic_load(&comm->aborted))
			err = -ECANCELED;
		if (done < count)
			sched_yield();
	}
	free(transfers);
	return err;
}

int mini_plan_run(struct mini_plan *plan)
{
	const struct mini_op *op;
	int err = 0;

	for (op = plan->ops; op && !mini_op_is_p2p(op) && !err; op = op->next)
		err = run_collective(plan->comm, op);
	return err ? err : run_transfers(plan->comm, op);
}
