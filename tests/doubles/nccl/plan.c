/* SPDX-License-Identifier: MIT */
/*
 * From the operations of a group to plans: as much in each as the arguments of a kernel
 * have room for, collectives before transfers (NCCL 2.28.9, enqueue.cc:1053-1130 and
 * 1417-1490).
 */
#include "plan.h"

#include "arguments.h"
#include "comm.h"
#include "copies.h"
#include "reduce.h"
#include "release.h"
#include "result.h"
#include "symmetric.h"
#include "work.h"

#include <errno.h>
#include <stdlib.h>

/* What is not yet in a plan. */
struct planner {
	struct ncclComm *comm;
	struct mini_work *colls;
	/* By peer: to receive, and to send. */
	struct mini_op **transfers[MINI_DIRECTIONS];
	size_t transfer_count;
	/* How many channels a large one has. */
	int least;
	int most;
};

void mini_ops_destroy(struct mini_op *ops)
{
	struct mini_op *op;

	while (ops) {
		op = ops;
		ops = op->next;
		free(op);
	}
}

static void destroy_works(struct mini_work *works)
{
	struct mini_work *work;

	while (works) {
		work = works;
		works = work->next;
		free(work);
	}
}

void mini_plan_destroy(struct mini_plan *plan)
{
	if (!plan->is_copy) {
		mini_ops_destroy(plan->ops);
		destroy_works(plan->works);
		free(plan->parts);
	}
	if (plan->symmetric)
		mini_symmetric_free(plan->symmetric);
	if (plan->launch) {
		mini_launch_free(plan->launch);
		free(plan->launch);
	}
	free(plan->proxy_ops);
	free(plan);
}

void mini_plans_destroy(struct mini_plan *plans)
{
	struct mini_plan *plan;

	while (plans) {
		plan = plans;
		plans = plan->next;
		mini_plan_destroy(plan);
	}
}

static void destroy_planner(struct planner *planner)
{
	struct mini_work *work;
	int peer;

	for (work = planner->colls; work; work = work->next)
		free(work->coll.op);
	destroy_works(planner->colls);
	for (peer = 0; peer < planner->comm->nranks && planner->transfers[0]; peer++) {
		mini_ops_destroy(planner->transfers[MINI_RECEIVING][peer]);
		mini_ops_destroy(planner->transfers[MINI_SENDING][peer]);
	}
	free(planner->transfers[0]);
}

static bool append_coll(struct planner *planner, struct mini_op *op)
{
	struct mini_work *work = calloc(1, sizeof(*work));
	struct mini_work **end = &planner->colls;

	if (!work)
		return false;
	work->coll.op = op;
	while (*end)
		end = &(*end)->next;
	*end = work;
	return true;
}

static void append_transfer(struct planner *planner, struct mini_op *op)
{
	struct mini_op **end =
		&planner->transfers[op->function == MINI_SEND ? MINI_SENDING
							      : MINI_RECEIVING][op->root];

	while (*end)
		end = &(*end)->next;
	*end = op;
	planner->transfer_count++;
}

/* Takes the operations over. */
static ncclResult_t fill_planner(struct planner *planner, struct mini_op *ops)
{
	size_t n = (size_t) planner->comm->nranks;
	ncclResult_t result = ncclSuccess;
	struct mini_op *op;

	planner->transfers[0] = calloc(2 * n, sizeof(*planner->transfers[0]));
	if (!planner->transfers[0]) {
		mini_ops_destroy(ops);
		return mini_result(-ENOMEM);
	}
	planner->transfers[1] = planner->transfers[0] + n;
	while (ops) {
		op = ops;
		ops = op->next;
		op->next = NULL;
		if (mini_op_is_p2p(op)) {
			append_transfer(planner, op);
		} else if (!append_coll(planner, op)) {
			free(op);
			result = mini_result(-ENOMEM);
		}
	}
	if (!mini_colls_prepare(planner->comm, &planner->colls))
		result = mini_fail(ncclInvalidUsage,
				   "Error : no algorithm/protocol available");
	return result;
}

static void append_op(struct mini_plan *plan, struct mini_op *op)
{
	struct mini_op **end = &plan->ops;

	while (*end)
		end = &(*end)->next;
	*end = op;
}

static bool append_work(struct mini_plan *plan, struct mini_work *work)
{
	struct mini_work **end = &plan->works;

	while (*end)
		end = &(*end)->next;
	work->next = NULL;
	*end = work;
	return mini_launch_add(plan->launch, plan, work);
}

/* How many of the collectives a launch has room for, roughly. */
static int count_colls(const struct planner *planner)
{
	const struct mini_work *work;
	unsigned int count = 0;

	for (work = planner->colls;
	     work &&
	     mini_launch_fits(NULL, (count + 3) / 4, (count + 1) * mini_coll_bytes());
	     work = work->next)
		count++;
	return (int) count;
}

static int schedule_colls(struct planner *planner, struct mini_plan *plan)
{
	int count = count_colls(planner);
	struct mini_cutter cutter;
	struct mini_work *work;
	unsigned int channels;

	mini_cutter_begin(&cutter, planner->comm, planner->colls, count);
	for (; count > 0; count--) {
		struct mini_cutter before = cutter;

		work = planner->colls;
		mini_cutter_cut(&cutter, &work->coll);
		channels = (unsigned int) __builtin_popcountll(work->coll.op->channels);
		if (!mini_launch_fits(plan->launch, channels, mini_coll_bytes())) {
			cutter = before;
			work->coll.op->channels = 0;
			return 0;
		}
		planner->colls = work->next;
		append_op(plan, work->coll.op);
		if (!append_work(plan, work))
			return -ENOMEM;
	}
	return 0;
}

static ncclResult_t check_self(const struct mini_op *send, const struct mini_op *receive)
{
	if (send && !receive)
		return mini_fail(ncclInvalidUsage,
				 "Trying to send to self without a matching recv");
	if (receive && !send)
		return mini_fail(ncclInvalidUsage,
				 "Trying to recv to self without a matching send");
	return ncclSuccess;
}

static struct mini_op *take_transfer(struct planner *planner, int direction, int peer)
{
	struct mini_op *op = planner->transfers[direction][peer];

	if (op) {
		planner->transfers[direction][peer] = op->next;
		op->next = NULL;
		planner->transfer_count--;
	}
	return op;
}

/* A send to itself that changes nothing is none. */
static bool skip_self(struct planner *planner, const struct mini_op *send,
		      const struct mini_op *receive)
{
	int rank = planner->comm->rank;

	if (!send || !receive || send->root != rank || send->send != receive->recv)
		return false;
	free(take_transfer(planner, MINI_SENDING, rank));
	free(take_transfer(planner, MINI_RECEIVING, rank));
	return true;
}

static int add_pair(struct planner *planner, struct mini_plan *plan, int round)
{
	const struct mini_topology *topology = planner->comm->topology;
	struct mini_work *work = calloc(1, sizeof(*work));
	struct mini_side *sides;

	if (!work)
		return -ENOMEM;
	sides = work->pair.sides;
	work->is_pair = true;
	work->pair.round = round;
	sides[MINI_SENDING].peer = topology->rounds[round].send_rank;
	sides[MINI_RECEIVING].peer = topology->rounds[round].recv_rank;
	sides[MINI_SENDING].op =
		take_transfer(planner, MINI_SENDING, sides[MINI_SENDING].peer);
	sides[MINI_RECEIVING].op =
		take_transfer(planner, MINI_RECEIVING, sides[MINI_RECEIVING].peer);
	mini_pair_cut(planner->comm, &work->pair, planner->least, planner->most);
	if (sides[MINI_SENDING].op)
		append_op(plan, sides[MINI_SENDING].op);
	if (sides[MINI_RECEIVING].op)
		append_op(plan, sides[MINI_RECEIVING].op);
	return append_work(plan, work) ? 0 : -ENOMEM;
}

/* One round after another, until no peer has anything left; 1 when the launch is full. */
static int schedule_round(struct planner *planner, struct mini_plan *plan, int round,
			  ncclResult_t *ret_result)
{
	const struct mini_topology *topology = planner->comm->topology;
	const struct mini_round *peers = &topology->rounds[round];
	const struct mini_op *send = planner->transfers[MINI_SENDING][peers->send_rank];
	const struct mini_op *receive =
		planner->transfers[MINI_RECEIVING][peers->recv_rank];

	if (!send && !receive)
		return 0;
	if (peers->send_rank == planner->comm->rank)
		*ret_result = check_self(send, receive);
	if (*ret_result != ncclSuccess || skip_self(planner, send, receive))
		return 0;
	if (!mini_launch_fits(plan->launch,
			      (unsigned int) topology->p2p_channels_per_peer,
			      MINI_P2P_BYTES))
		return 1;
	return add_pair(planner, plan, round);
}

/*
 * All, or fewer where the transfers with all ranks would meet on a channel.  Before 2.20
 * that is so on one host alone, and there are fewer for large ones, too, so that no more
 * than four meet (NCCL 2.19.4, enqueue.cc:621-628).
 */
static void count_channels(struct planner *planner)
{
	const struct mini_topology *topology = planner->comm->topology;
	int nranks = planner->comm->nranks;
	bool is_older = mini_release() < 22000;

	planner->least = topology->p2p_channels_per_peer;
	planner->most = topology->p2p_channels_per_peer;
	if (is_older && topology->nnodes > 1)
		return;
	while (planner->least > 1 && planner->least * nranks > topology->p2p_channels)
		planner->least /= 2;
	while (is_older && planner->most > 1 &&
	       planner->most * nranks > topology->p2p_channels * 4)
		planner->most /= 2;
}

static int schedule_transfers(struct planner *planner, struct mini_plan *plan,
			      ncclResult_t *ret_result)
{
	int nranks = planner->comm->nranks;
	int round;
	int res = 0;

	count_channels(planner);
	while (planner->transfer_count > 0 && !res && *ret_result == ncclSuccess) {
		for (round = 0; round < nranks && !res && *ret_result == ncclSuccess;
		     round++)
			res = schedule_round(planner, plan, round, ret_result);
	}
	return res < 0 ? res : 0;
}

static struct mini_plan *create_plan(struct ncclComm *comm)
{
	struct mini_plan *plan = calloc(1, sizeof(*plan));

	if (!plan)
		return NULL;
	plan->comm = comm;
	plan->launch = calloc(1, sizeof(*plan->launch));
	if (plan->launch && mini_launch_begin(plan->launch, comm))
		return plan;
	free(plan->launch);
	free(plan);
	return NULL;
}

static ncclResult_t schedule(struct planner *planner, struct mini_plan **plans)
{
	ncclResult_t result = ncclSuccess;
	struct mini_plan *plan;
	int err = 0;

	while ((planner->colls || planner->transfer_count) && !err &&
	       result == ncclSuccess) {
		plan = create_plan(planner->comm);
		if (!plan)
			return mini_result(-ENOMEM);
		*plans = plan;
		err = schedule_colls(planner, plan);
		if (!err && !planner->colls)
			err = schedule_transfers(planner, plan, &result);
		if (plan->works) {
			plans = &plan->next;
			continue;
		}
		*plans = NULL;
		mini_plan_destroy(plan);
	}
	return err ? mini_result(err) : result;
}

ncclResult_t mini_plans_create(struct ncclComm *comm, struct mini_op *ops,
			       struct mini_plan **ret_plans)
{
	struct planner planner = {.comm = comm};
	ncclResult_t result = ncclSuccess;
	struct mini_plan **end = ret_plans;

	*ret_plans = NULL;
	/* In NCCL's order: what goes without the proxy is launched first. */
	end = mini_copies_plan(comm, &ops, end, &result);
	if (end)
		end = mini_symmetric_plan(comm, &ops, end, &result);
	if (end)
		result = fill_planner(&planner, ops);
	else
		mini_ops_destroy(ops);
	if (result == ncclSuccess)
		result = schedule(&planner, end);
	destroy_planner(&planner);
	if (result != ncclSuccess) {
		mini_plans_destroy(*ret_plans);
		*ret_plans = NULL;
	}
	return result;
}
