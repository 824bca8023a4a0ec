/* SPDX-License-Identifier: MIT */
/*
 * The join takes decoded events in order of time, and gives processes, libraries and
 * spans to a consumer.
 *
 * Hides how entries are matched with exits, and calls of one rank with those of others,
 * what a missing event means for its neighbours, and how much memory that takes: it grows
 * with the open calls and the operations that wait for other ranks (both bounded), and
 * with the number of processes, libraries, call stacks, communicators, pairs of ranks
 * that exchange messages and different names, never with the length of the trace.
 */
#ifndef TAP_JOIN_JOIN_H
#define TAP_JOIN_JOIN_H

#include "join/model/context.h"
#include "join/model/event.h"

struct tap_join;

/*
 * Creates a join that gives to consumer, whose functions it calls with data.  Returns
 * NULL when memory is short.
 */
struct tap_join *tap_join_create(const struct tap_consumer *consumer, void *data,
				 const struct tap_bounds *bounds);
void tap_join_destroy(struct tap_join *join);

/*
 * Adds the trace of a host.  Two parts of one trace (rotated, or of two users) with the
 * same identity (16 bytes, or NULL for none) share their processes.  Returns NULL when
 * memory is short.
 */
struct tap_trace *tap_join_add_trace(struct tap_join *join, const char *host,
				     const unsigned char *identity, int64_t pid);

/*
 * Sets whose clock a trace has: that of its host, as this kernel booted (16 bytes, NULL
 * unknown).  Returns 0 or -ENOMEM.
 */
int tap_join_set_clock(struct tap_join *join, struct tap_trace *trace,
		       const unsigned char *boot);

/* The clocks of the hosts, for the one who converts times. */
struct tap_clocks *tap_join_clocks(struct tap_join *join);

/* The context, which views read. */
const struct tap_context *tap_join_context(const struct tap_join *join);

/* The one structure of (layer, name); layer has layer_length bytes, name has
 * name_length.  Returns NULL when memory is short. */
const struct tap_name *tap_join_intern(struct tap_join *join, const char *layer,
				       size_t layer_length, const char *name,
				       size_t name_length);

/*
 * The same for a name that a program may have invented: returns `other` once there are so
 * many names that they could fill the memory.
 */
const struct tap_name *tap_join_intern_reported(struct tap_join *join,
						const struct tap_name *other,
						const char *name, size_t name_length);

/*
 * Ignores processes that name a job which is not in this list, one job in each line:
 * LTTng records all processes of a user, whoever started them.  Returns 0 or -ENOMEM.
 */
int tap_join_set_jobs(struct tap_join *join, const char *jobs);

/*
 * Sets which snapshots of flight recorders are read, one in each line: how many snapshots
 * the recorder has, a blank, the name.  Returns 0 or -ENOMEM.
 */
int tap_join_set_snapshots(struct tap_join *join, const char *snapshots);

/* Takes one event, which is not earlier than the one before.  Returns 0 or -errno. */
int tap_join_event(struct tap_join *join, struct tap_event *event);

/*
 * Ends the reading: ends all open calls and finishes the consumer.  Returns 0 or -errno.
 */
int tap_join_finish(struct tap_join *join);

/* The losses, to which the readers of the streams add. */
struct tap_loss *tap_join_loss(struct tap_join *join);

#endif
