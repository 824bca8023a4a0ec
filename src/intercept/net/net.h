/* SPDX-License-Identifier: MIT */
/*
 * What the traced calls on sockets mean: net.c has the wrappers, which pass what NCCL's own
 * threads do to here; moved.c has what is rare of streams, and met.c follows sockets.
 *
 * Hides when events can be written.
 */
#ifndef TAP_INTERCEPT_NET_NET_H
#define TAP_INTERCEPT_NET_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "common/compiler.h"
#include "intercept/guard.h"
#include "intercept/net/sockets.h"
#include "tracepoints/net_events.h"

/* The switch of each hot event; all are off until LTTng is loaded. */
extern const int *tap_net_on[TAP_NET_HOT_NR] tap_hidden;

/*
 * Begins events other than hot ones, and starts recording if need be.  Returns NULL when no
 * event can be written.  The guard is set either way, for tap_guard_clear().
 */
const struct tap_net_events *tap_net_begin_emit(struct tap_guard *ret_guard) tap_hidden;
/* met.c: the thread has connected or accepted a socket; error: or failed to connect it. */
void tap_net_connected(int fd, const struct sockaddr *peer, socklen_t length,
		       int error) tap_hidden;
void tap_net_accepted(int fd) tap_hidden;
/* A thread of the program's has connected a socket inside a call of NCCL. */
void tap_net_caller_connected(int fd, const struct sockaddr *peer,
			      socklen_t length) tap_hidden;
/* A socket that the thread uses and nobody saw connected; NULL: no socket. */
struct tap_socket *tap_net_meet(int fd) tap_hidden;
/* The socket as it was, after its descriptor was closed. */
void tap_net_closed(const struct tap_socket *socket) tap_hidden;
void tap_net_write_socket(const struct tap_socket *socket,
			  void (*write)(const struct tap_net_socket_event *event),
			  int error) tap_hidden;
void tap_net_add_address(const void *address, char *text, size_t size) tap_hidden;

/* A call on a socket; `data` is NULL where it is in several places, begin_ns 0 if unwanted. */
struct tap_net_call {
	enum tap_net_hot event;
	const void *data;
	size_t asked;
	uint64_t begin_ns;
};

/* Another than the environment may say what NCCL's parameters are. */
extern bool tap_net_has_env_plugin tap_hidden;
/* moved.c: the call moved bytes that tap_net_stream_pass_quickly() does not take. */
void tap_net_pass_slowly(struct tap_socket *socket, struct tap_net_stream *stream,
			 const struct tap_net_call *call, size_t bytes,
			 struct tap_net_piece *ret_piece) tap_hidden;
/* It moved none: its result is 0 or -1. */
void tap_net_moved_none(struct tap_socket *socket, struct tap_net_stream *stream,
			const struct tap_net_call *call, ssize_t result) tap_hidden;

#endif
