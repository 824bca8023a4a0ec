/* SPDX-License-Identifier: MIT */
/*
 * The threads of a communicator and its connections.  All threads are created
 * with the same argument, which is this structure, and the progress thread is
 * created by the service thread: so NCCL up to 2.28 does it, and so a tracer
 * can tell whose thread is whose.
 */
#ifndef MINI_NCCL_PROXY_H
#define MINI_NCCL_PROXY_H

#include "flow.h"

#include <pthread.h>

struct mini_link;

/* What a connection is for. */
struct mini_end {
	int peer;
	int channel;
	/* 0 for collectives, 1 for point to point, as NCCL's connIndex. */
	int index;
	bool is_send;
};

struct mini_proxy {
	struct ncclComm *comm;
	const struct mini_transport *transport;
	int listen_fd;
	struct sockaddr_in address;
	/* Requests of the API's threads to the service thread. */
	int request_fds[2];
	int uds_fd;
	pthread_t service;
	pthread_t uds;
	pthread_t progress;
	/* The service thread's: connections that are not finished. */
	struct mini_link *unfinished;
	/* Ends the waits of the service threads. */
	atomic_bool is_stopping;
	/* What the progress thread met: an ncclResult_t. */
	atomic_int error;

	/* Guards all below; `changed` tells of any change. */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct mini_link *links;
	struct mini_plan *first;
	struct mini_plan **last;
	/* Plans whose kernel or progress is not over. */
	unsigned int kernels;
	bool has_progress;
	bool is_closed;
};

/* Listens, so that peers can be told the address.  0 or -errno. */
int mini_proxy_open(struct mini_proxy *proxy, struct ncclComm *comm);
/* Starts the service threads.  0 or -errno. */
int mini_proxy_start(struct mini_proxy *proxy);
/* Whether the connection, and the progress thread to use it, are there already. */
bool mini_proxy_is_connected(struct mini_proxy *proxy, const struct mini_end *end);
bool mini_proxy_has_progress(struct mini_proxy *proxy);
/*
 * Returns once the connection is there; connections to receive from are made by
 * the peer.  0 or -errno.
 */
int mini_proxy_connect(struct mini_proxy *proxy, const struct mini_end *end);
/* Has the service thread start the progress thread.  0 or -errno. */
int mini_proxy_need_progress(struct mini_proxy *proxy);
/* The messages of a connection that mini_proxy_connect() has set up. */
struct mini_flow *mini_proxy_flow(struct mini_proxy *proxy, const struct mini_end *end);
/* Announces a kernel before it is launched, and takes that back if it was not. */
void mini_proxy_expect(struct mini_proxy *proxy);
void mini_proxy_forget(struct mini_proxy *proxy);
/* After the launch, from the launching thread. */
void mini_proxy_append(struct mini_proxy *proxy, struct mini_plan *plan);
/* What the kernel does: lets the progress thread begin and waits for it. */
void mini_proxy_kernel(struct mini_plan *plan);
/* Waits until no kernel is left. */
void mini_proxy_drain(struct mini_proxy *proxy);
/* Wakes all that wait, after the communicator was marked as aborted. */
void mini_proxy_wake(struct mini_proxy *proxy);
/* Ends the threads.  No kernel may be left. */
void mini_proxy_stop(struct mini_proxy *proxy);
/* Does that as well, and closes everything. */
void mini_proxy_close(struct mini_proxy *proxy);

#endif
