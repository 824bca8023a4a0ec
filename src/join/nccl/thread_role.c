/* SPDX-License-Identifier: MIT */
/*
 * What NCCL does in every release from 2.18 to 2.32, with pthread_create() or
 * std::thread: the thread that initialises a communicator creates the proxy's service
 * thread and, from 2.20 on, a thread for descriptors after it, with the same argument;
 * the service thread creates the progress thread, with that argument, too; a progress
 * thread creates those that help it with sockets.
 */
#include "join/nccl/thread_role.h"

#include "join/model/process.h"

#include <errno.h>
#include <string.h>

/* Most routines: a damaged trace cannot fill the memory. */
#define ROUTINES_MAX 4096

struct tap_thread_entry *tap_thread_role_find(const struct tap_thread_roles *roles,
					      const struct tap_process *process,
					      int64_t tid, uint64_t created)
{
	struct tap_thread_entry *thread = roles->live.last;

	while (thread && (thread->about.process != process || thread->about.tid != tid ||
			  thread->created > created))
		thread = thread->live.before;
	return thread;
}

struct tap_thread_entry *tap_thread_role_creator(const struct tap_thread_roles *roles,
						 const struct tap_thread_entry *thread)
{
	return thread->about.creator_is_nccls
		       ? tap_thread_role_find(roles, thread->about.process,
					      thread->about.creator, thread->created)
		       : NULL;
}

/* ---- Routines ---- */

/* The key of an object that several processes have loaded, or of one of this process. */
static uint64_t object_of(const struct tap_nccl_thread *thread)
{
	const struct tap_library *library =
		tap_process_library(thread->process, thread->routine_library);
	const char *name = !library		? ""
			   : *library->build_id ? library->build_id
						: library->path;

	return *name ? tap_table_hash(name)
		     : (uint64_t) thread->process->number << 32 | thread->routine_library;
}

static enum tap_thread_role role_of_routine(const struct tap_thread_roles *roles,
					    const struct tap_nccl_thread *thread)
{
	const uintptr_t found =
		thread->routine_library
			? (uintptr_t) tap_table_find(&roles->by_routine,
						     object_of(thread),
						     thread->routine_offset)
			: 0;

	return found ? (enum tap_thread_role)(found - 1) : TAP_THREAD_UNKNOWN;
}

static bool is_exact(const struct tap_nccl_thread *thread)
{
	return thread->how && tap_thread_known(thread->how) == TAP_KNOWN_EXACT;
}

/* The first role that a routine is known by stays. */
static int keep_routine(struct tap_thread_roles *roles,
			const struct tap_nccl_thread *thread)
{
	if (!thread->routine_library || role_of_routine(roles, thread) ||
	    roles->by_routine.count >= ROUTINES_MAX)
		return 0;
	return tap_table_set(&roles->by_routine, object_of(thread),
			     thread->routine_offset,
			     (void *) ((uintptr_t) thread->role + 1));
}

/* ---- Roles ---- */

/* What is known for certain stays.  Returns whether this is, and was not before. */
static bool change(struct tap_nccl_thread *thread, enum tap_thread_role role,
		   enum tap_thread_how how)
{
	if (!role || is_exact(thread) ||
	    (thread->role && tap_thread_known(how) != TAP_KNOWN_EXACT))
		return false;
	thread->role = role;
	thread->how = how;
	return is_exact(thread);
}

/*
 * Sets a role, and what follows from one that is certain: that of all threads with the
 * same routine and, since only a thread that initialises a communicator makes the two of
 * its proxy, that of their creator.
 */
static int set_role(struct tap_thread_roles *roles, struct tap_thread_entry *thread,
		    enum tap_thread_role role, enum tap_thread_how how)
{
	struct tap_thread_entry *creator, *other;
	int ret;

	if (!change(&thread->about, role, how))
		return 0;
	ret = keep_routine(roles, &thread->about);
	creator = role == TAP_THREAD_SERVICE || role == TAP_THREAD_UDS
			  ? tap_thread_role_creator(roles, thread)
			  : NULL;
	if (!ret && creator)
		ret = set_role(roles, creator, TAP_THREAD_JOB, TAP_THREAD_HOW_DOES);
	for (other = roles->live.first; other && !ret; other = other->live.after)
		if (other->about.routine_library && !is_exact(&other->about) &&
		    role_of_routine(roles, &other->about) == role)
			ret = set_role(roles, other, role, TAP_THREAD_HOW_ROUTINE);
	return ret;
}

static bool is_called(const struct tap_nccl_thread *thread, const char *name)
{
	return thread->call && !strcmp(thread->call->name, name);
}

static bool have_one_argument(const struct tap_thread_entry *a,
			      const struct tap_thread_entry *b)
{
	return a->nr_arguments && b->nr_arguments && a->about.argument &&
	       a->about.argument == b->about.argument &&
	       a->about.process == b->about.process;
}

/* The thread that the same creator made with the same argument for another routine. */
static struct tap_thread_entry *find_twin(const struct tap_thread_roles *roles,
					  const struct tap_thread_entry *thread)
{
	struct tap_thread_entry *other;

	for (other = roles->live.last; other; other = other->live.before)
		if (other != thread && have_one_argument(other, thread) &&
		    other->about.creator == thread->about.creator &&
		    other->outer_call_id == thread->outer_call_id &&
		    other->about.routine_offset != thread->about.routine_offset)
			break;
	return other;
}

/* The two may have begun in either order, but NCCL creates the service thread first. */
static int set_pair(struct tap_thread_roles *roles, struct tap_thread_entry *thread,
		    struct tap_thread_entry *twin)
{
	struct tap_thread_entry *first = thread->created < twin->created ? thread : twin;
	struct tap_thread_entry *second = first == thread ? twin : thread;
	int ret;

	ret = set_role(roles, first, TAP_THREAD_SERVICE, TAP_THREAD_HOW_ARGUMENT);
	return ret ? ret
		   : set_role(roles, second, TAP_THREAD_UDS, TAP_THREAD_HOW_ARGUMENT);
}

static int take_creator(struct tap_thread_roles *roles, struct tap_thread_entry *thread,
			struct tap_thread_entry *creator)
{
	int ret;

	if (have_one_argument(thread, creator)) {
		ret = set_role(roles, thread, TAP_THREAD_PROGRESS,
			       TAP_THREAD_HOW_ARGUMENT);
		return ret ? ret
			   : set_role(roles, creator, TAP_THREAD_SERVICE,
				      TAP_THREAD_HOW_ARGUMENT);
	}
	if (creator->about.role == TAP_THREAD_PROGRESS)
		return set_role(roles, thread, TAP_THREAD_SOCKET, TAP_THREAD_HOW_CREATOR);
	return 0;
}

static bool asks_for_work(const struct tap_nccl_thread *thread)
{
	return thread->call && !strcmp(thread->call->layer, "nccl") &&
	       (thread->call->kind == TAP_NAME_GROUP_END ||
		(thread->call->row && thread->call->row->field[TAP_ROLE_COUNT]));
}

/* What a thread shows of itself when it begins. */
static int set_own(struct tap_thread_roles *roles, struct tap_thread_entry *thread)
{
	struct tap_nccl_thread *about = &thread->about;
	struct tap_thread_entry *twin = find_twin(roles, thread);

	if (twin)
		return set_pair(roles, thread, twin);
	if (is_called(about, "ncclGetUniqueId") ||
	    is_called(about, "ncclCommGetUniqueId"))
		return set_role(roles, thread, TAP_THREAD_BOOTSTRAP, TAP_THREAD_HOW_CALL);
	if (is_called(about, "ncclDevCommCreate"))
		return set_role(roles, thread, TAP_THREAD_GIN, TAP_THREAD_HOW_WORK);
	if (thread->nr_arguments && !about->argument)
		return set_role(roles, thread, TAP_THREAD_RAS,
				TAP_THREAD_HOW_NO_ARGUMENT);
	if (asks_for_work(about))
		return set_role(roles, thread, TAP_THREAD_JOB, TAP_THREAD_HOW_WORK);
	return 0;
}

int tap_thread_role_begin(struct tap_thread_roles *roles, struct tap_thread_entry *thread,
			  struct tap_thread_entry *creator)
{
	int ret = set_role(roles, thread, role_of_routine(roles, &thread->about),
			   TAP_THREAD_HOW_ROUTINE);

	if (!ret && creator)
		ret = take_creator(roles, thread, creator);
	return ret || thread->about.role ? ret : set_own(roles, thread);
}

int tap_thread_role_does(struct tap_thread_roles *roles, struct tap_thread_entry *thread,
			 enum tap_thread_role role)
{
	return set_role(roles, thread, role, TAP_THREAD_HOW_DOES);
}

/* A communicator has one service thread. */
static bool has_service(const struct tap_thread_roles *roles,
			const struct tap_thread_entry *thread)
{
	const struct tap_thread_entry *other;

	for (other = roles->live.first; other; other = other->live.after)
		if (other != thread && other->about.process == thread->about.process &&
		    other->outer_call_id == thread->outer_call_id &&
		    (other->about.role == TAP_THREAD_SERVICE ||
		     other->about.role == TAP_THREAD_UNKNOWN))
			return true;
	return false;
}

void tap_thread_role_end(struct tap_thread_roles *roles, struct tap_thread_entry *thread)
{
	struct tap_nccl_thread *about = &thread->about;

	if (!about->role && about->comm_count && !has_service(roles, thread)) {
		about->role = TAP_THREAD_SERVICE;
		about->how = TAP_THREAD_HOW_REST;
	}
}
