/* SPDX-License-Identifier: MIT */
/*
 * The service thread: it has a socket to each process that asks, and goes on with all that
 * it was asked for in turn, since one connection may wait for another rank.
 */
#include "service.h"

#include "comm.h"
#include "result.h"
#include "truth.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* NCCL's NCCL_MAX_PROXY_CONNECTIONS, and how often it looks at its flags. */
enum { MAX_PEERS = 256, POLL_MS = 500 };

/* Where NCCL would not wait at all, while something is not over. */
#define BUSY_MS 1

/* Of a request there is no more than this: a handle and what goes with it. */
#define MAX_REQUEST 4096

struct operation {
	struct operation *next;
	int type;
	struct mini_service_connection *connection;
	uint64_t id;
	int request_size;
	int response_size;
	char request[MAX_REQUEST];
	char response[MINI_CALL_RESPONSE_BYTES];
};

/* Who asks. */
struct peer {
	struct operation *operations;
};

struct service {
	struct mini_proxy_state *state;
	struct peer peers[MAX_PEERS];
	/* The listening socket after those of the peers. */
	struct pollfd fds[MAX_PEERS + 1];
	int peer_count;
	int operation_count;
	struct mini_service_connection *connections;
	bool is_stopping;
};

static const atomic_bool never;

static int init_connection(struct service *service, struct operation *operation)
{
	struct mini_service_connection *connection;
	uint64_t address;
	int err = 0;

	if (operation->request_size != (int) sizeof(connection->init) ||
	    operation->response_size < (int) sizeof(address))
		return -EPROTO;
	connection = calloc(1, sizeof(*connection));
	if (!connection)
		return -ENOMEM;
	memcpy(&connection->init, operation->request, sizeof(connection->init));
	connection->state = service->state;
	connection->next = service->connections;
	service->connections = connection;
	operation->connection = connection;
	address = (uint64_t) (uintptr_t) connection;
	memcpy(operation->response, &address, sizeof(address));
	/* Of the others it is the kernels alone that move data. */
	if (connection->init.transport == MINI_CALL_NET)
		err = mini_proxy_start_progress(service->state);
	return err;
}

static int set_up(struct operation *operation)
{
	struct mini_call_setup setup = {.rank = 0};

	if (operation->request_size != mini_call_sizes()->setup)
		return -EPROTO;
	memcpy(&setup, operation->request, (size_t) operation->request_size);
	return mini_service_net_setup(operation->connection, &setup, operation->response);
}

static int carry_out(struct service *service, struct operation *operation)
{
	switch (operation->type) {
	case MINI_CALL_INIT:
		return init_connection(service, operation);
	case MINI_CALL_SHARED_INIT:
		/* Its pool of buffers is made with the first connection that needs it. */
		return 0;
	case MINI_CALL_SETUP:
		return set_up(operation);
	case MINI_CALL_CONNECT:
		return mini_service_net_connect(operation->connection, operation->request,
						operation->request_size,
						operation->response);
	default:
		return -EPROTO;
	}
}

static int answer(int fd, const struct operation *operation, ncclResult_t result)
{
	struct mini_call_head head = {operation->id, (int32_t) result,
				      operation->response_size};
	int err;

	if (mini_call_sizes()->has_result) {
		err = mini_socket_send(fd, &head, sizeof(head), &never);
	} else if (result != ncclSuccess) {
		/* All that could be said is to close. */
		return -ECONNABORTED;
	} else {
		err = mini_socket_send(fd, &head.id, sizeof(head.id), &never);
		if (!err)
			err = mini_socket_send(fd, &head.size, sizeof(head.size), &never);
	}
	return err ? err
		   : mini_socket_send(fd, operation->response,
				      (size_t) operation->response_size, &never);
}

/* Goes on with all that a peer asked for.  -errno: it is to be closed. */
static int go_on(struct service *service, int p)
{
	struct operation **place = &service->peers[p].operations;
	struct operation *operation;
	int err = 0;

	while (*place && !err) {
		int state;

		operation = *place;
		state = carry_out(service, operation);
		if (state == -EAGAIN) {
			place = &operation->next;
			continue;
		}
		err = answer(service->fds[p].fd, operation, mini_result(state));
		*place = operation->next;
		service->operation_count--;
		free(operation);
	}
	return err;
}

static int receive_request(int fd, struct operation *operation)
{
	const struct {
		void *data;
		size_t size;
	} parts[] = {
		{&operation->connection, sizeof(operation->connection)},
		{&operation->request_size, sizeof(operation->request_size)},
		{&operation->response_size, sizeof(operation->response_size)},
	};
	int err = 0;
	size_t i;

	for (i = 0; i < sizeof(parts) / sizeof(parts[0]) && !err; i++)
		err = mini_socket_recv(fd, parts[i].data, parts[i].size, &never);
	if (!err && (operation->request_size < 0 || operation->request_size > MAX_REQUEST ||
		     operation->response_size < 0 ||
		     operation->response_size > MINI_CALL_RESPONSE_BYTES))
		err = -EPROTO;
	if (!err && operation->request_size > 0)
		err = mini_socket_recv(fd, operation->request,
				       (size_t) operation->request_size, &never);
	return err ? err
		   : mini_socket_recv(fd, &operation->id, sizeof(operation->id), &never);
}

static int begin(struct service *service, int p, int type)
{
	struct operation **place = &service->peers[p].operations;
	struct operation *operation = calloc(1, sizeof(*operation));
	int err;

	if (!operation)
		return -ENOMEM;
	operation->type = type;
	err = receive_request(service->fds[p].fd, operation);
	if (err) {
		free(operation);
		return err;
	}
	while (*place)
		place = &(*place)->next;
	*place = operation;
	service->operation_count++;
	return go_on(service, p);
}

static void close_peer(struct service *service, int p)
{
	struct operation *operation;

	close(service->fds[p].fd);
	service->fds[p].fd = -1;
	service->peer_count--;
	while (service->peers[p].operations) {
		operation = service->peers[p].operations;
		service->peers[p].operations = operation->next;
		service->operation_count--;
		free(operation);
	}
}

static void serve(struct service *service, int p)
{
	int32_t type = MINI_CALL_CLOSE;
	int err = go_on(service, p);

	if (!err && service->fds[p].revents & (POLLIN | POLLHUP)) {
		err = mini_socket_recv(service->fds[p].fd, &type, sizeof(type), &never);
		if (!err && type == MINI_CALL_STOP)
			service->is_stopping = true;
		if (!err && (type == MINI_CALL_STOP || type == MINI_CALL_CLOSE))
			err = -ECONNRESET;
		if (!err)
			err = begin(service, p, type);
	}
	if (err)
		close_peer(service, p);
}

static void accept_peer(struct service *service)
{
	int p = 0;
	int fd;

	while (p < MAX_PEERS && service->fds[p].fd >= 0)
		p++;
	fd = mini_socket_accept(service->state->listen_fd, service->state->hash,
				MINI_SOCKET_PROXY, &service->state->is_aborted);
	if (fd < 0 || p == MAX_PEERS) {
		if (fd >= 0)
			close(fd);
		return;
	}
	service->fds[p].fd = fd;
	service->fds[p].revents = 0;
	service->peer_count++;
}

static void close_all(struct service *service)
{
	struct mini_service_connection *connection;
	int p;

	for (p = 0; p < MAX_PEERS; p++) {
		if (service->fds[p].fd >= 0)
			close_peer(service, p);
	}
	while (service->connections) {
		connection = service->connections;
		service->connections = connection->next;
		mini_service_net_close(connection);
		free(connection);
	}
}

static void run(struct service *service)
{
	struct mini_proxy_state *state = service->state;
	int p;

	/* Those that are connected say when they do not need it any more. */
	while (!service->is_stopping || service->peer_count > 0) {
		if (atomic_load(&state->is_aborted))
			service->is_stopping = true;
		if (poll(service->fds, MAX_PEERS + 1,
			 service->operation_count ? BUSY_MS : POLL_MS) < 0)
			continue;
		if (service->fds[MAX_PEERS].revents & POLLIN)
			accept_peer(service);
		for (p = 0; p < MAX_PEERS; p++) {
			if (service->fds[p].fd >= 0)
				serve(service, p);
		}
	}
}

void *mini_service_main(void *argument)
{
	struct mini_proxy_state *state = argument;
	struct service *service = calloc(1, sizeof(*service));
	int p;

	mini_truth_thread(MINI_THREAD_SERVICE, state->top);
	if (!service)
		return NULL;
	service->state = state;
	for (p = 0; p <= MAX_PEERS; p++)
		service->fds[p] = (struct pollfd){.fd = -1, .events = POLLIN | POLLHUP};
	service->fds[MAX_PEERS].fd = state->listen_fd;
	run(service);
	close_all(service);
	free(service);
	return NULL;
}
