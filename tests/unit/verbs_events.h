/* SPDX-License-Identifier: MIT */
/*
 * A trace of two processes that use verbs, as the tests tell the join of it: its events
 * are made one by one and given with a time.
 */
#ifndef TAP_TESTS_UNIT_VERBS_EVENTS_H
#define TAP_TESTS_UNIT_VERBS_EVENTS_H

#include "join/join.h"

struct events {
	struct tap_join *join;
	struct tap_trace *trace;
	struct tap_event event;
	int64_t now;
	bool is_right; /* the join has refused nothing */
};

/* A join for the consumer, in which so many of everything may wait. */
void events_begin(struct events *events, const struct tap_consumer *consumer, void *data,
		  size_t bound);
void events_end(struct events *events);

/* The next event, then its fields; an array of so many numbers. */
void event_begin(struct events *events, enum tap_verbs_event verbs);
void event_add(struct events *events, const char *name, uint64_t value);
void event_add_all(struct events *events, const char *name, const uint64_t *values,
		   size_t count);
/* It is of process p, so much later than the one before; the join sees it if not lost. */
void event_give(struct events *events, unsigned int p, int64_t step_ns, bool is_lost);

/* The queue pair is connected with one of an equal number, in process `peer`. */
void event_give_connected(struct events *events, unsigned int p, uint64_t qp_id,
			  uint64_t qp_num, unsigned int peer, int64_t step_ns);

#endif
