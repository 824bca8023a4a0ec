/* SPDX-License-Identifier: MIT */
/* The service, UDS and progress threads, and the connections between ranks. */
#include "proxy.h"

#include "comm.h"
#include "result.h"
#include "thread.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* NCCL's service threads look at their flags twice a second. */
#define SERVICE_POLL_MS 500

/* And more often while a connection is being made. */
#define UNFINISHED_POLL_MS 1

struct mini_link {
	struct mini_link *next;
	struct mini_end end;
	/* Why there is no connection. */
	int err;
	struct mini_flow flow;
};

/* Lives on the stack of the thread that waits for it. */
struct request {
	/* NULL: only the progress thread is wanted. */
	const struct mini_end *end;
	bool is_done;
	int err;
};

int mini_proxy_open(struct mini_proxy *proxy, struct ncclComm *comm)
{
	proxy->comm = comm;
	/* NCCL prefers InfiniBand to sockets where both are there. */
	proxy->transport = mini_transport_verbs();
	if (!proxy->transport)
		proxy->transport = &mini_transport_tcp;
	proxy->last = &proxy->first;
	proxy->request_fds[0] = -1;
	proxy->request_fds[1] = -1;
	proxy->uds_fd = -1;
	pthread_mutex_init(&proxy->lock, NULL);
	pthread_cond_init(&proxy->changed, NULL);
	proxy->listen_fd = proxy->transport->listen(&proxy->address);
	if (proxy->listen_fd < 0)
		return proxy->listen_fd;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, proxy->request_fds))
		return -errno;
	proxy->uds_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	return proxy->uds_fd < 0 ? -errno : 0;
}

static bool is_same(const struct mini_end *a, const struct mini_end *b)
{
	return a->peer == b->peer && a->channel == b->channel && a->index == b->index &&
	       a->is_send == b->is_send;
}

/* Called with the lock held. */
static struct mini_link *find_link(const struct mini_proxy *proxy,
				   const struct mini_end *end)
{
	struct mini_link *link;

	for (link = proxy->links; link; link = link->next) {
		if (is_same(&link->end, end))
			return link;
	}
	return NULL;
}

/* A connection that was begun, to be gone on with by the service thread. */
static int add_link(struct mini_proxy *proxy, const struct mini_end *end,
		    struct mini_connection *connection)
{
	struct mini_link *link = calloc(1, sizeof(*link));

	if (!link) {
		proxy->transport->close(connection);
		return -ENOMEM;
	}
	link->end = *end;
	link->flow.comm = proxy->comm;
	link->flow.connection = connection;
	link->flow.peer = end->peer;
	link->flow.channel = end->channel;
	link->flow.index = end->index;
	link->flow.is_send = end->is_send;
	link->next = proxy->unfinished;
	proxy->unfinished = link;
	return 0;
}

/* All see it from now on. */
static void publish(struct mini_proxy *proxy, struct mini_link *link)
{
	pthread_mutex_lock(&proxy->lock);
	link->next = proxy->links;
	proxy->links = link;
	pthread_cond_broadcast(&proxy->changed);
	pthread_mutex_unlock(&proxy->lock);
}

static void drop(struct mini_proxy *proxy, struct mini_link *link)
{
	if (link->flow.connection)
		proxy->transport->close(link->flow.connection);
	free(link);
}

static void finish_links(struct mini_proxy *proxy)
{
	struct mini_link **place = &proxy->unfinished;
	struct mini_link *link;

	while (*place) {
		link = *place;
		link->err = proxy->transport->finish(link->flow.connection);
		if (link->err == -EAGAIN) {
			place = &link->next;
			continue;
		}
		*place = link->next;
		/* Somebody waits for what was begun here; a peer may try once more. */
		if (link->err && !link->end.is_send)
			drop(proxy, link);
		else
			publish(proxy, link);
	}
}

static void *progress_main(void *arg);

/*
 * NCCL's progress thread begins with the first connection that needs it, and
 * its creator is the service thread.
 */
static int start_progress(struct mini_proxy *proxy)
{
	int err;

	if (proxy->has_progress)
		return 0;
	err = pthread_create(&proxy->progress, NULL, progress_main, proxy);
	if (err)
		return -err;
	mini_thread_set_name(proxy->progress, "NCCL Progress%2d", proxy->comm->device);
	pthread_mutex_lock(&proxy->lock);
	proxy->has_progress = true;
	pthread_mutex_unlock(&proxy->lock);
	return 0;
}

static int make_connection(struct mini_proxy *proxy, const struct mini_end *end)
{
	struct ncclComm *comm = proxy->comm;
	struct mini_connect_info info = {comm->hash, comm->rank, end->channel,
					 end->index};
	struct mini_connection *connection;
	int err;

	err = proxy->transport->connect(&comm->peers[end->peer].address, comm->hash,
					&info, &proxy->is_stopping, &connection);
	return err ? err : add_link(proxy, end, connection);
}

static void serve_request(struct mini_proxy *proxy)
{
	struct request *request;
	int err;

	if (recv(proxy->request_fds[1], &request, sizeof(request), 0) !=
	    (ssize_t) sizeof(request))
		return;
	err = start_progress(proxy);
	if (!err && request->end && request->end->is_send)
		err = make_connection(proxy, request->end);
	pthread_mutex_lock(&proxy->lock);
	request->err = err;
	request->is_done = true;
	pthread_cond_broadcast(&proxy->changed);
	pthread_mutex_unlock(&proxy->lock);
}

static void serve_peer(struct mini_proxy *proxy)
{
	struct ncclComm *comm = proxy->comm;
	struct mini_connect_info info;
	struct mini_connection *connection;
	struct mini_end end;

	if (proxy->transport->accept(proxy->listen_fd, comm->hash, &info,
				     &proxy->is_stopping, &connection))
		return;
	if (info.comm_hash != comm->hash || info.rank < 0 || info.rank >= comm->nranks) {
		proxy->transport->close(connection);
		return;
	}
	end = (struct mini_end){info.rank, info.channel, info.index, false};
	add_link(proxy, &end, connection);
}

static void *service_main(void *arg)
{
	struct mini_proxy *proxy = arg;
	struct pollfd fds[2] = {
		{.fd = proxy->request_fds[1], .events = POLLIN},
		{.fd = proxy->listen_fd, .events = POLLIN},
	};

	while (!atomic_load(&proxy->is_stopping)) {
		finish_links(proxy);
		if (poll(fds, 2,
			 proxy->unfinished ? UNFINISHED_POLL_MS : SERVICE_POLL_MS) <= 0)
			continue;
		if (fds[0].revents & POLLIN)
			serve_request(proxy);
		if (fds[1].revents & POLLIN)
			serve_peer(proxy);
		/* The other end was shut: mini_proxy_close() wants us gone. */
		if (fds[0].revents & POLLHUP)
			break;
	}
	return NULL;
}

/* Without cuMem handles to pass nobody ever writes to it, as in many a real run. */
static void *uds_main(void *arg)
{
	struct mini_proxy *proxy = arg;
	struct pollfd fd = {.fd = proxy->uds_fd, .events = POLLIN};

	while (!atomic_load(&proxy->is_stopping))
		poll(&fd, 1, SERVICE_POLL_MS);
	return NULL;
}

int mini_proxy_start(struct mini_proxy *proxy)
{
	struct sockaddr_un any = {.sun_family = AF_UNIX};
	int device = proxy->comm->device;
	int err;

	/* A length without a path has the kernel choose an abstract name. */
	if (bind(proxy->uds_fd, (struct sockaddr *) &any, sizeof(sa_family_t)))
		return -errno;
	err = pthread_create(&proxy->service, NULL, service_main, proxy);
	if (err) {
		proxy->service = 0;
		return -err;
	}
	mini_thread_set_name(proxy->service, "NCCL Service %2d", device);
	err = pthread_create(&proxy->uds, NULL, uds_main, proxy);
	if (err) {
		proxy->uds = 0;
		return -err;
	}
	mini_thread_set_name(proxy->uds, "NCCL UDS Service %2d", device);
	return 0;
}

static int ask_service(struct mini_proxy *proxy, struct request *request)
{
	/* An initialisation that failed has started no thread, a revoked one ended it. */
	if (!proxy->service)
		return -ECANCELED;
	if (send(proxy->request_fds[0], &request, sizeof(request), MSG_NOSIGNAL) < 0)
		return -errno;
	pthread_mutex_lock(&proxy->lock);
	/* The request is the caller's again only when it is done, aborted or not. */
	while (!request->is_done)
		pthread_cond_wait(&proxy->changed, &proxy->lock);
	pthread_mutex_unlock(&proxy->lock);
	return request->err;
}

bool mini_proxy_has_progress(struct mini_proxy *proxy)
{
	bool is_there;

	pthread_mutex_lock(&proxy->lock);
	is_there = proxy->has_progress;
	pthread_mutex_unlock(&proxy->lock);
	return is_there;
}

int mini_proxy_need_progress(struct mini_proxy *proxy)
{
	struct request request = {.end = NULL};

	return ask_service(proxy, &request);
}

bool mini_proxy_is_connected(struct mini_proxy *proxy, const struct mini_end *end)
{
	struct mini_link *link;
	bool is_there;

	pthread_mutex_lock(&proxy->lock);
	link = find_link(proxy, end);
	is_there = link && !link->err && proxy->has_progress;
	pthread_mutex_unlock(&proxy->lock);
	return is_there;
}

int mini_proxy_connect(struct mini_proxy *proxy, const struct mini_end *end)
{
	struct request request = {.end = end};
	struct mini_link *link = NULL;
	int err;

	err = ask_service(proxy, &request);
	pthread_mutex_lock(&proxy->lock);
	while (!err && !(link = find_link(proxy, end))) {
		if (atomic_load(&proxy->comm->aborted))
			err = -ECANCELED;
		else
			pthread_cond_wait(&proxy->changed, &proxy->lock);
	}
	if (link)
		err = link->err;
	pthread_mutex_unlock(&proxy->lock);
	return err;
}

struct mini_flow *mini_proxy_flow(struct mini_proxy *proxy, const struct mini_end *end)
{
	struct mini_link *link;

	pthread_mutex_lock(&proxy->lock);
	link = find_link(proxy, end);
	pthread_mutex_unlock(&proxy->lock);
	return link ? &link->flow : NULL;
}

void mini_proxy_expect(struct mini_proxy *proxy)
{
	pthread_mutex_lock(&proxy->lock);
	proxy->kernels++;
	pthread_mutex_unlock(&proxy->lock);
}

void mini_proxy_forget(struct mini_proxy *proxy)
{
	pthread_mutex_lock(&proxy->lock);
	proxy->kernels--;
	pthread_cond_broadcast(&proxy->changed);
	pthread_mutex_unlock(&proxy->lock);
}

void mini_proxy_append(struct mini_proxy *proxy, struct mini_plan *plan)
{
	pthread_mutex_lock(&proxy->lock);
	*proxy->last = plan;
	proxy->last = &plan->next;
	pthread_cond_broadcast(&proxy->changed);
	pthread_mutex_unlock(&proxy->lock);
}

void mini_proxy_kernel(struct mini_plan *plan)
{
	struct mini_proxy *proxy = &plan->comm->proxy;

	pthread_mutex_lock(&proxy->lock);
	plan->has_begun = true;
	pthread_cond_broadcast(&proxy->changed);
	while (!plan->is_done)
		pthread_cond_wait(&proxy->changed, &proxy->lock);
	mini_plan_destroy(plan);
	proxy->kernels--;
	pthread_cond_broadcast(&proxy->changed);
	pthread_mutex_unlock(&proxy->lock);
}

/*
 * A failed transfer shows only in ncclCommGetAsyncError(): the kernel keeps
 * waiting until the communicator is aborted, as a real one does.
 */
static void wait_for_abort(struct mini_proxy *proxy, int err)
{
	atomic_store(&proxy->error, (int) mini_result(err));
	while (!atomic_load(&proxy->comm->aborted))
		pthread_cond_wait(&proxy->changed, &proxy->lock);
}

static void *progress_main(void *arg)
{
	struct mini_proxy *proxy = arg;
	struct mini_plan *plan;
	int err;

	pthread_mutex_lock(&proxy->lock);
	while (proxy->first || !proxy->is_closed) {
		plan = proxy->first;
		if (!plan) {
			pthread_cond_wait(&proxy->changed, &proxy->lock);
			continue;
		}
		while (!plan->has_begun && !atomic_load(&proxy->comm->aborted))
			pthread_cond_wait(&proxy->changed, &proxy->lock);
		proxy->first = plan->next;
		if (!proxy->first)
			proxy->last = &proxy->first;
		pthread_mutex_unlock(&proxy->lock);
		err = mini_plan_run(plan);
		pthread_mutex_lock(&proxy->lock);
		if (err && err != -ECANCELED)
			wait_for_abort(proxy, err);
		plan->is_done = true;
		pthread_cond_broadcast(&proxy->changed);
	}
	pthread_mutex_unlock(&proxy->lock);
	return NULL;
}

void mini_proxy_drain(struct mini_proxy *proxy)
{
	pthread_mutex_lock(&proxy->lock);
	while (proxy->kernels > 0)
		pthread_cond_wait(&proxy->changed, &proxy->lock);
	pthread_mutex_unlock(&proxy->lock);
}

void mini_proxy_wake(struct mini_proxy *proxy)
{
	pthread_mutex_lock(&proxy->lock);
	pthread_cond_broadcast(&proxy->changed);
	pthread_mutex_unlock(&proxy->lock);
}

static void join(pthread_t *thread)
{
	if (*thread)
		pthread_join(*thread, NULL);
	*thread = 0;
}

void mini_proxy_stop(struct mini_proxy *proxy)
{
	atomic_store(&proxy->is_stopping, true);
	pthread_mutex_lock(&proxy->lock);
	proxy->is_closed = true;
	pthread_cond_broadcast(&proxy->changed);
	pthread_mutex_unlock(&proxy->lock);
	/* Wakes both polls, which would otherwise go on for half a second. */
	if (proxy->request_fds[0] >= 0)
		shutdown(proxy->request_fds[0], SHUT_RDWR);
	if (proxy->uds_fd >= 0)
		shutdown(proxy->uds_fd, SHUT_RDWR);
	join(&proxy->service);
	join(&proxy->uds);
	join(&proxy->progress);
}

static void drop_all(struct mini_proxy *proxy, struct mini_link **links)
{
	struct mini_link *link;

	while (*links) {
		link = *links;
		*links = link->next;
		drop(proxy, link);
	}
}

void mini_proxy_close(struct mini_proxy *proxy)
{
	mini_proxy_stop(proxy);
	drop_all(proxy, &proxy->unfinished);
	drop_all(proxy, &proxy->links);
	if (proxy->listen_fd >= 0)
		close(proxy->listen_fd);
	if (proxy->uds_fd >= 0)
		close(proxy->uds_fd);
	if (proxy->request_fds[0] >= 0) {
		close(proxy->request_fds[0]);
		close(proxy->request_fds[1]);
	}
	pthread_cond_destroy(&proxy->changed);
	pthread_mutex_destroy(&proxy->lock);
}
