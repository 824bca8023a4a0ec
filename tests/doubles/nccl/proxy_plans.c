/* SPDX-License-Identifier: MIT */
/* What is told to the progress thread, and who waits until nothing of it is left. */
#include "proxy.h"

#include "plan.h"

void mini_proxy_expect(struct mini_proxy *proxy)
{
	pthread_mutex_lock(proxy->state->lock);
	proxy->kernels++;
	pthread_mutex_unlock(proxy->state->lock);
}

void mini_proxy_forget(struct mini_proxy *proxy)
{
	pthread_mutex_lock(proxy->state->lock);
	proxy->kernels--;
	pthread_cond_broadcast(proxy->state->changed);
	pthread_mutex_unlock(proxy->state->lock);
}

void mini_proxy_append(struct mini_proxy *proxy, struct mini_plan *plan)
{
	struct mini_proxy_state *state = proxy->state;

	pthread_mutex_lock(state->lock);
	*state->last = plan;
	state->last = &plan->next;
	pthread_cond_broadcast(state->changed);
	pthread_mutex_unlock(state->lock);
}

void mini_proxy_drain(struct mini_proxy *proxy)
{
	struct mini_proxy_state *state = proxy->state;

	if (!state)
		return;
	pthread_mutex_lock(state->lock);
	while (proxy->kernels > 0)
		pthread_cond_wait(state->changed, state->lock);
	pthread_mutex_unlock(state->lock);
}
