/* SPDX-License-Identifier: MIT */
/*
 * The names of launched functions.
 *
 * A launch event names a function by its address, and an event before it gives the name:
 * one per address, unless several threads launch it first.  This module hides that the
 * driver (CUDA 12.3 and later) or HIP is queried, and that an address may belong to
 * another function after a module or a library was unloaded.
 */
#ifndef TAP_INTERCEPT_CUDA_FUNCTIONS_H
#define TAP_INTERCEPT_CUDA_FUNCTIONS_H

#include <stdbool.h>

#include "calls/cuda_types.h"
#include "common/compiler.h"

enum tap_function_kind {
	TAP_FUNCTION_UNKNOWN, /* no event has given its name */
	TAP_FUNCTION_OTHER,
	TAP_FUNCTION_NCCL, /* a kernel whose arguments hold NCCL's work */
	/* The same before NCCL 2.22: the name says which parameters it has. */
	TAP_FUNCTION_NCCL_OLD,
};

/* Takes no lock. */
enum tap_function_kind tap_function_kind(CUfunction function) tap_hidden;

/*
 * Which library to query: the CUDA driver; HIP, for a function of a module or of the
 * program.
 */
enum tap_function_asked {
	TAP_FUNCTION_OF_DRIVER,
	TAP_FUNCTION_OF_MODULE,
	TAP_FUNCTION_OF_HOST,
};

/* Writes the event with the function's name.  The caller has set the guard. */
enum tap_function_kind tap_function_emit(CUfunction function,
					 enum tap_function_asked asked) tap_hidden;

/* Forgets all functions: from now on an address may belong to another one. */
void tap_functions_forget(void) tap_hidden;

#endif
