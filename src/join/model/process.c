/* SPDX-License-Identifier: MIT */
/* Processes by (trace, namespace, number), and the libraries of each by number. */
#include "join/model/process.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/vec.h"

/* A key made of a trace and a namespace, whose inode number has 32 bits. */
static uint64_t place_of(const struct tap_trace *trace, int64_t pid_namespace)
{
	return (uint64_t) trace->number << 32 ^ (uint64_t) pid_namespace;
}

static struct tap_process *make(struct tap_processes *processes,
				const struct tap_trace *trace, int64_t pid_namespace,
				int64_t pid)
{
	struct tap_process *process;

	if (tap_array_reserve(processes->all, processes->room, processes->count + 1))
		return NULL;
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	if (tap_table_set(&processes->by_pid, place_of(trace, pid_namespace),
			  (uint64_t) pid, process)) {
		free(process);
		return NULL;
	}
	process->number = processes->count;
	process->trace = trace;
	process->host = trace->host;
	process->pid = pid;
	process->pid_namespace = pid_namespace;
	process->rank = -1;
	process->comm_rank = -1;
	processes->all[processes->count++] = process;
	return process;
}

struct tap_process *tap_processes_of(struct tap_processes *processes,
				     const struct tap_event *event)
{
	int64_t pid = event->pid >= 0 ? event->pid : event->trace->pid;
	struct tap_process *process =
		tap_table_find(&processes->by_pid,
			       place_of(event->trace, event->pid_namespace),
			       (uint64_t) pid);

	return process ? process
		       : make(processes, event->trace, event->pid_namespace, pid);
}

struct tap_process *tap_processes_succeed(struct tap_processes *processes,
					  const struct tap_process *process)
{
	return make(processes, process->trace, process->pid_namespace, process->pid);
}

void tap_process_describe(struct tap_process *process, struct tap_event *event)
{
	const char *host;
	int64_t number;

	tap_fields_swap(&process->about, &event->fields);
	process->is_announced = true;
	if (!tap_fields_get_signed(&process->about, "rank", &number))
		process->rank = number < 0 ? -1 : number;
	if (process->pid < 0 && !tap_fields_get_signed(&process->about, "pid", &number))
		process->pid = number;
	host = tap_fields_get_string(&process->about, "host");
	if (!*process->host && host)
		process->host = host;
}

static char *copy_string(const struct tap_fields *fields, const char *name)
{
	const char *string = tap_fields_get_string(fields, name);

	return strdup(string ? string : "");
}

static void free_library(struct tap_library *library)
{
	free(library->path);
	free(library->build_id);
	free(library->layer);
	free(library);
}

static bool is_same(const struct tap_library *a, const struct tap_library *b)
{
	return a->base == b->base && !strcmp(a->path, b->path) &&
	       !strcmp(a->build_id, b->build_id) && !strcmp(a->layer, b->layer);
}

int tap_process_add_library(struct tap_process *process, const struct tap_event *event,
			    const struct tap_library **ret_library)
{
	struct tap_library *library, *known;
	const char *slash;
	uint64_t number, base = 0;

	if (tap_fields_get_unsigned(&event->fields, "library_id", &number) || !number)
		return -EINVAL;
	tap_fields_get_unsigned(&event->fields, "base", &base);
	library = calloc(1, sizeof(*library));
	if (!library)
		return -ENOMEM;
	library->number = number;
	library->base = base;
	library->path = copy_string(&event->fields, "path");
	library->build_id = copy_string(&event->fields, "build_id");
	library->layer = copy_string(&event->fields, "layer");
	if (!library->path || !library->build_id || !library->layer)
		goto short_of_memory;
	slash = strrchr(library->path, '/');
	library->base_name = slash ? slash + 1 : library->path;
	known = tap_table_find(&process->by_number, number, 0);
	/*
	 * Spans point to the library, so it cannot be freed: a repeated description must
	 * not use memory each time.
	 */
	if (known && is_same(known, library)) {
		free_library(library);
		*ret_library = known;
		return 0;
	}
	if (tap_table_set(&process->by_number, number, 0, library))
		goto short_of_memory;
	library->next = process->libraries;
	process->libraries = library;
	*ret_library = library;
	return 0;

short_of_memory:
	free_library(library);
	return -ENOMEM;
}

const struct tap_library *tap_process_library(const struct tap_process *process,
					      uint64_t number)
{
	return tap_table_find(&process->by_number, number, 0);
}

static bool is_same_stack(const struct tap_stack *a, const struct tap_stack *b)
{
	return a->end == b->end && a->count == b->count &&
	       !memcmp(a->frames, b->frames, a->count * sizeof(a->frames[0]));
}

int tap_process_add_stack(struct tap_process *process, const struct tap_event *event)
{
	const struct tap_field *libraries = tap_fields_find(&event->fields, "libraries");
	const struct tap_field *offsets = tap_fields_find(&event->fields, "offsets");
	const struct tap_stack *known;
	struct tap_stack *stack;
	uint64_t number;
	int64_t end;
	size_t i;

	if (tap_fields_get_unsigned(&event->fields, "stack_id", &number) || !number ||
	    !libraries || libraries->kind != TAP_FIELD_ARRAY || !offsets ||
	    offsets->kind != TAP_FIELD_ARRAY || libraries->is_cut || offsets->is_cut ||
	    libraries->value.data.length != offsets->value.data.length)
		return -EINVAL;
	/* With an unknown reason, of a newer tracer, the stack may not be complete. */
	if (tap_fields_get_signed(&event->fields, "end", &end) || end < TAP_STACK_START ||
	    end > TAP_STACK_LOST)
		end = TAP_STACK_LOST;
	stack = calloc(1, sizeof(*stack) +
				  offsets->value.data.length * sizeof(stack->frames[0]));
	if (!stack)
		return -ENOMEM;
	stack->number = number;
	stack->end = (enum tap_stack_end) end;
	stack->count = offsets->value.data.length;
	for (i = 0; i < stack->count; i++) {
		stack->frames[i].library = tap_fields_array(&event->fields, libraries)[i];
		stack->frames[i].offset = tap_fields_array(&event->fields, offsets)[i];
	}
	known = tap_process_stack(process, number);
	/*
	 * Spans point to the stack, so it cannot be freed: a repeated one must not use
	 * memory each time.
	 */
	if (known && is_same_stack(known, stack)) {
		free(stack);
		return 0;
	}
	if (tap_table_set(&process->by_stack, number, 0, stack)) {
		free(stack);
		return -ENOMEM;
	}
	stack->next = process->stacks;
	process->stacks = stack;
	return 0;
}

const struct tap_stack *tap_process_stack(const struct tap_process *process,
					  uint64_t number)
{
	return tap_table_find(&process->by_stack, number, 0);
}

bool tap_process_is_of_job(const char *jobs, const struct tap_event *event)
{
	const char *job = tap_fields_get_string(&event->fields, "job_id"), *line;
	size_t length;

	if (!jobs || !job)
		return true;
	for (line = jobs; *line; line += length + !!line[length]) {
		length = strcspn(line, "\n");
		if (length == strlen(job) && !memcmp(line, job, length))
			return true;
	}
	return false;
}

bool tap_process_is_known(const struct tap_process *process,
			  const struct tap_event *event)
{
	return process->is_from_statedump &&
	       tap_fields_are_equal(&process->about, &event->fields);
}

bool tap_process_is_replaced(const struct tap_process *process,
			     const struct tap_event *event)
{
	return event->kind == TAP_EVENT_PROCESS && process->is_announced &&
	       !tap_process_is_known(process, event);
}

void tap_processes_free(struct tap_processes *processes)
{
	size_t i;

	for (i = 0; i < processes->count; i++) {
		struct tap_process *process = processes->all[i];
		struct tap_library *library;
		struct tap_stack *stack;

		while ((library = process->libraries)) {
			process->libraries = library->next;
			free_library(library);
		}
		while ((stack = process->stacks)) {
			process->stacks = stack->next;
			free(stack);
		}
		tap_table_free(&process->by_number);
		tap_table_free(&process->by_stack);
		tap_fields_free(&process->about);
		free(process);
	}
	free(processes->all);
	tap_table_free(&processes->by_pid);
	memset(processes, 0, sizeof(*processes));
}
