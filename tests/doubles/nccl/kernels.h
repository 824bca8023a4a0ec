/* SPDX-License-Identifier: MIT */
/*
 * Kernels are registered with the runtime as nvcc has every library do it, each under the
 * address of something in the library that stands for it.
 */
#ifndef MINI_NCCL_KERNELS_H
#define MINI_NCCL_KERNELS_H

#include "double_image.h"

/* `stubs` has a byte for each kernel of the image. */
void mini_kernels_register(const struct double_image *image, char *stubs);

#endif
