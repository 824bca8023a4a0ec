/* SPDX-License-Identifier: MIT */
/* Which proxies of a process end when. */
#include "proxy.h"

#include <stdlib.h>

static pthread_mutex_t crew_lock = PTHREAD_MUTEX_INITIALIZER;
/* Those whose ranks post for each other, of all communicators. */
static struct mini_proxy_state *crew;

static void join(struct mini_proxy_state *state)
{
	mini_thread_join(&state->service);
	mini_thread_join(&state->uds);
	pthread_mutex_lock(state->lock);
	state->is_served = true;
	pthread_cond_broadcast(state->changed);
	pthread_mutex_unlock(state->lock);
	mini_thread_join(&state->progress);
}

void mini_crew_join(struct mini_proxy_state *state)
{
	pthread_mutex_lock(&crew_lock);
	state->next_of_crew = crew;
	crew = state;
	pthread_mutex_unlock(&crew_lock);
}

/* All of the communicator, unless one of them has not left: NULL. */
static struct mini_proxy_state *take_crew(uint64_t hash)
{
	struct mini_proxy_state **place = &crew;
	struct mini_proxy_state *taken = NULL;
	struct mini_proxy_state *state;

	for (state = crew; state; state = state->next_of_crew) {
		if (state->hash == hash && !state->has_left)
			return NULL;
	}
	while (*place) {
		state = *place;
		if (state->hash != hash) {
			place = &state->next_of_crew;
			continue;
		}
		*place = state->next_of_crew;
		state->next_of_crew = taken;
		taken = state;
	}
	return taken;
}

static void settle(struct mini_proxy_state *state)
{
	bool is_orphan;

	pthread_mutex_lock(&crew_lock);
	state->is_joined = true;
	is_orphan = state->is_orphan;
	pthread_mutex_unlock(&crew_lock);
	if (is_orphan)
		mini_proxy_state_free(state);
}

void mini_crew_end(struct mini_proxy_state *state)
{
	struct mini_proxy_state *taken;
	struct mini_proxy_state *next;

	if (!state->has_posters) {
		join(state);
		return;
	}
	pthread_mutex_lock(&crew_lock);
	state->has_left = true;
	taken = take_crew(state->hash);
	pthread_mutex_unlock(&crew_lock);
	/* A thread of one may look into what another one has. */
	for (next = taken; next; next = next->next_of_crew)
		join(next);
	while (taken) {
		next = taken->next_of_crew;
		settle(taken);
		taken = next;
	}
}

bool mini_crew_keeps(struct mini_proxy_state *state)
{
	bool is_kept;

	pthread_mutex_lock(&crew_lock);
	is_kept = state->has_posters && !state->is_joined;
	state->is_orphan = is_kept;
	pthread_mutex_unlock(&crew_lock);
	return is_kept;
}
