/* SPDX-License-Identifier: MIT */
/*
 * A fixed number of stacks of fixed depth; each thread takes one.
 */
#include "intercept/nvtx/nvtx_stack.h"

#include <string.h>

#include "common/thread.h"
#include "intercept/guard.h"
#include "intercept/threads.h"
#include "intercept/trace.h"

#define NR_STACKS 256
#define NR_LEVELS 32

struct tap_nvtx_stack {
	int is_taken;
	uint32_t depth;
	uint32_t beyond; /* levels above NR_LEVELS, which are not stored */
	struct tap_nvtx_level levels[NR_LEVELS];
};

static struct tap_nvtx_stack stacks[NR_STACKS];

static tap_cold void say_once(int *is_said, const char *detail)
{
	const struct tap_guard guard = tap_guard_set();

	if (!__atomic_exchange_n(is_said, 1, __ATOMIC_RELAXED))
		tap_problem("not recorded", detail, 1);
	tap_guard_clear(guard);
}

static tap_cold struct tap_nvtx_stack *take_stack(void)
{
	static int is_said;
	struct tap_thread *t = &tap_thread;
	unsigned i;

	/* So that the stack is freed when the thread ends. */
	if (!t->tid)
		tap_thread_know();
	for (i = 0; i < NR_STACKS; i++) {
		struct tap_nvtx_stack *stack = &stacks[i];

		if (__atomic_exchange_n(&stack->is_taken, 1, __ATOMIC_ACQUIRE))
			continue;
		stack->depth = stack->beyond = 0;
		t->nvtx = stack;
		return stack;
	}
	say_once(&is_said, "what more than 256 threads report to NVTX");
	return NULL;
}

struct tap_nvtx_level *tap_nvtx_push(const struct tap_nvtx_domain *domain)
{
	static int is_said;
	struct tap_nvtx_stack *stack = tap_thread.nvtx;
	struct tap_nvtx_level *level;

	if (unlikely(!stack))
		stack = take_stack();
	if (unlikely(!stack))
		return NULL;
	if (unlikely(stack->depth == NR_LEVELS)) {
		stack->beyond++;
		say_once(&is_said, "ranges of NVTX that are nested more than 32 deep");
		return NULL;
	}
	level = &stack->levels[stack->depth++];
	*level = (struct tap_nvtx_level){.domain = domain};
	return level;
}

/*
 * Ranges of different domains need not nest.  The domain of levels that are not stored is
 * unknown: the next pops are assumed to end these.
 */
bool tap_nvtx_pop(const struct tap_nvtx_domain *domain, struct tap_nvtx_level *ret_level)
{
	struct tap_nvtx_stack *stack = tap_thread.nvtx;
	uint32_t i;

	if (!stack)
		return false;
	if (unlikely(stack->beyond)) {
		stack->beyond--;
		return false;
	}
	for (i = stack->depth; i-- > 0;) {
		struct tap_nvtx_level *level = &stack->levels[i];

		if (level->domain != domain)
			continue;
		*ret_level = *level;
		stack->depth--;
		memmove(level, level + 1, (stack->depth - i) * sizeof(*level));
		return true;
	}
	return false;
}

uint64_t tap_nvtx_innermost(bool is_call)
{
	const struct tap_nvtx_stack *stack = tap_thread.nvtx;
	uint32_t i;

	for (i = stack ? stack->depth : 0; i-- > 0;) {
		const struct tap_nvtx_level *level = &stack->levels[i];

		if (level->call_id && is_call == !!level->function)
			return level->call_id;
	}
	return 0;
}

void tap_nvtx_stack_leave(struct tap_nvtx_stack *stack)
{
	if (stack)
		__atomic_store_n(&stack->is_taken, 0, __ATOMIC_RELEASE);
}

void tap_nvtx_stacks_fork_child(void)
{
	unsigned i;

	for (i = 0; i < NR_STACKS; i++)
		if (&stacks[i] != tap_thread.nvtx)
			tap_nvtx_stack_leave(&stacks[i]);
}
