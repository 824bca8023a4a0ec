/* SPDX-License-Identifier: MIT */
/* What the programs share: the kernel that they launch, and how they end. */
#ifndef DOUBLES_PROGRAM_H
#define DOUBLES_PROGRAM_H

#include "double_image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct add_arguments {
	long *sum;
	long value;
};

static void add(const void *arguments, size_t size)
{
	struct add_arguments args;

	if (size != sizeof(args))
		return;
	memcpy(&args, arguments, size);
	__atomic_fetch_add(args.sum, args.value, __ATOMIC_RELAXED);
}

static const size_t add_sizes[] = {sizeof(long *), sizeof(long)};
static const struct double_kernel add_kernels[] = {{"add", add, add_sizes, 2}};
static const struct double_image add_image = {DOUBLE_IMAGE_MAGIC, 1, add_kernels};

/* The calls of the runtime and of the driver have results of types of their own. */
#define must(call) must_be_0((int) (call), #call)

static inline void must_be_0(int result, const char *call)
{
	if (result) {
		fprintf(stderr, "%s = %d\n", call, result);
		exit(1);
	}
}

/* One line of what was done, which the test compares. */
static inline int done(const char *what, int launches, long sum)
{
	printf("%s: %d launches, sum %ld\n", what, launches, sum);
	return 0;
}

#endif
