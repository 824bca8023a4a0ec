/* SPDX-License-Identifier: MIT */
/*
 * That nothing is wrong, with what was looked at and what could not be seen; or that the
 * trace does not tell, with what is lost.
 */
#include "join/findings/analysis.h"
#include "join/findings/findings.h"
#include "join/findings/unobserved.h"
#include "join/findings/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Different things that could not be observed; the rest are counted. */
#define UNOBSERVED_MAX 4

struct clear {
	struct tap_analysis_state state;
	uint64_t operations, kernels, messages, requests;
	struct tap_unobserved unobserved;
	/* The first operation that lacks ranks, or seems to; comm NULL: none. */
	const struct tap_comm *comm;
	const struct tap_name *operation;
	uint64_t op_number;
	TAP_VEC(int64_t) ranks; /* that it lacks */
};

static int note_link(void *data, const struct tap_link *link)
{
	struct clear *clear = data;

	switch (link->kind) {
	case TAP_LINK_COLLECTIVE_RANKS:
	case TAP_LINK_SEND_RECV:
		clear->operations++;
		break;
	case TAP_LINK_LAUNCH_KERNEL:
		clear->kernels++;
		break;
	case TAP_LINK_CTS_MESSAGE:
	case TAP_LINK_SOCKET_MESSAGE:
		clear->messages++;
		break;
	case TAP_LINK_POST_COMPLETION:
		clear->requests++;
		break;
	default:
		break;
	}
	return 0;
}

static int note_problem(void *data, const struct tap_problem *problem)
{
	struct clear *clear = data;

	return tap_unobserved_add(&clear->unobserved, UNOBSERVED_MAX, problem);
}

static int note_defect(void *data, const struct tap_link *link)
{
	struct clear *clear = data;
	int64_t rank;

	if (clear->comm || link->is_pending || link->mismatch)
		return 0;
	clear->comm = link->comm;
	clear->operation = link->ends[0].name->operation;
	clear->op_number = link->op_number;
	if (link->kind == TAP_LINK_SEND_RECV)
		return link->peer < 0 ? 0 : tap_vec_add(&clear->ranks, link->peer);
	for (rank = 0; rank < link->nranks && clear->ranks.count < 1024; rank++)
		if (!tap_link_has_rank(link, rank) && tap_vec_add(&clear->ranks, rank))
			return -ENOMEM;
	return 0;
}

/* ---- Words ---- */

static void add_count(struct tap_buffer *text, uint64_t count, const char *what)
{
	tap_buffer_add_unsigned(text, count);
	tap_buffer_add_char(text, ' ');
	tap_buffer_add_string(text, what);
	tap_buffer_add_string(text, count == 1 ? "" : "s");
}

static int64_t rank_count(const struct tap_context *context)
{
	int64_t most = 0;
	size_t i;

	for (i = 0; i < context->comms.count; i++)
		if (context->comms.all[i]->nranks > most)
			most = context->comms.all[i]->nranks;
	return most;
}

static void add_looked_at(const struct clear *clear, struct tap_buffer *text)
{
	const int64_t ranks = rank_count(tap_findings_context(clear->state.findings));

	if (!clear->operations) {
		tap_buffer_add_string(text, "no operation of several ranks is in it");
		return;
	}
	add_count(text, clear->operations, "operation");
	tap_buffer_add_string(text, " of ");
	add_count(text, ranks > 0 ? (uint64_t) ranks : 0, "rank");
	if (clear->kernels) {
		tap_buffer_add_string(text, ", ");
		add_count(text, clear->kernels, "piece");
		tap_buffer_add_string(text, " of work on GPUs");
	}
	if (clear->messages || clear->requests) {
		tap_buffer_add_string(text, ", ");
		add_count(text, clear->messages ? clear->messages : clear->requests,
			  clear->messages ? "message" : "work request");
	}
}

static void end_line(struct tap_buffer *text)
{
	if (text->used)
		tap_buffer_add_char(text, '\n');
}

static void add_unobserved(const struct tap_unobserved *unobserved, struct tap_buffer *text)
{
	size_t i;

	for (i = 0; i < unobserved->kinds.count; i++) {
		end_line(text);
		tap_buffer_add_string(text, "not observable: ");
		tap_unobserved_add_kind(text, &unobserved->kinds.items[i]);
	}
	if (!unobserved->others)
		return;
	end_line(text);
	tap_buffer_add_string(text, "not observable: ");
	tap_buffer_add_unsigned(text, unobserved->others);
	tap_buffer_add_string(text, " more");
}

static void add_lacking(const struct clear *clear, struct tap_finding *finding)
{
	struct tap_buffer *text = &finding->detail;

	if (!clear->comm)
		return;
	end_line(text);
	tap_words_add_operation(text, clear->operation, clear->op_number, clear->comm);
	if (!clear->ranks.count) {
		tap_buffer_add_string(text, ": the trace does not show who else came");
		return;
	}
	tap_buffer_add_string(text, ": the trace does not show whether ");
	tap_words_add_ranks(text, clear->ranks.items, clear->ranks.count);
	tap_buffer_add_string(text, " came");
}

static void add_lost(struct tap_buffer *text, const struct tap_loss *loss)
{
	tap_buffer_add_string(text, "cannot tell whether something is wrong: ");
	if (loss->discarded_events) {
		add_count(text, loss->discarded_events, "event");
		tap_buffer_add_string(text, " discarded");
	} else if (loss->damaged_streams) {
		add_count(text, loss->damaged_streams, "stream");
		tap_buffer_add_string(text, " of the trace damaged");
	} else if (loss->removed_chunks) {
		add_count(text, loss->removed_chunks, "chunk");
		tap_buffer_add_string(text, " removed for --max-size");
	} else if (loss->relay_gaps) {
		tap_buffer_add_string(text, "the relay daemon was gone");
		if (loss->relay_gaps > 1) {
			tap_buffer_add_char(text, ' ');
			add_count(text, loss->relay_gaps, "time");
		}
	} else if (loss->mixed_clocks) {
		tap_buffer_add_string(text, "processes of two time namespaces, so of two "
					    "clocks, are in one trace");
	} else if (loss->malformed_events) {
		add_count(text, loss->malformed_events, "event");
		tap_buffer_add_string(text, " malformed");
	} else if (loss->unrecorded) {
		tap_buffer_add_unsigned(text, loss->unrecorded);
		tap_buffer_add_string(text, loss->unrecorded == 1
						    ? " process of the program was"
						    : " processes of the program were");
		tap_buffer_add_string(text, " not recorded, at least not from the start");
	} else {
		tap_buffer_add_string(text, "events discarded, how many is unknown");
	}
}

static int conclude(void *data, const struct tap_loss *loss)
{
	const bool is_lossy = tap_findings_may_lack_calls(loss) || loss->unrecorded;
	struct clear *clear = data;
	struct tap_finding *finding;

	if (tap_findings_verdict(clear->state.findings) == TAP_VERDICT_FOUND)
		return 0;
	finding = tap_findings_add(clear->state.findings,
				   is_lossy ? TAP_FINDING_UNKNOWN : TAP_FINDING_CLEAR,
				   TAP_SEVERITY_NOTE);
	if (!finding)
		return -ENOMEM;
	if (is_lossy) {
		add_lost(&finding->headline, loss);
		tap_buffer_add_string(&finding->detail, "looked at: ");
		add_looked_at(clear, &finding->detail);
	} else {
		tap_buffer_add_string(&finding->headline,
				      "nothing is wrong, as far as the trace shows: ");
		add_looked_at(clear, &finding->headline);
	}
	if (!loss->is_window)
		add_lacking(clear, finding);
	add_unobserved(&clear->unobserved, &finding->detail);
	return tap_finding_add_evidence(finding, "operations",
					(int64_t) clear->operations, TAP_KNOWN_EXACT) ||
			       tap_finding_add_evidence(finding, "kernels",
							(int64_t) clear->kernels,
							TAP_KNOWN_EXACT) ||
			       tap_finding_add_evidence(finding, "work_requests",
							(int64_t) clear->requests,
							TAP_KNOWN_EXACT)
		       ? -ENOMEM
		       : 0;
}

static void free_all(void *data)
{
	struct clear *clear = data;

	tap_unobserved_free(&clear->unobserved);
	tap_vec_free(&clear->ranks);
}

const struct tap_analysis tap_clear_analysis = {
	.name = "clear",
	.size = sizeof(struct clear),
	.takes = {.link = note_link, .problem = note_problem, .defect = note_defect},
	.conclude = conclude,
	.free = free_all,
};
