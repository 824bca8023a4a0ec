/* SPDX-License-Identifier: MIT */
/*
 * Why: NET/Socket can move a message in shares, by threads that a tracer sees post what
 * belongs to another thread's message.  Hides those threads and their queues.
 */
#ifndef MINI_NCCL_NET_SOCKET_H
#define MINI_NCCL_NET_SOCKET_H

#include "net.h"
#include "stream.h"
#include "thread.h"

#include <pthread.h>

/* NCCL's MAX_SOCKETS and MAX_THREADS. */
#define MINI_SOCKETS 64
#define MINI_SOCKET_THREADS 16
/* What NCCL_SOCKET_INLINE may be here. */
#define MINI_SOCKET_INLINE_MOST 4096

struct mini_socket_task {
	char *data;
	size_t size;
	int fd;
	/* Under the lock of its thread. */
	bool is_used;
	size_t moved;
	int err;
};

struct mini_socket_helper {
	struct mini_thread thread;
	struct mini_net_connection *connection;
	/* A ring: as many as requests can have here. */
	struct mini_socket_task *tasks;
	int task_count;
	/* Guards all below, and the tasks; `changed` tells of new ones. */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int next;
	bool is_stopping;
};

struct mini_net_request {
	struct mini_net_connection *connection;
	enum { MINI_SOCKET_FREE, MINI_SOCKET_SIZE, MINI_SOCKET_DATA } state;
	char *data;
	size_t size;
	size_t moved;
	/* The size is known. */
	bool is_told;
	struct mini_socket_task *tasks[MINI_SOCKETS];
	struct mini_socket_helper *helpers[MINI_SOCKETS];
	int task_count;
	struct mini_way way;
};

struct mini_net_connection {
	bool is_send;
	int control_fd;
	int fds[MINI_SOCKETS];
	int socket_count;
	int thread_count;
	/* The socket that the next share is for. */
	int next;
	struct mini_socket_helper helpers[MINI_SOCKET_THREADS];
	struct mini_net_request requests[MINI_NET_REQUESTS];
};

/* Gives a share to the next socket's thread, which is started with its first one. */
int mini_socket_task(struct mini_net_request *request, char *data, size_t size);
/* 0 when all shares have moved, 1 when not yet, or -errno. */
int mini_socket_tasks(struct mini_net_request *request);
void mini_socket_helpers_stop(struct mini_net_connection *connection);

#endif
