/* SPDX-License-Identifier: MIT */
/* What nvcc writes into a library. */
#include "kernels.h"

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

void mini_kernels_register(const struct double_image *image, char *stubs)
{
	void **registered = __cudaRegisterFatBinary((void *) (uintptr_t) image);
	size_t i;

	if (!registered)
		return;
	for (i = 0; i < image->kernel_count; i++)
		__cudaRegisterFunction(registered, &stubs[i],
				       (char *) (uintptr_t) image->kernels[i].name,
				       image->kernels[i].name, -1, NULL, NULL, NULL, NULL,
				       NULL);
	__cudaRegisterFatBinaryEnd(registered);
}
