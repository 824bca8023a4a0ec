/* SPDX-License-Identifier: MIT */
/* Drawing a job and its fault. */
#include "plan.h"

#include <nccl.h>
#include <string.h>

/* Before so many operations, at least, a rank is late. */
enum { LATE_OPS = 12 };

const char *const fault_names[FAULTS] = {
	[HEALTHY] = "healthy",
	[MISSING] = "missing",
	[MISSING_IN_INIT] = "missing-init",
	[MISSING_IN_SPLIT] = "missing-split",
	[HALF_PAIR] = "half-pair",
	[OTHER_FUNCTION] = "function",
	[OTHER_SIZE] = "size",
	[OTHER_TYPE] = "type",
	[OTHER_ROOT] = "root",
	[OTHER_ORDER] = "order",
	[LATE_HOST] = "late-host",
	[LATE_GPU] = "late-gpu",
	[SLOW_LINK] = "slow-link",
	[BROKEN_QP] = "broken-qp",
	[KILLED] = "killed",
	[STUCK_KERNEL] = "stuck-kernel",
	[POLLING] = "polling",
};

/* Splitmix64. */
uint64_t draw(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

unsigned int draw_below(uint64_t *state, unsigned int limit)
{
	return (unsigned int) (draw(state) % limit);
}

/* ---- The child: even and odd ranks apart, from the last to the first ---- */

int child_color(const struct plan *plan, int rank)
{
	return plan->ranks > 2 ? rank % 2 : 0;
}

int child_size(const struct plan *plan, int rank)
{
	int size = 0, i;

	for (i = 0; i < plan->ranks; i++)
		size += child_color(plan, i) == child_color(plan, rank);
	return size;
}

int child_rank(const struct plan *plan, int rank)
{
	int place = 0, i;

	for (i = rank + 1; i < plan->ranks; i++)
		place += child_color(plan, i) == child_color(plan, rank);
	return place;
}

/* ---- The job ---- */

static struct op draw_op(const struct plan *plan, uint64_t *state, bool has_child)
{
	static const int types[] = {ncclFloat32, ncclFloat64, ncclInt32, ncclFloat16};
	struct op op = {0};
	int size = plan->ranks;

	op.comm = has_child && draw_below(state, 3) == 0 ? CHILD : WORLD;
	if (op.comm == CHILD)
		size = child_size(plan, 0);
	switch (draw_below(state, 8)) {
	case 0:
		op.kind = EXCHANGE;
		break;
	case 1:
		op.kind = PAIR;
		break;
	case 2:
		op.kind = TWO;
		break;
	default:
		op.kind = (enum op_kind) draw_below(state, COLLECTIVES);
	}
	op.count = (size_t) 1 << (4 + draw_below(state, 12));
	op.count -= draw_below(state, 2);
	op.type = types[draw_below(state, 4)];
	op.root = (int) draw_below(state, (unsigned int) size);
	op.peer = (op.root + 1 + (int) draw_below(state, (unsigned int) size - 1)) % size;
	op.is_synced = draw_below(state, 3) == 0;
	return op;
}

static void draw_job(struct plan *plan, uint64_t *state)
{
	int split = 4 + (int) draw_below(state, 6);
	int i;

	for (i = 0; i < OPS; i++)
		plan->ops[i] = draw_op(plan, state, i > split);
	plan->ops[split] = (struct op){.kind = SPLIT, .is_synced = true};
	plan->ops[OPS - 1].is_synced = true;
	/* Whoever is in a pair is in the world. */
	for (i = 0; i < OPS; i++)
		if (plan->ops[i].kind == PAIR)
			plan->ops[i].comm = WORLD;
}

/* ---- The fault ---- */

bool is_of_all(const struct op *op)
{
	return op->comm == WORLD && (op->kind < COLLECTIVES || op->kind == TWO);
}

static bool can_have(const struct plan *plan, int i)
{
	const struct op *op = &plan->ops[i];
	const bool is_collective = op->kind < COLLECTIVES;

	switch (plan->fault) {
	case MISSING:
	case KILLED:
	case POLLING:
		return is_collective || op->kind == TWO;
	case STUCK_KERNEL:
		return is_collective && op->comm == WORLD;
	case MISSING_IN_SPLIT:
		return op->kind == SPLIT;
	case HALF_PAIR:
		return op->kind == PAIR;
	case OTHER_FUNCTION:
	case OTHER_SIZE:
	case OTHER_TYPE:
		return is_collective;
	case OTHER_ROOT:
		return op->kind == BROADCAST || op->kind == REDUCE;
	case OTHER_ORDER:
		return is_collective && i + 1 < OPS && plan->ops[i + 1].kind != SPLIT;
	case LATE_HOST:
	case LATE_GPU:
		return i < OPS / 4 && is_of_all(op);
	default:
		return false;
	}
}

static int find_moment(const struct plan *plan, unsigned int moment)
{
	int fitting[OPS], count = 0, i;

	for (i = 0; i < OPS; i++)
		if (can_have(plan, i))
			fitting[count++] = i;
	return count ? fitting[moment % (unsigned int) count] : -1;
}

/*
 * Of few operations nobody can tell whether a rank is late, or was by chance.  And where
 * data goes one way only, as from a root, the ranks before it run ahead, so that a rank
 * is not as late to one operation as to the next.
 */
static void make_room_for_late(struct plan *plan)
{
	int of_all = 0, i;

	plan->ops[2].kind = ALL_REDUCE;
	plan->ops[2].comm = WORLD;
	for (i = 0; i < OPS; i++)
		if (is_of_all(&plan->ops[i]) &&
		    (plan->ops[i].kind == BROADCAST || plan->ops[i].kind == REDUCE))
			plan->ops[i].kind = ALL_GATHER;
	for (i = OPS - 1; i > OPS / 4; i--)
		of_all += is_of_all(&plan->ops[i]);
	for (i = OPS - 1; of_all < LATE_OPS; i--)
		if (plan->ops[i].kind != SPLIT && !is_of_all(&plan->ops[i])) {
			plan->ops[i].comm = WORLD;
			plan->ops[i].kind = ALL_REDUCE;
			of_all++;
		}
}

/* An operation that can have the fault, where the job that was drawn has none. */
static void make_room(struct plan *plan)
{
	if (plan->fault == HALF_PAIR) {
		plan->ops[2].kind = PAIR;
		plan->ops[2].comm = WORLD;
	}
	if (plan->fault == OTHER_ROOT)
		plan->ops[2].kind = BROADCAST;
	if (plan->fault == LATE_HOST || plan->fault == LATE_GPU)
		make_room_for_late(plan);
}

/* The next operation is another one of the same communicator. */
static void make_order(struct plan *plan)
{
	struct op *op = &plan->ops[plan->at];

	op->is_synced = false;
	op[1].comm = op->comm;
	op[1].kind = (op->kind + 1) % COLLECTIVES;
	op[1].root = op->root;
}

static void make_pair(struct plan *plan)
{
	struct op *op = &plan->ops[plan->at];
	int other = plan->is_sender ? op->root : op->peer;
	int i;

	if (other == plan->guilty)
		other = (plan->guilty + 1) % plan->ranks;
	op->root = plan->is_sender ? other : plan->guilty;
	op->peer = plan->is_sender ? plan->guilty : other;
	/* More than what an unused connection takes. */
	op->count = MAX_COUNT;
	/* The next message between the two would take the place of the half that is not
	 * there. */
	for (i = plan->at + 1; i < OPS; i++)
		if (plan->ops[i].kind == PAIR || plan->ops[i].kind == EXCHANGE)
			plan->ops[i].kind = ALL_REDUCE;
}

void draw_plan(struct plan *plan, int ranks, enum fault_kind fault, int guilty,
	       unsigned int moment, uint64_t seed)
{
	uint64_t state = seed;

	memset(plan, 0, sizeof(*plan));
	plan->ranks = ranks;
	plan->seed = seed;
	plan->fault = fault;
	plan->guilty = guilty;
	draw_job(plan, &state);
	plan->is_polling = fault == POLLING;
	plan->late_ms = 40 + (long) draw_below(&state, 60);
	plan->is_sender = draw_below(&state, 2);
	plan->link_peer = (guilty + 1) % ranks;
	make_room(plan);
	plan->at = find_moment(plan, moment);
	if (fault == OTHER_ORDER)
		make_order(plan);
	if (fault == HALF_PAIR)
		make_pair(plan);
}

/* What is only moved may have another type of the same size, and nothing is wrong. */
static int other_type(const struct op *op)
{
	if (op->kind == BROADCAST || op->kind == ALL_GATHER)
		return op->type == ncclFloat64 ? ncclFloat32 : ncclFloat64;
	return op->type == ncclFloat32 ? ncclInt32 : ncclFloat32;
}

struct op wrong_op(const struct plan *plan)
{
	struct op op = plan->ops[plan->at];
	const int size = op.comm == CHILD ? child_size(plan, plan->guilty) : plan->ranks;

	switch (plan->fault) {
	case OTHER_FUNCTION:
		op.kind = (op.kind + 1 + (int) (plan->seed % (COLLECTIVES - 1))) %
			  COLLECTIVES;
		break;
	case OTHER_SIZE:
		op.count += 1 + op.count / 2;
		break;
	case OTHER_TYPE:
		op.type = other_type(&op);
		break;
	case OTHER_ROOT:
		op.root = (op.root + 1) % size;
		break;
	case OTHER_ORDER:
		op = plan->ops[plan->at + 1];
		op.is_synced = false;
		break;
	default:
		break;
	}
	return op;
}
