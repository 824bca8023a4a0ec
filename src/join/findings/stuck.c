/* SPDX-License-Identifier: MIT */
/*
 * Calls that do not return although nobody is missing, and kernels of the program's own
 * that do not end and hold up NCCL's behind them on the same stream.
 *
 * Kernels of a stream run in order, so the first launch of a stream for which nothing has
 * run is what the stream is at, and all before it is done.
 */
#include "join/findings/analysis.h"
#include "join/findings/words.h"
#include "join/model/stream.h"

#include <errno.h>
#include <stdlib.h>

#include "common/vec.h"

/* As in missing.c. */
#define HUNG_NS INT64_C(1000000000)

/*
 * Without kernels to see, a wait may be for work of the program's own; CUPTI reports those
 * that ended some seconds later.
 */
#define LONG_NS INT64_C(10000000000)

/* Launches of a stream for which nothing has run; beyond that the oldest is given up. */
#define LAUNCHES_MAX 1024

/* Streams; the rest are not watched. */
#define STREAMS_MAX 4096

#define FUNCTION_MAX 64

/* A launch that is on its way, and the operation of NCCL that was asked for after it. */
struct launch {
	uint64_t call_id;
	int64_t begin_ns;
	bool is_own; /* of the program, not of NCCL */
	char function[FUNCTION_MAX];
	struct tap_link_end end;
	struct tap_link_end behind; /* name NULL: none */
};

struct stream {
	const struct tap_process *process;
	TAP_VEC(struct launch) launches; /* oldest first */
	size_t done;			 /* of these */
	struct stream *next;		 /* of the process */
};

/* What the GPU of a process did. */
struct progress {
	struct stream *streams;
	bool has_runs;
	int64_t end_ns; /* of the last work that is known to have ended */
};

struct stuck {
	struct tap_analysis_state state;
	struct tap_table by_stream; /* (process, stream) */
	TAP_VEC(struct stream *) streams;
	TAP_VEC(struct progress) progress; /* by number of the process */
};

/* ---- What is on its way ---- */

static struct progress *progress_of(struct stuck *stuck,
				    const struct tap_process *process)
{
	if (process->number >= stuck->progress.count &&
	    tap_vec_resize(&stuck->progress, process->number + 1))
		return NULL;
	return &stuck->progress.items[process->number];
}

static struct stream *stream_of(struct stuck *stuck, const struct tap_process *process,
				uint64_t number)
{
	struct stream *stream =
		tap_table_find(&stuck->by_stream, process->number, number);
	struct progress *progress;

	if (stream || stuck->streams.count >= STREAMS_MAX)
		return stream;
	progress = progress_of(stuck, process);
	stream = progress ? calloc(1, sizeof(*stream)) : NULL;
	if (!stream)
		return NULL;
	stream->process = process;
	if (tap_vec_add(&stuck->streams, stream)) {
		free(stream);
		return NULL;
	}
	stream->next = progress->streams;
	progress->streams = stream;
	return tap_table_set(&stuck->by_stream, process->number, number, stream) ? NULL
										 : stream;
}

static struct tap_link_end end_of(const struct tap_span *span)
{
	return (struct tap_link_end){
		.process = span->process,
		.member = span->member,
		.name = span->name,
		.call_id = span->call_id,
		.rank = span->member ? span->member->rank : span->process->rank,
		.facts = tap_call_facts_of(span),
	};
}

/* Forgets the launches that are done, once they are half of all. */
static void compact(struct stream *stream)
{
	if (!stream->done || stream->done * 2 < stream->launches.count)
		return;
	stream->launches.count -= stream->done;
	memmove(stream->launches.items, stream->launches.items + stream->done,
		stream->launches.count * sizeof(*stream->launches.items));
	stream->done = 0;
}

static int note_launch(struct stuck *stuck, const struct tap_span *span, uint64_t number)
{
	struct stream *stream = stream_of(stuck, span->process, number);
	const char *function = tap_fields_get_string(&span->entry, "function");
	struct launch *launch;
	size_t i;

	if (!stream)
		return 0;
	if (stream->launches.count - stream->done >= LAUNCHES_MAX)
		stream->done++;
	compact(stream);
	if (tap_vec_resize(&stream->launches, stream->launches.count + 1))
		return -ENOMEM;
	launch = &stream->launches.items[stream->launches.count - 1];
	launch->call_id = span->call_id;
	launch->begin_ns = span->begin_ns;
	launch->is_own = !span->parent_id && span->name->cuda == TAP_CUDA_KERNEL;
	launch->end = end_of(span);
	for (i = 0; function && function[i] && i + 1 < sizeof(launch->function); i++)
		launch->function[i] = function[i];
	return 0;
}

/* The launches of the stream that wait have this operation behind them. */
static void note_behind(struct stuck *stuck, const struct tap_span *span, uint64_t number)
{
	struct stream *stream =
		tap_table_find(&stuck->by_stream, span->process->number, number);
	size_t i;

	if (!stream)
		return;
	for (i = stream->launches.count; i-- > stream->done;) {
		if (stream->launches.items[i].behind.name)
			return;
		stream->launches.items[i].behind = end_of(span);
	}
}

static int note_span(void *data, struct tap_span *span)
{
	struct stuck *stuck = data;
	struct progress *progress;
	uint64_t number;

	if (span->work.kind == TAP_WORK_GPU) {
		progress = progress_of(stuck, span->process);
		if (!progress)
			return -ENOMEM;
		progress->has_runs = true;
		if (span->end_ns > progress->end_ns)
			progress->end_ns = span->end_ns;
		return 0;
	}
	if (span->state != TAP_SPAN_COMPLETE || span->work.kind ||
	    (span->name->cuda != TAP_CUDA_KERNEL &&
	     (!span->operation.number || !stuck->streams.count)) ||
	    tap_span_is_failure(tap_span_result(span)))
		return 0;
	if (tap_cuda_is_captured(span) || !tap_cuda_stream(span, &number))
		return 0;
	if (span->name->cuda == TAP_CUDA_KERNEL)
		return note_launch(stuck, span, number);
	note_behind(stuck, span, number);
	return 0;
}

/* What was launched before it on the stream has run, too.  Numbers of calls increase. */
static void note_run(struct stream *stream, uint64_t call_id)
{
	size_t i;

	for (i = stream->done;
	     i < stream->launches.count && stream->launches.items[i].call_id <= call_id;
	     i++)
		if (stream->launches.items[i].call_id == call_id)
			stream->done = i + 1;
}

static int note_link(void *data, const struct tap_link *link)
{
	struct stuck *stuck = data;
	struct progress *progress;
	struct stream *stream;

	if (link->kind != TAP_LINK_LAUNCH_KERNEL)
		return 0;
	progress = progress_of(stuck, link->ends[0].process);
	if (!progress)
		return -ENOMEM;
	for (stream = progress->streams; stream; stream = stream->next)
		note_run(stream, link->ends[0].call_id);
	return 0;
}

/* ---- Kernels ---- */

static const struct progress *progress_at(const struct stuck *stuck,
					  const struct tap_process *process)
{
	return process->number < stuck->progress.count
		       ? &stuck->progress.items[process->number]
		       : NULL;
}

/* Since when the stream is at the launch: since it was launched, or the last work ended.
 */
static int64_t since(const struct stuck *stuck, const struct launch *launch)
{
	const struct progress *progress = progress_at(stuck, launch->end.process);

	return progress->end_ns > launch->begin_ns ? progress->end_ns : launch->begin_ns;
}

/*
 * Whether work of the process would be in the trace if it had ended.  That the tracer
 * reported the GPU's clock shows that it had CUPTI.
 */
static bool is_gpu_seen(const struct stuck *stuck, const struct progress *progress)
{
	const struct tap_context *context = tap_findings_context(stuck->state.findings);

	return progress &&
	       (progress->has_runs ||
		(context->gpu_times.has_residual &&
		 !context->matches[TAP_MATCH_LAUNCH_KERNEL].why[TAP_WHY_IN_USE]));
}

/*
 * The launch that the stream is at, if it is the program's own and holds up an operation
 * of NCCL; NULL otherwise.
 */
static const struct launch *find_stuck(const struct stuck *stuck,
				       const struct stream *stream)
{
	const struct progress *progress = progress_at(stuck, stream->process);
	const struct launch *first;

	if (stream->done >= stream->launches.count || !is_gpu_seen(stuck, progress))
		return NULL;
	first = &stream->launches.items[stream->done];
	return first->is_own && first->behind.name ? first : NULL;
}

static void add_kernel_text(const struct stuck *stuck, struct tap_finding *finding,
			    const struct launch *launch, int64_t waited_ns)
{
	const struct tap_context *context = tap_findings_context(stuck->state.findings);
	const struct tap_call_facts *facts = &launch->end.facts;
	struct tap_buffer *text = &finding->headline;

	tap_words_add_operation(text, finding->operation, finding->op_number,
				finding->comm);
	tap_buffer_add_string(text, " waits behind kernel ");
	tap_buffer_add_visible(text, *launch->function ? launch->function : "?");
	tap_buffer_add_string(text, " of ");
	tap_words_add_ranks(text, finding->ranks.items, 1);
	tap_buffer_add_string(text, " (");
	tap_words_add_pid(text, context, launch->end.process);
	tap_buffer_add_string(text, "), which is not NCCL's and has not ended for ");
	tap_words_add_about(text, waited_ns);
	text = &finding->detail;
	tap_buffer_add_string(text, "launched at ");
	tap_words_add_time(text, context, launch->begin_ns);
	if (facts->caller_number) {
		tap_buffer_add_string(text, " by ");
		tap_words_add_caller(text, facts->caller, facts->caller_number,
				     facts->caller_offset);
	}
	tap_buffer_add_string(text, "; the kernels before it have ended");
	tap_buffer_add_string(
		&finding->rules_out,
		"the rank has called the operation, and NCCL has enqueued it");
	tap_buffer_add_string(&finding->next,
			      "what does the kernel wait for? cuda-gdb -p ");
	tap_buffer_add_signed(&finding->next, launch->end.process->pid);
}

static int add_kernel(struct stuck *stuck, const struct stream *stream)
{
	const struct launch *launch = find_stuck(stuck, stream);
	const struct tap_end_state *end =
		tap_findings_end_of(stuck->state.findings, stream->process);
	struct tap_finding *finding;
	int64_t waited_ns;

	if (!launch || !end || end->end == TAP_END_EXIT)
		return 0;
	waited_ns = end->seen_ns - since(stuck, launch);
	if (waited_ns < HUNG_NS)
		return 0;
	finding = tap_findings_add(stuck->state.findings, TAP_FINDING_STUCK,
				   TAP_SEVERITY_ERROR);
	if (!finding)
		return -ENOMEM;
	finding->cause = TAP_CAUSE_FIRST;
	finding->time_ns = launch->begin_ns;
	finding->cost_ns = waited_ns;
	finding->operation = launch->behind.name;
	finding->op_number = launch->behind.facts.operation.number;
	if (launch->behind.member)
		finding->comm = tap_member_comm(launch->behind.member);
	if (tap_finding_add_rank(finding, launch->behind.rank) ||
	    tap_finding_add_at_fault(finding, stream->process) ||
	    tap_finding_add_site(finding, &launch->end) ||
	    tap_finding_add_evidence(finding, "waited_ns", waited_ns, TAP_KNOWN_INFERRED))
		return -ENOMEM;
	add_kernel_text(stuck, finding, launch, waited_ns);
	return 0;
}

/* ---- Calls ---- */

/* What a process waits for: an operation, or a call that does not return. */
struct wait {
	const struct tap_process *process;
	const struct tap_open_call *call;  /* that does not return, or a poll */
	const struct tap_open_call *about; /* the operation; else the call */
	int64_t waited_ns;
	bool is_poll, is_told;
};

/* The longest open call of a process that no error is about yet; else a poll. */
static bool find_wait(const struct stuck *stuck, const struct tap_end_state *end,
		      struct wait *ret)
{
	const struct tap_open_call *open = tap_words_open_call(end);

	*ret = (struct wait){.process = end->process};
	if (open) {
		ret->call = open;
		ret->about = open->waits_for ? open->waits_for : open;
		ret->waited_ns = open->min_ns;
	} else if (end->poll.waits_for && end->end == TAP_END_NOT_SEEN) {
		ret->call = &end->poll;
		ret->about = end->poll.waits_for;
		ret->waited_ns = end->seen_ns - ret->about->end_ns;
		ret->is_poll = true;
	}
	return ret->call && ret->waited_ns >= HUNG_NS &&
	       !tap_findings_about(stuck->state.findings, end->process);
}

/* Whether a stream of the process has stood at one of NCCL's launches for very long. */
static bool is_at_nccl(const struct stuck *stuck, const struct tap_end_state *end)
{
	const struct progress *progress = progress_at(stuck, end->process);
	const struct stream *stream;

	if (!is_gpu_seen(stuck, progress))
		return false;
	for (stream = progress->streams; stream; stream = stream->next)
		if (stream->done < stream->launches.count &&
		    !stream->launches.items[stream->done].is_own &&
		    end->seen_ns - since(stuck, &stream->launches.items[stream->done]) >=
			    LONG_NS)
			return true;
	return false;
}

/*
 * An operation that all ranks came to may wait for work of the program's own, so a wait
 * is an error only if the GPU has come to a halt, or if it is very long; a wait for
 * nothing of NCCL's is none of the communication.  An operation whose call does not
 * return within a second is always one.  A poll is no wait by itself: a program polls, too,
 * when nothing is to be done, so the GPU has to stand at NCCL's work.
 */
static enum tap_severity severity_of(const struct stuck *stuck, const struct wait *wait)
{
	const struct tap_end_state *end =
		tap_findings_end_of(stuck->state.findings, wait->process);
	const struct progress *progress = progress_at(stuck, wait->process);
	const bool is_of_cuda = wait->call->name->cuda;

	if (end->end == TAP_END_EXIT || (is_of_cuda && wait->about == wait->call))
		return TAP_SEVERITY_NOTE;
	if (wait->is_poll)
		return is_at_nccl(stuck, end) ? TAP_SEVERITY_ERROR : TAP_SEVERITY_NOTE;
	if (wait->waited_ns >= LONG_NS)
		return TAP_SEVERITY_ERROR;
	/* To make a communicator takes NCCL seconds, at times. */
	if (!is_of_cuda)
		return !wait->call->op_number &&
				       !strncmp(wait->call->name->name, "ncclComm", 8) &&
				       strcmp(wait->call->name->name, "ncclCommAbort")
			       ? TAP_SEVERITY_NOTE
			       : TAP_SEVERITY_ERROR;
	if (progress && progress->has_runs)
		return end->seen_ns - progress->end_ns >= HUNG_NS ? TAP_SEVERITY_ERROR
								  : TAP_SEVERITY_NOTE;
	return TAP_SEVERITY_WARNING;
}

/* Whether an error is found about a rank of the communicator that the wait is for. */
static bool is_explained(const struct stuck *stuck, const struct wait *wait)
{
	const struct tap_member *member =
		wait->about->member ? tap_member_comm(wait->about->member)->members
				    : NULL;

	for (; member; member = member->next)
		if (tap_findings_about(stuck->state.findings, member->process))
			return true;
	return false;
}

static bool is_same(const struct wait *a, const struct wait *b)
{
	return a->about->name == b->about->name &&
	       a->about->op_number == b->about->op_number &&
	       a->about->comm_key == b->about->comm_key && a->call->name == b->call->name;
}

static int64_t rank_of(const struct wait *wait)
{
	return wait->about->member ? wait->about->member->rank : wait->process->rank;
}

static int compare_ranks(const void *left, const void *right)
{
	const int64_t a = *(const int64_t *) left, b = *(const int64_t *) right;

	return (a > b) - (a < b);
}

static int add_waiter(struct tap_finding *finding, const struct wait *wait)
{
	const struct tap_link_end end = {
		.process = wait->process,
		.member = wait->about->member,
		.name = wait->call->name,
		.call_id = wait->call->call_id,
		.rank = rank_of(wait),
		.facts = {.begin_ns =
				  wait->call->is_begun_before ? -1 : wait->call->begin_ns,
			  .end_ns = -1,
			  .tid = wait->call->tid,
			  .operation = TAP_OPERATION_NONE,
			  .caller_number = wait->call->caller_number,
			  .caller = wait->call->caller,
			  .caller_offset = wait->call->caller_offset}};

	finding->cost_ns += wait->waited_ns;
	return tap_finding_add_rank(finding, end.rank) ||
			       tap_finding_add_site(finding, &end)
		       ? -ENOMEM
		       : 0;
}

static void add_call_text(const struct stuck *stuck, struct tap_finding *finding,
			  const struct wait *wait, int64_t waited_ns)
{
	const struct tap_context *context = tap_findings_context(stuck->state.findings);
	const struct tap_comm *comm = finding->comm;
	struct tap_buffer *text = &finding->headline;

	tap_words_add_operation(text, finding->operation, finding->op_number, comm);
	tap_buffer_add_string(text, ": ");
	if (finding->ranks.items[0] < 0 || finding->ranks.count == 1) {
		if (finding->ranks.items[0] >= 0) {
			tap_words_add_ranks(text, finding->ranks.items, 1);
			tap_buffer_add_string(text, " (");
			tap_words_add_pid(text, context, wait->process);
			tap_buffer_add_char(text, ')');
		} else {
			tap_words_add_pid(text, context, wait->process);
		}
	} else {
		tap_words_add_ranks(text, finding->ranks.items, finding->ranks.count);
	}
	if (wait->about == wait->call) {
		tap_buffer_add_string(text, " in it for ");
	} else {
		tap_buffer_add_string(text, wait->is_poll ? " polling " : " in ");
		tap_buffer_add_visible(text, wait->call->name->name);
		tap_buffer_add_string(text, " for ");
	}
	tap_words_add_about(text, waited_ns);
	tap_buffer_add_string(text, " and more");
	if (comm && (int64_t) finding->ranks.count == comm->nranks)
		tap_buffer_add_string(text, "; all ranks came");
	tap_buffer_add_string(&finding->next, "py-spy dump --pid ");
	tap_buffer_add_signed(&finding->next, wait->process->pid);
	tap_buffer_add_string(&finding->next, ", or gdb -p ");
	tap_buffer_add_signed(&finding->next, wait->process->pid);
}

/* One finding for all ranks that wait for the same. */
static int add_call(struct stuck *stuck, struct wait *waits, size_t count, size_t at)
{
	const bool is_behind = is_explained(stuck, &waits[at]);
	struct tap_finding *finding =
		tap_findings_add(stuck->state.findings, TAP_FINDING_STUCK,
				 is_behind ? TAP_SEVERITY_NOTE
					   : severity_of(stuck, &waits[at]));
	int64_t waited_ns = 0;
	size_t i;

	if (!finding)
		return -ENOMEM;
	finding->cause = is_behind ? TAP_CAUSE_EXPLAINED : TAP_CAUSE_OWN;
	finding->operation = waits[at].about->name;
	finding->op_number = waits[at].about->op_number;
	finding->comm_key = waits[at].about->comm_key;
	if (waits[at].about->member)
		finding->comm = tap_member_comm(waits[at].about->member);
	finding->time_ns = waits[at].about->begin_ns;
	for (i = at; i < count; i++) {
		if (waits[i].is_told || !is_same(&waits[at], &waits[i]))
			continue;
		waits[i].is_told = true;
		if (waits[i].waited_ns > waited_ns)
			waited_ns = waits[i].waited_ns;
		if (add_waiter(finding, &waits[i]))
			return -ENOMEM;
	}
	qsort(finding->ranks.items, finding->ranks.count, sizeof(*finding->ranks.items),
	      compare_ranks);
	if (tap_finding_add_evidence(finding, "waited_ns", waited_ns, TAP_KNOWN_EXACT))
		return -ENOMEM;
	add_call_text(stuck, finding, &waits[at], waited_ns);
	return 0;
}

static int add_calls(struct stuck *stuck)
{
	const struct tap_processes *processes =
		&tap_findings_context(stuck->state.findings)->processes;
	const struct tap_end_state *end;
	TAP_VEC(struct wait) waits = {0};
	struct wait wait;
	int ret = 0;
	size_t i;

	for (i = 0; !ret && i < processes->count; i++) {
		end = tap_findings_end_of(stuck->state.findings, processes->all[i]);
		if (end && find_wait(stuck, end, &wait))
			ret = tap_vec_add(&waits, wait);
	}
	for (i = 0; !ret && i < waits.count; i++)
		if (!waits.items[i].is_told)
			ret = add_call(stuck, waits.items, waits.count, i);
	tap_vec_free(&waits);
	return ret;
}

static int conclude(void *data, const struct tap_loss *loss)
{
	struct stuck *stuck = data;
	int ret = 0;
	size_t i;

	/* A return that is lost looks like a call that is open. */
	if (tap_findings_may_lack_calls(loss))
		return 0;
	/* Of work whose record is lost, nobody knows whether it ran. */
	for (i = 0; !ret && !loss->gpu_dropped && i < stuck->streams.count; i++)
		ret = add_kernel(stuck, stuck->streams.items[i]);
	return ret ? ret : add_calls(stuck);
}

static void free_all(void *data)
{
	struct stuck *stuck = data;
	size_t i;

	for (i = 0; i < stuck->streams.count; i++) {
		tap_vec_free(&stuck->streams.items[i]->launches);
		free(stuck->streams.items[i]);
	}
	tap_vec_free(&stuck->streams);
	tap_vec_free(&stuck->progress);
	tap_table_free(&stuck->by_stream);
}

const struct tap_analysis tap_stuck_analysis = {
	.name = "stuck",
	.size = sizeof(struct stuck),
	.takes = {.span_ended = note_span, .link = note_link},
	.conclude = conclude,
	.free = free_all,
};
