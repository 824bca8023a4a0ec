/* SPDX-License-Identifier: MIT */
/* Both ends of posting for another rank: the poster's and that of its guest. */
#include "proxy_guest.h"

#include "comm.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

int mini_inbox_make(struct mini_proxy_state *state)
{
	pthread_mutexattr_t mutex;
	pthread_condattr_t cond;
	int err = mini_shared_make(&state->inbox_memory, sizeof(*state->inbox));

	if (err)
		return err;
	state->inbox = state->inbox_memory.memory;
	state->lock = &state->inbox->lock;
	state->changed = &state->inbox->changed;
	pthread_mutexattr_init(&mutex);
	pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(state->lock, &mutex);
	pthread_mutexattr_destroy(&mutex);
	pthread_condattr_init(&cond);
	pthread_condattr_setpshared(&cond, PTHREAD_PROCESS_SHARED);
	pthread_cond_init(state->changed, &cond);
	pthread_condattr_destroy(&cond);
	return 0;
}

static struct mini_poster *add_poster(struct mini_proxy_state *state, int rank)
{
	struct mini_poster *poster = calloc(1, sizeof(*poster));

	if (!poster)
		return NULL;
	poster->rank = rank;
	mini_caller_init(&poster->caller);
	poster->next = state->posters;
	state->posters = poster;
	return poster;
}

struct mini_poster *mini_poster_of(struct mini_proxy_state *state, int rank)
{
	struct mini_poster *poster;

	pthread_mutex_lock(state->lock);
	poster = state->posters;
	while (poster && poster->rank != rank)
		poster = poster->next;
	if (!poster)
		poster = add_poster(state, rank);
	pthread_mutex_unlock(state->lock);
	return poster;
}

/* What all connections through one poster have in common is opened with the first. */
static int open_poster(struct mini_poster *poster, const struct mini_posted *posted)
{
	int err = 0;

	if (!poster->inbox.memory)
		err = mini_shared_open(&poster->inbox, &posted->inbox);
	if (!err && !poster->memory.memory)
		err = mini_shared_open(&poster->memory, &posted->pool);
	poster->pool.data = poster->memory.memory;
	poster->pool.size = poster->memory.size;
	return err;
}

static struct mini_link *make_link(const struct mini_end *end)
{
	struct mini_link *link = calloc(1, sizeof(*link));

	if (!link)
		return NULL;
	link->end = *end;
	link->flow.peer = end->peer;
	link->flow.channel = end->channel;
	link->flow.index = end->index;
	link->flow.is_send = end->is_send;
	return link;
}

int mini_poster_connect(struct mini_proxy_state *state, struct mini_poster *poster,
			const struct mini_end *end, const struct mini_posted *posted)
{
	struct mini_link *link = make_link(end);
	int err = link ? open_poster(poster, posted) : -ENOMEM;

	if (!err)
		err = mini_shared_open(&link->front, &posted->front);
	if (err) {
		free(link);
		return err;
	}
	link->flow.front = link->front.memory;
	link->flow.poster = poster;
	link->flow.handle = posted->flow;
	mini_flow_attach(&link->flow, &poster->pool);
	mini_proxy_add_link(state, link);
	return 0;
}

void mini_posters_leave(struct mini_proxy_state *state, bool is_aborted)
{
	struct mini_poster *poster;
	struct mini_link *link;

	for (link = state->links; link && is_aborted; link = link->next) {
		if (link->flow.poster)
			atomic_store(&link->flow.front->is_given_up, true);
	}
	for (poster = state->posters; poster; poster = poster->next)
		mini_caller_close(&poster->caller);
}

static struct mini_guest *guest_of(struct mini_proxy_state *state, int rank)
{
	struct mini_guest *guest = state->guests;

	while (guest && guest->rank != rank)
		guest = guest->next;
	if (guest)
		return guest;
	guest = calloc(1, sizeof(*guest));
	if (!guest || mini_shared_make(&guest->memory, state->pools[1].size)) {
		free(guest);
		return NULL;
	}
	guest->rank = rank;
	guest->pool.data = guest->memory.memory;
	guest->pool.size = guest->memory.size;
	guest->next = state->guests;
	state->guests = guest;
	return guest;
}

int mini_guest_connect(struct mini_proxy_state *state, int rank, struct mini_link *link,
		       struct mini_posted *ret_posted)
{
	struct mini_guest *guest = guest_of(state, rank);
	int err = guest ? mini_shared_make(&link->front, mini_front_size()) : -ENOMEM;

	if (err)
		return err;
	link->flow.front = link->front.memory;
	err = mini_flow_open(&link->flow, &guest->pool);
	if (err)
		return err;
	/* The progress thread, which uses the link, has the lock when it takes an errand.
	 */
	pthread_mutex_lock(state->lock);
	link->next = guest->links;
	guest->links = link;
	pthread_mutex_unlock(state->lock);
	*ret_posted = (struct mini_posted){
		.flow = (uint64_t) (uintptr_t) &link->flow,
		.inbox = mini_shared_handle(&state->inbox_memory),
		.pool = mini_shared_handle(&guest->memory),
		.front = mini_shared_handle(&link->front),
	};
	return 0;
}

/* False while the inbox is full. */
static bool put(struct mini_inbox *inbox, const struct mini_errand *errand)
{
	if (inbox->end - inbox->begin == MINI_ERRANDS)
		return false;
	inbox->errands[inbox->end++ % MINI_ERRANDS] = *errand;
	return true;
}

/* Which of the communicator's ranks it is; -1: none, where its parent was connected so.
 */
static int rank_in(const struct ncclComm *comm, int top_rank)
{
	int rank = 0;

	while (rank < comm->nranks && comm->peers[rank].top_rank != top_rank)
		rank++;
	return rank < comm->nranks ? rank : -1;
}

static struct mini_errand errand_of(const struct mini_plan *plan,
				    const struct mini_proxy_op *op, uint64_t number)
{
	struct mini_errand errand = {op->flow->handle, *op};

	errand.op.flow = NULL;
	errand.op.whose.comm = NULL;
	errand.op.whose.proxy_rank = rank_in(plan->comm, op->flow->poster->rank);
	/* What another plan has does not stand together with it. */
	errand.op.number = number << 32 | op->number;
	return errand;
}

/* All of the plan at once, so that what belongs together is found together. */
static size_t put_all(struct mini_plan *plan, struct mini_poster *poster, size_t first,
		      uint64_t number)
{
	struct mini_inbox *inbox = poster->inbox.memory;
	struct mini_errand errand;

	pthread_mutex_lock(&inbox->lock);
	for (; first < plan->proxy_op_count; first++) {
		const struct mini_proxy_op *op = &plan->proxy_ops[first];

		if (op->flow->poster != poster)
			continue;
		errand = errand_of(plan, op, number);
		if (!put(inbox, &errand))
			break;
	}
	pthread_cond_broadcast(&inbox->changed);
	pthread_mutex_unlock(&inbox->lock);
	return first;
}

static size_t first_of(const struct mini_plan *plan, const struct mini_poster *poster)
{
	size_t first = 0;

	while (first < plan->proxy_op_count &&
	       plan->proxy_ops[first].flow->poster != poster)
		first++;
	return first;
}

void mini_errands_put(struct mini_plan *plan, struct mini_actives *actives)
{
	struct mini_proxy_state *state = plan->comm->proxy.state;
	static atomic_uint plans;
	uint64_t number = atomic_fetch_add(&plans, 1);
	struct mini_poster *poster;
	size_t next;

	pthread_mutex_lock(state->lock);
	poster = state->posters;
	pthread_mutex_unlock(state->lock);
	for (; poster; poster = poster->next) {
		next = first_of(plan, poster);
		while (next < plan->proxy_op_count &&
		       !atomic_load(&plan->comm->aborted)) {
			next = put_all(plan, poster, next, number);
			/* The poster may be waiting for room in the own one. */
			if (next < plan->proxy_op_count) {
				mini_errands_take(state, actives);
				sched_yield();
			}
		}
	}
}

static struct mini_proxy_op *take_one(struct mini_proxy_state *state)
{
	struct mini_inbox *inbox = state->inbox;
	struct mini_proxy_op *op = NULL;
	const struct mini_errand *errand;

	pthread_mutex_lock(state->lock);
	if (mini_errands_are_there(state)) {
		op = malloc(sizeof(*op));
		errand = &inbox->errands[inbox->begin % MINI_ERRANDS];
		if (op) {
			*op = errand->op;
			op->flow = (struct mini_flow *) (uintptr_t) errand->flow;
			inbox->begin++;
		}
	}
	pthread_mutex_unlock(state->lock);
	return op;
}

int mini_errands_take(struct mini_proxy_state *state, struct mini_actives *actives)
{
	struct mini_proxy_op *op;
	int err = 0;

	while (!err && (op = take_one(state))) {
		err = mini_proxy_ops_add_guest(actives, op);
		if (err)
			free(op);
	}
	return err;
}

static void close_guest(struct mini_guest *guest)
{
	struct mini_link *link;

	while (guest->links) {
		link = guest->links;
		guest->links = link->next;
		mini_link_close(link);
	}
	mini_shared_close(&guest->memory);
	free(guest);
}

void mini_guests_close(struct mini_proxy_state *state)
{
	struct mini_poster *poster;
	struct mini_guest *guest;

	while (state->guests) {
		guest = state->guests;
		state->guests = guest->next;
		close_guest(guest);
	}
	while (state->posters) {
		poster = state->posters;
		state->posters = poster->next;
		mini_shared_close(&poster->inbox);
		mini_shared_close(&poster->memory);
		free(poster);
	}
}
