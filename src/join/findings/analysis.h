/* SPDX-License-Identifier: MIT */
/*
 * An analysis: watches the trace for findings of one kind, and makes them when the trace
 * is over.  The table in findings.c has them all.
 *
 * Hides one analysis from all others: what they share is the context of the reading and
 * the list of findings.
 */
#ifndef TAP_JOIN_FINDINGS_ANALYSIS_H
#define TAP_JOIN_FINDINGS_ANALYSIS_H

#include "join/findings/finding.h"
#include "join/model/context.h"

struct tap_collective;
struct tap_findings;

/* The beginning of the state of every analysis.  The rest is zero at first. */
struct tap_analysis_state {
	struct tap_findings *findings;
};

/* Any function may be NULL; each returns 0 or -errno. */
struct tap_analysis {
	const char *name;
	size_t size; /* bytes of its state */
	/* What the join gives, with the state as data; finish() is not called. */
	struct tap_consumer takes;
	/* An operation with what each rank did for it, once: collective.h. */
	int (*collective)(void *state, const struct tap_collective *collective);
	/* Nothing comes any more: the analysis makes its findings. */
	int (*conclude)(void *state, const struct tap_loss *loss);
	/* All have concluded: adds to a finding what the analysis knows of its cause. */
	int (*explain)(void *state, struct tap_finding *finding);
	void (*free)(void *state);
};

/* The context of the reading; not before the first event. */
const struct tap_context *tap_findings_context(const struct tap_findings *findings);

/* Where the process stood at the end; NULL: unknown, or nothing has ended yet. */
const struct tap_end_state *tap_findings_end_of(const struct tap_findings *findings,
						const struct tap_process *process);

/*
 * Of analyses that conclude earlier in the table: an error of this kind on the
 * communicator, or any error about the process; NULL: none.
 */
const struct tap_finding *tap_findings_on(const struct tap_findings *findings,
					  enum tap_finding_kind kind,
					  const struct tap_comm *comm);
const struct tap_finding *tap_findings_about(const struct tap_findings *findings,
					     const struct tap_process *process);

/* Ranks that were not there at the end of the trace do not come to the communicator. */
void tap_findings_confirm(struct tap_findings *findings, const struct tap_comm *comm);

/*
 * Adds a finding, to be filled in; it stays where it is until the next is added.  NULL
 * when memory is short.
 */
struct tap_finding *tap_findings_add(struct tap_findings *findings,
				     enum tap_finding_kind kind,
				     enum tap_severity severity);

/* Takes back the finding that was added last. */
void tap_findings_drop(struct tap_findings *findings);

/*
 * Whether calls may be missing from the trace without a sign of it.  What a flight recorder
 * has overwritten is older than what is open.
 */
bool tap_findings_may_lack_calls(const struct tap_loss *loss);

extern const struct tap_analysis tap_counters_analysis;
extern const struct tap_analysis tap_failed_analysis;
extern const struct tap_analysis tap_late_analysis;
extern const struct tap_analysis tap_mismatch_analysis;
extern const struct tap_analysis tap_missing_analysis;
extern const struct tap_analysis tap_proxy_analysis;
extern const struct tap_analysis tap_setup_analysis;
extern const struct tap_analysis tap_slow_analysis;
extern const struct tap_analysis tap_stuck_analysis;
extern const struct tap_analysis tap_clear_analysis;

#endif
