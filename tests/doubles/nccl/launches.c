/* SPDX-License-Identifier: MIT */
/*
 * A line for the launch and one for each operation, in one write(), so that ranks can
 * share the file:
 *
 *   launch pid tid number ns comm rank nranks arguments kernel stream channels (a mask)
 *          grid block storage size batches ops captured result
 *   op     pid launch (its number) index function algorithm protocol id (of the device
 *          function) operator type root (or peer) count bytes channels (a mask) op and
 *          name (as in the truth of messages, see README)
 */
#include "launches.h"

#include "comm.h"
#include "functions.h"
#include "reduce.h"
#include "settings.h"
#include "truth.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int launches_fd = -1;
static atomic_uint launches;

static void open_launches(void)
{
	const char *path = mini_text(SET_MININCCL_LAUNCHES);

	if (path)
		launches_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
}

static void write_op(FILE *file, const struct ncclComm *comm, const struct mini_op *op,
		     unsigned int launch, unsigned int index)
{
	struct mini_device_function f = mini_device_function(op);

	fprintf(file,
		"op pid=%d launch=%u index=%u function=%s algorithm=%s protocol=%s id=%u "
		"operator=%s type=%s root=%d count=%zu bytes=%zu channels=0x%llx op=%llu "
		"name=%s\n",
		(int) getpid(), launch, index, mini_function_name(op),
		mini_algorithm_name(f.algorithm), mini_protocol_name(f.protocol),
		f.number, f.operator_name, f.type_name, op->root, op->count,
		op->count * mini_type_size(op->type),
		(unsigned long long) mini_op_channels(comm, op),
		(unsigned long long) op->ordinal, op->name);
}

static struct mini_truth_op truth_of(const struct ncclComm *comm,
				     const struct mini_op *op)
{
	struct mini_device_function f = mini_device_function(op);

	return (struct mini_truth_op){
		.op = op->ordinal,
		.name = op->name,
		.function = mini_function_name(op),
		.algorithm = mini_algorithm_name(f.algorithm),
		.protocol = mini_protocol_name(f.protocol),
		.channels = mini_op_channels(comm, op),
		.root = op->root,
		.count = op->count,
		.bytes = op->count * mini_type_size(op->type),
	};
}

static void tell(const struct ncclComm *comm, const struct mini_launch *launch,
		 const struct mini_op *ops, const char *kind, unsigned int number,
		 CUstream stream, bool is_captured, int result)
{
	struct mini_truth_op *told = calloc(launch->op_count + 1, sizeof(*told));
	struct mini_truth_launch truth = {
		.comm = comm,
		.kind = kind,
		.number = number,
		.kernel = mini_kernel_name(launch->kernel),
		.stream = stream,
		.channels = launch->channel_mask,
		.is_captured = is_captured,
		.result = result,
		.ops = told,
	};

	for (; told && truth.op_count < launch->op_count && ops; ops = ops->next)
		told[truth.op_count++] = truth_of(comm, ops);
	mini_truth_launch(&truth);
	free(told);
}

/* Nor do these have an algorithm, or a protocol. */
static struct mini_truth_op direct_truth_of(const struct mini_op *op)
{
	return (struct mini_truth_op){
		.op = op->ordinal,
		.name = op->name,
		.function = op->name,
		.channels = op->channels,
		.root = op->root,
		.count = op->count,
		.bytes = op->count * mini_type_size(op->type),
	};
}

static unsigned int next_number(void)
{
	return atomic_fetch_add(&launches, 1) + 1;
}

void mini_launches_told(const struct mini_plan *plan, const char *kind,
			const char *kernel, int result)
{
	unsigned int number = next_number();
	struct mini_truth_op *told;
	const struct mini_op *op;
	struct mini_truth_launch truth = {
		.comm = plan->comm,
		.kind = kind,
		.number = number,
		.kernel = kernel,
		.stream = plan->ops->stream,
		.channels = plan->ops->channels,
		.is_captured = plan->is_captured,
		.result = result,
	};

	if (!mini_truth_is_wanted())
		return;
	for (op = plan->ops; op; op = op->next)
		truth.op_count++;
	told = calloc(truth.op_count, sizeof(*told));
	truth.ops = told;
	truth.op_count = 0;
	for (op = plan->ops; told && op; op = op->next)
		told[truth.op_count++] = direct_truth_of(op);
	mini_truth_launch(&truth);
	free(told);
}

void mini_launches_replayed(const struct mini_plan *plan)
{
	if (mini_truth_is_wanted())
		tell(plan->comm, plan->launch, plan->ops, "replay", plan->launch->number,
		     plan->ops->stream, true, 0);
}

void mini_launches_write(const struct ncclComm *comm, struct mini_launch *launch,
			 const struct mini_op *ops, CUstream stream, bool is_captured,
			 int result)
{
	struct timespec now;
	unsigned int number;
	char *text = NULL;
	ssize_t written;
	size_t size = 0;
	unsigned int i;
	FILE *file;

	pthread_once(&once, open_launches);
	number = next_number();
	launch->number = number;
	if (mini_truth_is_wanted())
		tell(comm, launch, ops, "kernel", number, stream, is_captured, result);
	if (launches_fd < 0)
		return;
	file = open_memstream(&text, &size);
	if (!file)
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	fprintf(file,
		"launch pid=%d tid=%d number=%u ns=%lld comm=%016llx rank=%d nranks=%d "
		"arguments=%p kernel=%s stream=%p channels=0x%llx grid=%d block=%u "
		"storage=%d size=%zu batches=%u ops=%u captured=%d result=%d\n",
		(int) getpid(), (int) gettid(), number,
		(long long) now.tv_sec * 1000000000 + now.tv_nsec,
		(unsigned long long) comm->hash, comm->rank, comm->nranks,
		(void *) comm->device_comm, mini_kernel_name(launch->kernel),
		(void *) stream, (unsigned long long) launch->channel_mask,
		__builtin_popcountll(launch->channel_mask), launch->threads,
		(int) launch->storage, launch->size, launch->batch_count,
		launch->op_count, is_captured, result);
	for (i = 0; i < launch->op_count && ops; i++, ops = ops->next)
		write_op(file, comm, ops, number, i);
	fclose(file);
	written = write(launches_fd, text, size);
	(void) written;
	free(text);
}
