/* SPDX-License-Identifier: MIT */
/*
 * The report's part about communicators: over all processes, who is in them, what
 * was done in them, and what did not come together.  Hides that two communicators
 * may turn out to be one after their calls were counted.
 */
#ifndef TAP_JOIN_REPORT_REPORT_COMM_H
#define TAP_JOIN_REPORT_REPORT_COMM_H

#include "join/model/link.h"
#include "join/report/ranks.h"
#include "join/report/rows.h"
#include "join/report/times.h"

/* Operations of a communicator that are named since they lack ranks: the latest,
 * where a job hangs.  */
#define TAP_INCOMPLETE_MAX 8

/* Of one function in one communicator: of one rank, or of all. */
struct tap_comm_sum {
	const struct tap_comm *comm;	 /* set at the end */
	const struct tap_member *member; /* NULL: of all ranks */
	const struct tap_name *operation;
	uint64_t calls;
	uint64_t failures;
	uint64_t bytes;	  /* as the rank passed them, where the call did not fail */
	uint64_t unsized; /* operations of which the bytes are not known */
	struct tap_times times;
	bool is_operation;
	bool is_moved; /* its communicator turned out to be another one */
	uint64_t linked;
	uint64_t incomplete;
};

/* An operation that missing ranks. */
struct tap_incomplete_operation {
	uint64_t op_number;
	const struct tap_name *operation; /* NULL: different functions */
	uint64_t ranks_present;
	uint64_t ranks_missing;
	int64_t ranks[TAP_RANKS_MAX]; /* those known, then -1 */
};

/* Those of one communicator. */
struct tap_missing_ranks {
	struct tap_incomplete_operation operations[TAP_INCOMPLETE_MAX];
	uint64_t count; /* the latest are kept */
};

/* All zero has counted nothing. */
struct tap_report_comms {
	/* Of one rank and function, and of all ranks; by communicator at the end, all
	 * ranks by time, then each rank. */
	struct tap_rows sums;
	struct tap_rows missing_ranks; /* by communicator */
};

/* Both return 0 or -ENOMEM. */
int tap_report_comms_span(struct tap_report_comms *report, const struct tap_span *span);
int tap_report_comms_link(struct tap_report_comms *report, const struct tap_link *link);

/* At the end, once: adds up.  Returns 0 or -ENOMEM. */
int tap_report_comms_finish(struct tap_report_comms *report,
			    const struct tap_comms *comms);

/* The first sum of a communicator; they stand together. */
size_t tap_report_comms_first(const struct tap_report_comms *report,
			      const struct tap_comm *comm);

/* Of report_comm_out.c: a section for each communicator. */
void tap_report_comms_text(const struct tap_report_comms *report,
			   const struct tap_comms *comms, struct tap_buffer *line);
/* And "communicators":[...] */
void tap_report_comms_json(const struct tap_report_comms *report,
			   const struct tap_comms *comms, struct tap_json *json);

void tap_report_comms_free(struct tap_report_comms *report);

#endif
