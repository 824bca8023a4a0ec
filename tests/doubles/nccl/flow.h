/* SPDX-License-Identifier: MIT */
/*
 * One direction of a connection between the two halves of a plan, NCCL's ncclConnInfo: a
 * buffer of eight steps for each protocol, which one half fills and the other empties.
 * Where the memory is one that both ranks see, the other half is the other rank's device.
 *
 * Hides where a step lies, whose memory that is, and whose turn it is.
 */
#ifndef MINI_NCCL_FLOW_H
#define MINI_NCCL_FLOW_H

#include "delay.h"
#include "plan.h"
#include "transport.h"

struct mini_poster;
struct mini_proxy_batch;

/* What waits for its turn on a connection, or on one channel of all that share a pool. */
struct mini_line {
	struct mini_proxy_batch *first;
	struct mini_proxy_batch *last;
};

/* The buffer that all connections point to point of one direction share. */
struct mini_pool {
	char *data;
	size_t size;
	struct mini_line lines[MINI_MAX_CHANNELS];
};

struct mini_slot {
	/* Of the message; -1: not there. */
	int64_t size;
	/* Where it lies in a pool. */
	size_t offset;
};

/*
 * Of a connection that one rank has and another one posts for: what both see of it, in
 * memory of the latter, before the buffer of LL if there is one.
 */
struct mini_front {
	_Alignas(64) _Atomic uint64_t head;
	_Alignas(64) _Atomic uint64_t tail;
	_Alignas(64) struct mini_slot slots[MINI_STEPS];
	/* Whoever has it was aborted: nothing of it is to be gone on with. */
	atomic_bool is_given_up;
};

struct mini_flow {
	/* NULL where another rank posts. */
	struct mini_connection *connection;
	/* A rank of the communicator whose proxy has it. */
	int peer;
	int channel;
	/* 0 for collectives, 1 for point to point. */
	int index;
	bool is_send;

	/* Of each protocol; NULL: none. */
	char *buffers[MINI_PROTOCOLS];
	size_t sizes[MINI_PROTOCOLS];
	struct mini_net_region *regions[MINI_PROTOCOLS];
	struct mini_pool *pool;
	/* Steps that are filled, and up to which they are empty again; own or shared. */
	_Atomic uint64_t *tail;
	_Atomic uint64_t *head;
	_Atomic uint64_t own_tail;
	_Atomic uint64_t own_head;
	/* No proxy has anything to do with it. */
	bool is_direct;
	/* Those of `front`, if there is one, or own ones. */
	struct mini_slot *slots;
	struct mini_slot own_slots[MINI_STEPS];
	struct mini_front *front;
	/* Who posts for it, if that is another rank, and what that one calls it. */
	struct mini_poster *poster;
	uint64_t handle;
	/* How far each half has come. */
	int64_t device_step;
	int64_t proxy_step;
	/* Of point to point the pool's is taken. */
	struct mini_line own_line;
	struct mini_delay delay;
	/* What an abort cut off is still in the way. */
	bool is_broken;
	/* Messages that are done. */
	uint64_t ordinal;
};

/* How large a pool is, which follows from the communicator that it is made for. */
size_t mini_pool_size(const struct ncclComm *comm);
/* Of what both see of a connection that one rank posts for another. */
size_t mini_front_size(void);
/*
 * On the service thread, once the connection is there; with a front if it is another
 * rank's.  0 or -errno.
 */
int mini_flow_open(struct mini_flow *flow, struct mini_pool *pool);
/* The other rank's, with the front and the pool that the poster's has. */
void mini_flow_attach(struct mini_flow *flow, struct mini_pool *pool);
/* Before the connection is closed. */
void mini_flow_close(struct mini_flow *flow);
void mini_pool_free(struct mini_pool *pool);

static inline int64_t mini_flow_tail(const struct mini_flow *flow)
{
	return (int64_t) atomic_load_explicit(flow->tail, memory_order_acquire);
}

static inline int64_t mini_flow_head(const struct mini_flow *flow)
{
	return (int64_t) atomic_load_explicit(flow->head, memory_order_acquire);
}

static inline void mini_flow_set_tail(struct mini_flow *flow, int64_t step)
{
	atomic_store_explicit(flow->tail, (uint64_t) step, memory_order_release);
}

static inline void mini_flow_set_head(struct mini_flow *flow, int64_t step)
{
	atomic_store_explicit(flow->head, (uint64_t) step, memory_order_release);
}

/* Bytes of a step of a buffer that is no pool. */
static inline size_t mini_flow_step_bytes(const struct mini_flow *flow,
					  enum mini_protocol protocol)
{
	return flow->sizes[protocol] / MINI_STEPS;
}

/* Where a step lies. */
char *mini_flow_slot(const struct mini_flow *flow, enum mini_protocol protocol,
		     int64_t step);

#endif
