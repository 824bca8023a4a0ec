/* SPDX-License-Identifier: MIT */
/*
 * The messages of one connection, in order: those that were begun and are not done.
 * Hides which of them share a request, and writes the truth about each.
 */
#ifndef MINI_NCCL_FLOW_H
#define MINI_NCCL_FLOW_H

#include "plan.h"
#include "transport.h"

struct mini_message {
	const struct mini_op *op;
	/* Which message of the operation this is on its connection. */
	int step;
	/* Only read where it is sent. */
	char *data;
	size_t size;
};

struct mini_flow {
	struct ncclComm *comm;
	struct mini_connection *connection;
	int peer;
	int channel;
	/* 0 for collectives, 1 for point to point. */
	int index;
	bool is_send;
	/* A ring; the oldest at `first`. */
	struct mini_pending {
		struct mini_request *request;
		struct mini_message messages[MINI_MAX_RECEIVES];
		int count;
		uint64_t wanted_ns;
	} pending[MINI_STEPS];
	unsigned int first;
	unsigned int count;
	/* When the connection was first asked to take what comes next; 0: not yet. */
	uint64_t wanted_ns;
	/* Messages that are done. */
	uint64_t ordinal;
};

/* Begins a message, or a receive of several: 1, 0 when not yet, or -errno. */
int mini_flow_send(struct mini_flow *flow, const struct mini_message *message);
int mini_flow_receive(struct mini_flow *flow, const struct mini_message *messages,
		      int count);
/* Goes on with the oldest: 1 when it is done, 0 when not yet or none, or -errno. */
int mini_flow_test(struct mini_flow *flow);

#endif
