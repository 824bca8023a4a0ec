/* SPDX-License-Identifier: MIT */
/*
 * Groups: an open group keeps a list of the communicators with operations in it.
 */
#include "intercept/nccl/group.h"

#include "intercept/guard.h"

#define IN_PROGRESS 7 /* ncclInProgress */

/* Every outermost group of the process counts it. */
static uint64_t last_group_id;

bool tap_operation_begin(const char *name, ncclComm_t handle)
{
	struct tap_thread *t = &tap_thread;

	if (!tap_call_is_outer(t))
		return false;
	if (!tap_comm_is(t->last_comm, handle))
		__atomic_store_n(&t->last_comm, tap_comm_of(handle), __ATOMIC_RELAXED);
	__atomic_store_n(&t->inside, name, __ATOMIC_RELAXED);
	return true;
}

/*
 * For a communicator of unknown origin (copy 0), the group is the thread's current one.
 */
static struct tap_group *find_group(struct tap_thread *t, uintptr_t copy)
{
	unsigned i;

	for (i = 0; i < TAP_NR_GROUPS; i++) {
		struct tap_group *g = &t->groups[i];

		if (g->depth && (copy ? g->copy == copy : g->id == t->group_id))
			return g;
	}
	return NULL;
}

const struct tap_group *tap_group_of(uintptr_t copy)
{
	return find_group(&tap_thread, copy);
}

/* Adds c to the open group of its copy, or notes that c is in no group any more. */
static void join(struct tap_comm *c)
{
	struct tap_thread *t = &tap_thread;
	struct tap_group *g = t->group_id ? find_group(t, c->copy) : NULL;
	const uint64_t id = g ? g->id : 0;

	if (c->group_id == id || c == &tap_no_comm)
		return;
	c->group_id = id;
	if (!g)
		return;
	c->group_first = c->collectives;
	c->group_p2p = 0;
	c->group_next = g->comms;
	g->comms = c;
	g->nr_comms++;
}

int tap_operation_failed(int result)
{
	tap_thread.last_comm->not_counted++;
	return result;
}

int tap_collective_count(int result)
{
	struct tap_comm *c = tap_thread.last_comm;

	if (!tap_call_counts(result))
		return tap_operation_failed(result);
	join(c);
	tap_comm_count(c);
	return result;
}

int tap_p2p_count(int peer, bool is_recv, int result)
{
	struct tap_comm *c = tap_thread.last_comm;
	struct tap_peer *p = tap_comm_peer(c, peer, is_recv);
	uint64_t group_id;

	join(c);
	group_id = c->group_id;
	c->group_p2p++;
	if (!p)
		return result;
	/* The first in this group: keep the count before it, in case the group fails. */
	if (p->group_id != group_id && group_id) {
		p->before = p->count;
		p->group_id = group_id;
	}
	p->count++;
	return result;
}

/* Makes the newest open group the thread's current group. */
static void name_group(struct tap_thread *t)
{
	const struct tap_group *last = NULL;
	unsigned i;

	for (i = 0; i < TAP_NR_GROUPS; i++)
		if (t->groups[i].depth && (!last || t->groups[i].id > last->id))
			last = &t->groups[i];
	t->group_id = last ? last->id : 0;
	t->group_depth = last ? last->depth : 0;
}

void tap_group_start(int result, uintptr_t copy)
{
	struct tap_thread *t = &tap_thread;
	struct tap_group *g;
	unsigned i;

	__atomic_store_n(&t->inside, NULL, __ATOMIC_RELAXED);
	if (!tap_call_counts(result))
		return;
	g = find_group(t, copy);
	for (i = 0; !g && i < TAP_NR_GROUPS; i++)
		if (!t->groups[i].depth)
			g = &t->groups[i];
	if (!g)
		return;
	if (!g->depth++) {
		g->copy = copy;
		g->id = __atomic_add_fetch(&last_group_id, 1, __ATOMIC_RELAXED);
		g->comms = NULL;
		g->nr_comms = 0;
	}
	name_group(t);
}

static void take_back(struct tap_comm *c, uint64_t group_id)
{
	struct tap_peers *peers = __atomic_load_n(&c->peers, __ATOMIC_ACQUIRE);
	const int32_t nr = peers ? __atomic_load_n(&peers->nr, __ATOMIC_RELAXED) : 0;
	int32_t i;

	c->not_counted++;
	if (unlikely(tap_metrics_page))
		tap_metrics_drop(c->counts, c->collectives - c->group_first + c->group_p2p);
	__atomic_store_n(&c->collectives, c->group_first, __ATOMIC_RELAXED);
	for (i = 0; i < 2 * nr; i++)
		if (peers->of[i].group_id == group_id)
			peers->of[i].count = peers->of[i].before;
}

static void list(struct tap_group_end *end, const struct tap_comm *c)
{
	const uint32_t i = end->nr_listed;
	const uint64_t collectives = c->collectives - c->group_first;

	if (!collectives && !c->group_p2p)
		return;
	end->nr_comms++;
	if (i == TAP_GROUP_COMMS_MAX)
		return;
	end->nr_listed++;
	end->comm_id[i] = c->id;
	end->first_op[i] = collectives && c->about.comm_key ? c->group_first + 1 : 0;
	end->collectives[i] = collectives;
	end->p2p[i] = c->group_p2p;
}

/*
 * The communicators that the group made exist, also if the rest was simulated, or NCCL is
 * still making them.  If the group failed, the program must abort those that exist.
 */
static void settle(struct tap_comm *c, int result, uint64_t call_id)
{
	const struct tap_guard guard = tap_guard_set();

	if (tap_comm_find_handle(c, result != IN_PROGRESS) && result == 0)
		tap_comm_ready(c, call_id);
	else if (result == IN_PROGRESS)
		tap_comm_goes_on(c, call_id);
	tap_guard_clear(guard);
}

static void end_outermost(struct tap_group *g, int result, uint64_t call_id,
			  struct tap_group_end *end)
{
	const uint64_t group_id = g->id;
	struct tap_comm *c = g->comms, *next;
	uint32_t left = g->nr_comms;

	/* Limited by the count, since racing threads may have made the list circular. */
	for (; c && left; c = next, left--) {
		next = c->group_next;
		if (c->group_id != group_id)
			continue;
		c->group_id = 0;
		list(end, c);
		if (end->outcome != TAP_GROUP_LAUNCHED)
			take_back(c, group_id);
		if (tap_comm_phase(c) == TAP_COMM_INITIALISING)
			settle(c, result, call_id);
	}
}

void tap_group_end(int result, uintptr_t copy, bool is_simulated, uint64_t call_id,
		   struct tap_group_end *ret_end)
{
	struct tap_thread *t = &tap_thread;
	struct tap_group *g = find_group(t, copy);
	bool is_outermost;

	/* NCCL closes a level of the group even if ncclGroupEnd() fails. */
	is_outermost = g && !--g->depth;
	name_group(t);
	if (is_outermost) {
		ret_end->outcome = !tap_call_counts(result) ? TAP_GROUP_DROPPED
				   : is_simulated	    ? TAP_GROUP_SIMULATED
							    : TAP_GROUP_LAUNCHED;
		end_outermost(g, result, call_id, ret_end);
	}
	__atomic_store_n(&t->inside, NULL, __ATOMIC_RELAXED);
}

void tap_group_made(struct tap_comm *c)
{
	if (tap_thread.group_id)
		join(c);
}
