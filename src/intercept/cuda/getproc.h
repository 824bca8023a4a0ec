/* SPDX-License-Identifier: MIT */
/*
 * cuGetProcAddress(): the table from which a CUDA runtime takes all of the driver's
 * functions, in libraries that have one linked in as well.
 *
 * It hides that a name has several forms: which version and which stream a caller means
 * does not say for certain what it is given.  So the driver is asked once for each form
 * that we know, and an answer that is one of these is replaced by its wrapper; all else
 * passes.  hipGetProcAddress() and its like are the same for HIP, of names that have one
 * form each.
 */
#ifndef TAP_INTERCEPT_CUDA_GETPROC_H
#define TAP_INTERCEPT_CUDA_GETPROC_H

#include "common/compiler.h"

struct tap_cuda_name;

/*
 * One of the driver's names or HIP's, these two and their like too; NULL for all other
 * names.  Calls no function of libc.
 */
const struct tap_cuda_name *tap_cuda_find(const char *name) tap_hidden;

#endif
