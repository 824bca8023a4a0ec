/* SPDX-License-Identifier: MIT */
/* The life of a proxy: who shares it, its threads, and their ends. */
#include "proxy.h"

#include "comm.h"
#include "progress.h"
#include "proxy_guest.h"
#include "release.h"
#include "result.h"
#include "truth.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* NCCL's service threads look at their flags twice a second. */
#define SERVICE_POLL_MS 500

static void add_sharer(struct mini_proxy *proxy, struct ncclComm *comm,
		       struct mini_proxy_state *state)
{
	proxy->comm = comm;
	proxy->state = state;
	pthread_mutex_lock(state->lock);
	proxy->next_sharer = state->sharers;
	state->sharers = proxy;
	state->references++;
	pthread_mutex_unlock(state->lock);
}

int mini_proxy_open(struct mini_proxy *proxy, struct ncclComm *comm)
{
	struct mini_proxy_state *state = calloc(1, sizeof(*state));

	if (!state)
		return -ENOMEM;
	state->top = comm;
	state->device = comm->device;
	/* The adapters are opened by the thread that initialises. */
	mini_transport_net();
	state->last = &state->first;
	state->uds_fd = -1;
	mini_caller_init(&state->caller);
	if (mini_inbox_make(state)) {
		free(state);
		return -ENOMEM;
	}
	add_sharer(proxy, comm, state);
	state->listen_fd = mini_socket_listen(&state->address);
	return state->listen_fd < 0 ? state->listen_fd : 0;
}

void mini_proxy_share(struct mini_proxy *proxy, struct ncclComm *comm,
		      struct mini_proxy *with)
{
	add_sharer(proxy, comm, with->state);
}

int mini_proxy_rank(const struct mini_proxy *proxy)
{
	return proxy->state->top == proxy->comm ? proxy->comm->rank : proxy->state->rank;
}

ncclResult_t mini_proxy_error(const struct mini_proxy *proxy)
{
	return proxy->state ? (ncclResult_t) atomic_load(&proxy->state->error)
			    : ncclSuccess;
}

/* Without cuMem handles to pass nobody ever writes to it, as in many a real run. */
static void *uds_main(void *argument)
{
	struct mini_proxy_state *state = argument;
	struct pollfd fd = {.fd = state->uds_fd, .events = POLLIN};

	mini_truth_thread(MINI_THREAD_UDS, state->top);
	while (!atomic_load(&state->is_over))
		poll(&fd, 1, SERVICE_POLL_MS);
	return NULL;
}

/* The name is NCCL's, abstract since its first byte is 0. */
static int open_uds(struct mini_proxy_state *state)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	uint64_t number = 0;
	int length;

	/* Two children of a shrink may have one hash. */
	if (getrandom(&number, sizeof(number), 0) < 0)
		return -errno;
	state->uds_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (state->uds_fd < 0)
		return -errno;
	length = snprintf(address.sun_path, sizeof(address.sun_path),
			  "/tmp/nccl-socket-%d-%" PRIx64, state->rank, number);
	address.sun_path[0] = '\0';
	if (bind(state->uds_fd, (struct sockaddr *) &address,
		 (socklen_t) (offsetof(struct sockaddr_un, sun_path) + (size_t) length)))
		return -errno;
	return 0;
}

static int start_threads(struct mini_proxy_state *state)
{
	int err;

	err = mini_thread_start(&state->service, MINI_ARGUMENT_PROXY, mini_service_main,
				state);
	if (err)
		return err;
	mini_thread_name(&state->service, "NCCL Service %2d", state->device);
	/* There are no handles of memory to pass before. */
	if (mini_release() < 22000)
		return 0;
	err = open_uds(state);
	if (!err)
		err = mini_thread_start(&state->uds, MINI_ARGUMENT_PROXY, uds_main,
					state);
	if (err)
		return err;
	mini_thread_name(&state->uds, "NCCL UDS Service %2d", state->device);
	return 0;
}

int mini_proxy_start(struct mini_proxy *proxy)
{
	struct mini_proxy_state *state = proxy->state;
	struct ncclComm *comm = proxy->comm;
	int i;

	if (state->top != comm)
		return 0;
	state->profiler_context = comm->profile.context;
	state->rank = comm->rank;
	state->nranks = comm->nranks;
	state->hash = comm->hash;
	state->local_rank = comm->topology->local_rank;
	state->local_ranks = comm->topology->local_ranks;
	state->has_posters = comm->topology->has_posters;
	state->addresses = calloc((size_t) comm->nranks, sizeof(*state->addresses));
	if (!state->addresses)
		return -ENOMEM;
	for (i = 0; i < comm->nranks; i++)
		state->addresses[i] = comm->peers[i].address;
	for (i = 0; i < 2; i++)
		state->pools[i].size = mini_pool_size(comm);
	if (state->has_posters)
		mini_crew_join(state);
	return start_threads(state);
}

int mini_proxy_start_progress(struct mini_proxy_state *state)
{
	int err;

	if (state->has_progress)
		return 0;
	err = mini_thread_start(&state->progress, MINI_ARGUMENT_PROXY, mini_progress_main,
				state);
	if (err)
		return err;
	/* Not the device, which it is named after for NVTX (NCCL 2.28.9, proxy.cc:950 and
	 * 1014). */
	mini_thread_name(&state->progress, "NCCL Progress%2d", state->local_ranks);
	pthread_mutex_lock(state->lock);
	state->has_progress = true;
	pthread_mutex_unlock(state->lock);
	return 0;
}

/* As in NCCL, where they have one flag: who aborts a child aborts its parent. */
void mini_proxy_mark(struct mini_proxy *proxy, bool is_aborted)
{
	struct mini_proxy_state *state = proxy->state;
	struct mini_proxy *sharer;

	pthread_mutex_lock(state->lock);
	atomic_store(&proxy->comm->aborted, is_aborted);
	for (sharer = state->sharers; sharer; sharer = sharer->next_sharer)
		atomic_store(&sharer->comm->aborted, is_aborted);
	pthread_cond_broadcast(state->changed);
	pthread_mutex_unlock(state->lock);
}

/* Whether nobody is left. */
static bool leave(struct mini_proxy *proxy)
{
	struct mini_proxy_state *state = proxy->state;
	struct mini_proxy **place = &state->sharers;
	bool is_last;

	pthread_mutex_lock(state->lock);
	while (*place && *place != proxy)
		place = &(*place)->next_sharer;
	if (*place)
		*place = proxy->next_sharer;
	if (state->top == proxy->comm)
		state->top = NULL;
	is_last = !state->sharers;
	state->is_closed = is_last;
	pthread_cond_broadcast(state->changed);
	pthread_mutex_unlock(state->lock);
	return is_last;
}

/* The service thread is told to stop, unless it finds out by itself. */
static void end_threads(struct mini_proxy_state *state, bool is_aborted)
{
	if (is_aborted) {
		atomic_store(&state->is_aborted, true);
		/* Wakes its poll, which would otherwise go on for half a second. */
		shutdown(state->listen_fd, SHUT_RDWR);
	} else if (state->service.is_there) {
		mini_call_stop(&state->address, state->hash);
	}
	mini_caller_close(&state->caller);
	mini_posters_leave(state, is_aborted);
	atomic_store(&state->is_over, true);
	if (state->uds_fd >= 0)
		shutdown(state->uds_fd, SHUT_RDWR);
	mini_crew_end(state);
}

void mini_proxy_stop(struct mini_proxy *proxy)
{
	bool was_closed = proxy->state->is_closed;

	if (leave(proxy) && !was_closed)
		end_threads(proxy->state, atomic_load(&proxy->comm->aborted));
}

void mini_link_close(struct mini_link *link)
{
	mini_flow_close(&link->flow);
	if (link->flow.connection)
		mini_connection_close(link->flow.connection);
	mini_shared_close(&link->front);
	free(link);
}

void mini_proxy_state_free(struct mini_proxy_state *state)
{
	struct mini_link *link;

	while (state->links) {
		link = state->links;
		state->links = link->next;
		mini_link_close(link);
	}
	mini_guests_close(state);
	mini_shares_free(&state->shares);
	mini_pool_free(&state->pools[0]);
	mini_pool_free(&state->pools[1]);
	if (state->listen_fd >= 0)
		close(state->listen_fd);
	if (state->uds_fd >= 0)
		close(state->uds_fd);
	pthread_cond_destroy(state->changed);
	pthread_mutex_destroy(state->lock);
	mini_shared_close(&state->inbox_memory);
	free(state->addresses);
	free(state);
}

void mini_proxy_close(struct mini_proxy *proxy)
{
	struct mini_proxy_state *state = proxy->state;
	bool is_last;

	if (!state)
		return;
	mini_proxy_stop(proxy);
	pthread_mutex_lock(state->lock);
	is_last = --state->references == 0;
	pthread_mutex_unlock(state->lock);
	if (is_last && !mini_crew_keeps(state))
		mini_proxy_state_free(state);
	proxy->state = NULL;
}
