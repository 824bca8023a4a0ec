/* SPDX-License-Identifier: MIT */
/*
 * Lines of what is to be done on a connection, or on a channel of all connections point
 * to point (NCCL 2.28.9, proxy.cc:430-466 and 735-790).
 */
#include "comm.h"
#include "order.h"
#include "proxy_batch.h"
#include "proxy_guest.h"

#include <errno.h>
#include <stdlib.h>

/* Gives the place of one that is over to the next in its line. */
static void replace(struct mini_proxy_batch **place)
{
	struct mini_proxy_batch *batch = *place;
	struct mini_line *line = batch->line;

	line->first = batch->next;
	if (!line->first)
		line->last = NULL;
	*place = batch->next_active;
	if (!line->first)
		return;
	line->first->next_active = *place;
	*place = line->first;
}

/* Has another one be the first; the others stay as they follow each other. */
static void rotate(struct mini_actives *actives)
{
	struct mini_proxy_batch *batch;
	struct mini_proxy_batch *last;
	size_t count = 0;
	size_t steps;

	if (!actives->order)
		return;
	for (batch = actives->first; batch; batch = batch->next_active)
		count++;
	for (steps = mini_order(&actives->order, count); steps > 0; steps--) {
		batch = actives->first;
		for (last = batch; last->next_active; last = last->next_active)
			;
		actives->first = batch->next_active;
		batch->next_active = NULL;
		last->next_active = batch;
	}
}

static void break_flows(struct mini_proxy_batch *batch)
{
	int i;

	for (i = 0; i < batch->count; i++)
		batch->ops[i]->flow->is_broken = true;
}

/* One of another rank's is over. */
static void end_guest(struct mini_actives *actives, struct mini_proxy_batch *batch)
{
	int i;

	actives->guests -= (size_t) batch->count;
	for (i = 0; i < batch->count; i++)
		free(batch->ops[i]);
}

/* Whether another rank's goes no further: it was aborted, or this one was. */
static bool is_given_up(const struct mini_actives *actives,
			const struct mini_proxy_batch *batch)
{
	int i;

	for (i = 0; i < batch->count; i++) {
		if (atomic_load(&batch->ops[i]->flow->front->is_given_up))
			return true;
	}
	return atomic_load(actives->is_aborted);
}

/* As below.  What fails is not gone on with; the other rank waits until it is aborted. */
static int step_guest(struct mini_actives *actives, struct mini_proxy_batch *batch,
		      bool *moved, int *ret_err)
{
	int res;

	if (is_given_up(actives, batch)) {
		break_flows(batch);
		return 1;
	}
	if (batch->has_failed)
		return 0;
	res = mini_proxy_batch_step(batch, moved);
	batch->has_failed = res < 0;
	*ret_err = res < 0 ? res : 0;
	return res > 0;
}

/* 1: over, 0: not yet or not to be gone on with, or -errno. */
static int step_own(struct mini_proxy_batch *batch, bool *moved,
		    struct ncclComm **ret_aborted)
{
	if (atomic_load(&batch->plan->comm->aborted))
		*ret_aborted = batch->plan->comm;
	return batch->plan->err ? 0 : mini_proxy_batch_step(batch, moved);
}

struct ncclComm *mini_proxy_ops_step(struct mini_actives *actives, bool *moved,
				     void (*tell)(void *argument, struct mini_plan *plan,
						  int err),
				     void *argument)
{
	struct mini_proxy_batch **place = &actives->first;
	struct mini_proxy_batch *batch;
	struct ncclComm *aborted = NULL;
	int err;
	int res;

	rotate(actives);
	while (*place) {
		batch = *place;
		err = 0;
		res = batch->plan ? step_own(batch, moved, &aborted)
				  : step_guest(actives, batch, moved, &err);
		if (res < 0 || err)
			tell(argument, batch->plan, res < 0 ? res : err);
		if (res <= 0) {
			place = &batch->next_active;
			continue;
		}
		replace(place);
		*moved = true;
		if (!batch->plan)
			end_guest(actives, batch);
		else if (--batch->plan->batches == 0)
			tell(argument, batch->plan, 0);
		free(batch);
	}
	return aborted;
}

/* Those of other communicators that share the line stay. */
static void clear_line(struct mini_line *line, const struct ncclComm *comm,
		       void (*tell)(void *argument, struct mini_plan *plan, int err),
		       void *argument)
{
	struct mini_proxy_batch **place = &line->first;
	struct mini_proxy_batch *batch;

	line->last = NULL;
	while (*place) {
		batch = *place;
		if (!batch->plan || batch->plan->comm != comm) {
			line->last = batch;
			place = &batch->next;
			continue;
		}
		*place = batch->next;
		break_flows(batch);
		if (--batch->plan->batches == 0)
			tell(argument, batch->plan, 0);
		free(batch);
	}
}

void mini_proxy_ops_drop(struct mini_actives *actives, const struct ncclComm *comm,
			 void (*tell)(void *argument, struct mini_plan *plan, int err),
			 void *argument)
{
	struct mini_proxy_batch **place = &actives->first;
	struct mini_line *line;

	while (*place) {
		struct mini_proxy_batch *next = (*place)->next_active;

		line = (*place)->line;
		clear_line(line, comm, tell, argument);
		*place = next;
		if (line->first) {
			line->first->next_active = next;
			*place = line->first;
			place = &line->first->next_active;
		}
	}
}

bool mini_proxy_ops_are_busy(const struct mini_actives *actives)
{
	const struct mini_proxy_batch *batch;

	for (batch = actives->first; batch; batch = batch->next_active) {
		if (!batch->plan || atomic_load(&batch->plan->comm->aborted) ||
		    (atomic_load(&batch->plan->has_begun) && !batch->plan->err))
			return true;
	}
	return false;
}

static struct mini_line *line_of(const struct mini_proxy_op *op)
{
	if (!mini_proxy_op_is_pooled(op))
		return &op->flow->own_line;
	return &op->flow->pool->lines[op->channel];
}

static void begin_op(struct mini_actives *actives, const struct mini_proxy_batch *batch,
		     struct mini_proxy_op *op)
{
	actives->added++;
	MINI_PROFILE(op_begin(op, batch->ops[0]->profile.chunk));
}

/* Transfers with one number, which are of one batch of the kernel, stand together. */
static int queue(struct mini_actives *actives, struct mini_plan *plan,
		 struct mini_proxy_op *op)
{
	struct mini_line *line = line_of(op);
	struct mini_proxy_batch *batch = line->last;

	if (batch && mini_proxy_op_is_pooled(op) && batch->plan == plan &&
	    batch->number == op->number && batch->count < MINI_BATCH_OPS &&
	    !batch->is_started) {
		batch->ops[batch->count++] = op;
		begin_op(actives, batch, op);
		return 0;
	}
	batch = calloc(1, sizeof(*batch));
	if (!batch)
		return -ENOMEM;
	batch->plan = plan;
	batch->line = line;
	batch->number = op->number;
	batch->is_send = op->flow->is_send;
	batch->ops[batch->count++] = op;
	if (plan)
		plan->batches++;
	if (line->last) {
		line->last->next = batch;
	} else {
		line->first = batch;
		batch->next_active = actives->first;
		actives->first = batch;
	}
	line->last = batch;
	begin_op(actives, batch, op);
	return 0;
}

int mini_proxy_ops_add_guest(struct mini_actives *actives, struct mini_proxy_op *op)
{
	int err = queue(actives, NULL, op);

	actives->guests += !err;
	return err;
}

int mini_proxy_ops_begin(struct mini_actives *actives, struct mini_plan *plan)
{
	size_t i;
	int err = mini_proxy_ops_create(plan);

	for (i = 0; i < plan->proxy_op_count && !err; i++) {
		if (!plan->proxy_ops[i].flow->poster)
			err = queue(actives, plan, &plan->proxy_ops[i]);
	}
	if (!err)
		mini_errands_put(plan, actives);
	return err;
}
