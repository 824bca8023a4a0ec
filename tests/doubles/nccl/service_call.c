/* SPDX-License-Identifier: MIT */
/* The asking end of the socket of a service thread. */
#include "service_call.h"

#include <errno.h>
#include <nccl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How long an abort may go unnoticed. */
#define WAIT_MS 20

struct mini_call {
	struct mini_call *next;
	uint64_t id;
	int result;
	bool is_done;
	bool is_abandoned;
	int size;
	char response[];
};

/* The service thread answers all that it has begun to answer. */
static const atomic_bool never;

void mini_caller_init(struct mini_caller *caller)
{
	pthread_mutex_init(&caller->lock, NULL);
	caller->fd = -1;
	caller->calls = NULL;
}

int mini_caller_open(struct mini_caller *caller, const struct sockaddr_in *address,
		     uint64_t magic, const atomic_bool *aborted)
{
	int err = 0;

	pthread_mutex_lock(&caller->lock);
	if (caller->fd < 0) {
		int fd = mini_socket_connect(address, magic, MINI_SOCKET_PROXY, aborted);

		if (fd < 0)
			err = fd;
		else
			caller->fd = fd;
	}
	pthread_mutex_unlock(&caller->lock);
	return err;
}

void mini_caller_close(struct mini_caller *caller)
{
	int32_t type = MINI_CALL_CLOSE;
	struct mini_call *call;

	if (caller->fd >= 0) {
		mini_socket_send(caller->fd, &type, sizeof(type), &never);
		close(caller->fd);
	}
	while (caller->calls) {
		call = caller->calls;
		caller->calls = call->next;
		free(call);
	}
	pthread_mutex_destroy(&caller->lock);
}

/* Each field is sent for itself, as NCCL does it. */
static int send_request(int fd, const struct mini_call_request *request, uint64_t id)
{
	const struct {
		const void *data;
		size_t size;
	} parts[] = {
		{&(int32_t){request->type}, sizeof(int32_t)},
		{&request->connection, sizeof(request->connection)},
		{&(int32_t){request->size}, sizeof(int32_t)},
		{&(int32_t){request->response_size}, sizeof(int32_t)},
		{request->data, (size_t) request->size},
		{&id, sizeof(id)},
	};
	int err = 0;
	size_t i;

	for (i = 0; i < sizeof(parts) / sizeof(parts[0]) && !err; i++)
		err = mini_socket_send(fd, parts[i].data, parts[i].size, &never);
	return err;
}

struct mini_call *mini_call_begin(struct mini_caller *caller,
				  const struct mini_call_request *request)
{
	struct mini_call *call =
		calloc(1, sizeof(*call) + (size_t) request->response_size);
	int err;

	if (!call)
		return NULL;
	/* NCCL's too are addresses of something that lives as long as the call. */
	call->id = request->id ? request->id : (uint64_t) (uintptr_t) call;
	call->size = request->response_size;
	pthread_mutex_lock(&caller->lock);
	err = send_request(caller->fd, request, call->id);
	if (!err) {
		call->next = caller->calls;
		caller->calls = call;
	}
	pthread_mutex_unlock(&caller->lock);
	if (!err)
		return call;
	free(call);
	return NULL;
}

static int receive_head(int fd, struct mini_call_head *head)
{
	int err;

	*head = (struct mini_call_head){.result = ncclSuccess};
	if (mini_call_sizes()->has_result)
		return mini_socket_recv(fd, head, sizeof(*head), &never);
	err = mini_socket_recv(fd, &head->id, sizeof(head->id), &never);
	return err ? err : mini_socket_recv(fd, &head->size, sizeof(head->size), &never);
}

static struct mini_call **find(struct mini_caller *caller, uint64_t id)
{
	struct mini_call **place = &caller->calls;

	while (*place && (*place)->id != id)
		place = &(*place)->next;
	return place;
}

/* One answer, whoever it is for.  Called with the lock held. */
static int receive_answer(struct mini_caller *caller)
{
	struct mini_call_head head;
	struct mini_call **place;
	struct mini_call *call;
	int err = receive_head(caller->fd, &head);

	if (err)
		return err;
	place = find(caller, head.id);
	call = *place;
	if (!call || head.size < 0 || head.size > call->size)
		return -EPROTO;
	err = mini_socket_recv(caller->fd, call->response, (size_t) head.size, &never);
	call->result = head.result;
	call->is_done = true;
	if (call->is_abandoned) {
		*place = call->next;
		free(call);
	}
	return err;
}

static int error_of(int result)
{
	switch (result) {
	case ncclSuccess:
		return 0;
	case ncclRemoteError:
		return -ECONNRESET;
	case ncclInternalError:
		return -ECANCELED;
	default:
		return -EIO;
	}
}

static int take(struct mini_caller *caller, struct mini_call *call, void *response)
{
	int err = error_of(call->result);

	if (!err && response)
		memcpy(response, call->response, (size_t) call->size);
	*find(caller, call->id) = call->next;
	free(call);
	return err;
}

int mini_call_poll(struct mini_caller *caller, struct mini_call *call, void *response,
		   int wait_ms)
{
	struct pollfd pfd = {.fd = caller->fd, .events = POLLIN};
	int err = 0;

	pthread_mutex_lock(&caller->lock);
	if (!call->is_done && poll(&pfd, 1, wait_ms) > 0)
		err = receive_answer(caller);
	if (!err && !call->is_done)
		err = -EAGAIN;
	else if (!err)
		err = take(caller, call, response);
	else
		call->is_abandoned = true;
	pthread_mutex_unlock(&caller->lock);
	return err;
}

void mini_call_abandon(struct mini_caller *caller, struct mini_call *call)
{
	pthread_mutex_lock(&caller->lock);
	call->is_abandoned = true;
	pthread_mutex_unlock(&caller->lock);
}

int mini_call(struct mini_caller *caller, const struct mini_call_request *request,
	      void *response, const atomic_bool *aborted)
{
	struct mini_call *call = mini_call_begin(caller, request);
	int err = call ? -EAGAIN : -EIO;

	while (err == -EAGAIN && !atomic_load(aborted))
		err = mini_call_poll(caller, call, response, WAIT_MS);
	if (err != -EAGAIN)
		return err;
	mini_call_abandon(caller, call);
	return -ECANCELED;
}

void mini_call_stop(const struct sockaddr_in *address, uint64_t magic)
{
	int32_t type = MINI_CALL_STOP;
	int fd = mini_socket_connect(address, magic, MINI_SOCKET_PROXY, &never);

	if (fd < 0)
		return;
	mini_socket_send(fd, &type, sizeof(type), &never);
	close(fd);
}
