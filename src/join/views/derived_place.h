/* SPDX-License-Identifier: MIT */
/*
 * How processes, rows and lanes are called in the derived trace, and how busy a row is.
 *
 * Hides when a name is chosen: with the first event that has it, and for good, since a
 * viewer has written it by then.  Names sort as a person reads: calls, GPUs, connections,
 * threads of NCCL, queue pairs.  They are ASCII: Trace Compass reads a byte as a
 * character.
 */
#ifndef TAP_JOIN_VIEWS_DERIVED_PLACE_H
#define TAP_JOIN_VIEWS_DERIVED_PLACE_H

#include "common/vec.h"
#include "join/base/buffer.h"
#include "join/base/table.h"
#include "join/model/comm.h"
#include "join/model/span.h"

struct tap_shown_process {
	char *who;	   /* NULL: not named yet */
	int64_t nranks;	   /* of its largest communicator seen so far */
	int64_t rank;	   /* in it; -1: several */
	int64_t bytes;	   /* of operations whose calls are open */
	int64_t in_flight; /* of its work requests */
};

/* All zero is empty. */
struct tap_places {
	TAP_VEC(struct tap_shown_process) processes; /* by number */
	struct tap_table by_pid;    /* whether a name is in use, by pid and host */
	struct tap_table peers;	    /* processes, by (process, queue) */
	struct tap_table by_queue;  /* rows, by (process, queue) */
	struct tap_table by_text;   /* rows, by (process, hash of the text) */
	struct tap_shown_row *rows; /* all */
};

/* Each returns NULL when memory is short. */
struct tap_shown_process *tap_places_process(struct tap_places *places,
					     const struct tap_process *process);
struct tap_shown_row *tap_places_row(struct tap_places *places,
				     const struct tap_span *span);

/* Returns 0 or -ENOMEM. */
int tap_places_note_member(struct tap_places *places, const struct tap_member *member);
/* Notes who is at the other end of a queue or connection.  Returns 0 or -ENOMEM. */
int tap_places_note_peer(struct tap_places *places, const struct tap_process *process,
			 const struct tap_work *work, const struct tap_process *peer);

/* As the launcher says, or in the largest communicator so far; -1 unknown. */
int64_t tap_places_rank(struct tap_places *places, const struct tap_process *process);
/* "rank 3 (pid 4711)"; NULL when memory is short. */
const char *tap_places_who(struct tap_places *places, const struct tap_process *process);

/* "calls 11", "gpu 0", "net to rank 1", "qp from rank 1" */
const char *tap_shown_row_text(const struct tap_shown_row *row);
/* One more span is open in the row, or one less. */
void tap_shown_row_count(struct tap_shown_row *row, int change);
/* 0: nothing is open; else 101 and more, the higher, the more is. */
unsigned int tap_shown_row_shade(const struct tap_shown_row *row);
/* "calls 0", "launches 0", "stream 7 0", "3 send 0": within its row. */
void tap_places_add_lane(struct tap_buffer *lane, const struct tap_span *span);

void tap_places_free(struct tap_places *places);

#endif
