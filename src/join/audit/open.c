/* SPDX-License-Identifier: MIT */
/* The calls that had not returned when their process, or the trace, ended. */
#include "join/audit/subject.h"
#include "join/findings/words.h"

#include <errno.h>

struct open {
	struct tap_audit_state state;
	uint64_t calls;
};

static int take_call(struct open *open, const struct tap_end_state *end,
		     const struct tap_open_call *call)
{
	const bool has_ended = end->end != TAP_END_NOT_SEEN;
	const struct tap_member *member = call->member;
	struct tap_audit_remark *remark;

	if (!call->name)
		return 0;
	open->calls++;
	remark = tap_audit_add(open, has_ended ? TAP_AUDIT_WARNING : TAP_AUDIT_UNKNOWN,
			       has_ended ? "never-returned" : "open-at-end",
			       TAP_KNOWN_EXACT);
	if (!remark || tap_audit_add_process(&remark->processes, end->process))
		return -ENOMEM;
	tap_words_add_operation(&remark->text, call->name, call->op_number,
				member ? tap_member_comm(member) : NULL);
	tap_buffer_add_string(&remark->text, " of ");
	tap_view_add_process(&remark->text, end->process);
	tap_buffer_add_string(&remark->text,
			      has_ended ? " had not returned when the process ended"
					: " had not returned when the trace ended");
	if (call->min_ns > 0) {
		tap_buffer_add_string(&remark->text, ", after ");
		tap_words_add_about(&remark->text, call->min_ns);
		tap_buffer_add_string(&remark->text, " or more");
	}
	return 0;
}

static int take_end(void *data, const struct tap_end_state *end)
{
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < end->count; i++)
		ret = take_call(data, end, &end->calls[i]);
	return ret;
}

static void summary(const void *data, struct tap_buffer *line)
{
	const struct open *open = data;

	if (open->calls)
		tap_audit_add_count(line, open->calls, "call");
	else
		tap_buffer_add_string(line, "none");
}

static void json(const void *data, struct tap_json *json)
{
	const struct open *open = data;

	tap_json_unsigned(json, "calls", open->calls);
}

const struct tap_audit_subject tap_audit_open = {
	.key = "open_calls",
	.title = "open at the end",
	.size = sizeof(struct open),
	.is_of_absence = true,
	.takes = {.end_state = take_end},
	.summary = summary,
	.json = json,
};
