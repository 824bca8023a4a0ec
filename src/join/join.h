/* SPDX-License-Identifier: MIT */
/*
 * The join: decoded events in order of time go in, processes, libraries and
 * spans come out to a consumer.
 *
 * It hides how entries and exits find each other, how ranks do, what a missing
 * event means for its neighbours, and what memory that takes: it grows with the
 * calls that are open at once and the operations that wait for other ranks (both
 * bounded), and with the number of processes, libraries, call stacks, communicators,
 * pairs of ranks that talk and different names, never with the length of the trace.
 */
#ifndef TAP_JOIN_JOIN_H
#define TAP_JOIN_JOIN_H

#include "join/model/context.h"
#include "join/model/event.h"

struct tap_join;

/* A join that gives to consumer, called with data.  NULL when memory is short. */
struct tap_join *tap_join_create(const struct tap_consumer *consumer, void *data,
				 const struct tap_bounds *bounds);
void tap_join_destroy(struct tap_join *join);

/*
 * The trace of a host.  Two parts of one trace (rotated, or of two users) with
 * the same identity (16 bytes, or NULL for none) share their processes.
 * Returns NULL when memory is short.
 */
struct tap_trace *tap_join_add_trace(struct tap_join *join, const char *host,
				     const unsigned char *identity, int64_t pid);

/* How many traces there are, and the one of this number. */
size_t tap_join_trace_count(const struct tap_join *join);
const struct tap_trace *tap_join_trace(const struct tap_join *join, size_t number);

/* How requests, completions and receivers were matched, by kind. */
const struct tap_matches *tap_join_matches(const struct tap_join *join);

/*
 * What ran on a GPU is told when it was over long ago.  What is not told yet begins at
 * this time or later; INT64_MAX: nothing is awaited.
 */
int64_t tap_join_horizon(const struct tap_join *join);

const struct tap_gpu_times *tap_join_gpu_times(const struct tap_join *join);

/* The communicators: comm.h. */
struct tap_comms;
const struct tap_comms *tap_join_comms(const struct tap_join *join);

/* The one structure of (layer, name); layer has layer_length bytes, name has
 * name_length.  Returns NULL when memory is short. */
const struct tap_name *tap_join_intern(struct tap_join *join, const char *layer,
				       size_t layer_length, const char *name,
				       size_t name_length);

/*
 * The same for a name that a program may have made up: other once there are so many that
 * they would fill the memory.
 */
const struct tap_name *tap_join_intern_told(struct tap_join *join,
					    const struct tap_name *other,
					    const char *name, size_t name_length);

/*
 * Leaves out processes that say they are of a job which is not among these, one in each
 * line.  LTTng records what a user does, whoever started it.  Returns 0 or -ENOMEM.
 */
int tap_join_set_jobs(struct tap_join *join, const char *jobs);

/*
 * What is read are these snapshots of flight recorders, one in each line: how many that
 * one has, a blank, the name.  Returns 0 or -ENOMEM.
 */
int tap_join_set_snapshots(struct tap_join *join, const char *snapshots);
/* The same, NULL: none are. */
const char *tap_join_snapshots(const struct tap_join *join);

/* Takes one event, not earlier than the one before.  Returns 0 or -errno. */
int tap_join_event(struct tap_join *join, struct tap_event *event);

/* The events are over: ends what is open and finishes the consumer. */
int tap_join_finish(struct tap_join *join);

/* How many events came. */
uint64_t tap_join_event_count(const struct tap_join *join);

/* When the first event of the trace was; 0 before it came. */
int64_t tap_join_first_ns(const struct tap_join *join);

/* When the latest event was. */
int64_t tap_join_last_ns(const struct tap_join *join);

/* The losses, for whoever reads the streams to add to. */
struct tap_loss *tap_join_loss(struct tap_join *join);

/* Adds to the losses of a stream and to the sums.  Returns 0 or -ENOMEM. */
int tap_join_discarded(struct tap_join *join, const char *stream, uint64_t events,
		       uint64_t packets);

/* Gives a span back. */
void tap_span_put(struct tap_join *join, struct tap_span *span);

#endif
