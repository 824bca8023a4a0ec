/* SPDX-License-Identifier: MIT */
/* Sets of jobs and sockets, each a tree, which are joined when a job uses a socket. */
#include "join/nccl/net_asker.h"

#include <errno.h>
#include <stdlib.h>

#include "join/model/process.h"
#include "join/nccl/net_caller.h"
#include "join/nccl/thread.h"

/* Most sockets and jobs that are kept: a damaged trace ends. */
#define ASKERS_MAX 65536

struct tap_net_asker {
	struct tap_net_asker *parent; /* NULL: it is the root */
	bool is_doubtful;	      /* of a root: its addresses or numbers came again */
	int64_t begin_ns;	      /* of a job: when its thread began */
	struct tap_net_asker *next;   /* of all */
};

/* Makes the way shorter for those who ask again. */
static struct tap_net_asker *root_of(struct tap_net_asker *asker)
{
	while (asker->parent) {
		if (asker->parent->parent)
			asker->parent = asker->parent->parent;
		asker = asker->parent;
	}
	return asker;
}

static struct tap_net_asker *make(struct tap_net_askers *askers)
{
	struct tap_net_asker *asker = calloc(1, sizeof(*asker));

	if (!asker)
		return NULL;
	asker->next = askers->all;
	askers->all = asker;
	askers->count++;
	return asker;
}

/* Maybe several ranks use what has these addresses, or this number. */
static void doubt(struct tap_net_askers *askers, struct tap_net_asker *asker)
{
	struct tap_net_asker *root = root_of(asker);

	askers->changes += !root->is_doubtful;
	root->is_doubtful = true;
}

static void join(struct tap_net_askers *askers, struct tap_net_asker *one,
		 struct tap_net_asker *other)
{
	struct tap_net_asker *root = root_of(one), *joined = root_of(other);

	if (root == joined)
		return;
	root->is_doubtful |= joined->is_doubtful;
	joined->parent = root;
	askers->changes++;
}

/* A number may be that of an earlier thread.  NULL: it has used no socket yet. */
static struct tap_net_asker *job_of(const struct tap_net_askers *askers,
				    const struct tap_nccl_thread *thread)
{
	struct tap_net_asker *job = tap_table_find(&askers->jobs, thread->process->number,
						   (uint64_t) thread->tid);

	return job && job->begin_ns == thread->begin_ns ? job : NULL;
}

static struct tap_net_asker *make_job(struct tap_net_askers *askers,
				      const struct tap_nccl_thread *thread)
{
	struct tap_net_asker *job = make(askers);

	if (!job || tap_table_set(&askers->jobs, thread->process->number,
				  (uint64_t) thread->tid, job))
		return NULL;
	job->begin_ns = thread->begin_ns;
	return job;
}

/* The thread with this number, if it may be a job; NULL: it is none. */
static const struct tap_nccl_thread *find_job(const struct tap_net_askers *askers,
					      const struct tap_process *process,
					      int64_t tid)
{
	const struct tap_nccl_thread *thread =
		tap_threads_find(askers->threads, process, tid);

	return thread && (thread->role == TAP_THREAD_JOB ||
			  thread->role == TAP_THREAD_UNKNOWN)
		       ? thread
		       : NULL;
}

/* ---- Sockets ---- */

static int take_connected(struct tap_net_askers *askers,
			  const struct tap_process *process,
			  const struct tap_event *event)
{
	const uint64_t number = tap_fields_number(&event->fields, "socket_id");
	const uint64_t trace = (uintptr_t) process->trace;
	const uint64_t key = tap_net_caller_connected_key(event);
	struct tap_net_asker *socket, *same, *known;

	if (!key || tap_fields_number(&event->fields, "error"))
		return 0;
	same = tap_table_find(&askers->by_address, trace, key);
	known = tap_table_find(&askers->sockets, process->number, number);
	if (same)
		doubt(askers, same);
	if (known)
		doubt(askers, known);
	if (!number || known || !find_job(askers, process, event->tid) ||
	    askers->count >= ASKERS_MAX)
		return 0;
	socket = make(askers);
	if (!socket || tap_table_set(&askers->sockets, process->number, number, socket))
		return -ENOMEM;
	return same ? 0 : tap_table_set(&askers->by_address, trace, key, socket);
}

/* What a job connects it uses, too. */
static int take_used(struct tap_net_askers *askers, const struct tap_process *process,
		     const struct tap_event *event)
{
	struct tap_net_asker *socket =
		tap_table_find(&askers->sockets, process->number,
			       tap_fields_number(&event->fields, "socket_id"));
	const struct tap_nccl_thread *thread =
		socket ? find_job(askers, process, event->tid) : NULL;
	struct tap_net_asker *job = thread ? job_of(askers, thread) : NULL;

	if (!job) {
		if (!thread ||
		    !tap_threads_is_of_several(askers->threads, process, event->tid) ||
		    askers->count >= ASKERS_MAX)
			return 0;
		job = make_job(askers, thread);
	}
	if (!job)
		return -ENOMEM;
	join(askers, job, socket);
	return 0;
}

/* Whether the service threads of this trace's host are known to be asked what. */
static bool is_decoded(const struct tap_net_askers *askers,
		       const struct tap_process *process)
{
	return tap_table_find(&askers->decoded, (uintptr_t) process->trace, 0);
}

const struct tap_net_asker *tap_net_asker_of(const struct tap_net_askers *askers,
					     const struct tap_process *process,
					     uint64_t key)
{
	struct tap_net_asker *socket =
		key && !is_decoded(askers, process)
			? tap_table_find(&askers->by_address, (uintptr_t) process->trace,
					 key)
			: NULL;
	const struct tap_net_asker *root = socket ? root_of(socket) : NULL;

	return root && !root->is_doubtful ? root : NULL;
}

/* ---- The layer ---- */

static int take(void *state, struct tap_process *process, struct tap_event *event)
{
	struct tap_net_askers *askers = state;

	if (is_decoded(askers, process))
		return 0;
	switch (event->net) {
	case TAP_NET_SERVICE_REQUEST:
		askers->changes++;
		return tap_table_set(&askers->decoded, (uintptr_t) process->trace, 0,
				     askers);
	case TAP_NET_CONNECT:
		return take_connected(askers, process, event);
	case TAP_NET_SEND:
		return take_used(askers, process, event);
	default:
		return 0;
	}
}

static void begin(void *state)
{
	struct tap_net_askers *askers = state;

	askers->threads = tap_context_state(askers->context, &tap_threads_layer);
}

static void free_all(void *state)
{
	struct tap_net_askers *askers = state;
	struct tap_net_asker *asker;

	while ((asker = askers->all)) {
		askers->all = asker->next;
		free(asker);
	}
	tap_table_free(&askers->sockets);
	tap_table_free(&askers->by_address);
	tap_table_free(&askers->jobs);
	tap_table_free(&askers->decoded);
}

const struct tap_layer tap_net_askers_layer = {
	.name = "askers",
	.size = sizeof(struct tap_net_askers),
	.events = TAP_TAKES(TAP_EVENT_NET),
	.begin = begin,
	.take = take,
	.free = free_all,
};
