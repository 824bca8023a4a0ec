/* SPDX-License-Identifier: MIT */
/*
 * What the report says of a whole run: how many ranks there were, what failed and what
 * did not return, the collectives, and each rank.
 *
 * Hides what counts as a rank where the launcher does not tell, which row of a table a
 * finding is about, and which rows matter most.
 */
#ifndef TAP_JOIN_REPORT_OVERVIEW_H
#define TAP_JOIN_REPORT_OVERVIEW_H

#include "join/findings/breakdown.h"
#include "join/findings/findings.h"
#include "join/report/report_calls.h"
#include "join/report/rows.h"

/* A row of the collectives. */
struct tap_overview_operation {
	struct tap_breakdown_operation sums;
	bool has_others; /* there are other communicators */
};

/* A rank: a GPU of a process.  Without communicators, a process. */
struct tap_overview_rank {
	struct tap_breakdown_rank sums;
	const char *finding; /* the kind of one that it is at fault of; NULL: none */
	struct tap_calls_total total; /* of its process */
	uint64_t open;		      /* likewise: calls that did not return */
};

/* All zero is empty. */
struct tap_overview {
	bool has_ranks;	    /* the rows are ranks, and no processes */
	uint64_t ranks_all; /* of the largest communicator, or those in the trace */
	uint64_t processes, hosts, communicators;
	int64_t duration_ns;
	struct tap_calls_total total;
	uint64_t never_returned;    /* the outermost open call of each thread */
	struct tap_open_call open;  /* the first of these; name NULL: none */
	struct tap_rows operations; /* of struct tap_overview_operation; by time */
	struct tap_rows ranks;	    /* of struct tap_overview_rank; by rank */
	struct tap_rows open_calls; /* by process; while the trace is read */
};

/* Counts what a process had not returned from.  Returns 0 or -ENOMEM. */
int tap_overview_end_state(struct tap_overview *overview,
			   const struct tap_end_state *end_state);

/* Sums up, once the findings are concluded and the calls sorted.  Returns 0 or -ENOMEM.
 */
int tap_overview_finish(struct tap_overview *overview, const struct tap_context *context,
			const struct tap_findings *findings,
			const struct tap_report_calls *calls);

/* "4 ranks, 1 host, 1 communicator, 2.4 s." */
void tap_overview_add_headline(struct tap_buffer *line,
			       const struct tap_overview *overview);
/* "failures: none     hung: none     network errors: none" */
void tap_overview_add_failures(struct tap_buffer *line,
			       const struct tap_overview *overview);
/* "256 KiB", or "1.0 KiB to 1.5 KiB": the sizes of a row of the collectives. */
void tap_overview_add_size(struct tap_buffer *line, const void *row);
/* Tables of at most `lines` lines; nothing where there is nothing to show. */
void tap_overview_add_operations(struct tap_buffer *line,
				 const struct tap_overview *overview, size_t lines);
void tap_overview_add_ranks(struct tap_buffer *line, const struct tap_overview *overview,
			    size_t lines);

/* "summary":{...}, and "collectives":[...],"ranks":[...] */
void tap_overview_add_summary_json(struct tap_json *json,
				   const struct tap_overview *overview,
				   const struct tap_context *context);
void tap_overview_add_tables_json(struct tap_json *json,
				  const struct tap_overview *overview);

void tap_overview_free(struct tap_overview *overview);

#endif
