/* SPDX-License-Identifier: MIT */
/* What is put into a stream for a collective by copies (NCCL 2.28.9, ce_coll.cc). */
#include "copies.h"

#include "comm.h"
#include "launches.h"
#include "reduce.h"
#include "release.h"
#include "result.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* So many copies, if they are so large, and then the ranks meet before the next ones. */
#define COPIES_AT_ONCE 8
#define LARGE_BYTES ((size_t) 512 << 20)
/* What ranks meet by in a graph, where numbers would stay the same. */
#define IN_GRAPH 1
#define ALIGNMENT 16

bool mini_copies_do(const struct ncclComm *comm, const struct mini_op *op)
{
	struct mini_window *windows[2];

	return op->copies && mini_release() >= 22800 &&
	       comm->cta_policy == NCCL_CTA_POLICY_ZERO &&
	       mini_windows_are_supported(comm) &&
	       mini_window_find_both(comm, op->send, op->recv, &windows[0], &windows[1]);
}

/* Bytes of a word for each rank. */
static size_t words_size(const struct ncclComm *comm)
{
	size_t bytes = (size_t) comm->nranks * sizeof(uint32_t);

	return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

ncclResult_t mini_copies_open(struct ncclComm *comm)
{
	struct mini_copy_engines *engines = &comm->copy_engines;
	struct mini_registration registration = {
		.size = 2 * words_size(comm),
		.flags = NCCL_WIN_COLL_SYMMETRIC,
		.window = &engines->window,
	};
	ncclResult_t result;

	if (engines->words)
		return ncclSuccess;
	/* Through the exported name, as NCCL does it. */
	result = ncclMemAlloc(&registration.address, registration.size);
	if (result == ncclSuccess)
		result = mini_driver_check(
			mini_driver.EventCreate(&engines->last, CU_EVENT_DISABLE_TIMING));
	if (result == ncclSuccess)
		result = mini_window_register(comm, &registration);
	/* NCCL's first number is that of graphs: a graph after it goes ahead of the
	 * others. */
	engines->sequence = IN_GRAPH;
	if (result == ncclSuccess)
		engines->words = registration.address;
	return result;
}

void mini_copies_close(struct ncclComm *comm)
{
	struct mini_copy_engines *engines = &comm->copy_engines;

	if (!engines->words)
		return;
	mini_driver.EventSynchronize(engines->last);
	mini_driver.EventDestroy(engines->last);
	ncclCommWindowDeregister(comm, engines->window);
	ncclMemFree(engines->words);
	engines->words = NULL;
}

struct mini_plan **mini_copies_plan(struct ncclComm *comm, struct mini_op **ops,
				    struct mini_plan **plans, ncclResult_t *ret_result)
{
	struct mini_plan *plan;
	struct mini_op *op;

	while (*ops) {
		op = *ops;
		if (!op->is_by_copies) {
			ops = &op->next;
			continue;
		}
		plan = calloc(1, sizeof(*plan));
		if (!plan) {
			*ret_result = mini_result(-ENOMEM);
			return NULL;
		}
		*ops = op->next;
		op->next = NULL;
		plan->comm = comm;
		plan->kind = MINI_BY_COPIES;
		plan->ops = op;
		*plans = plan;
		plans = &plan->next;
	}
	return plans;
}

/* What one rank has to copy. */
struct copies {
	struct ncclComm *comm;
	const struct mini_op *op;
	CUstream stream;
	bool is_captured;
	size_t part;
	size_t count;
	CUdeviceptr *targets;
	CUdeviceptr *sources;
	size_t *sizes;
};

static char *at(const void *data, size_t offset)
{
	return (char *) (uintptr_t) data + offset;
}

/* The target is an address of this rank's window, of which a peer has its own. */
static void add(struct copies *copies, int rank, const char *source, const char *target)
{
	struct ncclComm *comm = copies->comm;

	if (rank != comm->rank)
		target = mini_window_peer(comm, mini_window_find(comm, copies->op->recv),
					  target, rank);
	copies->sources[copies->count] = (uintptr_t) source;
	copies->targets[copies->count] = (uintptr_t) target;
	copies->sizes[copies->count++] = copies->part;
}

/* From the next rank on, so that they do not all write to one; the own one first. */
static int peer_number(const struct ncclComm *comm, int i)
{
	return (comm->rank + i) % comm->nranks;
}

static void all_gather(struct copies *copies)
{
	const struct mini_op *op = copies->op;
	struct ncclComm *comm = copies->comm;
	char *target = at(op->recv, (size_t) comm->rank * copies->part);
	int i;

	for (i = target == op->send; i < comm->nranks; i++)
		add(copies, peer_number(comm, i), op->send, target);
}

static void all_to_all(struct copies *copies)
{
	const struct mini_op *op = copies->op;
	struct ncclComm *comm = copies->comm;
	int i;

	for (i = 0; i < comm->nranks; i++) {
		int peer = peer_number(comm, i);

		add(copies, peer, at(op->send, (size_t) peer * copies->part),
		    at(op->recv, (size_t) comm->rank * copies->part));
	}
}

static void scatter(struct copies *copies)
{
	const struct mini_op *op = copies->op;
	struct ncclComm *comm = copies->comm;
	bool is_in_place = op->recv == at(op->send, (size_t) comm->rank * copies->part);
	int i;

	for (i = is_in_place; comm->rank == op->root && i < comm->nranks; i++) {
		int peer = peer_number(comm, i);
		size_t offset = (size_t) peer * copies->part;

		add(copies, peer, at(op->send, offset),
		    is_in_place ? at(op->send, offset) : (char *) op->recv);
	}
}

static void gather(struct copies *copies)
{
	const struct mini_op *op = copies->op;
	char *target = at(op->recv, (size_t) copies->comm->rank * copies->part);

	if (copies->comm->rank != op->root || target != op->send)
		add(copies, op->root, op->send, target);
}

static CUstreamBatchMemOpParams word_op(CUstreamBatchMemOpType type, const char *word,
					uint32_t value, unsigned int flags)
{
	CUstreamBatchMemOpParams op = {.pad = {0}};

	op.operation = type;
	op.waitValue.address = (uintptr_t) word;
	op.waitValue.value = value;
	op.waitValue.flags = flags;
	return op;
}

/* Tells all others, and waits for all of them. */
static CUresult meet(struct copies *copies)
{
	struct ncclComm *comm = copies->comm;
	struct mini_copy_engines *engines = &comm->copy_engines;
	const struct mini_window *window = engines->window->window;
	char *words = at(engines->words, engines->is_done_next ? words_size(comm) : 0);
	uint32_t value = copies->is_captured ? IN_GRAPH : engines->sequence + 1;
	CUstreamBatchMemOpParams *ops = calloc(3 * (size_t) comm->nranks, sizeof(*ops));
	size_t own = (size_t) comm->rank * sizeof(uint32_t);
	unsigned int count = 0;
	CUresult res;
	int i;

	if (!ops)
		return CUDA_ERROR_OUT_OF_MEMORY;
	engines->sequence++;
	for (i = 0; i < comm->nranks; i++) {
		if (i != comm->rank)
			ops[count++] =
				word_op(CU_STREAM_MEM_OP_WRITE_VALUE_32,
					mini_window_peer(comm, window, words + own, i),
					value, 0);
	}
	for (i = 0; i < comm->nranks; i++) {
		if (i != comm->rank)
			ops[count++] = word_op(CU_STREAM_MEM_OP_WAIT_VALUE_32,
					       words + (size_t) i * sizeof(uint32_t),
					       value, CU_STREAM_WAIT_VALUE_EQ);
	}
	for (i = 0; i < comm->nranks && copies->is_captured; i++)
		ops[count++] = word_op(CU_STREAM_MEM_OP_WRITE_VALUE_32,
				       words + (size_t) i * sizeof(uint32_t), 0, 0);
	res = mini_driver.StreamBatchMemOp(copies->stream, count, ops, 0);
	engines->is_done_next = !engines->is_done_next;
	free(ops);
	return res;
}

static CUresult copy_one_by_one(struct copies *copies, size_t begin, size_t end)
{
	CUresult res = CUDA_SUCCESS;

	for (; begin < end && !res; begin++)
		res = mini_driver.MemcpyDtoDAsync(copies->targets[begin],
						  copies->sources[begin],
						  copies->sizes[begin], copies->stream);
	return res;
}

/* A graph takes no batches. */
static CUresult copy(struct copies *copies, size_t begin, size_t end)
{
	CUmemcpyAttributes attributes = {
		.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM,
		.flags = CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE,
	};
	size_t first = 0;

	if (copies->is_captured)
		return copy_one_by_one(copies, begin, end);
	return mini_driver.MemcpyBatchAsync(copies->targets + begin,
					    copies->sources + begin,
					    copies->sizes + begin, end - begin,
					    &attributes, &first, 1, copies->stream);
}

static CUresult copy_all(struct copies *copies)
{
	bool is_in_pieces = copies->count > COPIES_AT_ONCE &&
			    copies->count * copies->part >= LARGE_BYTES;
	size_t at_once = is_in_pieces ? COPIES_AT_ONCE : copies->count;
	CUresult res = CUDA_SUCCESS;
	size_t begin;
	size_t end;

	for (begin = 0; begin < copies->count && !res; begin = end) {
		end = begin + at_once < copies->count ? begin + at_once : copies->count;
		res = copy(copies, begin, end);
		if (!res && end < copies->count)
			res = meet(copies);
	}
	return res;
}

static CUresult launch(struct copies *copies)
{
	static void (*const fill[])(struct copies * copies) = {
		[MINI_COPIES_ALL_GATHER] = all_gather,
		[MINI_COPIES_ALL_TO_ALL] = all_to_all,
		[MINI_COPIES_GATHER] = gather,
		[MINI_COPIES_SCATTER] = scatter,
	};
	CUresult res;

	fill[copies->op->copies](copies);
	res = meet(copies);
	if (!res)
		res = copy_all(copies);
	if (!res)
		res = meet(copies);
	if (!res && !copies->is_captured)
		res = mini_driver.EventRecord(copies->comm->copy_engines.last,
					      copies->stream);
	return res;
}

CUresult mini_copies_launch(struct mini_plan *plan, bool is_captured)
{
	struct ncclComm *comm = plan->comm;
	size_t n = (size_t) comm->nranks;
	struct copies copies = {
		.comm = comm,
		.op = plan->ops,
		.stream = plan->ops->stream,
		.is_captured = is_captured,
		.part = plan->ops->count * mini_type_size(plan->ops->type),
	};
	CUresult res = CUDA_ERROR_OUT_OF_MEMORY;

	plan->is_captured = is_captured;
	copies.targets = calloc(n, sizeof(*copies.targets));
	copies.sources = calloc(n, sizeof(*copies.sources));
	copies.sizes = calloc(n, sizeof(*copies.sizes));
	if (copies.targets && copies.sources && copies.sizes)
		res = launch(&copies);
	mini_launches_told(plan, "copies", NULL, (int) res);
	free(copies.targets);
	free(copies.sources);
	free(copies.sizes);
	mini_plan_destroy(plan);
	return res;
}
