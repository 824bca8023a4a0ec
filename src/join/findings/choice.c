/* SPDX-License-Identifier: MIT */
/* Each filter that is given is asked; of ranks and hosts any one suffices. */
#include "join/findings/choice.h"

static bool pass_rank(const struct tap_finding *finding,
		      const struct tap_filters *filters)
{
	size_t i;

	if (!filters->given[TAP_FILTER_RANK])
		return true;
	for (i = 0; i < finding->ranks.count; i++)
		if (tap_filters_pass_rank(filters, finding->ranks.items[i]))
			return true;
	for (i = 0; i < finding->waiting.count; i++)
		if (tap_filters_pass_rank(filters, finding->waiting.items[i]))
			return true;
	for (i = 0; i < finding->sites.count; i++)
		if (tap_filters_pass_rank(filters, finding->sites.items[i].process->rank))
			return true;
	return false;
}

/* Where the finding has no call, its hosts are not known. */
static bool pass_host(const struct tap_finding *finding,
		      const struct tap_filters *filters)
{
	size_t i;

	for (i = 0; i < finding->sites.count; i++)
		if (tap_filters_pass_host(filters, finding->sites.items[i].process))
			return true;
	return !finding->sites.count;
}

static bool pass_comm(const struct tap_finding *finding,
		      const struct tap_filters *filters)
{
	return !filters->given[TAP_FILTER_COMM] ||
	       (finding->comm && tap_filters_pass_communicator(filters, finding->comm));
}

static bool pass_name(const struct tap_finding *finding,
		      const struct tap_filters *filters)
{
	size_t i;

	if (!filters->given[TAP_FILTER_CALL] && !filters->given[TAP_FILTER_LAYER])
		return true;
	if (finding->operation && tap_filters_pass_name(filters, finding->operation))
		return true;
	for (i = 0; i < finding->sites.count; i++)
		if (tap_filters_pass_name(filters, finding->sites.items[i].name))
			return true;
	return false;
}

/* Whether the finding began in the period; one of unknown time may have. */
static bool pass_time(const struct tap_finding *finding,
		      const struct tap_filters *filters,
		      const struct tap_context *context)
{
	const struct tap_period period = tap_filters_period(filters, context->first_ns);

	return finding->time_ns < 0 ||
	       (finding->time_ns >= period.begin_ns &&
		finding->time_ns <= period.end_ns &&
		(!filters->last_ns ||
		 context->last_ns - finding->time_ns <= filters->last_ns));
}

bool tap_finding_passes(const struct tap_finding *finding,
			const struct tap_filters *filters,
			const struct tap_context *context)
{
	if (finding->kind == TAP_FINDING_UNKNOWN || finding->kind == TAP_FINDING_CLEAR)
		return true;
	return pass_rank(finding, filters) && pass_host(finding, filters) &&
	       pass_comm(finding, filters) && pass_name(finding, filters) &&
	       tap_filters_pass_number(filters, finding->op_number) &&
	       pass_time(finding, filters, context) &&
	       (!filters->given[TAP_FILTER_ERRORS] ||
		finding->severity == TAP_SEVERITY_ERROR);
}
