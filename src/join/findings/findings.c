/* SPDX-License-Identifier: MIT */
/* The table of analyses, loops over it, and the order of the findings. */
#include "join/findings/findings.h"

#include "join/findings/analysis.h"
#include "join/findings/choice.h"
#include "join/findings/breakdown.h"
#include "join/findings/collective.h"
#include "join/findings/progress.h"
#include "join/views/view.h"

#include <stdlib.h>
#include <string.h>

static const struct tap_analysis *const analyses[] = {
	/*
	 * In this order they conclude: a later one leaves out what an earlier one explains.
	 */
	&tap_breakdown_analysis, /* sums for the report: makes no finding */
	&tap_mismatch_analysis,	 /* ranks that called different things */
	&tap_setup_analysis,	/* communicators that are never made */
	&tap_missing_analysis,	 /* operations to which ranks did not come */
	&tap_failed_analysis,	/* calls and requests that failed */
	&tap_stuck_analysis,	/* calls and kernels that do not end */
	&tap_late_analysis,	 /* ranks that start after all others */
	&tap_slow_analysis,	 /* connections that stand out */
	&tap_progress_analysis,	 /* makes none: how far messages came, for the others' */
	&tap_proxy_analysis,	 /* makes none: what NCCL's progress threads do meanwhile */
	&tap_counters_analysis,	 /* makes none: what counters say of the others' */
	&tap_clear_analysis,	/* that nothing is wrong; last */
};

#define ANALYSIS_COUNT (sizeof(analyses) / sizeof(analyses[0]))

/* Of millions of spans and links only the analyses are called that take them. */
struct of_span {
	int (*take)(void *state, struct tap_span *span);
	void *state;
};

struct of_link {
	int (*take)(void *state, const struct tap_link *link);
	void *state;
};

struct tap_findings {
	const struct tap_view *view;
	struct tap_analysis_state *states[ANALYSIS_COUNT];
	struct of_span of_spans[ANALYSIS_COUNT + 1]; /* the last is empty */
	struct of_link of_links[ANALYSIS_COUNT + 1];
	struct tap_collectives *collectives;
	struct tap_findings_watcher watcher;
	bool is_lack_left_out; /* one of the program, by filters */
	TAP_VEC(struct tap_finding) all;
	TAP_VEC(struct tap_end_state) ends; /* by number of the process */
};

void tap_findings_destroy(struct tap_findings *findings)
{
	size_t i;

	if (!findings)
		return;
	for (i = 0; i < ANALYSIS_COUNT; i++) {
		if (findings->states[i] && analyses[i]->free)
			analyses[i]->free(findings->states[i]);
		free(findings->states[i]);
	}
	tap_collectives_destroy(findings->collectives);
	for (i = 0; i < findings->all.count; i++)
		tap_finding_free(&findings->all.items[i]);
	tap_vec_free(&findings->all);
	tap_vec_free(&findings->ends);
	free(findings);
}

static int take_collective(void *data, const struct tap_collective *collective)
{
	struct tap_findings *findings = data;
	int ret = 0;
	size_t i;

	for (i = 0; !ret && i < ANALYSIS_COUNT; i++)
		if (analyses[i]->collective)
			ret = analyses[i]->collective(findings->states[i], collective);
	if (!ret && findings->watcher.collective)
		ret = findings->watcher.collective(findings->watcher.data, collective);
	return ret;
}

void tap_findings_watch(struct tap_findings *findings,
			struct tap_findings_watcher watcher)
{
	findings->watcher = watcher;
}

static void sort_out(struct tap_findings *findings)
{
	struct of_span *of_span = findings->of_spans;
	struct of_link *of_link = findings->of_links;
	size_t i;

	for (i = 0; i < ANALYSIS_COUNT; i++) {
		const struct tap_consumer *takes = &analyses[i]->takes;

		if (takes->span_ended)
			*of_span++ = (struct of_span){takes->span_ended,
						      findings->states[i]};
		if (takes->link)
			*of_link++ =
				(struct of_link){takes->link, findings->states[i]};
	}
}

struct tap_findings *tap_findings_create(const struct tap_view *view)
{
	struct tap_findings *findings = calloc(1, sizeof(*findings));
	size_t i;

	if (!findings)
		return NULL;
	findings->view = view;
	for (i = 0; i < ANALYSIS_COUNT; i++) {
		findings->states[i] = calloc(1, analyses[i]->size);
		if (!findings->states[i]) {
			tap_findings_destroy(findings);
			return NULL;
		}
		findings->states[i]->findings = findings;
	}
	sort_out(findings);
	findings->collectives = tap_collectives_create(take_collective, findings);
	if (findings->collectives)
		return findings;
	tap_findings_destroy(findings);
	return NULL;
}

const struct tap_context *tap_findings_context(const struct tap_findings *findings)
{
	return findings->view->context;
}

static const void *state_of(const struct tap_findings *findings,
			    const struct tap_analysis *analysis)
{
	size_t i;

	for (i = 0; analyses[i] != analysis; i++)
		continue;
	return findings->states[i];
}

const struct tap_breakdown *tap_findings_breakdown(const struct tap_findings *findings)
{
	return state_of(findings, &tap_breakdown_analysis);
}

const struct tap_progress *tap_findings_progress(const struct tap_findings *findings)
{
	return state_of(findings, &tap_progress_analysis);
}

const struct tap_end_state *tap_findings_end_of(const struct tap_findings *findings,
						const struct tap_process *process)
{
	const struct tap_end_state *end;

	if (!process || process->number >= findings->ends.count)
		return NULL;
	end = &findings->ends.items[process->number];
	return end->process ? end : NULL;
}

const struct tap_finding *tap_findings_on(const struct tap_findings *findings,
					  enum tap_finding_kind kind,
					  const struct tap_comm *comm)
{
	size_t i;

	for (i = 0; i < findings->all.count; i++)
		if (findings->all.items[i].severity == TAP_SEVERITY_ERROR &&
		    findings->all.items[i].kind == kind &&
		    findings->all.items[i].comm == comm)
			return &findings->all.items[i];
	return NULL;
}

const struct tap_finding *tap_findings_about(const struct tap_findings *findings,
					     const struct tap_process *process)
{
	size_t i;

	for (i = 0; i < findings->all.count; i++)
		if (findings->all.items[i].severity == TAP_SEVERITY_ERROR &&
		    tap_finding_is_about(&findings->all.items[i], process))
			return &findings->all.items[i];
	return NULL;
}

void tap_findings_confirm(struct tap_findings *findings, const struct tap_comm *comm)
{
	struct tap_finding *finding;
	size_t i;

	for (i = 0; i < findings->all.count; i++) {
		finding = &findings->all.items[i];
		if (finding->kind == TAP_FINDING_MISSING && finding->comm == comm)
			finding->severity = TAP_SEVERITY_ERROR;
	}
}

struct tap_finding *tap_findings_add(struct tap_findings *findings,
				     enum tap_finding_kind kind,
				     enum tap_severity severity)
{
	const size_t count = findings->all.count;
	struct tap_finding *finding;

	if (tap_vec_resize(&findings->all, count + 1))
		return NULL;
	finding = &findings->all.items[count];
	finding->kind = kind;
	finding->severity = severity;
	finding->time_ns = -1;
	return finding;
}

void tap_findings_drop(struct tap_findings *findings)
{
	tap_finding_free(&findings->all.items[--findings->all.count]);
}

bool tap_findings_may_lack_calls(const struct tap_loss *loss)
{
	return loss->discarded_events || loss->discarded_unknown ||
	       loss->damaged_streams || loss->malformed_events || loss->removed_chunks ||
	       loss->relay_gaps || loss->mixed_clocks ||
	       (loss->discarded_packets && !loss->is_window);
}

/* ---- What the join gives ---- */

/* Calls a function of each analysis that has it, until one fails. */
#define FEED(member, ...) \
	do { \
		struct tap_findings *findings = data; \
		int ret = 0; \
		size_t i; \
\
		for (i = 0; !ret && i < ANALYSIS_COUNT; i++) \
			if (analyses[i]->takes.member) \
				ret = analyses[i]->takes.member(findings->states[i], \
								__VA_ARGS__); \
		return ret; \
	} while (0)

static int take_process(void *data, const struct tap_process *process)
{
	FEED(process, process);
}

static int take_problem(void *data, const struct tap_problem *problem)
{
	FEED(problem, problem);
}

static int take_thread(void *data, const struct tap_thread_state *thread)
{
	FEED(thread, thread);
}

static int take_communicator(void *data, const struct tap_member *member)
{
	FEED(communicator, member);
}

static int take_sample(void *data, const struct tap_sampled *sample)
{
	FEED(sample, sample);
}

static int take_nccl_thread(void *data, const struct tap_nccl_thread *thread)
{
	FEED(nccl_thread, thread);
}

static int take_connection(void *data, const struct tap_nccl_connection *connection)
{
	FEED(connection, connection);
}

static int take_ended(void *data, struct tap_span *span)
{
	const struct tap_findings *findings = data;
	const struct of_span *of;
	int ret = tap_collectives_span(findings->collectives, findings->view->context,
				       span);

	for (of = findings->of_spans; !ret && of->take; of++)
		ret = of->take(of->state, span);
	return ret;
}

static int take_link(void *data, const struct tap_link *link)
{
	const struct tap_findings *findings = data;
	const struct of_link *of;
	int ret = tap_collectives_link(findings->collectives, findings->view->context,
				       link);

	for (of = findings->of_links; !ret && of->take; of++)
		ret = of->take(of->state, link);
	return ret;
}

static int take_defect(void *data, const struct tap_link *link)
{
	FEED(defect, link);
}

static int feed_end_state(void *data, const struct tap_end_state *end_state)
{
	FEED(end_state, end_state);
}

/* What it points to lives as long as the join. */
static int take_end_state(void *data, const struct tap_end_state *end_state)
{
	struct tap_findings *findings = data;
	const unsigned int number = end_state->process->number;

	if (number >= findings->ends.count && tap_vec_resize(&findings->ends, number + 1))
		return -ENOMEM;
	findings->ends.items[number] = *end_state;
	return feed_end_state(data, end_state);
}

const struct tap_consumer tap_findings_consumer = {
	.process = take_process,
	.problem = take_problem,
	.thread = take_thread,
	.sample = take_sample,
	.communicator = take_communicator,
	.nccl_thread = take_nccl_thread,
	.connection = take_connection,
	.span_ended = take_ended,
	.link = take_link,
	.defect = take_defect,
	.end_state = take_end_state,
};

/* ---- At the end ---- */

const struct tap_filters *tap_findings_filters(const struct tap_findings *findings)
{
	return findings->view->filters;
}

/* Drops the findings that the filters do not choose.  Returns how many. */
static size_t choose(struct tap_findings *findings)
{
	const struct tap_filters *filters = tap_findings_filters(findings);
	struct tap_finding *all = findings->all.items;
	const size_t count = findings->all.count;
	size_t i, kept = 0;

	for (i = 0; i < count; i++) {
		if (!filters || all[i].kind == TAP_FINDING_CLEAR ||
		    all[i].kind == TAP_FINDING_UNKNOWN ||
		    tap_finding_passes(&all[i], filters, findings->view->context)) {
			all[kept++] = all[i];
			continue;
		}
		findings->is_lack_left_out |= tap_finding_is_of_program(&all[i]);
		tap_finding_free(&all[i]);
	}
	findings->all.count = kept;
	return count - kept;
}

/*
 * What costs most first: by severity, then causes before what follows from them, then by
 * cost, by kind, and by time.
 */
static int compare(const void *left, const void *right)
{
	const struct tap_finding *a = left, *b = right;

	if (a->severity != b->severity)
		return a->severity > b->severity ? -1 : 1;
	if (a->cause != b->cause)
		return a->cause < b->cause ? -1 : 1;
	if (a->cost_ns != b->cost_ns)
		return a->cost_ns > b->cost_ns ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return (a->time_ns > b->time_ns) - (a->time_ns < b->time_ns);
}

/* Says that all that was found is left out. */
static int add_left_out(struct tap_findings *findings, size_t left_out)
{
	struct tap_finding *finding =
		tap_findings_add(findings, TAP_FINDING_CLEAR, TAP_SEVERITY_NOTE);

	if (!finding)
		return -ENOMEM;
	tap_buffer_add_string(&finding->headline,
			      "nothing is found in what the filters choose; ");
	tap_buffer_add_unsigned(&finding->headline, left_out);
	tap_buffer_add_string(&finding->headline, left_out == 1
							  ? " finding is left out"
							  : " findings are left out");
	return 0;
}

/* Whether one's process at fault is held up in the other. */
static bool is_held_up_by(const struct tap_finding *finding,
			  const struct tap_finding *other)
{
	size_t i;

	if (finding->cause != TAP_CAUSE_OF_WAIT || other->cause > TAP_CAUSE_OF_WAIT ||
	    finding == other || other->severity < finding->severity)
		return false;
	for (i = 0; i < finding->at_fault.count; i++)
		if (tap_finding_is_about(other, finding->at_fault.items[i]) &&
		    !tap_finding_blames(other, finding->at_fault.items[i]))
			return true;
	return false;
}

static bool is_message(const struct tap_finding *finding)
{
	return finding->operation && (finding->operation->kind == TAP_NAME_SEND ||
				      finding->operation->kind == TAP_NAME_RECEIVE);
}

/*
 * Of two that hold each other up, a message is the cause: a rank that leaves out its side of
 * it goes on to what all ranks call.
 */
static bool is_explained_by(const struct tap_finding *finding,
			    const struct tap_finding *other)
{
	return is_held_up_by(finding, other) &&
	       (!is_held_up_by(other, finding) ||
		(is_message(other) && !is_message(finding)));
}

/* What is held up by something else that is found comes behind that. */
static void settle_causes(struct tap_findings *findings)
{
	struct tap_finding *all = findings->all.items;
	size_t i, j;

	for (i = 0; i < findings->all.count; i++)
		for (j = 0; j < findings->all.count; j++)
			if (is_explained_by(&all[i], &all[j])) {
				all[i].cause = TAP_CAUSE_EXPLAINED;
				break;
			}
}

static int explain_all(struct tap_findings *findings)
{
	int ret = 0;
	size_t i, j;

	for (i = 0; i < ANALYSIS_COUNT; i++)
		for (j = 0; !ret && analyses[i]->explain && j < findings->all.count; j++)
			ret = analyses[i]->explain(findings->states[i],
						   &findings->all.items[j]);
	return ret;
}

int tap_findings_conclude(struct tap_findings *findings, const struct tap_loss *loss)
{
	int ret = tap_collectives_finish(findings->collectives);
	size_t i, left_out;

	for (i = 0; !ret && i < ANALYSIS_COUNT; i++)
		if (analyses[i]->conclude)
			ret = analyses[i]->conclude(findings->states[i], loss);
	if (!ret)
		ret = explain_all(findings);
	settle_causes(findings);
	left_out = choose(findings);
	if (!ret && left_out && tap_findings_verdict(findings) == TAP_VERDICT_CLEAR)
		ret = add_left_out(findings, left_out);
	if (!ret)
		qsort(findings->all.items, findings->all.count,
		      sizeof(*findings->all.items), compare);
	return ret;
}

size_t tap_findings_count(const struct tap_findings *findings)
{
	return findings->all.count;
}

const struct tap_finding *tap_findings_at(const struct tap_findings *findings, size_t i)
{
	return &findings->all.items[i];
}

enum tap_findings_verdict tap_findings_verdict(const struct tap_findings *findings)
{
	enum tap_findings_verdict verdict = TAP_VERDICT_CLEAR;
	size_t i;

	for (i = 0; i < findings->all.count; i++) {
		if (findings->all.items[i].severity > TAP_SEVERITY_NOTE)
			return TAP_VERDICT_FOUND;
		if (findings->all.items[i].kind == TAP_FINDING_UNKNOWN)
			verdict = TAP_VERDICT_UNKNOWN;
	}
	return verdict;
}

bool tap_findings_lack_of_program(const struct tap_findings *findings)
{
	size_t i;

	for (i = 0; i < findings->all.count; i++)
		if (tap_finding_is_of_program(&findings->all.items[i]))
			return true;
	return findings->is_lack_left_out;
}
