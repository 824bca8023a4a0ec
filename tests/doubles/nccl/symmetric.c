/* SPDX-License-Identifier: MIT */
/* Plans of kernels between windows, and what these kernels do. */
#include "symmetric.h"

#include "comm.h"
#include "launches.h"
#include "reduce.h"
#include "release.h"
#include "result.h"
#include "settings.h"
#include "symmetric_choice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	THREADS = 512,
	/* Bytes that a block does at once, or nothing. */
	CELL_BYTES = 1024,
	MOST_CHANNELS = 64,
	ALIGNMENT = 16,
	/* Of the sum, on the stack of a stream's thread. */
	PIECE_BYTES = 8192
};

/* ncclSymkDevComm: of NCCL's device communicator what a reader could look for. */
struct device_comm {
	int32_t rank;
	int32_t nranks;
	uint32_t reciprocal;
	int32_t lsa_rank;
	int32_t lsa_size;
	uint32_t lsa_reciprocal;
	void *window_table;
	struct ncclWindow_vidmem *resources;
	struct ncclWindow_vidmem resources_inlined;
	char rest[96];
};

/* ncclSymkDevWorkArgs, ncclSymkChannelWorkRange and ncclSymkDevWork. */
struct head {
	struct device_comm comm;
	int32_t channels;
	int32_t pad[3];
};

struct range {
	uint16_t last_work;
	uint16_t last_fraction;
};

struct work {
	uint64_t operator_argument;
	size_t count;
	struct ncclWindow_vidmem *input;
	struct ncclWindow_vidmem *output;
	size_t input_offset;
	size_t output_offset;
	uint64_t root;
	uint16_t first_channel;
	uint16_t channels;
	uint32_t pad;
};

/* Before 2.28: ncclSymDevArgs, of one operation. */
struct older_arguments {
	void *base;
	void *multicast_base;
	uint32_t stride_4g;
	int32_t nranks;
	int32_t rank;
	uint32_t reciprocal;
	int32_t root;
	uint64_t operator_argument;
	size_t count;
	const void *input;
	void *output;
	uint64_t pad;
};

/* What follows everything that NCCL has. */
struct tail {
	struct mini_plan *plan;
	uint64_t pad;
};

_Static_assert(sizeof(struct ncclWindow_vidmem) == 72, "a window is as NCCL's");
_Static_assert(sizeof(struct device_comm) == 208, "the communicator is as NCCL's");
_Static_assert(sizeof(struct head) == 224, "the head is as NCCL's");
_Static_assert(sizeof(struct work) == 64, "a work is as NCCL's");
_Static_assert(sizeof(struct older_arguments) == 80, "and so is what was before");

struct mini_symmetric {
	int kernel;
	unsigned int channels;
	unsigned int works;
	/* Its turn among the kernels of the communicator. */
	unsigned int turn;
	/* Who launches it and what was launched: the last one destroys the plan. */
	atomic_int users;
	char *buffer;
	size_t size;
};

static size_t type_size(const struct mini_op *op)
{
	return mini_type_size(op->type);
}

/* All-gather is of bytes. */
static size_t elements(const struct mini_op *op)
{
	return op->function == MINI_ALL_GATHER ? op->count * type_size(op) : op->count;
}

static size_t cell_elements(const struct mini_op *op)
{
	return CELL_BYTES / (op->function == MINI_ALL_GATHER ? 1 : type_size(op));
}

static size_t cells(const struct mini_op *op)
{
	return (elements(op) + cell_elements(op) - 1) / cell_elements(op);
}

static size_t arguments_size(unsigned int channels, unsigned int works)
{
	size_t ranges = channels * sizeof(struct range);

	return sizeof(struct head) + (ranges + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT +
	       works * sizeof(struct work);
}

static unsigned int most_works(void)
{
	unsigned int works = 1;

	while (mini_release() >= 22800 &&
	       arguments_size(MOST_CHANNELS, works + 1) <= MINI_ARGUMENT_BYTES)
		works++;
	return works;
}

/* Whether one kernel can do both. */
static bool are_alike(const struct mini_op *a, const struct mini_op *b)
{
	return a->function == b->function && a->type == b->type;
}

static bool is_symmetric(const struct ncclComm *comm, const struct mini_op *op)
{
	struct mini_window *windows[2];
	unsigned int blocks;

	return !op->is_by_copies && !mini_op_is_p2p(op) &&
	       mini_windows_are_supported(comm) &&
	       mini_window_find_both(comm, op->send, op->recv, &windows[0],
				     &windows[1]) &&
	       mini_symmetric_choose(comm, op, 1, elements(op), elements(op), &blocks) >=
		       0;
}

/* The least first: NCCL sorts by falling traffic, and then turns the list round. */
static void insert(struct mini_op **place, struct mini_op *op)
{
	while (*place && (*place)->count < op->count)
		place = &(*place)->next;
	op->next = *place;
	*place = op;
}

/* Those that one kernel can do, of those that some kernel can. */
static struct mini_op *take_alike(struct ncclComm *comm, struct mini_op **ops)
{
	struct mini_op *alike = NULL;
	struct mini_op *op;

	while (*ops) {
		op = *ops;
		if (!is_symmetric(comm, op) || (alike && !are_alike(alike, op))) {
			ops = &op->next;
			continue;
		}
		*ops = op->next;
		insert(&alike, op);
	}
	return alike;
}

static void fill_head(const struct ncclComm *comm, struct head *head,
		      unsigned int channels)
{
	uint32_t n = (uint32_t) comm->nranks;
	struct device_comm *own = &head->comm;

	own->rank = own->lsa_rank = comm->rank;
	own->nranks = own->lsa_size = comm->nranks;
	own->reciprocal = own->lsa_reciprocal = (uint32_t) ((1ULL << 32) / n);
	own->resources = &comm->windows.resources->vidmem;
	own->resources_inlined = *own->resources;
	head->channels = (int32_t) channels;
}

static void fill_work(const struct ncclComm *comm, struct work *work,
		      const struct mini_op *op)
{
	const struct mini_window *in = mini_window_find(comm, op->send);
	const struct mini_window *out = mini_window_find(comm, op->recv);

	*work = (struct work){
		.count = elements(op),
		.input = (struct ncclWindow_vidmem *) (uintptr_t) &in->vidmem,
		.output = (struct ncclWindow_vidmem *) (uintptr_t) &out->vidmem,
		.input_offset = (size_t) ((const char *) op->send - in->address),
		.output_offset = (size_t) ((const char *) op->recv - out->address),
		.root = (uint64_t) op->root,
	};
}

/*
 * Each channel has as many cells as the others, of one operation after another: the last
 * one of a channel, and how much of it in parts of 65536, less one.
 */
static void fill_ranges(struct mini_symmetric *symmetric, const struct mini_op *ops,
			struct range *ranges, struct work *works, size_t cells_of_channel)
{
	size_t room = cells_of_channel;
	unsigned int channel = 0;
	unsigned int index = 0;

	for (; ops; ops = ops->next, index++) {
		size_t all = cells(ops);
		size_t left = all;

		works[index].first_channel = (uint16_t) channel;
		while (left) {
			size_t part = left < room ? left : room;

			left -= part;
			room -= part;
			ranges[channel].last_work = (uint16_t) index;
			ranges[channel].last_fraction =
				(uint16_t) ((0x10000 * (all - left) + all - 1) / all - 1);
			works[index].channels =
				(uint16_t) (channel - works[index].first_channel + 1);
			if (room == 0) {
				room = cells_of_channel;
				channel++;
			}
		}
	}
	symmetric->channels = channel + (room < cells_of_channel);
}

static void fill_newer(const struct ncclComm *comm, struct mini_symmetric *symmetric,
		       const struct mini_op *ops, unsigned int blocks)
{
	char *ranges = symmetric->buffer + sizeof(struct head);
	struct work *works =
		(struct work *) (symmetric->buffer + arguments_size(blocks, 0));
	const struct mini_op *op;
	size_t all = 0;
	unsigned int i = 0;

	fill_head(comm, (struct head *) symmetric->buffer, blocks);
	for (op = ops; op; op = op->next) {
		fill_work(comm, &works[i++], op);
		all += cells(op);
	}
	fill_ranges(symmetric, ops, (struct range *) ranges, works,
		    (all + blocks - 1) / blocks);
}

static void fill_older(const struct ncclComm *comm, struct mini_symmetric *symmetric,
		       const struct mini_op *op, unsigned int blocks)
{
	const struct mini_window *in = mini_window_find(comm, op->send);
	const struct mini_window *out = mini_window_find(comm, op->recv);
	struct older_arguments *args = (struct older_arguments *) symmetric->buffer;

	*args = (struct older_arguments){
		.base = mini_window_peer(comm, comm->windows.resources,
					 comm->windows.resources->address, comm->rank),
		.stride_4g = comm->windows.resources->vidmem.stride_4g,
		.nranks = comm->nranks,
		.rank = comm->rank,
		.reciprocal = (uint32_t) ((1ULL << 32) / (uint32_t) comm->nranks),
		.root = op->root,
		.count = elements(op),
		.input = mini_window_peer(comm, in, op->send, comm->rank),
		.output = mini_window_peer(comm, out, op->recv, comm->rank),
	};
	symmetric->channels = blocks;
}

static void mark_channels(struct mini_op *ops, unsigned int channels)
{
	for (; ops; ops = ops->next)
		ops->channels = channels < 64 ? (1ULL << channels) - 1 : UINT64_MAX;
}

/* Takes the operations, which one kernel does. */
static ncclResult_t create(struct ncclComm *comm, struct mini_op *ops, unsigned int count,
			   struct mini_plan **ret_plan)
{
	struct mini_plan *plan = calloc(1, sizeof(*plan));
	struct mini_symmetric *symmetric = calloc(1, sizeof(*symmetric));
	bool is_older = mini_release() < 22800;
	const struct mini_op *op;
	unsigned int blocks = 0;
	size_t all = 0;
	size_t most = 0;
	struct tail tail = {plan, 0};

	if (!plan || !symmetric) {
		mini_ops_destroy(ops);
		free(plan);
		free(symmetric);
		return mini_result(-ENOMEM);
	}
	*plan = (struct mini_plan){.comm = comm,
				   .kind = MINI_BY_SYMMETRIC_KERNEL,
				   .ops = ops,
				   .symmetric = symmetric};
	*ret_plan = plan;
	for (op = ops; op; op = op->next) {
		size_t rounded = cells(op) * cell_elements(op);

		all += rounded;
		most = rounded > most ? rounded : most;
	}
	symmetric->works = count;
	symmetric->kernel = mini_symmetric_choose(comm, ops, count, all, most, &blocks);
	if (symmetric->kernel < 0)
		return mini_fail(ncclInvalidUsage,
				 "Error: no symmetric kernel available");
	symmetric->size = (is_older ? sizeof(struct older_arguments)
				    : arguments_size(blocks, count)) +
			  sizeof(tail);
	symmetric->buffer = calloc(1, symmetric->size);
	if (!symmetric->buffer)
		return mini_result(-ENOMEM);
	if (is_older)
		fill_older(comm, symmetric, ops, blocks);
	else
		fill_newer(comm, symmetric, ops, blocks);
	mark_channels(ops, symmetric->channels);
	memcpy(symmetric->buffer + symmetric->size - sizeof(tail), &tail, sizeof(tail));
	return ncclSuccess;
}

/* So many as a launch has room for, in their order. */
static struct mini_op *take_some(struct mini_op **ops, unsigned int *ret_count)
{
	struct mini_op *first = *ops;
	struct mini_op **end = ops;
	unsigned int most = most_works();

	for (*ret_count = 0; *end && *ret_count < most; end = &(*end)->next)
		(*ret_count)++;
	*ops = *end;
	if (end != ops)
		*end = NULL;
	return first;
}

struct mini_plan **mini_symmetric_plan(struct ncclComm *comm, struct mini_op **ops,
				       struct mini_plan **plans, ncclResult_t *ret_result)
{
	struct mini_op *alike;
	struct mini_op *some;
	unsigned int count;

	while ((alike = take_alike(comm, ops))) {
		while (alike) {
			some = take_some(&alike, &count);
			*ret_result = create(comm, some, count, plans);
			if (*ret_result != ncclSuccess) {
				mini_ops_destroy(alike);
				return NULL;
			}
			plans = &(*plans)->next;
		}
	}
	return plans;
}

void mini_symmetric_free(struct mini_symmetric *symmetric)
{
	free(symmetric->buffer);
	free(symmetric);
}

static void leave(struct mini_plan *plan)
{
	if (atomic_fetch_sub(&plan->symmetric->users, 1) == 1)
		mini_plan_destroy(plan);
}

CUresult mini_symmetric_launch(struct mini_plan *plan, bool is_captured)
{
	struct mini_symmetric *symmetric = plan->symmetric;
	struct ncclComm *comm = plan->comm;
	CUfunction function;
	CUresult res;

	plan->is_captured = is_captured;
	symmetric->turn = comm->windows.launched;
	atomic_store(&symmetric->users, 2);
	mini_proxy_expect(&comm->proxy);
	res = mini_symmetric_function(symmetric->kernel, &function);
	if (!res)
		res = mini_kernel_launch(function, plan->ops->stream, symmetric->channels,
					 THREADS, symmetric->buffer, symmetric->size);
	mini_launches_told(plan, "kernel", mini_symmetric_name(symmetric->kernel),
			   (int) res);
	comm->windows.launched += !res && !is_captured;
	if (res || is_captured)
		mini_proxy_forget(&comm->proxy);
	if (is_captured) {
		mini_plan_keep(plan);
		return res;
	}
	if (res)
		leave(plan);
	leave(plan);
	return res;
}

/* What a kernel waits for; false once the communicator is aborted. */
static bool wait_for(struct ncclComm *comm, const void *place, uint32_t value)
{
	const struct timespec pause = {.tv_nsec = 20000};
	unsigned int rounds = 0;

	while ((int32_t) (__atomic_load_n((const uint32_t *) place, __ATOMIC_ACQUIRE) -
			  value) < 0) {
		if (atomic_load(&comm->aborted))
			return false;
		if (++rounds > 100)
			nanosleep(&pause, NULL);
	}
	return true;
}

/* Each rank has a word of each other one, with the number of the last barrier. */
static bool meet(struct ncclComm *comm)
{
	struct mini_window *resources = comm->windows.resources;
	uint32_t *own =
		(uint32_t *) (void *) mini_window_peer(comm, resources,
						       resources->address, comm->rank);
	uint32_t epoch = ++comm->windows.epoch;
	int rank;

	for (rank = 0; rank < comm->nranks; rank++) {
		uint32_t *words =
			(uint32_t *) (void *) mini_window_peer(comm, resources,
							       resources->address, rank);

		__atomic_store_n(&words[comm->rank], epoch, __ATOMIC_RELEASE);
	}
	for (rank = 0; rank < comm->nranks; rank++) {
		if (!wait_for(comm, &own[rank], epoch))
			return false;
	}
	return true;
}

/* What all ranks have at a place, put together. */
static void sum(struct ncclComm *comm, const struct mini_op *op,
		const struct mini_window *in, size_t begin, size_t count, void *result)
{
	size_t size = type_size(op);
	int rank;

	for (rank = 0; rank < comm->nranks; rank++) {
		const char *from =
			mini_window_peer(comm, in, op->send, rank) + begin * size;

		if (rank == 0)
			memcpy(result, from, count * size);
		else
			mini_reduce(result, from, count, op->type, &op->operation);
	}
}

/* Of the elements between: adds them up for `targets` ranks from the first on. */
static void add_up(struct ncclComm *comm, const struct mini_op *op, size_t begin,
		   size_t end, size_t shift, int first, int targets)
{
	const struct mini_window *in = mini_window_find(comm, op->send);
	const struct mini_window *out = mini_window_find(comm, op->recv);
	size_t size = type_size(op);
	_Alignas(64) char piece[PIECE_BYTES];
	size_t count;
	int i;

	for (; begin < end; begin += count) {
		count = PIECE_BYTES / size;
		if (count > end - begin)
			count = end - begin;
		sum(comm, op, in, begin, count, piece);
		for (i = first; i < first + targets; i++)
			memcpy(mini_window_peer(comm, out, op->recv, i) +
				       (begin - shift) * size,
			       piece, count * size);
	}
}

static void gather(struct ncclComm *comm, const struct mini_op *op)
{
	const struct mini_window *out = mini_window_find(comm, op->recv);
	size_t bytes = elements(op);
	int rank;

	for (rank = 0; rank < comm->nranks; rank++)
		memmove(mini_window_peer(comm, out, op->recv, rank) +
				(size_t) comm->rank * bytes,
			op->send, bytes);
}

static void move(struct ncclComm *comm, const struct mini_op *op)
{
	size_t rank = (size_t) comm->rank;
	size_t n = (size_t) comm->nranks;
	size_t begin = op->count * rank;

	if (op->function == MINI_ALL_GATHER)
		gather(comm, op);
	else if (op->function == MINI_REDUCE_SCATTER)
		add_up(comm, op, begin, begin + op->count, begin, comm->rank, 1);
	else
		add_up(comm, op, begin / n, op->count * (rank + 1) / n, 0, 0,
		       comm->nranks);
}

/* As in progress.c: a GPU that is dead does nothing until it is let go. */
static void stay(struct ncclComm *comm)
{
	const struct timespec pause = {.tv_nsec = 1000000};

	while (!atomic_load(&comm->aborted))
		nanosleep(&pause, NULL);
}

static void run(struct mini_plan *plan)
{
	struct ncclComm *comm = plan->comm;
	const struct mini_op *op;

	if (mini_plan_is_dead(plan)) {
		stay(comm);
		return;
	}
	if (!meet(comm))
		return;
	for (op = plan->ops; op; op = op->next)
		move(comm, op);
	meet(comm);
}

/* Kernels of a communicator run one after the other, whatever their streams. */
void mini_symmetric_run(const void *arguments, size_t size)
{
	struct ncclComm *comm;
	struct tail tail;
	bool is_captured;

	if (size < sizeof(tail))
		return;
	memcpy(&tail, (const char *) arguments + size - sizeof(tail), sizeof(tail));
	comm = tail.plan->comm;
	is_captured = tail.plan->is_captured;
	if (is_captured) {
		mini_proxy_expect(&comm->proxy);
		mini_launches_told(tail.plan, "replay",
				   mini_symmetric_name(tail.plan->symmetric->kernel), 0);
		run(tail.plan);
	} else if (wait_for(comm, &comm->windows.finished, tail.plan->symmetric->turn)) {
		run(tail.plan);
	}
	if (!is_captured) {
		atomic_fetch_add(&comm->windows.finished, 1);
		leave(tail.plan);
	}
	mini_proxy_forget(&comm->proxy);
}
