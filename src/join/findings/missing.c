/* SPDX-License-Identifier: MIT */
/* Operations to which some ranks did not come, though nothing of these ranks is lost. */
#include "join/findings/analysis.h"
#include "join/views/view.h"

#include <errno.h>

struct missing {
	struct tap_analysis_state state;
};

/* "ranks 0, 2" */
static void add_ranks(struct tap_buffer *text, const int64_t *ranks, size_t count)
{
	size_t i;

	tap_buffer_add_string(text, count == 1 ? "rank " : "ranks ");
	for (i = 0; i < count; i++) {
		tap_buffer_add_string(text, i ? ", " : "");
		tap_buffer_add_signed(text, ranks[i]);
	}
}

static int add_sides(struct tap_finding *finding, const struct tap_link *link)
{
	int64_t rank;
	size_t i;

	for (i = 0; i < link->count; i++)
		if (tap_finding_add_waiting(finding, link->ends[i].rank) ||
		    tap_finding_add_site(finding, &link->ends[i]))
			return -ENOMEM;
	for (rank = 0; rank < link->nranks; rank++)
		if (!tap_link_has_rank(link, rank) && tap_finding_add_rank(finding, rank))
			return -ENOMEM;
	return 0;
}

static int note_defect(void *data, const struct tap_link *link)
{
	struct missing *missing = data;
	struct tap_finding *finding;

	if (link->kind != TAP_LINK_COLLECTIVE_RANKS || !link->is_pending ||
	    !link->operation)
		return 0;
	finding = tap_findings_add(missing->state.findings, TAP_FINDING_MISSING,
				   TAP_SEVERITY_ERROR);
	if (!finding || add_sides(finding, link))
		return -ENOMEM;
	finding->comm = link->comm;
	finding->operation = link->operation;
	finding->op_number = link->op_number;
	tap_buffer_add_visible(&finding->headline, link->operation->name);
	tap_buffer_add_string(&finding->headline, " #");
	tap_buffer_add_unsigned(&finding->headline, link->op_number);
	tap_buffer_add_string(&finding->headline, " on ");
	tap_view_add_key(&finding->headline, link->comm->key);
	tap_buffer_add_string(&finding->headline, ": ");
	add_ranks(&finding->headline, finding->waiting.items, finding->waiting.count);
	tap_buffer_add_string(&finding->headline, " wait; MISSING ");
	add_ranks(&finding->headline, finding->ranks.items, finding->ranks.count);
	return 0;
}

const struct tap_analysis tap_missing_analysis = {
	.name = "missing",
	.size = sizeof(struct missing),
	.takes = {.defect = note_defect},
};
