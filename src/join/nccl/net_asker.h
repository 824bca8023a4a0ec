/* SPDX-License-Identifier: MIT */
/*
 * Which sockets to service threads one rank asks over, without what is asked.
 *
 * Where a call has something to do for several communicators, it has a thread for each of
 * these jobs (NCCL 2.28.9, group.cc: asyncJobLaunch).  Each is for one communicator of
 * one rank, and uses that one's sockets: those that an earlier job connected, and those
 * that it connects itself.  So all sockets that a job uses are of one rank, and jobs that
 * use a socket are of one, too.
 *
 * Hides which threads are such jobs.
 */
#ifndef TAP_JOIN_NCCL_NET_ASKER_H
#define TAP_JOIN_NCCL_NET_ASKER_H

#include "join/base/table.h"
#include "join/model/layer.h"

/* One rank, or a part of what is one: jobs and sockets. */
struct tap_net_asker;

struct tap_net_askers {
	struct tap_context *context; /* first: layer.h */
	const struct tap_threads *threads;
	struct tap_table sockets;    /* connected by jobs, by (process, socket) */
	struct tap_table by_address; /* the same, by (trace, addresses: net_caller.h) */
	struct tap_table jobs;	     /* by (process, thread) */
	/* Traces that have what is asked: it says which rank asks. */
	struct tap_table decoded;
	struct tap_net_asker *all;
	size_t count;	  /* of all */
	uint64_t changes; /* increases when more is known */
};

extern const struct tap_layer tap_net_askers_layer;

/*
 * Whose socket it is that a process of this trace accepted; equal of two sockets that are
 * known to be one rank's.  NULL: not known (yet).
 */
const struct tap_net_asker *tap_net_asker_of(const struct tap_net_askers *askers,
					     const struct tap_process *process,
					     uint64_t key);

#endif
