/* SPDX-License-Identifier: MIT */
/*
 * Sums by (member, function) while the trace is read; the sums by communicator are made
 * at its end, when the communicators are known.
 */
#include "join/report/report_comm.h"

#include <errno.h>
#include <string.h>

/* ---- Counting ---- */

/* The sum of a member, or, when member is NULL, of all ranks of a communicator. */
static struct tap_comm_sum *find_sum(struct tap_report_comms *report,
				     const struct tap_member *member,
				     const struct tap_comm *comm,
				     const struct tap_name *operation)
{
	const uint64_t key = member ? (uint64_t) member->number << 1 | 1
				    : (uint64_t) comm->number << 1;
	struct tap_comm_sum *sum =
		tap_rows_get(&report->sums, key, operation->number, sizeof(*sum));

	if (sum) {
		sum->member = member;
		sum->operation = operation;
	}
	return sum;
}

static void count_bytes(struct tap_comm_sum *sum, const struct tap_operation *operation)
{
	int64_t bytes = tap_operation_bytes(operation);

	if (bytes < 0)
		sum->unsized++;
	else
		sum->bytes += (uint64_t) bytes;
}

int tap_report_comms_span(struct tap_report_comms *report, const struct tap_span *span)
{
	const struct tap_operation *operation = &span->operation;
	struct tap_comm_sum *sum;

	/* Inner calls are part of the program's calls. */
	if (!span->member || span->is_inner)
		return 0;
	sum = find_sum(report, span->member, NULL, span->name->operation);
	if (!sum)
		return -ENOMEM;
	sum->calls++;
	tap_times_add(&sum->times, span);
	sum->is_operation |= operation->number || operation->has_count;
	if (tap_span_is_failure(tap_span_result(span)))
		sum->failures++;
	else if (operation->number || operation->has_count)
		count_bytes(sum, operation);
	return 0;
}

/* Notes the ranks that a link lacks; its ends are in order of rank. */
static void note_incomplete(struct tap_missing_ranks *missing_ranks,
			    const struct tap_link *link)
{
	struct tap_incomplete_operation *operation =
		&missing_ranks->operations[missing_ranks->count++ % TAP_INCOMPLETE_MAX];
	size_t kept = 0, i = 0;
	int64_t rank;

	operation->op_number = link->op_number;
	operation->operation = link->operation;
	operation->called = link->ends[0].name;
	operation->rank = link->ends[0].rank;
	operation->peer = link->peer;
	operation->ranks_present = link->count;
	operation->ranks_missing = (uint64_t) link->nranks - link->count;
	for (rank = 0; rank < link->nranks && kept < TAP_RANKS_MAX; rank++) {
		while (i < link->count && link->ends[i].rank >= 0 &&
		       link->ends[i].rank < rank)
			i++;
		/* An end of unknown rank may be any of the others. */
		if (i < link->count && link->ends[i].rank < 0)
			break;
		if (i == link->count || link->ends[i].rank != rank)
			operation->ranks[kept++] = rank;
	}
	for (; kept < TAP_RANKS_MAX; kept++)
		operation->ranks[kept] = -1;
}

static int count_link(struct tap_report_comms *report, const struct tap_link *link,
		      const struct tap_name *operation)
{
	struct tap_comm_sum *sum = find_sum(report, NULL, link->comm, operation);

	if (!sum)
		return -ENOMEM;
	sum->comm = link->comm;
	sum->linked += link->is_complete;
	sum->incomplete += !link->is_complete;
	return 0;
}

int tap_report_comms_link(struct tap_report_comms *report, const struct tap_link *link)
{
	struct tap_missing_ranks *missing_ranks;
	int ret = 0;

	/* Links of work requests have no communicator. */
	if (!link->comm)
		return 0;
	if (link->operation)
		ret = count_link(report, link, link->operation);
	if (!ret && link->kind == TAP_LINK_SEND_RECV)
		ret = count_link(report, link, link->ends[1].name->operation);
	if (ret || link->is_complete || link->nranks < 0)
		return ret;
	missing_ranks = tap_rows_get(&report->missing_ranks, link->comm->number, 0,
				     sizeof(*missing_ranks));
	if (!missing_ranks)
		return -ENOMEM;
	note_incomplete(missing_ranks, link);
	return 0;
}

/* ---- Adding up ---- */

/* By communicator, then all ranks by the time spent, then each rank. */
static int compare_sums(const void *left, const void *right)
{
	const struct tap_comm_sum *a = *(const struct tap_comm_sum *const *) left;
	const struct tap_comm_sum *b = *(const struct tap_comm_sum *const *) right;
	int order = tap_rows_compare(a->comm->number, b->comm->number);

	if (!order)
		order = tap_rows_compare(a->member != NULL, b->member != NULL);
	if (!order && !a->member)
		order = tap_rows_compare(b->times.total_ns, a->times.total_ns);
	if (!order)
		order = strcmp(a->operation->name, b->operation->name);
	if (!order && a->member)
		order = tap_rows_compare((uint64_t) a->member->rank,
					 (uint64_t) b->member->rank);
	if (!order && a->member)
		order = tap_rows_compare(a->member->number, b->member->number);
	return order;
}

static void add_up(struct tap_comm_sum *sum, const struct tap_comm_sum *one)
{
	sum->calls += one->calls;
	sum->failures += one->failures;
	sum->bytes += one->bytes;
	sum->unsized += one->unsized;
	tap_times_add_up(&sum->times, &one->times);
	sum->is_operation |= one->is_operation;
	sum->linked += one->linked;
	sum->incomplete += one->incomplete;
}

int tap_report_comms_finish(struct tap_report_comms *report,
			    const struct tap_comms *comms)
{
	const size_t count = report->sums.count;
	size_t i;

	for (i = 0; i < count; i++) {
		struct tap_comm_sum *one = report->sums.all[i], *sum;
		const struct tap_comm *comm =
			one->member ? tap_member_comm(one->member)
				    : tap_comm_root(comms->all[one->comm->number]);

		sum = find_sum(report, NULL, comm, one->operation);
		if (!sum)
			return -ENOMEM;
		sum->comm = comm;
		one->comm = comm;
		if (sum == one)
			continue;
		add_up(sum, one);
		one->is_moved = !one->member;
	}
	tap_rows_sort(&report->sums, compare_sums);
	return 0;
}

size_t tap_report_comms_first(const struct tap_report_comms *report,
			      const struct tap_comm *comm)
{
	size_t low = 0, high = report->sums.count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const struct tap_comm_sum *sum = report->sums.all[middle];

		if (sum->comm->number < comm->number)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void tap_report_comms_free(struct tap_report_comms *report)
{
	tap_rows_free(&report->sums);
	tap_rows_free(&report->missing_ranks);
}
