/* SPDX-License-Identifier: MIT */
/*
 * Operations with missing ranks, and those that ranks called as different functions:
 * shown by communicator, number and ranks, and whether the program or the trace lacks the
 * ranks.
 *
 * Hides which of them are kept, namely the latest, where a job hangs, and how they are
 * worded.
 */
#ifndef TAP_JOIN_REPORT_DEFECT_H
#define TAP_JOIN_REPORT_DEFECT_H

#include "join/model/link.h"
#include "join/report/ranks.h"
#include "join/views/view.h"

#define TAP_DEFECTS_MAX 8

struct tap_defect {
	const struct tap_comm *comm;
	const struct tap_name *name; /* of its first rank */
	bool is_message, is_mismatch, is_program;
	enum tap_mismatch mismatch;
	uint64_t op_number;
	int64_t peer;	  /* of a message with one side */
	uint64_t there;	  /* ranks */
	uint64_t missing; /* ranks */
	/* As many ranks as there is room for: in order, then -1. */
	int64_t ranks_present[TAP_RANKS_MAX];
	int64_t ranks_missing[TAP_RANKS_MAX];
	const struct tap_name *called[TAP_RANKS_MAX]; /* by those present */
};

/* All zero is empty. */
struct tap_defects {
	struct tap_defect latest[TAP_DEFECTS_MAX];
	uint64_t count;
	uint64_t program; /* of these, those of the program */
};

void tap_defects_note(struct tap_defects *defects, const struct tap_link *link);

/* Adds a line for each. */
void tap_defects_add_text(const struct tap_defects *defects, struct tap_buffer *line);
/* "program":"incomplete","defects":[...],"other_defects":0, if there are any. */
void tap_defects_add_json(const struct tap_defects *defects, struct tap_json *json);

#endif
