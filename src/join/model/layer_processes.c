/* SPDX-License-Identifier: MIT */
/* Processes' descriptions of themselves, their libraries, stacks and problems. */
#include "join/model/layer.h"
#include "join/model/layers.h"

#include <errno.h>
#include <string.h>

#include "common/compiler.h"

/* The events that say something of a process. */
#define ABOUT \
	(TAP_TAKES(TAP_EVENT_PROCESS) | TAP_TAKES(TAP_EVENT_STATEDUMP_PROCESS) | \
	 TAP_TAKES(TAP_EVENT_LIBRARY) | TAP_TAKES(TAP_EVENT_STATEDUMP_LIBRARY) | \
	 TAP_TAKES(TAP_EVENT_ENVIRONMENT) | TAP_TAKES(TAP_EVENT_STATEDUMP_ENVIRONMENT) | \
	 TAP_TAKES(TAP_EVENT_STACK) | TAP_TAKES(TAP_EVENT_STATEDUMP_STACK) | \
	 TAP_TAKES(TAP_EVENT_PROBLEM) | TAP_TAKES(TAP_EVENT_SAMPLE))

static int emit(const struct tap_context *context, struct tap_process *process)
{
	if (process->is_reported)
		return 0;
	process->is_reported = true;
	return context->consumer->process
		       ? context->consumer->process(context->data, process)
		       : 0;
}

/* An inode number: equal ones are one namespace, different ones may differ in time. */
static void note_clock(struct tap_context *context, const struct tap_process *process)
{
	struct tap_trace *trace = (struct tap_trace *) process->trace;
	const uint64_t namespace = tap_fields_number(&process->about, "time_namespace");

	if (!trace || !namespace)
		return;
	if (!trace->time_namespace)
		trace->time_namespace = namespace;
	context->loss.mixed_clocks += trace->time_namespace != namespace;
}

static void take_description(struct tap_context *context, struct tap_process *process,
			     struct tap_event *event)
{
	if (tap_process_is_known(process, event)) {
		process->is_from_statedump = false;
		return;
	}
	tap_process_describe(process, event);
	process->is_reported = false;
	note_clock(context, process);
}

static void take_state(struct tap_context *context, struct tap_process *process,
		       struct tap_event *event)
{
	if (process->is_announced)
		return;
	tap_process_describe(process, event);
	note_clock(context, process);
	process->is_from_statedump = true;
	process->is_reported = false;
}

static int take_library(struct tap_context *context, struct tap_process *process,
			const struct tap_event *event)
{
	const struct tap_library *library, *newest = process->libraries;
	int ret;

	ret = tap_process_add_library(process, event, &library);
	if (ret == -EINVAL) {
		context->loss.malformed_events++;
		return 0;
	}
	if (event->kind == TAP_EVENT_STATEDUMP_LIBRARY && process->libraries == newest)
		return ret;
	if (!ret && context->consumer->library)
		ret = context->consumer->library(context->data, process, library);
	return ret;
}

static int take_stack(struct tap_context *context, struct tap_process *process,
		      const struct tap_event *event)
{
	int ret = tap_process_add_stack(process, event);

	if (ret == -EINVAL) {
		context->loss.malformed_events++;
		return 0;
	}
	return ret;
}

static int take_problem(const struct tap_context *context,
			const struct tap_process *process, const struct tap_event *event)
{
	struct tap_problem problem = {.process = process, .time_ns = event->time_ns};

	problem.what = tap_fields_get_string(&event->fields, "what");
	problem.detail = tap_fields_get_string(&event->fields, "detail");
	tap_fields_get_unsigned(&event->fields, "count", &problem.count);
	if (!problem.what)
		problem.what = "";
	if (!problem.detail)
		problem.detail = "";
	return tap_emit_problem(context, &problem);
}

static const char *get_text(const struct tap_fields *fields, const char *name)
{
	const char *text = tap_fields_get_string(fields, name);

	return text ? text : "";
}

static int take_variable(const struct tap_context *context,
			 const struct tap_process *process, const struct tap_event *event)
{
	const struct tap_fields *fields = &event->fields;
	const struct tap_variable variable = {
		.process = process,
		.time_ns = event->time_ns,
		.name = get_text(fields, "name"),
		.value = get_text(fields, "value"),
		.is_cut = tap_fields_number(fields, "cut"),
		.is_withheld = tap_fields_number(fields, "withheld"),
	};

	return context->consumer->variable
		       ? context->consumer->variable(context->data, &variable)
		       : 0;
}

/* The elements of an array, NULL without it; *count is lowered to their number. */
static const uint64_t *get_array(const struct tap_fields *fields, const char *name,
				 size_t *count)
{
	const struct tap_field *field = tap_fields_find(fields, name);

	if (!field || field->kind != TAP_FIELD_ARRAY) {
		*count = 0;
		return NULL;
	}
	if (*count > field->value.data.length)
		*count = field->value.data.length;
	return tap_fields_array(fields, field);
}

static size_t count_names(const char *names)
{
	size_t count = *names != 0;

	for (; *names; names++)
		count += *names == ',';
	return count;
}

static int take_sample(const struct tap_context *context,
		       const struct tap_process *process, const struct tap_event *event)
{
	const struct tap_fields *fields = &event->fields;
	struct tap_sampled sample = {.process = process,
				    .time_ns = event->time_ns,
				    .source = get_text(fields, "source"),
				    .subject = get_text(fields, "subject"),
				    .state = get_text(fields, "state"),
				    .names = get_text(fields, "names"),
				    .tid = -1};

	sample.interval_ns = tap_fields_number(fields, "interval_ns");
	if (!strcmp(sample.source, "thread") || !strcmp(sample.source, "proxy"))
		tap_fields_get_signed(fields, "tid", &sample.tid);
	sample.count = count_names(sample.names);
	sample.values = get_array(fields, "values", &sample.count);
	sample.growth = get_array(fields, "growth", &sample.count);
	return context->consumer->sample
		       ? context->consumer->sample(context->data, &sample)
		       : 0;
}

static tap_apart int take_about(struct tap_context *context, struct tap_process *process,
				struct tap_event *event)
{
	int ret;

	if (event->kind == TAP_EVENT_PROCESS)
		take_description(context, process, event);
	else if (event->kind == TAP_EVENT_STATEDUMP_PROCESS)
		take_state(context, process, event);
	ret = emit(context, process);
	if (ret)
		return ret;
	switch (event->kind) {
	case TAP_EVENT_LIBRARY:
	case TAP_EVENT_STATEDUMP_LIBRARY:
		return take_library(context, process, event);
	case TAP_EVENT_ENVIRONMENT:
	case TAP_EVENT_STATEDUMP_ENVIRONMENT:
		return take_variable(context, process, event);
	case TAP_EVENT_STACK:
	case TAP_EVENT_STATEDUMP_STACK:
		return take_stack(context, process, event);
	case TAP_EVENT_PROBLEM:
		return take_problem(context, process, event);
	case TAP_EVENT_SAMPLE:
		return take_sample(context, process, event);
	default:
		return 0;
	}
}

/* Most events are of calls, of a process that the consumer knows. */
static int take(void *state, struct tap_process *process, struct tap_event *event)
{
	struct tap_context *context = ((struct tap_layer_state *) state)->context;

	if (process->is_reported && !(ABOUT & TAP_TAKES(event->kind)))
		return 0;
	return take_about(context, process, event);
}

static void free_all(void *state)
{
	struct tap_layer_state *layer = state;

	tap_processes_free(&layer->context->processes);
}

/* This layer comes first: the other layers need a process's description. */
const struct tap_layer tap_processes_layer = {
	.name = "processes",
	.size = sizeof(struct tap_layer_state),
	.events = TAP_TAKES_ALL,
	.take = take,
	.free = free_all,
};
