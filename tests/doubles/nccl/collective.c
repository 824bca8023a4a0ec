/* SPDX-License-Identifier: MIT */
/*
 * What a plan does on the progress thread, first of all its collectives: a ring per
 * channel, all of them at once.  Messages have at most the size of a step of NCCL's
 * SIMPLE protocol, and messages of no bytes are sent as well, so that all ranks agree on
 * how many there are.
 */
#include "comm.h"
#include "reduce.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* One collective on one channel of one rank: loops over its data, of the same steps. */
struct ring {
	struct ncclComm *comm;
	const struct mini_op *op;
	const struct shape *shape;
	struct mini_flow *to_next;
	struct mini_flow *from_previous;
	/* A step of room for what arrives and is to be reduced, one for the result. */
	char *arrived;
	char *sum;
	size_t type_size;
	/* The elements of the channel, where the data of one rank or of all lies. */
	size_t begin;
	size_t end;
	int steps;
	int step;
	/* Up to which step messages to receive were begun: ahead of the data. */
	int receive_step;
	int receives;
	int sends;
	bool is_sent;
	bool is_received;
};

/* What one step of a ring has to do; without data a direction is left out. */
struct step {
	/* The part of the data that is under way: elements, and where it begins. */
	size_t begin;
	size_t chunk;
	/* Counted in the loop. */
	int number;
	const char *out;
	size_t out_count;
	char *in;
	size_t in_count;
};

struct shape {
	int (*steps)(int nranks);
	/* What to send and to receive; the same whenever it is asked. */
	void (*plan)(const struct ring *ring, struct step *step);
	/* What to do with what arrived. */
	void (*finish)(const struct ring *ring, const struct step *step);
};

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
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
static size_t part_begin(const struct ring *ring, const struct step *step, int i)
{
	return smaller(step->begin + (size_t) i * step->chunk, ring->end);
}

static size_t part_count(const struct ring *ring, const struct step *step, int i)
{
	return part_begin(ring, step, i + 1) - part_begin(ring, step, i);
}

/* Of the others the data has one part in a loop. */
static size_t chunk_count(const struct ring *ring, const struct step *step)
{
	return smaller(step->chunk, ring->end - step->begin);
}

/* And this is where that of one rank is in a buffer with the data of all. */
static size_t block_begin(const struct ring *ring, const struct step *step, int rank)
{
	return (size_t) modulo(rank, ring->comm->nranks) * ring->op->count + step->begin;
}

static int all_reduce_steps(int nranks)
{
	return 2 * (nranks - 1);
}

/* The part that is received in a step, which is sent in the next one. */
static int all_reduce_part(const struct ring *ring, int step)
{
	int n = ring->comm->nranks;

	return modulo(step < n - 1 ? ring->comm->rank - step - 1
				   : ring->comm->rank - (step - (n - 1)),
		      n);
}

static void all_reduce_plan(const struct ring *ring, struct step *step)
{
	int in = all_reduce_part(ring, step->number);
	int out = all_reduce_part(ring, step->number - 1);
	size_t out_at = part_begin(ring, step, out);

	step->out = step->number == 0 ? send_at(ring, out_at) : recv_at(ring, out_at);
	step->out_count = part_count(ring, step, out);
	step->in = step->number < ring->comm->nranks - 1
			   ? ring->arrived
			   : recv_at(ring, part_begin(ring, step, in));
	step->in_count = part_count(ring, step, in);
}

static void all_reduce_finish(const struct ring *ring, const struct step *step)
{
	int n = ring->comm->nranks;
	size_t at = part_begin(ring, step, all_reduce_part(ring, step->number));

	if (step->number >= n - 1)
		return;
	copy(ring, recv_at(ring, at), send_at(ring, at), step->in_count);
	mini_reduce(recv_at(ring, at), ring->arrived, step->in_count, ring->op->type,
		    ring->op->op);
	if (step->number == n - 2 && ring->op->op == ncclAvg)
		mini_reduce_divide(recv_at(ring, at), step->in_count, ring->op->type, n);
}

static int once_around(int nranks)
{
	return nranks - 1;
}

static void reduce_scatter_plan(const struct ring *ring, struct step *step)
{
	step->out = step->number == 0
			    ? send_at(ring, block_begin(ring, step, ring->comm->rank - 1))
			    : ring->sum;
	step->out_count = chunk_count(ring, step);
	step->in = ring->arrived;
	step->in_count = chunk_count(ring, step);
}

static void reduce_scatter_finish(const struct ring *ring, const struct step *step)
{
	const struct mini_op *op = ring->op;
	int n = ring->comm->nranks;
	int block = ring->comm->rank - 2 - step->number;

	copy(ring, ring->sum, send_at(ring, block_begin(ring, step, block)),
	     step->in_count);
	mini_reduce(ring->sum, ring->arrived, step->in_count, op->type, op->op);
	if (step->number < n - 2)
		return;
	if (op->op == ncclAvg)
		mini_reduce_divide(ring->sum, step->in_count, op->type, n);
	copy(ring, recv_at(ring, step->begin), ring->sum, step->in_count);
}

static void all_gather_plan(const struct ring *ring, struct step *step)
{
	int rank = ring->comm->rank;
	size_t out_at = block_begin(ring, step, rank - step->number);

	step->out =
		step->number == 0 ? send_at(ring, step->begin) : recv_at(ring, out_at);
	step->out_count = chunk_count(ring, step);
	step->in = recv_at(ring, block_begin(ring, step, rank - step->number - 1));
	step->in_count = chunk_count(ring, step);
}

static void all_gather_finish(const struct ring *ring, const struct step *step)
{
	size_t own = block_begin(ring, step, ring->comm->rank);

	if (step->number == 0)
		copy(ring, recv_at(ring, own), send_at(ring, step->begin),
		     step->in_count);
}

/* In a chain a rank receives, then it sends. */
static int receive_and_send(int nranks)
{
	(void) nranks;
	return 2;
}

static void broadcast_plan(const struct ring *ring, struct step *step)
{
	int root = ring->op->root;
	int rank = ring->comm->rank;
	char *data = recv_at(ring, step->begin);

	if (step->number == 0 && rank != root)
		step->in = data;
	if (step->number == 1 && modulo(rank + 1, ring->comm->nranks) != root)
		step->out = data;
	step->in_count = chunk_count(ring, step);
	step->out_count = step->in_count;
}

static void broadcast_finish(const struct ring *ring, const struct step *step)
{
	if (step->number == 0 && ring->comm->rank == ring->op->root)
		copy(ring, recv_at(ring, step->begin), send_at(ring, step->begin),
		     step->in_count);
}

/* The chain begins after the root and ends at it. */
static bool begins_chain(const struct ring *ring)
{
	return ring->comm->rank == modulo(ring->op->root + 1, ring->comm->nranks);
}

static void reduce_plan(const struct ring *ring, struct step *step)
{
	if (step->number == 0 && !begins_chain(ring))
		step->in = ring->arrived;
	if (step->number == 1 && ring->comm->rank != ring->op->root)
		step->out = begins_chain(ring) ? send_at(ring, step->begin) : ring->sum;
	step->in_count = chunk_count(ring, step);
	step->out_count = step->in_count;
}

static void reduce_finish(const struct ring *ring, const struct step *step)
{
	const struct mini_op *op = ring->op;

	if (!step->in)
		return;
	copy(ring, ring->sum, ring->arrived, step->in_count);
	mini_reduce(ring->sum, send_at(ring, step->begin), step->in_count, op->type,
		    op->op);
	if (ring->comm->rank != op->root)
		return;
	if (op->op == ncclAvg)
		mini_reduce_divide(ring->sum, step->in_count, op->type,
				   ring->comm->nranks);
	copy(ring, recv_at(ring, step->begin), ring->sum, step->in_count);
}

static const struct shape shapes[] = {
	[MINI_BROADCAST] = {receive_and_send, broadcast_plan, broadcast_finish},
	[MINI_REDUCE] = {receive_and_send, reduce_plan, reduce_finish},
	[MINI_ALL_GATHER] = {once_around, all_gather_plan, all_gather_finish},
	[MINI_REDUCE_SCATTER] = {once_around, reduce_scatter_plan, reduce_scatter_finish},
	[MINI_ALL_REDUCE] = {all_reduce_steps, all_reduce_plan, all_reduce_finish},
};

/* In how many parts a loop moves its data. */
static size_t loop_parts(const struct ring *ring)
{
	return ring->op->function == MINI_ALL_REDUCE ? (size_t) ring->comm->nranks : 1;
}

static struct step step_of(const struct ring *ring, int number)
{
	size_t parts = loop_parts(ring);
	size_t most = MINI_STEP_BYTES / ring->type_size;
	int per_loop = ring->shape->steps(ring->comm->nranks);
	struct step step = {.number = number % per_loop};

	step.begin = ring->begin + (size_t) (number / per_loop) * parts * most;
	/* The last loop shares what is left among the parts. */
	step.chunk = smaller(most, (ring->end - step.begin + parts - 1) / parts);
	ring->shape->plan(ring, &step);
	return step;
}

static struct mini_message message_of(const struct ring *ring, int step, const char *data,
				      size_t count)
{
	return (struct mini_message){
		.op = ring->op,
		.step = step,
		/* Only read where it is sent. */
		.data = (char *) (uintptr_t) data,
		.size = count * ring->type_size,
	};
}

/*
 * NCCL's receiver is ahead of the data as far as there is room
 * (NCCL 2.28.9, transport/net.cc:1440-1500).
 */
static int receive_ahead(struct ring *ring)
{
	int begun = 1;

	for (; begun > 0 && ring->receive_step < ring->steps; ring->receive_step++) {
		struct step step = step_of(ring, ring->receive_step);
		struct mini_message message =
			message_of(ring, ring->receives, step.in, step.in_count);

		if (!step.in)
			continue;
		begun = mini_flow_receive(ring->from_previous, &message, 1);
		if (begun <= 0)
			return begun;
		ring->receives++;
	}
	return 0;
}

static int go_on_with_step(struct ring *ring)
{
	bool is_buffered = ring->comm->proxy.transport->is_buffered;
	struct step step = step_of(ring, ring->step);
	struct mini_message message =
		message_of(ring, ring->sends, step.out, step.out_count);
	int moved = 1;

	if (step.out && !ring->is_sent) {
		moved = mini_flow_send(ring->to_next, &message);
		ring->is_sent = moved > 0;
		ring->sends += ring->is_sent;
	}
	if (moved >= 0 && step.in && !ring->is_received &&
	    ring->receive_step > ring->step) {
		moved = mini_flow_test(ring->from_previous);
		ring->is_received = moved > 0;
	}
	if (moved < 0)
		return moved;
	if ((step.out && !ring->is_sent) || (step.in && !ring->is_received) ||
	    (step.out && !is_buffered && ring->to_next->count > 0))
		return 0;
	ring->shape->finish(ring, &step);
	ring->is_sent = false;
	ring->is_received = false;
	ring->step++;
	return 0;
}

static bool is_over(const struct ring *ring)
{
	return ring->step == ring->steps && ring->to_next->count == 0;
}

static int go_on_with_ring(struct ring *ring)
{
	int err = receive_ahead(ring);

	if (!err)
		err = mini_flow_test(ring->to_next);
	if (err >= 0 && ring->step < ring->steps)
		err = go_on_with_step(ring);
	return err < 0 ? err : 0;
}

static int open_ring(struct ring *ring, struct ncclComm *comm, const struct mini_op *op,
		     int channel)
{
	size_t part = mini_op_elements_per_channel(comm, op);
	struct mini_end next = {modulo(comm->rank + 1, comm->nranks), channel, 0, true};
	struct mini_end previous = {modulo(comm->rank - 1, comm->nranks), channel, 0,
				    false};
	size_t most;

	ring->comm = comm;
	ring->op = op;
	ring->shape = &shapes[op->function];
	ring->type_size = mini_type_size(op->type);
	ring->begin = smaller((size_t) channel * part, op->count);
	ring->end = smaller(ring->begin + part, op->count);
	ring->to_next = mini_proxy_flow(&comm->proxy, &next);
	ring->from_previous = mini_proxy_flow(&comm->proxy, &previous);
	most = loop_parts(ring) * (MINI_STEP_BYTES / ring->type_size);
	ring->steps = (int) ((ring->end - ring->begin + most - 1) / most) *
		      ring->shape->steps(comm->nranks);
	/* What an abort cut off is still in the way. */
	if (ring->to_next->count > 0 || ring->from_previous->count > 0)
		return -EIO;
	ring->arrived = malloc(2 * MINI_STEP_BYTES);
	if (!ring->arrived)
		return -ENOMEM;
	ring->sum = ring->arrived + MINI_STEP_BYTES;
	return 0;
}

static int run_rings(struct ncclComm *comm, struct ring *rings, int count)
{
	bool is_done = false;
	int err = 0;
	int i;

	while (!is_done && !err) {
		is_done = true;
		for (i = 0; i < count && !err; i++) {
			if (!is_over(&rings[i]))
				err = go_on_with_ring(&rings[i]);
			is_done = is_done && is_over(&rings[i]);
		}
		if (!err && !is_done && atomic_load(&comm->aborted))
			err = -ECANCELED;
		/* As NCCL's progress thread while there is nothing to do. */
		if (!is_done)
			sched_yield();
	}
	return err;
}

static int run_collective(struct ncclComm *comm, const struct mini_op *op)
{
	struct ring *rings = calloc((size_t) comm->channels, sizeof(*rings));
	uint64_t mask = mini_op_channels(comm, op);
	int count = 0;
	int err = 0;
	int i;

	if (!rings)
		return -ENOMEM;
	while (mask >> count & 1 && count < comm->channels && !err) {
		err = open_ring(&rings[count], comm, op, count);
		count++;
	}
	if (!err)
		err = run_rings(comm, rings, count);
	for (i = 0; i < count; i++)
		free(rings[i].arrived);
	free(rings);
	return err;
}

int mini_plan_run(struct mini_plan *plan)
{
	const struct mini_op *op;
	int err = 0;

	for (op = plan->ops; op && !mini_op_is_p2p(op) && !err; op = op->next)
		err = run_collective(plan->comm, op);
	return err ? err : mini_transfers_run(plan->comm, op);
}
