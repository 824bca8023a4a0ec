/* SPDX-License-Identifier: MIT */
/*
 * What stands for device code: the image that cuModuleLoadData() of the
 * driver double takes.  A kernel is a function of the host that runs on the worker of
 * its stream and is given a copy of the argument buffer of its launch.
 */
#ifndef DOUBLE_IMAGE_H
#define DOUBLE_IMAGE_H

#include <stddef.h>

#define DOUBLE_IMAGE_MAGIC 0x66616b656b726e6cULL

struct double_kernel {
	const char *name;
	void (*run)(const void *arguments, size_t size);
	/*
	 * For launches by kernelParams, which tell no sizes; each lies at a multiple of
	 * its size, of 8 at most.  NULL where a launch has to bring a buffer.
	 */
	const size_t *parameter_sizes;
	size_t parameter_count;
};

/* The module keeps no copy: the image outlives it. */
struct double_image {
	unsigned long long magic;
	size_t kernel_count;
	const struct double_kernel *kernels;
};

#endif
