/* SPDX-License-Identifier: MIT */
/*
 * The call of NCCL that a span works for: its launch, its kernel, a message, a work
 * request.
 *
 * Hides how a span gets the name of that call, so that one operation has one label, and
 * so one colour, on all rows of all ranks.
 */
#ifndef TAP_JOIN_VIEWS_DERIVED_SUBJECT_H
#define TAP_JOIN_VIEWS_DERIVED_SUBJECT_H

#include "join/base/buffer.h"
#include "join/model/comm.h"
#include "join/model/span.h"
#include "join/views/known.h"

/* All zero: unknown. */
struct tap_subject {
	const struct tap_name *name;	 /* NULL: several calls, or none */
	struct tap_operation operation;	 /* where there is a name */
	const struct tap_member *member; /* NULL unknown */
	const struct tap_process *peer;	 /* the process at the other end, NULL unknown */
	int64_t peer_rank;		 /* of the other end, where has_peer_rank */
	bool has_peer_rank;
};

/* The latest calls with a number, by process and call_id.  All zero is empty. */
struct tap_subjects {
	struct tap_table by_id;
	struct tap_known_id *ring; /* in the order in which they came */
	size_t next;
};

/* What a call is to itself and to what works for it. */
struct tap_subject tap_subject_of_call(const struct tap_span *span);
/* Returns 0 or -ENOMEM. */
int tap_subjects_add(struct tap_subjects *subjects, const struct tap_span *span);
/* NULL: no such call, or it was long ago. */
const struct tap_subject *tap_subjects_find(const struct tap_subjects *subjects,
					    const struct tap_process *process,
					    uint64_t call_id);
void tap_subjects_free(struct tap_subjects *subjects);

/* "AllReduce #3 4 MiB", or what the span itself is called. */
void tap_subject_add_label(struct tap_buffer *label, const struct tap_subject *subject,
			   const struct tap_span *span);

#endif
