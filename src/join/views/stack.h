/* SPDX-License-Identifier: MIT */
/*
 * Call stacks, formatted alike in all views.
 *
 * Hides how a frame without a name is shown, and a stack that is incomplete.
 */
#ifndef TAP_JOIN_VIEWS_STACK_H
#define TAP_JOIN_VIEWS_STACK_H

#include "join/base/json.h"
#include "join/views/symbol.h"

/* A line for each function, indented.  Returns 0 or -ENOMEM. */
int tap_stack_add_text(struct tap_buffer *line, struct tap_symbols *symbols,
		       const struct tap_process *process, const struct tap_stack *stack,
		       size_t indent);

/*
 * "stack":[...] and the reason why it ends; null where stack is NULL. Returns 0 or
 * -ENOMEM.
 */
int tap_stack_add_json(struct tap_json *json, struct tap_symbols *symbols,
		       const struct tap_process *process, const struct tap_stack *stack);

/* A line for each module that could not be used. */
void tap_stack_add_modules_text(struct tap_buffer *line,
				const struct tap_symbols *symbols);
/* The members of one module's object. */
void tap_stack_add_module_json(struct tap_json *json, const struct tap_module *module);

#endif
