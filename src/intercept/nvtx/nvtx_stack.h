/* SPDX-License-Identifier: MIT */
/*
 * The ranges that each thread has pushed and not popped: a pop names a domain and nothing
 * else, and its event must say which range it ends.
 *
 * It hides where they are kept: in the thread's own storage there is no room, and on the
 * way of a range nothing may be allocated.
 */
#ifndef TAP_INTERCEPT_NVTX_NVTX_STACK_H
#define TAP_INTERCEPT_NVTX_NVTX_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "common/compiler.h"

struct tap_nvtx_domain;

struct tap_nvtx_level {
	const struct tap_nvtx_domain *domain;
	const char *function; /* of a call of NCCL's, NULL: a range of the program's */
	uint64_t call_id;     /* 0: not recorded */
	uint64_t parent_id;
};

/* The thread's new innermost level, of this domain alone; NULL when there is no room. */
struct tap_nvtx_level *tap_nvtx_push(const struct tap_nvtx_domain *domain) tap_hidden;

/* Takes the domain's innermost level away; false when it is not known. */
bool tap_nvtx_pop(const struct tap_nvtx_domain *domain,
		  struct tap_nvtx_level *ret_level) tap_hidden;

/* The number of the thread's innermost recorded call, or range, 0 none. */
uint64_t tap_nvtx_innermost(bool is_call) tap_hidden;

/* The thread that has it ends; NULL is allowed. */
struct tap_nvtx_stack;
void tap_nvtx_stack_leave(struct tap_nvtx_stack *stack) tap_hidden;
/* In the child of a fork: the other threads are gone. */
void tap_nvtx_stacks_fork_child(void) tap_hidden;

#endif
