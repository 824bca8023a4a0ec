/* SPDX-License-Identifier: MIT */
/* The table of functions.def, how to find an operation in it, and its kernels. */
#include "functions.h"

#include "arguments.h"
#include "kernels.h"
#include "release.h"

#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
enum {
	COLL_SendRecv = MINI_SEND, COLL_AllGather = MINI_ALL_GATHER,
	COLL_Broadcast = MINI_BROADCAST, COLL_AllReduce = MINI_ALL_REDUCE,
	COLL_Reduce = MINI_REDUCE, COLL_ReduceScatter = MINI_REDUCE_SCATTER
};
enum {
	OP_None = MINI_SUM, OP_Sum = MINI_SUM, OP_Prod = MINI_PROD, OP_MinMax = MINI_MIN_MAX,
	OP_PreMulSum = MINI_PRE_MUL_SUM, OP_SumPostDiv = MINI_SUM_POST_DIV
};
enum {
	TYPE_None = ncclInt8, TYPE_i8 = ncclInt8, TYPE_u8 = ncclUint8, TYPE_i32 = ncclInt32,
	TYPE_u32 = ncclUint32, TYPE_i64 = ncclInt64, TYPE_u64 = ncclUint64,
	TYPE_f16 = ncclFloat16, TYPE_f32 = ncclFloat32, TYPE_f64 = ncclFloat64,
	TYPE_bf16 = ncclBfloat16, TYPE_f8e4m3 = ncclFloat8e4m3, TYPE_f8e5m2 = ncclFloat8e5m2
};
enum { ALGO_None = MINI_NO_ALGORITHM, ALGO_TREE = MINI_TREE, ALGO_RING = MINI_RING };

/* The first release of each numbering. */
static const int since[] = {21900, 22000, 22300, 22400, 22900};
enum { NUMBERINGS = sizeof(since) / sizeof(since[0]) };

/* What differs in the protocol alone is one. */
static const struct row {
	enum mini_function function;
	const char *function_name;
	enum mini_reduction operator;
	const char *operator_name;
	int type;
	const char *type_name;
	enum mini_algorithm algorithm;
	int numbers[NUMBERINGS];
} rows[] = {
#define FUNCTION(coll, op, type, algo, ...) \
	{(enum mini_function) COLL_##coll, #coll, (enum mini_reduction) OP_##op, #op, \
	 TYPE_##type, #type, (enum mini_algorithm) ALGO_##algo, {__VA_ARGS__}},
#include "functions.def"
#undef FUNCTION
};
/* clang-format on */

enum { ROWS = sizeof(rows) / sizeof(rows[0]), NAME_BYTES = 128 };

/* Until 2.21, and one of our own that nobody else asks for. */
static const size_t parameter_sizes[] = {8, 8, 8, 8};

static char kernel_names[ROWS][NAME_BYTES];
static struct double_kernel kernels[ROWS];
static struct double_image image = {DOUBLE_IMAGE_MAGIC, 0, kernels};
static char stubs[ROWS];
/* Of each row. */
static unsigned int kernel_of[ROWS];

static bool has_operator(enum mini_function function)
{
	return function == MINI_ALL_REDUCE || function == MINI_REDUCE ||
	       function == MINI_REDUCE_SCATTER;
}

/* Sums alone have kernels, and signed integers those of unsigned ones. */
static void kernel_name(const struct row *row, char *name, size_t size)
{
	const char *type = row->type_name[0] == 'i' ? row->type_name + 1 : "";
	const char *shape = mini_algorithm_name(row->algorithm);
	bool is_short = mini_release() >= 23100;

	if (row->function == MINI_SEND)
		snprintf(name, size, "ncclDevKernel_SendRecv");
	else if (has_operator(row->function))
		snprintf(name, size, "ncclDevKernel_%s_%s%s%s_%s%s", row->function_name,
			 is_short ? "" : "Sum_", *type ? "u" : "",
			 *type ? type : row->type_name, shape, is_short ? "" : "_LL");
	else
		snprintf(name, size, "ncclDevKernel_%s_RING%s", row->function_name,
			 is_short ? "" : "_LL");
}

/* NCCL 2.18.3, include/collectives.h:29 and enqueue.cc:26: by the types of C. */
static void kernel_name_2_18(const struct row *row, char *name, size_t size)
{
	static const char *const types[] = {
		[ncclInt8] = "int8_t",	  [ncclUint8] = "uint8_t",
		[ncclInt32] = "int32_t",  [ncclUint32] = "uint32_t",
		[ncclInt64] = "int64_t",  [ncclUint64] = "uint64_t",
		[ncclFloat16] = "half",	  [ncclFloat32] = "float",
		[ncclFloat64] = "double", [ncclBfloat16] = "__nv_bfloat16",
	};

	if (row->function == MINI_SEND)
		snprintf(name, size, "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t");
	else
		snprintf(name, size, "ncclKernel_%s_%s_LL_Sum_%s", row->function_name,
			 mini_algorithm_name(row->algorithm), types[row->type]);
}

/* As the compiler writes it, with the types of the parameters. */
static void mangled_name(const struct row *row, char *name)
{
	char plain[NAME_BYTES - 48];

	if (mini_release() < 21900)
		kernel_name_2_18(row, plain, sizeof(plain));
	else
		kernel_name(row, plain, sizeof(plain));
	snprintf(name, NAME_BYTES, "_Z%zu%s%s", strlen(plain), plain,
		 mini_release() < 22200 ? "P11ncclDevCommmP8ncclWork"
					: "24ncclDevKernelArgsStorageILm4096EE");
}

bool mini_type_is_there(ncclDataType_t type)
{
	return mini_release() >= 22400 || type < ncclFloat8e4m3;
}

/* Several rows have one. */
static void add_kernel(int row)
{
	char name[NAME_BYTES];
	unsigned int i = 0;

	mangled_name(&rows[row], name);
	while (i < image.kernel_count && strcmp(kernel_names[i], name) != 0)
		i++;
	kernel_of[row] = i;
	if (i < image.kernel_count)
		return;
	strcpy(kernel_names[i], name);
	kernels[i] = (struct double_kernel){.name = kernel_names[i],
					    .run = mini_arguments_run};
	if (mini_release() < 22200) {
		kernels[i].parameter_sizes = parameter_sizes;
		kernels[i].parameter_count =
			sizeof(parameter_sizes) / sizeof(parameter_sizes[0]);
	}
	image.kernel_count++;
}

static void register_kernels(void)
{
	size_t i;

	for (i = 0; i < ROWS; i++) {
		if (mini_type_is_there((ncclDataType_t) rows[i].type))
			add_kernel((int) i);
	}
	mini_kernels_register(&image, stubs);
}

/* As late as can be: a test may choose the release when the library is loaded already. */
static void prepare(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, register_kernels);
}

const char *mini_kernel_name(unsigned int kernel)
{
	return kernel_names[kernel];
}

CUresult mini_kernel(unsigned int kernel, CUfunction *ret_function)
{
	return (CUresult) cudaGetFuncBySymbol(ret_function, &stubs[kernel]);
}

static bool is_it(const struct row *row, const struct mini_op *op)
{
	if (mini_op_is_p2p(op))
		return row->function == MINI_SEND;
	if (row->function != op->function || row->algorithm != op->algorithm)
		return false;
	return !has_operator(op->function) ||
	       (row->type == (int) op->type && row->operator== op->operation.kind);
}

/* NCCL 2.18.3, include/collectives.h:12-24: maximum and minimum are two operators. */
static unsigned int number_2_18(const struct row *row, const struct mini_op *op)
{
	enum { TYPES = 10, ALGORITHMS = 6, OPERATORS = 6 };
	static const unsigned int functions[] = {
		[MINI_BROADCAST] = 0,	   [MINI_REDUCE] = 1,	  [MINI_ALL_GATHER] = 2,
		[MINI_REDUCE_SCATTER] = 3, [MINI_ALL_REDUCE] = 4,
	};
	static const unsigned int operators[] = {
		[MINI_SUM] = 0,		[MINI_PROD] = 1,	 [MINI_MIN_MAX] = 3,
		[MINI_PRE_MUL_SUM] = 4, [MINI_SUM_POST_DIV] = 5,
	};
	unsigned int number = functions[row->function] * OPERATORS;

	number += operators[row->operator] -
		  (row->operator == MINI_MIN_MAX && op->operation.is_max);
	number = (number * TYPES + (unsigned int) row->type) * ALGORITHMS;
	number = (number + (unsigned int) row->algorithm) * MINI_PROTOCOLS;
	return 1 + TYPES + number + (unsigned int) op->protocol;
}

static unsigned int number_of(const struct row *row, const struct mini_op *op)
{
	int numbering = NUMBERINGS - 1;

	if (mini_release() < since[0])
		return mini_op_is_p2p(op) ? 0 : number_2_18(row, op);
	while (mini_release() < since[numbering])
		numbering--;
	return (unsigned int) row->numbers[numbering] +
	       (mini_op_is_p2p(op) ? 0 : (unsigned int) op->protocol);
}

struct mini_device_function mini_device_function(const struct mini_op *op)
{
	const struct row *row = rows;
	bool is_p2p = mini_op_is_p2p(op);

	prepare();
	while (row < rows + ROWS - 1 && !is_it(row, op))
		row++;
	return (struct mini_device_function){
		.number = number_of(row, op),
		.kernel = kernel_of[row - rows],
		.is_own_kernel =
			is_p2p || (row->operator== MINI_SUM && op->protocol == MINI_LL),
		.operator_name = row->operator_name,
		.type_name = row->type_name,
		.algorithm = row->algorithm,
		.protocol = is_p2p ? MINI_NO_PROTOCOL : op->protocol,
	};
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
