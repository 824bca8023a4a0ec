/* SPDX-License-Identifier: MIT */
/*
 * The ranges that each thread has pushed and not popped: a pop names only a domain, and
 * its event must name the range that it ends.
 *
 * It hides where the ranges are stored: thread-local storage has no room for them, and a
 * push must not allocate memory.
 */
#ifndef TAP_INTERCEPT_NVTX_NVTX_STACK_H
#define TAP_INTERCEPT_NVTX_NVTX_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "common/compiler.h"

struct tap_nvtx_domain;

struct tap_nvtx_level {
	const struct tap_nvtx_domain *domain;
	const char *function; /* of a call of NCCL, NULL: a range of the program */
	uint64_t call_id;     /* 0: not recorded */
	uint64_t parent_id;
};

/* Adds a level to the thread's stack for this domain; NULL when there is no room. */
struct tap_nvtx_level *tap_nvtx_push(const struct tap_nvtx_domain *domain) tap_hidden;

/* Removes the domain's innermost level; false when none is known. */
bool tap_nvtx_pop(const struct tap_nvtx_domain *domain,
		  struct tap_nvtx_level *ret_level) tap_hidden;

/* The number of the thread's innermost recorded call or range, 0 for none. */
uint64_t tap_nvtx_innermost(bool is_call) tap_hidden;

/* Frees the stack of a thread that ends; NULL is allowed. */
struct tap_nvtx_stack;
void tap_nvtx_stack_leave(struct tap_nvtx_stack *stack) tap_hidden;
/* Frees all other threads' stacks, in the child of a fork. */
void tap_nvtx_stacks_fork_child(void) tap_hidden;

#endif
