/* SPDX-License-Identifier: MIT */
/*
 * A copy, unless it would be one to itself, or a kernel that multiplies (NCCL 2.28.9,
 * device/onerank.cu:48-82).  The kernels have the names of the stock library of 2.28.9.
 */
#include "one_rank.h"

#include "comm.h"
#include "kernels.h"
#include "reduce.h"
#include "result.h"
#include "truth.h"

#include <cuda_runtime_api.h>
#include <string.h>

enum { KERNEL_BYTES = 16 << 10, MOST_BLOCKS = 32, THREADS = 512 };

/* As they lie in the buffer of the launch. */
struct arguments {
	void *target;
	const void *source;
	size_t count;
	uint64_t scalar;
	bool is_pointer;
};

static const size_t sizes[] = {8, 8, 8, 8, 1};

static void run(const void *arguments, ncclDataType_t type)
{
	struct mini_operation operation = {.kind = MINI_PRE_MUL_SUM};
	struct arguments args;

	memcpy(&args, arguments, offsetof(struct arguments, is_pointer) + 1);
	if (args.is_pointer)
		operation.scalar_at = (const void *) (uintptr_t) args.scalar;
	else
		operation.scalar = args.scalar;
	if (args.target != args.source)
		memmove(args.target, args.source, args.count * mini_type_size(type));
	mini_reduce_multiply(args.target, args.count, type, &operation);
}

/* clang-format off */
#define ONE_RANK_KERNELS(X) \
	X(ncclInt8, "Ia", "S3_") X(ncclUint8, "Ih", "S3_") X(ncclInt32, "Ii", "S3_") \
	X(ncclUint32, "Ij", "S3_") X(ncclInt64, "Il", "S3_") X(ncclUint64, "Im", "S3_") \
	X(ncclFloat16, "I6__half", "S4_") X(ncclFloat32, "If", "S3_") \
	X(ncclFloat64, "Id", "S3_") X(ncclBfloat16, "I13__nv_bfloat16", "S4_")

#define RUN(type, letters, again) \
	static void run_##type(const void *arguments, size_t size) \
	{ \
		(void) size; \
		run(arguments, type); \
	}
ONE_RANK_KERNELS(RUN)

static const struct double_kernel kernels[] = {
#define KERNEL(type, letters, again) \
	[type] = {"_ZN43_GLOBAL__N__b4148644_10_onerank_cu_fdf4799013oneRankReduceI13" \
		  "FuncPreMulSum" letters "EEEvPv" again "mmb", run_##type, sizes, 5},
ONE_RANK_KERNELS(KERNEL)
};
/* clang-format on */

enum { KERNELS = sizeof(kernels) / sizeof(kernels[0]) };

static const struct double_image image = {DOUBLE_IMAGE_MAGIC, KERNELS, kernels};
static char stubs[KERNELS];

__attribute__((constructor)) static void register_kernels(void)
{
	mini_kernels_register(&image, stubs);
}

static void tell(const struct ncclComm *comm, const struct mini_op *op,
		 const char *kernel, int result)
{
	const struct mini_truth_op told = {
		.op = op->ordinal,
		.name = op->name,
		.root = op->root,
		.count = op->count,
		.bytes = op->count * mini_type_size(op->type),
	};
	const struct mini_truth_launch truth = {
		.comm = comm,
		.kind = "one-rank",
		.kernel = kernel,
		.stream = op->stream,
		.result = result,
		.op_count = 1,
		.ops = &told,
	};

	mini_truth_launch(&truth);
}

static ncclResult_t multiply(const struct ncclComm *comm, const struct mini_op *op)
{
	size_t bytes = op->count * mini_type_size(op->type);
	size_t blocks = (bytes + KERNEL_BYTES - 1) / KERNEL_BYTES;
	struct arguments args = {
		.target = op->recv,
		.source = op->send,
		.count = op->count,
		.scalar = op->operation.scalar_at ? (uintptr_t) op->operation.scalar_at
						  : op->operation.scalar,
		.is_pointer = op->operation.scalar_at != NULL,
	};
	void *parameters[] = {&args.target, &args.source, &args.count, &args.scalar,
			      &args.is_pointer};
	dim3 grid = {blocks < MOST_BLOCKS ? (unsigned int) blocks : MOST_BLOCKS, 1, 1};
	dim3 block = {THREADS, 1, 1};
	CUresult res = (CUresult) cudaLaunchKernel(&stubs[op->type], grid, block,
						   parameters, 0, op->stream);

	tell(comm, op, kernels[op->type].name, (int) res);
	return mini_driver_check(res);
}

ncclResult_t mini_one_rank_run(const struct ncclComm *comm, const struct mini_op *op)
{
	CUresult res;

	if (op->operation.kind == MINI_PRE_MUL_SUM)
		return multiply(comm, op);
	if (op->send == op->recv)
		return ncclSuccess;
	res = mini_driver.MemcpyDtoDAsync((CUdeviceptr) (uintptr_t) op->recv,
					  (CUdeviceptr) (uintptr_t) op->send,
					  op->count * mini_type_size(op->type),
					  op->stream);
	tell(comm, op, NULL, (int) res);
	return mini_driver_check(res);
}
