/* SPDX-License-Identifier: MIT */
/*
 * Why: NCCL's networks make their connections in steps, none of which waits, since one
 * service thread makes all of them.  Hides the steps of one socket: connecting, and the
 * magic number and the type that each begins with, as two sends.
 *
 * What returns an int returns 0, -EAGAIN or -errno.
 */
#ifndef MINI_NCCL_STREAM_H
#define MINI_NCCL_STREAM_H

#include "socket.h"

/* What NCCL's networks use where no communicator gives them another one. */
#define MINI_STREAM_MAGIC 0x564ab9f2fc4b9d6cULL

struct mini_stream {
	int fd;
	enum {
		MINI_STREAM_CONNECT,
		MINI_STREAM_CONNECTING,
		MINI_STREAM_ACCEPT,
		MINI_STREAM_GREET,
		MINI_STREAM_READY
	} state;
	bool is_accepted;
	int listen_fd;
	struct sockaddr_in address;
	uint64_t magic;
	int32_t type;
	/* Of the greeting. */
	size_t moved;
	char greeting[sizeof(uint64_t)];
};

/* A descriptor, where accepting does not wait, or -errno. */
int mini_stream_listen(struct sockaddr_in *ret_address);
void mini_stream_connect(struct mini_stream *stream, const struct sockaddr_in *address,
			 uint64_t magic, enum mini_socket_type type);
void mini_stream_accept(struct mini_stream *stream, int listen_fd, uint64_t magic,
			enum mini_socket_type type);
/* Goes on until it is ready. */
int mini_stream_ready(struct mini_stream *stream);
/* One send or receive of what is left of `size`, as NCCL does it: 0 when all moved. */
int mini_stream_move(int fd, bool is_send, void *data, size_t size, size_t *moved);
void mini_stream_close(struct mini_stream *stream);

#endif
