/* SPDX-License-Identifier: MIT */
/*
 * Compiled, never run: cuda_runtime_api.h says the same as our rows.  __cudaLaunchKernel()
 * is declared by the compiler's own headers.
 */
#include <cuda_runtime_api.h>

#include "common/args.h"

#if CUDART_VERSION < 12000
typedef struct CUkern_st *cudaKernel_t;
#endif
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 gridDim, dim3 blockDim, void **args,
			       size_t sharedMem, cudaStream_t stream);

/* clang-format off */
#define CALL_ALONE(number, since, fn, ...) \
	_Static_assert(__builtin_types_compatible_p(__typeof__(&fn), \
						    cudaError_t (*)(PARAMS(__VA_ARGS__))), \
		       #fn " has other arguments in the header");
#define CALL(number, since, fn, variant, ...) CALL_ALONE(number, since, fn, ##__VA_ARGS__)
#include "calls/cudart.def"
