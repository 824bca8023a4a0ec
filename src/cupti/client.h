/* SPDX-License-Identifier: MIT */
/*
 * Has CUPTI while somebody records what runs on the GPU, and nobody else wants it.
 *
 * It hides when it is taken and let go, the thread that has records handed over in time,
 * and what is left of that in a child of a fork.  CUPTI is taken once, or not: what went
 * wrong is told by gpu:owner and not tried again.
 */
#ifndef TAP_CUPTI_CLIENT_H
#define TAP_CUPTI_CLIENT_H

#include <stdbool.h>

#include "common/compiler.h"

/* CUDA begins: inside cuInit() when the driver itself says so, else before it. */
void tap_cupti_begin(bool is_inside) tap_hidden;
/* Its exit handler is there, so that ours runs before it. */
void tap_cupti_has_begun(void) tap_hidden;

/*
 * The program turns to CUPTI by this function; caller is a place in the library that
 * does. Returns whether it has CUPTI already.
 */
bool tap_cupti_program_takes(const char *function, const void *caller) tap_hidden;
/* It has let go, or could not take what it wanted. */
void tap_cupti_program_left(void) tap_hidden;

/* As struct tap_layer has them. */
struct tap_state_counts;
void tap_cupti_write_statedump(struct tap_state_counts *counts) tap_hidden;
void tap_cupti_fork_child(void) tap_hidden;

#endif
