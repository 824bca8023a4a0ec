/* SPDX-License-Identifier: MIT */
/*
 * Requests of the API's threads to a service thread.  Several may be under way on a
 * socket and be answered in any order.  Hides the socket and its framing, and whose
 * answer comes.
 */
#ifndef MINI_NCCL_SERVICE_CALL_H
#define MINI_NCCL_SERVICE_CALL_H

#include "service_form.h"
#include "socket.h"

#include <pthread.h>

struct mini_call;

/* The sockets of one process to one service thread: one, once it is needed. */
struct mini_caller {
	pthread_mutex_t lock;
	int fd;
	/* All that are not answered. */
	struct mini_call *calls;
};

struct mini_call_request {
	enum mini_call_type type;
	/* What the answer to MINI_CALL_INIT said; 0 in that. */
	uint64_t connection;
	/* Different from that of all others under way; 0: some. */
	uint64_t id;
	const void *data;
	int size;
	int response_size;
};

void mini_caller_init(struct mini_caller *caller);
/* Connects where there is no connection yet.  0 or -errno. */
int mini_caller_open(struct mini_caller *caller, const struct sockaddr_in *address,
		     uint64_t magic, const atomic_bool *aborted);
/* Says that nothing more comes. */
void mini_caller_close(struct mini_caller *caller);

/* NULL where it cannot be sent. */
struct mini_call *mini_call_begin(struct mini_caller *caller,
				  const struct mini_call_request *request);
/*
 * 0 once it is answered, -EAGAIN, or -errno: the call is gone unless it is -EAGAIN.
 * Looks at the socket for at most `wait_ms`.
 */
int mini_call_poll(struct mini_caller *caller, struct mini_call *call, void *response,
		   int wait_ms);
/* Nobody waits for it any more. */
void mini_call_abandon(struct mini_caller *caller, struct mini_call *call);
/* Waits for the answer.  0 or -errno. */
int mini_call(struct mini_caller *caller, const struct mini_call_request *request,
	      void *response, const atomic_bool *aborted);
/* To one that is not to answer: a connection of its own, and its type alone. */
void mini_call_stop(const struct sockaddr_in *address, uint64_t magic);

#endif
