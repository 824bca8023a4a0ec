/* SPDX-License-Identifier: MIT */
/* The buffers of a connection (NCCL 2.28.9, transport/net.cc:840-1110). */
#include "flow.h"

#include "comm.h"
#include "settings.h"

#include <errno.h>
#include <sys/mman.h>

/* Steps in a pool for each channel: NCCL_SHARED_STEPS. */
enum { POOL_STEPS = 16 };

static char *map(size_t size)
{
	void *data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);

	return data == MAP_FAILED ? NULL : data;
}

static int add_buffer(struct mini_flow *flow, enum mini_protocol protocol, char *data,
		      size_t size)
{
	if (!data)
		return -ENOMEM;
	flow->buffers[protocol] = data;
	flow->sizes[protocol] = size;
	return mini_connection_register(flow->connection, data, size,
					&flow->regions[protocol]);
}

/* What comes before the buffer. */
enum { FRONT_BYTES = 4096 };
_Static_assert(sizeof(struct mini_front) <= FRONT_BYTES, "the front fits");

static char *behind(struct mini_front *front)
{
	return (char *) front + FRONT_BYTES;
}

static int add_own_buffer(struct mini_flow *flow, enum mini_protocol protocol)
{
	size_t size = mini_protocol_buffer(protocol);

	return add_buffer(flow, protocol, flow->front ? behind(flow->front) : map(size),
			  size);
}

static bool has_ll(void)
{
	return mini_number(SET_NCCL_ALLOC_P2P_NET_LL_BUFFERS);
}

size_t mini_front_size(void)
{
	return FRONT_BYTES + (has_ll() ? mini_protocol_buffer(MINI_LL) : 0);
}

static void point(struct mini_flow *flow)
{
	struct mini_front *front = flow->front;

	flow->head = front ? &front->head : &flow->own_head;
	flow->tail = front ? &front->tail : &flow->own_tail;
	flow->slots = front ? front->slots : flow->own_slots;
}

size_t mini_pool_size(const struct ncclComm *comm)
{
	const struct mini_topology *topology = comm->topology;

	return (size_t) topology->p2p_channels * POOL_STEPS * topology->p2p_step;
}

/* There is one, which each connection registers for itself. */
static int add_pool(struct mini_flow *flow, struct mini_pool *pool)
{
	flow->pool = pool;
	/* The device may fill what the proxy has found a place for, and that is nothing.
	 */
	mini_flow_set_head(flow, flow->is_send ? -MINI_STEPS : 0);
	if (!pool->data)
		pool->data = map(pool->size);
	return add_buffer(flow, MINI_SIMPLE, pool->data, pool->size);
}

static void share(struct mini_flow *flow, const struct mini_direct *direct)
{
	int protocol;

	flow->is_direct = true;
	for (protocol = 0; protocol < MINI_PROTOCOLS; protocol++) {
		flow->buffers[protocol] = direct->buffers[protocol];
		flow->sizes[protocol] = direct->sizes[protocol];
	}
	flow->head = direct->head;
	flow->tail = direct->tail;
}

int mini_flow_open(struct mini_flow *flow, struct mini_pool *pool)
{
	const struct mini_direct *direct = mini_connection_direct(flow->connection);
	int protocol;
	int err = 0;
	int i;

	point(flow);
	if (direct) {
		share(flow, direct);
		return 0;
	}
	for (i = 0; i < MINI_STEPS; i++)
		flow->slots[i].size = -1;
	/* By protocol here, too, so LL before the pool (net.cc:945 and 1100). */
	if (flow->index == 1) {
		if (has_ll())
			err = add_own_buffer(flow, MINI_LL);
		return err ? err : add_pool(flow, pool);
	}
	for (protocol = 0; protocol < MINI_PROTOCOLS && !err; protocol++)
		err = add_own_buffer(flow, (enum mini_protocol) protocol);
	return err;
}

void mini_flow_attach(struct mini_flow *flow, struct mini_pool *pool)
{
	point(flow);
	flow->pool = pool;
	flow->buffers[MINI_SIMPLE] = pool->data;
	flow->sizes[MINI_SIMPLE] = pool->size;
	if (!has_ll())
		return;
	flow->buffers[MINI_LL] = behind(flow->front);
	flow->sizes[MINI_LL] = mini_protocol_buffer(MINI_LL);
}

void mini_flow_close(struct mini_flow *flow)
{
	int protocol;

	for (protocol = 0; protocol < MINI_PROTOCOLS && !flow->is_direct; protocol++) {
		if (flow->regions[protocol])
			mini_connection_deregister(flow->connection,
						   flow->regions[protocol]);
		if (flow->buffers[protocol] && !flow->front &&
		    !(flow->pool && protocol == MINI_SIMPLE))
			munmap(flow->buffers[protocol], flow->sizes[protocol]);
	}
}

void mini_pool_free(struct mini_pool *pool)
{
	if (pool->data)
		munmap(pool->data, pool->size);
	pool->data = NULL;
}

char *mini_flow_slot(const struct mini_flow *flow, enum mini_protocol protocol,
		     int64_t step)
{
	char *data = flow->buffers[protocol];
	size_t slot = (size_t) (step % MINI_STEPS);

	if (flow->pool && protocol == MINI_SIMPLE)
		return data + flow->slots[slot].offset;
	return data + slot * mini_flow_step_bytes(flow, protocol);
}
