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

/* What is known of the trace; for views, which read it. */
const struct tap_context *tap_join_context(const struct tap_join *join);

/* The one structure of (layer, name); layer has layer_length bytes, name has
 * name_length.  Returns NULL when memory is short. */
const struct tap_name *tap_join_intern(struct tap_join *join, const char *layer,
				       size_t layer_length, const char *name,
				       size_t name_length);

/*
 * The same for a name that a program may have made up: other once there are so many that
 * they would fill the memory.
 */
const struct tap_name *tap_join_intern_reported(struct tap_join *join,
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

/* Takes one event, not earlier than the one before.  Returns 0 or -errno. */
int tap_join_event(struct tap_join *join, struct tap_event *event);

/* The events are over: ends what is open and finishes the consumer. */
int tap_join_finish(struct tap_join *join);

/* The losses, for whoever reads the streams to add to. */
struct tap_loss *tap_join_loss(struct tap_join *join);

#endif
