/* SPDX-License-Identifier: MIT */
/*
 * What a service thread does for connections of one kind of transport.  Hides the
 * transports from the thread: an operation is asked for again until it is over, and the
 * thread serves others meanwhile.
 */
#ifndef MINI_NCCL_SERVICE_H
#define MINI_NCCL_SERVICE_H

#include "proxy.h"

/* A connection as the service thread has it: NCCL's ncclProxyConnection. */
struct mini_service_connection {
	struct mini_service_connection *next;
	struct mini_proxy_state *state;
	struct mini_call_init init;
	/* Of the setup: whose it is, which is another rank where that one does not post.
	 */
	int owner;
	struct mini_end end;
	/* Set up, and not a link yet. */
	struct mini_connection *connection;
};

/* Each returns 0, -EAGAIN or -errno.  The response is zeroed. */
int mini_service_net_setup(struct mini_service_connection *connection,
			   const struct mini_call_setup *setup, char *response);
int mini_service_net_connect(struct mini_service_connection *connection,
			     const char *request, int size, char *response);
void mini_service_net_close(struct mini_service_connection *connection);

#endif
