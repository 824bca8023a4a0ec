/* SPDX-License-Identifier: MIT */
/*
 * What is known of the messages of a connection of NET/Socket (net_stream.h says how),
 * and how one is emitted: a span at each end, and a link of the two.
 *
 * Hides the fields of these spans, and that a message whose ends are known is ascribed to
 * kernels.
 */
#ifndef TAP_JOIN_NCCL_NET_STREAM_SPAN_H
#define TAP_JOIN_NCCL_NET_STREAM_SPAN_H

#include "common/list.h"
#include "join/model/context.h"
#include "join/nccl/net_service.h"

struct tap_span;
struct tap_stream_message;

/* A part of a message, on one of the sockets that have no headers. */
struct tap_stream_task {
	uint64_t number; /* of the socket, from 1 */
	uint64_t size;
	bool is_over;
	struct tap_stream_message *message; /* NULL: not known yet */
	TAP_LIST_LINK(struct tap_stream_task) link;
};

/* The tasks of a socket that are not over, or not known to be of a message. */
struct tap_stream_tasks {
	uint64_t last_number;
	TAP_LIST(struct tap_stream_task) list;
};

/* One end of a connection; all zero but for the first members is one without messages. */
struct tap_stream_end {
	const struct tap_process *process;
	bool is_sender;
	uint64_t net_id;
	struct tap_net_maker maker;	   /* of its first socket */
	uint64_t socket;		   /* the number of its last one */
	const struct tap_stream_end *peer; /* NULL unknown */
	const char *listener; /* the address that names the connection at both ends; NULL:
				 at those of one host alone */

	uint64_t last_number;
	uint64_t whole;	      /* messages that are over */
	bool is_broken;	      /* events of tasks are missing: which message they are of is
				 unknown */
	bool is_contradicted; /* the other end reads the stream otherwise */
	TAP_LIST(struct tap_stream_message) messages; /* not linked yet, by number */
	/* Of a connection with several sockets: those for tasks, by index. */
	struct tap_stream_tasks *turns[256];
	unsigned int turn_count, next_turn;
};

struct tap_streams {
	struct tap_context *context; /* set by the owner, the rest is zero at first */
	size_t held;		     /* messages */
	/* Adds to a span what is known of its connection. */
	void (*describe)(void *data, const struct tap_stream_end *end,
			 struct tap_fields *fields);
	void *data;
};

struct tap_stream_message {
	struct tap_stream_end *end;
	uint64_t number, offset, size;
	bool is_inferred; /* nothing is decoded */
	bool has_size;
	bool has_tasks; /* its payload goes over other sockets */
	uint64_t taken; /* bytes of its tasks that are known */
	uint64_t tasks, tasks_over;
	bool is_over;
	bool is_end_lost;
	bool is_doubted; /* its end was contradicted */
	int64_t begin_ns, end_ns;
	struct tap_span *span;
	TAP_LIST_LINK(struct tap_stream_message) link;
};

/* Each returns 0 or -errno. */
int tap_stream_span_begin(struct tap_streams *streams, struct tap_stream_message *message,
			  int64_t tid);
/* other: the message at the other end, NULL unknown. */
int tap_stream_span_end(struct tap_streams *streams, struct tap_stream_message *message,
			const struct tap_stream_message *other);
/* The message's other end is on a host whose trace is not read. */
int tap_stream_span_half(struct tap_streams *streams,
			 const struct tap_stream_message *message);
/* The ends are one message, and their spans have ended. */
int tap_stream_span_link(struct tap_streams *streams,
			 const struct tap_stream_message *sent,
			 const struct tap_stream_message *received);

#endif
