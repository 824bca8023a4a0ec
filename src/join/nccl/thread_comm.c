/* SPDX-License-Identifier: MIT */
/*
 * What NCCL does in every release from 2.18 to 2.30: the calls of a group add jobs to a
 * list, and its end creates a thread for each of several, in that order (group.cc,
 * asyncJobLaunch()); a job that initialises a communicator creates the threads of its
 * proxy.  Whoever receives over a network asks the service thread of its own rank for
 * that, and says which rank it is (net.cc, recvSetup()); senders may ask another one.
 */
#include "join/nccl/thread_comm.h"

#include "join/model/process.h"
#include "join/nccl/net_channel.h"

#include <errno.h>
#include <stdlib.h>

#include "common/vec.h"

/* Most calls that make communicators, and communicators of a call: a damaged trace ends.
 */
#define CALLS_MAX 65536
#define MADE_MAX 1024

/* As the tracer writes them: tracepoints/events.h. */
#define PHASE_INITIALISING 0
#define PHASE_READY 1

/* The communicators that a call makes, in the order in which it was asked for them. */
struct made {
	TAP_VEC(uint64_t) comm_ids;
};

/* ---- Calls ---- */

/*
 * A group reports its communicators in any order, and each repeatedly; their numbers have
 * the order of the calls.
 */
static int note_made(struct made *made, uint64_t comm_id)
{
	const size_t i = tap_vec_search(&made->comm_ids, 0, other, *other >= comm_id);
	size_t at = made->comm_ids.count;

	if ((i < at && made->comm_ids.items[i] == comm_id) || at >= MADE_MAX)
		return 0;
	if (tap_vec_add(&made->comm_ids, comm_id))
		return -ENOMEM;
	for (; at > i; at--)
		made->comm_ids.items[at] = made->comm_ids.items[at - 1];
	made->comm_ids.items[i] = comm_id;
	return 0;
}

static struct made *add_call(struct tap_thread_comms *comms,
			     const struct tap_process *process, uint64_t call_id)
{
	struct made *made = calloc(1, sizeof(*made));

	if (made && !tap_table_set(&comms->made, process->number, call_id, made))
		return made;
	free(made);
	return NULL;
}

int tap_thread_comms_take(struct tap_thread_comms *comms,
			  const struct tap_process *process,
			  const struct tap_event *event)
{
	const uint64_t call_id = tap_fields_number(&event->fields, "call_id");
	const uint64_t comm_id = tap_fields_number(&event->fields, "comm_id");
	int64_t phase = -1;
	struct made *made;

	tap_fields_get_signed(&event->fields, "phase", &phase);
	if (!call_id || !comm_id || (phase != PHASE_INITIALISING && phase != PHASE_READY))
		return 0;
	made = tap_table_find(&comms->made, process->number, call_id);
	if (!made && comms->made.count >= CALLS_MAX)
		return 0;
	if (!made)
		made = add_call(comms, process, call_id);
	return made ? note_made(made, comm_id) : -ENOMEM;
}

static const struct made *made_by(const struct tap_thread_comms *comms,
				  const struct tap_thread_entry *thread)
{
	return thread->outer_call_id
		       ? tap_table_find(&comms->made, thread->about.process->number,
					thread->outer_call_id)
		       : NULL;
}

/* Before a call returns it reports all that it makes, or goes on to make. */
static bool is_all_made(const struct tap_thread_comms *comms,
			const struct tap_thread_entry *thread)
{
	return !tap_table_find(&comms->context->pairs.open, thread->about.process->number,
			       thread->outer_call_id);
}

uint64_t tap_thread_comms_count(const struct tap_thread_comms *comms,
				const struct tap_thread_entry *thread)
{
	const struct made *made = made_by(comms, thread);

	return made ? made->comm_ids.count : 0;
}

static const struct tap_member *member_of(const struct tap_thread_comms *comms,
					  const struct tap_thread_entry *thread,
					  uint64_t comm_id)
{
	return tap_table_find(&comms->context->comms.by_id, thread->about.process->number,
			      comm_id);
}

/* ---- Service threads ---- */

static bool is_service_of(const struct tap_thread_entry *other,
			  const struct tap_thread_entry *thread)
{
	return other->about.role == TAP_THREAD_SERVICE &&
	       other->about.process == thread->about.process &&
	       other->outer_call_id == thread->outer_call_id;
}

/* The service thread with this creator; NULL also where there are several. */
static const struct tap_thread_entry *service_by(const struct tap_thread_comms *comms,
						 const struct tap_thread_entry *thread,
						 int64_t creator, uint64_t created)
{
	const struct tap_thread_entry *other, *found = NULL;

	for (other = comms->roles->live.first; other; other = other->live.after) {
		if (!is_service_of(other, thread) || other->about.creator != creator ||
		    other->creator_created != created)
			continue;
		if (found)
			return NULL;
		found = other;
	}
	return found;
}

static const struct tap_thread_entry *creator_of(const struct tap_thread_comms *comms,
						 const struct tap_thread_entry *thread)
{
	return tap_thread_role_creator(comms->roles, thread);
}

/* The service thread of the proxy that a thread is part of, or made; NULL: unknown. */
static const struct tap_thread_entry *service_of(const struct tap_thread_comms *comms,
						 const struct tap_thread_entry *thread)
{
	const struct tap_nccl_thread *about = &thread->about;

	if (about->role == TAP_THREAD_UDS)
		return service_by(comms, thread, about->creator, thread->creator_created);
	if (about->role == TAP_THREAD_JOB)
		return service_by(comms, thread, about->tid, thread->created);
	if (about->role == TAP_THREAD_SOCKET)
		thread = creator_of(comms, thread);
	if (thread && thread->about.role == TAP_THREAD_PROGRESS)
		thread = creator_of(comms, thread);
	return thread && thread->about.role == TAP_THREAD_SERVICE ? thread : NULL;
}

/* ---- Which one of several ---- */

/* The rank for which a service thread sets up receivers; -1: none. */
static int64_t rank_of(const struct tap_thread_comms *comms,
		       const struct tap_thread_entry *service)
{
	return tap_net_channels_rank(tap_context_state(comms->context,
						       &tap_net_channels_layer),
				     service->about.process, service->about.tid,
				     service->about.begin_ns);
}

/* The only communicator with this rank; 0 also where the rank of one is not known. */
static uint64_t find_by_rank(const struct tap_thread_comms *comms,
			     const struct tap_thread_entry *service,
			     const struct made *made)
{
	const int64_t rank = rank_of(comms, service);
	uint64_t found = 0;
	size_t i;

	for (i = 0; rank >= 0 && i < made->comm_ids.count; i++) {
		const uint64_t comm_id = made->comm_ids.items[i];
		const struct tap_member *member = member_of(comms, service, comm_id);

		if (!member || member->rank < 0 || (member->rank == rank && found))
			return 0;
		if (member->rank == rank)
			found = comm_id;
	}
	return found;
}

/*
 * How many of the threads that initialise were created before the one that created the
 * service thread.  Returns false if these are not one for each communicator, all created
 * by one thread.
 */
static bool find_place(const struct tap_thread_comms *comms,
		       const struct tap_thread_entry *service, const struct made *made,
		       size_t *ret_place)
{
	const struct tap_thread_entry *other;
	size_t count = 0, place = 0;

	for (other = comms->roles->live.first; other; other = other->live.after) {
		if (!is_service_of(other, service))
			continue;
		if (!other->creator_created ||
		    other->creators_creator != service->creators_creator ||
		    (other->creator_created == service->creator_created &&
		     other != service))
			return false;
		count++;
		place += other->creator_created < service->creator_created;
	}
	*ret_place = place;
	return count == made->comm_ids.count;
}

/* Whether the service thread does not receive for another rank than the communicator's.
 */
static bool fits(const struct tap_thread_comms *comms,
		 const struct tap_thread_entry *service, uint64_t comm_id)
{
	const struct tap_member *member = member_of(comms, service, comm_id);
	const int64_t rank = rank_of(comms, service);

	return rank < 0 || !member || member->rank < 0 || member->rank == rank;
}

/* Whether the order contradicts no service thread of the call. */
static bool is_in_order(const struct tap_thread_comms *comms,
			const struct tap_thread_entry *service, const struct made *made)
{
	const struct tap_thread_entry *other;
	size_t place;

	for (other = comms->roles->live.first; other; other = other->live.after)
		if (is_service_of(other, service) &&
		    (!find_place(comms, other, made, &place) ||
		     !fits(comms, other, made->comm_ids.items[place])))
			return false;
	return true;
}

static struct tap_thread_comm found(const struct tap_thread_comms *comms,
				    const struct tap_thread_entry *thread,
				    uint64_t comm_id, enum tap_known known)
{
	return (struct tap_thread_comm){.comm_id = comm_id,
					.member = member_of(comms, thread, comm_id),
					.known = known};
}

/* What a damaged trace has of a call that makes several may be of another one. */
static struct tap_thread_comm take_only(const struct tap_thread_comms *comms,
					const struct tap_thread_entry *thread,
					const struct tap_thread_entry *service,
					uint64_t comm_id)
{
	return service && !fits(comms, service, comm_id)
		       ? (struct tap_thread_comm){0}
		       : found(comms, thread, comm_id, TAP_KNOWN_EXACT);
}

/* Of threads with other roles the whole process is served, or no communicator yet. */
static bool has_comm(enum tap_thread_role role)
{
	switch (role) {
	case TAP_THREAD_SERVICE:
	case TAP_THREAD_UDS:
	case TAP_THREAD_PROGRESS:
	case TAP_THREAD_SOCKET:
	case TAP_THREAD_JOB:
	case TAP_THREAD_GIN:
		return true;
	default:
		return false;
	}
}

struct tap_thread_comm tap_thread_comms_of(const struct tap_thread_comms *comms,
					   const struct tap_thread_entry *thread)
{
	const struct made *made = made_by(comms, thread);
	const struct tap_thread_entry *service;
	uint64_t comm_id;
	size_t place;

	if (thread->about.comm_id)
		return found(comms, thread, thread->about.comm_id,
			     thread->about.comm_known);
	if (!made || !has_comm(thread->about.role) || !is_all_made(comms, thread))
		return (struct tap_thread_comm){0};
	service = service_of(comms, thread);
	if (made->comm_ids.count == 1)
		return take_only(comms, thread, service, made->comm_ids.items[0]);
	comm_id = service ? find_by_rank(comms, service, made) : 0;
	if (comm_id)
		return found(comms, thread, comm_id, TAP_KNOWN_DECODED);
	if (service && find_place(comms, service, made, &place) &&
	    is_in_order(comms, service, made))
		return found(comms, thread, made->comm_ids.items[place],
			     TAP_KNOWN_INFERRED);
	return (struct tap_thread_comm){0};
}

void tap_thread_comms_free(struct tap_thread_comms *comms)
{
	size_t i;

	for (i = 0; i < comms->made.size; i++) {
		struct made *made = comms->made.slots[i].value;

		if (made)
			tap_vec_free(&made->comm_ids);
		free(made);
	}
	tap_table_free(&comms->made);
}
