/* SPDX-License-Identifier: MIT */
/*
 * Operations to which some ranks did not come, though nothing of these ranks is lost.
 *
 * A rank that does not come is most often held up elsewhere: in an operation of another
 * communicator, where another rank is missing.  So operations form a graph, in which one
 * waits for another if a rank that it misses waits in the other; the finding is the one
 * that waits for none, and one per process that is missing.
 *
 * A rank to which NCCL reported that a peer is gone, and which asked for nothing since, stays
 * away because of that peer: beside ranks without such an error it is not at fault.
 */
#include "join/findings/analysis.h"
#include "join/findings/words.h"
#include "join/model/vendor.h"
#include "join/views/view.h"

#include <errno.h>
#include <stdlib.h>

#include "common/vec.h"

/*
 * A wait of less than this may end a moment after the end of the trace.  The tracer
 * reports calls that are open for as long.
 */
#define HUNG_NS INT64_C(1000000000)

/* Messages with one side; the rest are counted. */
#define MESSAGES_MAX 256

/* How many missing ranks the details describe. */
#define DESCRIBED_MAX 4

struct pending {
	struct tap_link link;
	struct tap_link_end *ends; /* owned */
	uint64_t later;		   /* operations of the communicator, likewise */
	uint64_t behind;	   /* operations that this one explains */
	int64_t begin_ns;	   /* of the first rank that waits, -1 unknown */
	int64_t waited_ns;	   /* the longest wait */
	int64_t cost_ns;	   /* of all ranks that wait */
	bool is_sure;		   /* nobody can come any more, or the wait is long */
	bool is_explained;
};

struct missing {
	struct tap_analysis_state state;
	TAP_VEC(struct pending) all;
	/* Messages whose sides contradict each other: one may have been left out before.
	 */
	TAP_VEC(struct pending) unequal;
	size_t messages;
	uint64_t other_messages;
	TAP_VEC(int64_t) remote_error_ns; /* the last, by number of the process; 0 none */
};

static bool is_message(const struct pending *pending)
{
	return pending->link.kind == TAP_LINK_SEND_RECV;
}

static int copy(struct pending *to, const struct tap_link *link)
{
	return tap_link_copy(&to->link, &to->ends, link);
}

/* The communicator's first collective so far, or NULL. */
static struct pending *find(struct missing *missing, const struct tap_link *link)
{
	size_t i;

	for (i = 0; i < missing->all.count; i++)
		if (!is_message(&missing->all.items[i]) &&
		    missing->all.items[i].link.comm == link->comm)
			return &missing->all.items[i];
	return NULL;
}

static int note_defect(void *data, const struct tap_link *link)
{
	const bool is_one_sided = link->kind == TAP_LINK_SEND_RECV;
	struct missing *missing = data;
	struct pending *pending = NULL;

	if (is_one_sided && link->mismatch && missing->unequal.count < MESSAGES_MAX) {
		if (tap_vec_resize(&missing->unequal, missing->unequal.count + 1))
			return -ENOMEM;
		return copy(&missing->unequal.items[missing->unequal.count - 1], link);
	}
	if (!link->is_pending || link->mismatch)
		return 0;
	if (is_one_sided && missing->messages >= MESSAGES_MAX) {
		missing->other_messages++;
		return 0;
	}
	if (!is_one_sided)
		pending = find(missing, link);
	if (pending) {
		pending->later++;
		return link->op_number < pending->link.op_number ? copy(pending, link)
								 : 0;
	}
	missing->messages += is_one_sided;
	if (tap_vec_resize(&missing->all, missing->all.count + 1))
		return -ENOMEM;
	return copy(&missing->all.items[missing->all.count - 1], link);
}

static int note_span(void *data, struct tap_span *span)
{
	const struct tap_field *result = tap_span_result(span);
	const unsigned int number = span->process->number;
	struct missing *missing = data;

	if (span->state != TAP_SPAN_COMPLETE || span->is_range || span->is_inner ||
	    !span->name->is_nccl || !result ||
	    result->value.i != TAP_RESULT_ncclRemoteError)
		return 0;
	if (number >= missing->remote_error_ns.count &&
	    tap_vec_resize(&missing->remote_error_ns, number + 1))
		return -ENOMEM;
	missing->remote_error_ns.items[number] = span->end_ns;
	return 0;
}

/* ---- Which one is the cause ---- */

static bool is_missing(const struct pending *pending, int64_t rank)
{
	return is_message(pending) ? rank == pending->link.peer
				   : !tap_link_has_rank(&pending->link, rank);
}

static bool is_missing_process(const struct pending *pending,
			       const struct tap_process *process)
{
	const struct tap_member *member = pending->link.comm->members;

	for (; member; member = member->next)
		if (member->process == process && is_missing(pending, member->rank))
			return true;
	return false;
}

/* Whether a rank that one misses waits in the other. */
static bool waits_for(const struct pending *pending, const struct pending *other)
{
	size_t i;

	for (i = 0; i < other->link.count; i++)
		if (is_missing_process(pending, other->link.ends[i].process))
			return true;
	return false;
}

/* By how much one process called the operation after the other one; 0: none is in both. */
static int64_t called_later_ns(const struct pending *pending, const struct pending *other)
{
	const struct tap_link_end *end, *other_end;
	size_t i, j;

	for (i = 0; i < pending->link.count; i++) {
		end = &pending->ends[i];
		for (j = 0; j < other->link.count; j++) {
			other_end = &other->ends[j];
			if (end->process == other_end->process &&
			    end->facts.begin_ns >= 0 && other_end->facts.begin_ns >= 0)
				return end->facts.begin_ns - other_end->facts.begin_ns;
		}
	}
	return 0;
}

/*
 * Whether the two miss the same process, and the other one comes earlier in the program: as
 * a process that is in both called them, else by time.
 */
static bool is_later_of(const struct pending *pending, const struct pending *other)
{
	const struct tap_member *member = pending->link.comm->members;
	int64_t later_ns = called_later_ns(pending, other);

	if (!later_ns)
		later_ns = pending->begin_ns - other->begin_ns;
	if (other->is_explained || later_ns < 0 || (!later_ns && other > pending))
		return false;
	for (; member; member = member->next)
		if (is_missing(pending, member->rank) &&
		    !is_missing_process(other, member->process))
			return false;
	return true;
}

static void measure(const struct missing *missing, struct pending *pending)
{
	const struct tap_end_state *end;
	const struct tap_member *member;
	int64_t begin_ns, waited_ns;
	size_t i;

	pending->begin_ns = -1;
	for (i = 0; i < pending->link.count; i++) {
		begin_ns = pending->ends[i].facts.begin_ns;
		end = tap_findings_end_of(missing->state.findings,
					  pending->ends[i].process);
		if (!end || begin_ns < 0)
			continue;
		waited_ns = end->seen_ns > begin_ns ? end->seen_ns - begin_ns : 0;
		pending->cost_ns += waited_ns;
		if (waited_ns > pending->waited_ns)
			pending->waited_ns = waited_ns;
		if (pending->begin_ns < 0 || begin_ns < pending->begin_ns)
			pending->begin_ns = begin_ns;
		pending->is_sure |= end->end == TAP_END_EXIT;
	}
	pending->is_sure |= pending->waited_ns >= HUNG_NS;
	for (member = pending->link.comm->members; member; member = member->next) {
		end = tap_findings_end_of(missing->state.findings, member->process);
		if (end && end->end != TAP_END_NOT_SEEN &&
		    is_missing(pending, member->rank))
			pending->is_sure = true;
	}
}

static void explain_by(struct pending *pending, struct pending *other)
{
	pending->is_explained = true;
	other->behind += pending->later + pending->behind + 1;
}

static void explain(struct missing *missing, struct pending *pending)
{
	struct pending *other;
	size_t i;

	if (tap_findings_on(missing->state.findings, TAP_FINDING_MISMATCH,
			    pending->link.comm)) {
		pending->is_explained = true;
		return;
	}
	for (i = 0; i < missing->all.count && !pending->is_explained; i++) {
		other = &missing->all.items[i];
		if (other != pending && !other->is_explained &&
		    (is_later_of(pending, other) ||
		     (waits_for(pending, other) && !waits_for(other, pending))))
			explain_by(pending, other);
	}
}

/*
 * The side of an earlier message of the two ranks that has the place of the message's own
 * side, and was met by the wrong one; NULL: it is of other ranks, or later.
 */
static const struct tap_link_end *find_left_out(const struct pending *pending,
						const struct tap_link *unequal)
{
	const struct tap_link_end *end = &pending->ends[0], *own, *other;

	if (unequal->comm != pending->link.comm || unequal->count != 2 ||
	    unequal->op_number >= pending->link.op_number)
		return NULL;
	own = &unequal->ends[end->name->kind == TAP_NAME_RECEIVE];
	other = &unequal->ends[end->name->kind != TAP_NAME_RECEIVE];
	return own->rank == end->rank && other->rank == pending->link.peer ? own : NULL;
}

/*
 * Where messages contradict each other before the one that is left over, the first of
 * them is the one whose other side was left out: after that each met the next one's.
 */
static void find_first_left_out(const struct missing *missing, struct pending *pending)
{
	const struct tap_link_end *own, *first = NULL;
	const struct tap_link *unequal;
	uint64_t number = pending->link.op_number;
	size_t i;

	for (i = 0; i < missing->unequal.count; i++) {
		unequal = &missing->unequal.items[i].link;
		own = find_left_out(pending, unequal);
		if (!own || unequal->op_number >= number)
			continue;
		number = unequal->op_number;
		first = own;
	}
	if (!first)
		return;
	pending->later += pending->link.op_number - number;
	pending->link.op_number = number;
	pending->link.known = TAP_KNOWN_INFERRED;
	pending->ends[0] = *first;
}

/* ---- Words ---- */

static const struct tap_member *member_of(const struct pending *pending, int64_t rank)
{
	const struct tap_member *member = pending->link.comm->members;

	while (member && member->rank != rank)
		member = member->next;
	return member;
}

static const struct tap_end_state *end_of(const struct missing *missing,
					  const struct pending *pending, int64_t rank)
{
	const struct tap_member *member = member_of(pending, rank);

	return member ? tap_findings_end_of(missing->state.findings, member->process)
		      : NULL;
}

/* When NCCL reported to the rank that a peer is gone, after which it asked for nothing; 0:
 * it did not. */
static int64_t remote_error_of(const struct missing *missing,
			       const struct pending *pending, int64_t rank)
{
	const struct tap_end_state *end = end_of(missing, pending, rank);
	int64_t time_ns;

	if (!end || end->process->number >= missing->remote_error_ns.count)
		return 0;
	time_ns = missing->remote_error_ns.items[end->process->number];
	return end->last_operation.begin_ns <= time_ns ? time_ns : 0;
}

/* Whether a rank is missing to which no peer was reported to be gone. */
static bool has_first(const struct missing *missing, const struct pending *pending)
{
	int64_t rank;

	for (rank = 0; rank < pending->link.nranks; rank++)
		if (is_missing(pending, rank) &&
		    !remote_error_of(missing, pending, rank))
			return true;
	return false;
}

static int add_sides(const struct missing *missing, struct tap_finding *finding,
		     const struct pending *pending)
{
	const bool leaves_out = has_first(missing, pending);
	const struct tap_link *link = &pending->link;
	const struct tap_member *member;
	int64_t rank;
	size_t i;

	for (i = 0; i < link->count; i++)
		if (tap_finding_add_waiting(finding, link->ends[i].rank) ||
		    tap_finding_add_site(finding, &link->ends[i]))
			return -ENOMEM;
	for (rank = 0; rank < link->nranks; rank++) {
		if (!is_missing(pending, rank) ||
		    (leaves_out && remote_error_of(missing, pending, rank)))
			continue;
		member = member_of(pending, rank);
		if (tap_finding_add_rank(finding, rank) ||
		    tap_finding_add_at_fault(finding, member ? member->process : NULL))
			return -ENOMEM;
	}
	return 0;
}

/* "ncclSend #1 of rank 0 to rank 2 on 0xaf59..: no ncclRecv" */
static void add_message(struct tap_buffer *text, const struct tap_link *link)
{
	const struct tap_link_end *end = &link->ends[0];
	const bool is_receive = end->name->kind == TAP_NAME_RECEIVE;

	tap_words_add_operation(text, end->name, link->op_number, link->comm);
	tap_buffer_add_string(text, ": ");
	tap_words_add_ranks(text, &end->rank, 1);
	tap_buffer_add_string(text, is_receive ? " waits to receive from "
					       : " waits to send to ");
	tap_words_add_ranks(text, &link->peer, 1);
}

static void add_headline(const struct missing *missing, struct tap_finding *finding,
			 const struct pending *pending)
{
	struct tap_buffer *text = &finding->headline;
	const struct tap_end_state *end;

	if (is_message(pending)) {
		add_message(text, &pending->link);
	} else {
		tap_words_add_operation(text, finding->operation, finding->op_number,
					finding->comm);
		tap_buffer_add_string(text, ": ");
		tap_words_add_ranks(text, finding->waiting.items, finding->waiting.count);
		tap_buffer_add_string(text,
				      finding->waiting.count == 1 ? " waits" : " wait");
	}
	if (pending->waited_ns) {
		tap_buffer_add_string(text, " for ");
		tap_words_add_about(text, pending->waited_ns);
		tap_buffer_add_string(text, " and more");
	}
	tap_buffer_add_string(text, "; MISSING ");
	if (is_message(pending))
		tap_buffer_add_string(text,
				      pending->ends[0].name->kind == TAP_NAME_RECEIVE
					      ? "ncclSend of "
					      : "ncclRecv of ");
	tap_words_add_ranks(text, finding->ranks.items, finding->ranks.count);
	if (finding->ranks.count != 1)
		return;
	end = end_of(missing, pending, finding->ranks.items[0]);
	if (!end)
		return;
	tap_buffer_add_string(text, " (");
	tap_words_add_place(text, tap_findings_context(missing->state.findings), end,
			    finding->comm);
	tap_buffer_add_char(text, ')');
}

static void end_line(struct tap_buffer *text)
{
	if (text->used)
		tap_buffer_add_char(text, '\n');
}

/* "rank 1 (world rank 5): pid 9361, ..." */
static void add_missing_rank(const struct missing *missing, struct tap_finding *finding,
			     int64_t rank, const struct tap_end_state *end)
{
	const struct tap_context *context = tap_findings_context(missing->state.findings);
	struct tap_buffer *text = &finding->detail;

	end_line(text);
	tap_words_add_ranks(text, &rank, 1);
	if (end->process->rank >= 0 && end->process->rank != rank) {
		tap_buffer_add_string(text, " (world rank ");
		tap_buffer_add_signed(text, end->process->rank);
		tap_buffer_add_char(text, ')');
	}
	tap_buffer_add_string(text, ": ");
	if (finding->ranks.count > 1) {
		tap_words_add_place(text, context, end, finding->comm);
		tap_buffer_add_string(text, "; ");
	}
	tap_words_add_since(text, context, end);
}

/* "rank 1 got ncclRemoteError at 0.245 s, and asked for nothing since" */
static void add_consequences(const struct missing *missing, struct tap_finding *finding,
			     const struct pending *pending)
{
	struct tap_buffer *text = &finding->detail;
	int64_t rank, time_ns;

	if (!has_first(missing, pending))
		return;
	for (rank = 0; rank < pending->link.nranks; rank++) {
		time_ns = is_missing(pending, rank)
				  ? remote_error_of(missing, pending, rank)
				  : 0;
		if (!time_ns)
			continue;
		end_line(text);
		tap_words_add_ranks(text, &rank, 1);
		tap_buffer_add_string(text,
				      " does not come either: it got ncclRemoteError at ");
		tap_words_add_time(text, tap_findings_context(missing->state.findings),
				   time_ns);
		tap_buffer_add_string(text, ", and asked for nothing since");
	}
}

static void add_called_at(struct tap_finding *finding)
{
	const struct tap_call_facts *facts = &finding->sites.items[0].facts;
	struct tap_buffer *text = &finding->detail;

	if (!facts->caller_number)
		return;
	end_line(text);
	tap_words_add_ranks(text, &finding->sites.items[0].rank, 1);
	tap_buffer_add_string(text, " called it at ");
	tap_words_add_caller(text, facts->caller, facts->caller_number,
			     facts->caller_offset);
}

static void add_detail(const struct missing *missing, struct tap_finding *finding,
		       const struct pending *pending)
{
	const uint64_t behind = pending->later + pending->behind;
	const struct tap_end_state *end;
	size_t i;

	for (i = 0; i < finding->ranks.count && i < DESCRIBED_MAX; i++) {
		end = end_of(missing, pending, finding->ranks.items[i]);
		if (end)
			add_missing_rank(missing, finding, finding->ranks.items[i], end);
	}
	add_consequences(missing, finding, pending);
	add_called_at(finding);
	if (!behind)
		return;
	end_line(&finding->detail);
	tap_buffer_add_unsigned(&finding->detail, behind);
	tap_buffer_add_string(&finding->detail,
			      behind == 1 ? " more operation waits behind it"
					  : " more operations wait behind it");
}

static void add_rules_out(struct tap_finding *finding)
{
	size_t i;

	for (i = 0; i < finding->sites.count; i++)
		if (finding->sites.items[i].facts.end_ns < 0)
			return;
	tap_buffer_add_string(
		&finding->rules_out,
		finding->sites.count == 1
			? "its call returned: NCCL has enqueued it there"
			: "the calls of the ranks that came returned: NCCL has "
			  "enqueued them");
}

static int add_finding(struct missing *missing, const struct pending *pending)
{
	struct tap_finding *finding =
		tap_findings_add(missing->state.findings, TAP_FINDING_MISSING,
				 pending->is_sure ? TAP_SEVERITY_ERROR
						  : TAP_SEVERITY_NOTE);
	const struct tap_end_state *end;

	if (!finding)
		return -ENOMEM;
	finding->cause = TAP_CAUSE_OF_WAIT;
	finding->comm = pending->link.comm;
	finding->operation = pending->ends[0].name->operation;
	finding->op_number = pending->link.op_number;
	finding->time_ns = pending->begin_ns;
	finding->cost_ns = pending->cost_ns;
	if (add_sides(missing, finding, pending) ||
	    tap_finding_add_evidence(finding, "waited_ns", pending->waited_ns,
				     pending->link.known) ||
	    tap_finding_add_evidence(finding, "operations_behind",
				     (int64_t) (pending->later + pending->behind),
				     TAP_KNOWN_EXACT))
		return -ENOMEM;
	add_headline(missing, finding, pending);
	add_detail(missing, finding, pending);
	add_rules_out(finding);
	end = finding->ranks.count ? end_of(missing, pending, finding->ranks.items[0])
				   : NULL;
	if (end)
		tap_words_add_next(&finding->next, end, finding->ranks.items[0]);
	return 0;
}

/*
 * Two operations each of which misses a rank that waits in the other: the ranks called
 * them in different order.
 */
static struct pending *find_opposite(struct missing *missing, struct pending *pending)
{
	struct pending *other;
	size_t i;

	for (i = 0; i < missing->all.count; i++) {
		other = &missing->all.items[i];
		if (other != pending && !other->is_explained && other->is_sure &&
		    waits_for(pending, other) && waits_for(other, pending))
			return other;
	}
	return NULL;
}

static void add_half(struct tap_buffer *text, const struct pending *pending)
{
	const struct tap_link_end *end = &pending->ends[0];

	tap_words_add_ranks(text, &end->rank, 1);
	tap_buffer_add_string(text, " waits in ");
	tap_words_add_operation(text, end->name, pending->link.op_number,
				pending->link.comm);
}

static int add_half_sides(struct tap_finding *finding, const struct pending *pending)
{
	size_t i;

	for (i = 0; i < pending->link.count; i++)
		if (tap_finding_add_site(finding, &pending->ends[i]) ||
		    tap_finding_add_at_fault(finding, pending->ends[i].process))
			return -ENOMEM;
	return 0;
}

static int add_cycle(struct missing *missing, struct pending *pending,
		     struct pending *other)
{
	struct tap_finding *finding =
		tap_findings_add(missing->state.findings, TAP_FINDING_MISMATCH,
				 TAP_SEVERITY_ERROR);
	size_t i;

	if (!finding)
		return -ENOMEM;
	other->is_explained = true;
	finding->cause = TAP_CAUSE_FIRST;
	finding->comm = pending->link.comm;
	finding->operation = pending->ends[0].name->operation;
	finding->op_number = pending->link.op_number;
	finding->time_ns = pending->begin_ns;
	finding->cost_ns = pending->cost_ns + other->cost_ns;
	for (i = 0; i < pending->link.count; i++)
		if (tap_finding_add_rank(finding, pending->ends[i].rank))
			return -ENOMEM;
	if (add_half_sides(finding, pending) || add_half_sides(finding, other) ||
	    tap_finding_add_evidence(finding, "waited_ns", pending->waited_ns,
				     pending->link.known))
		return -ENOMEM;
	add_half(&finding->headline, pending);
	tap_buffer_add_string(&finding->headline, " while ");
	add_half(&finding->headline, other);
	tap_buffer_add_string(&finding->headline, ": called in different order");
	tap_buffer_add_string(&finding->detail,
			      "each operation misses a rank that waits in the other one");
	tap_buffer_add_string(&finding->next,
			      "all ranks must call both communicators in one order");
	return 0;
}

static int report(struct missing *missing, struct pending *pending)
{
	struct pending *other;

	if (pending->is_explained)
		return 0;
	other = pending->is_sure ? find_opposite(missing, pending) : NULL;
	/* A rank that leaves out its side of a message goes on to the next collective. */
	if (other && is_message(pending) != is_message(other)) {
		explain_by(is_message(pending) ? other : pending,
			   is_message(pending) ? pending : other);
		return is_message(pending) ? add_finding(missing, pending) : 0;
	}
	return other ? add_cycle(missing, pending, other) : add_finding(missing, pending);
}

static int conclude(void *data, const struct tap_loss *loss)
{
	struct missing *missing = data;
	int ret = 0;
	size_t i;

	(void) loss;
	for (i = 0; i < missing->all.count; i++)
		if (is_message(&missing->all.items[i]))
			find_first_left_out(missing, &missing->all.items[i]);
	for (i = 0; i < missing->all.count; i++)
		measure(missing, &missing->all.items[i]);
	for (i = 0; i < missing->all.count; i++)
		explain(missing, &missing->all.items[i]);
	for (i = 0; !ret && i < missing->all.count; i++)
		ret = report(missing, &missing->all.items[i]);
	return ret;
}

static void free_all(void *data)
{
	struct missing *missing = data;
	size_t i;

	for (i = 0; i < missing->all.count; i++)
		free(missing->all.items[i].ends);
	tap_vec_free(&missing->all);
	for (i = 0; i < missing->unequal.count; i++)
		free(missing->unequal.items[i].ends);
	tap_vec_free(&missing->unequal);
	tap_vec_free(&missing->remote_error_ns);
}

const struct tap_analysis tap_missing_analysis = {
	.name = "missing",
	.size = sizeof(struct missing),
	.takes = {.span_ended = note_span, .defect = note_defect},
	.conclude = conclude,
	.free = free_all,
};
