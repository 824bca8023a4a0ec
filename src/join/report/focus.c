/* SPDX-License-Identifier: MIT */
/* The calls that a finding is about, and what it says of time, as an interval. */
#include "join/report/focus.h"

#include "join/base/time.h"

#include <errno.h>
#include <string.h>

/* How many of the ranks that wait for a missing one are shown. */
#define WAITING_SHOWN 8

static const struct tap_process *process_of_rank(const struct tap_finding *finding,
						 const struct tap_context *context,
						 int64_t rank)
{
	const struct tap_member *member;
	size_t i;

	if (rank < 0)
		return NULL;
	if (finding->comm) {
		for (member = finding->comm->members; member; member = member->next)
			if (member->rank == rank)
				return member->process;
		return NULL;
	}
	for (i = 0; i < context->processes.count; i++)
		if (tap_process_rank(context->processes.all[i]) == rank)
			return context->processes.all[i];
	return NULL;
}

int tap_focus_add_culprits(struct tap_culprits *culprits,
			   const struct tap_finding *finding,
			   const struct tap_context *context)
{
	const struct tap_process *process;
	int ret = 0;
	size_t i;

	for (i = 0; !ret && i < finding->at_fault.count; i++)
		if (finding->at_fault.items[i])
			ret = tap_vec_add(culprits, finding->at_fault.items[i]);
	for (i = 0; !ret && !finding->at_fault.count && i < finding->ranks.count; i++) {
		process = process_of_rank(finding, context, finding->ranks.items[i]);
		if (process)
			ret = tap_vec_add(culprits, process);
	}
	return ret;
}

static int add_waiting(struct tap_culprits *culprits, const struct tap_finding *finding)
{
	size_t i, added = 0;
	int ret = 0;

	for (i = 0; !ret && i < finding->sites.count && added < WAITING_SHOWN; i++)
		if (!tap_finding_blames(finding, finding->sites.items[i].process)) {
			ret = tap_vec_add(culprits, finding->sites.items[i].process);
			added++;
		}
	return ret;
}

/* Ranks by which --rank knows them; none where one is unknown. */
static int add_ranks(struct tap_buffer *text, const struct tap_finding *finding,
		     const struct tap_context *context)
{
	struct tap_culprits culprits = {0};
	const size_t start = text->used;
	int ret = tap_focus_add_culprits(&culprits, finding, context);
	size_t i;

	if (!ret && culprits.count && finding->kind == TAP_FINDING_MISSING)
		ret = add_waiting(&culprits, finding);
	for (i = 0; i < culprits.count; i++) {
		if (tap_process_rank(culprits.items[i]) < 0) {
			text->used = start;
			break;
		}
		if (i)
			tap_buffer_add_char(text, ',');
		tap_buffer_add_signed(text, tap_process_rank(culprits.items[i]));
	}
	tap_buffer_add_char(text, '\n');
	tap_vec_free(&culprits);
	return ret;
}

static int64_t evidence_of(const struct tap_finding *finding, const char *name)
{
	size_t i;

	for (i = 0; i < finding->evidence.count; i++)
		if (!strcmp(finding->evidence.items[i].name, name))
			return finding->evidence.items[i].value;
	return -1;
}

/* When it began; -1: from the beginning of the trace. */
static int64_t begin_of(const struct tap_finding *finding)
{
	int64_t begin_ns = finding->time_ns;
	size_t i;

	for (i = 0; i < finding->sites.count; i++) {
		const int64_t call_ns = finding->sites.items[i].facts.begin_ns;

		if (call_ns >= 0 && (begin_ns < 0 || call_ns < begin_ns))
			begin_ns = call_ns;
	}
	return begin_ns;
}

/* When the last call that it is about returned; -1: one did not, or there is none. */
static int64_t last_return(const struct tap_finding *finding)
{
	int64_t end_ns = -1;
	size_t i;

	for (i = 0; i < finding->sites.count; i++) {
		const int64_t call_ns = finding->sites.items[i].facts.end_ns;

		if (call_ns < 0)
			return -1;
		if (call_ns > end_ns)
			end_ns = call_ns;
	}
	return end_ns;
}

/* When it was over; -1: until the end of the trace, as of what hangs. */
static int64_t end_of(const struct tap_finding *finding, int64_t begin_ns)
{
	const int64_t span_ns = evidence_of(finding, "span_ns");
	const int64_t end_ns = last_return(finding);
	int64_t last_ns;

	if (finding->kind == TAP_FINDING_MISSING || finding->kind == TAP_FINDING_STUCK ||
	    finding->kind == TAP_FINDING_MISMATCH)
		return -1;
	if (begin_ns >= 0 && span_ns >= 0 &&
	    !__builtin_add_overflow(begin_ns, span_ns, &last_ns) && last_ns > end_ns)
		return last_ns;
	return end_ns;
}

/* Seconds since the first event, to the nanosecond. */
static void add_time(struct tap_buffer *text, const struct tap_context *context,
		     int64_t time_ns)
{
	const int64_t since_ns = tap_since_ns(time_ns, context->first_ns);

	if (time_ns >= 0 && since_ns >= 0) {
		tap_buffer_add_signed(text, since_ns / 1000000000);
		tap_buffer_add_char(text, '.');
		tap_buffer_add_padded(text, (uint64_t) (since_ns % 1000000000), 9);
	}
	tap_buffer_add_char(text, '\n');
}

int tap_focus_add(struct tap_buffer *text, const struct tap_finding *finding,
		  const struct tap_context *context)
{
	const int64_t begin_ns = begin_of(finding);
	int ret = add_ranks(text, finding, context);

	add_time(text, context, begin_ns);
	add_time(text, context, end_of(finding, begin_ns));
	return ret || text->is_short ? -ENOMEM : 0;
}
