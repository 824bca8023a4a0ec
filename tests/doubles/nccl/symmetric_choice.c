/* SPDX-License-Identifier: MIT */
/* The kernels, and NCCL's model of them (2.28.9, sym_kernels.cc:110-225). */
#include "symmetric_choice.h"

#include "comm.h"
#include "kernels.h"
#include "reduce.h"
#include "release.h"
#include "settings.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <string.h>

enum { MOST_BLOCKS = 64 };
/* Data goes with a flag beside it, or not. */
enum sort { LL, DIRECT };

static const struct row {
	const char *name;
	enum mini_function function;
	ncclDataType_t type;
	enum sort sort;
} rows[] = {
/* clang-format off */
#define SYMMETRIC(length, older_length, kernel, function, type, sort) \
	{#kernel, MINI_##function, type, sort},
#include "symmetric.def"
#undef SYMMETRIC
};

/* As they are called since 2.28, then as before. */
static const struct double_kernel kernels[] = {
#define SYMMETRIC(length, older_length, kernel, ...) \
	{.name = "_Z" #length "ncclSymkDevKernel_" #kernel "21ncclSymkDevWorkArgs4K", \
	 .run = mini_symmetric_run},
#include "symmetric.def"
#undef SYMMETRIC
#define SYMMETRIC(length, older_length, kernel, ...) \
	{.name = "_Z" #older_length "ncclSymDevKernel_" #kernel "14ncclSymDevArgs", \
	 .run = mini_symmetric_run},
#include "symmetric.def"
#undef SYMMETRIC
};
/* clang-format on */

enum {
	ROWS = sizeof(rows) / sizeof(rows[0]),
	KERNELS = sizeof(kernels) / sizeof(kernels[0])
};

static const struct double_image image = {DOUBLE_IMAGE_MAGIC, KERNELS, kernels};
static char stubs[KERNELS];

__attribute__((constructor)) static void register_kernels(void)
{
	mini_kernels_register(&image, stubs);
}

static int of_release(int kernel)
{
	return mini_release() < 22800 ? kernel + ROWS : kernel;
}

const char *mini_symmetric_name(int kernel)
{
	return kernels[of_release(kernel)].name;
}

CUresult mini_symmetric_function(int kernel, CUfunction *ret_function)
{
	return (CUresult) cudaGetFuncBySymbol(ret_function, &stubs[of_release(kernel)]);
}

/* All-gather is of bytes, whatever their type; all else is a sum. */
static bool is_for(const struct row *row, const struct mini_op *op)
{
	return row->function == op->function &&
	       (op->function == MINI_ALL_GATHER ||
		(row->type == op->type && op->operation.kind == MINI_SUM));
}

/* Like the lesser of both, but smooth. */
static double smooth_least(double x, double ceiling, double softness)
{
	return ceiling -
	       softness * log1p((exp(ceiling / softness) - 1) * exp(-x / softness));
}

/* Like x where it is positive, and else 0. */
static double smooth_positive(double x)
{
	return x >= 100 ? x : log1p(exp(x));
}

/* Bytes that a GPU sends or receives, whichever is more. */
static double traffic(const struct row *row, double bytes, double n)
{
	if (row->sort == LL)
		return 9 * n * bytes;
	return row->function == MINI_ALL_REDUCE ? 2 * bytes * (n - 1) / n
						: (n - 1) * bytes;
}

/* In microseconds, on an A100. */
static double time_of(const struct row *row, double bytes, unsigned int blocks)
{
	const double gigabytes = (1 << 30) / 1e6;
	double of_block = (row->function == MINI_ALL_REDUCE ? 65 : 44) * gigabytes;
	double speed = smooth_least(blocks * of_block, 320 * gigabytes, of_block);

	return (row->sort == LL ? 4.5 : 7.8) + smooth_positive(bytes / speed - 1);
}

/* As few blocks as are nearly as fast as all. */
static unsigned int blocks_of(const struct row *row, double bytes)
{
	unsigned int wanted = (unsigned int) mini_number(SET_NCCL_SYM_CTAS);
	double least = time_of(row, bytes, MOST_BLOCKS);
	unsigned int blocks = 1;

	if (wanted)
		return wanted;
	while (blocks < MOST_BLOCKS && time_of(row, bytes, blocks) > 1.025 * least)
		blocks++;
	return blocks;
}

static bool is_allowed(const struct row *row, const struct ncclComm *comm,
		       unsigned int operations, size_t most)
{
	const char *wanted = mini_text(SET_NCCL_SYM_KERNEL);
	size_t bytes = most * mini_type_size(row->type);

	if (row->function != MINI_ALL_REDUCE)
		bytes *= (size_t) comm->nranks;
	/* With flags only one, whose elements 32 bits can count. */
	if (row->sort == LL && (operations > 1 || bytes >= (size_t) 2 << 30))
		return false;
	/* Of a reduction the name of the kernel goes on with operator and type. */
	return !wanted || strcmp(wanted, "^") == 0 ||
	       (strncmp(row->name, wanted, strlen(wanted)) == 0 &&
		(row->name[strlen(wanted)] == '\0' ||
		 strncmp(row->name + strlen(wanted), "_sum_", 5) == 0));
}

int mini_symmetric_choose(const struct ncclComm *comm, const struct mini_op *op,
			  unsigned int operations, size_t all, size_t most,
			  unsigned int *ret_blocks)
{
	double least = INFINITY;
	int best = -1;
	int i;

	for (i = 0; i < ROWS; i++) {
		const struct row *row = &rows[i];
		unsigned int blocks;
		double bytes;
		double time;

		if (!is_for(row, op) || !is_allowed(row, comm, operations, most))
			continue;
		bytes = traffic(row, (double) (all * mini_type_size(row->type)),
				comm->nranks);
		blocks = blocks_of(row, bytes);
		/* A block more has to be worth it. */
		time = time_of(row, bytes, blocks) * (1 + 0.025 * blocks);
		if (time >= least)
			continue;
		least = time;
		best = i;
		*ret_blocks = blocks;
	}
	return best;
}
