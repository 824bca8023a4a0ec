/* SPDX-License-Identifier: MIT */
/* What the trace does not have: lost events, and what the tracer could not observe. */
#include "join/findings/unobserved.h"

#include "join/audit/subject.h"

#include <errno.h>
#include <string.h>

/* Different things; the rest are counted. */
#define KINDS_MAX 64

struct unobserved {
	struct tap_audit_state state;
	struct tap_unobserved things;	/* that cannot be observed */
	struct tap_unobserved problems; /* that the tracer reported */
};

static int take_problem(void *data, const struct tap_problem *problem)
{
	struct unobserved *unobserved = data;
	struct tap_problem reported = *problem;

	if (problem->is_unobserved)
		return tap_unobserved_add(&unobserved->things, KINDS_MAX, problem);
	if (problem->is_device_error)
		return 0;
	reported.is_unobserved = true;
	return tap_unobserved_add(&unobserved->problems, KINDS_MAX, &reported);
}

/* Whether calls may be among what the tracer did not record. */
static bool is_of_calls(const struct tap_unobserved_kind *kind)
{
	return !strcmp(kind->what, "not recorded") || !strcmp(kind->what, "not wrapped");
}

static int remark(struct unobserved *unobserved, const struct tap_unobserved_kind *kind,
		  enum tap_audit_grade grade, const char *name)
{
	struct tap_audit_remark *one =
		tap_audit_add(unobserved, grade, name, TAP_KNOWN_EXACT);
	size_t i;

	if (!one)
		return -ENOMEM;
	one->count = kind->count;
	tap_unobserved_add_kind(&one->text, kind);
	for (i = 0; i < kind->processes.count; i++)
		if (tap_audit_add_process(&one->processes, kind->processes.items[i]))
			return -ENOMEM;
	return 0;
}

static int remark_lost(struct unobserved *unobserved)
{
	const struct tap_audit_shared *shared = unobserved->state.shared;
	const struct tap_loss *loss = shared->loss;
	struct tap_audit_remark *one;

	if (!shared->may_lack_calls && !loss->is_window && !loss->unrecorded)
		return 0;
	one = tap_audit_add(unobserved, TAP_AUDIT_UNKNOWN,
			    shared->may_lack_calls ? "lost"
			    : loss->is_window	   ? "window"
						   : "unrecorded",
			    TAP_KNOWN_EXACT);
	if (!one)
		return -ENOMEM;
	if (shared->may_lack_calls) {
		tap_buffer_add_string(&one->text, "lost:");
		tap_view_add_lost(&one->text, loss);
		tap_buffer_add_string(&one->text, "; what is not found may be in it");
	} else if (loss->is_window) {
		tap_buffer_add_string(
			&one->text, "a flight recorder has only the latest events: what "
				    "was before is not known");
	} else {
		one->count = loss->unrecorded;
		tap_buffer_add_unsigned(&one->text, loss->unrecorded);
		tap_buffer_add_string(&one->text,
				      loss->unrecorded == 1
					      ? " process was not recorded"
					      : " processes were not recorded");
	}
	return 0;
}

static int conclude(void *data)
{
	struct unobserved *unobserved = data;
	size_t i;
	int ret = remark_lost(unobserved);

	for (i = 0; !ret && i < unobserved->problems.kinds.count; i++) {
		const struct tap_unobserved_kind *kind =
			&unobserved->problems.kinds.items[i];

		ret = remark(unobserved, kind,
			     is_of_calls(kind) ? TAP_AUDIT_UNKNOWN : TAP_AUDIT_NOTE,
			     "problem");
	}
	for (i = 0; !ret && i < unobserved->things.kinds.count; i++)
		ret = remark(unobserved, &unobserved->things.kinds.items[i],
			     TAP_AUDIT_NOTE, "not-observable");
	return ret;
}

static uint64_t others(const struct unobserved *unobserved)
{
	return unobserved->things.others + unobserved->problems.others;
}

static void summary(const void *data, struct tap_buffer *line)
{
	const struct unobserved *unobserved = data;
	const uint64_t count = unobserved->state.remarks.count + others(unobserved);

	if (count)
		tap_audit_add_count(line, count, "thing");
	else
		tap_buffer_add_string(line, "nothing that the tracer knows of");
}

static void json(const void *data, struct tap_json *json)
{
	tap_json_unsigned(json, "others", others(data));
}

static void free_all(void *data)
{
	struct unobserved *unobserved = data;

	tap_unobserved_free(&unobserved->things);
	tap_unobserved_free(&unobserved->problems);
}

const struct tap_audit_subject tap_audit_unobserved = {
	.key = "unobserved",
	.title = "not observed",
	.size = sizeof(struct unobserved),
	.takes = {.problem = take_problem},
	.conclude = conclude,
	.summary = summary,
	.json = json,
	.free = free_all,
};
