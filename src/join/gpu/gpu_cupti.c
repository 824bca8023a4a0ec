/* SPDX-License-Identifier: MIT */
/* Keeps a state for each process, and the interval in which the tracer saw nothing. */
#include "join/gpu/gpu_cupti.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/compiler.h"
#include "join/base/buffer.h"
#include "join/base/time.h"

struct tap_gpu_observer {
	const struct tap_process *process;
	bool is_ours;
	bool is_unobserved; /* since begin_ns */
	int64_t begin_ns;
	char *why;
	uint64_t dropped, zero_times; /* that no launch accounts for yet */
	TAP_LIST_LINK(struct tap_gpu_observer) all;
};

static struct tap_gpu_observer *find(const struct tap_gpu_cupti *cupti,
				     const struct tap_process *process)
{
	return tap_table_find(&cupti->by_process, process->number, 0);
}

/* Finds or makes a process's observer.  NULL when memory is short. */
static struct tap_gpu_observer *observer_of(struct tap_gpu_cupti *cupti,
					    const struct tap_process *process)
{
	struct tap_gpu_observer *observer = find(cupti, process);

	if (observer)
		return observer;
	observer = calloc(1, sizeof(*observer));
	if (!observer ||
	    tap_table_set(&cupti->by_process, process->number, 0, observer)) {
		free(observer);
		return NULL;
	}
	observer->process = process;
	tap_list_prepend(&cupti->all, observer, all);
	return observer;
}

static void add_seconds(struct tap_buffer *buffer, int64_t ns)
{
	if (ns < 0)
		ns = 0;
	tap_buffer_add_unsigned(buffer, (uint64_t) ns / 1000000000);
	tap_buffer_add_char(buffer, '.');
	tap_buffer_add_padded(buffer, (uint64_t) ns % 1000000000, 9);
	tap_buffer_add_string(buffer, " s");
}

/*
 * Reports an interval in which nothing could be seen, in seconds since the first event.
 */
static int emit_unobserved(const struct tap_gpu_cupti *cupti, struct tap_context *context,
			   struct tap_gpu_observer *observer, int64_t end_ns)
{
	struct tap_buffer detail = {0};
	struct tap_problem problem = {.process = observer->process,
				      .time_ns = observer->begin_ns,
				      .what = "kernels on the GPU",
				      .why = observer->why,
				      .count = 1,
				      .is_unobserved = true};
	int ret = 0;

	if (!observer->is_unobserved)
		return 0;
	observer->is_unobserved = false;
	tap_buffer_add_string(&detail, observer->why);
	tap_buffer_add_string(&detail, ", from ");
	add_seconds(&detail, tap_since_ns(observer->begin_ns, cupti->first_ns));
	tap_buffer_add_string(&detail, end_ns == INT64_MAX ? " to the end" : " to ");
	if (end_ns != INT64_MAX)
		add_seconds(&detail, tap_since_ns(end_ns, cupti->first_ns));
	tap_buffer_add_char(&detail, '\0');
	problem.detail = detail.data;
	if (detail.is_short)
		ret = -ENOMEM;
	else
		ret = tap_emit_problem(context, &problem);
	tap_buffer_free(&detail);
	free(observer->why);
	observer->why = NULL;
	return ret;
}

static void add_part(struct tap_buffer *buffer, const char *before, const char *string)
{
	if (!string || !*string)
		return;
	tap_buffer_add_string(buffer, before);
	tap_buffer_add_string(buffer, string);
}

static bool sees_nothing(const char *state)
{
	static const char *const states[] = {"refused", "absent", "failed", "released"};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(states); i++)
		if (!strcmp(state, states[i]))
			return true;
	return false;
}

int tap_gpu_cupti_owner(struct tap_gpu_cupti *cupti, struct tap_context *context,
			const struct tap_process *process, const struct tap_event *event)
{
	const struct tap_fields *fields = &event->fields;
	const char *state = tap_fields_get_string(fields, "state");
	struct tap_gpu_observer *observer = observer_of(cupti, process);
	struct tap_buffer why = {0};
	bool is_unobserved;
	int ret;

	if (!observer)
		return -ENOMEM;
	if (!state) {
		context->loss.malformed_events++;
		return 0;
	}
	is_unobserved = sees_nothing(state);
	observer->is_ours = !strcmp(state, "taken");
	if (!is_unobserved && !observer->is_ours)
		return 0;
	tap_buffer_add_string(&why, "CUPTI is ");
	tap_buffer_add_string(&why, state);
	add_part(&why, ", held by ", tap_fields_get_string(fields, "holder"));
	add_part(&why, ": ", tap_fields_get_string(fields, "detail"));
	tap_buffer_add_char(&why, '\0');
	/* The tracer may report one state several times. */
	if (why.is_short || (is_unobserved && observer->is_unobserved &&
			     !strcmp(observer->why, why.data))) {
		ret = why.is_short ? -ENOMEM : 0;
		tap_buffer_free(&why);
		return ret;
	}
	ret = emit_unobserved(cupti, context, observer, event->time_ns);
	observer->is_unobserved = is_unobserved;
	observer->begin_ns = event->time_ns;
	if (is_unobserved) {
		observer->why = why.data;
		return ret;
	}
	tap_buffer_free(&why);
	return ret;
}

int tap_gpu_cupti_lost(struct tap_gpu_cupti *cupti, struct tap_context *context,
		       const struct tap_process *process, const struct tap_event *event)
{
	const char *what = tap_fields_get_string(&event->fields, "what");
	const uint64_t count = tap_fields_number(&event->fields, "count");
	struct tap_gpu_observer *observer = observer_of(cupti, process);

	if (!observer)
		return -ENOMEM;
	if (what && !strcmp(what, "dropped")) {
		context->loss.gpu_dropped += count;
		observer->dropped += count;
	} else if (what && (!strcmp(what, "zero_time") || !strcmp(what, "other_clock"))) {
		context->loss.gpu_zero_times += count;
		observer->zero_times += count;
	} else {
		context->loss.gpu_unknown += count;
	}
	return 0;
}

int tap_gpu_cupti_finish(struct tap_gpu_cupti *cupti, struct tap_context *context)
{
	struct tap_gpu_observer *observer;
	int ret = 0;

	for (observer = cupti->all.first; !ret && observer;
	     observer = observer->all.after)
		ret = emit_unobserved(cupti, context, observer, INT64_MAX);
	return ret;
}

void tap_gpu_cupti_clock(struct tap_context *context, const struct tap_event *event)
{
	const uint64_t residual = tap_fields_number(&event->fields, "residual_ns");
	struct tap_gpu_times *times = &context->gpu_times;

	times->has_residual = true;
	if (residual > times->residual_max_ns)
		times->residual_max_ns = residual;
}

bool tap_gpu_cupti_is_foreign(const struct tap_gpu_cupti *cupti,
			      const struct tap_process *process)
{
	const struct tap_gpu_observer *observer = find(cupti, process);

	return observer && !observer->is_ours;
}

enum tap_why tap_gpu_cupti_why_nothing(struct tap_gpu_cupti *cupti,
				       const struct tap_process *process)
{
	struct tap_gpu_observer *observer = find(cupti, process);

	if (observer && observer->dropped) {
		observer->dropped--;
		return TAP_WHY_DROPPED;
	}
	if (observer && observer->zero_times) {
		observer->zero_times--;
		return TAP_WHY_ZERO_TIME;
	}
	return observer && !observer->is_ours ? TAP_WHY_IN_USE : TAP_WHY_NONE;
}

void tap_gpu_cupti_free(struct tap_gpu_cupti *cupti)
{
	struct tap_gpu_observer *observer;

	while ((observer = tap_list_take_first(&cupti->all, all))) {
		free(observer->why);
		free(observer);
	}
	tap_table_free(&cupti->by_process);
}
