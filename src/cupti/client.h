/* SPDX-License-Identifier: MIT */
/*
 * Holds CUPTI while a recording wants what runs on the GPU and the program does not want
 * CUPTI itself.
 *
 * It hides when the tracer takes CUPTI and lets it go, the thread that has records handed
 * over in time, and what remains of that in the child of a fork.  If the tracer cannot
 * take CUPTI, gpu:owner reports why, and the tracer does not try again.
 */
#ifndef TAP_CUPTI_CLIENT_H
#define TAP_CUPTI_CLIENT_H

#include <stdbool.h>

#include "common/compiler.h"

/* CUDA begins: called inside cuInit() if the driver itself calls, else before it. */
void tap_cupti_begin(bool is_inside) tap_hidden;
/* CUDA has registered its exit handler: the tracer's must run before it. */
void tap_cupti_has_begun(void) tap_hidden;

/*
 * The program calls this function to use CUPTI itself; caller is an address in the
 * library that does.  Returns whether the program has CUPTI already.
 */
bool tap_cupti_program_takes(const char *function, const void *caller) tap_hidden;
/* The program has let CUPTI go, or its call failed. */
void tap_cupti_program_left(void) tap_hidden;

/* For struct tap_layer. */
struct tap_state_counts;
void tap_cupti_write_statedump(struct tap_state_counts *counts) tap_hidden;
void tap_cupti_fork_child(void) tap_hidden;

#endif
