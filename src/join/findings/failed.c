/* SPDX-License-Identifier: MIT */
/*
 * Calls that failed, asynchronous errors of communicators, and work requests that
 * completed with an error.
 *
 * A program may expect a failure, as of a call that it makes to find out what a library
 * can do: one after which the process goes on is no error.  The flood of failures after
 * the first, as of all requests behind one that failed, is counted.
 */
#include "join/findings/analysis.h"
#include "join/findings/words.h"
#include "join/model/vendor.h"
#include "join/rdma/qp.h"

#include <errno.h>
#include <stdlib.h>

#include "common/vec.h"

/* Different failures; the rest are counted together. */
#define FAILURES_MAX 512

/* Of enum ibv_wc_status: flushed is what stands behind a request that failed. */
#define WC_FLUSHED 5

/* Of CUresult: work is not done yet, which is an answer; all later calls fail, too. */
#define CUDA_NOT_READY 600
#define IS_CUDA_STICKY(result) \
	((result) == 214 || ((result) >= 700 && (result) < 720 && (result) != 701 && \
			     (result) != 704 && (result) != 705 && (result) != 708 && \
			     (result) != 709 && (result) != 712 && (result) != 713))

enum failure_kind {
	FAILED_CALL,
	FAILED_CUDA,
	FAILED_ASYNC,
	FAILED_WORK,
	REFUSED_WORK,
	FAILED_DEVICE, /* the device reports it, of a queue pair or of itself */
};

/* The first failure of this kind of a process, and how many like it followed. */
struct failure {
	enum failure_kind kind;
	const struct tap_process *process;
	const struct tap_name *name; /* NULL of a device's report */
	const char *what;	     /* that the device reports; lives for ever */
	int64_t result;
	int64_t time_ns;
	uint64_t count;
	const struct tap_member *member; /* NULL unknown */
	struct tap_link_end end;
	/* Of work. */
	const struct tap_process *peer; /* NULL unknown */
	uint64_t qp_num;
};

/* When a process last did something with success. */
struct success {
	int64_t operation_ns, cuda_ns;
};

struct failed {
	struct tap_analysis_state state;
	TAP_VEC(struct failure) all;
	TAP_VEC(struct success) successes; /* by number of the process */
	uint64_t others;
};

/* ---- What fails ---- */

static struct failure *find(struct failed *failed, enum failure_kind kind,
			    const struct tap_span *span, int64_t result)
{
	size_t i;

	for (i = 0; i < failed->all.count; i++)
		if (failed->all.items[i].kind == kind &&
		    failed->all.items[i].process == span->process &&
		    failed->all.items[i].name == span->name &&
		    failed->all.items[i].result == result)
			return &failed->all.items[i];
	return NULL;
}

static struct tap_link_end end_of(const struct tap_span *span)
{
	return (struct tap_link_end){
		.process = span->process,
		.member = span->member,
		.work = span->work,
		.name = span->name,
		.call_id = span->call_id,
		.rank = span->member ? span->member->rank : span->process->rank,
		.facts = tap_call_facts_of(span),
	};
}

static void set_queue(struct failure *failure, const struct tap_qp *qp)
{
	const struct tap_generation *generation;

	if (!qp)
		return;
	failure->qp_num = qp->qp_num;
	for (generation = qp->generations; generation; generation = generation->older)
		if (generation->peer && !failure->peer)
			failure->peer = generation->peer->qp->process;
}

static int note(struct failed *failed, enum failure_kind kind,
		const struct tap_span *span, int64_t result)
{
	struct failure *failure = find(failed, kind, span, result);

	if (failure) {
		failure->count++;
		return 0;
	}
	if (failed->all.count >= FAILURES_MAX) {
		failed->others++;
		return 0;
	}
	if (tap_vec_resize(&failed->all, failed->all.count + 1))
		return -ENOMEM;
	failure = &failed->all.items[failed->all.count - 1];
	failure->kind = kind;
	failure->process = span->process;
	failure->name = span->name;
	failure->result = result;
	failure->time_ns = span->end_ns;
	failure->count = 1;
	failure->member = span->member;
	failure->end = end_of(span);
	if (tap_work_is_request(&span->work))
		set_queue(failure, span->work.request.qp);
	return 0;
}

/* Whether a request of the process, or its device, has failed before. */
static bool has_failed(const struct failed *failed, const struct tap_process *process)
{
	size_t i;

	for (i = 0; i < failed->all.count; i++)
		if (failed->all.items[i].process == process &&
		    failed->all.items[i].kind >= FAILED_WORK)
			return true;
	return false;
}

static int note_problem(void *data, const struct tap_problem *problem)
{
	struct failed *failed = data;
	struct failure *failure;

	if (!problem->is_device_error || has_failed(failed, problem->process))
		return 0;
	if (tap_vec_resize(&failed->all, failed->all.count + 1))
		return -ENOMEM;
	failure = &failed->all.items[failed->all.count - 1];
	failure->kind = FAILED_DEVICE;
	failure->process = problem->process;
	failure->what = problem->what;
	failure->time_ns = problem->time_ns;
	failure->count = 1;
	failure->end = (struct tap_link_end){.process = problem->process, .rank = -1};
	failure->end.facts.begin_ns = failure->end.facts.end_ns = problem->time_ns;
	failure->end.facts.tid = -1;
	failure->end.facts.operation = TAP_OPERATION_NONE;
	set_queue(failure, problem->qp);
	return 0;
}

/* ---- What succeeds ---- */

static int note_success(struct failed *failed, const struct tap_span *span)
{
	const unsigned int number = span->process->number;
	struct success *success;

	if (!span->operation.number && !span->name->cuda)
		return 0;
	if (number >= failed->successes.count &&
	    tap_vec_resize(&failed->successes, number + 1))
		return -ENOMEM;
	success = &failed->successes.items[number];
	if (span->name->cuda)
		success->cuda_ns = span->end_ns;
	else
		success->operation_ns = span->end_ns;
	return 0;
}

/* Whether the process did the like with success afterwards. */
static bool has_gone_on(const struct failed *failed, const struct failure *failure)
{
	const unsigned int number = failure->process->number;
	const struct success *success;

	if (number >= failed->successes.count)
		return false;
	success = &failed->successes.items[number];
	return (failure->kind == FAILED_CUDA ? success->cuda_ns : success->operation_ns) >
	       failure->time_ns;
}

/* ---- Spans ---- */

static bool get(const struct tap_field *field, int64_t *ret)
{
	if (!field ||
	    (field->kind != TAP_FIELD_UNSIGNED && field->kind != TAP_FIELD_SIGNED))
		return false;
	*ret = field->value.i;
	return true;
}

static int note_work(struct failed *failed, const struct tap_span *span, int64_t status)
{
	if (span->work.kind == TAP_WORK_REFUSED)
		return note(failed, REFUSED_WORK, span, status);
	if (!tap_work_is_request(&span->work) || !status)
		return 0;
	/* What stands behind a request that failed is flushed, and says nothing more. */
	if (status == WC_FLUSHED && has_failed(failed, span->process))
		return 0;
	return note(failed, FAILED_WORK, span, status);
}

/* What ncclCommGetAsyncError() returned: its own result only says that it could ask. */
static int note_async(struct failed *failed, const struct tap_span *span)
{
	int64_t error;

	if (!get(tap_fields_find(&span->exit, "asyncError"), &error) || error <= 0 ||
	    error == TAP_RESULT_ncclInProgress)
		return 0;
	return note(failed, FAILED_ASYNC, span, error);
}

static int note_span(void *data, struct tap_span *span)
{
	const bool is_cuda = span->name->cuda;
	struct failed *failed = data;
	int64_t result;

	if (span->state != TAP_SPAN_COMPLETE || span->is_range)
		return 0;
	if (!get(tap_span_result(span), &result))
		return 0;
	if (span->work.kind)
		return note_work(failed, span, result);
	if (!result || (!is_cuda && result == TAP_RESULT_ncclInProgress)) {
		if (tap_name_is_poll(span->name))
			return note_async(failed, span);
		return note_success(failed, span);
	}
	if (is_cuda && result == CUDA_NOT_READY)
		return 0;
	if (!is_cuda && (!span->name->is_nccl || span->is_inner))
		return 0;
	return note(failed, is_cuda ? FAILED_CUDA : FAILED_CALL, span, result);
}

/* ---- How bad it is ---- */

/* Whether the process is in a call that does not return, or reported an error of NCCL. */
static bool is_hung(const struct failed *failed, const struct tap_process *process)
{
	const struct tap_end_state *end =
		tap_findings_end_of(failed->state.findings, process);
	size_t i;

	if (end && (end->count || end->poll.waits_for) && end->end != TAP_END_EXIT)
		return true;
	for (i = 0; i < failed->all.count; i++)
		if (failed->all.items[i].process == process &&
		    failed->all.items[i].kind == FAILED_ASYNC)
			return true;
	return false;
}

static enum tap_severity severity_of(const struct failed *failed,
				     const struct failure *failure)
{
	const bool has_recovered = has_gone_on(failed, failure);

	switch (failure->kind) {
	case FAILED_WORK:
		/* A program may put a queue pair into error to empty it before its end.
		 */
		return failure->result == WC_FLUSHED && !is_hung(failed, failure->process)
			       ? TAP_SEVERITY_NOTE
			       : TAP_SEVERITY_ERROR;
	case REFUSED_WORK:
	case FAILED_DEVICE:
		return TAP_SEVERITY_ERROR;
	case FAILED_CUDA:
		if (IS_CUDA_STICKY(failure->result))
			return TAP_SEVERITY_ERROR;
		return has_recovered ? TAP_SEVERITY_NOTE : TAP_SEVERITY_ERROR;
	case FAILED_CALL:
		if (!has_recovered)
			return TAP_SEVERITY_ERROR;
		return failure->result == TAP_RESULT_ncclInvalidArgument ||
				       failure->result == TAP_RESULT_ncclInvalidUsage
			       ? TAP_SEVERITY_NOTE
			       : TAP_SEVERITY_WARNING;
	default:
		return has_recovered ? TAP_SEVERITY_WARNING : TAP_SEVERITY_ERROR;
	}
}

/* Whether an error that is found says that the process is at fault. */
static bool is_blamed(const struct failed *failed, const struct tap_process *process)
{
	const struct tap_finding *finding =
		process ? tap_findings_about(failed->state.findings, process) : NULL;

	return finding && tap_finding_blames(finding, process);
}

/* What NCCL met, and not what the program asked for. */
static bool is_from_outside(int64_t result)
{
	return result == TAP_RESULT_ncclSystemError ||
	       result == TAP_RESULT_ncclInternalError ||
	       result == TAP_RESULT_ncclRemoteError;
}

/*
 * What failed is the cause where its own rank is missing elsewhere; it follows from what
 * the other side did where that one is missing.
 */
static enum tap_cause cause_of(const struct failed *failed, const struct failure *failure)
{
	if (failure->peer && is_blamed(failed, failure->peer) &&
	    !is_blamed(failed, failure->process))
		return TAP_CAUSE_EXPLAINED;
	if (failure->kind >= FAILED_WORK)
		return TAP_CAUSE_FIRST;
	if (failure->kind == FAILED_CUDA && IS_CUDA_STICKY(failure->result))
		return TAP_CAUSE_FIRST;
	if (failure->kind == FAILED_ASYNC || is_from_outside(failure->result))
		return TAP_CAUSE_OWN;
	return is_blamed(failed, failure->process) ? TAP_CAUSE_FIRST : TAP_CAUSE_OWN;
}

/* ---- Words ---- */

static const char *result_name(const struct failure *failure)
{
	switch (failure->kind) {
	case FAILED_CALL:
	case FAILED_ASYNC:
		return tap_nccl_result_name(failure->result);
	case FAILED_CUDA:
		return tap_cuda_result_name(failure->result);
	case FAILED_WORK:
		return tap_wc_status_name((uint64_t) failure->result);
	default:
		return NULL;
	}
}

static void add_result(struct tap_buffer *text, const struct failure *failure)
{
	const char *name = failure->what ? failure->what : result_name(failure);

	if (name) {
		tap_buffer_add_string(text, name);
		return;
	}
	tap_buffer_add_string(text, failure->kind == REFUSED_WORK ? "errno " : "result ");
	tap_buffer_add_signed(text, failure->result);
}

static void add_who(struct tap_buffer *text, const struct tap_context *context,
		    const struct tap_process *process, int64_t rank)
{
	if (rank < 0) {
		tap_words_add_pid(text, context, process);
		return;
	}
	tap_words_add_ranks(text, &rank, 1);
	tap_buffer_add_string(text, " (");
	tap_words_add_pid(text, context, process);
	tap_buffer_add_char(text, ')');
}

/*
 * The process's side of the job's communicator, that with most ranks, for a failure that
 * is of no communicator.
 */
static const struct tap_member *member_of(const struct failed *failed,
					  const struct tap_process *process)
{
	const struct tap_comms *comms =
		&tap_findings_context(failed->state.findings)->comms;
	const struct tap_member *member = NULL, *one;
	size_t i;

	for (i = 0; i < comms->member_count; i++) {
		one = comms->members[i];
		if (one->process == process && one->rank >= 0 &&
		    (!member ||
		     tap_member_comm(one)->nranks > tap_member_comm(member)->nranks))
			member = one;
	}
	return member;
}

static void add_headline(const struct failed *failed, struct tap_finding *finding,
			 const struct failure *failure, int64_t rank)
{
	const struct tap_context *context = tap_findings_context(failed->state.findings);
	const struct tap_member *peer = member_of(failed, failure->peer);
	const bool is_work = failure->kind >= FAILED_WORK;
	struct tap_buffer *text = &finding->headline;

	add_result(text, failure);
	if (failure->kind == FAILED_ASYNC)
		tap_buffer_add_string(text, ": asynchronous error of ");
	else if (is_work)
		tap_buffer_add_string(text, failure->qp_num ? ": queue pair in error"
							    : ": device in error");
	else
		tap_buffer_add_string(text, ": ");
	if (failure->kind == FAILED_ASYNC)
		tap_words_add_operation(text, finding->operation, finding->op_number,
					finding->comm);
	else if (failure->name && is_work) {
		tap_buffer_add_string(text, ", ");
		tap_buffer_add_visible(text, failure->name->name);
	} else if (failure->name)
		tap_words_add_operation(text, failure->name,
					failure->end.facts.operation.number,
					failure->kind == FAILED_CALL ? finding->comm
								     : NULL);
	tap_buffer_add_string(text, " of ");
	add_who(text, context, failure->process, rank);
	if (failure->peer && failure->peer != failure->process) {
		tap_buffer_add_string(text, " to ");
		add_who(text, context, failure->peer,
			peer ? peer->rank : failure->peer->rank);
	}
	tap_buffer_add_string(text, failure->kind == FAILED_ASYNC ? ", reported at "
				    : is_work			  ? ", failed at "
								  : " failed at ");
	tap_words_add_time(text, context, failure->time_ns);
	if (failure->count < 2)
		return;
	tap_buffer_add_string(text, ", ");
	tap_buffer_add_unsigned(text, failure->count);
	tap_buffer_add_string(text, " times");
}

/* The last operation asked for, where it is of another communicator than the finding. */
static void add_under_way(const struct failed *failed, struct tap_finding *finding,
			  const struct failure *failure)
{
	const struct tap_end_state *end =
		tap_findings_end_of(failed->state.findings, failure->process);
	const struct tap_open_call *last = end ? &end->last_operation : NULL;

	if (finding->operation || !last || !last->name ||
	    last->begin_ns > failure->time_ns)
		return;
	tap_buffer_add_string(&finding->detail,
			      finding->detail.used ? "; after " : "after ");
	tap_words_add_operation(&finding->detail, last->name, last->op_number,
				last->member ? tap_member_comm(last->member) : NULL);
}

static void add_detail(struct tap_finding *finding, const struct failure *failure)
{
	const struct tap_call_facts *facts = &failure->end.facts;
	struct tap_buffer *text = &finding->detail;

	if (facts->caller_number) {
		tap_buffer_add_string(text, "called at ");
		tap_words_add_caller(text, facts->caller, facts->caller_number,
				     facts->caller_offset);
	}
	if (failure->qp_num) {
		tap_buffer_add_string(text, "queue pair ");
		tap_buffer_add_unsigned(text, failure->qp_num);
		tap_buffer_add_string(text, ": no request of it is carried out any more");
	}
	if (finding->severity == TAP_SEVERITY_NOTE)
		tap_buffer_add_string(text, text->used ? "; the process went on after it"
						       : "the process went on after it");
}

static void add_next(struct tap_finding *finding, const struct failure *failure)
{
	const char *next = NULL;

	if (finding->severity == TAP_SEVERITY_NOTE)
		return;
	switch (failure->kind) {
	case FAILED_WORK:
	case FAILED_DEVICE:
		next = "look at the link and at the other end: ccltap report --net";
		break;
	case FAILED_CUDA:
		next = "run it with CUDA_LAUNCH_BLOCKING=1, or in compute-sanitizer";
		break;
	case FAILED_CALL:
	case FAILED_ASYNC:
		next = failure->result == TAP_RESULT_ncclRemoteError
			       ? "look at the ranks that this one talks to: one of them failed, or is gone"
			       : "run it with NCCL_DEBUG=WARN, which says why NCCL refuses";
		break;
	default:
		break;
	}
	if (next)
		tap_buffer_add_string(&finding->next, next);
}

/*
 * The communicator, and the operation that was under way: of the call or, if it is of the
 * communicator, the last one asked for.
 */
static const struct tap_member *set_operation(const struct failed *failed,
					      struct tap_finding *finding,
					      const struct failure *failure)
{
	const struct tap_member *member =
		failure->member ? failure->member : member_of(failed, failure->process);
	const struct tap_end_state *end =
		tap_findings_end_of(failed->state.findings, failure->process);
	const struct tap_open_call *last = end ? &end->last_operation : NULL;

	if (member)
		finding->comm = tap_member_comm(member);
	if (failure->end.facts.operation.number || failure->kind == FAILED_CALL) {
		finding->operation = failure->name;
		finding->op_number = failure->end.facts.operation.number;
	} else if (last && last->name && last->begin_ns <= failure->time_ns &&
		   (!last->member || last->member == member)) {
		finding->operation = last->name;
		finding->op_number = last->op_number;
	}
	return member;
}

/*
 * Whether a rank may be the one that is gone where others get remote errors: it has not
 * exited, it reports no failure itself, and nothing of it is younger than the error.
 */
static bool is_gone(const struct failed *failed, const struct failure *failure,
		    const struct tap_member *member)
{
	const struct tap_end_state *end =
		tap_findings_end_of(failed->state.findings, member->process);
	size_t i;

	if (!end || end->end != TAP_END_NOT_SEEN || end->seen_ns >= failure->time_ns)
		return false;
	for (i = 0; i < failed->all.count; i++)
		if (failed->all.items[i].process == member->process)
			return false;
	return true;
}

/* The ranks that are gone are at fault, and not the one that noticed it. */
static int blame_gone(const struct failed *failed, struct tap_finding *finding,
		      const struct failure *failure)
{
	const struct tap_context *context = tap_findings_context(failed->state.findings);
	const struct tap_member *member = finding->comm->members;
	struct tap_buffer *text = &finding->headline;

	for (; member; member = member->next) {
		if (!is_gone(failed, failure, member))
			continue;
		if (tap_finding_add_rank(finding, member->rank) ||
		    tap_finding_add_at_fault(finding, member->process))
			return -ENOMEM;
		if (finding->ranks.count > 1)
			continue;
		tap_buffer_add_string(text, "; rank ");
		tap_buffer_add_signed(text, member->rank);
		tap_buffer_add_string(text, " is gone (");
		tap_words_add_place(text, context,
				    tap_findings_end_of(failed->state.findings,
							member->process),
				    finding->comm);
		tap_buffer_add_char(text, ')');
	}
	return 0;
}

static int add_finding(struct failed *failed, const struct failure *failure)
{
	const enum tap_severity severity = severity_of(failed, failure);
	const enum tap_cause cause = cause_of(failed, failure);
	struct tap_finding *finding =
		tap_findings_add(failed->state.findings, TAP_FINDING_FAILED, severity);
	const struct tap_member *member;
	int64_t rank;

	if (!finding)
		return -ENOMEM;
	finding->cause = cause;
	finding->time_ns = failure->time_ns;
	member = set_operation(failed, finding, failure);
	if (tap_finding_add_site(finding, &failure->end) ||
	    tap_finding_add_evidence(finding, "result", failure->result,
				     TAP_KNOWN_EXACT) ||
	    tap_finding_add_evidence(finding, "failures", (int64_t) failure->count,
				     TAP_KNOWN_EXACT))
		return -ENOMEM;
	rank = member ? member->rank : failure->process->rank;
	add_headline(failed, finding, failure, rank);
	if (failure->result == TAP_RESULT_ncclRemoteError && finding->comm &&
	    (failure->kind == FAILED_CALL || failure->kind == FAILED_ASYNC)) {
		tap_findings_confirm(failed->state.findings, finding->comm);
		if (blame_gone(failed, finding, failure))
			return -ENOMEM;
	}
	if (!finding->ranks.count &&
	    (tap_finding_add_rank(finding, rank) ||
	     tap_finding_add_at_fault(finding, failure->process)))
		return -ENOMEM;
	add_detail(finding, failure);
	add_under_way(failed, finding, failure);
	add_next(finding, failure);
	return 0;
}

static int conclude(void *data, const struct tap_loss *loss)
{
	struct failed *failed = data;
	int ret = 0;
	size_t i;

	(void) loss;
	for (i = 0; !ret && i < failed->all.count; i++)
		ret = add_finding(failed, &failed->all.items[i]);
	return ret;
}

static void free_all(void *data)
{
	struct failed *failed = data;

	tap_vec_free(&failed->all);
	tap_vec_free(&failed->successes);
}

const struct tap_analysis tap_failed_analysis = {
	.name = "failed",
	.size = sizeof(struct failed),
	.takes = {.span_ended = note_span, .problem = note_problem},
	.conclude = conclude,
	.free = free_all,
};
