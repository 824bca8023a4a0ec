/* SPDX-License-Identifier: MIT */
/*
 * cuGetProcAddress(), through which a CUDA runtime obtains all functions of the driver,
 * also where the runtime is linked into a library.
 *
 * It hides that a name has several variants: the version and the stream that a caller
 * asks for do not determine which variant it gets.  So the tracer queries the driver once
 * for each variant that it wraps, and replaces an answer that is one of these by its
 * wrapper; all other answers are returned unchanged.  hipGetProcAddress() and its like
 * are the same for HIP, whose names have one variant each.
 */
#ifndef TAP_INTERCEPT_CUDA_GETPROC_H
#define TAP_INTERCEPT_CUDA_GETPROC_H

#include "common/compiler.h"

struct tap_cuda_name;

/*
 * Finds a wrapped name of the driver or of HIP, including cuGetProcAddress() and its
 * like; NULL for all other names.  Calls no function of libc.
 */
const struct tap_cuda_name *tap_cuda_find(const char *name) tap_hidden;

#endif
