/* SPDX-License-Identifier: MIT */
/* Frames with their names, for a person and for a program. */
#include "join/views/stack.h"

#include "join/model/process.h"
#include "join/views/view.h"

#include <string.h>

/* Gets the symbols at a frame.  Returns how many there are, or -ENOMEM. */
static int names_of(struct tap_symbols *symbols, const struct tap_process *process,
		    const struct tap_stack_frame *frame,
		    const struct tap_library **ret_library,
		    const struct tap_symbol **ret_names)
{
	*ret_library =
		frame->library ? tap_process_library(process, frame->library) : NULL;
	if (!*ret_library || !*(*ret_library)->path)
		return 0;
	return tap_symbols_find(symbols, *ret_library, frame->offset, ret_names);
}

static void add_place(struct tap_buffer *line, const struct tap_library *library,
		      const struct tap_stack_frame *frame)
{
	if (frame->library) {
		tap_view_add_caller(line, library, frame->library, frame->offset);
		return;
	}
	tap_buffer_add_hex(line, frame->offset);
	tap_buffer_add_string(line, " in no library");
}

static void add_name(struct tap_buffer *line, const struct tap_symbol *name)
{
	if (name->function)
		tap_buffer_add_visible(line, name->function);
	else
		tap_buffer_add_char(line, '?');
	if (!name->file)
		return;
	tap_buffer_add_string(line, " at ");
	tap_buffer_add_visible(line, name->file);
	if (name->line <= 0)
		return;
	tap_buffer_add_char(line, ':');
	tap_buffer_add_unsigned(line, (uint64_t) name->line);
}

int tap_stack_add_text(struct tap_buffer *line, struct tap_symbols *symbols,
		       const struct tap_process *process, const struct tap_stack *stack,
		       size_t indent)
{
	const struct tap_library *library;
	const struct tap_symbol *names = NULL;
	size_t i;
	int k, count;

	for (i = 0; i < stack->count; i++) {
		const struct tap_stack_frame *frame = &stack->frames[i];

		count = names_of(symbols, process, frame, &library, &names);
		if (count < 0)
			return count;
		for (k = 0; k < count; k++) {
			tap_buffer_fill(line, line->used, indent, ' ');
			add_name(line, &names[k]);
			tap_buffer_add_string(line,
					      k < count - 1 ? " (inlined)\n" : "  ");
		}
		if (!count)
			tap_buffer_fill(line, line->used, indent, ' ');
		tap_buffer_add_char(line, '[');
		add_place(line, library, frame);
		tap_buffer_add_string(line, "]\n");
	}
	if (stack->end == TAP_STACK_START)
		return 0;
	tap_buffer_fill(line, line->used, indent, ' ');
	tap_buffer_add_string(line, stack->end == TAP_STACK_DEPTH
					    ? "... more were not recorded\n"
					    : "... the caller is not known\n");
	return 0;
}

static void add_frame_json(struct tap_json *json, const struct tap_library *library,
			   const struct tap_stack_frame *frame,
			   const struct tap_symbol *name, bool is_inlined)
{
	tap_json_open(json, NULL, '{');
	tap_json_string(json, "module", library && *library->path ? library->path : NULL);
	tap_json_unsigned(json, "library_id", frame->library);
	tap_json_hex(json, "offset", frame->offset);
	tap_json_string(json, "function", name ? name->function : NULL);
	tap_json_string(json, "file", name ? name->file : NULL);
	if (name && name->line > 0)
		tap_json_signed(json, "line", name->line);
	else
		tap_json_null(json, "line");
	tap_json_bool(json, "inlined", is_inlined);
	tap_json_close(json);
}

int tap_stack_add_json(struct tap_json *json, struct tap_symbols *symbols,
		       const struct tap_process *process, const struct tap_stack *stack)
{
	static const char *const ends[] = {[TAP_STACK_START] = "start",
					   [TAP_STACK_DEPTH] = "depth",
					   [TAP_STACK_LOST] = "lost"};
	const struct tap_library *library;
	const struct tap_symbol *names = NULL;
	size_t i;
	int k, count;

	if (!stack) {
		tap_json_null(json, "stack");
		tap_json_null(json, "stack_end");
		return 0;
	}
	tap_json_open(json, "stack", '[');
	for (i = 0; i < stack->count; i++) {
		const struct tap_stack_frame *frame = &stack->frames[i];

		count = names_of(symbols, process, frame, &library, &names);
		if (count < 0)
			return count;
		for (k = 0; k < count; k++)
			add_frame_json(json, library, frame, &names[k], k < count - 1);
		if (!count)
			add_frame_json(json, library, frame, NULL, false);
	}
	tap_json_close(json);
	tap_json_string(json, "stack_end", ends[stack->end]);
	return 0;
}

void tap_stack_add_modules_text(struct tap_buffer *line,
				const struct tap_symbols *symbols)
{
	const struct tap_module *module;

	for (module = tap_symbols_modules(symbols); module; module = module->next) {
		if (!module->problem)
			continue;
		tap_buffer_add_string(line, "no names for ");
		tap_buffer_add_visible(line, module->path);
		tap_buffer_add_string(line, ": ");
		tap_buffer_add_visible(line, module->problem);
		tap_buffer_add_char(line, '\n');
	}
}

void tap_stack_add_module_json(struct tap_json *json, const struct tap_module *module)
{
	tap_json_string(json, "path", module->path);
	tap_json_string(json, "build_id", module->build_id);
	tap_json_string(json, "file", module->file);
	tap_json_string(json, "problem", module->problem);
}
