/* SPDX-License-Identifier: MIT */
/*
 * Connections on the service thread: the receiver sets up and says where, the sender is
 * told that and connects, and both go on until the connection is there.
 */
#include "service.h"

#include "comm.h"
#include "proxy_guest.h"
#include "truth.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int mini_service_net_setup(struct mini_service_connection *connection,
			   const struct mini_call_setup *setup, char *response)
{
	struct mini_proxy_state *state = connection->state;
	bool is_send = connection->init.is_send;
	struct mini_connect_info info = {
		.comm_hash = state->hash,
		.rank = is_send ? setup->rank : setup->remote_rank,
		.peer = is_send ? setup->remote_rank : state->rank,
		.channel = setup->channel,
		.index = setup->index,
		.kind = connection->init.transport,
		.shares = &state->shares,
	};
	char handle[MINI_NET_HANDLE_BYTES];
	int err;

	/* Nobody receives for another one. */
	if (setup->rank != state->rank && (!is_send || setup->index != 1))
		return -EPROTO;
	connection->owner = setup->rank;
	connection->end = (struct mini_end){
		.peer = setup->remote_rank,
		.channel = setup->channel,
		.index = setup->index,
		.is_send = is_send,
	};
	err = mini_connection_setup(&info, is_send, handle, &connection->connection);
	if (!err && !is_send)
		memcpy(response, handle, sizeof(handle));
	return err;
}

static void tell_regions(struct mini_truth_connection *told, const struct mini_flow *flow)
{
	static const char *const names[] = {"LL", "LL128", "SIMPLE"};
	int p;

	for (p = 0; p < MINI_PROTOCOLS; p++) {
		if (flow->buffers[p] && told->region_count < MINI_TRUTH_REGIONS)
			told->regions[told->region_count++] =
				(struct mini_truth_region){names[p], flow->buffers[p],
							   flow->sizes[p]};
	}
}

static void tell(const struct mini_proxy_state *state, int owner,
		 const struct mini_flow *flow)
{
	struct mini_truth_connection told;

	if (!mini_truth_is_wanted())
		return;
	memset(&told, 0, sizeof(told));
	told.comm = owner == state->rank ? state->top : NULL;
	told.comm_hash = state->hash;
	told.rank = owner;
	told.proxy_rank = state->rank;
	told.peer = flow->peer;
	told.channel = flow->channel;
	told.index = flow->index;
	told.is_send = flow->is_send;
	mini_connection_describe(flow->connection, &told);
	tell_regions(&told, flow);
	mini_truth_connection(&told);
}

static int add_link(struct mini_service_connection *connection,
		    struct mini_posted *ret_posted)
{
	struct mini_proxy_state *state = connection->state;
	bool is_own = connection->owner == state->rank;
	struct mini_link *link = calloc(1, sizeof(*link));
	int err;

	if (!link)
		return -ENOMEM;
	link->end = connection->end;
	link->flow.connection = connection->connection;
	link->flow.peer = link->end.peer;
	link->flow.channel = link->end.channel;
	link->flow.index = link->end.index;
	link->flow.is_send = link->end.is_send;
	err = is_own ? mini_flow_open(&link->flow, &state->pools[link->end.is_send])
		     : mini_guest_connect(state, connection->owner, link, ret_posted);
	if (err) {
		/* The connection stays with who asked for it. */
		mini_flow_close(&link->flow);
		mini_shared_close(&link->front);
		free(link);
		return err;
	}
	tell(state, connection->owner, &link->flow);
	if (is_own)
		mini_proxy_add_link(state, link);
	connection->connection = NULL;
	return 0;
}

int mini_service_net_connect(struct mini_service_connection *connection,
			     const char *request, int size, char *response)
{
	struct mini_call_map map = {connection->init.is_same_process,
				    connection->end.index, connection->state->device};
	struct mini_posted posted = {.flow = 0};
	const struct mini_call_sizes *sizes = mini_call_sizes();
	bool is_send = connection->end.is_send;
	int32_t poster;
	int err;

	if (!connection->connection ||
	    size != (is_send ? sizes->connect_send : sizes->connect_receive))
		return -EPROTO;
	/* To a receiver the poster is all that is said. */
	memcpy(&poster, request, sizeof(poster));
	err = mini_connection_connect(connection->connection, is_send ? request : NULL,
				      poster);
	if (!err)
		err = add_link(connection, &posted);
	if (err)
		return err;
	memcpy(response, &map, sizeof(map));
	memcpy(response + MINI_CALL_POSTED_AT, &posted, sizeof(posted));
	return 0;
}

void mini_service_net_close(struct mini_service_connection *connection)
{
	if (connection->connection)
		mini_connection_close(connection->connection);
}
