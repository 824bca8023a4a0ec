/* SPDX-License-Identifier: MIT */
/*
 * The names of what is launched.
 *
 * A launch names a function by its address; the trace is told once what that stands for.
 * It hides that the driver is asked (CUDA 12.3 and later tell), or HIP, and that an
 * address may stand for another function after a module or a library was unloaded.
 */
#ifndef TAP_INTERCEPT_CUDA_FUNCTIONS_H
#define TAP_INTERCEPT_CUDA_FUNCTIONS_H

#include <stdbool.h>

#include "calls/cuda_types.h"
#include "common/compiler.h"

enum tap_function_kind {
	TAP_FUNCTION_UNKNOWN, /* the trace was not told its name */
	TAP_FUNCTION_OTHER,
	TAP_FUNCTION_NCCL, /* a kernel that NCCL tells by its arguments what to do */
};

/* Takes no lock. */
enum tap_function_kind tap_function_kind(CUfunction function) tap_hidden;

/* Who knows it: the CUDA driver; HIP, of a module's function or of the program's own. */
enum tap_function_asked {
	TAP_FUNCTION_OF_DRIVER,
	TAP_FUNCTION_OF_MODULE,
	TAP_FUNCTION_OF_HOST,
};

/* Tells the trace its name.  The caller has set the guard. */
enum tap_function_kind tap_function_emit(CUfunction function,
					 enum tap_function_asked asked) tap_hidden;

/* From now on an address may stand for another. */
void tap_functions_forget(void) tap_hidden;

#endif
