/* SPDX-License-Identifier: MIT */
/*
 * The report's part about communicators: over all processes, their members, the
 * operations in them, and those that lack ranks or differ.
 *
 * Hides that two communicators may turn out to be one after their calls were counted.
 */
#ifndef TAP_JOIN_REPORT_REPORT_COMM_H
#define TAP_JOIN_REPORT_REPORT_COMM_H

#include "join/model/link.h"
#include "join/report/ranks.h"
#include "join/report/rows.h"
#include "join/report/times.h"

/*
 * The most operations of a communicator that are listed because they lack ranks: the
 * latest, where a job hangs.
 */
#define TAP_INCOMPLETE_MAX 8

/* The sum of one function in one communicator: of one rank, or of all. */
struct tap_comm_sum {
	const struct tap_comm *comm;	 /* set at the end */
	const struct tap_member *member; /* NULL: of all ranks */
	const struct tap_name *operation;
	uint64_t calls;
	uint64_t failures;
	uint64_t bytes;	  /* as the rank passed them, of calls that did not fail */
	uint64_t unsized; /* operations with an unknown number of bytes */
	struct tap_times times;
	bool is_operation;
	bool is_moved; /* the sum was added to that of the united communicator */
	uint64_t linked;
	uint64_t incomplete;
};

/* An operation that lacks ranks. */
struct tap_incomplete_operation {
	uint64_t op_number;
	const struct tap_name *operation; /* NULL: different functions */
	const struct tap_name *called; /* by the first rank that is there */
	int64_t rank, peer;	       /* of that call; -1 unknown or none */
	uint64_t ranks_present;
	uint64_t ranks_missing;
	int64_t ranks[TAP_RANKS_MAX]; /* the known ones, then -1 */
};

/* The operations of one communicator that lack ranks. */
struct tap_missing_ranks {
	struct tap_incomplete_operation operations[TAP_INCOMPLETE_MAX];
	uint64_t count; /* the latest are kept */
};

/* All zero is empty. */
struct tap_report_comms {
	/*
	 * Sums of one rank and function, and of all ranks; at the end in order of
	 * communicators, all ranks by time, then each rank.
	 */
	struct tap_rows sums;
	struct tap_rows missing_ranks; /* by communicator */
};

/* Both return 0 or -ENOMEM. */
int tap_report_comms_span(struct tap_report_comms *report, const struct tap_span *span);
int tap_report_comms_link(struct tap_report_comms *report, const struct tap_link *link);

/* Adds up the sums, once, at the end.  Returns 0 or -ENOMEM. */
int tap_report_comms_finish(struct tap_report_comms *report,
			    const struct tap_comms *comms);

/* The index of the first sum of a communicator; its sums are adjacent. */
size_t tap_report_comms_first(const struct tap_report_comms *report,
			      const struct tap_comm *comm);

/* In report_comm_out.c: adds a section for each communicator. */
void tap_report_comms_text(const struct tap_report_comms *report,
			   const struct tap_comms *comms, struct tap_buffer *line);
/* Adds "communicators":[...] */
void tap_report_comms_json(const struct tap_report_comms *report,
			   const struct tap_comms *comms, struct tap_json *json);

void tap_report_comms_free(struct tap_report_comms *report);

#endif
