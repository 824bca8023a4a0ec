/* SPDX-License-Identifier: MIT */
/*
 * The counters of a Perfetto trace: bytes in flight and messages per second of each
 * process, ranks that wait in each communicator, and what the counters of devices and
 * threads said.
 *
 * Hides that a message is known when it is over, while a counter has one value for each
 * moment: changes wait until no earlier one is expected, a bounded number of them.
 */
#ifndef TAP_JOIN_VIEWS_PERFETTO_COUNT_H
#define TAP_JOIN_VIEWS_PERFETTO_COUNT_H

#include "join/base/heap.h"
#include "join/views/perfetto_track.h"

struct tap_counter;
struct tap_count_process;
struct tap_count_comm;

/* All zero but for packets and tracks is empty. */
struct tap_counts {
	struct tap_packets *packets; /* set by the owner */
	struct tap_tracks *tracks;

	struct tap_heap changes;
	uint64_t change_count;
	TAP_VEC(struct tap_count_process *) processes; /* by number */
	TAP_VEC(struct tap_count_comm *) comms;	       /* by number */
	struct tap_table samples;		       /* by (process, hash of the name) */
};

/* Each returns 0 or -errno. */
int tap_counts_begun(struct tap_counts *counts, const struct tap_span *span);
int tap_counts_ended(struct tap_counts *counts, const struct tap_span *span);
int tap_counts_sample(struct tap_counts *counts, const struct tap_sampled *sample);
/* The trace is over. */
int tap_counts_finish(struct tap_counts *counts);

void tap_counts_free(struct tap_counts *counts);

#endif
