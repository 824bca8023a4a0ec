/* SPDX-License-Identifier: MIT */
/* The compiler's own part of the CUDA headers, which is in none of NVIDIA's wheels. */
#define __host__
#define __device__
#define __cudart_builtin__
#define __device_builtin__
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __align__(n) __attribute__((aligned(n)))
#define __device_builtin_texture_type__
#define __device_builtin_surface_type__
#define __no_return__ __attribute__((noreturn))
#define __forceinline__ inline
#define __grid_constant__
#define CUDARTAPI
#define CUDARTAPI_CDECL
