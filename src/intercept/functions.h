/* SPDX-License-Identifier: MIT */
/*
 * The names of what is launched.
 *
 * A launch names a function by its address; the trace is told once what that stands for.
 * It hides that the driver is asked (CUDA 12.3 and later tell), or HIP, and that an
 * address may stand for another function after a module or a library was unloaded.
 */
#ifndef TAP_INTERCEPT_FUNCTIONS_H
#define TAP_INTERCEPT_FUNCTIONS_H

#include <stdbool.h>

#include "calls/cuda_types.h"
#include "common/compiler.h"

/* Whether the trace was told its name.  Takes no lock. */
bool tap_function_is_known(CUfunction function) tap_hidden;

/* Who knows it: the CUDA driver; HIP, of a module's function or of the program's own. */
enum tap_function_asked {
	TAP_FUNCTION_OF_DRIVER,
	TAP_FUNCTION_OF_MODULE,
	TAP_FUNCTION_OF_HOST,
};

/* Tells it.  The caller has set the guard. */
void tap_function_tell(CUfunction function, enum tap_function_asked asked) tap_hidden;

/* From now on an address may stand for another. */
void tap_functions_forget(void) tap_hidden;

/* Writes tap:state_function for each that is known. */
void tap_functions_write(void) tap_hidden;

void tap_functions_fork_child(void) tap_hidden;

#endif
