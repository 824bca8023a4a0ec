/* SPDX-License-Identifier: MIT */
/*
 * Kernels are registered with the runtime as nvcc has every library do it, each under the
 * address of something in the library that stands for it.
 */
#include "functions.h"

#include "arguments.h"
#include "double_image.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <strings.h>

/* clang-format off */
enum {
	COLL_SendRecv = MINI_SEND, COLL_AllGather = MINI_ALL_GATHER,
	COLL_Broadcast = MINI_BROADCAST, COLL_AllReduce = MINI_ALL_REDUCE,
	COLL_Reduce = MINI_REDUCE, COLL_ReduceScatter = MINI_REDUCE_SCATTER
};
enum {
	TYPE_None = -1, TYPE_i8 = ncclInt8, TYPE_u8 = ncclUint8, TYPE_i32 = ncclInt32,
	TYPE_u32 = ncclUint32, TYPE_i64 = ncclInt64, TYPE_u64 = ncclUint64,
	TYPE_f16 = ncclFloat16, TYPE_f32 = ncclFloat32, TYPE_f64 = ncclFloat64,
	TYPE_bf16 = ncclBfloat16, TYPE_f8e4m3 = ncclFloat8e4m3, TYPE_f8e5m2 = ncclFloat8e5m2
};
enum { ALGO_None = MINI_NO_ALGORITHM, ALGO_TREE = MINI_TREE, ALGO_RING = MINI_RING };
enum {
	PROTO_None = MINI_NO_PROTOCOL, PROTO_LL = MINI_LL, PROTO_LL128 = MINI_LL128,
	PROTO_SIMPLE = MINI_SIMPLE
};

static const struct mini_device_function functions[] = {
#define KERNEL(name)
#define FUNCTION(number, kernel, is_own, coll, op, type, algo, proto) \
	{number, kernel, is_own, (enum mini_function) COLL_##coll, #op, #type, TYPE_##type, \
	 (enum mini_algorithm) ALGO_##algo, (enum mini_protocol) PROTO_##proto},
#include "functions.def"
#undef KERNEL
#undef FUNCTION
};

static const struct double_kernel kernels[] = {
#define KERNEL(function) {.name = #function, .run = mini_arguments_run},
#define FUNCTION(...)
#include "functions.def"
#undef KERNEL
#undef FUNCTION
};
/* clang-format on */

enum {
	KERNELS = sizeof(kernels) / sizeof(kernels[0]),
	FUNCTIONS = sizeof(functions) / sizeof(functions[0])
};

static const struct double_image image = {DOUBLE_IMAGE_MAGIC, KERNELS, kernels};
static char stubs[KERNELS];
static void **registered;

__attribute__((constructor)) static void register_kernels(void)
{
	int i;

	registered = __cudaRegisterFatBinary((void *) (uintptr_t) &image);
	if (!registered)
		return;
	for (i = 0; i < KERNELS; i++)
		__cudaRegisterFunction(registered, &stubs[i],
				       (char *) (uintptr_t) kernels[i].name,
				       kernels[i].name, -1, NULL, NULL, NULL, NULL, NULL);
	__cudaRegisterFatBinaryEnd(registered);
}

const char *mini_kernel_name(unsigned int kernel)
{
	return kernels[kernel].name;
}

CUresult mini_kernel(unsigned int kernel, CUfunction *ret_function)
{
	return (CUresult) cudaGetFuncBySymbol(ret_function, &stubs[kernel]);
}

static const char *operator_name(const struct mini_op *op)
{
	bool is_float = op->type == ncclFloat16 || op->type == ncclFloat32 ||
			op->type == ncclFloat64 || op->type == ncclBfloat16 ||
			op->type == ncclFloat8e4m3 || op->type == ncclFloat8e5m2;

	switch (op->op) {
	case ncclProd:
		return "Prod";
	case ncclMax:
	case ncclMin:
		return "MinMax";
	case ncclAvg:
		return is_float ? "PreMulSum" : "SumPostDiv";
	default:
		return "Sum";
	}
}

static bool has_operator(const struct mini_op *op)
{
	return op->function == MINI_ALL_REDUCE || op->function == MINI_REDUCE ||
	       op->function == MINI_REDUCE_SCATTER;
}

static enum mini_algorithm choose_algorithm(const struct mini_op *op)
{
	const char *wanted = getenv("NCCL_ALGO");

	if (op->function == MINI_ALL_REDUCE && wanted && strcasecmp(wanted, "tree") == 0)
		return MINI_TREE;
	return MINI_RING;
}

static enum mini_protocol choose_protocol(void)
{
	const char *wanted = getenv("NCCL_PROTO");

	if (wanted && strcasecmp(wanted, "ll") == 0)
		return MINI_LL;
	return wanted && strcasecmp(wanted, "ll128") == 0 ? MINI_LL128 : MINI_SIMPLE;
}

static bool is_it(const struct mini_device_function *f, const struct mini_op *op)
{
	if (mini_op_is_p2p(op))
		return f->function == MINI_SEND;
	if (f->function != op->function || f->algorithm != choose_algorithm(op) ||
	    f->protocol != choose_protocol())
		return false;
	return !has_operator(op) ||
	       (f->type == (int) op->type &&
		strcasecmp(f->operator_name, operator_name(op)) == 0);
}

const struct mini_device_function *mini_device_function(const struct mini_op *op)
{
	int i;

	for (i = 0; i < FUNCTIONS; i++) {
		if (is_it(&functions[i], op))
			return &functions[i];
	}
	return &functions[0];
}

const char *mini_function_name(const struct mini_op *op)
{
	static const char *const names[] = {
		[MINI_BROADCAST] = "Broadcast",
		[MINI_REDUCE] = "Reduce",
		[MINI_ALL_GATHER] = "AllGather",
		[MINI_REDUCE_SCATTER] = "ReduceScatter",
		[MINI_ALL_REDUCE] = "AllReduce",
		[MINI_SEND] = "Send",
		[MINI_RECV] = "Recv",
	};

	return names[op->function];
}

const char *mini_algorithm_name(enum mini_algorithm algorithm)
{
	if (algorithm == MINI_NO_ALGORITHM)
		return "None";
	return algorithm == MINI_TREE ? "TREE" : "RING";
}

const char *mini_protocol_name(enum mini_protocol protocol)
{
	if (protocol == MINI_NO_PROTOCOL)
		return "None";
	if (protocol == MINI_LL)
		return "LL";
	return protocol == MINI_LL128 ? "LL128" : "SIMPLE";
}
