/* SPDX-License-Identifier: MIT */
/*
 * What is wrong with the program, as far as the trace shows: one finding for each thing,
 * what costs most first.
 *
 * Hides the analyses (analysis.h), each of which watches the trace for one kind of
 * finding.  A view forwards to tap_findings_consumer what the join gives it, then
 * concludes, then reads the findings.  Memory is bounded as that of the join.
 */
#ifndef TAP_JOIN_FINDINGS_FINDINGS_H
#define TAP_JOIN_FINDINGS_FINDINGS_H

#include "join/findings/finding.h"
#include "join/model/context.h"

struct tap_collective;
struct tap_filters;
struct tap_findings;
struct tap_view;

/*
 * Makes the findings of a view, whose context is set before anything is forwarded.
 * Returns NULL when memory is short.
 */
struct tap_findings *tap_findings_create(const struct tap_view *view);
void tap_findings_destroy(struct tap_findings *findings);

/*
 * What a view forwards to, with the findings as data; finish and library are NULL.
 */
extern const struct tap_consumer tap_findings_consumer;

/*
 * Who also wants each operation with what each rank did for it (collective.h), once, of
 * the whole trace.  Its function returns 0 or -errno.
 */
struct tap_findings_watcher {
	int (*collective)(void *data, const struct tap_collective *collective);
	void *data;
};
void tap_findings_watch(struct tap_findings *findings,
			struct tap_findings_watcher watcher);

/*
 * The trace is over: makes the findings, drops those that the view's filters do not choose,
 * and adds one that says that nothing is wrong, or that
 * the trace does not tell, if there is no other.  Returns 0 or -ENOMEM.
 */
int tap_findings_conclude(struct tap_findings *findings, const struct tap_loss *loss);

/* The filters that choose among the findings; NULL: none. */
const struct tap_filters *tap_findings_filters(const struct tap_findings *findings);

/* How many findings there are, and the one at this index, what costs most first. */
size_t tap_findings_count(const struct tap_findings *findings);
const struct tap_finding *tap_findings_at(const struct tap_findings *findings, size_t i);

/* The worst kind of answer: what `ccltap why` returns. */
enum tap_findings_verdict {
	TAP_VERDICT_CLEAR,  /* nothing above a note */
	TAP_VERDICT_FOUND,  /* a warning or an error */
	TAP_VERDICT_UNKNOWN /* nothing found, and the trace lacks what it takes to tell */
};
enum tap_findings_verdict tap_findings_verdict(const struct tap_findings *findings);

/*
 * Whether the program, and not the trace, lacks something, as far as any finding says:
 * also one that filters left out.
 */
bool tap_findings_lack_of_program(const struct tap_findings *findings);

#endif
